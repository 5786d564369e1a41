/* Compares a file's header with the model that the config describes: every tensor's name, shape and
 * type. No memory is taken before, so a file that claims too much costs nothing. */
#include "match.h"

#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "base/text.h"
#include "config.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "map.h"
#include "params.h"
#include "safetensors.h"
#include "save.h"
#include "vit.h"

/* The blocks are int8 if this tensor is. */
#define FIRST_MATRIX "blocks.0.attn.qkv.weight"

/* → the side of a square grid of this many positions; 0 if they make no square. */
static size_t side_of(size_t rows) {
    size_t side = 1;
    while (side < UINT16_MAX && side * side < rows) side++; /* a larger square may overflow */
    return side * side == rows ? side : 0;
}

/* → how many vectors of width D a tensor holds. Its shape is (rows,D), perhaps after dimensions of
 * 1; 0 for any other shape. */
static size_t rows_of(const struct st_tensor *t, size_t D) {
    if (t->rank == 0 || t->shape[t->rank - 1] != D) return 0;
    return t->rank == 1 || t->shape[t->rank - 2] == t->count / D ? t->count / D : 0;
}

/* Finds which grid of patches has this many positions: that of the config's position_size, that of
 * the image, or a square. sized: tries only the first. */
static bool grid_of(size_t grid[2], const vit_config *c, size_t rows, bool sized) {
    const size_t own[2] = {vit_grid(c, 0), vit_grid(c, 1)};
    size_t side = side_of(rows);
    for (int i = 0; i < 2; i++) grid[i] = grid_side(c, i, c->position_size[i]);
    if (grid[0] && size_times(grid[0], grid[1]) == rows) return true;
    if (sized) return false;
    bool is_own = size_times(own[0], own[1]) == rows;
    grid[0] = is_own ? own[0] : side, grid[1] = is_own ? own[1] : side;
    return grid[0] > 0;
}

/* pos_embed may have rows for all tokens, for the patches alone, or, as in DINOv2, for the class
 * token and the patches but not for registers. The grid of patches may have another size than the
 * image. */
static void read_positions(vit_config *c, const struct st_tensor *position) {
    size_t rows = rows_of(position, c->width), N = vit_patches(c), prefix = vit_prefix(c);
    bool some = c->class_tokens && c->register_tokens && !c->distillation_tokens;
    const size_t all_first[] = {prefix, 0, some}, none_first[] = {0, some, prefix};
    const size_t *extra = rows == N + prefix ? all_first : none_first;
    size_t grid[2];
    for (int sized = 1; rows && sized >= 0; sized--)
        for (size_t i = 0; i < 3; i++) {
            if (rows <= extra[i] || !grid_of(grid, c, rows - extra[i], sized)) continue;
            memcpy(c->position_grid, grid, sizeof grid);
            c->position_rows = extra[i] == prefix ? N + prefix : N;
            c->class_position = extra[i] == 1 && prefix != 1;
            return;
        }
}

vit_status weights_read_config(vit_config *c, const struct json *json, const struct tensor_map *map,
                               vit_error *why) {
    vit_status status = config_read(c, json, why);
    if (status) return status;
    bool fc_norm =
        c->final_norm && pool_of(c) != VIT_POOL_CLASS_MEAN && map_find(map, "fc_norm.weight");
    c->head_norm = fc_norm && map_find(map, "norm.weight");
    c->fc_norm = fc_norm && !c->head_norm;
    bool of_pixels = !c->stem_layers && !tokens_to_token_of(c);
    c->patch_norm_in = map_find(map, "patch_embed.norm_in.weight") && of_pixels;
    c->patch_norm = map_find(map, "patch_embed.norm.weight") && of_pixels;
    c->norm_pre = map_find(map, "norm_pre.weight");
    if (c->norm_pre && !map_find(map, "patch_embed.proj.bias")) c->patch_bias = false;
    if (c->norm_pre && !map_find(map, "head.bias")) c->head_bias = false;
    c->no_head_dist = c->distillation_tokens && c->classes && !map_find(map, "head_dist.weight");
    const struct st_tensor *first = map_find(map, FIRST_MATRIX);
    const struct st_tensor *position = map_find(map, "pos_embed");
    c->int8 = first && first->type == ST_I8;
    c->detections_last = detections_of(c) && !map->strict;
    bool beside = position_of(c) == VIT_RELATIVE || position_of(c) == VIT_ROTARY;
    c->learned_too = beside && position;
    if (learns_positions(c) && position) read_positions(c, position);
    return VIT_OK;
}

