#ifndef VIT_STEP_H
#define VIT_STEP_H

#include "checkpoint.h"
#include "job.h"
#include "samples.h"
#include "vit.h"

struct stepper; /* a step's memory, thread by thread */

/* Borrows all arguments. `model` holds the parameters of `state`. The caller closes *out, even if
 * this fails. */
vit_status stepper_open(struct stepper **out, const struct train_job *job,
                        const struct samples *samples, vit_team *team, vit_model *model,
                        const struct checkpoint *state, vit_error *why);
void stepper_close(struct stepper *stepper);
/* Step `step` of the run, counted from 0: follows the gradient of samples indices[0…n-1] of `epoch`
 * and adds to `sums`. False if the gradient is no longer finite; the parameters are unchanged
 * then. */
bool stepper_step(struct stepper *stepper, struct step_sums *sums, const uint32_t *indices,
                  size_t n, size_t epoch, size_t step, double learning_rate);

#endif
