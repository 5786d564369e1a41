/* Configs that make sense, and how their files may be written. */
#include "generator.h"

#include <stdio.h>
#include <string.h>

/* Poolings by heads, which are D/h wide. */
static bool pools_heads(const struct plan *p) {
    return p->pool == POOL_ATTENTION || p->pool == POOL_PRR;
}

size_t plan_grid(const struct plan *p, int axis) {
    size_t image = p->image[axis], patch = p->patch[axis];
    return image < patch ? 0 : (image - patch) / p->stride[axis] + 1;
}

size_t plan_patches(const struct plan *p) {
    return plan_grid(p, 0) * plan_grid(p, 1);
}

static size_t prefix_of(const struct plan *p) {
    return p->class_tokens + p->distillation + p->registers + p->detections;
}

size_t plan_tokens(const struct plan *p) {
    return prefix_of(p) + plan_patches(p);
}

size_t plan_head_width(const struct plan *p) {
    return p->head_width ? p->head_width : p->width / p->heads;
}

/* ---- Drawing ------------------------------------------------------------ */

static void draw_image(struct plan *p, struct tape *t) {
    static const size_t GRIDS[] = {2, 1, 3, 4, 5, 7, 9};
    size_t stride = 1;
    if (tape_chance(t, 4)) p->stem_layers = 1 + tape_below(t, 6);
    for (size_t i = 0; i < p->stem_layers; i++) {
        p->stem[i][0] = 1 + tape_below(t, i == 0 ? 12 : 9);
        p->stem[i][1] = stride < 8 && !tape_chance(t, 3) ? 2 : 1;
        stride *= p->stem[i][1];
    }
    for (int i = 0; i < 2; i++) p->patch[i] = stride * (1 + tape_below(t, stride > 2 ? 2 : 4));
    if (!tape_chance(t, 3)) p->patch[1] = p->patch[0];
    size_t rows = GRIDS[tape_below(t, 7)],
           columns = tape_chance(t, 3) ? 1 + tape_below(t, 9) : rows;
    p->image[0] = rows * p->patch[0], p->image[1] = columns * p->patch[1];
    static const size_t CHANNELS[] = {1, 3, 2, 4, 5};
    p->channels = CHANNELS[tape_below(t, 5)];
    if (!p->stem_layers && tape_chance(t, 8)) {
        p->split = 1 + tape_below(t, 2);
        p->token_width = 2 + tape_below(t, 9);
        for (int i = 0; i < 2; i++) p->patch[i] = 16, p->image[i] = 16 * (1 + tape_below(t, 2));
    }
    memcpy(p->stride, p->patch, sizeof p->stride);
    if (p->stem_layers || p->split || !tape_chance(t, 8)) return;
    for (int i = 0; i < 2; i++)
        p->stride[i] = (p->patch[i] + 1) / 2 + tape_below(t, p->patch[i] / 2 + 1);
}

static void draw_prefix(struct plan *p, struct tape *t) {
    p->class_tokens = !tape_chance(t, 4);
    if (p->class_tokens) p->distillation = tape_chance(t, 5);
    if (tape_chance(t, 4)) p->registers = 1 + tape_below(t, 5);
}

