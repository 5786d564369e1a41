/* Rotary positions. */
#ifndef VIT_ROTARY_H
#define VIT_ROTARY_H

#include "base/team.h"
#include "vit.h"

/* → table (N,d): for each patch the cosines of a head's d/2 pairs, then their sines. */
void rotary_table(float *table, const vit_config *config);
/* Turns the queries and keys of a share of qkv (rows,3A); way -1 turns them back. Prefix tokens stay
 * as they are. qkv starts at the share's rows. frequencies (2,A/2): learned ones, or NULL. */
void rotary_turn(const vit_model *m, const float *frequencies, float *qkv, struct rows share,
                 float way);
/* Adds to the gradient of learned frequencies. qkv and its gradient dqkv (BT,3A) are those of turned
 * queries and keys; only the first `queries` tokens of an image have queries. */
void rotary_backward(const vit_model *m, float *dfrequencies, const float *dqkv, const float *qkv,
                     size_t batch, size_t queries);

#endif
