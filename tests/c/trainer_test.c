/* The trainer in memory, as a page has it: natively and in each build for wasm. */
#include "small_task.h"

#include "../../src/kernels/kernels.h"
#include "../../src/save.h"
#include "../../src/tape.h"
#include "../../src/train/checkpoint.h"
#include "../../src/train/evaluate.h"
#include "../../src/train/init.h"
#include "../../src/train/job.h"
#include "../../src/train/samples.h"
#include "../../src/train/strokes.h"
#include "../../src/train/teacher.h"
#include "../../src/train/trainer.h"

struct training {
    struct recipe recipe;
    struct data_set data;
    struct train_job job;
    struct trainer *trainer;
    struct checkpoint *state;
};

static void training_open_on(struct training *t, const char *json, struct data_set data,
                             const struct vit_kernels *kernels) {
    vit_error why = {""};
    *t = (struct training){.recipe = recipe_of(json), .data = data};
    t->job = (struct train_job){.recipe = &t->recipe, .data = &t->data, .kernels = kernels};
    MUST(trainer_open(&t->trainer, &t->job, NULL, &why));
    t->state = trainer_state(t->trainer);
}

static void training_open(struct training *t, const char *json, size_t images,
                          const struct vit_kernels *kernels) {
    training_open_on(t, json, make_bars(images), kernels);
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
        MUST(trainer_step(t->trainer, &why));
        if (trainer_at_end_of_epoch(t->trainer)) MUST(trainer_end_epoch(t->trainer, &why));
    }
}

/* The score of the model file that the run gives, on the 40 images for validation. */
static struct score score_of(struct training *t) {
    size_t size;
    uint8_t *bytes = trainer_model(t->trainer, 1, &size);
    vit_model *model = NULL;
    vit_error why = {""};
    struct score score = {0};
    if (!bytes || vit_open(&model, bytes, size, NULL, &why) ||
        evaluate(&score, NULL, NULL, model, &t->data, 420, 40, &why))
        check_failed(__FILE__, __LINE__, "%s", why.text);
    vit_close(model);
    free(bytes);
    return score;
}

/* Trains for 30 epochs, and checks that the file agrees with the log. The last epoch's record. */
static const struct epoch_record *check_learns(struct training *t) {
    go_on(t, SIZE_MAX);
    const struct epoch_record *first = &t->state->records[0], *last = &t->state->records[29];
    struct score score = score_of(t);
    CHECK(last->validation_accuracy > 0.9, "accuracy %g", last->validation_accuracy);
    CHECK(last->train_loss < 0.6 * first->train_loss, "loss from %g to %g", first->train_loss,
          last->train_loss);
    CHECK(fabs((double)score.correct / 40 - last->validation_accuracy) < 0.026,
          "%zu of 40 by the file, %g by the trainer", score.correct, last->validation_accuracy);
    return last;
}

TEST("the trainer learns a small task, and the model that it gives has learnt it") {
    struct training t;
    training_open(&t, recipe_with("\"epochs\": 6", "\"epochs\": 30"), 460, NULL);
    check_learns(&t);
    training_close(&t);
}

TEST("the trainer learns from a mimetic start") {
    struct training t;
    training_open(&t, mimetic_recipe("\"epochs\": 30"), 460, NULL);
    check_learns(&t);
    training_close(&t);
}

static const float *tensor_of(vit_model *model, const char *name) {
    size_t count;
    for (size_t i = 0; i < vit_tensor_count(model); i++)
        if (!strcmp(vit_tensor_at(model, i).name, name))
            return vit_parameters(model, &count) + vit_tensor_at(model, i).offset;
    printf("no tensor %s\n", name);
    exit(EXIT_FAILURE);
}

/* The mean of D products of row i of a (D,D) with row i or, transposed, column i of b. */
static double mean_product(const float *a, const float *b, bool transposed, size_t D) {
    double sum = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            sum += (double)a[i * D + j] * b[transposed ? j * D + i : i * D + j];
    return sum / (double)D;
}

