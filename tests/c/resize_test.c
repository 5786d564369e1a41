/* Models for images of another size, compared with the same file opened with that image_size. */
#include "check.h"
#include "golden.h"
#include "model.h"
#include "models.h"

static const char *const RESIZES[] = {"by_family", "antialias", "plain", "offset", "align_corners"};
enum { RESIZES_COUNT = sizeof RESIZES / sizeof *RESIZES };

/* The config's JSON with another image size, for positions that fit `learned`. */
static const char *sized_json(const vit_config *c, const size_t size[2], const size_t learned[2],
                              size_t resize) {
    static char text[1400];
    vit_config other = *c;
    memcpy(other.image_size, size, sizeof other.image_size);
    const char *json = config_json(&other);
    snprintf(text, sizeof text, "%.*s,\"position_size\":[%zu,%zu],\"position_resize\":\"%s\"}",
             (int)strlen(json) - 1, json, learned[0], learned[1], RESIZES[resize]);
    return text;
}

static vit_model *open_with(const uint8_t *bytes, size_t size, const char *json,
                            const struct vit_kernels *kernels) {
    vit_model *model = NULL;
    vit_error why = {""};
    if (vit_open_with_config(&model, bytes, size, json, strlen(json), NULL, 0, kernels, &why))
        check_failed(__FILE__, __LINE__, "%s: %s", json, why.text);
    return model;
}

static vit_model *resized(const vit_model *model, const size_t size[2]) {
    vit_model *other = NULL;
    vit_error why = {""};
    if (vit_model_resize(&other, model, size, &why))
        check_failed(__FILE__, __LINE__, "%zux%zu: %s", size[0], size[1], why.text);
    return other;
}

/* The outputs for two random images. */
static struct outputs outputs_of(const vit_model *model, uint64_t seed) {
    size_t n = 2 * image_floats(vit_model_config(model));
    float *images = random_floats(n, 1, &seed);
    struct outputs o = run_model(model, images, 2, 2);
    free(images);
    return o;
}

/* Compares a model with `want`, and its outputs with those of `want`, b. */
static void check_outputs(const char *name, const vit_model *got, const vit_model *want,
                          const struct outputs *b, uint64_t seed) {
    CHECK(memcmp(vit_model_config(got), vit_model_config(want), sizeof(vit_config)) == 0,
          "%s: another config", name);
    struct outputs a = outputs_of(got, seed);
    CHECK_SAME_BITS(a.logits, b->logits, b->logits_count, name);
    CHECK_SAME_BITS(a.attention, b->attention, b->attention_count, name);
    CHECK_SAME_BITS(a.hidden, b->hidden, b->hidden_count, name);
    CHECK_SAME_BITS(a.tokens, b->tokens, b->tokens_count, name);
    CHECK_SAME_BITS(a.pooled, b->pooled, b->pooled_count, name);
    outputs_free(&a);
}

static void check_same(const char *name, const vit_model *got, const vit_model *want,
                       uint64_t seed) {
    struct outputs b = outputs_of(want, seed);
    check_outputs(name, got, want, &b, seed);
    outputs_free(&b);
}

/* Opens the file at one size and resizes it to others, one after the other and back. */
static void check_sizes(const char *name, const vit_config *c, const uint8_t *bytes, size_t size,
                        const struct vit_kernels *kernels, size_t resize) {
    const size_t *learned = c->image_size, *patch = c->patch_size;
    const size_t sizes[][2] = {{learned[0] + patch[0], learned[1] + 2 * patch[1]},
                               {patch[0], 3 * patch[1]},
                               {patch[0] * 2, patch[1]},
                               {learned[0], learned[1]}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    vit_model *models[SIZES], *last = NULL;
    struct outputs want[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        models[i] = open_with(bytes, size, sized_json(c, sizes[i], learned, resize), kernels);
        REQUIRE(models[i], "%s: no model", name);
        want[i] = outputs_of(models[i], i);
    }
    for (size_t from = 0; from < SIZES; from++) {
        for (size_t to = 0; to < SIZES; to++) {
            vit_model *next = resized(last ? last : models[from], sizes[to]);
            if (next) check_outputs(name, next, models[to], &want[to], to);
            vit_close(last);
            last = next;
        }
        vit_close(last);
        last = NULL;
    }
    for (size_t i = 0; i < SIZES; i++) outputs_free(&want[i]), vit_close(models[i]);
}

TEST("a model of another size gives the bits of its file opened with that image_size") {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        const vit_config *c = &CONFIGS[i].config;
        if (c->position == VIT_RELATIVE) continue;
        vit_model *origin = random_model(c, unpacked_kernels(), i);
        size_t size;
        uint8_t *bytes = encode_as(origin, i % 3 == 1, &size);
        bool learns = c->position == VIT_LEARNED || c->learned_too;
        size_t ways = learns ? RESIZES_COUNT : 1, tables = 0;
        EACH_KERNELS(k) { /* one resizes in every way, and the others in another one each */
            if (i % 3 == 1 && !k->matmul_int8) continue;
            size_t first = tables ? i + tables : 0, count = tables++ ? 1 : ways;
            for (size_t way = first; way < first + count; way++)
                check_sizes(CONFIGS[i].name, c, bytes, size, k, way % ways);
        }
        free(bytes);
        vit_close(origin);
    }
}

