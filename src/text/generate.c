#include "generate.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/direction.h"
#include "base/rng.h"
#include "base/sizes.h"
#include "base/sort.h"
#include "kernels/kernels.h"
#include "model.h"
#include "shapes.h"
#include "text.h"
#include "vit.h"

/* One text that is followed, or one that has ended. */
struct hypothesis {
    uint32_t *ids;
    float *p;
    size_t count;
    float score; /* the sum of the logarithms; of one that has ended, their mean */
};

/* How a hypothesis may continue. */
struct choice {
    float score, p;
    uint32_t beam, token;
};

struct vit_writer {
    const struct vit_kernels *kernels;
    const vit_text_config *config;
    vit_writing how;
    float scale; /* 1 / the model's temperature */
    vit_text *text;
    vit_text_output result;
    struct hypothesis *running, *next; /* (beams) */
    struct hypothesis *ended;          /* (beams + 1), in the order in which they ended */
    size_t ended_count, prompt;
    struct choice *choices; /* (2·beams) of beams, best first; (V) by chance */
    float *logits, *cross;  /* (beams,V); (L,h,T) */
    float *softmax;         /* (V) */
    uint32_t *parents, *tokens;
    float *scores;
};

/* ---- Memory --------------------------------------------------------------- */

static void lay_out_hypotheses(struct hypothesis **out, struct arena *arena, size_t count,
                               size_t tokens) {
    *out = (void *)arena_floats(arena, count, sizeof **out);
    uint32_t *ids = (void *)arena_floats(arena, count, tokens);
    float *p = arena_floats(arena, count, tokens);
    for (size_t i = 0; *out && i < count; i++)
        (*out)[i] = (struct hypothesis){.ids = ids + i * tokens, .p = p + i * tokens};
}

static void *lay_out(vit_writer *w, struct arena *arena, const vit_model *m,
                     const vit_writing *how) {
    const vit_text_config *c = &m->config.decoder;
    size_t beams = how->beams, V = c->vocabulary;
    *w = (vit_writer){.kernels = m->kernels, .config = c, .how = *how};
    w->scale = 1 / fmaxf(m->config.temperature, 1e-6f); /* so that no logit becomes infinite */
    lay_out_hypotheses(&w->running, arena, beams, how->tokens);
    lay_out_hypotheses(&w->next, arena, beams, how->tokens);
    lay_out_hypotheses(&w->ended, arena, beams + 1, how->tokens);
    w->choices = (void *)arena_floats(arena, how->temperature > 0 ? V : 2 * beams,
                                      sizeof *w->choices / sizeof(float));
    w->logits = arena_floats(arena, beams, V);
    w->softmax = arena_floats(arena, V);
    w->cross = arena_floats(arena, beams > 1 ? 0 : c->depth, c->heads, vit_tokens(&m->config));
    w->parents = (void *)arena_floats(arena, beams);
    w->tokens = (void *)arena_floats(arena, beams);
    w->scores = arena_floats(arena, beams);
    size_t text = vit_text_size(m, VIT_DECODER, beams, how->tokens);
    return arena_floats(arena, text ? text / sizeof(float) + 1 : SIZE_TOO_LARGE);
}

static bool can_write(const vit_text_config *c, const vit_writing *how) {
    bool many = how->beams > 1;
    return c->depth && how->beams && how->beams <= 1024 && how->tokens &&
           how->tokens <= c->max_tokens && how->temperature >= 0 && isfinite(how->temperature) &&
           how->top_p >= 0 && how->top_p <= 1 && (!many || how->temperature == 0) &&
           (!many || c->vocabulary > 1);
}

size_t vit_writer_size(const vit_model *m, const vit_writing *how) {
    struct arena arena = {0};
    vit_writer w;
    if (!can_write(&m->config.decoder, how)) return 0;
    arena_floats(&arena, sizeof w);
    lay_out(&w, &arena, m, how);
    return arena.overflow ? 0 : arena.used + CACHE_LINE;
}

