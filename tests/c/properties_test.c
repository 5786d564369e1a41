/* Properties of every model, checked against the double-precision twin and against the model
 * itself. */
#include "each_scene.h"
#include "models.h"
#include "twin.h"

enum { BATCH = 3 };

/* A share of the tensor's largest value, as for the golden vectors. */
static const double CLOSE = 2e-5;

/* A config of models.h with a table: BATCH random images and their outputs. */
struct scene {
    const char *name;
    const struct vit_kernels *kernels;
    vit_model *origin, *model; /* origin has natural layout, model the table's own */
    const vit_config *c;
    size_t pixels; /* floats of one image */
    float *images; /* BATCH of them */
    struct outputs all;
};

static bool scene_open(struct scene *s, size_t config, const struct vit_kernels *kernels) {
    uint64_t seed = 100 + config;
    *s = (struct scene){.name = CONFIGS[config].name, .kernels = kernels};
    s->origin = random_model(&CONFIGS[config].config, unpacked_kernels(), seed);
    if (!s->origin) return false;
    s->model = reopen(s->origin, kernels);
    if (!s->model) {
        vit_close(s->origin);
        return false;
    }
    s->c = vit_model_config(s->model);
    s->pixels = image_floats(s->c);
    s->images = random_floats(BATCH * s->pixels, 1, &seed);
    s->all = run_model(s->model, s->images, BATCH, BATCH);
    return true;
}

static void scene_close(struct scene *s) {
    outputs_free(&s->all);
    free(s->images);
    vit_close(s->model);
    vit_close(s->origin);
}

static void each_scene(void (*check)(struct scene *)) {
    EACH_MODEL(k, i) {
        struct scene s;
        if (!scene_open(&s, i, k)) continue;
        check(&s);
        scene_close(&s);
    }
}

/* Checks for the same bits; for kernels whose rows depend on their number, for close values. */
static void same(const struct scene *s, const float *got, const float *want, size_t n,
                 const char *name) {
    char what[128];
    snprintf(what, sizeof what, "%s, %s: %s", s->name, s->kernels->name, name);
    if (rows_keep_bits(s->kernels))
        CHECK_SAME_BITS(got, want, n, what);
    else
        CHECK_CLOSE(got, want, n, CLOSE * largest(want, n), what);
}

/* ---- Against the twin --------------------------------------------------- */

TEST_SCENES(
    "every kind of model gives the double twin's logits, attention, hidden and final tokens") {
    struct twin t = twin_open(s->origin);
    for (size_t b = 0; b < BATCH; b++) {
        struct twin_run run = twin_forward(&t, s->images + b * s->pixels, NULL);
        const struct {
            const char *name;
            const float *got;
            const double *want;
            size_t count;
        } parts[] = {{"logits", s->all.logits, run.logits, s->all.logits_count / BATCH},
                     {"attention", s->all.attention, run.attention, s->all.attention_count / BATCH},
                     {"hidden", s->all.hidden, run.hidden, s->all.hidden_count / BATCH},
                     {"tokens", s->all.tokens, run.tokens, s->all.tokens_count / BATCH}};
        for (size_t i = 0; i < 4; i++)
            twin_compare(s->name, s->kernels->name, parts[i].name,
                         parts[i].got + b * parts[i].count, parts[i].want, parts[i].count, CLOSE,
                         0);
        twin_run_free(&run);
    }
    twin_close(&t);
}

/* ---- Against itself ----------------------------------------------------- */

TEST_SCENES("every row of the attention sums to 1") {
    size_t T = vit_tokens(s->c);
    for (size_t row = 0; row < s->all.attention_count / T; row++) {
        double sum = 0;
        for (size_t i = 0; i < T; i++) {
            float p = s->all.attention[row * T + i];
            CHECK(p >= 0 && p <= 1 + FLT_EPSILON, "%s: an attention of %g", s->name, (double)p);
            sum += p;
        }
        CHECK(within(sum, 1, (double)(T + 4) * FLT_EPSILON), "%s, %s: row %zu sums to %.9g",
              s->name, s->kernels->name, row, sum);
    }
}

static void check_same(struct scene *s, const struct outputs *o, size_t first, size_t batch) {
    const struct outputs *all = &s->all;
    same(s, o->logits, all->logits + first * vit_logits(s->c), batch * vit_logits(s->c), "logits");
    size_t n = all->attention_count / BATCH;
    same(s, o->attention, all->attention + first * n, batch * n, "attention maps");
    n = all->hidden_count / BATCH;
    same(s, o->hidden, all->hidden + first * n, batch * n, "hidden tokens");
    n = all->tokens_count / BATCH;
    same(s, o->tokens, all->tokens + first * n, batch * n, "final tokens");
}