bool weights_resize_positions(const vit_config *c) {
    return c->position_grid[0] != vit_grid(c, 0) || c->position_grid[1] != vit_grid(c, 1);
}

/* Whether the tensor has the rows that read_positions found, as often as the parameter. Those after
 * a block have no row of a class token alone. */
static bool are_positions(const vit_config *c, const struct param *param,
                          const struct st_tensor *t) {
    bool mid = strcmp(param->name, "pos_embed") != 0;
    size_t others = c->position_rows - vit_patches(c) + (mid ? 0 : c->class_position);
    size_t rows = size_plus(others, size_times(c->position_grid[0], c->position_grid[1]));
    if (!mid) return rows_of(t, c->width) == rows;
    return t->rank > 2 && t->shape[0] == param->shape[0] && t->shape[t->rank - 2] == rows &&
           t->shape[t->rank - 1] == c->width && t->count / t->shape[0] / rows == c->width;
}

/* Whether it belongs to the norm of a patch's pixels. Other libraries store the
 * channels of a pixel side by side. */
static bool is_norm_in(const struct param *param) {
    return param->kind == VIT_KIND_PIXEL_GAIN || param->kind == VIT_KIND_PIXEL_BIAS;
}

/* The matrices of the blocks are all int8 or all floats. Another matrix may be int8 if its scales
 * are in the file. All other tensors are floats. part: the tensor is one of several that make a
 * parameter; for these no scales are known. */
static vit_status check_type(const struct param *param, const struct st_tensor *t, bool part,
                             const vit_config *c, vit_error *why) {
    bool int8 = t->type == ST_I8;
    if (t->type >= ST_OTHER)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%t\": expected dtype F64, F32, F16, BF16 or I8, got %t", t->name,
                        t->name_size, st_type_name(t->type), strlen(st_type_name(t->type)));
    if (param->int8 && int8 && param->K > VIT_INT8_K)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected int8 rows of at most %z numbers, got %z",
                        param->name, (size_t)VIT_INT8_K, param->K);
    const char *expected = NULL;
    if (part && int8)
        return vit_fail(
            why, VIT_BAD_TENSOR,
            "tensor \"%t\": expected F32, F16 or BF16, got I8, which only whole matrices "
            "can be",
            t->name, t->name_size);
    if (param->int8 && !int8)
        expected = "I8, as " FIRST_MATRIX " is";
    else if (int8 && !param->int8 && param->in_block && param->matrices)
        expected = "floats, as " FIRST_MATRIX " is";
    else if (int8 && !param->matrices)
        expected = "F32, F16 or BF16";
    else if (c->int8 && param->kind == VIT_KIND_SCALE && t->type != ST_F32)
        expected = "F32";
    if (expected)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected %s, got %s", param->name,
                        expected, st_type_name(t->type));
    return VIT_OK;
}

/* Whether the shapes are equal; unless `ones_too`, dimensions of 1 are ignored. */
static bool same_shape(const struct param *param, const struct st_tensor *t, bool ones_too) {
    size_t i = 0, j = 0;
    if (ones_too)
        return t->rank == param->rank &&
               !memcmp(t->shape, param->shape, t->rank * sizeof *t->shape);
    for (;; i++, j++) {
        while (i < param->rank && param->shape[i] == 1) i++;
        while (j < t->rank && t->shape[j] == 1) j++;
        if (i == param->rank || j == t->rank) return i == param->rank && j == t->rank;
        if (param->shape[i] != t->shape[j]) return false;
    }
}

/* Whether a convolution's weight is (D,P,Q,C), as MLX stores it, for a square patch. */
static bool is_channels_last(const struct st_tensor *t) {
    const size_t *shape = t->shape;
    return t->rank == 4 && shape[1] > 1 && shape[1] == shape[2] && shape[3] <= 4 &&
           shape[1] != shape[3];
}

