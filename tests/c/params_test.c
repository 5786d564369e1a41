/* The table of parameters, compared with the names that timm's modules give them. */
#include "models.h"
#include "params.h"

/* Together these configs have every parameter: both kinds of positions, both final norms. */
#define WHOLE                                                                                      \
    TINY, .stem_layers = 6, .stem = {{4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}},              \
          .patch_norm_in = true, .patch_norm = true, .norm_pre = true, .qk_norm = true,            \
          .layer_scale = true, .distillation_tokens = 1, .register_tokens = 2, .position_rows = 10
static const vit_config EVERYTHING[] = {
    {WHOLE, .pool = VIT_POOL_ATTENTION},
    {TINY, .position_rows = 7, .pool = VIT_POOL_MEAN, .fc_norm = true, .int8 = true},
    {TINY, .attention = VIT_PER_HEAD, .pool = VIT_POOL_CLASS},
    {TINY, .position_rows = 7,
     .decoder = {.depth = 2,
                 .width = 8,
                 .mlp_width = 9,
                 .vocabulary = 7,
                 .max_tokens = 3,
                 .token_types = 2,
                 .embedding_norm = true,
                 .encoder_proj = true,
                 .final_norm = true,
                 .head_bias = true,
                 .head_hidden = true},
     .text = {.depth = 1,
              .width = 10,
              .mlp_width = 5,
              .vocabulary = 4,
              .max_tokens = 2,
              .projection = 3,
              .projection_bias = true,
              .logit_bias = true}},
};

static bool has(const char *name, const char *part) {
    return strstr(name, part) != NULL;
}

/* The kind that a tensor's name tells: of a Linear, Conv2d, LayerNorm, LayerScale or Parameter. */
static vit_kind kind_by_name(const char *name) {
    bool weight = ends_with(name, ".weight"), norm = has(name, "norm");
    bool text = !strncmp(name, "text.", 5) || !strncmp(name, "decoder.", 8);
    if (text && ends_with(name, "_embed")) return VIT_KIND_TOKEN;
    if (has(name, "type_embed")) return VIT_KIND_TOKEN;
    if (has(name, "token_embed")) return VIT_KIND_EMBEDDING;
    if (text && has(name, ".qkv.weight")) return VIT_KIND_MATRIX;
    if (!strncmp(name, "decoder.head", 12)) return weight ? VIT_KIND_HEAD : VIT_KIND_HEAD_BIAS;
    if (ends_with(name, ".scale")) return VIT_KIND_SCALE;
    if (ends_with(name, "_token") || ends_with(name, ".latent")) return VIT_KIND_TOKEN;
    if (ends_with(name, "pos_embed")) return VIT_KIND_POSITION;
    if (ends_with(name, "_bias_table")) return VIT_KIND_RELATIVE;
    if (ends_with(name, "rope.freqs")) return VIT_KIND_ROTARY;
    if (ends_with(name, ".gamma")) return VIT_KIND_LAYER_SCALE;
    if (has(name, "norm_in.")) return weight ? VIT_KIND_PIXEL_GAIN : VIT_KIND_PIXEL_BIAS;
    if (!strncmp(name, "head", 4)) return weight ? VIT_KIND_HEAD : VIT_KIND_HEAD_BIAS;
    if (has(name, "attn_pool.qkv.")) return weight ? VIT_KIND_POOL_QKV : VIT_KIND_POOL_QKV_BIAS;
    if (!weight) return VIT_KIND_BIAS;
    if (norm) return VIT_KIND_GAIN;
    if (has(name, "patch_embed.backbone.")) return VIT_KIND_CONVOLUTION;
    if (has(name, "patch_embed.proj.")) return VIT_KIND_PATCHES;
    return has(name, ".qkv.") ? VIT_KIND_QKV : VIT_KIND_MATRIX;
}

TEST("every parameter has the kind that its name implies") {
    static const vit_position POSITIONS[] = {VIT_LEARNED, VIT_RELATIVE, VIT_ROTARY};
    bool seen[VIT_KIND_SCALE + 1] = {false};
    for (size_t i = 0; i < sizeof EVERYTHING / sizeof *EVERYTHING; i++)
        for (size_t at = 0; at < 3; at++) {
            vit_config c = EVERYTHING[i];
            c.position = POSITIONS[at];
            c.rotary_frequencies = VIT_ROTARY_LEARNED;
            struct params_walk walk = params_walk_start(&c, &vit_scalar, NULL);
            struct param param;
            while (params_next(&walk, &param)) {
                vit_kind want = kind_by_name(param.name);
                bool matrix = param.rank > 1 && want <= VIT_KIND_LAST_MATRIX;
                CHECK(param.kind == want, "%s: %d, not %d", param.name, param.kind, want);
                CHECK(!!param.matrices == matrix, "%s: of %zu matrices", param.name,
                      param.matrices);
                CHECK(param.in_block == !strncmp(param.name, "blocks.", 7), "%s", param.name);
                seen[want] = true;
            }
        }
    for (size_t kind = 0; kind <= VIT_KIND_SCALE; kind++)
        CHECK(seen[kind], "no parameter is of kind %zu, so it is not tested", kind);
}

TEST("a parameter found by its number is that of the walk, also of texts") {
    EACH_KERNELS(k) for (size_t i = 0; i < sizeof EVERYTHING / sizeof *EVERYTHING; i++) {
        const vit_config *c = &EVERYTHING[i];
        struct params_walk walk = params_walk_start(c, k, NULL);
        struct param param, found;
        size_t at = 0;
        for (; params_next(&walk, &param); at++)
            CHECK(params_at(c, k, at, &found) && found.offset == param.offset &&
                      found.floats == param.floats && !strcmp(found.name, param.name),
                  "%s, %zu: %s, not %s", k->name, at, found.name, param.name);
        CHECK(params_count(c, k) == at && !params_at(c, k, at, &found) &&
                  !params_at(c, k, SIZE_MAX, &found) && params_floats(c, k) == walk.offset,
              "%s: %zu tensors", k->name, at);
    }
}

TEST("a stem's convolutions lie in the stem array in the order of their numbers") {
    const vit_config *c = &EVERYTHING[0];
    struct block_params blocks[2];
    struct vit_params params = {.blocks = blocks};
    float *base = floats(params_floats(c, &vit_scalar));
    struct params_walk walk = params_walk_start(c, &vit_scalar, NULL);
    struct param param;
    size_t found = 0;
    params_bind(&params, base, c, &vit_scalar);
    while (params_next(&walk, &param)) {
        size_t number;
        char part[8];
        if (sscanf(param.name, "patch_embed.backbone.%zu.%7s", &number, part) != 2) continue;
        const float *weight = params.stem[number / 2].weight, *bias = params.stem[number / 2].bias;
        CHECK(base + param.offset == (strcmp(part, "bias") ? weight : bias), "%s", param.name);
        CHECK(number % 2 == 0 && param.shape[0] == 4 + number / 2, "%s: %zu channels", param.name,
              param.shape[0]);
        found++;
    }
    CHECK(found == 2 * VIT_STEM_MOST, "%zu tensors of convolutions", found);
    free(base);
}