TEST_SCENES("a batch of three equals three single images, to the bit") {
    for (size_t b = 0; b < BATCH; b++) {
        struct outputs one = run_model(s->model, s->images + b * s->pixels, 1, 1);
        check_same(s, &one, b, 1);
        outputs_free(&one);
    }
}

TEST_SCENES("a batch larger or smaller than the state's batch gives the same bits") {
    for (size_t state_batch = 1; state_batch <= 5; state_batch++) {
        struct outputs again = run_model(s->model, s->images, BATCH, state_batch);
        check_same(s, &again, 0, BATCH);
        outputs_free(&again);
    }
}

TEST_SCENES("an image run twice gives the same bits, with taps or without") {
    struct owned_state state = new_state(s->model, BATCH);
    float *logits = guarded(s->all.logits_count);
    for (int i = 0; i < 3; i++) { /* other images in between must leave no trace */
        float *other = floats(BATCH * s->pixels);
        for (size_t k = 0; k < BATCH * s->pixels; k++) other[k] = -s->images[k];
        vit_run(s->model, state.state, other, BATCH, logits, NULL);
        vit_run(s->model, state.state, s->images, BATCH, logits, NULL);
        same(s, logits, s->all.logits, s->all.logits_count, "logits without taps");
        free(other);
    }
    guarded_free(logits);
    free(state.memory);
}

/* Compares one layer's map and tokens, asked for by a mask, with those of the run with all. */
TEST_SCENES(
    "a layer mask gives the maps and tokens of its layers only, and logits may be left out") {
    size_t L = s->c->depth, T = vit_tokens(s->c);
    size_t maps = s->c->heads * T * T, rows = T * s->c->width;
    struct owned_state state = new_state(s->model, 2);
    float *attention = guarded(BATCH * maps), *hidden = guarded(BATCH * rows);
    for (size_t layer = 0; layer < L; layer++) {
        uint8_t mask[8] = {0}, other[8] = {0};
        mask[layer] = 1, other[L - 1 - layer] = 255;
        vit_taps taps = {.attention = attention,
                         .attention_layers = mask,
                         .hidden = hidden,
                         .hidden_layers = other};
        vit_status status = vit_run(s->model, state.state, s->images, BATCH, NULL, &taps);
        CHECK(status == VIT_OK, "%s: %s", s->name, vit_status_name(status));
        for (size_t b = 0; b < BATCH; b++) {
            same(s, attention + b * maps, s->all.attention + (b * L + layer) * maps, maps,
                 "masked maps");
            same(s, hidden + b * rows, s->all.hidden + (b * L + L - 1 - layer) * rows, rows,
                 "masked tokens");
        }
    }
    CHECK(guards_intact(attention, BATCH * maps) && guards_intact(hidden, BATCH * rows),
          "%s: a masked tap wrote past its end", s->name);
    guarded_free(attention), guarded_free(hidden);
    free(state.memory);
}

TEST_SCENES("a model that is written, read and written again gives the same file") {
    size_t size, again_size;
    uint8_t *bytes = encode_model(s->origin, &size);
    vit_model *second = reopen(s->origin, unpacked_kernels());
    uint8_t *again = second ? encode_model(second, &again_size) : NULL;
    CHECK(again && again_size == size && memcmp(bytes, again, size) == 0,
          "%s: written, read and written again differs", s->name);
    CHECK(vit_encode(bytes, size - 1, s->origin, parameters_of(s->origin), "{}", 2) < size,
          "%s: a shorter config makes no smaller file", s->name);
    free(bytes), free(again);
    vit_close(second);
}

/* ---- Symmetries --------------------------------------------------------- */

/* The image with its patches in another order: patch n of `out` is patch order[n] of `image`. */
static void permute_patches(float *out, const float *image, const vit_config *c,
                            const size_t *order) {
    size_t P = c->patch_size[0], Q = c->patch_size[1], W = c->image_size[1], columns = W / Q;
    for (size_t n = 0; n < vit_patches(c); n++)
        for (size_t channel = 0; channel < c->channels; channel++)
            for (size_t row = 0; row < P; row++) {
                size_t to = (channel * c->image_size[0] + n / columns * P + row) * W;
                size_t from = (channel * c->image_size[0] + order[n] / columns * P + row) * W;
                memcpy(out + to + n % columns * Q, image + from + order[n] % columns * Q,
                       Q * sizeof *out);
            }
}

