/* A stranger's changes: to the config, the tensors, the text and the bytes. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t EDGES[] = {0,          1,          2,           3,           7,
                                 8,          9,          15,          16,          17,
                                 48,         49,         63,          64,          65,
                                 127,        255,        256,         1000,        1023,
                                 1024,       1025,       4096,        4097,        8191,
                                 16384,      16385,      65535,       65536,       65537,
                                 92682,      1e5,        262144,      1000000,     0x3fffffff,
                                 0x40000000, 1e9,        1u << 24,    0x7fffffff,  0x80000000,
                                 0xfffffff0, 0xffffffff, 0x100000000, 0x100000001, UINT64_MAX / 4,
                                 INT64_MAX,  UINT64_MAX};
enum { EDGES_COUNT = sizeof EDGES / sizeof *EDGES };

/* Another number in place of n. */
static uint64_t other(uint64_t n, struct tape *t) {
    switch (tape_below(t, 8)) {
    case 0: return n + 1;
    case 1: return n - (n > 0);
    case 2: return 2 * n;
    case 3: return n / 2;
    case 4: return n + 8;
    case 5: return 3 * n;
    case 6: return EDGES[tape_below(t, 32)];
    default: return EDGES[tape_below(t, EDGES_COUNT)];
    }
}

/* ---- The config --------------------------------------------------------- */

#define AT(field) offsetof(struct plan, field)
static const size_t SIZES[] = {
    AT(image[0]),        AT(image[1]),        AT(patch[0]),    AT(patch[1]),
    AT(channels),        AT(width),           AT(depth),       AT(heads),
    AT(head_width),      AT(mlp_width),       AT(classes),     AT(class_tokens),
    AT(distillation),    AT(registers),       AT(stem_layers), AT(stem[0][0]),
    AT(stem[1][0]),      AT(stem[0][1]),      AT(stem[5][0]),  AT(position_rows),
    AT(width),           AT(mlp_width),       AT(classes),     AT(position_rows),
    AT(pool_heads),      AT(pool_mlp_width),  AT(rotary.base), AT(token_width),
    AT(rotary.grid[1]),  AT(detections),      AT(head_hidden), AT(stride[1]),
#define OF_TEXT(field) AT(texts[TEXT_DECODER].field), AT(texts[TEXT_TOWER].field)
    OF_TEXT(depth),      OF_TEXT(width),      OF_TEXT(heads),  OF_TEXT(mlp_width),
    OF_TEXT(vocabulary), OF_TEXT(max_tokens), OF_TEXT(offset), OF_TEXT(token_types),
    OF_TEXT(projection), OF_TEXT(start),      OF_TEXT(padding)};
static const size_t BOOLS[] = {AT(final_norm),
                               AT(qkv_bias),
                               AT(qk_norm),
                               AT(layer_scale),
                               AT(per_head),
                               AT(labels),
                               AT(norm_in),
                               AT(patch_norm),
                               AT(norm_pre),
                               AT(fc_norm),
                               AT(patch_bias),
                               AT(head_bias),
                               AT(head_dist),
                               AT(transposed),
                               AT(int8),
                               AT(int8_outside),
                               AT(per_head),
                               AT(int8_outside),
                               AT(no_residual),
                               AT(gated),
                               AT(mlp_norm),
                               AT(rotary.learned),
                               AT(rotary.gridded),
                               AT(mid_position),
                               AT(mlp_norm_after),
                               OF_TEXT(final_norm),
                               OF_TEXT(embedding_norm),
                               OF_TEXT(encoder_proj),
                               OF_TEXT(tied_head),
                               OF_TEXT(head_bias),
                               OF_TEXT(head_hidden),
                               OF_TEXT(projection_bias),
                               OF_TEXT(logit_bias),
                               OF_TEXT(labels)};
