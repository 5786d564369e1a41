/* int8 matrix products in 128-bit vectors, a template over tiles.h: define STEP, the type
 * `quantized`, load_weights and store_steps, then include. INT8_MATMUL makes each product. A panel
 * of 8 columns, with zeros past N and K, is
 *
 *     the sums of the columns' weights (8 int32), then
 *     for each STEP k: for each of the columns: STEP weights
 *
 * A tile's sums start at -zero·(sum of the weights). So they end as the product with x.q - x.zero,
 * although only x.q is multiplied. */
#ifndef VIT_INT8_H
#define VIT_INT8_H

#include "tiles.h"

#ifndef STEP
#error "int8.h: define STEP, the numbers of a column that lie side by side"
#endif

enum { INT8_MR = 6, SUMS = NR * sizeof(int32_t) };

static size_t panel_size_int8(size_t K) {
    return SUMS + (K + STEP - 1) / STEP * STEP * NR;
}

static size_t packed_size_int8(size_t N, size_t K) {
    return (N + NR - 1) / NR * panel_size_int8(K);
}

static void pack_int8(void *restrict packed, const int8_t *restrict b, size_t n, size_t rows,
                      size_t N, size_t K) {
    (void)N;
    for (size_t end = n + rows; n < end; n += NR, b += NR * K) {
        size_t columns = end - n < NR ? end - n : NR;
        char *panel = (char *)packed + n / NR * panel_size_int8(K);
        int32_t *sums = (int32_t *)(void *)panel;
        int8_t *weights = (int8_t *)panel + SUMS;
        memset(panel, 0, panel_size_int8(K));
        for (size_t j = 0; j < columns; j++)
            for (size_t k = 0; k < K; k++) {
                sums[j] += b[j * K + k];
                weights[k / STEP * STEP * NR + j * STEP + k % STEP] = b[j * K + k];
            }
    }
}

SMALL void unpack_int8(float *restrict b, const void *restrict packed, const float *restrict scale,
                       size_t N, size_t K) {
    for (size_t n = 0; n < N; n++) {
        const int8_t *panel = (const int8_t *)packed + n / NR * panel_size_int8(K) + SUMS;
        for (size_t k = 0; k < K; k++)
            *b++ = scale[n] * (float)panel[k / STEP * STEP * NR + n % NR * STEP + k % STEP];
    }
}

/* x in steps, rounded to the nearest and counted from `zero`. Numbers past K meet weights of 0. */
INLINE v128_t steps(const float *x, v128_t per_step, v128_t zero) {
    v128_t q = wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x), per_step));
    return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_add(q, zero));
}

static void quantize(const struct vit_quantized *out, const float *restrict x, size_t ldx, size_t M,
                     size_t K) {
    size_t row = vit_quantized_row(K) / sizeof(quantized);
    for (size_t m = 0; m < M; m++, x += ldx) {
        vf lows = splat(0), highs = splat(0), poison = splat(0); /* NaN once x is not finite */
        size_t k = 0;
        for (; k < K; k += LANES) {
            vf some = k + LANES <= K ? load(x + k) : load_part(x + k, K - k, 0);
            lows = smaller(some, lows), highs = larger(some, highs), poison += some - some;
        }
        float high = max_lanes(highs), step = (high + max_lanes(-lows)) / 127 + sum_lanes(poison);
        float per_step = step > 1e-30f && step < INFINITY ? 1 / step : 0;
        float zero = per_step > 0 ? rintf(max_lanes(-lows) * per_step) : 0;
        v128_t by = wasm_f32x4_splat(per_step), from = wasm_f32x4_splat(zero);
        quantized *q = (quantized *)(void *)out->q + m * row;
        for (k = 0; k + 8 <= K; k += 8)
            store_steps(q + k, steps(x + k, by, from), steps(x + k + 4, by, from));
        float rest[8] = {0};
        if (k < K) {
            memcpy(rest, x + k, (K - k) * sizeof *x);
            store_steps(q + k, steps(rest, by, from), steps(rest + 4, by, from));
        }
        out->scale[m] = step;
        out->zero[m] = (int32_t)zero;
    }
}

