/* Training in memory, as a page has it: images → augmented batches → forward, backward, AdamW → a
 * model. What needs files or the system's threads is in files.h.
 *
 *   recipe.c    what to train and how, as JSON
 *   augment.c   one warp per image: affine, elastic, stroke thickness
 *   data.c      data sets
 *   strokes.c   pen drawings, and pens to draw them with
 *   habits.c    changes of strokes, as other hands write
 *   negatives.c drawings that are no digit
 *   samples.c   the samples of an epoch
 *   teacher.c   distillation
 *   init.c      the first parameters
 *   adamw.c     the optimiser, its schedule, the moving average
 *   muon.c      another optimiser, for matrices
 *   flops.c     what a pass costs
 *   evaluate.c  loss, accuracy and confusion of a model on a data set
 *   calibrate.c how reliable probabilities are, and the temperature that makes them so
 *   checkpoint.c all that a run needs to go on, as bytes
 *   trainer.c   the loop: step after step, epoch after epoch
 *
 * All random numbers are functions of (seed, purpose, epoch, image): see rng.h. The result of a
 * run depends only on the recipe, the data, the seed and the number of threads. */
#ifndef VIT_TRAIN_H
#define VIT_TRAIN_H

#include "vit.h"

/* ---- Data --------------------------------------------------------------- */

struct data_set {
    uint8_t *images; /* (count, channels, rows, columns); of drawings 0 paper … 255 ink */
    uint8_t *labels; /* (count) */
    size_t count, channels, rows, columns;
};

void data_close(struct data_set *data);
/* How many numbers an image has. */
size_t data_values(const struct data_set *data);
/* Image `index` as floats in 0..1. */
void data_image(float *image, const struct data_set *data, size_t index);
/* Standardises images of `n` values in 0..1 together, each channel as a photo model's `prepare`
 * does. Other models' values stay. */
void data_standardise(float *images, size_t n, const vit_config *config);

/* ---- Drawings ----------------------------------------------------------- */

struct drawings {
    struct drawing {
        uint8_t label;
        size_t writer;
        size_t first_stroke, strokes, first_point, points;
    } * list;
    size_t count, most_points, most_strokes; /* most: of one drawing */
    size_t *lengths;                         /* (stroke_count): points of each stroke */
    float (*points)[2];                      /* x right, y down, in the file's unit */
    size_t stroke_count, point_count;
};

void drawings_close(struct drawings *drawings);

/* A fifth of the writers is held out of training and of all choices; a tenth is for choices. */
enum writers { WRITERS_TRAINING = 1, WRITERS_VALIDATION = 2, WRITERS_HELD_OUT = 4 };
enum writers writers_part(size_t writer);

/* A pen, in pixels. */
struct pen {
    float width;
    float size;           /* of the longer side */
    float stretch, slant; /* x → stretch·x + slant·(height above the foot) */
    float x, y;           /* the centre */
    /* These differ from hand to hand. All are 0 for the drawing as it is. */
    float perspective; /* how much wider the foot is than the head, as a share of the width */
    struct wave {
        float height, length, phase; /* length: radians over the whole drawing */
    } bend[2], pressure;             /* x along y, y along x: shares of size; a share of width */
};

/* Adds a bare line of the pen's size, as most people draw a 1, to `ink` (rows,columns). */
void pen_draw_line(uint8_t *ink, size_t rows, size_t columns, const struct pen *pen);

struct box {
    float low[2], high[2]; /* x, y */
};

/* The smallest box that holds the points; infinite and inside out if there are none. */
struct box points_box(const vit_point *points, size_t count);

/* A drawing whose strokes may be changed before it is drawn. */
struct sketch {
    vit_point *point; /* (points), in the file's unit, y down; sketch_draw sets widths */
    size_t *length;   /* (strokes): points of each */
    size_t points, strokes, most_points, most_strokes;
};

/* Makes room for any of the drawings (NULL: none) and for further `points` and `strokes`. False:
 * no memory. Close it either way. */
