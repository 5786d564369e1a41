/* Augmentation: stroke thickness, then one inverse warp that is an affine map (shift, rotation,
 * scale, shear about the centre) plus a smooth random displacement, sampled bilinearly.
 * After Simard, Steinkraus & Platt, ICDAR 2003, with a spline for their Gaussian filter. */
#include "augment.h"
#include "base/error.h"
#include "base/rng.h"
#include "photometric.h"

#include <stdlib.h>
#include <string.h>

struct augmenter {
    struct augment how;
    size_t epochs, rows, columns;
    size_t knots;             /* along an edge of the displacement's grid: cells + 3 */
    float gain;               /* turns knots of variance 1 into the displacement */
    float *basis_y, *basis_x; /* (knots, rows), (knots, columns) */
};

/* The uniform cubic B-spline at distance t of its knot; its support is |t| < 2. */
static double spline(double t) {
    t = fabs(t);
    if (t < 1) return 2.0 / 3 - t * t + t * t * t / 2;
    return t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
}

/* basis (knots, n): how much knot k moves pixel i. Returns the mean over the pixels of the sum
 * of squares: the share of the knots' variance that a pixel sees. */
static double fill_basis(float *basis, size_t knots, size_t n) {
    double cells = (double)knots - 3, sum = 0;
    for (size_t k = 0; k < knots; k++)
        for (size_t i = 0; i < n; i++) {
            double at = cells * ((double)i + 0.5) / (double)n;
            double weight = spline(at - ((double)k - 1));
            basis[k * n + i] = (float)weight;
            sum += weight * weight;
        }
    return sum / (double)n;
}

vit_status augmenter_open(struct augmenter **out, const struct augment *augment, size_t epochs,
                          size_t rows, size_t columns, vit_error *why) {
    size_t knots = augment->elastic_grid + 3;
    *out = NULL;
    if (augment->erase > rows || augment->erase > columns)
        return vit_fail(why, VIT_BAD_CONFIG, "augment key erase: expected at most %z, got %z",
                        rows < columns ? rows : columns, augment->erase);
    struct augmenter *a = malloc(sizeof *a + knots * (rows + columns) * sizeof(float));
    *out = a;
    if (!a) return vit_fail(why, VIT_NO_MEMORY, "no memory for the augmentation");
    *a = (struct augmenter){*augment, epochs, rows, columns, .knots = knots};
    a->basis_y = (float *)(a + 1);
    a->basis_x = a->basis_y + knots * rows;
    double share = fill_basis(a->basis_y, knots, rows) * fill_basis(a->basis_x, knots, columns);
    a->gain = (float)(augment->elastic / sqrt(share));
    return VIT_OK;
}

void augmenter_close(struct augmenter *augmenter) {
    free(augmenter);
}

/* The source with one pixel of paper before and two after each row and column, so that bilinear
 * sampling needs no special case at the edge; as much again for thicken; both axes' knots; one
 * line of knots; one row of each axis's displacement. */
size_t augmenter_scratch(const struct augmenter *a) {
    size_t padded = (a->rows + 3) * (a->columns + 3);
    return 2 * padded + 2 * a->knots * a->knots + a->knots + 2 * a->columns;
}

/* to = the largest (sign 1) or smallest (sign -1) of from[i - step], from[i], from[i + step]. */
static void spread(float *restrict to, const float *restrict from, size_t step, size_t begin,
                   size_t end, float sign) {
    for (size_t i = begin; i < end; i++) {
        float a = sign * from[i - step], b = sign * from[i], c = sign * from[i + step];
        float most = a > b ? a : b;
        to[i] = sign * (most > c ? most : c);
    }
}

/* Blends `padded` with its dilation (amount > 0) or erosion (amount < 0) by 3×3 pixels: grey
 * morphology whose effect on the strokes' width changes smoothly with amount. */
static void thicken(float *padded, float *scratch, const struct augmenter *a, float amount) {
    size_t stride = a->columns + 3, n = (a->rows + 3) * stride;
    float sign = amount < 0 ? -1 : 1, share = fabsf(amount);
    spread(scratch, padded, 1, 1, n - 1, sign);
    scratch[0] = scratch[n - 1] = 0;
    for (size_t y = 1; y <= a->rows; y++) { /* not the border, which stays paper */
        const float *row = scratch + y * stride, *above = row - stride, *below = row + stride;
        float *to = padded + y * stride;
        for (size_t x = 1; x <= a->columns; x++) {
            float up = sign * above[x], here = sign * row[x], down = sign * below[x];
            float most = up > here ? up : here;
            to[x] += share * (sign * (most > down ? most : down) - to[x]);
        }
    }
}

