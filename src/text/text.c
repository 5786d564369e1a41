#include "text.h"

#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "block.h"
#include "embed.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

struct vit_text {
    const vit_model *model;
    const vit_text_config *config;
    const struct text_params *params;
    size_t texts, capacity, past; /* B, S, P */
    bool has_image;               /* a decoder: an image */
    struct text_activations block;
    float *cache; /* (layers,B,2,S,D); a tower has one layer, which all use in turn */
    float *own, *scores;
    float *image, *pairs;       /* (T,D): the image after encoder_proj; (T,2D) */
    struct text_memory *images; /* (L) */
};

const vit_text_config *vit_text_of(const vit_config *c, vit_text_part part) {
    return part == VIT_DECODER ? &c->decoder : &c->text;
}

/* ---- Memory --------------------------------------------------------------- */

static void lay_out(vit_text *t, struct arena *arena, const vit_model *m, vit_text_part part,
                    size_t texts, size_t tokens) {
    const vit_text_config *c = vit_text_of(&m->config, part);
    bool decodes = part == VIT_DECODER;
    size_t D = c->width, T = decodes ? vit_tokens(&m->config) : 0;
    size_t rows = texts > tokens ? texts : tokens, columns = T > tokens ? T : tokens;
    *t = (vit_text){.model = m, .config = c, .texts = texts, .capacity = tokens};
    t->params = decodes ? &m->params.decoder : &m->params.text;
    float *x = arena_floats(arena, rows, D), *normed = arena_floats(arena, rows, D);
    const struct text_branch branch = {.x = x, .normed = normed, .sum = x, .out = x};
    float *mixed = arena_floats(arena, rows, D);
    t->block = (struct text_activations){.self = branch,
                                         .cross = branch,
                                         .mlp = branch,
                                         .mixed = mixed,
                                         .cross_mixed = mixed,
                                         .qkv = arena_floats(arena, rows, 3, D),
                                         .hidden = arena_floats(arena, rows, c->mlp_width)};
    t->block.query = t->block.qkv;
    t->cache = arena_floats(arena, decodes ? c->depth : 1, texts, 2, tokens, D);
    t->own = arena_floats(arena, text_memory_floats(m->kernels, c, tokens));
    t->scores = arena_floats(arena, rows, columns);
    if (!decodes) return;
    t->image = arena_floats(arena, c->encoder_proj ? T : 0, D);
    t->pairs = arena_floats(arena, T, 2, D);
    t->images = (void *)arena_floats(arena, c->depth, sizeof *t->images);
    size_t each = text_memory_floats(m->kernels, c, T);
    float *floats = arena_floats(arena, c->depth, each);
    for (size_t i = 0; floats && i < c->depth; i++)
        t->images[i] = text_memory_at(floats + i * each, m->kernels, c, T);
}

size_t vit_text_size(const vit_model *m, vit_text_part part, size_t texts, size_t tokens) {
    const vit_text_config *c = vit_text_of(&m->config, part);
    struct arena arena = {0};
    vit_text text;
    if (!c->depth || !texts || !tokens || tokens > c->max_tokens) return 0;
    arena_floats(&arena, sizeof text);
    lay_out(&text, &arena, m, part, texts, tokens);
    return arena.overflow ? 0 : arena.used + CACHE_LINE;
}

