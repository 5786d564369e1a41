#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "json.h"
#include "vit.h"

enum { MAX_HEADER = 100 * 1000 * 1000, MAX_TENSORS = 100000 };

static const struct {
    const char *name;
    size_t bytes;
} TYPES[] = {[ST_F32] = {"F32", 4},
             [ST_F16] = {"F16", 2},
             [ST_BF16] = {"BF16", 2},
             [ST_F64] = {"F64", 8},
             [ST_I8] = {"I8", 1},
             [ST_OTHER] = {"I64", 8},
             {"I32", 4},
             {"U8", 1},
             {"BOOL", 1}};

static size_t bytes_of(const struct st_tensor *t) {
    return t->count * TYPES[t->type].bytes;
}

static vit_status read_type(struct st_tensor *t, const struct json *value, vit_error *why) {
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (json_is(value, TYPES[i].name)) {
            t->type = (st_type)i;
            return VIT_OK;
        }
    return vit_fail(why, VIT_BAD_TENSOR,
                    "tensor \"%t\": expected dtype F64, F32, F16, BF16 or I8, got %t", t->name,
                    t->name_size, value->text, value->size);
}

static vit_status read_shape(struct st_tensor *t, const struct json *value, vit_error *why) {
    struct json dimension;
    t->count = 1;
    t->rank = 0;
    bool good = value->type == JSON_ARRAY && json_length(value) <= 4;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &dimension);) {
        size_t *n = &t->shape[t->rank++];
        good = json_size(&dimension, SIZE_MAX, n) &&
               (*n == 0 || t->count <= SIZE_MAX / ST_TYPE_BYTES / *n);
        if (good) t->count *= *n;
    }
    if (good) return VIT_OK;
    return vit_fail(why, VIT_BAD_TENSOR,
                    "tensor \"%t\": expected a shape of at most 4 sizes that fit in memory, got %t",
                    t->name, t->name_size, value->text, value->size);
}

static vit_status read_offsets(struct st_tensor *t, const struct json *value, size_t data_size,
                               vit_error *why) {
    size_t offsets[2] = {0, 0}, n = 0;
    struct json offset;
    bool good = value->type == JSON_ARRAY && json_length(value) == 2;
    for (struct json_walk walk = json_walk(value); good && json_next(&walk, NULL, &offset);)
        good = json_size(&offset, SIZE_MAX, &offsets[n++]);
    if (!good)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%t\": expected data_offsets [begin,end], got %t", t->name,
                        t->name_size, value->text, value->size);
    size_t begin = offsets[0], end = offsets[1];
    if (begin > end || end > data_size)
        return vit_fail(
            why, VIT_BAD_TENSOR,
            "tensor \"%t\": its bytes %z to %z lie outside the file's %z bytes of data; "
            "is the file truncated?",
            t->name, t->name_size, begin, end, data_size);
    if (end - begin != bytes_of(t))
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%t\": shape %d of %s needs %z bytes, its offsets hold %z",
                        t->name, t->name_size, t->shape, t->rank, TYPES[t->type].name, bytes_of(t),
                        end - begin);
    t->begin = begin;
    return VIT_OK;
}

static vit_status read_entry(struct st_tensor *t, const struct json *value, size_t data_size,
                             vit_error *why) {
    struct json type, shape, offsets;
    if (!json_get(value, "dtype", &type) || !json_get(value, "shape", &shape) ||
        !json_get(value, "data_offsets", &offsets) || json_length(value) != 3)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%t\": expected exactly dtype, shape and data_offsets", t->name,
                        t->name_size);
    vit_status status = read_type(t, &type, why);
    if (!status) status = read_shape(t, &shape, why);
    if (!status) status = read_offsets(t, &offsets, data_size, why);
    return status;
}

