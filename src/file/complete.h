#ifndef VIT_COMPLETE_H
#define VIT_COMPLETE_H

#include "json.h"
#include "naming.h"
#include "safetensors.h"
#include "vit.h"

/* Config keys that were guessed, because nothing told them. */
struct assumed {
    const char *keys[4];
    size_t count;
};

/* Completes a config by the shapes of a file's tensors and the habits of its family.
 * given: the config, as far as it is given.
 * → *out (out_size): the whole config as JSON text, to be freed.
 * Errors: VIT_BAD_CONFIG asks for a key that nothing tells. Heads are not asked for if the width is
 * that of published models, but assumed. */
vit_status infer_config(char **out, size_t *out_size, struct assumed *assumed,
                        const struct names *names, const struct safetensors *st,
                        const struct json *given, vit_error *why);

#endif
