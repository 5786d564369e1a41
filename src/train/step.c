/* One step. The batch is split over the threads, and each thread splits its share into
 * micro-batches that fit its tape. Each thread sums its gradient, the sums are added in the order
 * of the threads, and each thread updates its range of the parameters. No result depends on which
 * thread is faster, so the same seed and number of threads give the same bits. */
#include "step.h"
#include "adamw.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/team.h"
#include "data.h"
#include "evaluate.h"
#include "kernels/kernels.h"
#include "model.h"
#include "muon.h"
#include "recipe.h"
#include "save.h"
#include "tape.h"
#include "teacher.h"

#include <stdlib.h>
#include <string.h>

enum { MICRO_BATCH = 8 };

struct worker { /* one thread's memory */
    vit_tape *tape;
    void *tape_memory;
    float *gradient; /* in the layout of the parameters */
    float *logits, *dlogits;
    uint32_t *ids; /* (2,MICRO_BATCH,S): texts without their last token, and without their first */
    float *muon;   /* scratch for the largest matrix */
    struct sample_room room;
    struct teacher_room teacher;
    struct step_sums sums;
    double square; /* of this thread's range of the summed gradient */
};

struct stepper {
    const struct train_job *job;
    const struct recipe *recipe;
    const struct samples *samples;
    const struct vit_kernels *kernels;
    vit_team *team; /* NULL: one thread */
    vit_model *model;
    vit_tensor *tensors; /* those that are trained; the others' gradient stays 0 */
    size_t tensor_count;
    float *const *arrays; /* a checkpoint's arrays, `count` floats each */
    size_t count;
    struct worker *workers;
    const uint32_t *indices; /* of the batch's samples */
    size_t epoch, batch;
    float *images, *keep;         /* (batch, pixels) standardised, (batch, depth) */
    struct sample *batch_samples; /* (batch) */
    float *answers;               /* (batch, the teacher's logits), where they may count */
    struct range part;            /* the part of the batch whose gradient is computed next */
    float *gradient;              /* the sum of the parts' gradients */
    float *here;                  /* the parameters before a climb; NULL without sharpness */
    double climb;                 /* the length of a climb, in gradients */
    struct adamw adamw;
};

/* ---- The gradient of a batch -------------------------------------------- */

/* Stochastic depth: a block drops its branches at a rate that grows linearly from block to block,
 * to drop_path at the last. Kept branches are scaled up to make up for it. Huang et al.,
 * arXiv:1603.09382. */
static void draw_keep(float *keep, const struct stepper *s, size_t index) {
    size_t depth = s->recipe->config.depth;
    struct rng rng = rng_stream(s->recipe->seed, RNG_DROP_PATH, s->epoch, index);
    for (size_t l = 0; l < depth; l++) {
        double rate = s->recipe->drop_path * (double)(l + 1) / (double)depth;
        keep[l] = rng_unit(&rng) < rate ? 0 : (float)(1 / (1 - rate));
    }
}

/* The logits of the teacher's answer; 1 without a teacher. */
static size_t answer_floats(const struct stepper *s) {
    const vit_model *teacher = s->job->teacher;
    return teacher ? vit_logits(vit_model_config(teacher)) : 1;
}

static float *answer_of(const struct stepper *s, size_t i) {
    return s->answers + i * answer_floats(s);
}

/* The teacher answers here, once for a sample, however often the step takes its gradient. */
static void draw_batch(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct worker *worker = &s->workers[thread];
    const vit_config *config = &s->recipe->config;
    const vit_model *teacher = s->job->teacher;
    size_t pixels = data_values(s->job->data);
    struct range share = range_part(s->batch, thread, threads);
    for (size_t i = share.begin; i < share.end; i++) {
        size_t index = s->indices[i];
        float *image = s->images + i * pixels;
        s->batch_samples[i] = sample_draw(image, &worker->room, s->samples, s->epoch, index);
        data_standardise(image, pixels, config);
        draw_keep(s->keep + i * config->depth, s, index);
        if (teacher && s->batch_samples[i].advice != ADVICE_NEVER)
            teacher_answer(answer_of(s, i), &worker->teacher, teacher, image);
    }
}

