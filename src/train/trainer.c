/* The training loop: epochs of batches, the log, the checkpoints, and the models that are written.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "kernels/kernels.h"
#include "rng.h"
#include "step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct trainer {
    const struct train_job *job;
    const struct recipe *recipe;
    const struct data_set *data;
    struct samples samples;
    struct data_set drawn; /* drawings to validate with */
    size_t steps;          /* in an epoch */
    vit_model *model, *average;
    vit_team *team;
    struct stepper *stepper;
    struct checkpoint state;
    char *checkpoint_path, *log_path;
    uint32_t *order; /* this epoch's order of the samples */
    size_t epoch, step;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Models -------------------------------------------------------------- */

static char *join(const char *path, const char *ending) {
    char *joined = malloc(strlen(path) + strlen(ending) + 1);
    return joined ? strcat(strcpy(joined, path), ending) : NULL;
}

/* Writes the average of the parameters so far. accuracy -1: not measured. */
static vit_status write_average(const struct trainer *t, const char *path, double accuracy,
                                vit_error *why) {
    char *json = recipe_metadata(t->recipe, accuracy);
    size_t json_size = json ? strlen(json) : 0;
    const float *parameters = t->state.arrays[AVERAGE];
    size_t size = json ? vit_encode(NULL, 0, t->average, parameters, json, json_size) : 0;
    uint8_t *bytes = json ? malloc(size) : NULL;
    vit_status status;
    if (bytes) {
        vit_encode(bytes, size, t->average, parameters, json, json_size);
        status = write_model(path, bytes, size, why);
    } else {
        status = vit_fail(why, VIT_NO_MEMORY, "no memory to write %s", path);
    }
    free(bytes);
    free(json);
    return status;
}

/* The steps after which a snapshot is written go by the cube of its number, because a model changes
 * most at the beginning. */
static bool is_snapshot(const struct trainer *t) {
    size_t count = t->job->snapshots;
    double end = (double)(t->steps * t->recipe->epochs);
    for (size_t i = 0; i < count; i++)
        if (t->step == (size_t)(end * pow((double)i / (double)(count - 1), 3) + 0.5)) return true;
    return false;
}

static vit_status write_snapshot(const struct trainer *t, vit_error *why) {
    char ending[64];
    if (!is_snapshot(t)) return VIT_OK;
    snprintf(ending, sizeof ending, ".step-%06zu.safetensors", t->step);
    char *path = join(t->job->out, ending);
    vit_status status = path ? write_average(t, path, -1, why)
                             : vit_fail(why, VIT_NO_MEMORY, "no memory for a snapshot");
    free(path);
    return status;
}

/* ---- One epoch ---------------------------------------------------------- */

/* A new order for each epoch: Fisher & Yates's shuffle in Durstenfeld's form. */
static void shuffle(struct trainer *t) {
    struct rng rng = rng_stream(t->recipe->seed, RNG_SHUFFLE, t->epoch, 0);
    for (size_t i = 0; i < t->samples.count; i++) t->order[i] = (uint32_t)i;
    for (size_t i = t->samples.count; i > 1; i--) {
        size_t j = rng_below(&rng, i);
        uint32_t swap = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = swap;
    }
}

static double share_right(const struct step_sums *sums) {
    return sums->digits ? (double)sums->correct / (double)sums->digits : 0;
}

/* Trains on every image once. *go becomes false if the watch stops the run. */
static vit_status train_images(struct trainer *t, struct epoch_record *record, bool *go,
                               vit_error *why) {
    const struct train_watch *watch = &t->job->watch;
    double begin = now(), seconds = 0, rate = 0;
    /* The backward pass costs twice the forward pass. A sharpness-aware step takes two gradients,
     * but only one of them counts here. */
    double flops = 3 * forward_flops(&t->recipe->config);
    struct step_sums sums = {0};
    size_t batch = t->recipe->batch, n;
    *go = true;
    vit_status status = t->step ? VIT_OK : write_snapshot(t, why);
    if (status) return status;
    for (size_t done = 0; done < t->samples.count && *go; done += n) {
        size_t left = t->samples.count - done;
        n = left < batch ? left : batch;
        rate = schedule_rate(t->recipe, t->step, t->steps);
        if (!stepper_step(t->stepper, &sums, t->order + done, n, t->epoch, t->step++, rate))
            return vit_fail(why, VIT_BAD_ARGUMENT,
                            "epoch %z: the gradient is no longer finite; try a smaller "
                            "learning_rate, a longer warm-up or a clip_norm",
                            t->epoch + 1);
        status = write_snapshot(t, why);
        if (status) return status;
        seconds = now() - begin;
        double so_far = (double)(done + n);
        struct train_progress progress = {
            .epoch = t->epoch + 1,
            .epochs = t->recipe->epochs,
            .done = done + n,
            .images = t->samples.count,
            .seconds = seconds,
            .loss = sums.loss / so_far,
            .accuracy = share_right(&sums),
            .gflops = so_far * flops / seconds * 1e-9,
        };
        if (watch->step) *go = watch->step(watch->context, &progress);
    }
    double images = (double)t->samples.count;
    *record = (struct epoch_record){
        .learning_rate = rate,
        .train_loss = sums.loss / images,
        .train_accuracy = share_right(&sums),
        .validation_loss = -1,
        .validation_accuracy = -1,
        .drawings_accuracy = -1,
        .images_per_second = images / seconds,
        .gflops = images * flops / seconds * 1e-9,
    };
    return VIT_OK;
}

