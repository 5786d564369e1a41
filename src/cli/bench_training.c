/* Measures a whole training step of each table that can train: drawing the samples, forward,
 * backward, and AdamW. */
#include "bench.h"

#include "base/rng.h"
#include "tape.h"
#include "train/data.h"
#include "train/flops.h"
#include "train/job.h"
#include "train/recipe.h"
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run whose epochs have one step. */
struct run {
    struct recipe recipe;
    struct data_set data;
    struct train_job job;
    struct trainer *trainer;
    vit_status status; /* of the steps so far */
    vit_error *why;
};

static void run_close(struct run *r) {
    trainer_close(r->trainer);
    data_close(&r->data);
    recipe_close(&r->recipe);
}

/* Noise, which is not augmented, because recipes differ in that. */
static bool fill_data(struct data_set *data, const vit_config *c) {
    size_t rows = c->image_size[0], columns = c->image_size[1];
    size_t pixels = BENCH_BATCH * rows * columns;
    *data =
        (struct data_set){malloc(pixels), malloc(BENCH_BATCH), BENCH_BATCH, 1, rows, columns, 0};
    struct rng rng = rng_stream(1, RNG_INIT, 0, 0);
    for (size_t i = 0; data->images && i < pixels; i++)
        data->images[i] = (uint8_t)rng_below(&rng, 256);
    for (size_t i = 0; data->labels && i < BENCH_BATCH; i++)
        data->labels[i] = (uint8_t)(i % (c->classes < 256 ? c->classes : 256));
    return data->images && data->labels;
}

static const char TRAINING[] =
    "{\"epochs\":100000,\"batch\":64,\"validation\":0,\"augment\":{\"probability\":0}}";

static vit_status run_open(struct run *r, const vit_model *model, const struct vit_kernels *k,
                           vit_error *why) {
    *r = (struct run){.why = why};
    if (!fill_data(&r->data, vit_model_config(model))) return bench_no_memory(why), VIT_NO_MEMORY;
    vit_status status = recipe_for(&r->recipe, model, TRAINING, why);
    r->job = (struct train_job){.recipe = &r->recipe, .data = &r->data, .kernels = k};
    return status ? status : trainer_open(&r->trainer, &r->job, NULL, why);
}

static void take_step(void *run) {
    struct run *r = run;
    if (!r->status) r->status = trainer_step(r->trainer, r->why);
    if (!r->status) r->status = trainer_end_epoch(r->trainer, r->why);
}

/* The loss of the first step. */
static double first_loss(struct run *r) {
    take_step(r);
    return r->status ? NAN : trainer_state(r->trainer)->records[0].train_loss;
}

static bool measure_table(struct bench *bench, const vit_model *model, const struct vit_kernels *k,
                          double want, const char *what, vit_error *why) {
    struct run run;
    const struct label label = bench_label(k);
    bool good = !run_open(&run, model, k, why);
    if (good) {
        double loss = first_loss(&run),
               work = 3 * BENCH_BATCH * forward_flops(vit_model_config(model));
        good = fabs(loss - want) <= 1e-3 * want;
        if (!good && !run.status)
            snprintf(why->text, sizeof why->text, "%s: %s: expected scalar's loss %.9g, got %.9g",
                     what, label.text, want, loss);
        struct line line = {what, label.text, GFLOPS, work, bench_limit(bench, k, false)};
        if (good) bench_print(bench, &line, bench_measure(bench, take_step, &run));
        good = good && !run.status;
    }
    run_close(&run);
    return good;
}

bool bench_training(struct bench *bench, const vit_model *model, vit_error *why) {
    static const char what[] = "training step, batch 64";
    const vit_config *c = vit_model_config(model);
    size_t count;
    const struct vit_kernels *const *tables = vit_kernels_all(&count);
    double want = NAN, work = 3 * BENCH_BATCH * forward_flops(c);
    if (c->int8 || c->channels != 1 || c->decoder.depth) return true; /* nor does it make texts */
    if (!vit_tape_size(model, 1) || work > BENCH_MOST) return true;
    for (size_t i = 0; i < count; i++) {
        if (tables[i]->packed || !bench_wants(bench, bench_label(tables[i]).text, what)) continue;
        if (isnan(want)) {
            struct run scalar;
            if (!run_open(&scalar, model, &vit_scalar, why)) want = first_loss(&scalar);
            run_close(&scalar);
            if (isnan(want)) return false;
        }
        if (!measure_table(bench, model, tables[i], want, what, why)) return false;
    }
    return true;
}
