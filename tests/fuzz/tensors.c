/* A plan's tensors: first as our own files have them, then perhaps as other code may. */
#include "generator.h"

#include <stdio.h>
#include <string.h>

struct tensor *tensors_add(struct tensors *all, enum role role, const char *name, size_t rank,
                           const size_t *shape) {
    static struct tensor spare;
    struct tensor *t = all->count < TENSORS_MOST ? &all->list[all->count++] : &spare;
    *t = (struct tensor){.role = role, .rank = rank};
    snprintf(t->name, sizeof t->name, "%s", name);
    for (size_t i = 0; i < rank && i < 4; i++) t->shape[i] = shape[i];
    return t;
}

#define ADD(role, name, ...)                                                                       \
    tensors_add(all, role, name, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),                 \
                (size_t[]){__VA_ARGS__})

/* NAME.weight and NAME.bias */
static void add_pair(struct tensors *all, enum role role, const char *name, size_t out, size_t in,
                     bool bias) {
    char whole[NAME_ROOM];
    snprintf(whole, sizeof whole, "%s.weight", name);
    if (role == MATRIX)
        ADD(MATRIX, whole, out, in);
    else
        ADD(GAIN, whole, out);
    snprintf(whole, sizeof whole, "%s.bias", name);
    if (bias) ADD(VECTOR, whole, out);
}

static void add_stem(struct tensors *all, const struct plan *p) {
    char name[NAME_ROOM];
    size_t in = p->channels;
    for (size_t i = 0; i < p->stem_layers; i++) {
        snprintf(name, sizeof name, "patch_embed.backbone.%zu.weight", 2 * i);
        ADD(MATRIX, name, p->stem[i][0], in, 3, 3);
        snprintf(name, sizeof name, "patch_embed.backbone.%zu.bias", 2 * i);
        ADD(VECTOR, name, p->stem[i][0]);
        in = p->stem[i][0];
    }
}

/* The two steps of tokens_to_token. */
static void add_splits(struct tensors *all, const struct plan *p) {
    size_t n = p->token_width, K = 49 * p->channels;
    for (size_t i = 1; i <= 2 && p->split; i++, K = 9 * n) {
        char name[NAME_ROOM];
#define IN(part) (snprintf(name, sizeof name, "tokens_to_token.attention%zu." part, i), name)
        add_pair(all, GAIN, IN("norm1"), K, 0, true);
        add_pair(all, MATRIX, IN("attn.qkv"), 3 * n, K, p->split == 2);
        if (p->split == 2) ADD(MATRIX, IN("w"), n / 2, n);
        add_pair(all, MATRIX, IN("attn.proj"), n, n, true);
        add_pair(all, GAIN, IN("norm2"), n, 0, true);
        add_pair(all, MATRIX, IN("mlp.fc1"), n, n, true);
        add_pair(all, MATRIX, IN("mlp.fc2"), n, n, true);
#undef IN
    }
}

static void add_embedding(struct tensors *all, const struct plan *p) {
    size_t stride = 1, C = p->channels, D = p->width;
    for (size_t i = 0; i < p->stem_layers; i++) stride *= p->stem[i][1], C = p->stem[i][0];
    size_t P = p->patch[0] / stride, Q = p->patch[1] / stride;
    if (p->split) C = p->token_width, P = Q = 3;
    if (p->norm_in) add_pair(all, GAIN, "patch_embed.norm_in", C * P * Q, 0, true);
    ADD(MATRIX, "patch_embed.proj.weight", D, C, P, Q);
    if (p->patch_bias) ADD(VECTOR, "patch_embed.proj.bias", D);
    if (p->patch_norm) add_pair(all, GAIN, "patch_embed.norm", D, 0, true);
    if (p->class_tokens) ADD(VECTOR, "cls_token", 1, 1, D);
    if (p->distillation) ADD(VECTOR, "dist_token", 1, 1, D);
    if (p->registers) ADD(VECTOR, "reg_token", 1, p->registers, D);
    if (p->detections) ADD(VECTOR, "det_token", 1, p->detections, D);
    if (p->position_rows) ADD(VECTOR, "pos_embed", 1, p->position_rows, D);
    if (p->mid_position && p->depth > 1)
        ADD(VECTOR, "mid_pos_embed", p->depth - 1, p->position_rows, D);
    if (p->norm_pre) add_pair(all, GAIN, "norm_pre", D, 0, true);
}

static void add_attention(struct tensors *all, const struct plan *p) {
    size_t d = plan_head_width(p), A = p->heads * d, D = p->width;
    size_t offsets = (2 * plan_grid(p, 0) - 1) * (2 * plan_grid(p, 1) - 1);
    bool prefix = plan_tokens(p) > plan_patches(p);
    add_pair(all, MATRIX, "attn.qkv", 3 * A, p->per_head ? d : D, p->qkv_bias);
    if (p->qk_norm) add_pair(all, GAIN, "attn.q_norm", d, 0, true);
    if (p->qk_norm) add_pair(all, GAIN, "attn.k_norm", d, 0, true);
    if (p->position == RELATIVE)
        ADD(VECTOR, "attn.rel_pos.relative_position_bias_table", offsets + (prefix ? 3 : 0),
            p->heads);
    if (p->position == ROTARY && p->rotary.learned) ADD(VECTOR, "attn.rope.freqs", 2, A / 2);
    if (!p->per_head) add_pair(all, MATRIX, "attn.proj", D, A, true);
}

