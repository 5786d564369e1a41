/* What the stages share: the model, one block's activations, and the arena they lie in. */
#ifndef VIT_MODEL_H
#define VIT_MODEL_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "file/naming.h"
#include "params.h"
#include "file/safetensors.h"
#include "shapes.h"
#include "base/sizes.h"
#include "base/team.h"
#include "vit.h"

struct vit_model {
    vit_config config;
    const struct vit_kernels *kernels;
    struct vit_params params;
    float *floats; /* all parameters, cache-line aligned, inside `memory` */
    size_t float_count;
    void *memory;
    float *fixed_position; /* (position_rows,D) of a computed encoding, or NULL */
    char *json, *origin;
    size_t json_size, origin_size;
    char **labels; /* (K) into one block, or NULL */
    size_t bytes;
};

/* Whether the parameters, the positions, and the state that runs an image can be counted. */
bool model_fits(const vit_config *config, const struct vit_kernels *kernels);
/* Bytes of the positions that are computed, not read; 0: there are none. */
size_t fixed_position_bytes(const vit_config *config);

/* A model with its memory laid out, its parameters 0 and its fixed positions computed. */
vit_status model_new(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                     const struct vit_kernels *kernels, vit_error *why);

/* What becomes of a tensor of the file. */
struct placement {
    const struct st_tensor *tensor;
    /* skipped: not the model's; nowhere: empty, or computed here */
    enum { PLACE_SKIPPED, PLACE_NOWHERE, PLACE_PARAMETER, PLACE_SCALES } where;
    size_t param;  /* of PLACE_PARAMETER: which, in the table's order */
    size_t scales; /* where the scales lie that make floats of int8; NO_SCALES: there are none */
    size_t row;    /* of the parameter, where the tensor's first goes */
    bool channels_last; /* of the patch's weight, (D,P,Q,C) */
    bool transposed;    /* the tensor is (K,N), not (N,K) */
};
#define NO_SCALES SIZE_MAX

/* file/match.c, in this order: the config, what of it only the file shows included; then every
 * tensor against it, which gives a place to each of st->count. */
vit_status weights_read_config(vit_config *config, const struct safetensors *st,
                               const struct names *names, const char *json, size_t json_size,
                               vit_error *why);
vit_status weights_check(struct placement *places, const vit_config *config,
                         const struct vit_kernels *kernels, const struct safetensors *st,
                         const struct names *names, vit_error *why);
/* Config keys that nothing told, see file/complete.h. */
struct assumed;
/* origin.c. names: whose the tensors' names are; NULL: the file has its own config. */
vit_status model_set_origin(vit_model *m, const struct placement *places, size_t count,
                            const struct names *names, const struct assumed *assumed,
                            vit_error *why);
/* Whether learned positions are of another grid than the image's. */
bool weights_resize_positions(const vit_config *config);
/* Whether a parameter of this name holds an int8 matrix's scales. */
bool weights_is_scale(const char *name);

/* One block's activations over a batch, B·T rows. While only running, all blocks share
 * one set: x, sum1, mid, sum2 and out are the same array, and what only the backward pass
 * needs is NULL. A tape has a set for every block. */
struct activations {
    float *x;                          /* (BT,D) the block's input */
    float *normed1, *mean1, *rstd1;    /* (BT,D) (BT): pre-norm's first norm */
    float *qkv;                        /* (BT,3A) */
    float *qk_raw, *qk_mean, *qk_rstd; /* (BT,3A) (BT,2h): before qk_norm */
    float *map;                        /* (h,T,T) at each image's map_stride, or NULL */
    size_t map_stride;
    size_t queries;    /* each image's first tokens that go on from here: T, or those pooled */
    size_t map_rows;   /* of each head's map that are wanted: T, or the queries */
    float *kept;       /* (B·queries,D): x of those that go on */
    float *mixed;      /* (B·queries,A): the heads' values side by side */
    float *branch1;    /* (BT,D): attention's output, unless added at once */
    float *sum1, *mid; /* (BT,D): x + branch; after post-norm */
    float *normed2, *mean2, *rstd2;
    float *pre, *hidden; /* (BT,M): before and after the activation */
    float *branch2, *sum2, *out;
};

