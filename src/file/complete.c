#include "complete.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "config.h"
#include "json.h"
#include "kernels/kernels.h"
#include "match.h"
#include "naming.h"
#include "safetensors.h"
#include "shapes.h"
#include "vit.h"

/* ---- Sizes of the tensors ----------------------------------------------- */

struct shapes {
    const struct names *names;
    const struct safetensors *st;
    const struct json *given;
};

/* → the tensor that the family has for timm's `name`; the first, if it has three whose rows follow
 * each other. NULL: none. */
static const struct st_tensor *tensor(const struct shapes *s, const char *name) {
    const struct st_tensor *sources[NAMES_SOURCES];
    return names_sources(sources, s->names, s->st, name) ? sources[0] : NULL;
}

/* → the rows of a matrix, which may be made of several tensors. */
static size_t rows_of(const struct shapes *s, const char *name) {
    const struct st_tensor *sources[NAMES_SOURCES];
    size_t n = names_sources(sources, s->names, s->st, name), rows = 0;
    for (size_t i = 0; i < n; i++) rows += sources[i]->rank ? sources[i]->shape[0] : 0;
    return rows;
}

/* → how many vectors of `width` numbers a tensor holds. */
static size_t vectors_of(const struct shapes *s, const char *name, size_t width) {
    const struct st_tensor *t = tensor(s, name);
    return t && width ? t->count / width : 0;
}

/* A tensor without numbers does not count: vit-pytorch writes such tensors. */
static bool has(const struct shapes *s, const char *name) {
    const struct st_tensor *t = tensor(s, name);
    return t && t->count > 0;
}

static size_t depth_of(const struct shapes *s) {
    size_t depth = 0;
    for (char name[64];; depth++) {
        struct text out = {name, name + sizeof name - 1};
        put_words(&out, "blocks.");
        put_size(&out, depth);
        put_words(&out, ".norm1.weight");
        *out.at = '\0';
        if (!has(s, name)) return depth;
    }
}

static size_t root_of(size_t square) {
    size_t side = 0;
    while (side < UINT16_MAX && side * side < square) side++;
    return side * side == square ? side : 0;
}

/* ---- The config --------------------------------------------------------- */

struct inferred {
    size_t image[2], patch[2], channels, width, depth, heads, head_width, mlp_width, classes;
    size_t class_tokens, distillation_tokens, registers;
    size_t final_norm, qkv_bias, qk_norm, layer_scale, pool_prefix;
    size_t no_patch_bias, no_head_bias;
    const char *norm, *norm_eps, *activation, *position, *pool, *attention, *patch_order;
};

/* Asks for a key that neither the file nor its family tells. values: what the key may be. */
static vit_status ask(const char *key, const char *values, vit_error *why) {
    return vit_fail(why, VIT_BAD_CONFIG, "config: %s: tell %s; nothing in this file does", key,
                    values);
}

static bool is_given(const struct shapes *s, const char *key) {
    struct json value;
    return json_get(s->given, key, &value);
}

/* Reports a key whose value is a guess, unless it is given. */
static void assume(struct assumed *assumed, const struct shapes *s, const char *key) {
    if (!is_given(s, key)) assumed->keys[assumed->count++] = key;
}

static bool guesses(const struct shapes *s, unsigned key) {
    return names_habits(s->names)->guesses & key;
}

static vit_status missing(const struct shapes *s, const char *ours, vit_error *why) {
    char name[128];
    names_write(name, sizeof name, s->names, ours);
    return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\", as %s names it: is missing", name,
                    names_family(s->names));
}

/* A given value that makes no sense becomes 1 here; config.c refuses it later. */
static bool given_size(const struct shapes *s, const char *key, size_t *out) {
    struct json value;
    if (!json_get(s->given, key, &value)) return false;
    if (!json_size(&value, SIZE_MAX / 2, out) || !*out) *out = 1;
    return true;
}

