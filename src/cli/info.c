/* vit info: what is in a model file. */
#include "cli.h"
#include "save.h"
#include "train/flops.h"

#include <stdio.h>
#include <string.h>

/* Prints JSON with one member on each line. An array stays on the line of its key. */
static void print_json(const char *text, size_t size) {
    int depth = 0, arrays = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '"') {
            size_t begin = i++;
            for (; i < size && text[i] != '"'; i++) i += text[i] == '\\';
            show_part(stdout, text + begin, i < size ? i + 1 - begin : size - begin);
            continue;
        }
        if (memchr(" \t\r\n", c, 4)) continue;
        arrays += (c == '[') - (c == ']');
        if (c == '{') depth++;
        if (c == '}') printf("\n%*s", 2 * --depth, "");
        putchar(c);
        if (c == ':' || (c == ',' && arrays)) putchar(' ');
        if (c == '{' || (c == ',' && !arrays)) printf("\n%*s", 2 * depth, "");
    }
    printf("\n");
}

/* The scales of an int8 matrix are part of its parameters. */
static bool is_scale(const vit_tensor *tensor) {
    static const char ending[] = ".scale";
    size_t n = strlen(tensor->name), m = strlen(ending);
    return n > m && !strcmp(tensor->name + n - m, ending);
}

static void print_tensors(const vit_model *model) {
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor tensor = vit_tensor_at(model, i);
        char shape[96] = "";
        size_t n = 0;
        for (size_t j = 0; j < tensor.rank; j++)
            n += (size_t)snprintf(shape + n, sizeof shape - n, j ? ",%zu" : "%zu", tensor.shape[j]);
        printf("  %-36s (%s)%*s%zu%s\n", tensor.name, shape, n < 18 ? (int)(18 - n) : 1, "",
               tensor.count, tensor.int8 ? " int8" : "");
    }
}

int command_info(int argc, char **argv) {
    const char *path = NULL;
    const struct option options[] = {
        {"--model", OPTION_TEXT, &path, true, "MODEL", "safetensors"},
    };
    const struct usage usage = {"info", "print a model's config, parameters and tensors", NULL,
                                options, sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_model *model;
    vit_error why = {""};
    if (model_read(&model, path, &why)) return fail(&why);
    const vit_config *config = vit_model_config(model);
    size_t size, parameters = 0, int8 = 0;
    const char *json = vit_model_json(model, &size);
    size_t origin_size;
    const char *origin = vit_model_origin(model, &origin_size);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor tensor = vit_tensor_at(model, i);
        if (!is_scale(&tensor)) parameters += tensor.count;
        if (tensor.int8) int8 += tensor.count;
    }
    print_json(json, size);
    print_json(origin, origin_size);
    printf("tokens: %zu (%zu patches)\n", vit_tokens(config), vit_patches(config));
    printf("flops: %.1f million for an image\n", 1e-6 * forward_flops(config));
    printf("parameters: %zu", parameters);
    printf(int8 ? ", %zu of them int8\n" : "\n", int8);
    printf("tensors: %zu\n", vit_tensor_count(model));
    print_tensors(model);
    vit_close(model);
    return EXIT_FINE;
}
