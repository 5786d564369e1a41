/* Photometric operations against their definitions on bytes, and how often a recipe asks for one. */
#define _GNU_SOURCE
#include "train/augment.h"
#include "train/photometric.h"
#include "train_support.h"

enum { ROWS = 24, COLUMNS = 20, PLANE = ROWS * COLUMNS, N = 3 * PLANE };

/* Dark and even areas and noise; no channel reaches 0 or 255. */
static void fill(int *bytes) {
    uint64_t seed = 5;
    for (int i = 0; i < N; i++)
        bytes[i] = i % 7 < 2 ? 30 + i / PLANE : 20 + (int)random_below(&seed, 200);
}

/* What a byte of `plane` becomes. */
static double twin(const int *plane, int at, enum photometric operation, double strength) {
    int value = plane[at], least = 255, most = 0, smaller = 0, largest = 0;
    int x = at % COLUMNS, y = at / COLUMNS;
    for (int i = 0; i < PLANE; i++) {
        least = plane[i] < least ? plane[i] : least;
        most = plane[i] > most ? plane[i] : most;
        smaller += plane[i] < value;
    }
    for (int i = 0; i < PLANE; i++) largest += plane[i] == most;
    int dropped = 1 << (int)lround(6 * strength), step = (PLANE - largest) / 255;
    switch (operation) {
    case POSTERIZE: return value / dropped * dropped;
    case SOLARIZE: return value < 255 * (1 - strength) ? value : 255 - value;
    case AUTOCONTRAST: return 255.0 * (value - least) / (most - least);
    case EQUALIZE: return fmin(255, floor((step / 2 + smaller) / (double)step));
    default: break;
    }
    if (x == 0 || y == 0 || x == COLUMNS - 1 || y == ROWS - 1) return value;
    double mean = 4.0 / 13 * value;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) mean += plane[at + j * COLUMNS + i] / 13.0;
    double sharp = mean + (1 + 0.99 * (2 * strength - 1)) * (value - mean);
    return fmin(255, fmax(0, sharp));
}

TEST("photometric operations are Pillow's") {
    static int bytes[N];
    static float image[N], scratch[PLANE];
    fill(bytes);
    for (int operation = 0; operation < PHOTOMETRICS; operation++)
        for (double strength = 0.031; strength < 1;
             strength += 0.11) { /* whose threshold is no level */
            int changed = 0;
            for (int i = 0; i < N; i++) image[i] = (float)bytes[i] / 255;
            photometric(image, scratch, 3, ROWS, COLUMNS, (enum photometric)operation, strength);
            for (int i = 0; i < N; i++) {
                const int *plane = bytes + i / PLANE * PLANE;
                double want = twin(plane, i % PLANE, (enum photometric)operation, strength);
                CHECK(fabs(255.0 * (double)image[i] - want) < 1e-3,
                      "operation %d of strength %g, value %d: %g, not %g", operation, strength, i,
                      255.0 * (double)image[i], want);
                changed += fabs(want - bytes[i]) > 0.5;
            }
            CHECK(strength < 0.3 || changed > N / 20,
                  "operation %d of strength %g changes %d values", operation, strength, changed);
        }
}

TEST("an image of one value stays, but for its bits and its inversion") {
    float image[9], scratch[9];
    for (int operation = 0; operation < PHOTOMETRICS; operation++) {
        if (operation == POSTERIZE || operation == SOLARIZE) continue;
        for (int i = 0; i < 9; i++) image[i] = 0.3f;
        photometric(image, scratch, 1, 3, 3, (enum photometric)operation, 0.9);
        for (int i = 0; i < 9; i++)
            CHECK(fabsf(image[i] - 0.3f) < 1e-6f, "%d: %g", operation, (double)image[i]);
    }
}

TEST("photometric is the share of images that an operation changes, and they stay in 0..1") {
    static int bytes[N];
    static float image[N];
    float source[N];
    int changed = 0;
    struct augment how = {.probability = 1, .elastic_grid = 4, .photometric = 0.4};
    struct augmenter *augmenter;
    vit_error why = {""};
    fill(bytes);
    for (int i = 0; i < N; i++) source[i] = (float)bytes[i] / 255;
    MUST(augmenter_open(&augmenter, &how, 1, ROWS, COLUMNS, &why));
    float *scratch = calloc(augmenter_scratch(augmenter), sizeof *scratch);
    for (size_t index = 0; scratch && index < 500; index++) {
        memcpy(image, source, sizeof image);
        augmenter_colour(image, scratch, augmenter, 3, 1, 0, index);
        changed += memcmp(image, source, sizeof image) != 0;
        for (int i = 0; i < N; i++) CHECK(image[i] >= 0 && image[i] <= 1, "%g", (double)image[i]);
    }
    /* 0.4 of 500, within four standard deviations */
    CHECK(changed > 200 - 44 && changed < 200 + 44, "%d of 500 changed", changed);
    free(scratch);
    augmenter_close(augmenter);
}