static bool given_pair(const struct shapes *s, const char *key, size_t out[2]) {
    struct json value, element;
    if (!json_get(s->given, key, &value)) return false;
    out[0] = out[1] = 1;
    if (value.type != JSON_ARRAY || json_length(&value) != 2) return true;
    struct json_walk walk = json_walk(&value);
    for (int i = 0; i < 2 && json_next(&walk, NULL, &element); i++)
        if (!json_size(&element, 1 << 14, &out[i]) || !out[i]) out[i] = 1;
    return true;
}

#define ROTARY "rotary (DINOv3, PE) is not known yet"

/* Whether a part of the name begins as code names tables of rotary positions. */
static bool names_rotary(const struct st_tensor *t) {
    static const char words[][9] = {"rope", "rotary", "freqs", "inv_freq", "periods"};
    for (size_t at = 0; at < t->name_size; at++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if ((at == 0 || t->name[at - 1] == '.') &&
                !strncmp(t->name + at, words[i], strlen(words[i])))
                return true;
    return false;
}

/* Refuses models with rotary positions, whose other tensors are named and shaped like those of
 * models that are known here. timm's DINOv3 has scales named gamma_1 and no positions. A Perception
 * Encoder has CLIP's norm before the blocks. In timm's code it also has what no CLIP has, or no
 * last norm. In facebook's code it has a probe, or lacks the projection that every CLIP has. */
static vit_status refuse_rotary(const struct shapes *s, vit_error *why) {
    bool timm = names_are_timms(s->names), clip = names_habits(s->names)->projects;
    const struct st_tensor *pre = timm || clip ? tensor(s, "norm_pre.weight") : NULL;
    const struct st_tensor *scales = timm ? tensor(s, "blocks.0.gamma_1") : NULL;
    bool whole = clip ? has(s, "head.weight") && !has(s, "attn_pool.probe")
                      : !scales && !has(s, "attn_pool.latent") &&
                            (has(s, "norm.weight") || has(s, "fc_norm.weight"));
    bool placed = has(s, "pos_embed") || has(s, "blocks.0.attn.relative_position_bias_table");
    const struct st_tensor *found = pre && !whole ? pre : placed ? NULL : scales;
    for (size_t i = 0; i < s->st->count && !found; i++)
        if (names_rotary(&s->st->tensors[i]) && !names_ignore(s->names, &s->st->tensors[i]))
            found = &s->st->tensors[i];
    if (!found) return VIT_OK;
    return vit_fail(why, VIT_BAD_TENSOR,
                    "tensor \"%t\": is of a model with rotary positions; " ROTARY, found->name,
                    found->name_size);
}

/* A matrix (D,C·P·Q) tells neither C nor (P,Q). It is taken for one of three channels if P = Q is
 * then a whole number, else for one of a single channel. */
static void infer_linear_patches(struct inferred *c, struct assumed *assumed,
                                 const struct shapes *s, size_t pixels) {
    bool known = given_size(s, "channels", &c->channels);
    if (given_pair(s, "patch_size", c->patch)) {
        size_t area = c->patch[0] * c->patch[1];
        if (!known && pixels % area == 0) c->channels = pixels / area;
        return;
    }
    for (size_t C = 3; !known && C <= 3; C -= 2) /* 3, then 1 */
        if (pixels % C == 0 && root_of(pixels / C)) c->channels = C, known = true;
    if (known) c->patch[0] = c->patch[1] = root_of(pixels / c->channels);
    assume(assumed, s, "channels");
    assume(assumed, s, "patch_size");
}

/* The shape (D,C,P,Q) tells all sizes. */
static vit_status infer_patches(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                                vit_error *why) {
    const struct st_tensor *t = tensor(s, "patch_embed.proj.weight");
    if (!t) return missing(s, "patch_embed.proj.weight", why);
    c->width = t->rank ? t->shape[0] : 0;
    if (t->rank == 4) {
        bool known = is_given(s, "stem") || /* whose last maps are the channels */
                     (given_size(s, "channels", &c->channels) && c->channels == t->shape[1]);
        if (!known && is_channels_last(t)) return refuse_channels_last(t, why);
        c->channels = t->shape[1], c->patch[0] = t->shape[2], c->patch[1] = t->shape[3];
        given_pair(s, "patch_size", c->patch); /* after a stem it is not the tensor's */
        return VIT_OK;
    }
    if (t->rank == 2) infer_linear_patches(c, assumed, s, t->shape[1]);
    if (given_pair(s, "patch_size", c->patch) || c->patch[0]) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: patch_size: tell [rows, columns]; tensor \"%t\" of shape %d does not",
                    t->name, t->name_size, t->shape, t->rank);
}

