#ifndef VIT_ARENA_H
#define VIT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Hands out cache-line-aligned pieces of a block of memory; with base NULL it only counts. */
struct arena {
    char *base;
    size_t used;
    bool overflow;
};
enum { CACHE_LINE = 64 };
float *arena_floats(struct arena *arena, size_t count, size_t each);

#endif
