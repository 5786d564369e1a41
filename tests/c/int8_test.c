/* int8 models: their weights after quantising, and their results. */
#include "file/safetensors.h"
#include "hostile.h"
#include "model.h"
#include "save.h"
#include "tape.h"
#include "twin.h"
#include "vit.h"

/* The model's file in int8. The caller frees the bytes. */
static struct file quantized(vit_model *model) {
    struct file f;
    f.bytes = encode_as(model, true, &f.size);
    return f;
}

static vit_model *opened(struct file f, const struct vit_kernels *k) {
    vit_model *model = NULL;
    vit_error why = {""};
    if (vit_open(&model, f.bytes, f.size, k, &why))
        check_failed(__FILE__, __LINE__, "%s: %s", k->name, why.text);
    return model;
}

/* ---- Quantising --------------------------------------------------------- */

/* An open safetensors file and its data. */
struct view {
    struct safetensors st;
    const uint8_t *data;
};

static bool view_open(struct view *view, struct file f) {
    size_t length = 0;
    vit_error why = {""};
    vit_status status = st_length(&length, f.bytes, f.size, &why);
    if (!status)
        status = st_open(&view->st, (const char *)f.bytes + ST_LENGTH_BYTES, length,
                         f.size - ST_LENGTH_BYTES - length, &why);
    view->data = f.bytes + ST_LENGTH_BYTES + length;
    if (status) check_failed(__FILE__, __LINE__, "%s", why.text);
    return status == VIT_OK;
}

/* A tensor's numbers as floats. The caller frees them. */
static float *numbers(const struct view *view, const char *name, st_type type, size_t count) {
    const struct st_tensor *t = st_find(&view->st, name, strlen(name));
    float *out = floats(count);
    if (t && t->type == type && t->count == count)
        st_floats(out, type, view->data + t->begin, count);
    else
        check_failed(__FILE__, __LINE__, "expected %s of %zu numbers of that type", name, count);
    return out;
}

static void check_matrix(const struct view *view, const vit_tensor *t, const float *w) {
    size_t rows = t->shape[0], K = t->count / rows;
    char name[80];
    snprintf(name, sizeof name, "%s.scale", t->name);
    float *q = numbers(view, t->name, ST_I8, t->count);
    float *scale = numbers(view, name, ST_F32, rows);
    for (size_t n = 0; n < rows; n++) {
        CHECK(scale[n] == (float)largest(w + n * K, K) / 127, "%s[%zu]: %g", name, n, scale[n]);
        CHECK(largest(q + n * K, K) == (scale[n] > 0 ? 127 : 0), "%s: row %zu to %g", t->name, n,
              largest(q + n * K, K));
        for (size_t i = n * K; i < (n + 1) * K; i++)
            CHECK(within(q[i] * (double)scale[n], w[i], 0.5001 * scale[n]),
                  "%s[%zu]: %g steps of %g for %g", t->name, i, q[i], scale[n], w[i]);
    }
    free(q);
    free(scale);
}

TEST("quantising moves weights by half a step at most, and changes no other tensor") {
    const struct vit_kernels *plain = unpacked_kernels();
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        vit_model *model = random_model(&CONFIGS[i].config, plain, 40 + i);
        float *p = parameters_of(model);
        if (CONFIGS[i].config.depth)
            memset(model->params.blocks[0].fc1_weight, 0, CONFIGS[i].config.width * sizeof *p);
        struct file f = quantized(model);
        struct view view;
        if (view_open(&view, f)) {
            for (size_t k = 0; k < vit_tensor_count(model); k++) {
                vit_tensor t = vit_tensor_at(model, k);
                bool in_block = strncmp(t.name, "blocks.", 7) == 0;
                if (t.matrix && (in_block || strstr(t.name, ".backbone."))) {
                    check_matrix(&view, &t, p + t.offset);
                    continue;
                }
                float *same = numbers(&view, t.name, ST_F32, t.count);
                CHECK_SAME_BITS(same, p + t.offset, t.count, t.name);
                free(same);
            }
            st_close(&view.st);
        }
        free(f.bytes);
        vit_close(model);
    }
}

