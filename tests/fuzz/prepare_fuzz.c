/* Pixels and strokes of any sizes and numbers. They are prepared in memory of exactly the size that
 * is asked for, or refused with a message. */
#include <math.h>
#include <stdlib.h>

#include "draw.h"
#include "harness.h"

enum { PIXELS_MOST = 1 << 18, IMAGE_MOST = 1 << 20 };

static size_t draw_side(struct tape *t) {
    static const size_t SIDES[] = {0,          1,          2,        3,     27,    28,
                                   29,         300,        4097,     16384, 16385, 65535,
                                   0x7fffffff, 0x80000001, SIZE_MAX, 1000};
    return tape_chance(t, 4) ? SIDES[tape_below(t, 16)] : 1 + tape_below(t, 60);
}

/* The pixels, in a heap block of exactly their size; NULL if they are too many to try. */
static uint8_t *draw_pixels(vit_pixels *pixels, struct tape *t) {
    pixels->rows = draw_side(t), pixels->columns = draw_side(t);
    pixels->channels = tape_chance(t, 8) ? tape_byte(t) : 1 + tape_below(t, 4);
    double count = (double)pixels->rows * (double)pixels->columns * (double)pixels->channels;
    if (count > PIXELS_MOST) return NULL;
    size_t n = pixels->rows * pixels->columns * pixels->channels;
    uint8_t *data = malloc(n + (n == 0));
    uint64_t seed = tape_word(t);
    size_t kind = tape_below(t, 4);
    for (size_t i = 0; i < n; i++) /* noise, one grey, a few marks, black and white */
        data[i] = (uint8_t)(kind == 0   ? random_next(&seed)
                            : kind == 1 ? seed
                            : kind == 2 ? 255 * (random_next(&seed) % 50 == 0)
                                        : 255 * (random_next(&seed) & 1));
    pixels->data = data;
    return data;
}

static bool draw_config(vit_config *config, struct tape *t) {
    struct specimen *specimen = calloc(1, sizeof *specimen);
    vit_error why = {""};
    plan_draw(&specimen->plan, t);
    specimen->plan.prepare = tape_below(t, 4);
    if (specimen->plan.prepare == 1 || tape_bool(t)) specimen->plan.channels = 1;
    for (size_t i = tape_below(t, 3); i > 0; i--) mutate_plan(specimen, t);
    specimen->json_size = plan_json(specimen->json, sizeof specimen->json, &specimen->plan);
    for (size_t i = tape_below(t, 3); i > 0; i--) mutate_json(specimen, t);
    vit_status status = vit_config_read(config, specimen->json, specimen->json_size, &why);
    free(specimen);
    config->photo.filter = (vit_filter)tape_below(t, 4);
    config->photo.fit = (vit_fit)tape_below(t, 3);
    config->photo.crop_at = tape_bool(t), config->photo.fills = tape_bool(t);
    if (tape_chance(t, 4))
        config->photo.resize = config->photo.stretch[0] = config->photo.stretch[1] = 0;
    return status == VIT_OK;
}

static void prepare(struct tape *t) {
    vit_config config;
    vit_pixels pixels = {0};
    vit_error why = {""};
    if (!draw_config(&config, t)) return;
    uint8_t *data = draw_pixels(&pixels, t);
    size_t size = vit_prepare_size(&config, pixels.rows, pixels.columns, pixels.channels);
    double floats =
        (double)config.channels * (double)config.image_size[0] * (double)config.image_size[1];
    if (data && floats <= IMAGE_MOST && size <= 1 << 26) {
        size_t n = image_floats(&config);
        void *scratch = malloc(size);
        float *image = malloc(n * sizeof *image);
        vit_status status = vit_prepare_image(image, scratch, &pixels, &config, &why);
        EXPECT(size || status, "vit_prepare_size refused, vit_prepare_image did not");
        EXPECT(!size || !status || status == VIT_BLANK_IMAGE, "only vit_prepare_image refused: %s",
               why.text);
        EXPECT(!status || why.text[0], "a failure without a message");
        free(image);
        free(scratch);
    }
    free(data);
}

static void prepare_digit(struct tape *t) {
    vit_pixels pixels = {0};
    vit_error why = {""};
    size_t rows = 1 + tape_below(t, 60), columns = 1 + tape_below(t, 60);
    vit_config config = {
        .image_size = {rows, columns}, .channels = 1, .prepare = VIT_PREPARE_DIGIT};
    uint8_t *data = draw_pixels(&pixels, t);
    size_t size = vit_prepare_size(&config, pixels.rows, pixels.columns, pixels.channels);
    if (data) {
        void *scratch = malloc(size);
        float *image = malloc(rows * columns * sizeof *image);
        vit_status status = vit_prepare_digit(image, scratch, &pixels, rows, columns, &why);
        EXPECT(!status || why.text[0], "a failure without a message");
        for (size_t i = 0; !status && i < rows * columns; i++)
            EXPECT(image[i] >= 0 && image[i] <= 1, "ink must be in 0…1, got %g", (double)image[i]);
        free(image);
        free(scratch);
    }
    free(data);
}

static float any_float(struct tape *t) {
    static const float EDGES[] = {0,    -0.0f, 1e-45f, -1,     0.5f,
                                  1e9f, -1e9f, 3e38f,  -3e38f, 2147483648.0f};
    switch (tape_below(t, 8)) {
    case 6: return EDGES[tape_below(t, 10)];
    case 7: return tape_float_bits(t);
    default: return (float)tape_below(t, 0x1000) / 64 - 4;
    }
}

static void stroke(struct tape *t) {
    size_t rows = tape_below(t, 60), columns = tape_below(t, 60), count = tape_below(t, 20);
    uint8_t *ink = calloc(rows * columns + (rows * columns == 0), 1);
    vit_point *points = malloc(count * sizeof *points + 1);
    for (size_t i = 0; i < count; i++)
        points[i] = (vit_point){any_float(t), any_float(t), any_float(t)};
    vit_draw_stroke(ink, rows, columns, points, count);
    free(points);
    free(ink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    switch (tape_below(&tape, 3)) {
    case 0: prepare(&tape); break;
    case 1: prepare_digit(&tape); break;
    default: stroke(&tape);
    }
    return 0;
}