/* Puts a prefix before the names of all tensors from `first` on. */
static void add_prefix(struct tensors *all, size_t first, const char *prefix) {
    char name[NAME_ROOM];
    for (; first < all->count; first++) {
        struct tensor *t = &all->list[first];
        snprintf(name, sizeof name, "%.40s%.100s", prefix, t->name);
        memcpy(t->name, name, sizeof name);
    }
}

static void add_block(struct tensors *all, const struct plan *p, size_t index) {
    size_t first = all->count, D = p->width, M = p->mlp_width;
    char name[NAME_ROOM];
    add_pair(all, GAIN, "norm1", D, 0, true);
    add_attention(all, p);
    if (p->layer_scale) ADD(GAIN, "ls1.gamma", D);
    add_pair(all, GAIN, "norm2", D, 0, true);
    add_pair(all, MATRIX, "mlp.fc1", p->gated ? 2 * M : M, D, true);
    if (p->mlp_norm) add_pair(all, GAIN, "mlp.norm", M, 0, true);
    add_pair(all, MATRIX, "mlp.fc2", D, M, true);
    if (p->layer_scale) ADD(GAIN, "ls2.gamma", D);
    snprintf(name, sizeof name, "blocks.%zu.", index);
    add_prefix(all, first, name);
    for (; first < all->count; first++) all->list[first].in_block = true;
}

static void add_pooling(struct tensors *all, const struct plan *p) {
    size_t D = p->width, M = p->pool_mlp_width ? p->pool_mlp_width : p->mlp_width;
    ADD(VECTOR, "attn_pool.latent", 1, 1, D);
    add_pair(all, MATRIX, "attn_pool.qkv", 3 * D, D, true);
    add_pair(all, MATRIX, "attn_pool.proj", D, D, true);
    add_pair(all, GAIN, "attn_pool.norm", D, 0, true);
    add_pair(all, MATRIX, "attn_pool.mlp.fc1", M, D, true);
    add_pair(all, MATRIX, "attn_pool.mlp.fc2", D, M, true);
}

/* What reads the detection tokens: an MLP for classes, and one for boxes. */
static void add_objects(struct tensors *all, const struct plan *p) {
    static const char *const NAMES[] = {"class_embed", "bbox_embed"};
    char name[NAME_ROOM];
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < 3; i++) {
            size_t out = i < 2 ? p->width : which ? 4 : p->classes + 1;
            snprintf(name, sizeof name, "%s.layers.%zu", NAMES[which], i);
            add_pair(all, MATRIX, name, out, p->width, true);
        }
}

static void add_text_block(struct tensors *all, const struct text_plan *p, size_t which, size_t E,
                           size_t index) {
    size_t first = all->count, D = p->width;
    char name[NAME_ROOM];
    add_pair(all, GAIN, "norm1", D, 0, true);
    add_pair(all, MATRIX, "attn.qkv", 3 * D, D, true);
    add_pair(all, MATRIX, "attn.proj", D, D, true);
    if (which == TEXT_DECODER) {
        add_pair(all, GAIN, "cross_norm", D, 0, true);
        add_pair(all, MATRIX, "cross.q", D, D, true);
        add_pair(all, MATRIX, "cross.kv", 2 * D, p->encoder_proj ? D : E, true);
        add_pair(all, MATRIX, "cross.proj", D, D, true);
    }
    add_pair(all, GAIN, "norm2", D, 0, true);
    add_pair(all, MATRIX, "mlp.fc1", p->mlp_width, D, true);
    add_pair(all, MATRIX, "mlp.fc2", D, p->mlp_width, true);
    snprintf(name, sizeof name, "blocks.%zu.", index);
    add_prefix(all, first, name);
    for (; first < all->count; first++) all->list[first].in_texts = which + 1;
}

