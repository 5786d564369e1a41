/* A strict, bounded reader of safetensors: 8 bytes of header length, a JSON header,
 * the data. Every size, offset, type and shape is checked before it is believed. */
#ifndef VIT_SAFETENSORS_H
#define VIT_SAFETENSORS_H

#include "vit.h"

typedef enum st_type { ST_F32, ST_F16, ST_BF16, ST_I8 } st_type;

struct st_tensor {
    const char *name; /* unescaped, not terminated */
    size_t name_size;
    st_type type;
    size_t shape[4], rank, count; /* count: the product of shape */
    const uint8_t *data;          /* borrowed, unaligned */
};

struct safetensors {
    struct st_tensor *tensors; /* by name, ascending */
    size_t count;
    char *metadata; /* __metadata__.vitrine unescaped, terminated; NULL when absent */
    size_t metadata_size;
    char *names; /* owned storage */
};

/* Borrows bytes until st_close. On failure nothing is held. */
vit_status st_open(struct safetensors *st, const void *bytes, size_t size, vit_error *why);
void st_close(struct safetensors *st);
const struct st_tensor *st_find(const struct safetensors *st, const char *name);
/* Writes `count` floats from the tensor's data. */
void st_floats(float *out, const struct st_tensor *tensor);

#endif
