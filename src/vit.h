/* Vitrine: a Vision Transformer in C11. This header is the manual.
 *
 * Everything is row-major float32. Shape letters, used throughout:
 *   B batch   C channels   H,W image rows, columns   N patches   D width
 *   T tokens = prefix + N  L blocks   h heads   d = D / h   A = h·d   M MLP width   K classes
 *
 * One image's journey, and the file that tells each leg of it:
 *   brush.c (strokes → bytes)  pixels.c (bytes → C,H,W)  stem.c (→ S,H/s,W/s, if asked)
 *   patches.c (→ N,D)  tokens.c (→ T,D)  blocks.c attention.c mlp.c norm.c (L × T,D → T,D)
 *   logits.c (→ K)  overlay.c (L,h,T,T → heat maps)
 *
 *     vit_model *model;
 *     vit_error why;
 *     if (vit_open(&model, bytes, size, NULL, &why) != VIT_OK) puts(why.text);
 *     size_t need = vit_state_size(model, 1, NULL);
 *     vit_state *state;
 *     vit_state_init(&state, malloc(need), need, model, 1, NULL);
 *     vit_run(model, state, image, 1, logits, NULL);
 *
 * No global state. Nothing here prints, exits or knows of files; only vit_open…,
 * vit_create and vit_close touch the heap.
 *
 * Vaswani et al., arXiv:1706.03762; Dosovitskiy et al., arXiv:2010.11929. */
#ifndef VIT_H
#define VIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors: what comes from outside returns a status ------------------- */

typedef enum vit_status {
    VIT_OK,
    VIT_BAD_ARGUMENT, /* a caller's value is out of range */
    VIT_NO_MEMORY,
    VIT_BAD_FILE,    /* not safetensors, or a broken one */
    VIT_BAD_CONFIG,  /* __metadata__.vitrine is missing or makes no sense */
    VIT_BAD_TENSOR,  /* missing, left over, wrong shape or type, not finite */
    VIT_BAD_IMAGE,   /* wrong size, or pixels that are not finite */
    VIT_BLANK_IMAGE, /* a drawing without ink */
    VIT_STATUS_COUNT
} vit_status;

/* Says what was expected and what came; names the tensor or the config key. */
typedef struct vit_error {
    char text[240];
} vit_error;

/* "ok", "bad_argument", … : the `code` of the JS API's VitError. */
const char *vit_status_name(vit_status status);

/* ---- The model ---------------------------------------------------------- */

typedef enum vit_norm { VIT_PRE, VIT_POST } vit_norm;
typedef enum vit_activation { VIT_GELU, VIT_GELU_TANH, VIT_QUICK_GELU, VIT_RELU } vit_activation;
typedef enum vit_position {
    VIT_POSITION_NONE,
    VIT_LEARNED,
    VIT_SINCOS1D,
    VIT_SINCOS2D,
    VIT_RELATIVE
} vit_position;
/* What feeds the head: the class token; of the patch tokens the mean, what a learned query sees,
 * the largest, or half of mean and largest; the class token and the mean of the patches, side by
 * side (2D); of tokens that attend to each other once more, without any weights, the class token
 * or else the mean (PRR, as timm has it). Only the first two train. */
typedef enum vit_pool {
    VIT_POOL_CLASS,
    VIT_POOL_MEAN,
    VIT_POOL_ATTENTION,
    VIT_POOL_MAX,
    VIT_POOL_MEAN_MAX,
    VIT_POOL_CLASS_MEAN,
    VIT_POOL_PRR
} vit_pool;
/* How a file has a patch's pixels, where its projection is a matrix: (C,P,Q) or (P,Q,C). */
typedef enum vit_patch_order { VIT_CHANNELS_FIRST, VIT_CHANNELS_LAST } vit_patch_order;
typedef enum vit_attention { VIT_STANDARD, VIT_PER_HEAD } vit_attention;
typedef enum vit_prepare { VIT_PREPARE_NONE, VIT_PREPARE_DIGIT, VIT_PREPARE_PHOTO } vit_prepare;
typedef enum vit_filter { VIT_BILINEAR, VIT_BICUBIC, VIT_LANCZOS, VIT_NEAREST } vit_filter;
/* Two lengths: either side becomes its own; or the shape is kept, and none is too short; or none
 * is too long. */
typedef enum vit_fit { VIT_STRETCH, VIT_COVER, VIT_CONTAIN } vit_fit;

enum { VIT_STEM_MOST = 6 };

/* How other code resizes a grid of positions, always bicubic: timm with antialiasing, transformers
 * without, facebook's DINOv2 by a scale that is 0.1 rows too large, torchvision with align_corners.
 */
