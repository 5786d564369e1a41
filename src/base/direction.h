/* The sine and the cosine of an angle, e^x and the logarithm, by their power series. They are as
 * exact as floats need. libm's functions would be a fifth of the wasm module. */
#ifndef VIT_DIRECTION_H
#define VIT_DIRECTION_H

#include <math.h>

struct direction {
    double cosine, sine;
};

static inline struct direction direction(double angle) {
    const double circle = 6.283185307179586;
    double x = angle - circle * rint(angle / circle), sums[2] = {0}, term = 1;
    for (int k = 0; k < 30; term *= x / ++k) sums[k % 2] += k & 2 ? -term : term;
    return (struct direction){sums[0], sums[1]};
}

/* e^x for x in 0…14. */
static inline double exponential(double x) {
    double sum = 0, term = 1;
    for (int k = 0; k < 60; term *= x / ++k) sum += term;
    return sum;
}

/* ln(x) for x in 1…10^6, by Halley's method. */
static inline double logarithm(double x) {
    double y = 0;
    for (int i = 0; i < 16; i++) {
        double power = exponential(y);
        y += 2 * (x - power) / (x + power);
    }
    return y;
}

#endif
