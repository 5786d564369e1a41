/* fuzz_mutants SEED COUNT writes COUNT hostile models and this build's results, which
 * wasm-mutants.mjs compares with those of wasm. For each model, in little endian:
 *   u32, bytes    the size of the file, and the file
 *   u32, bytes    the size of the config passed apart, ~0 for none, and the config
 *   u32, bytes    the same of the map
 *   u8            the status
 *   u32, floats   the number of logits, ~0 if the model was not run, and the logits
 * The logits are of an image in which float i is (37·i mod 101 - 50)/50. They are NaN if huge
 * numbers may cancel or the model is not steady; then only the run itself counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "generator.h"
#include "kernels/kernels.h"
#include "steady.h"
#include "vit.h"

enum { TAPE = 300, TOKENS_MOST = 300, BYTES_MOST = 1 << 22, NONE = -1 };

static void put_size(size_t value) {
    uint32_t word = (uint32_t)value;
    fwrite(&word, sizeof word, 1, stdout);
}

static void put_text(const char *text, size_t size) {
    put_size(text ? size : (size_t)NONE);
    if (text) fwrite(text, 1, size, stdout);
}

static float *picture(const vit_config *c) {
    size_t n = c->channels * c->image_size[0] * c->image_size[1];
    float *x = malloc(n * sizeof *x + 1);
    for (size_t i = 0; x && i < n; i++) x[i] = (float)((int)(i * 37 % 101) - 50) / 50;
    return x;
}

static void run(const vit_model *model, bool wild) {
    const vit_config *c = vit_model_config(model);
    size_t size = vit_state_size(model, 1, NULL);
    if (size == 0 || size > BYTES_MOST || vit_tokens(c) > TOKENS_MOST) {
        put_size((size_t)NONE);
        return;
    }
    float *image = picture(c), *logits = image ? logits_of(model, image) : NULL;
    if (!logits) exit(EXIT_FAILURE);
    bool compared = !wild && is_steady(model, image, logits);
    put_size(vit_logits(c));
    for (size_t i = 0; !compared && i < vit_logits(c); i++) logits[i] = NAN;
    fwrite(logits, sizeof *logits, vit_logits(c), stdout);
    free(logits);
    free(image);
}

static void put_mutant(const struct specimen *specimen) {
    vit_model *model;
    vit_error why;
    const char *json = specimen->json_apart ? specimen->json : NULL,
               *map = specimen->mapped ? specimen->map : NULL;
    vit_status status =
        vit_open_with_config(&model, specimen->bytes, specimen->size, json, specimen->json_size,
                             map, specimen->map_size, &vit_scalar, &why);
    put_size(specimen->size);
    fwrite(specimen->bytes, 1, specimen->size, stdout);
    put_text(json, specimen->json_size);
    put_text(map, specimen->map_size);
    fputc(status, stdout);
    if (model)
        run(model, specimen->wild);
    else
        put_size((size_t)NONE);
    vit_close(model);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: fuzz_mutants SEED COUNT\n");
        return EXIT_FAILURE;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10);
    for (size_t left = strtoul(argv[2], NULL, 10); left > 0 && !ferror(stdout); left--) {
        uint8_t bytes[TAPE];
        for (size_t i = 0; i < TAPE; i++) bytes[i] = (uint8_t)random_next(&seed);
        struct tape tape = {bytes, bytes + TAPE};
        struct specimen *specimen = specimen_new(&tape, true);
        put_mutant(specimen);
        specimen_free(specimen);
    }
    return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
