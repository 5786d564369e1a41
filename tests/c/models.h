/* Small random models of every kind: a config, its JSON, a safetensors file in memory, and the
 * state and outputs to run it. */
#ifndef MODELS_H
#define MODELS_H

#include "check.h"
#include "kernels/kernels.h"
#include "save.h"
#include "vit.h"

/* ---- Configs ------------------------------------------------------------ */

#define TINY                                                                                       \
    .image_size = {6, 9}, .patch_size = {3, 3}, .channels = 1, .width = 12, .depth = 2,            \
    .heads = 3, .mlp_width = 17, .classes = 5, .norm_eps = 1e-6f, .final_norm = true,              \
    .position = VIT_LEARNED, .residual = true, .qkv_bias = true, .patch_bias = true,               \
    .head_bias = true, .class_tokens = 1, .rotary_base = 100

/* Of T2T-ViT, with tokens_to_token. */
#define SPLIT .image_size = {16, 32}, .patch_size = {16, 16}, .token_width = 5

struct named_config {
    const char *name;
    vit_config config;
};

/* Every value of every key at least once, and sizes that are easy to get wrong. Members after TINY
 * override TINY's on purpose. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct named_config CONFIGS[] = {
    {"plain", {TINY}},
    {"post norm", {TINY, .norm = VIT_POST, .activation = VIT_RELU, .final_norm = false}},
    {"gelu_tanh, sincos1d", {TINY, .activation = VIT_GELU_TANH, .position = VIT_SINCOS1D}},
    {"quick_gelu, sincos2d", {TINY, .activation = VIT_QUICK_GELU, .position = VIT_SINCOS2D}},
    {"no positions, mean", {TINY, .position = VIT_POSITION_NONE, .pool = VIT_POOL_MEAN}},
    {"mean without a prefix", {TINY, .pool = VIT_POOL_MEAN, .class_tokens = 0}},
    {"fc_norm", {TINY, .pool = VIT_POOL_MEAN, .fc_norm = true}},
    {"a norm of the tokens and one of their mean",
     {TINY, .pool = VIT_POOL_MEAN, .head_norm = true}},
    {"a last norm and one of the class token, before a head with a hidden layer",
     {TINY, .head_norm = true, .norm = VIT_POST, .head_hidden = 7, .head_activation = VIT_RELU}},
    {"distillation and registers", {TINY, .distillation_tokens = 1, .register_tokens = 3}},
    {"positions of patches only", {TINY, .register_tokens = 1, .position_rows = 6}},
    {"no qkv bias, qk_norm, layer_scale",
     {TINY, .qkv_bias = false, .qk_norm = true, .layer_scale = true}},
    {"post norm, qk_norm, layer_scale",
     {TINY, .norm = VIT_POST, .qk_norm = true, .layer_scale = true}},
    {"wider heads", {TINY, .head_width = 7, .qk_norm = true}},
    {"narrower heads", {TINY, .head_width = 3, .position = VIT_RELATIVE}},
    {"per_head", {TINY, .attention = VIT_PER_HEAD, .position = VIT_SINCOS1D}},
    {"per_head with all", {TINY, .attention = VIT_PER_HEAD, .qk_norm = true, .layer_scale = true}},
    {"three channels, flat patches", {TINY, .channels = 3, .patch_size = {1, 9}}},
    {"odd width, one head", {TINY, .width = 7, .heads = 1, .position = VIT_SINCOS1D}},
    {"heads one number wide", {TINY, .width = 5, .heads = 5, .mlp_width = 1}},
    {"one patch, one class, one channel", {TINY, .patch_size = {6, 9}, .classes = 1, .depth = 1}},
    {"one token", {TINY, .patch_size = {6, 9}, .class_tokens = 0, .pool = VIT_POOL_MEAN}},
    {"more tokens than are attended at once", {TINY, .image_size = {39, 30}, .depth = 1}},
    {"wide enough for every tile",
     {TINY, .image_size = {15, 15}, .width = 40, .heads = 2, .mlp_width = 70, .classes = 33}},
    {"as wide as whole panels, two tokens go on",
     {TINY, .width = 32, .heads = 2, .qk_norm = true, .distillation_tokens = 1}},
    {"per_head as wide as whole panels", {TINY, .width = 48, .attention = VIT_PER_HEAD}},
    {"overlapping patches",
     {TINY, .image_size = {7, 10}, .patch_stride = {2, 3}, .position = VIT_SINCOS2D}},
    {"patches with gaps",
     {TINY, .channels = 3, .image_size = {13, 9}, .patch_size = {2, 3}, .patch_stride = {5, 3},
      .position = VIT_RELATIVE}},
    {"the MLP's norm after it, tanh",
     {TINY, .mlp_norm_after = true, .activation = VIT_TANH, .layer_scale = true}},
    {"the MLP's norm after it, added at once", {TINY, .mlp_norm_after = true}},
    {"a head with a hidden layer",
     {TINY, .head_hidden = 7, .head_activation = VIT_TANH, .pool = VIT_POOL_MEAN, .fc_norm = true}},
    {"a wider hidden layer, doubt",
     {TINY, .head_hidden = 31, .head_activation = VIT_GELU, .doubt = true}},
    {"doubt", {TINY, .doubt = true, .pool = VIT_POOL_MEAN}},
    {"relative", {TINY, .position = VIT_RELATIVE}},
    {"relative and learned",
     {TINY, .position = VIT_RELATIVE, .learned_too = true, .register_tokens = 1}},
    {"relative, qk_norm, mean without a prefix",
     {TINY, .position = VIT_RELATIVE, .qk_norm = true, .pool = VIT_POOL_MEAN, .class_tokens = 0,
      .image_size = {9, 6}}},
    {"relative, post norm, per_head, distillation and registers",
     {TINY, .position = VIT_RELATIVE, .norm = VIT_POST, .attention = VIT_PER_HEAD,
      .distillation_tokens = 1, .register_tokens = 2, .image_size = {12, 6}}},
    {"relative, one token",
     {TINY, .position = VIT_RELATIVE, .patch_size = {6, 9}, .class_tokens = 0,
      .pool = VIT_POOL_MEAN}},
    {"relative, more tokens than are attended at once",
     {TINY, .position = VIT_RELATIVE, .image_size = {15, 39}, .depth = 1, .width = 4, .heads = 1,
      .mlp_width = 5}},
    {"gated, silu", {TINY, .mlp = VIT_MLP_GATED, .activation = VIT_SILU}},
    {"gated, the hidden numbers normed, post norm, two tokens go on",
     {TINY, .mlp = VIT_MLP_GATED, .mlp_norm = true, .norm = VIT_POST, .distillation_tokens = 1}},
    {"gated, wide enough for every tile",
     {TINY, .mlp = VIT_MLP_GATED, .activation = VIT_SILU, .mlp_norm = true, .image_size = {15, 15},
      .width = 40, .heads = 2, .mlp_width = 70, .layer_scale = true}},
    {"the hidden numbers normed", {TINY, .mlp_norm = true, .activation = VIT_SILU}},
    {"rotary, qk_norm, registers",
     {TINY, .position = VIT_ROTARY, .qk_norm = true, .register_tokens = 2}},
    {"rotary beside learned ones, neighbours, columns first, from 1, another grid",
     {TINY, .position = VIT_ROTARY, .learned_too = true, .rotary_pairs = VIT_NEIGHBOURS,
      .rotary_first = VIT_COLUMNS, .rotary_places = VIT_FROM_1, .rotary_base = 10000,
      .rotary_grid = {5, 2}, .image_size = {9, 12}}},
    {"rotary, wider heads, from 0, post norm, mean without a prefix",
     {TINY, .position = VIT_ROTARY, .head_width = 8, .rotary_places = VIT_FROM_0, .norm = VIT_POST,
      .class_tokens = 0, .pool = VIT_POOL_MEAN}},
    {"rotary, per_head, more tokens than are attended at once",
     {TINY, .position = VIT_ROTARY, .attention = VIT_PER_HEAD, .rotary_pairs = VIT_NEIGHBOURS,
      .image_size = {15, 45}, .depth = 1}},
    {"rotary, learned frequencies, qk_norm, distillation and registers",
     {TINY, .position = VIT_ROTARY, .rotary_frequencies = VIT_ROTARY_LEARNED, .qk_norm = true,
      .distillation_tokens = 1, .register_tokens = 1}},
    {"rotary, learned frequencies, per_head, neighbours, columns first, from 0, a grid",
     {TINY, .position = VIT_ROTARY, .rotary_frequencies = VIT_ROTARY_LEARNED,
      .attention = VIT_PER_HEAD, .rotary_pairs = VIT_NEIGHBOURS, .rotary_first = VIT_COLUMNS,
      .rotary_places = VIT_FROM_0, .rotary_grid = {5, 2}, .image_size = {9, 15}, .class_tokens = 0,
      .pool = VIT_POOL_MEAN}},
    {"stem",
     {TINY, .image_size = {8, 12}, .patch_size = {4, 4}, .stem_layers = 2,
      .stem = {{3, 2}, {5, 2}}}},
    {"stem of one, three channels, flat patches of its maps",
     {TINY, .image_size = {8, 12}, .patch_size = {2, 4}, .channels = 3, .stem_layers = 1,
      .stem = {{7, 2}}, .activation = VIT_QUICK_GELU}},
    {"stem of strides 1, 2 and 1, patches of its maps",
     {TINY, .image_size = {6, 8}, .patch_size = {2, 4}, .stem_layers = 3,
      .stem = {{3, 1}, {4, 2}, {2, 1}}}},
    {"stem without blocks",
     {TINY, .image_size = {8, 12}, .patch_size = {4, 4}, .depth = 0, .pool = VIT_POOL_MEAN,
      .class_tokens = 0, .position = VIT_POSITION_NONE, .stem_layers = 2,
      .stem = {{3, 2}, {5, 2}}}},
    {"tokens to tokens by a transformer, more than are attended at once",
     {TINY, SPLIT, .tokens_to_token = VIT_SPLIT_TRANSFORMER, .image_size = {32, 80},
      .channels = 2}},
    {"tokens to tokens by a performer, mean without a prefix",
     {TINY, SPLIT, .tokens_to_token = VIT_SPLIT_PERFORMER, .class_tokens = 0, .pool = VIT_POOL_MEAN,
      .channels = 3}},
    {"tokens to tokens wide enough for every tile, one patch, no blocks",
     {TINY, SPLIT, .tokens_to_token = VIT_SPLIT_TRANSFORMER, .token_width = 37,
      .image_size = {16, 16}, .depth = 0, .pool = VIT_POOL_MEAN, .class_tokens = 0}},
    {"tokens to tokens by a wide performer",
     {TINY, SPLIT, .tokens_to_token = VIT_SPLIT_PERFORMER, .token_width = 40,
      .image_size = {48, 32}, .activation = VIT_QUICK_GELU}},
    {"no residual connections", {TINY, .residual = false}},
    {"no residual connections, post norm, layer_scale, two tokens go on",
     {TINY, .residual = false, .norm = VIT_POST, .layer_scale = true, .distillation_tokens = 1}},
    {"no residual connections, per_head, mean",
     {TINY, .residual = false, .attention = VIT_PER_HEAD, .pool = VIT_POOL_MEAN}},
    {"patches alone", {TINY, .depth = 0, .pool = VIT_POOL_MEAN, .register_tokens = 1}},
    {"stem of four, more positions than are computed at once",
     {TINY, .image_size = {32, 80}, .patch_size = {16, 16}, .stem_layers = 4,
      .stem = {{2, 2}, {3, 2}, {4, 2}, {17, 2}}, .depth = 1, .activation = VIT_GELU_TANH}},
};
#pragma GCC diagnostic pop
enum { CONFIGS_COUNT = sizeof CONFIGS / sizeof *CONFIGS };

/* The config as JSON for vit_config_read. It lives until the next call. */
static inline const char *config_json(const vit_config *c) {
    static const char *const ACTIVATIONS[] = {"gelu", "gelu_tanh", "quick_gelu",
                                              "relu", "tanh",      "silu"};
    static const char *const POSITIONS[] = {"none",     "learned",  "sincos1d",
                                            "sincos2d", "relative", "rotary"};
    static const char *const PLACES[] = {"minus_1_to_1", "from_0", "from_1"};
    static const char *const BOOLS[] = {"false", "true"};
    static const char *const SPLITS[] = {"none", "transformer", "performer"};
    static char text[1024], prefix[256], stem[64], more[256];
    size_t tokens = c->class_tokens + c->distillation_tokens + c->register_tokens;
    prefix[0] = stem[0] = '\0';
    more[0] = '\0';
    if (c->head_width) snprintf(more, sizeof more, ",\"head_width\":%zu", c->head_width);
    if (c->patch_stride[0])
        snprintf(more, sizeof more, ",\"patch_stride\":[%zu,%zu]", c->patch_stride[0],
                 c->patch_stride[1]);
    if (c->head_hidden)
        snprintf(more, sizeof more, ",\"head_hidden\":%zu,\"head_activation\":\"%s\"",
                 c->head_hidden, ACTIVATIONS[c->head_activation]);
    if (c->position == VIT_ROTARY)
        snprintf(more + strlen(more), sizeof more - strlen(more),
                 ",\"rotary_places\":\"%s\",\"rotary_base\":%.9g,\"rotary_first\":\"%s\","
                 "\"rotary_pairs\":\"%s\",\"rotary_frequencies\":\"%s\"",
                 PLACES[c->rotary_places], (double)c->rotary_base,
                 c->rotary_first ? "columns" : "rows", c->rotary_pairs ? "neighbours" : "halves",
                 c->rotary_frequencies ? "learned" : "powers");
    if (c->rotary_grid[0])
        snprintf(more + strlen(more), sizeof more - strlen(more), ",\"rotary_grid\":[%zu,%zu]",
                 c->rotary_grid[0], c->rotary_grid[1]);
    if (c->tokens_to_token)
        snprintf(more + strlen(more), sizeof more - strlen(more),
                 ",\"tokens_to_token\":\"%s\",\"token_width\":%zu", SPLITS[c->tokens_to_token],
                 c->token_width);
    for (size_t i = 0; i < c->stem_layers; i++)
        snprintf(stem + strlen(stem), sizeof stem - strlen(stem), i ? ",[%zu,%zu]" : "[%zu,%zu]",
                 c->stem[i].channels, c->stem[i].stride);
    for (size_t i = 0; i < tokens; i++) {
        const char *name = i < c->class_tokens                            ? "\"class\""
                           : i < c->class_tokens + c->distillation_tokens ? "\"distillation\""
                                                                          : "\"register\"";
        snprintf(prefix + strlen(prefix), sizeof prefix - strlen(prefix), "%s%s", i ? "," : "",
                 name);
    }
    snprintf(text, sizeof text,
             "{\"image_size\":[%zu,%zu],\"patch_size\":[%zu,%zu],\"channels\":%zu,\"width\":%zu,"
             "\"depth\":%zu,\"heads\":%zu,\"mlp_width\":%zu,\"classes\":%zu,\"norm\":\"%s\","
             "\"norm_eps\":%.9g,\"final_norm\":%s,\"activation\":\"%s\",\"position\":\"%s\","
             "\"pool\":\"%s\",\"qkv_bias\":%s,\"qk_norm\":%s,\"layer_scale\":%s,\"residual\":%s,"
             "\"doubt\":%s,\"mlp_norm_after\":%s,\"prefix\":[%s],"
             "\"attention\":\"%s\",\"mlp\":\"%s\",\"mlp_norm\":%s,\"stem\":[%s]%s}",
             c->image_size[0], c->image_size[1], c->patch_size[0], c->patch_size[1], c->channels,
             c->width, c->depth, c->heads, c->mlp_width, c->classes, c->norm ? "post" : "pre",
             (double)c->norm_eps, BOOLS[c->final_norm], ACTIVATIONS[c->activation],
             POSITIONS[c->position], c->pool ? "mean" : "class", BOOLS[c->qkv_bias],
             BOOLS[c->qk_norm], BOOLS[c->layer_scale], BOOLS[c->residual], BOOLS[c->doubt],
             BOOLS[c->mlp_norm_after], prefix, c->attention ? "per_head" : "standard",
             c->mlp ? "gated" : "plain", BOOLS[c->mlp_norm], stem, more);
    return text;
}

