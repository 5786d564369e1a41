/* Decoders and text towers, compared with a twin in double precision and with themselves: with and
 * without the cache, alone and beside others. */
#include "text/text.h"

#include "text/generate.h"
#include "text_twin.h"

#include "golden.h"
#include "models.h"
#include "tape.h"

/* ---- Models ------------------------------------------------------------- */

#define IMAGE                                                                                      \
    "\"image_size\":[6,9],\"patch_size\":[3,3],\"channels\":1,\"width\":10,\"depth\":1,"           \
    "\"heads\":2,\"mlp_width\":11,\"classes\":0,"
#define TEXT(depth, width, heads)                                                                  \
    "{\"depth\":" #depth ",\"width\":" #width ",\"heads\":" #heads                                 \
    ",\"mlp_width\":19,\"vocabulary\":13,\"max_tokens\":24,\"start\":1,\"end\":2,\"padding\":0,"
#define DECODER(depth, width, heads, more)                                                         \
    "{" IMAGE "\"decoder\":" TEXT(depth, width, heads) more "}}"
#define TOWER(more) "{" IMAGE "\"text\":" TEXT(2, 12, 3) more "}}"

static const char *const DECODERS[] = {
    DECODER(2, 12, 3, "\"norm\":\"pre\""),
    DECODER(2, 12, 3, "\"norm\":\"post\",\"final_norm\":false,\"activation\":\"relu\""),
    DECODER(1, 7, 1, "\"position\":\"sincos1d\",\"tied_head\":true,\"head_bias\":false"),
    DECODER(2, 8, 8,
            "\"position\":\"sincos_halves\",\"position_offset\":1,\"embedding_scale\":2.5,"
            "\"embedding_norm\":true,\"norm\":\"post\",\"tied_head\":true"),
    DECODER(3, 40, 2,
            "\"position_offset\":2,\"token_types\":2,\"encoder_proj\":true,"
            "\"head_hidden\":true,\"activation\":\"gelu_tanh\""),
    DECODER(1, 8, 2, "\"position\":\"counted\",\"position_offset\":2"),
    DECODER(1, 6, 1, "\"position\":\"counted\""),
};
static const char *const TOWERS[] = {
    TOWER("\"projection\":9,\"activation\":\"quick_gelu\""),
    TOWER("\"mask\":\"none\",\"pool\":\"last\",\"projection\":17,\"projection_bias\":true,"
          "\"logit_bias\":true"),
    TOWER("\"pool\":\"largest\",\"norm\":\"post\""),
};
enum {
    DECODERS_COUNT = sizeof DECODERS / sizeof *DECODERS,
    TOWERS_COUNT = sizeof TOWERS / sizeof *TOWERS
};

/* A model of random weights, unpacked. */
static vit_model *model_of(const char *json, uint64_t seed) {
    vit_config config;
    vit_model *model = NULL;
    vit_error why = {""};
    vit_status status = vit_config_read(&config, json, strlen(json), &why);
    if (!status) status = vit_create(&model, &config, json, strlen(json), unpacked_kernels(), &why);
    if (status)
        check_failed(__FILE__, __LINE__, "%s: %s", json, why.text);
    else
        random_weights(model, &seed);
    return model;
}

/* The same weights for other kernels. */
static vit_model *with_kernels(vit_model *model, const struct vit_kernels *kernels) {
    size_t size, json_size;
    vit_error why = {""};
    vit_model *other = NULL;
    const char *json = vit_model_json(model, &json_size);
    size = vit_encode(NULL, 0, model, parameters_of(model), json, json_size);
    uint8_t *bytes = malloc(size);
    vit_encode(bytes, size, model, parameters_of(model), json, json_size);
    if (vit_open(&other, bytes, size, kernels, &why))
        check_failed(__FILE__, __LINE__, "%s: %s", kernels->name, why.text);
    free(bytes);
    return other;
}

struct owned_text {
    vit_text *text;
    void *memory;
};

static struct owned_text new_text(const vit_model *model, vit_text_part part, size_t texts,
                                  size_t tokens) {
    size_t size = vit_text_size(model, part, texts, tokens);
    struct owned_text t = {NULL, malloc(size + 1)};
    if (vit_text_init(&t.text, t.memory, size, model, part, texts, tokens))
        check_failed(__FILE__, __LINE__, "no text of %zu bytes", size);
    return t;
}

