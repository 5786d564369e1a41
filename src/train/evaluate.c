/* Loss, accuracy, calibration and confusion on a data set, in parallel over its images. */
#include "evaluate.h"
#include "base/error.h"
#include "base/team.h"
#include "calibrate.h"
#include "data.h"
#include "tape.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

struct evaluation {
    const vit_model *model;
    const struct data_set *data;
    size_t first, count, classes;
    float *logits; /* (count,K), may be NULL */
    struct part {
        vit_status status;
        struct score score; /* loss: the sum */
        struct reliability reliability;
        size_t *confusion; /* (K,K), may be NULL */
    } * parts;             /* one for each thread */
};

size_t largest_logit(const float *logits, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* `scratch` (B,K). */
static void count_batch(struct part *part, float *scratch, const float *logits,
                        const uint8_t *labels, size_t batch, size_t classes, float temperature) {
    for (size_t i = 0; i < batch; i++) {
        const float *row = logits + i * classes;
        size_t predicted = largest_logit(row, classes);
        vit_probabilities(scratch, row, classes, temperature);
        reliability_add(&part->reliability, scratch[predicted], predicted == labels[i]);
        part->score.correct += predicted == labels[i];
        if (part->confusion) part->confusion[labels[i] * classes + predicted]++;
    }
    for (size_t i = 0; i < batch * classes; i++) scratch[i] = logits[i] / temperature;
    part->score.count += batch;
    part->score.loss += vit_cross_entropy(scratch, scratch, labels, batch, classes, 0, 1);
}

static void evaluate_part(void *context, size_t thread, size_t threads) {
    struct evaluation *e = context;
    struct part *part = &e->parts[thread];
    struct range range = range_part(e->count, thread, threads);
    size_t pixels = data_values(e->data), K = e->classes;
    size_t need = vit_state_size(e->model, BATCH, NULL);
    void *memory = malloc(need);
    float *images = malloc(BATCH * (pixels + 2 * K) * sizeof *images);
    float *logits = images + BATCH * pixels;
    vit_state *state;
    part->status = memory && images ? vit_state_init(&state, memory, need, e->model, BATCH, NULL)
                                    : VIT_NO_MEMORY;
    for (size_t i = range.begin; i < range.end && !part->status; i += BATCH) {
        size_t batch = range.end - i < BATCH ? range.end - i : BATCH, index = e->first + i;
        for (size_t j = 0; j < batch; j++) data_image(images + j * pixels, e->data, index + j);
        data_standardise(images, batch * pixels, vit_model_config(e->model));
        part->status = vit_run(e->model, state, images, batch, logits, NULL);
        if (part->status) break;
        count_batch(part, logits + BATCH * K, logits, e->data->labels + index, batch, K,
                    vit_model_config(e->model)->temperature);
        if (e->logits) memcpy(e->logits + i * K, logits, batch * K * sizeof *logits);
    }
    free(images);
    free(memory);
}

static vit_status add_parts(struct score *score, size_t *confusion, const struct evaluation *e,
                            size_t threads, vit_error *why) {
    struct reliability reliability = {0};
    for (size_t t = 0; t < threads; t++) {
        const struct part *part = &e->parts[t];
        if (part->status)
            return vit_fail(why, part->status, "evaluation failed: %s",
                            vit_status_name(part->status));
        score->count += part->score.count;
        score->correct += part->score.correct;
        score->loss += part->score.loss;
        reliability_merge(&reliability, &part->reliability);
        for (size_t i = 0; confusion && i < e->classes * e->classes; i++)
            confusion[i] += part->confusion[i];
    }
    if (score->count) score->loss /= (double)score->count;
    score->calibration_error = calibration_error(&reliability);
    return VIT_OK;
}

static vit_status evaluate_all(struct score *score, size_t *confusion, vit_team *team,
                               struct evaluation e, vit_error *why) {
    size_t threads = team_size(team), K = e.classes;
    size_t *counts = confusion ? calloc(threads * K * K, sizeof *counts) : NULL;
    vit_status status;
    *score = (struct score){0};
    e.parts = calloc(threads, sizeof *e.parts);
    if (e.parts && (counts || !confusion)) {
        for (size_t t = 0; t < threads && counts; t++) e.parts[t].confusion = counts + t * K * K;
        team_run(team, evaluate_part, &e);
        status = add_parts(score, confusion, &e, threads, why);
    } else {
        status = vit_fail(why, VIT_NO_MEMORY, "no memory to evaluate");
    }
    free(counts);
    free(e.parts);
    return status;
}

vit_status evaluate(struct score *score, size_t *confusion, vit_team *team, const vit_model *model,
                    const struct data_set *data, size_t first, size_t count, vit_error *why) {
    size_t classes = vit_model_config(model)->classes;
    struct evaluation e = {model, data, first, count, classes, NULL, NULL};
    return evaluate_all(score, confusion, team, e, why);
}

vit_status evaluate_logits(float *logits, vit_team *team, const vit_model *model,
                           const struct data_set *data, size_t first, size_t count,
                           vit_error *why) {
    size_t classes = vit_model_config(model)->classes;
    struct evaluation e = {model, data, first, count, classes, logits, NULL};
    struct score score;
    return evaluate_all(&score, NULL, team, e, why);
}
