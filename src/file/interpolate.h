/* Bicubic interpolation without antialiasing, as torch.nn.functional.interpolate does it. */
#ifndef VIT_INTERPOLATE_H
#define VIT_INTERPOLATE_H

#include "vit.h"

/* in (from[0],from[1],D) → out (to[0],to[1],D). kind: not VIT_RESIZE_ANTIALIAS, which resample.h
 * does. */
void interpolate(float *restrict out, const float *restrict in, const size_t from[2],
                 const size_t to[2], size_t D, vit_resize kind);

#endif
