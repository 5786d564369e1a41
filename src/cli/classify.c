/* vit classify: PNG files become labels, by the same steps as on the page. */
#include "../error.h"
#include "cli.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads 8-bit pixels with the channels that the file has. The caller frees `bytes`. */
static vit_status read_png(vit_pixels *pixels, uint8_t **bytes, const char *path, vit_error *why) {
    static const size_t LARGEST = (size_t)1 << 28; /* bytes of pixels */
    png_image png = {.version = PNG_IMAGE_VERSION};
    *bytes = NULL;
    if (!png_image_begin_read_from_file(&png, path))
        return vit_fail(why, VIT_BAD_IMAGE, "%s: not a readable PNG: %s", path, png.message);
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are no reason to think them linear */
    png.format &= PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR;
    size_t channels = PNG_IMAGE_PIXEL_CHANNELS(png.format);
    size_t size[] = {png.height, png.width, channels};
    bool fits = png.width <= LARGEST / channels / png.height;
    if (fits) *bytes = malloc(PNG_IMAGE_SIZE(png));
    if (!*bytes) {
        png_image_free(&png);
        return vit_fail(why, VIT_BAD_IMAGE, "%s: an image of %d is too large", path, size,
                        (size_t)3);
    }
    if (!png_image_finish_read(&png, NULL, *bytes, 0, NULL)) {
        free(*bytes);
        *bytes = NULL;
        return vit_fail(why, VIT_BAD_IMAGE, "%s: a damaged PNG: %s", path, png.message);
    }
    *pixels = (vit_pixels){*bytes, png.height, png.width, channels};
    return VIT_OK;
}

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
    printf("%s\t%s\t%.4f%s\n", path, class_label(number, model, best), (double)logits[best],
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
    if (model_read(&model, path, &why)) return fail(&why);
    code = classify_all(model, argv, count);
    vit_close(model);
    return code;
}
