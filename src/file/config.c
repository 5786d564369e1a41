#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "edition.h"
#include "json.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* clang-format off */
/* norm_words, pool_words and so on: the words of an enum in its order. */
#define VIT_WORDS(name) static const char *const name##_words[] = {
#define VIT_WORD(constant, word) #word,
#define VIT_NO_WORD(constant)
#define VIT_WORDS_END(name) NULL};
#include "config.def"
/* clang-format on */

enum {
#define VIT_LIMIT(name, most) name = most,
#include "config.def"
};

enum value_type {
#define VIT_TYPE(type, values, typescript) type,
#define VIT_TEXT_TYPE VIT_TYPE
#include "config.def"
};
static const char *const VALUES[] = {
#define VIT_TYPE(type, values, typescript) values,
#ifndef VITRINE_SMALL
#define VIT_TEXT_TYPE VIT_TYPE
#endif
#include "config.def"
};
enum { VALUES_ROOM = 160 };

struct key {
    const char *name;
    enum value_type type;
    size_t offset, most; /* most: 0 if the type has no limit, or one of its own */
    const char *const *words;
    const char *default_json; /* the default as JSON text; NULL: there is none */
    bool required;
};

#define AT(key) .offset = offsetof(OWNER, key)
#define OF_SIZE(key, of) AT(key), .most = of
#define OF_COUNT OF_SIZE
#define OF_PAIR OF_SIZE
#define OF_NUMBER OF_SIZE
#define OF_POSITIVE OF_SIZE
#define OF_SHARE OF_SIZE
#define OF_BOOL OF_SIZE
#define OF_WORD(key, of) AT(key), .words = of##_words
#define OF_PREPARE OF_WORD
#define OF_STEM(key, of) .most = of
#define OF_PREFIX OF_STEM
#define OF_LABELS OF_STEM
#define OF_TEXT OF_SIZE
#define OF_TOKEN OF_SIZE
#define OF_PIECES OF_STEM
#define OWNER vit_config
static const struct key KEYS[] = {
#define VIT_REQUIRED(key, type, of) {#key, type, OF_##type(key, of), .required = true},
#define VIT_DERIVED(key, type, of, from) {#key, type, OF_##type(key, of)},
#define VIT_KEY(key, type, of, standard)                                                           \
    {#key, type, OF_##type(key, of), .default_json = #standard},
#include "config.def"
};
#undef OWNER
#define OWNER vit_text_config
static const struct key TEXT_KEYS[] = {
/* "required" is no JSON, and so no default */
#define VIT_TEXT(key, type, of, standard)                                                          \
    {#key, type, OF_##type(key, of), .default_json = #standard, .required = true},
#include "config.def"
};
enum {
    KEYS_COUNT = sizeof KEYS / sizeof *KEYS,
    TEXT_KEYS_COUNT = sizeof TEXT_KEYS / sizeof *TEXT_KEYS
};
_Static_assert(sizeof((vit_config *)0)->stem / sizeof *((vit_config *)0)->stem == VIT_STEM_MOST,
               "config.def and vit_config.h name different numbers of convolutions");

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

/* The prefix is class, distillation, register, … in this order. Each of them may be missing. */
static bool read_prefix(vit_config *config, const struct json *value) {
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
    return good && (!config->distillation_tokens || config->class_tokens);
}

/* A convolution is [channels, stride], or its channels alone if the stride is 2. */
static bool read_stem(vit_config *config, const struct json *value) {
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
    return good;
}

static bool read_token(const struct json *value, size_t *out) {
    *out = VIT_NO_TOKEN;
    return value->type == JSON_NULL || json_size(value, VIT_NO_TOKEN - 1, out);
}

/* owner: what the key's offset is in. */
static bool read_field(void *owner, const struct key *key, const struct json *value) {
    void *field = (char *)owner + key->offset;
    float *number = field;
    unsigned word;
    switch (key->type) {
    case SIZE: return read_positive(value, key->most, field);
    case COUNT: return json_size(value, key->most, field);
    case PAIR: return read_pair(value, key->most, field);
    case NUMBER: return read_float(value, number) && *number >= 0;
    case POSITIVE: return read_float(value, number) && *number > 0 && *number <= (float)key->most;
    case SHARE: return read_float(value, number) && *number >= 0 && *number <= 1;
    case BOOL: return read_bool(value, field);
    case WORD:
        if (!read_word(value, key->words, &word)) return false;
        memcpy(field, &word, sizeof word); /* every enum here is an unsigned int */
        return true;
    case TOKEN: return VIT_FULL && read_token(value, field);
    case PREFIX: return read_prefix(owner, value);
    case STEM: return read_stem(owner, value);
    case LABELS:
    case PIECES:
    case TEXT:
    case PREPARE: break; /* see read_key */
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

/* in: "decoder." if the key is a member of it, and so on. */
static vit_status expect_value(const char *in, const struct key *key, const struct json *value,
                               vit_error *why) {
    const char *values = VALUES[key->type], *hole = memchr(values, '%', strlen(values));
    char expected[VALUES_ROOM], words[WORDS_ROOM];
    struct text text = {expected, expected + VALUES_ROOM - 1};
    if (hole) {
        put(&text, values, (size_t)(hole - values));
        if (key->type == WORD)
            put_words(&text, list_words(words, key->words));
        else
            put_size(&text, key->most);
        values = hole + strlen("%z");
    }
    put_words(&text, values);
    *text.at = '\0';
    return vit_fail(why, VIT_BAD_CONFIG, "config: %s%s: expected %s, got %t", in, key->name,
                    expected, value->text, value->size);
}

static vit_status read_labels(size_t count, const char *in, const char *each,
                              const struct json *value, vit_error *why) {
    struct json label;
    bool good = value->type == JSON_ARRAY && json_length(value) == count;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &label);)
        good = label.type == JSON_STRING;
    if (good) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "config: %slabels: expected %z strings, one a %s", in,
                    count, each);
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

/* Reads a member of `prepare` that is one of `words`. If it is missing, *out keeps its value. */
static vit_status read_member_word(unsigned *out, const struct json *object, const char *name,
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
        (member.type != JSON_NULL && !read_positive(&member, MOST_SIDE, &resize) &&
         !read_pair(&member, MOST_SIDE, stretch)))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.resize: expected a number of pixels, or of rows and of "
                        "columns, or null");
    config->photo.resize = resize;
    for (int i = 0; i < 2; i++)
        crop[i] = resize ? resize : stretch[i] ? stretch[i] : config->image_size[i];
    size_t edges[2]; /* JavaScript's detect finds each photo's size by them */
    if (json_get(value, "edges", &member) && member.type != JSON_NULL &&
        !read_pair(&member, MOST_SIDE, edges))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.edges: expected two numbers of pixels, or null");
    if (!json_get(value, "crop", &member)) return VIT_OK;
    if (read_positive(&member, MOST_SIDE, &crop[0]))
        crop[1] = crop[0];
    else if (!read_pair(&member, MOST_SIDE, crop))
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
    unsigned filter = VIT_BILINEAR, fit = VIT_STRETCH, crop_at = VIT_CROP_EVEN;
    vit_status status = read_photo_sizes(config, value, why);
    if (!status) status = read_member_word(&filter, value, "interpolation", filter_words, why);
    if (!status) status = read_member_word(&fit, value, "fit", fit_words, why);
    if (!status) status = read_member_word(&crop_at, value, "crop_at", crop_at_words, why);
    if (status) return status;
    config->photo.filter = (vit_filter)filter;
    config->photo.fit = (vit_fit)fit;
    config->photo.crop_at = (vit_crop_at)crop_at;
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

static vit_status read_prepare(vit_config *config, const struct key *key, const struct json *value,
                               vit_error *why) {
    struct json kind;
    unsigned word = VIT_PREPARE_UNKNOWN;
    if (value->type != JSON_NULL &&
        !(json_get(value, "kind", &kind) && read_word(&kind, key->words, &word)))
        return expect_value("", key, value, why);
    if (word == VIT_PREPARE_DIGIT && config->channels != 1)
        return vit_fail(why, VIT_BAD_CONFIG, "config: prepare digit: expected channels 1, got %z",
                        config->channels);
    config->prepare = (vit_prepare)word;
    return word == VIT_PREPARE_PHOTO ? read_photo(config, value, why) : VIT_OK;
}

static vit_status read_text_key(vit_text_config *text, const char *in, const struct key *key,
                                const struct json *value, vit_error *why) {
    if (key->type == PIECES && value->type == JSON_NULL) return VIT_OK;
    if (key->type == PIECES) return read_labels(text->vocabulary, in, "token", value, why);
    return read_field(text, key, value) ? VIT_OK : expect_value(in, key, value, why);
}

/* Finds the key's value or its default; false if there is neither. */
static bool value_of(struct json *value, const struct key *key, const struct json *object) {
    return json_get(object, key->name, value) ||
           (key->default_json && json_read(value, key->default_json, strlen(key->default_json)));
}

static vit_status check_text(const vit_text_config *t, const char *in, vit_error *why) {
    const struct {
        const char *name;
        size_t id;
    } tokens[] = {{"start", t->start}, {"end", t->end}, {"padding", t->padding}};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (tokens[i].id != VIT_NO_TOKEN && tokens[i].id >= t->vocabulary)
            return vit_fail(why, VIT_BAD_CONFIG,
                            "config: %s%s: expected a number below vocabulary %z, got %z", in,
                            tokens[i].name, t->vocabulary, tokens[i].id);
    if (t->width % t->heads)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %sheads: expected a divisor of width %z, got %z", in, t->width,
                        t->heads);
    if (t->position == VIT_TEXT_SINCOS_HALVES && (t->width % 2 || t->width < 4))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %swidth: expected an even number from 4 up for sincos_halves, "
                        "got %z",
                        in, t->width);
    if (t->position == VIT_TEXT_SINCOS1D && t->position_offset)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: %sposition_offset: expected 0 for sincos1d, got %z", in,
                        t->position_offset);
    return VIT_OK;
}

