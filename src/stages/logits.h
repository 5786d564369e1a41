/* The head: final norm, pooling, class scores. */
#ifndef VIT_LOGITS_H
#define VIT_LOGITS_H

#include "params.h"
#include "pooling.h"
#include "vit.h"

/* The head's activations, kept for the backward pass. */
struct head_activations {
    struct pooling pooling;
    float *tokens; /* (BT,D) after the final norm */
    /* Of the norms; NULL without a tape: (2,B) of what is pooled, then (BT) of the tokens. A norm
     * that the model lacks has no numbers. */
    float *mean, *rstd;
    float *pooled;        /* (2,B,D): the features for head and head_dist */
    float *pooled_normed; /* (2,B,D), with fc_norm or head_norm */
    float *pre, *hidden;  /* (B,H), with head_hidden: before and after its activation; with
                             detections (n,D): after the first layer and after the second */
    float *fed;           /* (B,D): a copy of the features for the head; NULL: not needed */
};
/* How many of an image's first tokens the head reads: all for a mean. */
size_t head_tokens(const vit_config *config);
/* Makes room for what only the head computes of `batch` images. */
void head_lay_out(struct head_activations *head, struct arena *arena, const vit_config *config,
                  size_t batch);
/* The floats of logits_backward's dpooled, and of logit_backward's for a batch of 1. */
size_t head_gradients(const vit_config *config, size_t batch);
/* x (B·tokens,D): the first `tokens` of each image: T, or head_tokens(config). */
void logits_forward(const vit_model *m, float *logits, const struct head_activations *a,
                    const float *x, size_t batch, size_t tokens);
/* dx: the gradient of x (B·tokens,D). */
void logits_backward(const vit_model *m, const struct vit_params *g, float *dx,
                     const float *dlogits, const struct head_activations *a, const float *x,
                     float *dpooled, size_t batch, size_t tokens);
/* dx, the gradient of the tokens (rows,D) after the final norm → of those before it, x. */
void final_norm_backward(const vit_model *m, const struct vit_params *g, float *dx,
                         const struct head_activations *a, const float *x, size_t rows,
                         size_t batch);
/* One image's dx (T,D) for dlogits that are 1 for `class` and 0 for all others. The pool is class
 * or mean. dpooled: scratch. */
void logit_backward(const vit_model *m, float *dx, size_t class, const struct head_activations *a,
                    const float *x, float *dpooled);
/* → shares (T): how much of each token the head reads. They sum to 1. The pool is class or mean. */
void head_shares(const vit_config *config, float *shares);

#endif
