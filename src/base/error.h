/* Messages without stdio, which would double the wasm module. */
#ifndef VIT_ERROR_H
#define VIT_ERROR_H

#include "vit.h"

/* Writes a message into `why` (NULL is fine) and returns `status`. In the format: %s a
 * string, %t a text slice (const char *, size_t), %z a size_t, %d (const size_t *, size_t)
 * a shape. */
vit_status vit_fail(vit_error *why, vit_status status, const char *format, ...);

#ifdef __clang_analyzer__ /* cannot see in another file that what is returned is no VIT_OK */
#define vit_fail(why, status, ...) (vit_fail(why, status, __VA_ARGS__), status)
#endif

#endif
