/* A checkpoint in a file, from which an interrupted run continues. */
#define _POSIX_C_SOURCE 200809L
#include "resume.h"
#include "base/error.h"
#include "checkpoint.h"
#include "files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

vit_status checkpoint_save(const struct checkpoint *c, const char *path, vit_error *why) {
    size_t size = checkpoint_size(c);
    uint8_t *bytes = malloc(size);
    if (!bytes) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory to write it", path);
    checkpoint_encode(bytes, c);
    vit_status status = write_file(path, bytes, size, why);
    free(bytes);
    return status;
}

/* The header says which run wrote the file. It is read first, because the file may be large. */
static vit_status check_header(const struct checkpoint *c, const char *path, vit_error *why) {
    uint8_t header[CHECKPOINT_HEADER];
    size_t size, got = 0;
    int fd;
    vit_status status = open_input(&fd, &size, path, why);
    if (status) return status;
    bool read = read_some(&got, fd, header, sizeof header);
    close(fd);
    return checkpoint_check(c, header, read ? got : 0, path, why);
}

static vit_status load_file(struct checkpoint *c, const char *path, vit_error *why) {
    struct stat file;
    uint8_t *bytes = NULL;
    size_t size;
    if (stat(path, &file) || !S_ISREG(file.st_mode))
        return vit_fail(why, VIT_BAD_FILE, "%s is damaged: it is no file", path);
    vit_status status = check_header(c, path, why);
    if (!status) status = read_file(&bytes, &size, path, (size_t)file.st_size, why);
    if (!status) status = checkpoint_decode(c, bytes, size, path, why);
    free(bytes);
    return status;
}

vit_status checkpoint_load(struct checkpoint *c, const char *path, bool *found, vit_error *why) {
    struct stat file;
    vit_error inner = {""};
    *found = stat(path, &file) == 0;
    vit_status status = *found ? load_file(c, path, &inner) : VIT_OK;
    if (!status) return VIT_OK;
    return vit_fail(why, status, status == VIT_BAD_FILE ? "%s; --fresh starts over" : "%s",
                    inner.text);
}