static void draw_widths(struct plan *p, struct tape *t) {
    static const size_t WIDTHS[] = {4, 1, 2, 3, 5, 7, 8, 9, 12, 16, 17};
    p->heads = 1 + tape_below(t, 4);
    size_t d = WIDTHS[tape_below(t, 11)];
    p->width = p->heads * d;
    if (!p->per_head && !pools_heads(p) && tape_chance(t, 4)) {
        p->width = 1 + tape_below(t, 40);
        p->head_width = d;
    }
    if (p->position == SINCOS2D && p->width % 4) {
        p->width = (p->width + 3) / 4 * 4;
        if (p->per_head || pools_heads(p))
            p->width = 4 * p->heads * (1 + p->width / p->heads / 4);
        else if (p->width % p->heads)
            p->head_width = d;
    }
    if (p->position == ROTARY && plan_head_width(p) % 4) {
        d = (plan_head_width(p) + 3) / 4 * 4;
        if (p->head_width)
            p->head_width = d;
        else
            p->width = p->heads * d;
    }
    if (pools_heads(p) && tape_chance(t, 2)) {
        p->pool_heads = 1 + tape_below(t, p->width);
        while (p->width % p->pool_heads) p->pool_heads--;
    }
    static const size_t MLPS[] = {8, 1, 5, 16, 17, 31, 33, 49, 64};
    p->mlp_width = MLPS[tape_below(t, 9)];
    if (p->pool == POOL_ATTENTION && tape_chance(t, 2)) p->pool_mlp_width = MLPS[tape_below(t, 9)];
    p->depth = 1 + (tape_chance(t, 3) ? 1 + tape_below(t, 3) : 0);
    if (p->width >= 64 || plan_patches(p) > 50) p->depth = 1;
    p->classes = tape_chance(t, 5) ? tape_below(t, 40) : 3;
}

static void draw_kinds(struct plan *p, struct tape *t) {
    p->norm = tape_chance(t, 3);
    p->final_norm = !tape_chance(t, 4);
    p->activation = tape_below(t, 6);
    p->gated = tape_chance(t, 4);
    p->mlp_norm = tape_chance(t, 6);
    p->position = tape_below(t, POSITIONS);
    p->pool = !p->class_tokens || tape_chance(t, 3) ? POOL_MEAN : POOL_CLASS;
    static const enum pooling_kind RARER[] = {POOL_MAX, POOL_MEAN_MAX, POOL_PRR};
    if (p->pool == POOL_MEAN && tape_chance(t, 4)) p->pool = RARER[tape_below(t, 3)];
    if (tape_chance(t, 6)) p->pool = POOL_ATTENTION;
    p->per_head = tape_chance(t, 5);
    p->qkv_bias = !tape_chance(t, 3);
    p->qk_norm = tape_chance(t, 4);
    p->layer_scale = tape_chance(t, 4);
    p->mlp_norm_after = !p->norm && tape_chance(t, 8);
    if (p->pool == POOL_CLASS && !p->distillation && tape_chance(t, 6))
        p->detections = 1 + tape_below(t, 4);
    p->mid_position = p->position == LEARNED && tape_chance(t, 6);
}

static void draw_norms(struct plan *p, struct tape *t) {
    p->fc_norm = p->pool != POOL_CLASS && p->final_norm && tape_chance(t, 2);
    p->norm_in = tape_chance(t, 8);
    p->patch_norm = p->norm_in && tape_bool(t);
    p->norm_pre = tape_chance(t, 8);
    p->patch_bias = !tape_chance(t, 4);
    p->head_bias = !tape_chance(t, 4);
    p->head_dist = p->classes && p->distillation && !tape_chance(t, 3);
    if (!p->distillation && !p->detections && tape_chance(t, 8))
        p->head_hidden = 1 + tape_below(t, 20);
}

static void draw_rotary(struct plan *p, struct tape *t) {
    static const size_t BASES[] = {100, 1, 10, 10000, 1000000};
    p->rotary.learned = tape_chance(t, 2);
    p->rotary.neighbours = tape_bool(t);
    p->rotary.columns_first = tape_bool(t);
    p->rotary.places = tape_below(t, 3);
    p->rotary.base = BASES[tape_below(t, 5)];
    p->rotary.gridded = tape_chance(t, 3);
    for (int i = 0; i < 2; i++) p->rotary.grid[i] = 1 + tape_below(t, 40);
}

/* Learned positions, perhaps beside relative or rotary ones: for all tokens, or for the patches alone, or for the class and the patches but
 * not the registers; and some for another, square grid. */
