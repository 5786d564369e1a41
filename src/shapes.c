/* Sizes that follow from a config: of maps, patches and tokens. */
#include "shapes.h"

#include "base/sizes.h"
#include "edition.h"

static size_t stride_after(const vit_config *c, size_t layers) {
    size_t stride = 1;
    for (size_t i = 0; i < layers; i++) stride *= c->stem[i].stride;
    return stride;
}

size_t stem_stride(const vit_config *c) {
    return stride_after(c, c->stem_layers);
}

/* In an image each channel is a plane; in the stem's maps the channels of a position lie side by
 * side. */
struct maps stem_maps(const vit_config *c, size_t layer, float *x) {
    size_t stride = stride_after(c, layer);
    size_t H = c->image_size[0] / stride, W = c->image_size[1] / stride;
    if (layer == 0) return (struct maps){x, c->channels, H, W, H * W, W, 1};
    size_t S = c->stem[layer - 1].channels;
    return (struct maps){x, S, H, W, 1, W * S, S};
}

size_t maps_floats(const struct maps *maps) {
    return size_times(maps->channels, size_times(maps->rows, maps->columns));
}

struct maps split_maps(const vit_config *c, size_t split, float *x) {
    if (split == 0) return stem_maps(c, 0, x);
    size_t step = split == 1 ? 4 : 8, t = c->token_width;
    size_t H = c->image_size[0] / step, W = c->image_size[1] / step;
    return (struct maps){x, t, H, W, 1, W * t, t};
}

size_t split_values(const vit_config *c, size_t split) {
    return split == 0 ? 49 * c->channels : 9 * c->token_width;
}

size_t split_features(const vit_config *c) {
    return tokens_to_token_of(c) == VIT_SPLIT_PERFORMER ? c->token_width / 2 : 0;
}

size_t patch_side(const vit_config *c, int axis) {
    return tokens_to_token_of(c) ? 3 : c->patch_size[axis] / stem_stride(c);
}

size_t patch_values(const vit_config *c) {
    if (tokens_to_token_of(c)) return split_values(c, VIT_SOFT_SPLITS);
    return size_times(stem_maps(c, c->stem_layers, NULL).channels,
                      size_times(patch_side(c, 0), patch_side(c, 1)));
}

size_t head_width(const vit_config *c) {
    return c->head_width ? c->head_width : c->width / c->heads;
}

size_t attention_width(const vit_config *c) {
    return size_times(c->heads, head_width(c));
}

static size_t stride(const vit_config *c, int axis) {
    return c->patch_stride[axis] ? c->patch_stride[axis] : c->patch_size[axis];
}

size_t patch_step(const vit_config *c, int axis) {
    return stride(c, axis) / stem_stride(c);
}

size_t grid_side(const vit_config *c, int axis, size_t pixels) {
    size_t patch = c->patch_size[axis];
    return pixels < patch ? 0 : (pixels - patch) / stride(c, axis) + 1;
}

size_t grid_pixels(const vit_config *c, int axis, size_t patches) {
    return (patches - 1) * stride(c, axis) + c->patch_size[axis];
}

size_t vit_grid(const vit_config *c, int axis) {
    return grid_side(c, axis, c->image_size[axis]);
}

size_t vit_patches(const vit_config *c) {
    return size_times(vit_grid(c, 0), vit_grid(c, 1));
}

size_t vit_prefix(const vit_config *c) {
    return c->class_tokens + c->distillation_tokens + c->register_tokens + detections_of(c);
}

size_t vit_logits(const vit_config *c) {
    if (!detections_of(c) || !c->classes) return c->classes + c->doubt;
    return size_times(detections_of(c), object_numbers(c));
}

size_t object_numbers(const vit_config *c) {
    return c->classes + 1 + VIT_BOX;
}

size_t vit_tokens(const vit_config *c) {
    return size_plus(vit_prefix(c), vit_patches(c));
}

size_t mlp_rows(const vit_config *c) {
    return mlp_of(c) == VIT_MLP_GATED ? 2 * c->mlp_width : c->mlp_width;
}

bool learns_positions(const vit_config *c) {
    return position_of(c) == VIT_LEARNED || c->learned_too;
}

bool norms_tokens(const vit_config *c) {
    return c->final_norm && !c->fc_norm;
}

bool norms_pooled(const vit_config *c) {
    return c->fc_norm || c->head_norm;
}

size_t head_features(const vit_config *c) {
    return pool_of(c) == VIT_POOL_CLASS_MEAN ? 2 * c->width : c->width;
}

size_t pool_heads(const vit_config *c) {
    return c->pool_heads ? c->pool_heads : c->heads;
}

size_t pool_mlp_width(const vit_config *c) {
    return c->pool_mlp_width ? c->pool_mlp_width : c->mlp_width;
}

size_t pooled_rows(const vit_config *c) {
    if (pool_of(c) == VIT_POOL_CLASS_MEAN && c->pool_prefix) return vit_tokens(c) - 1;
    return c->pool_prefix || pool_of(c) == VIT_POOL_PRR ? vit_tokens(c) : vit_patches(c);
}