/* One thread's scratch for one image's attention; and for gradients. */
struct scratch {
    float *keys, *values;              /* packed (T,d) and (d,T) */
    float *scores;                     /* (ATTENTION_ROWS,T); the backward pass: (T,T) */
    float *relative;                   /* (R): one head's biases, or their gradient */
    float *dx, *dbranch, *dnormed;     /* (BT,D) */
    float *dqkv, *dmixed;              /* (BT,3A) (BT,A) */
    float *dhidden;                    /* (BT,M) */
    float *columns, *dcolumns;         /* (positions,3·3·C) of one image: the stem's */
    float *stem_weight, *dstem_weight; /* (S,3·3·C) of one convolution */
    float *dpatches;                   /* (N,C·P·Q) of one image */
    float *dmaps[VIT_STEM_MOST];       /* as the stem's maps */
    struct vit_quantized quantized;    /* (BT,max(A,D,M)): an int8 model's activations */
};
enum { ATTENTION_ROWS = 64 };

void scratch_attention(struct scratch *s, struct arena *arena, const vit_model *model, size_t rows);
/* Room for `rows` rows of activations in int8; all NULL where the model is not in int8. */
void scratch_quantized(struct vit_quantized *q, struct arena *arena, const vit_model *model,
                       size_t rows);
/* The room of the rows from `row` on, for another thread's share. */
struct vit_quantized quantized_from(const vit_model *model, const struct vit_quantized *q,
                                    size_t row);

/* Neither NaN nor infinity among x (n). */
bool all_finite(const float *x, size_t n);

/* The stages. k: the kernels; rows = B·T. Backward adds to parameter gradients and
 * overwrites activation gradients. */

/* A batch's maps after each convolution (B,rows,columns,S); before its activation, or NULL. */
struct stem {
    float *maps[VIT_STEM_MOST], *pre[VIT_STEM_MOST];
};
void stem_lay_out(struct stem *a, struct arena *arena, const vit_config *config, size_t batch,
                  bool keep);
void scratch_stem(struct scratch *s, struct arena *arena, const vit_model *model);
void scratch_stem_backward(struct scratch *s, struct arena *arena, const vit_config *config,
                           size_t batch);
/* What goes into convolution `layer`, or past the last into the patches, of one image. */
struct maps stem_input(const vit_config *config, const struct stem *a, const float *images,
                       size_t layer, size_t image);
/* One convolution of the batch: this part's share of the positions. */
void stem_forward(const vit_model *m, const struct stem *a, const struct scratch *s,
                  const float *images, size_t layer, size_t batch, size_t part, size_t parts);
/* s->dmaps' last: in, the gradient of the batch's last maps; the others are overwritten. */
void stem_backward(const vit_model *m, const struct vit_params *g, const struct stem *a,
                   const struct scratch *s, const float *images, size_t batch);
/* A convolution's weights as files have them → as kernels' packed ones are: rows (3·3,C). */
void stem_reorder(float *to, const float *from, size_t rows, size_t channels);

/* maps → patches (N,C·P·Q) → x (N,D): a share of the rows. */
void patches_forward(const vit_model *m, float *x, float *patches, const struct maps *from,
                     struct rows share);
/* With a stem also → s->dmaps' last, of image `image`. */
void patches_backward(const vit_model *m, const struct vit_params *g, const float *dx,
                      const float *patches, const struct scratch *s, size_t image);

/* x (T,D), its patch rows filled → prefix rows written, positions added: a share of the rows. */
void tokens_forward(const vit_model *m, float *x, struct rows share);
void tokens_backward(const vit_model *m, const struct vit_params *g, const float *dx);
/* Sinusoids (Vaswani et al. 3.5; He et al., arXiv:2111.06377) → table (rows,D). */
void tokens_sincos(float *table, const vit_config *config);

/* keep (B, stride L) scales an image's branches; NULL: 1. a->out holds B·queries rows. With a
 * team s has an item for each of its threads, the first with room for all rows in int8, and
 * neither keep nor what only the backward pass needs is there. */
void block_forward(const vit_model *m, const struct block_params *p, const struct activations *a,
                   const struct scratch *s, const float *keep, size_t batch, vit_team *team);
