/* Opens a model and runs it: the whole path of an image. */
#include "vit.h"

#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "base/team.h"
#include "model.h"
#include "shapes.h"
#include "stages/activations.h"
#include "stages/attention.h"
#include "stages/blocks.h"
#include "stages/linear.h"
#include "stages/logits.h"
#include "stages/patches.h"
#include "stages/pooling.h"
#include "stages/stem.h"
#include "stages/tokens.h"

/* ---- Opening ------------------------------------------------------------ */

vit_status vit_open_with_config(vit_model **out, const void *bytes, size_t size, const char *json,
                                size_t json_size, const struct vit_kernels *kernels,
                                vit_error *why) {
    vit_loader *loader;
    *out = NULL;
    vit_status status = vit_open_begin(&loader, size, json, json_size, kernels, why);
    if (status) return status;
    vit_open_feed(loader, bytes, size);
    return vit_open_end(out, loader, why);
}

vit_status vit_open(vit_model **out, const void *bytes, size_t size,
                    const struct vit_kernels *kernels, vit_error *why) {
    return vit_open_with_config(out, bytes, size, NULL, 0, kernels, why);
}

/* ---- The state ---------------------------------------------------------- */

struct vit_state {
    const vit_model *model;
    vit_team *team;
    size_t batch; /* images that go through the blocks together */
    struct activations block;
    struct scratch *scratch; /* one for each thread */
    struct head_activations head;
    struct stem stem;
    float *patches; /* (batch·N,C·P·Q) */
    vit_ablation without;
};

/* As many images go through the blocks together as fill this many rows for each thread. This is
 * enough to use the packed weights well, and few enough to stay in the cache. */
enum { ROWS_AT_ONCE = 256 };

/* The most bytes of a state for several images at once. */
#define STATE_LIMIT ((size_t)64 << 20)

static void state_lay_out(vit_state *state, struct arena *arena, const vit_model *m, size_t batch,
                          size_t threads) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, A = attention_width(c);
    size_t rows = size_times(batch, T);
    struct scratch counted;
    *state = (vit_state){.model = m, .batch = batch};
    float *x = arena_floats(arena, rows, D), *normed = arena_floats(arena, rows, D);
    /* One buffer only if the rows coincide, because a thread norms its rows while another thread
     * still reads the heads' output. */
    float *mixed = A == D ? normed : arena_floats(arena, rows, A);
    struct activations *a = &state->block;
    *a = (struct activations){.x = x,
                              .kept = x,
                              .sum1 = x,
                              .mid = x,
                              .sum2 = x,
                              .out = x,
                              .normed1 = normed,
                              .normed2 = normed,
                              .mixed = mixed};
    a->qkv = arena_floats(arena, rows, 3, A);
    a->hidden = arena_floats(arena, rows, c->mlp_width);
    if (c->layer_scale) a->branch1 = a->branch2 = arena_floats(arena, rows, D);
    state->scratch = (void *)arena_floats(arena, threads, sizeof *state->scratch);
    for (size_t i = 0; i < threads; i++) {
        struct scratch *s = state->scratch ? &state->scratch[i] : &counted;
        scratch_attention(s, arena, m, T < ATTENTION_ROWS ? T : ATTENTION_ROWS);
        if (c->stem_layers) scratch_stem(s, arena, m);
        if (i == 0) scratch_quantized(&s->quantized, arena, m, rows);
    }
    state->head.tokens = normed;
    state->head.pooled = arena_floats(arena, 2, batch, D);
    state->head.pooled_normed = arena_floats(arena, 2, batch, D);
    if (c->pool == VIT_POOL_ATTENTION || c->pool == VIT_POOL_PRR)
        pooling_lay_out(&state->head.pooling, arena, m, batch);
    stem_lay_out(&state->stem, arena, c, batch, false);
    state->patches = arena_floats(arena, batch, vit_patches(c), patch_values(c));
}

/* 0 if so many bytes cannot be counted. */
static size_t state_bytes(const vit_model *m, size_t batch, size_t threads) {
    struct arena arena = {0};
    vit_state state;
    arena_floats(&arena, sizeof state); /* more than its bytes */
    state_lay_out(&state, &arena, m, batch, threads);
    return arena.overflow ? 0 : arena.used + CACHE_LINE;
}

/* How many images of a batch go through the blocks together. If there are enough images, each
 * thread takes whole ones. */
