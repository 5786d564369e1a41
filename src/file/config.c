#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "json.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* The kinds of values. */
enum kind { SIZE, COUNT, PAIR, NUMBER, POSITIVE, SHARE, BOOL, WORD };

static const char *const NORMS[] = {"pre", "post", NULL};
static const char *const ACTIVATIONS[] = {"gelu", "gelu_tanh", "quick_gelu", "relu", NULL};
static const char *const POSITIONS[] = {"none",     "learned",  "sincos1d",
                                        "sincos2d", "relative", NULL};
static const char *const POOLS[] = {"class",    "mean",       "attention", "max",
                                    "mean_max", "class_mean", "prr",       NULL};
static const char *const RESIZES[] = {"by_family", "antialias",     "plain",
                                      "offset",    "align_corners", NULL};
static const char *const ORDERS[] = {"channels_first", "channels_last", NULL};
static const char *const PROBLEMS[] = {"single_label_classification", "multi_label_classification",
                                       "regression", NULL};
static const char *const ATTENTIONS[] = {"standard", "per_head", NULL};
static const char *const FILTERS[] = {"bilinear", "bicubic", "lanczos", "nearest", NULL};
static const char *const FITS[] = {"stretch", "cover", "contain", NULL};
static const char *const MIDDLES[] = {"even", "floor", NULL};

/* What is read if a config lacks a key: JSON text, or one of these. */
#define REQUIRED NULL
#define NONE ""

struct key {
    const char *name;
    enum kind kind;
    size_t offset, max; /* max: of SIZE and PAIR, which begin at 1, and of COUNT and POSITIVE */
    const char *const *words;
    const char *otherwise;
};

/* The plain keys of a config: kind of value, field, limit, default. web/config.ts has the defaults
 * too; config.test.mjs compares them. */
#define AT(field) offsetof(vit_config, field)
static const struct key KEYS[] = {
    {"image_size", PAIR, AT(image_size), 16384, NULL, REQUIRED},
    {"patch_size", PAIR, AT(patch_size), 16384, NULL, REQUIRED},
    {"channels", SIZE, AT(channels), 1024, NULL, REQUIRED},
    {"width", SIZE, AT(width), 65536, NULL, REQUIRED},
    {"depth", COUNT, AT(depth), 1024, NULL, REQUIRED},
    {"heads", SIZE, AT(heads), 1024, NULL, REQUIRED},
    {"mlp_width", SIZE, AT(mlp_width), 262144, NULL, REQUIRED},
    {"classes", COUNT, AT(classes), 1000000, NULL, REQUIRED},
    {"head_width", SIZE, AT(head_width), 65536, NULL, NONE},
    {"norm", WORD, AT(norm), 0, NORMS, "\"pre\""},
    {"norm_eps", NUMBER, AT(norm_eps), 0, NULL, "1e-6"},
    {"final_norm", BOOL, AT(final_norm), 0, NULL, "true"},
    {"activation", WORD, AT(activation), 0, ACTIVATIONS, "\"gelu\""},
    {"position", WORD, AT(position), 0, POSITIONS, "\"learned\""},
    {"position_size", PAIR, AT(position_size), 16384, NULL, NONE},
    {"position_resize", WORD, AT(resize), 0, RESIZES, "\"by_family\""},
    {"pool", WORD, AT(pool), 0, POOLS, "\"class\""},
    {"pool_prefix", BOOL, AT(pool_prefix), 0, NULL, "false"},
    {"patch_order", WORD, AT(patch_order), 0, ORDERS, "\"channels_first\""},
    {"qkv_bias", BOOL, AT(qkv_bias), 0, NULL, "true"},
    {"patch_bias", BOOL, AT(patch_bias), 0, NULL, "true"},
    {"head_bias", BOOL, AT(head_bias), 0, NULL, "true"},
    {"qk_norm", BOOL, AT(qk_norm), 0, NULL, "false"},
    {"layer_scale", BOOL, AT(layer_scale), 0, NULL, "false"},
    {"residual", BOOL, AT(residual), 0, NULL, "true"},
    {"attention", WORD, AT(attention), 0, ATTENTIONS, "\"standard\""},
    {"problem_type", WORD, AT(problem_type), 0, PROBLEMS, "\"single_label_classification\""},
    {"temperature", POSITIVE, AT(temperature), 100, NULL, "1"},
    {"uncertain_below", SHARE, AT(uncertain_below), 0, NULL, "0"},
    {"unfinished_ink", POSITIVE, AT(unfinished_ink), 1, NULL, "1"},
};

