/* Every parameter of a model, once: this table makes the structs, the sizes, the
 * loader's names and the order in the file.
 *   X(field, timm's name, matrices, present, shape...)
 * matrices: how many (out,in) matrices the tensor stacks; 0 for what is no matrix.
 * Shape letters as in vit.h; S(l) the channels after l convolutions of the stem; P,Q the rows and
 * columns of a patch there; R relative_rows(); c the vit_config. */
#ifndef VIT_PARAMS_H
#define VIT_PARAMS_H

#include "shapes.h"

#define VIT_STEM_PARAMS(X)                                                                         \
    X(stem1_weight, "patch_embed.backbone.0.weight", 1, c->stem_layers > 0, S(1), S(0), 3, 3)      \
    X(stem1_bias, "patch_embed.backbone.0.bias", 0, c->stem_layers > 0, S(1))                      \
    X(stem2_weight, "patch_embed.backbone.2.weight", 1, c->stem_layers > 1, S(2), S(1), 3, 3)      \
    X(stem2_bias, "patch_embed.backbone.2.bias", 0, c->stem_layers > 1, S(2))                      \
    X(stem3_weight, "patch_embed.backbone.4.weight", 1, c->stem_layers > 2, S(3), S(2), 3, 3)      \
    X(stem3_bias, "patch_embed.backbone.4.bias", 0, c->stem_layers > 2, S(3))                      \
    X(stem4_weight, "patch_embed.backbone.6.weight", 1, c->stem_layers > 3, S(4), S(3), 3, 3)      \
    X(stem4_bias, "patch_embed.backbone.6.bias", 0, c->stem_layers > 3, S(4))                      \
    X(stem5_weight, "patch_embed.backbone.8.weight", 1, c->stem_layers > 4, S(5), S(4), 3, 3)      \
    X(stem5_bias, "patch_embed.backbone.8.bias", 0, c->stem_layers > 4, S(5))                      \
    X(stem6_weight, "patch_embed.backbone.10.weight", 1, c->stem_layers > 5, S(6), S(5), 3, 3)     \
    X(stem6_bias, "patch_embed.backbone.10.bias", 0, c->stem_layers > 5, S(6))                     \
    X(patch_weight, "patch_embed.proj.weight", 1, true, D, S(c->stem_layers), P, Q)                \
    X(patch_bias, "patch_embed.proj.bias", 0, true, D)                                             \
    X(class_token, "cls_token", 0, c->class_tokens > 0, 1, 1, D)                                   \
    X(distillation_token, "dist_token", 0, c->distillation_tokens > 0, 1, 1, D)                    \
    X(register_tokens, "reg_token", 0, c->register_tokens > 0, 1, c->register_tokens, D)           \
    X(position, "pos_embed", 0, c->position == VIT_LEARNED, 1, c->position_rows, D)

#define VIT_BLOCK_PARAMS(X)                                                                        \
    X(norm1_gain, "norm1.weight", 0, true, D)                                                      \
    X(norm1_bias, "norm1.bias", 0, true, D)                                                        \
    X(qkv_weight, "attn.qkv.weight", per_head ? 3 * h : 1, true, 3 * D, per_head ? d : D)          \
    X(qkv_scale, "attn.qkv.weight.scale", 0, c->int8, 3 * D)                                       \
    X(qkv_bias, "attn.qkv.bias", 0, c->qkv_bias, 3 * D)                                            \
    X(q_norm_gain, "attn.q_norm.weight", 0, c->qk_norm, d)                                         \
    X(q_norm_bias, "attn.q_norm.bias", 0, c->qk_norm, d)                                           \
    X(k_norm_gain, "attn.k_norm.weight", 0, c->qk_norm, d)                                         \
    X(k_norm_bias, "attn.k_norm.bias", 0, c->qk_norm, d)                                           \
    X(relative_bias, "attn.rel_pos.relative_position_bias_table", 0, c->position == VIT_RELATIVE,  \
      R, h)                                                                                        \
    X(proj_weight, "attn.proj.weight", 1, !per_head, D, D)                                         \
    X(proj_scale, "attn.proj.weight.scale", 0, c->int8 && !per_head, D)                            \
    X(proj_bias, "attn.proj.bias", 0, !per_head, D)                                                \
    X(ls1, "ls1.gamma", 0, c->layer_scale, D)                                                      \
    X(norm2_gain, "norm2.weight", 0, true, D)                                                      \
    X(norm2_bias, "norm2.bias", 0, true, D)                                                        \
    X(fc1_weight, "mlp.fc1.weight", 1, true, M, D)                                                 \
    X(fc1_scale, "mlp.fc1.weight.scale", 0, c->int8, M)                                            \
    X(fc1_bias, "mlp.fc1.bias", 0, true, M)                                                        \
    X(fc2_weight, "mlp.fc2.weight", 1, true, D, M)                                                 \
    X(fc2_scale, "mlp.fc2.weight.scale", 0, c->int8, D)                                            \
    X(fc2_bias, "mlp.fc2.bias", 0, true, D)                                                        \
    X(ls2, "ls2.gamma", 0, c->layer_scale, D)

