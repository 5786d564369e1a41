/* vit calibrate: finds a model's temperature, and below which probability it is not sure, by images
 * on which it was not trained. */
#include "base/error.h"
#include "cli.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *model, *out, *images, *labels, *strokes;
    size_t first, count, threads; /* count 0: all images from `first` on */
    double accept;
};

/* The model's answers. */
struct answers {
    float *logits; /* (count,K) */
    float *p;      /* (count + K): room for probabilities */
    uint8_t *labels;
    size_t count, classes;
};

struct calibration {
    double temperature, threshold, before, after; /* before, after: calibration errors */
    size_t right, right_below, wrong, wrong_below;
};

/* Moves the probabilities of the right answers to the front of a->p. */
static double error_at(size_t *right, const struct answers *a, double temperature) {
    struct reliability reliability = {0};
    float *row = a->p + a->count; /* (K) */
    *right = 0;
    for (size_t i = 0; i < a->count; i++) {
        const float *logits = a->logits + i * a->classes;
        size_t told = largest_logit(logits, a->classes);
        vit_probabilities(row, logits, a->classes, (float)temperature);
        reliability_add(&reliability, row[told], told == a->labels[i]);
        if (told == a->labels[i]) a->p[(*right)++] = row[told];
    }
    return calibration_error(&reliability);
}

static void count_below(struct calibration *c, const struct answers *a) {
    float *row = a->p + a->count;
    c->right = c->right_below = c->wrong = c->wrong_below = 0;
    for (size_t i = 0; i < a->count; i++) {
        const float *logits = a->logits + i * a->classes;
        size_t told = largest_logit(logits, a->classes);
        vit_probabilities(row, logits, a->classes, (float)c->temperature);
        bool right = told == a->labels[i], below = row[told] < (float)c->threshold;
        c->right += right, c->wrong += !right;
        c->right_below += right && below, c->wrong_below += !right && below;
    }
}

/* Rounds the numbers as they will be written, and measures everything with those. */
static vit_status fit(struct calibration *c, const struct answers *a, const vit_config *config,
                      double accept, vit_error *why) {
    size_t right;
    double temperature = fit_temperature(a->logits, a->labels, a->count, a->classes);
    c->temperature = round(temperature * 1e4) / 1e4;
    c->before = error_at(&right, a, config->temperature);
    c->after = error_at(&right, a, c->temperature);
    if (!right)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "expected images that the model classifies right, got none of the %z right",
                        a->count);
    c->threshold = passing_threshold(a->p, right, accept);
    count_below(c, a);
    return VIT_OK;
}

static vit_status choose_part(size_t *count, const struct arguments *a, const struct data_set *data,
                              vit_error *why) {
    *count = a->count ? a->count : a->first < data->count ? data->count - a->first : 0;
    if (*count && *count <= data->count && a->first <= data->count - *count) return VIT_OK;
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "%s: --first %z --count %z: expected a part of its %z images", a->images,
                    a->first, a->count, data->count);
}

/* The images of a data set from `first` on. */
struct part {
    struct data_set data;
    size_t first, count;
};
enum { IMAGES, DRAWINGS, PARTS };

static vit_status open_parts(struct part parts[PARTS], const struct arguments *a,
                             const vit_config *config, vit_error *why) {
    struct part *images = &parts[IMAGES], *drawn = &parts[DRAWINGS];
    struct drawings drawings;
    vit_status status = data_open(&images->data, a->images, a->labels, config, why);
    images->first = a->first;
    if (!status) status = choose_part(&images->count, a, &images->data, why);
    if (status || !a->strokes) return status;
    status = drawings_open(&drawings, a->strokes, config->classes, why);
    if (status) return status;
    status = drawings_data(&drawn->data, &drawings, WRITERS_VALIDATION, 1, images->data.rows,
                           images->data.columns, why);
    drawn->count = drawn->data.count;
    drawings_close(&drawings);
    return status;
}

static vit_status answer(struct answers *answers, const struct part parts[PARTS],
                         const vit_model *model, size_t threads, vit_error *why) {
    struct pool *pool = NULL;
    vit_status status = pool_open(&pool, threads, why);
    size_t done = 0;
    for (size_t i = 0; i < PARTS && !status; i++) {
        const struct part *part = &parts[i];
        if (!part->count) continue;
        memcpy(answers->labels + done, part->data.labels + part->first, part->count);
        status = evaluate_logits(answers->logits + done * answers->classes, pool, model,
                                 &part->data, part->first, part->count, why);
        done += part->count;
    }
    pool_close(pool);
    return status;
}

