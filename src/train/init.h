/* The first parameters. */
#ifndef VIT_INIT_H
#define VIT_INIT_H

#include "vit.h"

void init_parameters(vit_model *model, uint64_t seed);
/* Copies the parameters of `from`, a model of floats that has no other tensors. Of its head, the
 * rows of the classes that both models name; all of it, if they share no name but are as many;
 * otherwise the head stays as it is. */
vit_status init_from(vit_model *model, vit_model *from, vit_error *why);

#endif
