#include "params.h"

#include <string.h>

#include "kernels/kernels.h"

enum { ALIGN_FLOATS = 16 }; /* a cache line */

struct row {
    const char *name;
    size_t field, matrices, shape[4], rank;
    bool present;
};

#define VIT_ONE(...) +1
enum {
    STEM_ROWS = 0 VIT_STEM_PARAMS(VIT_ONE),
    BLOCK_ROWS = 0 VIT_BLOCK_PARAMS(VIT_ONE),
    HEAD_ROWS = 0 VIT_HEAD_PARAMS(VIT_ONE)
};
#undef VIT_ONE

#define VIT_LETTERS(c)                                                                             \
    const size_t C = (c)->channels, D = (c)->width, K = (c)->classes, M = (c)->mlp_width,          \
                 P = (c)->patch_size[0], Q = (c)->patch_size[1], h = (c)->heads, d = D / h;        \
    const bool per_head = (c)->attention == VIT_PER_HEAD;                                          \
    (void)C, (void)K, (void)M, (void)P, (void)Q, (void)h, (void)d, (void)per_head

#define VIT_ROW(OWNER, FIELD, NAME, MATRICES, PRESENT, ...)                                        \
    (struct row){.name = NAME,                                                                     \
                 .field = offsetof(struct OWNER, FIELD),                                           \
                 .matrices = MATRICES,                                                             \
                 .shape = {__VA_ARGS__},                                                           \
                 .rank = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),                         \
                 .present = PRESENT},
#define VIT_MODEL_ROW(...) VIT_ROW(vit_params, __VA_ARGS__)
#define VIT_BLOCK_ROW(...) VIT_ROW(block_params, __VA_ARGS__)

static struct row stem_row(const vit_config *c, size_t i) {
    VIT_LETTERS(c);
    const struct row rows[] = {VIT_STEM_PARAMS(VIT_MODEL_ROW)};
    return rows[i];
}

static struct row block_row(const vit_config *c, size_t i) {
    VIT_LETTERS(c);
    const struct row rows[] = {VIT_BLOCK_PARAMS(VIT_BLOCK_ROW)};
    return rows[i];
}

static struct row head_row(const vit_config *c, size_t i) {
    VIT_LETTERS(c);
    const struct row rows[] = {VIT_HEAD_PARAMS(VIT_MODEL_ROW)};
    return rows[i];
}

struct params_walk params_walk_start(const vit_config *config, const struct vit_kernels *kernels,
                                     struct vit_params *params) {
    return (struct params_walk){.config = config, .kernels = kernels, .params = params};
}

static void write_name(char *out, size_t capacity, bool in_block, size_t block, const char *name) {
    char digits[24], *p = digits + sizeof digits;
    size_t at = 0;
    if (in_block) {
        *--p = '.';
        do *--p = (char)('0' + block % 10);
        while (block /= 10);
        memcpy(out, "blocks.", 7);
        at = 7 + (size_t)(digits + sizeof digits - p);
        memcpy(out + 7, p, at - 7);
    }
    size_t n = strlen(name);
    if (n > capacity - 1 - at) n = capacity - 1 - at;
    memcpy(out + at, name, n);
    out[at + n] = '\0';
}

/* Floats of one tensor: its matrices packed, rounded up to whole cache lines. */
static size_t tensor_floats(const struct row *row, size_t count,
                            const struct vit_kernels *kernels) {
    size_t floats = count;
    if (row->matrices) {
        size_t n = row->shape[0] / row->matrices;
        floats = row->matrices * kernels->packed_size(n, n ? count / row->shape[0] : 0);
    }
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

bool params_next(struct params_walk *walk, struct param *out) {
    const vit_config *c = walk->config;
    const size_t head_start = STEM_ROWS + BLOCK_ROWS;
    while (walk->row < head_start + HEAD_ROWS) {
        size_t i = walk->row++, block = walk->block;
        bool in_block = i >= STEM_ROWS && i < head_start;
        struct row row = i < STEM_ROWS ? stem_row(c, i)
                         : in_block    ? block_row(c, i - STEM_ROWS)
                                       : head_row(c, i - head_start);
        char *owner = (char *)walk->params;
        if (in_block && walk->params) owner = (char *)&walk->params->blocks[block];
        if (walk->row == head_start && ++walk->block < c->depth) walk->row = STEM_ROWS;
        float **field = owner ? (float **)(void *)(owner + row.field) : NULL;
        if (!row.present) {
            if (field) *field = NULL;
            continue;
        }
        *out =
            (struct param){.rank = row.rank, .matrices = row.matrices, .field = field, .count = 1};
        memcpy(out->shape, row.shape, sizeof out->shape);
        for (size_t k = 0; k < row.rank; k++) out->count *= row.shape[k];
        write_name(out->name, sizeof out->name, in_block, block, row.name);
        out->offset = walk->offset;
        out->floats = tensor_floats(&row, out->count, walk->kernels);
        walk->offset += out->floats;
        return true;
    }
    return false;
}

size_t params_floats(const vit_config *config, const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(config, kernels, NULL);
    struct param param;
    while (params_next(&walk, &param)) continue;
    return walk.offset;
}

void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(config, kernels, params);
    struct param param;
    while (params_next(&walk, &param)) *param.field = base + param.offset;
}
