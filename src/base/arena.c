#include "arena.h"

#include "sizes.h"

float *arena_product(struct arena *arena, size_t rank, const size_t *sizes) {
    size_t bytes = sizeof(float);
    for (size_t i = 0; i < rank; i++) bytes = size_times(bytes, sizes[i]);
    size_t end = size_plus(arena->used, size_whole(bytes, CACHE_LINE));
    if (arena->overflow || size_plus(end, CACHE_LINE) == SIZE_TOO_LARGE) {
        arena->overflow = true;
        return NULL;
    }
    float *at = arena->base ? (float *)(void *)(arena->base + arena->used) : NULL;
    arena->used = end;
    return at;
}
