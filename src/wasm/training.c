/* The exports of the WebAssembly module that trains: src/train with ints and pointers. Only
 * web/engine/training-session.ts calls them.
 *
 * An instance of the module is one trainer: a recipe, the examples, the weights as they stand, and
 * at most one run. Nothing is closed at the end, because JavaScript drops the whole instance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "base/team.h"
#include "kernels/kernels.h"
#include "module.h"
#include "save.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/init.h"
#include "train/job.h"
#include "train/quantize.h"
#include "train/recipe.h"
#include "train/samples.h"
#include "train/trainer.h"

enum part { TRAINING, VALIDATION, PARTS };

/* What web/engine/training-session.ts reads besides whole numbers, by position. */
enum number { LOSS, ACCURACY, VALIDATION_LOSS, VALIDATION_ACCURACY, NUMBERS };
static double numbers[NUMBERS];

/* web/engine/training-session.ts reads these words by their positions. */
static struct training {
    size_t channels, rows, columns, classes;
    const char *json; /* the config of the model that was fed */
    size_t json_size;
    const char *why;               /* the last error's message */
    float *image;                  /* (C,H,W): the example that vitt_add takes */
    size_t examples[PARTS];        /* how many there are */
    uint8_t *images[PARTS];        /* (examples,C,H,W) */
    uint8_t *labels[PARTS];        /* (examples) */
    size_t images_in_epoch, steps; /* of an epoch of the run */
    size_t epoch, step;            /* finished ones */
    uint8_t *out;                  /* the model or the checkpoint that was asked for last */
    size_t out_size;
    const double *numbers;
} training = {.numbers = numbers};

static struct recipe recipe;
static vit_model *start;                      /* that was fed, until a recipe takes it */
static vit_model *weights;                    /* as they stand when there is no run */
static struct data_set examples[PARTS], data; /* data: the run's own copy */
static size_t room[PARTS];                    /* examples that there is memory for */
static struct train_job job;
static struct trainer *trainer; /* NULL: no run yet */

struct training *vitw_session(void) {
    training.why = module_error.text;
    return &training;
}

/* ---- The model to start from ---------------------------------------------- */

/* json: the config, which must stay until vitw_end; NULL: the file's own. */
vit_status vitw_begin(size_t file_size, const char *json, size_t json_size) {
    return begin_file(file_size, json, json_size, vit_kernels_training());
}

vit_status vitw_end(void) {
    vit_status status = end_file(&start);
    if (!status) training.json = vit_model_json(start, &training.json_size);
    return status;
}

/* ---- The recipe ------------------------------------------------------------ */

/* The config of `json`, but what only a file can tell is as in the model that was fed. */
static void keep_found(vit_config *config, const vit_config *found) {
    vit_config kept = *found;
    kept.classes = config->classes;
    kept.temperature = config->temperature;
    kept.uncertain_below = config->uncertain_below;
    *config = kept;
}

/* json (json_size): {"model": …, "training": …}. After a failure the module is of no further
 * use. */
vit_status vitt_recipe(const char *json, size_t size) {
    vit_status status = recipe_read(&recipe, json, size, &module_error);
    if (status) return status;
    if (start && vit_model_config(start)->int8)
        return vit_fail(
            &module_error, VIT_BAD_TENSOR,
            "expected weights of floats to begin from, got int8, which can only be run");
    if (start) keep_found(&recipe.config, vit_model_config(start));
    const vit_config *c = &recipe.config;
    if (c->classes > NO_CLASS)
        return vit_fail(&module_error, VIT_BAD_CONFIG, "labels: expected at most %z, got %z",
                        (size_t)NO_CLASS, c->classes);
    status = vit_create(&weights, c, recipe.model, strlen(recipe.model), vit_kernels_training(),
                        &module_error);
    if (status) return status;
    init_parameters(weights, recipe.seed);
    if (start) status = init_from(weights, start, &module_error);
    vit_close(start);
    start = NULL;
    training.channels = c->channels;
    training.rows = c->image_size[0];
    training.columns = c->image_size[1];
    training.classes = c->classes;
    for (size_t i = 0; i < PARTS; i++)
        examples[i] = (struct data_set){
            .channels = c->channels, .rows = training.rows, .columns = training.columns};
    training.image = malloc(c->channels * training.rows * training.columns * sizeof(float));
    if (!training.image) return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for an image");
    return status;
}