TEST(
    "by a mimetic start keys are like queries, the projection is the values' negative, and learned "
    "positions are sinusoids") {
    enum { D = 16, MATRIX = D * D };
    struct recipe recipe = recipe_of(mimetic_recipe("\"epochs\": 6"));
    vit_model *model = NULL;
    vit_error why = {""};
    MUST(vit_create(&model, &recipe.config, "{}", 2, &vit_scalar, &why));
    init_parameters(model, recipe.start, recipe.seed);
    const float *q = tensor_of(model, "blocks.1.attn.qkv.weight");
    const float *proj = tensor_of(model, "blocks.1.attn.proj.weight");
    const float *last = tensor_of(model, "pos_embed") + 4 * D; /* row 1, column 1 */
    double alike = mean_product(q, q + MATRIX, false, D),
           away = mean_product(proj, q + 2 * MATRIX, true, D);
    CHECK(within(alike, 0.84 * 0.84, 0.1), "queries times keys: %g", alike);
    CHECK(within(away, -0.63 * 0.63, 0.1), "projection times values: %g", away);
    for (size_t i = 0; i < D; i++) {
        double at = pow(10000, -(double)(i % 4) / 4), want = i / 4 % 2 ? cos(at) : sin(at);
        CHECK(within(last[i], want, 1e-6), "position %zu: %g, want %g", i, (double)last[i], want);
    }
    vit_close(model);
    recipe_close(&recipe);
}

/* The bars with a text each, of 4 or 5 tokens: start 3, the kind and more that follows from it, end 4,
 * padding 5. */
static struct data_set make_texts(size_t count) {
    static const uint8_t TEXTS[3][5] = {{3, 0, 1, 4, 5}, {3, 1, 2, 1, 4}, {3, 2, 0, 2, 4}};
    struct data_set data = make_bars(count);
    data.text_tokens = sizeof *TEXTS;
    uint8_t *texts = malloc(count * sizeof *TEXTS);
    for (size_t i = 0; i < count; i++)
        memcpy(texts + i * sizeof *TEXTS, TEXTS[data.labels[i]], sizeof *TEXTS);
    free(data.labels);
    data.labels = texts;
    return data;
}

TEST("a decoder learns to write what its image shows, and a text counts only if it is whole") {
    struct training t;
    training_open_on(&t, text_recipe("\"epochs\": 30"), make_texts(460), NULL);
    double loss = check_learns(&t)->validation_loss;
    CHECK(loss > 0 && loss < 0.3, "loss %g", loss);
    for (size_t i = 420; i < 460; i++) t.data.labels[i * 5 + 4] ^= 1; /* end ↔ padding */
    struct score score = score_of(&t);
    CHECK(score.correct == 0, "%zu of 40 texts with another end", score.correct);
    training_close(&t);
}

