/* One transformer block: attention and MLP, each in a residual branch with a layer norm.
 *   pre  (Dosovitskiy et al.):  x += attention(norm1(x));    x += mlp(norm2(x))
 *   post (Vaswani et al.):      x = norm1(x + attention(x)); x = norm2(x + mlp(x))
 *   the MLP's norm after:       x += attention(norm1(x));    x += norm2(mlp(x))
 * In a model without residual connections the branch's output takes the place of the sum.
 * A branch may be scaled by layer scale (Touvron et al., arXiv:2103.17239, section 2), and in
 * training by stochastic depth. */
#include "blocks.h"

#include <string.h>

#include "activations.h"
#include "attention.h"
#include "base/arena.h"
#include "base/sizes.h"
#include "base/team.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "mlp.h"
#include "model.h"
#include "norm.h"
#include "params.h"
#include "shapes.h"
#include "trace.h"
#include "vit.h"

/* sum (rows,D) = x + keep·gain·branch, without x where the model has no residual connections.
 * gain (D) or NULL: 1; keep (B, stride L), one number an image, or NULL: 1. */
static void residual_forward(const vit_model *m, float *sum, const float *x, const float *branch,
                             const float *gain, const float *keep, size_t rows, size_t each) {
    size_t D = m->config.width;
    float stays = m->config.residual;
    for (size_t t = 0; t < rows; t++) {
        float scale = keep ? keep[t / each * m->config.depth] : 1;
        for (size_t i = 0; i < D; i++)
            sum[t * D + i] =
                stays * x[t * D + i] + branch[t * D + i] * scale * (gain ? gain[i] : 1);
    }
}

/* dbranch = keep·gain·dsum. Adds to dgain unless it is NULL. dsum becomes what x gets directly: 0
 * without residual connections. */
static void residual_backward(const vit_model *m, float *dbranch, float *dgain, float *dsum,
                              const float *branch, const float *gain, const float *keep,
                              size_t rows, size_t each) {
    size_t D = m->config.width;
    for (size_t t = 0; t < rows; t++) {
        float scale = keep ? keep[t / each * m->config.depth] : 1;
        for (size_t i = 0; i < D; i++) {
            float dy = dsum[t * D + i] * scale;
            if (dgain) dgain[i] += dy * branch[t * D + i];
            dbranch[t * D + i] = gain ? dy * gain[i] : dy;
        }
    }
    if (!m->config.residual) memset(dsum, 0, rows * D * sizeof *dsum);
}

static void add(float *x, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

/* Moves the first `queries` of every image's T rows together; `y` may be x. */
static void gather_queries(float *y, const float *x, size_t batch, size_t T, size_t queries,
                           size_t D) {
    for (size_t i = 0; (queries < T || y != x) && i < batch; i++)
        memmove(y + i * queries * D, x + i * T * D, queries * D * sizeof *x);
}

/* dx (BT,D) = dx (B·queries,D) + dnormed (BT,D). Overwrites dnormed. */
static void add_queries(float *dx, float *dnormed, size_t batch, size_t T, size_t queries,
                        size_t D) {
    if (queries == T) {
        add(dx, dnormed, batch * T * D);
        return;
    }
    for (size_t i = 0; i < batch; i++) add(dnormed + i * T * D, dx + i * queries * D, queries * D);
    memcpy(dx, dnormed, batch * T * D * sizeof *dx);
}

/* ---- What a tape keeps of a block ------------------------------------------ */

void tape_block(struct activations *a, struct arena *arena, const vit_model *m, size_t batch,
                size_t queries, float *branch) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, A = attention_width(c), M = mlp_rows(c);
    size_t rows = size_times(batch, T);
    bool post = norm_of(c) == VIT_POST;
    *a = (struct activations){
        .mean1 = arena_floats(arena, rows),
        .rstd1 = arena_floats(arena, rows),
        .qkv = arena_floats(arena, rows, 3, A),
        .map = arena_floats(arena, batch, c->heads, T, T),
        .query_x = queries < T ? arena_floats(arena, batch, queries, D) : NULL,
        .mixed = arena_floats(arena, rows, A),
        .sum1 = arena_floats(arena, rows, D),
        .mean2 = arena_floats(arena, rows),
        .rstd2 = arena_floats(arena, rows),
        .pre = arena_floats(arena, rows, M),
        .hidden = arena_floats(arena, rows, M),
        .sum2 = arena_floats(arena, rows, D),
        .branch1 = c->layer_scale ? arena_floats(arena, rows, D) : branch,
        .branch2 = c->layer_scale ? arena_floats(arena, rows, D) : branch,
    };
    a->normed1 = post ? NULL : arena_floats(arena, rows, D);
    a->normed2 = post ? NULL : arena_floats(arena, rows, D);
    a->mid = post ? arena_floats(arena, rows, D) : a->sum1;
    a->out = post ? arena_floats(arena, rows, D) : a->sum2;
    if (mlp_norm_of(c)) {
        a->mlp_raw = arena_floats(arena, rows, M);
        a->mlp_mean = arena_floats(arena, rows);
        a->mlp_rstd = arena_floats(arena, rows);
    }
    if (!qk_norm_of(c)) return;
    a->qk_raw = arena_floats(arena, rows, 3, A);
    a->qk_mean = arena_floats(arena, rows, 2, c->heads);
    a->qk_rstd = arena_floats(arena, rows, 2, c->heads);
}

