/* Small but whole runs of training. */
#define _GNU_SOURCE
#include "train_support.h"

#include "../../src/base/team.h"
#include "../../src/kernels/kernels.h"
#include "../../src/save.h"
#include "../../src/train/checkpoint.h"
#include "../../src/train/evaluate.h"
#include "../../src/train/files.h"
#include "../../src/train/init.h"
#include "../../src/train/job.h"
#include "../../src/train/run.h"
#include "../../src/train/team.h"

#include <sys/stat.h>
#include <zlib.h>

/* ---- The team ----------------------------------------------------------- */

static void mark(void *context, size_t thread, size_t threads) {
    struct range range = range_part(1000, thread, threads);
    for (size_t i = range.begin; i < range.end; i++) ((int *)context)[i]++;
}

TEST("a team's parts cover every index once a round, with any number of threads") {
    for (size_t threads = 1; threads <= 5; threads++) {
        int marks[1000] = {0};
        vit_team *team;
        REQUIRE(!team_open(&team, threads, NULL), "no team of %zu", threads);
        for (int round = 0; round < 100; round++) team->run(team, mark, marks);
        team_close(team);
        for (size_t i = 0; i < 1000; i++) CHECK(marks[i] == 100, "%zu: %d marks", i, marks[i]);
    }
}

/* ---- Whole runs --------------------------------------------------------- */

struct watcher {
    size_t stop_epoch, stop_step, steps, resumed, done;
    struct epoch_record first, last;
};

static bool watch_step(void *context, const struct train_progress *progress) {
    struct watcher *watcher = context;
    watcher->steps++;
    return !(progress->epoch == watcher->stop_epoch && watcher->steps >= watcher->stop_step);
}

static void watch_epoch(void *context, size_t epoch, size_t epochs,
                        const struct epoch_record *record) {
    struct watcher *watcher = context;
    (void)epochs;
    if (epoch == 1) watcher->first = *record;
    watcher->last = *record;
}

static void watch_resumed(void *context, size_t epoch, size_t epochs, size_t done, size_t images) {
    (void)epochs, (void)images;
    ((struct watcher *)context)->resumed = epoch;
    ((struct watcher *)context)->done = done;
}

static const size_t OPTIMIZERS[] = {OPTIMIZER_ADAMW, OPTIMIZER_MUON};
static struct data_set bars; /* made by the first run */

static size_t snapshots; /* of the next run */

static vit_status run(const struct recipe *recipe, const char *name, size_t threads, bool fresh,
                      struct watcher *watcher, bool *finished, vit_error *why) {
    char out[256];
    if (!bars.images) bars = make_bars(460);
    strcpy(out, scratch_path(name));
    struct train_job job = {.recipe = recipe, .data = &bars};
    struct train_files files = {.out = out,
                                .threads = threads,
                                .snapshots = snapshots,
                                .fresh = fresh,
                                .watch = {watcher, watch_step, watch_epoch, watch_resumed}};
    return train_run(&job, &files, finished, why);
}

/* The bytes of the model that a finished run wrote. */
static uint8_t *trained(const struct recipe *recipe, const char *name, size_t threads, size_t *size,
                        struct watcher *watcher) {
    vit_error why = {""};
    bool finished = false;
    vit_status status = run(recipe, name, threads, false, watcher, &finished, &why);
    CHECK(!status && finished, "%s: %s", name, why.text);
    return bytes_of(scratch_path(name), size);
}

static void check_same(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                       const char *what) {
    CHECK(a && b && a_size == b_size && !memcmp(a, b, a_size), "%s: the files differ", what);
}

TEST("Muon learns a small task too, alone and in threads") {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.epochs = 16;
    recipe.optimizer = OPTIMIZER_MUON;
    for (size_t threads = 1; threads < 4; threads += 2) {
        struct watcher watcher = {0};
        char name[16];
        size_t size;
        snprintf(name, sizeof name, "muon%zu", threads);
        free(trained(&recipe, name, threads, &size, &watcher));
        CHECK(watcher.last.validation_accuracy > 0.9, "%zu threads: accuracy %g", threads,
              watcher.last.validation_accuracy);
    }
    recipe_close(&recipe);
}