TEST("an int8 file keeps floats aligned, and is the same each time it is made") {
    vit_model *model = random_model(&CONFIGS[14].config, unpacked_kernels(), 1); /* width 7 */
    struct file f = quantized(model), again = quantized(model);
    struct view view;
    CHECK(f.size == again.size && !memcmp(f.bytes, again.bytes, f.size), "the second file differs");
    if (view_open(&view, f)) {
        CHECK((view.data - f.bytes) % 8 == 0, "the data begin at byte %td", view.data - f.bytes);
        for (size_t i = 0; i < view.st.count; i++)
            CHECK(view.st.tensors[i].type == ST_I8 || view.st.tensors[i].begin % 4 == 0, "%s",
                  view.st.tensors[i].name);
        st_close(&view.st);
    }
    free(f.bytes);
    free(again.bytes);
    vit_close(model);
}

TEST("quantising turns rows too small for a scale into 0") {
    const struct vit_kernels *plain = unpacked_kernels();
    vit_model *model = random_model(&CONFIGS[0].config, plain, 2);
    size_t D = CONFIGS[0].config.width;
    float *row = model->params.blocks[0].proj_weight;
    for (size_t i = 0; i < D; i++) row[i] = i % 2 ? 1e-45f : -1e-45f;
    struct file f = quantized(model);
    struct view view;
    if (view_open(&view, f)) {
        float *q = numbers(&view, "blocks.0.attn.proj.weight", ST_I8, D * D);
        float *scale = numbers(&view, "blocks.0.attn.proj.weight.scale", ST_F32, D);
        for (size_t i = 0; i < D; i++)
            CHECK(fabs((double)q[i] * scale[0] - row[i]) <= 2e-45, "%g steps of %g", q[i],
                  scale[0]);
        free(q);
        free(scale);
        st_close(&view.st);
    }
    free(f.bytes);
    vit_close(model);
}

TEST("rows too long for 32-bit sums of int8 are not quantised") {
    const struct vit_kernels *plain = unpacked_kernels();
    vit_config wide = CONFIGS[0].config;
    wide.mlp_width = VIT_INT8_K + 1;
    vit_model *model = random_model(&wide, plain, 3);
    CHECK(vit_encode_int8(NULL, 0, model, parameters_of(model), "{}", 2) == 0, "they are");
    vit_close(model);
}

/* ---- Running ------------------------------------------------------------ */

static double far_apart(const float *got, const double *want, size_t n) {
    double worst = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        double far = fabs(got[i] - want[i]);
        worst = isnan(far) ? INFINITY : fmax(worst, far);
        most = fmax(most, fabs(want[i]));
    }
    return worst / most;
}

/* Compares the config's int8 twin with every table. Counts the runs, and those that are about a
 * step away. */
static void check_twin(size_t config, size_t *runs, size_t *far_runs) {
    static const double CLOSE = 2e-5, A_STEP = 5e-3;
    uint64_t seed = 60 + config;
    vit_model *origin = random_model(&CONFIGS[config].config, unpacked_kernels(), seed);
    const vit_config *c = vit_model_config(origin);
    size_t hidden = c->depth * vit_tokens(c) * c->width;
    float *image = random_floats(image_floats(c), 1, &seed);
    struct twin t = twin_open(origin);
    t.int8 = true;
    struct twin_run want = twin_forward(&t, image, NULL);
    struct file f = quantized(origin);
    EACH_INT8_KERNELS(k) {
        vit_model *model = opened(f, k);
        if (!model) continue;
        struct outputs got = run_model(model, image, 1, 1);
        double far = fmax(far_apart(got.logits, want.logits, got.logits_count),
                          far_apart(got.hidden, want.hidden, hidden));
        CHECK(far <= A_STEP, "%s, %s: %g from the twin", CONFIGS[config].name, k->name, far);
        ++*runs;
        *far_runs += far > CLOSE;
        outputs_free(&got);
        vit_close(model);
    }
    free(f.bytes);
    twin_run_free(&want);
    twin_close(&t);
    free(image);
    vit_close(origin);
}

/* If x is half-way between two steps, a float may be rounded to another step than a double. This
 * is rare. */
TEST("an int8 model gives the int8 twin's results, with every config and every table") {
    size_t runs = 0, far = 0;
    for (size_t i = 0; i < CONFIGS_COUNT; i++) check_twin(i, &runs, &far);
    CHECK(10 * far <= runs, "%zu of %zu runs are a step away", far, runs);
}