/* Where output pixel (x,y) comes from: matrix · (x,y) + origin, in padded coordinates. */
struct affine {
    float matrix[2][2], origin[2]; /* x first */
};

/* Inverse of scale, then shear along the rows, rotation and shift, all about the centre. */
static struct affine draw_affine(const struct augmenter *a, struct rng *rng) {
    static const double DEGREE = 3.141592653589793 / 180;
    const struct augment *how = &a->how;
    double angle = rng_within(rng, how->rotation * DEGREE);
    double shear = tan(rng_within(rng, how->shear * DEGREE));
    double stretch = log(1 + how->scale);
    double x = exp(rng_within(rng, stretch)), y = exp(rng_within(rng, stretch));
    double shift_x = rng_within(rng, how->shift), shift_y = rng_within(rng, how->shift);
    double c = cos(angle), s = sin(angle);
    double m[2][2] = {{x * (c - shear * s), x * (s + shear * c)}, {y * -s, y * c}};
    double centre_x = ((double)a->columns - 1) / 2, centre_y = ((double)a->rows - 1) / 2;
    double from_x = centre_x + shift_x, from_y = centre_y + shift_y;
    return (struct affine){{{(float)m[0][0], (float)m[0][1]}, {(float)m[1][0], (float)m[1][1]}},
                           {(float)(centre_x + 1 - m[0][0] * from_x - m[0][1] * from_y),
                            (float)(centre_y + 1 - m[1][0] * from_x - m[1][1] * from_y)}};
}

/* shift (columns): the displacement along row y of one axis, from its knots (knots, knots). */
static void displace_row(float *restrict shift, float *restrict line, const float *restrict knots,
                         const struct augmenter *a, size_t y) {
    memset(line, 0, a->knots * sizeof *line);
    for (size_t j = 0; j < a->knots; j++) {
        float weight = a->basis_y[j * a->rows + y];
        for (size_t k = 0; k < a->knots; k++) line[k] += weight * knots[j * a->knots + k];
    }
    memset(shift, 0, a->columns * sizeof *shift);
    for (size_t k = 0; k < a->knots; k++) {
        const float *basis = a->basis_x + k * a->columns;
        for (size_t x = 0; x < a->columns; x++) shift[x] += line[k] * basis[x];
    }
}

static float clamp(float x, float highest) {
    return x < 0 ? 0 : x > highest ? highest : x;
}

/* Samples bilinearly at any (x,y). Paper surrounds the image. */
static float bilinear(const float *padded, const struct augmenter *a, float x, float y) {
    size_t stride = a->columns + 3;
    x = clamp(x, (float)(a->columns + 1));
    y = clamp(y, (float)(a->rows + 1));
    size_t column = (size_t)x, row = (size_t)y;
    float right = x - (float)column, below = y - (float)row;
    const float *p = padded + row * stride + column, *q = p + stride;
    float upper = p[0] + right * (p[1] - p[0]), lower = q[0] + right * (q[1] - q[0]);
    return upper + below * (lower - upper);
}

/* A crop's first pixel in an image with a->how.crop pixels of paper on each side, as torchvision's
 * RandomCrop has it. Whole pixels blur nothing, unlike the parts of pixels of draw_affine. */
struct crop {
    size_t top, left;
    bool flip;
};

static struct crop draw_crop(const struct augmenter *a, struct rng *rng) {
    size_t most = a->how.crop, places = 2 * most + 1;
    struct crop crop = {most, most, false};
    if (a->how.flip > 0) crop.flip = rng_unit(rng) < a->how.flip;
    if (most) crop.top = rng_below(rng, places), crop.left = rng_below(rng, places);
    return crop;
}

/* Crops the image, flips it, and puts paper around it. */
static void pad(float *padded, const uint8_t *source, const struct augmenter *a, struct crop crop) {
    size_t stride = a->columns + 3, most = a->how.crop;
    memset(padded, 0, (a->rows + 3) * stride * sizeof *padded);
    for (size_t y = 0; y < a->rows; y++)
        for (size_t x = 0; x < a->columns; x++) {
            /* Above and left of the image these wrap round to large numbers. */
            size_t row = y + crop.top - most, column = x + crop.left - most;
            if (row >= a->rows || column >= a->columns) continue;
            size_t to = crop.flip ? a->columns - 1 - x : x;
            padded[(y + 1) * stride + to + 1] = (float)source[row * a->columns + column] / 255;
        }
}

