/* The first parameters. */
#ifndef VIT_INIT_H
#define VIT_INIT_H

#include "recipe.h"
#include "vit.h"

/* Random ones. `start`, an enum start: by START_MIMETIC attention begins as trained models have
 * it: tokens look at tokens like them, and learned positions are sinusoids. Trockman & Kolter,
 * arXiv:2305.09828. */
void init_parameters(vit_model *model, size_t start, uint64_t seed);
/* Copies the parameters of `from`, a model of floats that has no other tensors. Of its head, the
 * rows of the classes that both models name; all of it, if they share no name but are as many;
 * otherwise the head stays as it is. */
vit_status init_from(vit_model *model, vit_model *from, vit_error *why);

#endif
