/* vit eval: a model's loss, calibration, accuracy and confusion on a data set. */
#include "base/error.h"
#include "cli.h"
#include "train/calibrate.h"
#include "train/data.h"
#include "train/evaluate.h"
#include "train/idx.h"
#include "train/jsonl.h"
#include "train/strokes.h"
#include "train/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    const char *model, *images, *labels, *strokes, *writers;
    size_t threads;
    double points; /* share of each drawing's points */
    double habits; /* share of each habit's chance */
    bool confusion;
};

/* A data set's labels are bytes. */
enum { MOST_CONFUSED = 256 };

static void print_confusion(const size_t *confusion, const vit_model *model, size_t classes) {
    char number[24];
    printf("confusion: a row for each true class, a column for each answer\n");
    for (size_t predicted = 0; predicted < classes; predicted++) {
        printf("\t");
        show(stdout, class_label(number, model, predicted));
    }
    printf("\n");
    for (size_t truth = 0; truth < classes; truth++) {
        show(stdout, class_label(number, model, truth));
        for (size_t predicted = 0; predicted < classes; predicted++)
            printf("\t%zu", confusion[truth * classes + predicted]);
        printf("\n");
    }
}

static void print_share(const char *name, size_t part, size_t count) {
    if (count) printf("%s: %.4f (%zu/%zu)\n", name, (double)part / (double)count, part, count);
}

static vit_status measure(const struct arguments *a, const vit_model *model,
                          const struct data_set *data, vit_error *why) {
    size_t classes = vit_model_config(model)->classes;
    if (a->confusion && data->text_tokens)
        return vit_fail(why, VIT_BAD_ARGUMENT, "--confusion: expected a model without a decoder");
    if (a->confusion && classes > MOST_CONFUSED)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "--confusion: expected a model of at most %z classes, got %z",
                        (size_t)MOST_CONFUSED, classes);
    size_t *confusion = a->confusion ? calloc(classes * classes, sizeof *confusion) : NULL;
    vit_team *team = NULL;
    struct score score = {0};
    vit_status status = a->confusion && !confusion
                            ? vit_fail(why, VIT_NO_MEMORY, "no memory for the confusion matrix")
                            : team_open(&team, a->threads, why);
    if (!status) status = evaluate(&score, confusion, team, model, data, 0, data->count, why);
    if (!status) {
        if (confusion) print_confusion(confusion, model, classes);
        bool doubts = vit_model_config(model)->uncertain_below > 0;
        if (score.count)
            printf("loss: %.4f\ncalibration error: %.4f\n", score.loss, score.calibration_error);
        print_share("uncertain of no class", score.others_uncertain, score.others);
        if (doubts) print_share("uncertain", score.uncertain, score.count);
        print_share("accuracy", score.correct, score.count);
    }
    team_close(team);
    free(confusion);
    return status;
}

/* The part of the writers that --writers names; false if there is no such part. */
static bool read_writers(unsigned *writers, const char *name) {
    static const struct {
        const char *name;
        unsigned writers;
    } parts[] = {{"all", WRITERS_TRAINING | WRITERS_VALIDATION | WRITERS_HELD_OUT},
                 {"training", WRITERS_TRAINING},
                 {"validation", WRITERS_VALIDATION},
                 {"held-out", WRITERS_HELD_OUT}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(name, parts[i].name)) {
            *writers = parts[i].writers;
            return true;
        }
    return false;
}

/* The drawings have the page's pen, and are prepared as on the page. */
static vit_status open_strokes(struct data_set *data, const struct arguments *a,
                               const vit_config *config, vit_error *why) {
    struct drawings drawings;
    unsigned writers;
    if (!read_writers(&writers, a->writers))
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "--writers: expected all, training, validation or held-out, got %s",
                        a->writers);
    if (config->prepare != VIT_PREPARE_DIGIT || config->channels != 1 || config->decoder.depth)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "%s: --strokes: expected a model of one channel whose `prepare` is digit",
                        a->model);
    vit_status status = drawings_open(&drawings, a->strokes, config->classes, why);
    if (status) return status;
    status = drawings_data(
        data, &drawings,
        (struct drawing_options){writers, a->points, a->habits, config->unfinished_ink, true},
        config->image_size[0], config->image_size[1], why);
    drawings_close(&drawings);
    if (!status && data->count == 0)
        status = vit_fail(why, VIT_BAD_FILE, "%s: expected drawings of %s writers, got none",
                          a->strokes, a->writers);
    return status;
}

static vit_status open_data(struct data_set *data, const struct arguments *a,
                            const vit_config *config, vit_error *why) {
    if (a->strokes && !a->images && !a->labels) return open_strokes(data, a, config, why);
    if (a->images && a->labels && !a->strokes)
        return data_open(data, a->images, a->labels, config, why);
    return vit_fail(why, VIT_BAD_ARGUMENT, "expected either --images and --labels or --strokes");
}

int command_eval(int argc, char **argv) {
    struct arguments a = {.threads = cpu_count(), .writers = "all", .points = 1};
    const struct option options[] = {
        {"--model", OPTION_TEXT, &a.model, true, "MODEL", "safetensors"},
        {"--images", OPTION_TEXT, &a.images, false, "IDX", "IDX images, gzipped or not"},
        {"--labels", OPTION_TEXT, &a.labels, false, "IDX",
         "IDX labels, or of a decoder texts, gzipped or not"},
        {"--strokes", OPTION_TEXT, &a.strokes, false, "FILE",
         "instead: pen drawings, a line of JSON each, gzipped or not"},
        {"--writers", OPTION_TEXT, &a.writers, false, "PART",
         "whose drawings: training, validation or held-out writers (default: all)"},
        {"--points", OPTION_SHARE, &a.points, false, "SHARE",
         "only the first points of each drawing: half of them at 0.5 (default: 1)"},
        {"--habits", OPTION_SHARE, &a.habits, false, "SHARE",
         "drawings as other hands might write them: slashed zeros, barred sevens … (default: 0)"},
        {"--threads", OPTION_COUNT, &a.threads, false, "N", "default: one for each core"},
        {"--confusion", OPTION_FLAG, &a.confusion, false, NULL, "print the confusion matrix too"},
    };
    const struct usage usage = {"eval", "measure a model's accuracy on a data set", NULL, options,
                                sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_model *model;
    struct data_set data = {0};
    vit_error why = {""};
    vit_status status = model_read(&model, a.model, &why);
    if (!status && !vit_model_config(model)->decoder.depth)
        status = model_needs_classes(model, a.model, &why);
    if (!status) status = open_data(&data, &a, vit_model_config(model), &why);
    if (!status) status = measure(&a, model, &data, &why);
    data_close(&data);
    vit_close(model);
    return status ? fail(&why) : EXIT_FINE;
}
