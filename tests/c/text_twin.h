/* A transformer of texts in double precision: one text, one number at a time, without a cache. It is
 * the oracle of src/text/ as twin.h is that of the rest. Letters: text/text.h. */
#ifndef TEXT_TWIN_H
#define TEXT_TWIN_H

#include "twin.h"

/* What a text gives. The caller frees it by text_twin_close. */
struct text_twin {
    double *self, *cross, *hidden, *logits; /* (L,h,S,S), (L,h,S,T), (S,D), (S,V) */
};

static inline void text_twin_close(struct text_twin *out) {
    free(out->self);
    free(out->cross);
    free(out->hidden);
    free(out->logits);
}

/* The number of row `position` and column i of fixed positions. */
static inline double text_twin_position(const vit_text_config *c, size_t position, size_t i) {
    double pair, D = (double)c->width, half = D / 2;
    if (c->position == VIT_TEXT_SINCOS1D) {
        pair = (double)(i - i % 2);
        double angle = (double)position / pow(10000, pair / D);
        return i % 2 ? cos(angle) : sin(angle);
    }
    bool sine = i < c->width / 2;
    pair = (double)i - (sine ? 0 : half);
    double angle = (double)position * exp(-log(10000) * pair / (half - 1));
    return sine ? sin(angle) : cos(angle);
}

/* y (S,D) = attention of rows q (S,D) to k, v (R,D); if causal, row i sees the first i + 1. */
static inline void text_twin_attend(double *y, double *map, const double *q, const double *k,
                                    const double *v, size_t S, size_t R, size_t D, size_t heads,
                                    bool causal) {
    size_t d = D / heads;
    memset(y, 0, S * D * sizeof *y);
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < S; i++) {
            double *row = map + (h * S + i) * R;
            size_t visible = causal ? i + 1 : R;
            for (size_t j = 0; j < visible; j++)
                for (size_t e = h * d; e < h * d + d; e++)
                    row[j] += q[i * D + e] * k[j * D + e] / sqrt((double)d);
            twin_softmax(row, visible);
            for (size_t j = 0; j < visible; j++)
                for (size_t e = h * d; e < h * d + d; e++) y[i * D + e] += row[j] * v[j * D + e];
        }
}

/* rows (n,K) → y (n,N). */
static inline void text_twin_rows(double *y, const double *x, const double *w, const double *bias,
                                  size_t n, size_t N, size_t K) {
    for (size_t i = 0; i < n; i++) twin_linear(y + i * N, x + i * K, w, bias, N, K);
}

/* x (S,D) becomes x after one branch: `what` of its norm's tensor, f (S,D) → f(in). */
#define TEXT_TWIN_BRANCH(NORM, ...)                                                                \
    {                                                                                              \
        const double *gain = TENSOR(NORM ".weight"), *shift = TENSOR(NORM ".bias");                \
        for (size_t i = 0; i < S; i++)                                                             \
            if (c->norm == VIT_PRE)                                                                \
                twin_norm(in + i * D, x + i * D, gain, shift, (double)c->norm_eps, D);             \
            else                                                                                   \
                memcpy(in + i * D, x + i * D, D * sizeof *x);                                      \
        __VA_ARGS__                                                                                \
        for (size_t i = 0; i < S * D; i++) x[i] += out[i];                                         \
        for (size_t i = 0; c->norm == VIT_POST && i < S; i++)                                      \
            twin_norm(x + i * D, x + i * D, gain, shift, (double)c->norm_eps, D);                  \
    }
#define TENSOR(NAME) twin_tensor(t, "%s.blocks.%zu." NAME, part, l)

