/* A block of a transformer of texts: self-attention, cross-attention in a decoder, MLP. */
#ifndef VIT_TEXT_BLOCK_H
#define VIT_TEXT_BLOCK_H

#include "params.h"
#include "vit.h"

/* What a branch reads and writes, all (rows,D): x → f(norm(x)) + x, or norm(f(x) + x) if the norm comes
 * after. While running all but `normed` are one buffer. mean, rstd (rows): NULL while running. */
struct text_branch {
    float *x, *normed, *sum, *out, *mean, *rstd;
};

/* The numbers of a block. rows: B·n. */
struct text_activations {
    struct text_branch self, cross, mlp;
    float *qkv, *mixed;         /* (rows,3D), (rows,D) */
    float *query, *cross_mixed; /* (rows,D) */
    float *pre, *hidden;        /* (rows,M); pre: NULL while running */
    float *map, *cross_map;     /* (B,h,n,P+n), (B,h,n,T); NULL: not kept */
    float *pairs;               /* (B,T,2D): the images' keys and values; NULL while running */
};

/* Keys and values of all heads, of one text or image: packed for each head, one after the other. */
struct text_memory {
    float *keys, *values;          /* of head 0 */
    size_t keys_each, values_each; /* floats from a head's to the next's */
    size_t rows;
};
/* The floats of a head's keys or values, and of both of all heads. */
size_t text_memory_floats(const struct vit_kernels *kernels, const vit_text_config *config,
                          size_t rows);
struct text_memory text_memory_at(float *floats, const struct vit_kernels *kernels,
                                  const vit_text_config *config, size_t rows);
/* Packs rows of keys and of values, each `stride` floats from the last. */
void text_memorise(const struct text_memory *memory, const struct vit_kernels *kernels,
                   const vit_text_config *config, const float *keys, const float *values,
                   size_t stride);

/* y (rows,N) = act(x·wᵀ + bias), or added to y; text_linear_backward: dy → dx, dw, dbias. */
void text_linear(const struct vit_kernels *kernels, float *y, const float *x, const float *weight,
                 const float *bias, int act, bool add, size_t rows, size_t N, size_t K);
void text_linear_backward(const struct vit_kernels *kernels, float *dx, float *dw, float *dbias,
                          const float *dy, const float *x, const float *w, size_t rows, size_t N,
                          size_t K);

/* Who attends to what in this run. */
struct text_run {
    size_t batch, n, past;      /* past: P */
    float *cache;               /* (B,2,S,D): keys and values so far, to which this run adds */
    size_t capacity;            /* S */
    struct text_memory own;     /* scratch for P + n rows */
    struct text_memory *images; /* one, or (B) if `each` */
    bool each;
    float *scores; /* (n,P+n) and (n,T): scratch where no map is kept */
};

/* → a->mlp.out. `map` and `cross_map` may lie anywhere: their strides from text to text. */
void text_block_forward(const vit_model *model, const vit_text_config *config,
                        const struct text_block_params *p, const struct text_activations *a,
                        const struct text_run *run, size_t map_stride, size_t cross_stride);

/* Room for gradients: (BS,D) twice, (BS,3D), (BS,D), (BS,M), (S,S or T), (T,2D), (T,E). */
struct text_gradients {
    float *dx, *dbranch, *dqkv, *dmixed, *dhidden, *dscores, *dpairs, *dimage;
    float *dmemory; /* (BT,D), with encoder_proj */
};
/* s->dx, the gradient of the block's output → of its input. images (B,T,E): what the keys and values
 * are made of; adds to dimages, which has their shape. The tape's texts begin at their first token. */
void text_block_backward(const vit_model *model, const vit_text_config *config,
                         const struct text_block_params *p, const struct text_block_params *g,
                         const struct text_activations *a, const struct text_gradients *s,
                         size_t batch, size_t S, const float *images, float *dimages, size_t T,
                         size_t E);

#endif
