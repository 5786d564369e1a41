/* What a pass costs. */
#ifndef VIT_FLOPS_H
#define VIT_FLOPS_H

#include "vit.h"

/* Multiply-adds of one image's forward pass, in linear layers and attention, times 2. */
double forward_flops(const vit_config *config);

#endif
