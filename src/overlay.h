/* Heat maps of (rows,columns) patches, of attention and of relevance. The rules and letters of
 * vit.h hold here too. */
#ifndef VIT_OVERLAY_H
#define VIT_OVERLAY_H

#include "trace.h"
#include "vit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VIT_MEAN_OF_HEADS SIZE_MAX

/* How much one token attends to each patch.
 * attention (h,T,T): one layer of one image. tokens: T. prefix: T - N.
 * head: below h, or VIT_MEAN_OF_HEADS. token: below T; 0 is the class token, if there is one.
 * → map (N). */
void vit_overlay_row(float *map, const float *attention, size_t heads, size_t tokens, size_t prefix,
                     size_t head, size_t token);

typedef enum vit_fuse { VIT_FUSE_MEAN, VIT_FUSE_MAX, VIT_FUSE_MIN } vit_fuse;

/* Attention rollout: how much of each patch reaches the first token through all layers, or, if
 * there is no prefix, how much of it reaches the patches on average. Each layer's heads become one
 * matrix, the identity is added to it, and its rows are divided by their sums; the map is a row of
 * the product of these matrices. Abnar & Zuidema, arXiv:2005.00928, section 3.
 * attention (L,h,T,T): all layers of one image. tokens: T. prefix: T - N.
 * residual: the config's; the identity stands for residual connections, so without them it is not
 * added.
 * discard: the share of each row, 0..1, that becomes 0 before the identity is added. The smallest
 * values are discarded, but never the first column.
 * fuse: how the heads become one.
 * scratch (3,T).
 * → map (N), which sums to 1. It is 0 if nothing of the patches reaches the first token. */
void vit_overlay_rollout(float *map, float *scratch, const float *attention, size_t layers,
                         size_t heads, size_t tokens, size_t prefix, bool residual, float discard,
                         vit_fuse fuse);

/* → how many bytes of memory vit_relevance needs for that many classes of one image. 0 if there is
 * no class, if that many bytes do not fit in size_t, or if it does not support the model: one
 * without a head or without blocks, or with another pool than class or mean. */
size_t vit_relevance_size(const vit_model *model, size_t classes);

/* How much each patch supports a class, through attention: gradient × attention. In each block
 *     A (T,T)  is the mean over the heads of the positive part of map ∘ (gradient of the class's
 *              logit by the map)
 *     R        starts as I and becomes R + A·R, or A·R without residual connections
 * Chefer et al., arXiv:2103.15679, section 3; it is their arXiv:2012.09838 without layer-wise
 * relevance propagation. The row of R is the class token's; with a distillation token, or for the
 * pool mean, it is the mean of the rows that the head reads. The row of I, with which they
 * start, is not counted. An int8 model's gradients are those of its weights as floats.
 * memory (size): of the size that vit_relevance_size says, with any alignment.
 * trace: of vit_run_traced; only its stream is read.
 * without: what that run left out, or NULL.
 * classes (count): class numbers, each below K.
 * → relevance (count,N), 0 or more. Only their proportions mean something.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, vit_relevance_size is 0, or there is no
 * such class. */
vit_status vit_relevance(const vit_model *model, void *memory, size_t size, const vit_trace *trace,
                         const vit_ablation *without, const size_t *classes, size_t count,
                         float *relevance);

#ifdef __cplusplus
}
#endif
#endif