typedef enum vit_resize {
    VIT_RESIZE_BY_FAMILY, /* of our own files: as timm */
    VIT_RESIZE_ANTIALIAS,
    VIT_RESIZE_PLAIN,
    VIT_RESIZE_OFFSET,
    VIT_RESIZE_ALIGN_CORNERS
} vit_resize;

typedef struct vit_config {
    size_t image_size[2], patch_size[2]; /* rows, columns */
    size_t channels, width, depth, heads, mlp_width;
    size_t classes;     /* 0: a model without a head */
    size_t head_width;  /* d; 0: D/h */
    size_t stem_layers; /* convolutions, 3×3 with padding 1 */
    struct {
        size_t channels, stride; /* stride: 1 or 2 */
    } stem[VIT_STEM_MOST];
    vit_norm norm;
    float norm_eps;
    bool final_norm;
    vit_activation activation;
    vit_position position;
    size_t position_size[2]; /* that of images the learned positions are of; 0: image_size */
    vit_pool pool;
    bool pool_prefix; /* patches and prefix are pooled; of class_mean without the class token */
    vit_patch_order patch_order;
    bool qkv_bias, qk_norm, layer_scale;
    bool patch_bias, head_bias; /* CLIP's patches and projection have none */
    size_t class_tokens, distillation_tokens, register_tokens; /* the prefix, in this order */
    vit_attention attention;
    float temperature;     /* above 0: the logits are divided by it to make probabilities */
    float uncertain_below; /* 0..1: an answer whose probability is less is not to be relied on */
    vit_prepare prepare;
    struct {               /* of VIT_PREPARE_PHOTO */
        size_t resize;     /* the shorter side becomes so long; 0: */
        size_t stretch[2]; /* rows and columns become so many; 0: as many as they are */
        vit_fit fit;       /* of `stretch` */
        size_t crop[2];    /* rows and columns of the middle */
        bool crop_floor;   /* half of an odd margin is rounded down, not to the even number */
        bool fills;        /* what a photo lacks of the crop is `fill`; else it is refused */
        float mean[4], std[4], fill[4]; /* fill: 0..255, one number a channel */
        vit_filter filter;
    } photo;
    /* Not config keys; seen in the file. */
    bool fc_norm;                   /* mean pooling first, then fc_norm, as timm does */
    bool patch_norm_in, patch_norm; /* patches are normed before, after they become tokens */
    bool norm_pre;                  /* the tokens are normed before the blocks, as CLIP does */
    bool class_position; /* pos_embed has a row for the class token, but none for registers */
    bool no_head_dist;
    bool int8;               /* the blocks' matrices are int8 with a scale for each row */
    size_t position_rows;    /* rows of pos_embed: T, or N where the prefix has none */
    size_t position_grid[2]; /* as they are in the file, before they are resized */
    vit_resize resize;       /* of a grid of positions for another image size */
} vit_config;

size_t vit_patches(const vit_config *config); /* N */
size_t vit_prefix(const vit_config *config);  /* T - N */
size_t vit_tokens(const vit_config *config);  /* T */

/* Reads the config's JSON text (DESIGN: "The model") and checks every value. */
vit_status vit_config_read(vit_config *config, const char *json, size_t size, vit_error *why);

typedef struct vit_model vit_model; /* const after opening: share freely among threads */
struct vit_kernels;                 /* kernels/kernels.h; NULL: the best compiled in */

/* Opens a safetensors file, its config in __metadata__.vitrine. Copies what it
 * needs: `bytes` may go afterwards. On failure *out is NULL. A file whose blocks are int8
 * gives a model whose blocks run in int8. */
vit_status vit_open(vit_model **out, const void *bytes, size_t size,
                    const struct vit_kernels *kernels, vit_error *why);

/* The same with the config given apart as JSON text; NULL: the file's own. */
vit_status vit_open_with_config(vit_model **out, const void *bytes, size_t size, const char *json,
                                size_t json_size, const struct vit_kernels *kernels,
                                vit_error *why);
void vit_close(vit_model *model); /* NULL is fine */

/* The same while the file comes, which is then never in memory whole: begin, feed all of its
 * bytes in order, in pieces of any size, end. The header is checked as soon as it is there,
 * every tensor as it is packed; after a failure, whose status `feed` returns, more is ignored. */
typedef struct vit_loader vit_loader;
/* `json` as above, borrowed until the end. On failure *out is NULL. */
vit_status vit_open_begin(vit_loader **out, size_t file_size, const char *json, size_t json_size,
                          const struct vit_kernels *kernels, vit_error *why);
vit_status vit_open_feed(vit_loader *loader, const void *bytes, size_t size);
/* Frees the loader, at any time: before all is fed, that is VIT_BAD_FILE. `why`: of the first
 * failure. */
vit_status vit_open_end(vit_model **out, vit_loader *loader, vit_error *why);