void tape_scratch(struct scratch *s, struct arena *arena, const vit_model *m, size_t batch) {
    size_t D = m->config.width, A = attention_width(&m->config);
    size_t rows = size_times(batch, vit_tokens(&m->config));
    scratch_attention(s, arena, m, vit_tokens(&m->config));
    s->dx = arena_floats(arena, rows, D);
    s->dbranch = arena_floats(arena, rows, D);
    s->dnormed = arena_floats(arena, rows, D);
    s->dqkv = arena_floats(arena, rows, 3, A);
    s->dmixed = arena_floats(arena, rows, A);
    s->dhidden = arena_floats(arena, rows, mlp_rows(&m->config));
}

void leave_out(struct block_run *run, const vit_ablation *without, const vit_config *c,
               size_t layer) {
    run->no_head = without->heads ? without->heads + layer * c->heads : NULL;
    run->no_mlp = without->mlps && without->mlps[layer];
    run->no_norms = without->norms && without->norms[layer];
    run->no_positions = without->positions;
    run->layer = layer;
    run->replaced = without->replaced;
    run->replaced_count = without->replaced_count;
}

/* ---- Forward: each thread of a team does its share of the rows ------------ */

struct block_call {
    const vit_model *m;
    const struct block_params *p;
    const struct activations *a;
    const struct scratch *s; /* one a thread */
    const struct block_run *run;
};

/* The activations of the rows from `row` on. A tape's further arrays are not moved, because a tape
 * has no team, so its only share starts at row 0. */
static struct activations rows_from(const vit_model *m, const struct activations *a, size_t row) {
    struct activations r = *a;
    if (row == 0) return r;
    float **const wide[] = {&r.x,   &r.normed1, &r.query_x, &r.branch1, &r.sum1,
                            &r.mid, &r.normed2, &r.branch2, &r.sum2,    &r.out};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (*wide[i]) *wide[i] += row * m->config.width;
    r.qkv += row * 3 * attention_width(&m->config);
    if (r.mixed) r.mixed += row * attention_width(&m->config);
    r.hidden += row * mlp_rows(&m->config);
    return r;
}

static struct scratch scratch_from(const vit_model *m, const struct scratch *s, size_t part,
                                   size_t row) {
    struct scratch mine = s[part];
    mine.quantized = quantized_from(m, &s->quantized, row);
    return mine;
}

/* y (rows,D) = norm(x), or x where the run leaves norms out. */
static void norm_forward(const struct block_call *call, float *y, float *mean, float *rstd,
                         const float *x, const float *gain, const float *bias, size_t rows) {
    const vit_config *c = &call->m->config;
    size_t D = c->width;
    if (!call->run->no_norms)
        call->m->kernels->norm(y, D, mean, rstd, x, D, gain, bias, c->norm_eps, rows, D);
    else if (y != x)
        memcpy(y, x, rows * D * sizeof *y);
}

/* From a token to its query, key and value no other token is needed. */
static void before_attention(void *context, size_t part, size_t parts) {
    const struct block_call *call = context;
    const vit_model *m = call->m;
    const struct block_params *p = call->p;
    const vit_config *c = &m->config;
    struct rows share = rows_part(call->run->batch, vit_tokens(c), part, parts);
    struct activations a = rows_from(m, call->a, share.first);
    struct scratch s = scratch_from(m, call->s, part, share.first);
    bool pre = norm_of(c) == VIT_PRE;

    if (pre)
        norm_forward(call, a.normed1, a.mean1, a.rstd1, a.x, p->norm1_gain, p->norm1_bias,
                     share.count);
    qkv_forward(m, p, pre ? a.normed1 : a.x, &a, &s, call->run, share);
}

