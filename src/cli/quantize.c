/* vit quantize: turns a model's stem and blocks into int8, which takes a quarter of the bytes. */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "cli.h"
#include "save.h"
#include "train/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char NOTE[] =
    ",\"quantized\":\"int8 per output row; the figures above are the float32 model's\"}";

/* → the config's JSON with NOTE as its last member. */
static char *with_note(const vit_model *model, size_t *size) {
    const char *json = vit_model_json(model, size);
    while (*size > 0 && json[*size - 1] != '}') --*size;
    --*size;
    char *out = malloc(*size + sizeof NOTE);
    if (!out) return NULL;
    memcpy(out, json, *size);
    memcpy(out + *size, NOTE, sizeof NOTE);
    *size += sizeof NOTE - 1;
    return out;
}

/* → *out (size): the file's bytes, which the caller frees. */
static vit_status encode(uint8_t **out, size_t *size, vit_model *model, vit_error *why) {
    size_t count, json_size;
    const float *parameters = vit_parameters(model, &count);
    char *json = with_note(model, &json_size);
    *out = NULL;
    if (!json) return vit_fail(why, VIT_NO_MEMORY, "no memory to quantize");
    *size = vit_encode_int8(NULL, 0, model, parameters, json, json_size);
    if (*size) *out = malloc(*size);
    if (*out) vit_encode_int8(*out, *size, model, parameters, json, json_size);
    free(json);
    if (*out) return VIT_OK;
    return *size ? vit_fail(why, VIT_NO_MEMORY, "no memory to quantize")
                 : vit_fail(why, VIT_BAD_CONFIG, "mlp_width %z: too wide for int8",
                            vit_model_config(model)->mlp_width);
}

static vit_status quantize(const char *path, const char *out, vit_error *why) {
    vit_model *model;
    struct stat file = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    vit_status status = model_read(&model, path, why);
    if (!status && vit_model_config(model)->int8)
        status = vit_fail(why, VIT_BAD_ARGUMENT,
                          "%s: expected a model of floats, got one that is int8 already", path);
    stat(path, &file); /* before `out` is written, which may be the same file */
    FILE *say = leads_to_stdout(out) ? stderr : stdout;
    if (!status) status = encode(&bytes, &size, model, why);
    if (!status && interrupted())
        status = vit_fail(why, VIT_BAD_ARGUMENT, "interrupted; nothing is written");
    if (!status) status = write_model(out, bytes, size, why);
    if (!status) {
        show(say, out);
        fprintf(say, ": %zu bytes in place of %zu\n", size, (size_t)file.st_size);
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
                                "turn stem and blocks into int8, a scale for each output row", NULL,
                                options, sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_error why = {""};
    interrupts_catch();
    if (!quantize(model, out, &why)) return EXIT_FINE;
    return fail(&why) && interrupted() ? EXIT_INTERRUPTED : EXIT_FAILED;
}