static inline size_t image_floats(const vit_config *c) {
    return c->channels * c->image_size[0] * c->image_size[1];
}

/* ---- Models ------------------------------------------------------------- */

/* The tables that this build is for, best first; NULL past the last. A wasm build for better tables
 * also has those of simd128 and scalar, but its modules link none of them, and their builds test
 * them. */
static inline const struct vit_kernels *kernels_at(size_t index) {
    size_t count;
    const struct vit_kernels *const *all = vit_kernels_all(&count);
    if (index >= count) return NULL;
#ifdef __wasm__
    if (index > 0 && (all[index] == &vit_scalar || !strcmp(all[index]->name, "simd128")))
        return NULL;
#endif
    return all[index];
}

#define EACH_KERNELS(k)                                                                            \
    const struct vit_kernels *k = NULL;                                                            \
    for (size_t k##_ = 0; (k = kernels_at(k##_)); k##_++)

/* Only those that run int8. */
#define EACH_INT8_KERNELS(k) EACH_KERNELS(k) if (k->matmul_int8)

/* Goes through the models of random weights, config i in table k. */
#define EACH_MODEL(k, i) EACH_KERNELS(k) for (size_t i = 0; i < CONFIGS_COUNT; i++)

/* The best table that takes weights as they are. vit_scalar does, and is in every build. */
static inline const struct vit_kernels *unpacked_kernels(void) {
    EACH_KERNELS(k) if (!k->packed) return k;
    return &vit_scalar;
}

/* Whether a row's bits depend on that row alone. In `native` they do not, because OpenBLAS computes
 * a product in another order if the number of rows is another. */
static inline bool rows_keep_bits(const struct vit_kernels *k) {
    return strcmp(k->name, "native") != 0;
}

static inline float *parameters_of(vit_model *model) {
    size_t count;
    return vit_parameters(model, &count);
}

static inline bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Weights far from the values at which training starts, so that a 0 or a 1 hides no mistake. */
static inline void random_weights(vit_model *model, uint64_t *seed) {
    float *p = parameters_of(model);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor t = vit_tensor_at(model, i);
        bool gain = ends_with(t.name, "gamma") || (t.rank == 1 && ends_with(t.name, ".weight"));
        float scale = t.matrix && t.rank != 3 ? 2 / sqrtf((float)(t.count / t.shape[0])) : 0.6f;
        for (size_t k = 0; k < t.count; k++)
            p[t.offset + k] = gain ? 1 + 0.5f * random_float(seed) : scale * random_float(seed);
    }
}

