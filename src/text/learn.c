#include "learn.h"

#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "block.h"
#include "embed.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "stages/norm.h"
#include "vit.h"

/* What cross-attention reads of an image's token. */
static size_t memory_width(const vit_config *c) {
    return c->decoder.encoder_proj ? c->decoder.width : c->width;
}

/* ---- Memory --------------------------------------------------------------- */

/* A branch that reads x, and its output. */
static struct text_branch lay_out_branch(struct arena *arena, const vit_text_config *c, float *x,
                                         size_t rows) {
    bool post = c->norm == VIT_POST;
    struct text_branch b = {.x = x, .normed = arena_floats(arena, post ? 0 : rows, c->width)};
    b.sum = arena_floats(arena, rows, c->width);
    b.out = post ? arena_floats(arena, rows, c->width) : b.sum;
    b.mean = arena_floats(arena, rows);
    b.rstd = arena_floats(arena, rows);
    return b;
}

void text_tape_lay_out(struct text_tape *t, struct arena *arena, const vit_model *m, size_t batch) {
    const vit_config *whole = &m->config;
    const vit_text_config *c = &whole->decoder;
    size_t S = c->max_tokens, D = c->width, M = c->mlp_width, T = vit_tokens(whole);
    size_t rows = size_times(batch, S), columns = S > T ? S : T, E = memory_width(whole);
    size_t hidden = c->head_hidden ? rows : 0;
    struct text_activations counted;
    *t = (struct text_tape){.capacity = S};
    t->blocks = (void *)arena_floats(arena, c->depth, sizeof *t->blocks);
    t->embedded = arena_floats(arena, rows, D);
    t->embed_mean = arena_floats(arena, rows);
    t->embed_rstd = arena_floats(arena, rows);
    t->image = arena_floats(arena, c->encoder_proj ? batch : 0, T, D);
    float *x = c->embedding_norm ? arena_floats(arena, rows, D) : t->embedded;
    for (size_t i = 0; i < c->depth; i++) {
        struct text_activations *a = t->blocks ? &t->blocks[i] : &counted;
        *a = (struct text_activations){.self = lay_out_branch(arena, c, x, rows)};
        a->cross = lay_out_branch(arena, c, a->self.out, rows);
        a->mlp = lay_out_branch(arena, c, a->cross.out, rows);
        x = a->mlp.out;
        a->qkv = arena_floats(arena, rows, 3, D);
        a->mixed = arena_floats(arena, rows, D);
        a->query = arena_floats(arena, rows, D);
        a->cross_mixed = arena_floats(arena, rows, D);
        a->pre = arena_floats(arena, rows, M);
        a->hidden = arena_floats(arena, rows, M);
        a->map = arena_floats(arena, rows, c->heads, S);
        a->cross_map = arena_floats(arena, rows, c->heads, T);
        a->pairs = arena_floats(arena, batch, T, 2, D);
    }
    t->last = x;
    t->normed = c->final_norm ? arena_floats(arena, rows, D) : x;
    t->mean = arena_floats(arena, rows);
    t->rstd = arena_floats(arena, rows);
    t->pre = arena_floats(arena, hidden, D);
    t->hidden = arena_floats(arena, hidden, D);
    t->hidden_normed = arena_floats(arena, hidden, D);
    t->hidden_mean = arena_floats(arena, hidden);
    t->hidden_rstd = arena_floats(arena, hidden);
    t->cache = arena_floats(arena, batch, 2, S, D);
    t->own = arena_floats(arena, text_memory_floats(m->kernels, c, S));
    t->scores = arena_floats(arena, S, columns);
    t->memories = (void *)arena_floats(arena, batch, sizeof *t->memories);
    size_t each = text_memory_floats(m->kernels, c, T);
    float *floats = arena_floats(arena, batch, each);
    for (size_t b = 0; floats && b < batch; b++)
        t->memories[b] = text_memory_at(floats + b * each, m->kernels, c, T);
    t->scratch =
        (struct text_gradients){.dx = arena_floats(arena, rows, D),
                                .dbranch = arena_floats(arena, rows, D),
                                .dqkv = arena_floats(arena, rows, 3, D),
                                .dmixed = arena_floats(arena, rows, D),
                                .dhidden = arena_floats(arena, rows, M),
                                .dscores = arena_floats(arena, S, columns),
                                .dpairs = arena_floats(arena, T, 2, D),
                                .dimage = arena_floats(arena, T, E),
                                .dmemory = arena_floats(arena, c->encoder_proj ? batch : 0, T, D)};
}

/* ---- Forward -------------------------------------------------------------- */

static void norm(const vit_model *m, float *y, float *mean, float *rstd, const float *x,
                 const float *gain, const float *bias, size_t rows) {
    size_t D = m->config.decoder.width;
    m->kernels->norm(y, D, mean, rstd, x, D, gain, bias, m->config.decoder.norm_eps, rows, D);
}