static void draw_positions(struct plan *p, struct tape *t) {
    size_t N = plan_patches(p), prefix = prefix_of(p), side = 1 + tape_below(t, 5);
    bool may_have = p->position == RELATIVE || p->position == ROTARY;
    bool written = p->position != LEARNED && !may_have && tape_chance(t, 6);
    if (p->position == ROTARY) draw_rotary(p, t);
    if (written) p->position_rows = prefix + N;
    bool beside = may_have && tape_chance(t, 4);
    if (p->position != LEARNED && !beside) return;
    p->position_rows = prefix + N;
    if (prefix) {
        size_t kind = tape_below(t, 4);
        if (kind == 1) p->position_rows = N;
        if (kind == 2 && p->registers && !p->distillation && !p->mid_position)
            p->position_rows = 1 + N;
    }
    p->resized = tape_chance(t, 5);
    if (p->resized) p->position_rows += side * side - N;
    p->resize = tape_below(t, 5);
}

static void draw_writing(struct plan *p, struct tape *t) {
    p->config_apart = tape_bool(t);
    p->labels = tape_chance(t, 4);
    p->prepare = tape_below(t, 4);
    if ((p->prepare == 1 && p->channels != 1) || (p->prepare == 2 && p->channels > 4))
        p->prepare = 0;
    p->dtype = tape_below(t, 5);
    p->int8 = tape_chance(t, 4);
    p->int8_outside = tape_chance(t, 4);
    p->no_residual = tape_chance(t, 8);
}

static void draw_mapped(struct plan *p, struct tape *t) {
    p->parts = 1;
    p->mapped = tape_bool(t);
    if (!p->mapped) return;
    p->prefix = tape_below(t, 3);
    p->parts = 1 + tape_below(t, 3);
    p->extras = tape_chance(t, 4);
    p->no_ones = tape_bool(t);
    p->transposed = p->classes && !p->detections && tape_chance(t, 3);
    p->matrix_patches = !p->stem_layers && tape_chance(t, 3);
    p->channels_last = p->matrix_patches && tape_bool(t);
}

static void draw_text(struct text_plan *p, struct tape *t) {
    static const size_t WIDTHS[] = {8, 1, 2, 3, 4, 5, 7, 9, 12, 16};
    p->depth = 1 + tape_chance(t, 3);
    p->heads = 1 + tape_below(t, 4);
    p->width = p->heads * WIDTHS[tape_below(t, 10)];
    p->mlp_width = 8 + tape_below(t, 30);
    p->vocabulary = 2 + tape_below(t, 40);
    p->max_tokens = 6 + tape_below(t, 9);
    p->norm = tape_chance(t, 3);
    p->activation = tape_below(t, 6);
    p->position = tape_below(t, 4);
    if (p->position == 2) p->width = 4 * p->heads; /* sincos_halves */
    if (p->position != 1 && tape_chance(t, 3)) p->offset = 1 + tape_below(t, 4);
    if (tape_chance(t, 3)) p->token_types = 1 + tape_below(t, 3);
    if (tape_chance(t, 2)) p->projection = 1 + tape_below(t, 20);
    p->mask = tape_below(t, 2);
    p->pool = tape_below(t, 3);
    p->start = tape_below(t, p->vocabulary);
    p->end = tape_below(t, p->vocabulary);
    p->padding = tape_below(t, p->vocabulary);
    bool *const bools[] = {&p->embedding_norm, &p->encoder_proj,    &p->tied_head,  &p->head_hidden,
                           &p->labels,         &p->projection_bias, &p->logit_bias, &p->scaled,
                           &p->head_bias,      &p->final_norm};
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++) *bools[i] = tape_bool(t);
}

static void draw_texts(struct plan *p, struct tape *t) {
    size_t kind = tape_below(t, 12);
    if (kind == 9 || kind == 10) draw_text(&p->texts[TEXT_DECODER], t);
    if (kind == 9 || kind == 11) draw_text(&p->texts[TEXT_TOWER], t);
    p->texts[TEXT_DECODER].mask = 0; /* causal */
}

/* ---- Files that Vitrine does not promise to read ------------------------ */

