/* Writes parameters as a safetensors file: as floats, or with the matrices of stem and blocks in
 * int8. */
#include <math.h>
#include <string.h>

#include "json.h"
#include "match.h"
#include "model.h"
#include "params.h"
#include "save.h"
#include "shapes.h"
#include "vit.h"

/* Counts all bytes, and writes them as long as there is room. */
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
    char escaped[JSON_ESCAPED];
    put_text(out, "\"");
    for (size_t i = 0; i < size; i++) put(out, escaped, json_escape(escaped, text[i]));
    put_text(out, "\"");
}

/* ---- int8 --------------------------------------------------------------- */

/* → a row's scale, by which its largest number becomes ±127. */
static float scale_of(const float *row, size_t K) {
    float most = 0;
    for (size_t k = 0; k < K; k++) most = fmaxf(most, fabsf(row[k]));
    return most / 127;
}

static void put_scales(struct sink *out, const float *rows, size_t N, size_t K) {
    for (size_t n = 0; n < N; n++) put(out, &(float){scale_of(rows + n * K, K)}, sizeof(float));
}

static void put_int8(struct sink *out, const float *row, size_t K) {
    int8_t some[256];
    float scale = scale_of(row, K);
    for (size_t first = 0, n; first < K; first += n) {
        n = K - first < sizeof some ? K - first : sizeof some;
        for (size_t i = 0; i < n; i++) {
            float steps = scale > 0 ? rintf(row[first + i] / scale) : 0;
            some[i] = (int8_t)fminf(fmaxf(steps, -127), 127);
        }
        put(out, some, n);
    }
}

/* ---- Files -------------------------------------------------------------- */

/* Walks through the file's tensors, and at the same time through the model's, which has no
 * scales. */
struct walks {
    struct params_walk file, model;
    struct param from; /* the model's tensor; for scales, their matrix */
    size_t row;        /* the first row of `from` that the file's tensor holds */
    bool scales_next;  /* next come a convolution's scales; the table of parameters has none */
    bool keys_next;    /* next come the keys and values of the pooling by attention */
};

static struct walks walks_start(const vit_model *m, const vit_config *file) {
    return (struct walks){.file = params_walk_start(file, m->kernels, NULL),
                          .model = params_walk_start(&m->config, m->kernels, NULL)};
}

static size_t row_values(const struct param *param) {
    return param->count / param->shape[0];
}

/* The file stores the query of the pooling by attention apart from keys and values, as timm does. */

static bool is_pool_qkv(const struct param *param) {
    return param->kind == VIT_KIND_POOL_QKV || param->kind == VIT_KIND_POOL_QKV_BIAS;
}

static struct param pool_part(const struct param *qkv, const char *name, size_t rows) {
    struct param part = *qkv;
    strcat(strcpy(part.name, name), qkv->name + strlen("attn_pool.qkv"));
    part.shape[0] = rows;
    part.count = rows * row_values(qkv);
    return part;
}

static bool walks_next(struct walks *walks, struct param *param) {
    size_t D = walks->model.config->width;
    walks->row = walks->keys_next ? D : 0;
    if (walks->keys_next) {
        *param = pool_part(&walks->from, "attn_pool.kv", 2 * D);
        walks->keys_next = false;
        return true;
    }
    if (walks->scales_next) {
        *param = (struct param){
            .kind = VIT_KIND_SCALE, .rank = 1, .shape = {walks->from.N}, .count = walks->from.N};
        strcat(strcpy(param->name, walks->from.name), ".scale");
        walks->scales_next = false;
        return true;
    }
    if (!params_next(&walks->file, param)) return false;
    if (param->kind == VIT_KIND_SCALE) return true;
    bool convolution = walks->file.config->int8 && param->kind == VIT_KIND_CONVOLUTION;
    if (convolution) param->int8 = walks->scales_next = true;
    params_next(&walks->model, &walks->from);
    walks->keys_next = is_pool_qkv(&walks->from);
    if (walks->keys_next) *param = pool_part(&walks->from, "attn_pool.q", D);
    return true;
}

static void put_entry(struct sink *out, const struct param *param, size_t begin, size_t end) {
    put_text(out, ",\"");
    put_text(out, param->name);
    put_text(out, param->int8 ? "\":{\"dtype\":\"I8\"" : "\":{\"dtype\":\"F32\"");
    put_text(out, ",\"shape\":[");
    for (size_t i = 0; i < param->rank; i++) {
        if (i) put_text(out, ",");
        put_number(out, param->shape[i]);
    }
    put_text(out, "],\"data_offsets\":[");
    put_number(out, begin);
    put_text(out, ",");
    put_number(out, end);
    put_text(out, "]}");
}

static void put_header(struct sink *out, const vit_model *m, const vit_config *file,
                       const char *json, size_t json_size) {
    struct param param;
    size_t at = 0;
    put_text(out, "{\"__metadata__\":{\"vitrine\":");
    put_string(out, json, json_size);
    put_text(out, "}");
    for (int int8 = 0; int8 < 2; int8++)
        for (struct walks walks = walks_start(m, file); walks_next(&walks, &param);) {
            if (param.int8 != (bool)int8) continue;
            size_t bytes = param.count * (int8 ? 1 : sizeof(float));
            put_entry(out, &param, at, at + bytes);
            at += bytes;
        }
    put_text(out, "}");
}

/* Floats come first, so that they lie on whole words. */
static void put_data(struct sink *out, const vit_model *m, const vit_config *file,
                     const float *parameters) {
    struct param param;
    for (int int8 = 0; int8 < 2; int8++)
        for (struct walks walks = walks_start(m, file); walks_next(&walks, &param);) {
            if (param.int8 != (bool)int8) continue;
            size_t K = walks.from.K;
            const float *from =
                parameters + walks.from.offset + walks.row * row_values(&walks.from);
            if (param.kind == VIT_KIND_SCALE)
                put_scales(out, from, param.count, K);
            else if (!int8)
                put(out, from, param.count * sizeof *from);
            else
                for (size_t n = 0; n < param.shape[0]; n++) put_int8(out, from + n * K, K);
        }
}

static size_t encode(uint8_t *out, size_t capacity, const vit_model *m, const vit_config *file,
                     const float *parameters, const char *json, size_t json_size) {
    struct sink count = {0}, sink = {out, out ? out + capacity : NULL, 0};
    put_header(&count, m, file, json, json_size);
    size_t padding = (8 - count.size % 8) % 8, length = count.size + padding;
    for (int i = 0; i < 8; i++) put(&sink, &(uint8_t){(uint8_t)((uint64_t)length >> 8 * i)}, 1);
    put_header(&sink, m, file, json, json_size);
    put(&sink, "        ", padding);
    put_data(&sink, m, file, parameters);
    return sink.size;
}

size_t vit_encode(uint8_t *out, size_t capacity, const vit_model *m, const float *parameters,
                  const char *json, size_t json_size) {
    return encode(out, capacity, m, &m->config, parameters, json, json_size);
}

size_t vit_encode_int8(uint8_t *out, size_t capacity, const vit_model *m, const float *parameters,
                       const char *json, size_t json_size) {
    vit_config file = m->config;
    if (file.width > VIT_INT8_K || file.mlp_width > VIT_INT8_K ||
        attention_width(&file) > VIT_INT8_K)
        return 0;
    file.int8 = true;
    return encode(out, capacity, m, &file, parameters, json, json_size);
}
