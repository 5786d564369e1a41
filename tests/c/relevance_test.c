/* Relevance, compared with the double-precision twin: the gradient by each attention weight is a
 * finite difference of the logit, and R is a product of whole matrices. */
#include "scene.h"
#include "twin.h"

/* A share of the map's largest value. A gradient goes through as many roundings as in
 * gradients_test.c. */
static const double CLOSE = 1e-4;
/* The step of the finite differences. Their error is about STEP² and 1e-16 / STEP. */
static const double STEP = 1e-5;

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

/* The gradient (L,h,T,T) of a logit by each attention weight, by differences of the twin's runs. */
static double *twin_map_gradient(struct twin *t, const struct scene *s, size_t class) {
    size_t n = s->L * s->h * s->T * s->T;
    double *gradient = doubles(n), *more = doubles(n);
    t->more_attention = more;
    for (size_t i = 0; i < n; i++) {
        double logit[2];
        for (int side = 0; side < 2; side++) {
            more[i] = side ? -STEP : STEP;
            struct twin_run run = twin_forward(t, s->image, NULL);
            logit[side] = run.logits[class];
            twin_run_free(&run);
        }
        more[i] = 0;
        gradient[i] = (logit[0] - logit[1]) / (2 * STEP);
    }
    t->more_attention = NULL;
    free(more);
    return gradient;
}

/* R = (I + A_L)…(I + A_1); its rows that the head reads, their mean, less those of I: (N). Without
 * residual connections there is no I, and nothing is taken away. */
static double *twin_relevance(struct twin *t, const struct scene *s, size_t class) {
    size_t T = s->T, first = 0, count = s->c->distillation_tokens ? 2 : 1;
    bool residual = s->c->residual;
    if (s->c->pool == VIT_POOL_MEAN) first = T - s->N, count = s->N;
    double *gradient = twin_map_gradient(t, s, class), *R = doubles(T * T), *AR = doubles(T * T);
    double *out = doubles(s->N);
    struct twin_run run = twin_forward(t, s->image, NULL);
    for (size_t i = 0; i < T; i++) R[i * T + i] = 1;
    for (size_t layer = 0; layer < s->L; layer++) {
        memset(AR, 0, T * T * sizeof *AR);
        size_t map = layer * s->h * T * T; /* the next attention weight */
        for (size_t head = 0; head < s->h; head++)
            for (size_t i = 0; i < T; i++)
                for (size_t k = 0; k < T; k++, map++) {
                    double part = fmax(0, gradient[map] * run.attention[map]) / (double)s->h;
                    for (size_t j = 0; j < T; j++) AR[i * T + j] += part * R[k * T + j];
                }
        for (size_t i = 0; i < T * T; i++) R[i] = (residual ? R[i] : 0) + AR[i];
    }
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < s->N; j++) {
            size_t column = T - s->N + j;
            out[j] += (R[i * T + column] - (residual && i == column)) / (double)count;
        }
    twin_run_free(&run);
    free(gradient), free(R), free(AR);
    return out;
}

/* The twin runs the model twice for each attention weight. Larger models take too long. */
static bool is_small(const struct scene *s) {
    return s->L > 0 && s->L * s->h * s->T * s->T <= 2000;
}

static void compare(const struct scene *s, const float *got, const double *want, const char *what) {
    double most = 0;
    for (size_t i = 0; i < s->N; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < s->N; i++)
        CHECK(got[i] >= 0 && within(got[i], want[i], CLOSE * fmax(1e-2, most)),
              "%s, %s, %s: patch %zu is %.9g, want %.9g", s->name, s->kernels->name, what, i,
              (double)got[i], want[i]);
}

static void check_with(struct scene *s, struct twin *t, const char *what) {
    size_t classes[] = {s->K - 1, 0};
    float *got = guarded(2 * s->N);
    vit_status status = relevance_of(s, got, classes, 2);
    CHECK(!status, "%s, %s: %s", s->name, what, vit_status_name(status));
    for (size_t i = 0; i < 2 && !status; i++) {
        double *want = twin_relevance(t, s, classes[i]);
        compare(s, got + i * s->N, want, what);
        free(want);
    }
    CHECK(guards_intact(got, 2 * s->N), "%s: written past the relevance", s->name);
    guarded_free(got);
}

static void check_scene(struct scene *s) {
    if (!is_small(s)) return;
    struct twin t = twin_open(s->origin);
    check_with(s, &t, "whole");
    twin_close(&t);
}

TEST("relevance is gradient times attention, with the twin's finite differences as gradients") {
    each_scene(check_scene);
}

/* ---- Parts that are left out --------------------------------------------- */

