#include "block.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "stages/linear.h"
#include "stages/norm.h"
#include "vit.h"

static size_t head_of(const vit_text_config *c) {
    return c->width / c->heads;
}

void text_linear(const struct vit_kernels *k, float *y, const float *x, const float *weight,
                 const float *bias, int act, bool add, size_t rows, size_t N, size_t K) {
    const struct linear w = {weight, NULL, bias, N, K};
    linear_forward(k, y, N, x, K, &w, act, add, rows, NULL);
}

/* ---- Keys and values ------------------------------------------------------ */

struct text_memory text_memory_at(float *floats, const struct vit_kernels *k,
                                  const vit_text_config *c, size_t rows) {
    size_t keys = matrix_floats(k, false, rows, head_of(c));
    size_t values = matrix_floats(k, false, head_of(c), rows);
    return (struct text_memory){floats, floats ? floats + c->heads * keys : NULL, keys, values,
                                rows};
}

size_t text_memory_floats(const struct vit_kernels *k, const vit_text_config *c, size_t rows) {
    struct text_memory each = text_memory_at(NULL, k, c, rows);
    return size_times(c->heads, size_plus(each.keys_each, each.values_each));
}

void text_memorise(const struct text_memory *memory, const struct vit_kernels *k,
                   const vit_text_config *c, const float *keys, const float *values,
                   size_t stride) {
    size_t d = head_of(c);
    for (size_t head = 0; head < c->heads; head++) {
        k->pack(memory->keys + head * memory->keys_each, keys + head * d, stride, 1, memory->rows,
                d);
        k->pack(memory->values + head * memory->values_each, values + head * d, 1, stride, d,
                memory->rows);
    }
}

/* ---- Attention ------------------------------------------------------------ */

/* q (n,D) → map (h,n,rows), mixed (n,D). Query i sees the first `visible` + i rows; 0: all. scores:
 * where a head's map goes if `map` is NULL. */
static void attend(const struct vit_kernels *k, const vit_text_config *c, float *mixed, float *map,
                   float *scores, const float *q, size_t ldq, const struct text_memory *memory,
                   size_t n, size_t visible) {
    size_t d = head_of(c), D = c->width, rows = memory->rows;
    float scale = 1 / sqrtf((float)d);
    for (size_t head = 0; head < c->heads; head++) {
        float *s = map ? map + head * n * rows : scores;
        k->matmul(s, rows, q + head * d, ldq, memory->keys + head * memory->keys_each, NULL,
                  VIT_LINEAR, false, n, rows, d);
        if (!visible) k->softmax(s, rows, scale, n, rows);
        for (size_t i = 0; visible && i < n; i++) {
            k->softmax(s + i * rows, rows, scale, 1, visible + i);
            memset(s + i * rows + visible + i, 0, (rows - visible - i) * sizeof *s);
        }
        k->matmul(mixed + head * d, D, s, rows, memory->values + head * memory->values_each, NULL,
                  VIT_LINEAR, false, n, d, rows);
    }
}

/* Each text's queries attend to its own tokens, before and in this run. */
static void self_attention(const vit_model *m, const vit_text_config *c,
                           const struct text_activations *a, const struct text_run *run,
                           size_t map_stride) {
    size_t D = c->width, n = run->n;
    for (size_t b = 0; b < run->batch; b++) {
        const float *qkv = a->qkv + b * n * 3 * D;
        float *keys = run->cache + b * 2 * run->capacity * D, *values = keys + run->capacity * D;
        for (size_t i = 0; i < n; i++) {
            memcpy(keys + (run->past + i) * D, qkv + i * 3 * D + D, D * sizeof *keys);
            memcpy(values + (run->past + i) * D, qkv + i * 3 * D + 2 * D, D * sizeof *values);
        }
        struct text_memory own = text_memory_at(run->own.keys, m->kernels, c, run->past + n);
        text_memorise(&own, m->kernels, c, keys, values, D);
        attend(m->kernels, c, a->mixed + b * n * D, a->map ? a->map + b * map_stride : NULL,
               run->scores, qkv, 3 * D, &own, n, c->mask == VIT_MASK_CAUSAL ? run->past + 1 : 0);
    }
}