static const char *may_fail(const struct plan *p) {
    bool texts = p->texts[TEXT_DECODER].depth || p->texts[TEXT_TOWER].depth;
    bool outside = p->split || p->pool == POOL_ATTENTION || texts;
    if (p->parts > 1 && (p->int8 || (p->int8_outside && outside)))
        return "int8 in one of several sources";
    if (p->transposed && p->int8_outside) return "int8 in a head that is transposed";
    bool beside = p->position == RELATIVE || p->position == ROTARY;
    bool learned = p->position == LEARNED || (beside && p->position_rows);
    if (!p->class_tokens && p->registers && learned && p->position_rows != plan_tokens(p))
        return "a position of a class token that is not there";
    if (p->norm_in && (p->stem_layers || p->split))
        return "a norm of the patches behind a stem or a split";
    return NULL;
}

void plan_draw(struct plan *p, struct tape *t) {
    *p = (struct plan){0};
    p->variant = tape_bool(t);
    draw_image(p, t);
    draw_prefix(p, t);
    draw_kinds(p, t);
    draw_widths(p, t);
    draw_norms(p, t);
    draw_positions(p, t);
    draw_writing(p, t);
    draw_mapped(p, t);
    draw_texts(p, t);
    p->may_fail = may_fail(p);
}

/* ---- The config's text -------------------------------------------------- */

struct json_text {
    char *at;
    size_t room, size;
};

#define PUT(out, ...)                                                                              \
    do {                                                                                           \
        int put_ = snprintf((out)->at + (out)->size, (out)->room - (out)->size, __VA_ARGS__);      \
        (out)->size += (size_t)put_;                                                               \
        if ((out)->size >= (out)->room) (out)->size = (out)->room - 1;                             \
    } while (0)

static void put_prefix(struct json_text *out, const struct plan *p) {
    PUT(out, ",\"prefix\":[");
    for (size_t i = 0; i + p->detections < prefix_of(p); i++)
        PUT(out, "%s\"%s\"", i ? "," : "",
            i < p->class_tokens                     ? "class"
            : i < p->class_tokens + p->distillation ? "distillation"
                                                    : "register");
    PUT(out, "]");
}

static void put_stem(struct json_text *out, const struct plan *p) {
    PUT(out, ",\"stem\":[");
    for (size_t i = 0; i < p->stem_layers; i++) {
        if (i) PUT(out, ",");
        if (p->stem[i][1] == 2 && i % 2)
            PUT(out, "%zu", p->stem[i][0]);
        else
            PUT(out, "[%zu,%zu]", p->stem[i][0], p->stem[i][1]);
    }
    PUT(out, "]");
}

static void put_labels(struct json_text *out, const struct plan *p) {
    PUT(out, ",\"labels\":[");
    for (size_t i = 0; i < p->classes; i++)
        PUT(out, "%s\"%s%zu\"", i ? "," : "", i % 3 ? "\\u00e4\\n" : "", i);
    PUT(out, "]");
}

static void put_prepare(struct json_text *out, const struct plan *p) {
    if (p->prepare == 1) PUT(out, ",\"prepare\":{\"kind\":\"digit\"}");
    if (p->prepare == 3) PUT(out, ",\"prepare\":null");
    if (p->prepare != 2) return;
    static const char *const filters[] = {"bilinear", "bicubic", "lanczos", "nearest"};
    static const char *const fits[] = {"stretch", "cover", "contain"};
    size_t rows = p->image[0], columns = p->image[1];
    PUT(out, ",\"prepare\":{\"kind\":\"photo\",\"crop\":[%zu,%zu],\"resize\":", rows, columns);
    if (p->variant)
        PUT(out, "%zu,\"crop_at\":\"floor\"", rows + columns);
    else
        PUT(out, "[%zu,%zu],\"fit\":\"%s\"", rows, columns + 3, fits[columns % 3]);
    PUT(out, ",\"interpolation\":\"%s\"", filters[rows % 4]);
    for (int i = 0; i < 3; i++) {
        PUT(out, i == 2 ? ",\"fill\":[" : i ? ",\"std\":[" : ",\"mean\":[");
        for (size_t c = 0; c < p->channels; c++) PUT(out, "%s0.%d", c ? "," : "", 4 + i);
        PUT(out, "]");
    }
    PUT(out, "}");
}