/* The loss of the classes of sample i of the batch, and its gradient. */
static double class_loss(const struct stepper *s, size_t i, const float *logits, float *dlogits,
                         float scale) {
    const struct recipe *recipe = s->recipe;
    size_t K = recipe->config.classes;
    const struct sample *sample = &s->batch_samples[i];
    double loss = vit_cross_entropy(dlogits, logits, &sample->label, 1, K,
                                    (float)recipe->label_smoothing, scale);
    if (sample->mixed > 0) { /* the loss is linear in the target */
        float other[MOST_MIXED];
        double second = vit_cross_entropy(other, logits, &sample->other, 1, K,
                                          (float)recipe->label_smoothing, scale);
        loss += (double)sample->mixed * (second - loss);
        for (size_t k = 0; k < K; k++) dlogits[k] += sample->mixed * (other[k] - dlogits[k]);
    }
    if (!s->job->teacher) return loss;
    return teacher_blend(dlogits, logits, answer_of(s, i), K, s->batch_samples[i],
                         recipe->distillation, loss, scale);
}

/* With doubt, samples of no class teach the classes nothing, and unfinished ones little. */
static double class_share(const struct stepper *s, const struct sample *sample) {
    static const double UNFINISHED = 0.25;
    if (!s->recipe->config.doubt) return 1;
    return sample->label == NO_CLASS ? 0 : sample->unfinished ? UNFINISHED : 1;
}

/* The loss of sample i, and its gradient. */
static double sample_loss(const struct stepper *s, size_t i, const float *logits, float *dlogits) {
    size_t K = s->recipe->config.classes, answer = largest_logit(logits, K);
    const struct sample *sample = &s->batch_samples[i];
    double scale = 1 / (double)s->batch, share = class_share(s, sample), sum = 0;
    double loss = share * class_loss(s, i, logits, dlogits, (float)(share * scale));
    if (!s->recipe->config.doubt) return loss;
    if (sample->mixed > 0) { /* an answer to two classes is neither right nor wrong */
        dlogits[K] = 0;
        return loss;
    }
    for (size_t k = 0; k < K; k++) sum += exp((double)logits[k] - logits[answer]);
    return loss +
           vit_doubt_loss(dlogits + K, logits[K], 1 / sum, answer == sample->label, (float)scale);
}

/* S: the tokens of a text that are followed by another one. */
static size_t forced_tokens(const struct stepper *s) {
    return s->job->data->text_tokens ? s->job->data->text_tokens - 1 : 0;
}

/* Whether each token that is no padding has the largest logit. */
static bool is_right(const float *logits, const uint32_t *next, size_t S, size_t V,
                     size_t padding) {
    for (size_t i = 0; i < S; i++)
        if (next[i] != padding && largest_logit(logits + i * V, V) != next[i]) return false;
    return true;
}

/* The same for texts, by teacher forcing. The loss of a text is the mean over its tokens. */
static void micro_batch_texts(struct stepper *s, struct worker *worker, size_t first, size_t n,
                              const float *images, const float *keep) {
    const struct recipe *recipe = s->recipe;
    const vit_text_config *c = &recipe->config.decoder;
    size_t S = forced_tokens(s), V = c->vocabulary;
    uint32_t *ids = worker->ids, *next = ids + MICRO_BATCH * S;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *text = s->job->data->labels + s->batch_samples[first + i].image * (S + 1);
        for (size_t j = 0; j < S; j++) ids[i * S + j] = text[j], next[i * S + j] = text[j + 1];
    }
    vit_forward(s->model, worker->tape, images, n, NULL, keep);
    vit_forward_text(s->model, worker->tape, ids, n, S, worker->logits);
    for (size_t i = 0; i < n; i++) {
        const float *logits = worker->logits + i * S * V;
        size_t tokens = 0;
        for (size_t j = 0; j < S; j++) tokens += next[i * S + j] != c->padding;
        double share = 1 / (double)(tokens ? tokens : 1);
        worker->sums.loss +=
            share * vit_text_loss(worker->dlogits + i * S * V, logits, next + i * S, S, V,
                                  c->padding, (float)recipe->label_smoothing,
                                  (float)(share / (double)s->batch));
        worker->sums.correct += is_right(logits, next + i * S, S, V, c->padding);
        worker->sums.digits++;
    }
    vit_backward_text(s->model, worker->tape, n, S, worker->dlogits, worker->gradient);
}

