/* The backward pass of y = x·wᵀ + bias; the forward pass is kernels->matmul. */
#include "model.h"

void linear_backward(const struct vit_kernels *k, float *dx, size_t lddx, float *dw, float *dbias,
                     const float *dy, size_t lddy, const float *x, size_t ldx, const float *w,
                     size_t M, size_t N, size_t K) {
    if (dx) k->gemm(dx, lddx, dy, lddy, false, w, K, false, 1, 0, M, K, N);
    k->gemm(dw, K, dy, lddy, true, x, ldx, false, 1, 1, N, K, M);
    if (!dbias) return;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) dbias[j] += dy[i * lddy + j];
}
