/* safetensors ↔ parameters. Names, shapes and values are checked before any memory is asked
 * for, so that a file's claims cost nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "model.h"
#include "resample.h"

/* ---- Reading ------------------------------------------------------------ */

/* The side of a square grid of so many rows; 0 where they make none. */
static size_t side_of(size_t rows) {
    size_t side = 1;
    while (side < UINT16_MAX && side * side < rows) side++; /* a square past it may overflow */
    return side * side == rows ? side : 0;
}

vit_status weights_read_config(vit_config *config, const struct safetensors *st, const char *json,
                               size_t json_size, vit_error *why) {
    if (!json)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "the file has no __metadata__.vitrine, which holds the model's config; give "
            "the config apart");
    vit_status status = vit_config_read(config, json, json_size, why);
    if (status) return status;
    config->fc_norm = config->final_norm && config->pool == VIT_POOL_MEAN &&
                      st_find(st, "fc_norm.weight") && !st_find(st, "norm.weight");
    const struct st_tensor *position = st_find(st, "pos_embed");
    if (config->position == VIT_LEARNED && position && position->rank == 3) {
        size_t prefix = vit_prefix(config), rows = position->shape[1];
        /* Rows for the patches alone: N of them, or a square grid to be resized. */
        bool patches_only =
            rows == vit_patches(config) || (side_of(rows) && rows != vit_tokens(config));
        if (prefix && patches_only) config->position_rows = vit_patches(config);
    }
    return VIT_OK;
}

/* The side of a square grid of learned positions made for another image size, else 0. */
static size_t resized_from(const vit_config *c, const struct st_tensor *t) {
    size_t extra = c->position_rows - vit_patches(c);
    if (t->rank != 3 || t->shape[0] != 1 || t->shape[2] != c->width || t->shape[1] <= extra)
        return 0;
    return side_of(t->shape[1] - extra);
}

static bool is_position(const struct param *param) {
    return strcmp(param->name, "pos_embed") == 0;
}

static vit_status check_tensor(const struct param *param, const struct st_tensor *t,
                               const vit_config *c, vit_error *why) {
    if (!t)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": is missing; expected shape %d",
                        param->name, param->shape, param->rank);
    bool same =
        t->rank == param->rank && !memcmp(t->shape, param->shape, t->rank * sizeof *t->shape);
    if (!same && !(is_position(param) && resized_from(c, t)))
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected shape %d, got %d",
                        param->name, param->shape, param->rank, t->shape, t->rank);
    if (t->type == ST_I8)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected F32, F16 or BF16, got I8",
                        param->name);
    return VIT_OK;
}

/* Every parameter is there and nothing else is, but for a fixed encoding written out. */
vit_status weights_check(const vit_config *c, const struct vit_kernels *kernels,
                         const struct safetensors *st, vit_error *why) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct param param;
    size_t used = 0;
    while (params_next(&walk, &param)) {
        const struct st_tensor *t = st_find(st, param.name);
        vit_status status = check_tensor(&param, t, c, why);
        if (status) return status;
        used++;
    }
    if (c->position != VIT_LEARNED && st_find(st, "pos_embed")) used++;
    if (used == st->count) return VIT_OK;
    for (size_t i = 0; i < st->count; i++) {
        struct st_tensor *t = &st->tensors[i];
        bool known =
            c->position != VIT_LEARNED && t->name_size == 9 && !memcmp(t->name, "pos_embed", 9);
        walk = params_walk_start(c, kernels, NULL);
        while (!known && params_next(&walk, &param))
            known =
                strlen(param.name) == t->name_size && !memcmp(param.name, t->name, t->name_size);
        if (!known)
            return vit_fail(why, VIT_BAD_TENSOR,
                            "tensor \"%t\": is not part of the model that the config describes",
                            t->name, t->name_size);
    }
    return VIT_OK;
}

/* A learned grid for another image size: bicubic and antialiased, as timm does it. */
static vit_status resize_positions(float *out, const float *in, const vit_config *c, size_t side,
                                   vit_error *why) {
    size_t D = c->width, extra = (c->position_rows - vit_patches(c)) * D;
    size_t rows = c->image_size[0] / c->patch_size[0],
           columns = c->image_size[1] / c->patch_size[1];
    size_t size = resample_size(side, side, rows, columns, D, VIT_BICUBIC);
    void *scratch = size ? malloc(size) : NULL;
    if (!scratch) return vit_fail(why, VIT_NO_MEMORY, "no memory to resize pos_embed");
    memcpy(out, in, extra * sizeof *out);
    resample(out + extra, in + extra, side, side, rows, columns, D, VIT_BICUBIC, scratch);
    free(scratch);
    return VIT_OK;
}

