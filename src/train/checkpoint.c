#include "checkpoint.h"
#include "base/error.h"
#include "data.h"
#include "job.h"
#include "recipe.h"
#include "save.h"
#include "strokes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MAGIC = 0x0350434b54495600; /* \0VITKCP, version 3 */

struct header {
    uint64_t magic, parts[CHECKPOINT_PARTS], identity[RUN_IDENTITY], epoch, epochs, step, count;
    double loss; /* the sums of the epoch that is not finished */
    uint64_t correct, digits;
};
_Static_assert(sizeof(struct header) == CHECKPOINT_HEADER, "a header is 64-bit numbers");

/* ---- The run's identity -------------------------------------------------- */

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

vit_status checkpoint_identify(struct checkpoint *c, const struct train_job *job, size_t threads,
                               vit_error *why) {
    const struct data_set *data = job->data;
    struct recipe recipe = *job->recipe; /* epochs and seed are compared on their own */
    recipe.epochs = 0;
    recipe.seed = 0;
    char *training = recipe_training_json(&recipe);
    if (!training) return vit_fail(why, VIT_NO_MEMORY, "no memory for the recipe");
    uint64_t images = hash_bytes(0, data->images, data->count * data_values(data));
    uint64_t *identity = c->identity;
    identity[RUN_RECIPE] = hash_text(training);
    identity[RUN_MODEL] = hash_text(job->recipe->model);
    identity[RUN_START] = hash_model(job->start);
    identity[RUN_TEACHER] = hash_model(job->teacher);
    identity[RUN_DATA] = hash_bytes(images, data->labels, data_label_bytes(data));
    if (job->drawings) identity[RUN_DATA] = hash_drawings(identity[RUN_DATA], job->drawings);
    identity[RUN_EPOCHS] = job->recipe->epochs;
    identity[RUN_SEED] = job->recipe->seed;
    identity[RUN_THREADS] = threads;
    free(training);
    return VIT_OK;
}

/* ---- Out ----------------------------------------------------------------- */

/* The arrays and the records, which follow the parts. */
enum { RUN_PARTS = CHECKPOINT_ARRAYS + 1 };

static void *run_part(size_t *size, const struct checkpoint *c, size_t i) {
    *size = i < CHECKPOINT_ARRAYS ? c->count * sizeof(float) : c->epochs * sizeof *c->records;
    return i < CHECKPOINT_ARRAYS ? (void *)c->arrays[i] : (void *)c->records;
}

/* The size without the parts. */
static size_t run_size(const struct checkpoint *c) {
    size_t size = sizeof(struct header) + sizeof(uint64_t), part;
    for (size_t i = 0; i < RUN_PARTS; i++) {
        run_part(&part, c, i);
        size += part;
    }
    return size;
}

size_t checkpoint_size(const struct checkpoint *c) {
    size_t size = run_size(c);
    for (size_t i = 0; i < CHECKPOINT_PARTS; i++) size += c->parts[i].size;
    return size;
}

/* → the place after the copy. */
static uint8_t *put(uint8_t *to, const void *from, size_t size) {
    if (size) memcpy(to, from, size);
    return to + size;
}

void checkpoint_encode(uint8_t *bytes, const struct checkpoint *c) {
    struct header header = {
        .magic = MAGIC,
        .epoch = c->epoch,
        .epochs = c->epochs,
        .step = c->step,
        .count = c->count,
        .loss = c->sums.loss,
        .correct = c->sums.correct,
        .digits = c->sums.digits,
    };
    memcpy(header.identity, c->identity, sizeof header.identity);
    for (size_t i = 0; i < CHECKPOINT_PARTS; i++) header.parts[i] = c->parts[i].size;
    uint8_t *end = put(bytes, &header, sizeof header);
    for (size_t i = 0; i < CHECKPOINT_PARTS; i++) end = put(end, c->parts[i].at, c->parts[i].size);
    for (size_t i = 0, size; i < RUN_PARTS; i++) {
        const void *part = run_part(&size, c, i);
        end = put(end, part, size);
    }
    uint64_t sum = hash_bytes(0, bytes, (size_t)(end - bytes));
    memcpy(end, &sum, sizeof sum);
}

static size_t put_measured(char *out, size_t room, double loss, double accuracy) {
    return (size_t)snprintf(out, room, "\"loss\":%.17g,\"accuracy\":%.17g", loss, accuracy);
}

/* JSON of the finished epochs. The caller has made room for all. */
static size_t put_log(char *out, size_t room, const struct checkpoint *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->epoch; i++) {
        const struct epoch_record *r = &c->records[i];
        n += (size_t)snprintf(out + n, room - n, "%s{\"epoch\":%zu,", i ? "," : "", i + 1);
        n += put_measured(out + n, room - n, r->train_loss, r->train_accuracy);
        if (r->validation_accuracy >= 0) {
            n += (size_t)snprintf(out + n, room - n, ",\"validation\":{");
            n += put_measured(out + n, room - n, r->validation_loss, r->validation_accuracy);
            n += (size_t)snprintf(out + n, room - n, "}");
        }
        n += (size_t)snprintf(out + n, room - n, "}");
    }
    return n;
}

