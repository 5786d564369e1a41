/* The limit of one core in 128-bit SIMD: multiplications and additions on registers alone, fused if
 * this is built with relaxed SIMD. */
#include <wasm_simd128.h>

/* Two of 16 registers hold the operands. Fused operations need 8 chains to hide their latency, and
 * separate ones 6 of each kind, so 12 are enough for both. */
enum { CHAINS = 12 };

__attribute__((export_name("operations_a_step"))) int operations_a_step(void) {
#ifdef __wasm_relaxed_simd__
    return CHAINS * 4 * 2;
#else
    return CHAINS * 4;
#endif
}

/* Returns the sum of all results, so that the compiler cannot leave any out. */
__attribute__((export_name("run"))) float run(int steps, float factor, float term) {
    const v128_t a = wasm_f32x4_splat(factor), b = wasm_f32x4_splat(term);
    v128_t x[CHAINS];
    for (int i = 0; i < CHAINS; i++) x[i] = wasm_f32x4_splat((float)i);
    for (int step = 0; step < steps; step++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < CHAINS; i++) {
#ifdef __wasm_relaxed_simd__
            x[i] = wasm_f32x4_relaxed_madd(x[i], a, b);
#else
            x[i] = i % 2 ? wasm_f32x4_mul(x[i], a) : wasm_f32x4_add(x[i], b);
#endif
        }
    }
    for (int i = 1; i < CHAINS; i++) x[0] = wasm_f32x4_add(x[0], x[i]);
    return wasm_f32x4_extract_lane(x[0], 0) + wasm_f32x4_extract_lane(x[0], 1) +
           wasm_f32x4_extract_lane(x[0], 2) + wasm_f32x4_extract_lane(x[0], 3);
}
