/* The trace of a run, checked by doing its steps by hand in double precision; and runs that leave
 * parts out or replace them, compared with models whose weights do the same. */
#include "scene.h"

/* A share of the tensor's largest value, as for the golden vectors. */
static const double CLOSE = 2e-5;

static void compare(const struct scene *s, const char *part, const float *got, const double *want,
                    size_t n) {
    twin_compare(s->name, s->kernels->name, part, got, want, n, CLOSE, 1e-3);
}

/* ---- The trace ---------------------------------------------------------- */

static double *in_doubles(const float *x, size_t n) {
    double *y = doubles(n);
    for (size_t i = 0; i < n; i++) y[i] = x[i];
    return y;
}

TEST_SCENES("a trace has the twin's logits, attention and tokens after each block") {
    struct twin t = twin_open(s->origin);
    struct twin_run run = twin_forward(&t, s->image, NULL);
    compare(s, "logits", s->logits, run.logits, s->K);
    compare(s, "attention", s->trace.attention, run.attention, s->L * s->h * s->T * s->T);
    compare(s, "stream", s->trace.stream + s->T * s->D, run.hidden, s->L * s->T * s->D);
    twin_run_free(&run);
    twin_close(&t);
}

/* softmax(scores) and, without relative positions, scores = q·k/√d. */
TEST_SCENES("a trace's scores are the queries times the keys, and their softmax is the attention") {
    size_t T = s->T;
    for (size_t map = 0; map < s->L * s->h; map++) {
        const float *qkv = s->trace.qkv + map / s->h * T * 3 * s->A + map % s->h * s->d;
        const float *scores = s->trace.scores + map * T * T;
        double *product = doubles(T * T), *softmax = doubles(T * T);
        for (size_t i = 0; i < T; i++) {
            double most = -INFINITY, sum = 0;
            for (size_t j = 0; j < T; j++) {
                for (size_t k = 0; k < s->d; k++)
                    product[i * T + j] += (double)qkv[i * 3 * s->A + k] *
                                          qkv[j * 3 * s->A + s->A + k] / sqrt((double)s->d);
                most = fmax(most, scores[i * T + j]);
            }
            for (size_t j = 0; j < T; j++)
                sum += softmax[i * T + j] = exp(scores[i * T + j] - most);
            for (size_t j = 0; j < T; j++) softmax[i * T + j] /= sum;
        }
        if (s->c->position != VIT_RELATIVE) compare(s, "scores", scores, product, T * T);
        compare(s, "softmax", s->trace.attention + map * T * T, softmax, T * T);
        free(product), free(softmax);
    }
}

/* What attention adds: the values by the map's weights, projected, times the layer's scale. */
TEST_SCENES("what a trace's attention adds is the projection of the values by the map") {
    struct twin t = twin_open(s->origin);
    size_t T = s->T, D = s->D, A = s->A;
    for (size_t layer = 0; layer < s->L; layer++) {
        const float *values = s->trace.qkv + layer * T * 3 * A + 2 * A;
        double *mixed = doubles(A), *want = doubles(T * D);
        const double *gain = twin_tensor(&t, "blocks.%zu.ls1.gamma", layer);
        const double *proj = twin_tensor(&t, "blocks.%zu.attn.proj.weight", layer);
        const double *bias = twin_tensor(&t, "blocks.%zu.attn.proj.bias", layer);
        for (size_t i = 0; i < T; i++) {
            for (size_t k = 0; k < A; k++) {
                const float *map = s->trace.attention + ((layer * s->h + k / s->d) * T + i) * T;
                mixed[k] = 0;
                for (size_t j = 0; j < T; j++) mixed[k] += (double)map[j] * values[j * 3 * A + k];
            }
            if (proj)
                twin_linear(want + i * D, mixed, proj, bias, D, A);
            else
                memcpy(want + i * D, mixed, D * sizeof *want);
            for (size_t k = 0; gain && k < D; k++) want[i * D + k] *= gain[k];
        }
        compare(s, "what attention adds", s->trace.added + layer * 2 * T * D, want, T * D);
        free(mixed), free(want);
    }
    twin_close(&t);
}

TEST_SCENES(
    "a trace's tokens follow from those before the block and from what its two branches add") {
    struct twin t = twin_open(s->origin);
    size_t n = s->T * s->D;
    for (size_t layer = 0; layer < s->L; layer++) {
        double *x = in_doubles(s->trace.stream + layer * n, n);
        for (size_t half = 0; half < 2; half++) {
            char norm[64];
            snprintf(norm, sizeof norm, "blocks.%zu.norm%zu", layer, half + 1);
            for (size_t i = 0; i < n; i++)
                x[i] = (s->c->residual ? x[i] : 0) + s->trace.added[(layer * 2 + half) * n + i];
            if (s->c->norm == VIT_POST) twin_norm_rows(x, &t, norm, x);
        }
        compare(s, "stream", s->trace.stream + (layer + 1) * n, x, n);
        free(x);
    }
    twin_close(&t);
}

