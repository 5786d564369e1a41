/* A temporary directory, for the tests of training with files. Include this header first,
 * with _GNU_SOURCE defined. */
#ifndef TRAIN_SUPPORT_H
#define TRAIN_SUPPORT_H

#include "small_task.h"

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

__attribute__((destructor)) static void remove_scratch(void) {
    char command[300];
    if (!*scratch_folder) return;
    snprintf(command, sizeof command, "rm -r %s", scratch_folder);
    if (system(command)) printf("could not remove %s\n", scratch_folder);
}

#endif
