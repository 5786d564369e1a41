/* A run of the trainer with files: its log, its checkpoint, the models that it writes, its
 * speed. */
#define _POSIX_C_SOURCE 200809L
#include "run.h"
#include "base/error.h"
#include "checkpoint.h"
#include "data.h"
#include "files.h"
#include "flops.h"
#include "job.h"
#include "recipe.h"
#include "resume.h"
#include "team.h"
#include "trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct run {
    const struct train_files *files;
    const struct recipe *recipe;
    const struct data_set *data;
    struct trainer *trainer;
    struct checkpoint *state; /* the trainer's */
    char *checkpoint_path, *log_path;
    double begin; /* of the epoch, or of this run in it */
    size_t done;  /* images of the epoch that were done by then */
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Images of the epoch that are done. */
static size_t images_done(const struct run *r) {
    size_t done = r->state->step * r->recipe->batch, images = trainer_images(r->trainer);
    return done < images ? done : images;
}

static void start_clock(struct run *r) {
    r->begin = now();
    r->done = images_done(r);
}

/* ---- Models -------------------------------------------------------------- */

static char *join(const char *path, const char *ending) {
    char *result = malloc(strlen(path) + strlen(ending) + 1);
    return result ? strcat(strcpy(result, path), ending) : NULL;
}

/* Writes the average of the parameters so far. accuracy -1: not measured. */
static vit_status write_average(const struct run *r, const char *path, double accuracy,
                                vit_error *why) {
    size_t size;
    uint8_t *bytes = trainer_model(r->trainer, accuracy, &size);
    vit_status status = bytes ? write_model(path, bytes, size, why)
                              : vit_fail(why, VIT_NO_MEMORY, "no memory to write %s", path);
    free(bytes);
    return status;
}

/* The steps after which a snapshot is written go by the cube of its number, because a model changes
 * most at the beginning. */
static bool is_snapshot(const struct run *r, size_t step) {
    size_t count = r->files->snapshots;
    double end = (double)(r->state->steps * r->state->epochs);
    for (size_t i = 0; i < count; i++)
        if (step == (size_t)(end * pow((double)i / (double)(count - 1), 3) + 0.5)) return true;
    return false;
}

static vit_status write_snapshot(const struct run *r, vit_error *why) {
    char ending[64];
    size_t step = r->state->epoch * r->state->steps + r->state->step;
    if (!is_snapshot(r, step)) return VIT_OK;
    snprintf(ending, sizeof ending, ".step-%06zu.safetensors", step);
    char *path = join(r->files->out, ending);
    vit_status status = path ? write_average(r, path, -1, why)
                             : vit_fail(why, VIT_NO_MEMORY, "no memory for a snapshot");
    free(path);
    return status;
}

/* ---- The checkpoint ------------------------------------------------------- */

static vit_status write_checkpoint(struct run *r, vit_error *why) {
    const struct data_set *data = r->data;
    struct checkpoint *state = r->state;
    size_t size = 0;
    uint8_t *model = trainer_model(r->trainer, -1, &size);
    char *text = checkpoint_text(state, r->recipe);
    const struct checkpoint_part parts[CHECKPOINT_PARTS] = {
        [CHECKPOINT_TEXT] = {text, text ? strlen(text) : 0},
        [CHECKPOINT_MODEL] = {model, size},
        [CHECKPOINT_IMAGES] = {data->images, data->count * data_values(data)},
        [CHECKPOINT_LABELS] = {data->labels, data_label_bytes(data)},
    };
    memcpy(state->parts, parts, sizeof parts);
    vit_status status =
        model && text ? checkpoint_save(state, r->checkpoint_path, why)
                      : vit_fail(why, VIT_NO_MEMORY, "no memory to write %s", r->checkpoint_path);
    memset(state->parts, 0, sizeof state->parts);
    free(text);
    free(model);
    return status;
}

/* ---- The log ------------------------------------------------------------- */

static vit_status write_log(const struct run *r, vit_error *why) {
    static const char head[] =
        "epoch\tlearning_rate\ttrain_loss\ttrain_accuracy\tvalidation_loss\t"
        "validation_accuracy\tdrawings_accuracy\timages_per_second\tgflops\n";
    enum { LINE = 448 }; /* enough for losses near the largest float */
    size_t room = sizeof head + LINE * r->state->epoch, n = sizeof head - 1;
    char *text = malloc(room);
    if (!text) return vit_fail(why, VIT_NO_MEMORY, "no memory for the log");
    memcpy(text, head, sizeof head);
    for (size_t i = 0; i < r->state->epoch; i++) {
        const struct epoch_record *e = &r->state->records[i];
        char validation[128] = "-\t-", drawings[32] = "-";
        if (e->validation_accuracy >= 0)
            snprintf(validation, sizeof validation, "%.6f\t%.6f", e->validation_loss,
                     e->validation_accuracy);
        if (e->drawings_accuracy >= 0)
            snprintf(drawings, sizeof drawings, "%.6f", e->drawings_accuracy);
        n += (size_t)snprintf(text + n, room - n, "%zu\t%.6g\t%.6f\t%.6f\t%s\t%s\t%.1f\t%.2f\n",
                              i + 1, e->learning_rate, e->train_loss, e->train_accuracy, validation,
                              drawings, e->images_per_second, e->gflops);
    }
    vit_status status = write_file(r->log_path, text, n, why);
    free(text);
    return status;
}