static void random_ids(uint32_t *ids, size_t n, const vit_text_config *c, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) ids[i] = (uint32_t)random_below(seed, c->vocabulary);
}

/* Every number is close to the twin's. */
static void check_twin(const float *got, const double *want, size_t n, const char *what) {
    float *expected = floats(n);
    for (size_t i = 0; i < n; i++) expected[i] = (float)want[i];
    CHECK_CLOSE(got, expected, n, 2e-5 * (1 + largest(expected, n)), what);
    free(expected);
}

/* What a run writes, each between sentinels. */
struct results {
    float *logits, *self, *cross, *hidden;
    size_t n[4];
};

static struct results new_results(const vit_config *whole, const vit_text_config *c, size_t batch,
                                  size_t n, size_t past) {
    size_t heads = batch * c->depth * c->heads * n;
    struct results r = {.n = {batch * n * c->vocabulary, heads * (past + n),
                              heads * vit_tokens(whole), batch * n * c->width}};
    float **all[] = {&r.logits, &r.self, &r.cross, &r.hidden};
    for (size_t i = 0; i < 4; i++) *all[i] = guarded(r.n[i]);
    return r;
}

static void close_results(struct results *r) {
    float *all[] = {r->logits, r->self, r->cross, r->hidden};
    for (size_t i = 0; i < 4; i++) {
        CHECK(guards_intact(all[i], r->n[i]), "result %zu is written past its end", i);
        guarded_free(all[i]);
    }
}

static void run(vit_text *text, const uint32_t *ids, size_t batch, size_t n, struct results *r) {
    const vit_text_taps taps = {.self = r->self, .cross = r->cross, .hidden = r->hidden};
    vit_status status = vit_text_run(text, ids, batch, n, r->logits, &taps);
    CHECK(status == VIT_OK, "%s", vit_status_name(status));
}

/* ---- Decoders ----------------------------------------------------------- */

enum { S = 11 };

/* BODY has model, whole, c, image (T,E) and text, with room for 3 texts of S tokens. */
#define EACH_DECODER(...)                                                                          \
    EACH_KERNELS(kernels) for (size_t i_ = 0; i_ < DECODERS_COUNT; i_++) {                         \
        uint64_t seed = 7 + i_;                                                                    \
        vit_model *plain = model_of(DECODERS[i_], seed);                                           \
        REQUIRE(plain, "no model");                                                                \
        vit_model *model = with_kernels(plain, kernels);                                           \
        REQUIRE(model, "no model");                                                                \
        const vit_config *whole = vit_model_config(model);                                         \
        const vit_text_config *c = &whole->decoder;                                                \
        float *image = random_floats(vit_tokens(whole) * whole->width, 1, &seed);                  \
        struct owned_text owned = new_text(model, VIT_DECODER, 3, S);                              \
        vit_text *text = owned.text;                                                               \
        CHECK(vit_text_set_image(text, image) == VIT_OK, "cannot see");                            \
        __VA_ARGS__                                                                                \
        free(owned.memory), free(image);                                                           \
        vit_close(model), vit_close(plain);                                                        \
    }

TEST("a decoder gives the logits, both attentions and the tokens of the twin") {
    EACH_DECODER({
        uint32_t ids[S];
        random_ids(ids, S, c, &seed);
        struct results r = new_results(whole, c, 1, S, 0);
        struct twin twin = twin_open(plain);
        double *wide_image = doubles(vit_tokens(whole) * whole->width);
        for (size_t i = 0; i < vit_tokens(whole) * whole->width; i++) wide_image[i] = image[i];
        struct text_twin want = text_twin_run(&twin, ids, S, wide_image);
        run(text, ids, 1, S, &r);
        check_twin(r.logits, want.logits, r.n[0], "logits");
        check_twin(r.self, want.self, r.n[1], "self");
        check_twin(r.cross, want.cross, r.n[2], "cross");
        check_twin(r.hidden, want.hidden, r.n[3], "hidden");
        text_twin_close(&want);
        twin_close(&twin);
        free(wide_image);
        close_results(&r);
    })
}

