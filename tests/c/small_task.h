/* A small recipe and a task that it learns within a test. */
#ifndef SMALL_TASK_H
#define SMALL_TASK_H

#include "check.h"

#include "../../src/train/data.h"
#include "../../src/train/recipe.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE }; /* of the tests' images */

/* A recipe whose model is small enough to train within a test. */
static const char RECIPE[] =
    "{\"model\": {\"image_size\": [8, 8], \"patch_size\": [4, 4], \"channels\": 1, \"width\": 16,"
    " \"depth\": 2, \"heads\": 2, \"mlp_width\": 32, \"classes\": 3, \"norm\": \"pre\","
    " \"norm_eps\": 1e-6, \"final_norm\": true, \"activation\": \"gelu\","
    " \"position\": \"learned\", \"pool\": \"class\", \"qkv_bias\": true, \"qk_norm\": false,"
    " \"layer_scale\": false, \"prefix\": [\"class\"], \"attention\": \"standard\","
    " \"labels\": [\"a\", \"b\", \"c\"], \"prepare\": {\"kind\": \"digit\"}},"
    " \"training\": {\"epochs\": 6, \"batch\": 32, \"validation\": 40, \"seed\": 5,"
    " \"learning_rate\": 0.004, \"min_learning_rate\": 1e-4, \"warmup_epochs\": 1,"
    " \"weight_decay\": 0.05, \"clip_norm\": 1, \"label_smoothing\": 0.05, \"ema_decay\": 0.95,"
    " \"drop_path\": 0.1, \"augment\": {\"shift\": 0.5, \"rotation\": 5, \"elastic\": 0.2,"
    " \"thickness\": 0.2}}}";

/* A recipe with `to` for what stands in it as `from`. It stays valid for the next three calls. */
static inline const char *edited(const char *recipe, const char *from, const char *to) {
    static char texts[4][sizeof RECIPE + 512];
    static size_t next;
    char json[sizeof *texts];
    const char *at = strstr(recipe, from);
    if (!at) exit(EXIT_FAILURE);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - recipe), recipe, to, at + strlen(from));
    return strcpy(texts[next++ % 4], json);
}

static inline const char *recipe_with(const char *from, const char *to) {
    return edited(RECIPE, from, to);
}

/* RECIPE with a decoder in place of classes. */
static inline const char *text_recipe(const char *epochs) {
    const char *json = recipe_with("\"labels\": [\"a\", \"b\", \"c\"], ", "");
    json = edited(json, "\"epochs\": 6", epochs);
    return edited(json, "\"classes\": 3",
                  "\"classes\": 0, \"decoder\": {\"depth\": 1, \"width\": 16, \"heads\": 2,"
                  " \"mlp_width\": 32, \"vocabulary\": 6, \"max_tokens\": 5, \"start\": 3,"
                  " \"end\": 4, \"padding\": 5}");
}

/* RECIPE, or what was made of it, with so many frozen blocks. */
static inline const char *frozen_recipe(const char *recipe, size_t blocks) {
    char key[64];
    snprintf(key, sizeof key, "\"seed\": 5, \"freeze\": %zu", blocks);
    return edited(recipe, "\"seed\": 5", key);
}

static inline const char *mimetic_recipe(const char *epochs) {
    return edited(recipe_with("\"epochs\": 6", epochs), "\"batch\"",
                  "\"start\": \"mimetic\", \"batch\"");
}

static inline struct recipe recipe_of(const char *json) {
    struct recipe recipe;
    vit_error why = {""};
    if (recipe_read(&recipe, json, strlen(json), &why)) {
        printf("recipe: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
    return recipe;
}

static inline void expect_bad_recipe(const char *json, const char *words) {
    struct recipe recipe;
    vit_error why = {""};
    CHECK_FAILS(recipe_read(&recipe, json, strlen(json), &why), VIT_BAD_CONFIG, words);
    recipe_close(&recipe);
}

/* A horizontal, a vertical and a diagonal bar, each at a random place, with noise. */
static inline struct data_set make_bars(size_t count) {
    struct data_set data = {
        calloc(count + 1, PIXELS), calloc(count + 1, 1), count, 1, SIDE, SIDE, 0};
    uint64_t seed = 3;
    for (size_t i = 0; i < count; i++) {
        size_t kind = random_below(&seed, 3), at = random_below(&seed, SIDE);
        data.labels[i] = (uint8_t)kind;
        for (size_t j = 0; j < SIDE; j++) {
            size_t row = kind == 0 ? at : j, column = kind == 1   ? at
                                                      : kind == 2 ? (j + at) % SIDE
                                                                  : j;
            data.images[i * PIXELS + row * SIDE + column] = 255;
        }
        for (size_t j = 0; j < PIXELS; j++)
            if (random_below(&seed, 10) == 0) data.images[i * PIXELS + j] ^= 64;
    }
    return data;
}

#endif
