#include "params.h"

#include <assert.h>
#include <string.h>

#include "base/sizes.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "save.h"

enum { ALIGN_FLOATS = 16 }; /* a cache line */

struct row {
    const char *name;
    uint16_t field; /* its offset in struct vit_params or struct block_params */
    uint8_t kind, rank;
    uint8_t present, shape[4]; /* values of enum number */
};

#define VIT_ROW(OWNER, FIELD, NAME, KIND, PRESENT, ...)                                            \
    {.name = NAME,                                                                                 \
     .field = offsetof(struct OWNER, FIELD),                                                       \
     .kind = VIT_KIND_##KIND,                                                                      \
     .present = PRESENT,                                                                           \
     .rank = sizeof((uint8_t[]){__VA_ARGS__}),                                                     \
     .shape = {__VA_ARGS__}},
#define VIT_MODEL_ROW(...) VIT_ROW(vit_params, __VA_ARGS__)
#define VIT_BLOCK_ROW(...) VIT_ROW(block_params, __VA_ARGS__)

/* clang-format off */
static const struct row STEM[] = {
    VIT_STEM_PARAMS(VIT_MODEL_ROW)
    VIT_FULL_ONLY(VIT_SPLIT_PARAMS(VIT_MODEL_ROW))
    VIT_TOKEN_PARAMS(VIT_MODEL_ROW)
};
static const struct row BLOCK[] = {
    VIT_BLOCK_PARAMS(VIT_BLOCK_ROW)
};
static const struct row HEAD[] = {
    VIT_NORM_PARAMS(VIT_MODEL_ROW)
    VIT_FULL_ONLY(VIT_POOL_PARAMS(VIT_MODEL_ROW))
    VIT_HEAD_PARAMS(VIT_MODEL_ROW)
    VIT_FULL_ONLY(VIT_OBJECT_PARAMS(VIT_MODEL_ROW))
};
/* clang-format on */
enum {
    STEM_ROWS = sizeof STEM / sizeof *STEM,
    BLOCK_ROWS = sizeof BLOCK / sizeof *BLOCK,
    HEAD_ROWS = sizeof HEAD / sizeof *HEAD
};

static void sizes(size_t n[NUMBERS], const vit_config *c) {
    n[one] = 1, n[two] = 2, n[three] = 3;
    n[nF] = head_features(c), n[nH] = head_hidden_of(c), n[nlast] = n[nH] ? n[nH] : n[nF],
    n[nD] = c->width, n[nM] = c->mlp_width, n[nG] = mlp_rows(c), n[nK] = vit_logits(c),
    n[nh] = c->heads, n[npool] = pool_mlp_width(c);
    n[nd] = head_width(c), n[nA] = attention_width(c), n[n3A] = 3 * n[nA], n[n3D] = 3 * n[nD],
    n[npairs] = n[nA] / 2;
    n[nP] = patch_side(c, 0), n[nQ] = patch_side(c, 1),
    n[nR] = position_of(c) == VIT_RELATIVE ? relative_rows(c) : 0;
    n[nS] = c->channels;
    for (size_t i = 0; i < VIT_STEM_MOST; i++) n[nS + 1 + i] = c->stem[i].channels;
    n[nC] = tokens_to_token_of(c) ? c->token_width : n[nS + c->stem_layers];
    n[npatch] = patch_values(c);
    n[nt] = c->token_width, n[n3t] = 3 * n[nt], n[nfeatures] = split_features(c);
    for (size_t i = 0; tokens_to_token_of(c) && i < VIT_SOFT_SPLITS; i++)
        n[ncut + i] = split_values(c, i);
    n[nregisters] = c->register_tokens, n[ndetections] = detections_of(c);
    n[nscores] = c->classes + 1, n[nbox] = VIT_BOX;
    n[npositions] = c->position_rows, n[nmid] = c->depth ? c->depth - 1 : 0;
    n[qkv_matrices] = c->attention == VIT_PER_HEAD ? 3 * n[nh] : 1;
    n[qkv_in] = c->attention == VIT_PER_HEAD ? n[nd] : n[nD];
}

