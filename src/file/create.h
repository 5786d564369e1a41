/* Makes models. */
#ifndef VIT_CREATE_H
#define VIT_CREATE_H

#include "vit.h"

/* Whether the bytes of the parameters, of the positions, and of a state for one image fit in
 * size_t. */
bool model_fits(const vit_config *config, const struct vit_kernels *kernels);
/* Bytes of computed positions; 0 if the config has none. */
size_t fixed_position_bytes(const vit_config *config);

/* Makes the positions that the config computes, if it has any. False: no memory. */
bool compute_positions(vit_model *model);

/* Makes a model whose parameters are 0 and whose computed positions are ready. It has no labels. */
vit_status model_new(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                     const struct vit_kernels *kernels, vit_error *why);

#endif
