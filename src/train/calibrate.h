/* How reliable probabilities are, and the temperature that makes them so: Guo et al.,
 * arXiv:1706.04599. */
#ifndef VIT_CALIBRATE_H
#define VIT_CALIBRATE_H

#include "vit.h"

enum { CALIBRATION_BINS = 15 };

/* Answers by their probability: bin i has those in (i/15, (i+1)/15]. Zeroed, it is empty. */
struct reliability {
    size_t count[CALIBRATION_BINS], correct[CALIBRATION_BINS];
    double p[CALIBRATION_BINS]; /* the sum of theirs */
};

void reliability_add(struct reliability *reliability, double p, bool correct);
void reliability_merge(struct reliability *into, const struct reliability *from);
/* The expected calibration error, section 2: the mean over all answers of their bin's
 * |accuracy - mean probability|. 0 where there are none. */
double calibration_error(const struct reliability *reliability);
/* The temperature from 0.01 to 100 at which the mean cross-entropy of softmax(logits / temperature)
 * is least. logits (count,K), weight (count) or NULL: all alike. 1 where none is better than
 * another. */
double fit_temperature(const float *logits, const uint32_t *labels, const double *weight,
                       size_t count, size_t classes);
/* The largest number of four decimals that at least `accept` (0..1) of n > 0 probabilities are not
 * below. Sorts them. */
double passing_threshold(float *p, size_t n, double accept);

/* An answer whose probability is below the threshold is uncertain. */
struct doubt {
    double threshold;
    size_t right, wrong; /* how many of the right and of the wrong answers are uncertain */
};

/* The threshold that a share `accept` of the right answers reaches. p: the probabilities of the
 * answers, the `right` ones first, which are sorted. Without right ones no answer is uncertain. */
struct doubt find_doubt(float *p, size_t right, size_t count, double accept);

#endif
