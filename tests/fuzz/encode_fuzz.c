/* A model that opens can be encoded and opens again. As floats it gives the same logits; in int8
 * every table gives about the same. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "save.h"

/* The encoded file on the heap. Also checks that a buffer one byte too small is not overrun. */
static uint8_t *encode(size_t *size, vit_model *model, bool int8, struct tape *t) {
    size_t json_size, count;
    const char *json = vit_model_json(model, &json_size);
    const float *parameters = vit_parameters(model, &count);
    size_t (*function)(uint8_t *, size_t, const vit_model *, const float *, const char *, size_t) =
        int8 ? vit_encode_int8 : vit_encode;
    *size = function(NULL, 0, model, parameters, json, json_size);
    if (*size == 0) return NULL;
    size_t less = tape_bool(t) ? *size - 1 : tape_below(t, *size);
    uint8_t *bytes = malloc(less + 1);
    size_t need = function(bytes, less, model, parameters, json, json_size);
    EXPECT(need == *size, "%zu bytes needed, got %zu", *size, need);
    free(bytes);
    bytes = malloc(*size);
    function(bytes, *size, model, parameters, json, json_size);
    return bytes;
}

/* Compares two models' logits; NaN equals NaN. bound: a share of the largest logit; 0: to the bit.
 */
static void compare(const vit_model *a, const vit_model *b, float bound, const char *what) {
    const vit_config *c = vit_model_config(a);
    uint64_t seed = 1;
    if (!affordable(a, 1)) return;
    float *image = images_new(c, 1, false, &seed);
    float *x = run_logits(a, image, 1, 1, NULL), *y = run_logits(b, image, 1, 1, NULL), most = 1;
    for (size_t i = 0; i < vit_logits(c); i++) most = fmaxf(most, fabsf(x[i]));
    for (size_t i = 0; i < vit_logits(c); i++) {
        bool same = bound > 0 ? fabsf(x[i] - y[i]) <= bound * most : same_bits(&x[i], &y[i], 1);
        EXPECT(same || isnan(x[i]) || !isfinite(most), "%s: %g, got %g", what, (double)x[i],
               (double)y[i]);
    }
    run_texts(b, image, false, &seed);
    free(x);
    free(y);
    free(image);
}

static vit_model *reopen(const uint8_t *bytes, size_t size, const struct vit_kernels *k) {
    vit_model *model;
    vit_error why = {""};
    vit_status status = vit_open(&model, bytes, size, k, &why);
    EXPECT(status == VIT_OK, "an encoded file does not open: %s", why.text);
    return model;
}

static void check(vit_model *model, const struct vit_kernels *k, bool wild, struct tape *t) {
    size_t size;
    uint8_t *bytes = encode(&size, model, false, t);
    EXPECT(bytes, "a model does not encode as floats");
    vit_model *again = reopen(bytes, size, vit_model_kernels(model));
    expect_same_models(model, again, "encoded and opened");
    compare(model, again, 0, "encoded and opened");
    vit_close(again);
    free(bytes);
    bytes = encode(&size, model, true, t);
    if (!bytes) return;
    vit_model *scalar = reopen(bytes, size, &vit_scalar), *other = reopen(bytes, size, k);
    if (!wild) compare(scalar, other, 0.2f, "in int8 by two tables");
    vit_close(scalar);
    vit_close(other);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    const struct vit_kernels *k = kernels_pick(tape_byte(&tape));
    struct specimen *specimen = specimen_new(&tape, true);
    struct source source = specimen_source(specimen);
    vit_model *model;
    vit_error why = {""};
    size_t count;
    if (open_whole(&model, &source, tape_bool(&tape) ? &vit_scalar : &vit_native, &why) == VIT_OK) {
        if (vit_parameters(model, &count)) check(model, k, specimen->wild, &tape);
        vit_close(model);
    }
    specimen_free(specimen);
    return 0;
}