/* s->dx: in, the gradient of a->out (B·queries,D); out, of a->x (BT,D). */
void block_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                    const struct activations *a, const struct scratch *s, const float *keep,
                    size_t batch);

/* x (rows,D) → a->qkv, of which x and a have this share; no more queries than are needed. */
void qkv_forward(const vit_model *m, const struct block_params *p, const float *x,
                 const struct activations *a, const struct scratch *s, size_t batch,
                 struct rows share);
/* a->qkv of all rows → this part's share of a->map and of the rows of a->mixed. */
void attention_forward(const vit_model *m, const struct block_params *p,
                       const struct activations *a, const struct scratch *s, size_t batch,
                       size_t part, size_t parts);
/* a->mixed (rows,A) → y (rows,D), added to y if `add`: the projection that mixes the heads. */
void projection_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                        const float *mixed, const struct scratch *s, size_t rows);
void attention_backward(const vit_model *m, const struct block_params *p,
                        const struct block_params *g, float *dx, const float *dy, const float *x,
                        const struct activations *a, const struct scratch *s, size_t batch);

/* x (rows,D) → a->hidden (rows,M) → y (rows,D), added to y if `add`. */
void mlp_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                 const float *x, const struct activations *a, const struct scratch *s, size_t rows);
void mlp_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                  float *dx, const float *dy, const float *x, const struct activations *a,
                  const struct scratch *s, size_t rows);

/* A weight (N,K), packed; in int8 where it has a scale (N). bias (N) or NULL. */
struct linear {
    const float *weight, *scale, *bias;
    size_t N, K;
};
/* y (M,N) = act(x (M,K) · wᵀ + bias), as kernels->matmul. q: room for x's rows in int8. */
void linear_forward(const struct vit_kernels *k, float *y, size_t ldy, const float *x, size_t ldx,
                    const struct linear *w, int act, bool add, size_t M,
                    const struct vit_quantized *q);
/* dx = dy·w (NULL: not wanted), dw += dyᵀ·x, dbias += Σ dy. x (M,K) w (N,K) dy (M,N). */
void linear_backward(const struct vit_kernels *k, float *dx, size_t lddx, float *dw, float *dbias,
                     const float *dy, size_t lddy, const float *x, size_t ldx, const float *w,
                     size_t M, size_t N, size_t K);

/* Gradients of kernels->norm; dx may be dy. Adds to dgain, dbias. */
void norm_backward(float *dx, size_t lddx, float *dgain, float *dbias, const float *dy, size_t lddy,
                   const float *x, size_t ldx, const float *mean, const float *rstd,
                   const float *gain, size_t rows, size_t columns);

/* Room for pooling by attention. */
struct pooling {
    float *qkv;    /* (N,3D) of one image */
    float *query;  /* (3D), of which only the query counts */
    float *scores; /* (T) */
    float *mixed;  /* (B,D) */
    float *hidden; /* (B,M) */
};
void pooling_lay_out(struct pooling *room, struct arena *arena, const vit_model *m, size_t batch);
/* x (B,T,D) → pooled (B,D): by a learned query; by the class token, or all tokens, as queries. */
void pooling_forward(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch);

void pooling_refined(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch);

/* What the head keeps between forward and backward. */
struct head_activations {
    struct pooling pooling;
    float *tokens;        /* (BT,D) after the final norm */
    float *mean, *rstd;   /* (BT); with fc_norm (B); NULL while only running */
    float *pooled;        /* (2,B,D): what feeds head and head_dist */
    float *pooled_normed; /* (B,D), with fc_norm */
    float *fed;           /* (B,D): a copy of what feeds the head; NULL: not wanted */
};
/* The first tokens of an image that the head reads: all for a mean. */
size_t head_tokens(const vit_config *config);
/* x (B·tokens,D): the first `tokens` of each image, T or head_tokens. */
void logits_forward(const vit_model *m, float *logits, const struct head_activations *a,
                    const float *x, size_t batch, size_t tokens);
/* dx: the gradient of x (B·tokens,D). */
void logits_backward(const vit_model *m, const struct vit_params *g, float *dx,
                     const float *dlogits, const struct head_activations *a, const float *x,
                     float *dpooled, size_t batch, size_t tokens);

#endif