static size_t images_at_once(const vit_model *m, size_t batch, size_t threads) {
    size_t images = ROWS_AT_ONCE / vit_tokens(&m->config) * threads;
    if (images == 0) images = threads;
    if (images > batch) images = batch;
    while (images > 1 && state_bytes(m, images, threads) - 1 >= STATE_LIMIT) images /= 2;
    return images;
}

size_t vit_state_size(const vit_model *m, size_t batch, const vit_team *team) {
    size_t threads = team_size(team);
    if (batch == 0 || threads == 0) return 0;
    return state_bytes(m, images_at_once(m, batch, threads), threads);
}

vit_status vit_state_init(vit_state **out, void *memory, size_t size, const vit_model *m,
                          size_t batch, vit_team *team) {
    size_t need = vit_state_size(m, batch, team), threads = team_size(team);
    *out = NULL;
    if (!memory || need == 0 || size < need) return VIT_BAD_ARGUMENT;
    uintptr_t aligned = ((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct arena arena = {.base = (char *)aligned};
    vit_state *state = (vit_state *)(void *)arena_floats(&arena, sizeof *state);
    state_lay_out(state, &arena, m, images_at_once(m, batch, threads), threads);
    state->team = team;
    *out = state;
    return VIT_OK;
}

/* ---- Running ------------------------------------------------------------ */

static bool wanted(const uint8_t *mask, size_t layer) {
    return !mask || mask[layer];
}

static size_t count_wanted(const uint8_t *mask, size_t layers) {
    size_t n = 0;
    for (size_t i = 0; i < layers; i++) n += wanted(mask, i);
    return n;
}

/* Copies x (B,T,D) into out (B,layers,T,D), as layer `index` of each image. */
static void tap_hidden(float *out, const float *x, size_t batch, size_t layers, size_t index,
                       size_t each) {
    for (size_t i = 0; i < batch; i++)
        memcpy(out + (i * layers + index) * each, x + i * each, each * sizeof *x);
}

/* How many tokens the last block must compute: all of them if a tap wants them. */
static size_t last_tokens(const vit_config *c, const vit_taps *taps) {
    return taps->hidden || taps->tokens ? vit_tokens(c) : head_tokens(c);
}

static void run_blocks(vit_state *state, size_t batch, const vit_taps *taps) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), layers = c->depth, heat = c->heads * T * T;
    size_t maps = count_wanted(taps->attention_layers, layers), map = 0;
    size_t streams = count_wanted(taps->hidden_layers, layers), stream = 0;
    struct activations *a = &state->block;
    struct block_run run = {.batch = batch, .map_stride = maps * heat};
    for (size_t layer = 0; layer < layers; layer++) {
        leave_out(&run, &state->without, c, layer);
        bool keeps = taps->attention && wanted(taps->attention_layers, layer);
        a->map = keeps ? taps->attention + map++ * heat : NULL;
        run.map_rows = keeps ? T : 0;
        run.queries = layer + 1 < layers ? T : last_tokens(c, taps);
        block_forward(m, &m->params.blocks[layer], a, state->scratch, &run, state->team);
        if (taps->hidden && wanted(taps->hidden_layers, layer))
            tap_hidden(taps->hidden, a->out, batch, streams, stream++, T * c->width);
    }
}

struct tokens_call {
    const vit_state *state;
    const float *images;
    size_t batch, layer;
};

/* Computes one thread's share of the maps of one convolution. */
static void run_stem(void *context, size_t part, size_t parts) {
    const struct tokens_call *call = context;
    const vit_state *state = call->state;
    stem_forward(state->model, &state->stem, &state->scratch[part], call->images, call->layer,
                 call->batch, part, parts);
}

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
        struct maps from = stem_input(c, &call->state->stem, call->images, call->layer, i);
        patches_forward(m, x + prefix * D, call->state->patches + i * N * patch, &from,
                        rows_within(share, i * T + prefix, N));
        tokens_prefix(m, x, rows_within(share, i * T, T));
        tokens_place(m, x, rows_within(share, i * T, T), !call->state->without.positions);
    }
}