TEST_SCENES("a trace's first tokens are the embedded ones and their positions") {
    struct twin t = twin_open(s->origin);
    size_t n = s->T * s->D, rows = s->c->position_rows ? s->c->position_rows : s->T;
    const double *position = twin_tensor(&t, "pos_embed");
    double *want = in_doubles(s->trace.embedded, n);
    for (size_t i = 0; position && i < rows * s->D; i++) want[n - rows * s->D + i] += position[i];
    bool fixed = s->c->position == VIT_SINCOS1D || s->c->position == VIT_SINCOS2D;
    if (!fixed) compare(s, "tokens with positions", s->trace.stream, want, n);
    CHECK(!fixed || memcmp(s->trace.embedded, s->trace.stream, n * sizeof(float)) != 0,
          "%s: positions are added", s->name);
    free(want);
    twin_close(&t);
}

TEST_SCENES("the head alone gives the last tokens' logits") {
    float *logits = guarded(s->K);
    const float *last = s->trace.stream + s->L * s->T * s->D;
    CHECK(!vit_run_head(s->model, s->state.state, last, logits), "%s: no head", s->name);
    CHECK_SAME_BITS(logits, s->logits, s->K, s->name);
    guarded_free(logits);
}

TEST_SCENES("tokens are projected by the head's matrix, or a head of more than that is refused") {
    struct twin t = twin_open(s->origin);
    const double *weight = twin_tensor(&t, "head.weight"), *bias = twin_tensor(&t, "head.bias");
    const float *x = s->trace.stream;
    size_t n = s->T, K = s->K, D = s->D;
    float *got = guarded(n * K);
    double *from = in_doubles(x, n * D), *want = doubles(n * K);
    bool alone = s->c->pool == VIT_POOL_CLASS && !s->c->distillation_tokens && !s->c->fc_norm &&
                 !s->c->head_norm && !s->c->head_hidden && !s->c->detections && s->c->classes;
    CHECK(!vit_run_project(s->model, got, x, n) == alone, "%s: projects or refuses", s->name);
    for (size_t i = 0; alone && i < n; i++)
        twin_linear(want + i * K, from + i * D, weight, bias, K, D);
    if (alone) compare(s, "projected tokens", got, want, n * K);
    guarded_free(got);
    free(from), free(want);
    twin_close(&t);
}

