/* Every gradient, compared with finite differences. They are taken of the double-precision twin, so
 * that their own error is far below the tolerance. */
#include "each_scene.h"
#include "models.h"
#include "save.h"
#include "tape.h"
#include "twin.h"

enum { BATCH = 2 };

/* Tolerance for a float gradient along a random direction, as a share of |g|·|v|. Each term may be
 * off by some hundred roundings, see golden_test.c. */
static const double CLOSE = 1e-4;
/* Tolerance for a gradient that is 0 because its terms cancel, see golden_test.c: a share of the
 * largest gradient, or of 1 if that is larger. */
static const double CANCELLED = 1e-6;
static const float SMOOTHING = 0.1f;

struct scene {
    const char *name;
    const struct vit_kernels *kernels;
    bool first; /* of the tables with this model */
    vit_model *model;
    vit_config c;
    size_t pixels, count; /* floats of an image, of all parameters */
    float *images, *keep; /* (B,C,H,W); (B,L) or NULL */
    uint8_t labels[BATCH];
    void *memory;
    vit_tape *tape;
    float *logits, *dlogits, *gradient;
};

static bool scene_open(struct scene *s, const struct named_config *named,
                       const struct vit_kernels *kernels, bool stochastic) {
    uint64_t seed = 200;
    *s = (struct scene){
        .name = named->name, .kernels = kernels, .first = kernels == unpacked_kernels()};
    s->model = random_model(&named->config, kernels, seed);
    if (!s->model) return false;
    s->c = *vit_model_config(s->model);
    s->pixels = image_floats(&s->c);
    vit_parameters(s->model, &s->count);
    s->images = random_floats(BATCH * s->pixels, 1, &seed);
    s->logits = guarded(BATCH * vit_logits(&s->c));
    s->dlogits = guarded(BATCH * vit_logits(&s->c));
    s->gradient = guarded(s->count);
    for (size_t b = 0; b < BATCH; b++)
        s->labels[b] = (uint8_t)random_below(&seed, vit_logits(&s->c));
    if (stochastic) {
        static const float SCALES[] = {0, 1.25f, 0.5f};
        s->keep = floats(BATCH * s->c.depth);
        for (size_t i = 0; i < BATCH * s->c.depth; i++) s->keep[i] = SCALES[i % 3];
    }
    size_t size = vit_tape_size(s->model, BATCH);
    s->memory = malloc(size);
    return vit_tape_init(&s->tape, s->memory, size, s->model, BATCH) == VIT_OK;
}

static void scene_close(struct scene *s) {
    guarded_free(s->logits), guarded_free(s->dlogits), guarded_free(s->gradient);
    free(s->images), free(s->keep), free(s->memory);
    vit_close(s->model);
}

/* Returns the batch's mean loss and adds its gradient to s->gradient. */
static double step(struct scene *s) {
    size_t K = vit_logits(&s->c);
    vit_forward(s->model, s->tape, s->images, BATCH, s->logits, s->keep);
    double loss =
        vit_cross_entropy(s->dlogits, s->logits, s->labels, BATCH, K, SMOOTHING, 1.0f / BATCH);
    vit_backward(s->model, s->tape, BATCH, s->dlogits, s->gradient);
    return loss / BATCH;
}

static double step_from_zero(struct scene *s) {
    memset(s->gradient, 0, s->count * sizeof *s->gradient);
    return step(s);
}

static double twin_batch_loss(const struct scene *s, const struct twin *t) {
    double loss = 0;
    for (size_t b = 0; b < BATCH; b++) {
        const float *keep = s->keep ? s->keep + b * s->c.depth : NULL;
        struct twin_run run = twin_forward(t, s->images + b * s->pixels, keep);
        loss += twin_loss(run.logits, s->labels[b], vit_logits(&s->c), SMOOTHING) / BATCH;
        twin_run_free(&run);
    }
    return loss;
}