/* Bits are the same where a row's do not depend on the rows beside it. */
static void check_same(const struct vit_kernels *k, const float *got, const float *want, size_t n,
                       const char *what) {
    if (rows_keep_bits(k))
        CHECK_SAME_BITS(got, want, n, what);
    else
        CHECK_CLOSE(got, want, n, 2e-5 * (1 + largest(want, n)), what);
}

TEST("tokens run one by one, or some at a time, have the logits of all at once"){EACH_DECODER({
    uint32_t ids[S];
    size_t V = c->vocabulary;
    random_ids(ids, S, c, &seed);
    for (size_t i = 0; c->position >= VIT_TEXT_SINCOS_HALVES && i < S; i++)
        ids[i] += ids[i] == c->padding; /* which is counted only within a run */
    struct results r = new_results(whole, c, 1, S, 0);
    float *each = floats(S * V);
    run(text, ids, 1, S, &r);
    for (size_t step = 1; step < 5; step += 3) {
        vit_text_clear(text);
        for (size_t at = 0; at < S; at += step) {
            size_t n = S - at < step ? S - at : step;
            CHECK(!vit_text_run(text, ids + at, 1, n, each + at * V, NULL), "at %zu", at);
        }
        check_same(kernels, each, r.logits, S * V, "logits");
    }
    free(each);
    close_results(&r);
})}

TEST("texts beside others, and texts that go on from others, are as alone") {
    static const uint32_t FROM[] = {2, 0, 0};
    EACH_DECODER({
        uint32_t ids[2][3];
        random_ids(ids[0], 6, c, &seed);
        struct results r = new_results(whole, c, 3, 1, 1);
        struct results alone = new_results(whole, c, 1, 1, 1);
        size_t V = c->vocabulary, heat = c->depth * c->heads, T = vit_tokens(whole);
        CHECK(!vit_text_run(text, ids[0], 3, 1, NULL, NULL), "first");
        vit_text_reorder(text, FROM, 3);
        run(text, ids[1], 3, 1, &r);
        for (size_t b = 0; b < 3; b++) {
            vit_text_clear(text);
            CHECK(!vit_text_run(text, &ids[0][FROM[b]], 1, 1, NULL, NULL), "alone");
            run(text, &ids[1][b], 1, 1, &alone);
            check_same(kernels, r.logits + b * V, alone.logits, V, "logits");
            check_same(kernels, r.self + b * heat * 2, alone.self, heat * 2, "self");
            check_same(kernels, r.cross + b * heat * T, alone.cross, heat * T, "cross");
        }
        close_results(&r);
        close_results(&alone);
    })
}

TEST("only the last token's logits are those of all"){EACH_DECODER({
    uint32_t ids[S];
    size_t V = c->vocabulary;
    random_ids(ids, S, c, &seed);
    float *last = guarded(V);
    struct results r = new_results(whole, c, 1, S, 0);
    run(text, ids, 1, S, &r);
    vit_text_clear(text);
    CHECK(!vit_text_run(text, ids, 1, S, last, &(vit_text_taps){.last = true}), "last");
    check_same(kernels, last, r.logits + (S - 1) * V, V, "logits");
    CHECK(guards_intact(last, V), "written past its end");
    guarded_free(last);
    close_results(&r);
})}

