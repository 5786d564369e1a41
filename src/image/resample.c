#include "resample.h"

#include <assert.h>

#include "base/direction.h"

static double bilinear(double x) {
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

/* Keys, Cubic convolution interpolation for digital image processing, 1981; a = -1/2. */
static double bicubic(double x) {
    const double a = -0.5;
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

/* sin πx / πx */
static double sinc(double x) {
    const double pi = 3.141592653589793;
    return x == 0 ? 1 : direction(pi * x).sine / (pi * x);
}

/* Duchon, Lanczos filtering in one and two dimensions, 1979; 3 lobes. */
static double lanczos(double x) {
    return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct {
    double reach;
    double (*at)(double x);
} FILTERS[] = {[VIT_BILINEAR] = {1, bilinear},
               [VIT_BICUBIC] = {2, bicubic},
               [VIT_LANCZOS] = {3, lanczos},
               [VIT_NEAREST] = {1, NULL}};

/* Inputs per output, at least 1: where an image grows, the filter keeps its full width. */
static double widening(size_t in, size_t out) {
    return in > out ? (double)in / (double)out : 1;
}

size_t resample_taps(size_t in, size_t out, vit_filter filter) {
    size_t most = 2 * (size_t)ceil(FILTERS[filter].reach * widening(in, out)) + 1;
    return most < in ? most : in;
}

static double centre(size_t in, size_t out, size_t index) {
    return ((double)index + 0.5) * ((double)in / (double)out);
}

size_t resample_span(size_t *start, size_t in, size_t out, size_t index, vit_filter filter) {
    double middle = centre(in, out, index);
    double reach = FILTERS[filter].reach * widening(in, out);
    double low = middle - reach + 0.5, high = middle + reach + 0.5;
    *start = low > 0 ? (size_t)low : 0;
    size_t end = high < (double)in ? (size_t)high : in;
    return end - *start;
}

size_t resample_weights(double *weights, size_t *start, size_t in, size_t out, size_t index,
                        vit_filter filter) {
    assert(FILTERS[filter].at);
    size_t count = resample_span(start, in, out, index, filter);
    double middle = centre(in, out, index), narrow = 1 / widening(in, out), sum = 0;
    for (size_t t = 0; t < count; t++) {
        weights[t] = FILTERS[filter].at(((double)(*start + t) - middle + 0.5) * narrow);
        sum += weights[t];
    }
    for (size_t t = 0; t < count; t++) weights[t] /= sum;
    return count;
}

void resample_nearest(size_t *at, size_t in, size_t out, size_t first, size_t count) {
    double step = (double)in / (double)out, position = step / 2;
    for (size_t i = 0; i < first + count; i++, position += step)
        if (i >= first) at[i - first] = position < (double)in ? (size_t)position : in - 1;
}

/* The weights of one output, then an image of in_rows × out_columns. */
size_t resample_size(size_t in_rows, size_t in_columns, size_t out_rows, size_t out_columns,
                     size_t channels, vit_filter filter) {
    size_t across = resample_taps(in_columns, out_columns, filter);
    size_t down = resample_taps(in_rows, out_rows, filter);
    size_t taps = across > down ? across : down, room = SIZE_MAX / 2;
    if (taps > room / sizeof(double) || in_rows > room / out_columns ||
        in_rows * out_columns > room / channels / sizeof(float))
        return 0;
    return taps * sizeof(double) + in_rows * out_columns * channels * sizeof(float);
}

/* y (n) = sum over t of weights[t] · x[t·stride ...] */
static void blend(float *restrict y, const float *restrict x, size_t stride, const double *weights,
                  size_t count, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = 0;
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < n; i++) y[i] += (float)weights[t] * x[t * stride + i];
}

void resample(float *restrict out, const float *restrict in, size_t in_rows, size_t in_columns,
              size_t out_rows, size_t out_columns, size_t channels, vit_filter filter,
              void *scratch) {
    size_t across = resample_taps(in_columns, out_columns, filter);
    size_t down = resample_taps(in_rows, out_rows, filter);
    double *weights = scratch;
    float *narrow = (float *)(weights + (across > down ? across : down));
    size_t start, line = out_columns * channels;
    for (size_t x = 0; x < out_columns; x++) {
        size_t count = resample_weights(weights, &start, in_columns, out_columns, x, filter);
        for (size_t y = 0; y < in_rows; y++)
            blend(narrow + y * line + x * channels, in + (y * in_columns + start) * channels,
                  channels, weights, count, channels);
    }
    for (size_t y = 0; y < out_rows; y++) {
        size_t count = resample_weights(weights, &start, in_rows, out_rows, y, filter);
        blend(out + y * line, narrow + start * line, line, weights, count, line);
    }
}
