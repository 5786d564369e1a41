/* The training loop in memory: it knows neither files nor the clock. */
#include "trainer.h"
#include "adamw.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/team.h"
#include "checkpoint.h"
#include "data.h"
#include "evaluate.h"
#include "init.h"
#include "job.h"
#include "kernels/kernels.h"
#include "recipe.h"
#include "samples.h"
#include "save.h"
#include "step.h"
#include "strokes.h"
#include "tape.h"
#include "teacher.h"

#include <stdlib.h>
#include <string.h>

struct trainer {
    const struct train_job *job;
    const struct recipe *recipe;
    struct samples samples;
    struct data_set drawing_images; /* drawings to validate with */
    vit_model *model, *average;
    vit_team *team;
    struct stepper *stepper;
    struct checkpoint state;
    uint32_t *order; /* an epoch's order of the samples */
    size_t ordered;  /* the epoch, counted from 1, that `order` is of; 0: none */
};

/* ---- Opening ------------------------------------------------------------- */

static vit_status open_models(struct trainer *t, vit_error *why) {
    const struct recipe *recipe = t->recipe;
    vit_model **models[] = {&t->model, &t->average};
    const struct vit_kernels *kernels[] = {
        t->job->kernels ? t->job->kernels : recipe_kernels(recipe), vit_kernels_training()};
    for (size_t i = 0; i < 2; i++) {
        vit_status status = vit_create(models[i], &recipe->config, recipe->model,
                                       strlen(recipe->model), kernels[i], why);
        if (status) return status;
    }
    t->state.arrays[PARAMETERS] = vit_parameters(t->model, &t->state.count);
    t->state.arrays[AVERAGE] = vit_parameters(t->average, &t->state.count);
    init_parameters(t->model, recipe->start, recipe->seed);
    vit_status status = t->job->start ? init_from(t->model, t->job->start, why) : VIT_OK;
    memcpy(t->state.arrays[AVERAGE], t->state.arrays[PARAMETERS], t->state.count * sizeof(float));
    return status;
}

static vit_status open_buffers(struct trainer *t, vit_error *why) {
    size_t batch = t->recipe->batch;
    t->state.epochs = t->recipe->epochs;
    t->state.steps = (t->samples.count + batch - 1) / batch;
    t->state.records = calloc(t->state.epochs, sizeof *t->state.records);
    t->state.arrays[MOMENT1] = calloc(t->state.count, sizeof(float));
    t->state.arrays[MOMENT2] = calloc(t->state.count, sizeof(float));
    t->order = malloc(t->samples.count * sizeof *t->order);
    bool has_memory =
        t->state.records && t->state.arrays[MOMENT1] && t->state.arrays[MOMENT2] && t->order;
    return has_memory ? VIT_OK : vit_fail(why, VIT_NO_MEMORY, "no memory to train this model");
}

static vit_status check_job(const struct train_job *job, vit_error *why) {
    const struct recipe *recipe = job->recipe;
    const vit_config *config = &recipe->config;
    const struct data_set *data = job->data;
    const char *untrainable = vit_untrainable(config);
    if (untrainable)
        return vit_fail(why, VIT_BAD_CONFIG, "this model has no backward pass: %s", untrainable);
    if (config->problem_type != VIT_SINGLE_LABEL_CLASSIFICATION)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "problem_type: expected single_label_classification and at least two "
                        "classes");
    const size_t got[] = {data->channels, data->rows, data->columns};
    const size_t want[] = {config->channels, config->image_size[0], config->image_size[1]};
    if (memcmp(got, want, sizeof got) != 0)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "the images have channels, rows and columns %d; the recipe's model wants "
                        "%d",
                        got, (size_t)3, want, (size_t)3);
    if (!config->decoder.depth != !data->text_tokens)
        return vit_fail(why, VIT_BAD_ARGUMENT, "expected %s for this model",
                        data->text_tokens ? "labels, not texts," : "texts, not labels,");
    if (recipe->validation >= data->count)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "training key validation: %z of %z images leave none to train on",
                        recipe->validation, data->count);
    return teacher_check(job->teacher, recipe, why);
}

static vit_status open_all(struct trainer *t, vit_error *why) {
    const struct train_job *job = t->job;
    const struct recipe *recipe = job->recipe;
    const struct data_set *data = job->data;
    vit_status status = check_job(job, why);
    if (!status) status = samples_open(&t->samples, recipe, data, job->drawings, why);
    if (!status && recipe->drawings && !job->drawings)
        status = vit_fail(why, VIT_BAD_ARGUMENT,
                          "training key drawings: expected drawings to train on, got none");
    if (!status && job->drawings && recipe->validation)
        status = drawings_data(&t->drawing_images, job->drawings,
                               (struct drawing_options){.writers = WRITERS_VALIDATION, .points = 1},
                               data->rows, data->columns, why);
    if (!status) status = open_models(t, why);
    if (!status) status = open_buffers(t, why);
    if (!status)
        status = stepper_open(&t->stepper, job, &t->samples, t->team, t->model, &t->state, why);
    return status ? status : checkpoint_identify(&t->state, job, team_size(t->team), why);
}