TEST("a text refuses too many texts or tokens, numbers that are no tokens, and images that are not "
     "finite") {
    vit_model *model = model_of(DECODERS[0], 1);
    const vit_config *whole = vit_model_config(model);
    const uint32_t bad[] = {1, 13}, good[] = {1, 2, 3, 4};
    struct owned_text owned = new_text(model, VIT_DECODER, 2, 3);
    float *image = floats(vit_tokens(whole) * whole->width);
    memset(image, 0, vit_tokens(whole) * whole->width * sizeof *image);
    CHECK(vit_text_run(owned.text, good, 1, 1, NULL, NULL) == VIT_BAD_ARGUMENT, "saw no image");
    image[5] = NAN;
    CHECK(vit_text_set_image(owned.text, image) == VIT_BAD_IMAGE, "NaN");
    image[5] = 0;
    CHECK(vit_text_set_image(owned.text, image) == VIT_OK, "zeros");
    CHECK(vit_text_run(owned.text, bad, 1, 2, NULL, NULL) == VIT_BAD_ARGUMENT, "13 of 13");
    CHECK(vit_text_run(owned.text, good, 1, 4, NULL, NULL) == VIT_BAD_ARGUMENT, "4 of 3 tokens");
    CHECK(vit_text_run(owned.text, good, 3, 1, NULL, NULL) == VIT_BAD_ARGUMENT, "3 of 2 texts");
    CHECK(vit_text_run(owned.text, good, 1, 3, NULL, NULL) == VIT_OK, "3 of 3 tokens");
    CHECK(vit_text_run(owned.text, good, 1, 1, NULL, NULL) == VIT_BAD_ARGUMENT, "a fourth");
    CHECK(vit_text_size(model, VIT_DECODER, 1, 25) == 0, "more than max_tokens");
    CHECK(vit_text_size(model, VIT_TOWER, 1, 1) == 0, "a tower that is not there");
    CHECK(vit_text_size(model, VIT_DECODER, SIZE_MAX / 16, 24) == 0, "more than memory");
    free(image), free(owned.memory);
    vit_close(model);
}

/* ---- Towers ------------------------------------------------------------- */

TEST("a tower gives the twin's tokens, the one that stands for each text, and its projection") {
    static const uint32_t IDS[3][5] = {{1, 5, 2, 12, 2}, {4, 4, 4, 9, 9}, {12, 0, 12, 3, 1}};
    static const size_t POOLED[TOWERS_COUNT][3] = {{2, 0, 0}, {4, 4, 4}, {3, 3, 0}};
    EACH_KERNELS(kernels) for (size_t i = 0; i < TOWERS_COUNT; i++) {
        vit_model *plain = model_of(TOWERS[i], 3 + i), *model = with_kernels(plain, kernels);
        const vit_text_config *c = &vit_model_config(model)->text;
        size_t D = c->width, P = c->projection;
        struct owned_text owned = new_text(model, VIT_TOWER, 1, 5);
        struct twin twin = twin_open(plain);
        float *hidden = guarded(3 * 5 * D), *pooled = guarded(3 * D), *embeds = guarded(3 * P);
        vit_status status =
            vit_text_embed(owned.text, IDS[0], 3, 5, hidden, pooled, P ? embeds : NULL);
        CHECK(status == VIT_OK, "%s", vit_status_name(status));
        for (size_t b = 0; b < 3; b++) {
            struct text_twin want = text_twin_run(&twin, IDS[b], 5, NULL);
            double *projected = doubles(P);
            check_twin(hidden + b * 5 * D, want.hidden, 5 * D, "hidden");
            check_twin(pooled + b * D, want.hidden + POOLED[i][b] * D, D, "pooled");
            if (P)
                twin_linear(projected, want.hidden + POOLED[i][b] * D,
                            twin_tensor(&twin, "text.proj.weight"),
                            twin_tensor(&twin, "text.proj.bias"), P, D);
            check_twin(embeds + b * P, projected, P, "embeds");
            text_twin_close(&want);
            free(projected);
        }
        CHECK(guards_intact(hidden, 3 * 5 * D) && guards_intact(pooled, 3 * D) &&
                  guards_intact(embeds, 3 * P),
              "written past an end");
        guarded_free(hidden), guarded_free(pooled), guarded_free(embeds);
        twin_close(&twin);
        free(owned.memory);
        vit_close(model), vit_close(plain);
    }
}

/* ---- Writing ------------------------------------------------------------ */

struct owned_writer {
    vit_writer *writer;
    void *memory;
};

static struct owned_writer write_all(const vit_model *model, const vit_writing *how,
                                     const float *image) {
    size_t size = vit_writer_size(model, how);
    struct owned_writer w = {NULL, malloc(size + 1)};
    if (vit_writer_init(&w.writer, w.memory, size, model, how) ||
        vit_writer_begin(w.writer, image, NULL, 0))
        check_failed(__FILE__, __LINE__, "no writer of %zu bytes", size);
    else
        while (!vit_writer_result(w.writer)->done) vit_writer_step(w.writer);
    return w;
}

