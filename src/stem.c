/* The convolutional stem: image (C,H,W) → maps of their own number of channels, once for each
 * convolution of 3×3, as large or, with stride 2, half as large; the patches are cut from the
 * last. Xiao et al., arXiv:2106.14881. */
#include <string.h>

#include "model.h"

enum { KERNEL = 3, PADDING = 1 };
/* Positions whose neighbourhoods are side by side at a time. */
enum { AT_ONCE = 256 };

/* ---- Maps --------------------------------------------------------------- */

static size_t stride_after(const vit_config *c, size_t layers) {
    size_t stride = 1;
    for (size_t i = 0; i < layers; i++) stride *= c->stem[i].stride;
    return stride;
}

size_t stem_stride(const vit_config *c) {
    return stride_after(c, c->stem_layers);
}

struct maps stem_maps(const vit_config *c, size_t layer, float *x) {
    size_t stride = stride_after(c, layer);
    size_t H = c->image_size[0] / stride, W = c->image_size[1] / stride;
    if (layer == 0) return (struct maps){x, c->channels, H, W, H * W, W, 1};
    size_t S = c->stem[layer - 1].channels;
    return (struct maps){x, S, H, W, 1, W * S, S};
}

size_t maps_floats(const struct maps *maps) {
    return maps->channels * maps->rows * maps->columns;
}

/* Beyond the edge there is 0. A top or left before it is past the other edge, being unsigned. */
void maps_cut(float *window, const struct maps *from, size_t top, size_t left, size_t rows,
              size_t columns) {
    size_t area = rows * columns;
    for (size_t i = 0; i < area; i++) {
        size_t row = top + i / columns, column = left + i % columns;
        bool inside = row < from->rows && column < from->columns;
        const float *x = from->x + (inside ? row * from->row_step + column * from->column_step : 0);
        for (size_t channel = 0; channel < from->channels; channel++)
            window[channel * area + i] = inside ? x[channel * from->channel_step] : 0;
    }
}

void maps_add(const struct maps *to, const float *window, size_t top, size_t left, size_t rows,
              size_t columns) {
    size_t area = rows * columns;
    for (size_t i = 0; i < area; i++) {
        size_t row = top + i / columns, column = left + i % columns;
        if (row >= to->rows || column >= to->columns) continue;
        float *x = to->x + row * to->row_step + column * to->column_step;
        for (size_t channel = 0; channel < to->channels; channel++)
            x[channel * to->channel_step] += window[channel * area + i];
    }
}

/* ---- Convolutions ------------------------------------------------------- */

static void convolution(const struct vit_params *p, size_t layer, float **weight, float **bias) {
    float *const weights[] = {p->stem1_weight, p->stem2_weight, p->stem3_weight,
                              p->stem4_weight, p->stem5_weight, p->stem6_weight};
    float *const biases[] = {p->stem1_bias, p->stem2_bias, p->stem3_bias,
                             p->stem4_bias, p->stem5_bias, p->stem6_bias};
    *weight = weights[layer];
    *bias = biases[layer];
}

/* What each of the positions `share` of the maps `to` looks at → columns (count,C·3·3). */
static void cut_columns(float *columns, const struct maps *from, const struct maps *to,
                        struct rows share) {
    size_t across = to->columns, stride = from->columns / across;
    for (size_t i = share.first; i < share.first + share.count; i++) {
        maps_cut(columns, from, i / across * stride - PADDING, i % across * stride - PADDING,
                 KERNEL, KERNEL);
        columns += from->channels * KERNEL * KERNEL;
    }
}

static void add_columns(const struct maps *from, const struct maps *to, const float *columns) {
    size_t across = to->columns, stride = from->columns / across;
    for (size_t i = 0; i < to->rows * across; i++) {
        maps_add(from, columns, i / across * stride - PADDING, i % across * stride - PADDING,
                 KERNEL, KERNEL);
        columns += from->channels * KERNEL * KERNEL;
    }
}

struct maps stem_input(const vit_config *c, const struct stem *a, const float *images, size_t layer,
                       size_t image) {
    struct maps maps = stem_maps(c, layer, NULL);
    /* an image is only read: maps_add gets gradients */
    maps.x = (layer ? a->maps[layer - 1] : (float *)(uintptr_t)images) + image * maps_floats(&maps);
    return maps;
}

