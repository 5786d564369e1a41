#ifndef VIT_SORT_H
#define VIT_SORT_H

#include <stddef.h>

/* Does what qsort does, by heap sort (Williams 1964). qsort would take four times as many bytes of
 * the wasm module. */
void sort(void *base, size_t count, size_t each, int (*compare)(const void *, const void *));

#endif