/* The sum of the logarithms of the tokens' probabilities after the first, by the forced text. */
static double log_probability(vit_text *text, const uint32_t *ids, size_t n, size_t V) {
    float logits[32 * 16], p[16];
    double sum = 0;
    vit_text_clear(text);
    vit_text_run(text, ids, 1, n, logits, NULL);
    for (size_t i = 0; i + 1 < n; i++) {
        vit_probabilities(p, logits + i * V, V, 1);
        sum += log((double)p[ids[i + 1]]);
    }
    return sum;
}

TEST("each token written greedily is the most probable one after those before it"){EACH_DECODER({
    const vit_writing how = {.tokens = S, .beams = 1, .top_p = 1};
    struct owned_writer w = write_all(model, &how, image);
    const vit_text_output *r = vit_writer_result(w.writer);
    size_t V = c->vocabulary;
    float logits[S * 13], p[13];
    CHECK(r->ids[0] == c->start && r->count > 1, "%zu tokens", r->count);
    CHECK(r->count == S || r->ids[r->count - 1] == c->end, "ends by %u", r->ids[r->count - 1]);
    vit_text_run(text, r->ids, 1, r->count, logits, NULL);
    for (size_t i = 0; i + 1 < r->count; i++) {
        vit_probabilities(p, logits + i * V, V, 1);
        for (size_t v = 0; v < V; v++)
            CHECK(p[v] <= p[r->ids[i + 1]] + 1e-5f, "token %zu: %zu is likelier", i, v);
        CHECK(within((double)r->p[i + 1], (double)p[r->ids[i + 1]], 1e-5), "p of %zu", i + 1);
    }
    free(w.memory);
})}

TEST("the config's temperature changes how probable tokens are, and not which are written") {
    for (size_t i = 0; i < DECODERS_COUNT; i++) {
        char json[1024];
        snprintf(json, sizeof json, "{\"temperature\":0.25,%s", DECODERS[i] + 1);
        vit_model *models[] = {model_of(DECODERS[i], i), model_of(json, i)};
        const vit_config *whole = vit_model_config(models[0]);
        size_t V = whole->decoder.vocabulary;
        uint64_t seed = i;
        float *image = random_floats(vit_tokens(whole) * whole->width, 1, &seed);
        struct owned_text owned = new_text(models[0], VIT_DECODER, 1, S);
        vit_text_set_image(owned.text, image);
        for (size_t beams = 1; beams <= 3; beams += 2) {
            const vit_writing how = {.tokens = S, .beams = beams, .top_p = 1};
            struct owned_writer warm = write_all(models[0], &how, image),
                                cold = write_all(models[1], &how, image);
            const vit_text_output *a = vit_writer_result(warm.writer),
                                  *b = vit_writer_result(cold.writer);
            float logits[S * 13], p[13];
            REQUIRE(a->count == b->count && !memcmp(a->ids, b->ids, a->count * sizeof *a->ids),
                    "other tokens");
            vit_text_clear(owned.text);
            for (size_t at = 0; at < b->count; at++)
                vit_text_run(owned.text, b->ids + at, 1, 1, logits + at * V, NULL);
            for (size_t at = 1; at < b->count; at++) {
                vit_probabilities(p, logits + (at - 1) * V, V, 0.25f);
                CHECK(within((double)b->p[at], (double)p[b->ids[at]], 1e-5), "%zu beams: p of %zu",
                      beams, at);
            }
            free(warm.memory), free(cold.memory);
        }
        free(owned.memory), free(image);
        vit_close(models[0]), vit_close(models[1]);
    }
}

/* Goes through all texts that begin with ids (n) and finds the one of the best mean. */
static void search(vit_text *text, const vit_text_config *c, uint32_t *ids, size_t n, size_t most,
                   double *best, uint32_t *best_ids, size_t *best_count) {
    bool ended = n > 1 && ids[n - 1] == c->end;
    for (uint32_t v = 0; !ended && n < most && v < c->vocabulary; v++) {
        ids[n] = v;
        search(text, c, ids, n + 1, most, best, best_ids, best_count);
    }
    if (!ended && n < most) return;
    double mean = log_probability(text, ids, n, c->vocabulary) / (double)(n - 1);
    if (mean <= *best) return;
    *best = mean, *best_count = n;
    memcpy(best_ids, ids, n * sizeof *ids);
}

