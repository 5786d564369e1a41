/* IDX files, as MNIST is given out: a big-endian header (two zero bytes, the type 8 for bytes,
 * the rank, one 32-bit size per dimension), then the bytes. LeCun, Cortes & Burges. */
#include "../error.h"
#include "train.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_RANK = 3, CHUNK = 1 << 24 };

struct idx {
    uint8_t *bytes;
    size_t shape[MAX_RANK], count; /* count: the product of shape */
};

static vit_status read_header(struct idx *idx, gzFile file, size_t rank, const char *path,
                              vit_error *why) {
    uint8_t header[4 + 4 * MAX_RANK];
    int size = (int)(4 + 4 * rank);
    if (gzread(file, header, (unsigned)size) != size)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected an IDX header of %z bytes; the file is shorter or damaged",
                        path, (size_t)size);
    if (header[0] || header[1] || header[2] != 8 || header[3] != rank)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected IDX bytes of rank %z (00 00 08 0%z); the file starts with "
                        "type %z, rank %z",
                        path, rank, rank, (size_t)header[2], (size_t)header[3]);
    idx->count = 1;
    for (size_t i = 0; i < rank; i++) {
        const uint8_t *p = header + 4 + 4 * i;
        idx->shape[i] = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (idx->shape[i] == 0 || idx->shape[i] > PTRDIFF_MAX / idx->count)
            return vit_fail(why, VIT_BAD_FILE, "%s: the sizes %d make no data set", path,
                            idx->shape, i + 1);
        idx->count *= idx->shape[i];
    }
    return VIT_OK;
}

/* Memory follows what was really read, never what the header promised. */
static vit_status read_bytes(struct idx *idx, gzFile file, const char *path, vit_error *why) {
    size_t held = 0, room = 0, end = idx->count + 1; /* one more: zlib then reads the trailer too */
    int got = 1;
    while (got > 0 && held < end) {
        if (held == room) {
            room = room ? 2 * room : CHUNK;
            if (room > end) room = end;
            uint8_t *grown = realloc(idx->bytes, room);
            if (!grown) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory for it", path);
            idx->bytes = grown;
        }
        size_t want = room - held < CHUNK ? room - held : CHUNK;
        got = gzread(file, idx->bytes + held, (unsigned)want);
        if (got > 0) held += (size_t)got;
    }
    if (held > idx->count)
        return vit_fail(why, VIT_BAD_FILE, "%s: more than the %z bytes its header announces", path,
                        idx->count);
    if (held < idx->count)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected %z bytes after the header, got %z; the file is cut "
                        "short or damaged",
                        path, idx->count, held);
    if (got < 0) return vit_fail(why, VIT_BAD_FILE, "%s: the gzip checksum is wrong", path);
    return VIT_OK;
}

static vit_status idx_read(struct idx *idx, const char *path, size_t rank, vit_error *why) {
    *idx = (struct idx){0};
    gzFile file = gzopen(path, "rb");
    if (!file) return vit_fail(why, VIT_BAD_FILE, "%s: cannot be opened for reading", path);
    vit_status status = read_header(idx, file, rank, path, why);
    if (!status) status = read_bytes(idx, file, path, why);
    if (gzclose(file) != Z_OK && !status)
        status = vit_fail(why, VIT_BAD_FILE, "%s: the gzip stream is cut short", path);
    if (status) {
        free(idx->bytes);
        idx->bytes = NULL;
    }
    return status;
}

static vit_status check_against_model(const struct data_set *data, const char *images,
                                      const char *labels, size_t label_count,
                                      const vit_config *config, vit_error *why) {
    size_t size[] = {data->rows, data->columns};
    if (label_count != data->count)
        return vit_fail(why, VIT_BAD_FILE, "%s has %z images, but %s has %z labels", images,
                        data->count, labels, label_count);
    if (config->channels != 1)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "%s holds grey images; the model wants %z channels, not 1", images,
                        config->channels);
    if (size[0] != config->image_size[0] || size[1] != config->image_size[1])
        return vit_fail(why, VIT_BAD_ARGUMENT, "%s holds images of %d; the model wants %d", images,
                        size, (size_t)2, config->image_size, (size_t)2);
    for (size_t i = 0; i < label_count; i++)
        if (data->labels[i] >= config->classes)
            return vit_fail(why, VIT_BAD_FILE, "%s: item %z has label %z; the model has %z classes",
                            labels, i, (size_t)data->labels[i], config->classes);
    return VIT_OK;
}

vit_status data_open(struct data_set *data, const char *images, const char *labels,
                     const vit_config *config, vit_error *why) {
    struct idx pixels = {0}, classes = {0};
    vit_status status = idx_read(&pixels, images, 3, why);
    if (!status) status = idx_read(&classes, labels, 1, why);
    *data = (struct data_set){pixels.bytes, classes.bytes, pixels.shape[0], pixels.shape[1],
                              pixels.shape[2]};
    if (!status) status = check_against_model(data, images, labels, classes.shape[0], config, why);
    if (status) data_close(data);
    return status;
}

void data_close(struct data_set *data) {
    free(data->images);
    free(data->labels);
    *data = (struct data_set){0};
}

/* DIR/name or DIR/name.gz, whichever is there; false where neither is. */
static bool find_file(char *path, size_t size, const char *directory, const char *name) {
    static const char *const endings[] = {"", ".gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, size, "%s/%s%s", directory, name, endings[i]);
        FILE *file = fopen(path, "rb");
        if (file) {
            fclose(file);
            return true;
        }
    }
    return false;
}

vit_status data_open_directory(struct data_set *data, const char *directory,
                               const vit_config *config, vit_error *why) {
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"};
    char paths[2][FILENAME_MAX];
    *data = (struct data_set){0};
    for (size_t i = 0; i < 2; i++)
        if (!find_file(paths[i], sizeof paths[i], directory, names[i]))
            return vit_fail(why, VIT_BAD_FILE, "%s: expected %s in it, with or without .gz",
                            directory, names[i]);
    return data_open(data, paths[0], paths[1], config, why);
}

void data_image(float *image, const struct data_set *data, size_t index) {
    size_t n = data->rows * data->columns;
    const uint8_t *source = data->images + index * n;
    for (size_t i = 0; i < n; i++) image[i] = (float)source[i] / 255;
}

void data_standardise(float *image, size_t n, const vit_config *config) {
    if (config->prepare != VIT_PREPARE_PHOTO) return;
    for (size_t i = 0; i < n; i++)
        image[i] = (image[i] - config->photo.mean[0]) / config->photo.std[0];
}
