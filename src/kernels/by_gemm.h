/* A matmul for tables that do not pack: it calls the table's gemm. */
#ifndef VIT_BY_GEMM_H
#define VIT_BY_GEMM_H

#include "kernels.h"

/* Every row starts from the bias, and gemm adds the product. */
static inline void matmul_by_gemm(const struct vit_kernels *k, float *restrict y, size_t ldy,
                                  const float *restrict x, size_t ldx, const float *restrict packed,
                                  const float *restrict bias, int act, bool add, size_t M, size_t N,
                                  size_t K) {
    for (size_t m = 0; bias && m < M; m++)
        for (size_t n = 0; n < N; n++) y[m * ldy + n] = bias[n] + (add ? y[m * ldy + n] : 0);
    k->gemm(y, ldy, x, ldx, false, packed, K, true, 1, add || bias ? 1 : 0, M, N, K);
    for (size_t m = 0; act != VIT_LINEAR && m < M; m++)
        k->activate(y + m * ldy, y + m * ldy, act, N);
}

#endif