TEST("enough beams find the text of the best mean logarithm among all texts") {
    static const char SMALL[] =
        "{" IMAGE "\"decoder\":{\"depth\":1,\"width\":8,\"heads\":2,\"mlp_width\":9,"
        "\"vocabulary\":3,\"max_tokens\":9,\"start\":0,\"end\":2}}";
    for (uint64_t seed = 1; seed < 9; seed++) {
        vit_model *model = model_of(SMALL, seed);
        const vit_config *whole = vit_model_config(model);
        uint64_t of_image = seed;
        float *image = random_floats(vit_tokens(whole) * whole->width, 1, &of_image);
        struct owned_text owned = new_text(model, VIT_DECODER, 1, 5);
        uint32_t ids[5] = {0}, best_ids[5];
        size_t count = 0;
        double best = -INFINITY;
        vit_text_set_image(owned.text, image);
        search(owned.text, &whole->decoder, ids, 1, 5, &best, best_ids, &count);
        const vit_writing how = {.tokens = 5, .beams = 81, .top_p = 1};
        struct owned_writer w = write_all(model, &how, image);
        const vit_text_output *r = vit_writer_result(w.writer);
        CHECK(r->count == count && !memcmp(r->ids, best_ids, count * sizeof *ids),
              "seed %zu: %zu tokens, not %zu", (size_t)seed, r->count, count);
        free(w.memory), free(owned.memory), free(image);
        vit_close(model);
    }
}

TEST("tokens are drawn as often as they are probable, from top_p's share only, and again by a "
     "seed") {
    enum { DRAWS = 2000 };
    vit_model *model = model_of(DECODERS[0], 4);
    const vit_config *whole = vit_model_config(model);
    uint64_t seed = 5;
    float *image = random_floats(vit_tokens(whole) * whole->width, 1, &seed), logits[13], p[13];
    struct owned_text owned = new_text(model, VIT_DECODER, 1, 1);
    const uint32_t start = 1;
    vit_text_set_image(owned.text, image);
    vit_text_run(owned.text, &start, 1, 1, logits, NULL);
    vit_probabilities(p, logits, 13, 2);
    for (size_t share = 0; share < 2; share++) {
        size_t counts[13] = {0};
        vit_writing how = {.tokens = 2, .beams = 1, .temperature = 2, .top_p = share ? 0.5f : 1};
        double nucleus[13], mass = 0, sum = 0;
        for (size_t v = 0; v < 13; v++) { /* the share of those that are likelier */
            double likelier = 0;
            for (size_t u = 0; u < 13; u++) likelier += p[u] > p[v] ? (double)p[u] : 0;
            nucleus[v] = likelier < (double)how.top_p ? (double)p[v] : 0;
            mass += nucleus[v];
        }
        for (how.seed = 0; how.seed < DRAWS; how.seed++) {
            struct owned_writer w = write_all(model, &how, image);
            counts[vit_writer_result(w.writer)->ids[1]]++;
            free(w.memory);
        }
        for (size_t v = 0; v < 13; v++) {
            double want = nucleus[v] / mass, got = (double)counts[v] / DRAWS;
            CHECK(within(got, want, 5 * sqrt(want * (1 - want) / DRAWS)), "%zu: %g, not %g", v, got,
                  want);
            sum += got;
        }
        CHECK(within(sum, 1, 1e-9), "%g", sum);
    }
    free(image), free(owned.memory);
    vit_close(model);
}

/* ---- Gradients ---------------------------------------------------------- */

enum { FORCED = 6 };
static const float SMOOTHING = 0.1f;

/* The loss of texts, each about its image, by the twin. ids (BATCH,FORCED+1). */
static double twin_loss_of_texts(const struct twin *t, const float *images, const uint32_t *ids) {
    const vit_text_config *c = &t->c.decoder;
    double loss = 0;
    for (size_t b = 0; b < BATCH; b++, ids += FORCED + 1) {
        struct twin_run run = twin_forward(t, images + b * image_floats(&t->c), NULL);
        struct text_twin text = text_twin_run(t, ids, FORCED, run.tokens);
        for (size_t i = 0; i < FORCED; i++)
            if (ids[i + 1] != c->padding)
                loss += twin_loss(text.logits + i * c->vocabulary, ids[i + 1], c->vocabulary,
                                  (double)SMOOTHING);
        text_twin_close(&text);
        twin_run_free(&run);
    }
    return loss;
}

