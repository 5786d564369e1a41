/* A checkpoint is a header of 64-bit numbers in the machine's byte order, then the arrays, then the
 * records of all epochs, then a CRC-32 of all that. */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "train.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const uint64_t MAGIC = 0x0150434b54495600; /* \0VITKCP, version 1 */

struct header {
    uint64_t magic, identity[RUN_IDENTITY], epoch, epochs, count;
};

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *p = bytes;
    hash ^= 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        /* A false alarm: the analyzer tracks integers in an array by element, not by byte. */
        hash = (hash ^ p[i]) * 0x100000001b3u; // NOLINT(clang-analyzer-core.*)
    return hash;
}

static uint64_t hash_text(const char *text) {
    return hash_bytes(0, text, strlen(text));
}

static uint64_t hash_model(vit_model *model) {
    size_t count = 0;
    const float *parameters = model ? vit_parameters(model, &count) : NULL;
    return parameters ? hash_bytes(0, parameters, count * sizeof *parameters) : 0;
}

static uint64_t hash_drawings(uint64_t hash, const struct drawings *drawings) {
    for (size_t i = 0; i < drawings->count; i++) {
        const struct drawing *d = &drawings->list[i];
        const uint64_t what[] = {d->label, d->writer, d->strokes};
        hash = hash_bytes(hash, what, sizeof what);
    }
    hash = hash_bytes(hash, drawings->lengths, drawings->stroke_count * sizeof *drawings->lengths);
    return hash_bytes(hash, drawings->points, drawings->point_count * sizeof *drawings->points);
}

vit_status checkpoint_identify(struct checkpoint *c, const struct train_job *job, vit_error *why) {
    const struct data_set *data = job->data;
    struct recipe recipe = *job->recipe; /* epochs and seed are compared on their own */
    recipe.epochs = 0;
    recipe.seed = 0;
    char *training = recipe_training_json(&recipe);
    if (!training) return vit_fail(why, VIT_NO_MEMORY, "no memory for the recipe");
    uint64_t images = hash_bytes(0, data->images, data->count * data->rows * data->columns);
    uint64_t *identity = c->identity;
    identity[RUN_RECIPE] = hash_text(training);
    identity[RUN_MODEL] = hash_text(job->recipe->model);
    identity[RUN_START] = hash_model(job->start);
    identity[RUN_TEACHER] = hash_model(job->teacher);
    identity[RUN_DATA] = hash_bytes(images, data->labels, data->count);
    if (job->drawings) identity[RUN_DATA] = hash_drawings(identity[RUN_DATA], job->drawings);
    identity[RUN_EPOCHS] = job->recipe->epochs;
    identity[RUN_SEED] = job->recipe->seed;
    identity[RUN_THREADS] = job->threads;
    free(training);
    return VIT_OK;
}

static size_t body_size(const struct checkpoint *c) {
    return sizeof(struct header) + CHECKPOINT_ARRAYS * c->count * sizeof(float) +
           c->epochs * sizeof *c->records;
}

