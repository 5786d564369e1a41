/* Heat maps, compared with products of whole matrices in double, and with maps known by heart. */
#include "check.h"

#include "overlay.h"
#include "vit.h"

/* (count,T,T) rows like softmax's: no number is negative, and each row sums to 1. */
static float *random_attention(size_t count, size_t tokens, uint64_t *seed) {
    float *attention = random_floats(count * tokens * tokens, 1, seed);
    for (size_t i = 0; i < count * tokens; i++) {
        float *row = attention + i * tokens, sum = 0;
        for (size_t j = 0; j < tokens; j++) sum += row[j] *= row[j];
        for (size_t j = 0; j < tokens; j++) row[j] /= sum;
    }
    return attention;
}

static float *rollout(const float *attention, size_t layers, size_t heads, size_t tokens,
                      size_t prefix, bool residual, float discard, vit_fuse fuse) {
    float *map = guarded(tokens - prefix), *scratch = floats(3 * tokens * tokens);
    vit_overlay_rollout(map, scratch, attention, layers, heads, tokens, prefix, residual, discard,
                        fuse);
    CHECK(guards_intact(map, tokens - prefix), "written outside the map");
    free(scratch);
    return map;
}

/* ---- One row ------------------------------------------------------------ */

TEST("the overlay of a row is its attention to the patches, of one head or the mean of all") {
    enum { HEADS = 3, TOKENS = 7, PREFIX = 2 };
    uint64_t seed = 1;
    float *attention = random_attention(HEADS, TOKENS, &seed);
    for (size_t prefix = 0; prefix <= PREFIX; prefix++)
        for (size_t token = 0; token < TOKENS; token++)
            for (size_t head = 0; head <= HEADS; head++) {
                float *map = guarded(TOKENS - prefix);
                vit_overlay_row(map, attention, HEADS, TOKENS, prefix,
                                head < HEADS ? head : VIT_MEAN_OF_HEADS, token);
                for (size_t j = prefix; j < TOKENS; j++) {
                    double want = 0;
                    for (size_t h = 0; h < HEADS; h++)
                        if (head == h || head == HEADS)
                            want += attention[(h * TOKENS + token) * TOKENS + j];
                    if (head == HEADS) want /= HEADS;
                    CHECK(within(map[j - prefix], want, 4 * FLT_EPSILON), "token %zu, head %zu",
                          token, head);
                }
                CHECK(guards_intact(map, TOKENS - prefix), "written outside the map");
                guarded_free(map);
            }
    free(attention);
}

/* ---- Rollout ------------------------------------------------------------ */

/* One layer's A in double, row by row as overlay.c's comment defines it, without its shortcuts. */
static void twin_layer(double *A, const float *attention, size_t heads, size_t T, bool residual,
                       double discard, vit_fuse fuse) {
    size_t drop = (size_t)floor(discard * (double)T + 0.5);
    for (size_t i = 0; i < T; i++) {
        double *row = A + i * T, sum = 0;
        for (size_t j = 0; j < T; j++) {
            double least = INFINITY, most = 0, mean = 0;
            for (size_t h = 0; h < heads; h++) {
                double a = attention[(h * T + i) * T + j];
                least = fmin(least, a), most = fmax(most, a), mean += a / (double)heads;
            }
            row[j] = fuse == VIT_FUSE_MEAN ? mean : fuse == VIT_FUSE_MAX ? most : least;
        }
        for (size_t n = 0; n < drop && n + 1 < T; n++) {
            size_t smallest = 0;
            for (size_t j = 1; j < T; j++)
                if (row[j] >= 0 && (smallest == 0 || row[j] < row[smallest])) smallest = j;
            row[smallest] = -1;
        }
        for (size_t j = 0; j < T; j++) sum += row[j] = fmax(0, row[j]) + (residual && i == j);
        for (size_t j = 0; j < T; j++) row[j] /= sum > 0 ? sum : 1;
    }
}

static void twin(double *map, const float *attention, size_t layers, size_t heads, size_t T,
                 size_t prefix, bool residual, double discard, vit_fuse fuse) {
    double *A = calloc(3 * T * T, sizeof *A), *product = A + T * T, *next = product + T * T;
    for (size_t i = 0; i < T; i++) product[i * T + i] = 1;
    for (size_t layer = 0; layer < layers; layer++) {
        twin_layer(A, attention + layer * heads * T * T, heads, T, residual, discard, fuse);
        for (size_t i = 0; i < T * T; i++) {
            next[i] = 0;
            for (size_t k = 0; k < T; k++) next[i] += A[i / T * T + k] * product[k * T + i % T];
        }
        memcpy(product, next, T * T * sizeof *next);
    }
    double sum = 0;
    for (size_t j = prefix; j < T; j++) {
        map[j - prefix] = 0;
        for (size_t i = 0; i < (prefix ? 1 : T); i++) map[j - prefix] += product[i * T + j];
        sum += map[j - prefix];
    }
    for (size_t j = 0; j < T - prefix; j++) map[j] = sum > 0 ? map[j] / sum : 0;
    free(A);
}

