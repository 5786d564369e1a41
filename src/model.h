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
    float *floats; /* all parameters, cache-line aligned, inside `memory`; NULL if it shares them */
    size_t float_count;
    void *memory;
    float *fixed_position; /* (position_rows,D) of a computed encoding, or NULL */
    float *rotary; /* (N,d): each patch's d/2 cosines and d/2 sines; NULL: none, or learned */
    float *learned, *learned_mid;  /* pos_embed, mid_pos_embed for the file's grid, if `params` has
                                     them resized; else NULL */
    const struct vit_model *whole; /* whose weights these are, if vit_model_resize made this */
    char *json;
    size_t json_size;
    char **labels; /* (K), in one block with their text; NULL: there are none */
    size_t bytes;
};

/* Whether x (n) holds neither NaN nor infinity. */
bool all_finite(const float *x, size_t n);

#endif
