/* Configs that make sense by the rules of the code that writes such files. */
#include "generator.h"

#include <math.h>
#include <stdio.h>

/* Features that a family's models may have. */
enum {
    STEM = 1 << 0,
    PER_HEAD = 1 << 1,
    QK_NORM = 1 << 2,
    LAYER_SCALE = 1 << 3,
    DISTILLATION = 1 << 4,
    REGISTERS = 1 << 5,
    POST_NORM = 1 << 6,
    ANY_POSITION = 1 << 7,
    NORM_PRE = 1 << 8,
    POOLING = 1 << 9,
    FC_NORM = 1 << 10,
    PATCH_NORMS = 1 << 11,
    HEAD_WIDTH = 1 << 12,
    NO_FINAL_NORM = 1 << 13,
    NO_CLASS = 1 << 14,
    NO_QKV_BIAS = 1 << 15,
    RESIZED = 1 << 16,
    EVERYTHING = -1
};

static const int FEATURES[FAMILIES] = {
    [TIMM] = EVERYTHING,
    [VIT] = DISTILLATION | NO_QKV_BIAS | RESIZED | PER_HEAD,
    [DINO] = LAYER_SCALE | REGISTERS | RESIZED | NO_CLASS | PER_HEAD,
    [CLIP] = NORM_PRE | PER_HEAD,
    [SIGLIP] = POOLING | NO_CLASS,
    [TORCHVISION] = 0,
    [VIT_PYTORCH] = HEAD_WIDTH | PATCH_NORMS | NO_QKV_BIAS,
    [VIT_PYTORCH_OLD] = HEAD_WIDTH | NO_QKV_BIAS,
    [ENCODER] = POST_NORM | NO_FINAL_NORM | NO_CLASS,
    [VIT_5] = DISTILLATION | NO_QKV_BIAS | RESIZED,
    [DINO_5] = LAYER_SCALE | REGISTERS | RESIZED | NO_CLASS,
    [CHUNKS] = LAYER_SCALE | REGISTERS | RESIZED,
    [OPEN_CLIP] = NORM_PRE | LAYER_SCALE,
};

static bool is_dino(const struct plan *p) {
    return p->family == DINO || p->family == DINO_5 || p->family == CHUNKS;
}

static bool is_clip(const struct plan *p) {
    return p->family == CLIP || p->family == OPEN_CLIP;
}

static bool is_vit_pytorch(const struct plan *p) {
    return p->family == VIT_PYTORCH || p->family == VIT_PYTORCH_OLD;
}

/* Poolings by heads, which are D/h wide. */
static bool pools_heads(const struct plan *p) {
    return p->pool == POOL_ATTENTION || p->pool == POOL_PRR;
}

static bool may(const struct plan *p, int feature, struct tape *t, size_t n) {
    return (FEATURES[p->family] & feature) && tape_chance(t, n);
}

size_t plan_patches(const struct plan *p) {
    return p->image[0] / p->patch[0] * (p->image[1] / p->patch[1]);
}

static size_t prefix_of(const struct plan *p) {
    return p->class_tokens + p->distillation + p->registers;
}

size_t plan_tokens(const struct plan *p) {
    return prefix_of(p) + plan_patches(p);
}

size_t plan_head_width(const struct plan *p) {
    return p->head_width ? p->head_width : p->width / p->heads;
}

static bool is_square(size_t n) {
    uint64_t side = (uint64_t)sqrt((double)n);
    return n > 0 && side * side == n;
}

/* ---- Drawing ------------------------------------------------------------ */

static void draw_image(struct plan *p, struct tape *t) {
    static const size_t GRIDS[] = {2, 1, 3, 4, 5, 7, 9};
    size_t stride = 1;
    if (may(p, STEM, t, 4)) p->stem_layers = 1 + tape_below(t, 6);
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
}

static void draw_prefix(struct plan *p, struct tape *t) {
    p->class_tokens = p->family == SIGLIP ? 0 : !may(p, NO_CLASS, t, 4);
    if (p->class_tokens) p->distillation = may(p, DISTILLATION, t, 5);
    if (is_dino(p) && p->variant)
        p->registers = 1 + tape_below(t, 4);
    else if (!is_dino(p) && may(p, REGISTERS, t, 4))
        p->registers = 1 + tape_below(t, 5);
}

