#include "arena.h"

#include <stdint.h>

float *arena_floats(struct arena *arena, size_t count, size_t each) {
    const size_t most = (SIZE_MAX - 2 * CACHE_LINE) / sizeof(float);
    if (arena->overflow || (each && count > most / each)) {
        arena->overflow = true;
        return NULL;
    }
    size_t bytes = (count * each * sizeof(float) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    if (bytes > SIZE_MAX - CACHE_LINE - arena->used) {
        arena->overflow = true;
        return NULL;
    }
    float *at = arena->base ? (float *)(void *)(arena->base + arena->used) : NULL;
    arena->used += bytes;
    return at;
}
