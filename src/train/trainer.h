/* The loop: step after step, epoch after epoch. Its result depends only on the recipe, the data,
 * the seed and the number of threads. */
#ifndef VIT_TRAINER_H
#define VIT_TRAINER_H

#include "checkpoint.h"
#include "job.h"
#include "vit.h"

struct trainer;

/* Borrows all arguments. team: NULL for one thread. The data's images are of the channels and the
 * size that the recipe's model takes.
 * → *out, which the caller closes; NULL on failure. */
vit_status trainer_open(struct trainer **out, const struct train_job *job, vit_team *team,
                        vit_error *why);
void trainer_close(struct trainer *trainer);

/* Where the run is. The caller may fill it from a checkpoint before the first step. */
struct checkpoint *trainer_state(struct trainer *trainer);
/* The share of right answers among the samples that have a class. */
double step_accuracy(const struct step_sums *sums);
/* The samples of an epoch. */
size_t trainer_images(const struct trainer *trainer);
/* All epochs are done. */
bool trainer_finished(const struct trainer *trainer);
/* All steps of an epoch are done: trainer_end_epoch comes next. */
bool trainer_at_end_of_epoch(const struct trainer *trainer);
/* Takes the next step. Error: the gradient is no longer finite; the parameters are unchanged. */
vit_status trainer_step(struct trainer *trainer, vit_error *why);
/* Measures the average on the validation part, and fills the epoch's record, but for its speed. */
vit_status trainer_end_epoch(struct trainer *trainer, vit_error *why);
/* The average of the parameters so far as a model file. accuracy < 0: not measured. → its bytes,
 * which the caller frees; NULL without memory. */
uint8_t *trainer_model(const struct trainer *trainer, double accuracy, size_t *size);

#endif