TEST("a run in bfloat16 learns a small task too, and gives the same bits again") {
    char json[sizeof RECIPE];
    strcpy(json, RECIPE);
    char *width = strstr(json, "\"width\": 16");
    REQUIRE(width, "no width to change");
    memcpy(width, "\"width\": 64", 11); /* else all products are too small for bfloat16 */
    struct recipe recipe = recipe_of(json);
    recipe.epochs = 10;
    for (size_t i = SANITIZED; i < 2; i++) { /* AdamW as released alone */
        recipe.optimizer = OPTIMIZERS[i];
        recipe.precision = PRECISION_BFLOAT16;
        struct watcher watcher = {0};
        size_t a_size = 0, b_size = 0, c_size = 0;
        uint8_t *a = trained(&recipe, "rounded", 2, &a_size, &watcher);
        CHECK(watcher.last.validation_accuracy > 0.9, "optimizer %zu: accuracy %g", i,
              watcher.last.validation_accuracy);
        uint8_t *b = trained(&recipe, "rounded again", 2, &b_size, &watcher);
        check_same(a, a_size, b, b_size, "trained twice");
        if (vit_bfloat16()) {
            recipe.precision = PRECISION_FLOAT32;
            uint8_t *c = trained(&recipe, "not rounded", 2, &c_size, &watcher);
            CHECK(memcmp(a + a_size / 2, c + c_size / 2, 64), "nothing was rounded");
            free(c);
        }
        free(a), free(b);
    }
    recipe_close(&recipe);
}

TEST("a run learns a small task, its file opens, and evaluation agrees with the log") {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.epochs = 12;
    struct watcher watcher = {0};
    size_t size = 0;
    uint8_t *bytes = trained(&recipe, "learnt", 2, &size, &watcher);
    CHECK(watcher.last.train_loss < 0.6 * watcher.first.train_loss, "loss from %g to %g",
          watcher.first.train_loss, watcher.last.train_loss);
    CHECK(watcher.last.validation_accuracy > 0.9, "accuracy %g", watcher.last.validation_accuracy);
    vit_model *model = NULL;
    vit_error why = {""};
    REQUIRE(bytes && !vit_open(&model, bytes, size, &vit_native, &why), "%s", why.text);
    vit_team *team;
    struct score score;
    size_t confusion[9] = {0}, sum = 0, diagonal = 0;
    MUST(team_open(&team, 3, &why));
    CHECK(!evaluate(&score, confusion, team, model, &bars, 420, 40, &why), "%s", why.text);
    for (size_t i = 0; i < 9; i++) sum += confusion[i], diagonal += i % 4 ? 0 : confusion[i];
    CHECK(sum == 40 && diagonal == score.correct, "confusion of %zu, %zu right", sum, diagonal);
    CHECK((double)score.correct / 40 == watcher.last.validation_accuracy, "%zu of 40 and %g",
          score.correct, watcher.last.validation_accuracy);
    CHECK(within(score.loss, watcher.last.validation_loss, 1e-5), "%g and %g", score.loss,
          watcher.last.validation_loss);
    CHECK(access(scratch_path("learnt.checkpoint"), F_OK) != 0, "the checkpoint is still there");
    uint8_t *log = bytes_of(scratch_path("learnt.log.tsv"), &size);
    size_t lines = 0;
    for (size_t i = 0; i < size; i++) lines += log[i] == '\n';
    CHECK(lines == 1 + recipe.epochs, "the log has %zu lines", lines);
    free(log);
    team_close(team);
    vit_close(model);
    free(bytes);
    recipe_close(&recipe);
}

TEST("a run gives the same bits with the same seed and threads, and others with another seed") {
    struct recipe recipe = recipe_of(RECIPE);
    struct watcher watcher = {0};
    size_t sizes[3];
    uint8_t *one = trained(&recipe, "one", 3, &sizes[0], &watcher);
    uint8_t *two = trained(&recipe, "two", 3, &sizes[1], &watcher);
    check_same(one, sizes[0], two, sizes[1], "same seed");
    recipe.seed++;
    uint8_t *other = trained(&recipe, "other", 3, &sizes[2], &watcher);
    CHECK(other && (sizes[2] != sizes[0] || memcmp(one, other, sizes[0])),
          "the seed has no effect");
    free(one);
    free(two);
    free(other);
    recipe_close(&recipe);
}

