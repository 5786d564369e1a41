/* Loss, accuracy, calibration and confusion on a data set, in parallel over its images. */
#include "evaluate.h"
#include "base/error.h"
#include "base/team.h"
#include "calibrate.h"
#include "data.h"
#include "tape.h"
#include "text/generate.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

/* Answers, added up. */
struct tally {
    struct score score; /* loss: the sum */
    struct reliability reliability;
};

struct evaluation {
    const vit_model *model;
    const struct data_set *data;
    size_t first, count, classes;
    float *logits, *doubt;     /* (count,K), (count), may be NULL; of texts (count,S-1,V) */
    struct text_answer *texts; /* (count), may be NULL */
    struct part {
        vit_status status;
        struct tally tally;
        size_t *confusion; /* (K,K), may be NULL */
    } * parts;             /* one for each thread */
};

size_t largest_logit(const float *logits, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

/* How much a model doubts its answer. */
static float doubt_of(const float *logits, const vit_config *config) {
    return config->doubt ? (float)(1 / (1 + exp(-(double)logits[config->classes]))) : 0;
}

static void count_answer(struct tally *tally, float p, bool right) {
    tally->score.count++;
    tally->score.correct += right;
    reliability_add(&tally->reliability, p, right);
}

/* Adds the answer `predicted`, which is that of the largest logit. Returns its probability. */
static float tally_add(struct tally *tally, size_t predicted, size_t label, const float *logits,
                       float doubt, size_t classes, double temperature) {
    double max = logits[predicted], sum = 0;
    for (size_t i = 0; i < classes; i++) sum += exp((logits[i] - max) / temperature);
    float p = (float)((1 - doubt) / sum);
    tally->score.loss +=
        log(sum) + (max - logits[label]) / temperature - log1p(-fmin(doubt, 1 - 1e-7));
    count_answer(tally, p, predicted == label);
    return p;
}

static struct score tally_score(const struct tally *tally) {
    struct score score = tally->score;
    if (score.count) score.loss /= (double)score.count;
    score.calibration_error = calibration_error(&tally->reliability);
    return score;
}

struct score score_answers(float *p, const float *logits, const float *doubt,
                           const uint32_t *labels, size_t count, size_t classes,
                           double temperature) {
    struct tally tally = {0};
    size_t right = 0, wrong = count; /* right ones fill p from its front, wrong ones from its end */
    for (size_t i = 0; i < count; i++, logits += classes) {
        size_t predicted = largest_logit(logits, classes);
        float one = tally_add(&tally, predicted, labels[i], logits, doubt ? doubt[i] : 0, classes,
                              temperature);
        p[predicted == labels[i] ? right++ : --wrong] = one;
    }
    return tally_score(&tally);
}

/* Adds the answer to image i of the evaluation. */
static void add_answer(const struct evaluation *e, struct part *part, size_t i, const float *logits,
                       size_t label) {
    const vit_config *config = vit_model_config(e->model);
    size_t K = config->classes, predicted = largest_logit(logits, K);
    float doubt = doubt_of(logits, config);
    struct score *score = &part->tally.score;
    if (e->logits) memcpy(e->logits + i * K, logits, K * sizeof *logits), e->doubt[i] = doubt;
    if (label < K) {
        float p = tally_add(&part->tally, predicted, label, logits, doubt, K, config->temperature);
        score->uncertain += p < config->uncertain_below;
        if (part->confusion) part->confusion[label * K + predicted]++;
        return;
    }
    struct tally none = {0};
    score->others++;
    score->others_uncertain += tally_add(&none, predicted, 0, logits, doubt, K,
                                         config->temperature) < config->uncertain_below;
}

/* What reads and writes texts. */
struct reader {
    vit_text *text;
    vit_writer *writer;
    void *memory, *writer_memory;
    float *tokens, *logits; /* (BATCH,T,D), (S,V) */
    uint32_t *ids;          /* (S) */
};

static vit_status reader_open(struct reader *r, const vit_model *model, size_t tokens) {
    const vit_config *c = vit_model_config(model);
    const vit_writing how = {.tokens = tokens, .beams = 1, .top_p = 1};
    size_t text = vit_text_size(model, VIT_DECODER, 1, tokens);
    size_t writer = vit_writer_size(model, &how);
    r->memory = malloc(text);
    r->writer_memory = malloc(writer);
    r->tokens = malloc(BATCH * vit_tokens(c) * c->width * sizeof(float));
    r->logits = malloc(tokens * c->decoder.vocabulary * sizeof(float));
    r->ids = malloc(tokens * sizeof *r->ids);
    if (!r->memory || !r->writer_memory || !r->tokens || !r->logits || !r->ids)
        return VIT_NO_MEMORY;
    vit_status status = vit_text_init(&r->text, r->memory, text, model, VIT_DECODER, 1, tokens);
    return status ? status : vit_writer_init(&r->writer, r->writer_memory, writer, model, &how);
}

static void reader_close(struct reader *r) {
    free(r->memory);
    free(r->writer_memory);
    free(r->tokens);
    free(r->logits);
    free(r->ids);
}

size_t text_length(const uint8_t *label, size_t tokens, const vit_text_config *c) {
    while (tokens > 2 && label[tokens - 1] == c->padding && label[tokens - 1] != c->end) tokens--;
    return tokens;
}

/* Forces text i of the evaluation, and adds its mean cross-entropy. ids (n). */
static vit_status force(const struct evaluation *e, struct part *part, struct reader *r,
                        const float *image, size_t i, const uint32_t *ids, size_t n) {
    const vit_text_config *c = &vit_model_config(e->model)->decoder;
    size_t V = c->vocabulary, each = (e->data->text_tokens - 1) * V;
    vit_status status = vit_text_set_image(r->text, image);
    if (!status) status = vit_text_run(r->text, ids, 1, n - 1, r->logits, NULL);
    if (status) return status;
    if (e->logits) memcpy(e->logits + i * each, r->logits, (n - 1) * V * sizeof(float));
    double sum = vit_text_loss(r->logits, r->logits, ids + 1, n - 1, V, c->padding, 0, 0);
    part->tally.score.loss += sum / (double)(n - 1);
    return VIT_OK;
}

/* Adds whether text i of the evaluation is written as the label has it, after its first token. */
static vit_status add_text(const struct evaluation *e, struct part *part, struct reader *r,
                           const float *image, size_t i) {
    const vit_config *config = vit_model_config(e->model);
    size_t most = e->data->text_tokens;
    const uint8_t *label = e->data->labels + (e->first + i) * most;
    size_t n = text_length(label, most, &config->decoder);
    for (size_t j = 0; j < most; j++) r->ids[j] = label[j];
    vit_status status = force(e, part, r, image, i, r->ids, n);
    if (!status) status = vit_writer_begin(r->writer, image, r->ids, 1);
    if (status) return status;
    const vit_text_output *output = vit_writer_result(r->writer);
    while (!output->done) vit_writer_step(r->writer);
    bool right = output->count == n && !memcmp(output->ids, r->ids, n * sizeof *r->ids);
    float p = 1;
    for (size_t j = 1; j < output->count; j++) p *= output->p[j];
    if (e->texts) e->texts[i] = (struct text_answer){p, right};
    part->tally.score.uncertain += p < config->uncertain_below;
    count_answer(&part->tally, p, right);
    return VIT_OK;
}

static void evaluate_part(void *context, size_t thread, size_t threads) {
    struct evaluation *e = context;
    struct part *part = &e->parts[thread];
    struct range range = range_part(e->count, thread, threads);
    const vit_config *config = vit_model_config(e->model);
    size_t pixels = data_values(e->data), each = vit_logits(config);
    size_t need = vit_state_size(e->model, BATCH, NULL);
    void *memory = malloc(need);
    float *images = malloc(BATCH * (pixels + each) * sizeof *images);
    float *logits = images + BATCH * pixels;
    struct reader reader = {0};
    size_t texts = e->data->text_tokens;
    vit_state *state;
    part->status = memory && images ? vit_state_init(&state, memory, need, e->model, BATCH, NULL)
                                    : VIT_NO_MEMORY;
    if (texts && !part->status) part->status = reader_open(&reader, e->model, texts);
    for (size_t i = range.begin; i < range.end && !part->status; i += BATCH) {
        size_t batch = range.end - i < BATCH ? range.end - i : BATCH, index = e->first + i;
        for (size_t j = 0; j < batch; j++) data_image(images + j * pixels, e->data, index + j);
        data_standardise(images, batch * pixels, config);
        part->status = vit_run(e->model, state, images, batch, texts ? NULL : logits,
                               &(vit_taps){.tokens = reader.tokens});
        for (size_t j = 0; texts && j < batch && !part->status; j++)
            part->status = add_text(e, part, &reader,
                                    reader.tokens + j * vit_tokens(config) * config->width, i + j);
        for (size_t j = 0; !texts && j < batch && !part->status; j++)
            add_answer(e, part, i + j, logits + j * each, e->data->labels[index + j]);
    }
    reader_close(&reader);
    free(images);
    free(memory);
}

static vit_status add_parts(struct score *score, size_t *confusion, const struct evaluation *e,
                            size_t threads, vit_error *why) {
    struct tally all = {0};
    for (size_t t = 0; t < threads; t++) {
        const struct part *part = &e->parts[t];
        if (part->status)
            return vit_fail(why, part->status, "evaluation failed: %s",
                            vit_status_name(part->status));
        all.score.count += part->tally.score.count;
        all.score.correct += part->tally.score.correct;
        all.score.loss += part->tally.score.loss;
        all.score.uncertain += part->tally.score.uncertain;
        all.score.others += part->tally.score.others;
        all.score.others_uncertain += part->tally.score.others_uncertain;
        reliability_merge(&all.reliability, &part->tally.reliability);
        for (size_t i = 0; confusion && i < e->classes * e->classes; i++)
            confusion[i] += part->confusion[i];
    }
    *score = tally_score(&all);
    return VIT_OK;
}

static vit_status evaluate_all(struct score *score, size_t *confusion, vit_team *team,
                               struct evaluation e, vit_error *why) {
    size_t threads = team_size(team), K = e.classes;
    size_t *counts = confusion ? calloc(threads * K * K, sizeof *counts) : NULL;
    vit_status status;
    *score = (struct score){0};
    e.parts = calloc(threads, sizeof *e.parts);
    if (e.parts && (counts || !confusion)) {
        for (size_t t = 0; t < threads && counts; t++) e.parts[t].confusion = counts + t * K * K;
        team_run(team, evaluate_part, &e);
        status = add_parts(score, confusion, &e, threads, why);
    } else {
        status = vit_fail(why, VIT_NO_MEMORY, "no memory to evaluate");
    }
    free(counts);
    free(e.parts);
    return status;
}

vit_status evaluate(struct score *score, size_t *confusion, vit_team *team, const vit_model *model,
                    const struct data_set *data, size_t first, size_t count, vit_error *why) {
    size_t classes = vit_model_config(model)->classes;
    struct evaluation e = {model, data, first, count, classes, NULL, NULL, NULL, NULL};
    return evaluate_all(score, confusion, team, e, why);
}

vit_status evaluate_texts(struct score *score, struct text_answer *texts, float *logits,
                          vit_team *team, const vit_model *model, const struct data_set *data,
                          size_t first, size_t count, vit_error *why) {
    struct evaluation e = {model, data, first, count, 0, logits, NULL, texts, NULL};
    return evaluate_all(score, NULL, team, e, why);
}

vit_status evaluate_logits(float *logits, float *doubt, vit_team *team, const vit_model *model,
                           const struct data_set *data, size_t first, size_t count,
                           vit_error *why) {
    if (data->text_tokens)
        return vit_fail(why, VIT_BAD_ARGUMENT, "expected images with labels, got texts");
    size_t classes = vit_model_config(model)->classes;
    struct evaluation e = {model, data, first, count, classes, logits, doubt, NULL, NULL};
    struct score score;
    return evaluate_all(&score, NULL, team, e, why);
}
