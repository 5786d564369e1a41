/* The path of one image, with all of its intermediate results. */
#include <string.h>

#include "base/team.h"
#include "edition.h"
#include "kernels/kernels.h"
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
#include "trace.h"
#include "vit.h"

static void copy_tokens(float *to, size_t index, const float *x, const vit_config *c) {
    size_t size = vit_tokens(c) * c->width;
    if (to) memcpy(to + index * size, x, size * sizeof *to);
}

/* The tokens of one image, before and after they get positions. */
static void trace_tokens(vit_state *state, const float *image, const vit_trace *trace) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    struct rows patches = {0, vit_patches(c)}, tokens = {0, vit_tokens(c)};
    float *x = state->block.x;
    stem_forward(m, &state->stem, state->scratch, image, 1, state->team);
    if (tokens_to_token_of(c)) soft_split_forward(m, &state->split, image, 1, state->team);
    struct maps from = patches_input(state, image, 0);
    patches_forward(m, x + vit_prefix(c) * c->width, state->patches, &from, patches);
    tokens_prefix(m, x, tokens);
    copy_tokens(trace->embedded, 0, x, c);
    tokens_place(m, x, tokens, !state->without.positions);
}

/* One block. Both branches are kept apart, so that the trace has what each adds. */
static void trace_block(vit_state *state, size_t layer, const vit_trace *trace) {
    const vit_model *m = state->model;
    const vit_config *c = &m->config;
    const struct block_params *p = &m->params.blocks[layer];
    size_t T = vit_tokens(c), D = c->width, heat = c->heads * T * T;
    struct activations a = state->block;
    struct block_run run = {
        .batch = 1, .queries = T, .map_rows = T, .map_stride = heat, .map_each = T * T};
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
        if (!state->without.positions) tokens_place_again(m, state->block.x, 1, layer);
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

vit_status vit_run_project(const vit_model *m, float *out, const float *x, size_t n) {
    const vit_config *c = &m->config;
    size_t D = c->width, K = vit_logits(c);
    bool simple = c->pool == VIT_POOL_CLASS && !norms_pooled(c) && !c->head_hidden &&
                  !c->distillation_tokens && !c->detections;
    if (!c->classes || !simple) return VIT_BAD_ARGUMENT;
    m->kernels->matmul(out, K, x, D, m->params.head_weight, m->params.head_bias, VIT_LINEAR, false,
                       n, K, D);
    return VIT_OK;
}
