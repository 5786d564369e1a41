/* Safetensors files, built tensor by tensor, with any names, in any order. A number
 * depends only on the tensor's purpose and the number's place, so a whole tensor holds the same
 * numbers as several tensors that share its rows. */
#ifndef BUILDER_H
#define BUILDER_H

#include "hostile.h"

struct builder {
    char header[TEXT_MAX]; /* without the first brace */
    float data[1 << 16];
    uint8_t int8[1 << 15]; /* their bytes follow those of the floats */
    size_t floats, int8s;
};

static inline struct builder *builder_new(void) {
    struct builder *b = calloc(1, sizeof *b);
    if (!b) exit(EXIT_FAILURE);
    return b;
}

static inline size_t product(const size_t shape[4], size_t rank) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= shape[i];
    return count;
}

static inline void put_shape(char *out, const size_t shape[4], size_t rank) {
    for (size_t i = 0; i < rank; i++) put(out, i ? ",%zu" : "%zu", shape[i]);
}

/* Adds a tensor that holds the numbers of `what` from number `first` on. */
static inline void add_floats(struct builder *b, const char *name, unsigned what, size_t first,
                              const size_t shape[4], size_t rank) {
    size_t count = product(shape, rank);
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = (uint64_t)what << 32 | (first + i);
        b->data[b->floats + i] = random_float(&seed);
    }
    put(b->header, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", name);
    put_shape(b->header, shape, rank);
    put(b->header, "],\"data_offsets\":[%zu,%zu]}", 4 * b->floats, 4 * (b->floats + count));
    b->floats += count;
}
#define ADD(b, name, what, first, ...)                                                             \
    add_floats(b, name, what, first, (const size_t[4]){__VA_ARGS__},                               \
               sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* Adds a tensor in int8. These come last: their bytes follow those of all floats. */
static inline void add_int8(struct builder *b, const char *name, size_t rows, size_t columns) {
    size_t at = 4 * b->floats + b->int8s, count = rows * columns;
    for (size_t i = 0; i < count; i++) b->int8[b->int8s + i] = (uint8_t)(7 * i);
    put(b->header, ",\"%s\":{\"dtype\":\"I8\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
        name, rows, columns, at, at + count);
    b->int8s += count;
}

/* Makes the file and frees b. */
static inline struct file builder_file(struct builder *b) {
    b->header[0] = '{'; /* in place of the first comma */
    put(b->header, "}");
    struct file f = header_file(b->header, 4 * b->floats + b->int8s);
    memcpy(f.bytes + f.size - b->int8s - 4 * b->floats, b->data, 4 * b->floats);
    memcpy(f.bytes + f.size - b->int8s, b->int8, b->int8s);
    free(b);
    return f;
}

#endif