static vit_status refuse_channels_last(const struct st_tensor *t, vit_error *why) {
    return vit_fail(
        why, VIT_BAD_TENSOR,
        "tensor \"%t\": expected (D,C,P,Q), got %d, which is MLX's order (D,P,Q,C): save "
        "its transpose(0, 3, 1, 2)",
        t->name, t->name_size, t->shape, t->rank);
}

/* Whether the patches' projection is a Linear's matrix, not a convolution. */
static bool is_linear(const struct param *param, const struct st_tensor *t) {
    return param->kind == VIT_KIND_PATCHES && t->rank == 2 && t->shape[0] > 0 &&
           t->shape[0] == param->shape[0] && t->shape[1] == param->count / t->shape[0];
}

/* param: what the tensor must be. part: it is one of several tensors of a parameter, and `param`
 * has only its rows. */
static vit_status check_tensor(const struct param *param, const struct st_tensor *t, bool part,
                               const struct tensor_map *map, const vit_config *c, vit_error *why) {
    if (map_transposes(map, param->name)) {
        const size_t shape[] = {param->K, param->N};
        if (t->rank == 2 && !memcmp(t->shape, shape, sizeof shape))
            return check_type(param, t, true, c, why);
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": expected shape %d, got %d", t->name,
                        t->name_size, shape, (size_t)2, t->shape, t->rank);
    }
    if (position_of(c) == VIT_RELATIVE && t->rank == 2 && param->kind == VIT_KIND_RELATIVE &&
        t->shape[0] != param->shape[0] && t->shape[1] == param->shape[1])
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected %z rows for this image size and prefix, got %z; "
                        "only a call with another size resizes relative positions",
                        param->name, param->shape[0], t->shape[0]);
    if (param->kind == VIT_KIND_PATCHES && is_channels_last(t) && !same_shape(param, t, true))
        return refuse_channels_last(t, why);
    if (!same_shape(param, t, map->strict) &&
        !(param->kind == VIT_KIND_POSITION && are_positions(c, param, t)) &&
        !(is_linear(param, t) && map->matrix_patches))
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": expected shape %d, got %d", t->name,
                        t->name_size, param->shape, param->rank, t->shape, t->rank);
    return check_type(param, t, part, c, why);
}

static vit_status missing(const struct param *param, const struct tensor_map *map, vit_error *why) {
    size_t size;
    const char *name = map_missing(&size, map, param->name);
    if (map->strict)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": is missing; expected shape %d", name,
                        size, param->shape, param->rank);
    return vit_fail(why, VIT_BAD_TENSOR,
                    "tensor \"%t\": is missing; expected it, named as in %s, for %s of shape %d",
                    name, size, map->family, param->name, param->shape, param->rank);
}

static vit_status extra_tensor(const struct st_tensor *t, const struct tensor_map *map,
                               vit_error *why) {
    const char *what = "is not part of the model that the config describes";
    if (map->strict)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": %s", t->name, t->name_size, what);
    return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%t\": %s; names are as in %s", t->name,
                    t->name_size, what, map->family);
}

/* Finds the scales of an int8 matrix outside the blocks, which becomes floats while it is read. */
static vit_status place_scales(struct placement *places, struct placement *matrix,
                               const struct param *param, const struct tensor_map *map,
                               size_t *scales, vit_error *why) {
    const struct safetensors *st = map->st;
    char name[MAP_NAME_MOST + sizeof ".scale"];
    struct text text = {name, name + sizeof name - 1};
    put(&text, matrix->tensor->name, matrix->tensor->name_size);
    put_words(&text, ".scale");
    *text.at = '\0';
    const struct st_tensor *t = st_find(st, name, (size_t)(text.at - name));
    size_t N = param->shape[0];
    if (!t)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": is missing; expected shape %d", name,
                        &N, (size_t)1);
    if (t->type != ST_F32 || t->rank != 1 || t->shape[0] != N)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected F32 of shape %d, got %s of %d", name, &N,
                        (size_t)1, st_type_name(t->type), t->shape, t->rank);
    if (t->begin > matrix->tensor->begin)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected it before the int8 numbers that it scales", name);
    if (places[t - st->tensors].tensor) return extra_tensor(t, map, why);
    places[t - st->tensors] =
        (struct placement){.tensor = t, .where = PLACE_SCALES, .scales = *scales};
    matrix->scales = *scales;
    *scales += N;
    return VIT_OK;
}

