#include "quantize.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "save.h"

static const char NOTE[] =
    ",\"quantized\":\"int8 per output row; the figures above are the float32 model's\"}";

/* → the config's JSON with NOTE as its last member. */
static char *with_note(const vit_model *model, size_t *size) {
    const char *json = vit_model_json(model, size);
    while (*size > 0 && json[*size - 1] != '}') --*size;
    --*size;
    char *out = malloc(*size + sizeof NOTE);
    if (!out) return NULL;
    memcpy(out, json, *size);
    memcpy(out + *size, NOTE, sizeof NOTE);
    *size += sizeof NOTE - 1;
    return out;
}

vit_status quantize(uint8_t **out, size_t *size, vit_model *model, vit_error *why) {
    size_t count, json_size;
    *out = NULL;
    if (vit_model_config(model)->int8)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "expected a model of floats, got one that is int8 already");
    const float *parameters = vit_parameters(model, &count);
    char *json = with_note(model, &json_size);
    if (!json) return vit_fail(why, VIT_NO_MEMORY, "no memory to quantize");
    *size = vit_encode_int8(NULL, 0, model, parameters, json, json_size);
    if (*size) *out = malloc(*size);
    if (*out) vit_encode_int8(*out, *size, model, parameters, json, json_size);
    free(json);
    if (*out) return VIT_OK;
    return *size ? vit_fail(why, VIT_NO_MEMORY, "no memory to quantize")
                 : vit_fail(why, VIT_BAD_CONFIG, "mlp_width %z: too wide for int8",
                            vit_model_config(model)->mlp_width);
}
