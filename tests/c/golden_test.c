/* The model, compared with PyTorch: every file that ../golden/make.py wrote, with every kernel
 * table compiled in. That script describes the files. */
#include "golden.h"
#include "save.h"
#include "tape.h"
#include "twin.h"

static const char *const NAMES[] = {
    "pre_gelu_learned",
    "post_relu_sincos1d_mean",
    "tanh_sincos2d_rectangular",
    "quick_none_mean",
    "distillation",
    "registers_scale_qknorm",
    "per_head",
    "per_head_qknorm",
    "fc_norm",
    "fc_norm_no_prefix",
    "patch_positions",
    "post_scale_final",
    "half",
    "bfloat",
    "one_block_one_head",
    "positions_enlarged",
    "positions_reduced",
    "relative",
    "relative_no_prefix",
    "relative_registers",
    "relative_learned",
    "attention_pool",
    "gated",
    "gated_norm",
    "head_norm",
    "rotary",
    "rotary_learned",
    "rotary_no_prefix",
    "rotary_mixed",
    "stem",
    "stem_of_three",
    "no_residual",
    "no_residual_post_scale_mean",
};
enum { NAMES_COUNT = sizeof NAMES / sizeof *NAMES };

/* Models that find objects, by ../golden/yolos.py. They do not train. */
static const char *const OBJECTS[] = {"yolos/own", "yolos/own_resized"};
enum { OBJECTS_COUNT = sizeof OBJECTS / sizeof *OBJECTS };

/* A gradient is a sum over tokens, batch and both ways through the L blocks: some hundred roundings
 * of 6e-8 on values near the tensor's largest. In practice the error is below 1e-6. 1e-4 leaves
 * room for a sum whose terms cancel, and still shows a forgotten term. */
static const double BACKWARD = 1e-4;

/* A bias of k moves all scores of a row alike, so its gradient is 0. Its terms are not 0, and their
 * rounding is a share of the largest gradient of all. */
static const double CANCELLED = 1e-6;

static vit_model *open_model(const struct golden *g, const struct vit_kernels *kernels) {
    vit_model *model = NULL;
    vit_error why = {""};
    vit_status status = vit_open(&model, g->model, g->model_size, kernels, &why);
    if (status)
        check_failed(__FILE__, __LINE__, "%s, %s: %s: %s", g->name, kernels->name,
                     vit_status_name(status), why.text);
    return model;
}

/* Checks each file, with every kernel table. */
static void each_golden(const char *const *names, size_t count,
                        void (*check)(const struct golden *, const struct vit_kernels *)) {
    for (size_t i = 0; i < count; i++) {
        struct golden g;
        if (!golden_open(&g, names[i])) continue;
        EACH_KERNELS(k) check(&g, k);
        golden_close(&g);
    }
}

/* ---- Forward ------------------------------------------------------------ */

static void check_forward(const struct golden *g, const struct vit_kernels *kernels) {
    vit_model *model = open_model(g, kernels);
    if (!model) return;
    float *images = result_floats(g, "images", BATCH * image_floats(vit_model_config(model)));
    struct outputs o = run_model(model, images, BATCH, BATCH);
    compare(g, kernels->name, "logits", o.logits, o.logits_count, FORWARD);
    compare(g, kernels->name, "attention", o.attention, o.attention_count, FORWARD);
    compare(g, kernels->name, "hidden", o.hidden, o.hidden_count, FORWARD);
    compare(g, kernels->name, "tokens", o.tokens, o.tokens_count, FORWARD);
    outputs_free(&o);
    free(images);
    vit_close(model);
}

TEST("every kernel table gives PyTorch's logits, attention, hidden and final tokens") {
    REQUIRE(kernels_at(0), "no kernel table is compiled in");
    each_golden(NAMES, NAMES_COUNT, check_forward);
}

static void to_floats(float *out, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = (float)x[i];
}

static void check_twin(const struct golden *g, const struct vit_kernels *kernels) {
    vit_model *model = kernels == unpacked_kernels() ? open_model(g, kernels) : NULL;
    if (!model) return;
    struct twin t = twin_open(model);
    struct outputs o = new_outputs(&t.c, BATCH);
    size_t pixels = image_floats(&t.c);
    float *images = result_floats(g, "images", BATCH * pixels);
    for (size_t b = 0; b < BATCH; b++) {
        struct twin_run run = twin_forward(&t, images + b * pixels, NULL);
        size_t K = o.logits_count / BATCH, A = o.attention_count / BATCH;
        size_t H = o.hidden_count / BATCH, X = o.tokens_count / BATCH;
        to_floats(o.logits + b * K, run.logits, K);
        to_floats(o.attention + b * A, run.attention, A);
        to_floats(o.hidden + b * H, run.hidden, H);
        to_floats(o.tokens + b * X, run.tokens, X);
        twin_run_free(&run);
    }
    const double rounding = 2 * FLT_EPSILON; /* both sides are doubles stored as floats */
    compare(g, "twin", "logits", o.logits, o.logits_count, rounding);
    compare(g, "twin", "attention", o.attention, o.attention_count, rounding);
    compare(g, "twin", "hidden", o.hidden, o.hidden_count, rounding);
    compare(g, "twin", "tokens", o.tokens, o.tokens_count, rounding);
    outputs_free(&o);
    free(images);
    twin_close(&t);
    vit_close(model);
}

TEST("the double-precision twin, our other oracle, agrees with PyTorch to the last bits") {
    each_golden(NAMES, NAMES_COUNT, check_twin);
}