/* Compares the gradient of each tensor along a random direction with the twin's difference. */
static void check_gradient(vit_model *model, const float *gradient, const float *images,
                           const uint32_t *ids, uint64_t *seed) {
    const double h = 1e-5;
    struct twin twin = twin_open(model);
    double most = largest(gradient, twin.count);
    for (size_t k = 0; k < twin.tensors_count; k++) {
        vit_tensor tensor = twin.tensors[k];
        double *x = twin.p + tensor.offset, along = 0, g_square = 0, v_square = 0, loss[2];
        double *v = doubles(tensor.count), *x0 = doubles(tensor.count);
        memcpy(x0, x, tensor.count * sizeof *x);
        for (size_t i = 0; i < tensor.count; i++) {
            double g = gradient[tensor.offset + i];
            v[i] = random_float(seed);
            along += g * v[i], g_square += g * g, v_square += v[i] * v[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < tensor.count; i++) x[i] = x0[i] + (side ? -h : h) * v[i];
            loss[side] = twin_loss_of_texts(&twin, images, ids);
        }
        memcpy(x, x0, tensor.count * sizeof *x);
        double want = (loss[0] - loss[1]) / (2 * h);
        double tolerance = 1e-4 * sqrt(g_square * v_square) + 1e-6 * fmax(1, most) * sqrt(v_square);
        CHECK(within(along, want, tolerance), "%s: g·v is %.9g, the difference %.9g", tensor.name,
              along, want);
        free(v), free(x0);
    }
    twin_close(&twin);
}

TEST("gradients of forced texts equal finite differences, back to the pixels' projection") {
    EACH_KERNELS(kernels) for (size_t i = 0; i < DECODERS_COUNT && !kernels->packed; i++) {
        uint64_t seed = 90 + i;
        vit_model *plain = model_of(DECODERS[i], seed), *model = with_kernels(plain, kernels);
        const vit_config *whole = vit_model_config(model);
        const vit_text_config *c = &whole->decoder;
        size_t V = c->vocabulary, count, logits_count = BATCH * FORCED * V;
        vit_parameters(model, &count);
        float *images = random_floats(BATCH * image_floats(whole), 1, &seed);
        float *logits = guarded(logits_count), *dlogits = guarded(logits_count);
        float *gradient = guarded(count);
        uint32_t ids[BATCH][FORCED + 1], inputs[BATCH][FORCED], next[BATCH][FORCED];
        random_ids(ids[0], (size_t)BATCH * (FORCED + 1), c, &seed);
        ids[0][5] = ids[0][6] = (uint32_t)c->padding;
        for (size_t b = 0; b < BATCH; b++) {
            memcpy(inputs[b], ids[b], sizeof inputs[b]);
            memcpy(next[b], ids[b] + 1, sizeof next[b]);
        }
        size_t size = vit_tape_size(model, BATCH);
        void *memory = malloc(size + 1);
        vit_tape *tape;
        REQUIRE(!vit_tape_init(&tape, memory, size, model, BATCH), "no tape of %zu bytes", size);
        memset(gradient, 0, count * sizeof *gradient);
        vit_forward(model, tape, images, BATCH, NULL, NULL);
        vit_forward_text(model, tape, inputs[0], BATCH, FORCED, logits);
        double loss = vit_text_loss(dlogits, logits, next[0], (size_t)BATCH * FORCED, V, c->padding,
                                    SMOOTHING, 1);
        vit_backward_text(model, tape, BATCH, FORCED, dlogits, gradient);
        struct twin twin = twin_open(plain);
        CHECK(within(loss, twin_loss_of_texts(&twin, images, ids[0]), 1e-4 * loss), "loss %g",
              loss);
        twin_close(&twin);
        check_gradient(model, gradient, images, ids[0], &seed);
        CHECK(guards_intact(logits, logits_count) && guards_intact(dlogits, logits_count) &&
                  guards_intact(gradient, count),
              "written past an end");
        guarded_free(logits), guarded_free(dlogits), guarded_free(gradient);
        free(images), free(memory);
        vit_close(model), vit_close(plain);
    }
}

