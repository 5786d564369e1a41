/* Tables that do not pack: their matmul calls their gemm. Include lanes.h and define
 * activate_backward before. */
#ifndef VIT_BY_GEMM_H
#define VIT_BY_GEMM_H

#include "kernels.h"
#include "scalar.h"

/* Only native programs run int8 by such tables: a module that trains needs no kernels for it. */
#ifdef __wasm__
#define OF_INT8(kernel) NULL
#else
#define OF_INT8(kernel) kernel
#endif

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

/* Defines the table NAME, called TEXT, by its GEMM. */
#define UNPACKED_KERNELS(NAME, TEXT, GEMM)                                                         \
    static void NAME##_matmul(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,  \
                              const float *restrict packed, const float *restrict bias, int act,   \
                              bool add, size_t M, size_t N, size_t K) {                            \
        matmul_by_gemm(&NAME, y, ldy, x, ldx, packed, bias, act, add, M, N, K);                    \
    }                                                                                              \
    const struct vit_kernels NAME = {                                                              \
        .name = TEXT,                                                                              \
        .packed = false,                                                                           \
        .packed_size = scalar_packed_size,                                                         \
        .pack = scalar_pack,                                                                       \
        .unpack = scalar_unpack,                                                                   \
        .unpack_int8 = scalar_unpack_int8,                                                         \
        .matmul = NAME##_matmul,                                                                   \
        .packed_size_int8 = scalar_packed_size_int8,                                               \
        .pack_int8 = scalar_pack_int8,                                                             \
        .quantize = OF_INT8(scalar_quantize),                                                      \
        .matmul_int8 = OF_INT8(scalar_matmul_int8),                                                \
        .gemm = GEMM,                                                                              \
        .softmax = lanes_softmax,                                                                  \
        .norm = lanes_norm,                                                                        \
        .activate = lanes_activate,                                                                \
        .activate_backward = activate_backward,                                                    \
    };

#endif
