/* A run of the trainer with files: its log, its snapshots, its model. */
#ifndef VIT_RUN_H
#define VIT_RUN_H

#include "checkpoint.h"
#include "job.h"
#include "vit.h"

struct train_progress {
    size_t epoch, epochs;  /* epoch counts from 1 */
    size_t done, images;   /* of this epoch */
    double seconds;        /* of this epoch, since the run began or was resumed in it */
    double rate;           /* images per second */
    double loss, accuracy; /* so far in this epoch */
    double gflops;
};

/* How a run reports to its caller; any of these may be NULL. */
struct train_watch {
    void *context;
    /* After every step; false stops the run, which can be resumed from there. */
    bool (*step)(void *context, const struct train_progress *progress);
    void (*epoch)(void *context, size_t epoch, size_t epochs, const struct epoch_record *record);
    /* `done` of the `images` of the epoch after `epoch` are done already. */
    void (*resumed)(void *context, size_t epoch, size_t epochs, size_t done, size_t images);
};

struct train_files {
    const char *out;  /* the model; with .checkpoint and .log.tsv appended, the others */
    size_t snapshots; /* models to write on the way, as OUT.step-000000.safetensors; 0 or from 2 */
    bool fresh;       /* ignore a checkpoint */
    size_t threads;
    struct train_watch watch;
};

/* Trains, resuming from a checkpoint of the same run where there is one, and writes files->out.
 * *finished is false where watch.step stopped it. */
vit_status train_run(const struct train_job *job, const struct train_files *files, bool *finished,
                     vit_error *why);

#endif
