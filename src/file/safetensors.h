/* A strict, bounded reader of safetensors: 8 bytes of header length, a JSON header, the data.
 * Every size, offset, type and shape in the header is checked before it is believed; the data
 * need not be there yet. */
#ifndef VIT_SAFETENSORS_H
#define VIT_SAFETENSORS_H

#include "vit.h"

/* Numbers of ST_OTHER types, and those after it, are passed over. */
typedef enum st_type { ST_F32, ST_F16, ST_BF16, ST_I8, ST_OTHER } st_type;
enum { ST_TYPE_BYTES = 8 }; /* of the widest */

struct st_tensor {
    const char *name; /* unescaped, not terminated */
    size_t name_size;
    st_type type;
    size_t shape[4], rank, count; /* count: the product of shape */
    size_t begin;                 /* its first byte in the data */
};

struct safetensors {
    struct st_tensor *tensors; /* by name, ascending */
    size_t count;
    char *metadata; /* __metadata__.vitrine unescaped, terminated; NULL when absent */
    size_t metadata_size;
    char *names; /* owned storage */
};

enum { ST_LENGTH_BYTES = 8 };

/* The JSON's length, which a file of `file_size` bytes says in its first 8. */
vit_status st_length(size_t *length, const uint8_t bytes[ST_LENGTH_BYTES], size_t file_size,
                     vit_error *why);
/* Reads the JSON, which may go afterwards, of a file with `data_size` bytes after it. On failure
 * nothing is held. */
vit_status st_open(struct safetensors *st, const char *json, size_t length, size_t data_size,
                   vit_error *why);
void st_close(struct safetensors *st);
const struct st_tensor *st_find(const struct safetensors *st, const char *name);

size_t st_type_bytes(st_type type);
const char *st_type_name(st_type type);
/* `count` numbers of a type at any address → floats. */
void st_floats(float *out, st_type type, const uint8_t *bytes, size_t count);

#endif
