/* Tensors → a safetensors file in memory. */
#include "generator.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATA_MOST = 1 << 20 };

static const struct {
    const char *name;
    size_t bytes;
} TYPES[DTYPES] = {[F32] = {"F32", 4}, [F16] = {"F16", 2}, [BF16] = {"BF16", 2},
                   [I8] = {"I8", 1},   [I64] = {"I64", 8}, [F64] = {"F64", 8},
                   [I32] = {"I32", 4}, [U8] = {"U8", 1},   [BOOLEAN] = {"BOOL", 1}};

uint64_t tensor_bytes(const struct tensor *t) {
    uint64_t bytes = TYPES[t->type].bytes;
    for (size_t i = 0; i < t->rank && i < 4; i++)
        if (__builtin_mul_overflow(bytes, t->shape[i], &bytes)) return UINT64_MAX;
    return bytes;
}

/* ---- Types -------------------------------------------------------------- */

static void make_int8(struct tensors *all, size_t index) {
    struct tensor *matrix = &all->list[index];
    char name[NAME_ROOM];
    matrix->type = I8;
    snprintf(name, sizeof name, "%.150s.scale", matrix->name);
    bool in_block = matrix->in_block;
    size_t rows = (size_t)matrix->shape[0];
    struct tensor *scale = tensors_add(all, SCALE, name, 1, &rows);
    scale->in_block = in_block;
    scale->parts = 1;
    snprintf(scale->ours, NAME_ROOM, "%.150s.scale", all->list[index].ours);
}

void file_types(struct tensors *all, struct plan *p, struct tape *tape, uint64_t *seed) {
    for (size_t i = 0, count = all->count; i < count; i++) {
        struct tensor *t = &all->list[i];
        t->type = (enum dtype)(p->dtype < 3 ? p->dtype : random_next(seed) % 3);
        if (t->role == ALIEN) t->type = tape_bool(tape) ? I64 : F32;
        if (t->role != MATRIX) continue;
        if (t->in_block ? p->int8 : p->int8_outside && tape_bool(tape)) make_int8(all, i);
    }
}

/* Outside the blocks, scales lie before the tensors that they scale. */
static bool is_first(const struct tensor *t) {
    return t->role == SCALE && !t->in_block;
}

static void shuffle(struct tensors *all, size_t kind, uint64_t *seed) {
    size_t n = all->count, first = 0;
    for (size_t i = 0; kind && i < n; i++) {
        size_t j = kind == 1 ? n - 1 - i : i + (size_t)(random_next(seed) % (n - i));
        if (j <= i) break;
        struct tensor t = all->list[i];
        all->list[i] = all->list[j], all->list[j] = t;
    }
    for (size_t i = 0; i < n; i++) {
        struct tensor t = all->list[i];
        if (!is_first(&t)) continue;
        memmove(&all->list[first + 1], &all->list[first], (i - first) * sizeof t);
        all->list[first++] = t;
    }
}

/* ---- Numbers ------------------------------------------------------------ */

static float number_of(const struct tensor *t, uint64_t *seed) {
    float x = random_share(seed);
    if (t->fill == HUGE_NUMBERS)
        return t->role == SCALE ? fabsf(x) * (t->in_block ? FLT_MAX : 1e30f) : x * 1e30f;
    if (t->fill == TINY) return fabsf(x) * 1e-40f;
    if (t->fill == ZERO) return 0;
    switch (t->role) {
    case GAIN: return 1 + x / 2;
    case SCALE: return fabsf(x) / 50;
    default: return x / 2;
    }
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A number's bits in its type. Halves are random numbers of a size near 1. */
static uint64_t bits_in_type(const struct tensor *t, bool last, uint64_t *seed) {
    uint64_t any = random_next(seed);
    bool half = t->type == F16;
    if (last && t->fill == NAN_AT_END) return half ? 0x7e01 : t->type == BF16 ? 0x7fc1 : 0x7fc00001;
    if (last && t->fill == INFINITE) return half ? 0xfc00 : t->type == BF16 ? 0xff80 : 0xff800000;
    if (t->fill == ANY_BITS) return any;
    if (t->fill == ZERO) return 0;
    switch (t->type) {
    case F32: return bits_of(number_of(t, seed));
    case BF16: return bits_of(number_of(t, seed)) >> 16;
    case F16:
        if (t->fill == HUGE_NUMBERS) return (any & 0x83ff) | 30u << 10;
        return (any & (t->role == GAIN ? 0x1ff : 0x83ff)) | (t->role == GAIN ? 15u : 10 + any % 4)
                                                                << 10;
    default: return any;
    }
}

static size_t write_numbers(uint8_t *out, size_t room, const struct tensor *t, uint64_t *seed) {
    size_t each = TYPES[t->type].bytes, n = 0;
    for (; n < t->bytes && n + each <= room; n += each) {
        uint64_t bits = bits_in_type(t, n + each >= t->bytes, seed);
        for (size_t i = 0; i < each; i++) out[n + i] = (uint8_t)(bits >> 8 * i);
    }
    return n;
}

/* ---- The header --------------------------------------------------------- */

struct header {
    char *at;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct header *out, const char *format, ...) {
    va_list values;
    va_start(values, format);
    out->size += (size_t)vsnprintf(out->at + out->size, HEADER_MOST - out->size, format, values);
    va_end(values);
    if (out->size >= HEADER_MOST) out->size = HEADER_MOST - 1;
}

static void put_escaped(struct header *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\')
            put(out, c < 0x20 ? "\\u%04x" : "\\%c", c);
        else if (out->size + 1 < HEADER_MOST)
            out->at[out->size++] = (char)c;
    }
}

