/* Data sets: images and their labels. */
#ifndef VIT_DATA_H
#define VIT_DATA_H

#include "strokes.h"
#include "vit.h"

struct data_set {
    uint8_t *images; /* (count, channels, rows, columns); of drawings 0 paper … 255 ink */
    uint8_t *labels; /* (count), of a model with doubt also NO_CLASS */
    size_t count, channels, rows, columns;
    /* The tokens of a text. Then labels (count, text_tokens) are the texts that a decoder writes: the
     * token that each begins with, and so on; paddings after its end. 0: labels are classes. */
    size_t text_tokens;
};

void data_close(struct data_set *data);
/* How many numbers an image has. */
size_t data_values(const struct data_set *data);
/* Bytes of all labels. */
size_t data_label_bytes(const struct data_set *data);
/* Image `index` as floats in 0..1. */
void data_image(float *image, const struct data_set *data, size_t index);
/* Standardises images of `n` values in 0..1 together, each channel as a photo model's `prepare`
 * does. Other models' values stay. */
void data_standardise(float *images, size_t n, const vit_config *config);

/* Which drawings, and how they are drawn. */
struct drawing_options {
    unsigned writers;
    double points; /* the share of each drawing's points that is drawn, the first ones; 1: all */
    double habits; /* the share (0..1) of the chances in habits.c by which a drawing changes, in the
                      same way each time; 0: none does */
    float unfinished_ink; /* the model's, for drawings that lack points; above 0 */
    bool others;          /* those of no class too */
};

/* These drawings, drawn with the page's pen and prepared as the page does. */
vit_status drawings_data(struct data_set *data, const struct drawings *drawings,
                         struct drawing_options which, size_t rows, size_t columns, vit_error *why);

#endif
