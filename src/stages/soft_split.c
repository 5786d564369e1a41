/* The tokens-to-token module of Yuan et al., arXiv:2101.11986, section 3.1: the image is cut into
 * overlapping squares, which attend to each other and become narrow tokens; these are an image
 * again, which is cut and attends once more. The patches are cut from the last one, and overlap too.
 * A square is mapped to a query, a key and a value t wide, so the value takes its place in the
 * residual connection:
 *   x = v + proj(attention(qkv(norm1(square)))); x += mlp(norm2(x))
 * Attention is a softmax, or an estimate of it whose cost grows with the tokens and not with their
 * square, by positive random features: Choromanski et al., arXiv:2009.14794, lemma 1. */
#include "soft_split.h"

#include <math.h>
#include <string.h>

#include "base/team.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "vit.h"

enum { SOFT_ROWS = 64 }; /* tokens computed at a time */

/* How squares are cut: their side, and the rows or columns from one to the next and beyond the edge. */
static const struct {
    size_t side, step, beyond;
} CUTS[VIT_SOFT_SPLITS + 1] = {{7, 4, 2}, {3, 2, 1}, {3, 2, 1}};

void soft_split_cut(float *token, const struct maps *from, size_t split, size_t at,
                    size_t columns) {
    size_t side = CUTS[split].side, step = CUTS[split].step, beyond = CUTS[split].beyond;
    size_t top = at / columns * step - beyond; /* unsigned: -1 is larger than any size */
    size_t left = at % columns * step - beyond;
    for (size_t channel = 0; channel < from->channels; channel++) {
        const float *x = from->x + channel * from->channel_step;
        for (size_t i = 0; i < side; i++)
            for (size_t j = 0; j < side; j++) {
                size_t y = top + i, z = left + j;
                bool inside = y < from->rows && z < from->columns;
                *token++ = inside ? x[y * from->row_step + z * from->column_step] : 0;
            }
    }
}

struct maps soft_split_input(const vit_config *c, const struct soft_split *a, const float *images,
                             size_t split, size_t image) {
    struct maps maps = split_maps(c, split, NULL);
    /* The cast drops const, but images are only read. */
    maps.x =
        (split ? a->tokens[split - 1] : (float *)(uintptr_t)images) + image * maps_floats(&maps);
    return maps;
}

/* One image goes through one split. */
struct split_call {
    const vit_model *m;
    const struct soft_split *a;
    const struct soft_split_params *p;
    struct maps from, to;
    size_t split, N, K, t, features; /* K: the numbers of a square */
};

/* e^x, as exact as floats need: e^(x/1024) by its power series, to the power of 1024. The C library's
 * would add 2.4 kB to each module. */
static double power_of_e(double x) {
    double r = (x > 700 ? 700 : x < -700 ? -700 : x) / 1024, sum = 1;
    for (int k = 9; k > 0; k--) sum = 1 + sum * r / k;
    for (int i = 0; i < 10; i++) sum *= sum;
    return sum;
}

/* x (rows,t), `step` apart → features (rows,m): e^(w·x - |x|²/2) / √m. */
static void features_of(const struct split_call *call, float *features, const float *x, size_t step,
                        size_t rows) {
    size_t t = call->t, m = call->features;
    call->m->kernels->matmul(features, m, x, step, call->p->random_weight, NULL, VIT_LINEAR, false,
                             rows, m, t);
    for (; rows > 0; rows--, x += step, features += m) {
        double square = 0;
        for (size_t i = 0; i < t; i++) square += (double)x[i] * x[i];
        for (size_t i = 0; i < m; i++)
            features[i] = (float)(power_of_e(features[i] - square / 2) / sqrt((double)m));
    }
}

/* A part of row `row`. A performer's rows begin with the key. */
enum { QUERY, KEY, VALUE };
static float *part_of(const struct split_call *call, size_t part, size_t row) {
    size_t at = call->features && part != VALUE ? 1 - part : part;
    return call->a->qkv + (3 * row + at) * call->t;
}

/* From a square to its query, key and value no other square is needed. */
static void before_attention(void *context, size_t part, size_t parts) {
    const struct split_call *call = context;
    const struct soft_split_params *p = call->p;
    const struct vit_kernels *k = call->m->kernels;
    struct rows share = rows_part(1, call->N, part, parts);
    float *cut = call->a->scratch[part].cut;
    size_t t = call->t, K = call->K, end = share.first + share.count, n;
    for (size_t at = share.first; at < end; at += n) {
        n = end - at < SOFT_ROWS ? end - at : SOFT_ROWS;
        for (size_t i = 0; i < n; i++)
            soft_split_cut(cut + i * K, &call->from, call->split, at + i, call->to.columns);
        k->norm(cut, K, NULL, NULL, cut, K, p->norm1_gain, p->norm1_bias, call->m->config.norm_eps,
                n, K);
        k->matmul(call->a->qkv + at * 3 * t, 3 * t, cut, K, p->qkv_weight, p->qkv_bias, VIT_LINEAR,
                  false, n, 3 * t, K);
        if (call->features)
            features_of(call, call->a->features + at * call->features, part_of(call, KEY, at),
                        3 * t, n);
    }
}

