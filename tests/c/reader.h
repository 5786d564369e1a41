/* A shipped model that reads drawings, each on a square plane. Include train_support.h first. */
#ifndef READER_H
#define READER_H

#include "train/evaluate.h"

enum { DIGIT_AREA = 28 * 28, DIGITS = 10 };

struct reader {
    const char *name;
    size_t pad; /* the plane's side */
    vit_model *model;
    vit_state *state;
    void *memory, *prepare;
    float *images; /* a batch */
};

struct reading {
    size_t class; /* DIGITS if it failed */
    float p;
    bool uncertain;
};

/* Opens `name` of weights/ for up to `batch` planes at once. */
static inline struct reader reader_open(const char *name, size_t pad, size_t batch) {
    struct reader r = {.name = name, .pad = pad, .images = floats(batch * DIGIT_AREA)};
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/../../weights/%s.safetensors", name);
    r.model = read_model(path);
    size_t need = vit_state_size(r.model, batch, NULL);
    r.memory = malloc(need);
    vit_state_init(&r.state, r.memory, need, r.model, batch, NULL);
    r.prepare = malloc(vit_prepare_size(vit_model_config(r.model), pad, pad, 1));
    return r;
}

static inline void reader_close(struct reader *r) {
    free(r->images);
    free(r->prepare);
    free(r->memory);
    vit_close(r->model);
}

/* Prepares a plane as image `at` of the batch. */
static inline void reader_add(struct reader *r, size_t at, const uint8_t *plane) {
    const vit_pixels pixels = {plane, r->pad, r->pad, 1};
    vit_error why = {""};
    vit_status status = vit_prepare_image(r->images + at * DIGIT_AREA, r->prepare, &pixels,
                                          vit_model_config(r->model), &why);
    CHECK(!status, "%s, plane %zu: %s", r->name, at, why.text);
}

/* What the model says of the first `count` images of the batch. */
static inline void reader_read(const struct reader *r, struct reading *readings, size_t count) {
    const vit_config *config = vit_model_config(r->model);
    size_t each = vit_logits(config);
    float *logits = floats(count * each), p[DIGITS + 1];
    vit_status status = vit_run(r->model, r->state, r->images, count, logits, NULL);
    CHECK(!status, "%s: %s", r->name, vit_status_name(status));
    for (size_t i = 0; i < count; i++) {
        readings[i] = (struct reading){.class = DIGITS};
        if (status) continue;
        size_t class = largest_logit(logits + i * each, DIGITS);
        vit_answers(p, logits + i * each, config);
        readings[i] = (struct reading){class, p[class], p[class] < config->uncertain_below};
    }
    free(logits);
}

#endif
