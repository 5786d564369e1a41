/* A decoder's forward pass that keeps what the backward pass needs, over forced texts: teacher
 * forcing (Williams & Zipser, doi:10.1162/neco.1989.1.2.270). train/tape.c calls it between the
 * image's forward and backward passes. B texts of S tokens, each about an image of its own. */
#ifndef VIT_TEXT_LEARN_H
#define VIT_TEXT_LEARN_H

#include "base/arena.h"
#include "block.h"
#include "params.h"
#include "vit.h"

struct text_tape {
    size_t capacity;                           /* the most tokens of a text */
    struct text_activations *blocks;           /* (L) */
    float *embedded, *embed_mean, *embed_rstd; /* (BS,D): before embedding_norm */
    float *image;                              /* (BT,D): the images' tokens after encoder_proj */
    float *last, *normed, *mean, *rstd;        /* (BS,D): before and after the final norm */
    float *pre, *hidden, *hidden_normed, *hidden_mean, *hidden_rstd; /* (BS,D), with head_hidden */
    float *cache, *own, *scores;
    struct text_memory *memories; /* (B) */
    struct text_gradients scratch;
};

/* With arena->base NULL it only counts. */
void text_tape_lay_out(struct text_tape *tape, struct arena *arena, const vit_model *model,
                       size_t batch);

/* ids (B,S), images (B,T,E) → logits (B,S,V). */
void text_tape_forward(const vit_model *model, struct text_tape *tape, const uint32_t *ids,
                       size_t batch, size_t S, const float *images, float *logits);

/* dlogits (B,S,V) → dimages (B,T,E); adds to the parameters' gradients g. The other arguments are
 * those of the forward pass. */
void text_tape_backward(const vit_model *model, struct text_tape *tape, const struct text_params *g,
                        const uint32_t *ids, size_t batch, size_t S, const float *images,
                        const float *dlogits, float *dimages);

#endif
