/* Models that are made and saved: tensors by name, files of floats and of int8. The rules and
 * letters of vit.h hold here too. */
#ifndef VIT_SAVE_H
#define VIT_SAVE_H

#include "vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a model whose parameters are all 0.
 * config: one that vit_config_read accepted, and not int8. json (json_size): its text, which is
 * copied for vit_model_json. kernels: as for vit_open, with kernels->packed false.
 * → *out: the model, which the caller closes; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if the kernels pack or the config is int8; VIT_NO_MEMORY. */
vit_status vit_create(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                      const struct vit_kernels *kernels, vit_error *why);

/* What a tensor is used for. */
typedef enum vit_kind {
    VIT_KIND_MATRIX,      /* of a linear layer; all kinds up to VIT_KIND_LAST_MATRIX are matrices */
    VIT_KIND_QKV,         /* of a block's queries, keys and values, one after the other */
    VIT_KIND_POOL_QKV,    /* of the queries, keys and values of the pooling by attention */
    VIT_KIND_CONVOLUTION, /* of the stem */
    VIT_KIND_PATCHES,     /* patches → tokens */
    VIT_KIND_HEAD,        /* → logits */
    VIT_KIND_EMBEDDING,   /* of the tokens of texts */
    VIT_KIND_LAST_MATRIX = VIT_KIND_EMBEDDING,
    VIT_KIND_GAIN, /* of a norm; training starts it as 1 */
    VIT_KIND_BIAS, /* of a norm or of a matrix */
    VIT_KIND_HEAD_BIAS,
    VIT_KIND_POOL_QKV_BIAS,
    VIT_KIND_PIXEL_GAIN, /* of the norm of a patch's pixels */
    VIT_KIND_PIXEL_BIAS,
    VIT_KIND_TOKEN, /* learned tokens: class, distillation, registers, the pooling's query */
    VIT_KIND_POSITION,
    VIT_KIND_RELATIVE, /* biases of relative positions */
    VIT_KIND_ROTARY,   /* frequencies of rotary positions */
    VIT_KIND_LAYER_SCALE,
    VIT_KIND_SCALE /* of the rows of an int8 matrix */
} vit_kind;

/* One tensor of a model. */
typedef struct vit_tensor {
    char name[64];
    vit_kind kind;
    size_t shape[4], rank;
    size_t offset, count; /* its place in vit_parameters, in floats */
    bool matrix;          /* a weight of two or more dimensions, which weight decay shrinks */
    bool int8;            /* a matrix of an int8 model */
} vit_tensor;

/* → how many tensors the model has. */
size_t vit_tensor_count(const vit_model *model);

/* → tensor `index`, in the order of the file; all 0 if there is none. */
vit_tensor vit_tensor_at(const vit_model *model, size_t index);

/* → all parameters as one array (*count), in which vit_tensor has the offsets. The model owns the
 * array; the caller may change its numbers. NULL if the model can only run, because its kernels
 * pack the weights (kernels->packed) or it is int8. */
float *vit_parameters(vit_model *model, size_t *count);

/* Writes a model as a safetensors file.
 * out (capacity): room for the file. With NULL and capacity 0 the bytes are only counted. If
 * capacity is too small, only the first part of the file is written.
 * model: one whose vit_parameters are not NULL. parameters: these, or others of the same layout.
 * json (json_size): becomes `__metadata__.vitrine`; usually vit_model_json.
 * → how many bytes the file has. */
size_t vit_encode(uint8_t *out, size_t capacity, const vit_model *model, const float *parameters,
                  const char *json, size_t json_size);

/* As vit_encode, with the matrices of stem and blocks in int8. Each row has a scale of its own,
 * which makes its largest number ±127. A model that is opened from such a file runs its blocks in
 * int8 and its stem in floats.
 * → how many bytes the file has; 0 if a row is too long for sums of int8 (more than 65536
 * numbers). */
size_t vit_encode_int8(uint8_t *out, size_t capacity, const vit_model *model,
                       const float *parameters, const char *json, size_t json_size);

#ifdef __cplusplus
}
#endif
#endif