/* `rows` rows by NR columns at y. `rows` and `dot_add` are constants where this is inlined. */
INLINE void tile_int8(float *restrict y, size_t ldy, const struct vit_quantized *restrict x,
                      const char *restrict panel, const float *restrict scale,
                      const float *restrict start, bool add, size_t K, size_t rows,
                      v128_t (*dot_add)(v128_t weights, v128_t x, v128_t sum)) {
    size_t ld = vit_quantized_row(K);
    v128_t sum[INT8_MR][2];
    const uint8_t *row[INT8_MR];
    for (size_t i = 0; i < rows; i++) {
        v128_t from = wasm_i32x4_splat(-x->zero[i]);
        sum[i][0] = wasm_i32x4_mul(from, wasm_v128_load(panel));
        sum[i][1] = wasm_i32x4_mul(from, wasm_v128_load(panel + SUMS / 2));
        row[i] = x->q + i * ld;
        __asm__("" : "+r"(row[i]));
    }
    panel += SUMS;
    for (size_t k = 0; k < K * sizeof(quantized); k += 4, panel += STEP * NR) {
        v128_t b0 = load_weights(panel), b1 = load_weights(panel + STEP * NR / 2);
        for (size_t i = 0; i < rows; i++) {
            v128_t a = wasm_v128_load32_splat(row[i] + k); /* STEP numbers */
            sum[i][0] = dot_add(b0, a, sum[i][0]);
            sum[i][1] = dot_add(b1, a, sum[i][1]);
        }
    }
    for (size_t i = 0; i < rows; i++, y += ldy)
        for (size_t j = 0; j < 2; j++) { /* not fused, so that every table gives the same bits */
            v4 by = load_4(scale + 4 * j) * x->scale[i];
            v4 out = (v4)wasm_f32x4_convert_i32x4(sum[i][j]) * by + load_4(start + 4 * j);
            store_4(y + 4 * j, add ? load_4(y + 4 * j) + out : out);
        }
}

/* n rows of y from n rows of `x`, a struct vit_quantized. */
#define TILE_INT8(n, rest, y, ldy, x, panel, scale, start, add, K, dot_add)                        \
    {                                                                                              \
        tile_int8(y, ldy, &(x), panel, scale, start, add, K, n, dot_add);                          \
        rest -= n, (x).q += n * vit_quantized_row(K), (x).scale += n, (x).zero += n;               \
        y += n * ldy;                                                                              \
    }
/* Makes the function `name`, a matmul_int8 that uses dot_add in tiles of `most` rows, at most
 * INT8_MR. */
#define INT8_MATMUL(name, dot_add, most)                                                           \
    static void name##_panel(float *restrict y, size_t ldy, const void *restrict x, size_t ldx,    \
                             size_t m, const char *restrict panel, const float *restrict scale,    \
                             const float *restrict start, bool add, size_t M, size_t K) {          \
        struct vit_quantized row = *(const struct vit_quantized *)x;                               \
        row.q += m * vit_quantized_row(K), row.scale += m, row.zero += m;                          \
        (void)ldx;                                                                                 \
        ALL_TILES(most, TILE_INT8, M, y, ldy, row, panel, scale, start, add, K, dot_add)           \
    }                                                                                              \
    static void name(float *restrict y, size_t ldy, const struct vit_quantized *x,                 \
                     const void *restrict packed, const float *restrict scale,                     \
                     const float *restrict bias, int act, bool add, size_t M, size_t N,            \
                     size_t K) {                                                                   \
        all_panels(y, ldy, x, 0, packed, panel_size_int8(K), scale, bias, act, add, M, N, K,       \
                   name##_panel);                                                                  \
    }

/* A table of what these templates make. */
#define PACKED_KERNELS(NAME, MATMUL_INT8)                                                          \
    {                                                                                              \
        .name = NAME, .packed = true, .packed_size = packed_size, .pack = pack, .matmul = matmul,  \
        .unpack = unpack, .unpack_int8 = unpack_int8, .packed_size_int8 = packed_size_int8,        \
        .pack_int8 = pack_int8, .quantize = quantize, .matmul_int8 = MATMUL_INT8, .gemm = gemm,    \
        .softmax = lanes_softmax, .norm = lanes_norm, .activate = lanes_activate,                  \
        .activate_backward = activate_backward                                                     \
    }

#endif
