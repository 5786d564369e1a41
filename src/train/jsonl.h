/* Pen drawings, a line of JSON each. */
#ifndef VIT_JSONL_H
#define VIT_JSONL_H

#include "strokes.h"
#include "vit.h"

vit_status drawings_open(struct drawings *drawings, const char *path, size_t classes,
                         vit_error *why);

#endif