static const struct {
    size_t at, count;
} WORDS[] = {{AT(norm), 2},
             {AT(activation), 6},
             {AT(position), POSITIONS},
             {AT(pool), POOLS},
             {AT(prepare), 4},
             {AT(resize), 5},
             {AT(rotary.places), 3},
             {AT(split), 3},
             {AT(texts[TEXT_DECODER].position), 4},
             {AT(texts[TEXT_TOWER].position), 4},
             {AT(texts[TEXT_DECODER].mask), 2},
             {AT(texts[TEXT_TOWER].pool), 3}};
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Keeps the plan so small that the generator can write it down, with no 0 to divide by. */
static void keep_small(struct plan *p) {
    if (p->depth > 6) p->depth = 6;
    if (p->class_tokens > 9) p->class_tokens = 9;
    if (p->distillation > 9) p->distillation = 9;
    if (p->registers > 200) p->registers = 200;
    if (p->detections > 200) p->detections = 200;
    if (p->stem_layers > 6) p->stem_layers = 6;
    if (p->classes > 100) p->labels = false;
    if (p->channels > 50 && p->prepare == 2) p->prepare = 0;
    for (int i = 0; i < 2; i++) {
        if (p->patch[i] == 0) p->patch[i] = 1;
        if (p->stride[i] == 0) p->stride[i] = 1;
    }
    for (int i = 0; i < 6; i++)
        if (p->stem[i][1] == 0) p->stem[i][1] = 1;
    if (p->heads == 0) p->heads = 1;
    for (int i = 0; i < TEXTS; i++) {
        if (p->texts[i].depth > 3) p->texts[i].depth = 3;
        if (p->texts[i].vocabulary > 200) p->texts[i].labels = false;
    }
}

void mutate_plan(struct specimen *specimen, struct tape *t) {
    struct plan *p = &specimen->plan;
    char *plan = (char *)p;
    size_t kind = tape_below(t, 4);
    if (kind == 2) {
        bool *at = (bool *)(plan + BOOLS[tape_below(t, COUNT(BOOLS))]);
        *at = !*at;
    } else if (kind == 3) {
        size_t word = tape_below(t, COUNT(WORDS));
        *(size_t *)(void *)(plan + WORDS[word].at) = tape_below(t, WORDS[word].count);
    } else {
        size_t *at = (size_t *)(void *)(plan + SIZES[tape_below(t, COUNT(SIZES))]);
        *at = (size_t)other(*at, t);
    }
    keep_small(p);
}

/* ---- Tensors ------------------------------------------------------------ */

static struct tensor *any_tensor(struct specimen *specimen, struct tape *t) {
    return &specimen->tensors.list[tape_below(t, specimen->tensors.count)];
}

static void mutate_shape(struct tensor *tensor, struct tape *t) {
    size_t i = tape_below(t, tensor->rank ? tensor->rank : 1) % 4, j = (i + 1) % 4;
    uint64_t n = tensor->shape[i];
    switch (tape_below(t, 5)) {
    case 0: tensor->shape[i] = other(n, t); break;
    case 1: /* transposed */ tensor->shape[i] = tensor->shape[j], tensor->shape[j] = n; break;
    case 2: /* another dimension of 1 */
        if (tensor->rank < 4) tensor->shape[tensor->rank++] = 1;
        break;
    case 3: /* the last two dimensions become one */
        if (tensor->rank < 2 || tensor->rank > 4) break;
        tensor->shape[tensor->rank - 2] *= tensor->shape[tensor->rank - 1];
        tensor->rank--;
        break;
    default: tensor->rank = tape_below(t, 7);
    }
}

static const char *const PIECES[] = {".",
                                     "..",
                                     ".weight",
                                     ".bias",
                                     ".scale",
                                     ".weight.scale",
                                     "\"",
                                     "\\",
                                     "\n",
                                     "\x1b[2J",
                                     "\x7f",
                                     "\xc3\xa4",
                                     "\xff",
                                     "blocks.0.",
                                     "model.",
                                     "encoder.layer.0.",
                                     "attn.qkv",
                                     "vision_model.",
                                     "norm.weight",
                                     "fc_norm.weight",
                                     "pos_embed",
                                     "patch_embed.norm_in.weight",
                                     "norm_pre.weight",
                                     "head_dist.weight",
                                     "attn_pool.latent",
                                     "__metadata__",
                                     "9999999999999999999999"};

static void mutate_name(struct specimen *specimen, struct tensor *tensor, struct tape *t) {
    size_t n = strlen(tensor->name), at = tape_below(t, n + 1);
    const char *piece = PIECES[tape_below(t, COUNT(PIECES))];
    char old[NAME_ROOM];
    memcpy(old, tensor->name, sizeof old);
    switch (tape_below(t, 6)) {
    case 0: snprintf(tensor->name, NAME_ROOM, "%.*s%s%.100s", (int)at, old, piece, old + at); break;
    case 1: memmove(tensor->name + at, tensor->name + at + (at < n), n - at); break;
    case 2: memcpy(tensor->name, any_tensor(specimen, t)->name, NAME_ROOM); break;
    case 3: snprintf(tensor->name, NAME_ROOM, "%s", piece); break;
    case 4: tensor->repeat = (size_t)EDGES[tape_below(t, 22)]; break;
    default: { /* a prefix before all names */
        for (size_t i = 0; i < specimen->tensors.count; i++) {
            struct tensor *one = &specimen->tensors.list[i];
            memcpy(old, one->name, sizeof old);
            snprintf(one->name, NAME_ROOM, "%s%.120s", piece, old);
        }
    }
    }
}