TEST("an int8 batch of three equals three single images, in every table that keeps rows' bits") {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        uint64_t seed = 80 + i;
        vit_model *origin = random_model(&CONFIGS[i].config, unpacked_kernels(), seed);
        size_t n = image_floats(vit_model_config(origin)), K = vit_logits(vit_model_config(origin));
        float *images = random_floats(3 * n, 1, &seed);
        struct file f = quantized(origin);
        EACH_INT8_KERNELS(k) {
            vit_model *model = opened(f, k);
            if (!model || !rows_keep_bits(k)) {
                vit_close(model);
                continue;
            }
            struct outputs all = run_model(model, images, 3, 3);
            for (size_t b = 0; b < 3; b++) {
                struct outputs alone = run_model(model, images + b * n, 1, 2);
                CHECK_SAME_BITS(all.logits + b * K, alone.logits, K, CONFIGS[i].name);
                outputs_free(&alone);
            }
            outputs_free(&all);
            vit_close(model);
        }
        free(f.bytes);
        free(images);
        vit_close(origin);
    }
}

static double cosine(const float *a, const float *b, size_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++)
        ab += (double)a[i] * b[i], aa += (double)a[i] * a[i], bb += (double)b[i] * b[i];
    return ab / sqrt(aa * bb);
}

TEST("a ViT in int8 keeps the direction of its logits, in about a third of the memory") {
    const struct vit_kernels *plain = unpacked_kernels();
    uint64_t seed = 5;
    vit_config vit = CONFIGS[0].config;
    vit.image_size[0] = vit.image_size[1] = 48, vit.patch_size[0] = vit.patch_size[1] = 8;
    vit.channels = 3, vit.width = 96, vit.depth = 6, vit.mlp_width = 384, vit.classes = 200;
    vit_model *origin = random_model(&vit, plain, seed);
    size_t n = image_floats(&vit), K = vit.classes;
    float *images = random_floats(2 * n, 2, &seed);
    struct outputs want = run_model(origin, images, 2, 2);
    struct file f = quantized(origin);
    EACH_INT8_KERNELS(k) {
        vit_model *model = opened(f, k);
        if (!model) continue;
        struct outputs got = run_model(model, images, 2, 2);
        for (size_t b = 0; b < 2; b++) {
            double close = cosine(got.logits + b * K, want.logits + b * K, K);
            CHECK(close >= 0.999 && close < 0.9999999, "%s: cosine %.6f", k->name, close);
        }
        CHECK((double)vit_model_bytes(model) < 0.36 * (double)vit_model_bytes(origin),
              "%s: %zu bytes in place of %zu", k->name, vit_model_bytes(model),
              vit_model_bytes(origin));
        outputs_free(&got);
        vit_close(model);
    }
    free(f.bytes);
    outputs_free(&want);
    free(images);
    vit_close(origin);
}

TEST("an int8 model can be run, but not trained or created") {
    const struct vit_kernels *plain = unpacked_kernels();
    vit_model *origin = random_model(&CONFIGS[0].config, plain, 4), *made = NULL;
    struct file f = quantized(origin);
    vit_model *model = opened(f, plain);
    size_t count, size = vit_tape_size(model, 1);
    vit_tape *tape;
    vit_error why = {""};
    void *memory = malloc(size + 1);
    CHECK(!vit_parameters(model, &count), "vit_parameters gives int8 parameters");
    CHECK(vit_tape_init(&tape, memory, size, model, 1) == VIT_BAD_ARGUMENT && !tape,
          "it gets a tape");
    CHECK(vit_create(&made, vit_model_config(model), "{}", 2, plain, &why) == VIT_BAD_ARGUMENT &&
              !made && strstr(why.text, "int8"),
          "vit_create makes an int8 model: %s", why.text);
    vit_tensor qkv = vit_tensor_at(model, 6), scale = vit_tensor_at(model, 7);
    CHECK(qkv.int8 && qkv.matrix && !scale.int8 && !scale.matrix &&
              !strcmp(scale.name, "blocks.0.attn.qkv.weight.scale"),
          "the tensors' names are %s, %s", qkv.name, scale.name);
    free(memory);
    free(f.bytes);
    vit_close(model);
    vit_close(origin);
}
