/* Compares a file's header with a model, and finds where each tensor goes. */
#ifndef VIT_MATCH_H
#define VIT_MATCH_H

#include "json.h"
#include "map.h"
#include "safetensors.h"
#include "vit.h"

/* Where a tensor of the file goes. */
struct placement {
    const struct st_tensor *tensor;
    /* nowhere: the model does not need it, or it is empty, or computed here */
    enum { PLACE_NOWHERE, PLACE_PARAMETER, PLACE_SCALES } where;
    size_t param;       /* of PLACE_PARAMETER: the parameter's number in file order */
    size_t scales;      /* the first of the scales that make floats of int8; NO_SCALES: none */
    size_t row;         /* the parameter's row where the tensor's first row goes */
    bool channels_last; /* its patches are (P,Q,C), not (C,P,Q) */
    bool transposed;    /* the tensor is (K,N), not (N,K) */
};
#define NO_SCALES SIZE_MAX

/* Reads the config, and finds its fields that depend on the file's tensors. */
vit_status weights_read_config(vit_config *config, const struct json *json,
                               const struct tensor_map *map, vit_error *why);
/* Compares every tensor with the config that weights_read_config read.
 * → places (map->st->count). */
vit_status weights_check(struct placement *places, const vit_config *config,
                         const struct vit_kernels *kernels, const struct tensor_map *map,
                         vit_error *why);
/* Whether the learned positions have another grid than the image. */
bool weights_resize_positions(const vit_config *config);

#endif
