/* The habits of other hands, as changes of a drawing's strokes. */
#ifndef VIT_HABITS_H
#define VIT_HABITS_H

#include "base/rng.h"
#include "strokes.h"
#include "vit.h"

/* The most points and strokes that habits add to a drawing. */
enum { HABIT_POINTS = 128, HABIT_STROKES = 16 };

/* Changes a sketch of digit `label`. Each habit has its own chance, times `share` (0..1). */
void habits_apply(struct sketch *sketch, uint8_t label, double share, struct rng *rng);
/* Keeps the first points only: with the chance `halves` between 0.45 and 0.55 of them, else between
 * 0.3 and 0.9. Returns that share. */
double habit_stop_early(struct sketch *sketch, double halves, struct rng *rng);
/* Replaces the strokes. `corners`: x and y of each from the upper left on a grid of 0…9; a comma
 * begins a new stroke. Each corner moves a little. The brush rounds it unless it stands twice. */
void sketch_write(struct sketch *sketch, const char *corners, struct rng *rng);

#endif