TEST("a decoder does not train on labels, nor a model without one on texts") {
    struct training t = {.recipe = recipe_of(text_recipe("\"epochs\": 1")), .data = make_bars(50)};
    vit_error why = {""};
    t.job = (struct train_job){.recipe = &t.recipe, .data = &t.data};
    CHECK_FAILS(trainer_open(&t.trainer, &t.job, NULL, &why), VIT_BAD_ARGUMENT,
                "texts, not labels");
    training_close(&t);
    t = (struct training){.recipe = recipe_of(RECIPE), .data = make_texts(50)};
    t.job = (struct train_job){.recipe = &t.recipe, .data = &t.data};
    CHECK_FAILS(trainer_open(&t.trainer, &t.job, NULL, &why), VIT_BAD_ARGUMENT,
                "labels, not texts");
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
    t.state->parts[CHECKPOINT_TEXT] = (struct checkpoint_part){"{}", 2};
    t.state->parts[CHECKPOINT_LABELS] = (struct checkpoint_part){t.data.labels, 460};
    size_t size = checkpoint_size(t.state);
    uint8_t *bytes = malloc(size);
    checkpoint_encode(bytes, t.state);
    struct checkpoint_part parts[CHECKPOINT_PARTS];
    CHECK(!checkpoint_parts(parts, bytes, size, "it", &why) && parts[CHECKPOINT_TEXT].size == 2 &&
              parts[CHECKPOINT_MODEL].size == 0 && parts[CHECKPOINT_LABELS].size == 460 &&
              !memcmp(parts[CHECKPOINT_TEXT].at, "{}", 2) &&
              !memcmp(parts[CHECKPOINT_LABELS].at, t.data.labels, 460),
          "%s", why.text);
    CHECK_FAILS(checkpoint_decode(other.state, bytes, size, "it", &why), VIT_BAD_FILE,
                "another seed, 5 instead of 6");
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

TEST("with doubt, a run learns the classes, and to doubt what is of none") {
    struct training t;
    struct data_set bars = make_bars(460);
    for (size_t i = 0; i < bars.count; i++) /* diagonals are of no class */
        if (bars.labels[i] == 2) bars.labels[i] = NO_CLASS;
    const char *json = recipe_with("\"classes\": 3", "\"classes\": 2, \"doubt\": true");
    json = edited(json, "\"a\", \"b\", \"c\"", "\"a\", \"b\"");
    json = edited(json, "\"epochs\": 6", "\"mixup\": 0.2, \"epochs\": 30");
    training_open_on(&t, edited(json, "\"labels\"", "\"uncertain_below\": 0.5, \"labels\""), bars,
                     NULL);
    go_on(&t, SIZE_MAX);
    struct score score = score_of(&t);
    CHECK(score.count + score.others == 40 && score.others > 5, "%zu and %zu", score.count,
          score.others);
    CHECK(score.correct + 3 > score.count, "%zu of %zu right", score.correct, score.count);
    CHECK(score.uncertain < 4, "%zu of %zu in doubt", score.uncertain, score.count);
    CHECK(score.others_uncertain + 3 > score.others, "%zu of %zu others in doubt",
          score.others_uncertain, score.others);
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

/* ---- Images of several channels ------------------------------------------ */

enum { COLOURS = 3 };

/* RECIPE for photos of three channels. */
static const char *colour_recipe(void) {
    const char *json = recipe_with("\"channels\": 1", "\"channels\": 3");
    return edited(json, "{\"kind\": \"digit\"}",
                  "{\"kind\": \"photo\", \"resize\": 8, \"crop\": 8,"
                  " \"mean\": [0.5, 0.25, 0.125], \"std\": [0.5, 0.25, 0.2]}");
}

/* A bar in each of the channels at one random place. It is brightest in the channel of its class,
 * which is all that tells the classes apart. */
static struct data_set make_colours(size_t count) {
    size_t image = COLOURS * PIXELS;
    struct data_set data = {calloc(count, image), calloc(count, 1), count, COLOURS, SIDE, SIDE, 0};
    uint64_t seed = 7;
    for (size_t i = 0; i < count; i++) {
        size_t class = random_below(&seed, COLOURS), column = random_below(&seed, SIDE);
        data.labels[i] = (uint8_t) class;
        for (size_t j = 0; j < image; j++) {
            bool bar = j % SIDE == column;
            data.images[i * image + j] = (uint8_t)(random_below(&seed, 60) + (bar ? 80 : 0) +
                                                   (bar && j / PIXELS == class ? 100 : 0));
        }
    }
    return data;
}

TEST("the trainer learns colours from images of three channels") {
    struct training t;
    training_open_on(&t, edited(colour_recipe(), "\"epochs\": 6", "\"epochs\": 20"),
                     make_colours(460), NULL);
    go_on(&t, SIZE_MAX);
    double accuracy = t.state->records[19].validation_accuracy;
    CHECK(accuracy > 0.9, "accuracy %g", accuracy);
    training_close(&t);
}

TEST("each channel of each image is standardised by its own mean and deviation") {
    struct recipe recipe = recipe_of(colour_recipe());
    recipe.config.image_size[0] = 1, recipe.config.image_size[1] = 2;
    uint8_t bytes[] = {0, 255, 51, 102, 204, 255, 255, 0, 0, 51, 51, 153};
    const struct data_set data = {bytes, NULL, 2, COLOURS, 1, 2, 0};
    /* 51 is 0.2, so 102 is 0.4, 153 is 0.6 and 204 is 0.8 */
    static const float WANT[] = {-1, 1,  -0.2f, 0.6f,  3.375f, 4.375f,
                                 1,  -1, -1,    -0.2f, 0.375f, 2.375f};
    float images[12];
    for (size_t i = 0; i < 2; i++) data_image(images + 6 * i, &data, i);
    data_standardise(images, 12, &recipe.config);
    for (size_t i = 0; i < 12; i++)
        CHECK(fabsf(images[i] - WANT[i]) < 1e-6f, "number %zu: %g, want %g", i, (double)images[i],
              (double)WANT[i]);
    recipe_close(&recipe);
}

TEST("augmentation changes all channels alike: each as it would an image of that channel alone") {
    struct data_set grey = make_bars(20), colours = make_colours(20);
    struct recipe recipe =
        recipe_of(recipe_with("\"thickness\": 0.2", "\"thickness\": 0.2, \"erase\": 2,"
                                                    " \"probability\": 0.8"));
    recipe.validation = 0;
    struct samples one, three;
    struct sample_room narrow, wide;
    vit_error why = {""};
    MUST(samples_open(&one, &recipe, &grey, NULL, &why));
    MUST(samples_open(&three, &recipe, &colours, NULL, &why));
    REQUIRE(sample_room_open(&narrow, &one) && sample_room_open(&wide, &three), "no room");
    for (size_t i = 0; i < 20; i++) {
        float want[PIXELS], image[COLOURS * PIXELS];
        struct sample sample = sample_draw(image, &wide, &three, 1, i);
        CHECK(sample.label == colours.labels[i] && sample.advice == ADVICE_ALWAYS, "sample %zu", i);
        for (size_t c = 0; c < COLOURS; c++) {
            memcpy(grey.images + i * PIXELS, colours.images + (i * COLOURS + c) * PIXELS, PIXELS);
            sample_draw(want, &narrow, &one, 1, i);
            CHECK_SAME_BITS(image + c * PIXELS, want, PIXELS, "a channel");
        }
    }
    sample_room_close(&narrow), sample_room_close(&wide);
    samples_close(&one), samples_close(&three);
    data_close(&grey), data_close(&colours);
    recipe_close(&recipe);
}

/* ---- What cannot be trained is refused ------------------------------------ */

static void expect_refusal(const struct train_job *job, vit_status status, const char *text) {
    vit_error why = {""};
    struct trainer *trainer;
    vit_status got = trainer_open(&trainer, job, NULL, &why);
    CHECK(got == status && strstr(why.text, text), "%s, \"%s\" instead of %s, \"%s\"",
          vit_status_name(got), why.text, vit_status_name(status), text);
    trainer_close(trainer);
}

TEST("mixed images are made of two, and their labels have the shares of the images") {
    struct data_set colours = make_colours(40);
    struct recipe recipe = recipe_of(colour_recipe());
    recipe.validation = 0;
    recipe.augment = (struct augment){.elastic_grid = 4};
    recipe.mixup = recipe.cutmix = 0.4;
    for (size_t i = 0; i < 40; i++) /* all numbers of an image are its own */
        memset(colours.images + i * COLOURS * PIXELS, (int)(5 * i), COLOURS * PIXELS);
    struct samples samples;
    struct sample_room room;
    vit_error why = {""};
    MUST(samples_open(&samples, &recipe, &colours, NULL, &why));
    REQUIRE(sample_room_open(&room, &samples), "no room");
    size_t blended = 0, pasted = 0;
    for (size_t epoch = 0; epoch < 10; epoch++)
        for (size_t i = 0; i < 40; i++) {
            float image[COLOURS * PIXELS], own = (float)(5 * i) / 255;
            struct sample sample = sample_draw(image, &room, &samples, epoch, i);
            CHECK(sample.mixed >= 0 && sample.mixed <= 0.5f, "share %g", (double)sample.mixed);
            size_t same = 0;
            float other = own;
            for (size_t j = 0; j < COLOURS * PIXELS; j++)
                if (image[j] == own)
                    same++;
                else
                    other = image[j];
            if (same == COLOURS * PIXELS) continue;
            bool alike = same == 0; /* blended, or pasted over everything */
            blended += alike, pasted += !alike;
            if (alike) continue;
            float share = 1 - (float)same / (COLOURS * PIXELS); /* pasted */
            size_t from = (size_t)lroundf(other * 255 / 5);
            CHECK(other == (float)(5 * from) / 255, "a pixel of no image: %g", (double)other);
            CHECK(fabsf(fminf(share, 1 - share) - sample.mixed) < 1e-6f, "%g pasted, %g mixed",
                  (double)share, (double)sample.mixed);
            uint8_t most = colours.labels[share > 0.5f ? from : i];
            uint8_t least = colours.labels[share > 0.5f ? i : from];
            CHECK(sample.label == most && (sample.mixed == 0 || sample.other == least),
                  "labels %d and %d, not %d and %d", sample.label, sample.other, most, least);
        }
    CHECK(blended > 110 && blended < 210, "%zu of 400 blended", blended);
    CHECK(pasted > 90 && pasted < 200, "%zu of 400 pasted", pasted);
    sample_room_close(&room);
    samples_close(&samples);
    data_close(&colours);
    recipe_close(&recipe);
}

TEST("images of no class are mixed with none and into none, and no teacher's answer counts for "
     "them") {
    struct data_set colours = make_colours(40);
    struct recipe recipe =
        recipe_of(edited(colour_recipe(), "\"labels\"", "\"doubt\": true, \"labels\""));
    recipe.validation = 0;
    recipe.mixup = recipe.cutmix = 0.5;
    for (size_t i = 0; i < 40; i += 2) colours.labels[i] = NO_CLASS;
    struct samples samples;
    struct sample_room room;
    vit_error why = {""};
    MUST(samples_open(&samples, &recipe, &colours, NULL, &why));
    REQUIRE(sample_room_open(&room, &samples), "no room");
    size_t mixed = 0;
    for (size_t epoch = 0; epoch < 10; epoch++)
        for (size_t i = 0; i < 40; i++) {
            float image[COLOURS * PIXELS];
            struct sample sample = sample_draw(image, &room, &samples, epoch, i);
            bool none = i % 2 == 0;
            CHECK((sample.label == NO_CLASS) == none, "label %d of image %zu", sample.label, i);
            CHECK((sample.advice == ADVICE_NEVER) == none, "advice %d", sample.advice);
            CHECK(sample.mixed == 0 || (!none && sample.other < COLOURS), "image %zu: %g of %d", i,
                  (double)sample.mixed, sample.other);
            mixed += sample.mixed > 0;
        }
    CHECK(mixed > 60 && mixed < 140, "%zu of 200 mixed", mixed); /* half meet one of a class */
    sample_room_close(&room);
    samples_close(&samples);
    data_close(&colours);
    recipe_close(&recipe);
}

TEST("images of other channels or another size than the recipe's are refused") {
    struct recipe grey = recipe_of(RECIPE), colour = recipe_of(colour_recipe());
    struct data_set bars = make_bars(60), colours = make_colours(60);
    expect_refusal(&(struct train_job){.recipe = &colour, .data = &bars}, VIT_BAD_ARGUMENT,
                   "channels, rows and columns (1,8,8); the recipe's model wants (3,8,8)");
    expect_refusal(&(struct train_job){.recipe = &grey, .data = &colours}, VIT_BAD_ARGUMENT,
                   "(3,8,8); the recipe's model wants (1,8,8)");
    bars.rows = 4, bars.columns = 16;
    expect_refusal(&(struct train_job){.recipe = &grey, .data = &bars}, VIT_BAD_ARGUMENT,
                   "(1,4,16); the recipe's model wants (1,8,8)");
    data_close(&bars), data_close(&colours);
    recipe_close(&grey), recipe_close(&colour);
}

TEST("drawings, and what is no digit, are refused beside images of three channels") {
    struct recipe recipe = recipe_of(colour_recipe());
    struct data_set colours = make_colours(60);
    struct drawings none = {0};
    struct train_job job = {.recipe = &recipe, .data = &colours};
    recipe.negatives = 0.1;
    expect_refusal(&job, VIT_BAD_CONFIG, "training key negatives");
    recipe.negatives = 0, recipe.drawings = 1;
    expect_refusal(&job, VIT_BAD_CONFIG, "training key drawings");
    recipe.drawings = 0, job.drawings = &none;
    expect_refusal(&job, VIT_BAD_CONFIG, "training key drawings");
    data_close(&colours);
    recipe_close(&recipe);
}

TEST("a teacher must standardise every channel as the recipe does") {
    struct recipe recipe = recipe_of(colour_recipe());
    vit_config other = recipe.config;
    vit_model *same = NULL, *teacher = NULL;
    vit_error why = {""};
    other.photo.std[2] = 0.3f;
    recipe.distillation = 0.5;
    MUST(vit_create(&same, &recipe.config, "{}", 2, &vit_scalar, &why));
    MUST(vit_create(&teacher, &other, "{}", 2, &vit_scalar, &why));
    CHECK(!teacher_check(same, &recipe, &why), "%s", why.text);
    CHECK(teacher_check(teacher, &recipe, &why) == VIT_BAD_ARGUMENT,
          "another deviation is accepted");
    vit_close(same), vit_close(teacher);
    recipe_close(&recipe);
}

TEST("a model without a backward pass is refused, and the message says why") {
    struct data_set bars = make_bars(60);
    for (size_t i = 0; i < 6; i++) {
        static const char *const WHY[] = {"no head", "its pool", "norm_pre",
                                          "norm_in", ".norm)",   "tokens_to_token"};
        struct recipe recipe = recipe_of(RECIPE);
        vit_config *c = &recipe.config;
        CHECK(!vit_untrainable(c), "%s", vit_untrainable(c));
        if (i == 0) c->classes = 0;
        if (i == 1) c->pool = VIT_POOL_MAX;
        c->norm_pre = i == 2, c->patch_norm_in = i == 3, c->patch_norm = i == 4;
        if (i == 5) c->tokens_to_token = VIT_SPLIT_TRANSFORMER;
        CHECK(vit_untrainable(c) && strstr(vit_untrainable(c), WHY[i]), "obstacle %zu", i);
        expect_refusal(&(struct train_job){.recipe = &recipe, .data = &bars}, VIT_BAD_CONFIG,
                       "this model has no backward pass: it");
        recipe_close(&recipe);
    }
    data_close(&bars);
}

TEST("a model whose classes do not exclude each other is refused, because training has no loss for "
     "it") {
    struct data_set bars = make_bars(60);
    for (vit_problem problem = VIT_MULTI_LABEL_CLASSIFICATION; problem <= VIT_REGRESSION;
         problem++) {
        struct recipe recipe = recipe_of(RECIPE);
        recipe.config.problem_type = problem;
        expect_refusal(&(struct train_job){.recipe = &recipe, .data = &bars}, VIT_BAD_CONFIG,
                       "problem_type: expected single_label_classification");
        recipe_close(&recipe);
    }
    data_close(&bars);
}

TEST("a start with tensors that the recipe's model lacks is refused by their name") {
    struct recipe recipe = recipe_of(RECIPE);
    struct data_set bars = make_bars(60);
    struct train_job job = {.recipe = &recipe, .data = &bars};
    vit_config more = recipe.config;
    vit_error why = {""};
    more.layer_scale = true;
    MUST(vit_create(&job.start, &more, "{}", 2, &vit_scalar, &why));
    expect_refusal(&job, VIT_BAD_TENSOR, "blocks.0.ls1.gamma: the model to start from has it");
    vit_close(job.start);
    data_close(&bars);
    recipe_close(&recipe);
}

TEST("a start may have another head, or none") {
    static const size_t classes[] = {5, 0};
    for (size_t i = 0; i < 2; i++) {
        struct recipe recipe = recipe_of(RECIPE);
        struct data_set bars = make_bars(60);
        struct train_job job = {.recipe = &recipe, .data = &bars};
        vit_config other = recipe.config;
        vit_error why = {""};
        other.classes = classes[i];
        recipe.config.head_bias = i; /* of the head, more may be left behind */
        MUST(vit_create(&job.start, &other, "{}", 2, &vit_scalar, &why));
        init_parameters(job.start, START_XAVIER, 9);
        struct trainer *trainer;
        MUST(trainer_open(&trainer, &job, NULL, &why));
        size_t count;
        const float *start = vit_parameters(job.start, &count);
        vit_tensor first = vit_tensor_at(job.start, 0);
        CHECK_SAME_BITS(trainer_state(trainer)->arrays[PARAMETERS], start, first.count, first.name);
        trainer_close(trainer);
        vit_close(job.start);
        data_close(&bars);
        recipe_close(&recipe);
    }
}

TEST("a start whose parameters cannot be read is refused") {
    struct training t;
    training_open(&t, RECIPE, 60, NULL);
    const float *parameters = t.state->arrays[PARAMETERS];
    const char *json = t.recipe.model;
    vit_error why = {""};
    vit_model *model, *int8, *packed;
    MUST(vit_create(&model, &t.recipe.config, json, strlen(json), &vit_scalar, &why));
    size_t size = vit_encode_int8(NULL, 0, model, parameters, json, strlen(json));
    uint8_t *bytes = malloc(size);
    vit_encode_int8(bytes, size, model, parameters, json, strlen(json));
    MUST(vit_open(&int8, bytes, size, NULL, &why));
    t.job.start = int8;
    expect_refusal(&t.job, VIT_BAD_ARGUMENT, "got an int8 one");
    vit_close(int8);
    size = vit_encode(bytes, size, model, parameters, json, strlen(json));
    bytes = realloc(bytes, size);
    vit_encode(bytes, size, model, parameters, json, strlen(json));
    MUST(vit_open(&packed, bytes, size, NULL, &why));
    t.job.start = packed;
    if (vit_model_kernels(packed)->packed)
        expect_refusal(&t.job, VIT_BAD_ARGUMENT, "expected unpacked parameters");
    vit_close(packed);
    vit_close(model);
    free(bytes);
    training_close(&t);
}

/* ---- Frozen blocks -------------------------------------------------------- */

/* How many blocks a recipe of RECIPE's two must freeze so that the tensor is frozen, too. */
static size_t frozen_from(const vit_tensor *tensor) {
    static const struct {
        const char *name;
        size_t blocks;
    } ALL[] = {{"patch_embed.", 1}, {"cls_token", 1}, {"pos_embed", 1}, {"blocks.0.", 1},
               {"blocks.1.", 2},    {"norm.", 3},     {"head.", 4}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (!strncmp(tensor->name, ALL[i].name, strlen(ALL[i].name))) return ALL[i].blocks;
    check_failed(__FILE__, __LINE__, "%s: unknown", tensor->name);
    return 0;
}

static float *copy_of(const float *from, size_t count) {
    float *copy = malloc(count * sizeof *copy);
    memcpy(copy, from, count * sizeof *copy);
    return copy;
}

static void check_frozen(const char *recipe, size_t blocks) {
    struct training t;
    vit_model *model = NULL;
    vit_error why = {""};
    training_open(&t, frozen_recipe(recipe, blocks), 200, &vit_scalar);
    MUST(vit_create(&model, &t.recipe.config, "{}", 2, &vit_scalar, &why));
    float *start = copy_of(t.state->arrays[PARAMETERS], t.state->count);
    go_on(&t, 10);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor tensor = vit_tensor_at(model, i);
        for (size_t j = 0; j < CHECKPOINT_ARRAYS; j++) {
            const float *now = t.state->arrays[j] + tensor.offset;
            bool moment = j == MOMENT1 || j == MOMENT2, moved = false;
            for (size_t k = 0; k < tensor.count; k++)
                moved |= now[k] != (moment ? 0 : start[tensor.offset + k]);
            if (blocks >= frozen_from(&tensor) || j != MOMENT2) /* Muon has no second moment */
                CHECK(moved == (blocks < frozen_from(&tensor)), "%zu frozen blocks: %s, array %zu",
                      blocks, tensor.name, j);
        }
    }
    free(start);
    vit_close(model);
    training_close(&t);
}

TEST("frozen tensors keep their bits and have no moments, while all others move") {
    static const char *const MORE[] = {"", ", \"optimizer\": \"adam\"", ", \"optimizer\": \"muon\"",
                                       ", \"sharpness\": 0.1"};
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++)
        for (size_t blocks = 0; blocks <= 3; blocks++) {
            char decay[80];
            snprintf(decay, sizeof decay, "\"weight_decay\": 0.05%s", MORE[i]);
            check_frozen(recipe_with("\"weight_decay\": 0.05", decay), blocks);
        }
}

TEST("a frozen run's first step has the bits of a free run's, where it trains") {
    const char *recipe = recipe_with("\"clip_norm\": 1", "\"clip_norm\": 0");
    for (size_t blocks = 1; blocks <= 3; blocks++) {
        struct training free_run, frozen;
        vit_model *model = NULL;
        vit_error why = {""};
        training_open(&free_run, recipe, 200, &vit_scalar);
        training_open(&frozen, frozen_recipe(recipe, blocks), 200, &vit_scalar);
        MUST(vit_create(&model, &frozen.recipe.config, "{}", 2, &vit_scalar, &why));
        go_on(&free_run, 1), go_on(&frozen, 1);
        for (size_t i = 0; i < vit_tensor_count(model); i++) {
            vit_tensor tensor = vit_tensor_at(model, i);
            for (size_t j = 0; j < CHECKPOINT_ARRAYS && blocks < frozen_from(&tensor); j++)
                CHECK_SAME_BITS(frozen.state->arrays[j] + tensor.offset,
                                free_run.state->arrays[j] + tensor.offset, tensor.count,
                                tensor.name);
        }
        vit_close(model);
        training_close(&free_run), training_close(&frozen);
    }
}

TEST("the gradient is clipped by the norm of what is trained") {
    static const double CLIP = 1e-3, BETA1 = 0.9;
    for (size_t blocks = 0; blocks <= 3; blocks++) {
        struct training t;
        double square = 0;
        training_open(
            &t, frozen_recipe(recipe_with("\"clip_norm\": 1", "\"clip_norm\": 0.001"), blocks), 200,
            NULL);
        go_on(&t, 1);
        for (size_t i = 0; i < t.state->count; i++)
            square += pow((double)t.state->arrays[MOMENT1][i] / (1 - BETA1), 2);
        CHECK(fabs(sqrt(square) - CLIP) < 1e-5 * CLIP, "%zu frozen blocks: a norm of %g, not %g",
              blocks, sqrt(square), CLIP);
        training_close(&t);
    }
}

TEST("with a frozen rest the head alone learns") {
    struct training t;
    training_open(&t, edited(frozen_recipe(RECIPE, 3), "\"epochs\": 6", "\"epochs\": 15"), 460,
                  NULL);
    go_on(&t, SIZE_MAX);
    const struct epoch_record *first = &t.state->records[0], *last = &t.state->records[14];
    CHECK(last->train_loss < first->train_loss - 0.02, "a loss of %g after %g", last->train_loss,
          first->train_loss);
    training_close(&t);
}
