/* A drawing as MNIST would hold it. What its training images have in common: the box of
 * the ink has a longer side of 20 pixels (all but 13 of 60,000), full ink is 254 or 255,
 * and the centre of mass lies at 13.5..14.5 of rows and columns counted from 0. */
#ifndef VIT_DIGIT_H
#define VIT_DIGIT_H

#include "vit.h"

enum { DIGIT_FAINTEST = 16 }; /* of 255: ink that stands out less from its paper is none */

/* Bytes of scratch memory for an image (rows,columns). */
uint64_t digit_size(size_t rows, size_t columns);
/* Grey levels (grey_rows,grey_columns), which are overwritten → ink (rows,columns) in 0..1.
 * False, and no image, when nothing stands out. `scratch`: 8-byte aligned. */
bool digit_draw(float *image, size_t rows, size_t columns, uint8_t *grey, size_t grey_rows,
                size_t grey_columns, void *scratch);

#endif
