/* Every parameter of a model, once: this table makes the structs, the sizes, the
 * loader's names and the order in the file.
 *   X(field, timm's name, matrices, present, shape...)
 * matrices: how many (out,in) matrices the tensor stacks; none for what is no matrix. All but the
 * field and the name are numbers that a config gives, by their names in enum number. */
#ifndef VIT_PARAMS_H
#define VIT_PARAMS_H

#include "shapes.h"

/* n and a letter as in vit.h; the others say what they are, those of `has` and `is` 0 or 1. */
/* clang-format off */
enum number {
    none, one, three,
    nF, /* what feeds the head: D or 2D */
    nD, nM, nK, nh, nd, nA, n3A, n3D, nP, nQ, nR, nC, nregisters, npositions,
    npatch,                            /* numbers of a patch, after the stem */
    nS0, nS1, nS2, nS3, nS4, nS5, nS6, /* channels after so many convolutions of the stem */
    qkv_matrices, qkv_in,              /* 3h of (d,d) where every head has its own */
    has_stem1, has_stem2, has_stem3, has_stem4, has_stem5, has_stem6,
    has_patch_bias, has_patch_norm_in, has_patch_norm, has_class, has_distillation,
    has_registers, has_positions, has_norm_pre, has_qkv_bias, has_qk_norm, has_relative,
    has_proj, has_layer_scale, has_norm, has_fc_norm, has_pooling, has_head, has_head_bias,
    has_head_dist, is_int8, is_proj_int8,
    NUMBERS
};
/* clang-format on */

#define VIT_STEM_PARAMS(X)                                                                         \
    X(stem1_weight, "patch_embed.backbone.0.weight", one, has_stem1, nS1, nS0, three, three)       \
    X(stem1_bias, "patch_embed.backbone.0.bias", none, has_stem1, nS1)                             \
    X(stem2_weight, "patch_embed.backbone.2.weight", one, has_stem2, nS2, nS1, three, three)       \
    X(stem2_bias, "patch_embed.backbone.2.bias", none, has_stem2, nS2)                             \
    X(stem3_weight, "patch_embed.backbone.4.weight", one, has_stem3, nS3, nS2, three, three)       \
    X(stem3_bias, "patch_embed.backbone.4.bias", none, has_stem3, nS3)                             \
    X(stem4_weight, "patch_embed.backbone.6.weight", one, has_stem4, nS4, nS3, three, three)       \
    X(stem4_bias, "patch_embed.backbone.6.bias", none, has_stem4, nS4)                             \
    X(stem5_weight, "patch_embed.backbone.8.weight", one, has_stem5, nS5, nS4, three, three)       \
    X(stem5_bias, "patch_embed.backbone.8.bias", none, has_stem5, nS5)                             \
    X(stem6_weight, "patch_embed.backbone.10.weight", one, has_stem6, nS6, nS5, three, three)      \
    X(stem6_bias, "patch_embed.backbone.10.bias", none, has_stem6, nS6)                            \
    X(patch_norm_in_gain, "patch_embed.norm_in.weight", none, has_patch_norm_in, npatch)           \
    X(patch_norm_in_bias, "patch_embed.norm_in.bias", none, has_patch_norm_in, npatch)             \
    X(patch_weight, "patch_embed.proj.weight", one, one, nD, nC, nP, nQ)                           \
    X(patch_bias, "patch_embed.proj.bias", none, has_patch_bias, nD)                               \
    X(patch_norm_gain, "patch_embed.norm.weight", none, has_patch_norm, nD)                        \
    X(patch_norm_bias, "patch_embed.norm.bias", none, has_patch_norm, nD)                          \
    X(class_token, "cls_token", none, has_class, one, one, nD)                                     \
    X(distillation_token, "dist_token", none, has_distillation, one, one, nD)                      \
    X(register_tokens, "reg_token", none, has_registers, one, nregisters, nD)                      \
    X(position, "pos_embed", none, has_positions, one, npositions, nD)                             \
    X(norm_pre_gain, "norm_pre.weight", none, has_norm_pre, nD)                                    \
    X(norm_pre_bias, "norm_pre.bias", none, has_norm_pre, nD)

