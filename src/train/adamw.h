/* The optimiser, its schedule and the parameters' moving average. */
#ifndef VIT_ADAMW_H
#define VIT_ADAMW_H

#include "recipe.h"
#include "vit.h"

/* Learning rate of step `step` of `steps`, counted from 0: linear warm-up to learning_rate,
 * then a half cosine to min_learning_rate. Loshchilov & Hutter, arXiv:1608.03983. */
double schedule_rate(const struct recipe *recipe, size_t step, size_t steps_per_epoch);

struct adamw {
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    bool decoupled;   /* AdamW; else the decay is part of the gradient, as in plain Adam */
    size_t step;      /* counted from 1 */
    double ema_decay; /* already corrected by ema_warm */
    double gradient_scale;
};

/* min(decay, (1+step)/(10+step)): an average that does not remember its start for long. */
double ema_warm(double decay, size_t step);
/* Updates n parameters, both moments and the moving average. `decays`: these are a matrix's. */
void adamw_update(float *restrict parameters, float *restrict m, float *restrict v,
                  float *restrict average, const float *restrict gradient, size_t n, bool decays,
                  const struct adamw *adamw);

#endif
