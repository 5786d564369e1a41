/* Runs a model's decoder and its tower of texts in every way. */
#include "text/text.h"

#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "text/generate.h"

enum { MOST = 8 }; /* tokens of a text */

static void *room(size_t size) {
    void *memory = malloc(size + !size);
    EXPECT(memory, "no memory for %zu bytes", size);
    return memory;
}

static float *floats(size_t count) {
    float *x = room(count * sizeof *x);
    for (size_t i = 0; i < count; i++) x[i] = NAN;
    return x;
}

static bool text_affordable(const vit_config *c, const vit_text_config *t, size_t S) {
    double D = (double)t->width, T = (double)vit_tokens(c);
    double block = D * (8 * D + 2 * (double)t->mlp_width) + D * (double)(S + vit_tokens(c));
    double image = (double)t->depth * T * D * (double)(c->width + t->width);
    return (double)S * ((double)t->depth * block + (double)t->vocabulary * D) + image < 1e6;
}

static vit_text *text_new(void **memory, const vit_model *m, vit_text_part part, size_t texts,
                          size_t S) {
    size_t size = vit_text_size(m, part, texts, S);
    vit_text *text;
    EXPECT(size, "no room for %zu texts of %zu tokens", texts, S);
    *memory = room(size);
    EXPECT(!vit_text_init(&text, *memory, size, m, part, texts, S), "texts");
    return text;
}

static void draw_ids(uint32_t *ids, size_t n, size_t vocabulary, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)(random_next(seed) % vocabulary);
}

/* Whether each token's position follows from its place alone. */
static bool counts_all(const vit_text_config *c, const uint32_t *ids, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (c->position >= VIT_TEXT_SINCOS_HALVES && ids[i] == c->padding) return false;
    return true;
}

static void expect_rows(const float *map, size_t rows, size_t columns) {
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (size_t i = 0; i < columns; i++) sum += (double)map[row * columns + i];
        EXPECT(fabs(sum - 1) < 1e-4, "a row of attention must sum to 1, got %g", sum);
    }
}

/* Expects the same bits, or NaN in both. */
static void expect_same(const float *a, const float *b, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        EXPECT(same_bits(a + i, b + i, 1) || (isnan(a[i]) && isnan(b[i])),
               "%s: %.9g at %zu, got %.9g", what, (double)a[i], i, (double)b[i]);
}

/* All tokens at once, and one at a time. */
static void force(const vit_model *m, const float *image, size_t S, bool plain, uint64_t *seed) {
    const vit_config *whole = vit_model_config(m);
    const vit_text_config *c = &whole->decoder;
    size_t V = c->vocabulary, T = vit_tokens(whole), maps = c->depth * c->heads * S;
    uint32_t ids[MOST], bad = (uint32_t)V;
    void *memory;
    vit_text *text = text_new(&memory, m, VIT_DECODER, 1, S);
    float *logits = floats(S * V), *one = floats(V), *self = floats(maps * S),
          *cross = floats(maps * T);
    draw_ids(ids, S, V, seed);
    EXPECT(vit_text_run(text, ids, 1, 1, one, NULL), "a text about no image was run");
    EXPECT(!vit_text_set_image(text, image), "an image");
    EXPECT(vit_text_run(text, &bad, 1, 1, one, NULL), "a token that is none was run");
    const vit_text_taps taps = {.self = self, .cross = cross};
    EXPECT(!vit_text_run(text, ids, 1, S, logits, &taps), "a text");
    EXPECT(vit_text_run(text, ids, 1, 1, one, NULL), "more tokens than there is room for");
    if (plain) {
        EXPECT(finite_floats(logits, S * V), "logits are not finite");
        expect_rows(self, maps, S);
        expect_rows(cross, maps, T);
    }
    vit_text_clear(text);
    for (size_t i = 0; i < S; i++) {
        EXPECT(!vit_text_run(text, ids + i, 1, 1, one, NULL), "a token");
        if (plain && counts_all(c, ids, S))
            expect_same(logits + i * V, one, V, "a token with a cache");
    }
    free(logits), free(one), free(self), free(cross), free(memory);
}

