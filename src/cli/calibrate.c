/* vit calibrate: finds a model's temperature, and the probability below which it is unsure, from
 * images and drawings that it was not trained on. Each group counts alike. Of a model with a decoder,
 * from images and the texts that it should write. */
#include "train/calibrate.h"
#include "base/error.h"
#include "cli.h"
#include "kernels/kernels.h"
#include "train/data.h"
#include "train/evaluate.h"
#include "train/files.h"
#include "train/idx.h"
#include "train/jsonl.h"
#include "train/strokes.h"
#include "train/team.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CUTS = 8, GROUPS = 2 + MOST_CUTS }; /* images, whole drawings, cut ones */

struct arguments {
    const char *model, *out, *images, *labels, *strokes, *points;
    size_t first, count, threads; /* count 0: all images from `first` on */
    double accept;
    double cuts[MOST_CUTS]; /* the shares of `points`, each between 0 and 1 */
    size_t cut_count;
};

/* Samples that are measured together: images, or drawings of which a share of the points is drawn.
 */
struct group {
    struct data_set data;
    size_t first, count; /* samples of `data` */
    double share;        /* 0: images */
};

/* The model's answers, one group after the other. */
struct answers {
    float *logits;  /* (count,K) */
    float *doubt;   /* (count) */
    float *p;       /* (count): room for probabilities */
    double *weight; /* (count): of all groups the same sum */
    uint32_t *labels;
    size_t count, classes;
    size_t whole; /* the first answers, to all but cut drawings */
    struct group groups[GROUPS];
    size_t group_count;
};

struct calibration {
    double temperature;
    double before[GROUPS], after[GROUPS]; /* each group's calibration errors */
    struct score whole;                   /* of the whole answers */
    struct doubt doubt;
};

/* Scores `count` answers from `first` on. */
static struct score score_at(const struct answers *a, size_t first, size_t count,
                             double temperature) {
    return score_answers(a->p, a->logits + first * a->classes, a->doubt + first, a->labels + first,
                         count, a->classes, temperature);
}

/* Rounds the numbers as they will be written, and measures everything with those. The threshold is
 * that of whole digits: a cut drawing may be unsure. */
static vit_status fit(struct calibration *c, const struct answers *a, const vit_config *config,
                      double accept, vit_error *why) {
    size_t fitted = config->doubt ? a->whole : a->count; /* doubt answers for cut drawings */
    double temperature = fit_temperature(a->logits, a->labels, a->weight, fitted, a->classes);
    c->temperature = round(temperature * 1e4) / 1e4;
    for (size_t i = 0, first = 0; i < a->group_count; first += a->groups[i++].count) {
        size_t count = a->groups[i].count;
        c->before[i] = score_at(a, first, count, config->temperature).calibration_error;
        c->after[i] = score_at(a, first, count, c->temperature).calibration_error;
    }
    c->whole = score_at(a, 0, a->whole, c->temperature);
    if (!c->whole.correct)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "expected images that the model classifies right, got none of the %z right",
                        a->whole);
    c->doubt = find_doubt(a->p, c->whole.correct, a->whole, accept);
    return VIT_OK;
}

/* Reads the shares of --points. */
static vit_status read_cuts(struct arguments *a, vit_error *why) {
    const char *text = a->points;
    if (!text) return VIT_OK;
    if (!a->strokes)
        return vit_fail(why, VIT_BAD_ARGUMENT, "--points: expected --strokes FILE with it");
    for (bool more = true; more; text++) {
        char *end = NULL;
        double share = *text == '.' || isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
        if (!(share > 0 && share < 1) || (*end && *end != ',') || a->cut_count == MOST_CUTS)
            return vit_fail(why, VIT_BAD_ARGUMENT,
                            "--points: expected at most %z shares above 0 and below 1, such as "
                            "0.25,0.5, got %s",
                            (size_t)MOST_CUTS, a->points);
        a->cuts[a->cut_count++] = share;
        more = *end;
        text = end;
    }
    return VIT_OK;
}