static void check_without(struct scene *s) {
    if (!is_small(s)) return;
    struct twin t = twin_open(s->origin);
    size_t L = s->L;
    uint8_t *norms = calloc(L, 1), *mlps = calloc(L, 1);
    norms[0] = 1, mlps[L - 1] = 1;
    t.no_norms = norms;
    double *fc2 = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.mlp.fc2.weight", L - 1);
    double *bias = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.mlp.fc2.bias", L - 1);
    memset(fc2, 0, s->c->width * s->c->mlp_width * sizeof *fc2);
    memset(bias, 0, s->c->width * sizeof *bias);
    s->without = (vit_ablation){.norms = norms, .mlps = mlps};
    check_with(s, &t, "without a norm and an MLP");
    free(norms), free(mlps);
    twin_close(&t);
}

TEST("relevance of a run without norms and an MLP is that of a model without them") {
    each_scene(check_without);
}

/* A head gives nothing if its values are 0. */
static void check_without_heads(struct scene *s) {
    if (!is_small(s)) return;
    struct twin t = twin_open(s->origin);
    const vit_config *c = s->c;
    size_t d = c->head_width ? c->head_width : c->width / c->heads, A = s->h * d;
    size_t K = c->attention == VIT_PER_HEAD ? d : c->width;
    uint8_t *heads = calloc(s->L * s->h, 1);
    for (size_t i = 0; i < s->L * s->h; i += 2) {
        size_t first = 2 * A + i % s->h * d;
        double *w = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.attn.qkv.weight", i / s->h);
        double *b = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.attn.qkv.bias", i / s->h);
        memset(w + first * K, 0, d * K * sizeof *w);
        if (b) memset(b + first, 0, d * sizeof *b);
        heads[i] = 1;
    }
    s->without = (vit_ablation){.heads = heads};
    check_with(s, &t, "without every second head");
    free(heads);
    twin_close(&t);
}

TEST("relevance of a run without heads is that of a model whose heads have values of 0") {
    each_scene(check_without_heads);
}

/* Rows that are all alike are those of a matrix of 0 with such a bias. They stand in the last
 * layer, because the gradients of earlier layers come through it. */
static void check_replaced(struct scene *s) {
    if (!is_small(s) || s->c->qk_norm || !s->c->qkv_bias) return;
    struct twin t = twin_open(s->origin);
    size_t d = s->d, K = s->c->attention == VIT_PER_HEAD ? d : s->D;
    float *rows = floats(s->T * d);
    for (size_t i = 0; i < s->T * d; i++) rows[i] = 0.3f * (float)(i % d + 1);
    for (size_t part = 0; part < 3; part++) {
        size_t first = part * s->A;
        double *w = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.attn.qkv.weight", s->L - 1);
        double *b = (double *)(uintptr_t)twin_tensor(&t, "blocks.%zu.attn.qkv.bias", s->L - 1);
        memset(w + first * K, 0, d * K * sizeof *w);
        for (size_t i = 0; i < d; i++) b[first + i] = rows[i];
        vit_replacement replaced[] = {
            {s->L - 1, 0, 0, rows}, {s->L - 1, 0, 1, rows}, {s->L - 1, 0, 2, rows}};
        s->without = (vit_ablation){.replaced = replaced, .replaced_count = part + 1};
        check_with(s, &t, "with rows of the first head that are alike");
    }
    free(rows);
    twin_close(&t);
}

TEST("relevance of a run with replaced rows is that of a model which gives these rows") {
    each_scene(check_replaced);
}

/* ---- int8 ---------------------------------------------------------------- */

/* The int8 model's weights, as floats, in a model of floats: both have nearly the same activations,
 * so nearly the same relevance. */
static void check_int8(struct scene *s) {
    size_t N = s->N, size, class = 0;
    if (!s->L) return;
    const char *json = config_json(s->c);
    uint8_t *bytes = NULL;
    const float *p = parameters_of(s->origin);
    size = vit_encode_int8(NULL, 0, s->origin, p, json, strlen(json));
    bytes = malloc(size + 1);
    vit_encode_int8(bytes, size, s->origin, p, json, strlen(json));
    vit_model *int8 = NULL;
    vit_error why = {""};
    REQUIRE(!vit_open(&int8, bytes, size, s->kernels, &why), "%s: %s", s->name, why.text);
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
    free(q.state.memory), free(bytes);
    vit_close(int8);
}

TEST("an int8 model's relevance points where that of its floats does") {
    each_scene(check_int8);
}

/* ---- Properties ----------------------------------------------------------- */

static void check_classes(struct scene *s) {
    if (!s->L) return;
    size_t classes[] = {0, s->K - 1, 0};
    float *all = guarded(3 * s->N), *one = guarded(s->N);
    CHECK(!relevance_of(s, all, classes, 3), "%s: no relevance", s->name);
    for (size_t i = 0; i < 3; i++) {
        relevance_of(s, one, &classes[i], 1);
        CHECK_SAME_BITS(all + i * s->N, one, s->N, s->name);
    }
    guarded_free(all), guarded_free(one);
}

TEST("a class's relevance is the same to the bit beside any other classes") {
    each_scene(check_classes);
}

static void check_refusals(struct scene *s) {
    size_t class = s->K, size = vit_relevance_size(s->model, 1);
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

TEST("relevance refuses classes that are none, little memory, and models without blocks") {
    each_scene(check_refusals);
}
