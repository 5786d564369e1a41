/* Layer normalisation's backward pass; the forward pass is kernels->norm.
 * Ba et al., arXiv:1607.06450. */
#include "norm.h"

void norm_backward(float *dx, size_t lddx, float *dgain, float *dbias, const float *dy, size_t lddy,
                   const float *x, size_t ldx, const float *mean, const float *rstd,
                   const float *gain, size_t rows, size_t columns) {
    size_t parameters = dgain ? columns : 0;
    for (size_t t = 0; t < rows; t++) {
        const float *dyt = dy + t * lddy, *xt = x + t * ldx;
        float *dxt = dx + t * lddx;
        float sum = 0, sum_normed = 0, m = mean[t], r = rstd[t];
#pragma omp simd reduction(+ : sum, sum_normed)
        for (size_t i = 0; i < columns; i++) {
            float normed = (xt[i] - m) * r, dnormed = dyt[i] * gain[i];
            sum += dnormed;
            sum_normed += dnormed * normed;
        }
#pragma omp simd
        for (size_t i = 0; i < parameters; i++) {
            dgain[i] += dyt[i] * ((xt[i] - m) * r);
            dbias[i] += dyt[i];
        }
        sum /= (float)columns;
        sum_normed /= (float)columns;
#pragma omp simd
        for (size_t i = 0; i < columns; i++) {
            float normed = (xt[i] - m) * r;
            dxt[i] = (dyt[i] * gain[i] - sum - normed * sum_normed) * r;
        }
    }
}