static void put_name(struct header *out, const struct tensor *t) {
    put(out, "\"");
    for (size_t i = 0; i <= t->repeat; i++) put_escaped(out, t->name, strlen(t->name));
    put(out, "\"");
}

static void put_entry(struct header *out, const struct tensor *t) {
    put_name(out, t);
    put(out, ":{\"dtype\":\"%s\",\"shape\":[", TYPES[t->type].name);
    for (size_t i = 0; i < t->rank; i++) put(out, i ? ",%" PRIu64 : "%" PRIu64, t->shape[i % 4]);
    put(out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", t->begin + (uint64_t)t->begin_shift,
        t->begin + t->bytes + (uint64_t)t->end_shift);
}

static void put_header(struct header *out, const struct specimen *specimen, bool reversed) {
    const struct tensors *all = &specimen->tensors;
    const char *comma = "";
    put(out, "{");
    if (specimen->plan.variant || !specimen->plan.config_apart) {
        put(out, "\"__metadata__\":{\"format\":\"pt\"");
        if (!specimen->plan.config_apart) {
            put(out, ",\"vitrine\":\"");
            put_escaped(out, specimen->json, specimen->json_size);
            put(out, "\"");
        }
        put(out, "}");
        comma = ",";
    }
    for (size_t i = 0; i < all->count; i++, comma = ",") {
        put(out, "%s", comma);
        put_entry(out, &all->list[reversed ? all->count - 1 - i : i]);
    }
    put(out, "}");
    while (out->size % 8) put(out, " ");
}

/* The tensors of the parameter that tensor `index` begins. */
static void put_sources(struct header *out, const struct tensors *all, size_t index) {
    const struct tensor *first = &all->list[index];
    const char *comma = "";
    put(out, "\"%s\":[", first->ours);
    for (size_t i = index, left = first->parts; i < all->count && left > 0; i++) {
        if (strcmp(all->list[i].ours, first->ours)) continue;
        put(out, "%s", comma);
        put_name(out, &all->list[i]);
        comma = ",";
        left--;
    }
    put(out, "]");
}

void file_map(struct specimen *specimen) {
    const struct plan *p = &specimen->plan;
    const struct tensors *all = &specimen->tensors;
    static char text[HEADER_MOST];
    struct header out = {specimen->map = text, 0};
    const char *comma = "";
    put(&out, "{\"family\":\"others\",\"strict\":%s,\"matrix_patches\":%s,\"transposed\":[%s]",
        p->no_ones ? "false" : "true", p->matrix_patches ? "true" : "false",
        !p->transposed ? ""
        : p->texts[TEXT_TOWER].depth && p->texts[TEXT_TOWER].projection
            ? "\"head.weight\",\"text.proj.weight\""
            : "\"head.weight\"");
    put(&out, ",\"skipped\":[");
    for (size_t i = 0; i < all->count; i++) {
        if (*all->list[i].ours) continue;
        put(&out, "%s", comma);
        put_name(&out, &all->list[i]);
        comma = ",";
    }
    put(&out, "],\"tensors\":{");
    comma = "";
    for (size_t i = 0; i < all->count; i++) {
        const struct tensor *t = &all->list[i];
        if (!*t->ours || t->part > 0) continue;
        put(&out, "%s", comma);
        put_sources(&out, all, i);
        comma = ",";
    }
    put(&out, "}}");
    specimen->map_size = out.size;
}

