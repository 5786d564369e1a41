/* Messages without stdio, because stdio would double the wasm module. */
#ifndef VIT_ERROR_H
#define VIT_ERROR_H

#include "vit.h"

/* Writes a message into `why` (NULL is fine) and returns `status`. The format knows
 *   %s  a string                                %z  a size_t
 *   %t  a slice of text: const char *, size_t   %d  a shape: const size_t *, size_t */
vit_status vit_fail(vit_error *why, vit_status status, const char *format, ...);

#ifdef __clang_analyzer__ /* cannot see across files that vit_fail returns its `status` */
#define vit_fail(why, status, ...) (vit_fail(why, status, __VA_ARGS__), status)
#endif

#endif
