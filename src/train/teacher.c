/* Distillation: the targets are in part the answers of another model, the teacher, to the same
 * images. Hinton, Vinyals & Dean, arXiv:1503.02531. */
#include "teacher.h"
#include "base/error.h"
#include "evaluate.h"
#include "recipe.h"
#include "samples.h"
#include "tape.h"

#include <stdlib.h>
#include <string.h>

vit_status teacher_check(const vit_model *teacher, const struct recipe *recipe, vit_error *why) {
    if (!teacher && recipe->distillation > 0)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "training key distillation: expected a model to learn from, a teacher");
    if (teacher && recipe->distillation == 0)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "teacher: expected a recipe with distillation above 0, got 0");
    if (!teacher) return VIT_OK;
    const vit_config *c = vit_model_config(teacher), *own = &recipe->config;
    /* The teacher sees the recipe's images, standardised by the recipe's mean and deviation. */
    bool same_light = true;
    for (size_t i = 0; c->prepare == VIT_PREPARE_PHOTO && i < own->channels; i++)
        same_light = same_light && c->photo.mean[i] == own->photo.mean[i] &&
                     c->photo.std[i] == own->photo.std[i];
    if (c->channels == own->channels && c->classes == own->classes && c->prepare == own->prepare &&
        same_light && !memcmp(c->image_size, own->image_size, sizeof c->image_size))
        return VIT_OK;
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "teacher: expected a model of the same images and classes as the recipe's");
}

bool teacher_room_open(struct teacher_room *room, const vit_model *teacher) {
    size_t size = vit_state_size(teacher, 1, NULL);
    room->memory = malloc(size);
    return room->memory && !vit_state_init(&room->state, room->memory, size, teacher, 1, NULL);
}

void teacher_room_close(struct teacher_room *room) {
    free(room->memory);
    *room = (struct teacher_room){0};
}

void teacher_answer(float *logits, const struct teacher_room *room, const vit_model *teacher,
                    const float *image) {
    vit_run(teacher, room->state, image, 1, logits, NULL); /* never fails on a finite image */
}

static bool answer_counts(const float *answer, size_t classes, struct sample sample) {
    return sample.advice == ADVICE_ALWAYS ||
           (sample.advice == ADVICE_IF_RIGHT && largest_logit(answer, classes) == sample.label);
}

double teacher_blend(float *dlogits, const float *logits, const float *answer, size_t classes,
                     struct sample sample, double share, double loss, float scale) {
    if (!answer_counts(answer, classes, sample)) return loss;
    for (size_t i = 0; i < classes; i++) dlogits[i] *= (float)(1 - share);
    return (1 - share) * loss +
           share * vit_distillation(dlogits, logits, answer, 1, classes, (float)share * scale);
}
