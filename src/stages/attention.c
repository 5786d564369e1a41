/* Multi-head self-attention, Vaswani et al., section 3.2:
 * per head softmax(q·kᵀ/√d + bias)·v, then one projection that mixes the heads. With relative
 * positions the bias is that of Liu et al., arXiv:2103.14030, section 3.2; else it is 0. */
#include "attention.h"

#include <math.h>
#include <string.h>

#include "activations.h"
#include "base/arena.h"
#include "base/team.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "model.h"
#include "norm.h"
#include "params.h"
#include "rotary.h"
#include "shapes.h"
#include "trace.h"
#include "vit.h"

/* The three parts of a row of qkv (3A). */
enum { QUERY, KEY, VALUE };

void scratch_attention(struct scratch *s, struct arena *arena, const vit_model *model,
                       size_t rows) {
    const vit_config *c = &model->config;
    size_t T = vit_tokens(c), d = head_width(c);
    s->keys = arena_floats(arena, matrix_floats(model->kernels, false, T, d));
    s->values = arena_floats(arena, matrix_floats(model->kernels, false, d, T));
    s->scores = arena_floats(arena, rows, T);
    s->relative = arena_floats(arena, position_of(c) == VIT_RELATIVE ? relative_rows(c) : 0);
}

static bool is_per_head(const vit_config *c) {
    return c->attention == VIT_PER_HEAD;
}

/* x (rows,D) → `parts` of the three parts of qkv (rows,3A), from `part` on. per_head: each head has
 * matrices of its own, for its own slice of x. */
static void map_rows(const vit_model *m, const struct block_params *p, float *qkv, const float *x,
                     const struct vit_quantized *q, size_t rows, size_t part, size_t parts) {
    const struct vit_kernels *k = m->kernels;
    bool per_head = is_per_head(&m->config), int8 = p->qkv_scale != NULL;
    size_t D = m->config.width, heads = per_head ? m->config.heads : 1, K = D / heads;
    size_t A = attention_width(&m->config);
    size_t N = per_head ? K : parts * A, count = per_head ? parts * heads : 1;
    for (size_t i = 0, n = part * A; i < count; i++, n += N) {
        const float *weight = p->qkv_weight + (per_head ? n / K * matrix_floats(k, int8, K, K)
                                               : int8   ? k->packed_size_int8(n, K) / sizeof(float)
                                                        : k->packed_size(n, K));
        const struct linear w = {weight, int8 ? p->qkv_scale + n : NULL,
                                 p->qkv_bias ? p->qkv_bias + n : NULL, N, K};
        linear_forward(k, qkv + n, 3 * A, x + i % heads * K, D, &w, VIT_LINEAR, false, rows, q);
    }
}

static void qkv_backward(const vit_model *m, const struct block_params *p,
                         const struct block_params *g, float *dx, const float *dqkv, const float *x,
                         size_t rows, float *part) {
    size_t D = m->config.width, heads = m->config.heads, A = attention_width(&m->config);
    size_t d = head_width(&m->config), matrix = matrix_floats(m->kernels, false, d, d);
    if (!is_per_head(&m->config)) {
        linear_backward(m->kernels, dx, D, g->qkv_weight, g->qkv_bias, dqkv, 3 * A, x, D,
                        p->qkv_weight, rows, 3 * A, D);
        return;
    }
    memset(dx, 0, rows * D * sizeof *dx);
    for (size_t i = 0; i < 3 * heads; i++) {
        float *dslice = dx + i % heads * d;
        linear_backward(m->kernels, part, d, g->qkv_weight ? g->qkv_weight + i * matrix : NULL,
                        g->qkv_bias ? g->qkv_bias + i * d : NULL, dqkv + i * d, 3 * D,
                        x + i % heads * d, D, p->qkv_weight + i * matrix, rows, d, d);
        for (size_t t = 0; t < rows; t++)
            for (size_t j = 0; j < d; j++) dslice[t * D + j] += part[t * d + j];
    }
}

