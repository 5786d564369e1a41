/* Calibration: temperature, expected calibration error, threshold. */
#define _GNU_SOURCE
#include "train/calibrate.h"
#include "train/evaluate.h"
#include "train_support.h"

enum { CLASSES = 5 };

/* Random logits, and labels drawn from softmax(logits / temperature). */
static void draw_answers(float *logits, uint32_t *labels, size_t count, double temperature,
                         uint64_t seed) {
    random_fill(logits, count * CLASSES, 6, &seed);
    for (size_t n = 0; n < count; n++) {
        const float *row = logits + n * CLASSES;
        double sum = 0, u = (random_float(&seed) + 1) / 2;
        for (size_t i = 0; i < CLASSES; i++) sum += exp(row[i] / temperature);
        labels[n] = 0;
        for (size_t i = 0; i + 1 < CLASSES && (u -= exp(row[i] / temperature) / sum) > 0; i++)
            labels[n]++;
    }
}

static double cross_entropy(const float *logits, const uint32_t *labels, size_t count,
                            double temperature) {
    double total = 0;
    for (size_t n = 0; n < count; n++, logits += CLASSES) {
        double sum = 0;
        for (size_t i = 0; i < CLASSES; i++)
            sum += exp((logits[i] - (double)logits[labels[n]]) / temperature);
        total += log(sum);
    }
    return total / (double)count;
}

/* ---- The temperature ---------------------------------------------------- */

TEST("fit_temperature finds the temperature at which the labels were drawn") {
    enum { COUNT = 20000 };
    static const double TEMPERATURES[] = {0.3, 0.61, 1, 1.7, 4};
    float *logits = floats(COUNT * CLASSES);
    uint32_t *labels = malloc(COUNT * sizeof *labels);
    for (size_t i = 0; i < 5; i++) {
        draw_answers(logits, labels, COUNT, TEMPERATURES[i], i);
        double got = fit_temperature(logits, labels, NULL, COUNT, CLASSES);
        CHECK(within(got / TEMPERATURES[i], 1, 0.05), "%g in place of %g", got, TEMPERATURES[i]);
    }
    free(logits);
    free(labels);
}

TEST("no temperature has a smaller cross-entropy than the fitted one") {
    enum { COUNT = 300 };
    float logits[COUNT * CLASSES];
    uint32_t labels[COUNT];
    for (uint64_t seed = 1; seed < 6; seed++) {
        draw_answers(logits, labels, COUNT, 0.4 * (double)seed, seed);
        double fitted = fit_temperature(logits, labels, NULL, COUNT, CLASSES);
        double least = cross_entropy(logits, labels, COUNT, fitted);
        for (double t = 0.02; t < 100; t *= 1.1)
            CHECK(cross_entropy(logits, labels, COUNT, t) >= least, "%g beats %g", t, fitted);
        for (int side = -1; side < 2; side += 2)
            CHECK(cross_entropy(logits, labels, COUNT, fitted * (1 + side * 1e-4)) > least,
                  "a temperature beside %g is better", fitted);
    }
}

TEST("logits times a number have a fitted temperature times that number") {
    enum { COUNT = 500 };
    float logits[COUNT * CLASSES];
    uint32_t labels[COUNT];
    draw_answers(logits, labels, COUNT, 1.3, 9);
    double once = fit_temperature(logits, labels, NULL, COUNT, CLASSES);
    for (size_t i = 0; i < COUNT * CLASSES; i++) logits[i] *= 8; /* exact */
    double eight = fit_temperature(logits, labels, NULL, COUNT, CLASSES);
    CHECK(within(eight / once, 8, 1e-8), "%.12g, %.12g", once, eight);
}

TEST("a sample of weight 3 counts like three samples when a temperature is fitted") {
    enum { COUNT = 400 };
    float logits[COUNT * CLASSES], *repeated = floats((size_t)2 * COUNT * CLASSES);
    uint32_t labels[COUNT], labels_repeated[2 * COUNT];
    double weight[COUNT];
    size_t n = 0;
    draw_answers(logits, labels, COUNT / 4, 0.4, 6);
    draw_answers(logits + COUNT / 4 * CLASSES, labels + COUNT / 4, COUNT * 3 / 4, 2.5, 7);
    for (size_t i = 0; i < COUNT; i++) {
        weight[i] = i < COUNT / 4 ? 3 : 1;
        for (size_t times = 0; times < (size_t)weight[i]; times++, n++) {
            memcpy(repeated + n * CLASSES, logits + i * CLASSES, CLASSES * sizeof *logits);
            labels_repeated[n] = labels[i];
        }
    }
    double want = fit_temperature(repeated, labels_repeated, NULL, n, CLASSES);
    double got = fit_temperature(logits, labels, weight, COUNT, CLASSES);
    double alike = fit_temperature(logits, labels, NULL, COUNT, CLASSES);
    CHECK(within(got / want, 1, 1e-8), "%.12g, not %.12g", got, want);
    CHECK(alike > want * 1.1, "%g without weights, %g with them", alike, want);
    free(repeated);
}

