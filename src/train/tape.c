/* Forward and backward over a tape. The forward pass is the path of vit.c, but keeps all
 * activations. The backward pass goes back along it; each stage's backward function lies beside
 * its forward function. */
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "base/team.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "stages/activations.h"
#include "stages/attention.h"
#include "stages/blocks.h"
#include "stages/logits.h"
#include "stages/patches.h"
#include "stages/stem.h"
#include "stages/tokens.h"
#include "tape.h"
#include "text/learn.h"
#include "vit.h"

struct vit_tape {
    size_t batch;
    const float *keep;
    struct activations *blocks; /* (L) */
    size_t frozen;              /* blocks that get no gradient */
    struct vit_params gradient; /* points into `gradient_base` */
    float *gradient_base;
    struct scratch scratch;
    struct head_activations head;
    struct stem stem;
    const float *images;
    float *patches, *first, *last,
        *dpooled;          /* first, last: the tokens before and after the blocks */
    struct text_tape text; /* of a decoder */
    const uint32_t *ids;
};

/* A decoder reads all of an image's tokens. */
static size_t tokens_read(const vit_config *c) {
    return c->decoder.depth ? vit_tokens(c) : head_tokens(c);
}

/* How many of each image's tokens go on from this block; from the last, those that are read. */
static size_t tokens_after(const vit_config *c, size_t layer) {
    return layer + 1 < c->depth ? vit_tokens(c) : tokens_read(c);
}

/* With arena->base NULL it only counts. */
static void tape_lay_out(vit_tape *tape, struct arena *arena, const vit_model *m, size_t batch) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, rows = size_times(batch, T);
    struct activations counted, *blocks;
    *tape = (vit_tape){.batch = batch};
    tape->blocks = (void *)arena_floats(arena, c->depth, sizeof *tape->blocks);
    params_blocks(&tape->gradient, arena_floats(arena, params_blocks_bytes(c)), c);
    blocks = tape->blocks;
    stem_lay_out(&tape->stem, arena, c, batch, true);
    tape->patches = arena_floats(arena, batch, vit_patches(c), patch_values(c));
    float *x = arena_floats(arena, rows, D), *branch = arena_floats(arena, rows, D);
    tape->first = x;
    for (size_t i = 0; i < c->depth; i++) {
        struct activations *a = blocks ? &blocks[i] : &counted;
        tape_block(a, arena, m, batch, tokens_after(c, i), branch);
        a->x = x;
        if (!a->query_x) a->query_x = x;
        x = a->out;
    }
    tape->last = x;
    tape->head.tokens = arena_floats(arena, rows, D);
    tape->head.mean = arena_floats(arena, rows, 3);
    tape->head.rstd = arena_floats(arena, rows, 3);
    head_lay_out(&tape->head, arena, c, batch);
    tape->dpooled = arena_floats(arena, head_gradients(c, batch));
    if (c->decoder.depth) text_tape_lay_out(&tape->text, arena, m, batch);
    tape_scratch(&tape->scratch, arena, m, batch);
    scratch_stem_backward(&tape->scratch, arena, c, batch);
}

const char *vit_untrainable(const vit_config *c) {
    const struct {
        bool found;
        const char *what;
    } all[] = {
        {c->classes == 0 && !c->decoder.depth, "it has no head"},
        {c->text.depth, "it has texts beside images (text)"},
        {c->detections, "it finds objects (detections)"},
        {c->mid_position, "it adds positions after its blocks (mid_position)"},
        {c->pool > VIT_POOL_MEAN, "its pool is neither class nor mean"},
        {c->norm_pre, "it norms the tokens before the blocks (norm_pre)"},
        {c->patch_norm_in, "it norms the patches' pixels (patch_embed.norm_in)"},
        {c->patch_norm, "it norms the patches' tokens (patch_embed.norm)"},
        {c->tokens_to_token, "its patches are made by tokens_to_token"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].found) return all[i].what;
    return NULL;
}

size_t vit_tape_size(const vit_model *m, size_t batch) {
    struct arena arena = {0};
    vit_tape tape;
    arena_floats(&arena, sizeof tape);
    if (batch == 0 || vit_untrainable(&m->config)) return 0;
    tape_lay_out(&tape, &arena, m, batch);
    return arena.overflow ? 0 : arena.used + CACHE_LINE;
}

