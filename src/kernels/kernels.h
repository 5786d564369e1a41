/* The table of functions that every instruction set fills. Matrices are row-major, of any size
 * including 0 and any alignment, with strides in floats. No function reads or writes past an
 * array. */
#ifndef VIT_KERNELS_H
#define VIT_KERNELS_H

#include "vit.h"

typedef enum vit_epilogue {
    VIT_LINEAR = -1 /* else a vit_activation */
} vit_epilogue;

/* Rows of activations in 7 bits, because one operand of the relaxed int8 dot takes no more. */
struct vit_quantized {
    uint8_t *q;    /* (M,K), 0..127, rows vit_quantized_row(K) bytes apart */
    float *scale;  /* (M) */
    int32_t *zero; /* (M): the q of 0 */
};
enum {
    VIT_INT8_K = 1 << 16, /* so that 127·127·K and its correction stay below 2^31 */
    VIT_INT8_ROWS = 16,
    VIT_PACKED_MORE = 16
};
static inline size_t vit_quantized_row(size_t K) {
    return (2 * K + 15) / 16 * 16;
}

struct vit_kernels {
    const char *name;
    bool packed; /* false: `pack` writes b as plain (N,K), so parameters need no packing, and can be
                    trained */

    /* Floats that a packed (N,K) matrix takes: at most (N + VIT_PACKED_MORE)·(K +
     * VIT_PACKED_MORE). The caller has checked that these fit in memory. If n is a multiple of
     * VIT_INT8_ROWS, the packed rows 0 to n-1 end at packed_size(n,K), and the rows from n on can
     * be packed or used there as a matrix of their own. packed_size_int8 keeps the same rule. */
    size_t (*packed_size)(size_t N, size_t K);
    /* b(n,k) = b[n*n_stride + k*k_stride] → packed. A Linear's weight (N,K) has strides K,1. */
    void (*pack)(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K);
    /* `rows` rows of a packed matrix, from row n on → b (rows,K). */
    void (*unpack)(float *restrict b, const float *restrict packed, size_t n, size_t rows,
                   size_t K);
    /* y (M,N) = act(x (M,K) · bᵀ + bias), bias (N) or NULL; act: VIT_LINEAR or a
     * vit_activation. With `add` the result is added to y, and act must be VIT_LINEAR. In packed
     * tables and in scalar, every element of y is one sum that starts from the bias and goes over
     * k in order, whatever the tile. So a row's result does not depend on M. */
    void (*matmul)(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K);
    /* int8: b(n,k) ≈ scale[n]·int8, x(m,k) ≈ x.scale[m]·(x.q - x.zero[m]). The sums of products
     * are whole numbers and exact, so before the activation every table gives the same bits.
     * K must be at most VIT_INT8_K. Rows of b may be packed a few at a time, from row n on, where
     * n is a multiple of VIT_INT8_ROWS. */
    size_t (*packed_size_int8)(size_t N, size_t K); /* bytes, with the same bound */
    void (*pack_int8)(void *restrict packed, const int8_t *restrict b, size_t n, size_t rows,
                      size_t N, size_t K);
    /* A packed matrix times the scales of its rows → b (N,K). */
    void (*unpack_int8)(float *restrict b, const void *restrict packed, const float *restrict scale,
                        size_t N, size_t K);
    /* This and matmul_int8 are NULL in the tables of wasm modules that train. Each row has a scale of
     * its own: 128 levels from its smallest to its largest number. 0 always counts among the
     * numbers. */
    void (*quantize)(const struct vit_quantized *q, const float *restrict x, size_t ldx, size_t M,
                     size_t K);
    /* Does what matmul does. */
    void (*matmul_int8)(float *restrict y, size_t ldy, const struct vit_quantized *x,
                        const void *restrict packed, const float *restrict scale,
                        const float *restrict bias, int act, bool add, size_t M, size_t N,
                        size_t K);
    /* c (M,N) = beta·c + alpha·op(a)·op(b), where op transposes if transpose_a or transpose_b says
     * so. gemm and activate_backward serve backward passes. */
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
#ifdef __wasm_relaxed_simd__
/* The two multiply int8 in different ways. Only a clock can tell which is faster. */
extern const struct vit_kernels vit_relaxed, vit_relaxed_pairs, vit_relaxed_training;
#endif
#ifdef __wasm_simd128__
extern const struct vit_kernels vit_simd128, vit_simd128_training;
#elif !defined(__wasm__)
extern const struct vit_kernels vit_native; /* compiler vectors, and OpenBLAS if built with it */
#endif
/* For training: vit_native, but the factors of larger products are rounded to bfloat16. NULL if
 * the processor that this was compiled for has no products of bfloat16. */
const struct vit_kernels *vit_bfloat16(void);

/* The tables compiled in, best first; `count` of them. */
const struct vit_kernels *const *vit_kernels_all(size_t *count);
/* The best of them. A module that only calls this function links no other table. */
const struct vit_kernels *vit_kernels_best(void);
/* The best of those that do not pack. */
const struct vit_kernels *vit_kernels_training(void);

#endif