/* What all queries need of the keys and values. */
static void pack_keys(const struct split_call *call) {
    const struct vit_kernels *k = call->m->kernels;
    const struct soft_split *a = call->a;
    const float *value = part_of(call, VALUE, 0);
    size_t t = call->t, m = call->features, N = call->N;
    if (!m) {
        k->pack(a->keys, part_of(call, KEY, 0), 3 * t, 1, N, t);
        k->pack(a->values, value, 1, 3 * t, t, N);
        return;
    }
    k->gemm(a->sums, m, value, 3 * t, true, a->features, m, false, 1, 0, t, m, N);
    for (size_t i = 0; i < m; i++) {
        double sum = 0;
        for (size_t n = 0; n < N; n++) sum += a->features[n * m + i];
        a->sums[t * m + i] = (float)sum;
    }
    k->pack(a->values, a->sums, m, 1, t + 1, m);
}

/* The attention of `n` queries from `at` on → mixed, rows of t+1 numbers. */
static void attend(const struct split_call *call, float *mixed, float *scores, size_t at,
                   size_t n) {
    const struct vit_kernels *k = call->m->kernels;
    const struct soft_split *a = call->a;
    const float *query = part_of(call, QUERY, at);
    size_t t = call->t, m = call->features, N = call->N;
    if (!m) {
        k->matmul(scores, N, query, 3 * t, a->keys, NULL, VIT_LINEAR, false, n, N, t);
        k->softmax(scores, N, 1 / sqrtf((float)call->K), n, N);
        k->matmul(mixed, t + 1, scores, N, a->values, NULL, VIT_LINEAR, false, n, t, N);
        return;
    }
    features_of(call, scores, query, 3 * t, n);
    k->matmul(mixed, t + 1, scores, m, a->values, NULL, VIT_LINEAR, false, n, t + 1, m);
    for (; n > 0; n--, mixed += t + 1)
        for (size_t i = 0; i < t; i++) mixed[i] /= mixed[t] + 1e-8f;
}

/* After attention a token needs no other token. */
static void from_attention(void *context, size_t part, size_t parts) {
    const struct split_call *call = context;
    const struct soft_split_params *p = call->p;
    const struct vit_kernels *k = call->m->kernels;
    const vit_config *c = &call->m->config;
    struct rows share = rows_part(1, call->N, part, parts);
    const struct soft_scratch *s = &call->a->scratch[part];
    size_t t = call->t, ld = t + 1, end = share.first + share.count, n;
    for (size_t at = share.first; at < end; at += n) {
        float *x = call->to.x + at * t;
        n = end - at < SOFT_ROWS ? end - at : SOFT_ROWS;
        attend(call, s->wide, s->scores, at, n);
        for (size_t i = 0; i < n; i++)
            memcpy(x + i * t, part_of(call, VALUE, at + i), t * sizeof *x);
        k->matmul(x, t, s->wide, ld, p->proj_weight, p->proj_bias, VIT_LINEAR, true, n, t, t);
        k->norm(s->wide, ld, NULL, NULL, x, t, p->norm2_gain, p->norm2_bias, c->norm_eps, n, t);
        k->matmul(s->cut, t, s->wide, ld, p->fc1_weight, p->fc1_bias, (int)c->activation, false, n,
                  t, t);
        k->matmul(x, t, s->cut, t, p->fc2_weight, p->fc2_bias, VIT_LINEAR, true, n, t, t);
    }
}

void soft_split_forward(const vit_model *m, const struct soft_split *a, const float *images,
                        size_t batch, vit_team *team) {
    const vit_config *c = &m->config;
    for (size_t i = 0; i < VIT_SOFT_SPLITS * batch; i++) {
        size_t split = i % VIT_SOFT_SPLITS, image = i / VIT_SOFT_SPLITS;
        struct split_call call = {.m = m, .a = a, .p = &m->params.splits[split], .split = split};
        call.from = soft_split_input(c, a, images, split, image);
        call.to = soft_split_input(c, a, images, split + 1, image);
        call.N = call.to.rows * call.to.columns;
        call.K = split_values(c, split);
        call.t = c->token_width;
        call.features = split_features(c);
        team_run(team, before_attention, &call);
        pack_keys(&call);
        team_run(team, from_attention, &call);
    }
}

/* Over the batch only the tokens are kept. */
void soft_split_lay_out(struct soft_split *a, struct arena *arena, const vit_model *m, size_t batch,
                        size_t threads) {
    const vit_config *c = &m->config;
    size_t t = c->token_width, f = split_features(c), N = 0, K = 0;
    for (size_t split = VIT_SOFT_SPLITS; split-- > 0;) { /* the first has the most tokens */
        struct maps to = split_maps(c, split + 1, NULL);
        a->tokens[split] = arena_floats(arena, batch, maps_floats(&to));
        N = to.rows * to.columns;
        size_t values = split_values(c, split);
        if (values > K) K = values;
    }
    size_t rows = N < SOFT_ROWS ? N : SOFT_ROWS;
    a->qkv = arena_floats(arena, N, 3, t);
    a->features = arena_floats(arena, N, f);
    a->sums = arena_floats(arena, t + 1, f);
    a->keys = arena_floats(arena, f ? 0 : matrix_floats(m->kernels, false, N, t));
    a->values = arena_floats(arena, matrix_floats(m->kernels, false, f ? t + 1 : t, f ? f : N));
    struct soft_scratch counted;
    a->scratch = (void *)arena_floats(arena, threads, sizeof *a->scratch);
    for (size_t i = 0; i < threads; i++) {
        struct soft_scratch *s = a->scratch ? &a->scratch[i] : &counted;
        s->cut = arena_floats(arena, rows, K);
        s->scores = arena_floats(arena, rows, f ? f : N);
        s->wide = arena_floats(arena, rows, t + 1);
    }
}