/* value: an object, or null, which leaves all members 0. */
static vit_status read_text(vit_config *config, const struct key *key, const struct json *value,
                            vit_error *why) {
    vit_text_config *text = (void *)((char *)config + key->offset);
    bool decoder = text == &config->decoder;
    const char *in = decoder ? "decoder." : "text.";
    struct json member;
    vit_status status = VIT_OK;
    if (value->type == JSON_NULL) return VIT_OK;
    text->depth = 1;
    if (!VIT_FULL) return VIT_OK; /* see check_edition */
    if (value->type != JSON_OBJECT) return expect_value("", key, value, why);
    for (size_t i = 0; i < TEXT_KEYS_COUNT && !status; i++) {
        if (!value_of(&member, &TEXT_KEYS[i], value))
            return vit_fail(why, VIT_BAD_CONFIG, "config: %s%s is missing", in, TEXT_KEYS[i].name);
        status = read_text_key(text, in, &TEXT_KEYS[i], &member, why);
    }
    if (!status && decoder && text->mask != VIT_MASK_CAUSAL)
        return vit_fail(why, VIT_BAD_CONFIG, "config: decoder.mask: expected causal");
    return status ? status : check_text(text, in, why);
}

static vit_status read_key(vit_config *config, const struct key *key, const struct json *value,
                           vit_error *why) {
    if (key->type == LABELS) return read_labels(config->classes, "", "class", value, why);
    if (key->type == PREPARE) return read_prepare(config, key, value, why);
    if (key->type == TEXT) return read_text(config, key, value, why);
    return read_field(config, key, value) ? VIT_OK : expect_value("", key, value, why);
}

