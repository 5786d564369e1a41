/* Patch rows (N,D) → tokens (T,D): puts the prefix tokens in front and adds the positions. A model
 * of CLIP's norms the tokens too (Radford et al., arXiv:2103.00020, section 2.4). */
#include "tokens.h"

#include <string.h>

#include "base/direction.h"
#include "base/team.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "vit.h"

static void add(float *x, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

/* The prefix tokens in order. Each is a parameter of some rows. */
enum { PREFIXES = 4 };
static void prefix_tokens(float *out[PREFIXES], size_t rows[PREFIXES], const struct vit_params *p,
                          const vit_config *c) {
    out[0] = p->class_token, rows[0] = c->class_tokens;
    out[1] = p->distillation_token, rows[1] = c->distillation_tokens;
    out[2] = p->register_tokens, rows[2] = c->register_tokens;
    out[3] = p->detection_tokens, rows[3] = detections_of(c);
}

/* Positions cover all tokens, or only the patches. Both are the last rows. */
static size_t first_position(const vit_config *c) {
    return vit_tokens(c) - c->position_rows;
}

void tokens_prefix(const vit_model *m, float *x, struct rows share) {
    const vit_config *c = &m->config;
    float *prefix[PREFIXES];
    size_t rows[PREFIXES], D = c->width, at = 0;
    prefix_tokens(prefix, rows, &m->params, c);
    for (int i = 0; i < PREFIXES; at += rows[i++]) {
        struct rows here = rows_within(share, at, rows[i]);
        if (here.count)
            memcpy(x + (at + here.first) * D, prefix[i] + here.first * D,
                   here.count * D * sizeof *x);
    }
}

void tokens_place(const vit_model *m, float *x, struct rows share, bool positions) {
    const vit_config *c = &m->config;
    size_t D = c->width;
    const float *position = m->fixed_position ? m->fixed_position : m->params.position;
    struct rows here = rows_within(share, first_position(c), c->position_rows);
    if (position && positions)
        add(x + (first_position(c) + here.first) * D, position + here.first * D, here.count * D);
    x += share.first * D;
    if (c->norm_pre)
        m->kernels->norm(x, D, NULL, NULL, x, D, m->params.norm_pre_gain, m->params.norm_pre_bias,
                         c->norm_eps, share.count, D);
}

void tokens_place_again(const vit_model *m, float *x, size_t batch, size_t block) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, count = c->position_rows * D;
    if (!mid_position_of(c) || block + 1 >= c->depth) return;
    for (size_t i = 0; i < batch; i++)
        add(x + (i * T + first_position(c)) * D, m->params.mid_position + block * count, count);
}

void tokens_backward(const vit_model *m, const struct vit_params *g, const float *dx) {
    const vit_config *c = &m->config;
    float *prefix[PREFIXES];
    const float *at = dx;
    size_t rows[PREFIXES], D = c->width;
    prefix_tokens(prefix, rows, g, c);
    for (int i = 0; i < PREFIXES; at += rows[i++] * D)
        if (rows[i]) add(prefix[i], at, rows[i] * D);
    if (g->position) add(g->position, dx + first_position(c) * D, c->position_rows * D);
}

double position_wave(size_t part, size_t whole) {
    return exponential(9.210340371976184 * (double)part / (double)whole);
}

/* sin on even, cos on odd columns; Vaswani et al., section 3.5. */
static void sincos1d(float *table, size_t T, size_t D) {
    for (size_t i = 0; i < D; i += 2) {
        double radian = position_wave(i, D);
        for (size_t t = 0; t < T; t++) {
            struct direction at = direction((double)t / radian);
            table[t * D + i] = (float)at.sine;
            if (i + 1 < D) table[t * D + i + 1] = (float)at.cosine;
        }
    }
}

/* A patch's column fills the first half of the width and its row the second, each with all sines,
 * then all cosines. */
static void sincos2d(float *table, size_t N, size_t columns, size_t D) {
    for (size_t i = 0; i < D / 4; i++) {
        double radian = position_wave(i, D / 4);
        for (size_t n = 0; n < N; n++) {
            struct direction x = direction((double)(n % columns) / radian);
            struct direction y = direction((double)(n / columns) / radian);
            float *row = table + n * D + i;
            row[0] = (float)x.sine, row[D / 4] = (float)x.cosine;
            row[D / 2] = (float)y.sine, row[D / 2 + D / 4] = (float)y.cosine;
        }
    }
}

void tokens_sincos(float *table, const vit_config *c) {
    size_t prefix = vit_prefix(c) * c->width, columns = vit_grid(c, 1);
    if (c->position == VIT_SINCOS1D) {
        sincos1d(table, vit_tokens(c), c->width);
        return;
    }
    memset(table, 0, prefix * sizeof *table);
    sincos2d(table + prefix, vit_patches(c), columns, c->width);
}
