/* The table of all parameters of a model. The structs, the sizes, the loader's names and the order
 * in the file are made from it.
 *     X(field, timm's name, kind, present, shape...)
 * kind: a vit_kind without VIT_KIND_.
 * present: 0 if a model does not have the tensor.
 * present and shape are values of enum number, which stand for numbers of a config. */
#ifndef VIT_PARAMS_H
#define VIT_PARAMS_H

#include "save.h"
#include "shapes.h"

/* n and a letter of vit.h, such as nD, is that size; nG: mlp_rows. Of texts: tE is the width of the image's
 * tokens, tmemory what cross-attention reads of them, tP the projection. Names with `has` and `is` stand for 0 or 1. */
/* clang-format off */
enum number {
    one, two, three,
    nF, /* numbers that are pooled: D or 2D */
    npool, /* numbers between the two layers of the pool's MLP */
    nH, nlast, /* numbers between the head's two layers; that feed its last one */
    ndetections, nscores, nbox, /* tokens that find objects; of an object: classes and none; a box */
    nmid,                       /* blocks after which positions are added again */
    nD, nM, nG, nK, nh, nd, nA, n3A, n3D, npairs, nP, nQ, nR, nC, nregisters, npositions,
    npatch,                           /* numbers of a patch, after the stem */
    nt, n3t, nfeatures, ncut, ncut_last = ncut + VIT_SOFT_SPLITS - 1, /* t = token_width */
    nS, nS_last = nS + VIT_STEM_MOST, /* channels after 0, 1, … convolutions of the stem */
    qkv_matrices, qkv_in,             /* 1 of (3A,D); if per_head, 3h of (d,d) */
    has_stem, has_stem_last = has_stem + VIT_STEM_MOST - 1,
    has_split, has_performer, has_patch_bias, has_patch_norm_in, has_patch_norm, has_class, has_distillation,
    has_hidden, has_registers, has_detections, has_objects, has_mid, has_positions, has_norm_pre, has_qkv_bias, has_qk_norm,
    has_relative, has_frequencies,
    has_proj, has_mlp_norm, has_layer_scale, has_norm, has_fc_norm, has_pooling, has_head, has_head_bias,
    has_head_dist, is_int8, is_proj_int8,
    /* of the decoder; then, TOWER further, the same of the text tower */
    tD, t3D, t2D, tM, tV, ttypes, tpositions, tE, tmemory, tP,
    t_decodes, t_learns, t_has_types, t_has_embed_norm, t_has_encoder, t_has_norm, t_has_hidden, t_has_head,
    t_has_head_bias, t_compares, t_has_proj, t_has_proj_bias, t_has_logit_bias, t_end,
    TOWER = t_end - tD,
    NUMBERS = t_end + TOWER
};
/* clang-format on */

/* Convolution I of the stem. AT is its number in timm's names. */
#define VIT_CONVOLUTION(X, I, AT)                                                                  \
    X(stem[I].weight, "patch_embed.backbone." AT ".weight", CONVOLUTION, has_stem + I, nS + I + 1, \
      nS + I, three, three)                                                                        \
    X(stem[I].bias, "patch_embed.backbone." AT ".bias", BIAS, has_stem + I, nS + I + 1)
#define VIT_STEM_PARAMS(X)                                                                         \
    VIT_CONVOLUTION(X, 0, "0")                                                                     \
    VIT_CONVOLUTION(X, 1, "2")                                                                     \
    VIT_CONVOLUTION(X, 2, "4")                                                                     \
    VIT_CONVOLUTION(X, 3, "6")                                                                     \
    VIT_CONVOLUTION(X, 4, "8")                                                                     \
    VIT_CONVOLUTION(X, 5, "10")

/* Step I of tokens_to_token, which is number AT in T2T-ViT's names. A performer's qkv begins with the
 * keys. */
