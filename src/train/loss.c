/* Cross-entropy with label smoothing (Szegedy et al., arXiv:1512.00567, section 7), and
 * cross-entropy against a teacher's answers (Hinton et al., arXiv:1503.02531), and the loss of
 * doubt. */
#include <math.h>
#include <string.h>

#include "tape.h"
#include "vit.h"

/* log Σ exp(logits) */
static double log_sum(const float *logits, size_t classes) {
    double max = logits[0], sum = 0;
    for (size_t i = 1; i < classes; i++) max = logits[i] > max ? logits[i] : max;
    for (size_t i = 0; i < classes; i++) sum += exp(logits[i] - max);
    return max + log(sum);
}

/* Of one row of logits. A label that is no class means that all are equally right. */
static double row_loss(float *dlogits, const float *logits, size_t label, size_t classes,
                       float smoothing, float scale) {
    double share = label < classes ? smoothing : 1, rest = share / (double)classes, loss = 0;
    double log_all = log_sum(logits, classes);
    for (size_t i = 0; i < classes; i++) {
        double target = rest + (i == label ? 1 - share : 0), log_p = logits[i] - log_all;
        loss -= target * log_p;
        dlogits[i] = (float)((exp(log_p) - target) * scale);
    }
    return loss;
}

double vit_cross_entropy(float *dlogits, const float *logits, const uint8_t *labels, size_t batch,
                         size_t classes, float smoothing, float scale) {
    double total = 0;
    for (size_t b = 0; b < batch; b++, logits += classes, dlogits += classes)
        total += row_loss(dlogits, logits, labels[b], classes, smoothing, scale);
    return total;
}

double vit_text_loss(float *dlogits, const float *logits, const uint32_t *next, size_t n, size_t V,
                     size_t padding, float smoothing, float scale) {
    double total = 0;
    for (size_t i = 0; i < n; i++, logits += V, dlogits += V) {
        if (next[i] == padding)
            memset(dlogits, 0, V * sizeof *dlogits);
        else
            total += row_loss(dlogits, logits, next[i], V, smoothing, scale);
    }
    return total;
}

double vit_distillation(float *dlogits, const float *logits, const float *teacher, size_t batch,
                        size_t classes, float scale) {
    double total = 0;
    for (size_t b = 0; b < batch; b++, logits += classes, teacher += classes, dlogits += classes) {
        double log_all = log_sum(logits, classes), log_teacher = log_sum(teacher, classes);
        for (size_t i = 0; i < classes; i++) {
            double target = exp(teacher[i] - log_teacher), log_p = logits[i] - log_all;
            total -= target * log_p;
            dlogits[i] += (float)((exp(log_p) - target) * scale);
        }
    }
    return total;
}

double vit_doubt_loss(float *dlogit, float logit, double p, bool right, float scale) {
    double certainty = 1 / (1 + exp((double)logit)), doubt = 1 / (1 + exp(-(double)logit));
    double wrong = (1 - p) * certainty + doubt; /* 1 - p·certainty, without cancellation */
    *dlogit = (float)((right ? doubt : -p * certainty * doubt / wrong) * scale);
    return right ? -log(p) + fmax(logit, 0) + log1p(exp(-fabs((double)logit))) : -log(wrong);
}