/* (f(x + hv) - f(x - hv)) / 2h, where v changes one tensor's parameters x. */
static double twin_difference(const struct scene *s, struct twin *t, const vit_tensor *tensor,
                              const double *v) {
    const double h = 1e-5;
    double *x = t->p + tensor->offset, *x0 = doubles(tensor->count), loss[2];
    memcpy(x0, x, tensor->count * sizeof *x);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < tensor->count; i++) x[i] = x0[i] + (side ? -h : h) * v[i];
        loss[side] = twin_batch_loss(s, t);
    }
    memcpy(x, x0, tensor->count * sizeof *x);
    free(x0);
    return (loss[0] - loss[1]) / (2 * h);
}

/* Compares g·v with the twin's difference, where v is random in one tensor's parameters. `most` is
 * the largest gradient of all. */
static void check_direction(const struct scene *s, struct twin *t, const vit_tensor *tensor,
                            double most, double *difference, uint64_t *seed) {
    const float *g = s->gradient + tensor->offset;
    double *v = doubles(tensor->count), along = 0, g_square = 0, v_square = 0;
    for (size_t i = 0; i < tensor->count; i++) {
        v[i] = random_float(seed);
        along += g[i] * v[i], g_square += (double)g[i] * g[i], v_square += v[i] * v[i];
    }
    if (s->first) *difference = twin_difference(s, t, tensor, v);
    double want = *difference;
    double floor = CANCELLED * fmax(1, most) * sqrt(v_square);
    double tolerance = CLOSE * sqrt(g_square * v_square) + floor;
    CHECK(within(along, want, tolerance), "%s, %s: %s: g·v is %.9g, the difference %.9g", s->name,
          s->kernels->name, tensor->name, along, want);
    free(v);
}

static void check_scene(struct scene *s) {
    static double differences[64]; /* of the model's tensors; the first table has them computed */
    uint64_t seed = 300;
    struct twin t = twin_open(s->model);
    double loss = step_from_zero(s), want = twin_batch_loss(s, &t);
    CHECK(within(loss, want, 2e-5 * fmax(1, fabs(want))), "%s: a loss of %.9g, want %.9g", s->name,
          loss, want);
    double most = largest(s->gradient, s->count);
    for (size_t i = 0; i < vit_tensor_count(s->model); i++) {
        vit_tensor tensor = vit_tensor_at(s->model, i);
        check_direction(s, &t, &tensor, most, &differences[i], &seed);
    }
    CHECK(guards_intact(s->gradient, s->count) &&
              guards_intact(s->logits, BATCH * vit_logits(&s->c)) &&
              guards_intact(s->dlogits, BATCH * vit_logits(&s->c)),
          "%s: written past an output", s->name);
    twin_close(&t);
}

static void each_of(void (*check)(struct scene *), bool stochastic) {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        if (CONFIGS[i].config.tokens_to_token) continue; /* it has no backward pass */
        EACH_KERNELS(k) {
            struct scene s;
            if (k->packed) continue;
            if (scene_open(&s, &CONFIGS[i], k, stochastic))
                check(&s);
            else
                check_failed(__FILE__, __LINE__, "%s: no tape", CONFIGS[i].name);
            scene_close(&s);
        }
    }
}

static void each_scene(void (*check)(struct scene *)) {
    each_of(check, false);
}

TEST("every tensor's gradient is the finite difference of the double twin's loss") {
    each_scene(check_scene);
}

TEST("with stochastic depth, every tensor's gradient is the finite difference of the twin's loss") {
    each_of(check_scene, true);
}

TEST_SCENES("the backward pass adds to the gradient, and the same step again gives the same bits") {
    float *once = floats(s->count);
    step_from_zero(s);
    memcpy(once, s->gradient, s->count * sizeof *once);
    step(s);
    double floor = CANCELLED * largest(once, s->count);
    for (size_t i = 0; i < vit_tensor_count(s->model); i++) {
        vit_tensor t = vit_tensor_at(s->model, i);
        double tolerance = CLOSE * largest(once + t.offset, t.count) + floor;
        for (size_t k = t.offset; k < t.offset + t.count; k++)
            CHECK(within(s->gradient[k], 2.0 * once[k], tolerance), "%s: %s: %g after %g", s->name,
                  t.name, (double)s->gradient[k], (double)once[k]);
    }
    step_from_zero(s);
    CHECK(memcmp(once, s->gradient, s->count * sizeof *once) == 0,
          "%s, %s: the same step again has other bits", s->name, s->kernels->name);
    free(once);
}