/* Layer norm of every head's query and key: Henry et al., arXiv:2010.04245, and ViT-22B. */
static void qk_norm_forward(const vit_model *m, const struct block_params *p,
                            const struct activations *a, size_t rows) {
    const vit_config *c = &m->config;
    size_t A = attention_width(c), d = head_width(c);
    if (a->qk_raw) memcpy(a->qk_raw, a->qkv, rows * 3 * A * sizeof *a->qkv);
    for (size_t i = 0; i < 2 * c->heads; i++) {
        bool query = i < c->heads;
        float *mean = a->qk_mean ? a->qk_mean + i * rows : NULL;
        float *rstd = a->qk_rstd ? a->qk_rstd + i * rows : NULL;
        m->kernels->norm(a->qkv + i * d, 3 * A, mean, rstd, a->qkv + i * d, 3 * A,
                         query ? p->q_norm_gain : p->k_norm_gain,
                         query ? p->q_norm_bias : p->k_norm_bias, c->norm_eps, rows, d);
    }
}

static void qk_norm_backward(const vit_model *m, const struct block_params *p,
                             const struct block_params *g, const struct activations *a, float *dqkv,
                             size_t rows) {
    const vit_config *c = &m->config;
    size_t A = attention_width(c), d = head_width(c);
    for (size_t i = 0; i < 2 * c->heads; i++) {
        bool query = i < c->heads;
        norm_backward(dqkv + i * d, 3 * A, query ? g->q_norm_gain : g->k_norm_gain,
                      query ? g->q_norm_bias : g->k_norm_bias, dqkv + i * d, 3 * A,
                      a->qk_raw + i * d, 3 * A, a->qk_mean + i * rows, a->qk_rstd + i * rows,
                      query ? p->q_norm_gain : p->k_norm_gain, rows, d);
    }
}

/* Puts the caller's rows in place of a head's queries, keys or values. */
static void replace_rows(const vit_model *m, float *qkv, const struct block_run *run,
                         struct rows share) {
    size_t T = vit_tokens(&m->config), A = attention_width(&m->config), d = head_width(&m->config);
    for (size_t i = 0; i < run->replaced_count; i++) {
        const vit_replacement *r = &run->replaced[i];
        if (r->layer != run->layer) continue;
        for (size_t t = 0; t < share.count; t++)
            memcpy(qkv + (t * 3 + r->part) * A + r->head * d, r->rows + (share.first + t) % T * d,
                   d * sizeof *qkv);
    }
}

/* Stops the gradient at replaced rows, which do not depend on the block's input. */
static void stop_at_replaced(const vit_model *m, float *dqkv, const struct block_run *run) {
    size_t T = vit_tokens(&m->config), A = attention_width(&m->config), d = head_width(&m->config);
    for (size_t i = 0; i < run->replaced_count; i++) {
        const vit_replacement *r = &run->replaced[i];
        if (r->layer != run->layer) continue;
        for (size_t t = 0; t < run->batch * T; t++)
            memset(dqkv + (t * 3 + r->part) * A + r->head * d, 0, d * sizeof *dqkv);
    }
}

void qkv_forward(const vit_model *m, const struct block_params *p, const float *x,
                 const struct activations *a, const struct scratch *s, const struct block_run *run,
                 struct rows share) {
    size_t T = vit_tokens(&m->config), D = m->config.width, A = attention_width(&m->config);
    /* If few tokens continue, few queries are needed. They are left out only if A is a multiple
     * of VIT_INT8_ROWS: then the rest of the packed matrix is a packed matrix of its own. */
    bool all = run->queries == T || run->map_rows == T || (qk_norm_of(&m->config) && a->qk_raw) ||
               A % VIT_INT8_ROWS;
    map_rows(m, p, a->qkv, x, &s->quantized, share.count, all ? QUERY : KEY, all ? 3 : 2);
    for (size_t i = 0; i < run->batch && !all; i++) {
        struct rows here = rows_within(share, i * T, run->queries);
        if (!here.count) continue;
        size_t at = i * T + here.first - share.first;
        map_rows(m, p, a->qkv + at * 3 * A, x + at * D, &s->quantized, here.count, QUERY, 1);
    }
    if (qk_norm_of(&m->config)) qk_norm_forward(m, p, a, share.count);
    if (position_of(&m->config) == VIT_ROTARY && !run->no_positions)
        rotary_turn(m, p->frequencies, a->qkv, share, 1);
    replace_rows(m, a->qkv, run, share);
}