/* ---- Branches ------------------------------------------------------------- */

/* → what the branch's layer reads; puts x where its output is added. */
static const float *branch_begin(const vit_model *m, const vit_text_config *c,
                                 const struct text_branch *b, const float *gain, const float *bias,
                                 size_t rows) {
    size_t D = c->width;
    if (b->sum != b->x) memcpy(b->sum, b->x, rows * D * sizeof *b->x);
    if (c->norm == VIT_POST) return b->x;
    m->kernels->norm(b->normed, D, b->mean, b->rstd, b->x, D, gain, bias, c->norm_eps, rows, D);
    return b->normed;
}

static void branch_end(const vit_model *m, const vit_text_config *c, const struct text_branch *b,
                       const float *gain, const float *bias, size_t rows) {
    size_t D = c->width;
    if (c->norm == VIT_POST)
        m->kernels->norm(b->out, D, b->mean, b->rstd, b->sum, D, gain, bias, c->norm_eps, rows, D);
}

void text_block_forward(const vit_model *m, const vit_text_config *c,
                        const struct text_block_params *p, const struct text_activations *a,
                        const struct text_run *run, size_t map_stride, size_t cross_stride) {
    const struct vit_kernels *k = m->kernels;
    size_t D = c->width, M = c->mlp_width, rows = run->batch * run->n;
    int act = (int)c->activation;

    const float *in = branch_begin(m, c, &a->self, p->norm1_gain, p->norm1_bias, rows);
    text_linear(k, a->qkv, in, p->qkv_weight, p->qkv_bias, VIT_LINEAR, false, rows, 3 * D, D);
    self_attention(m, c, a, run, map_stride);
    text_linear(k, a->self.sum, a->mixed, p->proj_weight, p->proj_bias, VIT_LINEAR, true, rows, D,
                D);
    branch_end(m, c, &a->self, p->norm1_gain, p->norm1_bias, rows);

    if (run->images) {
        in = branch_begin(m, c, &a->cross, p->cross_norm_gain, p->cross_norm_bias, rows);
        text_linear(k, a->query, in, p->cross_q_weight, p->cross_q_bias, VIT_LINEAR, false, rows, D,
                    D);
        for (size_t b = 0; b < run->batch; b++)
            attend(k, c, a->cross_mixed + b * run->n * D,
                   a->cross_map ? a->cross_map + b * cross_stride : NULL, run->scores,
                   a->query + b * run->n * D, D, &run->images[run->each ? b : 0], run->n, 0);
        text_linear(k, a->cross.sum, a->cross_mixed, p->cross_proj_weight, p->cross_proj_bias,
                    VIT_LINEAR, true, rows, D, D);
        branch_end(m, c, &a->cross, p->cross_norm_gain, p->cross_norm_bias, rows);
    }

    in = branch_begin(m, c, &a->mlp, p->norm2_gain, p->norm2_bias, rows);
    text_linear(k, a->pre ? a->pre : a->hidden, in, p->fc1_weight, p->fc1_bias,
                a->pre ? VIT_LINEAR : act, false, rows, M, D);
    if (a->pre) k->activate(a->hidden, a->pre, act, rows * M);
    text_linear(k, a->mlp.sum, a->hidden, p->fc2_weight, p->fc2_bias, VIT_LINEAR, true, rows, D, M);
    branch_end(m, c, &a->mlp, p->norm2_gain, p->norm2_bias, rows);
}

/* ---- Backward ------------------------------------------------------------- */

/* Rows of queries, keys and values, or of their gradients. */
struct rows_of_heads {
    float *q, *k, *v;
    size_t q_stride, kv_stride;
};

