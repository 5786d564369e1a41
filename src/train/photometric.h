/* Operations that change an image's values and move nothing, as Pillow computes them on bytes: what
 * TrivialAugment draws one of, beside brightness, contrast, saturation and moves. Müller & Hutter,
 * arXiv:2103.10158, table 1. */
#ifndef VIT_PHOTOMETRIC_H
#define VIT_PHOTOMETRIC_H

#include <stddef.h>

enum photometric { SHARPNESS, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE, PHOTOMETRICS };

/* Changes an image (channels, rows, columns) in 0..1, in which it stays. strength, in 0..1, makes
 * the image from blurred to sharpened, with nothing at 0.5; keeps 8 to 2 bits; or inverts the values
 * above 1 to 0. The last two have none. scratch: rows·columns floats. */
void photometric(float *image, float *scratch, size_t channels, size_t rows, size_t columns,
                 enum photometric operation, double strength);

#endif
