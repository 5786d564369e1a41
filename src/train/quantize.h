/* A model of floats as a file whose stem and blocks are int8. */
#ifndef VIT_QUANTIZE_H
#define VIT_QUANTIZE_H

#include "vit.h"

/* A model of floats → *out (size), which the caller frees: its file with stem and blocks in int8. */
vit_status quantize(uint8_t **out, size_t *size, vit_model *model, vit_error *why);

#endif