/* dmixed (n,D) → the gradients of q (n,D) and of k and v (R,D). dscores: scratch (n,R). */
static void attend_backward(const struct vit_kernels *kernels, const vit_text_config *c,
                            const struct rows_of_heads *d, const struct rows_of_heads *from,
                            const float *dmixed, const float *map, float *dscores, size_t n,
                            size_t R) {
    size_t width = head_of(c), D = c->width, lq = d->q_stride, lkv = d->kv_stride;
    float scale = 1 / sqrtf((float)width);
    for (size_t head = 0, at = 0; head < c->heads; head++, at += width, map += n * R) {
        const float *dout = dmixed + at;
        kernels->gemm(d->v + at, lkv, map, R, true, dout, D, false, 1, 0, R, width, n);
        kernels->gemm(dscores, R, dout, D, false, from->v + at, lkv, true, 1, 0, n, R, width);
        for (size_t i = 0; i < n; i++) {
            const float *row = map + i * R;
            float *drow = dscores + i * R, sum = 0;
            for (size_t j = 0; j < R; j++) sum += drow[j] * row[j];
            for (size_t j = 0; j < R; j++) drow[j] = row[j] * (drow[j] - sum);
        }
        kernels->gemm(d->q + at, lq, dscores, R, false, from->k + at, lkv, false, scale, 0, n,
                      width, R);
        kernels->gemm(d->k + at, lkv, dscores, R, true, from->q + at, lq, false, scale, 0, R, width,
                      n);
    }
}

/* dx, the gradient of a branch's output → of the sum before a norm that comes after. */
static void branch_back_begin(const vit_text_config *c, const struct text_branch *b,
                              const float *gain, float *dgain, float *dbias, float *dx,
                              size_t rows) {
    size_t D = c->width;
    if (c->norm == VIT_POST)
        norm_backward(dx, D, dgain, dbias, dx, D, b->sum, D, b->mean, b->rstd, gain, rows, D);
}

/* dbranch, the gradient of what the branch's layer reads, is added to dx. */
static void branch_back_end(const vit_text_config *c, const struct text_branch *b,
                            const float *gain, float *dgain, float *dbias, float *dx,
                            float *dbranch, size_t rows) {
    size_t D = c->width;
    if (c->norm == VIT_PRE)
        norm_backward(dbranch, D, dgain, dbias, dbranch, D, b->x, D, b->mean, b->rstd, gain, rows,
                      D);
    for (size_t i = 0; i < rows * D; i++) dx[i] += dbranch[i];
}

/* What the branch's layer read. */
static const float *branch_input(const vit_text_config *c, const struct text_branch *b) {
    return c->norm == VIT_PRE ? b->normed : b->x;
}

void text_linear_backward(const struct vit_kernels *k, float *dx, float *dw, float *dbias,
                          const float *dy, const float *x, const float *w, size_t rows, size_t N,
                          size_t K) {
    linear_backward(k, dx, K, dw, dbias, dy, N, x, K, w, rows, N, K);
}

static void cross_backward(const vit_model *m, const vit_text_config *c,
                           const struct text_block_params *p, const struct text_block_params *g,
                           const struct text_activations *a, const struct text_gradients *s,
                           size_t batch, size_t S, const float *images, float *dimages, size_t T,
                           size_t E) {
    size_t D = c->width, rows = batch * S;
    text_linear_backward(m->kernels, s->dmixed, g->cross_proj_weight, g->cross_proj_bias, s->dx,
                         a->cross_mixed, p->cross_proj_weight, rows, D, D);
    for (size_t b = 0; b < batch; b++) {
        float *pairs = a->pairs + b * T * 2 * D, *dimage = dimages + b * T * E;
        const struct rows_of_heads from = {a->query + b * S * D, pairs, pairs + D, D, 2 * D};
        const struct rows_of_heads d = {s->dqkv + b * S * D, s->dpairs, s->dpairs + D, D, 2 * D};
        attend_backward(m->kernels, c, &d, &from, s->dmixed + b * S * D,
                        a->cross_map + b * c->heads * S * T, s->dscores, S, T);
        text_linear_backward(m->kernels, s->dimage, g->cross_kv_weight, g->cross_kv_bias, s->dpairs,
                             images + b * T * E, p->cross_kv_weight, T, 2 * D, E);
        for (size_t i = 0; i < T * E; i++) dimage[i] += s->dimage[i];
    }
    text_linear_backward(m->kernels, s->dbranch, g->cross_q_weight, g->cross_q_bias, s->dqkv,
                         branch_input(c, &a->cross), p->cross_q_weight, rows, D, D);
}