static void put_sizes(struct json_text *out, const struct plan *p) {
    PUT(out, ",\"image_size\":[%zu,%zu],\"patch_size\":[%zu,%zu]", p->image[0], p->image[1],
        p->patch[0], p->patch[1]);
    PUT(out, ",\"channels\":%zu,\"width\":%zu,\"depth\":%zu,\"heads\":%zu", p->channels, p->width,
        p->depth, p->heads);
    PUT(out, ",\"mlp_width\":%zu,\"classes\":%zu", p->mlp_width, p->classes);
    if (p->head_width) PUT(out, ",\"head_width\":%zu", p->head_width);
    if (p->stride[0] != p->patch[0] || p->stride[1] != p->patch[1])
        PUT(out, ",\"patch_stride\":[%zu,%zu]", p->stride[0], p->stride[1]);
    if (p->detections) PUT(out, ",\"detections\":%zu", p->detections);
    if (p->head_hidden) PUT(out, ",\"head_hidden\":%zu", p->head_hidden);
}

static const char *const ACTIVATIONS[] = {"gelu", "gelu_tanh", "quick_gelu",
                                          "relu", "tanh",      "silu"};
static const char *const BOOLS[] = {"false", "true"};

static void put_words(struct json_text *out, const struct plan *p) {
    static const char *const WHERE[] = {"learned",  "none",     "sincos1d",
                                        "sincos2d", "relative", "rotary"};
    static const char *const HOW[] = {"class",    "mean",       "attention", "max",
                                      "mean_max", "class_mean", "prr"};
    static const char *const RESIZES[] = {"by_family", "antialias", "plain", "offset",
                                          "align_corners"};
    PUT(out, ",\"norm\":\"%s\",\"activation\":\"%s\"", p->norm ? "post" : "pre",
        ACTIVATIONS[p->activation]);
    PUT(out, ",\"position\":\"%s\",\"position_resize\":\"%s\"", WHERE[p->position],
        RESIZES[p->resize]);
    PUT(out, ",\"pool\":\"%s\"", HOW[p->pool]);
    if (p->variant || p->pool == POOL_ATTENTION) PUT(out, ",\"pool_prefix\":%s", BOOLS[p->labels]);
    if (p->pool_heads) PUT(out, ",\"pool_heads\":%zu", p->pool_heads);
    if (p->pool_mlp_width) PUT(out, ",\"pool_mlp_width\":%zu", p->pool_mlp_width);
    if (p->gated) PUT(out, ",\"mlp\":\"gated\"");
    if (p->mlp_norm) PUT(out, ",\"mlp_norm\":true");
    if (p->mlp_norm_after) PUT(out, ",\"mlp_norm_after\":true");
    if (p->mid_position) PUT(out, ",\"mid_position\":true");
    if (p->head_hidden) PUT(out, ",\"head_activation\":\"%s\"", ACTIVATIONS[p->head_hidden % 6]);
    if (p->per_head) PUT(out, ",\"attention\":\"per_head\"");
    if (p->no_residual) PUT(out, ",\"residual\":false");
    if (p->channels_last) PUT(out, ",\"patch_order\":\"channels_last\"");
    PUT(out, ",\"qkv_bias\":%s,\"qk_norm\":%s,\"layer_scale\":%s,\"final_norm\":%s",
        BOOLS[p->qkv_bias], BOOLS[p->qk_norm], BOOLS[p->layer_scale], BOOLS[p->final_norm]);
    if (!p->norm_pre) /* else a bias that is not there is no surprise */
        PUT(out, ",\"patch_bias\":%s,\"head_bias\":%s", BOOLS[p->patch_bias], BOOLS[p->head_bias]);
}

