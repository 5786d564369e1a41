/* What all commands of vit use: options, messages, files, exit codes. */
#ifndef VIT_CLI_H
#define VIT_CLI_H

#include "train/run.h"

#include <stdio.h>

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

int command_train(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_quantize(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_bench(int argc, char **argv);

/* ---- Options ------------------------------------------------------------ */

enum option_kind {
    OPTION_TEXT,  /* const char *: not empty */
    OPTION_COUNT, /* size_t: 1 or more */
    OPTION_INDEX, /* size_t: 0 or more */
    OPTION_SEED,  /* uint64_t */
    OPTION_SHARE, /* double: 0 to 1 */
    OPTION_FLAG   /* bool: true if the option is there */
};

struct option {
    const char *name; /* with its dashes */
    enum option_kind kind;
    void *value; /* of the type that `kind` says; stays as it is if the option is absent */
    bool required;
    const char *metavar, *help;
};

struct usage {
    const char *command, *summary;
    const char
        *operands; /* the help's word for what follows the options; NULL: nothing may follow */
    const struct option *options;
    size_t count;
};

/* Reads `--name value` and `--name=value`, moves the operands to the front of argv and counts them.
 * False after --help and after a wrong option: the command then ends with *code. */
bool options_read(const struct usage *usage, int argc, char **argv, int *operands, int *code);

/* ---- Help for the commands ---------------------------------------------- */

/* Prints text from outside, such as a label or a file's name. Characters that could forge a line or
 * steer a terminal are printed as \u001b, bytes that are not UTF-8 as \xff. */
void show(FILE *out, const char *text);
int fail(const vit_error *why); /* prints the message; returns EXIT_FAILED */

/* Opens a model while its file is read. Reads no more bytes than the header announces. */
vit_status model_read(vit_model **model, const char *path, vit_error *why);
/* model_read with a choice of kernels. bytes: unless NULL, becomes the file's bytes (size), which
 * the caller frees, also after a failure. */
vit_status model_read_with_bytes(vit_model **model, uint8_t **bytes, size_t *size, const char *path,
                                 const struct vit_kernels *kernels, vit_error *why);
/* Refuses a model without classes, which has no answers. */
vit_status model_needs_head(const vit_model *model, const char *path, vit_error *why);
/* Also refuses a model whose classes do not exclude each other, or whose numbers are values. */
vit_status model_needs_classes(const vit_model *model, const char *path, vit_error *why);
/* → the class's label. If the model has no labels: the class's number, written into `number`. */
const char *class_label(char number[24], const vit_model *model, size_t index);

/* A number to write into a model's config. */
struct config_number {
    const char *key;
    double value;
};

/* bytes (size): a model file that opens. → *out (out_size), which the caller frees: the same file
 * with these numbers in `__metadata__.vitrine`. Keys that are there already get the new number;
 * nothing else changes. */
vit_status model_set_numbers(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
                             const struct config_number *numbers, size_t count, vit_error *why);

/* From now on the first SIGINT or SIGTERM only makes interrupted() true; a second one ends the
 * process. */
void interrupts_catch(void);
bool interrupted(void);

/* ---- Progress of training ----------------------------------------------- */

/* On a terminal a bar that is drawn again and again; elsewhere a line every half minute, for logs.
 */
struct progress {
    FILE *out;
    bool terminal;
    size_t epoch;
    double printed_at; /* when the last line was printed, in seconds of this epoch */
};

struct progress progress_open(FILE *out);
void progress_show(struct progress *progress, const struct train_progress *now);
void progress_clear(struct progress *progress);

#endif