/* ---- Relative positions ------------------------------------------------- */

/* The table (R,h) has a row for every offset of a query's patch from a key's patch. Offsets of
 * rows go from -(rows-1) up; within each, offsets of columns go from -(columns-1) up. With prefix
 * tokens three more rows follow: from the prefix to patches, from patches to the prefix, and within
 * the prefix. BEiT's code and timm's RelPosBias have the same order. Scratch (R) holds one head's
 * biases in reverse, so those of the prefix come first, and the biases for a grid row of keys lie
 * side by side. */
enum { IN_PREFIX, TO_PREFIX, FROM_PREFIX, PREFIX_BIASES };

/* `scale`: softmax will divide the scores by it. */
static void relative_read(float *bias, const float *table, size_t R, size_t heads, float scale) {
    for (size_t i = 0; i < R; i++) bias[i] = table[(R - 1 - i) * heads] * scale;
}

/* Where a query's biases for the keys in the grid's first row begin. The biases for the next row
 * begin 2·columns-1 further on. */
static size_t relative_first(const vit_config *c, size_t patch) {
    size_t rows = vit_grid(c, 0), columns = vit_grid(c, 1);
    size_t row = rows - 1 - patch / columns, column = columns - 1 - patch % columns;
    return (vit_prefix(c) ? PREFIX_BIASES : 0) + row * (2 * columns - 1) + column;
}

/* scores (rows,T) += bias, for `rows` queries from `from` on. */
static void relative_forward(float *scores, const float *bias, const vit_config *c, size_t from,
                             size_t rows) {
    size_t T = vit_tokens(c), prefix = vit_prefix(c), columns = vit_grid(c, 1);
    for (size_t query = from; query < from + rows; query++, scores += T) {
        bool patch = query >= prefix;
        for (size_t i = 0; i < prefix; i++) scores[i] += bias[patch ? TO_PREFIX : IN_PREFIX];
        for (size_t i = prefix; !patch && i < T; i++) scores[i] += bias[FROM_PREFIX];
        if (!patch) continue;
        const float *near = bias + relative_first(c, query - prefix);
        for (size_t at = prefix; at < T; at += columns, near += 2 * columns - 1)
            for (size_t i = 0; i < columns; i++) scores[at + i] += near[i];
    }
}

/* A bias's gradient is the sum of the gradients of its scores (queries,T). Adds it to the table's
 * column. */
static void relative_backward(float *table, float *bias, const float *scores, size_t queries,
                              const vit_config *c) {
    size_t T = vit_tokens(c), prefix = vit_prefix(c), columns = vit_grid(c, 1);
    size_t R = relative_rows(c);
    memset(bias, 0, R * sizeof *bias);
    for (size_t query = 0; query < queries; query++, scores += T) {
        bool patch = query >= prefix;
        for (size_t i = 0; i < prefix; i++) bias[patch ? TO_PREFIX : IN_PREFIX] += scores[i];
        for (size_t i = prefix; !patch && i < T; i++) bias[FROM_PREFIX] += scores[i];
        if (!patch) continue;
        float *near = bias + relative_first(c, query - prefix);
        for (size_t at = prefix; at < T; at += columns, near += 2 * columns - 1)
            for (size_t i = 0; i < columns; i++) near[i] += scores[at + i];
    }
    for (size_t i = 0; i < R; i++) table[(R - 1 - i) * c->heads] += bias[i];
}

/* ---- Heads -------------------------------------------------------------- */

/* `rows` rows, from `from` on, of one head of one image, ATTENTION_ROWS at a time. The head's keys
 * and values are packed. The scores go straight into `map` (T,T) unless that is NULL, and before
 * the softmax into `raw` unless that is NULL; then the weighted values into `out`, the head's
 * columns of (T,A), unless that is NULL. bias: the head's, times √d, or NULL. */