static bool read_positive(const struct json *value, size_t max, size_t *out) {
    return json_size(value, max, out) && *out > 0;
}

static bool read_pair(const struct json *value, size_t max, size_t out[2]) {
    struct json element;
    size_t n = 0;
    if (value->type != JSON_ARRAY || json_length(value) != 2) return false;
    for (struct json_walk walk = json_walk(value); json_next(&walk, NULL, &element); n++)
        if (!json_size(&element, max, &out[n]) || out[n] == 0) return false;
    return true;
}

static bool read_word(const struct json *value, const char *const *words, unsigned *out) {
    for (*out = 0; words[*out]; ++*out)
        if (json_is(value, words[*out])) return true;
    return false;
}

static bool read_float(const struct json *value, float *out) {
    if (value->type != JSON_NUMBER) return false;
    *out = (float)json_number(value);
    return isfinite(*out);
}

static bool read_bool(const struct json *value, bool *out) {
    *out = value->type == JSON_TRUE;
    return *out || value->type == JSON_FALSE;
}

static bool read_key(vit_config *config, const struct key *key, const struct json *value) {
    void *field = (char *)config + key->offset;
    float *number = field;
    unsigned word;
    switch (key->kind) {
    case SIZE: return read_positive(value, key->max, field);
    case COUNT: return json_size(value, key->max, field);
    case PAIR: return read_pair(value, key->max, field);
    case NUMBER: return read_float(value, number) && *number >= 0;
    case POSITIVE: return read_float(value, number) && *number > 0 && *number <= (float)key->max;
    case SHARE: return read_float(value, number) && *number >= 0 && *number <= 1;
    case BOOL: return read_bool(value, field);
    case WORD:
        if (!read_word(value, key->words, &word)) return false;
        memcpy(field, &word, sizeof word); /* every enum here is an unsigned int */
        return true;
    }
    return false;
}

/* "a, b or c", for messages. */
enum { WORDS_ROOM = 96 };
static const char *list_words(char out[WORDS_ROOM], const char *const *words) {
    struct text text = {out, out + WORDS_ROOM - 1};
    for (size_t i = 0; words[i]; i++) {
        if (i) put_words(&text, words[i + 1] ? ", " : " or ");
        put_words(&text, words[i]);
    }
    *text.at = '\0';
    return out;
}

static vit_status expect_value(const struct key *key, const struct json *value, vit_error *why) {
    if (key->kind == SIZE || key->kind == COUNT)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %s: expected a whole number from %s to %z, got %t", key->name,
                        key->kind == SIZE ? "1" : "0", key->max, value->text, value->size);
    if (key->kind == PAIR)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %s: expected [rows, columns], each from 1 to %z, got %t",
                        key->name, key->max, value->text, value->size);
    if (key->kind == POSITIVE)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %s: expected a number above 0 and up to %z, got %t", key->name,
                        key->max, value->text, value->size);
    if (key->kind != WORD)
        return vit_fail(why, VIT_BAD_CONFIG, "config: %s: expected %s, got %t", key->name,
                        key->kind == BOOL    ? "true or false"
                        : key->kind == SHARE ? "a number from 0 to 1"
                                             : "a number from 0 up",
                        value->text, value->size);
    char words[WORDS_ROOM];
    return vit_fail(why, VIT_BAD_CONFIG, "config: %s: expected one of %s, got %t", key->name,
                    list_words(words, key->words), value->text, value->size);
}

/* The prefix is class, distillation, register, … in this order. Each of them may be missing. */
static vit_status read_prefix(vit_config *config, const struct json *value, vit_error *why) {
    struct json token;
    config->class_tokens = config->distillation_tokens = config->register_tokens = 0;
    bool good = value->type == JSON_ARRAY;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &token);) {
        bool first = !config->distillation_tokens && !config->register_tokens;
        if (json_is(&token, "class") && first && !config->class_tokens)
            config->class_tokens = 1;
        else if (json_is(&token, "distillation") && first)
            config->distillation_tokens = 1;
        else if (json_is(&token, "register"))
            good = ++config->register_tokens <= 1024;
        else
            good = false;
    }
    if (good && (!config->distillation_tokens || config->class_tokens)) return VIT_OK;
    return vit_fail(
        why, VIT_BAD_CONFIG,
        "config: prefix: expected an array of \"class\", then \"distillation\" (only after "
        "a class), then any \"register\", got %t",
        value->text, value->size);
}