TEST("rollout equals the product of whole matrices in double") {
    uint64_t seed = 2;
    for (size_t trial = 0; trial < 120; trial++) {
        size_t layers = 1 + random_below(&seed, 5), heads = 1 + random_below(&seed, 4);
        size_t prefix = random_below(&seed, 3), T = prefix + 1 + random_below(&seed, 20);
        float discard = (float)random_below(&seed, 8) / 8;
        vit_fuse fuse = (vit_fuse)(trial % 3);
        bool residual = trial / 3 % 3;
        float *attention = random_attention(layers * heads, T, &seed);
        float *map = rollout(attention, layers, heads, T, prefix, residual, discard, fuse);
        double want[24];
        twin(want, attention, layers, heads, T, prefix, residual, discard, fuse);
        for (size_t j = 0; j < T - prefix; j++)
            CHECK(within(map[j], want[j], (double)(layers * (heads + T)) * FLT_EPSILON),
                  "trial %zu [%zu]: got %g, want %g", trial, j, (double)map[j], want[j]);
        guarded_free(map);
        free(attention);
    }
}

TEST("a rollout map sums to 1 for every discarded share") {
    uint64_t seed = 3;
    float *attention = random_attention(4 * 2, 17, &seed);
    static const float shares[] = {-1, 0, 0.1f, 0.5f, 0.9f, NAN};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (int fuse = VIT_FUSE_MEAN; fuse <= VIT_FUSE_MIN; fuse++) {
            float *map = rollout(attention, 4, 2, 17, 1, true, shares[i], (vit_fuse)fuse);
            double sum = 0;
            for (size_t j = 0; j < 16; j++) sum += map[j];
            CHECK(within(sum, 1, 1e-6), "discard %g, fuse %d: %g", (double)shares[i], fuse, sum);
            guarded_free(map);
        }
    free(attention);
}

TEST("a class token that attends only to itself gives an empty rollout map") {
    float attention[2 * 16] = {0};
    for (size_t i = 0; i < 8; i++) attention[i * 4 + i % 4] = 1;
    float *map = rollout(attention, 2, 1, 4, 1, true, 0, VIT_FUSE_MEAN);
    for (size_t j = 0; j < 3; j++) CHECK(map[j] == 0, "[%zu] %g", j, (double)map[j]);
    guarded_free(map);
}

/* In layer 1 the class token looks at patch 2, which in layer 0 looked at patch 0. The residual
 * keeps one half in each layer, so both patches get half of the map. Without residual connections
 * only what the class token's patch looked at is left. */
TEST("rollout follows attention down the layers") {
    float attention[2 * 16] = {0};
    for (size_t i = 0; i < 8; i++) attention[i * 4 + i % 4] = 1;
    attention[16] = 0, attention[16 + 3] = 1;           /* layer 1: class to patch 2 */
    attention[3 * 4 + 3] = 0, attention[3 * 4 + 1] = 1; /* layer 0: patch 2 to patch 0 */
    float *map = rollout(attention, 2, 1, 4, 1, true, 0, VIT_FUSE_MEAN);
    CHECK_CLOSE(map, ((float[]){0.5f, 0, 0.5f}), 3, 1e-6, "map");
    guarded_free(map);
    map = rollout(attention, 2, 1, 4, 1, false, 0, VIT_FUSE_MEAN);
    CHECK_CLOSE(map, ((float[]){1, 0, 0}), 3, 1e-6, "map without residual connections");
    guarded_free(map);
}

TEST("rollout never discards the first column, and discards equal values from the left") {
    /* The two patches at 0.1 are the smallest of the class row. */
    float attention[25] = {0.1f, 0.4f, 0.1f, 0.1f, 0.3f};
    for (size_t i = 1; i < 5; i++) attention[i * 5 + i] = 1;
    static const struct {
        float discard, want[4];
    } cases[] = {
        {0.09f, {0.4f / 0.9f, 0.1f / 0.9f, 0.1f / 0.9f, 0.3f / 0.9f}},
        {0.2f, {0.5f, 0, 0.125f, 0.375f}},
        {0.4f, {0.4f / 0.7f, 0, 0, 0.3f / 0.7f}},
        {0.6f, {1, 0, 0, 0}},
        {2, {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *map = rollout(attention, 1, 1, 5, 1, true, cases[i].discard, VIT_FUSE_MEAN);
        CHECK_CLOSE(map, cases[i].want, 4, 1e-6, "map");
        guarded_free(map);
    }
}
