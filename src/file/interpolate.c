/* Resizes grids of learned positions to another image size, as each family does it. */
#include "interpolate.h"

#include <math.h>

#include "edition.h"
#include "vit.h"

/* The weight of an input that is at most 1 away, and of one that is 1 to 2 away. Keys, Cubic
 * convolution interpolation for digital image processing, 1981, with PyTorch's a = -3/4. */
static double inner(double x) {
    const double a = -0.75;
    return ((a + 2) * x - (a + 3)) * x * x + 1;
}

static double outer(double x) {
    const double a = -0.75;
    return ((x - 5) * x + 8) * x * a - 4 * a;
}

/* Four inputs of an axis and their weights. Beyond an end of the axis its last input
 * repeats. */
struct taps {
    size_t at[4];
    float by[4];
};

static double source(vit_resize kind, size_t in, size_t out, size_t index) {
    double i = (double)index, n = (double)in, m = (double)out;
    if (kind == VIT_RESIZE_ALIGN_CORNERS) return out > 1 ? i * (n - 1) / (m - 1) : 0;
    return (i + 0.5) * n / (kind == VIT_RESIZE_OFFSET ? m + 0.1 : m) - 0.5;
}

/* The ratio of steps 1, q, q², … of which `in` reach as far as `out` steps of 1. The bounds and the
 * precision are those of BEiT's own code (Bao et al., arXiv:2106.08254), which timm follows. */
static double ratio_of_steps(size_t in, size_t out) {
    double low = 1.01, high = 1.5, q = low;
    while (high - low > 1e-6) {
        double reach = 0, step = 1;
        q = (low + high) / 2;
        for (size_t i = 0; i < in; i++, step *= q) reach += step;
        if (reach > (double)out)
            high = q;
        else
            low = q;
    }
    return q;
}

/* Where an offset of `out` lies among those of `in`, of which both are odd. */
static double offset_source(size_t in, size_t out, size_t index) {
    double middle = (double)(in / 2), offset = (double)index - (double)(out / 2);
    double q = ratio_of_steps(in / 2, out / 2), rest = fabs(offset), step = 1, at = 0;
    for (; at < middle && rest > step; at++, step *= q) rest -= step;
    at = at < middle ? at + rest / step : middle;
    return offset < 0 ? middle - at : middle + at;
}

static struct taps taps_of(vit_resize kind, bool offsets, size_t in, size_t out, size_t index) {
    bool steps = VIT_FULL && offsets && kind != VIT_RESIZE_PLAIN;
    double x = steps ? offset_source(in, out, index) : source(kind, in, out, index);
    double below = floor(x), t = x - below;
    double by[4] = {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
    if (VIT_FULL && offsets) by[0] = by[3] = 0, by[1] = 1 - t, by[2] = t;
    struct taps taps;
    for (int k = 0; k < 4; k++) {
        double at = below + k - 1;
        taps.at[k] = at < 0 ? 0 : at < (double)in ? (size_t)at : in - 1;
        taps.by[k] = (float)by[k];
    }
    return taps;
}

void interpolate(float *restrict out, const float *restrict in, const size_t from[2],
                 const size_t to[2], size_t D, vit_resize kind, bool offsets) {
    for (size_t row = 0; row < to[0]; row++) {
        struct taps down = taps_of(kind, offsets, from[0], to[0], row);
        for (size_t column = 0; column < to[1]; column++, out += D) {
            struct taps across = taps_of(kind, offsets, from[1], to[1], column);
            for (size_t d = 0; d < D; d++) out[d] = 0;
            for (int i = 0; i < 16; i++) {
                const float *x = in + (down.at[i / 4] * from[1] + across.at[i % 4]) * D;
                float by = down.by[i / 4] * across.by[i % 4];
                for (size_t d = 0; d < D; d++) out[d] += by * x[d];
            }
        }
    }
}