bool sketch_open(struct sketch *sketch, const struct drawings *drawings, size_t points,
                 size_t strokes);
void sketch_close(struct sketch *sketch);
/* Copies drawing `index` into the sketch. */
void sketch_take(struct sketch *sketch, const struct drawings *drawings, size_t index);
/* The shorter side as a share of the longer one, after its width is multiplied by `stretch`. */
float sketch_narrowness(const struct sketch *sketch, float stretch);
/* Keeps the first points only, this share of them, at least one: a drawing that is not finished. */
void sketch_cut(struct sketch *sketch, double share);
/* Adds the sketch to `ink` (rows,columns). Its points become places on the ink. */
void sketch_draw(uint8_t *ink, size_t rows, size_t columns, struct sketch *sketch,
                 const struct pen *pen);

/* Which drawings, and how they are drawn. */
struct drawn {
    unsigned writers;
    double points; /* the share of each drawing's points that is drawn, the first ones; 1: all */
    double habits; /* the share (0..1) of the chances in habits.c by which a drawing changes, in the
                      same way each time; 0: none does */
    float unfinished_ink; /* the model's, for drawings that lack points; above 0 */
};

/* These drawings, drawn with the page's pen and prepared as the page does. */
vit_status drawings_data(struct data_set *data, const struct drawings *drawings, struct drawn which,
                         size_t rows, size_t columns, vit_error *why);

/* ---- Recipe ------------------------------------------------------------- */

enum optimizer { OPTIMIZER_ADAMW, OPTIMIZER_ADAM, OPTIMIZER_MUON };
enum schedule { SCHEDULE_COSINE, SCHEDULE_CONSTANT };
enum precision { PRECISION_FLOAT32, PRECISION_BFLOAT16 };

struct augment {
    double probability;  /* of changing an image */
    double shift;        /* pixels, uniform in ± */
    double rotation;     /* degrees, uniform in ± */
    double scale;        /* each axis is scaled by exp(u), u uniform in ± log(1 + scale) */
    double shear;        /* degrees, uniform in ± */
    double elastic;      /* standard deviation of the displacement, pixels */
    size_t elastic_grid; /* cells of the displacement's grid, along an edge */
    double thickness;    /* blend with a dilation or an erosion, uniform in ± */
    double bold;         /* the most pixels by which half of the images without holes are dilated */
    size_t erase;        /* side of a square that becomes paper, pixels */
    double settle; /* the share of the epochs, at the end, in which `probability` falls to 0 */
};

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
    double doubt;        /* times the share not drawn: such a drawing's chance to teach no digit */
    double distillation; /* share of the targets that is a teacher's answer */
    double negatives;    /* drawings of no digit, as a share of the images */
    size_t optimizer, schedule; /* an enum optimizer, an enum schedule */
    size_t precision;           /* an enum precision: what products round their factors to */
    struct augment augment;
};

/* Reads {"model": …, "training": …}. Absent training keys take their defaults; unknown keys
 * and values out of range are errors that name the key. */
vit_status recipe_read(struct recipe *recipe, const char *json, size_t size, vit_error *why);
/* A recipe that trains models of this one's config by the `training` object. */
vit_status recipe_for(struct recipe *recipe, const vit_model *model, const char *training,
                      vit_error *why);
void recipe_close(struct recipe *recipe);
/* Whether the recipe changes such a tensor of its model. `freeze` keeps so many blocks, and stem,
 * patches, tokens and positions; depth + 1 keeps the final norm too, also one after the pooling
 * (fc_norm), so that only the head is trained. 0 keeps nothing. */
bool recipe_trains(const struct recipe *recipe, const vit_tensor *tensor);
/* Those of the recipe's precision; float32 where this machine cannot do better. */
const struct vit_kernels *recipe_kernels(const struct recipe *recipe);
/* The `training` object as it will be run, in compact JSON, terminated. The caller frees. */
char *recipe_training_json(const struct recipe *recipe);
/* {config…, "training": …, "seed": …, "epochs": …, "validation_accuracy": …}: the metadata of
 * a finished model. `accuracy` < 0: not measured, left out. The caller frees. */