static vit_status place_tensor(vit_model *m, const struct param *param, const float *values,
                               const struct st_tensor *t, vit_error *why) {
    const vit_config *c = &m->config;
    float *out = m->floats + param->offset;
    if (param->matrices) {
        size_t K = param->count / param->shape[0], N = param->shape[0] / param->matrices;
        for (size_t i = 0; i < param->matrices; i++)
            m->kernels->pack(out + i * m->kernels->packed_size(N, K), values + i * N * K, K, 1, N,
                             K);
    } else if (t->count != param->count) {
        return resize_positions(out, values, c, resized_from(c, t), why);
    } else {
        memcpy(out, values, param->count * sizeof *out);
    }
    return VIT_OK;
}

static bool all_finite(const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

vit_status weights_load(vit_model *m, const struct safetensors *st, vit_error *why) {
    struct params_walk walk = params_walk_start(&m->config, m->kernels, NULL);
    struct param param;
    size_t largest = 0;
    while (params_next(&walk, &param)) {
        size_t count = st_find(st, param.name)->count;
        if (count > largest) largest = count;
    }
    float *values = malloc((largest + 1) * sizeof *values);
    if (!values)
        return vit_fail(why, VIT_NO_MEMORY, "no memory for a tensor of %z numbers", largest);
    vit_status status = VIT_OK;
    walk = params_walk_start(&m->config, m->kernels, NULL);
    while (!status && params_next(&walk, &param)) {
        const struct st_tensor *t = st_find(st, param.name);
        st_floats(values, t);
        if (all_finite(values, t->count))
            status = place_tensor(m, &param, values, t, why);
        else
            status =
                vit_fail(why, VIT_BAD_TENSOR,
                         "tensor \"%s\": expected finite numbers, got NaN or infinity", param.name);
    }
    free(values);
    return status;
}

/* ---- Writing ------------------------------------------------------------ */

/* Writes as far as there is room, and counts on. */
struct sink {
    uint8_t *at, *end;
    size_t size;
};

static void put(struct sink *out, const void *bytes, size_t n) {
    out->size += n;
    if (n > (size_t)(out->end - out->at)) out->at = out->end = NULL;
    if (n == 0 || !out->at) return;
    memcpy(out->at, bytes, n);
    out->at += n;
}

static void put_text(struct sink *out, const char *text) {
    put(out, text, strlen(text));
}

static void put_number(struct sink *out, size_t value) {
    char digits[24], *p = digits + sizeof digits;
    do *--p = (char)('0' + value % 10);
    while (value /= 10);
    put(out, p, (size_t)(digits + sizeof digits - p));
}

static void put_string(struct sink *out, const char *text, size_t size) {
    static const char hex[] = "0123456789abcdef";
    put_text(out, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') put_text(out, "\\");
        if (c >= 0x20)
            put(out, &text[i], 1);
        else
            put(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    }
    put_text(out, "\"");
}

static void put_header(struct sink *out, const vit_model *m, const char *json, size_t json_size) {
    struct params_walk walk = params_walk_start(&m->config, m->kernels, NULL);
    struct param param;
    size_t at = 0;
    put_text(out, "{\"__metadata__\":{\"vitrine\":");
    put_string(out, json, json_size);
    put_text(out, "}");
    while (params_next(&walk, &param)) {
        put_text(out, ",\"");
        put_text(out, param.name);
        put_text(out, "\":{\"dtype\":\"F32\",\"shape\":[");
        for (size_t i = 0; i < param.rank; i++) {
            if (i) put_text(out, ",");
            put_number(out, param.shape[i]);
        }
        put_text(out, "],\"data_offsets\":[");
        put_number(out, at);
        put_text(out, ",");
        put_number(out, at += param.count * sizeof(float));
        put_text(out, "]}");
    }
    put_text(out, "}");
}

size_t vit_encode(uint8_t *out, size_t capacity, const vit_model *m, const float *parameters,
                  const char *json, size_t json_size) {
    struct sink count = {0}, sink = {out, out ? out + capacity : NULL, 0};
    put_header(&count, m, json, json_size);
    size_t padding = (8 - count.size % 8) % 8, length = count.size + padding;
    for (int i = 0; i < 8; i++) put(&sink, &(uint8_t){(uint8_t)((uint64_t)length >> 8 * i)}, 1);
    put_header(&sink, m, json, json_size);
    put(&sink, "        ", padding);
    struct params_walk walk = params_walk_start(&m->config, m->kernels, NULL);
    struct param param;
    while (params_next(&walk, &param))
        put(&sink, parameters + param.offset, param.count * sizeof(float));
    return sink.size;
}
