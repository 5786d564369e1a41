/* A small module of its own that finds out whether this engine's relaxed SIMD is right and fast.
 * The build puts the module into vit.js; web/engine/probe.ts runs it. */
#include <stdbool.h>
#include <stdint.h>
#include <wasm_simd128.h>

enum { K = 64, NR = 8, PLAIN_ROWS = 4, FUSED_ROWS = 6, DOTS = 4 };
#define EACH _Pragma("unroll") for
#define ROLLED _Pragma("nounroll") for

/* Not static, because the compiler would know the values of static arrays. */
float x[FUSED_ROWS * K], panel[K * NR], y[FUSED_ROWS * NR];
int8_t a[DOTS * K], b[K];

/* Both dots of kernels/relaxed.c: four products a lane, in one step or in two. */
static inline v128_t dot(v128_t va, v128_t vb, v128_t sum) {
    return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(va, vb, sum);
}
static inline v128_t dot_in_pairs(v128_t va, v128_t vb, v128_t sum) {
    v128_t pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(va, vb);
    return wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(pairs));
}

/* Compares sums that are made as a tile makes them with plain arithmetic. The baseline compiler of
 * V8 11, which is in Node 20 and 21, gets such sums wrong. */
static bool dots_right(void) {
    ROLLED(int i = 0; i < DOTS * K; i++) a[i] = (int8_t)(i < 2 * K ? -128 : i * 83);
    ROLLED(int k = 0; k < K; k++) b[k] = (int8_t)(k < K / 2 ? 127 : k * 31 & 127);
    v128_t sum[DOTS];
    EACH(int i = 0; i < DOTS; i++) sum[i] = wasm_i32x4_splat(i);
    ROLLED(int k = 0; k < K; k += 16) {
        v128_t vb = wasm_v128_load(b + k);
        EACH(int i = 0; i < DOTS; i++) {
            v128_t va = wasm_v128_load(a + i * K + k);
            sum[i] = i % 2 ? dot_in_pairs(va, vb, sum[i]) : dot(va, vb, sum[i]);
        }
    }
    int32_t got[DOTS * 4];
    EACH(int i = 0; i < DOTS; i++) wasm_v128_store(got + i * 4, sum[i]);
    bool right = true;
    ROLLED(int i = 0; i < DOTS * 4; i++) {
        int32_t want = i / 4;
        ROLLED(int k = 0; k < K; k++)
        if (k / 4 % 4 == i % 4) want += a[i / 4 * K + k] * b[k];
        right &= got[i] == want;
    }
    return right;
}

/* → 0: a result is wrong; 1: all are right, and multiply-add rounds twice; 2: right, rounds
 * once. */
__attribute__((export_name("check"))) int check(void) {
    const float e = 0x1p-12f; /* (1+e)² - (1+2e) = e², or 0 if the square is rounded first */
    float got[4];
    wasm_v128_store(got, wasm_f32x4_relaxed_madd(wasm_f32x4_make(1 + e, -1 - e, 3, 3),
                                                 wasm_f32x4_make(1 + e, 1 + e, 5, -5),
                                                 wasm_f32x4_make(-1 - 2 * e, 1 + 2 * e, 7, 7)));
    bool fused = got[0] == e * e;
    bool right = (fused || got[0] == 0) && got[1] == -got[0] && got[2] == 22 && got[3] == -8;
    return right && dots_right() ? 1 + fused : 0;
}

/* ---- Tiles to be timed ------------------------------------------------------ */

#define ADD_PRODUCT(a, b, c) wasm_f32x4_add(c, wasm_f32x4_mul(a, b))
#define DOT(a, b, c) dot(b, a, c)
#define DOT_IN_PAIRS(a, b, c) dot_in_pairs(b, a, c)
#define TILE(ROWS, STEP)                                                                           \
    EACH(int i = 0; i < ROWS; i++) sum[i][0] = sum[i][1] = wasm_f32x4_splat(0);                    \
    ROLLED(int k = 0; k < K; k++) {                                                                \
        v128_t b0 = wasm_v128_load(panel + k * NR), b1 = wasm_v128_load(panel + k * NR + 4);       \
        EACH(int i = 0; i < ROWS; i++) {                                                           \
            v128_t v = wasm_v128_load32_splat(x + i * K + k);                                      \
            sum[i][0] = STEP(v, b0, sum[i][0]);                                                    \
            sum[i][1] = STEP(v, b1, sum[i][1]);                                                    \
        }                                                                                          \
    }                                                                                              \
    EACH(int i = 0; i < ROWS; i++) {                                                               \
        wasm_v128_store(y + i * NR, sum[i][0]);                                                    \
        wasm_v128_store(y + i * NR + 4, sum[i][1]);                                                \
    }
#define BARRIER __asm__ volatile("" ::: "memory") /* the compiler must not run a tile only once */

/* Runs the tile of kernels/simd128.c, or if `fused` of relaxed.c. Counts differ so that the work is
 * equal. Both tiles are in one function, so that an engine which optimises in steps optimises both
 * in the same step. */
__attribute__((export_name("tile"))) void tile(bool fused, int times) {
    v128_t sum[FUSED_ROWS][2];
    for (times *= fused ? PLAIN_ROWS : FUSED_ROWS; times > 0; times--) {
        BARRIER;
        if (fused) {
            TILE(FUSED_ROWS, wasm_f32x4_relaxed_madd)
        } else {
            TILE(PLAIN_ROWS, ADD_PRODUCT)
        }
    }
}

/* Runs relaxed.c's int8 tile with either dot. */
__attribute__((export_name("tile_int8"))) void tile_int8(bool in_pairs, int times) {
    v128_t sum[PLAIN_ROWS][2];
    for (; times > 0; times--) {
        BARRIER;
        if (in_pairs) {
            TILE(PLAIN_ROWS, DOT_IN_PAIRS)
        } else {
            TILE(PLAIN_ROWS, DOT)
        }
    }
}