static void lay_out(struct specimen *specimen) {
    uint64_t at = 0;
    for (size_t i = 0; i < specimen->tensors.count; i++) {
        struct tensor *t = &specimen->tensors.list[i];
        t->bytes = tensor_bytes(t);
        t->begin = at;
        if (__builtin_add_overflow(at, t->bytes, &at)) at = UINT64_MAX / 2;
    }
    specimen->announced = at;
}

void file_write(struct specimen *specimen, struct tape *tape) {
    static char text[HEADER_MOST];
    struct header header = {text, 0};
    shuffle(&specimen->tensors, tape_below(tape, 3), &specimen->seed);
    lay_out(specimen);
    put_header(&header, specimen, tape_bool(tape));
    size_t start = 8 + header.size,
           room = specimen->announced < DATA_MOST ? (size_t)specimen->announced : DATA_MOST;
    specimen->bytes = calloc(start + room + 1, 1);
    specimen->header_size = start;
    for (int i = 0; i < 8; i++) specimen->bytes[i] = (uint8_t)((uint64_t)header.size >> 8 * i);
    memcpy(specimen->bytes + 8, header.at, header.size);
    size_t at = start;
    for (size_t i = 0; i < specimen->tensors.count && at < start + room; i++)
        at += write_numbers(specimen->bytes + at, start + room - at, &specimen->tensors.list[i],
                            &specimen->seed);
    specimen->size = start + room;
    if (__builtin_add_overflow(specimen->announced, start, &specimen->announced))
        specimen->announced = UINT64_MAX;
}

/* ---- The whole ---------------------------------------------------------- */

enum stage { LIE, CONFIG, TENSORS, TEXT, MAP, BYTES, STAGES };

static struct specimen *make(struct tape *tape, const size_t stages[STAGES], enum fill fill) {
    static struct specimen only; /* static, because it is large and allocating it costs time */
    struct specimen *specimen = &only;
    specimen->wild = stages[TEXT] + stages[MAP] + stages[BYTES] > 0;
    plan_draw(&specimen->plan, tape);
    specimen->seed = tape_word(tape);
    for (size_t i = 0; i < stages[CONFIG]; i++) mutate_plan(specimen, tape);
    tensors_make(&specimen->tensors, &specimen->plan);
    file_types(&specimen->tensors, &specimen->plan, tape, &specimen->seed);
    for (size_t i = 0; i < specimen->tensors.count; i++) specimen->tensors.list[i].fill = fill;
    for (size_t i = 0; i < stages[LIE]; i++) mutate_plan(specimen, tape);
    for (size_t i = 0; i < stages[TENSORS]; i++) mutate_tensors(specimen, tape);
    specimen->json_apart = specimen->plan.config_apart;
    specimen->mapped = specimen->plan.mapped;
    specimen->json_size = plan_json(specimen->json, sizeof specimen->json, &specimen->plan);
    for (size_t i = 0; i < stages[TEXT]; i++) mutate_json(specimen, tape);
    file_map(specimen);
    for (size_t i = 0; i < stages[MAP]; i++) mutate_map(specimen, tape);
    file_write(specimen, tape);
    for (size_t i = 0; i < stages[BYTES]; i++) mutate_bytes(specimen, tape);
    return specimen;
}

struct specimen *specimen_new(struct tape *tape, bool mutable) {
    static const uint8_t COUNTS[] = {0, 1, 1, 1, 2, 2, 3, 5};
    size_t stages[STAGES] = {0}, mutations = mutable ? COUNTS[tape_below(tape, 8)] : 0;
    for (size_t i = 0; i < mutations; i++) stages[tape_below(tape, STAGES)]++;
    struct specimen *specimen = make(tape, stages, PLAIN);
    specimen->mutations = mutations;
    return specimen;
}

struct specimen *specimen_filled(struct tape *tape, enum fill fill) {
    return make(tape, (size_t[STAGES]){0}, fill);
}

void specimen_free(struct specimen *specimen) {
    free(specimen->bytes);
    specimen->bytes = NULL;
}
