/* Row kernels in compiler vectors of LANES floats, a template: define LANES, then include. The same
 * source makes 128-bit wasm, AVX2 or AVX-512. A row may have any length. The rest at its end goes
 * through the same arithmetic in a partly filled vector. */
#ifndef VIT_LANES_H
#define VIT_LANES_H

#include <math.h>
#include <string.h>

#include "edition.h"
#include "kernels.h"

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));

#define INLINE static inline __attribute__((always_inline))
/* For functions where a page needs few bytes more than speed. */
#ifdef __clang__
#define SMALL static __attribute__((minsize))
#else
#define SMALL static
#endif

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
    float part[LANES];
    for (size_t i = 0; i < LANES; i++) part[i] = fill;
    for (size_t i = 0; i < n; i++) part[i] = p[i];
    return load(part);
}
INLINE void store_part(float *p, vf v, size_t n) {
    float part[LANES];
    store(part, v);
    for (size_t i = 0; i < n; i++) p[i] = part[i];
}
INLINE vf choose(vi mask, vf yes, vf no) {
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}
#ifdef __wasm_simd128__
/* In wasm LANES is 8, which is two registers. A value that is loaded once serves both. */
typedef float v4 __attribute__((vector_size(16)));
INLINE v4 low(vf v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}
INLINE v4 high(vf v) {
    return __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
INLINE vf both(v4 low, v4 high) {
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
/* a·b + c, rounded once where FUSED. */
INLINE v4 multiply_add_4(v4 a, v4 b, v4 c) {
#ifdef FUSED
    return (v4)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
    return a * b + c;
#endif
}
INLINE v4 larger_4(v4 x, v4 y) {
    return (v4)wasm_f32x4_pmax((v128_t)x, (v128_t)y);
}
INLINE v4 smaller_4(v4 x, v4 y) {
    return (v4)wasm_f32x4_pmin((v128_t)x, (v128_t)y);
}
INLINE v4 sum_4(v4 x, v4 y) {
    return x + y;
}
INLINE vf multiply_add(vf a, vf b, vf c) {
    return both(multiply_add_4(low(a), low(b), low(c)), multiply_add_4(high(a), high(b), high(c)));
}
/* The larger and the smaller of x and y; NaN if x is NaN. */
INLINE vf larger(vf x, vf y) {
    return both(larger_4(low(x), low(y)), larger_4(high(x), high(y)));
}
INLINE vf smaller(vf x, vf y) {
    return both(smaller_4(low(x), low(y)), smaller_4(high(x), high(y)));
}
/* Folds halves onto each other: log2(LANES) steps instead of a chain of LANES. */
INLINE float fold(vf v, v4 (*f)(v4, v4)) {
    v4 four = f(low(v), high(v));
    four = f(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
    return f(four, __builtin_shufflevector(four, four, 1, 0, 3, 2))[0];
}
INLINE float sum_lanes(vf v) {
    return fold(v, sum_4);
}
INLINE float max_lanes(vf v) {
    return fold(v, larger_4);
}
#else
INLINE vf multiply_add(vf a, vf b, vf c) {
    return a * b + c;
}
INLINE vf larger(vf x, vf y) {
    return choose(x < y, y, x);
}
INLINE vf smaller(vf x, vf y) {
    return choose(y < x, y, x);
}
INLINE float sum_lanes(vf v) {
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++) v[i] += v[i + width];
    return v[0];
}
INLINE float max_lanes(vf v) {
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++) v[i] = v[i] > v[i + width] ? v[i] : v[i + width];
    return v[0];
}
#endif

/* A constant, four times in memory. A load is one instruction. V8 would make a constant vector
 * again at every use, in three instructions. */
typedef struct four {
    float x[4];
} four;
#define FOUR(c)                                                                                    \
    {                                                                                              \
        { c, c, c, c }                                                                             \
    }
INLINE vf constant(const four *c) {
    __asm__("" : "+r"(c));
#ifdef __wasm_simd128__
    v4 x = (v4)wasm_v128_load(c);
    return both(x, x);
#else
    return splat(c->x[0]);
#endif
}

/* c[0]·x⁵ + … + c[5], by Horner's rule. */
INLINE vf quintic(vf x, const four *c) {
    vf p = constant(c);
    for (int i = 1; i < 6; i++) p = multiply_add(p, x, constant(c + i));
    return p;
}
/* The same polynomial in pairs (Estrin 1960): half the latency, one product more. */
INLINE vf quintic_in_pairs(vf x, const four *c) {
    vf square = x * x;
    vf high = multiply_add(constant(c), x, constant(c + 1));
    vf middle = multiply_add(constant(c + 2), x, constant(c + 3));
    vf low = multiply_add(constant(c + 4), x, constant(c + 5));
    return multiply_add(multiply_add(high, square, middle), square, low);
}

/* 2^x within 2 epsilons for x in [-126, 127]; 2^-126 for a smaller x. x = n + r with a whole n. A
 * polynomial, fitted by us to the least relative error, gives 2^r. n goes into the exponent. */
INLINE vf exp2_lanes(vf x) {
    static const four LOWEST = FOUR(-126);
    static const four MAGIC = FOUR(0x1.8p23f + 127); /* adding it rounds to n, in bits n + 127 */
    static const four POWER[] = {FOUR(0.00132764725f), FOUR(0.00967554096f), FOUR(0.0555071309f),
                                 FOUR(0.240221202f),   FOUR(0.693146944f),   FOUR(1.00000012f)};
    x = larger(x, constant(&LOWEST));
    vf shifted = x + constant(&MAGIC);
    vf r = x - (shifted - constant(&MAGIC));
    return quintic_in_pairs(r, POWER) * (vf)((vi)shifted << 23);
}

/* e^x within 3 + |x| epsilons, because x·log2(e) is rounded. */
INLINE vf exp_lanes(vf x) {
    return exp2_lanes(smaller(x, splat(88)) * 1.44269504f);
}

/* The normal distribution's integral from 0 to x within 2.5e-7: x·P(x²)/Q(x²), fitted by us to the
 * least relative error on |x| < 5.55. Past either end it keeps the value at that end. */
INLINE vf normal_integral(vf x) {
    static const four END = FOUR(5.5507882f), OTHER_END = FOUR(-5.5507882f);
    static const four P[] = {FOUR(2.26054754e-08f), FOUR(6.29425137e-06f), FOUR(0.000166728171f),
                             FOUR(0.00466421246f),  FOUR(0.0336928536f),   FOUR(0.398942274f)};
    static const four Q[] = {FOUR(1.18899152e-06f), FOUR(7.27422881e-05f), FOUR(0.00187291929f),
                             FOUR(0.0285458677f),   FOUR(0.251121824f),    FOUR(1)};
    x = larger(smaller(x, constant(&END)), constant(&OTHER_END));
    vf square = x * x;
    return x * quintic(square, P) / quintic(square, Q);
}

INLINE vf sigmoid(vf x) {
    return 1.0f / (1.0f + exp_lanes(-x));
}
INLINE vf normal_cdf(vf x) {
    return normal_integral(x) + 0.5f;
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
INLINE vf silu(vf x) {
    return x * sigmoid(x);
}
INLINE vf relu(vf x) {
    return larger(x, splat(0));
}

/* Near 0, where the difference cancels, a part of Lambert's continued fraction stands in. */
INLINE vf tanh_lanes(vf x) {
    vf square = x * x;
    vf near =
        x * (945.0f + square * (105.0f + square)) / (945.0f + square * (420.0f + 15.0f * square));
    return choose(square < splat(1), near, 2.0f * sigmoid(2.0f * x) - 1.0f);
}

INLINE vf same(vf x) {
    return x;
}

INLINE void map(float *y, size_t ldy, const float *x, size_t ldx, size_t rows, size_t n,
                vf (*f)(vf)) {
    for (; rows > 0; rows--, x += ldx, y += ldy) {
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) store(y + i, f(load(x + i)));
        if (i < n) store_part(y + i, f(load_part(x + i, n - i, 0)), n - i);
    }
}

/* The small edition has one activation. */
INLINE int activation_here(int act) {
    return VIT_FULL || act == VIT_LINEAR ? act : VIT_GELU;
}

static void activate_rows(float *y, size_t ldy, const float *x, size_t ldx, int act, size_t rows,
                          size_t n) {
    switch (activation_here(act)) {
    case VIT_GELU: map(y, ldy, x, ldx, rows, n, gelu); break;
    case VIT_GELU_TANH: map(y, ldy, x, ldx, rows, n, gelu_tanh); break;
    case VIT_QUICK_GELU: map(y, ldy, x, ldx, rows, n, quick_gelu); break;
    case VIT_RELU: map(y, ldy, x, ldx, rows, n, relu); break;
    case VIT_TANH: map(y, ldy, x, ldx, rows, n, tanh_lanes); break;
    case VIT_SILU: map(y, ldy, x, ldx, rows, n, silu); break;
    default: map(y, ldy, x, ldx, rows, n, same);
    }
}

static void lanes_activate(float *y, const float *x, int act, size_t n) {
    activate_rows(y, n, x, n, act, 1, n);
}

/* ---- Slopes, for backward passes */

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
INLINE vf silu_slope(vf x) {
    vf s = sigmoid(x);
    return s + x * s * (1.0f - s);
}
INLINE vf relu_slope(vf x) {
    return choose(x > splat(0), splat(1), splat(0));
}
INLINE vf tanh_slope(vf x) {
    vf y = tanh_lanes(x);
    return 1.0f - y * y;
}
INLINE vf one(vf x) {
    return splat(1) + 0 * x;
}

/* The last vector of a row is loaded so that it ends where the row ends. These are its lanes that
 * no whole vector before it has covered. n >= LANES. */
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

/* Turns a row of scores x into exp(scale·(x - max)) and returns the sum. scale > 0. */
static float row_exp(float *x, float scale, float max, size_t n) {
    vf sum = splat(0);
    scale *= 1.44269504f;
    if (n < LANES) {
        vf e = exp2_lanes((load_part(x, n, -INFINITY) - max) * scale);
        store_part(x, e, n);
        for (size_t i = 0; i < n; i++) sum[0] += x[i];
        return sum[0];
    }
    vf last = load(x + n - LANES); /* before the loop overwrites some of it */
    for (size_t i = 0; i + LANES <= n; i += LANES) {
        vf e = exp2_lanes((load(x + i) - max) * scale);
        store(x + i, e);
        sum += e;
    }
    if (n % LANES == 0) return sum_lanes(sum);
    last = exp2_lanes((last - max) * scale);
    store(x + n - LANES, last);
    return sum_lanes(sum + choose(last_lanes(n), last, splat(0)));
}

/* This many rows go through each pass together. While the sum, quotient or root of one row is under
 * way, the next rows are read. */
enum { ROWS = 8 };

static void lanes_softmax(float *x, size_t ldx, float scale, size_t rows, size_t columns) {
    for (size_t n; rows > 0; rows -= n, x += n * ldx) {
        float max[ROWS], share[ROWS];
        n = rows < ROWS ? rows : ROWS;
        for (size_t t = 0; t < n; t++) max[t] = row_max(x + t * ldx, columns);
        for (size_t t = 0; t < n; t++) share[t] = 1 / row_exp(x + t * ldx, scale, max[t], columns);
        for (size_t t = 0; t < n; t++) {
            float *row = x + t * ldx;
            size_t i = 0;
            for (; i + LANES <= columns; i += LANES) store(row + i, load(row + i) * share[t]);
            for (; i < columns; i++) row[i] *= share[t];
        }
    }
}

static float row_mean(const float *x, size_t n) {
    size_t i = 0;
    vf total = splat(0);
    for (; i + LANES <= n; i += LANES) total += load(x + i);
    if (i < n) total += load_part(x + i, n - i, 0);
    return sum_lanes(total) / (float)n;
}

static float row_rstd(const float *x, float mean, float eps, size_t n) {
    size_t i = 0;
    vf squares = splat(0), centred;
    for (; i + LANES <= n; i += LANES) {
        centred = load(x + i) - mean;
        squares += centred * centred;
    }
    if (i < n) {
        centred = load_part(x + i, n - i, mean) - mean;
        squares += centred * centred;
    }
    return 1 / sqrtf(sum_lanes(squares) / (float)n + eps);
}

static void lanes_norm(float *y, size_t ldy, float *mean, float *rstd, const float *x, size_t ldx,
                       const float *restrict gain, const float *restrict bias, float eps,
                       size_t rows, size_t columns) {
    for (size_t n; rows > 0; rows -= n, x += n * ldx, y += n * ldy) {
        float m[ROWS], r[ROWS];
        n = rows < ROWS ? rows : ROWS;
        for (size_t t = 0; t < n; t++) m[t] = row_mean(x + t * ldx, columns);
        for (size_t t = 0; t < n; t++) r[t] = row_rstd(x + t * ldx, m[t], eps, columns);
        for (size_t t = 0; t < n; t++) {
            const float *in = x + t * ldx;
            float *out = y + t * ldy;
            size_t i = 0;
            for (; i + LANES <= columns; i += LANES)
                store(out + i,
                      multiply_add(load(gain + i), (load(in + i) - m[t]) * r[t], load(bias + i)));
            for (; i < columns; i++) out[i] = gain[i] * ((in[i] - m[t]) * r[t]) + bias[i];
            if (mean) *mean++ = m[t];
            if (rstd) *rstd++ = r[t];
        }
    }
}

#endif
