/* The model: its config, its parameters, and their memory. */
#ifndef VIT_MODEL_H
#define VIT_MODEL_H

#include "kernels/kernels.h"
#include "params.h"
#include "vit.h"

struct vit_model {
    vit_config config;
    const struct vit_kernels *kernels;
    struct vit_params params;
    float *floats; /* all parameters, cache-line aligned, inside `memory` */
    size_t float_count;
    void *memory;
    float *fixed_position; /* (position_rows,D) of a computed encoding, or NULL */
    char *json, *origin;
    size_t json_size, origin_size;
    char **labels; /* (K), in one block with their text; NULL: there are none */
    size_t bytes;
};

/* Whether the bytes of the parameters, of the positions, and of a state for one image fit in
 * size_t. */
bool model_fits(const vit_config *config, const struct vit_kernels *kernels);
/* Bytes of computed positions; 0 if the config has none. */
size_t fixed_position_bytes(const vit_config *config);

/* Makes a model whose parameters are 0 and whose computed positions are ready. It has no labels. */
vit_status model_new(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                     const struct vit_kernels *kernels, vit_error *why);

/* Whether x (n) holds neither NaN nor infinity. */
bool all_finite(const float *x, size_t n);

#endif