/* A convolution is [channels, stride], or its channels alone if the stride is 2. */
static vit_status read_stem(vit_config *config, const struct json *value, vit_error *why) {
    struct json layer;
    bool good = value->type == JSON_ARRAY && json_length(value) <= VIT_STEM_MOST;
    config->stem_layers = 0;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &layer);) {
        size_t pair[2] = {0, 2};
        good = layer.type == JSON_ARRAY ? read_pair(&layer, 4096, pair) && pair[1] <= 2
                                        : read_positive(&layer, 4096, pair);
        config->stem[config->stem_layers].channels = pair[0];
        config->stem[config->stem_layers++].stride = pair[1];
    }
    if (good) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: stem: expected at most %z convolutions, each a number of channels up "
                    "to 4096 or [channels, stride 1 or 2], got %t",
                    (size_t)VIT_STEM_MOST, value->text, value->size);
}

static vit_status read_labels(vit_config *config, const struct json *value, vit_error *why) {
    struct json label;
    bool good = value->type == JSON_ARRAY && json_length(value) == config->classes;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &label);)
        good = label.type == JSON_STRING;
    if (good) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "config: labels: expected %z strings, one a class",
                    config->classes);
}

static bool read_channel_values(const struct json *object, const char *name, size_t channels,
                                float *out) {
    struct json value, element;
    size_t n = 0;
    if (!json_get(object, name, &value) || value.type != JSON_ARRAY ||
        json_length(&value) != channels)
        return false;
    for (struct json_walk walk = json_walk(&value); json_next(&walk, NULL, &element);)
        if (!read_float(&element, &out[n++])) return false;
    return true;
}

/* Reads a member of `prepare` that is one of `words`. If it is missing, *out stays. */
static vit_status read_choice(unsigned *out, const struct json *object, const char *name,
                              const char *const *words, vit_error *why) {
    struct json member;
    char listed[WORDS_ROOM];
    if (!json_get(object, name, &member) || read_word(&member, words, out)) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "config: prepare.%s: expected one of %s, got %t", name,
                    list_words(listed, words), member.text, member.size);
}

/* Reads to which lengths a photo is resized, and which part is then cut out. */
static vit_status read_photo_sizes(vit_config *config, const struct json *value, vit_error *why) {
    struct json member;
    size_t resize = 0, *stretch = config->photo.stretch, *crop = config->photo.crop;
    if (!json_get(value, "resize", &member) ||
        (member.type != JSON_NULL && !read_positive(&member, 16384, &resize) &&
         !read_pair(&member, 16384, stretch)))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.resize: expected a number of pixels, or of rows and of "
                        "columns, or null");
    config->photo.resize = resize;
    for (int i = 0; i < 2; i++)
        crop[i] = resize ? resize : stretch[i] ? stretch[i] : config->image_size[i];
    if (!json_get(value, "crop", &member)) return VIT_OK;
    if (read_positive(&member, 16384, &crop[0]))
        crop[1] = crop[0];
    else if (!read_pair(&member, 16384, crop))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.crop: expected a number of pixels, or of rows and of "
                        "columns, got %t",
                        member.text, member.size);
    return VIT_OK;
}

static vit_status read_fill(vit_config *config, const struct json *value, vit_error *why) {
    struct json member;
    config->photo.fills = json_get(value, "fill", &member) && member.type != JSON_NULL;
    bool good = !config->photo.fills ||
                read_channel_values(value, "fill", config->channels, config->photo.fill);
    for (size_t i = 0; good && config->photo.fills && i < config->channels; i++)
        good = config->photo.fill[i] >= 0 && config->photo.fill[i] <= 255;
    if (!good)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.fill: expected a number from 0 to 255 for each channel, "
                        "got %t",
                        member.text, member.size);
    if (config->photo.fit != VIT_CONTAIN || config->photo.fills) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: prepare.fill is missing: with fit contain, a photo may be smaller "
                    "than the crop");
}

