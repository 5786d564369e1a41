/* Matrix products in 128-bit vectors, a template over lanes.h: define MR, the rows of a tile, 4 or
 * 6, then include. Like lanes.h it makes plain or fused SIMD. Matrices are packed in panels of 8
 * columns, k by k, so that a tile reads only two vectors of b a step:
 *     packed: for each 8 columns n..n+7 (zeros past N): for each k: b(n..n+7, k)
 *
 * A tile is MR×8. It takes 2·MR + 3 of the 15 registers that V8 leaves free on x86: 2·MR sums, 2
 * vectors of b, and one splat of x, which serves the MR rows in turn. Without a fused multiply-add
 * it takes one more, for the product. The splats are loads, which cost less than shuffles. */
#ifndef VIT_TILES_H
#define VIT_TILES_H

#include "lanes.h"

#ifndef MR
#error "tiles.h: define MR, the rows of a tile"
#endif

enum { NR = 8, NARROW_ROWS = 64 };

INLINE v4 load_4(const float *p) {
    return (v4)wasm_v128_load(p);
}
INLINE void store_4(float *p, v4 v) {
    wasm_v128_store(p, (v128_t)v);
}

static size_t packed_size(size_t N, size_t K) {
    return (N + NR - 1) / NR * NR * K;
}

/* Four k of four columns, where each column's numbers lie side by side in memory: a 4×4
 * transposition in registers. */
INLINE void pack_4x4(float *restrict packed, const float *restrict b, size_t n_stride) {
    v128_t r0 = wasm_v128_load(b), r1 = wasm_v128_load(b + n_stride);
    v128_t r2 = wasm_v128_load(b + 2 * n_stride), r3 = wasm_v128_load(b + 3 * n_stride);
    v128_t low01 = wasm_i32x4_shuffle(r0, r1, 0, 4, 1, 5);
    v128_t low23 = wasm_i32x4_shuffle(r2, r3, 0, 4, 1, 5);
    v128_t high01 = wasm_i32x4_shuffle(r0, r1, 2, 6, 3, 7);
    v128_t high23 = wasm_i32x4_shuffle(r2, r3, 2, 6, 3, 7);
    wasm_v128_store(packed, wasm_i64x2_shuffle(low01, low23, 0, 2));
    wasm_v128_store(packed + NR, wasm_i64x2_shuffle(low01, low23, 1, 3));
    wasm_v128_store(packed + 2 * NR, wasm_i64x2_shuffle(high01, high23, 0, 2));
    wasm_v128_store(packed + 3 * NR, wasm_i64x2_shuffle(high01, high23, 1, 3));
}

static void pack_panel(float *restrict packed, const float *restrict b, size_t n_stride,
                       size_t k_stride, size_t columns, size_t K) {
    size_t k = 0;
    if (columns == NR && k_stride == 1) /* a Linear's weight, attention's keys */
        for (; k + 4 <= K; k += 4) {
            pack_4x4(packed + k * NR, b + k, n_stride);
            pack_4x4(packed + k * NR + 4, b + k + 4 * n_stride, n_stride);
        }
    if (columns == NR && n_stride == 1) /* attention's values */
        for (; k < K; k++) memcpy(packed + k * NR, b + k * k_stride, NR * sizeof *b);
    for (; k < K; k++)
        for (size_t n = 0; n < NR; n++)
            packed[k * NR + n] = n < columns ? b[n * n_stride + k * k_stride] : 0;
}

static void pack(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K) {
    for (size_t n = 0; n < N; n += NR, packed += NR * K)
        pack_panel(packed, b + n * n_stride, n_stride, k_stride, N - n < NR ? N - n : NR, K);
}

SMALL void unpack(float *restrict b, const float *restrict packed, size_t n, size_t rows,
                  size_t K) {
    for (size_t end = n + rows; n < end; n++)
        for (size_t k = 0; k < K; k++) *b++ = packed[(n / NR * K + k) * NR + n % NR];
}

/* `rows` rows by NR columns at y, in registers. `rows` is a constant where this is inlined. */
INLINE void tile(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                 const float *restrict panel, const float *restrict start, bool add, size_t K,
                 size_t rows) {
    v4 sum[MR][2];
    for (size_t i = 0; i < rows; i++) sum[i][0] = load_4(start), sum[i][1] = load_4(start + 4);
    const float *row[MR];
    for (size_t i = 0; i < rows; i++) {
        row[i] = x + i * ldx;
        __asm__("" : "+r"(row[i])); /* else the compiler multiplies i·ldx again at every k */
    }
    for (size_t k = 0; k < K; k++, panel += NR) {
        v4 b0 = load_4(panel), b1 = load_4(panel + 4);
        for (size_t i = 0; i < rows; i++) {
            v4 a = (v4)wasm_v128_load32_splat(row[i] + k);
            sum[i][0] = multiply_add_4(a, b0, sum[i][0]);
            sum[i][1] = multiply_add_4(a, b1, sum[i][1]);
        }
    }
    for (size_t i = 0; i < rows; i++) {
        float *out = y + i * ldy;
        if (add) sum[i][0] += load_4(out), sum[i][1] += load_4(out + 4);
        store_4(out, sum[i][0]);
        store_4(out + 4, sum[i][1]);
    }
}

/* DO(n, …) for each n up to `most`. */
#define UP_TO(most, DO, ...) UP_TO_(most, DO, __VA_ARGS__)
#define UP_TO_(most, DO, ...) UP_TO_##most(DO, __VA_ARGS__)
#define UP_TO_4(DO, ...) DO(1, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) DO(4, __VA_ARGS__)
#define UP_TO_6(DO, ...) UP_TO_4(DO, __VA_ARGS__) DO(5, __VA_ARGS__) DO(6, __VA_ARGS__)

