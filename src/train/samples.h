/* The samples of an epoch: images, drawings, drawings of no digit. */
#ifndef VIT_SAMPLES_H
#define VIT_SAMPLES_H

#include "augment.h"
#include "data.h"
#include "recipe.h"
#include "strokes.h"
#include "vit.h"

enum { MOST_MIXED = 256 }; /* classes of a model whose images are mixed */

struct samples { /* const after opening, shared by threads */
    const struct recipe *recipe;
    const struct data_set *data;
    const struct drawings *drawings; /* may be NULL */
    struct augmenter *augmenter;
    size_t *list;  /* (listed + others): drawings to train on, those of no class last */
    size_t images; /* of the data set, to train on */
    size_t listed, others, negatives, count;
};

struct sample_room { /* what a thread brings */
    uint8_t *ink, *bytes;
    vit_point *points; /* for drawings of no digit */
    struct sketch sketch;
    void *prepare;
    float *augment, *other; /* other (channels, rows, columns): the image to mix in */
};

vit_status samples_open(struct samples *samples, const struct recipe *recipe,
                        const struct data_set *data, const struct drawings *drawings,
                        vit_error *why);
void samples_close(struct samples *samples);
bool sample_room_open(struct sample_room *room, const struct samples *samples);
void sample_room_close(struct sample_room *room);
/* When a teacher's answer to a sample counts. */
enum advice {
    ADVICE_NEVER,    /* too little is drawn, or no digit */
    ADVICE_IF_RIGHT, /* where it names the label, because it may not know a drawing's habits */
    ADVICE_ALWAYS    /* an image of the data set, whose label may be wrong */
};
struct sample {
    uint8_t label; /* its class or NO_CLASS */
    enum advice advice;
    bool unfinished; /* a drawing that stops early */
    uint8_t other;   /* the class of the image that is mixed in */
    float mixed;     /* and its share, at most a half */
    size_t image;    /* of an image of the data set: its number */
};
/* Draws sample `index` of an epoch → image (channels, rows, columns) in 0..1. */
struct sample sample_draw(float *image, struct sample_room *room, const struct samples *samples,
                          size_t epoch, size_t index);

#endif
