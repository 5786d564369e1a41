#ifndef VIT_COMPLETE_H
#define VIT_COMPLETE_H

#include "json.h"
#include "naming.h"
#include "safetensors.h"
#include "vit.h"

/* Config keys that were guessed, because nothing told them: every guess stands here. */
enum { ASSUMED_MOST = 16 };
struct assumed {
    const char *keys[ASSUMED_MOST];
    size_t count;
};

/* Completes a config by the shapes of a file's tensors and the habits of its family.
 * given: the config, as far as it is given.
 * → *out (out_size): the whole config as JSON text, to be freed.
 * Errors: VIT_BAD_CONFIG asks for a key that nothing tells. A key whose usual value is known is not
 * asked for, but assumed: see struct habits. VIT_BAD_TENSOR for rotary positions. */
vit_status infer_config(char **out, size_t *out_size, struct assumed *assumed,
                        const struct names *names, const struct safetensors *st,
                        const struct json *given, vit_error *why);

#endif