static void random_order(size_t *order, size_t n, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = random_below(seed, i), swap = order[i - 1];
        order[i - 1] = order[j], order[j] = swap;
    }
}

/* Checks that the logits stay, and that the class row of each map is permuted like the patches. */
static void check_permuted(const char *what, const vit_config *c, const struct outputs *before,
                           const struct outputs *after, const size_t *order) {
    size_t T = vit_tokens(c), prefix = vit_prefix(c);
    double tolerance = CLOSE * largest(before->logits, before->logits_count);
    CHECK_CLOSE(after->logits, before->logits, before->logits_count, tolerance, what);
    for (size_t map = 0; map < before->attention_count / (T * T); map++)
        for (size_t n = 0; n < T - prefix; n++) {
            float got = after->attention[map * T * T + prefix + n];
            float want = before->attention[map * T * T + prefix + order[n]];
            CHECK(within(got, want, CLOSE), "%s: class row of map %zu at patch %zu: %g, not %g",
                  what, map, n, (double)got, (double)want);
        }
}

#define SYMMETRIC                                                                                  \
    .image_size = {12, 9}, .patch_size = {3, 3}, .channels = 2, .width = 12, .depth = 3,           \
    .heads = 2, .mlp_width = 20, .classes = 6, .norm_eps = 1e-6f, .final_norm = true,              \
    .residual = true, .qkv_bias = true, .patch_bias = true, .head_bias = true, .class_tokens = 1,  \
    .register_tokens = 1

TEST("without positions, permuting the patches only permutes the class row of the attention") {
    const vit_config config = {SYMMETRIC, .position = VIT_POSITION_NONE};
    EACH_KERNELS(k) {
        uint64_t seed = 7;
        vit_model *origin = random_model(&config, unpacked_kernels(), 7);
        vit_model *model = origin ? reopen(origin, k) : NULL;
        REQUIRE(model, "no model");
        float *image = random_floats(image_floats(&config), 1, &seed);
        float *moved = floats(image_floats(&config));
        struct outputs before = run_model(model, image, 1, 1);
        for (int round = 0; round < 5; round++) {
            size_t order[12];
            random_order(order, vit_patches(&config), &seed);
            permute_patches(moved, image, &config, order);
            struct outputs after = run_model(model, moved, 1, 1);
            check_permuted(k->name, &config, &before, &after, order);
            outputs_free(&after);
        }
        outputs_free(&before);
        free(image), free(moved);
        vit_close(model), vit_close(origin);
    }
}

static size_t find_tensor(const vit_model *model, const char *name) {
    size_t i = 0;
    while (i < vit_tensor_count(model) && strcmp(vit_tensor_at(model, i).name, name) != 0) i++;
    return i;
}

TEST("permuting the patches together with their learned positions keeps the class scores") {
    const vit_config config = {SYMMETRIC, .position = VIT_LEARNED};
    const struct vit_kernels *k = unpacked_kernels();
    uint64_t seed = 8;
    size_t order[12], D = config.width, prefix = vit_prefix(&config), N = vit_patches(&config);
    vit_model *model = random_model(&config, k, 8);
    REQUIRE(model, "no model");
    float *image = random_floats(image_floats(&config), 1, &seed);
    float *moved = floats(image_floats(&config));
    struct outputs before = run_model(model, image, 1, 1);
    random_order(order, N, &seed);
    permute_patches(moved, image, &config, order);
    vit_tensor t = vit_tensor_at(model, find_tensor(model, "pos_embed"));
    float *rows = parameters_of(model) + t.offset, *copy = floats(t.count);
    memcpy(copy, rows, t.count * sizeof *rows);
    struct outputs wrong = run_model(model, moved, 1, 1);
    CHECK(farthest(wrong.logits, before.logits, before.logits_count, NULL) > 1e-2,
          "the positions have no effect, so this test shows nothing");
    for (size_t n = 0; n < N; n++)
        memcpy(rows + (prefix + n) * D, copy + (prefix + order[n]) * D, D * sizeof *rows);
    struct outputs after = run_model(model, moved, 1, 1);
    check_permuted(k->name, &config, &before, &after, order);
    outputs_free(&before), outputs_free(&wrong), outputs_free(&after);
    free(image), free(moved), free(copy);
    vit_close(model);
}

/* ---- Limits of a run ---------------------------------------------------- */

