/* A strict reader of the header of safetensors files, which are 8 bytes of header length, a header
 * of JSON, and the data. Every size, offset, type and shape in the header is checked before it is
 * used. The data need not be there yet. */
#ifndef VIT_SAFETENSORS_H
#define VIT_SAFETENSORS_H

#include "vit.h"

/* Tensors of type ST_OTHER, or of a type after it, hold whole numbers and can only be skipped. */
typedef enum st_type { ST_F32, ST_F16, ST_BF16, ST_F64, ST_I8, ST_OTHER } st_type;
enum { ST_TYPE_BYTES = 8 }; /* of the widest */

struct st_tensor {
    const char *name; /* unescaped, ended by 0 */
    size_t name_size;
    st_type type;
    size_t shape[4], rank, count; /* count: the product of shape */
    size_t begin;                 /* its first byte in the data */
};

struct safetensors {
    struct st_tensor *tensors; /* by name, ascending */
    size_t count;
    char *metadata; /* __metadata__.vitrine unescaped, ended by 0; NULL: the file has none */
    size_t metadata_size;
    char *names; /* the text of all names */
};

enum { ST_LENGTH_BYTES = 8 };

/* Reads the header's length from the first 8 bytes of a file of `file_size` bytes. */
vit_status st_length(size_t *length, const uint8_t bytes[ST_LENGTH_BYTES], size_t file_size,
                     vit_error *why);
/* Reads the header `json` (length) of a file with `data_size` bytes of data. Keeps no pointer to
 * it, and on failure no memory. */
vit_status st_open(struct safetensors *st, const char *json, size_t length, size_t data_size,
                   vit_error *why);
void st_close(struct safetensors *st);
/* → the tensor of this name (size), or NULL. */
const struct st_tensor *st_find(const struct safetensors *st, const char *name, size_t size);
/* Compares names: negative, 0 or positive, like memcmp. */
int st_compare_names(const char *a, size_t a_size, const char *b, size_t b_size);

size_t st_type_bytes(st_type type);
const char *st_type_name(st_type type);
/* `count` numbers of a type, at any address → out (count). */
void st_floats(float *out, st_type type, const uint8_t *bytes, size_t count);

#endif
