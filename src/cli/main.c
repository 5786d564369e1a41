/* vit: the trainer's tool. It trains and measures Vision Transformers; npx vitrine runs them. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "kernels/kernels.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} COMMANDS[] = {
    {"train", "train a model from a recipe", command_train},
    {"eval", "measure a model's accuracy on a data set", command_eval},
    {"quantize", "turn a model's stem and blocks into int8", command_quantize},
    {"calibrate", "make a model's probabilities honest", command_calibrate},
    {"bench", "measure the kernels, a whole model and a training step", command_bench},
};

enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static void print_commands(FILE *out) {
    fprintf(out, "usage: vit COMMAND …; vit COMMAND --help lists its options\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
}

vit_status model_read(vit_model **model, const char *path, vit_error *why) {
    return model_read_with_bytes(model, NULL, NULL, path, &vit_native, why);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error like a full disk */
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
    fprintf(stderr, "vit: unknown command ");
    show(stderr, argv[1]);
    fprintf(stderr, "\n");
    print_commands(stderr);
    return EXIT_USAGE;
}