/* Samples first…first+n-1 of the batch. */
static void micro_batch(struct stepper *s, struct worker *worker, size_t first, size_t n) {
    const struct recipe *recipe = s->recipe;
    size_t K = recipe->config.classes, each = vit_logits(&recipe->config);
    const float *images = s->images + first * data_values(s->job->data);
    const float *keep = recipe->drop_path > 0 ? s->keep + first * recipe->config.depth : NULL;
    if (forced_tokens(s)) {
        micro_batch_texts(s, worker, first, n, images, keep);
        return;
    }
    vit_forward(s->model, worker->tape, images, n, worker->logits, keep);
    for (size_t i = 0; i < n; i++)
        worker->sums.loss +=
            sample_loss(s, first + i, worker->logits + i * each, worker->dlogits + i * each);
    vit_backward(s->model, worker->tape, n, worker->dlogits, worker->gradient);
    for (size_t i = 0; i < n; i++) {
        uint8_t label = s->batch_samples[first + i].label;
        worker->sums.correct += largest_logit(worker->logits + i * each, K) == label;
        worker->sums.digits += label != NO_CLASS;
    }
}

static void compute_gradient(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct worker *worker = &s->workers[thread];
    struct range share = range_part(s->part.end - s->part.begin, thread, threads);
    size_t begin = s->part.begin + share.begin, end = s->part.begin + share.end;
    memset(worker->gradient, 0, s->count * sizeof *worker->gradient);
    worker->sums = (struct step_sums){0};
    for (size_t i = begin; i < end; i += MICRO_BATCH) {
        size_t n = end - i < MICRO_BATCH ? end - i : MICRO_BATCH;
        micro_batch(s, worker, i, n);
    }
}

static double square_of(const float *x, struct range range) {
    double square = 0;
    for (size_t i = range.begin; i < range.end; i++) square += (double)x[i] * x[i];
    return square;
}

/* Adds the other threads' gradients to the first one's, over this thread's range. */
static void add_workers(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct range range = range_part(s->count, thread, threads);
    float *restrict sum = s->workers[0].gradient;
    for (size_t other = 1; other < threads; other++) {
        const float *restrict worker = s->workers[other].gradient;
        for (size_t i = range.begin; i < range.end; i++) sum[i] += worker[i];
    }
    s->workers[thread].square = square_of(sum, range);
}

static void add_part(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct range range = range_part(s->count, thread, threads);
    const float *restrict part = s->workers[0].gradient;
    for (size_t i = range.begin; i < range.end; i++) s->gradient[i] += part[i];
    s->workers[thread].square = square_of(s->gradient, range);
}

static void climb(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct range range = range_part(s->count, thread, threads);
    const float *restrict gradient = s->workers[0].gradient;
    float *restrict parameters = s->arrays[PARAMETERS], scale = (float)s->climb;
    for (size_t i = range.begin; i < range.end; i++) {
        s->here[i] = parameters[i];
        parameters[i] += scale * gradient[i];
    }
}

static void climb_back(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct range range = range_part(s->count, thread, threads);
    memcpy(s->arrays[PARAMETERS] + range.begin, s->here + range.begin,
           (range.end - range.begin) * sizeof *s->here);
}

static double norm(const struct stepper *s) {
    double square = 0;
    for (size_t i = 0; i < team_size(s->team); i++) square += s->workers[i].square;
    return sqrt(square);
}

/* Computes the gradient of s->part, in the first worker, and returns its norm. */
static double part_gradient(struct stepper *s) {
    team_run(s->team, compute_gradient, s);
    team_run(s->team, add_workers, s);
    return norm(s);
}

/* Sharpness-aware minimisation takes the gradient at a point that lies `sharpness` straight uphill.
 * Each part of the batch climbs on its own (m-sharpness). Foret et al., arXiv:2010.01412,
 * algorithm 1 and section 4.1. */
static void gradient_uphill(struct stepper *s) {
    s->climb = s->recipe->sharpness / (part_gradient(s) + 1e-12);
    team_run(s->team, climb, s);
    part_gradient(s);
    team_run(s->team, climb_back, s);
}