static void infer_prefix(struct inferred *c, const struct shapes *s) {
    struct json value, token;
    c->class_tokens = has(s, "cls_token");
    c->distillation_tokens = has(s, "dist_token");
    c->registers = vectors_of(s, "reg_token", c->width);
    if (!json_get(s->given, "prefix", &value)) return;
    c->class_tokens = c->distillation_tokens = c->registers = 0;
    for (struct json_walk walk = json_walk(&value); json_next(&walk, NULL, &token);) {
        c->class_tokens += json_is(&token, "class");
        c->distillation_tokens += json_is(&token, "distillation");
        c->registers += json_is(&token, "register");
    }
}

/* Takes the positions for those of a square of patches, with or without rows for the prefix. */
static vit_status infer_image(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                              vit_error *why) {
    if (given_pair(s, "image_size", c->image)) return VIT_OK;
    size_t rows = vectors_of(s, "pos_embed", c->width);
    size_t extra = c->class_tokens + c->distillation_tokens;
    const size_t extras[] = {extra + c->registers, extra, 0};
    for (size_t i = 0, side; i < sizeof extras / sizeof *extras; i++) {
        if (rows <= extras[i] || !(side = root_of(rows - extras[i]))) continue;
        c->image[0] = side * c->patch[0], c->image[1] = side * c->patch[1];
        if (guesses(s, GUESS_IMAGE_SIZE)) assume(assumed, s, "image_size");
        return VIT_OK;
    }
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: image_size: tell [rows, columns]; %z positions for patches of %d "
                    "pixels do not%s",
                    rows, c->patch, (size_t)2, rows ? "" : "; " ROTARY);
}

static bool is_bare(const struct shapes *s) {
    return names_habits(s->names)->bare && !has(s, "blocks.0.attn.proj.weight");
}

/* → how many heads published models of this width have; 0: the config must tell it. */
static size_t usual_heads(const struct published *models, size_t width) {
    if (!models) return 0;
    for (; models->width; models++)
        if (models->width == width) return models->heads;
    return width % 64 ? 0 : width / 64;
}

/* Asks for the heads, and proposes numbers that make heads 16 to 64 wide, or in a small model 4 to
 * 64. */
static vit_status ask_heads(size_t width, vit_error *why) {
    size_t numbers[8], count = 0, least = width < 64 ? 4 : 16;
    for (size_t n = (width + 63) / 64; n && n <= width / least && count < 8; n++)
        if (width % n == 0) numbers[count++] = n;
    char values[96];
    struct text text = {values, values + sizeof values - 1};
    for (size_t i = 0; i < count; i++) {
        if (i) put_words(&text, i + 1 < count ? ", " : " or ");
        put_size(&text, numbers[i]);
    }
    if (!count) put_words(&text, "a divisor of the width");
    *text.at = '\0';
    return ask("heads", values, why);
}

/* If each head's queries are normed, that norm is as wide as a head. */
static size_t normed_heads(const struct shapes *s, size_t width) {
    const struct st_tensor *norm = tensor(s, "blocks.0.attn.q_norm.weight");
    return norm && norm->count && width % norm->count == 0 ? width / norm->count : 0;
}