TEST_SCENES("the backward pass adds to the given array, even if the last step had another one") {
    float *first = s->gradient, *second = guarded(s->count);
    for (int i = 0; i < 4; i++) {
        s->gradient = i % 2 ? second : first;
        step_from_zero(s);
    }
    CHECK_SAME_BITS(second, first, s->count, s->name);
    guarded_free(second);
    s->gradient = first;
}

/* How many blocks must be frozen so that the tensor is, too: L + 2 for the head. */
static size_t frozen_from(const vit_tensor *tensor, size_t depth) {
    static const char *const LAST[] = {"norm.", "fc_norm."};
    size_t block;
    if (sscanf(tensor->name, "blocks.%zu.", &block) == 1) return block + 1;
    for (size_t i = 0; i < 2; i++)
        if (!strncmp(tensor->name, LAST[i], strlen(LAST[i]))) return depth + 1;
    bool head = !strncmp(tensor->name, "head", 4) || !strncmp(tensor->name, "pre_logits", 10);
    return head ? depth + 2 : 1;
}

TEST_SCENES("frozen blocks and all before them get no gradient, and the others the bits they had") {
    float *whole = floats(s->count);
    step_from_zero(s);
    memcpy(whole, s->gradient, s->count * sizeof *whole);
    for (size_t blocks = s->c.depth + 2; blocks-- > 0;) { /* at last 0, which frees all */
        vit_tape_freeze(s->tape, blocks);
        step_from_zero(s);
        for (size_t i = 0; i < vit_tensor_count(s->model); i++) {
            vit_tensor t = vit_tensor_at(s->model, i);
            const float *got = s->gradient + t.offset;
            if (blocks < frozen_from(&t, s->c.depth))
                CHECK_SAME_BITS(got, whole + t.offset, t.count, t.name);
            else
                CHECK(largest(got, t.count) == 0, "%s: %s has a gradient with %zu frozen blocks",
                      s->name, t.name, blocks);
        }
    }
    free(whole);
}

/* The forward pass with a tape computes the same as a run without one. */
TEST_SCENES("vit_forward gives the logits that vit_run gives") {
    struct outputs o = run_model(s->model, s->images, BATCH, BATCH);
    vit_forward(s->model, s->tape, s->images, BATCH, s->logits, NULL);
    double tolerance = 2e-5 * largest(o.logits, o.logits_count);
    CHECK_CLOSE(s->logits, o.logits, o.logits_count, tolerance, s->name);
    outputs_free(&o);
}

/* A tape for two images runs one image and gives its gradient. */
TEST_SCENES("a tape takes fewer images than it was made for") {
    size_t K = vit_logits(&s->c);
    struct scene one = *s;
    size_t size = vit_tape_size(s->model, 1);
    one.memory = malloc(size);
    REQUIRE(vit_tape_init(&one.tape, one.memory, size, s->model, 1) == VIT_OK, "no tape");
    float *small = floats(s->count);
    memset(small, 0, s->count * sizeof *small);
    step_from_zero(s);
    memset(s->gradient, 0, s->count * sizeof *s->gradient);
    for (int i = 0; i < 2; i++) {
        vit_forward(s->model, i ? one.tape : s->tape, s->images, 1, s->logits, NULL);
        vit_cross_entropy(s->dlogits, s->logits, s->labels, 1, K, 0, 1);
        vit_backward(s->model, i ? one.tape : s->tape, 1, s->dlogits, i ? small : s->gradient);
    }
    double floor = CANCELLED * largest(small, s->count);
    for (size_t i = 0; i < vit_tensor_count(s->model); i++) {
        vit_tensor t = vit_tensor_at(s->model, i);
        double tolerance = CLOSE * largest(small + t.offset, t.count) + floor;
        CHECK_CLOSE(s->gradient + t.offset, small + t.offset, t.count, tolerance, t.name);
    }
    free(small), free(one.memory);
}

