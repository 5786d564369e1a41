/* Where a model comes from, as JSON: vit_model_origin. */
#ifndef VIT_ORIGIN_H
#define VIT_ORIGIN_H

#include "complete.h"
#include "match.h"
#include "naming.h"
#include "vit.h"

/* Config keys that nothing told, see file/complete.h. */
struct assumed;
/* names: whose the tensors' names are; NULL: the file has its own config. */
vit_status model_set_origin(vit_model *m, const struct placement *places, size_t count,
                            const struct names *names, const struct assumed *assumed,
                            vit_error *why);

#endif