static vit_status infer_heads(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                              vit_error *why) {
    size_t width = rows_of(s, "blocks.0.attn.qkv.weight") / 3; /* of all heads */
    if (!given_size(s, "heads", &c->heads)) c->heads = is_bare(s) ? 1 : normed_heads(s, width);
    if (!c->heads) {
        c->heads = usual_heads(names_habits(s->names)->heads, width);
        if (!c->heads) return ask_heads(width, why);
        assume(assumed, s, "heads");
    }
    if (width % c->heads)
        return vit_fail(why, VIT_BAD_CONFIG, "config: heads: expected a divisor of %z, got %z",
                        width, c->heads);
    c->head_width = width / c->heads;
    return VIT_OK;
}

static bool pools_patches(const struct shapes *s, const struct inferred *c) {
    struct json pool;
    return json_get(s->given, "pool", &pool) ? !json_is(&pool, "class") : strcmp(c->pool, "class");
}

/* In vit-pytorch a class token of rank 2 means that the head reads it. An older version has a class
 * token, of rank 3, also in models that pool by a mean, and it is part of that mean. */
static vit_status infer_pool(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                             vit_error *why) {
    const struct habits *habits = names_habits(s->names);
    const struct st_tensor *head = tensor(s, "head.weight"), *token = tensor(s, "cls_token");
    bool mean = habits->mean || has(s, "fc_norm.weight");
    bool both = c->class_tokens && head && head->rank == 2 && !habits->head_transposed &&
                head->shape[1] / 2 == c->width;
    c->pool = has(s, "attn_pool.latent") ? "attention"
              : both                     ? "class_mean"
              : c->class_tokens && !mean ? "class"
                                         : "mean";
    c->pool_prefix = habits->bare && c->class_tokens;
    if (c->pool_prefix && token && token->rank == 3 && !is_given(s, "pool"))
        return ask("pool", "class or mean", why);
    size_t prefix = c->class_tokens + c->distillation_tokens + c->registers;
    /* timm pooled the prefix too before 1.0.16, transformers the registers before 4.52. */
    if (has(s, "attn_pool.latent") && prefix && !is_given(s, "pool_prefix"))
        return ask("pool_prefix", "true or false, whether the prefix is pooled too", why);
    if (both && c->registers && !is_given(s, "pool_prefix"))
        return ask("pool_prefix", "true or false, whether registers are in the mean", why);
    if (!guesses(s, GUESS_POOL) || both || has(s, "attn_pool.latent")) return VIT_OK;
    assume(assumed, s, "pool");
    if (prefix && pools_patches(s, c)) assume(assumed, s, "pool_prefix");
    return VIT_OK;
}

static vit_status infer_words(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                              vit_error *why) {
    const struct habits *habits = names_habits(s->names);
    bool prefix = has(s, "cls_token") || has(s, "reg_token") || !habits->prefixless;
    const struct {
        const char *key, *habit;
        const char **word;
    } words[] = {{"norm", habits->norm, &c->norm},
                 {"activation", prefix ? habits->activation : habits->prefixless, &c->activation}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(words[i].habit, " or ") && !is_given(s, words[i].key))
            return ask(words[i].key, words[i].habit, why);
        *words[i].word = words[i].habit;
    }
    c->norm_eps = habits->norm_eps;
    if (guesses(s, GUESS_NORM)) assume(assumed, s, "norm");
    if (guesses(s, GUESS_NORM_EPS)) assume(assumed, s, "norm_eps");
    if (guesses(s, GUESS_ACTIVATION)) assume(assumed, s, "activation");
    const struct st_tensor *patches = tensor(s, "patch_embed.proj.weight");
    if (!patches || patches->rank != 2) return VIT_OK;
    c->patch_order = habits->unfolds ? "channels_first" : "channels_last";
    if (habits->unfolds && c->channels > 1) assume(assumed, s, "patch_order");
    return VIT_OK;
}

/* Finds biases that this file lacks and that its family may leave out. */
static void infer_biases(struct inferred *c, const struct shapes *s) {
    const struct habits *habits = names_habits(s->names);
    bool norm_pre = has(s, "norm_pre.weight");
    c->no_patch_bias = (norm_pre || habits->head_transposed) && !has(s, "patch_embed.proj.bias");
    c->no_head_bias = (norm_pre || habits->projection != PROJECTION_NONE) && !has(s, "head.bias");
}