vit_status trainer_open(struct trainer **out, const struct train_job *job, vit_team *team,
                        vit_error *why) {
    struct trainer *t = *out = calloc(1, sizeof *t);
    if (!t) return vit_fail(why, VIT_NO_MEMORY, "no memory to train");
    t->job = job;
    t->recipe = job->recipe;
    t->team = team;
    vit_status status = open_all(t, why);
    if (!status) return VIT_OK;
    trainer_close(t);
    *out = NULL;
    return status;
}

void trainer_close(struct trainer *t) {
    if (!t) return;
    stepper_close(t->stepper);
    free(t->order);
    free(t->state.arrays[MOMENT1]);
    free(t->state.arrays[MOMENT2]);
    free(t->state.records);
    data_close(&t->drawing_images);
    samples_close(&t->samples);
    vit_close(t->average);
    vit_close(t->model);
    free(t);
}

/* ---- Its state ----------------------------------------------------------- */

struct checkpoint *trainer_state(struct trainer *t) {
    return &t->state;
}

size_t trainer_images(const struct trainer *t) {
    return t->samples.count;
}

bool trainer_finished(const struct trainer *t) {
    return t->state.epoch == t->state.epochs;
}

bool trainer_at_end_of_epoch(const struct trainer *t) {
    return !trainer_finished(t) && t->state.step == t->state.steps;
}

uint8_t *trainer_model(const struct trainer *t, double accuracy, size_t *size) {
    char *json = recipe_metadata(t->recipe, accuracy);
    size_t json_size = json ? strlen(json) : 0;
    const float *parameters = t->state.arrays[AVERAGE];
    *size = json ? vit_encode(NULL, 0, t->average, parameters, json, json_size) : 0;
    uint8_t *bytes = json ? malloc(*size) : NULL;
    if (bytes) vit_encode(bytes, *size, t->average, parameters, json, json_size);
    free(json);
    return bytes;
}

/* ---- Steps --------------------------------------------------------------- */

/* A new order for each epoch: Fisher & Yates's shuffle in Durstenfeld's form. */
static void shuffle(struct trainer *t) {
    struct rng rng = rng_stream(t->recipe->seed, RNG_SHUFFLE, t->state.epoch, 0);
    for (size_t i = 0; i < t->samples.count; i++) t->order[i] = (uint32_t)i;
    for (size_t i = t->samples.count; i > 1; i--) {
        size_t j = rng_below(&rng, i);
        uint32_t swap = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = swap;
    }
    t->ordered = t->state.epoch + 1;
}

vit_status trainer_step(struct trainer *t, vit_error *why) {
    struct checkpoint *state = &t->state;
    if (trainer_finished(t) || trainer_at_end_of_epoch(t))
        return vit_fail(why, VIT_BAD_ARGUMENT, "expected an epoch with steps left");
    if (t->ordered != state->epoch + 1) shuffle(t);
    size_t done = state->step * t->recipe->batch, rest = t->samples.count - done;
    size_t n = rest < t->recipe->batch ? rest : t->recipe->batch;
    size_t step = state->epoch * state->steps + state->step;
    double rate = schedule_rate(t->recipe, step, state->steps);
    if (!stepper_step(t->stepper, &state->sums, t->order + done, n, state->epoch, step, rate))
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "epoch %z: the gradient is no longer finite; try a smaller "
                        "learning_rate, a longer warm-up or a clip_norm",
                        state->epoch + 1);
    state->step++;
    return VIT_OK;
}

static vit_status validate(struct trainer *t, struct epoch_record *record, vit_error *why) {
    struct score score;
    if (!t->recipe->validation) return VIT_OK;
    vit_status status = evaluate(&score, NULL, t->team, t->average, t->job->data, t->samples.images,
                                 t->recipe->validation, why);
    record->validation_loss = score.loss;
    record->validation_accuracy = (double)score.correct / (double)score.count;
    if (status || !t->drawing_images.count) return status;
    status = evaluate(&score, NULL, t->team, t->average, &t->drawing_images, 0,
                      t->drawing_images.count, why);
    record->drawings_accuracy = (double)score.correct / (double)score.count;
    return status;
}

double step_accuracy(const struct step_sums *sums) {
    return sums->digits ? (double)sums->correct / (double)sums->digits : 0;
}

vit_status trainer_end_epoch(struct trainer *t, vit_error *why) {
    struct checkpoint *state = &t->state;
    if (!trainer_at_end_of_epoch(t))
        return vit_fail(why, VIT_BAD_ARGUMENT, "expected an epoch whose steps are all done");
    struct epoch_record *record = &state->records[state->epoch];
    size_t last = (state->epoch + 1) * state->steps - 1;
    *record = (struct epoch_record){
        .learning_rate = schedule_rate(t->recipe, last, state->steps),
        .train_loss = state->sums.loss / (double)t->samples.count,
        .train_accuracy = step_accuracy(&state->sums),
        .validation_loss = -1,
        .validation_accuracy = -1,
        .drawings_accuracy = -1,
    };
    vit_status status = validate(t, record, why);
    state->epoch++;
    state->step = 0;
    state->sums = (struct step_sums){0};
    return status;
}
