/* Pooling by attention. */
#ifndef VIT_POOLING_H
#define VIT_POOLING_H

#include "base/arena.h"
#include "vit.h"

/* Room for pooling by attention. */
struct pooling {
    float *qkv;    /* (N,3D) of one image */
    float *query;  /* (3D): only the query, the first D, is used */
    float *scores; /* (T) */
    float *mixed;  /* (B,D) */
    float *hidden; /* (B,M) */
};
void pooling_lay_out(struct pooling *room, struct arena *arena, const vit_model *m, size_t batch);
/* x (B,T,D) → pooled (B,D), by a learned query. */
void pooling_forward(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch);
/* x (B,T,D) → pooled (B,D), by PRR: the query is the class token, or each token in turn. */
void pooling_refined(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch);

#endif
