/* pixels (C,H,W), or the stem's maps → patches (N,C·P·Q) → tokens (N,D): Dosovitskiy et al.,
 * section 3.1. */
#include "patches.h"

#include "activations.h"
#include "base/team.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "soft_split.h"
#include "vit.h"

/* The patch whose corner is at (top, left) → (C,P,Q). */
static void cut(float *patch, const struct maps *from, size_t top, size_t left, size_t P,
                size_t Q) {
    const float *corner = from->x + top * from->row_step + left * from->column_step;
    for (size_t channel = 0; channel < from->channels; channel++, corner += from->channel_step)
        for (size_t row = 0; row < P; row++)
            for (size_t column = 0; column < Q; column++)
                *patch++ = corner[row * from->row_step + column * from->column_step];
}

/* A patch's gradient → its place on the maps. Patches of a stem's maps do not overlap, so nothing
 * is added. */
static void put(const struct maps *to, const float *patch, size_t top, size_t left, size_t P,
                size_t Q) {
    float *corner = to->x + top * to->row_step + left * to->column_step;
    for (size_t channel = 0; channel < to->channels; channel++, corner += to->channel_step)
        for (size_t row = 0; row < P; row++)
            for (size_t column = 0; column < Q; column++)
                corner[row * to->row_step + column * to->column_step] = *patch++;
}

/* Patches go row by row over the grid. A patch goes channel by channel, then row by row, as
 * Conv2d's weight does. */
void patches_forward(const vit_model *m, float *x, float *patches, const struct maps *from,
                     struct rows share) {
    const vit_config *c = &m->config;
    const struct vit_kernels *k = m->kernels;
    const struct vit_params *p = &m->params;
    size_t K = patch_values(c), D = c->width;
    size_t P = patch_side(c, 0), Q = patch_side(c, 1), across = vit_grid(c, 1);
    for (size_t n = share.first; n < share.first + share.count; n++)
        if (tokens_to_token_of(c))
            soft_split_cut(patches + n * K, from, VIT_SOFT_SPLITS, n, across);
        else
            cut(patches + n * K, from, n / across * patch_step(c, 0), n % across * patch_step(c, 1),
                P, Q);
    x += share.first * D;
    patches += share.first * K;
    if (c->patch_norm_in)
        k->norm(patches, K, NULL, NULL, patches, K, p->patch_norm_in_gain, p->patch_norm_in_bias,
                c->norm_eps, share.count, K);
    k->matmul(x, D, patches, K, p->patch_weight, p->patch_bias, VIT_LINEAR, false, share.count, D,
              K);
    if (c->patch_norm)
        k->norm(x, D, NULL, NULL, x, D, p->patch_norm_gain, p->patch_norm_bias, c->norm_eps,
                share.count, D);
}

void patches_backward(const vit_model *m, const struct vit_params *g, const float *dx,
                      const float *patches, const struct scratch *s, size_t image) {
    const vit_config *c = &m->config;
    size_t K = patch_values(c), D = c->width, N = vit_patches(c), stem = c->stem_layers;
    linear_backward(m->kernels, stem ? s->dpatches : NULL, K, g->patch_weight, g->patch_bias, dx, D,
                    patches, K, m->params.patch_weight, N, D, K);
    if (!stem) return;
    struct maps to = stem_maps(c, stem, s->dmaps[stem - 1]);
    size_t P = patch_side(c, 0), Q = patch_side(c, 1), across = vit_grid(c, 1);
    to.x += image * maps_floats(&to);
    for (size_t n = 0; n < N; n++)
        put(&to, s->dpatches + n * K, n / across * P, n % across * Q, P, Q);
}
