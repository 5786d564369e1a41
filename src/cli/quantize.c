/* vit quantize: turns a model's stem and blocks into int8, which takes a quarter of the bytes. */
#define _POSIX_C_SOURCE 200809L
#include "train/quantize.h"
#include "base/error.h"
#include "cli.h"
#include "train/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static vit_status run(const char *path, const char *out, vit_error *why) {
    vit_model *model;
    struct stat file = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    vit_error inner = {""};
    vit_status status = model_read(&model, path, why);
    stat(path, &file); /* before `out` is written, which may be the same file */
    FILE *say = leads_to_stdout(out) ? stderr : stdout;
    if (!status && quantize(&bytes, &size, model, &inner))
        status = vit_fail(why, VIT_BAD_ARGUMENT, "%s: %s", path, inner.text);
    if (!status && interrupted())
        status = vit_fail(why, VIT_BAD_ARGUMENT, "interrupted; nothing was written");
    if (!status) status = write_model(out, bytes, size, why);
    if (!status) {
        show(say, out);
        fprintf(say, ": %zu bytes instead of %zu\n", size, (size_t)file.st_size);
    }
    free(bytes);
    vit_close(model);
    return status;
}

int command_quantize(int argc, char **argv) {
    const char *model = NULL, *out = NULL;
    const struct option options[] = {
        {"--model", OPTION_TEXT, &model, true, "MODEL", "safetensors of floats"},
        {"--out", OPTION_TEXT, &out, true, "MODEL", "safetensors to write"},
    };
    const struct usage usage = {"quantize",
                                "turn stem and blocks into int8, with a scale for each output row",
                                NULL, options, sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_error why = {""};
    interrupts_catch();
    if (!run(model, out, &why)) return EXIT_FINE;
    return fail(&why) && interrupted() ? EXIT_INTERRUPTED : EXIT_FAILED;
}
