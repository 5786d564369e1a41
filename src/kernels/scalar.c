/* Plain C, one number at a time. This is the oracle for the other tables, the fallback for engines
 * without SIMD, and the place to read what each kernel means. */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "scalar.h"

size_t scalar_packed_size(size_t N, size_t K) {
    return N * K;
}

void scalar_pack(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K) {
    for (size_t n = 0; n < N; n++)
        for (size_t k = 0; k < K; k++) *packed++ = b[n * n_stride + k * k_stride];
}

void scalar_unpack(float *restrict b, const float *restrict packed, size_t n, size_t rows,
                   size_t K) {
    memcpy(b, packed + n * K, rows * K * sizeof *b);
}

static float gelu(float x) {
    return 0.5f * x * (1 + erff(x * 0.70710678f));
}
static float sigmoid(float x) {
    return 1 / (1 + expf(-x));
}
/* 0.5·(1 + tanh(u)) = sigmoid(2u), u = √(2/π)·(x + 0.044715x³): Hendrycks, arXiv:1606.08415. */
static float gelu_tanh(float x) {
    return x * sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
}
static float quick_gelu(float x) {
    return x * sigmoid(1.702f * x);
}
static float silu(float x) {
    return x * sigmoid(x);
}
static float relu(float x) {
    return x < 0 ? 0 : x;
}
/* tanh; near 0, where the difference cancels, by a part of Lambert's continued fraction. */
static float tanh_scalar(float x) {
    float square = x * x;
    return square < 1 ? x * (945 + square * (105 + square)) / (945 + square * (420 + 15 * square))
                      : 2 * sigmoid(2 * x) - 1;
}

static float gelu_slope(float x) {
    return 0.5f * (1 + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x);
}
static float gelu_tanh_slope(float x) {
    float s = sigmoid(1.59576912f * (x + 0.044715f * x * x * x));
    return s + x * s * (1 - s) * 1.59576912f * (1 + 3 * 0.044715f * x * x);
}
static float quick_gelu_slope(float x) {
    float s = sigmoid(1.702f * x);
    return s + 1.702f * x * s * (1 - s);
}
static float silu_slope(float x) {
    float s = sigmoid(x);
    return s + x * s * (1 - s);
}
static float tanh_slope(float x) {
    return 1 - tanh_scalar(x) * tanh_scalar(x);
}
static float relu_slope(float x) {
    return x > 0 ? 1 : 0;
}

typedef float (*function)(float);
static const function FUNCTIONS[] = {gelu, gelu_tanh, quick_gelu, relu, tanh_scalar, silu};
static const function SLOPES[] = {gelu_slope, gelu_tanh_slope, quick_gelu_slope,
                                  relu_slope, tanh_slope,      silu_slope};

static void activate(float *y, const float *x, int act, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = act == VIT_LINEAR ? x[i] : FUNCTIONS[act](x[i]);
}

static void activate_backward(float *dx, const float *dy, const float *x, int act, size_t n) {
    for (size_t i = 0; i < n; i++) dx[i] = act == VIT_LINEAR ? dy[i] : dy[i] * SLOPES[act](x[i]);
}

static void matmul(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K) {
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float sum = bias ? bias[n] : 0;
            for (size_t k = 0; k < K; k++) sum += x[m * ldx + k] * packed[n * K + k];
            if (act != VIT_LINEAR) sum = FUNCTIONS[act](sum);
            y[m * ldy + n] = add ? y[m * ldy + n] + sum : sum;
        }
}

/* int8 weights stay as they are, (N,K). */
size_t scalar_packed_size_int8(size_t N, size_t K) {
    return N * K;
}

void scalar_pack_int8(void *restrict packed, const int8_t *restrict b, size_t n, size_t rows,
                      size_t N, size_t K) {
    (void)N;
    memcpy((int8_t *)packed + n * K, b, rows * K);
}

void scalar_unpack_int8(float *restrict b, const void *restrict packed, const float *restrict scale,
                        size_t N, size_t K) {
    const int8_t *q = packed;
    for (size_t i = 0; i < N * K; i++) b[i] = scale[i / K] * (float)q[i];
}