static void presences(size_t n[NUMBERS], const vit_config *c) {
    for (size_t i = 0; i < VIT_STEM_MOST; i++) n[has_stem + i] = c->stem_layers > i;
    n[has_split] = tokens_to_token_of(c) != VIT_SPLIT_HARD;
    n[has_performer] = tokens_to_token_of(c) == VIT_SPLIT_PERFORMER;
    n[has_patch_bias] = c->patch_bias;
    n[has_patch_norm_in] = c->patch_norm_in, n[has_patch_norm] = c->patch_norm;
    n[has_class] = c->class_tokens, n[has_distillation] = c->distillation_tokens;
    n[has_registers] = c->register_tokens, n[has_detections] = detections_of(c);
    n[has_positions] = learns_positions(c), n[has_relative] = position_of(c) == VIT_RELATIVE;
    n[has_frequencies] =
        position_of(c) == VIT_ROTARY && c->rotary_frequencies == VIT_ROTARY_LEARNED;
    n[has_norm_pre] = c->norm_pre, n[has_qkv_bias] = c->qkv_bias, n[has_qk_norm] = qk_norm_of(c);
    n[has_mlp_norm] = mlp_norm_of(c);
    n[has_proj] = c->attention != VIT_PER_HEAD, n[has_layer_scale] = c->layer_scale;
    n[has_norm] = norms_tokens(c), n[has_fc_norm] = norms_pooled(c);
    n[has_pooling] = pool_of(c) == VIT_POOL_ATTENTION,
    n[has_head] = c->classes > 0 && !detections_of(c);
    n[has_objects] = c->classes > 0 && detections_of(c),
    n[has_mid] = mid_position_of(c) && c->depth > 1;
    n[has_hidden] = n[has_head] && head_hidden_of(c);
    n[has_head_bias] = n[has_head] && c->head_bias;
    n[has_head_dist] = n[has_head] && c->distillation_tokens && !c->no_head_dist;
    n[is_int8] = c->int8, n[is_proj_int8] = c->int8 && n[has_proj];
}

