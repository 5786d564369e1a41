/* Relevance, compared with the double-precision twin: the gradient by each attention weight is a
 * finite difference of the logit, and R is a product of whole matrices. */
#include "overlay.h"
#include "scene.h"

/* A share of the map's largest value. A gradient goes through as many roundings as in
 * gradients_test.c. */
static const double CLOSE = 1e-4;
/* The step of the finite differences. Their error is about STEP and 1e-16 / STEP. */
static const double STEP = 1e-8;

/* Relevance (count,N) of the scene's image, from a run without the scene's parts that keeps only
 * the stream. */
static vit_status relevance_of(struct scene *s, float *out, const size_t *classes, size_t count) {
    size_t size = vit_relevance_size(s->model, count);
    void *memory = malloc(size + 1);
    const vit_trace stream = {.stream = s->trace.stream};
    vit_state_ablate(s->state.state, &s->without);
    vit_status status = vit_run_traced(s->model, s->state.state, s->image, s->logits, &stream);
    /* one byte on, because memory may have any alignment */
    if (!status)
        status = vit_relevance(s->model, (char *)memory + 1, size, &stream, &s->without, classes,
                               count, out);
    free(memory);
    return status;
}

/* ---- The oracle --------------------------------------------------------- */

/* The two classes that are checked. */
static void two_classes(size_t classes[2], const struct scene *s) {
    classes[0] = s->c->classes - 1, classes[1] = 0;
}

/* The gradients (2,L,h,T,T) of two logits by each attention weight, by differences from `run`. */
static double *twin_map_gradients(struct twin *t, const struct scene *s,
                                  const struct twin_run *run) {
    size_t maps = s->h * s->T * s->T, n = s->L * maps, tokens = s->T * s->D, classes[2];
    double *gradients = doubles(2 * n), *more = doubles(n), *embedded = doubles(tokens);
    struct twin_run other = twin_forward(t, s->image, NULL);
    two_classes(classes, s);
    twin_tokens(embedded, t, s->image);
    t->more_attention = more;
    for (size_t i = 0; i < n; i++) {
        size_t layer = i / maps;
        more[i] = STEP;
        memcpy(other.tokens, layer ? run->hidden + (layer - 1) * tokens : embedded,
               tokens * sizeof *embedded);
        twin_run_from(&other, t, layer, NULL);
        more[i] = 0;
        for (size_t k = 0; k < 2; k++)
            gradients[k * n + i] = (other.logits[classes[k]] - run->logits[classes[k]]) / STEP;
    }
    t->more_attention = NULL;
    twin_run_free(&other);
    free(more), free(embedded);
    return gradients;
}

/* R = (I + A_L)…(I + A_1); its rows that the head reads, their mean, less those of I: out (N).
 * Without residual connections there is no I, and nothing is taken away. */
static void twin_rows(double *out, const struct scene *s, const double *gradient,
                      const double *attention) {
    size_t T = s->T, first = 0, count = s->c->distillation_tokens ? 2 : 1;
    bool residual = s->c->residual;
    if (s->c->pool == VIT_POOL_MEAN) first = T - s->N, count = s->N;
    double *R = doubles(T * T), *AR = doubles(T * T);
    for (size_t i = 0; i < T; i++) R[i * T + i] = 1;
    for (size_t layer = 0; layer < s->L; layer++) {
        memset(AR, 0, T * T * sizeof *AR);
        size_t map = layer * s->h * T * T; /* the next attention weight */
        for (size_t head = 0; head < s->h; head++)
            for (size_t i = 0; i < T; i++)
                for (size_t k = 0; k < T; k++, map++) {
                    double part = fmax(0, gradient[map] * attention[map]) / (double)s->h;
                    for (size_t j = 0; j < T; j++) AR[i * T + j] += part * R[k * T + j];
                }
        for (size_t i = 0; i < T * T; i++) R[i] = (residual ? R[i] : 0) + AR[i];
    }
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < s->N; j++) {
            size_t column = T - s->N + j;
            out[j] += (R[i * T + column] - (residual && i == column)) / (double)count;
        }
    free(R), free(AR);
}

