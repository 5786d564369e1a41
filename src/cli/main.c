/* vit: trains, measures and runs Vision Transformers on the command line. */
#include "../kernels/kernels.h"
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} COMMANDS[] = {
    {"train", "train a model from a recipe", command_train},
    {"eval", "measure a model's accuracy on a data set", command_eval},
    {"classify", "classify PNG images", command_classify},
    {"info", "print a model's config, parameters and tensors", command_info},
    {"quantize", "turn a model's stem and blocks into int8", command_quantize},
    {"calibrate", "make a model's probabilities honest", command_calibrate},
    {"bench", "measure the kernels and a whole model", command_bench},
};

enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static void print_commands(FILE *out) {
    fprintf(out, "usage: vit COMMAND …; vit COMMAND --help tells more\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
}

int fail(const vit_error *why) {
    fprintf(stderr, "vit: %s\n", why->text);
    return EXIT_FAILED;
}

vit_status model_read_with_bytes(vit_model **model, uint8_t **bytes, size_t *size, const char *path,
                                 const struct vit_kernels *kernels, vit_error *why) {
    vit_error inner = {""};
    *model = NULL;
    vit_status status = read_file(bytes, size, path, why);
    if (status) return status;
    status = vit_open(model, *bytes, *size, kernels, &inner);
    if (status) snprintf(why->text, sizeof why->text, "%.80s: %.150s", path, inner.text);
    return status;
}

vit_status model_read(vit_model **model, const char *path, vit_error *why) {
    uint8_t *bytes;
    size_t size;
    vit_status status = model_read_with_bytes(model, &bytes, &size, path, &vit_native, why);
    free(bytes);
    return status;
}

const char *class_label(char number[24], const vit_model *model, size_t index) {
    const char *label = vit_model_label(model, index);
    if (!label) snprintf(number, 24, "%zu", index);
    return label ? label : number;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_commands(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_commands(stdout);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], COMMANDS[i].name)) {
            int code = COMMANDS[i].run(argc - 2, argv + 2);
            if (!fflush(stdout) && !ferror(stdout)) return code;
            fprintf(stderr, "vit: the output could not be written\n");
            return code ? code : EXIT_FAILED;
        }
    fprintf(stderr, "vit: unknown command %s\n", argv[1]);
    print_commands(stderr);
    return EXIT_USAGE;
}
