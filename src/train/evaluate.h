/* Loss, accuracy and answers of a model on a data set. */
#ifndef VIT_EVALUATE_H
#define VIT_EVALUATE_H

#include "data.h"
#include "vit.h"

struct score {
    size_t count, correct;
    double loss;                     /* mean cross-entropy of the probabilities */
    double calibration_error;        /* of the probabilities of the answers; a text's is the product
                                        of its tokens' */
    size_t uncertain;                /* answers whose probability is below uncertain_below */
    size_t others, others_uncertain; /* images whose label is no class; the rest leaves them out */
};

/* Scores a model's answers at a temperature. logits (count,K), doubt (count), from 0 to 1, or
 * NULL: none, labels (count) below K → p (count): the probabilities of the answers, the right
 * ones first. */
struct score score_answers(float *p, const float *logits, const float *doubt,
                           const uint32_t *labels, size_t count, size_t classes,
                           double temperature);
/* Runs `model` on images first…first+count, and scores its answers at its own temperature.
 * `confusion` (K,K), may be NULL: counts by [true][predicted], which are added to.
 * Of a model with a decoder: `correct` counts the texts that it writes greedily as the labels have
 * them, after the first token, and `loss` is the mean over the tokens of the forced texts. */
vit_status evaluate(struct score *score, size_t *confusion, vit_team *team, const vit_model *model,
                    const struct data_set *data, size_t first, size_t count, vit_error *why);
/* The same images' logits (count,K), and how much the model doubts them (count): 0 if its config
 * has no doubt. */
vit_status evaluate_logits(float *logits, float *doubt, vit_team *team, const vit_model *model,
                           const struct data_set *data, size_t first, size_t count, vit_error *why);

/* A text that was written: its probability, and whether it is the label's. */
struct text_answer {
    float p;
    bool right;
};
/* As evaluate, of a model with a decoder → texts (count); unless NULL, logits (count,S-1,V): of the
 * labels' tokens after the first, where text_length says that there is one. S: data->text_tokens. */
vit_status evaluate_texts(struct score *score, struct text_answer *texts, float *logits,
                          vit_team *team, const vit_model *model, const struct data_set *data,
                          size_t first, size_t count, vit_error *why);
/* The tokens of a label without its paddings. */
size_t text_length(const uint8_t *label, size_t tokens, const vit_text_config *c);
/* The index of the largest of n logits; the first of equals. */
size_t largest_logit(const float *logits, size_t n);

#endif
