/* 128-bit wasm SIMD with relaxed instructions. The fused tile is 6×8: 12 sums, 2 vectors of b and
 * one splat, all of the 15 registers that V8 leaves free on x86. It does 12 multiply-adds for 8
 * loads, so the multiply-adds limit its speed. It reaches 91 to 99 % of what they allow; 4×8
 * reaches 90, 5×8 94, and 4×12, which is spilled, 50. */
#include <wasm_simd128.h>

#define FUSED
#define LANES 8
#include "lanes.h"

#define MR 6
#include "tiles.h"

/* int8: an instruction makes four products a lane, exact for x in 0..127. */
#define STEP 4
typedef uint8_t quantized;
INLINE v128_t load_weights(const char *p) {
    return wasm_v128_load(p);
}
INLINE void store_steps(quantized *q, v128_t low, v128_t high) {
    v128_t narrow = wasm_i16x8_narrow_i32x4(low, high);
    narrow = wasm_u8x16_min(wasm_u8x16_narrow_i16x8(narrow, narrow), wasm_u8x16_splat(127));
    wasm_v128_store64_lane(q, narrow, 0);
}
#include "int8.h"

/* One instruction if the processor has it: ARM's dot product, AVX-VNNI. It takes 5 cycles, and two
 * may start in each cycle, so 10 sums keep it busy. 6×8 has 12 sums, in 15 registers, and reaches
 * 91 to 97 % of what the dots allow at ViT-B's shapes. 4×8 has 8 sums and reaches 65 %. */
INLINE v128_t dot_add(v128_t weights, v128_t x, v128_t sum) {
    return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, x, sum);
}
INT8_MATMUL(matmul_int8, dot_add, 6)

/* On other processors V8 makes five instructions of dot_add. This makes three and is a third
 * faster: products added in pairs of 16 bits, their widening sum, an addition. No sum has to be
 * waited for, so 4×8 is enough: 8 sums, 2 vectors of b, a splat and the pairs. */
INLINE v128_t pairs_dot_add(v128_t weights, v128_t x, v128_t sum) {
    v128_t pairs = wasm_i16x8_relaxed_dot_i8x16_i7x16(weights, x);
    return wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(pairs));
}
INT8_MATMUL(matmul_int8_pairs, pairs_dot_add, 4)

const struct vit_kernels vit_relaxed = PACKED_KERNELS("relaxed", matmul_int8);
const struct vit_kernels vit_relaxed_pairs = PACKED_KERNELS("relaxed", matmul_int8_pairs);

#include "training.h"
UNPACKED_KERNELS(vit_relaxed_training, "training", blocked_gemm)
