/* Patches that overlap, and whose pixels attend to each other first. */
#ifndef VIT_SOFT_SPLIT_H
#define VIT_SOFT_SPLIT_H

#include "base/arena.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* t = token_width, and N the tokens of the first split, which has the most. */
struct soft_split {
    float *tokens[VIT_SOFT_SPLITS]; /* (B,N,t) and (B,N/4,t) */
    float *qkv;                     /* (N,3t) of one image */
    float *keys, *values;           /* packed (N,t) and (t,N); or with features (t+1,t/2) */
    float *features;                /* (N,t/2) of the keys */
    float *sums; /* (t+1,t/2): values times the keys' features; then the features' sums */
    struct soft_scratch {
        float *cut;    /* (SOFT_ROWS, the numbers of a token that is cut out) */
        float *scores; /* (SOFT_ROWS,N), or the queries' features (SOFT_ROWS,t/2) */
        float *wide;   /* (SOFT_ROWS,t+1) */
    } * scratch;       /* one for each thread */
};
void soft_split_lay_out(struct soft_split *a, struct arena *arena, const vit_model *m, size_t batch,
                        size_t threads);
/* images (B,C,H,W) → a->tokens. */
void soft_split_forward(const vit_model *m, const struct soft_split *a, const float *images,
                        size_t batch, vit_team *team);
/* What split `split` cuts one image's squares out of, or past the last the patches. */
struct maps soft_split_input(const vit_config *config, const struct soft_split *a,
                             const float *images, size_t split, size_t image);
/* Cuts token `at` of a split out of `from`, channel by channel, with 0 beyond the edges. split: that
 * of VIT_SOFT_SPLITS, or VIT_SOFT_SPLITS: the patches'. columns: the tokens of a row. */
void soft_split_cut(float *token, const struct maps *from, size_t split, size_t at, size_t columns);

#endif
