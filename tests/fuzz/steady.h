/* Which logits two builds must agree on. */
#ifndef FUZZ_STEADY_H
#define FUZZ_STEADY_H

#include "vit.h"

/* The logits of one image, on the heap; NULL if it was refused or memory ran out. */
float *logits_of(const vit_model *model, const float *image);

/* By how much another build's logits may differ: a tenth of the largest, or of 1. Misplaced rows of
 * a matrix make larger differences. */
float tolerance_of(const float *logits, size_t n);

/* Whether moving each pixel by an int8 step moves no logit beyond its tolerance. Two builds sum in
 * other orders, so an activation half way between two steps may round to either, and some models
 * amplify that to any size. */
bool is_steady(const vit_model *model, const float *image, const float *logits);

#endif