#define VIT_HEAD_PARAMS(X)                                                                         \
    X(norm_gain, c->fc_norm ? "fc_norm.weight" : "norm.weight", 0, c->final_norm, D)               \
    X(norm_bias, c->fc_norm ? "fc_norm.bias" : "norm.bias", 0, c->final_norm, D)                   \
    X(head_weight, "head.weight", 1, true, K, D)                                                   \
    X(head_bias, "head.bias", 0, true, K)                                                          \
    X(head_dist_weight, "head_dist.weight", 1, c->distillation_tokens > 0, K, D)                   \
    X(head_dist_bias, "head_dist.bias", 0, c->distillation_tokens > 0, K)

#define VIT_FIELD(field, ...) float *field;
struct block_params {
    VIT_BLOCK_PARAMS(VIT_FIELD)
};
/* Pointers into one array: a model's parameters, or a gradient of the same layout. */
struct vit_params {
    VIT_STEM_PARAMS(VIT_FIELD)
    VIT_HEAD_PARAMS(VIT_FIELD)
    struct block_params *blocks; /* (L) */
};
#undef VIT_FIELD

struct vit_kernels;

/* One tensor and where it lies: `floats` includes packing and alignment. */
struct param {
    char name[64];
    size_t shape[4], rank, count;
    size_t matrices, N, K; /* how many matrices of (N,K); N = K = 0 for what is none */
    bool int8;             /* those of the blocks, in an int8 model */
    size_t offset, floats;
    float **field; /* in the struct vit_params it was listed for; NULL for none */
};

/* Walks all parameters in file order: params_walk_start, then params_next until false. */
struct params_walk {
    const vit_config *config;
    const struct vit_kernels *kernels;
    struct vit_params *params; /* may be NULL */
    size_t row, block, offset;
};
struct params_walk params_walk_start(const vit_config *config, const struct vit_kernels *kernels,
                                     struct vit_params *params);
bool params_next(struct params_walk *walk, struct param *out);
/* The parameter number `index`, in file order, without a walk; false past the last. */
bool params_at(const vit_config *config, const struct vit_kernels *kernels, size_t index,
               struct param *out);
size_t params_count(const vit_config *config, const struct vit_kernels *kernels);

/* Is it the weight of one of the stem's convolutions? */
bool param_is_convolution(const struct param *param);

/* Rows of a relative model's tables: one for each offset between two patches of the grid, and
 * three where there is a prefix (attention.c). */
size_t relative_rows(const vit_config *config);

/* Floats that one packed matrix (N,K) takes, of floats or of int8. */
size_t matrix_floats(const struct vit_kernels *kernels, bool int8, size_t N, size_t K);
/* Floats that all parameters take. */
size_t params_floats(const vit_config *config, const struct vit_kernels *kernels);
/* Points every field of params, whose blocks are set, into base; absent ones to NULL. */
void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels);

#endif