static void head_forward(const vit_model *m, float *out, float *map, float *raw, const float *qkv,
                         const float *bias, size_t from, size_t rows, const struct scratch *s) {
    const struct vit_kernels *k = m->kernels;
    size_t T = vit_tokens(&m->config), A = attention_width(&m->config), d = head_width(&m->config);
    float scale = 1 / sqrtf((float)d);
    for (size_t end = from + rows; from < end; from += rows) {
        rows = end - from < ATTENTION_ROWS ? end - from : ATTENTION_ROWS;
        float *scores = map ? map + from * T : s->scores;
        k->matmul(scores, T, qkv + QUERY * A + from * 3 * A, 3 * A, s->keys, NULL, VIT_LINEAR,
                  false, rows, T, d);
        if (bias) relative_forward(scores, bias, &m->config, from, rows);
        for (size_t i = 0; raw && i < rows * T; i++) raw[from * T + i] = scores[i] * scale;
        k->softmax(scores, T, scale, rows, T);
        if (out)
            k->matmul(out + from * A, A, scores, T, s->values, NULL, VIT_LINEAR, false, rows, d, T);
    }
}

/* head_forward for every head. `continues`: these rows are among the image's queries. */
static void image_forward(const vit_model *m, const struct block_params *p,
                          const struct activations *a, const struct scratch *s,
                          const struct block_run *run, size_t image, size_t from, size_t rows,
                          bool continues) {
    const struct vit_kernels *k = m->kernels;
    size_t T = vit_tokens(&m->config), heads = m->config.heads, d = head_width(&m->config);
    size_t A = heads * d;
    for (size_t head = 0; head < heads; head++) {
        const float *qkv = a->qkv + image * T * 3 * A + head * d;
        size_t at = image * run->map_stride + head * run->map_each;
        float *map = a->map ? a->map + at : NULL, *raw = a->raw ? a->raw + at : NULL;
        bool relative = position_of(&m->config) == VIT_RELATIVE && !run->no_positions;
        const float *bias = relative ? p->relative_bias : NULL;
        float *out = continues ? a->mixed + image * run->queries * A + head * d : NULL;
        k->pack(s->keys, qkv + KEY * A, 3 * A, 1, T, d);
        if (out) k->pack(s->values, qkv + VALUE * A, 1, 3 * A, d, T);
        if (bias)
            relative_read(s->relative, bias + head, relative_rows(&m->config), heads,
                          sqrtf((float)d));
        head_forward(m, out, map, raw, qkv, bias ? s->relative : NULL, from, rows, s);
        if (!out || !run->no_head || !run->no_head[head]) continue;
        for (size_t t = from; t < from + rows; t++) memset(out + t * A, 0, d * sizeof *out);
    }
}

/* dout (queries,d) → one head's three slices of dqkv. The chain rule through softmax is
 * dscores (queries,T) = p ∘ (dp - Σ dp∘p). dscores is the bias's gradient too. Adds the positive
 * part of dp∘p to `relevance` (T,T) unless that is NULL. */
static void head_backward(const vit_model *m, float *dqkv, const float *dout, const float *map,
                          const float *qkv, float *dscores, float *relevance, size_t queries) {
    const struct vit_kernels *k = m->kernels;
    size_t T = vit_tokens(&m->config), A = attention_width(&m->config), d = head_width(&m->config);
    size_t ld = 3 * A;
    float scale = 1 / sqrtf((float)d);
    k->gemm(dqkv + VALUE * A, ld, map, T, true, dout, A, false, 1, 0, T, d, queries);
    k->gemm(dscores, T, dout, A, false, qkv + VALUE * A, ld, true, 1, 0, queries, T, d);
    for (size_t i = 0; relevance && i < queries * T; i++) {
        float part = dscores[i] * map[i];
        relevance[i] += part < 0 ? 0 : part; /* NaN stays */
    }
    for (size_t i = 0; i < queries; i++) {
        const float *row = map + i * T;
        float *drow = dscores + i * T, sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t j = 0; j < T; j++) sum += drow[j] * row[j];
#pragma omp simd
        for (size_t j = 0; j < T; j++) drow[j] = row[j] * (drow[j] - sum);
    }
    k->gemm(dqkv + QUERY * A, ld, dscores, T, false, qkv + KEY * A, ld, false, scale, 0, queries, d,
            T);
    k->gemm(dqkv + KEY * A, ld, dscores, T, true, qkv + QUERY * A, ld, false, scale, 0, T, d,
            queries);
    for (size_t i = queries; i < T; i++) memset(dqkv + QUERY * A + i * ld, 0, d * sizeof *dqkv);
}

