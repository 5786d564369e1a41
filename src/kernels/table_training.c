/* table.c for a module that only trains: kernels that pack, and those of int8, stay out of it. */
#include "kernels.h"

#if defined(__wasm_relaxed_simd__)
#define TRAINING vit_relaxed_training
#elif defined(__wasm_simd128__)
#define TRAINING vit_simd128_training
#else
#define TRAINING vit_scalar
#endif

const struct vit_kernels *vit_kernels_best(void) {
    return &TRAINING;
}

const struct vit_kernels *vit_kernels_training(void) {
    return &TRAINING;
}

const struct vit_kernels *vit_bfloat16(void) {
    return NULL;
}
