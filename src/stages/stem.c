/* The convolutional stem: image (C,H,W) → maps, by convolutions of 3×3. Each convolution has its
 * own number of channels, and stride 1, or 2, which halves the maps. The patches are cut from the
 * last maps. Xiao et al., arXiv:2106.14881. */
#include "stem.h"

#include <string.h>

#include "activations.h"
#include "base/arena.h"
#include "base/sizes.h"
#include "base/team.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

enum { KERNEL = 3, TAPS = KERNEL * KERNEL, PADDING = 1 };
/* This many positions are computed at a time, their neighbourhoods side by side. */
enum { AT_ONCE = 256 };

/* ---- Convolutions ------------------------------------------------------- */

/* Weights as files have them, rows of (C,3·3), → rows of (3·3,C). In that order a neighbourhood is
 * three runs of floats. */
void stem_reorder(float *restrict to, const float *restrict from, size_t rows, size_t C) {
    for (size_t row = 0; row < rows; row++, to += TAPS * C, from += TAPS * C)
        for (size_t channel = 0; channel < C; channel++)
            for (size_t tap = 0; tap < TAPS; tap++)
                to[tap * C + channel] = from[channel * TAPS + tap];
}

static void add_back(float *restrict to, const float *restrict from, size_t rows, size_t C) {
    for (size_t row = 0; row < rows; row++, to += TAPS * C, from += TAPS * C)
        for (size_t channel = 0; channel < C; channel++)
            for (size_t tap = 0; tap < TAPS; tap++)
                to[channel * TAPS + tap] += from[tap * C + channel];
}

/* The weights in the order (3·3,C). Packed weights were put in that order when they were loaded. */
static const float *ordered(const vit_model *m, const struct scratch *s, const float *weight,
                            size_t S, size_t C) {
    if (m->kernels->packed) return weight;
    stem_reorder(s->stem_weight, weight, S, C);
    return s->stem_weight;
}

/* Which of the KERNEL places from `start` on lie within `size`. */
static struct rows within(size_t start, size_t size) {
    size_t first = start < size ? 0 : 1, rest = size - (start + first);
    return (struct rows){first, rest < KERNEL - first ? rest : KERNEL - first};
}

/* `count` positions of a row of the maps → to (count,C). */
static void cut_run(float *restrict to, const struct maps *from, const float *restrict x,
                    size_t count) {
    size_t C = from->channels;
    if (from->channel_step == 1) {
        memcpy(to, x, count * C * sizeof *to);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t channel = 0; channel < C; channel++)
            *to++ = x[i * from->column_step + channel * from->channel_step];
}

static void add_run(float *restrict x, const float *restrict from, size_t floats) {
    for (size_t i = 0; i < floats; i++) x[i] += from[i];
}

/* A neighbourhood of a position: its corner, and which of its rows and columns lie on the maps. */
struct neighbourhood {
    size_t top, left; /* unsigned: -1 is larger than any size */
    struct rows down, across;
};

static struct neighbourhood neighbourhood_of(const struct maps *from, const struct maps *to,
                                             size_t position) {
    size_t stride = from->columns / to->columns;
    size_t top = position / to->columns * stride - PADDING;
    size_t left = position % to->columns * stride - PADDING;
    return (struct neighbourhood){top, left, within(top, from->rows), within(left, from->columns)};
}

/* Row i of a neighbourhood begins at run_on on the maps, and at run_at in the column (3·3,C). */
static float *run_on(const struct maps *maps, const struct neighbourhood *n, size_t i) {
    return maps->x + (n->top + i) * maps->row_step +
           (n->left + n->across.first) * maps->column_step;
}

static size_t run_at(const struct maps *maps, const struct neighbourhood *n, size_t i) {
    return (i * KERNEL + n->across.first) * maps->channels;
}

/* The neighbourhoods of the positions `share` of the maps `to` → columns (count,3·3·C), with 0
 * beyond the edges. */
static void cut_neighbourhoods(float *columns, const struct maps *from, const struct maps *to,
                               struct rows share) {
    size_t floats = TAPS * from->channels;
    for (size_t at = share.first; at < share.first + share.count; at++, columns += floats) {
        struct neighbourhood n = neighbourhood_of(from, to, at);
        if (n.down.count * n.across.count < TAPS) memset(columns, 0, floats * sizeof *columns);
        for (size_t i = n.down.first; i < n.down.first + n.down.count; i++)
            cut_run(columns + run_at(from, &n, i), from, run_on(from, &n, i), n.across.count);
    }
}

/* Adds the columns of all positions of `to` back to the maps that they were cut from. */
static void add_neighbourhoods(const struct maps *from, const float *columns,
                               const struct maps *to) {
    size_t floats = TAPS * from->channels, positions = to->rows * to->columns;
    for (size_t at = 0; at < positions; at++, columns += floats) {
        struct neighbourhood n = neighbourhood_of(from, to, at);
        for (size_t i = n.down.first; i < n.down.first + n.down.count; i++)
            add_run(run_on(from, &n, i), columns + run_at(from, &n, i),
                    n.across.count * from->channels);
    }
}

struct maps stem_input(const vit_config *c, const struct stem *a, const float *images, size_t layer,
                       size_t image) {
    struct maps maps = stem_maps(c, layer, NULL);
    /* The cast drops const, but images are only read. */
    maps.x = (layer ? a->maps[layer - 1] : (float *)(uintptr_t)images) + image * maps_floats(&maps);
    return maps;
}

/* A batch goes through one convolution. */
struct convolution {
    const vit_model *model;
    const struct stem *stem;
    const struct scratch *scratch; /* one for each thread */
    const float *images;
    size_t layer, batch;
};

