/* vit classify --overlay: the image as the model saw it, redder where the map is higher. */
#include "base/error.h"
#include "base/sizes.h"
#include "cli.h"
#include "overlay.h"

#include <math.h>
#include <stdlib.h>

enum { LONGER_SIDE = 448 }; /* pixels; a smaller image is enlarged by a whole factor */

static const float RED[3] = {0.86f, 0.16f, 0.16f};
static const float STRENGTH = 0.75f; /* the share of red where the map is highest */

vit_status overlay_begin(struct overlay *overlay, const vit_model *model, vit_error *why) {
    const vit_config *c = vit_model_config(model);
    if (c->depth == 0)
        return vit_fail(
            why, VIT_BAD_ARGUMENT,
            "--overlay: expected a model with blocks, because only they attend; got none");
    size_t T = vit_tokens(c), layers = overlay->rollout ? c->depth : 1;
    size_t size = size_times(size_times(layers * c->heads, size_times(T, T)), sizeof(float));
    overlay->layers = calloc(c->depth, 1);
    overlay->attention = size < SIZE_TOO_LARGE ? malloc(size) : NULL;
    if (!overlay->layers || !overlay->attention)
        return vit_fail(why, VIT_NO_MEMORY, "no memory for the attention of %z layers", layers);
    for (size_t layer = c->depth - layers; layer < c->depth; layer++) overlay->layers[layer] = 1;
    return VIT_OK;
}

void overlay_end(struct overlay *overlay) {
    free(overlay->layers);
    free(overlay->attention);
}

/* → map (N), which must be 0 before. scratch (3,T). Without a prefix there is no class token: the
 * map is the mean of all patches' rows. */
static void make_map(float *map, float *scratch, const struct overlay *overlay,
                     const vit_config *c) {
    size_t N = vit_patches(c), T = vit_tokens(c), prefix = vit_prefix(c), rows = prefix ? 1 : T;
    if (overlay->rollout) {
        vit_overlay_rollout(map, scratch, overlay->attention, c->depth, c->heads, T, prefix,
                            c->residual, 0, VIT_FUSE_MEAN);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        vit_overlay_row(scratch, overlay->attention, c->heads, T, prefix, VIT_MEAN_OF_HEADS, i);
        for (size_t j = 0; j < N; j++) map[j] += scratch[j] / (float)rows;
    }
}

/* The least of map (N) becomes 0 and the greatest 1. Equal values and NaN become 0. */
static void stretch(float *map, size_t N) {
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < N; i++) low = fminf(low, map[i]), high = fmaxf(high, map[i]);
    for (size_t i = 0; i < N; i++)
        map[i] = high > low ? fmaxf(0, (map[i] - low) / (high - low)) : 0;
}

/* → the red, green or blue of a pixel, from 0 to 1: undoes the last step of `prepare`. An image
 * (C,H,W) of fewer than three channels is grey. */
static float light(const float *image, const vit_config *c, size_t pixel, size_t colour) {
    size_t channel = c->channels < 3 ? 0 : colour;
    float value = image[channel * c->image_size[0] * c->image_size[1] + pixel];
    if (c->prepare == VIT_PREPARE_DIGIT) value = 1 - value; /* ink is dark */
    if (c->prepare == VIT_PREPARE_PHOTO)
        value = value * c->photo.std[channel] + c->photo.mean[channel];
    return fminf(fmaxf(value, 0), 1);
}

/* → rgb (H·factor,W·factor,3). */
static void paint(uint8_t *rgb, const float *map, const float *image, const vit_config *c,
                  size_t factor) {
    size_t W = c->image_size[1], patches = W / c->patch_size[1];
    for (size_t y = 0; y < c->image_size[0] * factor; y++)
        for (size_t x = 0; x < W * factor; x++) {
            size_t row = y / factor, column = x / factor;
            size_t patch = row / c->patch_size[0] * patches + column / c->patch_size[1];
            for (size_t i = 0; i < 3; i++) {
                float from = light(image, c, row * W + column, i);
                float to = from + STRENGTH * map[patch] * (RED[i] - from);
                *rgb++ = (uint8_t)(255 * to + 0.5f);
            }
        }
}

vit_status overlay_write(const struct overlay *overlay, const vit_config *c, const float *image,
                         vit_error *why) {
    size_t rows = c->image_size[0], columns = c->image_size[1];
    size_t side = rows > columns ? rows : columns, N = vit_patches(c);
    size_t factor = side < LONGER_SIDE ? LONGER_SIDE / side : 1;
    float *map = calloc(N + 3 * vit_tokens(c), sizeof *map);
    vit_pixels picture = {NULL, rows * factor, columns * factor, 3};
    uint8_t *rgb = malloc(picture.rows * picture.columns * 3);
    vit_status status = map && rgb ? VIT_OK : vit_fail(why, VIT_NO_MEMORY, "no memory to paint");
    if (!status) {
        make_map(map, map + N, overlay, c);
        stretch(map, N);
        paint(rgb, map, image, c, factor);
        picture.data = rgb;
        status = write_png(overlay->out, &picture, why);
    }
    free(rgb);
    free(map);
    return status;
}
