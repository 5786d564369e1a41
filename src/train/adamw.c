/* Adam with decoupled weight decay: Kingma & Ba, arXiv:1412.6980, algorithm 1; Loshchilov &
 * Hutter, arXiv:1711.05101, algorithm 2. */
#include "adamw.h"
#include "recipe.h"

#include <math.h>

double schedule_rate(const struct recipe *recipe, size_t step, size_t steps_per_epoch) {
    double steps = (double)(recipe->epochs * steps_per_epoch);
    double warm = fmin(recipe->warmup_epochs * (double)steps_per_epoch, steps);
    double done = (double)step + 1;
    if (done < warm) return recipe->learning_rate * done / warm;
    if (recipe->schedule == SCHEDULE_CONSTANT || steps <= warm) return recipe->learning_rate;
    double fall = 0.5 * (1 + cos(3.141592653589793 * (done - warm) / (steps - warm)));
    return recipe->min_learning_rate + fall * (recipe->learning_rate - recipe->min_learning_rate);
}

double ema_warm(double decay, size_t step) {
    return fmin(decay, (1 + (double)step) / (10 + (double)step));
}

void adamw_update(float *restrict parameters, float *restrict m, float *restrict v,
                  float *restrict average, const float *restrict gradient, size_t n, bool decays,
                  const struct adamw *adamw) {
    double decay = decays ? adamw->weight_decay : 0, t = (double)adamw->step;
    float shrink = (float)(adamw->decoupled ? adamw->learning_rate * decay : 0);
    float coupled = (float)(adamw->decoupled ? 0 : decay);
    float beta1 = (float)adamw->beta1, rest1 = (float)(1 - adamw->beta1);
    float beta2 = (float)adamw->beta2, rest2 = (float)(1 - adamw->beta2);
    /* The bias corrections, moved out of the loop: m/(1-β1ᵗ) / (sqrt(v/(1-β2ᵗ)) + ε). */
    float rate = (float)(adamw->learning_rate / (1 - pow(adamw->beta1, t)));
    float root = (float)(1 / sqrt(1 - pow(adamw->beta2, t)));
    float epsilon = (float)adamw->epsilon, scale = (float)adamw->gradient_scale;
    float follow = (float)(1 - adamw->ema_decay);
    for (size_t i = 0; i < n; i++) {
        float p = parameters[i], g = scale * gradient[i] + coupled * p;
        m[i] = beta1 * m[i] + rest1 * g;
        v[i] = beta2 * v[i] + rest2 * g * g;
        p -= shrink * p + rate * m[i] / (root * sqrtf(v[i]) + epsilon);
        parameters[i] = p;
        average[i] += follow * (p - average[i]);
    }
}