/* Cuts the rows into two or three tensors, named as in other code. */
static void cut(struct specimen *specimen, struct tensor *tensor, struct tape *t) {
    static const char *const PARTS_OF[][3] = {
        {"query", "key", "value"}, {"q_proj", "k_proj", "v_proj"}, {"q", "kv", NULL}};
    size_t kind = tape_below(t, 3), parts = kind < 2 ? 3 : 2;
    struct tensor whole = *tensor;
    const char *last = strrchr(whole.name, '.'), *before = last ? last : whole.name;
    while (before > whole.name && before[-1] != '.') before--;
    for (size_t i = 0; i < parts; i++) {
        struct tensor *part = i ? tensors_add(&specimen->tensors, whole.role, "", 0, NULL) : tensor;
        *part = whole;
        part->shape[0] = tape_chance(t, 3) ? tape_below(t, 20) : whole.shape[0] / parts;
        snprintf(part->name, NAME_ROOM, "%.*s%s%s", (int)(before - whole.name), whole.name,
                 PARTS_OF[kind][i], last ? last : "");
    }
}

static void mutate_offsets(struct tensor *tensor, struct tape *t) {
    int64_t shift = tape_bool(t) ? 1 + (int64_t)tape_below(t, 9) : -1 - (int64_t)tape_below(t, 9);
    if (tape_chance(t, 4)) shift = (int64_t)EDGES[tape_below(t, EDGES_COUNT)];
    size_t kind = tape_below(t, 3);
    if (kind != 1) tensor->begin_shift = shift;
    if (kind != 0) tensor->end_shift = shift;
}

void mutate_tensors(struct specimen *specimen, struct tape *t) {
    struct tensors *all = &specimen->tensors;
    struct tensor *tensor = any_tensor(specimen, t);
    switch (tape_below(t, 10)) {
    case 0: /* other numbers */
        tensor->fill = (enum fill)tape_below(t, FILLS);
        if (tensor->fill >= HUGE_NUMBERS) specimen->wild = true;
        break;
    case 1: mutate_shape(tensor, t); break;
    case 2: mutate_name(specimen, tensor, t); break;
    case 3:
        tensor->type = (enum dtype)tape_below(t, DTYPES);
        specimen->wild = true;
        break;
    case 4: /* the tensor is removed */
        if (all->count > 1) *tensor = all->list[--all->count];
        break;
    case 5: { /* the tensor is there twice */
        struct tensor copy = *tensor, *twin = tensors_add(all, copy.role, "", 0, NULL);
        *twin = copy;
        mutate_name(specimen, twin, t);
        break;
    }
    case 6: mutate_offsets(tensor, t); break;
    case 7: cut(specimen, tensor, t); break;
    case 8: { /* only this tensor is int8 */
        char name[NAME_ROOM];
        size_t rows = (size_t)tensor->shape[0];
        snprintf(name, sizeof name, "%.150s.scale", tensor->name);
        tensor->type = I8;
        if (tape_bool(t)) tensors_add(all, SCALE, name, 1, &rows);
        break;
    }
    default: { /* all tensors of this role get other numbers */
        enum fill fill = (enum fill)tape_below(t, FILLS);
        if (fill >= HUGE_NUMBERS) specimen->wild = true;
        for (size_t i = 0; i < all->count; i++)
            if (all->list[i].role == tensor->role) all->list[i].fill = fill;
    }
    }
}

/* ---- Text --------------------------------------------------------------- */

static const char *const VALUES[] = {
    "0",
    "-1",
    "1e9",
    "1.5",
    "1e-46",
    "1e308",
    "1e99999",
    "-0",
    "4294967296",
    "4294967295",
    "18446744073709551616",
    "99999999999999999999",
    "null",
    "true",
    "false",
    "\"\"",
    "[]",
    "{}",
    "[1,1]",
    "[16384,16384]",
    "[1,65536]",
    "65536",
    "1024",
    "16384",
    "1000000",
    "\"class\"",
    "[\"class\"]",
    "\"attention\"",
    "\"sincos2d\"",
    "\"per_head\"",
    "\"relative\"",
    "\"\\ud800\"",
    "[\"cls_token\"]",
    "[\"head.weight\"]",
    "[\"norm.weight\",\"norm.bias\"]",
    "[1,\"\\u0000\"]",
    ",\"skipped\":[\"head.bias\"]",
    ",\"norm.weight\":[\"x\"]",
    "\"\\u0000\"",
    "{\"kind\":\"digit\"}",
    "[[4096,1],[4096,2]]",
    "[1,[1,1],2]",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    ",\"head_width\":9",
    ",\"width\":8",
    ",\"stem\":[3]",
    ",\"stem\":[[1,1],[2,1]]",
    ",\"attention\":\"per_head\"",
    ",\"pool\":\"attention\"",
    ",\"prefix\":[]",
    ",\"prefix\":[\"register\"]",
    ",\"norm_eps\":0",
    ",\"temperature\":1e-30"};