static vit_status check_together(const vit_config *c, vit_error *why) {
    bool strides =
        c->patch_stride[0] && memcmp(c->patch_stride, c->patch_size, sizeof c->patch_size);
    if (strides && c->stem_layers)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: patch_stride: expected patch_size beside a stem");
    for (int i = 0; i < 2 && tokens_to_token_of(c); i++)
        if (strides || c->stem_layers || c->patch_size[i] != 16 || c->image_size[i] % 16)
            return vit_fail(why, VIT_BAD_CONFIG,
                            "config: tokens_to_token: expected patch_size [16, 16], which divides "
                            "image_size, and neither a stem nor another patch_stride");
    if (tokens_to_token_of(c) == VIT_SPLIT_PERFORMER && c->token_width < 2)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: token_width: expected a number from 2 up for a performer, got %z",
                        c->token_width);
    for (int i = 0; i < 2; i++)
        if (c->patch_stride[0] ? !vit_grid(c, i) : c->image_size[i] % c->patch_size[i] > 0)
            return vit_fail(why, VIT_BAD_CONFIG,
                            "config: patch_size: expected %s that divide the image's %z, got %z",
                            i ? "columns" : "rows", c->image_size[i], c->patch_size[i]);
    for (int i = 0; i < 2; i++)
        if (c->patch_size[i] % stem_stride(c))
            return vit_fail(
                why, VIT_BAD_CONFIG,
                "config: stem: expected strides whose product divides patch_size %z, got %z",
                c->patch_size[i], stem_stride(c));
    bool pools_heads = pool_of(c) == VIT_POOL_ATTENTION || pool_of(c) == VIT_POOL_PRR;
    bool wide = c->head_width && c->head_width * c->heads != c->width;
    if (wide && c->attention == VIT_PER_HEAD)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: head_width: expected none if attention is per_head");
    if (!c->head_width && c->width % c->heads)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: heads: expected a divisor of width %z, got %z", c->width,
                        c->heads);
    if (pools_heads && c->width % pool_heads(c))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: pool_heads: expected a divisor of width %z, got %z", c->width,
                        pool_heads(c));
    if (position_of(c) == VIT_SINCOS2D && c->width % 4)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: width: expected a multiple of 4 for sincos2d, got %z", c->width);
    if (position_of(c) == VIT_ROTARY && head_width(c) % 4)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "config: position: rotary needs heads whose width is a multiple of 4, got %z",
            head_width(c));
    if (c->rotary_base < 1)
        return vit_fail(why, VIT_BAD_CONFIG, "config: rotary_base: expected a number from 1 up");
    if (c->prepare == VIT_PREPARE_PHOTO &&
        (c->photo.crop[0] != c->image_size[0] || c->photo.crop[1] != c->image_size[1]))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: prepare.crop: expected image_size, which is %d, got %d",
                        c->image_size, (size_t)2, c->photo.crop, (size_t)2);
    bool reads_class = pool_of(c) == VIT_POOL_CLASS || pool_of(c) == VIT_POOL_CLASS_MEAN;
    if (reads_class && !c->class_tokens)
        return vit_fail(why, VIT_BAD_CONFIG, "config: pool: class needs \"class\" in the prefix");
    if (reads_class && c->depth == 0)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "config: depth: expected a whole number from 1 to 1024, because pool reads the class "
            "token and only blocks bring pixels to it; got 0");
    if (pool_of(c) == VIT_POOL_CLASS_MEAN && c->distillation_tokens)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: pool: class_mean needs a prefix without \"distillation\"");
    if (c->doubt && (!c->classes || c->problem_type != VIT_SINGLE_LABEL_CLASSIFICATION))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: doubt: expected classes that exclude each other beside it");
    if (mlp_norm_after_of(c) && norm_of(c) != VIT_PRE)
        return vit_fail(why, VIT_BAD_CONFIG, "config: mlp_norm_after: expected norm to be pre");
    if (head_hidden_of(c) && c->distillation_tokens)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: head_hidden: expected a prefix without \"distillation\"");
    if (detections_of(c) &&
        (pool_of(c) != VIT_POOL_CLASS || c->distillation_tokens || c->doubt || head_hidden_of(c)))
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: detections: expected pool to be class, and neither doubt, "
                        "head_hidden nor \"distillation\" in the prefix");
    if (mid_position_of(c) && position_of(c) != VIT_LEARNED)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: mid_position: expected position to be learned");
    if (vit_patches(c) > MOST_PATCHES)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: patch_size: expected at most %z patches, got %z",
                        (size_t)MOST_PATCHES, vit_patches(c));
    if (!params_fit(c, vit_kernels_best()))
        return vit_fail(why, VIT_NO_MEMORY,
                        "config: a model of width %z and depth %z does not fit in memory", c->width,
                        c->depth);
    return VIT_OK;
}