static vit_status choose_part(size_t *count, const struct arguments *a, const struct data_set *data,
                              vit_error *why) {
    *count = a->count ? a->count : a->first < data->count ? data->count - a->first : 0;
    if (*count && *count <= data->count && a->first <= data->count - *count) {
        if (data->text_tokens || !memchr(data->labels + a->first, NO_CLASS, *count)) return VIT_OK;
        return vit_fail(
            why, VIT_BAD_ARGUMENT,
            "%s: --first %z --count %z: expected images that show a class, but some show none",
            a->labels, a->first, *count);
    }
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "%s: --first %z --count %z: expected a part of its %z images", a->images,
                    a->first, a->count, data->count);
}

/* The drawings of the writers for validation, `share` of their points, as the next group. */
static vit_status add_drawings(struct answers *answers, const struct drawings *drawings,
                               double share, const vit_config *config, vit_error *why) {
    struct group *group = &answers->groups[answers->group_count];
    const struct data_set *images = &answers->groups[0].data;
    struct drawing_options which = {WRITERS_VALIDATION, share,
                                    .unfinished_ink = config->unfinished_ink};
    vit_status status =
        drawings_data(&group->data, drawings, which, images->rows, images->columns, why);
    if (status) return status;
    if (!group->data.count) { /* no such writers; a group needs a sample */
        data_close(&group->data);
        return VIT_OK;
    }
    group->count = group->data.count;
    group->share = share;
    answers->group_count++;
    return VIT_OK;
}

static vit_status open_groups(struct answers *answers, const struct arguments *a,
                              const vit_config *config, vit_error *why) {
    struct group *images = &answers->groups[answers->group_count++];
    struct drawings drawings;
    vit_status status = data_open(&images->data, a->images, a->labels, config, why);
    images->first = a->first;
    if (!status) status = choose_part(&images->count, a, &images->data, why);
    if (status || !a->strokes) return status;
    status = drawings_open(&drawings, a->strokes, config->classes, why);
    if (status) return status;
    status = add_drawings(answers, &drawings, 1, config, why);
    for (size_t i = 0; i < a->cut_count && !status; i++)
        status = add_drawings(answers, &drawings, a->cuts[i], config, why);
    drawings_close(&drawings);
    return status;
}

static vit_status answers_hold(struct answers *answers, vit_error *why) {
    for (size_t i = 0; i < answers->group_count; i++) {
        const struct group *group = &answers->groups[i];
        answers->count += group->count;
        if (group->share == 0 || group->share == 1) answers->whole += group->count;
    }
    answers->logits = calloc(answers->count + 1, answers->classes * sizeof *answers->logits);
    answers->doubt = calloc(answers->count + 1, sizeof *answers->doubt);
    answers->p = calloc(answers->count + 1, sizeof *answers->p);
    answers->weight = calloc(answers->count + 1, sizeof *answers->weight);
    answers->labels = calloc(answers->count + 1, sizeof *answers->labels);
    if (answers->logits && answers->doubt && answers->p && answers->weight && answers->labels)
        return VIT_OK;
    return vit_fail(why, VIT_NO_MEMORY, "no memory for the answers");
}

static void answers_close(struct answers *answers) {
    for (size_t i = 0; i < GROUPS; i++) data_close(&answers->groups[i].data);
    free(answers->logits);
    free(answers->doubt);
    free(answers->p);
    free(answers->weight);
    free(answers->labels);
}

static vit_status answer(struct answers *answers, const vit_model *model, size_t threads,
                         vit_error *why) {
    vit_team *team = NULL;
    vit_status status = team_open(&team, threads, why);
    for (size_t i = 0, done = 0; i < answers->group_count && !status;
         done += answers->groups[i++].count) {
        const struct group *group = &answers->groups[i];
        for (size_t j = 0; j < group->count; j++) {
            answers->weight[done + j] = 1 / (double)group->count;
            answers->labels[done + j] = group->data.labels[group->first + j];
        }
        status = evaluate_logits(answers->logits + done * answers->classes, answers->doubt + done,
                                 team, model, &group->data, group->first, group->count, why);
    }
    team_close(team);
    return status;
}

static vit_status calibrate(struct calibration *c, struct answers *answers,
                            const struct arguments *a, const vit_model *model, vit_error *why) {
    const vit_config *config = vit_model_config(model);
    answers->classes = config->classes;
    vit_status status = open_groups(answers, a, config, why);
    if (!status) status = answers_hold(answers, why);
    if (!status) status = answer(answers, model, a->threads, why);
    if (!status) status = fit(c, answers, config, a->accept, why);
    return status;
}