TEST("without an optimum the fitted temperature stays in its range; without an effect it is 1") {
    const float clear[] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0}, flat[CLASSES] = {2, 2, 2, 2, 2};
    const float huge[CLASSES] = {1e30f, 0, 0, 0, 0};
    const uint32_t right[] = {0, 1}, wrong[] = {1, 0};
    double got = fit_temperature(clear, right, NULL, 2, CLASSES);
    CHECK(within(got, 0.01, 1e-4), "always right: expected the coldest, 0.01, got %g", got);
    got = fit_temperature(clear, wrong, NULL, 2, CLASSES);
    CHECK(within(got, 100, 1e-4), "always wrong: expected the warmest, 100, got %g", got);
    CHECK(fit_temperature(flat, right, NULL, 1, CLASSES) == 1, "equal logits");
    CHECK(fit_temperature(clear, (uint32_t[]){0, 0}, NULL, 2, 1) == 1, "one class");
    CHECK(fit_temperature(huge, right, NULL, 1, CLASSES) == 1,
          "a probability that a double rounds to 1");
}

/* ---- The calibration error ---------------------------------------------- */

struct answer {
    double p;
    bool correct;
};

static double error_of(const struct answer *answers, size_t n) {
    struct reliability reliability = {0};
    for (size_t i = 0; i < n; i++) reliability_add(&reliability, answers[i].p, answers[i].correct);
    return calibration_error(&reliability);
}

TEST("the calibration error is the one computed by hand") {
    /* In (14/15, 1]: 2 of 3 right at 0.96 on average; in (7/15, 8/15]: 1 of 1 at 0.5. */
    const struct answer four[] = {{0.95, true}, {0.97, false}, {0.96, true}, {0.5, true}};
    double want = 3.0 / 4 * fabs(2.0 / 3 - 0.96) + 1.0 / 4 * 0.5, got = error_of(four, 4);
    CHECK(within(got, want, 1e-12), "%.12g, not %.12g", got, want);
    CHECK(error_of(four, 0) == 0, "no answers");
    const struct answer honest[] = {
        {0.8, true}, {0.8, true}, {0.8, true}, {0.8, true}, {0.8, false}};
    CHECK(within(error_of(honest, 5), 0, 1e-12), "four of five at 0.8");
}

TEST("a bin of the calibration error includes its upper end only, and 0 and 1 have a bin") {
    for (int i = 1; i <= CALIBRATION_BINS; i++) { /* a little inside each end of the bin */
        struct reliability r = {0};
        reliability_add(&r, (double)i / CALIBRATION_BINS - 1e-9, true);
        reliability_add(&r, (i - 1.0) / CALIBRATION_BINS + 1e-9, true);
        CHECK(r.count[i - 1] == 2 && r.correct[i - 1] == 2, "bin %d has %zu", i, r.count[i - 1]);
    }
    for (int i = 1; i < 5; i++) { /* 0.2, 0.4, 0.6, 0.8: their products with 15 are exact */
        struct reliability r = {0};
        reliability_add(&r, i / 5.0, true);
        CHECK(r.count[3 * i - 1] == 1, "%g is not in bin %d", i / 5.0, 3 * i - 1);
    }
    struct reliability r = {0};
    reliability_add(&r, 0, false);
    reliability_add(&r, 1, true);
    reliability_add(&r, 1.0000001, true); /* rounding may give this */
    CHECK(r.count[0] == 1 && r.count[CALIBRATION_BINS - 1] == 2, "the ends");
    CHECK(r.correct[0] == 0 && r.correct[CALIBRATION_BINS - 1] == 2, "right answers at the ends");
}

TEST("the reliability of a set is that of its parts merged") {
    uint64_t seed = 2;
    struct reliability whole = {0}, parts[3] = {{{0}, {0}, {0}}}, merged = {0};
    for (size_t i = 0; i < 1000; i++) {
        double p = fabs((double)random_float(&seed));
        bool correct = random_below(&seed, 2);
        reliability_add(&whole, p, correct);
        reliability_add(&parts[i % 3], p, correct);
    }
    for (size_t i = 0; i < 3; i++) reliability_merge(&merged, &parts[i]);
    double want = calibration_error(&whole), got = calibration_error(&merged);
    CHECK(want > 0.1 && within(got, want, 1e-12), "%g, not %g", got, want);
}

TEST("the calibration error is small only at the temperature at which the labels were drawn") {
    enum { COUNT = 20000 };
    float *logits = floats(COUNT * CLASSES), p[CLASSES];
    uint32_t *labels = malloc(COUNT * sizeof *labels);
    double errors[2];
    draw_answers(logits, labels, COUNT, 2, 5);
    for (int i = 0; i < 2; i++) {
        struct reliability r = {0};
        for (size_t n = 0; n < COUNT; n++) {
            vit_probabilities(p, logits + n * CLASSES, CLASSES, i ? 2 : 1);
            size_t class = largest_logit(p, CLASSES);
            reliability_add(&r, p[class], class == labels[n]);
        }
        errors[i] = calibration_error(&r);
    }
    CHECK(errors[0] > 0.1 && errors[1] < 0.02, "%g, and %g calibrated", errors[0], errors[1]);
    free(logits);
    free(labels);
}