/* A row for the class token beside registers that have none; a file of halves; positions of other
 * grids than the image's. */
TEST("so do golden files, whatever grid and rows their positions have") {
    static const char *const NAMES[] = {
        "positions_enlarged", "positions_reduced", "patch_positions",  "half",
        "rotary_learned",     "yolos/own",         "yolos/own_resized"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        struct golden g;
        vit_model *model = NULL;
        if (!golden_open(&g, NAMES[i])) continue;
        CHECK(vit_open(&model, g.model, g.model_size, NULL, NULL) == VIT_OK, "%s", NAMES[i]);
        const vit_config *c = vit_model_config(model);
        size_t length, other[] = {c->image_size[0] + 2 * c->patch_size[0],
                                  c->image_size[1] + c->patch_size[1]};
        const char *json = vit_model_json(model, &length), *at = strstr(json, "\"image_size\"");
        const char *after = strchr(at, ']') + 1;
        char text[4000];
        snprintf(text, sizeof text, "%.*s\"image_size\":[%zu,%zu]%s", (int)(at - json), json,
                 other[0], other[1], after);
        if (!strstr(json, "position_size") && c->position_grid[0] == vit_grid(c, 0))
            snprintf(text + strlen(text) - 1, sizeof text - strlen(text),
                     ",\"position_size\":[%zu,%zu]}", c->image_size[0], c->image_size[1]);
        vit_model *reference = open_with(g.model, g.model_size, text, NULL);
        vit_model *there = resized(model, other), *back = resized(there, c->image_size);
        const vit_config *expected = vit_model_config(reference);
        CHECK(vit_model_config(there)->class_position == expected->class_position, "%s", NAMES[i]);
        size_t sizes = offsetof(vit_config, position_size); /* which one of both configs sets */
        CHECK(memcmp(vit_model_config(there), expected, sizes) == 0, "%s", NAMES[i]);
        size_t n = image_floats(expected);
        float *image = floats(n);
        uint64_t seed = i;
        for (size_t k = 0; k < n; k++) image[k] = random_float(&seed);
        struct outputs a = run_model(there, image, 1, 1), b = run_model(reference, image, 1, 1);
        CHECK_SAME_BITS(a.logits, b.logits, b.logits_count, NAMES[i]);
        CHECK_SAME_BITS(a.attention, b.attention, b.attention_count, NAMES[i]);
        check_same(NAMES[i], back, model, i);
        outputs_free(&a);
        outputs_free(&b);
        free(image);
        vit_close(there), vit_close(back), vit_close(reference), vit_close(model);
        golden_close(&g);
    }
}