/* A model with natural layout and random weights, for training and for the twin. */
static inline vit_model *random_model(const vit_config *config, const struct vit_kernels *kernels,
                                      uint64_t seed) {
    vit_config full = *config;
    vit_model *model = NULL;
    vit_error why = {""};
    const char *json = config_json(config);
    if (!full.position_rows) full.position_rows = vit_tokens(config);
    vit_status status = vit_create(&model, &full, json, strlen(json), kernels, &why);
    if (status) {
        check_failed(__FILE__, __LINE__, "vit_create: %s: %s", vit_status_name(status), why.text);
        return NULL;
    }
    random_weights(model, &seed);
    return model;
}

/* The model as a safetensors file, in floats or int8. The caller frees it. */
static inline uint8_t *encode_as(vit_model *model, bool int8, size_t *size) {
    const char *json = config_json(vit_model_config(model));
    const float *p = parameters_of(model);
    size_t (*encode)(uint8_t *, size_t, const vit_model *, const float *, const char *, size_t) =
        int8 ? vit_encode_int8 : vit_encode;
    *size = encode(NULL, 0, model, p, json, strlen(json));
    uint8_t *bytes = malloc(*size + (*size == 0));
    if (!bytes) exit(EXIT_FAILURE);
    encode(bytes, *size, model, p, json, strlen(json));
    return bytes;
}