/* ---- Examples -------------------------------------------------------------- */

static size_t image_size(void) {
    return training.channels * training.rows * training.columns;
}

/* The bytes in vitw_pixels → training.image. */
vit_status vitt_prepare(size_t rows, size_t columns, size_t channels) {
    vit_placement placement;
    return prepare_pixels(training.image, &placement, &recipe.config, rows, columns, channels);
}

static bool make_room(size_t part, size_t count) {
    struct data_set *to = &examples[part];
    size_t most = size_times(2, room[part]) > count ? size_times(2, room[part]) : count;
    if (count <= room[part]) return true;
    size_t size = size_times(most, image_size());
    if (size == SIZE_TOO_LARGE) return false;
    uint8_t *images = realloc(to->images, size), *labels = NULL;
    if (images) to->images = images, labels = realloc(to->labels, most);
    if (labels) to->labels = labels, room[part] = most;
    return labels != NULL;
}

static void show_examples(size_t part) {
    training.examples[part] = examples[part].count;
    training.images[part] = examples[part].images;
    training.labels[part] = examples[part].labels;
}

/* Room for `count` examples more, which are counted as if they were there already: JavaScript fills
 * in the end of training.images and training.labels. */
vit_status vitt_more(size_t part, size_t count) {
    if (part >= PARTS || !make_room(part, examples[part].count + count))
        return vit_fail(&module_error, VIT_NO_MEMORY,
                        "%z examples more need more memory than there is", count);
    examples[part].count += count;
    show_examples(part);
    return VIT_OK;
}

/* Keeps the first `count` examples of a part. */
void vitt_keep(size_t part, size_t count) {
    if (part >= PARTS || count > examples[part].count) return;
    examples[part].count = count;
    show_examples(part);
}

/* The byte whose prepared value is `value`; negative: a pixel cannot have it. */
static float byte_of(float value, const vit_config *c, size_t channel) {
    bool photo = c->prepare == VIT_PREPARE_PHOTO;
    float byte = 255 * (photo ? value * c->photo.std[channel] + c->photo.mean[channel] : value);
    return byte > -0.5f && byte < 255.5f ? floorf(byte + 0.5f) : -1;
}

/* Adds training.image, which training keeps in bytes. */
vit_status vitt_add(size_t part, size_t label) {
    size_t plane = training.rows * training.columns;
    if (label >= training.classes) return misused("expected a label below the number of classes");
    for (size_t i = 0; i < image_size(); i++)
        if (!(byte_of(training.image[i], &recipe.config, i / plane) >= 0))
            return vit_fail(&module_error, VIT_BAD_IMAGE,
                            "expected the values of pixels as the model's `prepare` makes them");
    vit_status status = vitt_more(part, 1);
    if (status) return status;
    struct data_set *to = &examples[part];
    uint8_t *bytes = to->images + (to->count - 1) * image_size();
    for (size_t i = 0; i < image_size(); i++)
        bytes[i] = (uint8_t)byte_of(training.image[i], &recipe.config, i / plane);
    to->labels[to->count - 1] = (uint8_t)label;
    return VIT_OK;
}

/* ---- A run ----------------------------------------------------------------- */

/* The run's data: the validation part comes last. */
static bool join_examples(void) {
    const struct data_set *a = &examples[TRAINING], *b = &examples[VALIDATION];
    data = *a;
    data.count = a->count + b->count;
    data.images = malloc(data.count * image_size() + 1);
    data.labels = malloc(data.count + 1);
    if (!data.images || !data.labels) return false;
    memcpy(data.images, a->images, a->count * image_size());
    memcpy(data.labels, a->labels, a->count);
    if (!b->count) return true;
    memcpy(data.images + a->count * image_size(), b->images, b->count * image_size());
    memcpy(data.labels + a->count, b->labels, b->count);
    return true;
}

/* The run's average becomes the weights as they stand. */
static void settle(void) {
    if (!trainer) return;
    const struct checkpoint *state = trainer_state(trainer);
    size_t count;
    float *parameters = vit_parameters(weights, &count);
    memcpy(parameters, state->arrays[AVERAGE], count * sizeof *parameters);
    trainer_close(trainer);
    trainer = NULL;
}