TEST("a size that the model cannot have is refused, and the model still runs") {
    vit_model *origin = random_model(&CONFIGS[0].config, unpacked_kernels(), 1);
    vit_model *model = reopen(origin, unpacked_kernels()), *other = NULL;
    static const struct {
        size_t size[2];
        vit_status status;
        const char *message;
    } CASES[] = {
        {{7, 9}, VIT_BAD_CONFIG, "patch_size: expected rows that divide the image's 7, got 3"},
        {{6, 10}, VIT_BAD_CONFIG, "columns that divide"},
        {{0, 9}, VIT_BAD_CONFIG, "image_size: expected 1 to 16384, got (0,9)"},
        {{6, 16385}, VIT_BAD_CONFIG, "expected 1 to 16384"},
        {{SIZE_MAX, 9}, VIT_BAD_CONFIG, "expected 1 to 16384"},
        {{16383, 16383}, VIT_BAD_CONFIG, "at most 65536 patches"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        vit_error why = {""};
        vit_status got = vit_model_resize(&other, model, CASES[i].size, &why);
        CHECK(got == CASES[i].status && !other && strstr(why.text, CASES[i].message), "%s",
              why.text);
        CHECK(vit_model_resize(&other, model, CASES[i].size, NULL) == CASES[i].status, "case %zu",
              i);
    }
    check_same("after refusals", model, model, 3);
    vit_close(model);
    vit_close(origin);
}

/* The offsets' numbers are checked in interpolate_test.c, whole models in families.test.mjs. */
TEST("relative positions are resized with the prefix's as they are, and back to the same bits") {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        const vit_config *c = &CONFIGS[i].config;
        const char *name = CONFIGS[i].name;
        if (c->position != VIT_RELATIVE) continue;
        vit_model *made = random_model(c, unpacked_kernels(), i);
        size_t size, larger[2] = {c->image_size[0] + c->patch_size[0], c->image_size[1]};
        uint8_t *bytes = encode_model(made, &size);
        for (size_t resize = 0; resize < RESIZES_COUNT; resize++) {
            const char *json = sized_json(c, c->image_size, c->image_size, resize);
            vit_model *origin = open_with(bytes, size, json, NULL), *other = NULL;
            vit_error why = {""};
            vit_status status = vit_model_resize(&other, origin, larger, &why);
            bool resizes = resize <= (size_t)VIT_RESIZE_PLAIN;
            CHECK(resizes ? status == VIT_OK
                          : status == VIT_BAD_CONFIG && strstr(why.text, "are not resized"),
                  "%s, %s: %s", name, RESIZES[resize], why.text);
            if (other) {
                size_t h = c->heads, others = vit_prefix(c) ? 3 * h : 0;
                size_t before = relative_rows(c) * h - others;
                size_t after = relative_rows(vit_model_config(other)) * h - others;
                for (size_t l = 0; l < c->depth; l++) {
                    const float *from = origin->params.blocks[l].relative_bias + before;
                    const float *to = other->params.blocks[l].relative_bias + after;
                    CHECK_SAME_BITS(to, from, others, name);
                }
                vit_model *back = resized(other, c->image_size);
                check_same(name, back, origin, i);
                vit_close(back);
            }
            vit_close(other), vit_close(origin);
        }
        free(bytes);
        vit_close(made);
    }
}

/* Lengths of the photo before and after: timm's floor(size / crop_pct) for a whole 1 / crop_pct. */
TEST("a photo's resized lengths keep their proportion to the crop") {
    static const struct {
        const char *before;
        size_t size[2], resize, stretch[2];
        vit_fit fit;
    } CASES[] = {
        {"\"resize\":12", {18, 18}, 36, {0, 0}, VIT_STRETCH},
        {"\"resize\":9", {18, 18}, 27, {0, 0}, VIT_STRETCH},
        {"\"resize\":7", {9, 9}, 11, {0, 0}, VIT_STRETCH}, /* 10.5 */
        {"\"resize\":12", {18, 9}, 0, {36, 18}, VIT_COVER},
        {"\"resize\":[12,6]", {12, 9}, 0, {24, 9}, VIT_STRETCH},
        {"\"resize\":[12,6],\"fit\":\"cover\"", {3, 9}, 0, {6, 9}, VIT_COVER},
        {"\"resize\":[6,6],\"fit\":\"contain\",\"fill\":[0]", {3, 9}, 0, {3, 9}, VIT_CONTAIN},
        {"\"resize\":null", {9, 3}, 0, {0, 0}, VIT_STRETCH},
    };
    vit_config tiny = CONFIGS[0].config;
    tiny.image_size[1] = 6;
    vit_model *origin = random_model(&tiny, unpacked_kernels(), 1);
    size_t size;
    uint8_t *bytes = encode_model(origin, &size);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char json[1400];
        const char *plain = config_json(&tiny);
        snprintf(json, sizeof json,
                 "%.*s,\"prepare\":{\"kind\":\"photo\",%s,\"crop\":6,\"mean\":[0],\"std\":[1]}}",
                 (int)strlen(plain) - 1, plain, CASES[i].before);
        vit_model *model = open_with(bytes, size, json, NULL);
        vit_model *other = model ? resized(model, CASES[i].size) : NULL;
        if (other) {
            const vit_config *c = vit_model_config(other);
            CHECK(c->photo.resize == CASES[i].resize && c->photo.fit == CASES[i].fit &&
                      !memcmp(c->photo.stretch, CASES[i].stretch, sizeof c->photo.stretch) &&
                      !memcmp(c->photo.crop, CASES[i].size, sizeof c->photo.crop),
                  "case %zu: %zu, %zux%zu", i, c->photo.resize, c->photo.stretch[0],
                  c->photo.stretch[1]);
        }
        vit_close(other), vit_close(model);
    }
    free(bytes);
    vit_close(origin);
}
