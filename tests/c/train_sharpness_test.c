/* Sharpness-aware steps: step.c's batch_gradient. */
#define _GNU_SOURCE
#include "train_support.h"

#include "../../src/kernels/kernels.h"
#include "../../src/save.h"
#include "../../src/tape.h"
#include "../../src/train/augment.h"
#include "../../src/train/files.h"
#include "../../src/train/init.h"
#include "../../src/train/job.h"
#include "../../src/train/run.h"

enum { SAMPLES = 24 };
static const double RATE = 0.01, DISTANCE = 0.5;

/* One step on all samples at once, without augmentation. With an ε of 1 Adam's step follows the
 * gradient's length too, and not only its sign. */
static struct recipe one_step(double sharpness, size_t part) {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.epochs = 1, recipe.batch = SAMPLES, recipe.validation = 0;
    recipe.optimizer = OPTIMIZER_ADAM, recipe.schedule = SCHEDULE_CONSTANT;
    recipe.learning_rate = RATE, recipe.warmup_epochs = 0, recipe.weight_decay = 0;
    recipe.epsilon = 1, recipe.clip_norm = 0, recipe.ema_decay = 0, recipe.drop_path = 0;
    recipe.augment = (struct augment){.elastic_grid = 1};
    recipe.sharpness = sharpness, recipe.sharpness_batch = part;
    return recipe;
}

static struct data_set noise(bool alike) {
    struct data_set data = {malloc(SAMPLES * PIXELS), malloc(SAMPLES), SAMPLES, 1, SIDE, SIDE, 0};
    uint64_t seed = 7;
    for (size_t i = 0; i < SAMPLES * PIXELS; i++)
        data.images[i] = (uint8_t)random_below(&seed, 256);
    for (size_t i = 0; i < SAMPLES; i++) data.labels[i] = (uint8_t)random_below(&seed, 3);
    for (size_t i = 1; i < SAMPLES && alike; i++) {
        memcpy(data.images + i * PIXELS, data.images, PIXELS);
        data.labels[i] = data.labels[0];
    }
    return data;
}

static double adam_step(float gradient) {
    return RATE * (double)gradient / (fabs((double)gradient) + 1);
}

/* sum += the share of `n` samples from `first` on in the whole set's gradient, at the model's
 * parameters. */
static void add_gradient(float *sum, vit_model *model, const struct recipe *recipe,
                         const struct data_set *data, size_t first, size_t n) {
    static float images[SAMPLES * PIXELS];
    float logits[SAMPLES * 3], dlogits[SAMPLES * 3];
    size_t need = vit_tape_size(model, SAMPLES);
    void *memory = malloc(need);
    vit_tape *tape;
    if (vit_tape_init(&tape, memory, need, model, SAMPLES)) exit(EXIT_FAILURE);
    for (size_t i = 0; i < n * PIXELS; i++)
        images[i] = (float)data->images[first * PIXELS + i] / 255;
    data_standardise(images, n * PIXELS, &recipe->config);
    vit_forward(model, tape, images, n, logits, NULL);
    vit_cross_entropy(dlogits, logits, data->labels + first, n, 3, (float)recipe->label_smoothing,
                      1.0f / SAMPLES);
    vit_backward(model, tape, n, dlogits, sum);
    free(memory);
}

/* The gradient of the samples in parts, in order. Each part's gradient is taken `distance` uphill
 * of that part's loss. */
static float *gradient_uphill(vit_model *model, const struct recipe *recipe,
                              const struct data_set *data, size_t part, double distance) {
    size_t count;
    float *p = vit_parameters(model, &count);
    float *sum = calloc(count, sizeof *sum), *here = malloc(count * sizeof *here);
    float *up = malloc(count * sizeof *up);
    memcpy(here, p, count * sizeof *here);
    for (size_t first = 0; first < SAMPLES; first += part) {
        size_t n = SAMPLES - first < part ? SAMPLES - first : part;
        double square = 0;
        memset(up, 0, count * sizeof *up);
        add_gradient(up, model, recipe, data, first, n);
        for (size_t i = 0; i < count; i++) square += (double)up[i] * (double)up[i];
        for (size_t i = 0; i < count; i++)
            p[i] = (float)((double)p[i] + distance / sqrt(square) * (double)up[i]);
        add_gradient(sum, model, recipe, data, first, n);
        memcpy(p, here, count * sizeof *here);
    }
    free(here), free(up);
    return sum;
}