char *checkpoint_text(const struct checkpoint *c, const struct recipe *recipe) {
    char *training = recipe_training_json(recipe);
    if (!training) return NULL;
    enum { EPOCH = 256, REST = 512 };
    size_t room = strlen(recipe->model) + strlen(training) + EPOCH * c->epoch + REST;
    char *out = malloc(room);
    if (out) {
        size_t n = (size_t)snprintf(
            out, room,
            "{\"recipe\":{\"model\":%s,\"training\":%s},\"seed\":%llu,\"runs\":1,"
            "\"threads\":%zu,\"validation\":%zu,\"epochs\":%zu,\"epoch\":%zu,\"step\":%zu,\"log\":"
            "[",
            recipe->model, training, (unsigned long long)recipe->seed,
            (size_t)c->identity[RUN_THREADS], recipe->validation, c->epochs, c->epoch, c->step);
        n += put_log(out + n, room - n, c);
        snprintf(out + n, room - n, "]}");
    }
    free(training);
    return out;
}

/* ---- In ------------------------------------------------------------------ */

static vit_status damaged(const char *name, vit_error *why) {
    return vit_fail(why, VIT_BAD_FILE, "%s is not a checkpoint of this version, or is damaged",
                    name);
}

static vit_status check_identity(const struct header *header, const struct checkpoint *c,
                                 const char *name, vit_error *why) {
    static const char *const names[RUN_IDENTITY] = {
        [RUN_RECIPE] = "recipe", [RUN_MODEL] = "model",
        [RUN_START] = "start",   [RUN_TEACHER] = "teacher",
        [RUN_DATA] = "data set", [RUN_EPOCHS] = "number of epochs",
        [RUN_SEED] = "seed",     [RUN_THREADS] = "number of threads"};
    for (size_t i = 0; i < RUN_IDENTITY; i++)
        if (header->identity[i] != c->identity[i])
            return vit_fail(
                why, VIT_BAD_FILE,
                i >= RUN_EPOCHS
                    ? "%s comes from a run with another %s, %z instead of %z: resume with the same"
                    : "%s comes from a run with another %s: resume with the same",
                name, names[i], (size_t)header->identity[i], (size_t)c->identity[i]);
    return VIT_OK;
}

vit_status checkpoint_check(const struct checkpoint *c, const uint8_t *bytes, size_t size,
                            const char *name, vit_error *why) {
    struct header header;
    if (size < sizeof header) return damaged(name, why);
    memcpy(&header, bytes, sizeof header);
    return header.magic == MAGIC ? check_identity(&header, c, name, why) : damaged(name, why);
}

void checkpoint_adopt(struct checkpoint *c, const uint8_t *bytes) {
    struct header header;
    memcpy(&header, bytes, sizeof header);
    memcpy(c->identity, header.identity, sizeof header.identity);
}

/* Reads the header of undamaged bytes. */
static vit_status read_header(struct header *header, const uint8_t *bytes, size_t size,
                              const char *name, vit_error *why) {
    uint64_t sum;
    if (size < sizeof *header + sizeof sum) return damaged(name, why);
    memcpy(header, bytes, sizeof *header);
    memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
    bool good = header->magic == MAGIC && sum == hash_bytes(0, bytes, size - sizeof sum);
    return good ? VIT_OK : damaged(name, why);
}

vit_status checkpoint_parts(struct checkpoint_part parts[CHECKPOINT_PARTS], const uint8_t *bytes,
                            size_t size, const char *name, vit_error *why) {
    struct header header;
    vit_status status = read_header(&header, bytes, size, name, why);
    if (status) return status;
    size_t at = sizeof header;
    for (size_t i = 0; i < CHECKPOINT_PARTS; at += parts[i++].size) {
        if (header.parts[i] > size - at)
            return vit_fail(why, VIT_BAD_FILE, "%s has the wrong size", name);
        parts[i] = (struct checkpoint_part){bytes + at, (size_t)header.parts[i]};
    }
    return VIT_OK;
}

/* Whether a run can have the header's position and sums. */
static bool header_plausible(const struct header *h, const struct checkpoint *c) {
    bool inside = h->epoch < c->epochs ? h->step <= c->steps : h->epoch == c->epochs && !h->step;
    return inside && fabs(h->loss) <= FLT_MAX && h->correct <= h->digits && h->digits <= UINT32_MAX;
}

/* Whether a run can have the records' numbers. The log has no room for others. */
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

vit_status checkpoint_decode(struct checkpoint *c, const uint8_t *bytes, size_t size,
                             const char *name, vit_error *why) {
    struct header header;
    struct checkpoint_part parts[CHECKPOINT_PARTS];
    vit_status status = read_header(&header, bytes, size, name, why);
    if (!status) status = check_identity(&header, c, name, why);
    if (!status) status = checkpoint_parts(parts, bytes, size, name, why);
    if (status) return status;
    const struct checkpoint_part *last = &parts[CHECKPOINT_PARTS - 1];
    const uint8_t *next = (const uint8_t *)last->at + last->size;
    if (size - (size_t)(next - bytes) != run_size(c) - sizeof header || header.count != c->count ||
        header.epochs != c->epochs)
        return vit_fail(why, VIT_BAD_FILE, "%s has the wrong size", name);
    if (!header_plausible(&header, c))
        return vit_fail(why, VIT_BAD_FILE, "%s has numbers that no run has", name);
    for (size_t i = 0, part; i < RUN_PARTS; i++, next += part) {
        void *to = run_part(&part, c, i);
        memcpy(to, next, part);
    }
    c->epoch = (size_t)header.epoch;
    c->step = (size_t)header.step;
    c->sums = (struct step_sums){header.loss, (size_t)header.correct, (size_t)header.digits};
    if (records_plausible(c)) return VIT_OK;
    return vit_fail(why, VIT_BAD_FILE, "%s has numbers that no run has", name);
}
