/* A drawing as MNIST would hold it. MNIST's training images have three things in common: the longer
 * side of the ink's box is 20 pixels (in all but 13 of 60,000 images), full ink is 254 or 255, and
 * the centre of mass lies at 13.5..14.5 of rows and columns counted from 0. */
#ifndef VIT_DIGIT_H
#define VIT_DIGIT_H

#include "draw.h"

enum { DIGIT_FAINTEST = 16 }; /* of 255 levels: the least by which ink stands out from its paper */

/* Bytes of scratch memory for an image (rows,columns). */
uint64_t digit_size(size_t rows, size_t columns);
/* Grey levels (grey_rows,grey_columns) → ink (rows,columns) in 0..1, and where it lies in them.
 * Overwrites the grey levels. False, and no image, if nothing stands out. `scratch`: 8-byte
 * aligned. */
bool digit_draw(float *image, vit_placement *placement, size_t rows, size_t columns, uint8_t *grey,
                size_t grey_rows, size_t grey_columns, void *scratch);

#endif
