/* Training with files and the system's threads, which a page has not.
 *
 *   idx.c       data sets in MNIST's own format
 *   jsonl.c     pen drawings
 *   team.c      threads
 *   resume.c    checkpoints
 *   files.c     reading whole files up to a limit, writing beside and renaming
 *   run.c       a run of the trainer, with its log, snapshots and model */
#ifndef VIT_TRAIN_FILES_H
#define VIT_TRAIN_FILES_H

#include "train.h"

/* ---- Data --------------------------------------------------------------- */

/* Reads an image and a label file, each plain or gzipped, and checks them against each other
 * and against the model: one channel, its image size, labels below its classes. */
vit_status data_open(struct data_set *data, const char *images, const char *labels,
                     const vit_config *config, vit_error *why);
/* The training set of a directory that holds MNIST's file names, each with or without .gz. */
vit_status data_open_directory(struct data_set *data, const char *directory,
                               const vit_config *config, vit_error *why);

vit_status drawings_open(struct drawings *drawings, const char *path, size_t classes,
                         vit_error *why);

/* ---- Threads ------------------------------------------------------------ */

/* A team of `threads`, of which the caller is the first; each does one part of every run. */
vit_status team_open(vit_team **out, size_t threads, vit_error *why);
void team_close(vit_team *team);
size_t cpu_count(void);

/* ---- Checkpoints -------------------------------------------------------- */

vit_status checkpoint_save(const struct checkpoint *checkpoint, const char *path, vit_error *why);
/* *found is false without a file. */
vit_status checkpoint_load(struct checkpoint *checkpoint, const char *path, bool *found,
                           vit_error *why);

/* ---- Files -------------------------------------------------------------- */

#define SIZE_OF_PIPE SIZE_MAX

/* Opens a file or a pipe; a device may have no end, so it is refused as a directory is. *size: the
 * file's bytes, or SIZE_OF_PIPE. */
vit_status open_input(int *fd, size_t *size, const char *path, vit_error *why);
/* Reads `size` bytes, or to the end; false where it cannot be read. */
bool read_some(size_t *got, int fd, void *bytes, size_t size);
/* A whole file or pipe of at most `most` bytes. The caller frees *out. */
vit_status read_file(uint8_t **out, size_t *size, const char *path, size_t most, vit_error *why);
/* Written beside as PATH.part and renamed, so that a file is whole or absent; it keeps the mode of
 * the one that it replaces. What is no file, as a device or a pipe, is written to. */
vit_status write_file(const char *path, const void *bytes, size_t size, vit_error *why);
/* The same for a model, which is opened first: what does not open is not written. */
vit_status write_model(const char *path, const uint8_t *bytes, size_t size, vit_error *why);
/* Whatever is printed there would be part of the file. */
bool leads_to_stdout(const char *path);

/* ---- A run with files ----------------------------------------------------- */

struct train_progress {
    size_t epoch, epochs;  /* epoch counts from 1 */
    size_t done, images;   /* of this epoch */
    double seconds;        /* of this epoch, since the run began or was resumed in it */
    double rate;           /* images per second */
    double loss, accuracy; /* so far in this epoch */
    double gflops;
};

/* How a run speaks to its caller; any of these may be NULL. */
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
