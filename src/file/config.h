#ifndef VIT_CONFIG_H
#define VIT_CONFIG_H

#include "json.h"
#include "vit.h"

/* Checks that a text is a JSON object, and views it. Each text is checked once; the functions below
 * take the view. */
vit_status config_parse(struct json *config, const char *json, size_t size, vit_error *why);

/* vit_config_read, of a text that is checked. */
vit_status config_read(vit_config *out, const struct json *config, vit_error *why);

/* Changes image_size, and what follows from it: how photos are prepared, and position_rows. The
 * lengths to which a photo is resized keep their proportion to the crop.
 * Errors: VIT_BAD_CONFIG, VIT_NO_MEMORY. Positions that fit one size alone are refused. */
vit_status config_resize(vit_config *config, const size_t size[2], vit_error *why);

/* → the whole config as JSON text of *size bytes, which the caller frees: every key of config.def
 * with its value, then the other members of `json` (json_size), the text that `config` was read
 * from. NULL: no memory. */
char *config_print(size_t *size, const vit_config *config, const char *json, size_t json_size);

/* Keeps the classes' names in the model, if the config has any. */
vit_status config_keep_labels(vit_model *model, const struct json *config, vit_error *why);

/* Whether `name` is a key of a config. A file's config may have other keys, a recipe's `model` may
 * not. */
bool config_has_key(const struct json *name);

#endif