void scalar_quantize(const struct vit_quantized *q, const float *restrict x, size_t ldx, size_t M,
                     size_t K) {
    size_t row = vit_quantized_row(K);
    for (size_t m = 0; m < M; m++, x += ldx) {
        float low = 0, high = 0, poison = 0; /* x - x is NaN if x is NaN or infinite */
        for (size_t k = 0; k < K; k++) {
            low = x[k] < low ? x[k] : low;
            high = x[k] > high ? x[k] : high;
            poison += x[k] - x[k];
        }
        float step = (high - low) / 127 + poison;
        float per_step = step > 1e-30f && step < INFINITY ? 1 / step : 0;
        float zero = per_step > 0 ? rintf(-low * per_step) : 0;
        for (size_t k = 0; k < K; k++) {
            float steps = rintf(x[k] * per_step) + zero;
            q->q[m * row + k] = (uint8_t)(steps > 127 ? 127 : steps > 0 ? steps : 0);
        }
        q->scale[m] = step;
        q->zero[m] = (int32_t)zero;
    }
}

void scalar_matmul_int8(float *restrict y, size_t ldy, const struct vit_quantized *x,
                        const void *restrict packed, const float *restrict scale,
                        const float *restrict bias, int act, bool add, size_t M, size_t N,
                        size_t K) {
    const int8_t *b = packed;
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            const uint8_t *row = x->q + m * vit_quantized_row(K);
            int32_t dot = 0;
            for (size_t k = 0; k < K; k++) dot += (row[k] - x->zero[m]) * b[n * K + k];
            float sum = (float)dot * (x->scale[m] * scale[n]) + (bias ? bias[n] : 0);
            if (act != VIT_LINEAR) sum = FUNCTIONS[act](sum);
            y[m * ldy + n] = add ? y[m * ldy + n] + sum : sum;
        }
}

void scalar_gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K) {
    size_t a_row = transpose_a ? 1 : lda, a_column = transpose_a ? lda : 1;
    size_t b_row = transpose_b ? 1 : ldb, b_column = transpose_b ? ldb : 1;
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float sum = 0, *out = &c[m * ldc + n];
            for (size_t k = 0; k < K; k++)
                sum += a[m * a_row + k * a_column] * b[k * b_row + n * b_column];
            *out = (beta == 0 ? 0 : beta * *out) + alpha * sum;
        }
}

static void softmax(float *x, size_t ldx, float scale, size_t rows, size_t columns) {
    for (; rows > 0; rows--, x += ldx) {
        float max = -INFINITY, sum = 0;
        for (size_t i = 0; i < columns; i++) max = fmaxf(max, x[i] * scale);
        for (size_t i = 0; i < columns; i++) sum += x[i] = expf(x[i] * scale - max);
        for (size_t i = 0; i < columns; i++) x[i] /= sum;
    }
}

static void norm(float *y, size_t ldy, float *mean, float *rstd, const float *x, size_t ldx,
                 const float *restrict gain, const float *restrict bias, float eps, size_t rows,
                 size_t columns) {
    for (size_t t = 0; t < rows; t++, x += ldx, y += ldy) {
        float sum = 0, squares = 0;
        for (size_t i = 0; i < columns; i++) sum += x[i];
        float m = sum / (float)columns;
        for (size_t i = 0; i < columns; i++) squares += (x[i] - m) * (x[i] - m);
        float r = 1 / sqrtf(squares / (float)columns + eps);
        for (size_t i = 0; i < columns; i++) y[i] = gain[i] * (x[i] - m) * r + bias[i];
        if (mean) mean[t] = m;
        if (rstd) rstd[t] = r;
    }
}

const struct vit_kernels vit_scalar = {
    .name = "scalar",
    .packed = false,
    .packed_size = scalar_packed_size,
    .pack = scalar_pack,
    .unpack = scalar_unpack,
    .matmul = matmul,
    .packed_size_int8 = scalar_packed_size_int8,
    .pack_int8 = scalar_pack_int8,
    .unpack_int8 = scalar_unpack_int8,
    .quantize = scalar_quantize,
    .matmul_int8 = scalar_matmul_int8,
    .gemm = scalar_gemm,
    .softmax = softmax,
    .norm = norm,
    .activate = activate,
    .activate_backward = activate_backward,
};
