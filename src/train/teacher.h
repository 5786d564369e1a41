/* Distillation: what a teacher answers becomes a part of the target. */
#ifndef VIT_TEACHER_H
#define VIT_TEACHER_H

#include "recipe.h"
#include "samples.h"
#include "vit.h"

struct teacher_room { /* what a thread brings */
    vit_state *state;
    void *memory;
};

/* teacher: of unpacked floats, or NULL. */
vit_status teacher_check(const vit_model *teacher, const struct recipe *recipe, vit_error *why);
bool teacher_room_open(struct teacher_room *room, const vit_model *teacher);
void teacher_room_close(struct teacher_room *room);
/* image → logits: vit_logits of them */
void teacher_answer(float *logits, const struct teacher_room *room, const vit_model *teacher,
                    const float *image);
/* Makes the teacher's answer to a sample, where it counts, a `share` of the target. `loss` and the
 * gradient dlogits, times `scale`, are those of the label alone. Returns the new loss. */
double teacher_blend(float *dlogits, const float *logits, const float *answer, size_t classes,
                     struct sample sample, double share, double loss, float scale);

#endif