static void show_run(void) {
    const struct checkpoint *state = trainer_state(trainer);
    size_t images = trainer_images(trainer), done = state->step * recipe.batch;
    if (done > images) done = images;
    training.images_in_epoch = images;
    training.steps = state->steps;
    training.epoch = state->epoch;
    training.step = state->step;
    numbers[LOSS] = done ? state->sums.loss / (double)done : 0;
    numbers[ACCURACY] = step_accuracy(&state->sums);
}

/* Begins a run of `epochs` from the weights as they stand, with this seed. After a failure there is
 * no run. */
vit_status vitt_run(size_t epochs, size_t seed_low, size_t seed_high) {
    settle();
    data_close(&data);
    recipe.seed = (uint64_t)seed_high << 32 | seed_low;
    recipe.epochs = epochs;
    recipe.validation = examples[VALIDATION].count;
    if (!join_examples()) return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for the run");
    job = (struct train_job){.recipe = &recipe, .data = &data, .start = weights};
    vit_status status = trainer_open(&trainer, &job, TEAM, &module_error);
    if (!status) show_run();
    return status;
}

/* Takes a step. */
vit_status vitt_step(void) {
    if (!trainer) return misused("expected a run, got none");
    vit_status status = trainer_step(trainer, &module_error);
    if (!status) show_run();
    return status;
}

/* Ends an epoch whose steps are all taken, and measures. */
vit_status vitt_end_epoch(void) {
    if (!trainer) return misused("expected a run, got none");
    vit_status status = trainer_end_epoch(trainer, &module_error);
    if (status) return status;
    const struct checkpoint *state = trainer_state(trainer);
    const struct epoch_record *record = &state->records[state->epoch - 1];
    show_run();
    numbers[LOSS] = record->train_loss;
    numbers[ACCURACY] = record->train_accuracy;
    numbers[VALIDATION_LOSS] = record->validation_loss;
    numbers[VALIDATION_ACCURACY] = record->validation_accuracy;
    return VIT_OK;
}

/* ---- Out, and in again ------------------------------------------------------ */

static vit_status give(uint8_t *bytes, size_t size, const char *what) {
    free(training.out);
    training.out = bytes;
    training.out_size = size;
    if (bytes) return VIT_OK;
    return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for the %s", what);
}

/* The weights as they stand → training.out, a file of safetensors. */
vit_status vitt_model(void) {
    size_t size = 0, count;
    if (trainer) {
        const struct checkpoint *state = trainer_state(trainer);
        double accuracy = state->epoch ? state->records[state->epoch - 1].validation_accuracy : -1;
        uint8_t *bytes = trainer_model(trainer, accuracy, &size);
        return give(bytes, size, "model");
    }
    const char *json = recipe.model;
    const float *parameters = vit_parameters(weights, &count);
    size = vit_encode(NULL, 0, weights, parameters, json, strlen(json));
    uint8_t *bytes = malloc(size);
    if (bytes) vit_encode(bytes, size, weights, parameters, json, strlen(json));
    return give(bytes, size, "model");
}

/* The model that was fed → training.out, a file of safetensors in int8. */
vit_status vitt_int8(void) {
    uint8_t *bytes;
    size_t size;
    if (!start) return misused("expected a model that was fed, got none");
    vit_status status = quantize(&bytes, &size, start, &module_error);
    return status ? status : give(bytes, size, "model");
}

/* All that the run needs to go on → training.out. Without a run there is nothing. */
vit_status vitt_checkpoint(void) {
    if (!trainer) return misused("expected a run, got none");
    const struct checkpoint *state = trainer_state(trainer);
    size_t size = checkpoint_size(state);
    uint8_t *bytes = malloc(size);
    if (bytes) checkpoint_encode(bytes, state);
    return give(bytes, size, "checkpoint");
}

/* Goes on from a checkpoint of the run that vitt_run has begun again. Its start is not here any
 * more, and it may have had another number of threads. */
vit_status vitt_resume(const uint8_t *bytes, size_t size) {
    if (!trainer) return misused("expected a run, got none");
    struct checkpoint *state = trainer_state(trainer);
    checkpoint_believe(state, RUN_START, bytes, size);
    checkpoint_believe(state, RUN_THREADS, bytes, size);
    vit_status status = checkpoint_decode(state, bytes, size, "the checkpoint", &module_error);
    if (!status) show_run();
    return status;
}
