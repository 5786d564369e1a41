/* The trainer in memory, as a page has it: natively and in each build for wasm. */
#include "small_task.h"

#include "../../src/kernels/kernels.h"

struct training {
    struct recipe recipe;
    struct data_set data;
    struct train_job job;
    struct trainer *trainer;
    struct checkpoint *state;
};

static void training_open(struct training *t, const char *json, size_t images,
                          const struct vit_kernels *kernels) {
    vit_error why = {""};
    *t = (struct training){.recipe = recipe_of(json), .data = make_bars(images)};
    t->job = (struct train_job){.recipe = &t->recipe, .data = &t->data, .kernels = kernels};
    REQUIRE(!trainer_open(&t->trainer, &t->job, NULL, &why), "%s", why.text);
    t->state = trainer_state(t->trainer);
}

static void training_close(struct training *t) {
    trainer_close(t->trainer);
    data_close(&t->data);
    recipe_close(&t->recipe);
}

/* Goes on for `steps` steps, through ends of epochs; fewer where the run ends. */
static void go_on(struct training *t, size_t steps) {
    vit_error why = {""};
    for (size_t i = 0; i < steps && !trainer_finished(t->trainer); i++) {
        REQUIRE(!trainer_step(t->trainer, &why), "%s", why.text);
        if (trainer_at_end_of_epoch(t->trainer))
            REQUIRE(!trainer_end_epoch(t->trainer, &why), "%s", why.text);
    }
}

/* The recipe with another value for the key that stands in it as `from`. */
static const char *recipe_with(const char *from, const char *to) {
    static char json[sizeof RECIPE + 256];
    const char *at = strstr(RECIPE, from);
    if (!at) exit(EXIT_FAILURE);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - RECIPE), RECIPE, to, at + strlen(from));
    return json;
}

TEST("the trainer learns a small task, and the model that it gives has learnt it") {
    struct training t;
    training_open(&t, recipe_with("\"epochs\": 6", "\"epochs\": 30"), 460, NULL);
    go_on(&t, SIZE_MAX);
    const struct epoch_record *first = &t.state->records[0], *last = &t.state->records[29];
    CHECK(last->validation_accuracy > 0.9, "accuracy %g", last->validation_accuracy);
    CHECK(last->train_loss < 0.6 * first->train_loss, "loss from %g to %g", first->train_loss,
          last->train_loss);
    size_t size;
    uint8_t *bytes = trainer_model(t.trainer, last->validation_accuracy, &size);
    vit_model *model = NULL;
    vit_error why = {""};
    struct score score = {0};
    REQUIRE(bytes && !vit_open(&model, bytes, size, NULL, &why), "%s", why.text);
    CHECK(!evaluate(&score, NULL, NULL, model, &t.data, 420, 40, &why), "%s", why.text);
    CHECK(fabs((double)score.correct / 40 - last->validation_accuracy) < 0.026,
          "%zu of 40 by the file, %g by the trainer", score.correct, last->validation_accuracy);
    vit_close(model);
    free(bytes);
    training_close(&t);
}

TEST(
    "a run that goes on from a checkpoint after any step gives the bits of a run without a break") {
    struct training whole;
    training_open(&whole, RECIPE, 460, NULL);
    go_on(&whole, SIZE_MAX);
    static const size_t STEPS[] = {1, 13, 14, 15, 40, 83};
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        struct training before, after;
        vit_error why = {""};
        training_open(&before, RECIPE, 460, NULL);
        go_on(&before, STEPS[i]);
        size_t size = checkpoint_size(before.state);
        uint8_t *bytes = malloc(size);
        checkpoint_encode(bytes, before.state);
        training_close(&before);
        training_open(&after, RECIPE, 460, NULL);
        CHECK(!checkpoint_decode(after.state, bytes, size, "it", &why), "%s", why.text);
        CHECK(after.state->epoch * 14 + after.state->step == STEPS[i], "after step %zu", STEPS[i]);
        go_on(&after, SIZE_MAX);
        for (size_t j = 0; j < CHECKPOINT_ARRAYS; j++)
            CHECK(!memcmp(after.state->arrays[j], whole.state->arrays[j],
                          whole.state->count * sizeof(float)),
                  "after step %zu, array %zu differs", STEPS[i], j);
        CHECK(!memcmp(after.state->records, whole.state->records, 6 * sizeof(struct epoch_record)),
              "after step %zu the records differ", STEPS[i]);
        free(bytes);
        training_close(&after);
    }
    training_close(&whole);
}

