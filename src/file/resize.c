/* A model for images of another size. It shares the weights and has positions of its own. */
#include "resize.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "config.h"
#include "create.h"
#include "edition.h"
#include "image/resample.h"
#include "interpolate.h"
#include "match.h"
#include "model.h"
#include "shapes.h"
#include "vit.h"

static vit_status resize_grid(float *out, const float *in, const vit_config *c, vit_error *why) {
    size_t D = c->width;
    const size_t *from = c->position_grid;
    const size_t to[2] = {vit_grid(c, 0), vit_grid(c, 1)};
    if (!weights_resize_positions(c)) {
        memcpy(out, in, to[0] * to[1] * D * sizeof *out);
        return VIT_OK;
    }
    if (c->position_resize > VIT_RESIZE_ANTIALIAS) {
        interpolate(out, in, from, to, D, c->position_resize, false);
        return VIT_OK;
    }
    size_t size = resample_size(from[0], from[1], to[0], to[1], D, VIT_BICUBIC);
    void *scratch = size ? malloc(size) : NULL;
    if (!scratch) return vit_fail(why, VIT_NO_MEMORY, "no memory to resize pos_embed");
    resample(out, in, from[0], from[1], to[0], to[1], D, VIT_BICUBIC, scratch);
    free(scratch);
    return VIT_OK;
}

vit_status positions_resize(float *out, const float *in, size_t tables, const vit_config *c,
                            vit_error *why) {
    size_t D = c->width, N = vit_patches(c), extra = (c->position_rows - N) * D;
    size_t grid = c->position_grid[0] * c->position_grid[1] * D;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < tables && !status; i++, in += extra + grid, out += extra + N * D) {
        memcpy(out, in, extra * sizeof *out);
        status = resize_grid(out + extra, in + extra, c, why);
    }
    return status;
}

/* Gives every block of `m` the biases of relative positions for its grid, in `out`. */
static void resize_relative(vit_model *m, const vit_model *whole, float *out) {
    const vit_config *c = &m->config, *file = &whole->config;
    const size_t from[2] = {2 * vit_grid(file, 0) - 1, 2 * vit_grid(file, 1) - 1};
    const size_t to[2] = {2 * vit_grid(c, 0) - 1, 2 * vit_grid(c, 1) - 1}, h = c->heads;
    size_t others = vit_prefix(c) ? 3 * h : 0, each = relative_rows(c) * h;
    bool same = memcmp(from, to, sizeof from) == 0;
    for (size_t i = 0; i < c->depth; i++, out += each) {
        const float *in = whole->params.blocks[i].relative_bias;
        m->params.blocks[i] = whole->params.blocks[i];
        m->params.blocks[i].relative_bias = out;
        if (same)
            memcpy(out, in, (each - others) * sizeof *out);
        else
            interpolate(out, in, from, to, h, c->position_resize, true);
        memcpy(out + each - others, in + relative_rows(file) * h - others, others * sizeof *out);
    }
}

/* Makes the positions of `m`, whose other parameters are those of `whole`. False: no memory. */
static bool make_positions(vit_model *m, const vit_model *whole) {
    const vit_config *c = &m->config;
    size_t learned = learns_positions(c) ? size_times(c->position_rows, c->width) : 0;
    bool mid_too = mid_position_of(c) && c->depth > 1;
    size_t tables = mid_too ? c->depth : 1; /* pos_embed and mid_pos_embed */
    bool relative = position_of(c) == VIT_RELATIVE;
    size_t bytes = size_times(size_times(learned, tables), sizeof(float)), blocks = 0;
    if (relative) {
        size_t biases = size_times(relative_rows(c), size_times(c->heads, c->depth));
        blocks = params_blocks_bytes(c);
        bytes = size_plus(size_plus(bytes, size_times(biases, sizeof(float))), blocks);
    }
    const float *in_file = whole->learned ? whole->learned : whole->params.position;
    const float *mid = whole->learned_mid ? whole->learned_mid : whole->params.mid_position;
    if (!model_fits(c, m->kernels) || bytes == SIZE_TOO_LARGE || !compute_positions(m))
        return false;
    m->bytes = sizeof *m + bytes + fixed_position_bytes(c);
    if (!learned && !relative) return true;
    float *position = m->memory = malloc(bytes);
    if (relative) {
        if (!position) return false;
        m->params.blocks = m->memory;
        position += blocks / sizeof *position;
        resize_relative(m, whole, position + learned * tables);
    }
    if (!learned) return true;
    m->params.position = position;
    if (!position || positions_resize(position, in_file, 1, c, NULL)) return false;
    if (tables == 1) return true;
    m->params.mid_position = position + learned;
    return positions_resize(m->params.mid_position, mid, tables - 1, c, NULL) == VIT_OK;
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
        m->fixed_position = m->rotary = m->learned = m->learned_mid = NULL;
        if (make_positions(m, whole)) {
            *out = m;
            return VIT_OK;
        }
    }
    vit_close(m);
    return vit_fail(why, VIT_NO_MEMORY, "no memory to resize pos_embed");
}