#define VIT_SPLIT(X, I, AT)                                                                        \
    X(splits[I].norm1_gain, "tokens_to_token.attention" AT ".norm1.weight", GAIN, has_split,       \
      ncut + I)                                                                                    \
    X(splits[I].norm1_bias, "tokens_to_token.attention" AT ".norm1.bias", BIAS, has_split,         \
      ncut + I)                                                                                    \
    X(splits[I].qkv_weight, "tokens_to_token.attention" AT ".attn.qkv.weight", MATRIX, has_split,  \
      n3t, ncut + I)                                                                               \
    X(splits[I].qkv_bias, "tokens_to_token.attention" AT ".attn.qkv.bias", BIAS, has_performer,    \
      n3t)                                                                                         \
    X(splits[I].random_weight, "tokens_to_token.attention" AT ".w", MATRIX, has_performer,         \
      nfeatures, nt)                                                                               \
    X(splits[I].proj_weight, "tokens_to_token.attention" AT ".attn.proj.weight", MATRIX,           \
      has_split, nt, nt)                                                                           \
    X(splits[I].proj_bias, "tokens_to_token.attention" AT ".attn.proj.bias", BIAS, has_split, nt)  \
    X(splits[I].norm2_gain, "tokens_to_token.attention" AT ".norm2.weight", GAIN, has_split, nt)   \
    X(splits[I].norm2_bias, "tokens_to_token.attention" AT ".norm2.bias", BIAS, has_split, nt)     \
    X(splits[I].fc1_weight, "tokens_to_token.attention" AT ".mlp.fc1.weight", MATRIX, has_split,   \
      nt, nt)                                                                                      \
    X(splits[I].fc1_bias, "tokens_to_token.attention" AT ".mlp.fc1.bias", BIAS, has_split, nt)     \
    X(splits[I].fc2_weight, "tokens_to_token.attention" AT ".mlp.fc2.weight", MATRIX, has_split,   \
      nt, nt)                                                                                      \
    X(splits[I].fc2_bias, "tokens_to_token.attention" AT ".mlp.fc2.bias", BIAS, has_split, nt)
#define VIT_SPLIT_PARAMS(X)                                                                        \
    VIT_SPLIT(X, 0, "1")                                                                           \
    VIT_SPLIT(X, 1, "2")

#define VIT_TOKEN_PARAMS(X)                                                                        \
    X(patch_norm_in_gain, "patch_embed.norm_in.weight", PIXEL_GAIN, has_patch_norm_in, npatch)     \
    X(patch_norm_in_bias, "patch_embed.norm_in.bias", PIXEL_BIAS, has_patch_norm_in, npatch)       \
    X(patch_weight, "patch_embed.proj.weight", PATCHES, one, nD, nC, nP, nQ)                       \
    X(patch_bias, "patch_embed.proj.bias", BIAS, has_patch_bias, nD)                               \
    X(patch_norm_gain, "patch_embed.norm.weight", GAIN, has_patch_norm, nD)                        \
    X(patch_norm_bias, "patch_embed.norm.bias", BIAS, has_patch_norm, nD)                          \
    X(class_token, "cls_token", TOKEN, has_class, one, one, nD)                                    \
    X(distillation_token, "dist_token", TOKEN, has_distillation, one, one, nD)                     \
    X(register_tokens, "reg_token", TOKEN, has_registers, one, nregisters, nD)                     \
    X(detection_tokens, "det_token", TOKEN, has_detections, one, ndetections, nD)                  \
    X(position, "pos_embed", POSITION, has_positions, one, npositions, nD)                         \
    X(mid_position, "mid_pos_embed", POSITION, has_mid, nmid, npositions, nD)                      \
    X(norm_pre_gain, "norm_pre.weight", GAIN, has_norm_pre, nD)                                    \
    X(norm_pre_bias, "norm_pre.bias", BIAS, has_norm_pre, nD)

