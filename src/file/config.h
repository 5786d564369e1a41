#ifndef VIT_CONFIG_H
#define VIT_CONFIG_H

#include "json.h"
#include "vit.h"

/* Whether `name` is a key of a model's config. A file may hold others; a recipe's model not. */
bool config_has_key(const struct json *name);

/* Whether a config has every key that it must have. */
bool config_is_whole(const struct json *config);

#endif