char *recipe_metadata(const struct recipe *recipe, double accuracy);

/* ---- Augmentation ------------------------------------------------------- */

struct augmenter; /* const after opening, shared by threads */

vit_status augmenter_open(struct augmenter **out, const struct augment *augment, size_t epochs,
                          size_t rows, size_t columns, vit_error *why);
void augmenter_close(struct augmenter *augmenter);
size_t augmenter_scratch(const struct augmenter *augmenter); /* floats that a thread brings */
/* source (rows, columns) bytes → image (rows, columns) in 0..1, changed by the chances of
 * (seed, epoch, index), whatever the source holds: an image's channels, given one by one, change
 * alike. solid: a stroke that has no hole to lose. */
void augmenter_apply(float *image, float *scratch, const struct augmenter *augmenter,
                     const uint8_t *source, bool solid, uint64_t seed, size_t epoch, size_t index);

/* ---- Samples: images, drawings, drawings of no digit -------------------- */

enum { NO_CLASS = 255 };

struct samples { /* const after opening, shared by threads */
    const struct recipe *recipe;
    const struct data_set *data;
    const struct drawings *drawings; /* may be NULL */
    struct augmenter *augmenter;
    size_t *list;  /* (listed): drawings to train on */
    size_t images; /* of the data set, to train on */
    size_t listed, negatives, count;
};

struct sample_room { /* what a thread brings */
    uint8_t *ink, *bytes;
    vit_point *points; /* for drawings of no digit */
    struct sketch sketch;
    void *prepare;
    float *augment;
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
};
/* Draws sample `index` of an epoch → image (channels, rows, columns) in 0..1. */
struct sample sample_draw(float *image, struct sample_room *room, const struct samples *samples,
                          size_t epoch, size_t index);

/* ---- Distillation ------------------------------------------------------- */

struct teacher_room { /* what a thread brings */
    vit_state *state;
    void *memory;
};

/* teacher: of unpacked floats, or NULL. */
vit_status teacher_check(const vit_model *teacher, const struct recipe *recipe, vit_error *why);
bool teacher_room_open(struct teacher_room *room, const vit_model *teacher);
void teacher_room_close(struct teacher_room *room);
/* image → logits (classes) */
void teacher_answer(float *logits, const struct teacher_room *room, const vit_model *teacher,
                    const float *image);
/* Makes the teacher's answer to a sample, where it counts, a `share` of the target whose `loss` and
 * gradient dlogits, times `scale`, are given; returns the loss. */
double teacher_blend(float *dlogits, const float *logits, const float *answer, size_t classes,
                     struct sample sample, double share, double loss, float scale);

/* ---- Parameters --------------------------------------------------------- */

void init_parameters(vit_model *model, uint64_t seed);
/* Copies the parameters of `from`, a model of floats that has no other tensors. Of its head, the
 * rows of the classes that both models name; all of it, if they share no name but are as many;
 * otherwise the head stays as it is. */
vit_status init_from(vit_model *model, vit_model *from, vit_error *why);

/* Learning rate of step `step` of `steps`, counted from 0: linear warm-up to learning_rate,
 * then a half cosine to min_learning_rate. Loshchilov & Hutter, arXiv:1608.03983. */
double schedule_rate(const struct recipe *recipe, size_t step, size_t steps_per_epoch);

struct adamw {
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    bool decoupled;   /* AdamW; else the decay is part of the gradient, as in plain Adam */
    size_t step;      /* counted from 1 */
    double ema_decay; /* already corrected by ema_warm */
    double gradient_scale;
};

/* min(decay, (1+step)/(10+step)): an average that does not remember its start for long. */
double ema_warm(double decay, size_t step);
/* Updates n parameters, both moments and the moving average. `decays`: these are a matrix's. */
void adamw_update(float *restrict parameters, float *restrict m, float *restrict v,
                  float *restrict average, const float *restrict gradient, size_t n, bool decays,
                  const struct adamw *adamw);

