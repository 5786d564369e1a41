/* A model for images of another size. It shares the weights and has positions of its own. */
#include "resize.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "config.h"
#include "create.h"
#include "image/resample.h"
#include "interpolate.h"
#include "match.h"
#include "model.h"
#include "shapes.h"
#include "vit.h"

vit_status positions_resize(float *out, const float *in, const vit_config *c, vit_error *why) {
    size_t D = c->width, N = vit_patches(c), extra = (c->position_rows - N) * D;
    const size_t *from = c->position_grid;
    const size_t to[2] = {vit_grid(c, 0), vit_grid(c, 1)};
    memcpy(out, in, extra * sizeof *out);
    out += extra, in += extra;
    if (!weights_resize_positions(c)) {
        memcpy(out, in, N * D * sizeof *out);
        return VIT_OK;
    }
    if (c->position_resize > VIT_RESIZE_ANTIALIAS) {
        interpolate(out, in, from, to, D, c->position_resize);
        return VIT_OK;
    }
    size_t size = resample_size(from[0], from[1], to[0], to[1], D, VIT_BICUBIC);
    void *scratch = size ? malloc(size) : NULL;
    if (!scratch) return vit_fail(why, VIT_NO_MEMORY, "no memory to resize pos_embed");
    resample(out, in, from[0], from[1], to[0], to[1], D, VIT_BICUBIC, scratch);
    free(scratch);
    return VIT_OK;
}

/* Makes the positions of `m`, whose other parameters are those of `whole`. False: no memory. */
static bool make_positions(vit_model *m, const vit_model *whole) {
    const vit_config *c = &m->config;
    size_t learned = learns_positions(c) ? size_times(c->position_rows, c->width) : 0;
    size_t bytes = size_times(learned, sizeof(float));
    const float *in_file = whole->learned ? whole->learned : whole->params.position;
    if (!model_fits(c, m->kernels) || bytes == SIZE_TOO_LARGE || !compute_positions(m))
        return false;
    m->bytes = sizeof *m + bytes + fixed_position_bytes(c);
    if (!learned) return true;
    m->params.position = m->memory = malloc(bytes);
    return m->memory && positions_resize(m->memory, in_file, c, NULL) == VIT_OK;
}

vit_status vit_model_resize(vit_model **out, const vit_model *model, const size_t size[2],
                            vit_error *why) {
    const vit_model *whole = model->whole ? model->whole : model;
    vit_config config = whole->config;
    *out = NULL;
    vit_status status = config_resize(&config, size, why);
    if (status) return status;
    vit_model *m = malloc(sizeof *m);
    if (m) {
        *m = *whole;
        m->config = config;
        m->whole = whole;
        m->floats = m->memory = NULL;
        m->fixed_position = m->rotary = m->learned = NULL;
        if (make_positions(m, whole)) {
            *out = m;
            return VIT_OK;
        }
    }
    vit_close(m);
    return vit_fail(why, VIT_NO_MEMORY, "no memory to resize pos_embed");
}
