#include "block.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "stages/linear.h"
#include "vit.h"

static size_t head_of(const vit_text_config *c) {
    return c->width / c->heads;
}

static void linear(const struct vit_kernels *k, float *y, const float *x, const float *weight,
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
    linear(k, a->qkv, in, p->qkv_weight, p->qkv_bias, VIT_LINEAR, false, rows, 3 * D, D);
    self_attention(m, c, a, run, map_stride);
    linear(k, a->self.sum, a->mixed, p->proj_weight, p->proj_bias, VIT_LINEAR, true, rows, D, D);
    branch_end(m, c, &a->self, p->norm1_gain, p->norm1_bias, rows);

    if (run->images) {
        in = branch_begin(m, c, &a->cross, p->cross_norm_gain, p->cross_norm_bias, rows);
        linear(k, a->query, in, p->cross_q_weight, p->cross_q_bias, VIT_LINEAR, false, rows, D, D);
        for (size_t b = 0; b < run->batch; b++)
            attend(k, c, a->cross_mixed + b * run->n * D,
                   a->cross_map ? a->cross_map + b * cross_stride : NULL, run->scores,
                   a->query + b * run->n * D, D, &run->images[run->each ? b : 0], run->n, 0);
        linear(k, a->cross.sum, a->cross_mixed, p->cross_proj_weight, p->cross_proj_bias,
               VIT_LINEAR, true, rows, D, D);
        branch_end(m, c, &a->cross, p->cross_norm_gain, p->cross_norm_bias, rows);
    }

    in = branch_begin(m, c, &a->mlp, p->norm2_gain, p->norm2_bias, rows);
    linear(k, a->pre ? a->pre : a->hidden, in, p->fc1_weight, p->fc1_bias,
           a->pre ? VIT_LINEAR : act, false, rows, M, D);
    if (a->pre) k->activate(a->hidden, a->pre, act, rows * M);
    linear(k, a->mlp.sum, a->hidden, p->fc2_weight, p->fc2_bias, VIT_LINEAR, true, rows, D, M);
    branch_end(m, c, &a->mlp, p->norm2_gain, p->norm2_bias, rows);
}