#define VIT_BLOCK_PARAMS(X)                                                                        \
    X(norm1_gain, "norm1.weight", GAIN, one, nD)                                                   \
    X(norm1_bias, "norm1.bias", BIAS, one, nD)                                                     \
    X(qkv_weight, "attn.qkv.weight", QKV, one, n3A, qkv_in)                                        \
    X(qkv_scale, "attn.qkv.weight.scale", SCALE, is_int8, n3A)                                     \
    X(qkv_bias, "attn.qkv.bias", BIAS, has_qkv_bias, n3A)                                          \
    X(q_norm_gain, "attn.q_norm.weight", GAIN, has_qk_norm, nd)                                    \
    X(q_norm_bias, "attn.q_norm.bias", BIAS, has_qk_norm, nd)                                      \
    X(k_norm_gain, "attn.k_norm.weight", GAIN, has_qk_norm, nd)                                    \
    X(k_norm_bias, "attn.k_norm.bias", BIAS, has_qk_norm, nd)                                      \
    X(relative_bias, "attn.rel_pos.relative_position_bias_table", RELATIVE, has_relative, nR, nh)  \
    X(frequencies, "attn.rope.freqs", ROTARY, has_frequencies, two, npairs)                        \
    X(proj_weight, "attn.proj.weight", MATRIX, has_proj, nD, nA)                                   \
    X(proj_scale, "attn.proj.weight.scale", SCALE, is_proj_int8, nD)                               \
    X(proj_bias, "attn.proj.bias", BIAS, has_proj, nD)                                             \
    X(ls1, "ls1.gamma", LAYER_SCALE, has_layer_scale, nD)                                          \
    X(norm2_gain, "norm2.weight", GAIN, one, nD)                                                   \
    X(norm2_bias, "norm2.bias", BIAS, one, nD)                                                     \
    X(fc1_weight, "mlp.fc1.weight", MATRIX, one, nG, nD)                                           \
    X(fc1_scale, "mlp.fc1.weight.scale", SCALE, is_int8, nG)                                       \
    X(fc1_bias, "mlp.fc1.bias", BIAS, one, nG)                                                     \
    X(mlp_norm_gain, "mlp.norm.weight", GAIN, has_mlp_norm, nM)                                    \
    X(mlp_norm_bias, "mlp.norm.bias", BIAS, has_mlp_norm, nM)                                      \
    X(fc2_weight, "mlp.fc2.weight", MATRIX, one, nD, nM)                                           \
    X(fc2_scale, "mlp.fc2.weight.scale", SCALE, is_int8, nD)                                       \
    X(fc2_bias, "mlp.fc2.bias", BIAS, one, nD)                                                     \
    X(ls2, "ls2.gamma", LAYER_SCALE, has_layer_scale, nD)

#define VIT_NORM_PARAMS(X)                                                                         \
    X(norm_gain, "norm.weight", GAIN, has_norm, nD)                                                \
    X(norm_bias, "norm.bias", BIAS, has_norm, nD)                                                  \
    X(fc_norm_gain, "fc_norm.weight", GAIN, has_fc_norm, nD)                                       \
    X(fc_norm_bias, "fc_norm.bias", BIAS, has_fc_norm, nD)

#define VIT_POOL_PARAMS(X)                                                                         \
    X(pool_latent, "attn_pool.latent", TOKEN, has_pooling, one, one, nD)                           \
    X(pool_qkv_weight, "attn_pool.qkv.weight", POOL_QKV, has_pooling, n3D, nD)                     \
    X(pool_qkv_bias, "attn_pool.qkv.bias", POOL_QKV_BIAS, has_pooling, n3D)                        \
    X(pool_proj_weight, "attn_pool.proj.weight", MATRIX, has_pooling, nD, nD)                      \
    X(pool_proj_bias, "attn_pool.proj.bias", BIAS, has_pooling, nD)                                \
    X(pool_norm_gain, "attn_pool.norm.weight", GAIN, has_pooling, nD)                              \
    X(pool_norm_bias, "attn_pool.norm.bias", BIAS, has_pooling, nD)                                \
    X(pool_fc1_weight, "attn_pool.mlp.fc1.weight", MATRIX, has_pooling, npool, nD)                 \
    X(pool_fc1_bias, "attn_pool.mlp.fc1.bias", BIAS, has_pooling, npool)                           \
    X(pool_fc2_weight, "attn_pool.mlp.fc2.weight", MATRIX, has_pooling, nD, npool)                 \
    X(pool_fc2_bias, "attn_pool.mlp.fc2.bias", BIAS, has_pooling, nD)

#define VIT_HEAD_PARAMS(X)                                                                         \
    X(hidden_weight, "pre_logits.weight", MATRIX, has_hidden, nH, nF)                              \
    X(hidden_bias, "pre_logits.bias", BIAS, has_hidden, nH)                                        \
    X(head_weight, "head.weight", HEAD, has_head, nK, nlast)                                       \
    X(head_bias, "head.bias", HEAD_BIAS, has_head_bias, nK)                                        \
    X(head_dist_weight, "head_dist.weight", HEAD, has_head_dist, nK, nD)                           \
    X(head_dist_bias, "head_dist.bias", HEAD_BIAS, has_head_dist, nK)