/* A query needs all keys and values of its image. After that a token needs no other token. */
static void from_attention(void *context, size_t part, size_t parts) {
    const struct block_call *call = context;
    const vit_model *m = call->m;
    const struct block_params *p = call->p;
    const vit_config *c = &m->config;
    const struct block_run *run = call->run;
    struct rows share = rows_part(run->batch, run->queries, part, parts);
    struct activations a = rows_from(m, call->a, share.first);
    struct scratch s = scratch_from(m, call->s, part, share.first);
    size_t D = c->width, rows = share.count;
    bool pre = norm_of(c) == VIT_PRE, at_once = !a.branch1; /* no branch is kept apart */
    bool after = mlp_norm_after_of(c);
    bool adds = at_once && c->residual;

    attention_forward(m, p, call->a, &s, run, part, parts);
    projection_forward(m, p, at_once ? a.sum1 : a.branch1, adds, a.mixed, &s, rows);
    if (!at_once)
        residual_forward(m, a.sum1, a.query_x, a.branch1, p->ls1, run->keep, rows, run->queries);
    if (!pre)
        norm_forward(call, a.mid, a.mean1, a.rstd1, a.sum1, p->norm1_gain, p->norm1_bias, rows);

    float *branch2 = !at_once ? a.branch2 : after ? a.normed2 : a.sum2;
    if (pre && !after)
        norm_forward(call, a.normed2, a.mean2, a.rstd2, a.mid, p->norm2_gain, p->norm2_bias, rows);
    if (!run->no_mlp)
        mlp_forward(m, p, after ? a.normed2 : branch2, adds && !after,
                    pre && !after ? a.normed2 : a.mid, &a, &s, rows);
    else if (!adds || after)
        memset(branch2, 0, rows * D * sizeof *branch2);
    if (after && !run->no_mlp)
        norm_forward(call, branch2, a.mean2, a.rstd2, a.normed2, p->norm2_gain, p->norm2_bias,
                     rows);
    if (!at_once || after)
        residual_forward(m, a.sum2, a.mid, branch2, p->ls2, run->keep, rows, run->queries);
    if (!pre)
        norm_forward(call, a.out, a.mean2, a.rstd2, a.sum2, p->norm2_gain, p->norm2_bias, rows);
}

void block_forward(const vit_model *m, const struct block_params *p, const struct activations *a,
                   const struct scratch *s, const struct block_run *run, vit_team *team) {
    struct block_call call = {m, p, a, s, run};
    team_run(team, before_attention, &call);
    gather_queries(a->query_x, a->x, run->batch, vit_tokens(&m->config), run->queries,
                   m->config.width);
    team_run(team, from_attention, &call);
}

/* ---- Backward, on one thread ---------------------------------------------- */

/* dx (rows,D), the gradient of norm_forward's y, becomes that of its x. */
static void norm_return(const vit_model *m, const struct block_run *run, float *dx, float *dgain,
                        float *dbias, const float *x, const float *mean, const float *rstd,
                        const float *gain, size_t rows) {
    size_t D = m->config.width;
    if (!run->no_norms) norm_backward(dx, D, dgain, dbias, dx, D, x, D, mean, rstd, gain, rows, D);
}

void block_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                    const struct activations *a, const struct scratch *s,
                    const struct block_run *run) {
    size_t D = m->config.width, T = vit_tokens(&m->config), batch = run->batch;
    size_t queries = run->queries, rows = batch * queries;
    bool pre = norm_of(&m->config) == VIT_PRE, after = mlp_norm_after_of(&m->config);
    float *dx = s->dx;

    if (!pre)
        norm_return(m, run, dx, g->norm2_gain, g->norm2_bias, a->sum2, a->mean2, a->rstd2,
                    p->norm2_gain, rows);
    residual_backward(m, s->dbranch, g->ls2, dx, a->branch2, p->ls2, run->keep, rows, queries);
    if (!run->no_mlp) {
        if (after)
            norm_return(m, run, s->dbranch, g->norm2_gain, g->norm2_bias, a->normed2, a->mean2,
                        a->rstd2, p->norm2_gain, rows);
        mlp_backward(m, p, g, s->dnormed, s->dbranch, pre && !after ? a->normed2 : a->mid, a, s,
                     rows);
        if (pre && !after)
            norm_return(m, run, s->dnormed, g->norm2_gain, g->norm2_bias, a->mid, a->mean2,
                        a->rstd2, p->norm2_gain, rows);
        add(dx, s->dnormed, rows * D);
    }

    if (!pre)
        norm_return(m, run, dx, g->norm1_gain, g->norm1_bias, a->sum1, a->mean1, a->rstd1,
                    p->norm1_gain, rows);
    residual_backward(m, s->dbranch, g->ls1, dx, a->branch1, p->ls1, run->keep, rows, queries);
    attention_backward(m, p, g, s->dnormed, s->dbranch, pre ? a->normed1 : a->x, a, s, run);
    if (pre)
        norm_return(m, run, s->dnormed, g->norm1_gain, g->norm1_bias, a->x, a->mean1, a->rstd1,
                    p->norm1_gain, batch * T);
    add_queries(dx, s->dnormed, batch, T, queries, D);
}
