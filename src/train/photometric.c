#include "photometric.h"

enum { LEVELS = 256, HIGHEST = LEVELS - 1 };

static size_t level(float value) {
    return (size_t)(value * HIGHEST + 0.5f);
}

/* Multiplies each pixel's difference from the mean of its 3×3 neighbourhood, in which it counts five
 * times, by 1 + amount. The border stays. */
static void sharpen(float *plane, float *blurred, size_t rows, size_t columns, float amount) {
    for (size_t y = 1; y + 1 < rows; y++)
        for (size_t x = 1; x + 1 < columns; x++) {
            const float *here = plane + y * columns + x, *up = here - columns;
            const float *down = here + columns;
            blurred[y * columns + x] = (up[-1] + up[0] + up[1] + here[-1] + 5 * here[0] + here[1] +
                                        down[-1] + down[0] + down[1]) /
                                       13;
        }
    for (size_t y = 1; y + 1 < rows; y++)
        for (size_t i = y * columns + 1; i + 1 < (y + 1) * columns; i++) {
            float value = plane[i] + amount * (plane[i] - blurred[i]);
            plane[i] = value < 0 ? 0 : value > 1 ? 1 : value;
        }
}

/* Moves the least value to 0 and the largest to 1. */
static void autocontrast(float *plane, size_t n) {
    float least = 1, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = plane[i] < least ? plane[i] : least;
        most = plane[i] > most ? plane[i] : most;
    }
    for (size_t i = 0; most > least && i < n; i++) plane[i] = (plane[i] - least) / (most - least);
}

/* Histogram equalization: the value becomes the share of pixels below it. As in Pillow, the
 * brightest level counts as empty, and half a step is added. */
static void equalize(float *plane, size_t n) {
    size_t counts[LEVELS] = {0}, brightest = 0, below[LEVELS] = {0};
    for (size_t i = 0; i < n; i++) counts[level(plane[i])]++;
    for (size_t i = 0; i < LEVELS; i++) {
        if (counts[i]) brightest = i;
        if (i) below[i] = below[i - 1] + counts[i - 1];
    }
    const size_t step = below[brightest] / HIGHEST;
    if (step == 0) return;
    for (size_t i = 0; i < n; i++) {
        size_t to = (step / 2 + below[level(plane[i])]) / step;
        plane[i] = (float)(to < HIGHEST ? to : HIGHEST) / HIGHEST;
    }
}

static void posterize(float *plane, size_t n, size_t dropped_bits) {
    for (size_t i = 0; i < n; i++)
        plane[i] = (float)(level(plane[i]) >> dropped_bits << dropped_bits) / HIGHEST;
}

static void solarize(float *plane, size_t n, float threshold) {
    for (size_t i = 0; i < n; i++)
        if (plane[i] >= threshold) plane[i] = 1 - plane[i];
}

void photometric(float *image, float *scratch, size_t channels, size_t rows, size_t columns,
                 enum photometric operation, double strength) {
    const size_t n = rows * columns;
    for (size_t c = 0; c < channels; c++) {
        float *plane = image + c * n;
        switch (operation) {
        case SHARPNESS:
            sharpen(plane, scratch, rows, columns, (float)(0.99 * (2 * strength - 1)));
            break;
        case POSTERIZE: posterize(plane, n, (size_t)(6 * strength + 0.5)); break;
        case SOLARIZE: solarize(plane, n, 1 - (float)strength); break;
        case AUTOCONTRAST: autocontrast(plane, n); break;
        case EQUALIZE: equalize(plane, n); break;
        case PHOTOMETRICS: break;
        }
    }
}
