/* vit classify: PNG files become labels, by the same steps as on the page. */
#include "base/error.h"
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

static vit_status prepare(float *image, const vit_pixels *pixels, const vit_config *config,
                          const char *path, vit_error *why) {
    size_t need = vit_prepare_size(config, pixels->rows, pixels->columns, pixels->channels);
    void *scratch = need ? malloc(need) : NULL; /* a refused image needs none */
    if (need && !scratch) return vit_fail(why, VIT_NO_MEMORY, "%s: no memory to prepare it", path);
    vit_error inner = {""};
    vit_status status = vit_prepare_image(image, scratch, pixels, config, &inner);
    free(scratch);
    return status ? vit_fail(why, status, "%s: %s", path, inner.text) : VIT_OK;
}

/* The logits become probabilities. */
static void print_best(const char *path, const vit_model *model, float *logits) {
    const vit_config *config = vit_model_config(model);
    size_t best = largest_logit(logits, config->classes);
    char number[24];
    vit_probabilities(logits, logits, config->classes, config->temperature);
    show(stdout, path);
    printf("\t");
    show(stdout, class_label(number, model, best));
    printf("\t%.4f%s\n", (double)logits[best],
           logits[best] < config->uncertain_below ? "\tuncertain" : "");
}

/* A model with room to run one image. */
struct runner {
    const vit_model *model;
    vit_state *state;
    float *image, *logits;
};

static vit_status classify_file(const struct runner *runner, const char *path, vit_error *why) {
    const vit_config *config = vit_model_config(runner->model);
    vit_pixels pixels;
    uint8_t *bytes;
    vit_status status = read_png(&pixels, &bytes, path, why);
    if (!status) status = prepare(runner->image, &pixels, config, path, why);
    free(bytes);
    if (status) return status;
    status = vit_run(runner->model, runner->state, runner->image, 1, runner->logits, NULL);
    if (status) return vit_fail(why, status, "%s: %s", path, vit_status_name(status));
    print_best(path, runner->model, runner->logits);
    return VIT_OK;
}

static int classify_all(const vit_model *model, char **paths, int count) {
    const vit_config *config = vit_model_config(model);
    size_t pixels = config->channels * config->image_size[0] * config->image_size[1];
    size_t need = vit_state_size(model, 1, NULL);
    void *memory = malloc(need);
    float *image = malloc((pixels + config->classes) * sizeof *image);
    struct runner runner = {model, NULL, image, image + pixels};
    vit_error why = {"no memory to run this model"};
    int code = EXIT_FINE;
    if (memory && image && !vit_state_init(&runner.state, memory, need, model, 1, NULL)) {
        for (int i = 0; i < count; i++)
            if (classify_file(&runner, paths[i], &why)) code = fail(&why);
    } else {
        code = fail(&why);
    }
    free(image);
    free(memory);
    return code;
}

int command_classify(int argc, char **argv) {
    const char *path = NULL;
    const struct option options[] = {
        {"--model", OPTION_TEXT, &path, true, "MODEL", "safetensors"},
    };
    const struct usage usage = {"classify",
                                "print file, label and probability for PNG images, and `uncertain` "
                                "where the probability is too low to rely on",
                                "IMAGE.png …", options, sizeof options / sizeof *options};
    int count, code;
    if (!options_read(&usage, argc, argv, &count, &code)) return code;
    vit_model *model;
    vit_error why = {""};
    vit_status status = model_read(&model, path, &why);
    if (!status) status = model_needs_head(model, path, &why);
    code = status ? fail(&why) : classify_all(model, argv, count);
    vit_close(model);
    return code;
}