TEST("a run stopped in the middle of an epoch and resumed gives the bits of a run without a stop") {
    struct recipe recipe = recipe_of(RECIPE);
    for (size_t i = 0; i < 2; i++) {
        recipe.optimizer = OPTIMIZERS[i];
        recipe.sharpness = 0.1 * (double)i;
        struct watcher watcher = {0}, stopped = {.stop_epoch = 4, .stop_step = 3 * 14 + 5};
        vit_error why = {""};
        bool finished = true;
        size_t sizes[2];
        uint8_t *whole = trained(&recipe, "whole", 2, &sizes[0], &watcher);
        unlink(scratch_path("parts"));
        MUST(run(&recipe, "parts", 2, false, &stopped, &finished, &why));
        CHECK(!finished && access(scratch_path("parts"), F_OK) != 0, "the run was not stopped");
        struct watcher resumed = {0};
        uint8_t *parts = trained(&recipe, "parts", 2, &sizes[1], &resumed);
        CHECK(resumed.resumed == 3 && resumed.done == 5 * 32 &&
                  resumed.steps == 6 * 14 - stopped.steps,
              "resumed after epoch %zu and %zu images, took %zu steps", resumed.resumed,
              resumed.done, resumed.steps);
        check_same(whole, sizes[0], parts, sizes[1], "resumed");
        free(whole);
        free(parts);
    }
    recipe_close(&recipe);
}

TEST("the checkpoint of a run on texts has all of them, and the run resumes") {
    enum { TOKENS = 3, COUNT = 40 };
    static const char JSON[] =
        "{\"model\": {\"image_size\": [8, 8], \"patch_size\": [4, 4], \"channels\": 1,"
        " \"width\": 8, \"depth\": 1, \"heads\": 2, \"mlp_width\": 8, \"classes\": 0,"
        " \"decoder\": {\"depth\": 1, \"width\": 8, \"heads\": 2, \"mlp_width\": 8,"
        " \"vocabulary\": 5, \"max_tokens\": 3, \"start\": 3, \"end\": 4}},"
        " \"training\": {\"epochs\": 2, \"batch\": 10, \"validation\": 0}}";
    struct recipe recipe = recipe_of(JSON);
    struct data_set data = make_bars(COUNT);
    uint8_t texts[COUNT][TOKENS];
    for (size_t i = 0; i < COUNT; i++) memcpy(texts[i], (uint8_t[]){3, data.labels[i], 4}, TOKENS);
    free(data.labels);
    data.labels = texts[0], data.text_tokens = TOKENS;
    struct watcher stopped = {.stop_epoch = 1, .stop_step = 2}, resumed = {0};
    char out[256];
    strcpy(out, scratch_path("texts"));
    struct train_job job = {.recipe = &recipe, .data = &data};
    struct train_files files = {
        .out = out, .threads = 2, .watch = {&stopped, watch_step, NULL, watch_resumed}};
    struct checkpoint_part parts[CHECKPOINT_PARTS];
    bool finished = true;
    vit_error why = {""};
    size_t size;
    MUST(train_run(&job, &files, &finished, &why));
    CHECK(!finished, "the run was not stopped");
    uint8_t *bytes = bytes_of(scratch_path("texts.checkpoint"), &size);
    MUST(checkpoint_parts(parts, bytes, size, "it", &why));
    const struct checkpoint_part *labels = &parts[CHECKPOINT_LABELS];
    CHECK(labels->size == sizeof texts && !memcmp(labels->at, texts, sizeof texts), "%zu bytes",
          labels->size);
    files.watch.context = &resumed;
    MUST(train_run(&job, &files, &finished, &why));
    CHECK(finished && resumed.done == 20 && resumed.steps == 6, "%zu steps", resumed.steps);
    free(bytes), free(data.images);
    recipe_close(&recipe);
}

/* The parameters of a model file. The caller frees them. */
static float *parameters_in(const char *name, size_t *count) {
    vit_model *model = read_model(scratch_path(name));
    float *all = vit_parameters(model, count), *copy = malloc(*count * sizeof *copy);
    memcpy(copy, all, *count * sizeof *copy);
    vit_close(model);
    return copy;
}