/* A share of the rows first…first+each-1 of all images, counted image after image. */
static void share_forward(const vit_model *m, const struct block_params *p,
                          const struct activations *a, const struct scratch *s,
                          const struct block_run *run, size_t first, size_t each,
                          struct rows share) {
    for (size_t i = 0; i < run->batch; i++) {
        struct rows here = rows_within(share, i * each, each);
        if (here.count)
            image_forward(m, p, a, s, run, i, first + here.first, here.count, first == 0);
    }
}

void attention_forward(const vit_model *m, const struct block_params *p,
                       const struct activations *a, const struct scratch *s,
                       const struct block_run *run, size_t part, size_t parts) {
    size_t batch = run->batch, queries = run->queries;
    size_t others = run->map_rows > queries ? run->map_rows - queries : 0;
    share_forward(m, p, a, s, run, 0, queries, rows_part(batch, queries, part, parts));
    if (others)
        share_forward(m, p, a, s, run, queries, others, rows_part(batch, others, part, parts));
}

void projection_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                        const float *mixed, const struct scratch *s, size_t rows) {
    size_t D = m->config.width, A = attention_width(&m->config);
    if (!is_per_head(&m->config)) {
        const struct linear proj = {p->proj_weight, p->proj_scale, p->proj_bias, D, A};
        linear_forward(m->kernels, y, D, mixed, A, &proj, VIT_LINEAR, add, rows, &s->quantized);
        return;
    }
    for (size_t i = 0; i < rows * D; i++) y[i] = mixed[i] + (add ? y[i] : 0);
}

void attention_backward(const vit_model *m, const struct block_params *p,
                        const struct block_params *g, float *dx, const float *dy, const float *x,
                        const struct activations *a, const struct scratch *s,
                        const struct block_run *run) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, A = attention_width(c), d = head_width(c);
    size_t batch = run->batch, rows = batch * T, queries = run->queries;
    if (!is_per_head(c)) {
        linear_backward(m->kernels, s->dmixed, A, g->proj_weight, g->proj_bias, dy, D, a->mixed, A,
                        p->proj_weight, batch * queries, D, A);
        dy = s->dmixed;
    }
    for (size_t i = 0; i < batch; i++)
        for (size_t head = 0; head < c->heads; head++) {
            size_t at = i * queries * A + head * d, qkv_at = i * T * 3 * A + head * d;
            if (run->no_head && run->no_head[head]) {
                for (size_t t = 0; t < 3 * T; t++)
                    memset(s->dqkv + qkv_at + t * A, 0, d * sizeof *s->dqkv);
                continue;
            }
            head_backward(m, s->dqkv + qkv_at, dy + at,
                          a->map + i * run->map_stride + head * run->map_each, a->qkv + qkv_at,
                          s->scores, s->relevance, queries);
            if (position_of(c) == VIT_RELATIVE && g->relative_bias)
                relative_backward(g->relative_bias + head, s->relative, s->scores, queries, c);
        }
    stop_at_replaced(m, s->dqkv, run);
    bool rotary = position_of(c) == VIT_ROTARY;
    if (rotary && g->frequencies)
        rotary_backward(m, g->frequencies, s->dqkv, a->qkv, batch, queries);
    if (rotary && !run->no_positions)
        rotary_turn(m, p->frequencies, s->dqkv, (struct rows){0, rows}, -1);
    if (qk_norm_of(c)) qk_norm_backward(m, p, g, a, s->dqkv, rows);
    qkv_backward(m, p, g, dx, s->dqkv, x, rows, s->dmixed);
}
