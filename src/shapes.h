/* Sizes that follow from a config: of maps, patches and tokens. */
#ifndef VIT_SHAPES_H
#define VIT_SHAPES_H

#include "vit.h"

/* Channels of numbers over a grid: an image, or the output of a convolution of the stem. */
struct maps {
    float *x;
    size_t channels, rows, columns, channel_step, row_step, column_step;
};
/* The maps after `layer` convolutions; 0: the image. x: their numbers. */
struct maps stem_maps(const vit_config *config, size_t layer, float *x);
size_t maps_floats(const struct maps *maps);
/* The maps after `split` of the two steps of tokens_to_token; 0: the image. */
struct maps split_maps(const vit_config *config, size_t split, float *x);
/* Numbers of a square that step `split` cuts out; and random features of a performer's keys, else 0. */
size_t split_values(const vit_config *config, size_t split);
size_t split_features(const vit_config *config);
/* How many pixels lie from one position of the stem's last maps to the next. */
size_t stem_stride(const vit_config *config);

/* Rows (0) or columns (1) of a patch, and from one to the next, in positions of the last maps of the
 * stem or of tokens_to_token. */
size_t patch_side(const vit_config *config, int axis);
size_t patch_step(const vit_config *config, int axis);
/* The patches of a side of an image that has this many pixels there. */
size_t grid_side(const vit_config *config, int axis, size_t pixels);
/* The least pixels of a side that has this many patches. */
size_t grid_pixels(const vit_config *config, int axis, size_t patches);
/* d, the width of a head, and A, that of all heads together: D unless the config has a
 * head_width. */
size_t head_width(const vit_config *config);
size_t attention_width(const vit_config *config);

/* Numbers that the MLP's first layer makes of a token: M, or 2M if it is gated. */
size_t mlp_rows(const vit_config *config);

/* Numbers of a detection token's answer: a score for each class and for no object, then a box. */
size_t object_numbers(const vit_config *config);

/* Whether pos_embed is a parameter. */
bool learns_positions(const vit_config *config);

/* Whether the tokens are normed after the last block. */
bool norms_tokens(const vit_config *config);
/* Whether what is pooled is normed. */
bool norms_pooled(const vit_config *config);

/* Numbers that feed the head: D, or 2D if the pool is class_mean. */
size_t head_features(const vit_config *config);

/* The heads of a pool by attention, and the numbers between the two layers of its MLP. */
size_t pool_heads(const vit_config *config);
size_t pool_mlp_width(const vit_config *config);

/* How many tokens a pool reads that is not the class token: it reads the last ones. */
size_t pooled_rows(const vit_config *config);

/* C·P·Q: the numbers of a patch, after the stem. */
size_t patch_values(const vit_config *config);

#endif