static void put_rotary(struct json_text *out, const struct plan *p) {
    static const char *const PLACES[] = {"minus_1_to_1", "from_0", "from_1"};
    PUT(out, ",\"rotary_places\":\"%s\",\"rotary_base\":%zu", PLACES[p->rotary.places],
        p->rotary.base);
    PUT(out, ",\"rotary_first\":\"%s\",\"rotary_pairs\":\"%s\"",
        p->rotary.columns_first ? "columns" : "rows",
        p->rotary.neighbours ? "neighbours" : "halves");
    if (p->rotary.learned) PUT(out, ",\"rotary_frequencies\":\"learned\"");
    if (p->rotary.gridded)
        PUT(out, ",\"rotary_grid\":[%zu,%zu]", p->rotary.grid[0], p->rotary.grid[1]);
}

static void put_text(struct json_text *out, const char *key, const struct text_plan *p) {
    static const char *const POSITIONS_OF[] = {"learned", "sincos1d", "sincos_halves", "counted"};
    static const char *const MASKS[] = {"causal", "none"};
    static const char *const HOW[] = {"end", "largest", "last"};
    PUT(out, ",\"%s\":{\"depth\":%zu,\"width\":%zu,\"heads\":%zu,\"mlp_width\":%zu", key, p->depth,
        p->width, p->heads, p->mlp_width);
    PUT(out, ",\"vocabulary\":%zu,\"max_tokens\":%zu,\"position_offset\":%zu", p->vocabulary,
        p->max_tokens, p->offset);
    PUT(out, ",\"token_types\":%zu,\"projection\":%zu,\"norm\":\"%s\",\"activation\":\"%s\"",
        p->token_types, p->projection, p->norm ? "post" : "pre", ACTIVATIONS[p->activation]);
    PUT(out, ",\"position\":\"%s\",\"mask\":\"%s\",\"pool\":\"%s\"", POSITIONS_OF[p->position],
        MASKS[p->mask], HOW[p->pool]);
    PUT(out, ",\"start\":%zu,\"end\":%zu,\"padding\":%zu", p->start, p->end, p->padding);
    const struct {
        const char *key;
        bool value;
    } bools[] = {{"final_norm", p->final_norm},
                 {"embedding_norm", p->embedding_norm},
                 {"encoder_proj", p->encoder_proj},
                 {"tied_head", p->tied_head},
                 {"head_bias", p->head_bias},
                 {"head_hidden", p->head_hidden},
                 {"projection_bias", p->projection_bias},
                 {"logit_bias", p->logit_bias}};
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++)
        PUT(out, ",\"%s\":%s", bools[i].key, BOOLS[bools[i].value]);
    if (p->scaled) PUT(out, ",\"embedding_scale\":2.5");
    for (size_t i = 0; p->labels && i < p->vocabulary; i++)
        PUT(out, "%s\"\\u00e4%zu\"", i ? "," : ",\"labels\":[", i);
    PUT(out, p->labels ? "]}" : "}");
}

size_t plan_json(char *text, size_t room, const struct plan *p) {
    struct json_text out = {text, room, 0};
    PUT(&out, "{\"norm_eps\":1e-%d", p->variant ? 5 : 6);
    put_sizes(&out, p);
    put_words(&out, p);
    put_prefix(&out, p);
    if (p->position == ROTARY) put_rotary(&out, p);
    if (p->stem_layers) put_stem(&out, p);
    if (p->split)
        PUT(&out, ",\"tokens_to_token\":\"%s\",\"token_width\":%zu",
            p->split == 1 ? "transformer" : "performer", p->token_width);
    if (p->labels) put_labels(&out, p);
    put_prepare(&out, p);
    if (p->texts[TEXT_DECODER].depth) put_text(&out, "decoder", &p->texts[TEXT_DECODER]);
    if (p->texts[TEXT_TOWER].depth) put_text(&out, "text", &p->texts[TEXT_TOWER]);
    if (p->variant) PUT(&out, ",\"temperature\":1.5,\"uncertain_below\":0.25");
    PUT(&out, "}");
    return out.size;
}
