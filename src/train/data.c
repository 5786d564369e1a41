/* A data set in memory. */
#include "data.h"
#include "base/error.h"
#include "base/rng.h"
#include "habits.h"
#include "strokes.h"

#include <stdlib.h>
#include <string.h>

void data_close(struct data_set *data) {
    free(data->images);
    free(data->labels);
    *data = (struct data_set){0};
}

size_t data_values(const struct data_set *data) {
    return data->channels * data->rows * data->columns;
}

size_t data_label_bytes(const struct data_set *data) {
    return data->count * (data->text_tokens ? data->text_tokens : 1);
}

void data_image(float *image, const struct data_set *data, size_t index) {
    size_t n = data_values(data);
    const uint8_t *source = data->images + index * n;
    for (size_t i = 0; i < n; i++) image[i] = (float)source[i] / 255;
}

void data_standardise(float *images, size_t n, const vit_config *config) {
    size_t plane = config->image_size[0] * config->image_size[1];
    if (config->prepare != VIT_PREPARE_PHOTO) return;
    for (size_t first = 0, planes = 0; first < n; first += plane, planes++) {
        size_t c = planes % config->channels;
        float mean = config->photo.mean[c], deviation = config->photo.std[c];
        for (size_t i = first; i < first + plane; i++) images[i] = (images[i] - mean) / deviation;
    }
}

/* The page's pad and pen. The digit has the size that most people draw. */
enum { PAD = 280, HABITS_SEED = 1 };
static const struct pen PAGE_PEN = {.width = 10, .size = 196, .stretch = 1, .x = 140, .y = 140};

static bool matches(const struct drawing *drawing, const struct drawing_options *which) {
    return (which->writers & writers_part(drawing->writer)) &&
           (which->others || drawing->label != NO_CLASS);
}

vit_status drawings_data(struct data_set *data, const struct drawings *drawings,
                         struct drawing_options which, size_t rows, size_t columns,
                         vit_error *why) {
    size_t count = 0, pixels = rows * columns;
    for (size_t i = 0; i < drawings->count; i++) count += matches(&drawings->list[i], &which);
    vit_config digit = {.prepare = VIT_PREPARE_DIGIT,
                        .image_size = {rows, columns},
                        .channels = 1,
                        .unfinished_ink = which.unfinished_ink};
    uint8_t *ink = malloc(PAD * PAD), *scratch = malloc(vit_prepare_size(&digit, PAD, PAD, 1));
    struct sketch sketch;
    bool sketched = sketch_open(&sketch, drawings, HABIT_POINTS, HABIT_STROKES);
    float *image = malloc(pixels * sizeof *image);
    *data = (struct data_set){
        malloc(count * pixels + 1), malloc(count + 1), count, 1, rows, columns, 0};
    vit_status status = VIT_OK;
    if (!ink || !scratch || !sketched || !image || !data->images || !data->labels)
        status = vit_fail(why, VIT_NO_MEMORY, "no memory for the drawings");
    for (size_t i = 0, n = 0; i < drawings->count && !status; i++) {
        if (!matches(&drawings->list[i], &which)) continue;
        memset(ink, 0, PAD * PAD);
        sketch_take(&sketch, drawings, i);
        struct rng rng = rng_stream(HABITS_SEED, RNG_DRAW, 0, i);
        if (which.habits > 0) habits_apply(&sketch, drawings->list[i].label, which.habits, &rng);
        sketch_cut(&sketch, which.points);
        sketch_draw(ink, PAD, PAD, &sketch, &PAGE_PEN);
        status =
            vit_prepare_digit(image, scratch, &(vit_pixels){ink, PAD, PAD, 1}, rows, columns, why);
        if (!status && which.points < 1) vit_prepare_unfinished(image, &digit);
        for (size_t j = 0; j < pixels && !status; j++)
            data->images[n * pixels + j] = (uint8_t)(255 * image[j] + 0.5f);
        data->labels[n++] = drawings->list[i].label;
    }
    free(image);
    sketch_close(&sketch);
    free(scratch);
    free(ink);
    if (status) data_close(data);
    return status;
}
