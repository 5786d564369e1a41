/* Cross-entropy with label smoothing: Szegedy et al., arXiv:1512.00567, section 7. */
#include <math.h>

#include "vit.h"

double vit_cross_entropy(float *dlogits, const float *logits, const uint8_t *labels, size_t batch,
                         size_t classes, float smoothing, float scale) {
    double total = 0;
    for (size_t b = 0; b < batch; b++, logits += classes, dlogits += classes) {
        double share = labels[b] < classes ? smoothing : 1, rest = share / (double)classes;
        double max = logits[0], sum = 0;
        for (size_t i = 1; i < classes; i++) max = logits[i] > max ? logits[i] : max;
        for (size_t i = 0; i < classes; i++) sum += exp(logits[i] - max);
        double log_sum = max + log(sum);
        for (size_t i = 0; i < classes; i++) {
            double target = rest + (i == labels[b] ? 1 - share : 0), log_p = logits[i] - log_sum;
            total -= target * log_p;
            dlogits[i] = (float)((exp(log_p) - target) * scale);
        }
    }
    return total;
}
