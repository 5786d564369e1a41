/* Tokens (T,D) → final norm → pooling → class scores (K).
 * class: the first token, as in Dosovitskiy et al. With a distillation token the scores of both
 * heads are averaged, as in DeiT (Touvron et al., arXiv:2012.12877, section 4).
 * mean, max, mean_max: of the patch tokens, as in timm. The norm comes before the pooling, or after
 * it if the file has fc_norm, or both. With pool_prefix the prefix tokens count like patch tokens.
 * class_mean: the class token and the mean of the patch tokens side by side, as in DINOv2's
 * classifiers (Oquab et al., arXiv:2304.07193). */
#include "logits.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "model.h"
#include "norm.h"
#include "objects.h"
#include "params.h"
#include "pooling.h"
#include "shapes.h"
#include "vit.h"

size_t head_tokens(const vit_config *c) {
    if (pool_of(c) != VIT_POOL_CLASS) return vit_tokens(c);
    return detections_of(c) ? vit_prefix(c) : c->class_tokens + c->distillation_tokens;
}

/* 2 if the class token and the distillation token are both pooled: for two heads, or for none. */
static size_t pooled_tokens(const vit_config *c) {
    return c->distillation_tokens && !c->no_head_dist ? 2 : 1;
}

/* x (N,D) → pooled (D). */
static void pool_rows(const vit_config *c, float *pooled, const float *x, size_t N) {
    size_t D = c->width;
    float mean = pool_of(c) == VIT_POOL_MAX ? 0 : 1, largest = pool_of(c) == VIT_POOL_MAX ? 1 : 0;
    if (pool_of(c) == VIT_POOL_MEAN_MAX) mean = largest = 0.5f;
    memset(pooled, 0, D * sizeof *pooled);
    for (size_t t = 0; t < N; t++)
        for (size_t i = 0; i < D; i++) pooled[i] += x[t * D + i];
    for (size_t i = 0; i < D; i++) pooled[i] /= (float)N;
    for (size_t i = 0; largest > 0 && i < D; i++) {
        float most = x[i];
        for (size_t t = 1; t < N; t++) most = x[t * D + i] > most ? x[t * D + i] : most;
        pooled[i] = mean * pooled[i] + largest * most;
    }
}

/* Head 0 reads the class token and head 1 the distillation token. Other poolings feed both heads
 * the same. */
static void pool_forward(const vit_config *c, float *pooled, const float *x, size_t batch,
                         size_t tokens, size_t head) {
    size_t D = c->width, N = pooled_rows(c);
    bool both = pool_of(c) == VIT_POOL_CLASS_MEAN;
    bool reads_class = both || pool_of(c) == VIT_POOL_CLASS;
    for (size_t b = 0; b < batch; b++, x += tokens * D, pooled += head_features(c)) {
        if (reads_class) memcpy(pooled, x + head * D, D * sizeof *pooled);
        if (pool_of(c) != VIT_POOL_CLASS)
            pool_rows(c, pooled + (both ? D : 0), x + (tokens - N) * D, N);
    }
}

/* Adds to dtokens. */
static void pool_backward(const vit_config *c, float *dtokens, const float *dpooled, size_t batch,
                          size_t T, size_t token) {
    size_t D = c->width, N = pooled_rows(c);
    bool mean = pool_of(c) == VIT_POOL_MEAN;
    size_t first = mean ? T - N : token, last = mean ? T : token + 1;
    float share = 1 / (float)(last - first);
    for (size_t b = 0; b < batch; b++, dtokens += T * D, dpooled += D)
        for (size_t t = first; t < last; t++)
            for (size_t i = 0; i < D; i++) dtokens[t * D + i] += dpooled[i] * share;
}

/* The first D of the features that feed the head. For two heads it is their mean, which timm gives
 * for a distilled DeiT without heads. */
static void feed(const vit_config *c, float *fed, const float *pooled, size_t batch, size_t head,
                 size_t heads) {
    size_t D = c->width;
    for (size_t b = 0; b < batch; b++, fed += D, pooled += head_features(c))
        for (size_t i = 0; i < D; i++) fed[i] = (head ? fed[i] : 0) + pooled[i] / (float)heads;
}

