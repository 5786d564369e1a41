/* Drawings that are not digits, for samples.c. */
#ifndef VIT_NEGATIVES_H
#define VIT_NEGATIVES_H

#include "base/rng.h"
#include "data.h"
#include "strokes.h"
#include "vit.h"

enum { SCRIBBLE_POINTS = 40 };

/* The most points that negative_draw needs. */
size_t negative_points(void);
/* Adds a letter, a sign or a scribble to `ink` (side,side). near: also signs that come near a
 * digit. */
void negative_draw(uint8_t *ink, size_t side, vit_point *points, bool near, struct rng *rng);
/* Adds two of the first `images` images side by side; side ≥ 2·columns + 2. */
void negative_pair(uint8_t *ink, size_t side, const struct data_set *data, size_t images,
                   struct rng *rng);

/* Replaces the strokes by those of a letter that no digit resembles, or by the rim of a blot, which
 * a pen as wide as the drawing is large fills. The sketch has room for habits. */
void negative_letter(struct sketch *sketch, struct rng *rng);
void negative_blot(struct sketch *sketch, struct rng *rng);

/* A pen's width for a drawing of `size`. Half of the widths are usual ones, half go from a hair's
 * to a felt pen's. The logarithm of the width is uniform. */
static inline float draw_width(struct rng *rng, float size) {
    bool usual = rng_unit(rng) < 0.5;
    double thinnest = usual ? 0.07 : 0.01, thickest = usual ? 0.2 : 0.35;
    return (float)(size * thinnest * pow(thickest / thinnest, rng_unit(rng)));
}

#endif
