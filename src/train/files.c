/* Whole files in and out. */
#define _POSIX_C_SOURCE 200809L
#include "../error.h"
#include "train.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static vit_status read_all(uint8_t **out, size_t *size, FILE *file, const char *path,
                           vit_error *why) {
    size_t room = 1 << 16, held = 0;
    uint8_t *bytes = NULL;
    do {
        room *= 2;
        uint8_t *grown = realloc(bytes, room);
        if (!grown) {
            free(bytes);
            return vit_fail(why, VIT_NO_MEMORY, "%s: no memory for it", path);
        }
        bytes = grown;
        held += fread(bytes + held, 1, room - held, file);
    } while (held == room);
    if (ferror(file)) {
        free(bytes);
        return vit_fail(why, VIT_BAD_FILE, "%s: %s", path, strerror(errno));
    }
    *out = bytes;
    *size = held;
    return VIT_OK;
}

vit_status read_file(uint8_t **out, size_t *size, const char *path, vit_error *why) {
    *out = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return vit_fail(why, VIT_BAD_FILE, "%s: %s", path, strerror(errno));
    vit_status status = read_all(out, size, file, path, why);
    fclose(file);
    return status;
}

vit_status write_file(const char *path, const void *bytes, size_t size, vit_error *why) {
    static const char ending[] = ".part";
    char *part = malloc(strlen(path) + sizeof ending);
    if (!part) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory to write it", path);
    strcat(strcpy(part, path), ending);
    FILE *file = fopen(part, "wb");
    bool written =
        file && fwrite(bytes, 1, size, file) == size && !fflush(file) && !fsync(fileno(file));
    if (file && fclose(file)) written = false;
    vit_status status = VIT_OK;
    if (!written || rename(part, path))
        status = vit_fail(why, VIT_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
    if (status) unlink(part);
    free(part);
    return status;
}
