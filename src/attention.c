/* Multi-head self-attention, Vaswani et al., section 3.2:
 * per head softmax(q·kᵀ/√d)·v, then one projection that mixes the heads. */
#include <math.h>
#include <string.h>

#include "model.h"

/* The three parts of a row of qkv (3D). */
enum { QUERY, KEY, VALUE };

void scratch_attention(struct scratch *s, struct arena *arena, const vit_model *model,
                       size_t rows) {
    const vit_config *c = &model->config;
    size_t T = vit_tokens(c), d = c->width / c->heads;
    s->keys = arena_floats(arena, model->kernels->packed_size(T, d), 1);
    s->values = arena_floats(arena, model->kernels->packed_size(d, T), 1);
    s->scores = arena_floats(arena, rows, T);
}

static bool is_per_head(const vit_config *c) {
    return c->attention == VIT_PER_HEAD;
}

/* x (rows,D) → qkv (rows,3D). per_head: each head maps its own slice by its own matrices. */
static void qkv_forward(const vit_model *m, const struct block_params *p, float *qkv,
                        const float *x, size_t rows) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, heads = m->config.heads, d = D / heads;
    if (!is_per_head(&m->config)) {
        k->matmul(qkv, 3 * D, x, D, p->qkv_weight, p->qkv_bias, VIT_LINEAR, false, rows, 3 * D, D);
        return;
    }
    for (size_t i = 0; i < 3 * heads; i++)
        k->matmul(qkv + i * d, 3 * D, x + i % heads * d, D,
                  p->qkv_weight + i * k->packed_size(d, d),
                  p->qkv_bias ? p->qkv_bias + i * d : NULL, VIT_LINEAR, false, rows, d, d);
}

static void qkv_backward(const vit_model *m, const struct block_params *p,
                         const struct block_params *g, float *dx, const float *dqkv, const float *x,
                         size_t rows, float *part) {
    size_t D = m->config.width, heads = m->config.heads, d = D / heads;
    if (!is_per_head(&m->config)) {
        linear_backward(m->kernels, dx, D, g->qkv_weight, g->qkv_bias, dqkv, 3 * D, x, D,
                        p->qkv_weight, rows, 3 * D, D);
        return;
    }
    memset(dx, 0, rows * D * sizeof *dx);
    for (size_t i = 0; i < 3 * heads; i++) {
        float *dslice = dx + i % heads * d;
        linear_backward(m->kernels, part, d, g->qkv_weight + i * d * d,
                        g->qkv_bias ? g->qkv_bias + i * d : NULL, dqkv + i * d, 3 * D,
                        x + i % heads * d, D, p->qkv_weight + i * d * d, rows, d, d);
        for (size_t t = 0; t < rows; t++)
            for (size_t j = 0; j < d; j++) dslice[t * D + j] += part[t * d + j];
    }
}

/* Layer norm of every head's query and key: Henry et al., arXiv:2010.04245, and ViT-22B. */
static void qk_norm_forward(const vit_model *m, const struct block_params *p,
                            const struct activations *a, size_t rows) {
    const vit_config *c = &m->config;
    size_t D = c->width, d = D / c->heads;
    if (a->qk_raw) memcpy(a->qk_raw, a->qkv, rows * 3 * D * sizeof *a->qkv);
    for (size_t i = 0; i < 2 * c->heads; i++) {
        bool query = i < c->heads;
        float *mean = a->qk_mean ? a->qk_mean + i * rows : NULL;
        float *rstd = a->qk_rstd ? a->qk_rstd + i * rows : NULL;
        m->kernels->norm(a->qkv + i * d, 3 * D, mean, rstd, a->qkv + i * d, 3 * D,
                         query ? p->q_norm_gain : p->k_norm_gain,
                         query ? p->q_norm_bias : p->k_norm_bias, c->norm_eps, rows, d);
    }
}

static void qk_norm_backward(const vit_model *m, const struct block_params *p,
                             const struct block_params *g, const struct activations *a, float *dqkv,
                             size_t rows) {
    const vit_config *c = &m->config;
    size_t D = c->width, d = D / c->heads;
    for (size_t i = 0; i < 2 * c->heads; i++) {
        bool query = i < c->heads;
        norm_backward(dqkv + i * d, 3 * D, query ? g->q_norm_gain : g->k_norm_gain,
                      query ? g->q_norm_bias : g->k_norm_bias, dqkv + i * d, 3 * D,
                      a->qk_raw + i * d, 3 * D, a->qk_mean + i * rows, a->qk_rstd + i * rows,
                      query ? p->q_norm_gain : p->k_norm_gain, rows, d);
    }
}

/* One head of one image: out (queries,D at the head's columns). The scores are formed for
 * ATTENTION_ROWS queries at a time, or all straight in `map` (T,T) when it is asked for. */
