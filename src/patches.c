/* pixels (C,H,W) → patches (N,C·P·Q) → tokens (N,D): Dosovitskiy et al., section 3.1. */
#include <string.h>

#include "model.h"

static size_t patch_values(const vit_config *c) {
    return c->channels * c->patch_size[0] * c->patch_size[1];
}

/* Patches row by row over the grid; within one, channels, then rows, as Conv2d's weight. */
static void cut(float *patches, const float *image, const vit_config *c, struct rows share) {
    size_t H = c->image_size[0], W = c->image_size[1], P = c->patch_size[0], Q = c->patch_size[1];
    for (size_t n = share.first; n < share.first + share.count; n++) {
        const float *corner = image + n / (W / Q) * P * W + n % (W / Q) * Q;
        for (size_t channel = 0; channel < c->channels; channel++)
            for (size_t row = 0; row < P; row++, patches += Q)
                memcpy(patches, corner + (channel * H + row) * W, Q * sizeof *patches);
    }
}

void patches_forward(const vit_model *m, float *x, float *patches, const float *image,
                     struct rows share) {
    size_t K = patch_values(&m->config), D = m->config.width;
    patches += share.first * K;
    cut(patches, image, &m->config, share);
    m->kernels->matmul(x + share.first * D, D, patches, K, m->params.patch_weight,
                       m->params.patch_bias, VIT_LINEAR, false, share.count, D, K);
}

void patches_backward(const vit_model *m, const struct vit_params *g, const float *dx,
                      const float *patches) {
    size_t K = patch_values(&m->config), D = m->config.width;
    linear_backward(m->kernels, NULL, 0, g->patch_weight, g->patch_bias, dx, D, patches, K,
                    m->params.patch_weight, vit_patches(&m->config), D, K);
}
