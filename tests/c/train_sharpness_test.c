/* Sharpness-aware steps: step.c's gradient_uphill. */
#define _GNU_SOURCE
#include "train_support.h"

#include "../../src/kernels/kernels.h"

enum { SAMPLES = 24 };
static const double RATE = 0.01, DISTANCE = 0.5;

/* One step on all samples at once, as they are. Adam's ε of 1 makes its step follow the length of
 * the gradient, too, and not only its sign. */
static struct recipe one_step(double sharpness) {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.epochs = 1, recipe.batch = SAMPLES, recipe.validation = 0;
    recipe.optimizer = OPTIMIZER_ADAM, recipe.schedule = SCHEDULE_CONSTANT;
    recipe.learning_rate = RATE, recipe.warmup_epochs = 0, recipe.weight_decay = 0;
    recipe.epsilon = 1, recipe.clip_norm = 0, recipe.ema_decay = 0, recipe.drop_path = 0;
    recipe.augment = (struct augment){.elastic_grid = 1};
    recipe.sharpness = sharpness;
    return recipe;
}

static struct data_set noise(void) {
    struct data_set data = {malloc(SAMPLES * PIXELS), malloc(SAMPLES), SAMPLES, SIDE, SIDE};
    uint64_t seed = 7;
    for (size_t i = 0; i < SAMPLES * PIXELS; i++)
        data.images[i] = (uint8_t)random_below(&seed, 256);
    for (size_t i = 0; i < SAMPLES; i++) data.labels[i] = (uint8_t)random_below(&seed, 3);
    return data;
}

/* The whole set's, at the parameters that the model has. */
static float *gradient_of(vit_model *model, const struct recipe *recipe,
                          const struct data_set *data) {
    static float images[SAMPLES * PIXELS];
    float logits[SAMPLES * 3], dlogits[SAMPLES * 3];
    size_t count, need = vit_tape_size(model, SAMPLES);
    vit_parameters(model, &count);
    float *gradient = calloc(count, sizeof *gradient);
    void *memory = malloc(need);
    vit_tape *tape;
    if (vit_tape_init(&tape, memory, need, model, SAMPLES)) exit(EXIT_FAILURE);
    for (size_t i = 0; i < SAMPLES * PIXELS; i++) images[i] = (float)data->images[i] / 255;
    data_standardise(images, SAMPLES * PIXELS, &recipe->config);
    vit_forward(model, tape, images, SAMPLES, logits, NULL);
    vit_cross_entropy(dlogits, logits, data->labels, SAMPLES, 3, (float)recipe->label_smoothing,
                      1.0f / SAMPLES);
    vit_backward(model, tape, SAMPLES, dlogits, gradient);
    free(memory);
    return gradient;
}

TEST("a step follows the gradient of the point that lies `sharpness` uphill, in any threads") {
    struct data_set data = noise();
    for (size_t run = 0; run < 4; run++) {
        double distance = run % 2 ? DISTANCE : 0;
        struct recipe recipe = one_step(distance);
        vit_error why = {""};
        bool finished = false;
        char out[256];
        strcpy(out, scratch_path("step"));
        struct train_job job = {.recipe = &recipe, .data = &data, .out = out, .fresh = true};
        job.threads = 1 + run;
        REQUIRE(!train_run(&job, &finished, &why) && finished, "%s", why.text);
        vit_model *model, *stepped;
        uint8_t *bytes;
        size_t count, size;
        REQUIRE(!read_file(&bytes, &size, out, &why), "%s", why.text);
        REQUIRE(!vit_open(&stepped, bytes, size, &vit_native, &why), "%s", why.text);
        REQUIRE(!vit_create(&model, &recipe.config, recipe.model, strlen(recipe.model), &vit_native,
                            &why),
                "%s", why.text);
        init_parameters(model, recipe.seed);
        float *p = vit_parameters(model, &count), *after = vit_parameters(stepped, &count);
        float *before = malloc(count * sizeof *before);
        memcpy(before, p, count * sizeof *before);
        float *g = gradient_of(model, &recipe, &data);
        double square = 0, farthest = 0;
        for (size_t i = 0; i < count; i++) square += (double)g[i] * (double)g[i];
        for (size_t i = 0; i < count; i++)
            p[i] = (float)((double)p[i] + distance / sqrt(square) * (double)g[i]);
        float *uphill = gradient_of(model, &recipe, &data);
        for (size_t i = 0; i < count; i++) {
            double plain = RATE * (double)g[i] / (fabs((double)g[i]) + 1);
            double step = RATE * (double)uphill[i] / (fabs((double)uphill[i]) + 1);
            farthest = fmax(farthest, fabs(step - plain));
            /* Gradients of a few tenths from sums of 24 samples' hundred roundings; parameters of
             * up to 1 are rounded once. */
            CHECK(within((double)after[i], (double)before[i] - step, 1e-6), "%zu: %g, want %g", i,
                  (double)after[i], (double)before[i] - step);
        }
        /* What the check above could tell apart. */
        CHECK(distance == 0 ? farthest == 0 : farthest > 1e-3, "uphill is only %g away", farthest);
        free(g), free(uphill), free(before), free(bytes);
        vit_close(model), vit_close(stepped);
        recipe_close(&recipe);
    }
    data_close(&data);
}

TEST("a distance that leaves the numbers is an error, and no model is written") {
    struct data_set data = noise();
    struct recipe recipe = one_step(1e30);
    vit_error why = {""};
    bool finished = false;
    char out[256];
    strcpy(out, scratch_path("lost"));
    struct train_job job = {.recipe = &recipe, .data = &data, .out = out, .threads = 2};
    vit_status status = train_run(&job, &finished, &why);
    CHECK(status == VIT_BAD_ARGUMENT && strstr(why.text, "no longer finite"), "%d: %s", status,
          why.text);
    CHECK(access(out, F_OK) != 0, "a model was written");
    recipe_close(&recipe);
    data_close(&data);
}
