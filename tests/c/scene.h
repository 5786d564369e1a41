/* A model of random weights in each kernel table, an image, and the trace of a run on it. */
#ifndef SCENE_H
#define SCENE_H

#include "each_scene.h"
#include "models.h"
#include "trace.h"
#include "twin.h"

struct scene {
    const char *name;
    const struct vit_kernels *kernels;
    vit_model *origin, *model; /* origin has natural layout, model the table's own */
    const vit_config *c;
    size_t T, D, A, N, L, h, d, K;
    float *image, *logits;
    struct owned_state state;
    vit_trace trace;      /* all arrays */
    vit_ablation without; /* nothing, until a test says otherwise */
};

static bool scene_open(struct scene *s, size_t config, const struct vit_kernels *kernels) {
    uint64_t seed = 300 + config;
    *s = (struct scene){.name = CONFIGS[config].name, .kernels = kernels};
    s->origin = random_model(&CONFIGS[config].config, unpacked_kernels(), seed);
    s->model = s->origin ? reopen(s->origin, kernels) : NULL;
    if (!s->model) return false;
    const vit_config *c = s->c = vit_model_config(s->model);
    s->T = vit_tokens(c), s->N = vit_patches(c), s->D = c->width, s->K = vit_logits(c);
    s->L = c->depth, s->h = c->heads;
    s->d = c->head_width ? c->head_width : c->width / c->heads, s->A = s->h * s->d;
    s->image = random_floats(image_floats(c), 1, &seed);
    s->logits = guarded(s->K);
    s->state = new_state(s->model, 1);
    s->trace = (vit_trace){.embedded = guarded(s->T * s->D),
                           .stream = guarded((s->L + 1) * s->T * s->D),
                           .qkv = guarded(s->L * s->T * 3 * s->A),
                           .scores = guarded(s->L * s->h * s->T * s->T),
                           .attention = guarded(s->L * s->h * s->T * s->T),
                           .added = guarded(s->L * 2 * s->T * s->D)};
    vit_status status = vit_run_traced(s->model, s->state.state, s->image, s->logits, &s->trace);
    CHECK(!status, "%s: %s", s->name, vit_status_name(status));
    return !status;
}

static void scene_close(struct scene *s) {
    float *const all[] = {s->trace.embedded,  s->trace.stream, s->trace.qkv, s->trace.scores,
                          s->trace.attention, s->trace.added,  s->logits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) guarded_free(all[i]);
    free(s->state.memory);
    free(s->image);
    vit_close(s->model);
    vit_close(s->origin);
}

/* The twin's tensor, to be changed. */
#define TENSOR(t, ...) ((double *)(uintptr_t)twin_tensor(t, __VA_ARGS__))

static void zero(double *x, size_t n) {
    for (size_t i = 0; x && i < n; i++) x[i] = 0;
}

/* The last MLP of the twin adds 0. */
static inline void zero_last_mlp(const struct scene *s, const struct twin *t) {
    size_t D = s->D, layer = s->L - 1;
    zero(TENSOR(t, "blocks.%zu.mlp.fc2.weight", layer), D * s->c->mlp_width);
    zero(TENSOR(t, "blocks.%zu.mlp.fc2.bias", layer), D);
    if (!s->c->mlp_norm_after) return;
    zero(TENSOR(t, "blocks.%zu.norm2.weight", layer), D);
    zero(TENSOR(t, "blocks.%zu.norm2.bias", layer), D);
}

/* Marks every second head in the mask (L,h). The twin's values of them are 0, so they give nothing. */
static void silence_heads(const struct scene *s, struct twin *t, uint8_t *heads) {
    size_t K = s->c->attention == VIT_PER_HEAD ? s->d : s->D;
    for (size_t i = 0; i < s->L * s->h; i += 2) {
        size_t layer = i / s->h, first = 2 * s->A + i % s->h * s->d;
        double *bias = TENSOR(t, "blocks.%zu.attn.qkv.bias", layer);
        zero(TENSOR(t, "blocks.%zu.attn.qkv.weight", layer) + first * K, s->d * K);
        zero(bias ? bias + first : NULL, s->d);
        heads[i] = 1;
    }
}

/* Replaces a part of a head in the last layer by rows (T,d) that are all alike before rotary positions
 * turn them. The twin gets them by a matrix of 0 and such a bias. */
static vit_replacement alike_rows(const struct scene *s, struct twin *t, size_t head, size_t part,
                                  float *rows) {
    size_t layer = s->L - 1, first = part * s->A + head * s->d;
    size_t K = s->c->attention == VIT_PER_HEAD ? s->d : s->D;
    double *bias = TENSOR(t, "blocks.%zu.attn.qkv.bias", layer);
    zero(TENSOR(t, "blocks.%zu.attn.qkv.weight", layer) + first * K, s->d * K);
    for (size_t i = 0; i < s->T * s->d; i++) rows[i] = 0.3f * (float)(i % s->d + 1);
    for (size_t i = 0; i < s->d; i++) bias[first + i] = rows[i];
    for (size_t token = 0; token < s->T && part < 2 && s->c->position == VIT_ROTARY; token++) {
        double *turned = doubles(s->d);
        memcpy(turned, bias + first, s->d * sizeof *turned);
        twin_rotary(turned, t, layer, head, token, s->d);
        for (size_t i = 0; i < s->d; i++) rows[token * s->d + i] = (float)turned[i];
        free(turned);
    }
    return (vit_replacement){layer, head, part, rows};
}

static void each_scene(void (*check)(struct scene *)) {
    EACH_MODEL(k, i) {
        struct scene s;
        if (scene_open(&s, i, k)) check(&s);
        scene_close(&s);
    }
}

#endif
