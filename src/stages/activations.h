/* What a block and its stages hand each other: a run's demands, one block's activations, one
 * thread's scratch.
 * In all headers of this room k is the kernels, and rows = B·T. Backward functions add to parameter
 * gradients, unless these are NULL, and overwrite activation gradients. */
#ifndef VIT_ACTIVATIONS_H
#define VIT_ACTIVATIONS_H

#include "kernels/kernels.h"
#include "trace.h"
#include "vit.h"

/* A run's demands on a block. */
struct block_run {
    size_t batch;
    size_t queries;    /* the first tokens of an image that continue: T, or those the head reads */
    size_t map_rows;   /* rows of each head's map that are needed: T, the queries, or none */
    size_t map_stride; /* floats from an image's maps to the next image's */
    size_t map_each;   /* from a head's map to the next head's: T·T, or map_rows·T */
    const float *keep; /* (B, stride L): scales each image's branches; NULL: 1 */
    const uint8_t *no_head;              /* mask (h) of the heads that give nothing; NULL: none */
    bool no_mlp, no_norms, no_positions; /* the MLP adds nothing; norms copy; scores get no bias */
    size_t layer;
    const vit_replacement *replaced; /* (replaced_count), in all layers */
    size_t replaced_count;
};

/* One block's activations over a batch, B·T rows. A tape has a set for every block. In a run
 * without a tape all blocks share one set: x, sum1, mid, sum2 and out are the same array, and
 * arrays that only the backward pass needs are NULL. */
struct activations {
    float *x;                          /* (BT,D) the block's input */
    float *normed1, *mean1, *rstd1;    /* (BT,D) (BT): pre-norm's first norm */
    float *qkv;                        /* (BT,3A) */
    float *qk_raw, *qk_mean, *qk_rstd; /* (BT,3A) (BT,2h): before qk_norm */
    float *map;                        /* (h,T,T) at each image's map_stride, or NULL */
    float *raw;                        /* the same before the softmax, with map; or NULL */
    float *query_x;                    /* (B·queries,D): x of the tokens that continue */
    float *mixed;                      /* (B·queries,A): the heads' values side by side */
    float *branch1;                    /* (BT,D): attention's output, unless added at once */
    float *sum1, *mid;                 /* (BT,D): x + branch; after post-norm */
    float *normed2, *mean2, *rstd2;
    float *pre, *hidden; /* (BT,G): before and after the activation; of rows of G = mlp_rows numbers
                            hidden, mlp_raw and dhidden use M */
    float *mlp_raw, *mlp_mean, *mlp_rstd; /* (BT,G) (BT): before mlp_norm */
    float *branch2, *sum2, *out;
};

/* One thread's scratch, for one image's attention and for gradients. */
struct scratch {
    float *keys, *values;          /* packed (T,d) and (d,T) */
    float *scores;                 /* (ATTENTION_ROWS,T); with a tape (T,T) */
    float *relative;               /* (R): one head's biases, or their gradient */
    float *dx, *dbranch, *dnormed; /* (BT,D) */
    float *dqkv, *dmixed;          /* (BT,3A) (BT,A) */
    float *dhidden;                /* (BT,G) */
    float *relevance;          /* (T,T): the sum over the heads of (gradient ∘ map)⁺, or NULL */
    float *columns, *dcolumns; /* (positions,3·3·C) of one image: the stem's */
    float *stem_weight, *dstem_weight; /* (S,3·3·C) of one convolution */
    float *dpatches;                   /* (N,C·P·Q) of one image */
    float *dmaps[VIT_STEM_MOST];       /* gradients of the stem's maps */
    struct vit_quantized quantized;    /* (BT,max(A,D,M)): an int8 model's activations */
};
enum { ATTENTION_ROWS = 64 };

#endif