/* The MLP of three layers behind the detection tokens, N numbers wide at its end. */
#define VIT_OBJECT_MLP(X, MLP, NAME, N)                                                            \
    X(MLP.weight[0], NAME ".layers.0.weight", MATRIX, has_objects, nD, nD)                         \
    X(MLP.bias[0], NAME ".layers.0.bias", BIAS, has_objects, nD)                                   \
    X(MLP.weight[1], NAME ".layers.1.weight", MATRIX, has_objects, nD, nD)                         \
    X(MLP.bias[1], NAME ".layers.1.bias", BIAS, has_objects, nD)                                   \
    X(MLP.weight[2], NAME ".layers.2.weight", MATRIX, has_objects, N, nD)                          \
    X(MLP.bias[2], NAME ".layers.2.bias", BIAS, has_objects, N)
#define VIT_OBJECT_PARAMS(X)                                                                       \
    VIT_OBJECT_MLP(X, objects[0], "class_embed", nscores)                                          \
    VIT_OBJECT_MLP(X, objects[1], "bbox_embed", nbox)

/* A transformer of texts; "decoder." or "text." comes before these names. */
#define VIT_TEXT_PARAMS(X)                                                                         \
    X(token_embed, "token_embed.weight", EMBEDDING, one, tV, tD)                                   \
    X(position, "pos_embed", TOKEN, t_learns, one, tpositions, tD)                                 \
    X(type_embed, "type_embed.weight", TOKEN, t_has_types, ttypes, tD)                             \
    X(embed_norm_gain, "embed_norm.weight", GAIN, t_has_embed_norm, tD)                            \
    X(embed_norm_bias, "embed_norm.bias", BIAS, t_has_embed_norm, tD)                              \
    X(encoder_weight, "encoder_proj.weight", MATRIX, t_has_encoder, tD, tE)                        \
    X(encoder_bias, "encoder_proj.bias", BIAS, t_has_encoder, tD)                                  \
    X(norm_gain, "norm.weight", GAIN, t_has_norm, tD)                                              \
    X(norm_bias, "norm.bias", BIAS, t_has_norm, tD)                                                \
    X(hidden_weight, "pre_logits.weight", MATRIX, t_has_hidden, tD, tD)                            \
    X(hidden_bias, "pre_logits.bias", BIAS, t_has_hidden, tD)                                      \
    X(hidden_norm_gain, "pre_logits.norm.weight", GAIN, t_has_hidden, tD)                          \
    X(hidden_norm_bias, "pre_logits.norm.bias", BIAS, t_has_hidden, tD)                            \
    X(head_weight, "head.weight", HEAD, t_has_head, tV, tD)                                        \
    X(head_bias, "head.bias", HEAD_BIAS, t_has_head_bias, tV)                                      \
    X(proj_weight, "proj.weight", MATRIX, t_has_proj, tP, tD)                                      \
    X(proj_bias, "proj.bias", BIAS, t_has_proj_bias, tP)                                           \
    X(logit_scale, "logit_scale", BIAS, t_compares, one)                                           \
    X(logit_bias, "logit_bias", BIAS, t_has_logit_bias, one)

#define VIT_TEXT_BLOCK_PARAMS(X)                                                                   \
    X(norm1_gain, "norm1.weight", GAIN, one, tD)                                                   \
    X(norm1_bias, "norm1.bias", BIAS, one, tD)                                                     \
    X(qkv_weight, "attn.qkv.weight", MATRIX, one, t3D, tD)                                         \
    X(qkv_bias, "attn.qkv.bias", BIAS, one, t3D)                                                   \
    X(proj_weight, "attn.proj.weight", MATRIX, one, tD, tD)                                        \
    X(proj_bias, "attn.proj.bias", BIAS, one, tD)                                                  \
    X(cross_norm_gain, "cross_norm.weight", GAIN, t_decodes, tD)                                   \
    X(cross_norm_bias, "cross_norm.bias", BIAS, t_decodes, tD)                                     \
    X(cross_q_weight, "cross.q.weight", MATRIX, t_decodes, tD, tD)                                 \
    X(cross_q_bias, "cross.q.bias", BIAS, t_decodes, tD)                                           \
    X(cross_kv_weight, "cross.kv.weight", MATRIX, t_decodes, t2D, tmemory)                         \
    X(cross_kv_bias, "cross.kv.bias", BIAS, t_decodes, t2D)                                        \
    X(cross_proj_weight, "cross.proj.weight", MATRIX, t_decodes, tD, tD)                           \
    X(cross_proj_bias, "cross.proj.bias", BIAS, t_decodes, tD)                                     \
    X(norm2_gain, "norm2.weight", GAIN, one, tD)                                                   \
    X(norm2_bias, "norm2.bias", BIAS, one, tD)                                                     \
    X(fc1_weight, "mlp.fc1.weight", MATRIX, one, tM, tD)                                           \
    X(fc1_bias, "mlp.fc1.bias", BIAS, one, tM)                                                     \
    X(fc2_weight, "mlp.fc2.weight", MATRIX, one, tD, tM)                                           \
    X(fc2_bias, "mlp.fc2.bias", BIAS, one, tD)

