/* Runs the native command as a user does. Include this header first, with _GNU_SOURCE defined. */
#ifndef COMMAND_H
#define COMMAND_H

#include "train_support.h"

#include "models.h"

#include <sys/wait.h>

static const char MODEL[] = GOLDEN_DIR "/pre_gelu_learned.safetensors";

/* scratch_path's result in memory that stays valid for the next 511 calls. */
static inline const char *file_at(const char *name) {
    static char paths[512][256];
    static size_t next;
    char *path = paths[next++ % 512];
    snprintf(path, sizeof paths[0], "%s", scratch_path(name));
    return path;
}

/* Runs `vit …`. Until the next run `output` holds what it prints, errors too. */
static char output[4096];

__attribute__((format(printf, 1, 2))) static inline int vit(const char *format, ...) {
    char command[2048] = VIT " ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + strlen(command), 1024, format, arguments);
    va_end(arguments);
    strcat(command, " 2>&1");
    FILE *pipe = popen(command, "r");
    if (!pipe) exit(EXIT_FAILURE);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    while (fgetc(pipe) != EOF) continue; /* reads the rest, so that the command can end */
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* For `vit` and calls of it: what a run ends with and what it says. */
#define CHECK_SAYS(call, code, words)                                                              \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        CHECK(code_ == (code) && strstr(output, words), "not %d with \"%s\" but %d: %s", code,     \
              words, code_, output);                                                               \
    } while (0)

/* Writes an IDX file of `count` square images of that side, or of labels if it is 0. */
static inline void put_idx(const char *name, size_t count, size_t side, const uint8_t *items) {
    uint8_t low = (uint8_t)count, high = (uint8_t)(count >> 8), edge = (uint8_t)side;
    const uint8_t header[16] = {0, 0, 8, edge ? 3 : 1, 0, 0, high, low,
                                0, 0, 0, edge,         0, 0, 0,    edge};
    size_t begin = side ? 16 : 8, size = side ? count * side * side : count;
    uint8_t *bytes = malloc(begin + size);
    memcpy(bytes, header, begin);
    memcpy(bytes + begin, items, size);
    put_file(file_at(name), bytes, begin + size);
    free(bytes);
}

static inline bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

static inline bool same_files(const char *a, const char *b) {
    size_t n, m;
    uint8_t *x = bytes_of(a, &n), *y = bytes_of(b, &m);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x), free(y);
    return same;
}

#endif
