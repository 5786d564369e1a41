/* The loop: epochs of batches. A batch is split over the threads, and a thread's share into
 * micro-batches that one tape holds; each thread sums its gradient, the sums are added in the
 * order of the threads, and each thread updates its range of the parameters. Nothing depends on
 * which thread is faster, so the same seed and number of threads give the same bits. */
#define _POSIX_C_SOURCE 200809L
#include "../error.h"
#include "../kernels/kernels.h"
#include "rng.h"
#include "train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MICRO_BATCH = 8 };

struct lane { /* what one thread works with */
    vit_tape *tape;
    void *tape_memory;
    float *gradient; /* laid out as the parameters */
    float *images, *logits, *dlogits, *keep;
    float *muon; /* scratch for the largest matrix */
    struct sample_room room;
    struct teacher_room teacher;
    uint8_t labels[MICRO_BATCH];
    double loss;            /* sums over the batch */
    size_t correct, digits; /* digits: those with a class */
    double square;          /* of this thread's range of the summed gradient */
};

struct trainer {
    const struct train_job *job;
    const struct recipe *recipe;
    const struct data_set *data;
    struct samples samples;
    struct data_set drawn; /* drawings to validate with */
    size_t steps;          /* of an epoch */
    const struct vit_kernels *kernels; /* of the recipe's precision */
    vit_model *model, *average;
    struct pool *pool;
    struct lane *lanes;
    vit_tensor *tensors;
    size_t tensor_count;
    struct checkpoint state;
    char *checkpoint_path, *log_path;
    uint32_t *order; /* this epoch's order of the images */
    size_t epoch, step;
    struct range batch; /* of `order` */
    struct adamw adamw;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- One step ----------------------------------------------------------- */

/* Stochastic depth: block l of L drops a branch at a rate that grows linearly to drop_path at
 * the last block; kept ones are scaled up for it. Huang et al., arXiv:1603.09382. */
static void draw_keep(float *keep, const struct trainer *t, size_t index) {
    size_t depth = t->recipe->config.depth;
    struct rng rng = rng_stream(t->recipe->seed, RNG_DROP_PATH, t->epoch, index);
    for (size_t l = 0; l < depth; l++) {
        double rate = t->recipe->drop_path * (double)(l + 1) / (double)depth;
        keep[l] = rng_unit(&rng) < rate ? 0 : (float)(1 / (1 - rate));
    }
}

static void micro_batch(struct trainer *t, struct lane *lane, const uint32_t *indices, size_t n) {
    const struct recipe *recipe = t->recipe;
    size_t pixels = t->data->rows * t->data->columns, K = recipe->config.classes;
    size_t depth = recipe->config.depth;
    for (size_t i = 0; i < n; i++) {
        size_t index = indices[i];
        lane->labels[i] =
            sample_draw(lane->images + i * pixels, &lane->room, &t->samples, t->epoch, index);
        draw_keep(lane->keep + i * depth, t, index);
    }
    data_standardise(lane->images, n * pixels, &recipe->config);
    const float *keep = recipe->drop_path > 0 ? lane->keep : NULL;
    float scale = 1 / (float)(t->batch.end - t->batch.begin);
    vit_forward(t->model, lane->tape, lane->images, n, lane->logits, keep);
    double loss = vit_cross_entropy(lane->dlogits, lane->logits, lane->labels, n, K,
                                    (float)recipe->label_smoothing, scale);
    if (t->job->teacher)
        loss = teacher_blend(lane->dlogits, &lane->teacher, t->job->teacher, recipe->distillation,
                             loss, lane->images, lane->logits, n, scale);
    lane->loss += loss;
    vit_backward(t->model, lane->tape, n, lane->dlogits, lane->gradient);
    for (size_t i = 0; i < n; i++) {
        lane->correct += largest_logit(lane->logits + i * K, K) == lane->labels[i];
        lane->digits += lane->labels[i] != NO_CLASS;
    }
}

static void compute_gradient(void *context, size_t thread, size_t threads) {
    struct trainer *t = context;
    struct lane *lane = &t->lanes[thread];
    struct range share = range_part(t->batch.end - t->batch.begin, thread, threads);
    memset(lane->gradient, 0, t->state.count * sizeof *lane->gradient);
    lane->loss = 0;
    lane->correct = lane->digits = 0;
    for (size_t i = share.begin; i < share.end; i += MICRO_BATCH) {
        size_t n = share.end - i < MICRO_BATCH ? share.end - i : MICRO_BATCH;
        micro_batch(t, lane, t->order + t->batch.begin + i, n);
    }
}

/* Adds the other threads' gradients to the first one's, over this thread's range. */
static void sum_gradients(void *context, size_t thread, size_t threads) {
    struct trainer *t = context;
    struct range range = range_part(t->state.count, thread, threads);
    float *restrict sum = t->lanes[0].gradient;
    for (size_t other = 1; other < threads; other++) {
        const float *restrict part = t->lanes[other].gradient;
        for (size_t i = range.begin; i < range.end; i++) sum[i] += part[i];
    }
    double square = 0;
    for (size_t i = range.begin; i < range.end; i++) square += (double)sum[i] * sum[i];
    t->lanes[thread].square = square;
}

static struct matrices matrices_of(const struct trainer *t, const vit_tensor *tensor) {
    bool muon = t->recipe->optimizer == OPTIMIZER_MUON;
    return muon ? muon_matrices(tensor) : (struct matrices){0};
}

static void update_matrix(struct trainer *t, struct lane *lane, size_t offset, size_t rows,
                          size_t columns) {
    float *const *arrays = t->state.arrays;
    muon_update(t->kernels, arrays[PARAMETERS] + offset, arrays[MOMENT1] + offset,
                arrays[AVERAGE] + offset, lane->muon, t->lanes[0].gradient + offset, rows, columns, &t->adamw);
}

static void update_parameters(void *context, size_t thread, size_t threads) {
    struct trainer *t = context;
    struct range range = range_part(t->state.count, thread, threads);
    float *const *arrays = t->state.arrays;
    size_t seen = 0; /* matrices: the threads take them in turn */
    for (size_t i = 0; i < t->tensor_count; i++) {
        vit_tensor tensor = t->tensors[i];
        struct matrices of = matrices_of(t, &tensor);
        for (size_t k = 0; k < of.count; k++)
            if (seen++ % threads == thread)
                update_matrix(t, &t->lanes[thread], tensor.offset + k * of.rows * of.columns,
                              of.rows, of.columns);
        if (of.count) continue;
        size_t begin = tensor.offset, end = begin + tensor.count;
        if (begin < range.begin) begin = range.begin;
        if (end > range.end) end = range.end;
        if (begin >= end) continue;
        adamw_update(arrays[PARAMETERS] + begin, arrays[MOMENT1] + begin, arrays[MOMENT2] + begin,
                     arrays[AVERAGE] + begin, t->lanes[0].gradient + begin, end - begin,
                     tensor.matrix, &t->adamw);
    }
}

/* One step on t->batch; false where the gradient is no longer a number. */
static bool train_step(struct trainer *t) {
    const struct recipe *recipe = t->recipe;
    size_t threads = pool_threads(t->pool);
    pool_run(t->pool, compute_gradient, t);
    pool_run(t->pool, sum_gradients, t);
    double square = 0;
    for (size_t i = 0; i < threads; i++) square += t->lanes[i].square;
    double norm = sqrt(square), clip = recipe->clip_norm;
    if (!isfinite(norm)) return false;
    t->adamw = (struct adamw){
        .learning_rate = schedule_rate(recipe, t->step, t->steps),
        .beta1 = recipe->beta1,
        .beta2 = recipe->beta2,
        .epsilon = recipe->epsilon,
        .weight_decay = recipe->weight_decay,
        .decoupled = recipe->optimizer != OPTIMIZER_ADAM,
        .step = t->step + 1,
        .ema_decay = ema_warm(recipe->ema_decay, t->step + 1),
        .gradient_scale = clip > 0 && norm > clip ? clip / norm : 1,
    };
    pool_run(t->pool, update_parameters, t);
    t->step++;
    return true;
}

/* ---- One epoch ---------------------------------------------------------- */

/* Fisher & Yates's shuffle in Durstenfeld's form, anew for each epoch. */
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

/* Trains on every image once. *go is false where the watch stopped it. */
static vit_status train_images(struct trainer *t, struct epoch_record *record, bool *go,
                               vit_error *why) {
    const struct train_watch *watch = &t->job->watch;
    double begin = now(), loss = 0, seconds = 0;
    double flops = 3 * forward_flops(&t->recipe->config); /* backward: twice the forward */
    size_t correct = 0, digits = 0, batch = t->recipe->batch;
    *go = true;
    for (size_t done = 0; done < t->samples.count && *go; done = t->batch.end) {
        size_t left = t->samples.count - done;
        t->batch = (struct range){done, done + (left < batch ? left : batch)};
        if (!train_step(t))
            return vit_fail(why, VIT_BAD_ARGUMENT,
                            "epoch %z: the gradient is no longer finite; try a smaller "
                            "learning_rate, a longer warm-up or a clip_norm",
                            t->epoch + 1);
        for (size_t i = 0; i < pool_threads(t->pool); i++) {
            loss += t->lanes[i].loss;
            correct += t->lanes[i].correct;
            digits += t->lanes[i].digits;
        }
        seconds = now() - begin;
        double n = (double)t->batch.end;
        struct train_progress progress = {
            .epoch = t->epoch + 1,
            .epochs = t->recipe->epochs,
            .done = t->batch.end,
            .images = t->samples.count,
            .seconds = seconds,
            .loss = loss / n,
            .accuracy = digits ? (double)correct / (double)digits : 0,
            .gflops = n * flops / seconds * 1e-9,
        };
        if (watch->step) *go = watch->step(watch->context, &progress);
    }
    double n = (double)t->samples.count;
    *record = (struct epoch_record){
        .learning_rate = t->adamw.learning_rate,
        .train_loss = loss / n,
        .train_accuracy = digits ? (double)correct / (double)digits : 0,
        .validation_loss = -1,
        .validation_accuracy = -1,
        .drawings_accuracy = -1,
        .images_per_second = n / seconds,
        .gflops = n * flops / seconds * 1e-9,
    };
    return VIT_OK;
}

static vit_status validate(struct trainer *t, struct epoch_record *record, vit_error *why) {
    struct score score;
    if (!t->recipe->validation) return VIT_OK;
    vit_status status = evaluate(&score, NULL, t->pool, t->average, t->data, t->samples.images,
                                 t->recipe->validation, why);
    record->validation_loss = score.loss;
    record->validation_accuracy = (double)score.correct / (double)score.count;
    if (status || !t->drawn.count) return status;
    status = evaluate(&score, NULL, t->pool, t->average, &t->drawn, 0, t->drawn.count, why);
    record->drawings_accuracy = (double)score.correct / (double)score.count;
    return status;
}

static vit_status write_log(const struct trainer *t, vit_error *why) {
    static const char head[] =
        "epoch\tlearning_rate\ttrain_loss\ttrain_accuracy\tvalidation_loss\t"
        "validation_accuracy\tdrawings_accuracy\timages_per_second\tgflops\n";
    enum { LINE = 448 }; /* even for losses near the largest float */
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

static vit_status write_model(const struct trainer *t, vit_error *why) {
    double accuracy = t->state.records[t->recipe->epochs - 1].validation_accuracy;
    char *json = recipe_metadata(t->recipe, accuracy);
    size_t json_size = json ? strlen(json) : 0;
    const float *parameters = t->state.arrays[AVERAGE];
    size_t size = json ? vit_encode(NULL, 0, t->average, parameters, json, json_size) : 0;
    uint8_t *bytes = json ? malloc(size) : NULL;
    vit_status status;
    if (bytes) {
        vit_encode(bytes, size, t->average, parameters, json, json_size);
        status = write_file(t->job->out, bytes, size, why);
    } else {
        status = vit_fail(why, VIT_NO_MEMORY, "no memory to write %s", t->job->out);
    }
    free(bytes);
    free(json);
    return status;
}

/* For the largest matrix; at least 1. */
static size_t muon_floats(const struct trainer *t) {
    size_t most = 1;
    for (size_t i = 0; i < t->tensor_count; i++) {
        struct matrices of = matrices_of(t, &t->tensors[i]);
        size_t need = muon_scratch(of.rows, of.columns);
        if (need > most) most = need;
    }
    return most;
}

static bool open_lane(struct trainer *t, struct lane *lane) {
    const vit_config *config = &t->recipe->config;
    size_t pixels = t->data->rows * t->data->columns, K = config->classes;
    size_t need = vit_tape_size(t->model, MICRO_BATCH);
    size_t floats = MICRO_BATCH * (pixels + 2 * K + config->depth);
    lane->tape_memory = malloc(need);
    lane->gradient = malloc(t->state.count * sizeof *lane->gradient);
    lane->images = malloc(floats * sizeof *lane->images);
    lane->muon = malloc(muon_floats(t) * sizeof *lane->muon);
    if (!lane->tape_memory || !lane->gradient || !lane->images || !lane->muon) return false;
    if (!sample_room_open(&lane->room, &t->samples)) return false;
    if (t->job->teacher && !teacher_room_open(&lane->teacher, t->job->teacher, MICRO_BATCH))
        return false;
    lane->logits = lane->images + MICRO_BATCH * pixels;
    lane->dlogits = lane->logits + MICRO_BATCH * K;
    lane->keep = lane->dlogits + MICRO_BATCH * K;
    return !vit_tape_init(&lane->tape, lane->tape_memory, need, t->model, MICRO_BATCH);
}

static char *join(const char *path, const char *ending) {
    char *joined = malloc(strlen(path) + strlen(ending) + 1);
    return joined ? strcat(strcpy(joined, path), ending) : NULL;
}

static vit_status open_models(struct trainer *t, vit_error *why) {
    const struct recipe *recipe = t->recipe;
    t->kernels = recipe_kernels(recipe);
    vit_model **models[] = {&t->model, &t->average};
    const struct vit_kernels *kernels[] = {t->kernels, &vit_native};
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
    size_t threads = t->job->threads;
    t->state.epochs = t->recipe->epochs;
    t->state.records = calloc(t->state.epochs, sizeof *t->state.records);
    t->state.arrays[MOMENT1] = calloc(t->state.count, sizeof(float));
    t->state.arrays[MOMENT2] = calloc(t->state.count, sizeof(float));
    t->order = malloc(t->samples.count * sizeof *t->order);
    t->checkpoint_path = join(t->job->out, ".checkpoint");
    t->log_path = join(t->job->out, ".log.tsv");
    t->lanes = calloc(threads, sizeof *t->lanes);
    t->tensor_count = vit_tensor_count(t->model);
    t->tensors = malloc(t->tensor_count * sizeof *t->tensors);
    for (size_t i = 0; t->tensors && i < t->tensor_count; i++)
        t->tensors[i] = vit_tensor_at(t->model, i);
    bool held = t->tensors && t->state.records && t->state.arrays[MOMENT1] &&
                t->state.arrays[MOMENT2] && t->order && t->checkpoint_path && t->log_path &&
                t->lanes;
    for (size_t i = 0; i < threads && held; i++) held = open_lane(t, &t->lanes[i]);
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
        status = drawings_data(&t->drawn, job->drawings, WRITERS_VALIDATION, data->rows,
                               data->columns, why);
    if (!status) status = open_models(t, why);
    if (!status) status = open_buffers(t, why);
    if (!status) status = pool_open(&t->pool, job->threads, why);
    if (!status) status = checkpoint_identify(&t->state, job, why);
    return status;
}

static void trainer_close(struct trainer *t) {
    pool_close(t->pool);
    for (size_t i = 0; t->lanes && i < t->job->threads; i++) {
        free(t->lanes[i].tape_memory);
        free(t->lanes[i].gradient);
        free(t->lanes[i].images);
        free(t->lanes[i].muon);
        sample_room_close(&t->lanes[i].room);
        teacher_room_close(&t->lanes[i].teacher);
    }
    free(t->lanes);
    free(t->tensors);
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
    if (!status) status = write_log(t, why); /* now, not after an epoch, if it cannot be */
    for (t->epoch = t->state.epoch; !status && go && t->epoch < job->recipe->epochs; t->epoch++)
        status = train_epoch(t, &go, why);
    if (!status && go) status = write_model(t, why);
    *finished = !status && go;
    if (*finished) unlink(t->checkpoint_path);
    trainer_close(t);
    return status;
}
