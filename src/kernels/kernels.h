/* The table every instruction set fills. All matrices row-major, strides in floats,
 * any size including 0, any alignment; nothing is read or written past an array. */
#ifndef VIT_KERNELS_H
#define VIT_KERNELS_H

#include "../vit.h"

typedef enum vit_epilogue {
    VIT_LINEAR = -1 /* else a vit_activation */
} vit_epilogue;

struct vit_kernels {
    const char *name;
    bool packed; /* false: `pack` writes b as plain (N,K), so parameters need no packing */

    /* Floats that a packed (N,K) matrix takes. */
    size_t (*packed_size)(size_t N, size_t K);
    /* b(n,k) = b[n*n_stride + k*k_stride] → packed. A Linear's weight (N,K) has strides K,1. */
    void (*pack)(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K);
    /* y (M,N) = act(x (M,K) · bᵀ + bias), bias (N) or NULL; act: VIT_LINEAR or a
     * vit_activation. With `add`, which wants VIT_LINEAR, y is kept and added to. In packed
     * tables and in scalar every y is one sum over k in order, from the bias on, whatever the
     * tile: a row's result does not depend on M. */
    void (*matmul)(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K);
    /* c (M,N) = beta·c + alpha·op(a)·op(b); op transposes when asked. For backward passes. */
    void (*gemm)(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K);
    /* Each row: x = exp(scale·x - max) / sum. In place. */
    void (*softmax)(float *x, size_t ldx, float scale, size_t rows, size_t columns);
    /* y = gain·(x - mean)·rstd + bias per row; mean, rstd (rows) or NULL; y may be x.
     * Ba et al., arXiv:1607.06450. */
    void (*norm)(float *y, size_t ldy, float *mean, float *rstd, const float *x, size_t ldx,
                 const float *restrict gain, const float *restrict bias, float eps, size_t rows,
                 size_t columns);
    /* y = act(x); y may be x. */
    void (*activate)(float *y, const float *x, int act, size_t n);
    /* dx = dy·act'(x); dx may be dy. */
    void (*activate_backward)(float *dx, const float *dy, const float *x, int act, size_t n);
};

extern const struct vit_kernels vit_scalar;
#ifdef __wasm_simd128__
extern const struct vit_kernels vit_simd128;
#else
extern const struct vit_kernels vit_native; /* compiler vectors, OpenBLAS where built with it */
#endif

/* The tables compiled in, best first; `count` of them. */
const struct vit_kernels *const *vit_kernels_all(size_t *count);

#endif
