/* vit train: a recipe and a data set become a model file. */
#include "base/error.h"
#include "cli.h"
#include "kernels/kernels.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/files.h"
#include "train/idx.h"
#include "train/job.h"
#include "train/jsonl.h"
#include "train/recipe.h"
#include "train/strokes.h"
#include "train/team.h"

#include <stdio.h>
#include <stdlib.h>

struct session {
    struct progress progress;
    struct train_progress last; /* as of the last step */
};

static bool on_step(void *context, const struct train_progress *now) {
    struct session *session = context;
    session->last = *now;
    progress_show(&session->progress, now);
    return !interrupted();
}

static void on_epoch(void *context, size_t epoch, size_t epochs, const struct epoch_record *r) {
    struct session *session = context;
    progress_clear(&session->progress);
    printf("epoch %zu/%zu  loss %.4f  accuracy %.4f  ", epoch, epochs, r->train_loss,
           r->train_accuracy);
    if (r->validation_accuracy >= 0)
        printf("validation loss %.4f  accuracy %.4f", r->validation_loss, r->validation_accuracy);
    else
        printf("validation -");
    if (r->drawings_accuracy >= 0) printf("  drawings %.4f", r->drawings_accuracy);
    printf("  rate %.3g  %.0f images/s  %.1f GFLOP/s\n", r->learning_rate, r->images_per_second,
           r->gflops);
    fflush(stdout);
}

static void on_resumed(void *context, size_t epoch, size_t epochs, size_t done, size_t images) {
    (void)context;
    printf("resumed after epoch %zu of %zu", epoch, epochs);
    if (done) printf(" and %zu of the next one's %zu images", done, images);
    printf("\n");
    fflush(stdout);
}

struct arguments {
    const char *data, *strokes, *recipe, *out, *init, *teacher;
    size_t epochs, threads, snapshots;
    uint64_t seed;
    bool fresh;
};

static const uint64_t SEED_OF_RECIPE = UINT64_MAX;
enum { MOST_RECIPE = 1 << 20 }; /* bytes */

static vit_status load_recipe(struct recipe *recipe, const struct arguments *a, vit_error *why) {
    uint8_t *json;
    size_t size;
    vit_status status = read_file(&json, &size, a->recipe, MOST_RECIPE, why);
    if (status) return status;
    vit_error inner = {""};
    status = recipe_read(recipe, (const char *)json, size, &inner);
    free(json);
    if (status) snprintf(why->text, sizeof why->text, "%.80s: %.150s", a->recipe, inner.text);
    if (a->epochs) recipe->epochs = a->epochs;
    if (a->seed != SEED_OF_RECIPE) recipe->seed = a->seed;
    return status;
}

