/* The whole path of an image: pixels → patches → tokens → blocks → logits. */
#include "vit.h"

#include <string.h>

#include "base/team.h"
#include "edition.h"
#include "model.h"
#include "shapes.h"
#include "stages/activations.h"
#include "stages/blocks.h"
#include "stages/logits.h"
#include "stages/patches.h"
#include "stages/soft_split.h"
#include "stages/stem.h"
#include "stages/tokens.h"
#include "state.h"

struct tokens_call {
    const vit_state *state;
    const float *images;
    size_t batch;
};

/* Computes one thread's share of the tokens, from the pixels or from the stem's last maps. */
static void run_tokens(void *context, size_t part, size_t parts) {
    const struct tokens_call *call = context;
    const vit_model *m = call->state->model;
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), N = vit_patches(c), prefix = T - N, D = c->width;
    size_t patch = patch_values(c);
    struct rows share = rows_part(call->batch, T, part, parts);
    for (size_t i = 0; i < call->batch; i++) {
        float *x = call->state->block.x + i * T * D;
        struct maps from = patches_input(call->state, call->images, i);
        patches_forward(m, x + prefix * D, call->state->patches + i * N * patch, &from,
                        rows_within(share, i * T + prefix, N));
        tokens_prefix(m, x, rows_within(share, i * T, T));
        tokens_place(m, x, rows_within(share, i * T, T), !call->state->without.positions);
    }
}

static bool is_selected(const uint8_t *mask, size_t layer) {
    return !mask || mask[layer];
}

static size_t count_selected(const uint8_t *mask, size_t layers) {
    size_t n = 0;
    for (size_t i = 0; i < layers; i++) n += is_selected(mask, i);
    return n;
}

/* Copies x (B,T,D) into out (B,layers,T,D), as layer `index` of each image. */
static void tap_hidden(float *out, const float *x, size_t batch, size_t layers, size_t index,
                       size_t each) {
    for (size_t i = 0; i < batch; i++)
        memcpy(out + (i * layers + index) * each, x + i * each, each * sizeof *x);
}

/* How many tokens the last block must compute: all of them if a tap needs them. */
static size_t last_tokens(const vit_config *c, const vit_taps *taps) {
    return taps->hidden || taps->tokens ? vit_tokens(c) : head_tokens(c);
}

/* Whether only the prefix goes on from the last block, and its rows of the map are all that is kept. */
static bool sees_prefix(const vit_config *c, const vit_taps *taps) {
    bool whole = taps->attention && c->depth && is_selected(taps->attention_layers, c->depth - 1);
    return detections_of(c) && !whole && last_tokens(c, taps) == vit_prefix(c);
}

static void run_blocks(vit_state *state, size_t batch, const vit_taps *taps) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), layers = c->depth, heat = c->heads * T * T;
    size_t maps = count_selected(taps->attention_layers, layers), map = 0;
    size_t streams = count_selected(taps->hidden_layers, layers), stream = 0;
    struct activations *a = &state->block;
    size_t view_size = vit_prefix(c) * T;
    struct block_run run = {.batch = batch};
    for (size_t layer = 0; layer < layers; layer++) {
        leave_out(&run, &state->without, c, layer);
        bool keeps = taps->attention && is_selected(taps->attention_layers, layer);
        a->map = keeps ? taps->attention + map++ * heat : NULL;
        run.map_rows = keeps ? T : 0, run.map_each = T * T, run.map_stride = maps * heat;
        if (taps->views && layer + 1 == layers)
            a->map = taps->views, run.map_each = view_size, run.map_stride = c->heads * view_size;
        run.queries = layer + 1 < layers ? T : last_tokens(c, taps);
        block_forward(m, &m->params.blocks[layer], a, state->scratch, &run, state->team);
        if (!state->without.positions) tokens_place_again(m, a->out, batch, layer);
        if (taps->hidden && is_selected(taps->hidden_layers, layer))
            tap_hidden(taps->hidden, a->out, batch, streams, stream++, T * c->width);
    }
}

/* Runs at most state->batch images. */
static void run_some(vit_state *state, const float *images, size_t batch, float *logits,
                     const vit_taps *taps) {
    const vit_model *m = state->model;
    struct tokens_call call = {state, images, batch};
    stem_forward(m, &state->stem, state->scratch, images, batch, state->team);
    if (tokens_to_token_of(&m->config))
        soft_split_forward(m, &state->split, images, batch, state->team);
    team_run(state->team, run_tokens, &call);
    run_blocks(state, batch, taps);
    struct head_activations head = state->head;
    if (taps->tokens) head.tokens = taps->tokens;
    head.fed = taps->pooled;
    if (logits || taps->tokens || taps->pooled)
        logits_forward(m, logits, &head, state->block.x, batch, last_tokens(&m->config, taps));
}

vit_status vit_run(const vit_model *m, vit_state *state, const float *images, size_t batch,
                   float *logits, const vit_taps *taps) {
    static const vit_taps no_taps = {0};
    const vit_config *c = &m->config;
    if (state->model != m) return VIT_BAD_ARGUMENT;
    size_t image = c->channels * c->image_size[0] * c->image_size[1], T = vit_tokens(c);
    size_t each_map = 0, each_stream = 0;
    if (!taps) taps = &no_taps;
    if (taps->attention)
        each_map = count_selected(taps->attention_layers, c->depth) * c->heads * T * T;
    if (taps->hidden) each_stream = count_selected(taps->hidden_layers, c->depth) * T * c->width;
    if (taps->views && !sees_prefix(c, taps)) return VIT_BAD_ARGUMENT;
    if (!all_finite(images, batch * image)) return VIT_BAD_IMAGE;
    for (size_t first = 0, n; first < batch; first += n) {
        n = batch - first < state->batch ? batch - first : state->batch;
        vit_taps part = *taps;
        if (taps->attention) part.attention += first * each_map;
        if (taps->hidden) part.hidden += first * each_stream;
        if (taps->tokens) part.tokens += first * T * c->width;
        if (taps->pooled) part.pooled += first * c->width;
        if (taps->views) part.views += first * c->heads * vit_prefix(c) * T;
        run_some(state, images + first * image, n, logits ? logits + first * vit_logits(c) : NULL,
                 &part);
    }
    return VIT_OK;
}
