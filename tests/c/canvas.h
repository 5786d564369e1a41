/* Pixels that become a digit: a canvas to draw on, its preparation with exactly the scratch memory
 * that is asked for, and the shape of the resulting digit. */
#ifndef CANVAS_H
#define CANVAS_H

#include "check.h"
#include "draw.h"

enum { SIDE = 28, AREA = SIDE * SIDE };

static const vit_config DIGIT = {
    .image_size = {SIDE, SIDE}, .channels = 1, .prepare = VIT_PREPARE_DIGIT};

/* A canvas of one channel, blank at first. */
struct canvas {
    uint8_t *data;
    size_t rows, columns;
};

static inline struct canvas canvas(size_t rows, size_t columns, uint8_t paper) {
    struct canvas made = {malloc(rows * columns), rows, columns};
    memset(made.data, paper, rows * columns);
    return made;
}

/* Prepares with exactly the scratch memory that was asked for. */
static inline vit_status prepare(float *image, const uint8_t *data, size_t rows, size_t columns,
                                 size_t channels) {
    size_t size = vit_prepare_size(&DIGIT, rows, columns, channels);
    void *scratch = malloc(size + (size == 0));
    vit_pixels pixels = {data, rows, columns, channels};
    vit_error why = {""};
    vit_status status = vit_prepare_image(image, scratch, &pixels, &DIGIT, &why);
    CHECK((status == VIT_OK) == (why.text[0] == '\0'), "%s: '%s'", vit_status_name(status),
          why.text);
    free(scratch);
    return status;
}

static inline vit_status prepare_canvas(float *image, struct canvas from) {
    vit_status status = prepare(image, from.data, from.rows, from.columns, 1);
    free(from.data);
    return status;
}

static inline double mean_difference(const float *a, const float *b) {
    double sum = 0;
    for (size_t i = 0; i < AREA; i++) sum += fabs((double)a[i] - b[i]);
    return sum / AREA;
}

struct shape {
    size_t rows, columns;
    double row, column; /* the centre of mass */
};

static inline struct shape shape_of(const float *image, size_t rows, size_t columns) {
    size_t top = rows, bottom = 0, left = columns, right = 0;
    double mass = 0, down = 0, across = 0;
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++) {
            double ink = image[y * columns + x];
            if (ink == 0) continue;
            if (y < top) top = y;
            if (y >= bottom) bottom = y + 1;
            if (x < left) left = x;
            if (x >= right) right = x + 1;
            mass += ink, down += ink * (double)y, across += ink * (double)x;
        }
    return (struct shape){bottom - top, right - left, down / mass, across / mass};
}

#endif
