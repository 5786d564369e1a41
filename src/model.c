/* What a model says of itself. */
#include "model.h"

#include <string.h>

#include "kernels/kernels.h"
#include "params.h"
#include "save.h"
#include "vit.h"

const vit_config *vit_model_config(const vit_model *m) {
    return &m->config;
}
const struct vit_kernels *vit_model_kernels(const vit_model *m) {
    return m->kernels;
}
size_t vit_model_bytes(const vit_model *m) {
    return m->bytes;
}

const char *vit_model_json(const vit_model *m, size_t *size) {
    *size = m->json_size;
    return m->json;
}

const char *vit_model_label(const vit_model *m, size_t index) {
    return m->labels && index < m->config.classes ? m->labels[index] : NULL;
}

float *vit_parameters(vit_model *m, size_t *count) {
    *count = m->float_count;
    return m->kernels->packed || m->config.int8 ? NULL : m->floats;
}

size_t vit_tensor_count(const vit_model *m) {
    return params_count(&m->config, m->kernels);
}

vit_tensor vit_tensor_at(const vit_model *m, size_t index) {
    struct param param = {0};
    vit_tensor out = {0};
    if (!params_at(&m->config, m->kernels, index, &param)) return out;
    memcpy(out.name, param.name, sizeof out.name);
    memcpy(out.shape, param.shape, sizeof out.shape);
    out.kind = param.kind;
    out.rank = param.rank;
    out.offset = param.offset;
    out.count = param.count;
    out.matrix = param.matrices > 0;
    out.int8 = param.int8;
    return out;
}

bool all_finite(const float *x, size_t n) {
    float sum = 0; /* x - x is 0 if x is finite, and NaN if not */
    for (size_t i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0;
}
