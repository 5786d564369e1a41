/* Interpolation without antialiasing: bicubic, as torch.nn.functional.interpolate does it, and linear. */
#ifndef VIT_INTERPOLATE_H
#define VIT_INTERPOLATE_H

#include "vit.h"

/* in (from[0],from[1],D) → out (to[0],to[1],D). kind: not VIT_RESIZE_ANTIALIAS, which resample.h
 * does; but if the axes are of offsets, as those of biases of relative positions, any: linearly, for
 * VIT_RESIZE_PLAIN over offsets at even distances, as in transformers, else in a geometric
 * progression, as in timm. */
void interpolate(float *restrict out, const float *restrict in, const size_t from[2],
                 const size_t to[2], size_t D, vit_resize kind, bool offsets);

#endif
