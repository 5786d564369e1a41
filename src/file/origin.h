/* Writes where a model comes from, as JSON: vit_model_origin. */
#ifndef VIT_ORIGIN_H
#define VIT_ORIGIN_H

#include "complete.h"
#include "match.h"
#include "naming.h"
#include "vit.h"

/* Makes the text of vit_model_origin.
 * places (count): of weights_check. names: the family's; NULL: the config is the file's own. */
vit_status model_set_origin(vit_model *m, const struct placement *places, size_t count,
                            const struct names *names, const struct assumed *assumed,
                            vit_error *why);

#endif
