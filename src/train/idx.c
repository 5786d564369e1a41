/* IDX files, the format in which MNIST is published: a big-endian header (two zero bytes, the type
 * 8 for bytes, the rank, one 32-bit size per dimension), then the bytes. LeCun, Cortes & Burges. */
#define _POSIX_C_SOURCE 200809L
#include "idx.h"
#include "base/error.h"
#include "data.h"
#include "files.h"
#include "strokes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MAX_RANK = 4, CHUNK = 1 << 24 };
/* Limits on unpacked bytes. A gzip file may unpack to ALWAYS bytes, or to MOST_TIMES its own size
 * if that is more: MNIST unpacks to 5 times its size, a bomb to 1000 times. A pipe has no size,
 * so its limit is MOST_OF_PIPE. */
enum { ALWAYS = 1 << 24, MOST_TIMES = 100, MOST_OF_PIPE = 1 << 30 };

struct idx {
    gzFile file;
    const char *path;
    size_t file_size, rank;
    size_t shape[MAX_RANK], count; /* count: the product of shape */
    uint8_t *bytes;                /* (count) */
};

/* ---- The header --------------------------------------------------------- */

static size_t header_size(const struct idx *idx) {
    return 4 + 4 * idx->rank;
}

static vit_status read_header(struct idx *idx, vit_error *why) {
    uint8_t header[4 + 4 * MAX_RANK];
    size_t size = header_size(idx), rank = idx->rank;
    if (gzread(idx->file, header, (unsigned)size) != (int)size)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected an IDX header of %z bytes; the file is shorter or damaged",
                        idx->path, size);
    if (header[0] || header[1] || header[2] != 8 || header[3] != rank)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected IDX bytes of rank %z (00 00 08 0%z); the file starts with "
                        "type %z, rank %z",
                        idx->path, rank, rank, (size_t)header[2], (size_t)header[3]);
    idx->count = 1;
    for (size_t i = 0; i < rank; i++) {
        const uint8_t *p = header + 4 + 4 * i;
        idx->shape[i] = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (idx->shape[i] == 0 || idx->shape[i] > PTRDIFF_MAX / idx->count)
            return vit_fail(why, VIT_BAD_FILE,
                            "%s: expected sizes from 1 that fit in memory, got %d", idx->path,
                            idx->shape, i + 1);
        idx->count *= idx->shape[i];
    }
    return VIT_OK;
}

static vit_status too_short(const struct idx *idx, size_t got, vit_error *why) {
    return vit_fail(why, VIT_BAD_FILE,
                    "%s: expected %z bytes after the header, got %z; the file is cut short or "
                    "damaged",
                    idx->path, idx->count, got);
}

static vit_status too_long(const struct idx *idx, vit_error *why) {
    return vit_fail(why, VIT_BAD_FILE, "%s: more than the %z bytes its header announces", idx->path,
                    idx->count);
}

/* Compares the bytes that the header announces with the file's own size. */
static vit_status check_size(const struct idx *idx, vit_error *why) {
    bool pipe = idx->file_size == SIZE_OF_PIPE;
    size_t most = pipe ? MOST_OF_PIPE : idx->file_size * MOST_TIMES;
    if (!pipe && gzdirect(idx->file)) {
        size_t got = idx->file_size - header_size(idx);
        return got < idx->count   ? too_short(idx, got, why)
               : got > idx->count ? too_long(idx, why)
                                  : VIT_OK;
    }
    if (idx->count <= ALWAYS || idx->count <= most) return VIT_OK;
    return vit_fail(why, VIT_BAD_FILE,
                    "%s: announces %z bytes of data, more than is plausible: expected at most %z "
                    "of %s; if it is right, unpack it and give the file itself",
                    idx->path, idx->count, most, pipe ? "a pipe" : "a gzip file of its size");
}

/* ---- The bytes ---------------------------------------------------------- */

/* Memory grows with the bytes that were really read, not with the header's promise. */
static vit_status read_bytes(struct idx *idx, vit_error *why) {
    size_t fill = 0, room = 0, end = idx->count + 1; /* past the end, zlib reads the trailer too */
    int got = 1;
    while (got > 0 && fill < end) {
        if (fill == room) {
            room = room ? 2 * room : CHUNK;
            if (room > end) room = end;
            uint8_t *larger = realloc(idx->bytes, room);
            if (!larger) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory for it", idx->path);
            idx->bytes = larger;
        }
        size_t want = room - fill < CHUNK ? room - fill : CHUNK;
        got = gzread(idx->file, idx->bytes + fill, (unsigned)want);
        if (got > 0) fill += (size_t)got;
    }
    if (fill > idx->count) return too_long(idx, why);
    if (fill < idx->count) return too_short(idx, fill, why);
    if (got < 0) return vit_fail(why, VIT_BAD_FILE, "%s: the gzip checksum is wrong", idx->path);
    return VIT_OK;
}

static vit_status idx_open(struct idx *idx, const char *path, size_t rank, vit_error *why) {
    int fd;
    *idx = (struct idx){.path = path, .rank = rank};
    vit_status status = open_input(&fd, &idx->file_size, path, why);
    if (status) return status;
    idx->file = gzdopen(fd, "rb");
    if (!idx->file) {
        close(fd);
        return vit_fail(why, VIT_NO_MEMORY, "%s: no memory for it", path);
    }
    status = read_header(idx, why);
    return status ? status : check_size(idx, why);
}