/* Unescapes a string into *storage, ends it by 0, and moves *storage behind it. */
static bool keep_string(char **storage, size_t *size, const struct json *string) {
    if (!json_unescape(*storage, size, string)) return false;
    (*storage)[*size] = '\0';
    *storage += *size + 1;
    return true;
}

static vit_status read_metadata(struct safetensors *st, const struct json *value, char **storage,
                                vit_error *why) {
    struct json key, text;
    if (value->type != JSON_OBJECT)
        return vit_fail(why, VIT_BAD_FILE, "__metadata__: expected an object of strings");
    for (struct json_walk walk = json_walk(value); json_next(&walk, &key, &text);) {
        if (text.type != JSON_STRING)
            return vit_fail(why, VIT_BAD_FILE, "__metadata__: expected a string for %t", key.text,
                            key.size);
        if (!json_is(&key, "vitrine")) continue;
        if (st->metadata)
            return vit_fail(why, VIT_BAD_FILE, "__metadata__: \"vitrine\" is there twice");
        st->metadata = *storage;
        if (!keep_string(storage, &st->metadata_size, &text))
            return vit_fail(why, VIT_BAD_FILE,
                            "__metadata__.vitrine: an escape makes no character");
    }
    return VIT_OK;
}

static int by_place(const void *a, const void *b) {
    const struct st_tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (bytes_of(x) > bytes_of(y)) - (bytes_of(x) < bytes_of(y));
}

int st_compare_names(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_name(const void *a, const void *b) {
    const struct st_tensor *x = a, *y = b;
    return st_compare_names(x->name, x->name_size, y->name, y->name_size);
}

/* The data must be the tensors' bytes, end to end: no gaps, no overlaps, nothing after them. */
static vit_status check_places(struct safetensors *st, size_t data_size, vit_error *why) {
    size_t at = 0;
    sort(st->tensors, st->count, sizeof *st->tensors, by_place);
    for (size_t i = 0; i < st->count; i++) {
        const struct st_tensor *t = &st->tensors[i];
        if (t->begin != at)
            return vit_fail(
                why, VIT_BAD_TENSOR,
                "tensor \"%t\": begins at byte %z of the data, expected %z: tensors must "
                "not overlap or leave gaps",
                t->name, t->name_size, t->begin, at);
        at += bytes_of(t);
    }
    if (at != data_size)
        return vit_fail(why, VIT_BAD_FILE, "expected %z bytes of data, got %z", at, data_size);
    return VIT_OK;
}

static vit_status read_entries(struct safetensors *st, const struct json *header, size_t data_size,
                               vit_error *why) {
    char *storage = st->names;
    struct json key, value;
    vit_status status = VIT_OK;
    bool metadata = false;
    for (struct json_walk walk = json_walk(header); !status && json_next(&walk, &key, &value);) {
        if (json_is(&key, "__metadata__")) {
            if (metadata) return vit_fail(why, VIT_BAD_FILE, "__metadata__ is there twice");
            metadata = true;
            status = read_metadata(st, &value, &storage, why);
            continue;
        }
        struct st_tensor *t = &st->tensors[st->count++];
        t->name = storage;
        if (!keep_string(&storage, &t->name_size, &key))
            return vit_fail(why, VIT_BAD_FILE, "tensor name %t: an escape makes no character",
                            key.text, key.size);
        status = read_entry(t, &value, data_size, why);
    }
    if (!status) status = check_places(st, data_size, why);
    if (status) return status;
    sort(st->tensors, st->count, sizeof *st->tensors, by_name);
    for (size_t i = 1; i < st->count; i++)
        if (by_name(&st->tensors[i - 1], &st->tensors[i]) == 0)
            return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": is there twice",
                            st->tensors[i].name, st->tensors[i].name_size);
    return VIT_OK;
}

