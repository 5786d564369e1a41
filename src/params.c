#include "params.h"

#include <assert.h>
#include <string.h>

#include "base/sizes.h"
#include "base/text.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "save.h"

enum { ALIGN_FLOATS = 16 }; /* a cache line */

struct row {
    const char *name;
    uint16_t field; /* its offset in the struct of its part: see field_of */
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

#define VIT_TEXT_ROW(...) VIT_ROW(text_params, __VA_ARGS__)
#define VIT_TEXT_BLOCK_ROW(...) VIT_ROW(text_block_params, __VA_ARGS__)

/* clang-format off */
static const struct row FIRST[] = {
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
#ifndef VITRINE_SMALL
static const struct row TEXT[] = {VIT_TEXT_PARAMS(VIT_TEXT_ROW)};
static const struct row TEXT_BLOCK[] = {VIT_TEXT_BLOCK_PARAMS(VIT_TEXT_BLOCK_ROW)};
#endif
/* clang-format on */

/* The parts of a model, in file order. A part of blocks is there as often as there are blocks. */
enum part_number {
    TO_BLOCKS,
    BLOCKS,
    TO_LOGITS,
    DECODER,
    DECODER_BLOCKS,
    TEXTS,
    TEXT_BLOCKS,
    PARTS = VIT_FULL ? TEXT_BLOCKS + 1 : DECODER
};
#define ROWS_OF(table) table, sizeof table / sizeof *table
static const struct part {
    const struct row *rows;
    size_t count;
    const char *prefix;
    bool blocks, tower; /* tower: of the numbers from tD on, those of the text tower */
} PART[PARTS] = {[TO_BLOCKS] = {ROWS_OF(FIRST), "", false, false},
                 [BLOCKS] = {ROWS_OF(BLOCK), "", true, false},
                 [TO_LOGITS] = {ROWS_OF(HEAD), "", false, false},
                 VIT_FULL_ONLY([DECODER] = {ROWS_OF(TEXT), "decoder.", false, false},
                               [DECODER_BLOCKS] = {ROWS_OF(TEXT_BLOCK), "decoder.", true, false},
                               [TEXTS] = {ROWS_OF(TEXT), "text.", false, true},
                               [TEXT_BLOCKS] = {ROWS_OF(TEXT_BLOCK), "text.", true, true})};

static size_t repeats(const vit_config *c, size_t part) {
    switch (part) {
    case BLOCKS: return c->depth;
    case DECODER: return decoder_of(c) > 0;
    case DECODER_BLOCKS: return decoder_of(c);
    case TEXTS: return text_of(c) > 0;
    case TEXT_BLOCKS: return text_of(c);
    default: return 1;
    }
}

/* → where the row's field lies; NULL without params. */
static float **field_of(struct vit_params *p, size_t part, size_t block, const struct row *row) {
    if (!p) return NULL;
    void *owner = p;
    if (part == BLOCKS) owner = &p->blocks[block];
    if (VIT_FULL && part == DECODER) owner = &p->decoder;
    if (VIT_FULL && part == DECODER_BLOCKS) owner = &p->decoder.blocks[block];
    if (VIT_FULL && part == TEXTS) owner = &p->text;
    if (VIT_FULL && part == TEXT_BLOCKS) owner = &p->text.blocks[block];
    return (float **)(void *)((char *)owner + row->field);
}

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

/* numbers: from tD or from tD + TOWER on. E: the width of the image's tokens. */
static void text_numbers(size_t numbers[], const vit_text_config *t, size_t E, bool decoder) {
    size_t *n = numbers - tD;
    n[tD] = t->width, n[t2D] = 2 * t->width, n[t3D] = 3 * t->width, n[tM] = t->mlp_width;
    n[tV] = t->vocabulary, n[ttypes] = t->token_types, n[tE] = E, n[tP] = t->projection;
    n[tpositions] = t->max_tokens + t->position_offset;
    n[tmemory] = t->encoder_proj ? t->width : E;
    n[t_decodes] = decoder, n[t_compares] = !decoder;
    n[t_learns] = t->position == VIT_TEXT_LEARNED || t->position == VIT_TEXT_COUNTED;
    n[t_has_types] = t->token_types;
    n[t_has_embed_norm] = t->embedding_norm, n[t_has_encoder] = decoder && t->encoder_proj;
    n[t_has_norm] = t->final_norm, n[t_has_hidden] = decoder && t->head_hidden;
    n[t_has_head] = decoder && !t->tied_head, n[t_has_head_bias] = decoder && t->head_bias;
    n[t_has_proj] = !decoder && t->projection;
    n[t_has_proj_bias] = n[t_has_proj] && t->projection_bias;
    n[t_has_logit_bias] = !decoder && t->logit_bias;
}

struct params_walk params_walk_start(const vit_config *config, const struct vit_kernels *kernels,
                                     struct vit_params *params) {
    struct params_walk walk = {.config = config, .kernels = kernels, .params = params};
    sizes(walk.numbers, config);
    presences(walk.numbers, config);
    if (decoder_of(config)) text_numbers(walk.numbers + tD, &config->decoder, config->width, true);
    if (text_of(config))
        text_numbers(walk.numbers + tD + TOWER, &config->text, config->width, false);
    return walk;
}

static void write_name(char *out, size_t capacity, const struct part *part, size_t block,
                       const char *name) {
    struct text text = {out, out + capacity - 1};
    if (VIT_FULL) put_words(&text, part->prefix);
    if (part->blocks) {
        put_words(&text, "blocks.");
        put_size(&text, block);
        put_words(&text, ".");
    }
    put_words(&text, name);
    *text.at = '\0';
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

/* → a number of the config, or of the tower if the part is the tower's. */
static size_t number(const struct params_walk *walk, const struct part *part, size_t which) {
    return walk->numbers[which + (part->tower && which >= tD ? TOWER : 0)];
}

static struct param describe(const struct row *row, const struct params_walk *walk,
                             const struct part *part) {
    const size_t *n = walk->numbers;
    struct param p = {.kind = (vit_kind)row->kind, .rank = row->rank, .count = 1};
    p.in_block = part->rows == BLOCK;
    p.matrices = matrices_of(p.kind, n);
    for (size_t k = 0; k < row->rank; k++)
        p.count = size_times(p.count, p.shape[k] = number(walk, part, row->shape[k]));
    p.int8 = walk->config->int8 && p.in_block && p.matrices;
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

/* How many tensors and floats one of the table's parts has. */
struct sum {
    size_t tensors, floats;
};

static struct sum add_up(const struct params_walk *walk, const struct part *part) {
    struct sum sum = {0, 0};
    for (const struct row *row = part->rows; row < part->rows + part->count; row++) {
        if (!number(walk, part, row->present)) continue;
        sum.tensors++;
        sum.floats = size_plus(sum.floats, describe(row, walk, part).floats);
    }
    return sum;
}

bool params_next(struct params_walk *walk, struct param *out) {
    while (walk->part < PARTS) {
        const struct part *part = &PART[walk->part];
        if (walk->block >= repeats(walk->config, walk->part)) {
            walk->part++, walk->block = walk->row = 0;
            continue;
        }
        if (walk->row == part->count) {
            walk->block++, walk->row = 0;
            continue;
        }
        const struct row *row = &part->rows[walk->row++];
        float **field = field_of(walk->params, walk->part, walk->block, row);
        if (!number(walk, part, row->present)) {
            if (field) *field = NULL;
            continue;
        }
        *out = describe(row, walk, part);
        write_name(out->name, sizeof out->name, part, walk->block, row->name);
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
    for (; walk.part < PARTS; walk.part++) { /* skip whole parts and blocks at once */
        size_t count = repeats(c, walk.part);
        if (!count) continue;
        struct sum each = add_up(&walk, &PART[walk.part]);
        size_t skip = each.tensors ? index / each.tensors : count;
        if (skip > count) skip = count;
        index -= skip * each.tensors;
        walk.offset = size_plus(walk.offset, size_times(skip, each.floats));
        walk.block = skip;
        if (skip < count) break;
        walk.block = 0;
    }
    do {
        if (!params_next(&walk, out)) return false;
    } while (index--);
    return true;
}

/* All of a model's tensors and floats. */
static struct sum all_parts(const vit_config *c, const struct vit_kernels *kernels) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct sum all = {0, 0};
    for (size_t part = 0; part < PARTS; part++) {
        size_t count = repeats(c, part);
        if (!count) continue;
        struct sum each = add_up(&walk, &PART[part]);
        all.tensors += count * each.tensors;
        all.floats = size_plus(all.floats, size_times(count, each.floats));
    }
    return all;
}

size_t params_count(const vit_config *c, const struct vit_kernels *kernels) {
    return all_parts(c, kernels).tensors;
}

size_t params_floats(const vit_config *c, const struct vit_kernels *kernels) {
    return all_parts(c, kernels).floats;
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

size_t params_blocks_bytes(const vit_config *c) {
    size_t texts = decoder_of(c) + text_of(c);
    return (c->depth + 1) * sizeof(struct block_params) + texts * sizeof(struct text_block_params);
}

void params_blocks(struct vit_params *params, void *memory, const vit_config *c) {
    *params = (struct vit_params){0};
    if (!memory) return;
    params->blocks = memory;
    params->decoder.blocks = (void *)(params->blocks + c->depth + 1);
    params->text.blocks = params->decoder.blocks + decoder_of(c);
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
