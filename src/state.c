/* A state's size and its layout in one block of memory. */
#include "state.h"

#include "base/arena.h"
#include "base/sizes.h"
#include "base/team.h"
#include "edition.h"
#include "model.h"
#include "shapes.h"
#include "stages/activations.h"
#include "stages/attention.h"
#include "stages/linear.h"
#include "stages/pooling.h"
#include "stages/stem.h"
#include "trace.h"
#include "vit.h"

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
                              .query_x = x,
                              .sum1 = x,
                              .mid = x,
                              .sum2 = x,
                              .out = x,
                              .normed1 = normed,
                              .normed2 = normed,
                              .mixed = mixed};
    a->qkv = arena_floats(arena, rows, 3, A);
    a->hidden = arena_floats(arena, rows, mlp_rows(c));
    if (c->layer_scale) a->branch1 = a->branch2 = arena_floats(arena, rows, D);
    state->scratch = (void *)arena_floats(arena, threads, sizeof *state->scratch);
    for (size_t i = 0; i < threads; i++) {
        struct scratch *s = state->scratch ? &state->scratch[i] : &counted;
        scratch_attention(s, arena, m, T < ATTENTION_ROWS ? T : ATTENTION_ROWS);
        if (c->stem_layers) scratch_stem(s, arena, m);
        if (i == 0) scratch_quantized(&s->quantized, arena, m, rows);
    }
    state->head.tokens = normed;
    head_lay_out(&state->head, arena, c, batch);
    if (pool_of(c) == VIT_POOL_ATTENTION || pool_of(c) == VIT_POOL_PRR)
        pooling_lay_out(&state->head.pooling, arena, m, batch);
    stem_lay_out(&state->stem, arena, c, batch, false);
    if (tokens_to_token_of(c)) soft_split_lay_out(&state->split, arena, m, batch, threads);
    state->patches = arena_floats(arena, batch, vit_patches(c), patch_values(c));
}

/* 0 if that many bytes do not fit in size_t. */
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

void vit_state_ablate(vit_state *state, const vit_ablation *without) {
    state->without = without ? *without : (vit_ablation){0};
}

struct maps patches_input(const vit_state *state, const float *images, size_t image) {
    const vit_config *c = &state->model->config;
    return tokens_to_token_of(c)
               ? soft_split_input(c, &state->split, images, VIT_SOFT_SPLITS, image)
               : stem_input(c, &state->stem, images, c->stem_layers, image);
}
