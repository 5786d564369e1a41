/* One transformer block. */
#ifndef VIT_BLOCKS_H
#define VIT_BLOCKS_H

#include "activations.h"
#include "base/arena.h"
#include "params.h"
#include "trace.h"
#include "vit.h"

/* Sets what the run leaves out of a block or replaces in it. */
void leave_out(struct block_run *run, const vit_ablation *without, const vit_config *c,
               size_t layer);

/* Room for what a backward pass needs of a block, in which `queries` tokens of each image continue.
 * The block's input, a->x, is the caller's, and a->query_x if all tokens continue. branch (BT,D) may
 * serve many blocks: it is used where there is no layer scale. */
void tape_block(struct activations *a, struct arena *arena, const vit_model *m, size_t batch,
                size_t queries, float *branch);
/* Scratch for both passes through the blocks. */
void tape_scratch(struct scratch *s, struct arena *arena, const vit_model *m, size_t batch);

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