TEST("snapshots go from the first parameters to the last, and change nothing about the run") {
    /* 84 steps. Of five snapshots the i-th comes after 84 (i/4)³ steps, rounded. */
    static const size_t STEPS[] = {0, 1, 11, 35, 84};
    struct recipe recipe = recipe_of(RECIPE);
    struct watcher watcher = {0};
    size_t sizes[2], count, found = 0;
    uint8_t *without = trained(&recipe, "without", 2, &sizes[0], &watcher);
    snapshots = 5;
    uint8_t *with = trained(&recipe, "with", 2, &sizes[1], &watcher);
    snapshots = 0;
    check_same(without, sizes[0], with, sizes[1], "with snapshots");
    vit_model *fresh = fresh_model(&recipe, recipe.seed);
    float *last = parameters_in("with", &count), *before = NULL;
    for (size_t i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "with.step-%06zu.safetensors", STEPS[i]);
        float *now = parameters_in(name, &count);
        const float *same = i == 0 ? vit_parameters(fresh, &count) : i == 4 ? last : NULL;
        if (same) CHECK_SAME_BITS(now, same, count, name);
        CHECK(!before || memcmp(before, now, count * sizeof *now) != 0, "%s is not new", name);
        free(before);
        before = now;
    }
    for (size_t step = 0; step <= 84; step++) {
        char name[64];
        snprintf(name, sizeof name, "with.step-%06zu.safetensors", step);
        found += access(scratch_path(name), F_OK) == 0;
    }
    CHECK(found == 5, "%zu snapshots", found);
    free(before);
    free(last);
    vit_close(fresh);
    free(without);
    free(with);
    recipe_close(&recipe);
}

static void expect_other_run(const struct recipe *recipe, size_t threads, const char *words) {
    struct watcher watcher = {0};
    vit_error why = {""};
    bool finished = true;
    vit_status status = run(recipe, "half", threads, false, &watcher, &finished, &why);
    CHECK(status == VIT_BAD_FILE && !finished, "%s: went on", words);
    CHECK(strstr(why.text, words), "the message does not say \"%s\": %s", words, why.text);
}

TEST("a checkpoint of another run, or a damaged one, is refused, and --fresh starts over") {
    struct recipe recipe = recipe_of(RECIPE);
    struct watcher watcher = {.stop_epoch = 2};
    vit_error why = {""};
    bool finished;
    MUST(run(&recipe, "half", 2, false, &watcher, &finished, &why));
    expect_other_run(&recipe, 1, "another number of threads, 2 instead of 1");
    recipe.seed = 77;
    expect_other_run(&recipe, 2, "another seed, 5 instead of 77");
    recipe.seed = 5;
    recipe.epochs = 9;
    expect_other_run(&recipe, 2, "another number of epochs, 6 instead of 9");
    recipe.epochs = 6;
    recipe.learning_rate *= 2;
    expect_other_run(&recipe, 2, "another recipe");
    recipe.learning_rate /= 2;

    size_t size;
    uint8_t *bytes = bytes_of(scratch_path("half.checkpoint"), &size);
    bytes[size / 2] ^= 16;
    put_file(scratch_path("half.checkpoint"), bytes, size);
    expect_other_run(&recipe, 2, "damaged");
    put_file(scratch_path("half.checkpoint"), bytes, size / 2);
    expect_other_run(&recipe, 2, "damaged");
    free(bytes);
    struct watcher anew = {0};
    CHECK(!run(&recipe, "half", 2, true, &anew, &finished, &why) && finished, "%s", why.text);
    CHECK(anew.resumed == 0 && anew.steps == 6 * 14, "%zu steps", anew.steps);
    recipe_close(&recipe);
}

TEST("a checkpoint with impossible numbers, or that is not a file, is refused") {
    struct recipe recipe = recipe_of(RECIPE);
    struct watcher watcher = {.stop_epoch = 2};
    vit_error why = {""};
    bool finished;
    size_t size;
    char path[256];
    MUST(run(&recipe, "half", 2, true, &watcher, &finished, &why));
    strcpy(path, scratch_path("half.checkpoint"));
    uint8_t *bytes = bytes_of(path, &size);
    struct epoch_record record;
    uint8_t *first = bytes + size - sizeof(uint64_t) - recipe.epochs * sizeof record;
    memcpy(&record, first, sizeof record);
    const double wrong[] = {1e308, -1e300, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        struct epoch_record other = record;
        other.train_loss = other.images_per_second = other.gflops = other.train_accuracy = wrong[i];
        memcpy(first, &other, sizeof other);
        uint64_t sum = hash_bytes(0, bytes, size - sizeof sum);
        memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
        put_file(path, bytes, size);
        expect_other_run(&recipe, 2, "numbers that no run has");
    }
    recipe.epochs = 3; /* the file is longer than this run's */
    expect_other_run(&recipe, 2, "another number of epochs, 6 instead of 3");
    recipe.epochs = 6;
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    put_file(path, bytes, size + 1);
    expect_other_run(&recipe, 2, "damaged");
    unlink(path);
    REQUIRE(!mkfifo(path, 0600), "no pipe"); /* opening it would block forever */
    expect_other_run(&recipe, 2, "damaged");
    unlink(path);
    free(bytes);
    recipe_close(&recipe);
}