static vit_status read_photo(vit_config *config, const struct json *value, vit_error *why) {
    unsigned filter = VIT_BILINEAR, fit = VIT_STRETCH, middle = 0;
    vit_status status = read_photo_sizes(config, value, why);
    if (!status) status = read_choice(&filter, value, "interpolation", FILTERS, why);
    if (!status) status = read_choice(&fit, value, "fit", FITS, why);
    if (!status) status = read_choice(&middle, value, "crop_at", MIDDLES, why);
    if (status) return status;
    config->photo.filter = (vit_filter)filter;
    config->photo.fit = (vit_fit)fit;
    config->photo.crop_floor = middle == 1;
    if (fit != VIT_STRETCH && !config->photo.stretch[0])
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.fit: expected prepare.resize to be [rows, columns]");
    if (config->channels > 4 ||
        !read_channel_values(value, "mean", config->channels, config->photo.mean) ||
        !read_channel_values(value, "std", config->channels, config->photo.std))
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "config: prepare: expected mean and std, a number for each of 1 to 4 channels, for "
            "this model %z",
            config->channels);
    for (size_t i = 0; i < config->channels; i++)
        if (!(config->photo.std[i] > 0))
            return vit_fail(why, VIT_BAD_CONFIG, "config: prepare.std: expected numbers above 0");
    return read_fill(config, value, why);
}

static vit_status read_prepare(vit_config *config, const struct json *value, vit_error *why) {
    struct json kind;
    if (value->type == JSON_NULL) {
        config->prepare = VIT_PREPARE_UNKNOWN;
        return VIT_OK;
    }
    if (json_get(value, "kind", &kind) && json_is(&kind, "digit")) {
        if (config->channels != 1)
            return vit_fail(why, VIT_BAD_CONFIG,
                            "config: prepare digit: expected channels 1, got %z", config->channels);
        config->prepare = VIT_PREPARE_DIGIT;
        return VIT_OK;
    }
    if (!json_get(value, "kind", &kind) || !json_is(&kind, "photo"))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare: expected an object whose kind is digit or photo, got %t",
                        value->text, value->size);
    config->prepare = VIT_PREPARE_PHOTO;
    return read_photo(config, value, why);
}

static vit_status check_together(const vit_config *c, vit_error *why) {
    for (int i = 0; i < 2; i++)
        if (c->image_size[i] % c->patch_size[i])
            return vit_fail(why, VIT_BAD_CONFIG,
                            "config: patch_size: expected %s that divide the image's %z, got %z",
                            i ? "columns" : "rows", c->image_size[i], c->patch_size[i]);
    for (int i = 0; i < 2; i++)
        if (c->patch_size[i] % stem_stride(c))
            return vit_fail(
                why, VIT_BAD_CONFIG,
                "config: stem: expected strides whose product divides patch_size %z, got %z",
                c->patch_size[i], stem_stride(c));
    bool pools_heads = c->pool == VIT_POOL_ATTENTION || c->pool == VIT_POOL_PRR;
    if (c->head_width && (c->attention == VIT_PER_HEAD || pools_heads))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: head_width: expected none if attention is per_head or if pool is "
                        "attention or prr");
    if (!c->head_width && c->width % c->heads)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: heads: expected a divisor of width %z, got %z", c->width,
                        c->heads);
    if (c->position == VIT_SINCOS2D && c->width % 4)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: width: expected a multiple of 4 for sincos2d, got %z", c->width);
    if (c->prepare == VIT_PREPARE_PHOTO &&
        (c->photo.crop[0] != c->image_size[0] || c->photo.crop[1] != c->image_size[1]))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.crop: expected image_size, which is %d, got %d",
                        c->image_size, (size_t)2, c->photo.crop, (size_t)2);
    bool reads_class = c->pool == VIT_POOL_CLASS || c->pool == VIT_POOL_CLASS_MEAN;
    if (reads_class && !c->class_tokens)
        return vit_fail(why, VIT_BAD_CONFIG, "config: pool: class needs \"class\" in the prefix");
    if (reads_class && c->depth == 0)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "config: depth: expected a whole number from 1 to 1024, because pool reads the class "
            "token and only blocks bring pixels to it; got 0");
    if (c->pool == VIT_POOL_CLASS_MEAN && c->distillation_tokens)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: pool: class_mean needs a prefix without \"distillation\"");
    if (vit_patches(c) > 65536)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: patch_size: expected at most 65536 patches, got %z",
                        vit_patches(c));
    if (!params_fit(c, vit_kernels_best()))
        return vit_fail(why, VIT_NO_MEMORY,
                        "config: a model of width %z and depth %z does not fit in memory", c->width,
                        c->depth);
    return VIT_OK;
}

