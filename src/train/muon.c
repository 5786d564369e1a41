/* Muon: a matrix follows its momentum, made orthogonal first. Jordan et al., "Muon: an optimizer
 * for hidden layers in neural networks", 2024. Its steps are as long as AdamW's, so that both use
 * the same learning rate: Liu et al., arXiv:2502.16982, section 2.2. */
#include "muon.h"
#include "adamw.h"
#include "kernels/kernels.h"
#include "save.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 5 };
/* Five times x → ax + bx³ + cx⁵ brings singular values in 0.003…1 into 0.68…1.21. */
static const float A = 3.4445f, B = -4.7750f, C = 2.0315f;
static const double USUAL_STEP = 0.2; /* root mean square of AdamW's step, in learning rates */

struct matrices stacked_matrices(const vit_tensor *tensor) {
    bool three = tensor->kind == VIT_KIND_QKV || tensor->kind == VIT_KIND_POOL_QKV;
    size_t count = three ? 3 : 1, outputs = tensor->shape[0];
    if (!tensor->matrix) return (struct matrices){0};
    return (struct matrices){count, outputs / count, tensor->count / outputs};
}

struct matrices muon_matrices(const vit_tensor *tensor) {
    return tensor->kind >= VIT_KIND_HEAD ? (struct matrices){0} : stacked_matrices(tensor);
}

size_t muon_scratch(size_t rows, size_t columns) {
    size_t small = rows < columns ? rows : columns;
    return 2 * (rows * columns + small * small);
}

/* X (rows,columns), rows <= columns: USVᵀ → nearly UVᵀ, by Newton and Schulz's iteration. */
static float *orthogonalise(const struct vit_kernels *kernels, float *X, float *next, float *square,
                            float *polynomial, size_t rows, size_t columns) {
    double sum = 0;
    for (size_t i = 0; i < rows * columns; i++) sum += (double)X[i] * X[i];
    float scale = (float)(1 / (sqrt(sum) + 1e-20));
    for (size_t i = 0; i < rows * columns; i++) X[i] *= scale;
    for (int step = 0; step < ITERATIONS; step++) { /* X ← aX + (bS + cS²)X, S = XXᵀ */
        const size_t r = rows, c = columns;
        kernels->gemm(square, r, X, c, false, X, c, true, 1, 0, r, r, c);
        memcpy(polynomial, square, r * r * sizeof *square);
        kernels->gemm(polynomial, r, square, r, false, square, r, false, C, B, r, r, r);
        memcpy(next, X, r * c * sizeof *X);
        kernels->gemm(next, c, polynomial, r, false, X, c, false, 1, A, r, c, r);
        float *swap = X;
        X = next;
        next = swap;
    }
    return X;
}

void muon_update(const struct vit_kernels *kernels, float *restrict parameters, float *restrict m,
                 float *restrict average, float *restrict scratch, const float *restrict gradient,
                 size_t rows, size_t columns, const struct adamw *adamw) {
    const size_t n = rows * columns;
    const bool wide = rows <= columns;
    const size_t small = wide ? rows : columns, large = wide ? columns : rows;
    float *X = scratch, *next = X + n, *square = next + n, *polynomial = square + small * small;
    float momentum = (float)adamw->beta1, scale = (float)adamw->gradient_scale;
    for (size_t i = 0; i < n; i++) {
        float g = scale * gradient[i];
        m[i] = momentum * m[i] + g;
        size_t to = wide ? i : i % columns * rows + i / columns;
        X[to] = g + momentum * m[i]; /* Nesterov's momentum */
    }
    X = orthogonalise(kernels, X, next, square, polynomial, small, large);
    float shrink = (float)(adamw->learning_rate * adamw->weight_decay);
    float rate = (float)(adamw->learning_rate * USUAL_STEP * sqrt((double)large));
    float follow = (float)(1 - adamw->ema_decay);
    for (size_t i = 0; i < n; i++) {
        size_t from = wide ? i : i % columns * rows + i / columns;
        parameters[i] -= shrink * parameters[i] + rate * X[from];
        average[i] += follow * (parameters[i] - average[i]);
    }
}
