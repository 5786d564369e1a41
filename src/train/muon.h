/* Another optimiser, for matrices. */
#ifndef VIT_MUON_H
#define VIT_MUON_H

#include "adamw.h"
#include "save.h"
#include "vit.h"

/* The matrices that a tensor stacks, queries', keys' and values' apart; none if it is not a
 * matrix. */
struct matrices {
    size_t count, rows, columns;
};
struct matrices stacked_matrices(const vit_tensor *tensor);
/* Those that Muon follows, one by one: all but the head's, which is left to AdamW. */
struct matrices muon_matrices(const vit_tensor *tensor);
/* Floats of scratch that muon_update takes for a matrix (rows, columns). */
size_t muon_scratch(size_t rows, size_t columns);
/* Updates a matrix, its momentum (by beta1) and its moving average; its products by `kernels`. */
void muon_update(const struct vit_kernels *kernels, float *restrict parameters, float *restrict m,
                 float *restrict average, float *restrict scratch, const float *restrict gradient,
                 size_t rows, size_t columns, const struct adamw *adamw);

#endif
