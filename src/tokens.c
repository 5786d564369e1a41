/* Patch rows (N,D) → tokens (T,D): the prefix tokens in front, positions added. */
#include <math.h>
#include <string.h>

#include "model.h"

static void add(float *x, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

/* The prefix tokens in their order: each a parameter of some rows. */
enum { PREFIXES = 3 };
static void prefix_tokens(float *out[PREFIXES], size_t rows[PREFIXES], const struct vit_params *p,
                          const vit_config *c) {
    out[0] = p->class_token, rows[0] = c->class_tokens;
    out[1] = p->distillation_token, rows[1] = c->distillation_tokens;
    out[2] = p->register_tokens, rows[2] = c->register_tokens;
}

/* Positions cover all tokens, or only the patches: the last rows either way. */
static size_t first_position(const vit_config *c) {
    return (vit_tokens(c) - c->position_rows) * c->width;
}

void tokens_forward(const vit_model *m, float *x) {
    const vit_config *c = &m->config;
    float *prefix[PREFIXES];
    size_t rows[PREFIXES], D = c->width;
    float *at = x;
    prefix_tokens(prefix, rows, &m->params, c);
    for (int i = 0; i < PREFIXES; at += rows[i++] * D)
        if (rows[i]) memcpy(at, prefix[i], rows[i] * D * sizeof *x);
    const float *position = m->fixed_position ? m->fixed_position : m->params.position;
    if (position) add(x + first_position(c), position, c->position_rows * D);
}

void tokens_backward(const vit_model *m, const struct vit_params *g, const float *dx) {
    const vit_config *c = &m->config;
    float *prefix[PREFIXES];
    const float *at = dx;
    size_t rows[PREFIXES], D = c->width;
    prefix_tokens(prefix, rows, g, c);
    for (int i = 0; i < PREFIXES; at += rows[i++] * D)
        if (rows[i]) add(prefix[i], at, rows[i] * D);
    if (g->position) add(g->position, dx + first_position(c), c->position_rows * D);
}

/* sin on even, cos on odd columns; Vaswani et al., section 3.5. */
static void sincos1d(float *row, double position, size_t D) {
    for (size_t i = 0; i < D; i++) {
        double angle = position / pow(10000, (double)(i - i % 2) / (double)D);
        row[i] = (float)(i % 2 ? cos(angle) : sin(angle));
    }
}

/* All sines, then all cosines; a half of the width each for column and row. */
static void sincos_half(float *row, double position, size_t half) {
    size_t n = half / 2;
    for (size_t i = 0; i < n; i++) {
        double angle = position / pow(10000, (double)i / (double)n);
        row[i] = (float)sin(angle);
        row[n + i] = (float)cos(angle);
    }
}

void tokens_sincos(float *table, const vit_config *c) {
    size_t D = c->width, columns = c->image_size[1] / c->patch_size[1];
    if (c->position == VIT_SINCOS1D) {
        for (size_t t = 0; t < vit_tokens(c); t++) sincos1d(table + t * D, (double)t, D);
        return;
    }
    memset(table, 0, vit_prefix(c) * D * sizeof *table);
    for (size_t n = 0; n < vit_patches(c); n++) {
        float *row = table + (vit_prefix(c) + n) * D;
        sincos_half(row, (double)(n % columns), D / 2);
        sincos_half(row + D / 2, (double)(n / columns), D / 2);
    }
}