/* The matrices that a tensor stacks, queries', keys' and values' apart; none for what is none. */
struct matrices {
    size_t count, rows, columns;
};
struct matrices stacked_matrices(const vit_tensor *tensor);
/* Those that Muon follows, one by one: all but the head's, which is left to AdamW. */
struct matrices muon_matrices(const vit_tensor *tensor);
/* Floats of scratch that muon_update takes for a matrix (rows, columns). */
size_t muon_scratch(size_t rows, size_t columns);
/* Updates a matrix, its momentum (by beta1) and its moving average; its products by `kernels`. */
void muon_update(const struct vit_kernels *kernels, float *restrict parameters, float *restrict m,
                 float *restrict average, float *restrict scratch, const float *restrict gradient,
                 size_t rows, size_t columns, const struct adamw *adamw);

/* ---- Shares of the threads ------------------------------------------------ */

/* [begin, end): part `thread` of `threads` of n things. */
struct range {
    size_t begin, end;
};
static inline struct range range_part(size_t n, size_t thread, size_t threads) {
    uint64_t end = n; /* in 32 bits a product could be too large */
    return (struct range){(size_t)(end * thread / threads), (size_t)(end * (thread + 1) / threads)};
}

/* ---- Evaluation --------------------------------------------------------- */

struct score {
    size_t count, correct;
    double loss; /* mean cross-entropy of the probabilities, at the model's temperature */
    double calibration_error; /* of the probabilities of its answers */
};

/* Runs `model` on images first…first+count. `confusion` (K,K), may be NULL: [true][told],
 * added to. */
vit_status evaluate(struct score *score, size_t *confusion, vit_team *team, const vit_model *model,
                    const struct data_set *data, size_t first, size_t count, vit_error *why);
/* The same images' logits (count,K). */
vit_status evaluate_logits(float *logits, vit_team *team, const vit_model *model,
                           const struct data_set *data, size_t first, size_t count, vit_error *why);
/* The index of the largest of n logits; the first of equals. */
size_t largest_logit(const float *logits, size_t n);

/* ---- Calibration: Guo et al., arXiv:1706.04599 -------------------------- */

enum { CALIBRATION_BINS = 15 };

/* Answers by their probability: bin i has those in (i/15, (i+1)/15]. Zeroed, it is empty. */
struct reliability {
    size_t count[CALIBRATION_BINS], correct[CALIBRATION_BINS];
    double p[CALIBRATION_BINS]; /* the sum of theirs */
};

void reliability_add(struct reliability *reliability, double p, bool correct);
void reliability_merge(struct reliability *into, const struct reliability *from);
/* The expected calibration error, section 2: the mean over all answers of their bin's
 * |accuracy - mean probability|. 0 where there are none. */
double calibration_error(const struct reliability *reliability);
/* The temperature from 0.01 to 100 at which the mean cross-entropy of softmax(logits / temperature)
 * is least. logits (count,K), weight (count) or NULL: all alike. 1 where none is better than
 * another. */
double fit_temperature(const float *logits, const uint8_t *labels, const double *weight,
                       size_t count, size_t classes);
/* The largest number of four decimals that at least `accept` (0..1) of n > 0 probabilities are not
 * below. Sorts them. */
double passing_threshold(float *p, size_t n, double accept);

/* Multiply-adds of one image's forward pass, in linear layers and attention, times 2. */
double forward_flops(const vit_config *config);

/* ---- Checkpoints -------------------------------------------------------- */

struct epoch_record {
    double learning_rate, train_loss, train_accuracy;
    /* Negative: not measured. */
    double validation_loss, validation_accuracy, drawings_accuracy;
    double images_per_second, gflops;
};

/* What must be the same for a run to go on: each is a number with a name for the message. */
enum {
    RUN_RECIPE,
    RUN_MODEL,
    RUN_START,
    RUN_TEACHER,
    RUN_DATA,
    RUN_EPOCHS,
    RUN_SEED,
    RUN_THREADS,
    RUN_IDENTITY
};

