/* Drawings of no digit, for samples.c. */
#ifndef VIT_NEGATIVES_H
#define VIT_NEGATIVES_H

#include "rng.h"
#include "train.h"

enum { SCRIBBLE_POINTS = 40 };

/* The points that negative_draw may need. */
size_t negative_points(void);
/* Adds a letter, a sign or a scribble to `ink` (side,side). */
void negative_draw(uint8_t *ink, size_t side, vit_point *points, struct rng *rng);
/* Adds two of the first `images` images side by side; side ≥ 2·columns + 2. */
void negative_pair(uint8_t *ink, size_t side, const struct data_set *data, size_t images,
                   struct rng *rng);

/* A pen's width for a drawing of `size`, from hair to felt: what counts is their ratio. */
static inline float draw_width(struct rng *rng, float size) {
    static const double thinnest = 0.01, thickest = 0.35;
    return (float)(size * thinnest * pow(thickest / thinnest, rng_unit(rng)));
}

#endif