/* The relevance (2,N) of the two classes. */
static double *twin_relevance(struct twin *t, const struct scene *s) {
    struct twin_run run = twin_forward(t, s->image, NULL);
    double *gradients = twin_map_gradients(t, s, &run), *out = doubles(2 * s->N);
    for (size_t k = 0; k < 2; k++)
        twin_rows(out + k * s->N, s, gradients + k * s->L * s->h * s->T * s->T, run.attention);
    twin_run_free(&run);
    free(gradients);
    return out;
}

/* The twin runs the model once for each attention weight. Larger models take too long. */
static bool is_small(const struct scene *s, size_t most) {
    return s->L > 0 && s->L * s->h * s->T * s->T <= most;
}

static void compare(const struct scene *s, const float *got, const double *want, const char *what) {
    double most = 0;
    for (size_t i = 0; i < s->N; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < s->N; i++)
        CHECK(got[i] >= 0 && within(got[i], want[i], CLOSE * fmax(1e-2, most)),
              "%s, %s, %s: patch %zu is %.9g, want %.9g", s->name, s->kernels->name, what, i,
              (double)got[i], want[i]);
}

/* Leaves parts out of the scene's run, or replaces them, and changes the twin's weights so that it
 * does the same. False if the model has no such parts. */
typedef bool model_change(struct scene *, struct twin *);

/* The twin takes long. relevance.c has no kernels, so only the native build as released compares
 * models of more than 300 attention weights; the other builds run them. */
#ifdef __wasm__
enum { MOST_COMPARED = 300 };
#else
enum { MOST_COMPARED = SANITIZED ? 300 : 1000 };
#endif

/* *want is the twin's relevance. It is computed for the first table, because the weights of all are
 * alike. */
static void check_changed(struct scene *s, model_change *change, const char *what, double **want) {
    size_t classes[2];
    struct twin t = twin_open(s->origin);
    if (!change || change(s, &t)) {
        float *got = guarded(2 * s->N);
        two_classes(classes, s);
        vit_status status = relevance_of(s, got, classes, 2);
        CHECK(!status, "%s, %s: %s", s->name, what, vit_status_name(status));
        if (!*want && is_small(s, MOST_COMPARED)) *want = twin_relevance(&t, s);
        for (size_t k = 0; k < 2 && !status && *want; k++)
            compare(s, got + k * s->N, *want + k * s->N, what);
        CHECK(guards_intact(got, 2 * s->N), "%s: written past the relevance", s->name);
        guarded_free(got);
    }
    twin_close(&t);
}

static void check_all(model_change *change, const char *what) {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        double *want = NULL;
        EACH_KERNELS(k) {
            struct scene s;
            if (scene_open(&s, i, k) && is_small(&s, 1000)) check_changed(&s, change, what, &want);
            scene_close(&s);
        }
        free(want);
    }
}

TEST("relevance is gradient times attention, with the twin's finite differences as gradients") {
    check_all(NULL, "whole");
}

/* ---- Parts that are left out --------------------------------------------- */

static bool leave_norm_and_mlp(struct scene *s, struct twin *t) {
    static uint8_t norms[8], mlps[8];
    memset(mlps, 0, sizeof mlps);
    norms[0] = 1, mlps[s->L - 1] = 1;
    t->no_norms = norms;
    zero_last_mlp(s, t);
    s->without = (vit_ablation){.norms = norms, .mlps = mlps};
    return true;
}

TEST("relevance of a run without norms and an MLP is that of a model without them") {
    check_all(leave_norm_and_mlp, "without a norm and an MLP");
}

static bool leave_heads(struct scene *s, struct twin *t) {
    static uint8_t heads[64];
    silence_heads(s, t, heads);
    s->without = (vit_ablation){.heads = heads};
    return true;
}

TEST("relevance of a run without heads is that of a model whose heads have values of 0") {
    check_all(leave_heads, "without every second head");
}

