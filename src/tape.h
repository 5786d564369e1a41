/* Training: one forward pass, a loss, one backward pass; src/train does the rest. The rules and
 * letters of vit.h hold here too. */
#ifndef VIT_TAPE_H
#define VIT_TAPE_H

#include "vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a forward pass keeps for the backward pass. */
typedef struct vit_tape vit_tape;

/* → why such a model has no backward pass, as static text; NULL if it has one. It has none without
 * a head or a decoder, with another pool than class or mean, or with norms around the patches or
 * before the blocks. */
const char *vit_untrainable(const vit_config *config);

/* → how many bytes a tape needs for up to `batch` images. 0 if batch is 0, if that many bytes do
 * not fit in size_t, or if the model has no backward pass. */
size_t vit_tape_size(const vit_model *model, size_t batch);

/* Makes a tape in `memory` (size), which may have any alignment. The caller owns the memory:
 * there is nothing to close.
 * → *out: the tape, inside `memory`; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, vit_tape_size is 0, or the model has
 * no vit_parameters. */
vit_status vit_tape_init(vit_tape **out, void *memory, size_t size, const vit_model *model,
                         size_t batch);

/* Runs the model and keeps what the backward pass needs.
 * tape: of this model. images (B,C,H,W): finite; borrowed until vit_backward, like `keep`.
 * batch: B, at most the tape's.
 * keep (B,L): scales the two residual branches of each image in each block, for stochastic depth
 * (Huang et al., arXiv:1603.09382); NULL: all 1.
 * → logits (B,K). */
void vit_forward(const vit_model *model, vit_tape *tape, const float *images, size_t batch,
                 float *logits, const float *keep);

/* Adds the gradient of the parameters.
 * tape, batch: as in the last vit_forward, whose parameters are unchanged.
 * dlogits (B,K): the gradient of the loss by its logits.
 * → gradient, laid out as vit_parameters; it is added to, so set it to 0 first. */
void vit_backward(const vit_model *model, vit_tape *tape, size_t batch, const float *dlogits,
                  float *gradient);

/* Of a model with a decoder, after vit_forward, whose logits may be NULL: the logits of forced texts
 * (teacher forcing).
 * ids (B,S): text b is about image b; S at most max_tokens. Borrowed until vit_backward_text.
 * → logits (B,S,V): after each token, what the next may be. */
void vit_forward_text(const vit_model *model, vit_tape *tape, const uint32_t *ids, size_t batch,
                      size_t tokens, float *logits);

/* As vit_backward, in its place: dlogits (B,S,V) go back through the texts and then the images. */
void vit_backward_text(const vit_model *model, vit_tape *tape, size_t batch, size_t tokens,
                       const float *dlogits, float *gradient);

/* Cross-entropy of the next tokens: logits (n,V) against next (n). A `padding` among them counts for
 * nothing. smoothing, scale: as vit_cross_entropy's.
 * → the sum of the losses; dlogits (n,V). */
double vit_text_loss(float *dlogits, const float *logits, const uint32_t *next, size_t n, size_t V,
                     size_t padding, float smoothing, float scale);

/* From now on vit_backward leaves out the gradient of the first `blocks` blocks and of all that
 * lies before them: stem, patches, tokens, positions. It goes back only as far as it must.
 * blocks: 0 leaves out nothing; L + 1 leaves out the final norm too, all but the head's matrices
 * and biases. */
void vit_tape_freeze(vit_tape *tape, size_t blocks);

/* Cross-entropy of softmax(logits) against labels (Szegedy et al., arXiv:1512.00567, section 7).
 * logits (B,K). labels (B): class numbers. A number that is not a class means that all classes are
 * equally right (Hendrycks et al., arXiv:1812.04606, section 3).
 * smoothing: the share of each label that is spread over all classes, 0..1.
 * → the sum of the losses of the batch; dlogits (B,K): their gradients times `scale`, usually
 * 1/B. dlogits may be logits. */
double vit_cross_entropy(float *dlogits, const float *logits, const uint8_t *labels, size_t batch,
                         size_t classes, float smoothing, float scale);

/* Distillation: cross-entropy of softmax(logits) against softmax(teacher) (Hinton et al.,
 * arXiv:1503.02531, at temperature 1). logits, teacher (B,K).
 * → the sum of the losses of the batch. Adds their gradients times `scale` to dlogits (B,K), which
 * must be neither logits nor teacher. */
double vit_distillation(float *dlogits, const float *logits, const float *teacher, size_t batch,
                        size_t classes, float scale);

/* The loss of doubt: binary cross-entropy of p/(1+e^logit), the probability of an answer, against
 * whether it is right (Corbière et al., arXiv:1910.04851, section 2.2). p: what the softmax alone
 * gives the answer; it is not changed.
 * → the loss; *dlogit: its gradient times `scale`. */
double vit_doubt_loss(float *dlogit, float logit, double p, bool right, float scale);

#ifdef __cplusplus
}
#endif
#endif
