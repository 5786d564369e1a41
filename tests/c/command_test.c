/* The native command as a user runs it: its files, its output and its exit codes. */
#define _GNU_SOURCE
#include "command.h"

#include <signal.h>
#include <sys/stat.h>

static off_t size_of(const char *path) {
    struct stat file = {0};
    stat(path, &file);
    return file.st_size;
}

/* ---- vit quantize ------------------------------------------------------- */

TEST("vit quantize writes an int8 model with the same config, and prints the sizes") {
    const char *out = file_at("int8.safetensors");
    int code = vit("quantize --model %s --out %s", MODEL, out);
    REQUIRE(code == 0, "exit code %d: %s", code, output);
    char sizes[128];
    snprintf(sizes, sizeof sizes, "%lld bytes instead of %lld", (long long)size_of(out),
             (long long)size_of(MODEL));
    CHECK(strstr(output, sizes), "expected %s in: %s", sizes, output);
    CHECK(!exists(file_at("int8.safetensors.part")), "a part is left");
    vit_model *model = read_model(out), *origin = read_model(MODEL);
    size_t size, origin_size;
    const char *json = model ? vit_model_json(model, &size) : "";
    const char *before = origin ? vit_model_json(origin, &origin_size) : "";
    REQUIRE(model && origin, "no models");
    CHECK(vit_model_config(model)->int8, "the model is not int8");
    CHECK(size > origin_size && !memcmp(json, before, origin_size - 1) &&
              strstr(json, "\"quantized\":\"int8"),
          "its config: %s", json);
    vit_close(model);
    vit_close(origin);
}

TEST("vit quantize writes the same bytes every time, also over its own model") {
    const char *out = file_at("again.safetensors"), *self = file_at("self.safetensors");
    vit("quantize --model %s --out %s", MODEL, file_at("int8.safetensors"));
    int code = vit("quantize --model=%s --out=%s", MODEL, out);
    CHECK(code == 0 && same_files(out, file_at("int8.safetensors")), "%d: %s", code, output);
    size_t size;
    uint8_t *bytes = bytes_of(MODEL, &size);
    put_file(self, bytes, size);
    free(bytes);
    code = vit("quantize --model %s --out %s", self, self);
    CHECK(code == 0 && same_files(out, self), "in place: %d: %s", code, output);
}

TEST("the shipped int8 model has the bytes that vit quantize makes of the shipped float model") {
    static const char WEIGHTS[] = GOLDEN_DIR "/../../weights/digits";
    char want[sizeof WEIGHTS + 32];
    const char *out = file_at("digits.safetensors");
    snprintf(want, sizeof want, "%s-int8.safetensors", WEIGHTS);
    int code = vit("quantize --model %s.safetensors --out %s", WEIGHTS, out);
    CHECK(code == 0 && same_files(out, want), "%d: %s", code, output);
}

TEST("vit quantize refuses wrong options and files with a message, and writes nothing") {
    const char *out = file_at("refused.safetensors"), *int8 = file_at("int8.safetensors");
    vit("quantize --model %s --out %s", MODEL, int8);
    CHECK_SAYS(vit("quantize --model %s --out %s", int8, out), 1, "int8 already");
    CHECK_SAYS(vit("quantize --model %s.not --out %s", MODEL, out), 1, "No such file");
    CHECK_SAYS(vit("quantize --model %s/make.py --out %s", GOLDEN_DIR, out), 1, "safetensors");
    CHECK_SAYS(vit("quantize --model %s --out %s/none/x", MODEL, scratch_path("")), 1,
               "cannot be written");
    CHECK_SAYS(vit("quantize --model %s", MODEL), 2, "--out");
    CHECK_SAYS(vit("quantize --help"), 0, "vit quantize --model MODEL --out MODEL");
    CHECK(!exists(out) && !exists(file_at("refused.safetensors.part")), "something is written");
}

