/* The prefix tokens and the positions. */
#ifndef VIT_TOKENS_H
#define VIT_TOKENS_H

#include "base/team.h"
#include "params.h"
#include "vit.h"

/* x (T,D) holds the patch rows. Writes the prefix rows, over a share of the rows. */
void tokens_prefix(const vit_model *m, float *x, struct rows share);
/* Adds the positions, if `positions`, and norms the tokens where the model does so here. */
void tokens_place(const vit_model *m, float *x, struct rows share, bool positions);
/* Adds block `block`'s further positions to x (B,T,D), the tokens after it, where the model has some. */
void tokens_place_again(const vit_model *m, float *x, size_t batch, size_t block);
void tokens_backward(const vit_model *m, const struct vit_params *g, const float *dx);
/* The length of a sinusoid in positions a radian: 10000^(part/whole). */
double position_wave(size_t part, size_t whole);
/* Sinusoids (Vaswani et al. 3.5; He et al., arXiv:2111.06377) → table (rows,D). */
void tokens_sincos(float *table, const vit_config *config);

#endif
