/* Takes and frees a model's memory: parameters, computed positions, config text and labels. */
#include "create.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/sizes.h"
#include "config.h"
#include "edition.h"
#include "json.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "save.h"
#include "shapes.h"
#include "stages/rotary.h"
#include "stages/tokens.h"
#include "vit.h"

size_t fixed_position_bytes(const vit_config *c) {
    bool fixed = c->position == VIT_SINCOS1D || c->position == VIT_SINCOS2D;
    bool rotary = position_of(c) == VIT_ROTARY && c->rotary_frequencies == VIT_POWERS;
    size_t floats = fixed    ? size_times(c->position_rows, c->width)
                    : rotary ? size_times(vit_patches(c), head_width(c))
                             : 0;
    return size_times(floats, sizeof(float));
}

/* Bytes of the parameters, with room to begin them on a cache line. */
static size_t params_bytes(const vit_config *c, const struct vit_kernels *kernels) {
    return size_plus(size_times(params_floats(c, kernels), sizeof(float)), CACHE_LINE);
}

bool model_fits(const vit_config *c, const struct vit_kernels *kernels) {
    const vit_model m = {.config = *c, .kernels = kernels};
    return params_fit(c, kernels) && params_bytes(c, kernels) < SIZE_TOO_LARGE &&
           fixed_position_bytes(c) < SIZE_TOO_LARGE && vit_state_size(&m, 1, NULL) > 0;
}

bool compute_positions(vit_model *m) {
    const vit_config *c = &m->config;
    size_t table = fixed_position_bytes(c);
    float **computed = position_of(c) == VIT_ROTARY ? &m->rotary : &m->fixed_position;
    if (!table) return true;
    *computed = malloc(table);
    if (m->fixed_position) tokens_sincos(m->fixed_position, c);
    if (position_of(c) == VIT_ROTARY && m->rotary) rotary_table(m->rotary, c);
    return *computed != NULL;
}

static bool lay_out(vit_model *m, const char *json, size_t json_size) {
    const vit_config *c = &m->config;
    size_t blocks = params_blocks_bytes(c);
    size_t bytes = params_bytes(c, m->kernels), table = fixed_position_bytes(c);
    if (!model_fits(c, m->kernels)) return false;
    m->float_count = params_floats(c, m->kernels);
    m->memory = calloc(bytes, 1);
    params_blocks(&m->params, calloc(blocks, 1), c);
    m->json = malloc(size_plus(json_size, 1));
    if (!m->memory || !m->params.blocks || !m->json || !compute_positions(m)) return false;
    m->floats = (float *)(((uintptr_t)m->memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    params_bind(&m->params, m->floats, c, m->kernels);
    memcpy(m->json, json, json_size);
    m->json[json_size] = '\0';
    m->json_size = json_size;
    m->bytes = sizeof *m + bytes + blocks + table + json_size + 1;
    return true;
}

vit_status model_new(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                     const struct vit_kernels *kernels, vit_error *why) {
    vit_model *m = calloc(1, sizeof *m);
    if (m) m->config = *config, m->kernels = kernels;
    if (m && lay_out(m, json, json_size)) {
        *out = m;
        return VIT_OK;
    }
    vit_close(m);
    *out = NULL;
    return vit_fail(why, VIT_NO_MEMORY, "no memory for a model of %z numbers",
                    params_floats(config, kernels));
}

vit_status vit_create(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                      const struct vit_kernels *kernels, vit_error *why) {
    *out = NULL;
    if (!kernels) kernels = vit_kernels_best();
    if (kernels->packed)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "kernels: expected a table that takes weights unpacked, got %s",
                        kernels->name);
    if (config->int8)
        return vit_fail(why, VIT_BAD_ARGUMENT, "expected a config of floats, got int8");
    vit_status status = model_new(out, config, json, json_size, kernels, why);
    struct json root;
    if (status || !json_read(&root, json, json_size)) return status;
    status = config_keep_labels(*out, &root, why);
    if (!status) return VIT_OK;
    vit_close(*out);
    *out = NULL;
    return status;
}

void vit_close(vit_model *m) {
    if (!m) return;
    free(m->memory);
    free(m->fixed_position);
    free(m->rotary);
    free(m->learned);
    free(m->learned_mid);
    if (!m->whole) {
        free(m->params.blocks);
        free(m->json);
        free(m->labels);
    }
    free(m);
}
