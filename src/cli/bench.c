/* vit bench: each kernel at the shapes of real models, then a model from pixels to logits, then a
 * training step, on one thread, as shares of what the machine's multiply-adds would give. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include "cli.h"
#include "train/flops.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- A whole model ------------------------------------------------------ */

static const char SHIPPED[] = "weights/digits.safetensors";

struct file {
    uint8_t *bytes;
    size_t size;
    const char *path;
};

/* A model opened by one table, with room to run `batch` images. */
struct runner {
    vit_model *model;
    vit_state *state;
    void *memory;
    float *images, *logits;
    size_t batch, classes;
};

static void runner_close(struct runner *r) {
    vit_close(r->model);
    free(r->memory);
    free(r->images);
    *r = (struct runner){0};
}

static bool runner_open(struct runner *r, const struct file *file, const struct vit_kernels *k,
                        size_t batch, vit_error *why) {
    vit_error inner = {""};
    *r = (struct runner){.batch = batch};
    if (vit_open(&r->model, file->bytes, file->size, k, &inner)) {
        snprintf(why->text, sizeof why->text, "%.80s: %.150s", file->path, inner.text);
        return false;
    }
    const vit_config *c = vit_model_config(r->model);
    size_t pixels = batch * c->channels * c->image_size[0] * c->image_size[1];
    size_t need = vit_state_size(r->model, batch, NULL);
    r->classes = c->classes;
    r->memory = malloc(need);
    r->images = malloc((pixels + batch * c->classes) * sizeof *r->images);
    if (!r->memory || !r->images ||
        vit_state_init(&r->state, r->memory, need, r->model, batch, NULL)) {
        runner_close(r);
        return bench_no_memory(why);
    }
    uint32_t seed = 1;
    bench_fill(r->images, pixels, &seed);
    r->logits = r->images + pixels;
    return true;
}

static void run_model(void *runner) {
    const struct runner *r = runner;
    vit_run(r->model, r->state, r->images, r->batch, r->logits, NULL);
}

/* Compares the first image's logits with scalar's. They may differ by a hundredth of the largest,
 * because int8 may round an activation to the other side. */
static bool check_logits(const struct runner *r, const float *want, vit_error *why) {
    double most = 0;
    for (size_t i = 0; i < r->classes; i++) most = fmax(most, fabs((double)want[i]));
    for (size_t i = 0; i < r->classes; i++) {
        if (fabs((double)r->logits[i] - (double)want[i]) <= 0.01 * most) continue;
        snprintf(why->text, sizeof why->text, "%s: logit %zu: expected scalar's %.9g, got %.9g",
                 bench_label(vit_model_kernels(r->model)).text, i, (double)r->logits[i],
                 (double)want[i]);
        return false;
    }
    return true;
}

static bool measure_runner(struct bench *bench, struct runner *r, const float *want,
                           const char *what, vit_error *why) {
    const struct vit_kernels *k = vit_model_kernels(r->model);
    const vit_config *c = vit_model_config(r->model);
    assert(r->logits);
    r->logits[0] = NAN; /* stays if nothing is run */
    run_model(r);
    if (!check_logits(r, want, why)) return false;
    double work = (double)r->batch * forward_flops(c);
    const struct label label = bench_label(k);
    struct line line = {what, label.text, GFLOPS, work, bench_limit(bench, k, c->int8)};
    bench_print(bench, &line, bench_measure(bench, run_model, r));
    return true;
}

/* Every table, alone and in a batch. `scalar` is ready to run one image. */
static bool measure_model(struct bench *bench, const struct file *file, struct runner *scalar,
                          vit_error *why) {
    static const size_t batches[] = {1, BENCH_BATCH};
    size_t count;
    const struct vit_kernels *const *tables = vit_kernels_all(&count);
    double flops = forward_flops(vit_model_config(scalar->model));
    bool has_answer = false;
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < count; i++) {
            char what[48];
            snprintf(what, sizeof what, "model, batch %zu", batches[b]);
            if (!bench_wants(bench, bench_label(tables[i]).text, what)) continue;
            if (b > 0 && (double)batches[b] * flops > BENCH_MOST) continue;
            if (!has_answer) run_model(scalar), has_answer = true;
            struct runner runner;
            if (!runner_open(&runner, file, tables[i], batches[b], why)) return false;
            bool good = measure_runner(bench, &runner, scalar->logits, what, why);
            runner_close(&runner);
            if (!good) return false;
        }
    return true;
}

/* ---- The command -------------------------------------------------------- */

/* The bytes of a file that opens and has a head. */
static bool read_model(struct file *file, vit_error *why) {
    vit_model *model;
    vit_status status =
        model_read_with_bytes(&model, &file->bytes, &file->size, file->path, &vit_scalar, why);
    if (!status) status = model_needs_head(model, file->path, why);
    vit_close(model);
    return status == VIT_OK;
}

static bool measure_all(struct bench *bench, const struct file *file, vit_error *why) {
    struct runner scalar = {0};
    if (file->bytes && !runner_open(&scalar, file, &vit_scalar, 1, why)) return false;
    bench_limits(bench);
    bool good = bench_kernels(bench, why);
    if (good && file->bytes) good = measure_model(bench, file, &scalar, why);
    if (good && file->bytes) good = bench_training(bench, scalar.model, why);
    runner_close(&scalar);
    if (!good || bench->lines > 0) return good;
    snprintf(why->text, sizeof why->text, "--only %.80s: no measurement has that in its name",
             bench->options->only);
    return false;
}

bool bench_run(FILE *out, const struct bench_options *options, vit_error *why) {
    struct bench bench = {.options = options, .out = out};
    struct file file = {NULL, 0, options->model ? options->model : SHIPPED};
    bool good = options->model || access(SHIPPED, R_OK) == 0;
    if (!good) fprintf(stderr, "vit: no %s here: --model MODEL measures another\n", SHIPPED);
    good = (!good || read_model(&file, why)) && measure_all(&bench, &file, why);
    free(file.bytes);
    return good;
}

int command_bench(int argc, char **argv) {
    struct bench_options o = {.json = false};
    const struct option options[] = {
        {"--model", OPTION_TEXT, &o.model, false, "MODEL",
         "safetensors; otherwise the shipped one"},
        {"--only", OPTION_TEXT, &o.only, false, "WORDS",
         "lines with all of these in their names, as in f32,digits"},
        {"--json", OPTION_FLAG, &o.json, false, NULL, "a JSON object a line"},
    };
    const struct usage usage = {
        "bench", "measure the kernels, a whole model and a training step, on one thread", NULL,
        options, sizeof options / sizeof *options};
    int operands, code;
    vit_error why = {""};
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    if (bench_run(stdout, &o, &why)) return EXIT_FINE;
    return fail(&why);
}