static void self_backward(const vit_model *m, const vit_text_config *c,
                          const struct text_block_params *p, const struct text_block_params *g,
                          const struct text_activations *a, const struct text_gradients *s,
                          size_t batch, size_t S) {
    size_t D = c->width, rows = batch * S;
    text_linear_backward(m->kernels, s->dmixed, g->proj_weight, g->proj_bias, s->dx, a->mixed,
                         p->proj_weight, rows, D, D);
    for (size_t b = 0; b < batch; b++) {
        float *qkv = a->qkv + b * S * 3 * D, *dqkv = s->dqkv + b * S * 3 * D;
        const struct rows_of_heads from = {qkv, qkv + D, qkv + 2 * D, 3 * D, 3 * D};
        const struct rows_of_heads d = {dqkv, dqkv + D, dqkv + 2 * D, 3 * D, 3 * D};
        attend_backward(m->kernels, c, &d, &from, s->dmixed + b * S * D,
                        a->map + b * c->heads * S * S, s->dscores, S, S);
    }
    text_linear_backward(m->kernels, s->dbranch, g->qkv_weight, g->qkv_bias, s->dqkv,
                         branch_input(c, &a->self), p->qkv_weight, rows, 3 * D, D);
}

void text_block_backward(const vit_model *m, const vit_text_config *c,
                         const struct text_block_params *p, const struct text_block_params *g,
                         const struct text_activations *a, const struct text_gradients *s,
                         size_t batch, size_t S, const float *images, float *dimages, size_t T,
                         size_t E) {
    size_t D = c->width, M = c->mlp_width, rows = batch * S;
    float *dx = s->dx;
    branch_back_begin(c, &a->mlp, p->norm2_gain, g->norm2_gain, g->norm2_bias, dx, rows);
    text_linear_backward(m->kernels, s->dhidden, g->fc2_weight, g->fc2_bias, dx, a->hidden,
                         p->fc2_weight, rows, D, M);
    m->kernels->activate_backward(s->dhidden, s->dhidden, a->pre, (int)c->activation, rows * M);
    text_linear_backward(m->kernels, s->dbranch, g->fc1_weight, g->fc1_bias, s->dhidden,
                         branch_input(c, &a->mlp), p->fc1_weight, rows, M, D);
    branch_back_end(c, &a->mlp, p->norm2_gain, g->norm2_gain, g->norm2_bias, dx, s->dbranch, rows);

    branch_back_begin(c, &a->cross, p->cross_norm_gain, g->cross_norm_gain, g->cross_norm_bias, dx,
                      rows);
    cross_backward(m, c, p, g, a, s, batch, S, images, dimages, T, E);
    branch_back_end(c, &a->cross, p->cross_norm_gain, g->cross_norm_gain, g->cross_norm_bias, dx,
                    s->dbranch, rows);

    branch_back_begin(c, &a->self, p->norm1_gain, g->norm1_gain, g->norm1_bias, dx, rows);
    self_backward(m, c, p, g, a, s, batch, S);
    branch_back_end(c, &a->self, p->norm1_gain, g->norm1_gain, g->norm1_bias, dx, s->dbranch, rows);
}
