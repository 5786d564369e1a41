/* Measures a whole training step of each table that can train: drawing the samples, forward,
 * backward, and AdamW. */
#include "bench.h"

#include "train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };
static const double MOST = 5e10; /* operations: no step that takes more of them is run */

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

/* Images of noise, which are not augmented: recipes differ in that. */
static bool fill_data(struct data_set *data, const vit_config *c) {
    uint32_t seed = 1;
    size_t pixels = c->image_size[0] * c->image_size[1];
    *data = (struct data_set){malloc(BATCH * pixels), malloc(BATCH), BATCH, c->image_size[0],
                              c->image_size[1]};
    for (size_t i = 0; data->images && i < BATCH * pixels; i++)
        data->images[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t i = 0; data->labels && i < BATCH; i++)
        data->labels[i] = (uint8_t)(i % (c->classes < 256 ? c->classes : 256));
    return data->images && data->labels;
}

/* A recipe for any model: its own takes the place of this one. */
static const char RECIPE[] =
    "{\"model\":{\"image_size\":[4,4],\"patch_size\":[4,4],\"channels\":1,\"width\":4,\"depth\":1,"
    "\"heads\":1,\"mlp_width\":4,\"classes\":2,\"norm\":\"pre\",\"activation\":\"gelu\","
    "\"position\":\"learned\",\"pool\":\"class\",\"labels\":[\"0\",\"1\"]},"
    "\"training\":{\"epochs\":100000,\"batch\":64,\"validation\":0,\"augment\":{\"probability\":0}}"
    "}";

static vit_status recipe_for(struct recipe *recipe, const vit_model *model, vit_error *why) {
    size_t size;
    const char *json = vit_model_json(model, &size);
    vit_status status = recipe_read(recipe, RECIPE, sizeof RECIPE - 1, why);
    char *copy = status ? NULL : malloc(size + 1);
    if (status) return status;
    if (!copy) return bench_no_memory(why), VIT_NO_MEMORY;
    memcpy(copy, json, size);
    copy[size] = '\0';
    free(recipe->model);
    recipe->model = copy;
    recipe->config = *vit_model_config(model);
    return VIT_OK;
}

static vit_status run_open(struct run *r, const vit_model *model, const struct vit_kernels *k,
                           vit_error *why) {
    *r = (struct run){.why = why};
    if (!fill_data(&r->data, vit_model_config(model))) return bench_no_memory(why), VIT_NO_MEMORY;
    vit_status status = recipe_for(&r->recipe, model, why);
    r->job = (struct train_job){.recipe = &r->recipe, .data = &r->data, .kernels = k, .threads = 1};
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
        double loss = first_loss(&run), work = 3 * BATCH * forward_flops(vit_model_config(model));
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
    double want = NAN, work = 3 * BATCH * forward_flops(c);
    if (c->int8 || c->channels != 1 || !vit_tape_size(model, 1) || work > MOST) return true;
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
