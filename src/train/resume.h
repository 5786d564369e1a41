/* Checkpoints as files. */
#ifndef VIT_RESUME_H
#define VIT_RESUME_H

#include "checkpoint.h"
#include "vit.h"

vit_status checkpoint_save(const struct checkpoint *checkpoint, const char *path, vit_error *why);
/* *found is false if there is no file. */
vit_status checkpoint_load(struct checkpoint *checkpoint, const char *path, bool *found,
                           vit_error *why);

#endif
