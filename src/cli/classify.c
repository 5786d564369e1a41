/* vit classify: PNG files become labels, by the same steps as on the page. */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "cli.h"
#include "train/evaluate.h"
#include "train/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static vit_status prepare(float *image, const vit_pixels *pixels, const vit_config *config,
                          const char *path, vit_error *why) {
    size_t need = vit_prepare_size(config, pixels->rows, pixels->columns, pixels->channels);
    void *scratch = need ? malloc(need) : NULL; /* 0: vit_prepare_image refuses the image */
    if (need && !scratch)
        return vit_fail(why, VIT_NO_MEMORY, "%s: no memory to prepare this image", path);
    vit_error inner = {""};
    vit_status status = vit_prepare_image(image, scratch, pixels, config, &inner);
    free(scratch);
    return status ? vit_fail(why, status, "%s: %s", path, inner.text) : VIT_OK;
}

/* Turns the logits into answers, in place. */
static void print_best(FILE *out, const char *path, const vit_model *model, float *logits) {
    const vit_config *config = vit_model_config(model);
    size_t best = largest_logit(logits, config->classes);
    char number[24];
    vit_answers(logits, logits, config);
    show(out, path);
    fprintf(out, "\t");
    show(out, class_label(number, model, best));
    bool unsure = config->problem_type != VIT_REGRESSION && logits[best] < config->uncertain_below;
    fprintf(out, "\t%.4f%s\n", (double)logits[best], unsure ? "\tuncertain" : "");
}

/* A model with room to run one image. */
struct runner {
    const vit_model *model;
    vit_state *state;
    float *image, *logits;
    const struct overlay *overlay;
};

static vit_status classify_file(const struct runner *runner, const char *path, vit_error *why) {
    const vit_config *config = vit_model_config(runner->model);
    const struct overlay *overlay = runner->overlay;
    const vit_taps taps = {.attention = overlay->attention, .attention_layers = overlay->layers};
    vit_pixels pixels;
    uint8_t *bytes;
    vit_status status = read_png(&pixels, &bytes, path, why);
    if (!status) status = prepare(runner->image, &pixels, config, path, why);
    free(bytes);
    if (status) return status;
    status = vit_run(runner->model, runner->state, runner->image, 1, runner->logits, &taps);
    if (status) return vit_fail(why, status, "%s: %s", path, vit_status_name(status));
    bool piped = overlay->out && leads_to_stdout(overlay->out);
    if (overlay->out) status = overlay_write(overlay, config, runner->image, why);
    if (!status) print_best(piped ? stderr : stdout, path, runner->model, runner->logits);
    return status;
}

static int classify_all(const vit_model *model, struct overlay *overlay, char **paths, int count) {
    const vit_config *config = vit_model_config(model);
    size_t pixels = config->channels * config->image_size[0] * config->image_size[1];
    size_t need = vit_state_size(model, 1, NULL);
    void *memory = malloc(need);
    float *image = malloc((pixels + config->classes) * sizeof *image);
    struct runner runner = {model, NULL, image, image + pixels, overlay};
    vit_error why = {"no memory to run this model"};
    int code = EXIT_FINE;
    if (memory && image && !vit_state_init(&runner.state, memory, need, model, 1, NULL) &&
        !(overlay->out && overlay_begin(overlay, model, &why))) {
        for (int i = 0; i < count; i++)
            if (classify_file(&runner, paths[i], &why)) code = fail(&why);
    } else {
        code = fail(&why);
    }
    overlay_end(overlay);
    free(image);
    free(memory);
    return code;
}

/* Refuses --overlay and --map where they do not fit each other or the images. */
static vit_status check_overlay(struct overlay *overlay, const char *map, char **images, int count,
                                vit_error *why) {
    struct stat out, image;
    if (map && !overlay->out)
        return vit_fail(why, VIT_BAD_ARGUMENT, "--map: expected --overlay OUT.png beside it");
    if (map && strcmp(map, "class") && strcmp(map, "rollout"))
        return vit_fail(why, VIT_BAD_ARGUMENT, "--map: expected class or rollout, got %s", map);
    overlay->rollout = map && !strcmp(map, "rollout");
    if (!overlay->out) return VIT_OK;
    if (count > 1)
        return vit_fail(why, VIT_BAD_ARGUMENT, "--overlay: expected one image, got %z",
                        (size_t)count);
    if (!stat(overlay->out, &out) && !stat(images[0], &image) && out.st_dev == image.st_dev &&
        out.st_ino == image.st_ino)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "--overlay: expected another file than the image, got %s", overlay->out);
    return VIT_OK;
}

int command_classify(int argc, char **argv) {
    const char *path = NULL, *map = NULL;
    struct overlay overlay = {0};
    const struct option options[] = {
        {"--model", OPTION_TEXT, &path, true, "MODEL", "safetensors"},
        {"--overlay", OPTION_TEXT, &overlay.out, false, "PNG",
         "write the one image as the model saw it, red where it looks"},
        {"--map", OPTION_TEXT, &map, false, "MAP",
         "class, the default: what the last layer attends to; rollout: through all layers"},
    };
    const struct usage usage = {
        "classify",
        "print file, label and probability (a regression's value) of PNG images, and `uncertain` "
        "if the probability is too low to rely on",
        "IMAGE.png …", options, sizeof options / sizeof *options};
    int count, code;
    if (!options_read(&usage, argc, argv, &count, &code)) return code;
    vit_error why = {""};
    if (check_overlay(&overlay, map, argv, count, &why)) return fail(&why), EXIT_USAGE;
    vit_model *model;
    vit_status status = model_read(&model, path, &why);
    if (!status) status = model_needs_head(model, path, &why);
    code = status ? fail(&why) : classify_all(model, &overlay, argv, count);
    vit_close(model);
    return code;
}
