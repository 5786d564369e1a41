/* The map of a file whose tensors do not have our names: which of them make which parameter. */
#ifndef VIT_MAP_H
#define VIT_MAP_H

#include "safetensors.h"
#include "vit.h"

/* The most tensors that make one parameter: queries, keys and values. */
enum { MAP_SOURCES = 3 };
/* The longest name in a map, in bytes. */
enum { MAP_NAME_MOST = 384 };

/* A map, with each name looked up in the file. */
struct tensor_map {
    const struct safetensors *st;
    struct map_entry *entries; /* by name, ascending; NULL: every parameter's tensor has its name */
    size_t count;
    bool *skipped;       /* (st->count) */
    const char *family;  /* for messages */
    bool strict;         /* shapes must agree in dimensions of 1, too */
    bool matrix_patches; /* the patches' projection may be a matrix (D,C·P·Q) */
    unsigned transposed; /* bits: which of the matrices that may be are transposed */
    char *text;          /* of all names */
};

/* Reads the map in JSON that vit_open_begin describes. json NULL: all names are ours. The map keeps
 * `st`, not `json`. It must be closed, also after a failure.
 * Errors: VIT_BAD_ARGUMENT, VIT_NO_MEMORY. */
vit_status map_open(struct tensor_map *map, const struct safetensors *st, const char *json,
                    size_t size, vit_error *why);
void map_close(struct tensor_map *map);

/* Finds the tensors that make parameter `name`, their rows one after the other.
 * → how many; 0 if the file lacks one. */
size_t map_sources(const struct st_tensor *sources[MAP_SOURCES], const struct tensor_map *map,
                   const char *name);
/* → the first of them; NULL if the file lacks one. */
const struct st_tensor *map_find(const struct tensor_map *map, const char *name);
/* Whether parameter `name` is a matrix (N,K) whose tensor is (K,N). */
bool map_transposes(const struct tensor_map *map, const char *name);
/* → the name (size) of a tensor that parameter `name` needs and the file lacks. */
const char *map_missing(size_t *size, const struct tensor_map *map, const char *name);

#endif
