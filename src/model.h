/* The model: its config, its parameters, and the memory that they lie in. */
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
    char **labels; /* (K) into one block, or NULL */
    size_t bytes;
};

/* Whether the parameters, the positions, and the state that runs an image can be counted. */
bool model_fits(const vit_config *config, const struct vit_kernels *kernels);
/* Bytes of the positions that are computed, not read; 0: there are none. */
size_t fixed_position_bytes(const vit_config *config);

/* A model with its memory laid out, its parameters 0, its fixed positions computed, without labels.
 */
vit_status model_new(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                     const struct vit_kernels *kernels, vit_error *why);

/* Neither NaN nor infinity among x (n). */
bool all_finite(const float *x, size_t n);

#endif
