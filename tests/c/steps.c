/* steps RECIPE IMAGES LABELS NUDGE MODEL: trains natively by the scalar table, for
 * tests/node/trainer-native.test.mjs.
 *
 * RECIPE: JSON; its epochs are all taken. IMAGES: bytes (examples,C,H,W). LABELS: bytes (examples);
 * of a decoder's texts (examples,tokens).
 * NUDGE: each parameter changes at first by a random factor, up to so many FLT_EPSILON from 1.
 * MODEL: safetensors to write. Prints the last epoch's loss. */
#include "../../src/base/error.h"
#include "../../src/kernels/kernels.h"
#include "../../src/train/checkpoint.h"
#include "../../src/train/data.h"
#include "../../src/train/files.h"
#include "../../src/train/job.h"
#include "../../src/train/recipe.h"
#include "../../src/train/trainer.h"
#include "base/rng.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 24 }; /* bytes of a file */

static void must(vit_status status, const vit_error *why) {
    if (!status) return;
    fprintf(stderr, "steps: %s\n", why->text);
    exit(EXIT_FAILURE);
}

/* The caller frees the bytes. */
static uint8_t *bytes_of(const char *path, size_t *size) {
    uint8_t *bytes = NULL;
    vit_error why = {""};
    must(read_file(&bytes, size, path, MOST, &why), &why);
    return bytes;
}

static void nudge(struct checkpoint *state, uint64_t most) {
    struct rng rng = rng_stream(1, RNG_INIT, 0, 0);
    for (size_t i = 0; i < state->count; i++)
        state->arrays[PARAMETERS][i] *=
            1 + ((float)rng_below(&rng, 2 * most + 1) - (float)most) * FLT_EPSILON;
    memcpy(state->arrays[AVERAGE], state->arrays[PARAMETERS], state->count * sizeof(float));
}

static void train(struct trainer *trainer) {
    vit_error why = {""};
    while (!trainer_finished(trainer)) {
        while (!trainer_at_end_of_epoch(trainer)) must(trainer_step(trainer, &why), &why);
        must(trainer_end_epoch(trainer, &why), &why);
    }
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: steps RECIPE IMAGES LABELS NUDGE MODEL\n");
        return EXIT_FAILURE;
    }
    vit_error why = {""};
    size_t json_size, images_size, labels_size, size;
    struct recipe recipe;
    uint8_t *json = bytes_of(argv[1], &json_size);
    must(recipe_read(&recipe, (const char *)json, json_size, &why), &why);
    const vit_config *c = &recipe.config;
    struct data_set data = {
        .channels = c->channels, .rows = c->image_size[0], .columns = c->image_size[1]};
    data.images = bytes_of(argv[2], &images_size);
    data.labels = bytes_of(argv[3], &labels_size);
    data.count = images_size / data_values(&data);
    if (c->decoder.depth) data.text_tokens = labels_size / data.count;
    if (images_size != data.count * data_values(&data) || labels_size != data_label_bytes(&data))
        must(vit_fail(&why, VIT_BAD_ARGUMENT, "%s: %z bytes are not the labels of %z images",
                      argv[3], labels_size, data.count),
             &why);
    struct trainer *trainer;
    struct train_job job = {.recipe = &recipe, .data = &data, .kernels = &vit_scalar};
    must(trainer_open(&trainer, &job, NULL, &why), &why);
    nudge(trainer_state(trainer), strtoul(argv[4], NULL, 10));
    train(trainer);
    printf("%.17g\n", trainer_state(trainer)->records[recipe.epochs - 1].train_loss);
    uint8_t *model = trainer_model(trainer, -1, &size);
    if (!model) must(vit_fail(&why, VIT_NO_MEMORY, "no memory for the model"), &why);
    must(write_model(argv[5], model, size, &why), &why);
    free(model);
    trainer_close(trainer);
    data_close(&data);
    recipe_close(&recipe);
    free(json);
    return EXIT_SUCCESS;
}
