/* A data set in memory. */
#include "train.h"

#include <stdlib.h>

void data_close(struct data_set *data) {
    free(data->images);
    free(data->labels);
    *data = (struct data_set){0};
}

void data_image(float *image, const struct data_set *data, size_t index) {
    size_t n = data->rows * data->columns;
    const uint8_t *source = data->images + index * n;
    for (size_t i = 0; i < n; i++) image[i] = (float)source[i] / 255;
}

void data_standardise(float *image, size_t n, const vit_config *config) {
    if (config->prepare != VIT_PREPARE_PHOTO) return;
    for (size_t i = 0; i < n; i++)
        image[i] = (image[i] - config->photo.mean[0]) / config->photo.std[0];
}
