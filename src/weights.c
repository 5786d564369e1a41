/* A file's header against a model: what of the config only the file shows, and every tensor's
 * name, shape and type, checked before memory is asked for, so that a file's claims cost
 * nothing. */
#include <string.h>

#include "error.h"
#include "model.h"

/* Its type says whether the blocks are int8. */
#define FIRST_MATRIX "blocks.0.attn.qkv.weight"

/* The side of a square grid of so many rows; 0 where they make none. */
static size_t side_of(size_t rows) {
    size_t side = 1;
    while (side < UINT16_MAX && side * side < rows) side++; /* a square past it may overflow */
    return side * side == rows ? side : 0;
}

vit_status weights_read_config(vit_config *config, const struct safetensors *st, const char *json,
                               size_t json_size, vit_error *why) {
    if (!json)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "the file has no __metadata__.vitrine, which holds the model's config; give "
            "the config apart");
    vit_status status = vit_config_read(config, json, json_size, why);
    if (status) return status;
    config->fc_norm = config->final_norm && config->pool == VIT_POOL_MEAN &&
                      st_find(st, "fc_norm.weight") && !st_find(st, "norm.weight");
    const struct st_tensor *first = st_find(st, FIRST_MATRIX);
    config->int8 = first && first->type == ST_I8;
    const struct st_tensor *position = st_find(st, "pos_embed");
    if (config->position == VIT_LEARNED && position && position->rank == 3) {
        size_t prefix = vit_prefix(config), rows = position->shape[1];
        /* Rows for the patches alone: N of them, or a square grid to be resized. */
        bool patches_only =
            rows == vit_patches(config) || (side_of(rows) && rows != vit_tokens(config));
        if (prefix && patches_only) config->position_rows = vit_patches(config);
    }
    return VIT_OK;
}

size_t weights_resized_from(const vit_config *c, const struct st_tensor *t) {
    size_t extra = c->position_rows - vit_patches(c);
    if (t->rank != 3 || t->shape[0] != 1 || t->shape[2] != c->width || t->shape[1] <= extra)
        return 0;
    return side_of(t->shape[1] - extra);
}

static bool is_position(const struct param *param) {
    return strcmp(param->name, "pos_embed") == 0;
}

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static bool is_relative(const struct param *param) {
    return ends_with(param->name, "_bias_table");
}

bool weights_is_scale(const char *name) {
    return ends_with(name, ".scale");
}

/* The blocks' matrices are all int8 or all floats; other tensors are floats, but for matrices
 * that bring their scales along. */
static vit_status check_type(const struct param *param, const struct st_tensor *t,
                             const vit_config *c, vit_error *why) {
    bool int8 = t->type == ST_I8, in_block = !strncmp(param->name, "blocks.", 7);
    if (param->int8 && !int8)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected I8, as " FIRST_MATRIX " is, got %s", param->name,
                        st_type_name(t->type));
    if (param->int8 && param->K > VIT_INT8_K)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected int8 rows of at most %z numbers, got %z",
                        param->name, (size_t)VIT_INT8_K, param->K);
    if (int8 && !param->int8 && in_block && param->matrices)
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected floats, as " FIRST_MATRIX " is, got I8",
                        param->name);
    if (int8 && !param->matrices)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected F32, F16 or BF16, got I8",
                        param->name);
    if (c->int8 && weights_is_scale(param->name) && t->type != ST_F32)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected F32, got %s", param->name,
                        st_type_name(t->type));
    return VIT_OK;
}

static vit_status check_tensor(const struct param *param, const struct st_tensor *t,
                               const vit_config *c, vit_error *why) {
    if (!t)
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": is missing; expected shape %d",
                        param->name, param->shape, param->rank);
    if (t->rank == 2 && is_relative(param) && t->shape[0] != param->shape[0] &&
        t->shape[1] == param->shape[1])
        return vit_fail(why, VIT_BAD_TENSOR,
                        "tensor \"%s\": expected %z rows for this image size and prefix, got %z; "
                        "relative positions are not resized",
                        param->name, param->shape[0], t->shape[0]);
    bool same =
        t->rank == param->rank && !memcmp(t->shape, param->shape, t->rank * sizeof *t->shape);
    if (!same && !(is_position(param) && weights_resized_from(c, t)))
        return vit_fail(why, VIT_BAD_TENSOR, "tensor \"%s\": expected shape %d, got %d",
                        param->name, param->shape, param->rank, t->shape, t->rank);
    return check_type(param, t, c, why);
}

/* An int8 matrix outside the blocks becomes floats while it is read, which takes its scales. */
static vit_status place_scales(struct placement *places, struct placement *matrix,
                               const struct param *param, const struct safetensors *st,
                               size_t *scales, vit_error *why) {
    char name[sizeof param->name + sizeof ".scale"];
    strcat(strcpy(name, param->name), ".scale");
    const struct st_tensor *t = st_find(st, name);
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
                        "tensor \"%s\": expected before the int8 numbers that it scales", name);
    places[t - st->tensors] = (struct placement){t, PLACE_SCALES, 0, *scales};
    matrix->scales = *scales;
    *scales += N;
    return VIT_OK;
}

static vit_status left_over(const struct st_tensor *t, vit_error *why) {
    return vit_fail(why, VIT_BAD_TENSOR,
                    "tensor \"%t\": is not part of the model that the config describes", t->name,
                    t->name_size);
}

vit_status weights_check(struct placement *places, const vit_config *c,
                         const struct vit_kernels *kernels, const struct safetensors *st,
                         vit_error *why) {
    struct params_walk walk = params_walk_start(c, kernels, NULL);
    struct param param;
    size_t scales = 0;
    for (size_t i = 0; i < st->count; i++) places[i] = (struct placement){0};
    for (size_t i = 0; params_next(&walk, &param); i++) {
        const struct st_tensor *t = st_find(st, param.name);
        vit_status status = check_tensor(&param, t, c, why);
        if (status) return status;
        struct placement *place = &places[t - st->tensors];
        *place = (struct placement){t, PLACE_PARAMETER, i, NO_SCALES};
        if (t->type == ST_I8 && !param.int8)
            status = place_scales(places, place, &param, st, &scales, why);
        if (status) return status;
    }
    const struct st_tensor *position = st_find(st, "pos_embed");
    bool fixed = c->position != VIT_LEARNED && c->position != VIT_RELATIVE;
    if (position && fixed) /* an encoding written out */
        places[position - st->tensors] = (struct placement){position, PLACE_NOWHERE, 0, NO_SCALES};
    for (size_t i = 0; i < st->count; i++)
        if (!places[i].tensor) return left_over(&st->tensors[i], why);
    return VIT_OK;
}
