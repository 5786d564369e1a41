/* Multi-head self-attention. */
#ifndef VIT_ATTENTION_H
#define VIT_ATTENTION_H

#include "activations.h"
#include "base/arena.h"
#include "base/team.h"
#include "params.h"
#include "vit.h"

/* x (rows,D) → a->qkv. x and a start at this share's rows. Computes only the queries that are
 * needed. */
void qkv_forward(const vit_model *m, const struct block_params *p, const float *x,
                 const struct activations *a, const struct scratch *s, const struct block_run *run,
                 struct rows share);
/* a->qkv of all rows → this part's share of the rows of a->map and a->mixed. */
void attention_forward(const vit_model *m, const struct block_params *p,
                       const struct activations *a, const struct scratch *s,
                       const struct block_run *run, size_t part, size_t parts);
/* a->mixed (rows,A) → y (rows,D), added to y if `add`: the projection that mixes the heads. */
void projection_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                        const float *mixed, const struct scratch *s, size_t rows);
void attention_backward(const vit_model *m, const struct block_params *p,
                        const struct block_params *g, float *dx, const float *dy, const float *x,
                        const struct activations *a, const struct scratch *s,
                        const struct block_run *run);

void scratch_attention(struct scratch *s, struct arena *arena, const vit_model *model, size_t rows);

#endif
