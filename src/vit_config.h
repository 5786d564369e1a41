/* A model's config: its sizes and kinds. The letters are those of vit.h. config.def has all keys
 * and words, with what each means. */
#ifndef VIT_VIT_CONFIG_H
#define VIT_VIT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* enum vit_norm with VIT_PRE and VIT_POST, vit_pool with VIT_POOL_CLASS and so on. */
#define VIT_WORDS(name) typedef enum vit_##name {
#define VIT_WORD(constant, word) constant,
#define VIT_NO_WORD(constant) constant,
#define VIT_WORDS_END(name) } vit_##name;
#include "config.def"
/* clang-format on */

enum { VIT_STEM_MOST = 6, VIT_SOFT_SPLITS = 2 };

/* The field of a key, by the key's type. */
#define VIT_FIELD_SIZE(key, of) size_t key;
#define VIT_FIELD_COUNT(key, of) size_t key;
#define VIT_FIELD_PAIR(key, of) size_t key[2]; /* rows, columns */
#define VIT_FIELD_NUMBER(key, of) float key;
#define VIT_FIELD_POSITIVE(key, of) float key;
#define VIT_FIELD_SHARE(key, of) float key;
#define VIT_FIELD_BOOL(key, of) bool key;
#define VIT_FIELD_WORD(key, of) vit_##of key;
#define VIT_FIELD_PREFIX(key, of) size_t class_tokens, distillation_tokens, register_tokens;
#define VIT_FIELD_STEM(key, of)                                                                    \
    size_t stem_layers;                                                                            \
    struct {                                                                                       \
        size_t channels, stride; /* stride: 1 or 2 */                                              \
    } stem[of];
#define VIT_FIELD_LABELS(key, of) /* they stay in the text: vit_model_label */
#define VIT_FIELD_PREPARE(key, of) vit_##of key;
#define VIT_FIELD_TEXT(key, of) vit_text_config key;
#define VIT_FIELD_TOKEN(key, of) size_t key; /* VIT_NO_TOKEN: null */
#define VIT_FIELD_PIECES(key, of)            /* they stay in the text */

#define VIT_NO_TOKEN ((size_t)-1)

/* A decoder, or a text tower beside images; both depths are 0 if a model has none. */
typedef struct vit_text_config {
#define VIT_TEXT(key, type, of, standard) VIT_FIELD_##type(key, of)
#include "config.def"
} vit_text_config;

typedef struct vit_config {
    /* image_size, patch_size, channels and so on. Without their keys head_width, position_size
     * and the like are 0. */
#define VIT_KEY(key, type, of, standard) VIT_FIELD_##type(key, of)
#include "config.def"
    struct {               /* the rest of `prepare`, if its kind is photo */
        size_t resize;     /* the length that the shorter side becomes; 0: see `stretch` */
        size_t stretch[2]; /* the lengths that rows and columns become; 0: unchanged */
        vit_fit fit;       /* how, if `stretch` is used */
        size_t crop[2];    /* the rows and columns of the middle part that is kept */
        vit_crop_at crop_at;
        bool fills; /* a photo smaller than the crop is filled up; otherwise refused */
        float mean[4], std[4], fill[4]; /* one number a channel; fill: 0..255 */
        vit_filter filter;              /* `interpolation` */
    } photo;
    /* vit_open finds these in the file. */
    bool fc_norm;                   /* the norm comes after the pool, not before it */
    bool head_norm;                 /* fc_norm comes too: what is pooled is normed again */
    bool patch_norm_in, patch_norm; /* patches are normed before and after they become tokens */
    bool norm_pre;                  /* the tokens are normed before the blocks */
    bool learned_too;               /* pos_embed is added beside relative or rotary positions */
    bool class_position; /* pos_embed has a row for the class token but none for registers */
    bool
        detections_last; /* the file's pos_embed has the rows of detection tokens after the patches' */
    bool no_head_dist;       /* the distillation token has no head of its own */
    bool int8;               /* the blocks' matrices are int8 */
    size_t position_rows;    /* rows of pos_embed: T, or N if the prefix has none */
    size_t position_grid[2]; /* rows and columns of the grid in the file */
} vit_config;

#endif
