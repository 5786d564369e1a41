/* What to train and how, as JSON. */
#ifndef VIT_RECIPE_H
#define VIT_RECIPE_H

#include "augment.h"
#include "save.h"
#include "vit.h"

enum start { START_XAVIER, START_MIMETIC };
enum optimizer { OPTIMIZER_ADAMW, OPTIMIZER_ADAM, OPTIMIZER_MUON };
enum schedule { SCHEDULE_COSINE, SCHEDULE_CONSTANT };
enum precision { PRECISION_FLOAT32, PRECISION_BFLOAT16 };

struct recipe {
    vit_config config;
    char *model; /* the config as compact JSON, owned */
    size_t epochs, batch, validation;
    uint64_t seed;
    double learning_rate, min_learning_rate, warmup_epochs;
    double weight_decay, beta1, beta2, epsilon;
    double clip_norm; /* 0: never clip */
    double label_smoothing, ema_decay, drop_path;
    size_t freeze;    /* blocks that are not trained, nor what lies before them: recipe_trains */
    double sharpness; /* how far uphill a step takes its gradient; 0: where it stands */
    size_t sharpness_batch; /* samples that climb together; 0: the whole batch */
    size_t drawings;        /* times that an epoch draws each drawing */
    double hand;            /* bends drawings, presses unevenly, turns half of the 1s into lines */
    double habits;          /* the share of each habit's chance in habits.c */
    double unfinished;      /* share of the drawings that stop early */
    double halves;          /* share of these that stop at about their half */
    double doubt;         /* times the share not drawn: such a drawing's chance to teach no digit */
    double distillation;  /* share of the targets that is a teacher's answer */
    double negatives;     /* drawings of no digit, as a share of the images */
    double mixup, cutmix; /* shares of the images that are mixed with another one */
    size_t start, optimizer, schedule; /* an enum start, an enum optimizer, an enum schedule */
    size_t precision;                  /* an enum precision: what products round their factors to */
    struct augment augment;
};

/* Reads {"model": …, "training": …}. Absent training keys take their defaults; unknown keys
 * and values out of range are errors that name the key. */
vit_status recipe_read(struct recipe *recipe, const char *json, size_t size, vit_error *why);
/* A recipe that trains models of this one's config by the `training` object. */
vit_status recipe_for(struct recipe *recipe, const vit_model *model, const char *training,
                      vit_error *why);
void recipe_close(struct recipe *recipe);
/* Whether the recipe changes such a tensor of its model. `freeze` keeps that many blocks, and stem,
 * patches, tokens and positions; depth + 1 keeps the final norm too, also one after the pooling
 * (fc_norm), so that only the head and the decoder are trained. 0 keeps nothing. */
bool recipe_trains(const struct recipe *recipe, const vit_tensor *tensor);
/* Those of the recipe's precision; float32 where this machine cannot do better. */
const struct vit_kernels *recipe_kernels(const struct recipe *recipe);
/* The `training` object as it will be run, in compact JSON, terminated. The caller frees. */
char *recipe_training_json(const struct recipe *recipe);
/* {config…, "training": …, "seed": …, "epochs": …, "validation_accuracy": …}: the metadata of
 * a finished model. `accuracy` < 0: not measured, left out. The caller frees. */
char *recipe_metadata(const struct recipe *recipe, double accuracy);

#endif