/* Runs at most state->batch images: pixels → patches → tokens → blocks → logits. */
static void run_some(vit_state *state, const float *images, size_t batch, float *logits,
                     const vit_taps *taps) {
    const vit_model *m = state->model;
    struct tokens_call call = {state, images, batch, 0};
    for (; call.layer < m->config.stem_layers; call.layer++) team_run(state->team, run_stem, &call);
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
        each_map = count_wanted(taps->attention_layers, c->depth) * c->heads * T * T;
    if (taps->hidden) each_stream = count_wanted(taps->hidden_layers, c->depth) * T * c->width;
    if (!all_finite(images, batch * image)) return VIT_BAD_IMAGE;
    for (size_t first = 0, n; first < batch; first += n) {
        n = batch - first < state->batch ? batch - first : state->batch;
        vit_taps part = *taps;
        if (taps->attention) part.attention += first * each_map;
        if (taps->hidden) part.hidden += first * each_stream;
        if (taps->tokens) part.tokens += first * T * c->width;
        if (taps->pooled) part.pooled += first * c->width;
        run_some(state, images + first * image, n, logits ? logits + first * c->classes : NULL,
                 &part);
    }
    return VIT_OK;
}

void vit_state_ablate(vit_state *state, const vit_ablation *without) {
    state->without = without ? *without : (vit_ablation){0};
}

/* ---- Tracing ------------------------------------------------------------ */

static void copy_tokens(float *to, size_t index, const float *x, const vit_config *c) {
    size_t size = vit_tokens(c) * c->width;
    if (to) memcpy(to + index * size, x, size * sizeof *to);
}

/* The tokens of one image, before and after they get positions. */
static void trace_tokens(vit_state *state, const float *image, const vit_trace *trace) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    struct tokens_call call = {state, image, 1, 0};
    struct rows patches = {0, vit_patches(c)}, tokens = {0, vit_tokens(c)};
    float *x = state->block.x;
    for (; call.layer < c->stem_layers; call.layer++) team_run(state->team, run_stem, &call);
    struct maps from = stem_input(c, &state->stem, image, c->stem_layers, 0);
    patches_forward(m, x + vit_prefix(c) * c->width, state->patches, &from, patches);
    tokens_prefix(m, x, tokens);
    copy_tokens(trace->embedded, 0, x, c);
    tokens_place(m, x, tokens, !state->without.positions);
}

/* One block. Both branches are kept apart, so that what they add can be told. */
static void trace_block(vit_state *state, size_t layer, const vit_trace *trace) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    const struct block_params *p = &m->params.blocks[layer];
    size_t T = vit_tokens(c), D = c->width, heat = c->heads * T * T;
    struct activations a = state->block;
    struct block_run run = {.batch = 1, .queries = T, .map_rows = T, .map_stride = heat};
    leave_out(&run, &state->without, c, layer);
    if (trace->qkv) a.qkv = trace->qkv + layer * T * 3 * attention_width(c);
    if (trace->attention) a.map = trace->attention + layer * heat;
    if (trace->scores) a.raw = trace->scores + layer * heat;
    if (trace->added) {
        a.branch1 = trace->added + layer * 2 * T * D;
        a.branch2 = a.branch1 + T * D;
    }
    block_forward(m, p, &a, state->scratch, &run, state->team);
    const float *gains[] = {p->ls1, p->ls2};
    for (size_t half = 0; half < 2 && trace->added; half++)
        for (size_t i = 0; gains[half] && i < T * D; i++)
            a.branch1[half * T * D + i] *= gains[half][i % D];
}

vit_status vit_run_traced(const vit_model *m, vit_state *state, const float *image, float *logits,
                          const vit_trace *trace) {
    const vit_config *c = &m->config;
    if (state->model != m) return VIT_BAD_ARGUMENT;
    if (!all_finite(image, c->channels * c->image_size[0] * c->image_size[1])) return VIT_BAD_IMAGE;
    trace_tokens(state, image, trace);
    copy_tokens(trace->stream, 0, state->block.x, c);
    for (size_t layer = 0; layer < c->depth; layer++) {
        trace_block(state, layer, trace);
        copy_tokens(trace->stream, layer + 1, state->block.x, c);
    }
    logits_forward(m, logits, &state->head, state->block.x, 1, vit_tokens(c));
    return VIT_OK;
}

vit_status vit_run_head(const vit_model *m, vit_state *state, const float *tokens, float *logits) {
    if (state->model != m || !m->config.classes) return VIT_BAD_ARGUMENT;
    logits_forward(m, logits, &state->head, tokens, 1, vit_tokens(&m->config));
    return VIT_OK;
}