TEST("every kernel table and the twin give PyTorch's classes and boxes") {
    each_golden(OBJECTS, OBJECTS_COUNT, check_forward);
    each_golden(OBJECTS, OBJECTS_COUNT, check_twin);
}

/* The prefix's rows of the last layer of `attention`. */
static void check_views(const struct golden *g, const struct vit_kernels *kernels) {
    vit_model *model = open_model(g, kernels);
    if (!model) return;
    const vit_config *c = vit_model_config(model);
    size_t T = vit_tokens(c), view_size = vit_prefix(c) * T, each = c->heads * view_size;
    size_t maps = BATCH * c->depth * c->heads * T * T, K = BATCH * vit_logits(c);
    float *images = result_floats(g, "images", BATCH * image_floats(c));
    float *attention = result_floats(g, "attention", maps), *want = floats(BATCH * each);
    float *views = guarded(BATCH * each), *logits = guarded(K),
          *tokens = floats(BATCH * T * c->width);
    for (size_t b = 0; b < BATCH; b++)
        for (size_t head = 0; head < c->heads; head++)
            memcpy(want + b * each + head * view_size,
                   attention + (((b + 1) * c->depth - 1) * c->heads + head) * T * T,
                   view_size * sizeof *want);
    struct owned_state s = new_state(model, 2);
    vit_taps taps = {.views = views};
    CHECK(vit_run(model, s.state, images, BATCH, logits, &taps) == VIT_OK, "%s: no run", g->name);
    CHECK(guards_intact(views, BATCH * each) && guards_intact(logits, K), "written past");
    compare(g, kernels->name, "logits", logits, K, FORWARD);
    CHECK_CLOSE(views, want, BATCH * each, FORWARD * largest(want, BATCH * each), "views");
    taps.tokens = tokens;
    CHECK(vit_run(model, s.state, images, BATCH, logits, &taps) == VIT_BAD_ARGUMENT,
          "views beside tokens");
    free(s.memory), free(images), free(attention), free(want), free(tokens);
    guarded_free(views), guarded_free(logits);
    vit_close(model);
}

TEST("the views of detection tokens are their rows of the last layer's attention") {
    each_golden(OBJECTS, OBJECTS_COUNT, check_views);
}

TEST("the labels of a config are unescaped") {
    struct golden g;
    REQUIRE(golden_open(&g, NAMES[0]), "%s", NAMES[0]);
    vit_model *model = open_model(&g, kernels_at(0));
    if (model) {
        size_t K = vit_model_config(model)->classes;
        const char *label = vit_model_label(model, 3);
        CHECK(label && strcmp(label, "n° 3") == 0, "label 3 is %s", label ? label : "NULL");
        CHECK(!vit_model_label(model, K), "there is a label %zu of %zu", K, K);
    }
    vit_close(model);
    golden_close(&g);
}

/* ---- Backward ----------------------------------------------------------- */

/* Compares loss, dlogits and every tensor's gradient of one golden batch. */
static void check_gradients(const struct golden *g, const struct vit_kernels *kernels) {
    vit_model *model = kernels->packed ? NULL : open_model(g, kernels);
    if (!model || vit_untrainable(vit_model_config(model))) return vit_close(model);
    const vit_config *c = vit_model_config(model);
    size_t count, K = c->classes, n = BATCH * K, size = vit_tape_size(model, BATCH);
    CHECK(vit_parameters(model, &count), "%s: unpacked, yet no parameters", g->name);
    float *images = result_floats(g, "images", BATCH * image_floats(c));
    float *labels = result_floats(g, "labels", BATCH),
          *smoothing = result_floats(g, "smoothing", 1);
    float *logits = guarded(n), *dlogits = guarded(n), *gradient = guarded(count);
    uint8_t label[BATCH];
    vit_tape *tape = NULL;
    void *memory = malloc(size);
    memset(gradient, 0, count * sizeof *gradient);
    for (size_t b = 0; b < BATCH; b++) label[b] = (uint8_t)labels[b];
    if (vit_tape_init(&tape, memory, size, model, BATCH)) {
        check_failed(__FILE__, __LINE__, "%s: no tape of %zu bytes", g->name, size);
    } else {
        vit_forward(model, tape, images, BATCH, logits, NULL);
        float loss =
            (float)(vit_cross_entropy(dlogits, logits, label, BATCH, K, *smoothing, 1.0f / BATCH) /
                    BATCH);
        vit_backward(model, tape, BATCH, dlogits, gradient);
        compare(g, kernels->name, "logits", logits, n, FORWARD);
        compare(g, kernels->name, "loss", &loss, 1, FORWARD);
        compare(g, kernels->name, "dlogits", dlogits, n, BACKWARD);
        CHECK(guards_intact(gradient, count) && guards_intact(dlogits, n), "written past");
        double floor = CANCELLED * largest(gradient, count);
        for (size_t i = 0; i < vit_tensor_count(model); i++) {
            vit_tensor t = vit_tensor_at(model, i);
            char name[80];
            snprintf(name, sizeof name, "grad.%s", t.name);
            compare_above(g, kernels->name, name, gradient + t.offset, t.count, BACKWARD, floor);
        }
    }
    guarded_free(logits), guarded_free(dlogits), guarded_free(gradient);
    free(images), free(labels), free(smoothing), free(memory);
    vit_close(model);
}

TEST("every tensor's gradient is PyTorch's") {
    each_golden(NAMES, NAMES_COUNT, check_gradients);
}
