/* Row kernels in compiler vectors of LANES floats: define LANES, include, and the same
 * source is 128-bit wasm, AVX2 or AVX-512. Rows of any length; what is left over at the
 * end of a row goes through the same arithmetic in a partly filled vector. */
#ifndef VIT_LANES_H
#define VIT_LANES_H

#include <math.h>
#include <string.h>

#include "kernels.h"

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE vf splat(float x) {
    return x - (vf){0};
}
INLINE vf load(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void store(float *p, vf v) {
    memcpy(p, &v, sizeof v);
}
INLINE vf load_part(const float *p, size_t n, float fill) {
    vf v = splat(fill);
    for (size_t i = 0; i < n; i++) v[i] = p[i];
    return v;
}
INLINE void store_part(float *p, vf v, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = v[i];
}
INLINE vf choose(vi mask, vf yes, vf no) {
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}
/* The larger and the smaller; where x is NaN, so is the result. */
#ifdef __wasm_simd128__
INLINE vf larger(vf x, vf y) {
    return (vf)wasm_f32x4_pmax((v128_t)x, (v128_t)y);
}
INLINE vf smaller(vf x, vf y) {
    return (vf)wasm_f32x4_pmin((v128_t)x, (v128_t)y);
}
#else
INLINE vf larger(vf x, vf y) {
    return choose(x < y, y, x);
}
INLINE vf smaller(vf x, vf y) {
    return choose(y < x, y, x);
}
#endif

/* Halves folded onto each other: log2(LANES) steps instead of a chain of LANES. */
INLINE float sum_lanes(vf v) {
    float a[LANES];
    store(a, v);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++) a[i] += a[i + width];
    return a[0];
}
INLINE float max_lanes(vf v) {
    float a[LANES];
    store(a, v);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++) a[i] = a[i] > a[i + width] ? a[i] : a[i + width];
    return a[0];
}

/* e^x within 2 ulp for x in [-87, 88]; outside it stays at the ends' values. x = n·ln 2 + r,
 * then a polynomial for e^r (Cephes' expf, Moshier) and n into the exponent's bits. */
INLINE vf exp_lanes(vf x) {
    const vf magic = splat(0x1.8p23f); /* adding it rounds to a whole number */
    x = larger(smaller(x, splat(88.0f)), splat(-87.0f));
    vf shifted = x * 1.44269504f + magic;
    vi n = (vi)shifted - (vi)magic;
    vf whole = shifted - magic;
    vf r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    vf p = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * (vf)((n + 127) << 23);
}

/* erf(x) within 5e-7: x·P(x²)/Q(x²), fitted by us to the least relative error on |x| < 3.925;
 * beyond, it stays at that end's value, 2e-7 short of ±1. */
INLINE vf erf_lanes(vf x) {
    x = larger(smaller(x, splat(3.925f)), splat(-3.925f));
    vf t = x * x;
    vf p = 2.04601407e-6f * t + 2.84845301e-4f;
    p = p * t + 3.77262784e-3f;
    p = p * t + 5.27695402e-2f;
    p = p * t + 1.90595562e-1f;
    p = p * t + 1.12837915f;
    vf q = 3.80477285e-5f * t + 1.16387661e-3f;
    q = q * t + 1.49833543e-2f;
    q = q * t + 1.14183471e-1f;
    q = q * t + 5.02243649e-1f;
    q = q * t + 1.0f;
    return x * p / q;
}

INLINE vf sigmoid(vf x) {
    return 1.0f / (1.0f + exp_lanes(-x));
}
INLINE vf normal_cdf(vf x) {
    return 0.5f + 0.5f * erf_lanes(x * 0.70710678f);
}
INLINE vf tanh_argument(vf x) {
    return 1.59576912f * (x + 0.044715f * x * x * x);
}

INLINE vf gelu(vf x) {
    return x * normal_cdf(x);
}
INLINE vf gelu_tanh(vf x) {
    return x * sigmoid(tanh_argument(x));
}
INLINE vf quick_gelu(vf x) {
    return x * sigmoid(1.702f * x);
}
INLINE vf relu(vf x) {
    return larger(x, splat(0));
}

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
INLINE vf same(vf x) {
    return x;
}
INLINE vf one(vf x) {
    return splat(1) + 0 * x;
}

INLINE void map(float *y, size_t ldy, const float *x, size_t ldx, size_t rows, size_t n,
                vf (*f)(vf)) {
    for (; rows > 0; rows--, x += ldx, y += ldy) {
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) store(y + i, f(load(x + i)));
        if (i < n) store_part(y + i, f(load_part(x + i, n - i, 0)), n - i);
    }
}

