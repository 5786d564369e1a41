/* What a sample's logits are compared with: its label, all classes alike, a teacher's answer. */
#define _GNU_SOURCE
#include "tape.h"
#include "train/samples.h"
#include "train/teacher.h"
#include "train_support.h"

TEST("the loss for a label of no class is the mean over all classes, whatever the smoothing") {
    enum { K = 5 };
    const float logits[K] = {1, -2, 0.5f, 3, 0};
    const uint8_t none = NO_CLASS;
    float slope[K], unused[K];
    double loss = vit_cross_entropy(slope, logits, &none, 1, K, 0.1f, 2), mean = 0;
    for (size_t i = 0; i < K; i++)
        mean += vit_cross_entropy(unused, logits, &(uint8_t){(uint8_t)i}, 1, K, 0, 1) / K;
    CHECK(within(loss, mean, 1e-12), "%g, the mean over the labels is %g", loss, mean);
    for (size_t i = 0; i < K; i++) { /* by central differences */
        float up[K], down[K];
        memcpy(up, logits, sizeof up), memcpy(down, logits, sizeof down);
        up[i] += 1e-2f, down[i] -= 1e-2f;
        double want = (vit_cross_entropy(unused, up, &none, 1, K, 0.1f, 1) -
                       vit_cross_entropy(unused, down, &none, 1, K, 0.1f, 1)) /
                      (double)(up[i] - down[i]);
        CHECK(within((double)slope[i], 2 * want, 1e-4), "slope %zu: %g, want %g", i,
              (double)slope[i], 2 * want);
    }
}

TEST("the loss of doubt is that of the answer's probability, and its slope is a difference's") {
    static const float LOGITS[] = {-90, -3, -0.1f, 0, 2, 7, 90};
    static const double SHARES[] = {1, 1 - 1e-9, 0.9, 0.2};
    for (size_t i = 0; i < sizeof LOGITS / sizeof *LOGITS; i++)
        for (size_t j = 0; j < 2 * sizeof SHARES / sizeof *SHARES; j++) {
            bool right = j % 2;
            double share = SHARES[j / 2], z = (double)LOGITS[i], doubt = 1 / (1 + exp(-z));
            float slope, unused;
            double loss = vit_doubt_loss(&slope, LOGITS[i], share, right, 2);
            /* log(1 - share·known) = log(share·doubt + 1 - share) */
            double want = right ? -log(share) + log1p(exp(z)) : -log(share * doubt + 1 - share);
            CHECK(within(loss, want, 1e-9 * fmax(1, want)), "%g at %g: %g, want %g", share, z, loss,
                  want);
            double up = vit_doubt_loss(&unused, LOGITS[i] + 1e-2f, share, right, 1);
            double down = vit_doubt_loss(&unused, LOGITS[i] - 1e-2f, share, right, 1);
            double step = (double)(LOGITS[i] + 1e-2f) - (double)(LOGITS[i] - 1e-2f);
            CHECK(within((double)slope, 2 * (up - down) / step, 1e-4),
                  "%g at %g: slope %g, want %g", share, z, (double)slope, 2 * (up - down) / step);
        }
}

TEST("a teacher's answer is a share of the target where the sample's advice lets it count") {
    enum { K = 3, NEVER_RIGHT = 2 };
    static const float logits[K] = {0.5f, -1, 2}, answer[K] = {3, 0, 1}; /* it answers 0 */
    static const float labels_gradient[K] = {0.25f, -0.5f, 0.125f};
    static const struct {
        struct sample sample;
        bool counts;
    } CASES[] = {
        {{.label = 0, .advice = ADVICE_ALWAYS}, true},
        {{.label = NEVER_RIGHT, .advice = ADVICE_ALWAYS}, true},
        {{.label = 0, .advice = ADVICE_IF_RIGHT}, true},
        {{.label = NEVER_RIGHT, .advice = ADVICE_IF_RIGHT}, false},
        {{.label = 0, .advice = ADVICE_NEVER}, false},
        {{.label = NO_CLASS, .advice = ADVICE_NEVER}, false},
    };
    double sums[2] = {0}, cross = 0, p[2][K];
    for (size_t i = 0; i < K; i++)
        sums[0] += exp((double)logits[i]), sums[1] += exp((double)answer[i]);
    for (size_t i = 0; i < K; i++) {
        p[0][i] = exp((double)logits[i]) / sums[0], p[1][i] = exp((double)answer[i]) / sums[1];
        cross -= p[1][i] * log(p[0][i]);
    }
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        float got[K];
        memcpy(got, labels_gradient, sizeof got);
        double loss = teacher_blend(got, logits, answer, K, CASES[c].sample, 0.25, 8, 2);
        double want = CASES[c].counts ? 0.75 * 8 + 0.25 * cross : 8;
        CHECK(within(loss, want, 1e-12), "case %zu: a loss of %g, want %g", c, loss, want);
        for (size_t i = 0; i < K; i++) {
            double gradient = (double)labels_gradient[i];
            if (CASES[c].counts) gradient = 0.75 * gradient + 0.25 * 2 * (p[0][i] - p[1][i]);
            CHECK(within((double)got[i], gradient, 4 * FLT_EPSILON),
                  "case %zu, class %zu: %g, want %g", c, i, (double)got[i], gradient);
        }
    }
}
