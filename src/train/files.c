/* Reads and writes whole files. A path may lead to anything, and a file may hold anything. */
#define _XOPEN_SOURCE 700
#include "files.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- In ----------------------------------------------------------------- */

vit_status open_input(int *fd, size_t *size, const char *path, vit_error *why) {
    struct stat file;
    if (stat(path, &file)) return vit_fail(why, VIT_BAD_FILE, "%s: %s", path, strerror(errno));
    if (!S_ISREG(file.st_mode) && !S_ISFIFO(file.st_mode))
        return vit_fail(why, VIT_BAD_FILE, "%s: expected a file or a pipe, got %s", path,
                        S_ISDIR(file.st_mode) ? "a directory" : "a device");
    *size = S_ISREG(file.st_mode) ? (size_t)file.st_size : SIZE_OF_PIPE;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) return vit_fail(why, VIT_BAD_FILE, "%s: %s", path, strerror(errno));
    return VIT_OK;
}

bool read_some(size_t *got, int fd, void *bytes, size_t size) {
    for (*got = 0; *got < size;) {
        ssize_t n = read(fd, (uint8_t *)bytes + *got, size - *got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return true;
}

/* Memory grows with the bytes that were really read, to at most `most` bytes and one. */
static vit_status read_all(uint8_t **out, size_t *size, int fd, size_t most, const char *path,
                           vit_error *why) {
    size_t room = 1 << 16, got;
    do {
        room = room > most / 2 ? most + 1 : 2 * room;
        uint8_t *larger = realloc(*out, room);
        if (!larger) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory for it", path);
        *out = larger;
        if (!read_some(&got, fd, *out + *size, room - *size))
            return vit_fail(why, VIT_BAD_FILE, "%s: %s", path, strerror(errno));
        *size += got;
    } while (*size == room && room <= most);
    return VIT_OK;
}

vit_status read_file(uint8_t **out, size_t *size, const char *path, size_t most, vit_error *why) {
    int fd;
    size_t announced;
    *out = NULL;
    *size = 0;
    vit_status status = open_input(&fd, &announced, path, why);
    if (status) return status;
    if (announced == SIZE_OF_PIPE || announced <= most)
        status = read_all(out, size, fd, most, path, why);
    else
        *size = announced;
    if (!status && *size > most)
        status = vit_fail(why, VIT_BAD_FILE, "%s: expected at most %z bytes, got more", path, most);
    if (status) {
        free(*out);
        *out = NULL;
    }
    close(fd);
    return status;
}

/* ---- Out ---------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const uint8_t *)bytes + done, size - done);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) done += (size_t)n;
    }
    return true;
}

/* Writes into a device or a pipe, which is there and stays. Returns 0 or the errno. */
static int write_into(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC), error;
    if (fd < 0) return errno;
    error = write_all(fd, bytes, size) ? 0 : errno;
    return close(fd) && !error ? errno : error;
}

/* Replaces the file `old` (NULL: there is none), whole or not at all: writes `part`, then renames
 * it to `path`. Returns 0 or the errno. A `part` that is there already was left by a killed run, or
 * is a link that somebody laid. It is removed; a link's target stays as it is. */
static int write_beside(const char *path, const char *part, const struct stat *old,
                        const void *bytes, size_t size) {
    mode_t mode = old ? old->st_mode & 0777 : 0666;
    unlink(part);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode), error = 0;
    if (fd < 0) return errno;
    if (!write_all(fd, bytes, size) || (old && fchmod(fd, mode)) || fsync(fd)) error = errno;
    if (close(fd) && !error) error = errno;
    if (!error && rename(part, path)) error = errno;
    if (error) unlink(part);
    return error;
}

/* Returns 0 or the errno. If `path` is a link, the link stays and leads to the new file. */
static int replace(const char *path, const struct stat *old, const void *bytes, size_t size) {
    static const char ending[] = ".part";
    char *place = old ? realpath(path, NULL) : strdup(path);
    if (!place) return errno;
    char *part = malloc(strlen(place) + sizeof ending);
    int error =
        part ? write_beside(place, strcat(strcpy(part, place), ending), old, bytes, size) : ENOMEM;
    free(part);
    free(place);
    return error;
}

static bool is_stdout(const struct stat *file) {
    struct stat out;
    return !fstat(STDOUT_FILENO, &out) && out.st_dev == file->st_dev && out.st_ino == file->st_ino;
}

bool leads_to_stdout(const char *path) {
    struct stat file;
    return !stat(path, &file) && is_stdout(&file);
}

vit_status write_file(const char *path, const void *bytes, size_t size, vit_error *why) {
    struct stat old, link;
    int error;
    bool there = stat(path, &old) == 0;
    if (!there && !lstat(path, &link))
        return vit_fail(why, VIT_BAD_FILE, "%s: cannot be written: it is a link to nothing", path);
    if (there && is_stdout(&old))
        error = !fflush(stdout) && write_all(STDOUT_FILENO, bytes, size) ? 0 : errno;
    else if (there && !S_ISREG(old.st_mode))
        error = write_into(path, bytes, size);
    else
        error = replace(path, there ? &old : NULL, bytes, size);
    if (!error) return VIT_OK;
    return vit_fail(why, VIT_BAD_FILE, "%s: cannot be written: %s", path, strerror(error));
}

vit_status write_model(const char *path, const uint8_t *bytes, size_t size, vit_error *why) {
    vit_model *model;
    vit_error inner = {""};
    vit_status status = vit_open(&model, bytes, size, NULL, &inner);
    vit_close(model);
    if (status)
        return vit_fail(why, status, "%s: not written, because it would not open: %s", path,
                        inner.text);
    return write_file(path, bytes, size, why);
}
