/* A libFuzzer target: any bytes as a model file; what opens also runs.
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/open_fuzz.c <core> -lm
 *     ./a.out -max_len=65536 corpus/ tests/golden/ */
#include <stdlib.h>

#include "vit.h"

enum { LARGEST = 1 << 26 }; /* bytes: a larger image or state only slows the search */

static void run(const vit_model *model) {
    const vit_config *c = vit_model_config(model);
    size_t pixels = c->channels * c->image_size[0] * c->image_size[1];
    size_t size = vit_state_size(model, 1, NULL);
    if (size == 0 || size > LARGEST || pixels > LARGEST / sizeof(float)) return;
    void *memory = malloc(size);
    float *image = calloc(pixels, sizeof *image), *logits = calloc(c->classes, sizeof *logits);
    vit_state *state;
    if (memory && image && logits && vit_state_init(&state, memory, size, model, 1, NULL) == VIT_OK)
        vit_run(model, state, image, 1, logits, NULL);
    free(memory);
    free(image);
    free(logits);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    vit_model *model;
    vit_error why;
    if (vit_open(&model, bytes, size, NULL, &why) != VIT_OK) return 0;
    run(model);
    vit_close(model);
    return 0;
}