TEST("fine-tuning starts from the given parameters") {
    struct recipe recipe = recipe_of(RECIPE);
    vit_model *models[2] = {fresh_model(&recipe, 0), fresh_model(&recipe, 1)};
    vit_error why = {""};
    size_t count;
    float *a = vit_parameters(models[0], &count), *b = vit_parameters(models[1], &count);
    CHECK(memcmp(a, b, count * sizeof *a) != 0, "two seeds, one start");
    CHECK(!init_from(models[1], models[0], &why), "%s", why.text);
    CHECK_SAME_BITS(b, a, count, "copied");
    for (size_t i = 0; i < 2; i++) vit_close(models[i]);
    recipe_close(&recipe);
}

/* A random model of the small task whose classes have these names. */
static vit_model *make_model(const char *labels, int classes, uint64_t seed) {
    static const char AS[] = "\"classes\": 3", NAMED[] = "\"labels\": [\"a\", \"b\", \"c\"]";
    const char *count = strstr(RECIPE, AS), *names = strstr(RECIPE, NAMED);
    char json[sizeof RECIPE + 128];
    if (!count || !names || count > names) exit(EXIT_FAILURE); /* RECIPE is another one */
    snprintf(json, sizeof json, "%.*s\"classes\": %d%.*s\"labels\": %s%s", (int)(count - RECIPE),
             RECIPE, classes, (int)(names - count - (ptrdiff_t)strlen(AS)), count + strlen(AS),
             labels, names + strlen(NAMED));
    struct recipe recipe = recipe_of(json);
    vit_model *model = fresh_model(&recipe, seed);
    recipe_close(&recipe);
    return model;
}

