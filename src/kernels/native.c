/* For training and the native command: matrix products by OpenBLAS where built with it
 * (HAVE_OPENBLAS), else by the scalar table; rows in the widest vectors of the target. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#include "by_gemm.h"
#include "lanes.h"

static size_t packed_size(size_t N, size_t K) {
    return N * K;
}

static void pack(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K) {
    vit_scalar.pack(packed, b, n_stride, k_stride, N, K);
}

static size_t packed_size_int8(size_t N, size_t K) {
    return vit_scalar.packed_size_int8(N, K);
}

static void pack_int8(void *restrict packed, const int8_t *restrict b, size_t n, size_t rows,
                      size_t N, size_t K) {
    vit_scalar.pack_int8(packed, b, n, rows, N, K);
}

static void quantize(const struct vit_quantized *q, const float *restrict x, size_t ldx, size_t M,
                     size_t K) {
    vit_scalar.quantize(q, x, ldx, M, K);
}

static void matmul_int8(float *restrict y, size_t ldy, const struct vit_quantized *x,
                        const void *restrict packed, const float *restrict scale,
                        const float *restrict bias, int act, bool add, size_t M, size_t N,
                        size_t K) {
    vit_scalar.matmul_int8(y, ldy, x, packed, scale, bias, act, add, M, N, K);
}

#ifdef HAVE_OPENBLAS
#include <cblas.h>

static void gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K) {
    if (M == 0 || N == 0) return;
    if (K == 0) { /* BLAS wants positive strides even for nothing */
        vit_scalar.gemm(c, ldc, a, lda, transpose_a, b, ldb, transpose_b, alpha, beta, M, N, K);
        return;
    }
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)M, (blasint)N, (blasint)K, alpha,
                a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}
#else
static void gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K) {
    vit_scalar.gemm(c, ldc, a, lda, transpose_a, b, ldb, transpose_b, alpha, beta, M, N, K);
}
#endif

static void matmul(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K) {
    matmul_by_gemm(&vit_native, y, ldy, x, ldx, packed, bias, act, add, M, N, K);
}

/* ---- Slopes, for the backward pass */

INLINE vf gelu_slope(vf x) {
    return normal_cdf(x) + x * 0.39894228f * exp_lanes(-0.5f * x * x);
}
INLINE vf gelu_tanh_slope(vf x) {
    vf s = sigmoid(tanh_argument(x));
    return s + x * s * (1.0f - s) * 1.59576912f * (1.0f + 0.134145f * smaller(x * x, splat(1e6f)));
}
INLINE vf quick_gelu_slope(vf x) {
    vf s = sigmoid(1.702f * x);
    return s + 1.702f * x * s * (1.0f - s);
}
INLINE vf relu_slope(vf x) {
    return choose(x > splat(0), splat(1), splat(0));
}
INLINE vf one(vf x) {
    return splat(1) + 0 * x;
}

INLINE void map_backward(float *dx, const float *dy, const float *x, size_t n, vf (*slope)(vf)) {
    for (; n >= LANES; n -= LANES, x += LANES, dy += LANES, dx += LANES)
        store(dx, load(dy) * slope(load(x)));
    if (n) store_part(dx, load_part(dy, n, 0) * slope(load_part(x, n, 0)), n);
}

static void activate_backward(float *dx, const float *dy, const float *x, int act, size_t n) {
    switch (act) {
    case VIT_GELU: map_backward(dx, dy, x, n, gelu_slope); break;
    case VIT_GELU_TANH: map_backward(dx, dy, x, n, gelu_tanh_slope); break;
    case VIT_QUICK_GELU: map_backward(dx, dy, x, n, quick_gelu_slope); break;
    case VIT_RELU: map_backward(dx, dy, x, n, relu_slope); break;
    default: map_backward(dx, dy, x, n, one);
    }
}

const struct vit_kernels vit_native = {
    .name = "native",
    .packed = false,
    .packed_size = packed_size,
    .pack = pack,
    .matmul = matmul,
    .packed_size_int8 = packed_size_int8,
    .pack_int8 = pack_int8,
    .quantize = quantize,
    .matmul_int8 = matmul_int8,
    .gemm = gemm,
    .softmax = lanes_softmax,
    .norm = lanes_norm,
    .activate = lanes_activate,
    .activate_backward = activate_backward,
};