TEST("cross-entropy and its gradient follow the formula in double, for any logits") {
    enum { B = 5, K = 7 };
    static const float SIZES[] = {0, 1, 30, 1e4f};
    for (size_t i = 0; i < 4; i++)
        for (int smooth = 0; smooth < 2; smooth++) {
            uint64_t seed = 9;
            float *logits = random_floats(B * K, SIZES[i], &seed), *dlogits = guarded(B * K);
            uint8_t labels[B];
            double want = 0, tolerance = 0;
            for (size_t b = 0; b < B; b++) labels[b] = (uint8_t)random_below(&seed, K);
            double loss = vit_cross_entropy(dlogits, logits, labels, B, K, 0.2f * (float)smooth, 3);
            for (size_t b = 0; b < B; b++) {
                double x[K];
                for (size_t k = 0; k < K; k++) x[k] = logits[b * K + k];
                want += twin_loss(x, labels[b], K, 0.2f * (float)smooth);
                twin_softmax(x, K);
                for (size_t k = 0; k < K; k++) {
                    double target = 0.2f * (float)smooth / K;
                    if (k == labels[b]) target += 1 - 0.2f * (float)smooth;
                    double error = FLT_EPSILON * (8 + 4 * (double)SIZES[i]);
                    CHECK(within(dlogits[b * K + k], 3 * (x[k] - target), 3 * error),
                          "dlogits of logits up to %g: %g, want %g", (double)SIZES[i],
                          (double)dlogits[b * K + k], 3 * (x[k] - target));
                }
                tolerance += 16 * FLT_EPSILON * (1 + (double)SIZES[i]);
            }
            CHECK(within(loss, want, tolerance), "logits up to %g: a loss of %.9g, want %.9g",
                  (double)SIZES[i], loss, want);
            CHECK(guards_intact(dlogits, B * K), "written past dlogits");
            free(logits), guarded_free(dlogits);
        }
}

TEST("distillation follows the formula in double, and adds to the gradient that is there") {
    enum { B = 4, K = 6 };
    static const float SIZES[] = {0, 1, 30, 1e4f};
    for (size_t i = 0; i < 4; i++) {
        uint64_t seed = 11;
        float *logits = random_floats(B * K, SIZES[i], &seed), *dlogits = guarded(B * K);
        float *teacher = random_floats(B * K, SIZES[i], &seed);
        double want = 0;
        for (size_t k = 0; k < B * K; k++) dlogits[k] = (float)k;
        double loss = vit_distillation(dlogits, logits, teacher, B, K, 2);
        for (size_t b = 0; b < B; b++) {
            double x[K], y[K];
            for (size_t k = 0; k < K; k++) x[k] = logits[b * K + k], y[k] = teacher[b * K + k];
            twin_softmax(x, K), twin_softmax(y, K);
            for (size_t k = 0; k < K; k++) {
                double expected = (double)(b * K + k) + 2 * (x[k] - y[k]);
                double error = FLT_EPSILON * (32 + 16 * (double)SIZES[i]);
                CHECK(within(dlogits[b * K + k], expected, error), "logits up to %g: %g, want %g",
                      (double)SIZES[i], (double)dlogits[b * K + k], expected);
                if (y[k] > 0) want -= y[k] * log(x[k]);
            }
        }
        if (isfinite(want))
            CHECK(within(loss, want, 1e-5 * (1 + want)), "logits up to %g: a loss of %g, want %g",
                  (double)SIZES[i], loss, want);
        CHECK(isfinite(loss) && (i == 3 || isfinite(want)), "logits up to %g: a loss of %g",
              (double)SIZES[i], loss);
        CHECK(guards_intact(dlogits, B * K), "written past dlogits");
        free(logits), free(teacher), guarded_free(dlogits);
    }
}