#define VIT_BLOCK_PARAMS(X)                                                                        \
    X(norm1_gain, "norm1.weight", none, one, nD)                                                   \
    X(norm1_bias, "norm1.bias", none, one, nD)                                                     \
    X(qkv_weight, "attn.qkv.weight", qkv_matrices, one, n3A, qkv_in)                               \
    X(qkv_scale, "attn.qkv.weight.scale", none, is_int8, n3A)                                      \
    X(qkv_bias, "attn.qkv.bias", none, has_qkv_bias, n3A)                                          \
    X(q_norm_gain, "attn.q_norm.weight", none, has_qk_norm, nd)                                    \
    X(q_norm_bias, "attn.q_norm.bias", none, has_qk_norm, nd)                                      \
    X(k_norm_gain, "attn.k_norm.weight", none, has_qk_norm, nd)                                    \
    X(k_norm_bias, "attn.k_norm.bias", none, has_qk_norm, nd)                                      \
    X(relative_bias, "attn.rel_pos.relative_position_bias_table", none, has_relative, nR, nh)      \
    X(proj_weight, "attn.proj.weight", one, has_proj, nD, nA)                                      \
    X(proj_scale, "attn.proj.weight.scale", none, is_proj_int8, nD)                                \
    X(proj_bias, "attn.proj.bias", none, has_proj, nD)                                             \
    X(ls1, "ls1.gamma", none, has_layer_scale, nD)                                                 \
    X(norm2_gain, "norm2.weight", none, one, nD)                                                   \
    X(norm2_bias, "norm2.bias", none, one, nD)                                                     \
    X(fc1_weight, "mlp.fc1.weight", one, one, nM, nD)                                              \
    X(fc1_scale, "mlp.fc1.weight.scale", none, is_int8, nM)                                        \
    X(fc1_bias, "mlp.fc1.bias", none, one, nM)                                                     \
    X(fc2_weight, "mlp.fc2.weight", one, one, nD, nM)                                              \
    X(fc2_scale, "mlp.fc2.weight.scale", none, is_int8, nD)                                        \
    X(fc2_bias, "mlp.fc2.bias", none, one, nD)                                                     \
    X(ls2, "ls2.gamma", none, has_layer_scale, nD)

#define VIT_HEAD_PARAMS(X)                                                                         \
    X(norm_gain, "norm.weight", none, has_norm, nD)                                                \
    X(norm_bias, "norm.bias", none, has_norm, nD)                                                  \
    X(fc_norm_gain, "fc_norm.weight", none, has_fc_norm, nD)                                       \
    X(fc_norm_bias, "fc_norm.bias", none, has_fc_norm, nD)                                         \
    X(pool_latent, "attn_pool.latent", none, has_pooling, one, one, nD)                            \
    X(pool_qkv_weight, "attn_pool.qkv.weight", one, has_pooling, n3D, nD)                          \
    X(pool_qkv_bias, "attn_pool.qkv.bias", none, has_pooling, n3D)                                 \
    X(pool_proj_weight, "attn_pool.proj.weight", one, has_pooling, nD, nD)                         \
    X(pool_proj_bias, "attn_pool.proj.bias", none, has_pooling, nD)                                \
    X(pool_norm_gain, "attn_pool.norm.weight", none, has_pooling, nD)                              \
    X(pool_norm_bias, "attn_pool.norm.bias", none, has_pooling, nD)                                \
    X(pool_fc1_weight, "attn_pool.mlp.fc1.weight", one, has_pooling, nM, nD)                       \
    X(pool_fc1_bias, "attn_pool.mlp.fc1.bias", none, has_pooling, nM)                              \
    X(pool_fc2_weight, "attn_pool.mlp.fc2.weight", one, has_pooling, nD, nM)                       \
    X(pool_fc2_bias, "attn_pool.mlp.fc2.bias", none, has_pooling, nD)                              \
    X(head_weight, "head.weight", one, has_head, nK, nF)                                           \
    X(head_bias, "head.bias", none, has_head_bias, nK)                                             \
    X(head_dist_weight, "head_dist.weight", one, has_head_dist, nK, nD)                            \
    X(head_dist_bias, "head_dist.bias", none, has_head_dist, nK)

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
    size_t row, block, offset, numbers[NUMBERS];
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

/* Floats that one packed matrix (N,K) takes, of floats or of int8. Here and below,
 * SIZE_TOO_LARGE (sizes.h) where that does not fit in memory. */
size_t matrix_floats(const struct vit_kernels *kernels, bool int8, size_t N, size_t K);
/* Floats that all parameters take. */
size_t params_floats(const vit_config *config, const struct vit_kernels *kernels);
/* Whether those, an image and each of the stem's maps can be counted in bytes. */
bool params_fit(const vit_config *config, const struct vit_kernels *kernels);
/* Points every field of params, whose blocks are set, into base; absent ones to NULL. */
void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels);

#endif