static void write_text(const vit_model *m, const float *image, size_t S, bool plain,
                       uint64_t *seed) {
    static const float TEMPERATURES[] = {0, 0, 1, 0.1f, 1000, 1e-40f};
    const vit_text_config *c = &vit_model_config(m)->decoder;
    vit_writing how = {.tokens = S, .beams = 1, .seed = random_next(seed)};
    how.temperature = TEMPERATURES[random_next(seed) % 6];
    how.top_p = (float)(random_next(seed) % 5) / 4;
    if (how.temperature == 0 && c->vocabulary > 1) how.beams = 1 + random_next(seed) % 4;
    size_t size = vit_writer_size(m, &how), prompt = random_next(seed) % S + 1, steps = 0;
    void *memory = room(size);
    vit_writer *writer;
    uint32_t ids[MOST];
    draw_ids(ids, prompt, c->vocabulary, seed);
    EXPECT(size && !vit_writer_init(&writer, memory, size, m, &how), "a writer");
    EXPECT(!vit_writer_begin(writer, image, ids, prompt), "a text's beginning");
    const vit_text_output *w = vit_writer_result(writer);
    for (; !w->done; steps++) {
        vit_writer_step(writer);
        EXPECT(steps < S && w->count <= S, "%zu tokens, got %zu", S, w->count);
        for (size_t i = 0; i < w->beams; i++)
            EXPECT(w->parents[i] < w->beams && w->tokens[i] < c->vocabulary, "beam %zu", i);
    }
    for (size_t i = 0; i < w->count; i++)
        EXPECT(w->ids[i] < c->vocabulary && (!plain || (w->p[i] >= 0 && w->p[i] <= 1.0001f)),
               "token %zu is %u, p %g", i, w->ids[i], (double)w->p[i]);
    free(memory);
}

/* Two texts together and alone. */
static void embed(const vit_model *m, size_t S, bool plain, uint64_t *seed) {
    const vit_text_config *c = &vit_model_config(m)->text;
    size_t D = c->width, P = c->projection, sizes[] = {S * D, D, P};
    uint32_t ids[2 * MOST];
    float *both[3], *one[3];
    void *memory;
    vit_text *text = text_new(&memory, m, VIT_TOWER, 1 + random_next(seed) % 2, S);
    for (size_t i = 0; i < 3; i++) both[i] = floats(2 * sizes[i]), one[i] = floats(sizes[i]);
    draw_ids(ids, 2 * S, c->vocabulary, seed);
    EXPECT(!vit_text_embed(text, ids, 2, S, both[0], both[1], P ? both[2] : NULL), "two texts");
    for (size_t k = 0; k < 2; k++) {
        EXPECT(!vit_text_embed(text, ids + k * S, 1, S, one[0], one[1], P ? one[2] : NULL),
               "a text");
        for (size_t i = 0; i < 3; i++)
            expect_same(both[i] + k * sizes[i], one[i], sizes[i], "a text alone");
    }
    for (size_t i = 0; i < 3; i++) {
        EXPECT(!plain || finite_floats(both[i], 2 * sizes[i]), "output %zu is not finite", i);
        free(both[i]), free(one[i]);
    }
    free(memory);
}

/* The image's tokens, on the heap. */
static float *tokens_of(const vit_model *m, const float *image) {
    const vit_config *c = vit_model_config(m);
    size_t size = vit_state_size(m, 1, NULL);
    void *memory = room(size);
    vit_state *state;
    float *tokens = floats(vit_tokens(c) * c->width);
    EXPECT(!vit_state_init(&state, memory, size, m, 1, NULL), "a state");
    EXPECT(!vit_run(m, state, image, 1, NULL, &(vit_taps){.tokens = tokens}), "a run");
    free(memory);
    return tokens;
}

void run_texts(const vit_model *m, const float *image, bool plain, uint64_t *seed) {
    const vit_config *c = vit_model_config(m);
    for (int part = VIT_DECODER; part <= VIT_TOWER; part++) {
        const vit_text_config *t = vit_text_of(c, (vit_text_part)part);
        size_t S = t->max_tokens < MOST ? t->max_tokens : MOST;
        if (!t->depth || !text_affordable(c, t, S)) continue;
        S = 1 + random_next(seed) % S;
        if (part == VIT_TOWER) embed(m, S, plain, seed);
        if (part == VIT_TOWER) continue;
        float *tokens = tokens_of(m, image);
        if (finite_floats(tokens, vit_tokens(c) * c->width)) {
            force(m, tokens, S, plain, seed);
            write_text(m, tokens, S, plain, seed);
        }
        free(tokens);
    }
}
