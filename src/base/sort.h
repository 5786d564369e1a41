#ifndef VIT_SORT_H
#define VIT_SORT_H

#include <stddef.h>

/* As qsort, which takes four times as many bytes of the wasm module: heap sort (Williams 1964). */
void sort(void *base, size_t count, size_t each, int (*compare)(const void *, const void *));

#endif