TEST("fine-tuning keeps the head's rows of shared classes, or the whole head if only the number is "
     "equal") {
    static const struct {
        const char *labels;
        int classes, rows[4]; /* the row of the start's head that each row was; -1: a new one */
    } cases[] = {
        {"[\"b\", \"new\", \"a\", \"é\"]", 4, {1, -1, 0, -1}},
        {"[\"c\", \"b\", \"new\"]", 3, {2, 1, -1}},
        {"[\"x\", \"y\", \"z\"]", 3, {0, 1, 2}},
        {"[\"x\", \"y\"]", 2, {-1, -1}},
        {"[\"A\", \"b \"]", 2, {-1, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_model *from = make_model("[\"a\", \"b\", \"c\"]", 3, 1);
        vit_model *fresh = make_model(cases[i].labels, cases[i].classes, 2);
        vit_model *model = make_model(cases[i].labels, cases[i].classes, 2);
        vit_error why = {""};
        size_t count, heads = 0;
        CHECK(!init_from(model, from, &why), "%s", why.text);
        for (size_t n = 0; n < vit_tensor_count(model); n++) {
            vit_tensor to = vit_tensor_at(model, n), old = vit_tensor_at(from, n);
            const float *x = vit_parameters(model, &count) + to.offset;
            const float *started = vit_parameters(from, &count) + old.offset;
            const float *anew = vit_parameters(fresh, &count) + to.offset;
            bool head = !strncmp(to.name, "head.", 5);
            size_t row = head ? to.count / (size_t)cases[i].classes : to.count;
            for (int k = 0; k < (head ? cases[i].classes : 1); k++) {
                int was = head ? cases[i].rows[k] : 0;
                const float *expected =
                    was < 0 ? anew + (size_t)k * row : started + (size_t)was * row;
                bool same = !memcmp(x + (size_t)k * row, expected, row * sizeof *x);
                CHECK(same, "%s, row %d, %s", to.name, k, cases[i].labels);
            }
            heads += head;
        }
        CHECK(heads == 2, "%zu tensors of the head", heads);
        vit_close(from), vit_close(fresh), vit_close(model);
    }
}

TEST("a student learns from its teacher a task that its labels hide") {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.epochs = 12;
    struct watcher watcher = {0};
    size_t size = 0;
    uint8_t *bytes = trained(&recipe, "teacher", 2, &size, &watcher);
    struct train_job job = {.recipe = &recipe};
    vit_error why = {""};
    bool finished = false;
    REQUIRE(bytes && !vit_open(&job.teacher, bytes, size, &vit_native, &why), "%s", why.text);
    struct data_set hidden = make_bars(460);
    uint64_t seed = 9;
    for (size_t i = 0; i < 420; i++) hidden.labels[i] = (uint8_t)random_below(&seed, 3);
    struct train_files files = {.out = scratch_path("student"),
                                .threads = 2,
                                .watch = {&watcher, watch_step, watch_epoch, watch_resumed}};
    job.data = &hidden;
    CHECK(train_run(&job, &files, &finished, &why) == VIT_BAD_ARGUMENT &&
              strstr(why.text, "distillation"),
          "a teacher without distillation: %s", why.text);
    recipe.distillation = 1;
    CHECK(!train_run(&job, &files, &finished, &why) && finished, "%s", why.text);
    CHECK(watcher.last.validation_accuracy > 0.9, "accuracy %g", watcher.last.validation_accuracy);
    vit_close(job.teacher);
    job.teacher = NULL;
    CHECK(train_run(&job, &files, &finished, &why) == VIT_BAD_ARGUMENT &&
              strstr(why.text, "a teacher"),
          "no teacher: %s", why.text);
    recipe.distillation = 0;
    CHECK(!train_run(&job, &files, &finished, &why) && finished, "%s", why.text);
    CHECK(watcher.last.validation_accuracy < 0.7,
          "accuracy %g without a teacher: the labels hid nothing",
          watcher.last.validation_accuracy);
    vit_config other = recipe.config;
    other.classes = 2;
    MUST(vit_create(&job.teacher, &other, recipe.model, strlen(recipe.model), &vit_native, &why));
    recipe.distillation = 0.5;
    CHECK(train_run(&job, &files, &finished, &why) == VIT_BAD_ARGUMENT &&
              strstr(why.text, "classes"),
          "a teacher of other classes: %s", why.text);
    vit_close(job.teacher);
    data_close(&hidden);
    free(bytes);
    recipe_close(&recipe);
}

TEST("a directory as the output is refused before anything is trained") {
    struct recipe recipe = recipe_of(RECIPE);
    struct watcher watcher = {0};
    bool finished;
    vit_error why = {""};
    CHECK(run(&recipe, "", 1, true, &watcher, &finished, &why) == VIT_BAD_ARGUMENT,
          "a directory was accepted");
    CHECK(strstr(why.text, "got a directory"), "%s", why.text);
    recipe_close(&recipe);
}

TEST("a file that cannot be renamed into place leaves no .part file") {
    vit_error why;
    char folder[256], part[300];
    strcpy(folder, scratch_path("folder"));
    snprintf(part, sizeof part, "%s.part", folder);
    REQUIRE(!mkdir(folder, 0700), "no folder");
    CHECK(write_file(folder, "x", 1, &why) == VIT_BAD_FILE, "a file took a folder's name");
    CHECK(access(part, F_OK), "%s was left", part);
}

TEST("training on all images works without a validation part") {
    struct recipe recipe = recipe_of(RECIPE);
    recipe.validation = 0;
    recipe.epochs = 1;
    struct watcher watcher = {0};
    size_t size = 0;
    uint8_t *bytes = trained(&recipe, "all", 2, &size, &watcher);
    uint8_t *log = bytes_of(scratch_path("all.log.tsv"), &size);
    vit_error why = {""};
    CHECK(memmem(log, size, "\t-\t-\t", 5), "no dashes in the log");
    CHECK(watcher.steps == 15, "%zu steps of 32 for 460 images", watcher.steps);
    free(log);
    free(bytes);
    recipe.validation = 460;
    struct watcher none = {0};
    bool finished;
    CHECK(run(&recipe, "none", 2, false, &none, &finished, &why) == VIT_BAD_ARGUMENT,
          "no images to train on were accepted");
    recipe_close(&recipe);
    data_close(&bars);
}