/* With few arrays a run adds its branches at once, in another order than with all of them. */
TEST_SCENES("a trace without some arrays gives the others and the logits") {
    size_t n = (s->L + 1) * s->T * s->D, heat = s->L * s->h * s->T * s->T;
    float *stream = guarded(n), *attention = guarded(heat), *logits = guarded(s->K);
    const vit_trace all[] = {{.stream = stream}, {.stream = stream, .attention = attention}, {0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK(!vit_run_traced(s->model, s->state.state, s->image, logits, &all[i]), "%s", s->name);
        CHECK_CLOSE(logits, s->logits, s->K, CLOSE * fmax(1e-3, largest(s->logits, s->K)), s->name);
    }
    CHECK_CLOSE(stream, s->trace.stream, n, CLOSE * fmax(1e-3, largest(s->trace.stream, n)),
                s->name);
    CHECK_CLOSE(attention, s->trace.attention, heat, CLOSE, s->name);
    CHECK(guards_intact(stream, n) && guards_intact(attention, heat), "%s: wrote past", s->name);
    guarded_free(stream), guarded_free(attention), guarded_free(logits);
}

/* ---- Runs that leave parts out ------------------------------------------ */

/* Logits and tokens after each block without the parts, traced and not, against the twin's, whose
 * weights the caller has changed. */
static void check_without(struct scene *s, const vit_ablation *without, struct twin *t,
                          const char *what) {
    struct twin_run run = twin_forward(t, s->image, NULL);
    struct outputs o = new_outputs(s->c, 1);
    vit_taps taps = {.hidden = o.hidden};
    vit_state_ablate(s->state.state, without);
    vit_run(s->model, s->state.state, s->image, 1, o.logits, &taps);
    compare(s, what, o.logits, run.logits, s->K);
    compare(s, what, o.hidden, run.hidden, s->L * s->T * s->D);
    vit_run_traced(s->model, s->state.state, s->image, o.logits, &s->trace);
    compare(s, what, o.logits, run.logits, s->K);
    vit_state_ablate(s->state.state, NULL);
    vit_run(s->model, s->state.state, s->image, 1, o.logits, NULL);
    CHECK_CLOSE(o.logits, s->logits, s->K, CLOSE * fmax(1e-3, largest(s->logits, s->K)),
                "whole again");
    outputs_free(&o);
    twin_run_free(&run);
}

TEST_SCENES("a head that is left out gives what a head with values of 0 gives") {
    if (!s->L) return;
    struct twin t = twin_open(s->origin);
    uint8_t *heads = calloc(s->L * s->h, 1);
    silence_heads(s, &t, heads);
    check_without(s, &(vit_ablation){.heads = heads}, &t, "without every second head");
    free(heads);
    twin_close(&t);
}

TEST_SCENES("an MLP that is left out gives what an MLP with outputs of 0 gives") {
    if (!s->L) return;
    struct twin t = twin_open(s->origin);
    uint8_t *mlps = calloc(s->L, 1);
    mlps[s->L - 1] = 1;
    zero_last_mlp(s, &t);
    check_without(s, &(vit_ablation){.mlps = mlps}, &t, "without the last MLP");
    free(mlps);
    twin_close(&t);
}

TEST_SCENES("positions that are left out give what positions of 0 give") {
    bool fixed = s->c->position != VIT_LEARNED && s->c->position != VIT_RELATIVE;
    struct twin t = twin_open(s->origin);
    size_t rows = s->c->position_rows ? s->c->position_rows : s->T;
    zero(TENSOR(&t, "pos_embed"), rows * s->D);
    if (fixed) t.c.position = VIT_POSITION_NONE;
    for (size_t layer = 0; layer < s->L && s->c->position == VIT_RELATIVE; layer++) {
        const char *name = "blocks.%zu.attn.rel_pos.relative_position_bias_table";
        vit_tensor table = {0};
        char full[96];
        snprintf(full, sizeof full, name, layer);
        for (size_t i = 0; i < vit_tensor_count(s->origin); i++)
            if (!strcmp(vit_tensor_at(s->origin, i).name, full))
                table = vit_tensor_at(s->origin, i);
        REQUIRE(table.count, "%s: no table", s->name);
        zero(TENSOR(&t, name, layer), table.count);
    }
    check_without(s, &(vit_ablation){.positions = true}, &t, "without positions");
    twin_close(&t);
}

TEST_SCENES("norms that are left out pass their input on") {
    if (!s->L) return;
    struct twin t = twin_open(s->origin);
    uint8_t *norms = calloc(s->L, 1);
    norms[0] = 1;
    t.no_norms = norms;
    check_without(s, &(vit_ablation){.norms = norms}, &t, "without the first block's norms");
    free(norms);
    twin_close(&t);
}

/* ---- Runs whose queries, keys or values are replaced ----------------------- */

/* A part of one head's rows (T,d) in a layer of a trace. */
static float *rows_of(const struct scene *s, const vit_trace *trace, size_t layer, size_t head,
                      size_t part) {
    float *rows = floats(s->T * s->d);
    for (size_t t = 0; t < s->T; t++)
        memcpy(rows + t * s->d, trace->qkv + ((layer * s->T + t) * 3 + part) * s->A + head * s->d,
               s->d * sizeof *rows);
    return rows;
}

/* Replacements of everything that a layer's heads read: 3·h of them. */
static vit_replacement *replace_layer(const struct scene *s, const vit_trace *by, size_t layer) {
    vit_replacement *all = calloc(3 * s->h, sizeof *all);
    for (size_t i = 0; i < 3 * s->h; i++)
        all[i] = (vit_replacement){layer, i / 3, i % 3, rows_of(s, by, layer, i / 3, i % 3)};
    return all;
}

static void free_replacements(const struct scene *s, vit_replacement *all) {
    for (size_t i = 0; i < 3 * s->h; i++) free((float *)(uintptr_t)all[i].rows);
    free(all);
}

/* The rows of one image also serve another one, which is light for dark. */
TEST_SCENES("a layer with one image's queries, keys and values adds what it added for that image") {
    size_t n = image_floats(s->c);
    for (size_t layer = 0; layer < s->L; layer++) {
        vit_replacement *own = replace_layer(s, &s->trace, layer);
        vit_ablation with = {.replaced = own, .replaced_count = 3 * s->h};
        float *logits = guarded(s->K);
        vit_state_ablate(s->state.state, &with);
        vit_run_traced(s->model, s->state.state, s->image, logits, &s->trace);
        CHECK_SAME_BITS(logits, s->logits, s->K, s->name);
        float *other = floats(n), *want = floats(s->T * s->D);
        for (size_t i = 0; i < n; i++) other[i] = 0.5f - s->image[i];
        size_t at = layer * 2 * s->T * s->D;
        memcpy(want, s->trace.added + at, s->T * s->D * sizeof *want);
        vit_run_traced(s->model, s->state.state, other, logits, &s->trace);
        CHECK_SAME_BITS(s->trace.added + at, want, s->T * s->D, s->name);
        vit_state_ablate(s->state.state, NULL);
        vit_run_traced(s->model, s->state.state, s->image, logits, &s->trace);
        CHECK_SAME_BITS(logits, s->logits, s->K, "whole again");
        free(other), free(want), guarded_free(logits);
        free_replacements(s, own);
    }
}

TEST_SCENES("rows that replace a head's are those that it reads") {
    for (size_t part = s->c->qk_norm ? 2 : 0; part < 3 && s->L && s->c->qkv_bias; part++) {
        struct twin t = twin_open(s->origin);
        float *rows = floats(s->T * s->d);
        vit_replacement alike = alike_rows(s, &t, s->h - 1, part, rows);
        check_without(s, &(vit_ablation){.replaced = &alike, .replaced_count = 1}, &t,
                      "with rows of the last head that are alike");
        free(rows);
        twin_close(&t);
    }
}