void logits_forward(const vit_model *m, float *logits, const struct head_activations *a,
                    const float *x, size_t batch, size_t tokens) {
    const struct vit_kernels *k = m->kernels;
    const vit_config *c = &m->config;
    const struct vit_params *p = &m->params;
    size_t D = c->width, F = head_features(c), K = vit_logits(c), heads = pooled_tokens(c);
    size_t H = c->classes ? head_hidden_of(c) : 0, last = H ? H : F;
    if (norms_tokens(c)) {
        size_t at = c->head_norm ? 2 * batch : 0;
        k->norm(a->tokens, D, a->mean ? a->mean + at : NULL, a->rstd ? a->rstd + at : NULL, x, D,
                p->norm_gain, p->norm_bias, c->norm_eps, batch * tokens, D);
        x = a->tokens;
    } else if (a->tokens) {
        memcpy(a->tokens, x, batch * tokens * D * sizeof *x);
    }
    for (size_t head = 0; head < heads; head++) {
        float *pooled = a->pooled + head * batch * D;
        if (pool_of(c) == VIT_POOL_ATTENTION)
            pooling_forward(m, pooled, &a->pooling, x, batch);
        else if (pool_of(c) == VIT_POOL_PRR)
            pooling_refined(m, pooled, &a->pooling, x, batch);
        else
            pool_forward(c, pooled, x, batch, tokens, head);
        if (norms_pooled(c)) {
            float *normed = a->pooled_normed + head * batch * D;
            k->norm(normed, D, a->mean ? a->mean + head * batch : NULL,
                    a->rstd ? a->rstd + head * batch : NULL, pooled, D, p->fc_norm_gain,
                    p->fc_norm_bias, c->norm_eps, batch, D);
            pooled = normed;
        }
        if (a->fed) feed(c, a->fed, pooled, batch, head, heads);
        if (H) {
            k->matmul(a->pre, H, pooled, F, p->hidden_weight, p->hidden_bias, VIT_LINEAR, false,
                      batch, H, F);
            k->activate(a->hidden, a->pre, (int)c->head_activation, batch * H);
            pooled = a->hidden;
        }
        if (!logits || detections_of(c)) continue;
        k->matmul(logits, K, pooled, last, head ? p->head_dist_weight : p->head_weight,
                  head ? p->head_dist_bias : p->head_bias, VIT_LINEAR, head > 0, batch, K, last);
    }
    for (size_t i = 0; logits && heads > 1 && i < batch * K; i++) logits[i] *= 0.5f;
    if (logits && detections_of(c) && c->classes)
        objects_forward(m, logits, a->pre, a->hidden, x, batch, tokens);
}

void head_lay_out(struct head_activations *head, struct arena *arena, const vit_config *c,
                  size_t batch) {
    head->pooled = arena_floats(arena, 2, batch, c->width);
    head->pooled_normed = arena_floats(arena, 2, batch, c->width);
    size_t hidden = detections_of(c) ? size_times(detections_of(c), c->width)
                                     : size_times(batch, head_hidden_of(c));
    head->pre = arena_floats(arena, hidden);
    head->hidden = arena_floats(arena, hidden);
}

size_t head_gradients(const vit_config *c, size_t batch) {
    size_t most = c->width > vit_logits(c) ? c->width : vit_logits(c);
    return size_times(batch, size_plus(size_plus(c->width, most), head_hidden_of(c)));
}

/* dpooled (B,D) of one head → what it adds to the gradient of the normed tokens. */
static void features_backward(const vit_model *m, const struct vit_params *g, float *dx,
                              float *dpooled, const struct head_activations *a, size_t batch,
                              size_t tokens, size_t head) {
    const vit_config *c = &m->config;
    size_t D = c->width;
    if (norms_pooled(c))
        norm_backward(dpooled, D, g->fc_norm_gain, g->fc_norm_bias, dpooled, D,
                      a->pooled + head * batch * D, D, a->mean + head * batch,
                      a->rstd + head * batch, m->params.fc_norm_gain, batch, D);
    pool_backward(c, dx, dpooled, batch, tokens, head);
}

/* The gradient of the normed tokens → of the tokens x. */
static void tokens_norm_backward(const vit_model *m, const struct vit_params *g, float *dx,
                                 const struct head_activations *a, const float *x, size_t rows,
                                 size_t batch) {
    size_t D = m->config.width, at = m->config.head_norm ? 2 * batch : 0;
    if (norms_tokens(&m->config))
        norm_backward(dx, D, g->norm_gain, g->norm_bias, dx, D, x, D, a->mean + at, a->rstd + at,
                      m->params.norm_gain, rows, D);
}

void final_norm_backward(const vit_model *m, const struct vit_params *g, float *dx,
                         const struct head_activations *a, const float *x, size_t rows,
                         size_t batch) {
    tokens_norm_backward(m, g, dx, a, x, rows, batch);
}

