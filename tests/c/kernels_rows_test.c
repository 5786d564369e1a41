/* Every kernel table's softmax, norm and activations, compared with libm in double. */
#include "models.h"
#include "twin.h"

static const char *const ACTS[] = {"gelu", "gelu_tanh", "quick_gelu", "relu", "tanh", "silu"};
enum { ACTS_COUNT = 6 };

/* ---- softmax ------------------------------------------------------------ */

/* The kernels' exp gives exp(-87) for every smaller argument. */
static const double LEAST = 2e-38;

/* In epsilons: rounding exp's argument costs the argument's size, the sum costs one a term, and the
 * rest is exp's own error and the division. */
static double softmax_tolerance(double want, double argument, size_t columns) {
    return want * FLT_EPSILON * (2 * argument + (double)columns + 4) + LEAST;
}

static void check_softmax(const struct vit_kernels *k, size_t rows, size_t columns, size_t ldx,
                          float scale, float size, uint64_t *seed) {
    size_t count = rows ? (rows - 1) * ldx + columns : 0;
    float *x = guarded(count), *before = guarded(count);
    double *want = doubles(columns);
    bool right = true, gaps = true;
    for (size_t r = 0; r < rows; r++) random_fill(x + r * ldx, columns, size, seed);
    memcpy(before, x, count * sizeof *x);
    k->softmax(x, ldx, scale, rows, columns);
    for (size_t r = 0; r < rows; r++) {
        double argument = 0;
        for (size_t i = 0; i < columns; i++) {
            want[i] = (double)scale * before[r * ldx + i];
            argument = fmax(argument, fabs(want[i]));
        }
        twin_softmax(want, columns);
        for (size_t i = 0; i < columns; i++)
            right = right && within(x[r * ldx + i], want[i],
                                    softmax_tolerance(want[i], 2 * argument, columns));
        for (size_t i = columns; i < ldx && r + 1 < rows; i++)
            gaps = gaps && is_sentinel(x + r * ldx + i);
    }
    CHECK(right, "%s: (%zu,%zu) of numbers up to %g is wrong", k->name, rows, columns,
          (double)(scale * size));
    CHECK(gaps && guards_intact(x, count), "%s: (%zu,%zu) wrote past a row", k->name, rows,
          columns);
    guarded_free(x), guarded_free(before);
    free(want);
}

TEST("softmax is close to libm's in double, for every width from 0 to 33") {
    EACH_KERNELS(k) {
        uint64_t seed = 1;
        for (size_t columns = 0; columns <= 33; columns++)
            for (size_t rows = 0; rows <= 5; rows++) {
                check_softmax(k, rows, columns, columns + rows % 3, 1, 3, &seed);
                check_softmax(k, rows, columns, columns + 1, 0.37f, 40, &seed);
            }
        check_softmax(k, 7, 197, 197, 0.125f, 30, &seed);
        check_softmax(k, 2, 1025, 1030, 1, 1, &seed);
    }
}

TEST("softmax handles numbers that would overflow exp, and rows of one value") {
    EACH_KERNELS(k) {
        uint64_t seed = 2;
        check_softmax(k, 4, 17, 17, 1, 1e4f, &seed);
        check_softmax(k, 4, 17, 17, 1e4f, 1e4f, &seed);
        float even[13], mixed[5] = {-FLT_MAX / 4, 0, FLT_MAX / 4, -1, 1};
        for (size_t i = 0; i < 13; i++) even[i] = -1e30f;
        k->softmax(even, 13, 1, 1, 13);
        for (size_t i = 0; i < 13; i++)
            CHECK(within(even[i], 1.0 / 13, FLT_EPSILON), "%s: [%zu] %g, want 1/13", k->name, i,
                  (double)even[i]);
        k->softmax(mixed, 5, 1, 1, 5);
        for (size_t i = 0; i < 5; i++)
            CHECK(within(mixed[i], i == 2, LEAST), "%s: [%zu] is %g", k->name, i, (double)mixed[i]);
    }
}

TEST("a NaN in a row of softmax makes that row NaN and no other") {
    EACH_KERNELS(k) {
        for (size_t columns = 1; columns <= 20; columns++)
            for (size_t at = 0; at < columns; at++) {
                float x[60];
                for (size_t i = 0; i < 60; i++) x[i] = 0.1f * (float)i;
                x[columns + at] = NAN;
                k->softmax(x, columns, 1, 3, columns);
                double sum = 0, other = 0;
                for (size_t i = 0; i < columns; i++) sum += x[columns + i], other += x[i];
                CHECK(isnan(sum), "%s: a NaN at %zu of %zu is lost", k->name, at, columns);
                CHECK(within(other, 1, 1e-5), "%s: a NaN at %zu of %zu spreads", k->name, at,
                      columns);
            }
    }
}