struct params_walk params_walk_start(const vit_config *config, const struct vit_kernels *kernels,
                                     struct vit_params *params) {
    struct params_walk walk = {.config = config, .kernels = kernels, .params = params};
    sizes(walk.numbers, config);
    presences(walk.numbers, config);
    return walk;
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

size_t relative_rows(const vit_config *c) {
    size_t rows = vit_grid(c, 0), columns = vit_grid(c, 1);
    return size_plus(size_times(2 * rows - 1, 2 * columns - 1), vit_prefix(c) ? 3 : 0);
}

size_t matrix_floats(const struct vit_kernels *k, bool int8, size_t N, size_t K) {
    size_t most = size_times(size_plus(N, VIT_PACKED_MORE), size_plus(K, VIT_PACKED_MORE));
    if (size_times(most, sizeof(float)) == SIZE_TOO_LARGE) return SIZE_TOO_LARGE;
    if (!int8) return k->packed_size(N, K);
    return size_whole((k->packed_size_int8(N, K) + sizeof(float) - 1) / sizeof(float),
                      ALIGN_FLOATS);
}

/* How many matrices a tensor of this kind stacks. */
static size_t matrices_of(vit_kind kind, const size_t n[NUMBERS]) {
    if (kind == VIT_KIND_QKV) return n[qkv_matrices];
    return kind <= VIT_KIND_LAST_MATRIX;
}

static struct param describe(const struct row *row, const struct params_walk *walk, bool in_block) {
    const size_t *n = walk->numbers;
    struct param p = {.kind = (vit_kind)row->kind, .rank = row->rank, .count = 1};
    p.in_block = in_block;
    p.matrices = matrices_of(p.kind, n);
    for (size_t k = 0; k < row->rank; k++)
        p.count = size_times(p.count, p.shape[k] = n[row->shape[k]]);
    p.int8 = walk->config->int8 && in_block && p.matrices;
    size_t floats = p.count;
    if (p.matrices) {
        assert(p.rank > 0 && p.shape[0] > 0);
        p.N = p.shape[0] / p.matrices;
        p.K = p.count / p.shape[0];
        floats = size_times(p.matrices, matrix_floats(walk->kernels, p.int8, p.N, p.K));
    }
    p.floats = size_whole(floats, ALIGN_FLOATS);
    return p;
}

/* How many tensors and floats one of the table's three parts has. */
struct part {
    size_t tensors, floats;
};

static struct part add_up(const struct row *rows, size_t count, const struct params_walk *walk) {
    struct part part = {0, 0};
    for (const struct row *row = rows; row < rows + count; row++) {
        if (!walk->numbers[row->present]) continue;
        part.tensors++;
        part.floats = size_plus(part.floats, describe(row, walk, rows == BLOCK).floats);
    }
    return part;
}

static const size_t HEAD_START = STEM_ROWS + BLOCK_ROWS;

bool params_next(struct params_walk *walk, struct param *out) {
    while (walk->row < HEAD_START + HEAD_ROWS) {
        if (walk->row == STEM_ROWS && walk->block >= walk->config->depth) walk->row = HEAD_START;
        size_t i = walk->row++, block = walk->block;
        bool in_block = i >= STEM_ROWS && i < HEAD_START;
        const struct row *row = i < STEM_ROWS ? &STEM[i]
                                : in_block    ? &BLOCK[i - STEM_ROWS]
                                              : &HEAD[i - HEAD_START];
        char *owner = (char *)walk->params;
        if (in_block && walk->params) owner = (char *)&walk->params->blocks[block];
        if (walk->row == HEAD_START && ++walk->block < walk->config->depth) walk->row = STEM_ROWS;
        float **field = owner ? (float **)(void *)(owner + row->field) : NULL;
        if (!walk->numbers[row->present]) {
            if (field) *field = NULL;
            continue;
        }
        *out = describe(row, walk, in_block);
        write_name(out->name, sizeof out->name, in_block, block, row->name);
        out->offset = walk->offset;
        out->field = field;
        walk->offset = size_plus(walk->offset, out->floats);
        return true;
    }
    return false;
}

bool params_at(const vit_config *c, const struct vit_kernels *kernels, size_t index,
               struct param *out) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct part stem = add_up(STEM, STEM_ROWS, &walk), block = add_up(BLOCK, BLOCK_ROWS, &walk);
    if (index >= stem.tensors) { /* skip whole blocks at once, because all have the same size */
        size_t blocks = (index - stem.tensors) / block.tensors;
        walk.block = blocks < c->depth ? blocks : c->depth;
        walk.row = walk.block < c->depth ? (size_t)STEM_ROWS : HEAD_START;
        walk.offset = size_plus(stem.floats, size_times(walk.block, block.floats));
        index -= stem.tensors + walk.block * block.tensors;
    }
    do {
        if (!params_next(&walk, out)) return false;
    } while (index--);
    return true;
}

size_t params_count(const vit_config *c, const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    return add_up(STEM, STEM_ROWS, &walk).tensors +
           c->depth * add_up(BLOCK, BLOCK_ROWS, &walk).tensors +
           add_up(HEAD, HEAD_ROWS, &walk).tensors;
}

size_t params_floats(const vit_config *c, const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    size_t blocks = size_times(c->depth, add_up(BLOCK, BLOCK_ROWS, &walk).floats);
    return size_plus(add_up(STEM, STEM_ROWS, &walk).floats,
                     size_plus(blocks, add_up(HEAD, HEAD_ROWS, &walk).floats));
}

bool params_fit(const vit_config *c, const struct vit_kernels *kernels) {
    size_t most = params_floats(c, kernels);
    for (size_t layer = 0; layer <= c->stem_layers; layer++) {
        struct maps maps = stem_maps(c, layer, NULL);
        size_t floats = maps_floats(&maps);
        if (floats > most) most = floats;
    }
    return size_times(most, sizeof(float)) < SIZE_TOO_LARGE;
}

void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(config, kernels, params);
    struct param param;
    while (params_next(&walk, &param)) {
        assert(param.field);
        *param.field = base + param.offset;
    }
}
