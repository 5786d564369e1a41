/* Writes a text token by token: greedy, by beams, or by chance. Ids are those of transformers'
 * generate(), whose beam search this is: length_penalty 1, no early stopping, one text.
 *
 *     vit_writer *writer;
 *     vit_writer_init(&writer, memory, vit_writer_size(model, &how), model, &how);
 *     vit_writer_begin(writer, image, prompt, prompt_count);
 *     while (!vit_writer_result(writer)->done) vit_writer_step(writer);
 */
#ifndef VIT_TEXT_GENERATE_H
#define VIT_TEXT_GENERATE_H

#include "vit.h"

typedef struct vit_writer vit_writer;

typedef struct vit_writing {
    size_t tokens;     /* the most tokens of a text, with its first ones; at most max_tokens */
    size_t beams;      /* texts that are followed at once; 1: greedy, or by chance */
    float temperature; /* above 0: tokens are drawn, from softmax(logits / temperature). 0: the most
                          probable one is taken. Must be 0 with beams. */
    float top_p;       /* tokens are drawn from the most probable ones of this share; 1: from all */
    uint64_t seed;
} vit_writing;

/* What has been written. Each array is the writer's. */
typedef struct vit_text_output {
    const uint32_t *ids; /* (count): the text so far, with the prompt; of beams the best one */
    size_t count;
    const float *p; /* (count): how probable each token was among all, at the temperature of the
                       model's config; 1 for the prompt */
    bool done;      /* the text is complete: it ends with `end`, or has as many tokens as may be */
    /* The beams of the last step: which beam before it each goes on from, its new token, and the sum
     * of its logarithms of probabilities. beams is 0 before the first step, and of greedy texts. */
    size_t beams;
    const uint32_t *parents, *tokens;
    const float *scores;
    const float *cross; /* (L,h,T): where the last step's token looked; NULL with beams */
} vit_text_output;

/* → bytes; 0 if the model has no decoder or cannot write so. */
size_t vit_writer_size(const vit_model *model, const vit_writing *how);
/* As vit_text_init. Errors: VIT_BAD_ARGUMENT. */
vit_status vit_writer_init(vit_writer **out, void *memory, size_t size, const vit_model *model,
                           const vit_writing *how);
/* Begins the text of an image (T,E), see vit_text_set_image.
 * prompt (count): its first tokens; without them the config's `start`. Fewer than `tokens`.
 * Errors: as vit_text_set_image and vit_text_run. */
vit_status vit_writer_begin(vit_writer *writer, const float *image, const uint32_t *prompt,
                            size_t count);
/* Writes one token more, unless the text is done. */
void vit_writer_step(vit_writer *writer);
const vit_text_output *vit_writer_result(const vit_writer *writer);

#endif
