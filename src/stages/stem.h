/* The convolutional stem. */
#ifndef VIT_STEM_H
#define VIT_STEM_H

#include "activations.h"
#include "base/arena.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* A batch's maps (B,rows,columns,S) after each convolution; pre: before its activation, or NULL. */
struct stem {
    float *maps[VIT_STEM_MOST], *pre[VIT_STEM_MOST];
};
void stem_lay_out(struct stem *a, struct arena *arena, const vit_config *config, size_t batch,
                  bool keep);
void scratch_stem(struct scratch *s, struct arena *arena, const vit_model *model);
void scratch_stem_backward(struct scratch *s, struct arena *arena, const vit_config *config,
                           size_t batch);
/* One image's maps that go into convolution `layer`, or past the last into the patches. */
struct maps stem_input(const vit_config *config, const struct stem *a, const float *images,
                       size_t layer, size_t image);
/* All convolutions over the batch. With a team, s has an item for each thread. */
void stem_forward(const vit_model *m, const struct stem *a, const struct scratch *s,
                  const float *images, size_t batch, vit_team *team);
/* s->dmaps: the last holds the gradient of the batch's last maps; the others are overwritten. */
void stem_backward(const vit_model *m, const struct vit_params *g, const struct stem *a,
                   const struct scratch *s, const float *images, size_t batch);
/* A convolution's weights as files have them, rows of (C,3·3), → rows of (3·3,C), which packed
 * kernels read. */
void stem_reorder(float *to, const float *from, size_t rows, size_t channels);

#endif
