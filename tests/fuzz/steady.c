#include "steady.h"

#include <math.h>
#include <stdlib.h>

#include "tape.h"

float *logits_of(const vit_model *model, const float *image) {
    size_t size = vit_state_size(model, 1, NULL);
    void *memory = malloc(size);
    float *logits = calloc(vit_logits(vit_model_config(model)) + 1, sizeof *logits);
    vit_state *state;
    if (!memory || !logits || vit_state_init(&state, memory, size, model, 1, NULL) ||
        vit_run(model, state, image, 1, logits, NULL)) {
        free(logits);
        logits = NULL;
    }
    free(memory);
    return logits;
}

float tolerance_of(const float *logits, size_t n) {
    float most = 1;
    for (size_t i = 0; i < n; i++) most = fmaxf(most, fabsf(logits[i]));
    return 0.1f * most;
}

static const float STEP = 0x1p-7f; /* kernels.h quantises activations to 0..127 */
enum { TRIALS = 4 };

bool is_steady(const vit_model *model, const float *image, const float *logits) {
    const vit_config *c = vit_model_config(model);
    size_t pixels = c->channels * c->image_size[0] * c->image_size[1], n = vit_logits(c);
    float tolerance = tolerance_of(logits, n), *moved = malloc(pixels * sizeof *moved + 1);
    bool steady = moved != NULL;
    uint64_t seed = 1;
    for (size_t trial = 0; steady && trial < TRIALS; trial++) {
        for (size_t i = 0; i < pixels; i++)
            moved[i] = image[i] * (random_next(&seed) & 1 ? 1 + STEP : 1 - STEP);
        float *others = logits_of(model, moved);
        for (size_t i = 0; others && steady && i < n; i++)
            steady = fabsf(others[i] - logits[i]) <= tolerance;
        free(others);
    }
    free(moved);
    return steady;
}