const vit_config *vit_model_config(const vit_model *model);
/* The config as JSON text: `__metadata__.vitrine`, unescaped. Lives as long as the model. */
const char *vit_model_json(const vit_model *model, size_t *size);
/* Whose file it was, and how it was read, as JSON text: {"family": "timm", "assumed": ["heads"],
 * "skipped": ["mask_token"], "projection": "head"}. family: "vitrine" for one with its own config;
 * assumed: config keys that nothing told; skipped: tensors that are not the model's; projection:
 * what places an image among texts, the logits ("head") or what feeds a head ("pooled"), or null.
 * Lives as long as the model. NULL, and no size, for a model that was created. */
const char *vit_model_origin(const vit_model *model, size_t *size);
/* Name of class `index`; NULL past the end, or where the config has no `labels`. */
const char *vit_model_label(const vit_model *model, size_t index);
const struct vit_kernels *vit_model_kernels(const vit_model *model);
size_t vit_model_bytes(const vit_model *model); /* heap the model holds */

/* ---- Running ------------------------------------------------------------ */

/* The caller's threads, which the library knows only as this. run() calls part(context, i, count)
 * once for every i < count, in any order and at once where it can, for a count from 1 to size of
 * its own choice, and returns when all of them have. */
typedef void vit_part(void *context, size_t index, size_t count);
typedef struct vit_team {
    size_t size;
    void (*run)(struct vit_team *team, vit_part *part, void *context);
} vit_team;

typedef struct vit_state vit_state; /* one arena for all that a run needs; one run at a time */

/* Bytes for a state that runs up to `batch` images a call, on `team`; NULL: on the caller's own
 * thread. 0 if that overflows. */
size_t vit_state_size(const vit_model *model, size_t batch, const vit_team *team);
/* Lays a state into caller-owned `memory` (any alignment). Borrows the team, whose size must not
 * change, as long as the state is run. */
vit_status vit_state_init(vit_state **out, void *memory, size_t size, const vit_model *model,
                          size_t batch, vit_team *team);

/* Optional outputs of a run; a NULL pointer is not written. Layer masks have L
 * entries, nonzero where wanted; a NULL mask wants all. l = how many are wanted. */
typedef struct vit_taps {
    float *attention; /* (B,l,h,T,T); every row sums to 1 */
    const uint8_t *attention_layers;
    float *hidden; /* (B,l,T,D): the tokens after each wanted block */
    const uint8_t *hidden_layers;
    float *tokens; /* (B,T,D): after the last block and the final norm */
    float *pooled; /* (B,D): what feeds the head, or would */
} vit_taps;

/* images (B,C,H,W) → logits (B,K), which may be NULL. Values that are not finite:
 * VIT_BAD_IMAGE, and nothing is run. Batches above the state's own are run in parts. A team
 * shares out whole images where it can, else the tokens of each; logits and taps are the same to
 * the bit for any team, where the kernels' rows do not depend on their number (kernels.h). */
vit_status vit_run(const vit_model *model, vit_state *state, const float *images, size_t batch,
                   float *logits, const vit_taps *taps);

/* p (K) = softmax(logits / temperature), which sums to 1. A temperature above 0, as `vit calibrate`
 * finds it: Guo et al., arXiv:1706.04599, section 4.2. p may be logits. */
void vit_probabilities(float *p, const float *logits, size_t classes, float temperature);

/* ---- Overlays: attention → (grid rows, grid columns) heat maps ---------- */

#define VIT_MEAN_OF_HEADS SIZE_MAX

/* What token `token` attends to. attention (h,T,T) of one layer; map (T-prefix). */
void vit_overlay_row(float *map, const float *attention, size_t heads, size_t tokens, size_t prefix,
                     size_t head, size_t token);

typedef enum vit_fuse { VIT_FUSE_MEAN, VIT_FUSE_MAX, VIT_FUSE_MIN } vit_fuse;

/* Attention rollout of the first token (the mean over patches where there is no
 * prefix): the product over layers of row-normalised (fuse over heads + identity),
 * after dropping each fused row's `discard` share of smallest values, never the
 * first column. attention (L,h,T,T); map (T-prefix), sums to 1 unless all was the
 * prefix's; scratch 3·T floats. Abnar & Zuidema, arXiv:2005.00928, section 3. */
void vit_overlay_rollout(float *map, float *scratch, const float *attention, size_t layers,
                         size_t heads, size_t tokens, size_t prefix, float discard, vit_fuse fuse);

/* ---- Drawing ------------------------------------------------------------ */

/* Where a pen was, in pixels from the upper left corner, and how wide it was there. */
typedef struct vit_point {
    float x, y, width;
} vit_point;

/* Adds a stroke to `ink` (rows,columns), 0 none … 255 full: quadratic curves through the
 * midpoints of its points, round ends, one point a dot. What lies outside is not drawn; the
 * points are finite. */