/* One thread's share of the positions. */
static void convolve(void *context, size_t part, size_t parts) {
    const struct convolution *of = context;
    const vit_model *m = of->model;
    const struct stem *a = of->stem;
    const struct scratch *s = &of->scratch[part];
    const vit_config *c = &m->config;
    const struct vit_kernels *k = m->kernels;
    size_t layer = of->layer, batch = of->batch;
    struct maps to = stem_maps(c, layer + 1, NULL);
    size_t positions = to.rows * to.columns, S = to.channels;
    size_t C = stem_maps(c, layer, NULL).channels, K = TAPS * C;
    int act = (int)c->activation;
    const float *weight = ordered(m, s, m->params.stem[layer].weight, S, C);
    const float *bias = m->params.stem[layer].bias;
    struct rows share = rows_part(batch, positions, part, parts);
    for (size_t i = 0; i < batch; i++) {
        struct maps from = stem_input(c, a, of->images, layer, i);
        struct rows here = rows_within(share, i * positions, positions);
        size_t end = here.first + here.count, n;
        for (size_t at = here.first; at < end; at += n) {
            n = end - at < AT_ONCE ? end - at : AT_ONCE;
            float *y = a->maps[layer] + (i * positions + at) * S;
            float *pre = a->pre[layer] ? a->pre[layer] + (i * positions + at) * S : NULL;
            cut_neighbourhoods(s->columns, &from, &to, (struct rows){at, n});
            k->matmul(pre ? pre : y, S, s->columns, K, weight, bias, pre ? VIT_LINEAR : act, false,
                      n, S, K);
            if (pre) k->activate(y, pre, act, n * S);
        }
    }
}

void stem_forward(const vit_model *m, const struct stem *a, const struct scratch *s,
                  const float *images, size_t batch, vit_team *team) {
    struct convolution of = {m, a, s, images, 0, batch};
    for (; of.layer < m->config.stem_layers; of.layer++) team_run(team, convolve, &of);
}

/* The backward pass of one convolution. */
static void backward(const vit_model *m, const struct vit_params *g, const struct stem *a,
                     const struct scratch *s, const float *images, size_t layer, size_t batch) {
    const vit_config *c = &m->config;
    struct maps to = stem_maps(c, layer + 1, s->dmaps[layer]);
    struct maps dfrom = stem_maps(c, layer, layer ? s->dmaps[layer - 1] : NULL);
    size_t positions = to.rows * to.columns, S = to.channels, C = dfrom.channels, K = TAPS * C;
    struct rows all = {0, positions};
    const float *weight = ordered(m, s, m->params.stem[layer].weight, S, C);
    memset(s->dstem_weight, 0, S * K * sizeof *s->dstem_weight);
    if (layer) memset(dfrom.x, 0, batch * maps_floats(&dfrom) * sizeof *dfrom.x);
    m->kernels->activate_backward(to.x, to.x, a->pre[layer], (int)c->activation,
                                  batch * positions * S);
    for (size_t i = 0; i < batch; i++, to.x += positions * S) {
        struct maps from = stem_input(c, a, images, layer, i);
        cut_neighbourhoods(s->columns, &from, &to, all);
        linear_backward(m->kernels, layer ? s->dcolumns : NULL, K, s->dstem_weight,
                        g->stem[layer].bias, to.x, S, s->columns, K, weight, positions, S, K);
        if (layer == 0) continue;
        add_neighbourhoods(&dfrom, s->dcolumns, &to);
        dfrom.x += maps_floats(&dfrom);
    }
    add_back(g->stem[layer].weight, s->dstem_weight, S, C);
}

void stem_backward(const vit_model *m, const struct vit_params *g, const struct stem *a,
                   const struct scratch *s, const float *images, size_t batch) {
    for (size_t layer = m->config.stem_layers; layer-- > 0;)
        backward(m, g, a, s, images, layer, batch);
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

/* The most floats that any convolution needs. */
struct most {
    size_t columns, weight;
};

/* With `rows` positions at a time. */
static struct most most_floats(const vit_config *c, size_t rows) {
    struct most most = {0, 0};
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        struct maps from = stem_maps(c, layer, NULL), to = stem_maps(c, layer + 1, NULL);
        size_t positions = to.rows * to.columns, chunk = positions < rows ? positions : rows;
        size_t taps = TAPS * from.channels;
        size_t columns = size_times(chunk, taps), weight = size_times(to.channels, taps);
        if (columns > most.columns) most.columns = columns;
        if (weight > most.weight) most.weight = weight;
    }
    return most;
}

void scratch_stem(struct scratch *s, struct arena *arena, const vit_model *m) {
    struct most most = most_floats(&m->config, AT_ONCE);
    s->columns = arena_floats(arena, most.columns);
    if (!m->kernels->packed) s->stem_weight = arena_floats(arena, most.weight);
}

void scratch_stem_backward(struct scratch *s, struct arena *arena, const vit_config *c,
                           size_t batch) {
    if (c->stem_layers == 0) return;
    struct most most = most_floats(c, SIZE_MAX);
    s->columns = arena_floats(arena, most.columns);
    s->dcolumns = arena_floats(arena, most.columns);
    s->stem_weight = arena_floats(arena, most.weight);
    s->dstem_weight = arena_floats(arena, most.weight);
    s->dpatches = arena_floats(arena, vit_patches(c), patch_values(c));
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        struct maps maps = stem_maps(c, layer + 1, NULL);
        s->dmaps[layer] = arena_floats(arena, batch, maps_floats(&maps));
    }
}
