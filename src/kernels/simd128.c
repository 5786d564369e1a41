/* 128-bit wasm SIMD. The tile is 4×8, which takes 12 registers. V8 11 (Node 20) loads all that a
 * step needs before it multiplies, which takes 14 of 15. It spills every larger tile, at half the
 * speed. A newer V8 is 8 % faster with 3×12, but runs relaxed SIMD instead. */
#include <wasm_simd128.h>

#define LANES 8
#include "lanes.h"

#define MR 4
#include "tiles.h"

/* int8 by the exact widening multiply. x is kept in 16 bits, and the weights are widened as they
 * are loaded. An instruction makes two products a lane. */
#define STEP 2
typedef int16_t quantized;
INLINE v128_t load_weights(const char *p) {
    return wasm_i16x8_load8x8(p);
}
INLINE void store_steps(quantized *q, v128_t low, v128_t high) {
    v128_t narrow = wasm_i16x8_narrow_i32x4(low, high);
    narrow = wasm_i16x8_max(wasm_i16x8_min(narrow, wasm_i16x8_splat(127)), wasm_i16x8_splat(0));
    wasm_v128_store(q, narrow);
}
#include "int8.h"

INLINE v128_t widening_dot_add(v128_t weights, v128_t x, v128_t sum) {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(weights, x));
}
INT8_MATMUL(matmul_int8, widening_dot_add, 4)

const struct vit_kernels vit_simd128 = PACKED_KERNELS("simd128", matmul_int8);

#include "training.h"
UNPACKED_KERNELS(vit_simd128_training, "training", blocked_gemm)