vit_status st_length(size_t *length, const uint8_t bytes[ST_LENGTH_BYTES], size_t file_size,
                     vit_error *why) {
    uint64_t value = 0;
    for (size_t i = ST_LENGTH_BYTES; i > 0; i--) value = value << 8 | bytes[i - 1];
    if (value > MAX_HEADER && bytes[0] == '<')
        return vit_fail(
            why, VIT_BAD_FILE,
            "expected a safetensors file, got what looks like an HTML page; check the address");
    if (value > MAX_HEADER)
        return vit_fail(
            why, VIT_BAD_FILE,
            "expected a safetensors file, whose first 8 bytes are a header length of at "
            "most %z",
            (size_t)MAX_HEADER);
    *length = (size_t)value;
    if (*length > file_size - ST_LENGTH_BYTES)
        return vit_fail(why, VIT_BAD_FILE,
                        "the header says %z bytes, the file holds %z more; is it truncated?",
                        *length, file_size - ST_LENGTH_BYTES);
    return VIT_OK;
}

vit_status st_open(struct safetensors *st, const char *json, size_t length, size_t data_size,
                   vit_error *why) {
    *st = (struct safetensors){0};
    struct json header;
    if (!json_read(&header, json, length) || header.type != JSON_OBJECT)
        return vit_fail(why, VIT_BAD_FILE, "the header is not a JSON object");
    size_t count = json_length(&header);
    if (count > MAX_TENSORS)
        return vit_fail(why, VIT_BAD_FILE, "expected at most %z tensors", (size_t)MAX_TENSORS);
    st->tensors = calloc(count + 1, sizeof *st->tensors);
    st->names = malloc(length + 1); /* a quoted string shrinks by two and gains a terminator */
    vit_status status =
        st->tensors && st->names
            ? read_entries(st, &header, data_size, why)
            : vit_fail(why, VIT_NO_MEMORY, "no memory for a header of %z bytes", length);
    if (status) st_close(st);
    return status;
}

void st_close(struct safetensors *st) {
    free(st->tensors);
    free(st->names);
    *st = (struct safetensors){0};
}

const struct st_tensor *st_find(const struct safetensors *st, const char *name, size_t size) {
    size_t low = 0, high = st->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct st_tensor *t = &st->tensors[middle];
        int order = st_compare_names(name, size, t->name, t->name_size);
        if (order == 0) return t;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

size_t st_type_bytes(st_type type) {
    return TYPES[type].bytes;
}

const char *st_type_name(st_type type) {
    return TYPES[type].name;
}

static uint32_t little_16(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8;
}
static uint32_t little_32(const uint8_t *p) {
    return little_16(p) | little_16(p + 2) << 16;
}

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16 → binary32, exactly. The bits are moved into place. A multiplication then
 * corrects the exponent's bias and normalises subnormals. */
static float from_half(uint32_t bits) {
    float value = from_bits((bits & 0x7fff) << 13) * 0x1p112f;
    uint32_t out;
    memcpy(&out, &value, sizeof out);
    if ((bits & 0x7c00) == 0x7c00) out |= 0x7f800000;
    return from_bits(out | (bits & 0x8000) << 16);
}

static float from_double(const uint8_t *p) {
    uint64_t bits = little_32(p) | (uint64_t)little_32(p + 4) << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

void st_floats(float *out, st_type type, const uint8_t *p, size_t n) {
    switch (type) {
    case ST_F32:
        for (size_t i = 0; i < n; i++) out[i] = from_bits(little_32(p + 4 * i));
        break;
    case ST_F16:
        for (size_t i = 0; i < n; i++) out[i] = from_half(little_16(p + 2 * i));
        break;
    case ST_BF16:
        for (size_t i = 0; i < n; i++) out[i] = from_bits(little_16(p + 2 * i) << 16);
        break;
    case ST_F64:
        for (size_t i = 0; i < n; i++) out[i] = from_double(p + 8 * i);
        break;
    case ST_I8:
        for (size_t i = 0; i < n; i++) out[i] = (float)(int8_t)p[i];
        break;
    default: break;
    }
}
