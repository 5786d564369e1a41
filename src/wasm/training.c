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
#include "file/config.h"
#include "kernels/kernels.h"
#include "module.h"
#include "save.h"
#include "train/calibrate.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/evaluate.h"
#include "train/init.h"
#include "train/job.h"
#include "train/quantize.h"
#include "train/recipe.h"
#include "train/samples.h"
#include "train/trainer.h"

enum part { TRAINING, VALIDATION, PARTS };

/* What JavaScript reads besides whole numbers. */
enum number {
#define NUMBER(constant, name) constant,
#include "training.def"
    NUMBERS
};
static double numbers[NUMBERS];

static struct training {
#define WORD(type, name) type name;
#define PAIR(type, name) type name[PARTS];
#include "training.def"
} training = {.numbers = numbers};

static struct recipe recipe;
static vit_model *start;   /* the one that was fed, until vitt_recipe closes it */
static vit_model *weights; /* as they stand when there is no run */
static bool untouched;     /* they are the initial ones of `first_seed` */
static uint64_t first_seed;
static struct checkpoint_part resume_parts[CHECKPOINT_PARTS]; /* of the open checkpoint */
static const uint8_t *resume_bytes;
static size_t resume_size;
static struct data_set examples[PARTS], data; /* data: the run's own copy */
static size_t room[PARTS];                    /* how many examples there is memory for */
static size_t longest;                        /* tokens of the longest text so far */
static struct train_job job;
static struct trainer *trainer; /* NULL: no run yet */

struct training *vitw_session(void) {
    training.why = module_error.text;
    return &training;
}

/* ---- The model to start from ---------------------------------------------- */

/* json: the config; NULL: the file's own. map: see vit_open_begin. Both must stay until
 * vitw_end. */
vit_status vitw_begin(size_t file_size, const char *json, size_t json_size, const char *map,
                      size_t map_size) {
    return begin_file(file_size, json, json_size, map, map_size, vit_kernels_training());
}

vit_status vitw_end(void) {
    vit_status status = end_file(&start);
    if (!status) training.json = vit_model_json(start, &training.json_size);
    return status;
}

/* ---- The recipe ------------------------------------------------------------ */

/* Copies the config of the model that was fed, but keeps the head's own keys. */
static void adopt_config(vit_config *config, const vit_config *fed) {
    vit_config adopted = *fed;
    adopted.classes = config->classes;
    adopted.doubt = config->doubt;
    adopted.temperature = config->temperature;
    adopted.uncertain_below = config->uncertain_below;
    *config = adopted;
}

/* The most bytes of a label: a class, or a text's tokens. */
static size_t label_size(void) {
    const vit_text_config *c = &recipe.config.decoder;
    return c->depth ? c->max_tokens : 1;
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
    if (start) adopt_config(&recipe.config, vit_model_config(start));
    const vit_config *c = &recipe.config;
    if (c->classes > NO_CLASS)
        return vit_fail(&module_error, VIT_BAD_CONFIG, "labels: expected at most %z, got %z",
                        (size_t)NO_CLASS, c->classes);
    status = vit_create(&weights, c, recipe.model, strlen(recipe.model), vit_kernels_training(),
                        &module_error);
    if (status) return status;
    free(training.config);
    training.config = config_print(&training.config_size, c, recipe.model, strlen(recipe.model));
    if (!training.config) return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for the config");
    init_parameters(weights, recipe.start, recipe.seed);
    untouched = !start;
    first_seed = recipe.seed;
    if (start) status = init_from(weights, start, &module_error);
    vit_close(start);
    start = NULL;
    training.channels = c->channels;
    training.rows = c->image_size[0];
    training.columns = c->image_size[1];
    for (size_t i = 0; i < PARTS; i++)
        examples[i] = (struct data_set){
            .channels = c->channels, .rows = training.rows, .columns = training.columns};
    training.image = malloc(c->channels * training.rows * training.columns * sizeof(float));
    training.label = malloc(label_size());
    if (!training.image || !training.label)
        return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for an image");
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
    size_t size = size_times(most, image_size()), text = size_times(most, label_size());
    if (size == SIZE_TOO_LARGE || text == SIZE_TOO_LARGE) return false;
    uint8_t *images = realloc(to->images, size), *labels = NULL;
    if (images) to->images = images, labels = realloc(to->labels, text);
    if (labels) to->labels = labels, room[part] = most;
    return labels != NULL;
}

static void show_examples(size_t part) {
    training.examples[part] = examples[part].count;
    training.images[part] = examples[part].images;
    training.labels[part] = examples[part].labels;
}