/* A row (0, -a) gives exp(-a) / (1 + exp(-a)), which shows exp alone. The kernels' 2^x rounds
 * log2(e) and its product with a, each by half an epsilon of a. */
TEST("softmax's exp(-a) is within 3 + a epsilons of libm's for a from 0 to 87") {
    EACH_KERNELS(k) {
        double worst = 0, where = 0;
        for (double a = 0; a <= 87; a += 1.0 / 1024) {
            float x[2] = {0, (float)-a};
            double want = exp(x[1]) / (1 + exp(x[1]));
            k->softmax(x, 2, 1, 1, 2);
            double error = fabs(x[1] / want - 1) / FLT_EPSILON / (3 + a);
            if (!(error <= worst)) worst = error, where = a;
        }
        CHECK(worst <= 1, "%s: exp(-%g) is off by %g times the tolerance", k->name, where, worst);
    }
}

/* ---- norm --------------------------------------------------------------- */

struct rows {
    size_t rows, columns, ldx, ldy;
    float offset, eps; /* offset: the rows' mean */
    bool in_place, statistics;
};

/* The mean is off by about n epsilons of the largest |x|, and rstd magnifies that error. The
 * relative error of rstd itself is about n epsilons too. */
static bool norm_is_right(const struct rows *r, const float *x, const float *y, const float *gain,
                          const float *bias, float mean, float rstd) {
    size_t D = r->columns;
    double *in = doubles(D), *want = doubles(D), *g = doubles(D), *b = doubles(D);
    double average = 0, variance = 0, most = 0;
    for (size_t i = 0; i < D; i++) {
        in[i] = x[i], g[i] = gain[i], b[i] = bias[i];
        average += in[i] / (double)D, most = fmax(most, fabs(in[i]));
    }
    for (size_t i = 0; i < D; i++) variance += pow(in[i] - average, 2) / (double)D;
    double scale = 1 / sqrt(variance + r->eps), rounding = (double)(D + 4) * FLT_EPSILON;
    bool right = true;
    twin_norm(want, in, g, b, r->eps, D);
    for (size_t i = 0; i < D; i++) {
        double tolerance = rounding * (fabs(g[i]) * scale * most + fabs(want[i]) + fabs(b[i]));
        right = right && within(y[i], want[i], tolerance);
    }
    if (r->statistics) {
        right = right && within(mean, average, rounding * most);
        /* The square of the mean's error enters the variance. */
        double relative = rounding + pow(rounding * most * scale, 2);
        right = right && within(rstd, scale, relative * scale);
    }
    free(in), free(want), free(g), free(b);
    return right;
}

static void check_norm(const struct vit_kernels *k, const struct rows *r, uint64_t *seed) {
    size_t x_count = r->rows ? (r->rows - 1) * r->ldx + r->columns : 0;
    size_t y_count = r->rows ? (r->rows - 1) * r->ldy + r->columns : 0;
    float *x = random_floats(x_count, 1, seed), *y = guarded(y_count);
    float *gain = random_floats(r->columns, 2, seed), *bias = random_floats(r->columns, 1, seed);
    float *mean = guarded(r->rows), *rstd = guarded(r->rows);
    bool right = true;
    for (size_t i = 0; i < x_count; i++) x[i] += r->offset;
    if (r->in_place) memcpy(y, x, x_count * sizeof *x);
    k->norm(y, r->ldy, r->statistics ? mean : NULL, r->statistics ? rstd : NULL,
            r->in_place ? y : x, r->ldx, gain, bias, r->eps, r->rows, r->columns);
    for (size_t i = 0; i < r->rows; i++)
        right =
            right && norm_is_right(r, x + i * r->ldx, y + i * r->ldy, gain, bias, mean[i], rstd[i]);
    CHECK(right, "%s: (%zu,%zu) around %g is wrong", k->name, r->rows, r->columns,
          (double)r->offset);
    CHECK(guards_intact(y, y_count) && guards_intact(mean, r->rows) && guards_intact(rstd, r->rows),
          "%s: (%zu,%zu) wrote past its end", k->name, r->rows, r->columns);
    free(x), free(gain), free(bias);
    guarded_free(y), guarded_free(mean), guarded_free(rstd);
}

