/* Token numbers become rows of D numbers. */
#ifndef VIT_TEXT_EMBED_H
#define VIT_TEXT_EMBED_H

#include "params.h"
#include "vit.h"

/* The next n tokens of one text, `past` tokens after its first → x (n,D), before any norm. */
void text_embed(const vit_model *model, const vit_text_config *config, const struct text_params *p,
                float *x, const uint32_t *ids, size_t n, size_t past);

/* dx (n,D), the gradient of x of a text's first tokens; adds to g. */
void text_embed_backward(const vit_text_config *config, const struct text_params *g,
                         const float *dx, const uint32_t *ids, size_t n);

#endif