static inline uint8_t *encode_model(vit_model *model, size_t *size) {
    return encode_as(model, false, size);
}

/* The same weights, in floats or int8, opened with other kernels. */
static inline vit_model *reopen_as(vit_model *model, bool int8, const struct vit_kernels *kernels) {
    size_t size;
    uint8_t *bytes = encode_as(model, int8, &size);
    vit_error why = {""};
    vit_model *other = NULL;
    vit_status status = vit_open(&other, bytes, size, kernels, &why);
    if (status)
        check_failed(__FILE__, __LINE__, "vit_open with %s: %s: %s", kernels->name,
                     vit_status_name(status), why.text);
    free(bytes);
    return other;
}

static inline vit_model *reopen(vit_model *model, const struct vit_kernels *kernels) {
    return reopen_as(model, false, kernels);
}

/* ---- Runs --------------------------------------------------------------- */

/* A state in memory of exactly its size. The caller frees `memory`. */
struct owned_state {
    vit_state *state;
    void *memory;
};

static inline struct owned_state new_team_state(const vit_model *model, size_t batch,
                                                vit_team *team) {
    struct owned_state s = {NULL, NULL};
    size_t size = vit_state_size(model, batch, team);
    s.memory = malloc(size + 1);
    if (!s.memory || vit_state_init(&s.state, s.memory, size, model, batch, team))
        check_failed(__FILE__, __LINE__, "no state of %zu bytes for a batch of %zu", size, batch);
    return s;
}