vit_status vit_tape_init(vit_tape **out, void *memory, size_t size, const vit_model *m,
                         size_t batch) {
    size_t need = vit_tape_size(m, batch);
    *out = NULL;
    if (!memory || need == 0 || size < need) return VIT_BAD_ARGUMENT;
    if (m->kernels->packed || m->config.int8) return VIT_BAD_ARGUMENT;
    uintptr_t aligned = ((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct arena arena = {.base = (char *)aligned};
    vit_tape *tape = (vit_tape *)(void *)arena_floats(&arena, sizeof *tape);
    tape_lay_out(tape, &arena, m, batch);
    *out = tape;
    return VIT_OK;
}

void vit_tape_freeze(vit_tape *tape, size_t blocks) {
    tape->frozen = blocks;
    tape->gradient_base = NULL;
}

static struct block_run run_of(const vit_config *c, const vit_tape *tape, size_t batch,
                               size_t layer) {
    size_t T = vit_tokens(c), queries = tokens_after(c, layer);
    return (struct block_run){.batch = batch,
                              .queries = queries,
                              .map_rows = queries,
                              .map_stride = c->heads * T * T,
                              .map_each = T * T,
                              .keep = tape->keep ? tape->keep + layer : NULL};
}

static size_t patch_floats(const vit_config *c) {
    return vit_patches(c) * patch_values(c);
}

void vit_forward(const vit_model *m, vit_tape *tape, const float *images, size_t batch,
                 float *logits, const float *keep) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width;
    tape->keep = keep;
    tape->images = images;
    stem_forward(m, &tape->stem, &tape->scratch, images, batch, NULL);
    for (size_t i = 0; i < batch; i++) {
        float *x = tape->first + i * T * D;
        struct maps from = stem_input(c, &tape->stem, images, c->stem_layers, i);
        patches_forward(m, x + vit_prefix(c) * D, tape->patches + i * patch_floats(c), &from,
                        (struct rows){0, vit_patches(c)});
        tokens_prefix(m, x, (struct rows){0, T});
        tokens_place(m, x, (struct rows){0, T}, true);
    }
    for (size_t layer = 0; layer < c->depth; layer++) {
        struct block_run run = run_of(c, tape, batch, layer);
        block_forward(m, &m->params.blocks[layer], &tape->blocks[layer], &tape->scratch, &run,
                      NULL);
    }
    logits_forward(m, logits, &tape->head, tape->last, batch, tokens_read(c));
}

void vit_forward_text(const vit_model *m, vit_tape *tape, const uint32_t *ids, size_t batch,
                      size_t tokens, float *logits) {
    tape->ids = ids;
    text_tape_forward(m, &tape->text, ids, batch, tokens, tape->head.tokens, logits);
}

/* Finds the gradient's tensors. A tape mostly gets the same gradient again, so it looks only if the
 * gradient is another one. */
static const struct vit_params *bind_gradient(const vit_model *m, vit_tape *tape, float *gradient) {
    struct vit_params *g = &tape->gradient;
    if (gradient == tape->gradient_base) return g;
    params_bind(g, gradient, &m->config, m->kernels);
    tape->gradient_base = gradient;
    if (tape->frozen > m->config.depth)
        g->norm_gain = g->norm_bias = g->fc_norm_gain = g->fc_norm_bias = NULL;
    return g;
}

/* From the gradient of the last block's tokens, in scratch.dx. */
static void blocks_backward(const vit_model *m, const struct vit_params *g, vit_tape *tape,
                            size_t batch) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width;
    float *dx = tape->scratch.dx;
    for (size_t layer = c->depth; layer-- > tape->frozen;) {
        struct block_run run = run_of(c, tape, batch, layer);
        block_backward(m, &m->params.blocks[layer], &g->blocks[layer], &tape->blocks[layer],
                       &tape->scratch, &run);
    }
    if (tape->frozen) return;
    for (size_t i = 0; i < batch; i++) {
        tokens_backward(m, g, dx + i * T * D);
        patches_backward(m, g, dx + (i * T + vit_prefix(c)) * D,
                         tape->patches + i * patch_floats(c), &tape->scratch, i);
    }
    stem_backward(m, g, &tape->stem, &tape->scratch, tape->images, batch);
}

void vit_backward(const vit_model *m, vit_tape *tape, size_t batch, const float *dlogits,
                  float *gradient) {
    const struct vit_params *g = bind_gradient(m, tape, gradient);
    logits_backward(m, g, tape->scratch.dx, dlogits, &tape->head, tape->last, tape->dpooled, batch,
                    tokens_read(&m->config));
    blocks_backward(m, g, tape, batch);
}

void vit_backward_text(const vit_model *m, vit_tape *tape, size_t batch, size_t tokens,
                       const float *dlogits, float *gradient) {
    const struct vit_params *g = bind_gradient(m, tape, gradient);
    float *dx = tape->scratch.dx;
    text_tape_backward(m, &tape->text, &g->decoder, tape->ids, batch, tokens, tape->head.tokens,
                       dlogits, dx);
    if (tape->frozen > m->config.depth) return;
    final_norm_backward(m, g, dx, &tape->head, tape->last, batch * vit_tokens(&m->config), batch);
    blocks_backward(m, g, tape, batch);
}