/* Does `rest` rows in tiles of `most` rows. The last two tiles share their rows evenly, because a
 * tile of one or two rows is slow. TILE(n, rest, …) does n rows, moves on to the next ones and
 * counts `rest` down. */
#define ALL_TILES(most, TILE, rest, ...)                                                           \
    {                                                                                              \
        size_t last = rest % most && rest > most ? most + rest % most : rest % most;               \
        while (rest > last) TILE(most, rest, __VA_ARGS__)                                          \
        while (rest > 0) switch (rest > most ? (rest + 1) / 2 : rest) {                            \
                UP_TO(most, TILE_CASE, TILE, rest, __VA_ARGS__)                                    \
            default: break;                                                                        \
            }                                                                                      \
    }
#define TILE_CASE(n, TILE, ...)                                                                    \
    case n: TILE(n, __VA_ARGS__) break;

/* n rows of y from n rows of x. */
#define TILE_FLOATS(n, rest, y, ldy, x, ldx, panel, start, add, K)                                 \
    {                                                                                              \
        tile(y, ldy, x, ldx, panel, start, add, K, n);                                             \
        rest -= n, x += n * ldx, y += n * ldy;                                                     \
    }

/* y (M,8) = M rows of x, from row m on, times one panel. A function of its own, because inlining
 * makes V8 spill registers. */
static void panel_rows(float *restrict y, size_t ldy, const void *restrict x, size_t ldx, size_t m,
                       const char *restrict packed, const float *restrict scale,
                       const float *restrict start, bool add, size_t M, size_t K) {
    const float *row = (const float *)x + m * ldx, *panel = (const float *)(const void *)packed;
    (void)scale;
    ALL_TILES(MR, TILE_FLOATS, M, y, ldy, row, ldx, panel, start, add, K)
}

typedef void panel_function(float *restrict y, size_t ldy, const void *restrict x, size_t ldx,
                            size_t m, const char *restrict packed, const float *restrict scale,
                            const float *restrict start, bool add, size_t M, size_t K);

/* y (M,N), panel by panel. Each panel goes through the activation while it is in the first cache.
 * A narrow last panel is computed whole in `whole`, NARROW_ROWS at a time, and its columns that
 * count are copied to y. */
INLINE void all_panels(float *restrict y, size_t ldy, const void *restrict x, size_t ldx,
                       const char *restrict packed, size_t panel_size, const float *restrict scale,
                       const float *restrict bias, int act, bool add, size_t M, size_t N, size_t K,
                       panel_function *panel_rows) {
    for (size_t n = 0; n < N; n += NR, packed += panel_size) {
        size_t columns = N - n < NR ? N - n : NR;
        float start[NR] = {0}, scales[NR] = {0}, whole[NARROW_ROWS * NR];
        for (size_t i = 0; bias && i < columns; i++) start[i] = bias[n + i];
        for (size_t i = 0; scale && i < columns; i++) scales[i] = scale[n + i];
        if (columns == NR) {
            panel_rows(y + n, ldy, x, ldx, 0, packed, scales, start, add, M, K);
            if (act != VIT_LINEAR) activate_rows(y + n, ldy, y + n, ldy, act, M, NR);
            continue;
        }
        for (size_t m = 0; m < M; m += NARROW_ROWS) {
            size_t rows = M - m < NARROW_ROWS ? M - m : NARROW_ROWS;
            panel_rows(whole, NR, x, ldx, m, packed, scales, start, false, rows, K);
            if (act != VIT_LINEAR) activate_rows(whole, NR, whole, NR, act, rows, NR);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < columns; j++) {
                    float *out = &y[(m + i) * ldy + n + j];
                    *out = whole[i * NR + j] + (add ? *out : 0);
                }
        }
    }
}

static void matmul(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K) {
    all_panels(y, ldy, x, ldx, (const char *)packed, NR * K * sizeof *packed, NULL, bias, act, add,
               M, N, K, panel_rows);
}

/* Adds multiples of b's rows to c's rows. This is fast enough for attention's way back, which takes
 * all products of plain matrices; products with weights are matmul's. */
SMALL void activate_backward(float *dx, const float *dy, const float *x, int act, size_t n) {
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < LANES ? n - i : LANES;
        vf v = load_part(x + i, some, 0), slope = splat(1);
        switch (activation_here(act)) {
        case VIT_GELU: slope = gelu_slope(v); break;
        case VIT_GELU_TANH: slope = gelu_tanh_slope(v); break;
        case VIT_QUICK_GELU: slope = quick_gelu_slope(v); break;
        case VIT_RELU: slope = relu_slope(v); break;
        case VIT_TANH: slope = tanh_slope(v); break;
        case VIT_SILU: slope = silu_slope(v); break;
        default: break;
        }
        store_part(dx + i, load_part(dy + i, some, 0) * slope, some);
    }
}

SMALL void gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                float alpha, float beta, size_t M, size_t N, size_t K) {
    size_t b_row = transpose_b ? 1 : ldb, b_column = transpose_b ? ldb : 1;
    for (size_t m = 0; m < M; m++, c += ldc) {
        for (size_t n = 0; n < N; n++) c[n] = beta == 0 ? 0 : beta * c[n];
        for (size_t k = 0; k < K; k++) {
            float x = alpha * a[transpose_a ? k * lda + m : m * lda + k];
            for (size_t n = 0; n < N; n++) c[n] += x * b[k * b_row + n * b_column];
        }
    }
}

#endif