/* timm's rotary models with learned positions have DeiT III's tensors, named as facebook does. */
static vit_status infer_position(struct inferred *c, struct assumed *assumed,
                                 const struct shapes *s, vit_error *why) {
    c->position = "learned";
    if (has(s, "pos_embed")) {
        if (has(s, "blocks.0.gamma_1")) assume(assumed, s, "position");
        return VIT_OK;
    }
    if (is_given(s, "position")) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: position: tell none, sincos1d, sincos2d or relative; nothing in this "
                    "file does; " ROTARY);
}

static void infer_kinds(struct inferred *c, const struct shapes *s) {
    c->final_norm = has(s, "fc_norm.weight") || has(s, "norm.weight");
    c->qkv_bias = has(s, "blocks.0.attn.qkv.bias");
    c->qk_norm = has(s, "blocks.0.attn.q_norm.weight");
    c->layer_scale = has(s, "blocks.0.ls1.gamma");
    if (c->head_width * c->heads == c->width) c->head_width = 0;
    c->attention = is_bare(s) ? "per_head" : "standard"; /* per_head has no projection */
}

static vit_status infer_sizes(struct inferred *c, struct assumed *assumed, const struct shapes *s,
                              vit_error *why) {
    vit_status status = refuse_rotary(s, why);
    if (!status) status = infer_patches(c, assumed, s, why);
    if (!status) infer_prefix(c, s);
    if (!status) status = infer_image(c, assumed, s, why);
    if (!status) status = infer_position(c, assumed, s, why);
    if (!status) status = infer_heads(c, assumed, s, why);
    c->depth = depth_of(s);
    c->mlp_width = rows_of(s, "blocks.0.mlp.fc1.weight");
    const struct st_tensor *head = tensor(s, "head.weight");
    bool transposed = names_habits(s->names)->head_transposed;
    if (head && head->rank > transposed) c->classes = head->shape[transposed];
    if (!status && c->mlp_width == 0) status = missing(s, "blocks.0.mlp.fc1.weight", why);
    if (!status && c->depth == 0) status = missing(s, "blocks.0.norm1.weight", why);
    if (!status) status = infer_pool(c, assumed, s, why);
    if (!status) infer_kinds(c, s);
    return status;
}

/* ---- The config's text -------------------------------------------------- */

#define AT(field) offsetof(struct inferred, field)
static const struct entry {
    const char *key;
    enum { NUMBER, NUMBER_IF_ANY, PAIR, BOOL, BOOL_IF_ANY, FALSE_IF, WORD, WORD_IF_ANY, RAW } kind;
    size_t at;
    bool habit; /* it follows from the family, not from sizes */
} ENTRIES[] = {
    {"image_size", PAIR, AT(image), false},
    {"patch_size", PAIR, AT(patch), false},
    {"channels", NUMBER, AT(channels), false},
    {"width", NUMBER, AT(width), false},
    {"depth", NUMBER, AT(depth), false},
    {"heads", NUMBER, AT(heads), false},
    {"head_width", NUMBER_IF_ANY, AT(head_width), false},
    {"mlp_width", NUMBER, AT(mlp_width), false},
    {"classes", NUMBER, AT(classes), false},
    {"norm", WORD, AT(norm), true},
    {"norm_eps", RAW, AT(norm_eps), true},
    {"activation", WORD, AT(activation), true},
    {"patch_order", WORD_IF_ANY, AT(patch_order), true},
    {"patch_bias", FALSE_IF, AT(no_patch_bias), true},
    {"head_bias", FALSE_IF, AT(no_head_bias), true},
    {"final_norm", BOOL, AT(final_norm), false},
    {"position", WORD, AT(position), false},
    {"pool", WORD, AT(pool), false},
    {"pool_prefix", BOOL_IF_ANY, AT(pool_prefix), false},
    {"attention", WORD, AT(attention), false},
    {"qkv_bias", BOOL, AT(qkv_bias), false},
    {"qk_norm", BOOL, AT(qk_norm), false},
    {"layer_scale", BOOL, AT(layer_scale), false},
};