/* Makes room for `count` more examples, and counts them already. */
static vit_status more_examples(size_t part, size_t count) {
    if (part >= PARTS || !make_room(part, examples[part].count + count))
        return vit_fail(&module_error, VIT_NO_MEMORY,
                        "%z more examples need more memory than there is", count);
    examples[part].count += count;
    show_examples(part);
    return VIT_OK;
}

/* Keeps the first `count` examples of a part. */
void vitt_keep(size_t part, size_t count) {
    if (part >= PARTS || count > examples[part].count) return;
    examples[part].count = count;
    show_examples(part);
    if (examples[TRAINING].count + examples[VALIDATION].count == 0) longest = 0;
}

/* The byte whose prepared value is `value`; negative: there is no such byte. */
static float byte_of(float value, const vit_config *c, size_t channel) {
    bool photo = c->prepare == VIT_PREPARE_PHOTO;
    float byte = 255 * (photo ? value * c->photo.std[channel] + c->photo.mean[channel] : value);
    return byte > -0.5f && byte < 255.5f ? floorf(byte + 0.5f) : -1;
}

/* Copies a label (size), with paddings behind it. */
static void put_label(uint8_t *to, const uint8_t *label, size_t size) {
    memset(to, (uint8_t)recipe.config.decoder.padding, label_size());
    memcpy(to, label, size);
}

/* Whether these bytes are classes or tokens of the model. */
static bool are_labels(const uint8_t *labels, size_t count) {
    const vit_config *c = &recipe.config;
    size_t most = c->decoder.depth ? c->decoder.vocabulary : c->classes;
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= most) return false;
    return true;
}

/* Adds training.image, as bytes, and its label, the first `size` bytes of training.label. */
vit_status vitt_add(size_t part, size_t size) {
    const vit_text_config *c = &recipe.config.decoder;
    size_t plane = training.rows * training.columns, least = c->depth ? 2 : 1;
    if (size < least || size > label_size() || !are_labels(training.label, size))
        return bad_call("expected a class or a text of the model");
    if (longest && size != longest && c->depth && c->padding == VIT_NO_TOKEN)
        return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                        "expected texts of one length, because the config has no "
                        "decoder.padding; got %z tokens after %z",
                        size, longest);
    for (size_t i = 0; i < image_size(); i++)
        if (!(byte_of(training.image[i], &recipe.config, i / plane) >= 0))
            return vit_fail(&module_error, VIT_BAD_IMAGE,
                            "expected the values of pixels as the model's `prepare` makes them");
    vit_status status = more_examples(part, 1);
    if (status) return status;
    struct data_set *to = &examples[part];
    uint8_t *bytes = to->images + (to->count - 1) * image_size();
    for (size_t i = 0; i < image_size(); i++)
        bytes[i] = (uint8_t)byte_of(training.image[i], &recipe.config, i / plane);
    put_label(to->labels + (to->count - 1) * label_size(), training.label, size);
    if (c->depth && size > longest) longest = size;
    return VIT_OK;
}

/* ---- A run ----------------------------------------------------------------- */

/* All examples, those of the validation part last. The caller closes them, also after a failure. */
static vit_status join_examples(struct data_set *all) {
    const struct data_set *a = &examples[TRAINING], *b = &examples[VALIDATION];
    size_t size = longest ? longest : 1; /* of a label */
    *all = *a;
    all->count = a->count + b->count;
    all->text_tokens = longest;
    all->images = malloc(all->count * image_size() + 1);
    all->labels = malloc(data_label_bytes(all) + 1);
    if (!all->images || !all->labels)
        return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for a copy of the examples");
    for (size_t part = 0, at = 0; part < PARTS; at += examples[part++].count) {
        if (!examples[part].count) continue;
        memcpy(all->images + at * image_size(), examples[part].images,
               examples[part].count * image_size());
        for (size_t i = 0; i < examples[part].count; i++)
            memcpy(all->labels + (at + i) * size, examples[part].labels + i * label_size(), size);
    }
    return VIT_OK;
}

/* Ends the run. Its average becomes the weights as they stand. */
static void end_run(void) {
    if (!trainer) return;
    const struct checkpoint *state = trainer_state(trainer);
    size_t count;
    float *parameters = vit_parameters(weights, &count);
    memcpy(parameters, state->arrays[AVERAGE], count * sizeof *parameters);
    trainer_close(trainer);
    trainer = NULL;
    untouched = false;
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
    end_run();
    data_close(&data);
    recipe.seed = (uint64_t)seed_high << 32 | seed_low;
    recipe.epochs = epochs;
    recipe.validation = examples[VALIDATION].count;
    vit_status status = join_examples(&data);
    if (status) return status;
    /* The same seed makes the same weights again, as `vit train` does. */
    job = (struct train_job){.recipe = &recipe,
                             .data = &data,
                             .start = untouched && recipe.seed == first_seed ? NULL : weights};
    status = trainer_open(&trainer, &job, TEAM, &module_error);
    if (!status) show_run();
    return status;
}

