#include "infer.h"

#include <stdlib.h>

#include "error.h"
#include "json.h"
#include "shapes.h"
#include "text.h"

/* ---- What the tensors tell ---------------------------------------------- */

struct shapes {
    const struct names *names;
    const struct safetensors *st;
    const struct json *given;
};

/* A tensor of timm's name; of three whose rows follow each other, the first. NULL: none. */
static const struct st_tensor *tensor(const struct shapes *s, const char *name) {
    const struct st_tensor *sources[NAMES_SOURCES];
    return names_sources(sources, s->names, s->st, name) ? sources[0] : NULL;
}

/* All rows of a matrix. */
static size_t rows_of(const struct shapes *s, const char *name) {
    const struct st_tensor *sources[NAMES_SOURCES];
    size_t n = names_sources(sources, s->names, s->st, name), rows = 0;
    for (size_t i = 0; i < n; i++) rows += sources[i]->rank ? sources[i]->shape[0] : 0;
    return rows;
}

/* Vectors of `width` numbers that a tensor holds. */
static size_t vectors_of(const struct shapes *s, const char *name, size_t width) {
    const struct st_tensor *t = tensor(s, name);
    return t && width ? t->count / width : 0;
}

/* vit-pytorch has parameters of no numbers. */
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
    size_t final_norm, qkv_bias, qk_norm, layer_scale;
    const char *norm, *norm_eps, *activation, *position, *pool, *attention;
};

static vit_status missing(const struct shapes *s, const char *ours, vit_error *why) {
    char name[128];
    names_write(name, sizeof name, s->names, ours);
    return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\", as %s names it: is missing", name,
                    names_family(s->names));
}

/* What is given but makes no sense is 1 here: config.c will say so. */
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

/* (D,C,P,Q) says it all; of (D,P·P·C) the channels are taken for colours, else for one. */
static vit_status infer_patches(struct inferred *c, const struct shapes *s, vit_error *why) {
    const struct st_tensor *t = tensor(s, "patch_embed.proj.weight");
    if (!t) return missing(s, "patch_embed.proj.weight", why);
    c->width = t->rank ? t->shape[0] : 0;
    if (t->rank == 4) {
        c->channels = t->shape[1], c->patch[0] = t->shape[2], c->patch[1] = t->shape[3];
        given_pair(s, "patch_size", c->patch); /* behind a stem another than the tensor's */
        return VIT_OK;
    }
    bool known = given_size(s, "channels", &c->channels);
    for (size_t C = 3; t->rank == 2 && !known && C <= 3; C -= 2) /* 3, then 1 */
        if (t->shape[1] % C == 0 && root_of(t->shape[1] / C)) c->channels = C, known = true;
    if (t->rank == 2 && known && c->channels)
        c->patch[0] = c->patch[1] = root_of(t->shape[1] / c->channels);
    if (given_pair(s, "patch_size", c->patch) || c->patch[0]) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: patch_size is missing, and tensor \"%t\" of shape %d does not tell it",
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

/* A square of as many patches as there are positions, without or with those of the prefix. */
static vit_status infer_image(struct inferred *c, const struct shapes *s, vit_error *why) {
    if (given_pair(s, "image_size", c->image)) return VIT_OK;
    size_t rows = vectors_of(s, "pos_embed", c->width);
    size_t extra = c->class_tokens + c->distillation_tokens;
    const size_t extras[] = {extra + c->registers, extra, 0};
    for (size_t i = 0, side; i < sizeof extras / sizeof *extras; i++) {
        if (rows <= extras[i] || !(side = root_of(rows - extras[i]))) continue;
        c->image[0] = side * c->patch[0], c->image[1] = side * c->patch[1];
        return VIT_OK;
    }
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: image_size is missing, and %z positions for patches of %d pixels do "
                    "not tell it",
                    rows, c->patch, (size_t)2);
}

static bool is_bare(const struct shapes *s) {
    return names_habits(s->names)->bare && !has(s, "blocks.0.attn.proj.weight");
}

static vit_status infer_heads(struct inferred *c, const struct shapes *s, vit_error *why) {
    /* SO400M, ViT-H, ViT-g, ViT-G: Alabdulmohsin et al., arXiv:2305.13035; Dosovitskiy et al.,
     * table 1; Zhai et al., arXiv:2106.04560, table 2 */
    static const uint16_t of_16_heads[] = {1152, 1280, 1408, 1664};
    size_t rows = rows_of(s, "blocks.0.attn.qkv.weight"),
           usual = names_habits(s->names)->head_width;
    if (!given_size(s, "heads", &c->heads) && is_bare(s)) c->heads = 1;
    if (!c->heads) {
        c->heads = rows / 3 % usual ? 0 : rows / 3 / usual;
        for (size_t i = 0; i < sizeof of_16_heads / sizeof *of_16_heads; i++)
            if (rows / 3 == of_16_heads[i]) c->heads = 16;
    }
    if (!c->heads)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: heads is missing, and no tensor tells: a width of %z is no "
                        "multiple of the usual %z",
                        rows / 3, usual);
    if (rows / 3 % c->heads)
        return vit_fail(why, VIT_BAD_CONFIG, "config: heads: expected a divisor of %z, got %z",
                        rows / 3, c->heads);
    c->head_width = rows / 3 / c->heads;
    return VIT_OK;
}