/* Computes s->gradient, of the whole batch, and returns its norm. */
static double batch_gradient(struct stepper *s, struct step_sums *sums) {
    size_t part = s->here ? s->recipe->sharpness_batch : 0;
    if (!part) part = s->batch;
    memset(s->gradient, 0, s->count * sizeof *s->gradient);
    for (size_t begin = 0; begin < s->batch; begin += part) {
        s->part = (struct range){begin, s->batch - begin < part ? s->batch : begin + part};
        if (s->here)
            gradient_uphill(s);
        else
            part_gradient(s);
        team_run(s->team, add_part, s);
        for (size_t i = 0; i < team_size(s->team); i++) {
            sums->loss += s->workers[i].sums.loss;
            sums->correct += s->workers[i].sums.correct;
            sums->digits += s->workers[i].sums.digits;
        }
    }
    return norm(s);
}

/* ---- The parameters ------------------------------------------------------- */

static struct matrices matrices_of(const struct stepper *s, const vit_tensor *tensor) {
    bool muon = s->recipe->optimizer == OPTIMIZER_MUON;
    return muon ? muon_matrices(tensor) : (struct matrices){0};
}

static void update_matrix(struct stepper *s, struct worker *worker, size_t offset, size_t rows,
                          size_t columns) {
    float *const *arrays = s->arrays;
    muon_update(s->kernels, arrays[PARAMETERS] + offset, arrays[MOMENT1] + offset,
                arrays[AVERAGE] + offset, worker->muon, s->gradient + offset, rows, columns,
                &s->adamw);
}

static void update_parameters(void *context, size_t thread, size_t threads) {
    struct stepper *s = context;
    struct range range = range_part(s->count, thread, threads);
    float *const *arrays = s->arrays;
    size_t turn = 0; /* matrices so far: the threads take turns */
    for (size_t i = 0; i < s->tensor_count; i++) {
        vit_tensor tensor = s->tensors[i];
        struct matrices of = matrices_of(s, &tensor);
        for (size_t k = 0; k < of.count; k++)
            if (turn++ % threads == thread)
                update_matrix(s, &s->workers[thread], tensor.offset + k * of.rows * of.columns,
                              of.rows, of.columns);
        if (of.count) continue;
        size_t begin = tensor.offset, end = begin + tensor.count;
        if (begin < range.begin) begin = range.begin;
        if (end > range.end) end = range.end;
        if (begin >= end) continue;
        adamw_update(arrays[PARAMETERS] + begin, arrays[MOMENT1] + begin, arrays[MOMENT2] + begin,
                     arrays[AVERAGE] + begin, s->gradient + begin, end - begin, tensor.matrix,
                     &s->adamw);
    }
}

bool stepper_step(struct stepper *s, struct step_sums *sums, const uint32_t *indices, size_t n,
                  size_t epoch, size_t step, double learning_rate) {
    const struct recipe *recipe = s->recipe;
    s->indices = indices, s->batch = n, s->epoch = epoch;
    team_run(s->team, draw_batch, s);
    double length = batch_gradient(s, sums), clip = recipe->clip_norm;
    if (!isfinite(length)) return false;
    s->adamw = (struct adamw){
        .learning_rate = learning_rate,
        .beta1 = recipe->beta1,
        .beta2 = recipe->beta2,
        .epsilon = recipe->epsilon,
        .weight_decay = recipe->weight_decay,
        .decoupled = recipe->optimizer != OPTIMIZER_ADAM,
        .step = step + 1,
        .ema_decay = ema_warm(recipe->ema_decay, step + 1),
        .gradient_scale = clip > 0 && length > clip ? clip / length : 1,
    };
    team_run(s->team, update_parameters, s);
    return true;
}

/* ---- Memory ------------------------------------------------------------- */

/* Floats of Muon's scratch for the largest matrix; at least 1. */
static size_t muon_floats(const struct stepper *s) {
    size_t most = 1;
    for (size_t i = 0; i < s->tensor_count; i++) {
        struct matrices of = matrices_of(s, &s->tensors[i]);
        size_t need = muon_scratch(of.rows, of.columns);
        if (need > most) most = need;
    }
    return most;
}