/* Refuses what only the full edition runs. */
static vit_status check_edition(const vit_config *c, vit_error *why) {
    const char *beyond = NULL;
#define VIT_PLAIN(key, last) beyond = (size_t)c->key > (size_t)(last) ? #key : beyond;
#define VIT_PLAIN_TEXT(key) beyond = c->key.depth ? #key : beyond;
#include "config.def"
    if (VIT_FULL || !beyond) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: %s: this model needs the full edition of the wasm module, "
                    "vit.full.*.wasm, got the small one",
                    beyond);
}

bool config_has_key(const struct json *name) {
    for (size_t i = 0; i < KEYS_COUNT; i++)
        if (json_is(name, KEYS[i].name)) return true;
    return false;
}

static vit_status read_keys(vit_config *config, const struct json *root, vit_error *why) {
    struct json value;
    vit_status status = VIT_OK;
    for (size_t i = 0; i < KEYS_COUNT && !status; i++) {
        const struct key *key = &KEYS[i];
        if (value_of(&value, key, root))
            status = read_key(config, key, &value, why);
        else if (key->required)
            return vit_fail(why, VIT_BAD_CONFIG, "config: %s is missing", key->name);
    }
    return status;
}

vit_status config_parse(struct json *config, const char *json, size_t size, vit_error *why) {
    if (json_read(config, json, size) && config->type == JSON_OBJECT) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "config: expected a JSON object");
}