/* Takes a step. */
vit_status vitt_step(void) {
    if (!trainer) return bad_call("expected a run, got none");
    vit_status status = trainer_step(trainer, &module_error);
    if (!status) show_run();
    return status;
}

/* Ends an epoch whose steps are all taken, and measures. */
vit_status vitt_end_epoch(void) {
    if (!trainer) return bad_call("expected a run, got none");
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

/* ---- The answers of any model ------------------------------------------------ */

static vit_status check_answers(const float *logits, const uint32_t *labels, const float *doubt,
                                size_t count, size_t classes) {
    for (size_t i = 0; i < count * classes; i++)
        if (!isfinite(logits[i]))
            return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                            "logits: expected finite numbers, got another for image %z",
                            i / classes);
    for (size_t i = 0; doubt && i < count; i++)
        if (!(doubt[i] >= 0 && doubt[i] <= 1))
            return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                            "doubt: expected numbers from 0 to 1, got another for image %z", i);
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= classes)
            return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                            "labels: expected numbers below %z, got %z", classes,
                            (size_t)labels[i]);
    return VIT_OK;
}

/* Scores `count` answers (size bytes): logits (count,K), then labels (count) as uint32_t, then, if
 * `doubted`, doubt (count) from 0 to 1.
 * temperature: 0 for the fitted one, rounded as a config has it. accept: the share of the right
 * answers that are certain. */
vit_status vitt_score(const float *logits, size_t size, size_t count, double temperature,
                      double accept, bool doubted) {
    size_t words = count ? size / sizeof *logits / count : 0; /* for an image */
    if (words < 2 + doubted) return bad_call("answers: expected logits and labels, got none");
    if (!(temperature >= 0 && accept >= 0 && accept <= 1))
        return bad_call("expected a temperature and a share");
    size_t classes = words - 1 - doubted;
    const uint32_t *labels = (const void *)(logits + count * classes);
    const float *doubt = doubted ? logits + count * (classes + 1) : NULL;
    vit_status status = check_answers(logits, labels, doubt, count, classes);
    if (status) return status;
    float *p = malloc(count * sizeof *p);
    if (!p) return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for the probabilities");
    if (temperature == 0) {
        double fitted = fit_temperature(logits, labels, NULL, count, classes);
        temperature = round(fitted * 1e4) / 1e4;
    }
    struct score score = score_answers(p, logits, doubt, labels, count, classes, temperature);
    struct doubt found = find_doubt(p, score.correct, count, accept);
    free(p);
    numbers[LOSS] = score.loss;
    numbers[ACCURACY] = (double)score.correct / (double)count;
    numbers[TEMPERATURE] = temperature;
    numbers[CALIBRATION_ERROR] = score.calibration_error;
    numbers[UNCERTAIN_BELOW] = found.threshold;
    numbers[RIGHT] = (double)score.correct;
    numbers[RIGHT_BELOW] = (double)found.right;
    numbers[WRONG_BELOW] = (double)found.wrong;
    return VIT_OK;
}

/* ---- Out, and in again ------------------------------------------------------ */

static vit_status set_out(uint8_t *bytes, size_t size, const char *what) {
    free(training.out);
    training.out = bytes;
    training.out_size = size;
    if (bytes) return VIT_OK;
    return vit_fail(&module_error, VIT_NO_MEMORY, "no memory for the %s", what);
}

/* The weights as they stand, a file of safetensors. The caller frees it; NULL: no memory. */
static uint8_t *encode_weights(size_t *size) {
    if (trainer) {
        const struct checkpoint *state = trainer_state(trainer);
        double accuracy = state->epoch ? state->records[state->epoch - 1].validation_accuracy : -1;
        return trainer_model(trainer, accuracy, size);
    }
    const char *json = recipe.model;
    size_t count, length = strlen(json);
    const float *parameters = vit_parameters(weights, &count);
    *size = vit_encode(NULL, 0, weights, parameters, json, length);
    uint8_t *bytes = malloc(*size);
    if (bytes) vit_encode(bytes, *size, weights, parameters, json, length);
    return bytes;
}

/* The weights as they stand → training.out. */
vit_status vitt_model(void) {
    size_t size = 0;
    uint8_t *bytes = encode_weights(&size);
    return set_out(bytes, size, "model");
}