/* The keys that are lists or objects. They are read last, because they depend on plain keys. */
static const struct nested {
    const char *name;
    vit_status (*read)(vit_config *config, const struct json *value, vit_error *why);
    const char *otherwise;
} NESTED[] = {
    {"prefix", read_prefix, "[\"class\"]"},
    {"stem", read_stem, "[]"},
    {"labels", read_labels, NONE},
    {"prepare", read_prepare, NONE},
};

enum { KEYS_COUNT = sizeof KEYS / sizeof *KEYS, NESTED_COUNT = sizeof NESTED / sizeof *NESTED };

bool config_has_key(const struct json *name) {
    for (size_t i = 0; i < NESTED_COUNT; i++)
        if (json_is(name, NESTED[i].name)) return true;
    for (size_t i = 0; i < KEYS_COUNT; i++)
        if (json_is(name, KEYS[i].name)) return true;
    return false;
}

/* Finds a key's value, or else its default. False if there is neither. */
static bool value_of(struct json *value, const struct json *root, const char *name,
                     const char *otherwise) {
    return json_get(root, name, value) ||
           (otherwise && json_read(value, otherwise, strlen(otherwise)));
}

static vit_status read_keys(vit_config *config, const struct json *root, vit_error *why) {
    struct json value;
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        const struct key *key = &KEYS[i];
        if (value_of(&value, root, key->name, key->otherwise)) {
            if (!read_key(config, key, &value)) return expect_value(key, &value, why);
        } else if (key->otherwise == REQUIRED) {
            return vit_fail(why, VIT_BAD_CONFIG, "config: %s is missing", key->name);
        }
    }
    return VIT_OK;
}

vit_status config_parse(struct json *config, const char *json, size_t size, vit_error *why) {
    if (json_read(config, json, size) && config->type == JSON_OBJECT) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "config: expected a JSON object");
}

vit_status config_read(vit_config *config, const struct json *root, vit_error *why) {
    struct json value;
    *config = (vit_config){0};
    vit_status status = read_keys(config, root, why);
    for (size_t i = 0; !status && i < NESTED_COUNT; i++)
        if (value_of(&value, root, NESTED[i].name, NESTED[i].otherwise))
            status = NESTED[i].read(config, &value, why);
    if (status) return status;
    if (config->classes == 1 && !json_get(root, "problem_type", &value))
        config->problem_type = VIT_MULTI_LABEL_CLASSIFICATION; /* a softmax of one class is 1 */
    config->position_rows = vit_tokens(config);
    for (int i = 0; i < 2; i++)
        config->position_grid[i] = config->image_size[i] / config->patch_size[i];
    return check_together(config, why);
}

vit_status vit_config_read(vit_config *config, const char *json, size_t size, vit_error *why) {
    struct json root;
    *config = (vit_config){0};
    vit_status status = config_parse(&root, json, size, why);
    return status ? status : config_read(config, &root, why);
}

vit_status config_keep_labels(vit_model *m, const struct json *config, vit_error *why) {
    struct json labels, label;
    size_t i = 0, size, K = m->config.classes;
    if (!json_get(config, "labels", &labels)) return VIT_OK;
    m->labels = malloc(K * sizeof *m->labels + labels.size); /* pointers, then their text */
    if (!m->labels) return vit_fail(why, VIT_NO_MEMORY, "no memory for %z labels", K);
    char *text = (char *)(m->labels + K);
    for (struct json_walk walk = json_walk(&labels); i < K && json_next(&walk, NULL, &label); i++) {
        if (!json_unescape(text, &size, &label)) size = 0;
        text[size] = '\0';
        m->labels[i] = text;
        text += size + 1;
    }
    m->bytes += K * sizeof *m->labels + labels.size;
    return VIT_OK;
}