TEST("norm is close to the double twin's, in place or not, with statistics or without") {
    EACH_KERNELS(k) {
        uint64_t seed = 3;
        for (size_t columns = 1; columns <= 67; columns++)
            for (size_t rows = 0; rows <= 5; rows++)
                for (int kind = 0; kind < 4; kind++) {
                    struct rows r = {rows, columns, columns + rows % 3, columns + 1,
                                     0,    1e-6f,   kind & 1,           kind & 2};
                    if (r.in_place) r.ldy = r.ldx;
                    check_norm(k, &r, &seed);
                    r.offset = 100, r.eps = 1e-3f;
                    check_norm(k, &r, &seed);
                }
    }
}

TEST("norm of a row of one repeated value is the bias, whatever the value") {
    EACH_KERNELS(k) {
        static const float VALUES[] = {0, 1, -3, 0.1f, 1024.5f};
        for (size_t v = 0; v < sizeof VALUES / sizeof *VALUES; v++)
            for (size_t columns = 1; columns <= 33; columns++) {
                float x[33], y[33], gain[33], bias[33];
                for (size_t i = 0; i < 33; i++) x[i] = VALUES[v], gain[i] = 2, bias[i] = (float)i;
                k->norm(y, columns, NULL, NULL, x, columns, gain, bias, 1, 1, columns);
                /* eps is 1, and x - mean is only the rounding of the mean. */
                double tolerance = 2.0 * (double)(columns + 4) * FLT_EPSILON * fabs(x[0]);
                for (size_t i = 0; i < columns; i++)
                    CHECK(within(y[i], bias[i], tolerance + FLT_EPSILON * fabs(bias[i])),
                          "%s: %g in %zu columns gives %g, not %g", k->name, (double)x[0], columns,
                          (double)y[i], (double)bias[i]);
            }
    }
}

/* ---- activations -------------------------------------------------------- */

/* Shares of |x|, because each activation is x times a factor in 0..1. */
static const double ACTIVATION_ERROR = 3e-7, SLOPE_ERROR = 5e-7;

static double slope(int act, double x) {
    const double step = 1e-5;
    return (twin_activation(act, x + step) - twin_activation(act, x - step)) / (2 * step);
}

TEST("every activation is within 3e-7 of libm times its argument, over a dense sweep") {
    EACH_KERNELS(k) {
        for (int act = 0; act < ACTS_COUNT; act++) {
            double worst = 0, where = 0;
            for (double at = -16; at < 16; at += 1.0 / 4096) {
                float x = (float)at, y;
                k->activate(&y, &x, act, 1);
                double error = fabs(y - twin_activation(act, x)) / (fabs(x) + FLT_MIN);
                if (!(error <= worst)) worst = error, where = at;
            }
            CHECK(worst <= ACTIVATION_ERROR, "%s: %s(%g) is off by %g of its argument", k->name,
                  ACTS[act], where, worst);
        }
    }
}

TEST("every activation is 0 far to the left and its argument far to the right, tanh -1 and 1") {
    static const float FAR[] = {20, 88, 89, 104, 1e3f, 1e10f, 1e20f, 1e30f, FLT_MAX};
    EACH_KERNELS(k) {
        for (int act = 0; act < ACTS_COUNT; act++)
            for (size_t i = 0; i < sizeof FAR / sizeof *FAR; i++) {
                float x[8], y[8];
                for (size_t j = 0; j < 8; j++) x[j] = j % 2 ? FAR[i] : -FAR[i];
                k->activate(y, x, act, 8);
                bool bounded = act == VIT_TANH;
                double tolerance = ACTIVATION_ERROR * (bounded ? 1 : FAR[i]);
                CHECK(within(y[0], bounded ? -1 : 0, tolerance) &&
                          within(y[1], bounded ? 1 : x[1], tolerance),
                      "%s: %s(∓%g) is %g, %g", k->name, ACTS[act], (double)FAR[i], (double)y[0],
                      (double)y[1]);
                CHECK(memcmp(y, y + 4, 4 * sizeof *y) == 0, "%s: %s: lanes differ", k->name,
                      ACTS[act]);
            }
    }
}

