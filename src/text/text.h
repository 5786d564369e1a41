/* A transformer of texts: the decoder that reads an image's tokens, and the tower beside images. Both
 * are the same blocks; only the decoder's have cross-attention. The rules of vit.h hold here too.
 *
 * S tokens of a text, D width, L blocks, h heads, V vocabulary: all of `decoder` or `text` of the
 * config. T and E: the image's tokens and their width. */
#ifndef VIT_TEXT_TEXT_H
#define VIT_TEXT_TEXT_H

#include "vit.h"

typedef enum vit_text_part { VIT_DECODER, VIT_TOWER } vit_text_part;

/* The working memory of some texts: their keys and values of each block, and those of the image. */
typedef struct vit_text vit_text;

/* → the config of one part; its depth is 0 if the model does not have it. */
const vit_text_config *vit_text_of(const vit_config *config, vit_text_part part);

/* → how many bytes are needed for `texts` texts of up to `tokens` tokens. 0 if the model has no such
 * part, if one of both is 0, if tokens is above max_tokens, or if that many bytes do not fit in
 * size_t. */
size_t vit_text_size(const vit_model *model, vit_text_part part, size_t texts, size_t tokens);

/* Makes texts without tokens in `memory` (size), which may have any alignment and which the caller
 * owns. model: kept.
 * → *out: the texts, inside `memory`; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, or vit_text_size is 0. */
vit_status vit_text_init(vit_text **out, void *memory, size_t size, const vit_model *model,
                         vit_text_part part, size_t texts, size_t tokens);

/* Makes cross-attention's keys and values of one image, which all texts read from now on, and begins
 * the texts again. Only of a decoder.
 * image (T,E): vit_taps.tokens. T: vit_tokens of the config that made them, at most that of the model.
 * Errors: VIT_BAD_ARGUMENT if the texts are a tower's, VIT_BAD_IMAGE if a number is not finite. */
vit_status vit_text_set_image(vit_text *text, const float *image);

/* Arrays that vit_text_run writes, which the caller owns; a pointer that is NULL is not written.
 * P: the tokens before this run. n: those of this run. */
typedef struct vit_text_taps {
    float *self;   /* (B,L,h,n,P+n): rows sum to 1; 0 where the mask hides a token */
    float *cross;  /* (B,L,h,n,T) */
    float *hidden; /* (B,n,D): the tokens after the last block and the final norm */
    bool last;     /* logits (B,V) of the last token of each text, not of all */
} vit_text_taps;

/* Runs the next n tokens of the first B texts; the cache keeps what the tokens after them need.
 * ids (B,n): below V.
 * → logits (B,n,V) of a decoder: what the next token may be; NULL: not needed.
 * Errors: VIT_BAD_ARGUMENT if there is no room for as many texts or tokens, if a number is not a
 * token, or if a decoder has seen no image; nothing is run then. */
vit_status vit_text_run(vit_text *text, const uint32_t *ids, size_t batch, size_t n, float *logits,
                        const vit_text_taps *taps);

/* → P: how many tokens have been run; the texts all have as many. */
size_t vit_text_tokens(const vit_text *text);
/* The texts begin again. A decoder still sees its image. */
void vit_text_clear(vit_text *text);
/* Text i goes on from what text from[i] was, for i < count. */
void vit_text_reorder(vit_text *text, const uint32_t *from, size_t count);

/* Whole texts of a tower: ids (B,S) → hidden (B,S,D), pooled (B,D): the token that stands for each
 * text, embeds (B,projection): what is compared with images, if there is a projection. Each of the
 * three may be NULL. Errors: as vit_text_run. */
vit_status vit_text_embed(vit_text *text, const uint32_t *ids, size_t batch, size_t S,
                          float *hidden, float *pooled, float *embeds);

#endif