/* E: the width of an image's tokens. */
static void add_text(struct tensors *all, const struct text_plan *p, size_t which, size_t E) {
    size_t first = all->count, D = p->width, V = p->vocabulary;
    bool decoder = which == TEXT_DECODER;
    ADD(MATRIX, "token_embed.weight", V, D);
    bool learned = p->position == 0 || p->position == 3; /* counted */
    if (learned) ADD(VECTOR, "pos_embed", 1, p->max_tokens + p->offset, D);
    if (p->token_types) ADD(VECTOR, "type_embed.weight", p->token_types, D);
    if (p->embedding_norm) add_pair(all, GAIN, "embed_norm", D, 0, true);
    if (decoder && p->encoder_proj) add_pair(all, MATRIX, "encoder_proj", D, E, true);
    for (size_t i = 0; i < p->depth; i++) add_text_block(all, p, which, E, i);
    if (p->final_norm) add_pair(all, GAIN, "norm", D, 0, true);
    if (decoder && p->head_hidden) {
        add_pair(all, MATRIX, "pre_logits", D, D, true);
        add_pair(all, GAIN, "pre_logits.norm", D, 0, true);
    }
    if (decoder && !p->tied_head) ADD(MATRIX, "head.weight", V, D);
    if (decoder && p->head_bias) ADD(VECTOR, "head.bias", V);
    if (!decoder && p->projection)
        add_pair(all, MATRIX, "proj", p->projection, D, p->projection_bias);
    if (!decoder) ADD(VECTOR, "logit_scale", 1);
    if (!decoder && p->logit_bias) ADD(VECTOR, "logit_bias", 1);
    add_prefix(all, first, decoder ? "decoder." : "text.");
}

/* ---- As other code may have them ----------------------------------------- */

/* Cuts queries, keys and values into three tensors, or into queries and the others; keys and values
 * of `kinds` 2 into two. */
static void cut(struct tensors *all, size_t index, size_t kinds, size_t parts) {
    uint64_t each = all->list[index].shape[0] / kinds;
    char ours[NAME_ROOM];
    if (all->count + parts > TENSORS_MOST) return;
    memcpy(ours, all->list[index].ours, sizeof ours);
    all->list[index].parts = parts;
    for (size_t i = 0; i < parts; i++) {
        struct tensor *part = &all->list[i ? all->count++ : index];
        if (i) *part = all->list[index];
        snprintf(part->name, NAME_ROOM, "%.120s part %zu", ours, i);
        part->part = i;
        part->shape[0] = each * (i ? kinds - parts + 1 : 1);
    }
}

static void reshape(struct tensor *t, const struct plan *p) {
    bool resized_mid = p->resized && !strcmp(t->ours, "mid_pos_embed");
    if (p->no_ones && t->role == VECTOR && t->rank == 3 && t->shape[0] == 1 && !resized_mid) {
        t->shape[0] = t->shape[1], t->shape[1] = t->shape[2];
        t->rank--;
    }
    bool transposed = !strcmp(t->ours, "head.weight") || !strcmp(t->ours, "text.proj.weight");
    if (p->transposed && transposed) {
        uint64_t rows = t->shape[0];
        t->shape[0] = t->shape[1], t->shape[1] = rows;
    }
    if (p->matrix_patches && !strcmp(t->ours, "patch_embed.proj.weight")) {
        t->shape[1] *= t->shape[2] * t->shape[3];
        t->rank = 2;
    }
}

static void change(struct tensors *all, const struct plan *p) {
    static const char *const PREFIXES[] = {"", "model.", "a\"b\\."};
    char name[NAME_ROOM];
    for (size_t i = 0, count = all->count; i < count; i++) {
        reshape(&all->list[i], p);
        if (p->parts > 1 && strstr(all->list[i].ours, "qkv.")) cut(all, i, 3, p->parts);
        if (p->parts > 1 && strstr(all->list[i].ours, "cross.kv.")) cut(all, i, 2, 2);
    }
    for (size_t i = 0; i < all->count; i++) {
        snprintf(name, sizeof name, "%s%.140s", PREFIXES[p->prefix], all->list[i].name);
        memcpy(all->list[i].name, name, sizeof name);
    }
    if (p->extras) ADD(ALIEN, "another tower", 2, 2);
}

void tensors_make(struct tensors *all, const struct plan *p) {
    all->count = 0;
    add_stem(all, p);
    add_splits(all, p);
    add_embedding(all, p);
    for (size_t i = 0; i < p->depth; i++) add_block(all, p, i);
    if (p->final_norm) add_pair(all, GAIN, p->fc_norm ? "fc_norm" : "norm", p->width, 0, true);
    if (p->pool == POOL_ATTENTION) add_pooling(all, p);
    size_t hidden = p->classes ? p->head_hidden : 0, K = p->detections ? 0 : p->classes;
    if (hidden) add_pair(all, MATRIX, "pre_logits", hidden, p->width, true);
    if (K) add_pair(all, MATRIX, "head", K, hidden ? hidden : p->width, p->head_bias);
    if (p->classes && p->detections) add_objects(all, p);
    if (p->head_dist) add_pair(all, MATRIX, "head_dist", p->classes, p->width, true);
    for (size_t i = 0; i < TEXTS; i++)
        if (p->texts[i].depth) add_text(all, &p->texts[i], i, p->width);
    for (size_t i = 0; i < all->count; i++) {
        memcpy(all->list[i].ours, all->list[i].name, NAME_ROOM);
        all->list[i].parts = 1;
    }
    if (p->mapped) change(all, p);
}
