#include "kernels.h"

#if defined(__wasm_relaxed_simd__)
#define BEST vit_relaxed
#define TRAINING vit_relaxed_training
#elif defined(__wasm_simd128__)
#define BEST vit_simd128
#define TRAINING vit_simd128_training
#elif defined(__wasm__)
#define BEST vit_scalar
#define TRAINING vit_scalar
#else
#define BEST vit_native
#define TRAINING vit_native
#endif

#ifdef VITRINE_TRAINS /* a module that trains has neither kernels that pack nor those of int8 */
#undef BEST
#define BEST TRAINING
#endif

const struct vit_kernels *vit_kernels_best(void) {
    return &BEST;
}

const struct vit_kernels *vit_kernels_training(void) {
    return &TRAINING;
}

#ifdef __wasm__
const struct vit_kernels *vit_bfloat16(void) {
    return NULL;
}
#endif

const struct vit_kernels *const *vit_kernels_all(size_t *count) {
    static const struct vit_kernels *const all[] = {
#ifdef __wasm_relaxed_simd__
        &vit_relaxed, &vit_relaxed_pairs,    &vit_relaxed_training,
#endif
#ifdef __wasm_simd128__
        &vit_simd128, &vit_simd128_training,
#elif !defined(__wasm__)
        &vit_native,
#endif
        &vit_scalar,
    };
    *count = sizeof all / sizeof *all;
    return all;
}