/* Parameters, the optimiser's two moments, the moving average of the parameters. */
enum { PARAMETERS, MOMENT1, MOMENT2, AVERAGE, CHECKPOINT_ARRAYS };
enum { CHECKPOINT_HEADER = (RUN_IDENTITY + 8) * sizeof(uint64_t) }; /* bytes */

struct step_sums {
    double loss;
    size_t correct, digits; /* digits: samples that have a class */
};
double step_accuracy(const struct step_sums *sums);

struct checkpoint {
    uint64_t identity[RUN_IDENTITY];
    size_t epoch;                 /* finished ones */
    size_t step;                  /* taken of the next epoch */
    struct step_sums sums;        /* of those steps */
    struct epoch_record *records; /* (epochs), the first `epoch` of them filled */
    size_t epochs, steps;         /* steps: of an epoch */
    size_t count;                 /* of each of the arrays */
    float *arrays[CHECKPOINT_ARRAYS];
};

struct train_job;
/* Names the run. */
vit_status checkpoint_identify(struct checkpoint *checkpoint, const struct train_job *job,
                               size_t threads, vit_error *why);
size_t checkpoint_size(const struct checkpoint *checkpoint); /* bytes */
void checkpoint_encode(uint8_t *bytes, const struct checkpoint *checkpoint);
/* Fills `checkpoint`, which names the run. `name` names the bytes in messages. After a failure the
 * run cannot go on. */
vit_status checkpoint_decode(struct checkpoint *checkpoint, const uint8_t *bytes, size_t size,
                             const char *name, vit_error *why);
/* Whether the first bytes of a checkpoint, CHECKPOINT_HEADER or more, are of this run. */
vit_status checkpoint_check(const struct checkpoint *checkpoint, const uint8_t *bytes, size_t size,
                            const char *name, vit_error *why);
/* Takes a number that names the run from the bytes, where it cannot be compared. */
void checkpoint_believe(struct checkpoint *checkpoint, size_t number, const uint8_t *bytes,
                        size_t size);
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size); /* FNV-1a; start from 0 */

/* ---- The loop ----------------------------------------------------------- */

struct train_job {
    const struct recipe *recipe;
    const struct data_set *data;
    const struct drawings *drawings;   /* NULL: none */
    vit_model *start;                  /* fine-tune from it; NULL: from random parameters */
    vit_model *teacher;                /* NULL: none */
    const struct vit_kernels *kernels; /* that do not pack; NULL: the recipe's */
};

struct trainer;

/* Borrows all arguments. team: NULL for one thread. The data's images are of the channels and the
 * size that the recipe's model takes.
 * → *out, which the caller closes; NULL on failure. */
vit_status trainer_open(struct trainer **out, const struct train_job *job, vit_team *team,
                        vit_error *why);
void trainer_close(struct trainer *trainer);

/* Where the run is. The caller may fill it from a checkpoint before the first step. */
struct checkpoint *trainer_state(struct trainer *trainer);
/* The samples of an epoch. */
size_t trainer_images(const struct trainer *trainer);
/* All epochs are done. */
bool trainer_finished(const struct trainer *trainer);
/* All steps of an epoch are taken: trainer_end_epoch is due. */
bool trainer_at_end_of_epoch(const struct trainer *trainer);
/* Takes the next step. Error: the gradient is no longer finite; the parameters are unchanged. */
vit_status trainer_step(struct trainer *trainer, vit_error *why);
/* Measures the average on the validation part, and fills the epoch's record, but for its speed. */
vit_status trainer_end_epoch(struct trainer *trainer, vit_error *why);
/* The average of the parameters so far as a model file. accuracy < 0: not measured. → its bytes,
 * which the caller frees; NULL without memory. */
uint8_t *trainer_model(const struct trainer *trainer, double accuracy, size_t *size);

#endif
