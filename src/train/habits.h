/* What hands do differently, as changes of a drawing's strokes. */
#ifndef VIT_HABITS_H
#define VIT_HABITS_H

#include "rng.h"
#include "train.h"

/* Points and strokes that habits may add to a drawing. */
enum { HABIT_POINTS = 128, HABIT_STROKES = 16 };

/* Changes a sketch of digit `label`: each habit by its own chance times `share` (0..1). */
void habits_apply(struct sketch *sketch, uint8_t label, double share, struct rng *rng);
/* Leaves between 0.3 and 0.9 of the points, the first. */
void habit_stop_early(struct sketch *sketch, struct rng *rng);
/* Replaces the strokes: by a letter that no digit resembles; by the rim of a blot. */
void habit_letter(struct sketch *sketch, struct rng *rng);
void habit_blot(struct sketch *sketch, struct rng *rng);

#endif