static vit_status validate(struct trainer *t, struct epoch_record *record, vit_error *why) {
    struct score score;
    if (!t->recipe->validation) return VIT_OK;
    vit_status status = evaluate(&score, NULL, t->team, t->average, t->data, t->samples.images,
                                 t->recipe->validation, why);
    record->validation_loss = score.loss;
    record->validation_accuracy = (double)score.correct / (double)score.count;
    if (status || !t->drawn.count) return status;
    status = evaluate(&score, NULL, t->team, t->average, &t->drawn, 0, t->drawn.count, why);
    record->drawings_accuracy = (double)score.correct / (double)score.count;
    return status;
}

static vit_status write_log(const struct trainer *t, vit_error *why) {
    static const char head[] =
        "epoch\tlearning_rate\ttrain_loss\ttrain_accuracy\tvalidation_loss\t"
        "validation_accuracy\tdrawings_accuracy\timages_per_second\tgflops\n";
    enum { LINE = 448 }; /* enough for losses near the largest float */
    size_t room = sizeof head + LINE * t->state.epoch, n = sizeof head - 1;
    char *text = malloc(room);
    if (!text) return vit_fail(why, VIT_NO_MEMORY, "no memory for the log");
    memcpy(text, head, sizeof head);
    for (size_t i = 0; i < t->state.epoch; i++) {
        const struct epoch_record *r = &t->state.records[i];
        char validation[128] = "-\t-", drawings[32] = "-";
        if (r->validation_accuracy >= 0)
            snprintf(validation, sizeof validation, "%.6f\t%.6f", r->validation_loss,
                     r->validation_accuracy);
        if (r->drawings_accuracy >= 0)
            snprintf(drawings, sizeof drawings, "%.6f", r->drawings_accuracy);
        n += (size_t)snprintf(text + n, room - n, "%zu\t%.6g\t%.6f\t%.6f\t%s\t%s\t%.1f\t%.2f\n",
                              i + 1, r->learning_rate, r->train_loss, r->train_accuracy, validation,
                              drawings, r->images_per_second, r->gflops);
    }
    vit_status status = write_file(t->log_path, text, n, why);
    free(text);
    return status;
}

static vit_status train_epoch(struct trainer *t, bool *go, vit_error *why) {
    struct epoch_record *record = &t->state.records[t->epoch];
    shuffle(t);
    vit_status status = train_images(t, record, go, why);
    if (status || !*go) return status;
    status = validate(t, record, why);
    t->state.epoch = t->epoch + 1;
    if (!status) status = checkpoint_save(&t->state, t->checkpoint_path, why);
    if (!status) status = write_log(t, why);
    if (!status && t->job->watch.epoch)
        t->job->watch.epoch(t->job->watch.context, t->state.epoch, t->recipe->epochs, record);
    return status;
}

/* ---- A run -------------------------------------------------------------- */

static vit_status open_models(struct trainer *t, vit_error *why) {
    const struct recipe *recipe = t->recipe;
    vit_model **models[] = {&t->model, &t->average};
    const struct vit_kernels *kernels[] = {recipe_kernels(recipe), &vit_native};
    for (size_t i = 0; i < 2; i++) {
        vit_status status = vit_create(models[i], &recipe->config, recipe->model,
                                       strlen(recipe->model), kernels[i], why);
        if (status) return status;
    }
    t->state.arrays[PARAMETERS] = vit_parameters(t->model, &t->state.count);
    t->state.arrays[AVERAGE] = vit_parameters(t->average, &t->state.count);
    init_parameters(t->model, recipe->seed);
    vit_status status = t->job->start ? init_from(t->model, t->job->start, why) : VIT_OK;
    memcpy(t->state.arrays[AVERAGE], t->state.arrays[PARAMETERS], t->state.count * sizeof(float));
    return status;
}

