/* For training and the native command. OpenBLAS computes matrix products if this is built with it
 * (HAVE_OPENBLAS), else the scalar table does. Row kernels use the target's widest vectors. */
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#include "bf16.h"
#include "by_gemm.h"
#include "lanes.h"
#include "scalar.h"

#ifdef HAVE_OPENBLAS
#include <cblas.h>

static void gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K) {
    if (M == 0 || N == 0) return;
    if (K == 0) { /* BLAS requires positive strides even for empty matrices */
        scalar_gemm(c, ldc, a, lda, transpose_a, b, ldb, transpose_b, alpha, beta, M, N, K);
        return;
    }
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)M, (blasint)N, (blasint)K, alpha,
                a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
}
#define GEMM gemm
#else
#define GEMM scalar_gemm
#endif

/* ---- Slopes, for the backward pass */

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
    case VIT_TANH: map_backward(dx, dy, x, n, tanh_slope); break;
    case VIT_SILU: map_backward(dx, dy, x, n, silu_slope); break;
    default: map_backward(dx, dy, x, n, one);
    }
}

UNPACKED_KERNELS(vit_native, "native", GEMM)

/* ---- Factors in bfloat16 */

#ifdef HAVE_BF16

extern const struct vit_kernels vit_bf16;
UNPACKED_KERNELS(vit_bf16, "bfloat16", bf16_gemm)

const struct vit_kernels *vit_bfloat16(void) {
    return bf16_begin() ? &vit_bf16 : NULL;
}

#else

const struct vit_kernels *vit_bfloat16(void) {
    return NULL;
}

#endif
