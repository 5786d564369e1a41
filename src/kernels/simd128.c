/* 128-bit wasm SIMD. Matrices are packed in panels of 8 columns, k by k, so that a tile
 * reads two vectors of b a step and nothing else of it:
 *     packed: for each 8 columns n..n+7 (zeros past N): for each k: b(n..n+7, k)
 * The tile is 4×8: 8 accumulators, 2 vectors of b, one splat of x for 4 rows in turn: 12 of
 * the 16 registers that V8 has on x86, none spilled. */
#include <wasm_simd128.h>

#define LANES 4
#include "lanes.h"

enum { NR = 8, MR = 4 };

static size_t packed_size(size_t N, size_t K) {
    return (N + NR - 1) / NR * NR * K;
}

/* Four k of four columns whose numbers lie k by k: a 4×4 transposition in registers. */
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
    if (columns == NR && k_stride == 1) /* a Linear's weight, the keys */
        for (; k + 4 <= K; k += 4) {
            pack_4x4(packed + k * NR, b + k, n_stride);
            pack_4x4(packed + k * NR + 4, b + k + 4 * n_stride, n_stride);
        }
    if (columns == NR && n_stride == 1) /* the values */
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

/* Up to MR rows by NR columns at y, in registers. `rows` is a constant where this is inlined. */
INLINE void tile(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                 const float *restrict panel, const float *restrict start, bool add, size_t K,
                 size_t rows) {
    v128_t sum[MR][2];
    for (size_t i = 0; i < rows; i++)
        sum[i][0] = wasm_v128_load(start), sum[i][1] = wasm_v128_load(start + 4);
    const float *row[MR];
    for (size_t i = 0; i < rows; i++) {
        row[i] = x + i * ldx;
        __asm__("" : "+r"(row[i])); /* else the product is made again at every k */
    }
    for (size_t k = 0; k < K; k++, panel += NR) {
        v128_t b0 = wasm_v128_load(panel), b1 = wasm_v128_load(panel + 4);
        for (size_t i = 0; i < rows; i++) {
            v128_t a = wasm_v128_load32_splat(row[i] + k);
            sum[i][0] = wasm_f32x4_add(sum[i][0], wasm_f32x4_mul(a, b0));
            sum[i][1] = wasm_f32x4_add(sum[i][1], wasm_f32x4_mul(a, b1));
        }
    }
    for (size_t i = 0; i < rows; i++) {
        float *out = y + i * ldy;
        if (add) {
            sum[i][0] = wasm_f32x4_add(sum[i][0], wasm_v128_load(out));
            sum[i][1] = wasm_f32x4_add(sum[i][1], wasm_v128_load(out + 4));
        }
        wasm_v128_store(out, sum[i][0]);
        wasm_v128_store(out + 4, sum[i][1]);
    }
}

/* As `tile`, the activation applied while y is in the first cache. */
INLINE void active_tile(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                        const float *restrict panel, const float *restrict start, int act, bool add,
                        size_t K, size_t rows) {
    tile(y, ldy, x, ldx, panel, start, add, K, rows);
    if (act != VIT_LINEAR) activate_rows(y, ldy, y, ldy, act, rows, NR);
}

/* One panel of columns, all rows. */
static void panel_rows(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                       const float *restrict panel, const float *restrict start, int act, bool add,
                       size_t M, size_t K) {
    for (; M >= MR; M -= MR, x += MR * ldx, y += MR * ldy)
        active_tile(y, ldy, x, ldx, panel, start, act, add, K, MR);
    switch (M) {
    case 3: active_tile(y, ldy, x, ldx, panel, start, act, add, K, 3); break;
    case 2: active_tile(y, ldy, x, ldx, panel, start, act, add, K, 2); break;
    case 1: active_tile(y, ldy, x, ldx, panel, start, act, add, K, 1); break;
    default: break;
    }
}

/* The last, narrow panel: computed whole beside y, a few rows at a time, then copied. */
static void narrow_panel(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                         const float *restrict panel, const float *restrict start, int act,
                         bool add, size_t M, size_t columns, size_t K) {
    float whole[MR * NR];
    for (size_t m = 0; m < M; m += MR) {
        size_t rows = M - m < MR ? M - m : MR;
        panel_rows(whole, NR, x + m * ldx, ldx, panel, start, act, false, rows, K);
        for (size_t i = 0; i < rows; i++)
            for (size_t n = 0; n < columns; n++) {
                float *out = &y[(m + i) * ldy + n];
                *out = whole[i * NR + n] + (add ? *out : 0);
            }
    }
}

static void matmul(float *restrict y, size_t ldy, const float *restrict x, size_t ldx,
                   const float *restrict packed, const float *restrict bias, int act, bool add,
                   size_t M, size_t N, size_t K) {
    for (size_t n = 0; n < N; n += NR, packed += NR * K) {
        size_t columns = N - n < NR ? N - n : NR;
        float start[NR] = {0};
        for (size_t i = 0; bias && i < columns; i++) start[i] = bias[n + i];
        if (columns == NR)
            panel_rows(y + n, ldy, x, ldx, packed, start, act, add, M, K);
        else
            narrow_panel(y + n, ldy, x, ldx, packed, start, act, add, M, columns, K);
    }
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

const struct vit_kernels vit_simd128 = {
    .name = "simd128",
    .packed = true,
    .packed_size = packed_size,
    .pack = pack,
    .matmul = matmul,
    .packed_size_int8 = packed_size_int8,
    .pack_int8 = pack_int8,
    .quantize = quantize,
    .matmul_int8 = matmul_int8,
    .softmax = lanes_softmax,
    .norm = lanes_norm,
    .activate = lanes_activate,
};

#ifdef __wasm_relaxed_simd__
const struct vit_kernels vit_relaxed = {
    .name = "relaxed",
    .packed = true,
    .packed_size = packed_size,
    .pack = pack,
    .matmul = matmul,
    .packed_size_int8 = packed_size_int8,
    .pack_int8 = pack_int8,
    .quantize = quantize,
    .matmul_int8 = matmul_int8,
    .softmax = lanes_softmax,
    .norm = lanes_norm,
    .activate = lanes_activate,
};
#endif