static void head_forward(const vit_model *m, float *out, float *map, const float *qkv,
                         size_t queries, const struct scratch *s) {
    const struct vit_kernels *k = m->kernels;
    size_t T = vit_tokens(&m->config), D = m->config.width, d = D / m->config.heads;
    size_t end = map ? T : queries;
    float scale = 1 / sqrtf((float)d);
    k->pack(s->keys, qkv + KEY * D, 3 * D, 1, T, d);
    k->pack(s->values, qkv + VALUE * D, 1, 3 * D, d, T);
    for (size_t first = 0; first < end; first += ATTENTION_ROWS) {
        size_t rows = end - first < ATTENTION_ROWS ? end - first : ATTENTION_ROWS;
        float *scores = map ? map + first * T : s->scores;
        k->matmul(scores, T, qkv + QUERY * D + first * 3 * D, 3 * D, s->keys, NULL, VIT_LINEAR,
                  false, rows, T, d);
        k->softmax(scores, T, scale, rows, T);
        if (first >= queries) continue;
        if (rows > queries - first) rows = queries - first;
        k->matmul(out + first * D, D, scores, T, s->values, NULL, VIT_LINEAR, false, rows, d, T);
    }
}

/* dqkv's three slices of one head from dout, by the chain rule through softmax:
 * dscores = p ∘ (dp - Σ dp∘p). */
static void head_backward(const vit_model *m, float *dqkv, const float *dout, const float *map,
                          const float *qkv, float *dscores) {
    const struct vit_kernels *k = m->kernels;
    size_t T = vit_tokens(&m->config), D = m->config.width, d = D / m->config.heads, ld = 3 * D;
    float scale = 1 / sqrtf((float)d);
    k->gemm(dqkv + VALUE * D, ld, map, T, true, dout, D, false, 1, 0, T, d, T);
    k->gemm(dscores, T, dout, D, false, qkv + VALUE * D, ld, true, 1, 0, T, T, d);
    for (size_t i = 0; i < T; i++) {
        const float *row = map + i * T;
        float *drow = dscores + i * T, sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t j = 0; j < T; j++) sum += drow[j] * row[j];
#pragma omp simd
        for (size_t j = 0; j < T; j++) drow[j] = row[j] * (drow[j] - sum);
    }
    k->gemm(dqkv + QUERY * D, ld, dscores, T, false, qkv + KEY * D, ld, false, scale, 0, T, d, T);
    k->gemm(dqkv + KEY * D, ld, dscores, T, true, qkv + QUERY * D, ld, false, scale, 0, T, d, T);
}

void attention_forward(const vit_model *m, const struct block_params *p, const float *x,
                       const struct activations *a, const struct scratch *s, size_t batch) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, d = D / c->heads;
    qkv_forward(m, p, a->qkv, x, batch * T);
    if (c->qk_norm) qk_norm_forward(m, p, a, batch * T);
    for (size_t i = 0; i < batch; i++)
        for (size_t head = 0; head < c->heads; head++) {
            float *map = a->map ? a->map + i * a->map_stride + head * T * T : NULL;
            head_forward(m, a->mixed + i * a->queries * D + head * d, map,
                         a->qkv + i * T * 3 * D + head * d, a->queries, s);
        }
}

void projection_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                        const float *mixed, size_t rows) {
    size_t D = m->config.width;
    if (!is_per_head(&m->config)) {
        m->kernels->matmul(y, D, mixed, D, p->proj_weight, p->proj_bias, VIT_LINEAR, add, rows, D,
                           D);
        return;
    }
    for (size_t i = 0; i < rows * D; i++) y[i] = mixed[i] + (add ? y[i] : 0);
}

void attention_backward(const vit_model *m, const struct block_params *p,
                        const struct block_params *g, float *dx, const float *dy, const float *x,
                        const struct activations *a, const struct scratch *s, size_t batch) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, d = D / c->heads, rows = batch * T;
    if (!is_per_head(c)) {
        linear_backward(m->kernels, s->dmixed, D, g->proj_weight, g->proj_bias, dy, D, a->mixed, D,
                        p->proj_weight, rows, D, D);
        dy = s->dmixed;
    }
    for (size_t i = 0; i < batch; i++)
        for (size_t head = 0; head < c->heads; head++) {
            size_t at = i * T * D + head * d, qkv_at = i * T * 3 * D + head * d;
            head_backward(m, s->dqkv + qkv_at, dy + at, a->map + i * a->map_stride + head * T * T,
                          a->qkv + qkv_at, s->scores);
        }
    if (c->qk_norm) qk_norm_backward(m, p, g, a, s->dqkv, rows);
    qkv_backward(m, p, g, dx, s->dqkv, x, rows, s->dmixed);
}
