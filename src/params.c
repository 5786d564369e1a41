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
    const size_t D = (c)->width, K = (c)->classes, M = (c)->mlp_width, h = (c)->heads, d = D / h,  \
                 P = patch_side(c, 0), Q = patch_side(c, 1), R = relative_rows(c);                 \
    const bool per_head = (c)->attention == VIT_PER_HEAD;                                          \
    (void)K, (void)M, (void)P, (void)Q, (void)h, (void)d, (void)R, (void)per_head

#define VIT_ROW(OWNER, FIELD, NAME, MATRICES, PRESENT, ...)                                        \
    (struct row){.name = NAME,                                                                     \
                 .field = offsetof(struct OWNER, FIELD),                                           \
                 .matrices = MATRICES,                                                             \
                 .shape = {__VA_ARGS__},                                                           \
                 .rank = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),                         \
                 .present = PRESENT},
#define VIT_MODEL_ROW(...) VIT_ROW(vit_params, __VA_ARGS__)
#define VIT_BLOCK_ROW(...) VIT_ROW(block_params, __VA_ARGS__)

#define S(layer) ((layer) ? (c)->stem[(layer)-1].channels : (c)->channels)

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

static size_t whole_lines(size_t floats) {
    return (floats + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

bool param_is_convolution(const struct param *param) {
    static const char start[] = "patch_embed.backbone.";
    return param->matrices && strncmp(param->name, start, sizeof start - 1) == 0;
}

size_t relative_rows(const vit_config *c) {
    size_t rows = c->image_size[0] / c->patch_size[0],
           columns = c->image_size[1] / c->patch_size[1];
    return (2 * rows - 1) * (2 * columns - 1) + (vit_prefix(c) ? 3 : 0);
}

size_t matrix_floats(const struct vit_kernels *k, bool int8, size_t N, size_t K) {
    if (!int8) return k->packed_size(N, K);
    return whole_lines((k->packed_size_int8(N, K) + sizeof(float) - 1) / sizeof(float));
}

static struct param describe(const struct row *row, const vit_config *c,
                             const struct vit_kernels *kernels, bool in_block) {
    struct param p = {.rank = row->rank, .matrices = row->matrices, .count = 1};
    memcpy(p.shape, row->shape, sizeof p.shape);
    for (size_t k = 0; k < row->rank; k++) p.count *= row->shape[k];
    p.int8 = c->int8 && in_block && row->matrices;
    size_t floats = p.count;
    if (p.matrices) {
        p.N = p.shape[0] / p.matrices;
        p.K = p.count / p.shape[0];
        floats = p.matrices * matrix_floats(kernels, p.int8, p.N, p.K);
    }
    p.floats = whole_lines(floats);
    return p;
}

/* What one of the table's three parts comes to: tensors and floats. */
struct part {
    size_t tensors, floats;
};

static struct part add_up(struct row (*row_of)(const vit_config *, size_t), size_t rows,
                          const vit_config *c, const struct vit_kernels *kernels) {
    struct part part = {0, 0};
    for (size_t i = 0; i < rows; i++) {
        struct row row = row_of(c, i);
        if (!row.present) continue;
        part.tensors++;
        part.floats += describe(&row, c, kernels, row_of == block_row).floats;
    }
    return part;
}

static const size_t HEAD_START = STEM_ROWS + BLOCK_ROWS;

bool params_next(struct params_walk *walk, struct param *out) {
    const vit_config *c = walk->config;
    while (walk->row < HEAD_START + HEAD_ROWS) {
        size_t i = walk->row++, block = walk->block;
        bool in_block = i >= STEM_ROWS && i < HEAD_START;
        struct row row = i < STEM_ROWS ? stem_row(c, i)
                         : in_block    ? block_row(c, i - STEM_ROWS)
                                       : head_row(c, i - HEAD_START);
        char *owner = (char *)walk->params;
        if (in_block && walk->params) owner = (char *)&walk->params->blocks[block];
        if (walk->row == HEAD_START && ++walk->block < c->depth) walk->row = STEM_ROWS;
        float **field = owner ? (float **)(void *)(owner + row.field) : NULL;
        if (!row.present) {
            if (field) *field = NULL;
            continue;
        }
        *out = describe(&row, c, walk->kernels, in_block);
        write_name(out->name, sizeof out->name, in_block, block, row.name);
        out->offset = walk->offset;
        out->field = field;
        walk->offset += out->floats;
        return true;
    }
    return false;
}

bool params_at(const vit_config *c, const struct vit_kernels *kernels, size_t index,
               struct param *out) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct part stem = add_up(stem_row, STEM_ROWS, c, kernels);
    struct part block = add_up(block_row, BLOCK_ROWS, c, kernels);
    if (index >= stem.tensors) { /* blocks are alike: go past them at once */
        size_t blocks = (index - stem.tensors) / block.tensors;
        walk.block = blocks < c->depth ? blocks : c->depth;
        walk.row = walk.block < c->depth ? (size_t)STEM_ROWS : HEAD_START;
        walk.offset = stem.floats + walk.block * block.floats;
        index -= stem.tensors + walk.block * block.tensors;
    }
    do {
        if (!params_next(&walk, out)) return false;
    } while (index--);
    return true;
}

size_t params_count(const vit_config *c, const struct vit_kernels *kernels) {
    return add_up(stem_row, STEM_ROWS, c, kernels).tensors +
           c->depth * add_up(block_row, BLOCK_ROWS, c, kernels).tensors +
           add_up(head_row, HEAD_ROWS, c, kernels).tensors;
}

size_t params_floats(const vit_config *c, const struct vit_kernels *kernels) {
    return add_up(stem_row, STEM_ROWS, c, kernels).floats +
           c->depth * add_up(block_row, BLOCK_ROWS, c, kernels).floats +
           add_up(head_row, HEAD_ROWS, c, kernels).floats;
}

void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(config, kernels, params);
    struct param param;
    while (params_next(&walk, &param)) *param.field = base + param.offset;
}
