/* Rotary positions. */
#ifndef VIT_ROTARY_H
#define VIT_ROTARY_H

#include "base/team.h"
#include "vit.h"

/* → table (N,d): for each patch the cosines of a head's d/2 pairs, then their sines. */
void rotary_table(float *table, const vit_config *config);
/* Turns the queries and keys of a share of qkv (rows,3A); way -1 turns them back. Prefix tokens stay
 * as they are. qkv starts at the share's rows. */
void rotary_turn(const vit_model *m, float *qkv, struct rows share, float way);

#endif
