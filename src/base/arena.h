#ifndef VIT_ARENA_H
#define VIT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Hands out cache-line-aligned pieces of a block of memory. With base NULL it only counts their
 * bytes. */
struct arena {
    char *base;
    size_t used;
    bool overflow; /* the pieces do not fit in size_t */
};
enum { CACHE_LINE = 64 };
/* Room for as many floats as the product of the sizes: arena_floats(arena, batch, T, D). */
#define arena_floats(arena, ...)                                                                   \
    arena_product(arena, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),                         \
                  (const size_t[]){__VA_ARGS__})
float *arena_product(struct arena *arena, size_t rank, const size_t *sizes);

#endif