static inline struct owned_state new_state(const vit_model *model, size_t batch) {
    return new_team_state(model, batch, NULL);
}

/* Every output of vit_run, each between sentinels. */
struct outputs {
    size_t logits_count, attention_count, hidden_count, tokens_count, pooled_count;
    float *logits, *attention, *hidden, *tokens, *pooled;
};

static inline struct outputs new_outputs(const vit_config *c, size_t batch) {
    size_t T = vit_tokens(c);
    struct outputs o = {.logits_count = batch * vit_logits(c),
                        .attention_count = batch * c->depth * c->heads * T * T,
                        .hidden_count = batch * c->depth * T * c->width,
                        .tokens_count = batch * T * c->width,
                        .pooled_count = batch * c->width};
    o.logits = guarded(o.logits_count);
    o.attention = guarded(o.attention_count);
    o.hidden = guarded(o.hidden_count);
    o.tokens = guarded(o.tokens_count);
    o.pooled = guarded(o.pooled_count);
    return o;
}

static inline bool outputs_intact(const struct outputs *o) {
    return guards_intact(o->logits, o->logits_count) &&
           guards_intact(o->attention, o->attention_count) &&
           guards_intact(o->hidden, o->hidden_count) && guards_intact(o->tokens, o->tokens_count) &&
           guards_intact(o->pooled, o->pooled_count);
}

static inline void outputs_free(struct outputs *o) {
    guarded_free(o->logits);
    guarded_free(o->attention);
    guarded_free(o->hidden);
    guarded_free(o->tokens);
    guarded_free(o->pooled);
}

/* Runs the model with every tap, in a state for `state_batch` images. */
static inline struct outputs run_model(const vit_model *model, const float *images, size_t batch,
                                       size_t state_batch) {
    struct outputs o = new_outputs(vit_model_config(model), batch);
    struct owned_state s = new_state(model, state_batch);
    vit_taps taps = {
        .attention = o.attention, .hidden = o.hidden, .tokens = o.tokens, .pooled = o.pooled};
    if (s.state) {
        vit_status status = vit_run(model, s.state, images, batch, o.logits, &taps);
        if (status) check_failed(__FILE__, __LINE__, "vit_run: %s", vit_status_name(status));
    }
    if (!outputs_intact(&o)) check_failed(__FILE__, __LINE__, "vit_run wrote past an output");
    free(s.memory);
    return o;
}

#endif