/* ---- Texts ---------------------------------------------------------------- */

/* Images, the model's texts about them, and the logits of their labels' tokens. */
struct texts {
    struct data_set data;
    size_t count, tokens;
    float *logits;               /* (tokens,V) */
    uint32_t *next;              /* (tokens): the labels' */
    struct text_answer *answers; /* (count) */
    float *p;                    /* (count·(S-1)): room for probabilities */
};

static void texts_close(struct texts *t) {
    data_close(&t->data);
    free(t->logits);
    free(t->next);
    free(t->answers);
    free(t->p);
}

static vit_status texts_open(struct texts *t, const struct arguments *a, const vit_config *config,
                             vit_error *why) {
    if (a->strokes)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "--strokes: expected a model that classifies, got one that writes texts");
    vit_status status = data_open(&t->data, a->images, a->labels, config, why);
    if (!status) status = choose_part(&t->count, a, &t->data, why);
    if (status) return status;
    size_t rows = t->data.text_tokens - 1, V = config->decoder.vocabulary;
    t->logits = calloc(t->count * rows + 1, V * sizeof *t->logits);
    t->next = calloc(t->count * rows + 1, sizeof *t->next);
    t->answers = calloc(t->count + 1, sizeof *t->answers);
    t->p = calloc(t->count * rows + 1, sizeof *t->p);
    if (t->logits && t->next && t->answers && t->p) return VIT_OK;
    return vit_fail(why, VIT_NO_MEMORY, "no memory for the logits of %z texts", t->count);
}

/* Closes the gaps after shorter texts. */
static void keep_tokens(struct texts *t, size_t first, const vit_text_config *c) {
    size_t S = t->data.text_tokens, V = c->vocabulary;
    for (size_t i = 0; i < t->count; i++) {
        const uint8_t *label = t->data.labels + (first + i) * S;
        size_t n = text_length(label, S, c) - 1;
        memmove(t->logits + t->tokens * V, t->logits + i * (S - 1) * V, n * V * sizeof *t->logits);
        for (size_t j = 0; j < n; j++) t->next[t->tokens++] = label[1 + j];
    }
}

/* Measures a model of these bytes with c's temperature, as vit eval does. */
static vit_status measure_calibrated(struct calibration *c, struct texts *t, vit_team *team,
                                     const struct arguments *a, const uint8_t *bytes, size_t size,
                                     vit_error *why) {
    const struct config_number number = {"temperature", c->temperature};
    uint8_t *output;
    vit_model *model = NULL;
    vit_status status = model_set_numbers(&output, &size, bytes, size, &number, 1, why);
    if (!status) status = vit_open(&model, output, size, &vit_native, why);
    if (!status)
        status = evaluate_texts(&c->whole, t->answers, NULL, team, model, &t->data, a->first,
                                t->count, why);
    vit_close(model);
    free(output);
    return status;
}

static double tokens_error(const struct texts *t, size_t V, double temperature) {
    return score_answers(t->p, t->logits, NULL, t->next, t->tokens, V, temperature)
        .calibration_error;
}

/* The temperature is that of the tokens, because a text's probability is the product of theirs: its
 * cross-entropy is least, too. */
static vit_status calibrate_texts(struct calibration *c, struct texts *t, const struct arguments *a,
                                  const vit_model *model, const uint8_t *bytes, size_t size,
                                  vit_error *why) {
    const vit_config *config = vit_model_config(model);
    size_t V = config->decoder.vocabulary, right = 0, wrong = 0;
    vit_team *team = NULL;
    struct score before;
    vit_status status = texts_open(t, a, config, why);
    if (!status) status = team_open(&team, a->threads, why);
    if (!status)
        status = evaluate_texts(&before, t->answers, t->logits, team, model, &t->data, a->first,
                                t->count, why);
    if (!status) {
        keep_tokens(t, a->first, &config->decoder);
        double temperature = fit_temperature(t->logits, t->next, NULL, t->tokens, V);
        c->temperature = round(temperature * 1e4) / 1e4;
        status = measure_calibrated(c, t, team, a, bytes, size, why);
    }
    team_close(team);
    if (status) return status;
    if (!c->whole.correct)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "expected images whose texts the model writes right, got none of the %z "
                        "right",
                        t->count);
    c->before[0] = before.calibration_error;
    c->after[0] = c->whole.calibration_error;
    c->before[1] = tokens_error(t, V, config->temperature);
    c->after[1] = tokens_error(t, V, c->temperature);
    for (size_t i = 0; i < t->count; i++) {
        const struct text_answer *one = &t->answers[i];
        t->p[one->right ? right++ : t->count - ++wrong] = one->p;
    }
    c->doubt = find_doubt(t->p, right, t->count, a->accept);
    return VIT_OK;
}