vit_status config_read(vit_config *config, const struct json *root, vit_error *why) {
    struct json value;
    *config = (vit_config){0};
    vit_status status = read_keys(config, root, why);
    if (!status) status = check_edition(config, why);
    if (status) return status;
    if (config->classes == 1 && !detections_of(config) && !json_get(root, "problem_type", &value))
        config->problem_type = VIT_MULTI_LABEL_CLASSIFICATION; /* a softmax of one class is 1 */
    config->position_rows = vit_tokens(config);
    for (int i = 0; i < 2; i++) config->position_grid[i] = vit_grid(config, i);
    return check_together(config, why);
}

vit_status vit_config_read(vit_config *config, const char *json, size_t size, vit_error *why) {
    struct json root;
    *config = (vit_config){0};
    vit_status status = config_parse(&root, json, size, why);
    return status ? status : config_read(config, &root, why);
}

/* ---- Another size --------------------------------------------------------- */

/* Where the lengths of rows and columns are in another proportion than before, the length of a
 * photo's shorter side becomes two lengths that the photo covers, as in timm. */
static void resize_photo(vit_config *c, const size_t size[2]) {
    size_t *resize = &c->photo.resize, lengths[2];
    for (int i = 0; i < 2; i++) {
        uint64_t before = c->image_size[i], length = *resize ? *resize : c->photo.stretch[i];
        lengths[i] = (size_t)((length * size[i] + before / 2) / before);
        c->photo.crop[i] = size[i];
    }
    if (*resize && lengths[0] == lengths[1]) {
        *resize = lengths[0];
        return;
    }
    if (*resize) c->photo.fit = VIT_COVER;
    *resize = 0;
    memcpy(c->photo.stretch, lengths, sizeof lengths);
}

vit_status config_resize(vit_config *c, const size_t size[2], vit_error *why) {
    const struct key *key = &KEYS[0]; /* image_size */
    size_t others = c->position_rows - vit_patches(c);
    if (position_of(c) == VIT_RELATIVE && c->position_resize > VIT_RESIZE_PLAIN)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "config: position_resize: relative positions that an MLP makes are not "
                        "resized: load the original file with this image_size");
    if (size[0] - 1 >= key->most || size[1] - 1 >= key->most)
        return vit_fail(why, VIT_BAD_CONFIG, "config: image_size: expected 1 to %z, got %d",
                        key->most, size, (size_t)2);
    if (c->prepare == VIT_PREPARE_PHOTO) resize_photo(c, size);
    memcpy(c->image_size, size, sizeof c->image_size);
    vit_status status = check_together(c, why);
    if (status) return status;
    c->position_rows = others + vit_patches(c);
    for (int i = 0; i < 2 && !learns_positions(c); i++) c->position_grid[i] = vit_grid(c, i);
    return VIT_OK;
}

