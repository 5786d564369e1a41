/* Resampling by its definition, in double. */
#ifndef RESAMPLED_H
#define RESAMPLED_H

#include "check.h"
#include "vit.h"

static inline double sinc(double x) {
    return x > 0 ? sin(acos(-1) * x) / (acos(-1) * x) : 1;
}

static inline double filter_at(double x, vit_filter filter) {
    x = fabs(x);
    if (filter == VIT_BILINEAR) return fmax(0, 1 - x);
    if (filter == VIT_LANCZOS) return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
    return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
}

/* Output `o` of an axis as a sum over all inputs, not only the near ones; they are `stride` apart. */
static inline double resampled(const double *x, size_t stride, size_t in, size_t out, size_t o,
                               vit_filter filter) {
    double scale = (double)in / (double)out, wide = fmax(scale, 1), sum = 0, mass = 0;
    double reach = (double[]){1, 2, 3}[filter] * wide, middle = ((double)o + 0.5) * scale;
    for (size_t i = 0; i < in; i++) {
        double off = (double)i + 0.5 - middle, w = filter_at(off / wide, filter);
        if (fabs(off) > reach) continue;
        sum += w * x[i * stride];
        mass += w;
    }
    return sum / mass;
}

#endif