/* ---- The command ---------------------------------------------------------- */

/* A group's name in the output: images are named only beside drawings. */
static void print_group(FILE *out, const struct answers *answers, size_t i) {
    const struct group *group = &answers->groups[i];
    if (answers->group_count == 0)
        fprintf(out, i ? " of tokens" : " of texts");
    else if (group->share == 1)
        fprintf(out, " of drawings");
    else if (group->share > 0)
        fprintf(out, " of drawings cut at %g", group->share);
    else if (answers->group_count > 1)
        fprintf(out, " of images");
}

static void print_calibration(FILE *out, const struct calibration *c,
                              const struct answers *answers) {
    fprintf(out, "temperature: %.4f\n", c->temperature);
    size_t groups = answers->group_count ? answers->group_count : 2; /* none: texts and tokens */
    for (size_t i = 0; i < groups; i++) {
        fprintf(out, "calibration error");
        print_group(out, answers, i);
        fprintf(out, ": %.4f before, %.4f after\n", c->before[i], c->after[i]);
    }
    fprintf(out,
            "uncertain below: %.4f, which is %zu of %zu right answers and %zu of %zu wrong ones\n",
            c->doubt.threshold, c->doubt.right, c->whole.correct, c->doubt.wrong,
            c->whole.count - c->whole.correct);
}

static vit_status run(const struct arguments *a, vit_error *why) {
    vit_model *model;
    uint8_t *bytes = NULL, *output = NULL;
    size_t size, output_size;
    struct calibration c = {0};
    struct answers answers = {0};
    struct texts texts = {0};
    FILE *say = leads_to_stdout(a->out) ? stderr : stdout;
    vit_status status = model_read_with_bytes(&model, &bytes, &size, a->model, &vit_native, why);
    bool writes = model && vit_model_config(model)->decoder.depth;
    if (!status && !writes) status = model_needs_classes(model, a->model, why);
    if (!status)
        status = writes ? calibrate_texts(&c, &texts, a, model, bytes, size, why)
                        : calibrate(&c, &answers, a, model, why);
    if (!status) {
        const struct config_number numbers[] = {{"temperature", c.temperature},
                                                {"uncertain_below", c.doubt.threshold}};
        status = model_set_numbers(&output, &output_size, bytes, size, numbers, 2, why);
    }
    interrupts_catch(); /* from here on the file is written whole or not at all */
    if (!status) status = write_model(a->out, output, output_size, why);
    if (!status) print_calibration(say, &c, &answers);
    answers_close(&answers);
    texts_close(&texts);
    free(output);
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
        {"--labels", OPTION_TEXT, &a.labels, true, "IDX",
         "IDX labels, or of a decoder texts, gzipped or not"},
        {"--first", OPTION_INDEX, &a.first, false, "N", "the first image to use; counts from 0"},
        {"--count", OPTION_COUNT, &a.count, false, "N",
         "the number of images to use (default: all that follow)"},
        {"--strokes", OPTION_TEXT, &a.strokes, false, "FILE",
         "add the pen drawings of the validation writers"},
        {"--points", OPTION_TEXT, &a.points, false, "SHARES",
         "and the same cut: 0.5,0.75 adds their first halves and first three quarters"},
        {"--accept", OPTION_SHARE, &a.accept, false, "SHARE",
         "the share of the right answers that count as certain (default: 0.995)"},
        {"--threads", OPTION_COUNT, &a.threads, false, "N", "default: one for each core"},
    };
    const struct usage usage = {"calibrate",
                                "make a model's probabilities honest, using images that it was "
                                "not trained on",
                                NULL, options, sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_error why = {""};
    vit_status status = read_cuts(&a, &why);
    if (!status) status = run(&a, &why);
    return status ? fail(&why) : EXIT_FINE;
}