/* ---- Golden vectors ------------------------------------------------------- */

/* Texts of golden->ids (BATCH,FORCED+1). */
static void golden_ids(const struct golden *g, uint32_t inputs[BATCH][FORCED],
                       uint32_t next[BATCH][FORCED]) {
    float *ids = result_floats(g, "ids", (size_t)BATCH * (FORCED + 1));
    for (size_t b = 0; b < BATCH; b++)
        for (size_t i = 0; i < FORCED; i++) {
            inputs[b][i] = (uint32_t)ids[b * (FORCED + 1) + i];
            next[b][i] = (uint32_t)ids[b * (FORCED + 1) + i + 1];
        }
    free(ids);
}

TEST("a decoder equals torch.nn.TransformerDecoder, with a cache and without, and its gradients") {
    static const char *const NAMES[] = {"texts/decoder_pre", "texts/decoder_post"};
    EACH_KERNELS(kernels) for (size_t i = 0; i < 2; i++) {
        struct golden g;
        vit_model *model;
        vit_error why = {""};
        REQUIRE(golden_open(&g, NAMES[i]), "no %s", NAMES[i]);
        MUST(vit_open(&model, g.model, g.model_size, kernels, &why));
        const vit_config *whole = vit_model_config(model);
        size_t V = whole->decoder.vocabulary, n = BATCH * FORCED * V, tokens = vit_tokens(whole);
        uint32_t inputs[BATCH][FORCED], next[BATCH][FORCED];
        golden_ids(&g, inputs, next);
        float *images = result_floats(&g, "images", BATCH * image_floats(whole));
        float *logits = floats(n), *image_tokens = floats(BATCH * tokens * whole->width);
        struct owned_state state = new_state(model, BATCH);
        vit_run(model, state.state, images, BATCH, NULL, &(vit_taps){.tokens = image_tokens});
        struct owned_text owned = new_text(model, VIT_DECODER, 1, FORCED);
        for (size_t step = 1; step <= FORCED; step += FORCED - 1) {
            for (size_t b = 0; b < BATCH; b++) {
                vit_text_set_image(owned.text, image_tokens + b * tokens * whole->width);
                for (size_t at = 0; at < FORCED; at += step)
                    vit_text_run(owned.text, inputs[b] + at, 1, step,
                                 logits + (b * FORCED + at) * V, NULL);
            }
            compare(&g, kernels->name, "logits", logits, n, FORWARD);
        }
        float *p = parameters_of(model);
        if (p) {
            size_t count, size = vit_tape_size(model, BATCH);
            vit_parameters(model, &count);
            float *gradient = floats(count);
            void *memory = malloc(size);
            vit_tape *tape;
            memset(gradient, 0, count * sizeof *gradient);
            vit_tape_init(&tape, memory, size, model, BATCH);
            vit_forward(model, tape, images, BATCH, NULL, NULL);
            vit_forward_text(model, tape, inputs[0], BATCH, FORCED, logits);
            compare(&g, kernels->name, "logits", logits, n, FORWARD);
            float loss = (float)vit_text_loss(logits, logits, next[0], (size_t)BATCH * FORCED, V,
                                              whole->decoder.padding, 0, 1);
            compare(&g, kernels->name, "loss", &loss, 1, FORWARD);
            vit_backward_text(model, tape, BATCH, FORCED, logits, gradient);
            double most = largest(gradient, count);
            for (size_t k = 0; k < vit_tensor_count(model); k++) {
                vit_tensor t = vit_tensor_at(model, k);
                char name[80];
                snprintf(name, sizeof name, "grad.%s", t.name);
                compare_above(&g, kernels->name, name, gradient + t.offset, t.count, 1e-4,
                              1e-6 * most);
            }
            free(gradient), free(memory);
        }
        free(images), free(logits), free(image_tokens), free(owned.memory), free(state.memory);
        vit_close(model);
        golden_close(&g);
    }
}