vit_status vit_writer_init(vit_writer **out, void *memory, size_t size, const vit_model *m,
                           const vit_writing *how) {
    size_t need = vit_writer_size(m, how);
    *out = NULL;
    if (!memory || need == 0 || size < need) return VIT_BAD_ARGUMENT;
    uintptr_t aligned = ((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct arena arena = {.base = (char *)aligned};
    vit_writer *w = (vit_writer *)(void *)arena_floats(&arena, sizeof *w);
    void *text = lay_out(w, &arena, m, how);
    size_t text_size = vit_text_size(m, VIT_DECODER, how->beams, how->tokens);
    vit_status status =
        vit_text_init(&w->text, text, text_size, m, VIT_DECODER, how->beams, how->tokens);
    if (!status) *out = w;
    return status;
}

/* ---- Hypotheses ---------------------------------------------------------------- */

static void copy_hypothesis(struct hypothesis *to, const struct hypothesis *from) {
    memcpy(to->ids, from->ids, from->count * sizeof *to->ids);
    memcpy(to->p, from->p, from->count * sizeof *to->p);
    to->count = from->count;
    to->score = from->score;
}

static void append(struct hypothesis *h, uint32_t token, float p) {
    h->ids[h->count] = token;
    h->p[h->count++] = p;
}

static void show(vit_writer *w, const struct hypothesis *h, bool done) {
    w->result.ids = h->ids;
    w->result.p = h->p;
    w->result.count = h->count;
    w->result.done = done;
}

vit_status vit_writer_begin(vit_writer *w, const float *image, const uint32_t *prompt,
                            size_t count) {
    uint32_t start = (uint32_t)w->config->start;
    struct hypothesis *first = &w->running[0];
    if (!count && w->config->start == VIT_NO_TOKEN) return VIT_BAD_ARGUMENT;
    if (!count) prompt = &start, count = 1;
    if (count > w->how.tokens) return VIT_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (prompt[i] >= w->config->vocabulary) return VIT_BAD_ARGUMENT;
    vit_status status = vit_text_set_image(w->text, image);
    if (!status) status = vit_text_run(w->text, prompt, 1, count - 1, NULL, NULL);
    if (status) return status;
    first->count = 0;
    first->score = 0;
    for (size_t i = 0; i < count; i++) append(first, prompt[i], 1);
    memset(w->parents, 0, w->how.beams * sizeof *w->parents);
    if (count > 1) vit_text_reorder(w->text, w->parents, w->how.beams);
    for (size_t i = 1; i < w->how.beams; i++) {
        copy_hypothesis(&w->running[i], first);
        w->running[i].score = -1e9f; /* so that the first step takes different tokens */
    }
    w->ended_count = 0;
    w->prompt = count;
    w->result = (vit_text_output){.parents = w->parents, .tokens = w->tokens, .scores = w->scores};
    show(w, first, count == w->how.tokens);
    return VIT_OK;
}

/* ---- Choosing ------------------------------------------------------------- */

/* → softmax(logits · scale) (V) of one that runs, until the next call. */
static const float *find_softmax(vit_writer *w, size_t beam, float scale) {
    size_t V = w->config->vocabulary;
    memcpy(w->softmax, w->logits + beam * V, V * sizeof *w->softmax);
    w->kernels->softmax(w->softmax, V, scale, 1, V);
    return w->softmax;
}

static uint32_t largest(const float *x, size_t n) {
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[at]) at = i;
    return (uint32_t)at;
}

static int falling(const void *a, const void *b) {
    const struct choice *left = a, *right = b;
    if (left->p != right->p) return left->p < right->p ? 1 : -1;
    return left->token < right->token ? -1 : left->token > right->token;
}

/* Draws from the most probable tokens that have the share top_p: Holtzman et al., arXiv:1904.09751. */
static uint32_t draw(vit_writer *w) {
    size_t V = w->config->vocabulary, nucleus = 0;
    double mass = 0;
    find_softmax(w, 0, 1 / w->how.temperature);
    for (size_t i = 0; i < V; i++)
        w->choices[i] = (struct choice){.p = w->softmax[i], .token = (uint32_t)i};
    sort(w->choices, V, sizeof *w->choices, falling);
    while (nucleus < V && (nucleus == 0 || mass < w->how.top_p)) mass += w->choices[nucleus++].p;
    struct rng rng = rng_stream(w->how.seed, RNG_WRITE, 0, w->running->count);
    double at = rng_unit(&rng) * mass;
    for (size_t i = 0; i < nucleus; i++)
        if ((at -= w->choices[i].p) < 0) return w->choices[i].token;
    return w->choices[nucleus - 1].token;
}

static void continue_one(vit_writer *w) {
    size_t V = w->config->vocabulary;
    uint32_t token = w->how.temperature > 0 ? draw(w) : largest(w->logits, V);
    struct hypothesis *h = w->running;
    append(h, token, find_softmax(w, 0, w->scale)[token]);
    show(w, h, token == w->config->end || h->count == w->how.tokens);
}

/* ---- Beams ---------------------------------------------------------------- */

/* The 2·beams best ways to continue, best first. */
static void find_choices(vit_writer *w) {
    size_t V = w->config->vocabulary, most = 2 * w->how.beams, count = 0;
    for (size_t b = 0; b < w->how.beams; b++) {
        const float *logits = w->logits + b * V;
        uint32_t best = largest(logits, V);
        /* The logarithm of Σ e^logit. Scores rank texts as their own code does, at temperature 1. */
        double sum = logits[best] + logarithm(1 / (double)find_softmax(w, b, 1)[best]);
        const float *p = find_softmax(w, b, w->scale);
        for (size_t i = 0; i < V; i++) {
            float score = (float)(logits[i] - sum) + w->running[b].score;
            if (count == most && !(score > w->choices[most - 1].score)) continue;
            size_t at = count < most ? count++ : most - 1;
            for (; at > 0 && score > w->choices[at - 1].score; at--)
                w->choices[at] = w->choices[at - 1];
            w->choices[at] = (struct choice){score, p[i], (uint32_t)b, (uint32_t)i};
        }
    }
}

static size_t worst_ended(const vit_writer *w) {
    size_t worst = 0;
    for (size_t i = 1; i < w->ended_count; i++)
        if (w->ended[i].score < w->ended[worst].score) worst = i;
    return worst;
}

/* Keeps the hypothesis among the `beams` best ones that have ended. tokens: how many it has written. */
static void end_hypothesis(vit_writer *w, const struct hypothesis *h, float score, size_t tokens) {
    bool full = w->ended_count == w->how.beams;
    float mean = score / (float)tokens;
    if (full && !(mean > w->ended[worst_ended(w)].score)) return;
    struct hypothesis *last = &w->ended[w->ended_count++];
    copy_hypothesis(last, h);
    last->score = mean;
    if (!full) return;
    size_t worst = worst_ended(w);
    const struct hypothesis spare = w->ended[worst];
    memmove(&w->ended[worst], &w->ended[worst + 1], (--w->ended_count - worst) * sizeof spare);
    w->ended[w->ended_count] = spare; /* its arrays are free again */
}

/* The best hypothesis that has ended; of equal ones the last. */
static void show_best(vit_writer *w) {
    struct hypothesis *best = &w->ended[0];
    for (size_t i = 1; i < w->ended_count; i++)
        if (w->ended[i].score >= best->score) best = &w->ended[i];
    show(w, best, true);
}

static void continue_beams(vit_writer *w) {
    size_t beams = w->how.beams, count = 0, length = w->running->count + 1 - w->prompt;
    find_choices(w);
    for (size_t rank = 0; rank < 2 * beams && count < beams; rank++) {
        const struct choice *c = &w->choices[rank];
        struct hypothesis *from = &w->running[c->beam], *to = &w->next[count];
        if (c->token == w->config->end) {
            if (rank >= beams) continue;
            append(from, c->token, c->p);
            end_hypothesis(w, from, c->score, length);
            from->count--;
            continue;
        }
        copy_hypothesis(to, from);
        append(to, c->token, c->p);
        w->scores[count] = to->score = c->score;
        w->parents[count] = c->beam;
        w->tokens[count++] = c->token;
    }
    struct hypothesis *before = w->running;
    w->running = w->next, w->next = before;
    w->result.beams = beams;
    vit_text_reorder(w->text, w->parents, beams);
    if (w->ended_count == beams &&
        w->ended[worst_ended(w)].score >= w->choices[0].score / (float)length) {
        show_best(w);
    } else if (w->running->count == w->how.tokens) {
        for (size_t i = 0; i < beams; i++)
            end_hypothesis(w, &w->running[i], w->running[i].score, length);
        show_best(w);
    } else {
        show(w, w->running, false);
    }
}

void vit_writer_step(vit_writer *w) {
    size_t beams = w->how.beams;
    if (w->result.done) return;
    for (size_t i = 0; i < beams; i++) w->tokens[i] = w->running[i].ids[w->running[i].count - 1];
    const vit_text_taps taps = {.cross = beams > 1 ? NULL : w->cross};
    vit_text_run(w->text, w->tokens, beams, 1, w->logits, &taps);
    w->result.cross = taps.cross;
    if (beams > 1)
        continue_beams(w);
    else
        continue_one(w);
}

const vit_text_output *vit_writer_result(const vit_writer *writer) {
    return &writer->result;
}