static vit_status calibrate(struct calibration *c, const struct arguments *a,
                            const vit_model *model, vit_error *why) {
    const vit_config *config = vit_model_config(model);
    struct answers answers = {.classes = config->classes};
    struct part parts[PARTS] = {0};
    vit_status status = open_parts(parts, a, config, why);
    answers.count = parts[IMAGES].count + parts[DRAWINGS].count;
    answers.logits = calloc(answers.count + 1, config->classes * sizeof *answers.logits);
    answers.p = calloc(answers.count + config->classes, sizeof *answers.p);
    answers.labels = malloc(answers.count + 1);
    if (!status && (!answers.logits || !answers.p || !answers.labels))
        status = vit_fail(why, VIT_NO_MEMORY, "no memory for the answers");
    if (!status) status = answer(&answers, parts, model, a->threads, why);
    if (!status) status = fit(c, &answers, config, a->accept, why);
    for (size_t i = 0; i < PARTS; i++) data_close(&parts[i].data);
    free(answers.logits);
    free(answers.p);
    free(answers.labels);
    return status;
}

static void print_calibration(FILE *out, const struct calibration *c) {
    fprintf(out, "temperature: %.4f\n", c->temperature);
    fprintf(out, "calibration error: %.4f before, %.4f after\n", c->before, c->after);
    fprintf(out,
            "uncertain below: %.4f, which is %zu of %zu right answers and %zu of %zu wrong ones\n",
            c->threshold, c->right_below, c->right, c->wrong_below, c->wrong);
}

static vit_status run(const struct arguments *a, vit_error *why) {
    vit_model *model;
    uint8_t *bytes = NULL, *changed = NULL;
    size_t size, changed_size;
    struct calibration c = {0};
    FILE *say = leads_to_stdout(a->out) ? stderr : stdout;
    vit_status status = model_read_with_bytes(&model, &bytes, &size, a->model, &vit_native, why);
    if (!status) status = model_needs_head(model, a->model, why);
    if (!status) status = calibrate(&c, a, model, why);
    if (!status) {
        const struct config_number numbers[] = {{"temperature", c.temperature},
                                                {"uncertain_below", c.threshold}};
        status = model_set_numbers(&changed, &changed_size, bytes, size, numbers, 2, why);
    }
    interrupts_catch(); /* from here on the file is written whole or not at all */
    if (!status) status = write_model(a->out, changed, changed_size, why);
    if (!status) print_calibration(say, &c);
    free(changed);
    free(bytes);
    vit_close(model);
    return status;
}

int command_calibrate(int argc, char **argv) {
    struct arguments a = {.threads = cpu_count(), .accept = 0.995};
    const struct option options[] = {
        {"--model", OPTION_TEXT, &a.model, true, "MODEL", "safetensors"},
        {"--out", OPTION_TEXT, &a.out, true, "MODEL", "safetensors to write; may be the same"},
        {"--images", OPTION_TEXT, &a.images, true, "IDX", "IDX images, gzipped or not"},
        {"--labels", OPTION_TEXT, &a.labels, true, "IDX", "IDX labels, gzipped or not"},
        {"--first", OPTION_INDEX, &a.first, false, "N", "take the images from this one on, from 0"},
        {"--count", OPTION_COUNT, &a.count, false, "N", "take N images (default: all that follow)"},
        {"--strokes", OPTION_TEXT, &a.strokes, false, "FILE",
         "add the pen drawings of the validation writers"},
        {"--accept", OPTION_SHARE, &a.accept, false, "SHARE",
         "share of the right answers that count as certain (default: 0.995)"},
        {"--threads", OPTION_COUNT, &a.threads, false, "N", "default: one for each core"},
    };
    const struct usage usage = {"calibrate",
                                "make a model's probabilities honest, by images that it was not "
                                "trained on",
                                NULL, options, sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_error why = {""};
    return run(&a, &why) ? fail(&why) : EXIT_FINE;
}