/* Writes "key": and returns true, unless the given config has the key. */
static bool begin(struct text *out, const struct shapes *s, const char *key) {
    if (is_given(s, key)) return false;
    put_words(out, "\"");
    put_words(out, key);
    put_words(out, "\":");
    return true;
}

static void write_entry(struct text *out, const struct shapes *s, const struct entry *entry,
                        const struct inferred *c) {
    const char *field = (const char *)c + entry->at;
    const size_t *number = (const void *)field;
    const char *const *word = (const void *)field;
    bool if_any = entry->kind == NUMBER_IF_ANY || entry->kind == BOOL_IF_ANY;
    if ((if_any || entry->kind == FALSE_IF) && !*number) return;
    if (entry->kind == WORD_IF_ANY && !*word) return;
    if (!begin(out, s, entry->key)) return;
    switch (entry->kind) {
    case PAIR:
        put_words(out, "[");
        put_size(out, number[0]);
        put_words(out, ",");
        put_size(out, number[1]);
        put_words(out, "]");
        break;
    case BOOL:
    case BOOL_IF_ANY: put_words(out, *number ? "true" : "false"); break;
    case FALSE_IF: put_words(out, "false"); break;
    case WORD:
    case WORD_IF_ANY: put_words(out, "\""), put_words(out, *word), put_words(out, "\""); break;
    case RAW: put_words(out, *word); break;
    default: put_size(out, *number);
    }
    put_words(out, ",");
}

static void write_prefix(struct text *out, const struct shapes *s, const struct inferred *c) {
    static const char *const words[] = {"\"class\"", "\"distillation\"", "\"register\""};
    const size_t counts[] = {c->class_tokens, c->distillation_tokens, c->registers};
    size_t written = 0;
    if (!begin(out, s, "prefix")) return;
    put_words(out, "[");
    for (size_t i = 0; i < 3; i++)
        for (size_t n = 0; n < counts[i]; n++) {
            if (written++) put_words(out, ",");
            put_words(out, words[i]);
        }
    put_words(out, "],");
}

vit_status infer_config(char **out, size_t *out_size, struct assumed *assumed,
                        const struct names *names, const struct safetensors *st,
                        const struct json *given, vit_error *why) {
    enum { ROOM = 1024, REGISTER = 16 }; /* bytes for all keys, and for each register */
    *out = NULL;
    assumed->count = 0;
    struct shapes shapes = {names, st, given};
    struct inferred c = {0};
    bool sized = config_is_whole(given);
    if (sized) given_size(&shapes, "channels", &c.channels);
    vit_status status = sized ? VIT_OK : infer_sizes(&c, assumed, &shapes, why);
    if (!status) status = infer_words(&c, assumed, &shapes, why);
    if (status) return status;
    infer_biases(&c, &shapes);
    if (c.registers > 1024)
        return vit_fail(why, VIT_BAD_TENSOR, "expected at most 1024 registers, got %z",
                        c.registers);
    size_t room = given->size + ROOM + c.registers * REGISTER;
    if (!(*out = malloc(room))) return vit_fail(why, VIT_NO_MEMORY, "no memory for a config");
    struct text text = {*out, *out + room};
    put_words(&text, "{");
    for (size_t i = 0; i < sizeof ENTRIES / sizeof *ENTRIES; i++)
        if (!sized || ENTRIES[i].habit) write_entry(&text, &shapes, &ENTRIES[i], &c);
    if (!sized) write_prefix(&text, &shapes, &c);
    if (begin(&text, &shapes, "prepare")) put_words(&text, "null,"); /* no tensor tells it */
    if (json_length(given) == 0) text.at--;                          /* no comma before the end */
    const char *body = (const char *)memchr(given->text, '{', given->size) + 1;
    put(&text, body, (size_t)(given->text + given->size - body));
    *out_size = (size_t)(text.at - *out);
    return VIT_OK;
}
