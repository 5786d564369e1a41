/* How reliable probabilities are, and the temperature that makes them more reliable.
 * Guo et al., On Calibration of Modern Neural Networks, arXiv:1706.04599. */
#include "calibrate.h"
#include "base/sort.h"

#include <math.h>

void reliability_add(struct reliability *r, double p, bool correct) {
    int bin = (int)ceil(p * CALIBRATION_BINS) - 1;
    if (bin < 0) bin = 0;
    if (bin >= CALIBRATION_BINS) bin = CALIBRATION_BINS - 1;
    r->count[bin]++;
    r->correct[bin] += correct;
    r->p[bin] += p;
}

void reliability_merge(struct reliability *into, const struct reliability *from) {
    for (size_t i = 0; i < CALIBRATION_BINS; i++) {
        into->count[i] += from->count[i];
        into->correct[i] += from->correct[i];
        into->p[i] += from->p[i];
    }
}

double calibration_error(const struct reliability *r) {
    double apart = 0;
    size_t count = 0;
    for (size_t i = 0; i < CALIBRATION_BINS; i++) {
        apart += fabs((double)r->correct[i] - r->p[i]);
        count += r->count[i];
    }
    return count ? apart / (double)count : 0;
}

/* The weighted sum over the images of d cross-entropy / d (1 / temperature): the softmax's mean of
 * the logits minus the true class's logit. */
static double slope(const float *logits, const uint32_t *labels, const double *weight, size_t count,
                    size_t classes, double temperature) {
    double total = 0;
    for (size_t n = 0; n < count; n++, logits += classes) {
        double truth = logits[labels[n]], max = truth, sum = 0, expected = 0;
        for (size_t i = 0; i < classes; i++) max = fmax(max, logits[i]);
        for (size_t i = 0; i < classes; i++) {
            double p = exp((logits[i] - max) / temperature);
            sum += p;
            expected += p * (logits[i] - truth); /* subtracting first gives exactly 0 if the true
                                                    class has all of p */
        }
        total += (weight ? weight[n] : 1) * expected / sum;
    }
    return total;
}

/* Bisection: the cross-entropy is convex in 1 / temperature, so its slope changes sign once. */
double fit_temperature(const float *logits, const uint32_t *labels, const double *weight,
                       size_t count, size_t classes) {
    double low = log(0.01), high = log(100);
    if (slope(logits, labels, weight, count, classes, 1) == 0) return 1;
    for (int i = 0; i < 40; i++) { /* to a relative error of 1e-11 */
        double middle = (low + high) / 2;
        if (slope(logits, labels, weight, count, classes, exp(middle)) < 0)
            high = middle; /* too warm: a larger 1 / temperature lowers the cross-entropy */
        else
            low = middle;
    }
    return exp((low + high) / 2);
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double passing_threshold(float *p, size_t n, double accept) {
    size_t pass = (size_t)ceil(accept * (double)n - 1e-9); /* 0.7 * 10 is a little more than 7 */
    if (pass < 1) pass = 1;
    if (pass > n) pass = n;
    sort(p, n, sizeof *p, by_size);
    return floor((double)p[n - pass] * 1e4) / 1e4;
}

static size_t count_below(const float *p, size_t n, double threshold) {
    size_t below = 0;
    for (size_t i = 0; i < n; i++) below += p[i] < (float)threshold;
    return below;
}

struct doubt find_doubt(float *p, size_t right, size_t count, double accept) {
    double threshold = right ? passing_threshold(p, right, accept) : 0;
    return (struct doubt){threshold, count_below(p, right, threshold),
                          count_below(p + right, count - right, threshold)};
}