/* ---- Out again ------------------------------------------------------------ */

static void put_numbers(struct text *out, size_t count) {
    put_words(out, "[");
    for (size_t i = 0; i < count; i++) {
        put_words(out, i ? ",\"" : "\"");
        put_size(out, i);
        put_words(out, "\"");
    }
    put_words(out, "]");
}

static void put_text(struct text *out, const vit_text_config *text, const struct json *source);

/* Numbers with fractions and most lists and objects are copied from the text. */
static void put_value(struct text *out, const void *owner, const struct key *key,
                      const struct json *source) {
    const void *field = (const char *)owner + key->offset;
    const size_t *size = field;
    struct json value;
    unsigned word;
    switch (key->type) {
    case SIZE:
    case COUNT: put_size(out, *size); return;
    case PAIR:
        put_words(out, "["), put_size(out, size[0]), put_words(out, ",");
        put_size(out, size[1]), put_words(out, "]");
        return;
    case TOKEN:
        if (VIT_FULL && *size == VIT_NO_TOKEN)
            put_words(out, "null");
        else if (VIT_FULL)
            put_size(out, *size);
        return;
    case BOOL: put_words(out, *(const bool *)field ? "true" : "false"); return;
    case WORD:
        memcpy(&word, field, sizeof word);
        put_words(out, "\""), put_words(out, key->words[word]), put_words(out, "\"");
        return;
    default:
        if (!json_get(source, key->name, &value)) value.type = JSON_NULL, value.size = 0;
        if (VIT_FULL && key->type == TEXT && value.type == JSON_OBJECT)
            put_text(out, field, &value);
        else if (value.size)
            put(out, value.text, value.size);
        else if (key->type == LABELS)
            put_numbers(out, ((const vit_config *)owner)->classes);
        else
            put_words(out, key->default_json);
    }
}

static void put_text(struct text *out, const vit_text_config *text, const struct json *source) {
    for (size_t i = 0; i < TEXT_KEYS_COUNT; i++) {
        put_words(out, i ? ",\"" : "{\"");
        put_words(out, TEXT_KEYS[i].name);
        put_words(out, "\":");
        put_value(out, text, &TEXT_KEYS[i], source);
    }
    put_words(out, "}");
}

char *config_print(size_t *size, const vit_config *config, const char *json, size_t json_size) {
    enum { KEY_ROOM = 96, LABEL_ROOM = 12 };
    struct json source, name, value;
    vit_config whole = *config;
    size_t room = (KEYS_COUNT + (VIT_FULL ? 2 * TEXT_KEYS_COUNT : 0)) * KEY_ROOM + json_size +
                  config->classes * LABEL_ROOM;
    char *out = malloc(room);
    if (!out) return NULL;
    json_read(&source, json, json_size);
    whole.head_width = head_width(config);
    whole.pool_heads = pool_heads(config);
    whole.pool_mlp_width = pool_mlp_width(config);
    for (int i = 0; i < 2 && !config->position_size[0]; i++)
        whole.position_size[i] = config->position_grid[i] == vit_grid(config, i)
                                     ? config->image_size[i]
                                     : grid_pixels(config, i, config->position_grid[i]);
    for (int i = 0; i < 2 && !config->patch_stride[0]; i++)
        whole.patch_stride[i] = config->patch_size[i];
    for (int i = 0; i < 2 && !config->rotary_grid[0]; i++)
        whole.rotary_grid[i] = vit_grid(config, i);
    struct text text = {out, out + room};
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        put_words(&text, i ? ",\"" : "{\"");
        put_words(&text, KEYS[i].name);
        put_words(&text, "\":");
        put_value(&text, &whole, &KEYS[i], &source);
    }
    for (struct json_walk walk = json_walk(&source); json_next(&walk, &name, &value);) {
        if (config_has_key(&name)) continue;
        put_words(&text, ",");
        put(&text, name.text, name.size);
        put_words(&text, ":");
        put(&text, value.text, value.size);
    }
    put_words(&text, "}");
    *size = (size_t)(text.at - out);
    return out;
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