static bool open_worker(struct stepper *s, struct worker *worker) {
    const vit_model *teacher = s->job->teacher;
    size_t S = forced_tokens(s), V = s->recipe->config.decoder.vocabulary;
    size_t logits = MICRO_BATCH * (S ? S * V : vit_logits(&s->recipe->config));
    size_t need = vit_tape_size(s->model, MICRO_BATCH);
    worker->tape_memory = malloc(need);
    worker->gradient = malloc(s->count * sizeof *worker->gradient);
    worker->logits = malloc(2 * logits * sizeof *worker->logits);
    worker->ids = malloc(2 * MICRO_BATCH * S * sizeof *worker->ids + 1);
    worker->muon = malloc(muon_floats(s) * sizeof *worker->muon);
    if (!worker->tape_memory || !worker->gradient || !worker->logits || !worker->ids ||
        !worker->muon)
        return false;
    if (!sample_room_open(&worker->room, s->samples)) return false;
    if (teacher && !teacher_room_open(&worker->teacher, teacher)) return false;
    worker->dlogits = worker->logits + logits;
    if (vit_tape_init(&worker->tape, worker->tape_memory, need, s->model, MICRO_BATCH))
        return false;
    vit_tape_freeze(worker->tape, s->recipe->freeze);
    return true;
}

static bool open_batch(struct stepper *s) {
    const struct recipe *recipe = s->recipe;
    size_t n = recipe->batch < s->samples->count ? recipe->batch : s->samples->count;
    s->images = malloc(n * data_values(s->job->data) * sizeof *s->images);
    s->keep = malloc((n * recipe->config.depth + 1) * sizeof *s->keep);
    s->batch_samples = malloc(n * sizeof *s->batch_samples);
    s->answers = malloc(n * answer_floats(s) * sizeof *s->answers);
    s->gradient = malloc(s->count * sizeof *s->gradient);
    if (recipe->sharpness > 0) s->here = malloc(s->count * sizeof *s->here);
    return s->images && s->keep && s->batch_samples && s->answers && s->gradient &&
           (s->here || recipe->sharpness == 0);
}

static bool open_all(struct stepper *s) {
    size_t threads = team_size(s->team);
    s->workers = calloc(threads, sizeof *s->workers);
    s->tensors = malloc(vit_tensor_count(s->model) * sizeof *s->tensors);
    if (!s->workers || !s->tensors) return false;
    for (size_t i = 0; i < vit_tensor_count(s->model); i++) {
        vit_tensor tensor = vit_tensor_at(s->model, i);
        if (recipe_trains(s->recipe, &tensor)) s->tensors[s->tensor_count++] = tensor;
    }
    bool has_memory = open_batch(s);
    for (size_t i = 0; i < threads && has_memory; i++) has_memory = open_worker(s, &s->workers[i]);
    return has_memory;
}

vit_status stepper_open(struct stepper **out, const struct train_job *job,
                        const struct samples *samples, vit_team *team, vit_model *model,
                        const struct checkpoint *state, vit_error *why) {
    struct stepper *s = *out = malloc(sizeof *s);
    if (s)
        *s = (struct stepper){.job = job,
                              .recipe = job->recipe,
                              .samples = samples,
                              .kernels = model->kernels,
                              .team = team,
                              .model = model,
                              .arrays = state->arrays,
                              .count = state->count};
    if (s && open_all(s)) return VIT_OK;
    return vit_fail(why, VIT_NO_MEMORY, "no memory to train this model");
}

void stepper_close(struct stepper *s) {
    if (!s) return;
    for (size_t i = 0; s->workers && i < team_size(s->team); i++) {
        free(s->workers[i].tape_memory);
        free(s->workers[i].gradient);
        free(s->workers[i].logits);
        free(s->workers[i].ids);
        free(s->workers[i].muon);
        sample_room_close(&s->workers[i].room);
        teacher_room_close(&s->workers[i].teacher);
    }
    free(s->workers);
    free(s->tensors);
    free(s->images);
    free(s->keep);
    free(s->batch_samples);
    free(s->answers);
    free(s->gradient);
    free(s->here);
    free(s);
}
