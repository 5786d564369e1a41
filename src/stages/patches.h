/* Patches of an image, or of the stem's maps, as tokens. */
#ifndef VIT_PATCHES_H
#define VIT_PATCHES_H

#include "activations.h"
#include "base/team.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* maps → patches (N,C·P·Q) → x (N,D): a share of the rows. */
void patches_forward(const vit_model *m, float *x, float *patches, const struct maps *from,
                     struct rows share);
/* Adds to the patches' gradients. With a stem it also writes the last of s->dmaps, for image
 * `image`. */
void patches_backward(const vit_model *m, const struct vit_params *g, const float *dx,
                      const float *patches, const struct scratch *s, size_t image);

#endif
