/* One transformer block. */
#ifndef VIT_BLOCKS_H
#define VIT_BLOCKS_H

#include "activations.h"
#include "params.h"
#include "vit.h"

/* a->out holds B·queries rows. With a team, s has an item for each thread, and the first item has
 * room for all rows in int8. With a team, run->keep and the arrays that only the backward pass
 * needs must be NULL. */
void block_forward(const vit_model *m, const struct block_params *p, const struct activations *a,
                   const struct scratch *s, const struct block_run *run, vit_team *team);
/* s->dx: in, the gradient of a->out (B·queries,D); out, the gradient of a->x (BT,D). */
void block_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                    const struct activations *a, const struct scratch *s,
                    const struct block_run *run);

#endif