void vit_draw_stroke(uint8_t *ink, size_t rows, size_t columns, const vit_point *points,
                     size_t count);

/* ---- Pixels ------------------------------------------------------------- */

/* Bytes of one image, `channels` interleaved: 1 grey, 2 grey+alpha, 3 RGB, 4 RGBA. */
typedef struct vit_pixels {
    const uint8_t *data;
    size_t rows, columns, channels;
} vit_pixels;

/* Bytes of scratch memory that vit_prepare_image needs; 0 if the image is refused. */
size_t vit_prepare_size(const vit_config *config, size_t rows, size_t columns, size_t channels);
/* Pixels → image (C,H,W) as the config's `prepare` says. `scratch`: 16-byte aligned. */
vit_status vit_prepare_image(float *image, void *scratch, const vit_pixels *pixels,
                             const vit_config *config, vit_error *why);

/* A drawing → (rows,columns) of ink in 0..1, by MNIST's own recipe: ink is what
 * differs from the paper, darker or lighter; cropped to its box, scaled by area so
 * that the longer side is 20/28 of the image, centred by mass. LeCun et al. 1998.
 * `scratch`: what vit_prepare_size says for a digit model of that image size. */
vit_status vit_prepare_digit(float *image, void *scratch, const vit_pixels *pixels, size_t rows,
                             size_t columns, vit_error *why);

/* ---- Training ----------------------------------------------------------- */

/* A model of this shape with all parameters 0 and natural layout (kernels must take
 * weights unpacked: kernels->packed is false). `json`: kept as the model's config text. */
vit_status vit_create(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                      const struct vit_kernels *kernels, vit_error *why);

/* One named tensor of a model, in file order. */
typedef struct vit_tensor {
    char name[64];
    size_t shape[4], rank;
    size_t offset, count; /* in floats, within vit_parameters() */
    bool matrix;          /* a weight of two or more dimensions: decays */
    bool int8;            /* a matrix of an int8 model */
} vit_tensor;

size_t vit_tensor_count(const vit_model *model);
vit_tensor vit_tensor_at(const vit_model *model, size_t index);
/* All parameters as one array of *count floats. NULL where weights are packed or int8 (opened
 * for running only). */
float *vit_parameters(vit_model *model, size_t *count);

/* The activations of a forward pass kept for the backward pass. */
typedef struct vit_tape vit_tape;
/* 0 for models that are only run here: pooling by attention, with norms around the patches or
 * before the blocks, without a head. */
size_t vit_tape_size(const vit_model *model, size_t batch);
vit_status vit_tape_init(vit_tape **out, void *memory, size_t size, const vit_model *model,
                         size_t batch);
/* images (B,C,H,W), borrowed until vit_backward → logits (B,K), keeping the tape. `keep` (B,L)
 * scales each image's two residual branches of each block (stochastic depth, Huang et al. 2016);
 * NULL: 1. */
void vit_forward(const vit_model *model, vit_tape *tape, const float *images, size_t batch,
                 float *logits, const float *keep);
/* Adds to gradient, laid out as vit_parameters(), given dlogits (B,K) of the last
 * vit_forward on this tape. */
void vit_backward(const vit_model *model, vit_tape *tape, size_t batch, const float *dlogits,
                  float *gradient);

/* Mean cross-entropy of softmax(logits) against labels smoothed by `smoothing`
 * (Szegedy et al., arXiv:1512.00567, section 7), against all classes alike where a label is none
 * of them (Hendrycks et al., arXiv:1812.04606, section 3); dlogits is its gradient times
 * `scale`, and may be logits. Returns the sum of the losses over the batch. */
double vit_cross_entropy(float *dlogits, const float *logits, const uint8_t *labels, size_t batch,
                         size_t classes, float smoothing, float scale);

/* Distillation (Hinton et al., arXiv:1503.02531, at temperature 1): the cross-entropy of
 * softmax(logits) against softmax(teacher), all (B,K); adds its gradient times `scale` to dlogits.
 * Returns the sum of the losses over the batch. */
double vit_distillation(float *dlogits, const float *logits, const float *teacher, size_t batch,
                        size_t classes, float scale);

/* The model as a safetensors file with `json` as __metadata__.vitrine. Needs natural
 * layout. Returns the bytes needed; writes when `capacity` is enough. */
size_t vit_encode(uint8_t *out, size_t capacity, const vit_model *model, const float *parameters,
                  const char *json, size_t json_size);
/* The same with the matrices of stem and blocks in int8: each row by its own scale, in
 * `<name>.scale`, so that its largest number is ±127. The stem's become floats again when they are
 * loaded. 0 where a row is too long for sums of int8. */
size_t vit_encode_int8(uint8_t *out, size_t capacity, const vit_model *model,
                       const float *parameters, const char *json, size_t json_size);

#ifdef __cplusplus
}
#endif
#endif