/* The command reads from a pipe, so it is surely at work when the signal comes. */
TEST("an interrupted vit quantize writes nothing") {
    const char *pipe = file_at("pipe"), *out = file_at("never.safetensors");
    int status = 0;
    size_t size;
    uint8_t *bytes = bytes_of(MODEL, &size);
    REQUIRE(mkfifo(pipe, 0600) == 0, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        execl(VIT, VIT, "quantize", "--model", pipe, "--out", out, (char *)NULL);
        _exit(99);
    }
    FILE *feed = fopen(pipe, "wb"); /* waits until the command opens the other end */
    kill(child, SIGINT);
    fwrite(bytes, 1, size, feed);
    fclose(feed);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 130, "status %x", status);
    CHECK(!exists(out) && !exists(file_at("never.safetensors.part")), "something is written");
    free(bytes);
}

/* ---- vit train ---------------------------------------------------------- */

/* A data set of 90 images under MNIST's names, and RECIPE. */
static void put_training_data(void) {
    static const char *const SETS[] = {"train", "t10k"};
    uint8_t items[90 * PIXELS];
    for (size_t i = 0; i < sizeof items; i++) items[i] = (uint8_t)(i % 3);
    for (size_t i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-images-idx3-ubyte", SETS[i]);
        put_idx(name, 90, SIDE, items);
        snprintf(name, sizeof name, "%s-labels-idx1-ubyte", SETS[i]);
        put_idx(name, 90, 0, items);
    }
    put_file(file_at("recipe.json"), RECIPE, strlen(RECIPE));
}

TEST("vit train does not start from an int8 model") {
    put_training_data();
    const char *recipe = file_at("recipe.json"), *int8 = file_at("int8.safetensors");
    vit("quantize --model %s --out %s", MODEL, int8);
    CHECK_SAYS(vit("train --data %s --recipe %s --init %s --out %s --epochs 1", scratch_path(""),
                   recipe, int8, file_at("trained.safetensors")),
               1, "got an int8 one");
    CHECK(!exists(file_at("trained.safetensors")), "a model was trained");
}

/* Trains by RECIPE with another key in its training. */
static int train_with(const char *key, const char *options) {
    char json[sizeof RECIPE + 64];
    const char *at = strstr(RECIPE, "\"seed\": 5");
    snprintf(json, sizeof json, "%.*s%s, %s", (int)(at - RECIPE), RECIPE, key, at);
    put_training_data();
    put_file(file_at("recipe.json"), json, strlen(json));
    return vit("train --data %s --recipe %s --out %s --epochs 1 %s", scratch_path(""),
               file_at("recipe.json"), file_at("trained.safetensors"), options);
}

TEST("vit train names the option that the recipe needs, or that it has no use for") {
    CHECK_SAYS(train_with("\"drawings\": 1", ""), 1,
               "drawings: expected a file of them (--strokes)");
    CHECK_SAYS(train_with("\"distillation\": 0.5", ""), 1,
               "expected a model to learn from (--teacher)");
    CHECK_SAYS(train_with("\"distillation\": 0", "--teacher x"), 1,
               "--teacher: expected a recipe with distillation above 0");
    CHECK(!exists(file_at("trained.safetensors")), "a model was trained");
}

/* ---- Drawings ----------------------------------------------------------- */

TEST("vit eval --strokes classifies the drawings of the chosen writers") {
    char text[2048] = "";
    for (int writer = 1; writer <= 10; writer++)
        sprintf(text + strlen(text),
                "{\"label\": 1, \"writer\": %d, \"strokes\": [[[3, 200], [0, 0]]]}\n", writer);
    put_file(file_at("ones.jsonl"), text, strlen(text));
    const char *ones = file_at("ones.jsonl"),
               *model = GOLDEN_DIR "/../../weights/digits.safetensors";
    CHECK_SAYS(vit("eval --model %s --strokes %s", model, ones), 0, "accuracy: 1.0000 (10/10)\n");
    CHECK_SAYS(vit("eval --model %s --strokes %s --writers held-out", model, ones), 0,
               "accuracy: 1.0000 (2/2)\n");
    CHECK_SAYS(vit("eval --model %s --strokes %s --writers some", model, ones), 1,
               "held-out, got some");
    CHECK_SAYS(vit("eval --model %s --strokes %s --images %s", model, ones, ones), 1, "either");
    CHECK_SAYS(vit("eval --model %s", model), 1, "--strokes");
    CHECK_SAYS(vit("eval --model %s --strokes %s", MODEL, ones), 1, "whose `prepare` is digit");
}