TEST_SCENES("pixels that are not finite are refused before anything runs") {
    static const float BAD[] = {NAN, INFINITY, -INFINITY};
    struct owned_state state = new_state(s->model, 2);
    float *logits = guarded(s->all.logits_count);
    for (size_t i = 0; i < 3; i++) {
        size_t at = i == 0 ? 0 : i == 1 ? BATCH * s->pixels - 1 : s->pixels + s->pixels / 2;
        float pixel = s->images[at];
        s->images[at] = BAD[i];
        vit_status status = vit_run(s->model, state.state, s->images, BATCH, logits, NULL);
        s->images[at] = pixel;
        CHECK(status == VIT_BAD_IMAGE, "%s: a pixel of %g gives %s", s->name, (double)BAD[i],
              vit_status_name(status));
        for (size_t k = 0; k < s->all.logits_count; k++)
            CHECK(is_sentinel(logits + k), "%s: a run with a bad pixel wrote logits", s->name);
    }
    vit_status status = vit_run(s->model, state.state, s->images, BATCH, logits, NULL);
    CHECK(status == VIT_OK, "%s: after a bad image: %s", s->name, vit_status_name(status));
    same(s, logits, s->all.logits, s->all.logits_count, "logits after a bad image");
    guarded_free(logits);
    free(state.memory);
}

TEST_SCENES("a state fits in vit_state_size bytes at any alignment, but not in fewer") {
    size_t need = vit_state_size(s->model, 2, NULL);
    char *memory = malloc(need + 65);
    vit_state *state = NULL;
    CHECK(need > 0, "%s: a state of 0 bytes", s->name);
    vit_status status = vit_state_init(&state, memory, need - 1, s->model, 2, NULL);
    CHECK(status != VIT_OK && !state, "%s: a state one byte too small is accepted", s->name);
    for (size_t shift = 0; shift < 64; shift += 1 + shift % 13) {
        float *logits = guarded(s->all.logits_count);
        char *end = memory + shift + need;
        status = vit_state_init(&state, memory + shift, need, s->model, 2, NULL);
        REQUIRE(status == VIT_OK, "%s: shifted by %zu: %s", s->name, shift,
                vit_status_name(status));
        *end = 42;
        vit_run(s->model, state, s->images, BATCH, logits, NULL);
        same(s, logits, s->all.logits, s->all.logits_count, "logits of a shifted state");
        CHECK(*end == 42, "%s: the state wrote past its memory", s->name);
        guarded_free(logits);
    }
    free(memory);
}

TEST_SCENES("a batch of no images runs and writes nothing") {
    struct owned_state state = new_state(s->model, 1);
    float *logits = guarded(0);
    vit_status status = vit_run(s->model, state.state, s->images, 0, logits, NULL);
    CHECK(status == VIT_OK && guards_intact(logits, 0), "%s: %s", s->name, vit_status_name(status));
    guarded_free(logits);
    free(state.memory);
}

/* One patch, but so wide an MLP that 64 MiB hold fewer images than 256 rows do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const vit_config WIDE_MLP = {TINY,
                                    .patch_size = {6, 9},
                                    .width = 2,
                                    .heads = 1,
                                    .depth = 1,
                                    .mlp_width = 131072,
                                    .activation = VIT_RELU};
#pragma GCC diagnostic pop

TEST("a state for many images takes at most 64 MiB, and each image keeps its own logits") {
    enum { MANY = 65 };
    struct scene s = {.name = "wide MLP", .kernels = unpacked_kernels()};
    uint64_t seed = 5;
    s.model = random_model(&WIDE_MLP, s.kernels, seed);
    REQUIRE(s.model, "no model");
    size_t image = image_floats(&WIDE_MLP), classes = WIDE_MLP.classes;
    CHECK(vit_state_size(s.model, MANY, NULL) <= (size_t)64 << 20, "a state of %zu bytes",
          vit_state_size(s.model, MANY, NULL));
    float *images = random_floats(MANY * image, 1, &seed);
    struct outputs all = run_model(s.model, images, MANY, MANY);
    for (size_t i = 0; i < MANY; i += 16) {
        struct outputs one = run_model(s.model, images + i * image, 1, 1);
        same(&s, all.logits + i * classes, one.logits, classes, "logits of an image among many");
        outputs_free(&one);
    }
    outputs_free(&all);
    free(images);
    vit_close(s.model);
}

TEST("vit_close takes NULL, and every status has a name of its own") {
    vit_close(NULL);
    for (int a = 0; a < VIT_STATUS_COUNT; a++)
        for (int b = 0; b < a; b++)
            CHECK(strcmp(vit_status_name((vit_status)a), vit_status_name((vit_status)b)) != 0,
                  "%d and %d are both %s", a, b, vit_status_name((vit_status)a));
    CHECK(strcmp(vit_status_name(VIT_OK), "ok") == 0, "VIT_OK is %s", vit_status_name(VIT_OK));
}
