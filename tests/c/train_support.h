/* A temporary directory, for the tests of training with files. Include this header first,
 * with _GNU_SOURCE defined. */
#ifndef TRAIN_SUPPORT_H
#define TRAIN_SUPPORT_H

#include "small_task.h"

#include "../../src/kernels/kernels.h"
#include "../../src/save.h"
#include "../../src/train/files.h"
#include "../../src/train/init.h"

#include <unistd.h>

/* ---- A temporary directory for each file of tests ------------------------ */

static char scratch_folder[64]; /* empty until a test asks for it */

static inline char *scratch_path(const char *name) {
    static char path[256];
    if (!*scratch_folder) {
        strcpy(scratch_folder, "/tmp/vit-train-test-XXXXXX");
        if (!mkdtemp(scratch_folder)) exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/%s", scratch_folder, name);
    return path;
}

static inline void put_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) exit(EXIT_FAILURE);
}

/* A file's bytes. The caller frees them. */
static inline uint8_t *bytes_of(const char *path, size_t *size) {
    uint8_t *bytes = NULL;
    vit_error why = {""};
    if (read_file(&bytes, size, path, SIZE_MAX / 2, &why)) {
        printf("%s\n", why.text);
        exit(EXIT_FAILURE);
    }
    return bytes;
}

static inline vit_model *read_model(const char *path) {
    size_t size;
    uint8_t *bytes = bytes_of(path, &size);
    vit_error why = {""};
    vit_model *model = NULL;
    if (vit_open(&model, bytes, size, NULL, &why))
        check_failed(__FILE__, __LINE__, "%s: %s", path, why.text);
    free(bytes);
    return model;
}

/* A recipe's model before its first step. */
static inline vit_model *fresh_model(const struct recipe *recipe, uint64_t seed) {
    vit_model *model = NULL;
    vit_error why = {""};
    if (vit_create(&model, &recipe->config, recipe->model, strlen(recipe->model), &vit_native,
                   &why)) {
        printf("%s\n", why.text);
        exit(EXIT_FAILURE);
    }
    init_parameters(model, recipe->start, seed);
    return model;
}

__attribute__((destructor)) static void remove_scratch(void) {
    char command[300];
    if (!*scratch_folder) return;
    snprintf(command, sizeof command, "rm -r %s", scratch_folder);
    if (system(command)) printf("could not remove %s\n", scratch_folder);
}

#endif