static vit_status open_buffers(struct trainer *t, vit_error *why) {
    t->state.epochs = t->recipe->epochs;
    t->state.records = calloc(t->state.epochs, sizeof *t->state.records);
    t->state.arrays[MOMENT1] = calloc(t->state.count, sizeof(float));
    t->state.arrays[MOMENT2] = calloc(t->state.count, sizeof(float));
    t->order = malloc(t->samples.count * sizeof *t->order);
    t->checkpoint_path = join(t->job->out, ".checkpoint");
    t->log_path = join(t->job->out, ".log.tsv");
    bool held = t->state.records && t->state.arrays[MOMENT1] && t->state.arrays[MOMENT2] &&
                t->order && t->checkpoint_path && t->log_path;
    return held ? VIT_OK : vit_fail(why, VIT_NO_MEMORY, "no memory to train this model");
}

static vit_status trainer_open(struct trainer *t, const struct train_job *job, vit_error *why) {
    const struct recipe *recipe = job->recipe;
    const struct data_set *data = job->data;
    *t = (struct trainer){.job = job, .recipe = recipe, .data = data};
    if (recipe->validation >= data->count)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "training key validation: %z of %z images leave none to train on",
                        recipe->validation, data->count);
    struct stat out;
    if (!stat(job->out, &out) && S_ISDIR(out.st_mode))
        return vit_fail(why, VIT_BAD_ARGUMENT, "%s: expected a file to write, got a directory",
                        job->out);
    vit_status status = teacher_check(job->teacher, recipe, why);
    if (!status) status = samples_open(&t->samples, recipe, data, job->drawings, why);
    t->steps = (t->samples.count + recipe->batch - 1) / recipe->batch;
    if (!status && recipe->drawings && !job->drawings)
        status = vit_fail(why, VIT_BAD_ARGUMENT,
                          "training key drawings: expected a file of them (--strokes)");
    if (!status && job->drawings && recipe->validation)
        status = drawings_data(&t->drawn, job->drawings, WRITERS_VALIDATION, 1, data->rows,
                               data->columns, why);
    if (!status) status = open_models(t, why);
    if (!status) status = open_buffers(t, why);
    if (!status) status = team_open(&t->team, job->threads, why);
    if (!status)
        status = stepper_open(&t->stepper, job, &t->samples, t->team, t->model, &t->state, why);
    if (!status) status = checkpoint_identify(&t->state, job, why);
    return status;
}

static void trainer_close(struct trainer *t) {
    stepper_close(t->stepper);
    team_close(t->team);
    free(t->log_path);
    free(t->checkpoint_path);
    free(t->order);
    free(t->state.arrays[MOMENT1]);
    free(t->state.arrays[MOMENT2]);
    free(t->state.records);
    data_close(&t->drawn);
    samples_close(&t->samples);
    vit_close(t->average);
    vit_close(t->model);
}

static vit_status resume(struct trainer *t, vit_error *why) {
    const struct train_watch *watch = &t->job->watch;
    bool found = false;
    vit_status status =
        t->job->fresh ? VIT_OK : checkpoint_load(&t->state, t->checkpoint_path, &found, why);
    if (status || !found) return status;
    t->step = t->state.epoch * t->steps;
    if (watch->resumed) watch->resumed(watch->context, t->state.epoch, t->recipe->epochs);
    return VIT_OK;
}

vit_status train_run(const struct train_job *job, bool *finished, vit_error *why) {
    struct trainer trainer, *t = &trainer;
    bool go = true;
    vit_status status = trainer_open(t, job, why);
    if (!status) status = resume(t, why);
    if (!status) status = write_log(t, why); /* if it cannot be written, fail before an epoch */
    for (t->epoch = t->state.epoch; !status && go && t->epoch < job->recipe->epochs; t->epoch++)
        status = train_epoch(t, &go, why);
    if (!status && go)
        status = write_average(t, job->out,
                               t->state.records[job->recipe->epochs - 1].validation_accuracy, why);
    *finished = !status && go;
    if (*finished) unlink(t->checkpoint_path);
    trainer_close(t);
    return status;
}
