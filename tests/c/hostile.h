/* A small good safetensors file, written without the core, and functions that spoil it. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "models.h"

static const char CONFIG[] =
    "{\"image_size\":[4,4],\"patch_size\":[2,2],\"channels\":1,\"width\":4,\"depth\":1,"
    "\"heads\":2,\"mlp_width\":3,\"classes\":2,\"norm\":\"pre\",\"norm_eps\":1e-6,"
    "\"final_norm\":true,\"activation\":\"gelu\",\"position\":\"learned\",\"pool\":\"class\","
    "\"qkv_bias\":true,\"qk_norm\":false,\"layer_scale\":false,\"prefix\":[\"class\"],"
    "\"attention\":\"standard\",\"labels\":[\"no\",\"yes\"],\"prepare\":{\"kind\":\"digit\"}}";

struct tensor {
    const char *name, *shape;
    size_t count;
};

static const struct tensor TENSORS[] = {
    {"cls_token", "[1,1,4]", 4},
    {"pos_embed", "[1,5,4]", 20},
    {"patch_embed.proj.weight", "[4,1,2,2]", 16},
    {"patch_embed.proj.bias", "[4]", 4},
    {"blocks.0.norm1.weight", "[4]", 4},
    {"blocks.0.norm1.bias", "[4]", 4},
    {"blocks.0.attn.qkv.weight", "[12,4]", 48},
    {"blocks.0.attn.qkv.bias", "[12]", 12},
    {"blocks.0.attn.proj.weight", "[4,4]", 16},
    {"blocks.0.attn.proj.bias", "[4]", 4},
    {"blocks.0.norm2.weight", "[4]", 4},
    {"blocks.0.norm2.bias", "[4]", 4},
    {"blocks.0.mlp.fc1.weight", "[3,4]", 12},
    {"blocks.0.mlp.fc1.bias", "[3]", 3},
    {"blocks.0.mlp.fc2.weight", "[4,3]", 12},
    {"blocks.0.mlp.fc2.bias", "[4]", 4},
    {"norm.weight", "[4]", 4},
    {"norm.bias", "[4]", 4},
    {"head.weight", "[2,4]", 8},
    {"head.bias", "[2]", 2},
};
enum { TENSORS_COUNT = sizeof TENSORS / sizeof *TENSORS, TEXT_MAX = 16384 };

struct file {
    uint8_t *bytes; /* a malloc block of exactly `size` */
    size_t size;
};

static inline struct file new_file(size_t size) {
    struct file f = {malloc(size + (size == 0)), size};
    if (!f.bytes) exit(EXIT_FAILURE);
    return f;
}

/* Appends text to out (TEXT_MAX). */
__attribute__((format(printf, 2, 3))) static inline void put(char *out, const char *format, ...) {
    size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, TEXT_MAX - used, format, arguments);
    va_end(arguments);
}