vit_status vit_text_init(vit_text **out, void *memory, size_t size, const vit_model *m,
                         vit_text_part part, size_t texts, size_t tokens) {
    size_t need = vit_text_size(m, part, texts, tokens);
    *out = NULL;
    if (!memory || need == 0 || size < need) return VIT_BAD_ARGUMENT;
    uintptr_t aligned = ((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct arena arena = {.base = (char *)aligned};
    vit_text *text = (vit_text *)(void *)arena_floats(&arena, sizeof *text);
    lay_out(text, &arena, m, part, texts, tokens);
    *out = text;
    return VIT_OK;
}

size_t vit_text_tokens(const vit_text *text) {
    return text->past;
}

void vit_text_clear(vit_text *text) {
    text->past = 0;
}

/* The floats of one text in one layer's cache. */
static size_t cache_each(const vit_text *t) {
    return 2 * t->capacity * t->config->width;
}

void vit_text_reorder(vit_text *t, const uint32_t *from, size_t count) {
    size_t D = t->config->width, each = cache_each(t), layers = t->images ? t->config->depth : 1;
    size_t bytes = D * sizeof(float);
    float *waiting = t->block.self.normed;
    bool moves = false;
    for (size_t i = 0; i < count; i++) moves |= from[i] != i;
    for (size_t layer = 0; moves && layer < layers; layer++)
        for (size_t row = 0; row < 2 * t->past; row++) {
            size_t values = row >= t->past, at = row - values * t->past + values * t->capacity;
            float *rows = t->cache + layer * t->texts * each + at * D;
            for (size_t i = 0; i < count; i++)
                memcpy(waiting + i * D, rows + from[i] * each, bytes);
            for (size_t i = 0; i < count; i++) memcpy(rows + i * each, waiting + i * D, bytes);
        }
}

/* ---- Running -------------------------------------------------------------- */

vit_status vit_text_set_image(vit_text *t, const float *image) {
    const vit_config *whole = &t->model->config;
    const vit_text_config *c = t->config;
    size_t T = vit_tokens(whole), E = whole->width, D = c->width;
    if (!t->images) return VIT_BAD_ARGUMENT;
    if (!all_finite(image, T * E)) return VIT_BAD_IMAGE;
    if (c->encoder_proj) {
        text_linear(t->model->kernels, t->image, image, t->params->encoder_weight,
                    t->params->encoder_bias, VIT_LINEAR, false, T, D, E);
        image = t->image, E = D;
    }
    for (size_t i = 0; i < c->depth; i++) {
        const struct text_block_params *p = &t->params->blocks[i];
        text_linear(t->model->kernels, t->pairs, image, p->cross_kv_weight, p->cross_kv_bias,
                    VIT_LINEAR, false, T, 2 * D, E);
        text_memorise(&t->images[i], t->model->kernels, c, t->pairs, t->pairs + D, 2 * D);
    }
    t->has_image = true;
    t->past = 0;
    return VIT_OK;
}

static void norm(const vit_text *t, float *x, const float *gain, const float *bias, size_t rows) {
    size_t D = t->config->width;
    t->model->kernels->norm(x, D, NULL, NULL, x, D, gain, bias, t->config->norm_eps, rows, D);
}

/* x (rows,D) → logits (rows,V). x may change. */
static void run_head(const vit_text *t, float *logits, float *x, size_t rows) {
    const vit_text_config *c = t->config;
    const struct text_params *p = t->params;
    size_t D = c->width;
    if (c->head_hidden) {
        text_linear(t->model->kernels, t->block.mixed, x, p->hidden_weight, p->hidden_bias,
                    (int)c->activation, false, rows, D, D);
        x = t->block.mixed;
        norm(t, x, p->hidden_norm_gain, p->hidden_norm_bias, rows);
    }
    text_linear(t->model->kernels, logits, x, c->tied_head ? p->token_embed : p->head_weight,
                c->head_bias ? p->head_bias : NULL, VIT_LINEAR, false, rows, c->vocabulary, D);
}

/* Runs n tokens of `batch` texts from text `first` on; batch·n rows have room. */
static void run_some(vit_text *t, const uint32_t *ids, size_t first, size_t batch, size_t n,
                     float *logits, const vit_text_taps *taps) {
    const vit_text_config *c = t->config;
    const struct text_params *p = t->params;
    size_t D = c->width, rows = batch * n, V = c->vocabulary, each = cache_each(t);
    size_t heat = c->heads * n * (t->past + n),
           cross_heat = c->heads * n * vit_tokens(&t->model->config);
    float *x = t->block.self.x;
    for (size_t b = 0; b < batch; b++)
        text_embed(t->model, c, p, x + b * n * D, ids + (first + b) * n, n, t->past);
    if (c->embedding_norm) norm(t, x, p->embed_norm_gain, p->embed_norm_bias, rows);
    struct text_run run = {.batch = batch,
                           .n = n,
                           .past = t->past,
                           .capacity = t->capacity,
                           .own = {.keys = t->own},
                           .scores = t->scores};
    for (size_t layer = 0; layer < c->depth; layer++) {
        struct text_activations a = t->block;
        if (taps->self) a.map = taps->self + (first * c->depth + layer) * heat;
        if (taps->cross) a.cross_map = taps->cross + (first * c->depth + layer) * cross_heat;
        run.cache = t->cache + ((t->images ? layer * t->texts : 0) + first) * each;
        run.images = t->images ? &t->images[layer] : NULL;
        text_block_forward(t->model, c, &p->blocks[layer], &a, &run, c->depth * heat,
                           c->depth * cross_heat);
    }
    if (c->final_norm) norm(t, x, p->norm_gain, p->norm_bias, rows);
    if (taps->hidden) memcpy(taps->hidden + first * n * D, x, rows * D * sizeof *x);
    if (!logits) return;
    if (!taps->last) {
        run_head(t, logits + first * n * V, x, rows);
        return;
    }
    for (size_t b = 0; b < batch && n > 1; b++)
        memmove(x + b * D, x + (b * n + n - 1) * D, D * sizeof *x);
    run_head(t, logits + first * V, x, batch);
}

vit_status vit_text_run(vit_text *t, const uint32_t *ids, size_t batch, size_t n, float *logits,
                        const vit_text_taps *taps) {
    static const vit_text_taps no_taps = {0};
    if (batch > t->texts || n > t->capacity - t->past) return VIT_BAD_ARGUMENT;
    if (t->images ? !t->has_image : logits != NULL) return VIT_BAD_ARGUMENT;
    if (!t->images && t->past) return VIT_BAD_ARGUMENT;
    for (size_t i = 0; i < batch * n; i++)
        if (ids[i] >= t->config->vocabulary) return VIT_BAD_ARGUMENT;
    size_t at_once = n == 1 ? batch : 1;
    for (size_t first = 0; n && first < batch; first += at_once)
        run_some(t, ids, first, at_once, n, logits, taps ? taps : &no_taps);
    t->past += n;
    return VIT_OK;
}

/* Which token stands for the text. */
static size_t pooled_token(const vit_text_config *c, const uint32_t *ids, size_t S) {
    size_t at = 0;
    if (c->pool == VIT_TEXT_POOL_LAST) return S - 1;
    for (size_t i = 0; i < S; i++) {
        if (c->pool == VIT_TEXT_POOL_END && ids[i] == c->end) return i;
        if (c->pool == VIT_TEXT_POOL_LARGEST && ids[i] > ids[at]) at = i;
    }
    return at;
}

vit_status vit_text_embed(vit_text *t, const uint32_t *ids, size_t batch, size_t S, float *hidden,
                          float *pooled, float *embeds) {
    const vit_text_config *c = t->config;
    size_t D = c->width, P = c->projection;
    vit_text_clear(t);
    if (t->images || !S || (embeds && !P)) return VIT_BAD_ARGUMENT;
    for (size_t b = 0; b < batch; b++, ids += S) {
        vit_text_clear(t);
        vit_status status = vit_text_run(t, ids, 1, S, NULL, NULL);
        if (status) return status;
        const float *x = t->block.self.x, *stands = x + pooled_token(c, ids, S) * D;
        if (hidden) memcpy(hidden + b * S * D, x, S * D * sizeof *x);
        if (pooled) memcpy(pooled + b * D, stands, D * sizeof *x);
        if (embeds)
            text_linear(t->model->kernels, embeds + b * P, stands, t->params->proj_weight,
                        c->projection_bias ? t->params->proj_bias : NULL, VIT_LINEAR, false, 1, P,
                        D);
    }
    return VIT_OK;
}
