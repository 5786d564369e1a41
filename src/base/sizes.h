/* Sums and products of sizes that come from outside. A result that does not fit in size_t becomes
 * SIZE_TOO_LARGE. Everything computed from SIZE_TOO_LARGE is SIZE_TOO_LARGE too, so one check at
 * the end is enough. */
#ifndef VIT_SIZES_H
#define VIT_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define SIZE_TOO_LARGE SIZE_MAX

static inline size_t size_plus(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_TOO_LARGE : sum;
}

static inline size_t size_times(size_t a, size_t b) {
    size_t product;
    if (a == SIZE_TOO_LARGE || b == SIZE_TOO_LARGE) return SIZE_TOO_LARGE;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_TOO_LARGE : product;
}

/* The next multiple of `step`, a small number above 0. */
static inline size_t size_whole(size_t a, size_t step) {
    size_t more = size_plus(a, step - 1);
    return more == SIZE_TOO_LARGE ? more : more / step * step;
}

#endif
