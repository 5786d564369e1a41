/* A small recipe and a temporary directory, for the tests of training. Include this header first,
 * with _GNU_SOURCE defined. */
#ifndef TRAIN_SUPPORT_H
#define TRAIN_SUPPORT_H

#include "check.h"

#include "../../src/train/train.h"

#include <unistd.h>

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

static inline struct recipe recipe_of(const char *json) {
    struct recipe recipe;
    vit_error why = {""};
    if (recipe_read(&recipe, json, strlen(json), &why)) {
        printf("recipe: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
    return recipe;
}

/* ---- A temporary directory for each program ----------------------------- */

static char *scratch_path(const char *name) {
    static char path[256], directory[64];
    if (!*directory) {
        strcpy(directory, "/tmp/vit-train-test-XXXXXX");
        if (!mkdtemp(directory)) exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static inline void put_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) exit(EXIT_FAILURE);
}

__attribute__((destructor)) static void remove_scratch(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", scratch_path(""));
    if (system(command)) printf("could not remove %s\n", scratch_path(""));
}

#endif
