#ifndef VIT_INFER_H
#define VIT_INFER_H

#include "names.h"

/* What a config leaves out, from the shapes of a file's tensors and the habits of its family:
 * → *out, the whole config as JSON text, to be freed; NULL where `json` (NULL: nothing is given)
 * has all that a config must have. Heads are as wide as the family's usually are, as no shape
 * tells. */
vit_status infer_config(char **out, size_t *out_size, const struct names *names,
                        const struct safetensors *st, const char *json, size_t json_size,
                        vit_error *why);
/* Whether a config has every key that it must have. */
bool infer_nothing(const char *json, size_t json_size);

#endif