/* The model that was fed → training.out, a file of safetensors in int8. */
vit_status vitt_int8(void) {
    uint8_t *bytes;
    size_t size;
    if (!start) return bad_call("expected a model that was fed, got none");
    vit_status status = quantize(&bytes, &size, start, &module_error);
    return status ? status : set_out(bytes, size, "model");
}

/* A checkpoint → training.out. text: for JavaScript. Without `with_run` it is of the weights and
 * the examples alone. */
vit_status vitt_checkpoint(const char *text, size_t text_size, bool with_run) {
    struct checkpoint state = {0};
    struct data_set all;
    size_t model_size = 0;
    if (with_run && !trainer) return bad_call("expected a run, got none");
    if (with_run) state = *trainer_state(trainer);
    vit_status status = join_examples(&all);
    uint8_t *model = status ? NULL : encode_weights(&model_size);
    if (!status) {
        state.parts[CHECKPOINT_TEXT] = (struct checkpoint_part){text, text_size};
        state.parts[CHECKPOINT_MODEL] = (struct checkpoint_part){model, model_size};
        state.parts[CHECKPOINT_IMAGES] =
            (struct checkpoint_part){all.images, all.count * image_size()};
        state.parts[CHECKPOINT_LABELS] =
            (struct checkpoint_part){all.labels, data_label_bytes(&all)};
        size_t size = checkpoint_size(&state);
        uint8_t *bytes = model ? malloc(size) : NULL;
        if (bytes) checkpoint_encode(bytes, &state);
        status = set_out(bytes, size, "checkpoint");
    }
    free(model);
    data_close(&all);
    return status;
}

static const char NAME[] = "the checkpoint";

/* Opens a checkpoint, whose bytes (size) stay until vitt_restore. A recipe follows, then
 * vitt_restore. */
vit_status vitt_open(const uint8_t *bytes, size_t size) {
    vit_status status = checkpoint_parts(resume_parts, bytes, size, NAME, &module_error);
    const struct checkpoint_part *model = &resume_parts[CHECKPOINT_MODEL];
    if (!status)
        status = vit_open(&start, model->at, model->size, vit_kernels_training(), &module_error);
    if (status) return status;
    resume_bytes = bytes;
    resume_size = size;
    return VIT_OK;
}

static vit_status restore_examples(size_t validation) {
    const uint8_t *images = resume_parts[CHECKPOINT_IMAGES].at,
                  *labels = resume_parts[CHECKPOINT_LABELS].at;
    size_t count = resume_parts[CHECKPOINT_IMAGES].size / image_size();
    size_t all = resume_parts[CHECKPOINT_LABELS].size, size = count ? all / count : 0;
    bool text = recipe.config.decoder.depth > 0;
    bool fits = !count || (text ? size >= 2 && size <= label_size() : size == 1);
    if (!fits || validation > count ||
        count * image_size() != resume_parts[CHECKPOINT_IMAGES].size || count * size != all ||
        !are_labels(labels, all))
        return vit_fail(&module_error, VIT_BAD_FILE, "%s has other examples than its recipe", NAME);
    const size_t counts[PARTS] = {count - validation, validation};
    vit_status status = VIT_OK;
    for (size_t part = 0; part < PARTS && !status; part++) {
        status = more_examples(part, counts[part]);
        if (status || !counts[part]) continue;
        memcpy(examples[part].images, images, counts[part] * image_size());
        for (size_t i = 0; i < counts[part]; i++)
            put_label(examples[part].labels + i * label_size(), labels + i * size, size);
        images += counts[part] * image_size();
        labels += counts[part] * size;
    }
    if (text) longest = size;
    return status;
}

/* Continues from a checkpoint of the run that vitt_run has begun. After a failure there is no
 * run. */
vit_status vitt_resume(const uint8_t *bytes, size_t size) {
    if (!trainer) return bad_call("expected a run, got none");
    struct checkpoint *state = trainer_state(trainer);
    vit_status status = checkpoint_decode(state, bytes, size, NAME, &module_error);
    if (!status) {
        show_run();
        return VIT_OK;
    }
    trainer_close(trainer);
    trainer = NULL;
    return status;
}

/* Restores the examples of the open checkpoint, of which the last `validation` are to validate
 * with, and its run, unless `epochs` is 0. */
vit_status vitt_restore(size_t validation, size_t epochs, size_t seed_low, size_t seed_high) {
    if (!resume_bytes) return bad_call("expected a checkpoint that is open, got none");
    vit_status status = restore_examples(validation);
    if (status || !epochs) return status;
    status = vitt_run(epochs, seed_low, seed_high);
    if (status) return status;
    checkpoint_adopt(trainer_state(trainer), resume_bytes);
    return vitt_resume(resume_bytes, resume_size);
}