/* Whether `part` is somewhere in the name. strstr would add 1.4 kB to each module. */
static bool contains(const char *name, const char *part) {
    while (*name && strncmp(name, part, strlen(part)) != 0) name++;
    return *name;
}

/* → how many tensors may make the parameter: queries, keys and values, keys and values, or a gate and
 * its values. */
static size_t parts_of(const struct param *param) {
    if (contains(param->name, "qkv.")) return 3;
    if (VIT_FULL && contains(param->name, ".kv.")) return 2;
    return contains(param->name, "mlp.fc1.") && param->shape[0] % 2 == 0 ? 2 : 1;
}

/* → the rows of tensor `index` of the `parts` that make a parameter, which have equal shares. Of two
 * for queries, keys and values, the second holds keys and values. */
static size_t rows_of_part(const struct param *param, size_t index, size_t parts) {
    size_t share = param->shape[0] / parts_of(param);
    if (parts == 1) return param->shape[0];
    return index + 1 < parts ? share : param->shape[0] - index * share;
}

/* Checks the tensors of one parameter and writes their places. */
static vit_status place_param(struct placement *places, const struct param *param, size_t index,
                              const vit_config *c, const struct tensor_map *map, vit_error *why) {
    const struct st_tensor *sources[MAP_SOURCES], *tensors = map->st->tensors;
    size_t n = map_sources(sources, map, param->name);
    struct param part = *param;
    size_t row = 0, each = param->count / param->shape[0];
    if (n == 0) return missing(param, map, why);
    static const char *const most[] = {"one tensor", "at most two tensors",
                                       "at most three tensors"};
    size_t parts = parts_of(param);
    if (n > parts)
        return vit_fail(why, VIT_BAD_ARGUMENT, "map: %s: expected %s, got %z", param->name,
                        most[parts - 1], n);
    for (size_t i = 0; i < n; i++, row += part.shape[0]) {
        const struct st_tensor *t = sources[i];
        part.shape[0] = rows_of_part(param, i, n);
        part.count = part.shape[0] * each;
        vit_status status = check_tensor(&part, t, n > 1, map, c, why);
        if (status) return status;
        if (places[t - tensors].tensor) return extra_tensor(t, map, why);
        bool last = c->patch_order == VIT_CHANNELS_LAST;
        bool channels_last = (t->rank != param->rank && is_linear(&part, t) && last) ||
                             (!map->strict && is_norm_in(param) && last);
        places[t - tensors] = (struct placement){.tensor = t,
                                                 .where = PLACE_PARAMETER,
                                                 .param = index,
                                                 .scales = NO_SCALES,
                                                 .row = row,
                                                 .channels_last = channels_last,
                                                 .transposed = map_transposes(map, param->name)};
    }
    return VIT_OK;
}

vit_status weights_check(struct placement *places, const vit_config *c,
                         const struct vit_kernels *kernels, const struct tensor_map *map,
                         vit_error *why) {
    const struct safetensors *st = map->st;
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct param param;
    size_t scales = 0;
    for (size_t i = 0; i < st->count; i++) places[i] = (struct placement){0};
    for (size_t i = 0; params_next(&walk, &param); i++) {
        vit_status status = place_param(places, &param, i, c, map, why);
        if (status) return status;
        const struct st_tensor *t = map_find(map, param.name);
        if (t->type == ST_I8 && !param.int8)
            status = place_scales(places, &places[t - st->tensors], &param, map, &scales, why);
        if (status) return status;
    }
    const struct st_tensor *position = map_find(map, "pos_embed");
    bool fixed = !learns_positions(c) && position_of(c) != VIT_RELATIVE;
    for (size_t i = 0; i < st->count; i++) {
        const struct st_tensor *t = &st->tensors[i];
        bool computed = t == position && fixed, empty = t->count == 0 && !map->strict;
        if (places[i].tensor) continue;
        if (!computed && !empty && !(map->skipped && map->skipped[i]))
            return extra_tensor(t, map, why);
        places[i] = (struct placement){.tensor = t, .where = PLACE_NOWHERE};
    }
    return VIT_OK;
}
