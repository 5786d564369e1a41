/* The native command's common ground: options, messages, exit codes. */
#ifndef VIT_CLI_H
#define VIT_CLI_H

#include "train/train.h"

#include <stdio.h>

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

int command_train(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_classify(int argc, char **argv);
int command_info(int argc, char **argv);
int command_quantize(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_bench(int argc, char **argv);

/* ---- Options ------------------------------------------------------------ */

enum option_kind {
    OPTION_TEXT,  /* a const char * */
    OPTION_COUNT, /* a size_t, from 1 */
    OPTION_INDEX, /* a size_t, from 0 */
    OPTION_SEED,  /* a uint64_t */
    OPTION_SHARE, /* a double, from 0 to 1 */
    OPTION_FLAG   /* a bool */
};

struct option {
    const char *name; /* with its dashes */
    enum option_kind kind;
    void *value; /* what the kind says; absent options leave it alone */
    bool required;
    const char *metavar, *help;
};

struct usage {
    const char *command, *summary;
    const char *operands; /* what follows the options, as the help prints it; NULL: nothing may */
    const struct option *options;
    size_t count;
};

/* Reads `--name value` and `--name=value`, moves the operands to the front of argv and counts
 * them. False: the command ends with *code, after --help or a usage error. */
bool options_read(const struct usage *usage, int argc, char **argv, int *operands, int *code);

/* ---- Help for the commands ---------------------------------------------- */

/* Prints text from outside, such as a label or a file's name: what could forge a line or steer a
 * terminal comes out as \u001b, and what is no UTF-8 as \xff. */
void show(FILE *out, const char *text);
void show_part(FILE *out, const char *text, size_t size);
int fail(const vit_error *why); /* shows it; returns EXIT_FAILED */

/* Opens a model as it is read, and reads no more than its header announces. */
vit_status model_read(vit_model **model, const char *path, vit_error *why);
/* The same by any of the kernels, and the file's bytes where these are asked for: the caller frees
 * them whatever the status. */
vit_status model_read_with_bytes(vit_model **model, uint8_t **bytes, size_t *size, const char *path,
                                 const struct vit_kernels *kernels, vit_error *why);
/* Refuses a model without classes, which has no answers. */
vit_status model_needs_head(const vit_model *model, const char *path, vit_error *why);
/* The class's label, or its number written into `number` where the model has none. */
const char *class_label(char number[24], const vit_model *model, size_t index);

/* Reads 8-bit pixels with the channels that the file has. The caller frees `bytes`. */
vit_status read_png(vit_pixels *pixels, uint8_t **bytes, const char *path, vit_error *why);
/* Writes pixels of three channels, whole or not at all, as write_file does. */
vit_status write_png(const char *path, const vit_pixels *pixels, vit_error *why);

/* A picture of where the model looks. */
struct overlay {
    const char *out;  /* the PNG to write; NULL: none is asked for */
    bool rollout;     /* through all layers; else the class token's row in the last layer */
    uint8_t *layers;  /* mask (L): what vit_run must keep */
    float *attention; /* (l,h,T,T) */
};

/* Makes room for the attention that vit_run must keep. Call overlay_end also after a failure. */
vit_status overlay_begin(struct overlay *overlay, const vit_model *model, vit_error *why);
/* image (C,H,W): what was run. */
vit_status overlay_write(const struct overlay *overlay, const vit_config *config,
                         const float *image, vit_error *why);
void overlay_end(struct overlay *overlay);

/* A number to write into a model's config. */
struct config_number {
    const char *key;
    double value;
};

/* The bytes of a good model file → those with these keys in `__metadata__.vitrine`, in place of
 * what it said of them before; nothing else changes. The caller frees *out. */
vit_status model_set_numbers(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
                             const struct config_number *numbers, size_t count, vit_error *why);

/* From now on the first SIGINT or SIGTERM only makes interrupted() true; a second one ends the
 * process. */
void interrupts_catch(void);
bool interrupted(void);

/* ---- Progress of training ----------------------------------------------- */

/* A bar that is drawn anew on a terminal; elsewhere a line every half minute, for logs. */
struct progress {
    FILE *out;
    bool terminal;
    size_t epoch;
    double told; /* when, in seconds of this epoch */
};

struct progress progress_open(FILE *out);
void progress_tell(struct progress *progress, const struct train_progress *now);
void progress_clear(struct progress *progress);

/* The log of vit train at `path` → its curves, an SVG file. */
vit_status plot_log(const char *path, const char *out, vit_error *why);

#endif
