/* A model's config: its sizes and kinds. The letters are those of vit.h. */
#ifndef VIT_VIT_CONFIG_H
#define VIT_VIT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* A word of the config's JSON is the enumerator in small letters, without VIT_ and without the
 * enum's name. */
typedef enum vit_norm { VIT_PRE, VIT_POST } vit_norm;
typedef enum vit_activation { VIT_GELU, VIT_GELU_TANH, VIT_QUICK_GELU, VIT_RELU } vit_activation;
typedef enum vit_position {
    VIT_POSITION_NONE,
    VIT_LEARNED,
    VIT_SINCOS1D,
    VIT_SINCOS2D,
    VIT_RELATIVE
} vit_position;
/* What feeds the head. Only the first two train. */
typedef enum vit_pool {
    VIT_POOL_CLASS,      /* the class token */
    VIT_POOL_MEAN,       /* the mean of the patch tokens */
    VIT_POOL_ATTENTION,  /* what a learned query gathers from the patch tokens */
    VIT_POOL_MAX,        /* the largest of the patch tokens, number by number */
    VIT_POOL_MEAN_MAX,   /* half of the mean plus half of the largest */
    VIT_POOL_CLASS_MEAN, /* the class token and the mean side by side: 2D numbers */
    VIT_POOL_PRR /* timm's parameter-free pooling: all tokens attend to each other without weights;
                    then the class token is taken, or the mean if there is no class token */
} vit_pool;
/* The order of a patch's numbers, if the file has the patches' projection as a matrix. */
typedef enum vit_patch_order {
    VIT_CHANNELS_FIRST, /* (C,P,Q) */
    VIT_CHANNELS_LAST   /* (P,Q,C) */
} vit_patch_order;
typedef enum vit_attention { VIT_STANDARD, VIT_PER_HEAD } vit_attention;
/* What the logits are. The words are transformers'. */
typedef enum vit_problem {
    VIT_SINGLE_LABEL_CLASSIFICATION, /* one class is right: softmax */
    VIT_MULTI_LABEL_CLASSIFICATION,  /* any number of classes is right: each has a sigmoid */
    VIT_REGRESSION                   /* the logits are the values themselves */
} vit_problem;
typedef enum vit_prepare {
    VIT_PREPARE_NONE, /* without the key: bytes of the image's size, as 0 to 1 */
    VIT_PREPARE_DIGIT,
    VIT_PREPARE_PHOTO,
    VIT_PREPARE_UNKNOWN /* null: pixels are refused */
} vit_prepare;
typedef enum vit_filter { VIT_BILINEAR, VIT_BICUBIC, VIT_LANCZOS, VIT_NEAREST } vit_filter;
/* How a photo is resized to two lengths. */
typedef enum vit_fit {
    VIT_STRETCH, /* each side becomes its own length */
    VIT_COVER,   /* the proportions stay, and no side is too short */
    VIT_CONTAIN  /* the proportions stay, and no side is too long */
} vit_fit;

enum { VIT_STEM_MOST = 6 };

/* How a grid of positions is resized. All ways are bicubic. */
typedef enum vit_resize {
    VIT_RESIZE_BY_FAMILY,    /* of earlier configs: the next one */
    VIT_RESIZE_ANTIALIAS,    /* timm: with antialiasing */
    VIT_RESIZE_PLAIN,        /* transformers: without antialiasing */
    VIT_RESIZE_OFFSET,       /* facebook's DINOv2: the scale is that of a grid 0.1 rows larger */
    VIT_RESIZE_ALIGN_CORNERS /* torchvision: corners stay on corners */
} vit_resize;

/* A config key has the name of its field, unless a comment says otherwise. */
typedef struct vit_config {
    size_t image_size[2], patch_size[2]; /* rows, columns; (P,Q) is the patch size */
    size_t channels, width, depth, heads, mlp_width;
    size_t classes;     /* 0: the model has no head */
    size_t head_width;  /* d; 0: D/h */
    size_t stem_layers; /* convolutions of 3×3 with padding 1, before the patches are cut */
    struct {
        size_t channels, stride; /* stride: 1 or 2 */
    } stem[VIT_STEM_MOST];
    vit_norm norm;
    float norm_eps;
    bool final_norm;
    vit_activation activation;
    vit_position position;
    size_t position_size[2]; /* the image size that the learned positions fit; 0: image_size */
    vit_pool pool;
    bool pool_prefix; /* the prefix is pooled with the patches; for class_mean, the prefix without
                         the class token */
    vit_patch_order patch_order;
    bool qkv_bias, qk_norm, layer_scale;
    bool residual; /* a branch's output is added to its input; false: it takes its place */
    bool patch_bias, head_bias;
    size_t class_tokens, distillation_tokens, register_tokens; /* `prefix`, in this order */
    vit_attention attention;
    vit_problem problem_type; /* a model of one class that does not say: multi-label */
    float temperature;        /* the logits are divided by it to make probabilities */
    float uncertain_below;    /* an answer whose probability is lower is uncertain; 0..1 */
    float unfinished_ink;     /* an unfinished drawing is multiplied by it; above 0, up to 1 */
    vit_prepare prepare;
    struct {               /* the rest of `prepare`, if its kind is photo */
        size_t resize;     /* the length that the shorter side becomes; 0: see `stretch` */
        size_t stretch[2]; /* the lengths that rows and columns become; 0: unchanged */
        vit_fit fit;       /* how, if `stretch` is used */
        size_t crop[2];    /* the rows and columns of the middle part that is kept */
        bool crop_floor;   /* half of an odd margin is rounded down, not to the even number */
        bool fills;        /* a photo smaller than the crop is filled up; otherwise refused */
        float mean[4], std[4], fill[4]; /* one number a channel; fill: 0..255 */
        vit_filter filter;              /* `interpolation` */
    } photo;
    /* vit_open finds these in the file. Only `resize` has a config key. */
    bool fc_norm;                   /* the norm comes after the mean, not before it */
    bool patch_norm_in, patch_norm; /* patches are normed before and after they become tokens */
    bool norm_pre;                  /* the tokens are normed before the blocks */
    bool class_position;     /* pos_embed has a row for the class token but none for registers */
    bool no_head_dist;       /* the distillation token has no head of its own */
    bool int8;               /* the blocks' matrices are int8 */
    size_t position_rows;    /* rows of pos_embed: T, or N if the prefix has none */
    size_t position_grid[2]; /* rows and columns of the grid in the file */
    vit_resize resize;       /* `position_resize` */
} vit_config;

#endif