TEST("activations are right for small numbers, zero and NaN") {
    static const float SMALL[] = {1e-3f, 1e-6f, 1e-20f, 1e-37f, FLT_MIN};
    EACH_KERNELS(k) {
        for (int act = 0; act < ACTS_COUNT; act++) {
            for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++) {
                float x[2] = {SMALL[i], -SMALL[i]}, y[2];
                k->activate(y, x, act, 2);
                for (size_t j = 0; j < 2; j++)
                    CHECK(within(y[j], twin_activation(act, x[j]),
                                 ACTIVATION_ERROR * SMALL[i] + FLT_MIN),
                          "%s: %s(%g) is %g", k->name, ACTS[act], (double)x[j], (double)y[j]);
            }
            float odd[5] = {0, NAN, 1, -1, NAN}, y[5];
            k->activate(y, odd, act, 5);
            CHECK(y[0] == 0 && !isnan(y[2]) && !isnan(y[3]),
                  "%s: %s: zero is not 0, or a NaN spreads", k->name, ACTS[act]);
            CHECK(isnan(y[1]) && isnan(y[4]), "%s: %s loses a NaN", k->name, ACTS[act]);
        }
    }
}

TEST("activate takes any length, in place or not, and writes nothing past the end") {
    EACH_KERNELS(k) {
        uint64_t seed = 4;
        for (int act = 0; act < ACTS_COUNT; act++)
            for (size_t n = 0; n <= 40; n++) {
                float *x = random_floats(n, 5, &seed), *y = guarded(n), *z = guarded(n);
                k->activate(y, x, act, n);
                for (size_t i = 0; i < n; i++)
                    CHECK(within(y[i], twin_activation(act, x[i]),
                                 ACTIVATION_ERROR * fabs(x[i]) + FLT_MIN),
                          "%s: %s: [%zu] of %zu", k->name, ACTS[act], i, n);
                memcpy(z, x, n * sizeof *x);
                k->activate(z, z, act, n);
                CHECK_SAME_BITS(z, y, n, ACTS[act]);
                CHECK(guards_intact(y, n) && guards_intact(z, n), "%s: %s wrote past %zu", k->name,
                      ACTS[act], n);
                free(x), guarded_free(y), guarded_free(z);
            }
    }
}

TEST("activate_backward is dy times the finite difference of the twin's activation") {
    EACH_KERNELS(k) {
        uint64_t seed = 5;
        for (int act = 0; act < ACTS_COUNT; act++)
            for (size_t n = 0; n <= 300; n += n > 33 ? 41 : 1) {
                float *x = random_floats(n, n % 2 ? 2 : 12, &seed);
                float *dy = random_floats(n, 3, &seed), *dx = guarded(n), *z = guarded(n);
                k->activate_backward(dx, dy, x, act, n);
                for (size_t i = 0; i < n; i++) {
                    if (act == VIT_RELU && fabs(x[i]) < 1e-4) continue; /* the kink */
                    double tolerance = SLOPE_ERROR * fabs(dy[i]) * (1 + fabs(x[i]));
                    CHECK(within(dx[i], dy[i] * slope(act, x[i]), tolerance),
                          "%s: %s'(%g)·%g is %g, want %g", k->name, ACTS[act], (double)x[i],
                          (double)dy[i], (double)dx[i], dy[i] * slope(act, x[i]));
                }
                memcpy(z, dy, n * sizeof *dy);
                k->activate_backward(z, z, x, act, n);
                CHECK_SAME_BITS(z, dx, n, ACTS[act]);
                CHECK(guards_intact(dx, n) && guards_intact(z, n), "%s: %s wrote past %zu", k->name,
                      ACTS[act], n);
                free(x), free(dy), guarded_free(dx), guarded_free(z);
            }
    }
}

TEST("every activation's slope is 0 far to the left and 1 far to the right, tanh's 0") {
    static const float FAR[] = {20, 100, 1e4f, 1e8f};
    EACH_KERNELS(k) {
        for (int act = 0; act < ACTS_COUNT; act++)
            for (size_t i = 0; i < sizeof FAR / sizeof *FAR; i++) {
                float x[2] = {-FAR[i], FAR[i]}, dy[2] = {1, 1}, dx[2];
                k->activate_backward(dx, dy, x, act, 2);
                CHECK(within(dx[0], 0, 1e-6) && within(dx[1], act != VIT_TANH, 1e-6),
                      "%s: %s'(∓%g) is %g, %g", k->name, ACTS[act], (double)FAR[i], (double)dx[0],
                      (double)dx[1]);
            }
    }
}