void logits_backward(const vit_model *m, const struct vit_params *g, float *dx,
                     const float *dlogits, const struct head_activations *a, const float *x,
                     float *dpooled, size_t batch, size_t tokens) {
    const vit_config *c = &m->config;
    const struct vit_params *p = &m->params;
    size_t D = c->width, K = vit_logits(c), rows = batch * tokens,
           heads = p->head_dist_weight ? 2 : 1;
    size_t H = head_hidden_of(c), last = H ? H : D;
    float *dhead = dpooled + batch * D; /* (B,K): each head's share of dlogits */
    float *dlast = H ? dhead + batch * K : dpooled;
    for (size_t i = 0; i < batch * K; i++) dhead[i] = dlogits[i] / (float)heads;
    memset(dx, 0, rows * D * sizeof *dx);
    for (size_t head = 0; head < heads; head++) {
        const float *fed = (norms_pooled(c) ? a->pooled_normed : a->pooled) + head * batch * D;
        linear_backward(m->kernels, dlast, last, head ? g->head_dist_weight : g->head_weight,
                        head ? g->head_dist_bias : g->head_bias, dhead, K, H ? a->hidden : fed,
                        last, head ? p->head_dist_weight : p->head_weight, batch, K, last);
        if (H) {
            m->kernels->activate_backward(dlast, dlast, a->pre, (int)c->head_activation, batch * H);
            linear_backward(m->kernels, dpooled, D, g->hidden_weight, g->hidden_bias, dlast, H, fed,
                            D, p->hidden_weight, batch, H, D);
        }
        features_backward(m, g, dx, dpooled, a, batch, tokens, head);
    }
    tokens_norm_backward(m, g, dx, a, x, rows, batch);
}

/* One logit's gradient of the pooled features → dpooled (D). */
static void hidden_backward(const vit_model *m, float *dpooled, const float *weight, size_t class,
                            const struct head_activations *a) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, H = head_hidden_of(&m->config);
    float *row = dpooled + D, *dhidden = row + D;
    k->unpack(H ? dhidden : dpooled, weight, class, 1, H ? H : D);
    if (!H) return;
    k->activate_backward(dhidden, dhidden, a->pre, (int)m->config.head_activation, H);
    memset(dpooled, 0, D * sizeof *dpooled);
    for (size_t j = 0; j < H; j++) {
        k->unpack(row, m->params.hidden_weight, j, 1, D);
        for (size_t i = 0; i < D; i++) dpooled[i] += dhidden[j] * row[i];
    }
}

void logit_backward(const vit_model *m, float *dx, size_t class, const struct head_activations *a,
                    const float *x, float *dpooled) {
    static const struct vit_params none = {0};
    const vit_config *c = &m->config;
    size_t D = c->width, T = vit_tokens(c), heads = pooled_tokens(c);
    memset(dx, 0, T * D * sizeof *dx);
    for (size_t head = 0; head < heads; head++) {
        const float *weight = head ? m->params.head_dist_weight : m->params.head_weight;
        hidden_backward(m, dpooled, weight, class, a);
        for (size_t i = 0; i < D; i++) dpooled[i] /= (float)heads;
        features_backward(m, &none, dx, dpooled, a, 1, T, head);
    }
    tokens_norm_backward(m, &none, dx, a, x, T, 1);
}

void head_shares(const vit_config *c, float *shares) {
    size_t T = vit_tokens(c), N = pooled_rows(c);
    bool mean = pool_of(c) == VIT_POOL_MEAN;
    size_t first = mean ? T - N : 0, count = mean ? N : pooled_tokens(c);
    for (size_t t = 0; t < T; t++)
        shares[t] = t >= first && t < first + count ? 1 / (float)count : 0;
}

void vit_probabilities(float *p, const float *logits, size_t classes, float temperature) {
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < classes; i++) max = fmax(max, logits[i]);
    for (size_t i = 0; i < classes; i++) sum += exp((logits[i] - max) / temperature);
    for (size_t i = 0; i < classes; i++) p[i] = (float)(exp((logits[i] - max) / temperature) / sum);
}

void vit_answers(float *p, const float *logits, const vit_config *c) {
    if (c->problem_type == VIT_SINGLE_LABEL_CLASSIFICATION) {
        float certainty = c->doubt ? (float)(1 / (1 + exp((double)logits[c->classes]))) : 1;
        vit_probabilities(p, logits, c->classes, c->temperature);
        for (size_t i = 0; i < c->classes; i++) p[i] *= certainty;
        return;
    }
    bool values = c->problem_type == VIT_REGRESSION;
    for (size_t i = 0; i < c->classes; i++)
        p[i] = values ? logits[i] : (float)(1 / (1 + exp(-(double)logits[i] / c->temperature)));
}
