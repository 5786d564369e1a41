/* The inputs of a training run. */
#ifndef VIT_JOB_H
#define VIT_JOB_H

#include "data.h"
#include "recipe.h"
#include "strokes.h"
#include "vit.h"

struct train_job {
    const struct recipe *recipe;
    const struct data_set *data;
    const struct drawings *drawings;   /* NULL: none */
    vit_model *start;                  /* fine-tune from it; NULL: from random parameters */
    vit_model *teacher;                /* NULL: none */
    const struct vit_kernels *kernels; /* that do not pack; NULL: the recipe's */
};

#endif