#define VIT_FIELD(field, ...) float *field;
struct block_params {
    VIT_BLOCK_PARAMS(VIT_FIELD)
};
struct text_block_params {
    VIT_TEXT_BLOCK_PARAMS(VIT_FIELD)
};
struct text_params {
    VIT_TEXT_PARAMS(VIT_FIELD)
    struct text_block_params *blocks;
};
/* Pointers into one array: a model's parameters, or a gradient of the same layout. */
struct vit_params {
    struct {
        float *weight, *bias;
    } stem[VIT_STEM_MOST];
    struct soft_split_params {
        float *norm1_gain, *norm1_bias, *qkv_weight, *qkv_bias, *random_weight, *proj_weight,
            *proj_bias, *norm2_gain, *norm2_bias, *fc1_weight, *fc1_bias, *fc2_weight, *fc2_bias;
    } splits[VIT_SOFT_SPLITS];
    struct {
        float *weight[3], *bias[3];
    } objects[2]; /* scores and boxes */
    VIT_TOKEN_PARAMS(VIT_FIELD)
    VIT_NORM_PARAMS(VIT_FIELD)
    VIT_POOL_PARAMS(VIT_FIELD)
    VIT_HEAD_PARAMS(VIT_FIELD)
    struct text_params decoder, text;
    struct block_params *blocks; /* (L) */
};
#undef VIT_FIELD

struct vit_kernels;

/* One tensor and where it lies: `floats` includes packing and alignment. */
struct param {
    char name[64];
    vit_kind kind;
    size_t shape[4], rank, count;
    size_t matrices, N, K; /* how many matrices of (N,K); all 0 if the tensor is no matrix */
    bool in_block, int8;   /* of the image's blocks; int8: such a matrix in an int8 model */
    size_t offset, floats;
    float **field; /* its pointer in the walk's struct vit_params; NULL if the walk has none */
};

/* Walks through all parameters in file order: params_walk_start, then params_next until it is
 * false. */
struct params_walk {
    const vit_config *config;
    const struct vit_kernels *kernels;
    struct vit_params *params; /* may be NULL */
    size_t part, row, block, offset, numbers[NUMBERS];
};
struct params_walk params_walk_start(const vit_config *config, const struct vit_kernels *kernels,
                                     struct vit_params *params);
bool params_next(struct params_walk *walk, struct param *out);
/* Finds the parameter number `index` in file order, without a walk. False if there is none. */
bool params_at(const vit_config *config, const struct vit_kernels *kernels, size_t index,
               struct param *out);
size_t params_count(const vit_config *config, const struct vit_kernels *kernels);

/* Rows of a table of relative positions: one for each offset between two patches of the grid, and
 * three more if there is a prefix (attention.c). */
size_t relative_rows(const vit_config *config);

/* Floats that one packed matrix (N,K) takes, of floats or of int8. SIZE_TOO_LARGE (sizes.h) if they
 * do not fit in memory, here and below. */
size_t matrix_floats(const struct vit_kernels *kernels, bool int8, size_t N, size_t K);
/* Floats that all parameters take. */
size_t params_floats(const vit_config *config, const struct vit_kernels *kernels);
/* Whether the bytes of all parameters, of an image, and of each of the stem's maps fit in
 * size_t. */
bool params_fit(const vit_config *config, const struct vit_kernels *kernels);
/* Points every field of params into base, and to NULL if the model does not have the tensor.
 * params's three pointers to blocks must be set before: params_blocks. */
void params_bind(struct vit_params *params, float *base, const vit_config *config,
                 const struct vit_kernels *kernels);
/* The bytes of all blocks' pointers, never 0; points params's blocks into such memory. */
size_t params_blocks_bytes(const vit_config *config);
void params_blocks(struct vit_params *params, void *memory, const vit_config *config);

#endif