/* Puts a square of paper anywhere on the image: Byerly, Kalganova & Dear, 2020. */
static void erase(float *image, const struct augmenter *a, struct rng *rng) {
    size_t side = a->how.erase;
    size_t top = (size_t)(rng_unit(rng) * (double)(a->rows - side + 1));
    size_t left = (size_t)(rng_unit(rng) * (double)(a->columns - side + 1));
    for (size_t y = top; y < top + side; y++)
        memset(image + y * a->columns + left, 0, side * sizeof *image);
}

/* The probability that an image is changed. It falls towards the end, so that the last epochs'
 * images look like those that will be read: He et al., arXiv:1909.09148. */
static double chance(const struct augmenter *a, size_t epoch) {
    double epochs = (double)a->epochs, begin = epochs * (1 - a->how.settle);
    double now = (double)epoch + 1;
    return a->how.probability * (now > begin ? (epochs - now) / (epochs - begin) : 1);
}

void augmenter_apply(float *image, float *scratch, const struct augmenter *a, const uint8_t *source,
                     bool solid, uint64_t seed, size_t epoch, size_t index) {
    size_t padded_size = (a->rows + 3) * (a->columns + 3), grid = a->knots * a->knots;
    float *padded = scratch, *thick = padded + padded_size, *knots = thick + padded_size;
    float *line = knots + 2 * grid, *shift_x = line + a->knots, *shift_y = shift_x + a->columns;
    struct rng rng = rng_stream(seed, RNG_AUGMENT, epoch, index);
    pad(padded, source, a, draw_crop(a, &rng));
    if (rng_unit(&rng) >= chance(a, epoch)) {
        for (size_t y = 0; y < a->rows; y++)
            memcpy(image + y * a->columns, padded + (y + 1) * (a->columns + 3) + 1,
                   a->columns * sizeof *image);
        return;
    }
    float amount = (float)rng_within(&rng, a->how.thickness);
    if (solid && a->how.bold > 0 && rng_unit(&rng) < 0.5)
        amount = (float)(a->how.bold * rng_unit(&rng));
    for (; amount > 1; amount--) thicken(padded, thick, a, 1);
    thicken(padded, thick, a, amount);
    struct affine map = draw_affine(a, &rng);
    for (size_t i = 0; i < 2 * grid; i++) knots[i] = a->gain * (float)rng_normal(&rng);
    for (size_t y = 0; y < a->rows; y++) {
        displace_row(shift_x, line, knots, a, y);
        displace_row(shift_y, line, knots + grid, a, y);
        float from_x = map.origin[0] + map.matrix[0][1] * (float)y;
        float from_y = map.origin[1] + map.matrix[1][1] * (float)y;
        for (size_t x = 0; x < a->columns; x++)
            image[y * a->columns + x] =
                bilinear(padded, a, from_x + map.matrix[0][0] * (float)x + shift_x[x],
                         from_y + map.matrix[1][0] * (float)x + shift_y[x]);
    }
    if (a->how.erase) erase(image, a, &rng);
}

/* image = towards + share·(image - towards), in 0..1. */
static void blend(float *image, float towards, size_t n, float share) {
    for (size_t i = 0; i < n; i++) image[i] = clamp(towards + share * (image[i] - towards), 1);
}

/* As torchvision's ColorJitter: brightness towards black, contrast towards the mean, saturation
 * towards each pixel's mean over the channels. */
static void jitter(float *image, size_t channels, size_t plane, double colour, struct rng *rng) {
    size_t n = channels * plane;
    float shares[3], mean = 0;
    for (size_t i = 0; i < 3; i++) shares[i] = 1 + (float)rng_within(rng, colour);
    blend(image, 0, n, shares[0]);
    for (size_t i = 0; i < n; i++) mean += image[i] / (float)n;
    blend(image, mean, n, shares[1]);
    for (size_t i = 0; channels > 1 && i < plane; i++) {
        float grey = 0;
        for (size_t c = 0; c < channels; c++) grey += image[c * plane + i] / (float)channels;
        for (size_t c = 0; c < channels; c++) blend(image + c * plane + i, grey, 1, shares[2]);
    }
}

void augmenter_colour(float *image, float *scratch, const struct augmenter *a, size_t channels,
                      uint64_t seed, size_t epoch, size_t index) {
    struct rng rng = rng_stream(seed, RNG_COLOUR, epoch, index);
    if (rng_unit(&rng) >= chance(a, epoch)) return;
    if (a->how.colour > 0) jitter(image, channels, a->rows * a->columns, a->how.colour, &rng);
    if (rng_unit(&rng) >= a->how.photometric) return;
    enum photometric operation = (enum photometric)rng_below(&rng, PHOTOMETRICS);
    photometric(image, scratch, channels, a->rows, a->columns, operation, rng_unit(&rng));
}