/* Puts `piece` in place of [from, to). */
static void splice(char *text, size_t *size, size_t room, size_t from, size_t to,
                   const char *piece) {
    size_t n = strlen(piece);
    if (*size - (to - from) + n >= room) return;
    memmove(text + from + n, text + to, *size - to);
    memcpy(text + from, piece, n);
    *size = *size - (to - from) + n;
}

/* Finds the text of a value: from after a colon to the value's end. */
static bool find_value(const char *text, size_t size, size_t which, size_t *from, size_t *to) {
    size_t colons = 0, depth = 0;
    for (size_t i = 0; i < size; i++) colons += text[i] == ':';
    if (colons == 0) return false;
    which %= colons;
    for (*from = 0; *from < size; ++*from)
        if (text[*from] == ':' && which-- == 0) break;
    for (*to = ++*from; *to < size; ++*to) {
        char c = text[*to];
        if (depth == 0 && (c == ',' || c == '}')) break;
        depth += (c == '[' || c == '{');
        if (depth) depth -= (c == ']' || c == '}');
    }
    return true;
}

static void mutate_text(char *text, size_t *size, size_t room, struct tape *t) {
    const char *piece = VALUES[tape_below(t, COUNT(VALUES))];
    size_t kind = tape_below(t, 5), which = tape_below(t, 1000), from, to;
    if (*size == 0) return;
    if (kind < 3 && find_value(text, *size, which, &from, &to)) {
        if (*piece == ',' || kind == 1) from = to;
        splice(text, size, room, from, to, piece);
    } else if (kind == 3) {
        text[which % *size] = (char)tape_byte(t);
    } else {
        from = which % *size;
        to = from + tape_below(t, 40);
        splice(text, size, room, from, to < *size ? to : *size, "");
    }
}

void mutate_json(struct specimen *specimen, struct tape *t) {
    mutate_text(specimen->json, &specimen->json_size, sizeof specimen->json, t);
    if (tape_chance(t, 8)) specimen->json_apart = !specimen->json_apart;
}

void mutate_map(struct specimen *specimen, struct tape *t) {
    mutate_text(specimen->map, &specimen->map_size, HEADER_MOST, t);
    if (tape_chance(t, 4)) specimen->mapped = !specimen->mapped;
}

/* ---- Bytes -------------------------------------------------------------- */

static void mutate_header(struct specimen *specimen, struct tape *t) {
    enum { MORE = 256 };
    if (specimen->header_size < 8 || specimen->size < specimen->header_size) return;
    size_t size = specimen->header_size - 8, data = specimen->size - specimen->header_size;
    char *text = malloc(size + MORE);
    memcpy(text, specimen->bytes + 8, size);
    mutate_text(text, &size, specimen->header_size - 8 + MORE, t);
    uint8_t *bytes = malloc(8 + size + data + 1);
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)size >> 8 * i);
    memcpy(bytes + 8, text, size);
    memcpy(bytes + 8 + size, specimen->bytes + specimen->header_size, data);
    specimen->announced = specimen->announced - specimen->header_size + 8 + size;
    specimen->header_size = 8 + size;
    specimen->size = 8 + size + data;
    free(text);
    free(specimen->bytes);
    specimen->bytes = bytes;
}

void mutate_bytes(struct specimen *specimen, struct tape *t) {
    size_t data = specimen->size - specimen->header_size;
    if (specimen->size < 8) return;
    switch (tape_below(t, 6)) {
    case 0: mutate_header(specimen, t); return;
    case 1: specimen->announced = specimen->size -= tape_below(t, specimen->size); break;
    case 2: specimen->bytes[tape_below(t, 8)] = tape_byte(t); break;
    case 3: specimen->announced = EDGES[tape_below(t, EDGES_COUNT)]; break;
    case 4: specimen->announced += 1 + tape_below(t, 100); break;
    default:
        for (size_t i = 0; data && i < 4; i++)
            specimen->bytes[specimen->header_size + tape_below(t, data)] = tape_byte(t);
    }
    if (specimen->header_size > specimen->size) specimen->header_size = specimen->size;
}