/* Begins a header's text with the config. */
static inline void begin_header(char *out, const char *config) {
    strcpy(out, "{\"__metadata__\":{\"format\":\"pt\",\"vitrine\":\"");
    for (const char *p = config; *p; p++) put(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    put(out, "\"}");
}

/* Appends a tensor's entry. Returns where its data end. */
static inline size_t put_tensor(char *out, const char *name, const char *type, const char *shape,
                                size_t begin, size_t bytes) {
    put(out, ",\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", name, type,
        shape, begin, begin + bytes);
    return begin + bytes;
}

/* Writes the header's text without tensor number `missing`. Returns the size of the data. */
static inline size_t write_header(char *out, const char *config, size_t missing) {
    size_t at = 0;
    begin_header(out, config);
    for (size_t i = 0; i < TENSORS_COUNT; i++)
        if (i != missing)
            at =
                put_tensor(out, TENSORS[i].name, "F32", TENSORS[i].shape, at, 4 * TENSORS[i].count);
    put(out, "}");
    return at;
}

/* A file of this header, whose data are not set. */
static inline struct file header_file(const char *header, size_t data_size) {
    size_t length = strlen(header);
    struct file f = new_file(8 + length + data_size);
    for (size_t i = 0; i < 8; i++) f.bytes[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memcpy(f.bytes + 8, header, length);
    return f;
}

static inline struct file pack_file(const char *header, size_t data_size) {
    struct file f = header_file(header, data_size);
    for (size_t at = f.size - data_size; at + 4 <= f.size; at += 4)
        memcpy(f.bytes + at, &(float){0.5f}, sizeof(float));
    return f;
}

/* The good file with another config. */
static inline struct file file_of(const char *config) {
    char header[TEXT_MAX];
    size_t data_size = write_header(header, config, SIZE_MAX);
    return pack_file(header, data_size);
}

/* Writes the map of a file whose tensors have `prefix` before our names. more: entries that are
 * added, or take the place of those of TENSORS. */
static inline void write_map(char out[TEXT_MAX], const char *prefix, const char *more) {
    char key[64];
    strcpy(out, "{\"family\":\"a test\",\"strict\":false,\"matrix_patches\":false,"
                "\"transposed\":[],\"skipped\":[],\"tensors\":{");
    for (size_t i = 0; i < TENSORS_COUNT; i++) {
        snprintf(key, sizeof key, "\"%s\":", TENSORS[i].name);
        if (!strstr(more, key)) put(out, "%s[\"%s%s\"],", key, prefix, TENSORS[i].name);
    }
    put(out, "%s", more);
    if (!*more) out[strlen(out) - 1] = '\0'; /* the last comma */
    put(out, "}}");
}

/* text with its first `from` replaced, in a buffer that the next call overwrites. */
static inline const char *replaced(const char *text, const char *from, const char *to) {
    static char out[TEXT_MAX];
    const char *at = strstr(text, from);
    if (!at) {
        check_failed(__FILE__, __LINE__, "the good file has no %s to spoil", from);
        return text;
    }
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

/* Opens the bytes with every kernel table. Checks that a failure leaves no model and a message. */
static inline vit_status open_bytes(const void *bytes, size_t size, vit_error *why) {
    vit_status status = VIT_OK;
    EACH_KERNELS(k) {
        vit_model *model = (vit_model *)&status; /* neither NULL nor a model */
        strcpy(why->text, "");
        status = vit_open(&model, bytes, size, k, why);
        CHECK((status == VIT_OK) == (model != NULL), "%s, yet the model is %s",
              vit_status_name(status), model ? "set" : "NULL");
        CHECK(status == VIT_OK || strlen(why->text) > 10, "%s without a message",
              vit_status_name(status));
        vit_close(model);
    }
    return status;
}

/* Opens the file by the config and the map (map_size), NULL for none, with every kernel table. */
static inline void expect_mapped(const char *what, const struct file *f, const char *json,
                                 const char *map, size_t map_size, vit_status want,
                                 const char *says) {
    char *copy = map ? malloc(map_size + (map_size == 0)) : NULL; /* a block of its own size */
    if (map) memcpy(copy, map, map_size);
    EACH_KERNELS(k) {
        vit_model *model = NULL;
        vit_error why = {""};
        vit_status status = vit_open_with_config(&model, f->bytes, f->size, json, strlen(json),
                                                 copy, map_size, k, &why);
        CHECK(status == want && (status == VIT_OK) == (model != NULL), "%s, %s: %s (%s), want %s",
              what, k->name, vit_status_name(status), why.text, vit_status_name(want));
        CHECK(strstr(why.text, says), "%s, %s: does not say %s: %s", what, k->name, says, why.text);
        vit_close(model);
    }
    free(copy);
}

/* The good file's text with `from` replaced by `to`, and the expected status and message. */
struct spoiled {
    const char *what, *from, *to;
    vit_status status;
    const char *says;
};
#define DEEP8(x) "[[[[[[[[" x "]]]]]]]]"

static inline void expect(const char *what, struct file f, vit_status want, const char *says) {
    vit_error why;
    vit_status status = open_bytes(f.bytes, f.size, &why);
    CHECK(status == want, "%s: %s (%s), want %s", what, vit_status_name(status), why.text,
          vit_status_name(want));
    CHECK(strstr(why.text, says), "%s: the message does not say %s: %s", what, says, why.text);
    free(f.bytes);
}

#endif