static void draw_widths(struct plan *p, struct tape *t) {
    static const size_t WIDTHS[] = {4, 1, 2, 3, 5, 7, 8, 9, 12, 16, 17};
    p->heads = 1 + tape_below(t, 4);
    size_t d = WIDTHS[tape_below(t, 11)];
    if (tape_chance(t, 8)) p->heads = 1, d = 64; /* this width tells the number of heads */
    p->width = p->heads * d;
    if (!p->per_head && !pools_heads(p) && may(p, HEAD_WIDTH, t, 4)) {
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
    static const size_t MLPS[] = {8, 1, 5, 16, 17, 31, 33, 49, 64};
    p->mlp_width = MLPS[tape_below(t, 9)];
    p->depth = 1 + (tape_chance(t, 3) ? 1 + tape_below(t, 3) : 0);
    if (p->width >= 64 || plan_patches(p) > 50) p->depth = 1;
    p->classes = tape_chance(t, 5) ? tape_below(t, 40) : 3;
}

static void draw_kinds(struct plan *p, struct tape *t) {
    p->norm = may(p, POST_NORM, t, 3);
    p->final_norm = !may(p, NO_FINAL_NORM, t, 4);
    p->activation = tape_below(t, 4);
    p->position = FEATURES[p->family] & ANY_POSITION ? tape_below(t, POSITIONS) : LEARNED;
    p->pool = !p->class_tokens || tape_chance(t, 3) ? POOL_MEAN : POOL_CLASS;
    static const enum pooling_kind RARER[] = {POOL_MAX, POOL_MEAN_MAX, POOL_PRR};
    if (p->pool == POOL_MEAN && tape_chance(t, 4)) p->pool = RARER[tape_below(t, 3)];
    if (p->family == SIGLIP || may(p, POOLING, t, 6)) p->pool = POOL_ATTENTION;
    p->per_head = may(p, PER_HEAD, t, 5);
    p->qkv_bias = !may(p, NO_QKV_BIAS, t, 3);
    if (is_vit_pytorch(p)) p->qkv_bias = false;
    p->qk_norm = may(p, QK_NORM, t, 4);
    p->layer_scale = (is_dino(p) && p->family != CHUNKS) || may(p, LAYER_SCALE, t, 4);
}

static void draw_norms(struct plan *p, struct tape *t) {
    p->fc_norm = p->pool != POOL_CLASS && p->final_norm && may(p, FC_NORM, t, 2);
    if (p->family == VIT_PYTORCH_OLD) p->fc_norm = p->pool != POOL_CLASS && p->final_norm;
    p->norm_in = p->family == VIT_PYTORCH || (p->family == TIMM && may(p, PATCH_NORMS, t, 8));
    p->patch_norm = p->norm_in && (p->family == VIT_PYTORCH || tape_bool(t));
    p->norm_pre = is_clip(p) || may(p, NORM_PRE, t, 8);
    p->patch_bias = !p->norm_pre || (!is_clip(p) && tape_bool(t));
    p->head_bias = !p->norm_pre || (!is_clip(p) && tape_bool(t));
    p->head_dist = p->classes && p->distillation && (p->family == TIMM || p->variant);
    p->joined_pool = p->family == SIGLIP || tape_bool(t);
    if (p->family == SIGLIP) p->classes = 0;
}

/* Learned positions: for all tokens, or for the patches alone, or for the class and the patches but
 * not the registers; and some for another, square grid. */
static void draw_positions(struct plan *p, struct tape *t) {
    size_t N = plan_patches(p), prefix = prefix_of(p), side = 1 + tape_below(t, 5);
    bool written = p->position != LEARNED && p->position != RELATIVE && tape_chance(t, 6);
    if (written) p->position_rows = prefix + N;
    if (p->position != LEARNED) return;
    p->position_rows = prefix + N;
    bool with_class = is_dino(p) && p->registers;
    if (with_class) p->position_rows = 1 + N;
    if (p->family == TIMM && prefix) {
        size_t kind = tape_below(t, 4);
        if (kind == 1) p->position_rows = N;
        if (kind == 2 && p->registers && !p->distillation) p->position_rows = 1 + N;
    }
    p->resized = may(p, RESIZED, t, 5);
    if (p->resized) p->position_rows += side * side - N;
}

static void draw_writing(struct plan *p, struct tape *t) {
    p->given = (enum given)tape_below(t, 4);
    p->labels = tape_chance(t, 4);
    p->prepare = tape_below(t, 4);
    if ((p->prepare == 1 && p->channels != 1) || (p->prepare == 2 && p->channels > 4))
        p->prepare = 0;
    p->dtype = tape_below(t, 5);
    p->prefix = tape_below(t, 3);
    p->extras = tape_chance(t, 4);
    p->int8 = (p->family == TIMM || tape_chance(t, 8)) && tape_chance(t, 4);
    p->int8_outside = (p->family == TIMM || tape_chance(t, 8)) && tape_chance(t, 4);
    p->no_residual = p->family == TIMM && p->given != NOWHERE && tape_chance(t, 8);
}

/* ---- Keys that the tensors tell, so that a config may leave them out ------ */

static bool tells_heads(const struct plan *p) {
    size_t A = p->heads * plan_head_width(p);
    return p->family != TIMM && p->family != ENCODER && A % 64 == 0 && p->heads == A / 64;
}

/* Whether the patches' (D,C,P,Q) looks like MLX's (D,P,Q,C). */
static bool looks_like_mlx(const struct plan *p) {
    return p->channels > 1 && p->channels == p->patch[0] && p->patch[1] <= 4 &&
           p->channels != p->patch[1];
}

static bool tells_patches(const struct plan *p) {
    if (p->stem_layers) return false;
    if (!is_vit_pytorch(p)) return !looks_like_mlx(p);
    return p->patch[0] == p->patch[1] && (p->channels == 1 || p->channels == 3);
}

static bool tells_image(const struct plan *p, bool prefix_given) {
    size_t N = plan_patches(p), prefix = prefix_of(p), rows = p->position_rows;
    size_t extra = prefix_given ? prefix : p->class_tokens + p->distillation;
    if (p->position_rows == 0 || p->resized ||
        p->image[0] / p->patch[0] != p->image[1] / p->patch[1])
        return false;
    if (rows == N + prefix) return true;
    if (rows > prefix && is_square(rows - prefix)) return false;
    if (rows == N + extra) return true;
    return rows == N && !(rows > extra && is_square(rows - extra));
}

static bool tells_position(const struct plan *p) {
    return p->position_rows && p->position == LEARNED;
}

static bool tells_pool(const struct plan *p) {
    if (is_vit_pytorch(p) && p->class_tokens) return false;
    return p->pool == (p->class_tokens && !p->fc_norm ? POOL_CLASS : POOL_MEAN) ||
           p->pool == POOL_ATTENTION;
}

/* Whether Vitrine need not ask for the remaining keys: how a query pools a prefix, and the choices
 * that depend on the code. */
static bool tells_words(const struct plan *p) {
    bool prefix = prefix_of(p) > 0;
    if (p->family == TIMM) return prefix && !p->norm_pre && p->pool != POOL_ATTENTION;
    return p->family != ENCODER && !(p->pool == POOL_ATTENTION && prefix);
}

static bool tells_all(const struct plan *p) {
    return tells_heads(p) && tells_patches(p) && tells_image(p, false) && tells_position(p) &&
           tells_pool(p) && tells_words(p) && !p->per_head && !p->stem_layers;
}

/* ---- Files that Vitrine does not promise to read ------------------------ */

/* Whether the tensors are a Perception Encoder's, whose rotary positions no tensor holds. */
static bool looks_rotary(const struct plan *p) {
    if (!p->norm_pre || p->given < PARTS) return false;
    if (p->family == TIMM) return p->pool == POOL_ATTENTION || !(p->final_norm || p->fc_norm);
    return p->family == OPEN_CLIP && p->classes == 0;
}

static const char *may_fail(const struct plan *p) {
    bool timm = p->family == TIMM, pooled = p->pool == POOL_ATTENTION;
    if ((p->int8 || p->int8_outside) && !timm) return "int8 with names that are not timm's";
    if (p->int8_outside && pooled && !p->joined_pool) return "int8 in one of several sources";
    if (p->per_head && !timm) return "per_head with names of code that lacks it";
    if (!p->class_tokens && p->registers && p->position == LEARNED &&
        p->position_rows != plan_tokens(p))
        return "a position of a class token that is not there";
    if (looks_rotary(p)) return "a Perception Encoder's tensors without a whole config";
    if (p->norm_in && p->stem_layers) return "a norm of the patches behind a stem";
    return NULL;
}

void plan_draw(struct plan *p, struct tape *t) {
    *p = (struct plan){0};
    p->family = (enum author)(tape_bool(t) ? tape_below(t, FAMILIES) : TIMM);
    p->variant = tape_bool(t);
    draw_image(p, t);
    draw_prefix(p, t);
    draw_kinds(p, t);
    draw_widths(p, t);
    draw_norms(p, t);
    draw_positions(p, t);
    draw_writing(p, t);
    if (p->given == NOWHERE && !tells_all(p)) p->given = PARTS;
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
    for (size_t i = 0; i < prefix_of(p); i++)
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

/* Keys that no tensor tells, or all keys if `whole`. */
static void put_sizes(struct json_text *out, const struct plan *p, bool whole, bool no_prefix) {
    bool patches = whole || !tells_patches(p);
    if (whole || !tells_image(p, !no_prefix))
        PUT(out, ",\"image_size\":[%zu,%zu]", p->image[0], p->image[1]);
    if (patches) PUT(out, ",\"patch_size\":[%zu,%zu]", p->patch[0], p->patch[1]);
    if (patches) PUT(out, ",\"channels\":%zu", p->channels);
    if (whole || !tells_heads(p)) PUT(out, ",\"heads\":%zu", p->heads);
    if (!whole) return;
    PUT(out, ",\"width\":%zu,\"depth\":%zu,\"mlp_width\":%zu,\"classes\":%zu", p->width, p->depth,
        p->mlp_width, p->classes);
}

static void put_words(struct json_text *out, const struct plan *p, bool whole) {
    static const char *const ACTIVATIONS[] = {"gelu", "gelu_tanh", "quick_gelu", "relu"};
    static const char *const WHERE[] = {"learned", "none", "sincos1d", "sincos2d", "relative"};
    static const char *const HOW[] = {"class",    "mean",       "attention", "max",
                                      "mean_max", "class_mean", "prr"};
    static const char *const BOOLS[] = {"false", "true"};
    PUT(out, ",\"norm\":\"%s\",\"activation\":\"%s\"", p->norm ? "post" : "pre",
        ACTIVATIONS[p->activation]);
    if (whole || !tells_position(p)) PUT(out, ",\"position\":\"%s\"", WHERE[p->position]);
    if (whole || !tells_pool(p)) PUT(out, ",\"pool\":\"%s\"", HOW[p->pool]);
    if (p->variant || p->pool == POOL_ATTENTION) PUT(out, ",\"pool_prefix\":%s", BOOLS[p->labels]);
    if (p->per_head) PUT(out, ",\"attention\":\"per_head\"");
    if (p->no_residual) PUT(out, ",\"residual\":false");
    if (!whole) return;
    PUT(out, ",\"qkv_bias\":%s,\"qk_norm\":%s,\"layer_scale\":%s,\"final_norm\":%s",
        BOOLS[p->qkv_bias], BOOLS[p->qk_norm], BOOLS[p->layer_scale], BOOLS[p->final_norm]);
    if (p->head_width) PUT(out, ",\"head_width\":%zu", p->head_width);
}

size_t plan_json(char *text, size_t room, const struct plan *p) {
    struct json_text out = {text, room, 0};
    bool whole = p->given != PARTS, no_prefix = !whole && p->variant;
    PUT(&out, "{\"norm_eps\":1e-%d", p->variant ? 5 : 6);
    put_sizes(&out, p, whole, no_prefix);
    put_words(&out, p, whole);
    if (!no_prefix) put_prefix(&out, p);
    if (p->stem_layers) put_stem(&out, p);
    if (p->labels) put_labels(&out, p);
    put_prepare(&out, p);
    if (p->variant) PUT(&out, ",\"temperature\":1.5,\"uncertain_below\":0.25");
    PUT(&out, "}");
    return out.size;
}