void text_tape_forward(const vit_model *m, struct text_tape *t, const uint32_t *ids, size_t batch,
                       size_t S, const float *images, float *logits) {
    const vit_text_config *c = &m->config.decoder;
    const struct text_params *p = &m->params.decoder;
    size_t D = c->width, T = vit_tokens(&m->config), rows = batch * S, E = memory_width(&m->config);
    for (size_t b = 0; b < batch; b++)
        text_embed(m, c, p, t->embedded + b * S * D, ids + b * S, S, 0);
    if (c->embedding_norm)
        norm(m, t->blocks[0].self.x, t->embed_mean, t->embed_rstd, t->embedded, p->embed_norm_gain,
             p->embed_norm_bias, rows);
    if (c->encoder_proj) {
        text_linear(m->kernels, t->image, images, p->encoder_weight, p->encoder_bias, VIT_LINEAR,
                    false, batch * T, D, m->config.width);
        images = t->image;
    }
    struct text_run run = {.batch = batch,
                           .n = S,
                           .cache = t->cache,
                           .capacity = S,
                           .own = {.keys = t->own},
                           .images = t->memories,
                           .each = true,
                           .scores = t->scores};
    for (size_t layer = 0; layer < c->depth; layer++) {
        const struct text_activations *a = &t->blocks[layer];
        const struct text_block_params *block = &p->blocks[layer];
        text_linear(m->kernels, a->pairs, images, block->cross_kv_weight, block->cross_kv_bias,
                    VIT_LINEAR, false, batch * T, 2 * D, E);
        for (size_t b = 0; b < batch; b++)
            text_memorise(&t->memories[b], m->kernels, c, a->pairs + b * T * 2 * D,
                          a->pairs + b * T * 2 * D + D, 2 * D);
        text_block_forward(m, c, block, a, &run, c->heads * S * S, c->heads * S * T);
    }
    const float *x = t->normed;
    if (c->final_norm)
        norm(m, t->normed, t->mean, t->rstd, t->last, p->norm_gain, p->norm_bias, rows);
    if (c->head_hidden) {
        text_linear(m->kernels, t->pre, x, p->hidden_weight, p->hidden_bias, VIT_LINEAR, false,
                    rows, D, D);
        m->kernels->activate(t->hidden, t->pre, (int)c->activation, rows * D);
        norm(m, t->hidden_normed, t->hidden_mean, t->hidden_rstd, t->hidden, p->hidden_norm_gain,
             p->hidden_norm_bias, rows);
        x = t->hidden_normed;
    }
    text_linear(m->kernels, logits, x, c->tied_head ? p->token_embed : p->head_weight, p->head_bias,
                VIT_LINEAR, false, rows, c->vocabulary, D);
}

/* ---- Backward ------------------------------------------------------------- */

/* dx, the gradient of a norm's output → of its input. */
static void norm_back(float *dx, float *dgain, float *dbias, const float *x, const float *mean,
                      const float *rstd, const float *gain, size_t rows, size_t D) {
    norm_backward(dx, D, dgain, dbias, dx, D, x, D, mean, rstd, gain, rows, D);
}

/* dlogits (rows,V) → t->scratch.dx, the gradient of the tokens after the last block. */
static void head_back(const vit_model *m, struct text_tape *t, const struct text_params *g,
                      const float *dlogits, size_t rows) {
    const vit_text_config *c = &m->config.decoder;
    const struct text_params *p = &m->params.decoder;
    size_t D = c->width;
    float *dx = t->scratch.dx, *dhidden = c->head_hidden ? t->scratch.dbranch : dx;
    text_linear_backward(m->kernels, dhidden, c->tied_head ? g->token_embed : g->head_weight,
                         g->head_bias, dlogits, c->head_hidden ? t->hidden_normed : t->normed,
                         c->tied_head ? p->token_embed : p->head_weight, rows, c->vocabulary, D);
    if (c->head_hidden) {
        norm_back(dhidden, g->hidden_norm_gain, g->hidden_norm_bias, t->hidden, t->hidden_mean,
                  t->hidden_rstd, p->hidden_norm_gain, rows, D);
        m->kernels->activate_backward(dhidden, dhidden, t->pre, (int)c->activation, rows * D);
        text_linear_backward(m->kernels, dx, g->hidden_weight, g->hidden_bias, dhidden, t->normed,
                             p->hidden_weight, rows, D, D);
    }
    if (c->final_norm)
        norm_back(dx, g->norm_gain, g->norm_bias, t->last, t->mean, t->rstd, p->norm_gain, rows, D);
}

void text_tape_backward(const vit_model *m, struct text_tape *t, const struct text_params *g,
                        const uint32_t *ids, size_t batch, size_t S, const float *images,
                        const float *dlogits, float *dimages) {
    const vit_text_config *c = &m->config.decoder;
    const struct text_params *p = &m->params.decoder;
    size_t D = c->width, T = vit_tokens(&m->config), rows = batch * S, E = memory_width(&m->config);
    float *dmemory = c->encoder_proj ? t->scratch.dmemory : dimages;
    memset(dmemory, 0, batch * T * E * sizeof *dmemory);
    head_back(m, t, g, dlogits, rows);
    for (size_t layer = c->depth; layer-- > 0;)
        text_block_backward(m, c, &p->blocks[layer], &g->blocks[layer], &t->blocks[layer],
                            &t->scratch, batch, S, c->encoder_proj ? t->image : images, dmemory, T,
                            E);
    if (c->encoder_proj)
        text_linear_backward(m->kernels, dimages, g->encoder_weight, g->encoder_bias, dmemory,
                             images, p->encoder_weight, batch * T, D, m->config.width);
    float *dx = t->scratch.dx;
    if (c->embedding_norm)
        norm_back(dx, g->embed_norm_gain, g->embed_norm_bias, t->embedded, t->embed_mean,
                  t->embed_rstd, p->embed_norm_gain, rows, D);
    for (size_t b = 0; b < batch; b++) text_embed_backward(c, g, dx + b * S * D, ids + b * S, S);
}