static vit_model *trained(const struct recipe *recipe, const struct data_set *data,
                          size_t threads) {
    char out[256];
    vit_error why = {""};
    bool finished = false;
    strcpy(out, scratch_path("step"));
    struct train_job job = {.recipe = recipe, .data = data};
    struct train_files files = {.out = out, .fresh = true, .threads = threads};
    CHECK(!train_run(&job, &files, &finished, &why) && finished, "%s", why.text);
    return read_model(out);
}

/* An epoch shuffles the samples, so parts of several samples are tested with equal samples. */
static const struct run {
    size_t threads, part;
    double distance;
    bool alike;
} RUNS[] = {
    {1, 0, 0, false},        {2, 0, DISTANCE, false},           {3, 0, 0, false},
    {4, 0, DISTANCE, false}, {1, 1, DISTANCE, false},           {3, 1, DISTANCE, false},
    {2, 5, DISTANCE, true},  {2, SAMPLES + 1, DISTANCE, false}, {2, 5, 0, false},
};

TEST("a sharpness-aware step follows the gradients at points uphill of the batch's parts") {
    for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; k++) {
        const struct run *run = &RUNS[k];
        struct data_set data = noise(run->alike);
        struct recipe recipe = one_step(run->distance, run->part);
        vit_model *model = fresh_model(&recipe, recipe.seed),
                  *stepped = trained(&recipe, &data, run->threads);
        size_t count, part = run->part ? run->part : SAMPLES;
        const float *before = vit_parameters(model, &count);
        const float *after = vit_parameters(stepped, &count);
        float *plain = gradient_uphill(model, &recipe, &data, SAMPLES, 0);
        float *whole = gradient_uphill(model, &recipe, &data, SAMPLES, run->distance);
        float *uphill = gradient_uphill(model, &recipe, &data, part, run->distance);
        double from_plain = 0, from_whole = 0;
        for (size_t i = 0; i < count; i++) {
            double step = adam_step(uphill[i]);
            from_plain = fmax(from_plain, fabs(step - adam_step(plain[i])));
            from_whole = fmax(from_whole, fabs(step - adam_step(whole[i])));
            /* Gradients are a few tenths, with some hundred roundings for each of 24 samples;
             * parameters of up to 1 are rounded once. */
            CHECK(within((double)after[i], (double)before[i] - step, 1e-6),
                  "run %zu, %zu: %g, want %g", k, i, (double)after[i], (double)before[i] - step);
        }
        /* The check above could tell these gradients apart. */
        CHECK(run->distance > 0 ? from_plain > 1e-3 : from_plain < 1e-6, "run %zu: %g", k,
              from_plain);
        if (run->part == 1) CHECK(from_whole > 1e-3, "run %zu: %g", k, from_whole);
        free(plain), free(whole), free(uphill);
        vit_close(model), vit_close(stepped);
        recipe_close(&recipe);
        data_close(&data);
    }
}

TEST("a sharpness so large that numbers overflow is an error, and no model is written") {
    struct data_set data = noise(false);
    struct recipe recipe = one_step(1e30, 5);
    vit_error why = {""};
    bool finished = false;
    char out[256];
    strcpy(out, scratch_path("lost"));
    struct train_job job = {.recipe = &recipe, .data = &data};
    struct train_files files = {.out = out, .threads = 2};
    vit_status status = train_run(&job, &files, &finished, &why);
    CHECK(status == VIT_BAD_ARGUMENT && strstr(why.text, "no longer finite"), "%d: %s", status,
          why.text);
    CHECK(access(out, F_OK) != 0, "a model was written");
    recipe_close(&recipe);
    data_close(&data);
}
