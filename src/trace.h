/* The intermediate results of a run, and runs that leave parts out. The rules and letters of vit.h
 * hold here too. */
#ifndef VIT_TRACE_H
#define VIT_TRACE_H

#include "vit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The intermediate results of one image's run. The caller owns the arrays. One that is NULL is not
 * written. A is heads·d, the width of all queries of a token. */
typedef struct vit_trace {
    float *embedded; /* (T,D): the tokens before positions are added to them */
    float *stream;   /* (L+1,T,D): the tokens before the first block, then after each block */
    float *qkv;      /* (L,T,3,A): queries, keys and values, head beside head; after qk_norm and
                        rotary positions */
    float *scores; /* (L,h,T,T): q·k/√d and the bias of relative positions, before the softmax */
    float *attention; /* (L,h,T,T): after it, as vit_taps has it */
    float *added;     /* (L,2,T,D): what attention adds to the tokens, and what the MLP adds */
} vit_trace;

/* Runs one image as vit_run does, and writes the trace. Sums are formed in another order, so
 * results may differ from vit_run's by rounding.
 * image (C,H,W).
 * → logits (K).
 * Errors: as vit_run. */
vit_status vit_run_traced(const vit_model *model, vit_state *state, const float *image,
                          float *logits, const vit_trace *trace);

/* The head alone: final norm, pooling and classes of any tokens (T,D), as those after an earlier
 * block: the logit lens (nostalgebraist 2020).
 * → logits (K).
 * Errors: VIT_BAD_ARGUMENT if the state is another model's, or the model has no head. */
vit_status vit_run_head(const vit_model *model, vit_state *state, const float *tokens,
                        float *logits);

/* The head's matrix alone, of any tokens x (n,D) after the final norm, as vit_taps has them: a CLIP's
 * patches, projected to where it compares images with texts.
 * → out (n,K).
 * Errors: VIT_BAD_ARGUMENT if the model's head is not one matrix of its class token. */
vit_status vit_run_project(const vit_model *model, float *out, const float *x, size_t n);

/* The queries, keys or values that a head takes in place of those it would compute: activation
 * patching, Zhang & Nanda, arXiv:2309.16042. */
typedef struct vit_replacement {
    size_t layer, head;
    size_t part;       /* 0: the queries, 1: the keys, 2: the values */
    const float *rows; /* (T,d), for every image of the run; as vit_trace has them */
} vit_replacement;

/* Parts that a run leaves out or replaces. A NULL mask leaves out nothing; nonzero leaves out. */
typedef struct vit_ablation {
    const uint8_t *heads;            /* mask (L,h): the head's values are 0 */
    const uint8_t *mlps;             /* mask (L): the block's MLP adds nothing */
    const uint8_t *norms;            /* mask (L): the block's two norms pass their input on */
    bool positions;                  /* no positions are added, to tokens or to scores */
    const vit_replacement *replaced; /* (replaced_count) */
    size_t replaced_count;
} vit_ablation;

/* From now on the state's runs leave these parts out. It borrows all arrays. NULL: nothing. */
void vit_state_ablate(vit_state *state, const vit_ablation *without);

#ifdef __cplusplus
}
#endif
#endif