/* In the last layer, because the gradients of earlier layers come through it. */
static bool replace(struct scene *s, struct twin *t, size_t parts) {
    static float rows[3][512]; /* (T,d) each */
    static vit_replacement replaced[3];
    if (s->c->qk_norm || !s->c->qkv_bias) return false;
    for (size_t part = 0; part < parts; part++)
        replaced[part] = alike_rows(s, t, 0, part, rows[part]);
    s->without = (vit_ablation){.replaced = replaced, .replaced_count = parts};
    return true;
}

static bool replace_queries(struct scene *s, struct twin *t) {
    return replace(s, t, 1);
}

static bool replace_all(struct scene *s, struct twin *t) {
    return replace(s, t, 3);
}

TEST("relevance of a run with replaced rows is that of a model which gives these rows") {
    check_all(replace_queries, "with queries of the first head that are alike");
    check_all(replace_all, "with queries, keys and values of the first head that are alike");
}

/* ---- int8 ---------------------------------------------------------------- */

/* The int8 model's weights, as floats, in a model of floats: both have nearly the same activations,
 * so nearly the same relevance. */
TEST_SCENES("an int8 model's relevance points where that of its floats does") {
    if (!s->kernels->matmul_int8) return;
    size_t N = s->N, class = 0;
    if (!s->L) return;
    vit_model *int8 = reopen_as(s->origin, true, s->kernels);
    REQUIRE(int8, "%s: no model", s->name);
    float *exact = guarded(N), *got = guarded(N);
    relevance_of(s, exact, &class, 1);
    struct scene q = *s;
    q.model = int8;
    q.state = new_state(int8, 1);
    vit_status status = relevance_of(&q, got, &class, 1);
    CHECK(!status, "%s in int8: %s", s->name, vit_status_name(status));
    double same = 0, a = 0, b = 0;
    for (size_t i = 0; i < N; i++) {
        same += (double)exact[i] * got[i];
        a += (double)exact[i] * exact[i], b += (double)got[i] * got[i];
    }
    if (a > 0)
        CHECK(same / sqrt(a * b) > 0.9 || N == 1, "%s, %s: in int8 the cosine is %g", s->name,
              s->kernels->name, same / sqrt(a * b));
    guarded_free(exact), guarded_free(got);
    free(q.state.memory);
    vit_close(int8);
}

/* ---- Properties ----------------------------------------------------------- */

TEST_SCENES("a class's relevance is the same to the bit beside any other classes") {
    if (!s->L) return;
    size_t classes[] = {0, s->c->classes - 1, 0};
    float *all = guarded(3 * s->N), *one = guarded(s->N);
    CHECK(!relevance_of(s, all, classes, 3), "%s: no relevance", s->name);
    for (size_t i = 0; i < 3; i++) {
        relevance_of(s, one, &classes[i], 1);
        CHECK_SAME_BITS(all + i * s->N, one, s->N, s->name);
    }
    guarded_free(all), guarded_free(one);
}

TEST_SCENES(
    "relevance refuses classes that do not exist, too little memory, and models without blocks") {
    size_t class = s->c->classes, size = vit_relevance_size(s->model, 1);
    float *out = guarded(s->N);
    CHECK(vit_relevance_size(s->model, 0) == 0, "%s: no classes", s->name);
    CHECK((size > 0) == (s->L > 0), "%s: %zu bytes", s->name, size);
    if (size > 0) {
        char *memory = malloc(size);
        size_t right = 0;
        CHECK(relevance_of(s, out, &class, 1) == VIT_BAD_ARGUMENT, "%s: class K", s->name);
        CHECK(vit_relevance(s->model, memory, size - 1, &s->trace, NULL, &right, 1, out) ==
                  VIT_BAD_ARGUMENT,
              "%s: too little memory", s->name);
        CHECK(vit_relevance(s->model, NULL, size, &s->trace, NULL, &right, 1, out) ==
                  VIT_BAD_ARGUMENT,
              "%s: no memory", s->name);
        CHECK(is_sentinel(out), "%s: a refused call wrote", s->name);
        free(memory);
    }
    guarded_free(out);
}
