/* The intrinsics of wasm on this machine, by SIMDe. The relaxed ones follow the proposal for a
 * machine without fused or dot instructions. */
#ifndef FUZZ_WASM_SIMD128_H
#define FUZZ_WASM_SIMD128_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weverything"
#include <simde/wasm/simd128.h>
#pragma GCC diagnostic pop

typedef simde_v128_t v128_t;

#ifdef __wasm_relaxed_simd__
#ifndef wasm_u8x16_splat /* SIMDe 0.7.4 lacks it */
#define wasm_u8x16_splat(a) wasm_i8x16_splat((int8_t)(a))
#endif

static inline v128_t wasm_f32x4_relaxed_madd(v128_t a, v128_t b, v128_t c) {
    return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}

/* a: signed 8-bit numbers; b: unsigned 7-bit numbers. */
static inline v128_t wasm_i16x8_relaxed_dot_i8x16_i7x16(v128_t a, v128_t b) {
    return wasm_i16x8_add_sat(wasm_i16x8_mul(wasm_i16x8_shr(wasm_i16x8_shl(a, 8), 8),
                                             wasm_i16x8_shr(wasm_i16x8_shl(b, 8), 8)),
                              wasm_i16x8_mul(wasm_i16x8_shr(a, 8), wasm_i16x8_shr(b, 8)));
}

static inline v128_t wasm_i32x4_relaxed_dot_i8x16_i7x16_add(v128_t a, v128_t b, v128_t c) {
    v128_t pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(a, b);
    return wasm_i32x4_add(wasm_i32x4_extadd_pairwise_i16x8(pairs), c);
}
#endif

#endif
