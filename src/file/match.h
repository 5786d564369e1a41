/* A file's header against a model: where each tensor goes. */
#ifndef VIT_MATCH_H
#define VIT_MATCH_H

#include "json.h"
#include "naming.h"
#include "safetensors.h"
#include "vit.h"

/* What becomes of a tensor of the file. */
struct placement {
    const struct st_tensor *tensor;
    /* skipped: not the model's; nowhere: empty, or computed here */
    enum { PLACE_SKIPPED, PLACE_NOWHERE, PLACE_PARAMETER, PLACE_SCALES } where;
    size_t param;  /* of PLACE_PARAMETER: which, in the table's order */
    size_t scales; /* where the scales lie that make floats of int8; NO_SCALES: there are none */
    size_t row;    /* of the parameter, where the tensor's first goes */
    bool channels_last; /* of the patch's weight, (D,P,Q,C) */
    bool transposed;    /* the tensor is (K,N), not (N,K) */
};
#define NO_SCALES SIZE_MAX

/* In this order: the config, what of it only the file shows included; then every
 * tensor against it, which gives a place to each of st->count. */
vit_status weights_read_config(vit_config *config, const struct safetensors *st,
                               const struct names *names, const struct json *json, vit_error *why);
vit_status weights_check(struct placement *places, const vit_config *config,
                         const struct vit_kernels *kernels, const struct safetensors *st,
                         const struct names *names, vit_error *why);
/* Whether learned positions are of another grid than the image's. */
bool weights_resize_positions(const vit_config *config);

#endif
