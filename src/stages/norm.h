/* Layer normalisation's backward pass; the forward pass is kernels->norm. */
#ifndef VIT_NORM_H
#define VIT_NORM_H

#include "vit.h"

/* Gradients of kernels->norm; dx may be dy. Adds to dgain, dbias unless they are NULL. */
void norm_backward(float *dx, size_t lddx, float *dgain, float *dbias, const float *dy, size_t lddy,
                   const float *x, size_t ldx, const float *mean, const float *rstd,
                   const float *gain, size_t rows, size_t columns);

#endif