/* Options that the recipe needs, or has no use for. */
static vit_status check_options(const struct arguments *a, const struct recipe *recipe,
                                vit_error *why) {
    const struct {
        bool wrong;
        const char *text;
    } checks[] = {
        {recipe->drawings && !a->strokes,
         "training key drawings: expected a file of them (--strokes)"},
        {recipe->distillation > 0 && !a->teacher,
         "training key distillation: expected a model to learn from (--teacher)"},
        {a->teacher && recipe->distillation == 0,
         "--teacher: expected a recipe with distillation above 0, got 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].wrong) return vit_fail(why, VIT_BAD_ARGUMENT, "%s", checks[i].text);
    return VIT_OK;
}

static int report(const struct arguments *a, const struct recipe *recipe, bool finished,
                  const struct train_progress *last) {
    if (finished) {
        show(stdout, a->out);
        printf(": %zu epochs, seed %llu\n", recipe->epochs, (unsigned long long)recipe->seed);
        return EXIT_FINE;
    }
    fprintf(stderr,
            "vit: interrupted in epoch %zu of %zu, after %zu of its %zu images; "
            "the run is saved in ",
            last->epoch, last->epochs, last->done, last->images);
    show(stderr, a->out);
    fprintf(stderr, ".checkpoint; run the same command again to continue\n");
    return EXIT_INTERRUPTED;
}

/* Opens a model whose parameters can be read. Without a path there is none. */
static vit_status open_floats(vit_model **model, const char *path,
                              const struct vit_kernels *kernels, vit_error *why) {
    vit_status status =
        path ? model_read_with_bytes(model, NULL, NULL, path, kernels, why) : VIT_OK;
    if (status || !*model || !vit_model_config(*model)->int8) return status;
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "%s: expected a model of floats to train on, got an int8 one; use the model "
                    "that it was quantised from",
                    path);
}

static int train(const struct arguments *a) {
    struct recipe recipe = {0};
    struct data_set data = {0};
    struct drawings drawings = {0};
    vit_model *start = NULL, *teacher = NULL;
    vit_error why = {""};
    struct session session = {.progress = progress_open(stderr)};
    bool finished = false;
    vit_status status =
        a->snapshots == 1
            ? vit_fail(&why, VIT_BAD_ARGUMENT,
                       "--snapshots: expected at least 2, the first and the last, got 1")
            : load_recipe(&recipe, a, &why);
    if (!status) status = check_options(a, &recipe, &why);
    if (!status) status = data_open_directory(&data, a->data, &recipe.config, &why);
    if (!status && a->strokes)
        status = drawings_open(&drawings, a->strokes, recipe.config.classes, &why);
    if (!status) status = open_floats(&start, a->init, &vit_native, &why);
    if (!status) status = open_floats(&teacher, a->teacher, recipe_kernels(&recipe), &why);
    if (!status && recipe.precision == PRECISION_BFLOAT16 && recipe_kernels(&recipe) == &vit_native)
        printf("precision bfloat16: this processor cannot multiply it; float32 is used, which is "
               "slower\n");
    if (!status) {
        interrupts_catch();
        struct train_job job = {
            .recipe = &recipe,
            .data = &data,
            .drawings = a->strokes ? &drawings : NULL,
            .start = start,
            .teacher = teacher,
        };
        struct train_files files = {
            .out = a->out,
            .snapshots = a->snapshots,
            .fresh = a->fresh,
            .threads = a->threads,
            .watch = {&session, on_step, on_epoch, on_resumed},
        };
        status = train_run(&job, &files, &finished, &why);
        progress_clear(&session.progress);
    }
    int code = status ? fail(&why) : report(a, &recipe, finished, &session.last);
    vit_close(teacher);
    vit_close(start);
    drawings_close(&drawings);
    data_close(&data);
    recipe_close(&recipe);
    return code;
}

int command_train(int argc, char **argv) {
    struct arguments a = {.threads = cpu_count(), .seed = SEED_OF_RECIPE};
    const struct option options[] = {
        {"--data", OPTION_TEXT, &a.data, true, "DIR", "IDX files under MNIST's names, .gz or not"},
        {"--strokes", OPTION_TEXT, &a.strokes, false, "FILE",
         "pen drawings, a line of JSON each, gzipped or not"},
        {"--recipe", OPTION_TEXT, &a.recipe, true, "FILE", "JSON: the model and its training"},
        {"--out", OPTION_TEXT, &a.out, true, "MODEL",
         "safetensors to write; beside it MODEL.log.tsv"},
        {"--epochs", OPTION_COUNT, &a.epochs, false, "N", "overrides the recipe's"},
        {"--threads", OPTION_COUNT, &a.threads, false, "N", "default: one for each core"},

        {"--seed", OPTION_SEED, &a.seed, false, "S", "overrides the recipe's"},
        {"--init", OPTION_TEXT, &a.init, false, "MODEL", "start from its parameters (fine-tune)"},
        {"--teacher", OPTION_TEXT, &a.teacher, false, "MODEL",
         "learn from its answers too, as the recipe's distillation says"},
        {"--snapshots", OPTION_COUNT, &a.snapshots, false, "N",
         "write N models during training, from step 0 to the last: MODEL.step-000000.safetensors"},
        {"--fresh", OPTION_FLAG, &a.fresh, false, NULL,
         "start over, even if there is a checkpoint"},
    };
    const struct usage usage = {"train", "train a model from a recipe; resumes an interrupted run",
                                NULL, options, sizeof options / sizeof *options};
    int operands, code;
    return options_read(&usage, argc, argv, &operands, &code) ? train(&a) : code;
}