void stem_forward(const vit_model *m, const struct stem *a, const struct scratch *s,
                  const float *images, size_t layer, size_t batch, size_t part, size_t parts) {
    const vit_config *c = &m->config;
    const struct vit_kernels *k = m->kernels;
    struct maps to = stem_maps(c, layer + 1, NULL);
    size_t positions = to.rows * to.columns, S = to.channels;
    int act = (int)c->activation;
    float *weight, *bias;
    convolution(&m->params, layer, &weight, &bias);
    struct rows share = rows_part(batch, positions, part, parts);
    for (size_t i = 0; i < batch; i++) {
        struct maps from = stem_input(c, a, images, layer, i);
        struct rows here = rows_within(share, i * positions, positions);
        size_t K = from.channels * KERNEL * KERNEL, end = here.first + here.count, n;
        for (size_t at = here.first; at < end; at += n) {
            n = end - at < AT_ONCE ? end - at : AT_ONCE;
            float *y = a->maps[layer] + (i * positions + at) * S;
            float *pre = a->pre[layer] ? a->pre[layer] + (i * positions + at) * S : NULL;
            cut_columns(s->columns, &from, &to, (struct rows){at, n});
            k->matmul(pre ? pre : y, S, s->columns, K, weight, bias, pre ? VIT_LINEAR : act, false,
                      n, S, K);
            if (pre) k->activate(y, pre, act, n * S);
        }
    }
}

void stem_backward(const vit_model *m, const struct vit_params *g, const struct stem *a,
                   const struct scratch *s, const float *images, size_t image) {
    const vit_config *c = &m->config;
    for (size_t layer = c->stem_layers; layer-- > 0;) {
        struct maps from = stem_input(c, a, images, layer, image);
        struct maps to = stem_maps(c, layer + 1, s->dmaps[layer]);
        struct maps dfrom = stem_maps(c, layer, layer ? s->dmaps[layer - 1] : NULL);
        size_t positions = to.rows * to.columns, S = to.channels;
        size_t K = from.channels * KERNEL * KERNEL;
        float *weight, *bias, *dweight, *dbias;
        convolution(&m->params, layer, &weight, &bias);
        convolution(g, layer, &dweight, &dbias);
        m->kernels->activate_backward(to.x, to.x, a->pre[layer] + image * positions * S,
                                      (int)c->activation, positions * S);
        cut_columns(s->columns, &from, &to, (struct rows){0, positions});
        linear_backward(m->kernels, layer ? s->dcolumns : NULL, K, dweight, dbias, to.x, S,
                        s->columns, K, weight, positions, S, K);
        if (layer == 0) break;
        memset(dfrom.x, 0, maps_floats(&dfrom) * sizeof *dfrom.x);
        add_columns(&dfrom, &to, s->dcolumns);
    }
}

/* ---- Memory ------------------------------------------------------------- */

void stem_lay_out(struct stem *a, struct arena *arena, const vit_config *c, size_t batch,
                  bool keep) {
    *a = (struct stem){{0}, {0}};
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        struct maps maps = stem_maps(c, layer + 1, NULL);
        a->maps[layer] = arena_floats(arena, batch, maps_floats(&maps));
        if (keep) a->pre[layer] = arena_floats(arena, batch, maps_floats(&maps));
    }
}

/* The most floats that `columns` takes for any convolution, `rows` positions at a time. */
static size_t columns_floats(const vit_config *c, size_t rows) {
    size_t most = 0;
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        struct maps from = stem_maps(c, layer, NULL), to = stem_maps(c, layer + 1, NULL);
        size_t positions = to.rows * to.columns;
        size_t floats = (positions < rows ? positions : rows) * from.channels * KERNEL * KERNEL;
        if (floats > most) most = floats;
    }
    return most;
}

void scratch_stem(struct scratch *s, struct arena *arena, const vit_config *c) {
    s->columns = arena_floats(arena, columns_floats(c, AT_ONCE), 1);
}

void scratch_stem_backward(struct scratch *s, struct arena *arena, const vit_config *c) {
    if (c->stem_layers == 0) return;
    s->columns = arena_floats(arena, columns_floats(c, SIZE_MAX), 1);
    s->dcolumns = arena_floats(arena, columns_floats(c, SIZE_MAX), 1);
    s->dpatches = arena_floats(arena, vit_patches(c), patch_values(c));
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        struct maps maps = stem_maps(c, layer + 1, NULL);
        s->dmaps[layer] = arena_floats(arena, maps_floats(&maps), 1);
    }
}
