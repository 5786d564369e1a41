#ifndef VIT_INFER_H
#define VIT_INFER_H

#include "naming.h"
#include "safetensors.h"
#include "vit.h"

/* Config keys that were guessed, because nothing told them. */
struct assumed {
    const char *keys[4];
    size_t count;
};

/* What a config leaves out, from the shapes of a file's tensors and the habits of its family:
 * → *out, the whole config as JSON text, to be freed. `json`: what is given; NULL: nothing. What
 * nothing tells is asked for by an error, but for heads of a usual width. */
vit_status infer_config(char **out, size_t *out_size, struct assumed *assumed,
                        const struct names *names, const struct safetensors *st, const char *json,
                        size_t json_size, vit_error *why);
/* Whether a config has every size that it must have, or is none. */
bool infer_no_sizes(const char *json, size_t json_size);

#endif