/* image (T,E): NULL for a tower. */
static inline struct text_twin text_twin_run(const struct twin *t, const uint32_t *ids, size_t S,
                                             const double *image) {
    const vit_text_config *c = image ? &t->c.decoder : &t->c.text;
    const char *part = image ? "decoder" : "text";
    size_t D = c->width, M = c->mlp_width, L = c->depth, h = c->heads, V = c->vocabulary, T = t->T;
    size_t E = c->encoder_proj ? D : t->c.width;
    struct text_twin r = {doubles(L * h * S * S), doubles(L * h * S * T), NULL, doubles(S * V)};
    double *x = doubles(S * D), *in = doubles(S * D), *out = doubles(S * D),
           *mixed = doubles(S * D);
    double *q = doubles(S * D), *k = doubles((S + T) * D), *v = doubles((S + T) * D);
    double *hidden = doubles(S * M), *mapped = doubles(T * D);
    const double *embed = twin_tensor(t, "%s.token_embed.weight", part);
    const double *position = twin_tensor(t, "%s.pos_embed", part);
    const double *type = twin_tensor(t, "%s.type_embed.weight", part);
    for (size_t i = 0, at = c->position_offset; i < S; i++) {
        bool counted = c->position == VIT_TEXT_COUNTED;
        bool skips = (c->position == VIT_TEXT_SINCOS_HALVES || counted) && ids[i] == c->padding;
        bool before = skips && counted && c->position_offset > 0;
        size_t row = before ? c->position_offset - 1 : at;
        for (size_t e = 0; e < D; e++) {
            x[i * D + e] = embed[ids[i] * D + e] * (double)c->embedding_scale;
            if (type) x[i * D + e] += type[e];
            if (!skips || before)
                x[i * D + e] += position ? position[row * D + e] : text_twin_position(c, at, e);
        }
        at += !skips;
        if (c->embedding_norm)
            twin_norm(x + i * D, x + i * D, twin_tensor(t, "%s.embed_norm.weight", part),
                      twin_tensor(t, "%s.embed_norm.bias", part), (double)c->norm_eps, D);
    }
    if (image && c->encoder_proj) {
        text_twin_rows(mapped, image, twin_tensor(t, "decoder.encoder_proj.weight"),
                       twin_tensor(t, "decoder.encoder_proj.bias"), T, D, t->c.width);
        image = mapped;
    }
    for (size_t l = 0; l < L; l++) {
        TEXT_TWIN_BRANCH("norm1", {
            const double *w = TENSOR("attn.qkv.weight"), *b = TENSOR("attn.qkv.bias");
            text_twin_rows(q, in, w, b, S, D, D);
            text_twin_rows(k, in, w + D * D, b + D, S, D, D);
            text_twin_rows(v, in, w + 2 * D * D, b + 2 * D, S, D, D);
            text_twin_attend(mixed, r.self + l * h * S * S, q, k, v, S, S, D, h,
                             c->mask == VIT_MASK_CAUSAL);
            text_twin_rows(out, mixed, TENSOR("attn.proj.weight"), TENSOR("attn.proj.bias"), S, D,
                           D);
        })
        if (image)
            TEXT_TWIN_BRANCH("cross_norm", {
                const double *w = TENSOR("cross.kv.weight"), *b = TENSOR("cross.kv.bias");
                text_twin_rows(q, in, TENSOR("cross.q.weight"), TENSOR("cross.q.bias"), S, D, D);
                text_twin_rows(k, image, w, b, T, D, E);
                text_twin_rows(v, image, w + D * E, b + D, T, D, E);
                text_twin_attend(mixed, r.cross + l * h * S * T, q, k, v, S, T, D, h, false);
                text_twin_rows(out, mixed, TENSOR("cross.proj.weight"), TENSOR("cross.proj.bias"),
                               S, D, D);
            })
        TEXT_TWIN_BRANCH("norm2", {
            text_twin_rows(hidden, in, TENSOR("mlp.fc1.weight"), TENSOR("mlp.fc1.bias"), S, M, D);
            for (size_t i = 0; i < S * M; i++)
                hidden[i] = twin_activation((int)c->activation, hidden[i]);
            text_twin_rows(out, hidden, TENSOR("mlp.fc2.weight"), TENSOR("mlp.fc2.bias"), S, D, M);
        })
    }
    for (size_t i = 0; c->final_norm && i < S; i++)
        twin_norm(x + i * D, x + i * D, twin_tensor(t, "%s.norm.weight", part),
                  twin_tensor(t, "%s.norm.bias", part), (double)c->norm_eps, D);
    memcpy(in, x, S * D * sizeof *x);
    if (image && c->head_hidden) {
        text_twin_rows(in, x, twin_tensor(t, "decoder.pre_logits.weight"),
                       twin_tensor(t, "decoder.pre_logits.bias"), S, D, D);
        for (size_t i = 0; i < S * D; i++) in[i] = twin_activation((int)c->activation, in[i]);
        for (size_t i = 0; i < S; i++)
            twin_norm(in + i * D, in + i * D, twin_tensor(t, "decoder.pre_logits.norm.weight"),
                      twin_tensor(t, "decoder.pre_logits.norm.bias"), (double)c->norm_eps, D);
    }
    if (image)
        text_twin_rows(r.logits, in, c->tied_head ? embed : twin_tensor(t, "decoder.head.weight"),
                       twin_tensor(t, "decoder.head.bias"), S, V, D);
    r.hidden = x;
    free(in), free(out), free(mixed), free(q), free(k), free(v), free(hidden), free(mapped);
    return r;
}
#undef TENSOR
#undef TEXT_TWIN_BRANCH

#endif