/* ---- The loop ------------------------------------------------------------ */

static struct train_progress progress(const struct run *r) {
    /* The backward pass costs twice the forward pass. A sharpness-aware step takes two gradients,
     * but only one of them counts here. */
    double flops = 3 * forward_flops(&r->recipe->config), seconds = now() - r->begin;
    size_t done = images_done(r) - r->done;
    double rate = done ? (double)done / seconds : 0; /* 0: all was done before */
    return (struct train_progress){
        .epoch = r->state->epoch + 1,
        .epochs = r->state->epochs,
        .done = images_done(r),
        .images = trainer_images(r->trainer),
        .seconds = seconds,
        .rate = rate,
        .loss = r->state->sums.loss / (double)images_done(r),
        .accuracy = step_accuracy(&r->state->sums),
        .gflops = rate * flops * 1e-9,
    };
}

/* Takes a step. *go becomes false if the watch stops the run. */
static vit_status take_step(struct run *r, bool *go, vit_error *why) {
    const struct train_watch *watch = &r->files->watch;
    vit_status status = trainer_step(r->trainer, why);
    if (!status) status = write_snapshot(r, why);
    if (status || !watch->step) return status;
    struct train_progress so_far = progress(r);
    *go = watch->step(watch->context, &so_far);
    return VIT_OK;
}

static vit_status end_epoch(struct run *r, vit_error *why) {
    const struct train_watch *watch = &r->files->watch;
    struct train_progress last = progress(r);
    vit_status status = trainer_end_epoch(r->trainer, why);
    struct epoch_record *record = &r->state->records[r->state->epoch - 1];
    record->images_per_second = last.rate;
    record->gflops = last.gflops;
    if (!status) status = write_checkpoint(r, why);
    if (!status) status = write_log(r, why);
    if (!status && watch->epoch)
        watch->epoch(watch->context, r->state->epoch, r->state->epochs, record);
    start_clock(r);
    return status;
}

static vit_status resume(struct run *r, vit_error *why) {
    const struct train_watch *watch = &r->files->watch;
    bool found = false;
    vit_status status =
        r->files->fresh ? VIT_OK : checkpoint_load(r->state, r->checkpoint_path, &found, why);
    if (!status && found && watch->resumed)
        watch->resumed(watch->context, r->state->epoch, r->state->epochs, images_done(r),
                       trainer_images(r->trainer));
    return status;
}

static vit_status run(struct run *r, bool *go, vit_error *why) {
    vit_status status = resume(r, why);
    if (!status) status = write_log(r, why); /* if it cannot be written, fail before an epoch */
    if (!status && r->state->epoch + r->state->step == 0) status = write_snapshot(r, why);
    start_clock(r);
    while (!status && *go && !trainer_finished(r->trainer))
        status = trainer_at_end_of_epoch(r->trainer) ? end_epoch(r, why) : take_step(r, go, why);
    if (status) return status;
    if (!*go) return write_checkpoint(r, why);
    status = write_average(r, r->files->out,
                           r->state->records[r->state->epochs - 1].validation_accuracy, why);
    if (!status) unlink(r->checkpoint_path);
    return status;
}

vit_status train_run(const struct train_job *job, const struct train_files *files, bool *finished,
                     vit_error *why) {
    struct run r = {.files = files, .recipe = job->recipe, .data = job->data};
    vit_team *team = NULL;
    struct stat out;
    *finished = false;
    if (!stat(files->out, &out) && S_ISDIR(out.st_mode))
        return vit_fail(why, VIT_BAD_ARGUMENT, "%s: expected a file to write, got a directory",
                        files->out);
    r.checkpoint_path = join(files->out, ".checkpoint");
    r.log_path = join(files->out, ".log.tsv");
    vit_status status = r.checkpoint_path && r.log_path
                            ? team_open(&team, files->threads, why)
                            : vit_fail(why, VIT_NO_MEMORY, "no memory to train");
    if (!status) status = trainer_open(&r.trainer, job, team, why);
    bool go = true;
    if (!status) {
        r.state = trainer_state(r.trainer);
        status = run(&r, &go, why);
    }
    *finished = !status && go;
    trainer_close(r.trainer);
    team_close(team);
    free(r.log_path);
    free(r.checkpoint_path);
    return status;
}