static uint64_t checksum(const uint8_t *bytes, size_t size) {
    return crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

/* Copies every array to or from `body`, which follows the header. */
static void copy_arrays(const struct checkpoint *c, uint8_t *body, bool save) {
    void *parts[CHECKPOINT_ARRAYS + 1];
    size_t sizes[CHECKPOINT_ARRAYS + 1];
    for (size_t i = 0; i < CHECKPOINT_ARRAYS; i++) {
        parts[i] = c->arrays[i];
        sizes[i] = c->count * sizeof(float);
    }
    parts[CHECKPOINT_ARRAYS] = c->records;
    sizes[CHECKPOINT_ARRAYS] = c->epochs * sizeof *c->records;
    for (size_t i = 0; i <= CHECKPOINT_ARRAYS; body += sizes[i++])
        memcpy(save ? body : parts[i], save ? parts[i] : body, sizes[i]);
}

vit_status checkpoint_save(const struct checkpoint *c, const char *path, vit_error *why) {
    size_t size = body_size(c);
    uint8_t *bytes = malloc(size + sizeof(uint64_t));
    if (!bytes) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory to write it", path);
    struct header header = {
        .magic = MAGIC, .epoch = c->epoch, .epochs = c->epochs, .count = c->count};
    memcpy(header.identity, c->identity, sizeof header.identity);
    memcpy(bytes, &header, sizeof header);
    copy_arrays(c, bytes + sizeof header, true);
    uint64_t sum = checksum(bytes, size);
    memcpy(bytes + size, &sum, sizeof sum);
    vit_status status = write_file(path, bytes, size + sizeof sum, why);
    free(bytes);
    return status;
}

static vit_status check_identity(const struct header *header, const struct checkpoint *c,
                                 const char *path, vit_error *why) {
    static const char *const names[RUN_IDENTITY] = {[RUN_RECIPE] = "recipe",
                                                    [RUN_MODEL] = "model",
                                                    [RUN_START] = "start (--init)",
                                                    [RUN_TEACHER] = "teacher",
                                                    [RUN_DATA] = "data set",
                                                    [RUN_EPOCHS] = "number of epochs",
                                                    [RUN_SEED] = "seed",
                                                    [RUN_THREADS] = "number of threads"};
    for (size_t i = 0; i < RUN_IDENTITY; i++)
        if (header->identity[i] != c->identity[i]) {
            bool number = i >= RUN_EPOCHS;
            return vit_fail(why, VIT_BAD_FILE,
                            number
                                ? "%s comes from a run with another %s, %z instead of %z; resume "
                                  "with the same, or start anew with --fresh"
                                : "%s comes from a run with another %s; resume with the same, or "
                                  "start anew with --fresh",
                            path, names[i], (size_t)header->identity[i], (size_t)c->identity[i]);
        }
    return VIT_OK;
}

/* Whether the records hold numbers that a run can have. The log has no room for others. */
static bool records_plausible(const struct checkpoint *c) {
    for (size_t i = 0; i < c->epoch; i++) {
        const struct epoch_record *r = &c->records[i];
        const double all[] = {
            r->learning_rate,       r->train_loss,        r->train_accuracy,    r->validation_loss,
            r->validation_accuracy, r->drawings_accuracy, r->images_per_second, r->gflops};
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            if (!(fabs(all[j]) <= FLT_MAX)) return false;
    }
    return true;
}

static vit_status damaged(const char *path, vit_error *why) {
    return vit_fail(why, VIT_BAD_FILE,
                    "%s is not a checkpoint of this version, or is damaged; start anew with "
                    "--fresh",
                    path);
}

static vit_status decode(struct checkpoint *c, uint8_t *bytes, size_t size, const char *path,
                         vit_error *why) {
    struct header header;
    uint64_t sum;
    bool whole = size >= sizeof header + sizeof sum;
    if (whole) {
        memcpy(&header, bytes, sizeof header);
        memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
        whole = header.magic == MAGIC && sum == checksum(bytes, size - sizeof sum);
    }
    if (!whole) return damaged(path, why);
    vit_status status = check_identity(&header, c, path, why);
    if (status) return status;
    if (size != body_size(c) + sizeof sum || header.count != c->count ||
        header.epochs != c->epochs || header.epoch > c->epochs)
        return vit_fail(why, VIT_BAD_FILE, "%s has the wrong size; start anew with --fresh", path);
    copy_arrays(c, bytes + sizeof header, false);
    c->epoch = (size_t)header.epoch;
    if (records_plausible(c)) return VIT_OK;
    return vit_fail(why, VIT_BAD_FILE, "%s has numbers that no run has; start anew with --fresh",
                    path);
}

/* A file that is longer than this run's checkpoint. Its header tells which run wrote it. */
static vit_status refuse_longer(const struct checkpoint *c, const char *path, vit_error *why) {
    struct header header;
    size_t size, got = 0;
    int fd;
    vit_status status = open_input(&fd, &size, path, why);
    if (status) return status;
    bool read = read_some(&got, fd, &header, sizeof header) && got == sizeof header;
    close(fd);
    if (read && header.magic == MAGIC) status = check_identity(&header, c, path, why);
    return status ? status : damaged(path, why);
}

vit_status checkpoint_load(struct checkpoint *c, const char *path, bool *found, vit_error *why) {
    uint8_t *bytes;
    size_t size, most = body_size(c) + sizeof(uint64_t);
    struct stat file;
    *found = stat(path, &file) == 0;
    if (!*found) return VIT_OK;
    if (!S_ISREG(file.st_mode)) return damaged(path, why);
    if ((size_t)file.st_size > most) return refuse_longer(c, path, why);
    vit_status status = read_file(&bytes, &size, path, most, why);
    if (!status) status = decode(c, bytes, size, path, why);
    free(bytes);
    return status;
}