static void infer_kinds(struct inferred *c, const struct shapes *s) {
    const struct habits *habits = names_habits(s->names);
    bool normed = has(s, "fc_norm.weight"), pooled = normed || habits->mean;
    c->norm = habits->norm, c->norm_eps = habits->norm_eps, c->activation = habits->activation;
    c->final_norm = normed || has(s, "norm.weight");
    c->position = has(s, "pos_embed") ? "learned" : "none";
    const struct st_tensor *head = tensor(s, "head.weight");
    bool both = c->class_tokens && head && head->rank == 2 && !habits->head_transposed &&
                head->shape[1] / 2 == c->width;
    c->pool = has(s, "attn_pool.latent")   ? "attention"
              : both                       ? "class_mean"
              : c->class_tokens && !pooled ? "class"
                                           : "mean";
    c->qkv_bias = has(s, "blocks.0.attn.qkv.bias");
    c->qk_norm = has(s, "blocks.0.attn.q_norm.weight");
    c->layer_scale = has(s, "blocks.0.ls1.gamma");
    if (c->head_width * c->heads == c->width) c->head_width = 0;
    c->attention = is_bare(s) ? "per_head" : "standard"; /* which is the same for one head */
}

static vit_status infer_sizes(struct inferred *c, const struct shapes *s, vit_error *why) {
    vit_status status = infer_patches(c, s, why);
    if (!status) infer_prefix(c, s);
    if (!status) status = infer_image(c, s, why);
    if (!status) status = infer_heads(c, s, why);
    c->depth = depth_of(s);
    c->mlp_width = rows_of(s, "blocks.0.mlp.fc1.weight");
    const struct st_tensor *head = tensor(s, "head.weight");
    bool transposed = names_habits(s->names)->head_transposed;
    if (head && head->rank > transposed) c->classes = head->shape[transposed];
    if (!status && c->mlp_width == 0) status = missing(s, "blocks.0.mlp.fc1.weight", why);
    if (!status && c->depth == 0) status = missing(s, "blocks.0.norm1.weight", why);
    if (!status) infer_kinds(c, s);
    return status;
}

/* ---- Its text ----------------------------------------------------------- */

#define AT(field) offsetof(struct inferred, field)
static const struct entry {
    const char *key;
    enum { NUMBER, NUMBER_IF_ANY, PAIR, BOOL, WORD, RAW } kind;
    size_t at;
} ENTRIES[] = {
    {"image_size", PAIR, AT(image)},
    {"patch_size", PAIR, AT(patch)},
    {"channels", NUMBER, AT(channels)},
    {"width", NUMBER, AT(width)},
    {"depth", NUMBER, AT(depth)},
    {"heads", NUMBER, AT(heads)},
    {"head_width", NUMBER_IF_ANY, AT(head_width)},
    {"mlp_width", NUMBER, AT(mlp_width)},
    {"classes", NUMBER, AT(classes)},
    {"norm", WORD, AT(norm)},
    {"norm_eps", RAW, AT(norm_eps)},
    {"final_norm", BOOL, AT(final_norm)},
    {"activation", WORD, AT(activation)},
    {"position", WORD, AT(position)},
    {"pool", WORD, AT(pool)},
    {"attention", WORD, AT(attention)},
    {"qkv_bias", BOOL, AT(qkv_bias)},
    {"qk_norm", BOOL, AT(qk_norm)},
    {"layer_scale", BOOL, AT(layer_scale)},
};

/* "key": — if the config does not have it. */
static bool begin(struct text *out, const struct shapes *s, const char *key) {
    struct json value;
    if (json_get(s->given, key, &value)) return false;
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
    if ((entry->kind == NUMBER_IF_ANY && !*number) || !begin(out, s, entry->key)) return;
    switch (entry->kind) {
    case PAIR:
        put_words(out, "[");
        put_size(out, number[0]);
        put_words(out, ",");
        put_size(out, number[1]);
        put_words(out, "]");
        break;
    case BOOL: put_words(out, *number ? "true" : "false"); break;
    case WORD: put_words(out, "\""), put_words(out, *word), put_words(out, "\""); break;
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

bool infer_nothing(const char *json, size_t json_size) {
    static const char *const needed[] = {"image_size", "patch_size", "channels",  "width",
                                         "depth",      "heads",      "mlp_width", "classes"};
    struct json root, value;
    if (!json || !json_read(&root, json, json_size) || root.type != JSON_OBJECT)
        return json != NULL;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!json_get(&root, needed[i], &value)) return false;
    return true;
}

vit_status infer_config(char **out, size_t *out_size, const struct names *names,
                        const struct safetensors *st, const char *json, size_t json_size,
                        vit_error *why) {
    enum { ROOM = 1024, WORD = 16 }; /* for all keys; for a register */
    struct json given;
    *out = NULL;
    if (infer_nothing(json, json_size)) return VIT_OK;
    if (!json) json = "{}", json_size = 2;
    if (!json_read(&given, json, json_size))
        return vit_fail(why, VIT_BAD_CONFIG, "config: no JSON");
    struct shapes shapes = {names, st, &given};
    struct inferred c = {0};
    vit_status status = infer_sizes(&c, &shapes, why);
    if (status) return status;
    if (c.registers > 1024)
        return vit_fail(why, VIT_BAD_TENSOR, "expected at most 1024 registers, got %z",
                        c.registers);
    size_t room = json_size + ROOM + c.registers * WORD;
    if (!(*out = malloc(room))) return vit_fail(why, VIT_NO_MEMORY, "no memory for a config");
    struct text text = {*out, *out + room};
    put_words(&text, "{");
    for (size_t i = 0; i < sizeof ENTRIES / sizeof *ENTRIES; i++)
        write_entry(&text, &shapes, &ENTRIES[i], &c);
    write_prefix(&text, &shapes, &c);
    if (json_length(&given) == 0) text.at--; /* no comma before the end */
    const char *body = (const char *)memchr(given.text, '{', given.size) + 1;
    put(&text, body, (size_t)(given.text + given.size - body));
    *out_size = (size_t)(text.at - *out);
    return VIT_OK;
}