TEST("a checkpoint that is damaged or of another run is refused") {
    struct training t, other;
    vit_error why = {""};
    training_open(&t, RECIPE, 460, NULL);
    training_open(&other, recipe_with("\"seed\": 5", "\"seed\": 6"), 460, NULL);
    go_on(&t, 20);
    size_t size = checkpoint_size(t.state);
    uint8_t *bytes = malloc(size);
    checkpoint_encode(bytes, t.state);
    CHECK(checkpoint_decode(other.state, bytes, size, "it", &why) == VIT_BAD_FILE &&
              strstr(why.text, "another seed, 5 instead of 6"),
          "%s", why.text);
    for (size_t i = 0; i < size; i += size / 50) {
        bytes[i] ^= 4;
        CHECK(checkpoint_decode(t.state, bytes, size, "it", &why) == VIT_BAD_FILE,
              "byte %zu of %zu changed", i, size);
        bytes[i] ^= 4;
        CHECK(checkpoint_decode(t.state, bytes, i, "it", &why) == VIT_BAD_FILE, "%zu bytes of %zu",
              i, size);
    }
    CHECK(!checkpoint_decode(t.state, bytes, size, "it", &why), "%s", why.text);
    free(bytes);
    training_close(&other);
    training_close(&t);
}

/* How far apart two runs' parameters are, as a root of the mean square. */
static double distance(const struct training *a, const struct training *b) {
    double sum = 0;
    for (size_t i = 0; i < a->state->count; i++) {
        double d = (double)a->state->arrays[PARAMETERS][i] - b->state->arrays[PARAMETERS][i];
        sum += d * d;
    }
    return sqrt(sum / (double)a->state->count);
}

/* Rounding is all that may differ between two tables. What rounding leads to is measured by the
 * scalar table alone: once more, from parameters that differ by up to 4 units in the last place. */
static void compare_with_scalar(const char *json) {
    struct training scalar, moved, best;
    uint64_t seed = 1;
    training_open(&scalar, json, 200, &vit_scalar);
    training_open(&moved, json, 200, &vit_scalar);
    training_open(&best, json, 200, NULL);
    for (size_t i = 0; i < moved.state->count; i++)
        moved.state->arrays[PARAMETERS][i] *=
            1 + (float)random_below(&seed, 9) * FLT_EPSILON - 4 * FLT_EPSILON;
    for (size_t step = 1; step <= 20; step++) {
        go_on(&scalar, 1), go_on(&moved, 1), go_on(&best, 1);
        double got = distance(&scalar, &best), allowed = 10 * distance(&scalar, &moved);
        CHECK(got <= allowed && allowed < 1e-3, "step %zu: %g apart, allowed %g", step, got,
              allowed);
    }
    training_close(&scalar);
    training_close(&moved);
    training_close(&best);
}

TEST("20 steps by AdamW and by Muon give the scalar table's parameters, but for rounding") {
    compare_with_scalar(RECIPE);
    compare_with_scalar(recipe_with("\"seed\": 5", "\"seed\": 5, \"optimizer\": \"muon\""));
}

TEST("a step whose gradient is not finite is an error, and leaves the parameters as they were") {
    struct training t;
    vit_error why = {""};
    training_open(&t, recipe_with("\"seed\": 5", "\"seed\": 5, \"sharpness\": 1"), 460, NULL);
    t.recipe.sharpness = 1e30; /* beyond what a recipe may say */
    size_t size = t.state->count * sizeof(float);
    float *before = malloc(size);
    memcpy(before, t.state->arrays[PARAMETERS], size);
    CHECK(trainer_step(t.trainer, &why) && strstr(why.text, "no longer finite"), "%s", why.text);
    CHECK(!memcmp(before, t.state->arrays[PARAMETERS], size), "the parameters changed");
    free(before);
    training_close(&t);
}

TEST("one image to learn from, and a class without images, are enough for a run") {
    static const char *const SMALL[] = {"\"epochs\": 6, \"batch\": 32, \"validation\": 40",
                                        "\"epochs\": 2, \"batch\": 32, \"validation\": 0"};
    for (size_t images = 1; images <= 2; images++) {
        struct training t;
        training_open(&t, recipe_with(SMALL[0], SMALL[1]), images, NULL);
        go_on(&t, SIZE_MAX);
        CHECK(trainer_finished(t.trainer), "the run did not end");
        for (size_t i = 0; i < t.state->count; i++)
            REQUIRE(isfinite(t.state->arrays[AVERAGE][i]), "parameter %zu is not finite", i);
        training_close(&t);
    }
}