INLINE void map_backward(float *dx, const float *dy, const float *x, size_t n, vf (*slope)(vf)) {
    for (; n >= LANES; n -= LANES, x += LANES, dy += LANES, dx += LANES)
        store(dx, load(dy) * slope(load(x)));
    if (n) store_part(dx, load_part(dy, n, 0) * slope(load_part(x, n, 0)), n);
}

static void activate_rows(float *y, size_t ldy, const float *x, size_t ldx, int act, size_t rows,
                          size_t n) {
    switch (act) {
    case VIT_GELU: map(y, ldy, x, ldx, rows, n, gelu); break;
    case VIT_GELU_TANH: map(y, ldy, x, ldx, rows, n, gelu_tanh); break;
    case VIT_QUICK_GELU: map(y, ldy, x, ldx, rows, n, quick_gelu); break;
    case VIT_RELU: map(y, ldy, x, ldx, rows, n, relu); break;
    default: map(y, ldy, x, ldx, rows, n, same);
    }
}

static void lanes_activate(float *y, const float *x, int act, size_t n) {
    activate_rows(y, n, x, n, act, 1, n);
}

static void lanes_activate_backward(float *dx, const float *dy, const float *x, int act, size_t n) {
    switch (act) {
    case VIT_GELU: map_backward(dx, dy, x, n, gelu_slope); break;
    case VIT_GELU_TANH: map_backward(dx, dy, x, n, gelu_tanh_slope); break;
    case VIT_QUICK_GELU: map_backward(dx, dy, x, n, quick_gelu_slope); break;
    case VIT_RELU: map_backward(dx, dy, x, n, relu_slope); break;
    default: map_backward(dx, dy, x, n, one);
    }
}

/* The lanes of the last vector of a row of n >= LANES, loaded to end where the row ends, that
 * the whole vectors before it have not covered. */
INLINE vi last_lanes(size_t n) {
    vi lane = {0};
    for (int i = 0; i < LANES; i++) lane[i] = i;
    return lane >= (int32_t)(LANES - n % LANES);
}

static float row_max(const float *x, size_t n) {
    if (n < LANES) return max_lanes(load_part(x, n, -INFINITY));
    vf max = load(x + n - LANES);
    for (size_t i = 0; i + LANES <= n; i += LANES) max = larger(load(x + i), max);
    return max_lanes(max);
}

/* A row of scores → exp(scale·x - scale·max), and their sum. scale > 0. */
static float row_exp(float *x, float scale, float max, size_t n) {
    vf sum = splat(0), offset = splat(-scale * max);
    if (n < LANES) {
        vf e = exp_lanes(load_part(x, n, max) * scale + offset);
        store_part(x, e, n);
        for (size_t i = 0; i < n; i++) sum[0] += e[i];
        return sum[0];
    }
    vf last = exp_lanes(load(x + n - LANES) * scale + offset);
    for (size_t i = 0; i + LANES <= n; i += LANES) {
        vf e = exp_lanes(load(x + i) * scale + offset);
        store(x + i, e);
        sum += e;
    }
    store(x + n - LANES, last);
    return sum_lanes(sum + choose(last_lanes(n), last, splat(0)));
}

static void lanes_softmax(float *x, size_t ldx, float scale, size_t rows, size_t columns) {
    for (; rows > 0; rows--, x += ldx) {
        float share = 1 / row_exp(x, scale, row_max(x, columns), columns);
        size_t i = 0;
        for (; i + LANES <= columns; i += LANES) store(x + i, load(x + i) * share);
        for (; i < columns; i++) x[i] *= share;
    }
}

static void lanes_norm(float *y, size_t ldy, float *mean, float *rstd, const float *x, size_t ldx,
                       const float *restrict gain, const float *restrict bias, float eps,
                       size_t rows, size_t columns) {
    size_t whole = columns / LANES * LANES, rest = columns - whole;
    for (size_t t = 0; t < rows; t++, x += ldx, y += ldy) {
        vf sum = load_part(x + whole, rest, 0), squares;
        for (size_t i = 0; i < whole; i += LANES) sum += load(x + i);
        float m = sum_lanes(sum) / (float)columns;
        squares = load_part(x + whole, rest, m) - m;
        squares *= squares;
        for (size_t i = 0; i < whole; i += LANES) {
            vf centred = load(x + i) - m;
            squares += centred * centred;
        }
        float r = 1 / sqrtf(sum_lanes(squares) / (float)columns + eps);
        for (size_t i = 0; i < whole; i += LANES)
            store(y + i, load(gain + i) * ((load(x + i) - m) * r) + load(bias + i));
        for (size_t i = whole; i < columns; i++) y[i] = gain[i] * ((x[i] - m) * r) + bias[i];
        if (mean) mean[t] = m;
        if (rstd) rstd[t] = r;
    }
}

#endif
