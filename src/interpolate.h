/* Bicubic interpolation without antialiasing, as torch.nn.functional.interpolate does it. */
#ifndef VIT_INTERPOLATE_H
#define VIT_INTERPOLATE_H

#include "vit.h"

/* in (side,side,D) → out (rows,columns,D); any kind but VIT_RESIZE_ANTIALIAS, which is
 * resample.h's. */
void interpolate(float *restrict out, const float *restrict in, size_t side, size_t rows,
                 size_t columns, size_t D, vit_resize kind);

#endif
