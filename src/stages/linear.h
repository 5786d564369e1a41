/* A matrix and its bias. */
#ifndef VIT_LINEAR_H
#define VIT_LINEAR_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "vit.h"

/* A packed weight (N,K), in int8 if scale (N) is not NULL. bias (N) or NULL. */
struct linear {
    const float *weight, *scale, *bias;
    size_t N, K;
};
/* y (M,N) = act(x (M,K) · wᵀ + bias), see kernels->matmul. q: room for x's rows in int8. */
void linear_forward(const struct vit_kernels *k, float *y, size_t ldy, const float *x, size_t ldx,
                    const struct linear *w, int act, bool add, size_t M,
                    const struct vit_quantized *q);
/* dx = dy·w, dw += dyᵀ·x, dbias += Σ dy; one that is NULL is not computed. x (M,K), w (N,K),
 * dy (M,N). A packed table takes w transposed: the packed matrix (K,N). */
void linear_backward(const struct vit_kernels *k, float *dx, size_t lddx, float *dw, float *dbias,
                     const float *dy, size_t lddy, const float *x, size_t ldx, const float *w,
                     size_t M, size_t N, size_t K);

/* Room for `rows` rows of activations in int8; all NULL if the model is not in int8. */
void scratch_quantized(struct vit_quantized *q, struct arena *arena, const vit_model *model,
                       size_t rows);
/* The room for the rows from `row` on, for a thread's share. */
struct vit_quantized quantized_from(const vit_model *model, const struct vit_quantized *q,
                                    size_t row);

#endif
