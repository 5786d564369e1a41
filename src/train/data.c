/* A data set in memory. */
#include "data.h"

#include <stdlib.h>

void data_close(struct data_set *data) {
    free(data->images);
    free(data->labels);
    *data = (struct data_set){0};
}

size_t data_values(const struct data_set *data) {
    return data->channels * data->rows * data->columns;
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
