/* Augmentation: one warp per image, affine and elastic, and stroke thickness. */
#ifndef VIT_AUGMENT_H
#define VIT_AUGMENT_H

#include "vit.h"

struct augment {
    double probability;  /* of changing an image, other than by flip and crop */
    double shift;        /* pixels, uniform in ± */
    double rotation;     /* degrees, uniform in ± */
    double scale;        /* each axis is scaled by exp(u), u uniform in ± log(1 + scale) */
    double shear;        /* degrees, uniform in ± */
    double elastic;      /* standard deviation of the displacement, pixels */
    size_t elastic_grid; /* cells of the displacement's grid, along an edge */
    double thickness;    /* blend with a dilation or an erosion, uniform in ± */
    double bold;         /* the most pixels by which half of the images without holes are dilated */
    size_t erase;        /* side of a square that becomes paper, pixels */
    double flip;         /* the probability that left and right change places, in every epoch */
    size_t crop;         /* whole pixels, uniform in ±, by which every epoch moves every image */
    double colour;       /* brightness, contrast and saturation times 1 + u, u uniform in ± */
    double photometric;  /* the probability of one operation of photometric.h, of any strength */
    double settle; /* the share of the epochs, at the end, in which `probability` falls to 0 */
};

struct augmenter; /* const after opening, shared by threads */

vit_status augmenter_open(struct augmenter **out, const struct augment *augment, size_t epochs,
                          size_t rows, size_t columns, vit_error *why);
void augmenter_close(struct augmenter *augmenter);
size_t augmenter_scratch(const struct augmenter *augmenter); /* floats that a thread brings */
/* source (rows, columns) bytes → image (rows, columns) in 0..1, changed by the chances of
 * (seed, epoch, index), whatever the source holds: an image's channels, passed one by one, change
 * alike. solid: a stroke that has no hole to lose. */
void augmenter_apply(float *image, float *scratch, const struct augmenter *augmenter,
                     const uint8_t *source, bool solid, uint64_t seed, size_t epoch, size_t index);
/* Changes the colours of an image (channels, rows, columns) in 0..1, in which it stays. */
void augmenter_colour(float *image, float *scratch, const struct augmenter *augmenter,
                      size_t channels, uint64_t seed, size_t epoch, size_t index);

#endif
