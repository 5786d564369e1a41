/* The feed-forward layer. */
#ifndef VIT_MLP_H
#define VIT_MLP_H

#include "activations.h"
#include "params.h"
#include "vit.h"

/* x (rows,D) → a->hidden → y (rows,D), added to y if `add`. */
void mlp_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                 const float *x, const struct activations *a, const struct scratch *s, size_t rows);
void mlp_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                  float *dx, const float *dy, const float *x, const struct activations *a,
                  const struct scratch *s, size_t rows);

#endif
