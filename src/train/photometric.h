/* Operations that change an image's values and move nothing, as Pillow computes them on bytes: what
 * TrivialAugment draws one of, beside brightness, contrast, saturation and moves. Müller & Hutter,
 * arXiv:2103.10158, table 1. */
#ifndef VIT_PHOTOMETRIC_H
#define VIT_PHOTOMETRIC_H

#include <stddef.h>

enum photometric { SHARPNESS, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE, PHOTOMETRICS };

/* Changes an image (channels, rows, columns) in 0..1, in which it stays. strength is in 0..1:
 * SHARPNESS blurs below 0.5 and sharpens above it, POSTERIZE keeps 8 bits at 0 and 2 at 1, SOLARIZE
 * inverts the values from 1 - strength up, the others ignore it. scratch: rows·columns floats. */
void photometric(float *image, float *scratch, size_t channels, size_t rows, size_t columns,
                 enum photometric operation, double strength);

#endif
