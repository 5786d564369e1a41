#include "kernels.h"

const struct vit_kernels *const *vit_kernels_all(size_t *count) {
    static const struct vit_kernels *const all[] = {
#ifdef __wasm_simd128__
        &vit_simd128,
#elif !defined(__wasm__)
        &vit_native,
#endif
        &vit_scalar,
    };
    *count = sizeof all / sizeof *all;
    return all;
}