static vit_status idx_close(struct idx *idx, vit_status status, vit_error *why) {
    if (idx->file && gzclose(idx->file) != Z_OK && !status)
        status = vit_fail(why, VIT_BAD_FILE, "%s: the gzip stream is cut short", idx->path);
    return status;
}

/* ---- Data sets ---------------------------------------------------------- */

/* Checks that need only the headers, before the bytes are read. */
static vit_status check_against_model(const struct idx *images, const struct idx *labels,
                                      const vit_config *config, vit_error *why) {
    const size_t *size = &images->shape[images->rank - 2];
    if (labels->shape[0] != images->shape[0])
        return vit_fail(why, VIT_BAD_FILE, "%s has %z images, but %s has %z labels", images->path,
                        images->shape[0], labels->path, labels->shape[0]);
    size_t most = config->decoder.max_tokens;
    if (labels->rank == 2 && (labels->shape[1] < 2 || labels->shape[1] > most))
        return vit_fail(why, VIT_BAD_FILE, "%s: expected texts of 2 to %z tokens, got %z",
                        labels->path, most, labels->shape[1]);
    if (images->rank == 4 && images->shape[1] != config->channels)
        return vit_fail(why, VIT_BAD_ARGUMENT, "%s holds images of %z channels; the model wants %z",
                        images->path, images->shape[1], config->channels);
    if (config->prepare == VIT_PREPARE_UNKNOWN)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "%s holds bytes; the model's config has no `prepare` that says how they "
                        "become its image",
                        images->path);
    if (size[0] != config->image_size[0] || size[1] != config->image_size[1])
        return vit_fail(why, VIT_BAD_ARGUMENT, "%s holds images of %d; the model wants %d",
                        images->path, size, (size_t)2, config->image_size, (size_t)2);
    return VIT_OK;
}

/* Images of no class teach, or measure, doubt. */
static vit_status check_labels(const struct idx *labels, const vit_config *config, vit_error *why) {
    for (size_t i = 0; labels->rank == 2 && i < labels->count; i++)
        if (labels->bytes[i] >= config->decoder.vocabulary)
            return vit_fail(why, VIT_BAD_FILE, "%s: text %z has token %z; the model has %z tokens",
                            labels->path, i / labels->shape[1], (size_t)labels->bytes[i],
                            config->decoder.vocabulary);
    for (size_t i = 0; labels->rank == 1 && i < labels->count; i++)
        if (labels->bytes[i] >= config->classes && !(config->doubt && labels->bytes[i] == NO_CLASS))
            return vit_fail(why, VIT_BAD_FILE, "%s: item %z has label %z; the model has %z classes",
                            labels->path, i, (size_t)labels->bytes[i], config->classes);
    return VIT_OK;
}

vit_status data_open(struct data_set *data, const char *images, const char *labels,
                     const vit_config *config, vit_error *why) {
    struct idx pixels = {0}, classes = {0};
    bool grey = config->channels == 1;
    vit_status status = idx_open(&pixels, images, grey ? 3 : 4, why);
    if (!status) status = idx_open(&classes, labels, config->decoder.depth ? 2 : 1, why);
    if (!status) status = check_against_model(&pixels, &classes, config, why);
    if (!status) status = read_bytes(&classes, why);
    if (!status) status = check_labels(&classes, config, why);
    if (!status) status = read_bytes(&pixels, why);
    status = idx_close(&pixels, status, why);
    status = idx_close(&classes, status, why);
    const size_t *size = &pixels.shape[pixels.rank - 2];
    *data = (struct data_set){pixels.bytes,
                              classes.bytes,
                              pixels.shape[0],
                              config->channels,
                              size[0],
                              size[1],
                              classes.rank == 2 ? classes.shape[1] : 0};
    if (status) data_close(data);
    return status;
}

/* Finds DIR/name, else DIR/name.gz; false if neither is there. */
static bool find_file(char *path, size_t size, const char *directory, const char *name) {
    static const char *const endings[] = {"", ".gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, size, "%s/%s%s", directory, name, endings[i]);
        struct stat file;
        if (!stat(path, &file) && S_ISREG(file.st_mode)) return true;
    }
    return false;
}

vit_status data_open_directory(struct data_set *data, const char *directory,
                               const vit_config *config, vit_error *why) {
    const char *const names[] = {
        config->channels == 1 ? "train-images-idx3-ubyte" : "train-images-idx4-ubyte",
        config->decoder.depth ? "train-tokens-idx2-ubyte" : "train-labels-idx1-ubyte"};
    char paths[2][FILENAME_MAX];
    *data = (struct data_set){0};
    for (size_t i = 0; i < 2; i++)
        if (!find_file(paths[i], sizeof paths[i], directory, names[i]))
            return vit_fail(why, VIT_BAD_FILE, "%s: expected %s in it, with or without .gz",
                            directory, names[i]);
    return data_open(data, paths[0], paths[1], config, why);
}
