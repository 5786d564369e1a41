/* The one checkpoint of training: `vit train`, web/train.ts's Trainer and `npx vitrine train` write
 * the same bytes. A header of 64-bit numbers, little-endian as on all machines here, is followed by
 *
 *   text    JSON about the run, for web/engine/checkpoint.ts
 *   model   the weights that a reader begins from: a file of safetensors
 *   images  (count,C,H,W) bytes, those to validate with last
 *   labels  (count) bytes; of texts (count, tokens)
 *   arrays  four of floats, and the epochs' records: only with an unfinished run
 *   hash    of all of it
 *
 * The first four let a Trainer begin from the file alone. */
#ifndef VIT_CHECKPOINT_H
#define VIT_CHECKPOINT_H

#include "job.h"
#include "vit.h"

struct epoch_record {
    double learning_rate, train_loss, train_accuracy;
    /* Negative: not measured. */
    double validation_loss, validation_accuracy, drawings_accuracy;
    double images_per_second, gflops;
};

/* What must be the same for a run to continue. Each is a number, and has a name in messages. */
enum {
    RUN_RECIPE,
    RUN_MODEL,
    RUN_START,
    RUN_TEACHER,
    RUN_DATA,
    RUN_EPOCHS,
    RUN_SEED,
    RUN_THREADS,
    RUN_IDENTITY
};

/* Parameters, the optimiser's two moments, the moving average of the parameters. */
enum { PARAMETERS, MOMENT1, MOMENT2, AVERAGE, CHECKPOINT_ARRAYS };
enum { CHECKPOINT_TEXT, CHECKPOINT_MODEL, CHECKPOINT_IMAGES, CHECKPOINT_LABELS, CHECKPOINT_PARTS };
enum { CHECKPOINT_HEADER = (RUN_IDENTITY + 8 + CHECKPOINT_PARTS) * sizeof(uint64_t) }; /* bytes */

struct checkpoint_part {
    const void *at;
    size_t size; /* bytes */
};

struct step_sums {
    double loss;
    size_t correct, digits; /* digits: samples that have a class */
};

struct checkpoint {
    uint64_t identity[RUN_IDENTITY];
    size_t epoch;                 /* finished ones */
    size_t step;                  /* taken of the next epoch */
    struct step_sums sums;        /* of those steps */
    struct epoch_record *records; /* (epochs), the first `epoch` of them filled */
    size_t epochs, steps;         /* steps: of an epoch */
    size_t count;                 /* of each of the arrays */
    float *arrays[CHECKPOINT_ARRAYS];
    struct checkpoint_part parts[CHECKPOINT_PARTS]; /* to write beside the run */
};

/* Fills in the run's identity. */
vit_status checkpoint_identify(struct checkpoint *checkpoint, const struct train_job *job,
                               size_t threads, vit_error *why);
size_t checkpoint_size(const struct checkpoint *checkpoint); /* bytes */
void checkpoint_encode(uint8_t *bytes, const struct checkpoint *checkpoint);
/* Fills `checkpoint`, whose identity must be that of the bytes. `name` names the bytes in messages.
 * After a failure the run cannot continue. */
vit_status checkpoint_decode(struct checkpoint *checkpoint, const uint8_t *bytes, size_t size,
                             const char *name, vit_error *why);
/* Checks that the first bytes of a checkpoint, CHECKPOINT_HEADER or more, are of this run. */
vit_status checkpoint_check(const struct checkpoint *checkpoint, const uint8_t *bytes, size_t size,
                            const char *name, vit_error *why);
/* Checks the hash of a checkpoint of any run, and views its parts. */
vit_status checkpoint_parts(struct checkpoint_part parts[CHECKPOINT_PARTS], const uint8_t *bytes,
                            size_t size, const char *name, vit_error *why);
/* Takes over the identity in the bytes, CHECKPOINT_HEADER or more. */
void checkpoint_adopt(struct checkpoint *checkpoint, const uint8_t *bytes);
/* The text of a run that is the first of its recipe. The caller frees it; NULL: no memory. */
char *checkpoint_text(const struct checkpoint *checkpoint, const struct recipe *recipe);
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size); /* FNV-1a; start from 0 */

#endif