/* ---- The threshold ------------------------------------------------------ */

TEST("the threshold is the highest that lets the given share of answers pass") {
    static const double ACCEPT[] = {0, 0.1, 0.5, 0.7, 0.9, 0.99, 0.992, 1};
    static const size_t COUNTS[] = {1, 2, 10, 100, 1000, 4972};
    uint64_t seed = 4;
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++)
        for (size_t a = 0; a < sizeof ACCEPT / sizeof *ACCEPT; a++) {
            size_t n = COUNTS[c], pass = 0, above = 0;
            float *p = floats(n);
            for (size_t i = 0; i < n; i++) p[i] = fabsf(random_float(&seed));
            double threshold = passing_threshold(p, n, ACCEPT[a]);
            for (size_t i = 0; i < n; i++) {
                pass += !(p[i] < (float)threshold);
                above += p[i] >= threshold + 1e-4;
            }
            double need = ACCEPT[a] * (double)n - 1e-6;
            CHECK((double)pass >= need, "%zu of %zu pass, not %g", pass, n, need);
            CHECK((double)above < fmax(need, 1), "%zu of %zu also pass 0.0001 higher, %g need to",
                  above, n, need);
            CHECK(within(threshold * 1e4, round(threshold * 1e4), 1e-9), "%.9g", threshold);
            free(p);
        }
}

TEST("the thresholds of small sets are those counted by hand") {
    float ten[] = {0.95f, 0.35f, 0.65f, 0.15f, 0.85f, 0.05f, 0.45f, 0.75f, 0.25f, 0.55f};
    CHECK(within(passing_threshold(ten, 10, 0.9), 0.15, 1e-4), "all but the last");
    CHECK(within(passing_threshold(ten, 10, 0.7), 0.35, 1e-4), "all but three");
    CHECK(within(passing_threshold(ten, 10, 1), 0.05, 1e-4), "all");
    float sure[] = {1, 1, 1};
    CHECK(passing_threshold(sure, 3, 0.992) == 1, "all at 1");
}

/* ---- The score of answers ------------------------------------------------- */

TEST("a score is the loss, the right answers and the calibration error at a temperature") {
    enum { COUNT = 300 };
    static const double TEMPERATURES[] = {0.5, 1, 3};
    float logits[COUNT * CLASSES], p[COUNT], row[CLASSES];
    uint32_t labels[COUNT];
    draw_answers(logits, labels, COUNT, 2, 3);
    for (size_t t = 0; t < 3; t++) {
        struct score score =
            score_answers(p, logits, NULL, labels, COUNT, CLASSES, TEMPERATURES[t]);
        struct reliability r = {0};
        size_t right = 0, wrong = COUNT;
        for (size_t n = 0; n < COUNT; n++) {
            vit_probabilities(row, logits + n * CLASSES, CLASSES, (float)TEMPERATURES[t]);
            size_t class = largest_logit(row, CLASSES);
            reliability_add(&r, row[class], class == labels[n]);
            float got = p[class == labels[n] ? right++ : --wrong];
            CHECK(got == row[class], "%zu: %g, not %g", n, (double)got, (double)row[class]);
        }
        double loss = cross_entropy(logits, labels, COUNT, TEMPERATURES[t]);
        CHECK(score.count == COUNT && score.correct == right, "%zu right", score.correct);
        CHECK(within(score.loss, loss, 1e-12), "%g, not %g", score.loss, loss);
        CHECK(score.calibration_error == calibration_error(&r), "%g", score.calibration_error);
    }
}

TEST("a score takes labels that a byte does not hold") {
    enum { MANY = 1000 };
    float logits[MANY] = {[999] = 3}, p[1];
    struct score score = score_answers(p, logits, NULL, (uint32_t[]){999}, 1, MANY, 1);
    CHECK(score.correct == 1 && within(score.loss, log(1 + 999 * exp(-3)), 1e-12), "%g",
          score.loss);
}

TEST("doubt counts the right and the wrong answers below the threshold") {
    float p[] = {0.9f, 0.5f, 0.7f, 0.6f, 0.3f, 0.95f, 0.59f}; /* the first four are right */
    struct doubt doubt = find_doubt(p, 4, 7, 0.75);
    CHECK(within(doubt.threshold, 0.6, 1.01e-4), "%g", doubt.threshold);
    CHECK(doubt.right == 1 && doubt.wrong == 2, "%zu, %zu", doubt.right, doubt.wrong);
    doubt = find_doubt(p, 0, 7, 0.75);
    CHECK(doubt.threshold == 0 && doubt.right == 0 && doubt.wrong == 0, "no right answers");
}
