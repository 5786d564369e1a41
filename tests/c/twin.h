/* A Vision Transformer in double precision, written for reading: the oracle of the C core. It
 * computes one image at a time, one number at a time, and shares only the tensors' names with src/.
 * Shape letters are those of vit.h. */
#ifndef TWIN_H
#define TWIN_H

#include <stdarg.h>

#include "check.h"
#include "save.h"
#include "vit.h"

static inline double *doubles(size_t n) {
    double *x = calloc(n + 1, sizeof *x);
    if (!x) exit(EXIT_FAILURE);
    return x;
}

/* ---- One operation at a time -------------------------------------------- */

static inline double twin_activation(int act, double x) {
    switch (act) {
    case VIT_GELU: return 0.5 * x * erfc(-x / sqrt(2.0));
    case VIT_GELU_TANH: {
        double inner = sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
        return x / (1 + exp(-2 * inner)); /* 0.5 x (1 + tanh(inner)), without cancellation */
    }
    case VIT_QUICK_GELU: return x / (1 + exp(-1.702 * x));
    case VIT_RELU: return isnan(x) || x > 0 ? x : 0;
    case VIT_TANH: return tanh(x);
    case VIT_SILU: return x / (1 + exp(-x));
    default: return x;
    }
}

/* y (N) = w (N,K) · x (K) + bias (N). bias may be NULL. */
static inline void twin_linear(double *y, const double *x, const double *w, const double *bias,
                               size_t N, size_t K) {
    for (size_t n = 0; n < N; n++) {
        double sum = bias ? bias[n] : 0;
        for (size_t k = 0; k < K; k++) sum += w[n * K + k] * x[k];
        y[n] = sum;
    }
}

/* The step of an int8 row: 1/127 of its largest number. */
static inline double twin_step(const double *w, size_t K) {
    double most = 0;
    for (size_t k = 0; k < K; k++) most = fmax(most, fabs(w[k]));
    return most / 127;
}

/* twin_linear as an int8 model computes it. A row of w is rounded to twin_step. x is rounded to 127
 * steps from its smallest to its largest number, where 0 counts as one of the numbers. */
static inline void twin_int8_linear(double *y, const double *x, const double *w, const double *bias,
                                    size_t N, size_t K) {
    double low = 0, high = 0;
    for (size_t k = 0; k < K; k++) low = fmin(low, x[k]), high = fmax(high, x[k]);
    double step = (high - low) / 127, zero = step > 0 ? rint(-low / step) : 0;
    for (size_t n = 0; n < N; n++) {
        double w_step = twin_step(w + n * K, K), sum = 0;
        for (size_t k = 0; k < K && step > 0 && w_step > 0; k++) {
            double q = fmin(fmax(rint(x[k] / step) + zero, 0), 127) - zero;
            sum += q * rint(w[n * K + k] / w_step);
        }
        y[n] = (bias ? bias[n] : 0) + sum * step * w_step;
    }
}

/* Norms one row. y may be x. */
static inline void twin_norm(double *y, const double *x, const double *gain, const double *bias,
                             double eps, size_t D) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < D; i++) mean += x[i] / (double)D;
    for (size_t i = 0; i < D; i++) variance += (x[i] - mean) * (x[i] - mean) / (double)D;
    for (size_t i = 0; i < D; i++) y[i] = gain[i] * (x[i] - mean) / sqrt(variance + eps) + bias[i];
}

static inline void twin_softmax(double *x, size_t n) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++) sum += x[i] = exp(x[i] - most);
    for (size_t i = 0; i < n; i++) x[i] /= sum;
}

/* ---- The model ---------------------------------------------------------- */

struct twin {
    vit_config c;
    size_t N, T, prefix;
    bool int8;               /* compute stem and blocks as if they were quantised */
    const uint8_t *no_norms; /* mask (L): the block's norms pass their input on; NULL: none */
    const double
        *more_attention; /* (L,h,T,T): added to the maps after the softmax; NULL: nothing */
    double *p;           /* vit_parameters() in double */
    size_t count;
    vit_tensor *tensors; /* where each lies in p */
    size_t tensors_count;
};

/* From one patch to the next, along the rows (0) or the columns (1). */
static inline size_t twin_stride(const vit_config *c, int axis) {
    return c->patch_stride[axis] ? c->patch_stride[axis] : c->patch_size[axis];
}

static inline size_t twin_grid(const vit_config *c, int axis) {
    size_t n = 0, step = twin_stride(c, axis);
    while (n * step + c->patch_size[axis] <= c->image_size[axis]) n++;
    return n;
}

/* The twin of a model that was opened with unpacked kernels. Close it with twin_close. */
static inline struct twin twin_open(vit_model *model) {
    struct twin t = {.c = *vit_model_config(model), .tensors_count = vit_tensor_count(model)};
    t.prefix = t.c.class_tokens + t.c.distillation_tokens + t.c.register_tokens + t.c.detections;
    t.N = twin_grid(&t.c, 0) * twin_grid(&t.c, 1);
    t.T = t.prefix + t.N;
    const float *p = vit_parameters(model, &t.count);
    t.p = doubles(t.count);
    for (size_t i = 0; p && i < t.count; i++) t.p[i] = p[i];
    t.tensors = malloc(t.tensors_count * sizeof *t.tensors + 1);
    for (size_t i = 0; i < t.tensors_count; i++) t.tensors[i] = vit_tensor_at(model, i);
    return t;
}

static inline void twin_close(struct twin *t) {
    free(t->p);
    free(t->tensors);
}

/* The tensor of that name, or NULL if the model has none. */
__attribute__((format(printf, 2, 3))) static inline const double *
twin_tensor(const struct twin *t, const char *format, ...) {
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    size_t n = (size_t)vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < t->tensors_count; i++) /* few names are as long, so this is quick */
        if (t->tensors[i].name[n] == 0 && strcmp(t->tensors[i].name, name) == 0)
            return t->p + t->tensors[i].offset;
    return NULL;
}

/* A Linear of a block, in int8 if the model is. */
static inline void twin_layer(double *y, const struct twin *t, const double *x, const double *w,
                              const double *bias, size_t N, size_t K) {
    (t->int8 ? twin_int8_linear : twin_linear)(y, x, w, bias, N, K);
}

/* maps (C,H,W) → the activation of their 3×3 convolution, at every `stride`-th row and column, with
 * 0 beyond the edge. */
static inline double *twin_convolution(const struct twin *t, const double *maps, size_t layer,
                                       size_t C, size_t H, size_t W) {
    size_t S = t->c.stem[layer].channels, stride = t->c.stem[layer].stride;
    size_t rows = H / stride, columns = W / stride;
    const double *w = twin_tensor(t, "patch_embed.backbone.%zu.weight", 2 * layer);
    const double *bias = twin_tensor(t, "patch_embed.backbone.%zu.bias", 2 * layer);
    double *out = doubles(S * rows * columns);
    for (size_t s = 0; s < S; s++) {
        double step = t->int8 ? twin_step(w + s * C * 9, C * 9) : 0;
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < columns; x++) {
                double sum = bias[s];
                for (size_t i = 0; i < C * 9; i++) {
                    size_t row = stride * y + i / 3 % 3, column = stride * x + i % 3; /* from 1 */
                    if (row == 0 || column == 0 || row > H || column > W) continue;
                    double weight = w[s * C * 9 + i];
                    if (step > 0) weight = rint(weight / step) * step; /* stored in int8 */
                    sum += weight * maps[(i / 9 * H + row - 1) * W + column - 1];
                }
                out[(s * rows + y) * columns + x] = twin_activation((int)t->c.activation, sum);
            }
    }
    return out;
}

/* Number i of square `at`, which is cut from maps (C,H,W) with 0 beyond the edge. */
static inline double twin_cut(const double *maps, size_t C, size_t H, size_t W, size_t side,
                              size_t step, size_t beyond, size_t at, size_t i) {
    size_t across = (W + 2 * beyond - side) / step + 1;
    size_t y = at / across * step + i / side % side, x = at % across * step + i % side;
    bool inside = y >= beyond && x >= beyond && y < H + beyond && x < W + beyond;
    return inside && i / side / side < C ? maps[(i / side / side * H + y - beyond) * W + x - beyond]
                                         : 0;
}

/* v (N,t) = what queries, keys and values (N,3t) give by softmax, with scores divided by √K. */
static inline void twin_split_attention(double *y, const double *qkv, size_t N, size_t t,
                                        size_t K) {
    double *scores = doubles(N);
    for (size_t a = 0; a < N; a++) {
        for (size_t b = 0; b < N; b++) {
            scores[b] = 0;
            for (size_t i = 0; i < t; i++)
                scores[b] += qkv[a * 3 * t + i] * qkv[b * 3 * t + t + i] / sqrt((double)K);
        }
        twin_softmax(scores, N);
        for (size_t i = 0; i < t; i++) {
            y[a * t + i] = 0;
            for (size_t b = 0; b < N; b++) y[a * t + i] += scores[b] * qkv[b * 3 * t + 2 * t + i];
        }
    }
    free(scores);
}

/* The same by m random features w (m,t), of keys, queries and values (N,3t). The score of a pair is
 * the product of its features, Σ exp(w·k - |k|²/2)·exp(w·q - |q|²/2) / m, and the scores' sum, plus
 * 1e-8, divides. */
static inline void twin_performer(double *y, const double *kqv, const double *w, size_t N,
                                  size_t t) {
    size_t m = t / 2;
    double *features = doubles(N * 2 * m);
    for (size_t a = 0; a < 2 * N; a++) {
        const double *x = kqv + a / 2 * 3 * t + a % 2 * t;
        double square = 0;
        for (size_t i = 0; i < t; i++) square += x[i] * x[i];
        twin_linear(features + a * m, x, w, NULL, m, t);
        for (size_t i = 0; i < m; i++) features[a * m + i] = exp(features[a * m + i] - square / 2);
    }
    for (size_t a = 0; a < N; a++) {
        double sum = 1e-8;
        memset(y + a * t, 0, t * sizeof *y);
        for (size_t b = 0; b < N; b++) {
            double score = 0;
            for (size_t i = 0; i < m; i++)
                score += features[(2 * a + 1) * m + i] * features[2 * b * m + i] / (double)m;
            sum += score;
            for (size_t i = 0; i < t; i++) y[a * t + i] += score * kqv[b * 3 * t + 2 * t + i];
        }
        for (size_t i = 0; i < t; i++) y[a * t + i] /= sum;
    }
    free(features);
}

/* One of the two steps of tokens_to_token: maps (C,H,W) → maps (t,H/step,W/step). */
static inline double *twin_split(const struct twin *t, const double *maps, size_t index, size_t C,
                                 size_t H, size_t W) {
    size_t side = index ? 3 : 7, step = index ? 2 : 4, beyond = index ? 1 : 2;
    size_t n = t->c.token_width, K = C * side * side, N = H / step * (W / step);
    bool features = t->c.tokens_to_token == VIT_SPLIT_PERFORMER;
#define OF(name) twin_tensor(t, "tokens_to_token.attention%zu." name, index + 1)
    double *cut = doubles(K), *qkv = doubles(N * 3 * n), *mixed = doubles(N * n);
    double *out = doubles(n * N), *x = doubles(n), *in = doubles(n), *wide = doubles(n);
    for (size_t a = 0; a < N; a++) {
        for (size_t i = 0; i < K; i++) cut[i] = twin_cut(maps, C, H, W, side, step, beyond, a, i);
        twin_norm(cut, cut, OF("norm1.weight"), OF("norm1.bias"), t->c.norm_eps, K);
        twin_linear(qkv + a * 3 * n, cut, OF("attn.qkv.weight"), OF("attn.qkv.bias"), 3 * n, K);
    }
    if (features)
        twin_performer(mixed, qkv, OF("w"), N, n);
    else
        twin_split_attention(mixed, qkv, N, n, K);
    for (size_t a = 0; a < N; a++) {
        twin_linear(x, mixed + a * n, OF("attn.proj.weight"), OF("attn.proj.bias"), n, n);
        for (size_t i = 0; i < n; i++) x[i] += qkv[a * 3 * n + 2 * n + i];
        twin_norm(in, x, OF("norm2.weight"), OF("norm2.bias"), t->c.norm_eps, n);
        twin_linear(wide, in, OF("mlp.fc1.weight"), OF("mlp.fc1.bias"), n, n);
        for (size_t i = 0; i < n; i++) wide[i] = twin_activation((int)t->c.activation, wide[i]);
        twin_linear(in, wide, OF("mlp.fc2.weight"), OF("mlp.fc2.bias"), n, n);
        for (size_t i = 0; i < n; i++) out[i * N + a] = x[i] + in[i];
    }
#undef OF
    double *const all[] = {cut, qkv, mixed, x, in, wide};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return out;
}

/* image (C,H,W) → patches (N,D). The stem comes first; then each patch is cut out channel by
 * channel, row by row. */
static inline void twin_patches(double *out, const struct twin *t, const float *image) {
    const vit_config *c = &t->c;
    size_t C = c->channels, H = c->image_size[0], W = c->image_size[1];
    size_t P = c->patch_size[0], Q = c->patch_size[1];
    size_t columns = twin_grid(c, 1), down = twin_stride(c, 0), across = twin_stride(c, 1);
    const double *w = twin_tensor(t, "patch_embed.proj.weight");
    const double *bias = twin_tensor(t, "patch_embed.proj.bias");
    double *maps = doubles(C * H * W);
    for (size_t i = 0; i < C * H * W; i++) maps[i] = image[i];
    for (size_t layer = 0; layer < c->stem_layers; layer++) {
        double *next = twin_convolution(t, maps, layer, C, H, W);
        free(maps);
        size_t stride = c->stem[layer].stride;
        maps = next, C = c->stem[layer].channels;
        H /= stride, W /= stride, P /= stride, Q /= stride, down /= stride, across /= stride;
    }
    for (size_t index = 0; index < 2 && c->tokens_to_token; index++) {
        double *next = twin_split(t, maps, index, C, H, W);
        free(maps);
        maps = next, C = c->token_width, P = Q = 3;
        H /= index ? 2 : 4, W /= index ? 2 : 4;
    }
    double *patch = doubles(C * P * Q);
    for (size_t n = 0; n < t->N; n++) {
        size_t at = 0;
        for (size_t channel = 0; channel < C; channel++)
            for (size_t row = 0; row < P; row++)
                for (size_t column = 0; column < Q; column++) {
                    size_t y = n / columns * down + row, x = n % columns * across + column;
                    bool soft = c->tokens_to_token;
                    patch[at] = soft ? twin_cut(maps, C, H, W, 3, 2, 1, n, at)
                                     : maps[(channel * H + y) * W + x];
                    at++;
                }
        twin_linear(out + n * c->width, patch, w, bias, c->width, at);
    }
    free(patch);
    free(maps);
}

/* The position that is added to token `token` in column i. learned: (T,D), or (N,D) if only patches
 * have positions. */
static inline double twin_position(const struct twin *t, const double *learned, size_t token,
                                   size_t i) {
    size_t D = t->c.width;
    if (learned) {
        size_t without = t->T - t->c.position_rows;
        return token < without ? 0 : learned[(token - without) * D + i];
    }
    if (t->c.position == VIT_SINCOS1D) {
        double angle = (double)token / pow(10000, (double)(i - i % 2) / (double)D);
        return i % 2 ? cos(angle) : sin(angle);
    }
    if (t->c.position == VIT_SINCOS2D && token >= t->prefix) {
        size_t columns = twin_grid(&t->c, 1), quarter = D / 4;
        size_t patch = token - t->prefix;
        double place = (double)(i < D / 2 ? patch % columns : patch / columns);
        double angle = place / pow(10000, (double)(i % quarter) / (double)quarter);
        return i / quarter % 2 ? cos(angle) : sin(angle);
    }
    return 0;
}

/* image → x (T,D): the prefix tokens and the patches, each with its position added. */
static inline void twin_tokens(double *x, const struct twin *t, const float *image) {
    size_t D = t->c.width, at = 0;
    const struct {
        const char *name;
        size_t count;
    } prefix[] = {{"cls_token", t->c.class_tokens},
                  {"dist_token", t->c.distillation_tokens},
                  {"reg_token", t->c.register_tokens},
                  {"det_token", t->c.detections}};
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < prefix[k].count * D; i++)
            x[at++] = twin_tensor(t, "%s", prefix[k].name)[i];
    twin_patches(x + at, t, image);
    const double *learned = twin_tensor(t, "pos_embed");
    for (size_t token = 0; token < t->T; token++)
        for (size_t i = 0; i < D; i++) x[token * D + i] += twin_position(t, learned, token, i);
}

/* Turns token `token`'s numbers x (d) of a head by rotary positions, as complex numbers. */
static inline void twin_rotary(double *x, const struct twin *t, size_t layer, size_t head,
                               size_t token, size_t d) {
    const vit_config *c = &t->c;
    const double *learned = twin_tensor(t, "blocks.%zu.attn.rope.freqs", layer);
    if (token < t->prefix) return;
    size_t columns = twin_grid(c, 1), patch = token - t->prefix;
    const size_t at[2] = {patch / columns, patch % columns}, side[2] = {t->N / columns, columns};
    double place[2];
    for (size_t axis = 0; axis < 2; axis++) {
        place[axis] = (double)at[axis];
        if (c->rotary_places == VIT_FROM_1) place[axis] += 1;
        if (c->rotary_grid[axis]) place[axis] *= (double)c->rotary_grid[axis] / (double)side[axis];
        if (c->rotary_places == VIT_FROM_MINUS_1)
            place[axis] = 2 * acos(-1.0) * (((double)at[axis] + 0.5) / (double)side[axis] * 2 - 1);
    }
    size_t first = c->rotary_first == VIT_COLUMNS;
    for (size_t i = 0; i < d / 2; i++) {
        double angle = place[i < d / 4 ? first : 1 - first] *
                       pow(c->rotary_base, -(double)(i % (d / 4)) / (double)(d / 4));
        if (learned)
            angle = place[first] * learned[head * d / 2 + i] +
                    place[1 - first] * learned[(c->heads + head) * d / 2 + i];
        double *a = x + (c->rotary_pairs == VIT_HALVES ? i : 2 * i);
        double *b = c->rotary_pairs == VIT_HALVES ? a + d / 2 : a + 1;
        double real = *a * cos(angle) - *b * sin(angle), other = *a * sin(angle) + *b * cos(angle);
        *a = real, *b = other;
    }
}

/* x (T,D) → q, k or v (T,A), which are parts 0, 1, 2 of qkv. */
static inline void twin_part(double *y, const struct twin *t, size_t layer, size_t part,
                             const double *x) {
    size_t D = t->c.width, h = t->c.heads, d = t->c.head_width ? t->c.head_width : D / h;
    size_t A = h * d;
    const double *w = twin_tensor(t, "blocks.%zu.attn.qkv.weight", layer);
    const double *bias = twin_tensor(t, "blocks.%zu.attn.qkv.bias", layer);
    const double *gain = twin_tensor(t, "blocks.%zu.attn.%c_norm.weight", layer, "qkv"[part]);
    const double *shift = twin_tensor(t, "blocks.%zu.attn.%c_norm.bias", layer, "qkv"[part]);
    if (bias) bias += part * A;
    for (size_t a = 0; a < t->T; a++, x += D, y += A) {
        if (t->c.attention == VIT_STANDARD) twin_layer(y, t, x, w + part * A * D, bias, A, D);
        for (size_t head = 0; head < h; head++) {
            size_t at = head * d; /* of the head's slice */
            if (t->c.attention == VIT_PER_HEAD)
                twin_layer(y + at, t, x + at, w + (part * A + at) * d, bias ? bias + at : NULL, d,
                           d);
            if (gain) twin_norm(y + at, y + at, gain, shift, t->c.norm_eps, d);
            if (part < 2 && t->c.position == VIT_ROTARY) twin_rotary(y + at, t, layer, head, a, d);
        }
    }
}

/* The bias that relative positions add to query a's score of key b. The table (R,h) has a row for
 * each offset of patches, then one from the prefix to patches, one from patches to the prefix, and
 * one within the prefix. */
static inline double twin_bias(const struct twin *t, const double *table, size_t head, size_t a,
                               size_t b) {
    size_t columns = twin_grid(&t->c, 1), rows = t->N / columns;
    size_t offsets = (2 * rows - 1) * (2 * columns - 1), row;
    if (a < t->prefix && b < t->prefix)
        row = offsets + 2;
    else if (b < t->prefix)
        row = offsets + 1;
    else if (a < t->prefix)
        row = offsets;
    else {
        size_t from = a - t->prefix, to = b - t->prefix;
        size_t down = from / columns + (rows - 1) - to / columns;
        size_t right = from % columns + (columns - 1) - to % columns;
        row = down * (2 * columns - 1) + right;
    }
    return table[row * t->c.heads + head];
}

/* x (T,D) → y (T,D) and map (h,T,T), softmax(q·k / sqrt d + bias). */
static inline void twin_attention(double *y, double *map, const struct twin *t, size_t layer,
                                  const double *x) {
    size_t D = t->c.width, h = t->c.heads, d = t->c.head_width ? t->c.head_width : D / h;
    size_t A = h * d, T = t->T;
    double *part[3], *mixed = doubles(A);
    const double *proj = twin_tensor(t, "blocks.%zu.attn.proj.weight", layer);
    const double *bias = twin_tensor(t, "blocks.%zu.attn.proj.bias", layer);
    const double *table =
        twin_tensor(t, "blocks.%zu.attn.rel_pos.relative_position_bias_table", layer);
    for (size_t i = 0; i < 3; i++) twin_part(part[i] = doubles(T * A), t, layer, i, x);
    for (size_t a = 0; a < T; a++) {
        memset(mixed, 0, A * sizeof *mixed);
        for (size_t head = 0; head < h; head++) {
            double *row = map + (head * T + a) * T;
            for (size_t b = 0; b < T; b++) {
                double sum = 0;
                for (size_t i = head * d; i < (head + 1) * d; i++)
                    sum += part[0][a * A + i] * part[1][b * A + i];
                row[b] = sum / sqrt((double)d) + (table ? twin_bias(t, table, head, a, b) : 0);
            }
            twin_softmax(row, T);
            for (size_t b = 0; t->more_attention && b < T; b++)
                row[b] += t->more_attention[((layer * h + head) * T + a) * T + b];
            for (size_t b = 0; b < T; b++)
                for (size_t i = head * d; i < (head + 1) * d; i++)
                    mixed[i] += row[b] * part[2][b * A + i];
        }
        if (proj)
            twin_layer(y + a * D, t, mixed, proj, bias, D, A);
        else
            memcpy(y + a * D, mixed, D * sizeof *y);
    }
    for (size_t i = 0; i < 3; i++) free(part[i]);
    free(mixed);
}

static inline void twin_mlp(double *y, const struct twin *t, size_t layer, const double *x) {
    size_t D = t->c.width, M = t->c.mlp_width;
    bool gated = t->c.mlp == VIT_MLP_GATED;
    double *wide = doubles(2 * M);
    const double *gain = twin_tensor(t, "blocks.%zu.mlp.norm.weight", layer);
    const double *shift = twin_tensor(t, "blocks.%zu.mlp.norm.bias", layer);
    const double *fc1 = twin_tensor(t, "blocks.%zu.mlp.fc1.weight", layer);
    const double *bias1 = twin_tensor(t, "blocks.%zu.mlp.fc1.bias", layer);
    const double *fc2 = twin_tensor(t, "blocks.%zu.mlp.fc2.weight", layer);
    const double *bias2 = twin_tensor(t, "blocks.%zu.mlp.fc2.bias", layer);
    for (size_t a = 0; a < t->T; a++) {
        twin_layer(wide, t, x + a * D, fc1, bias1, gated ? 2 * M : M, D);
        for (size_t i = 0; i < M; i++)
            wide[i] = twin_activation((int)t->c.activation, wide[i]) * (gated ? wide[M + i] : 1);
        if (gain) twin_norm(wide, wide, gain, shift, t->c.norm_eps, M);
        twin_layer(y + a * D, t, wide, fc2, bias2, D, M);
    }
    free(wide);
}

static inline void twin_norm_rows(double *y, const struct twin *t, const char *name,
                                  const double *x) {
    size_t D = t->c.width;
    const double *gain = twin_tensor(t, "%s.weight", name), *bias = twin_tensor(t, "%s.bias", name);
    for (size_t a = 0; a < t->T; a++) twin_norm(y + a * D, x + a * D, gain, bias, t->c.norm_eps, D);
}

/* Half a block, in place: x + f(norm(x)) if the norm comes before, norm(x + f(x)) if after;
 * without residual connections f's result alone, in place of the sum. */
static inline void twin_branch(double *x, double *map, const struct twin *t, size_t layer,
                               size_t half, double keep) {
    size_t D = t->c.width, n = t->T * D;
    bool after = t->c.mlp_norm_after && half == 2; /* inside the branch */
    bool pre = t->c.norm == VIT_PRE && !after, norms = !t->no_norms || !t->no_norms[layer];
    double *in = doubles(n), *out = doubles(n);
    char norm[64];
    snprintf(norm, sizeof norm, "blocks.%zu.norm%zu", layer, half);
    memcpy(in, x, n * sizeof *x);
    if (pre && norms) twin_norm_rows(in, t, norm, in);
    if (half == 1)
        twin_attention(out, map, t, layer, in);
    else
        twin_mlp(out, t, layer, in);
    if (after && norms) twin_norm_rows(out, t, norm, out);
    const double *gamma = twin_tensor(t, "blocks.%zu.ls%zu.gamma", layer, half);
    for (size_t i = 0; i < n; i++)
        x[i] = (t->c.residual ? x[i] : 0) + keep * (gamma ? gamma[i % D] : 1) * out[i];
    if (!pre && !after && norms) twin_norm_rows(x, t, norm, x);
    free(in);
    free(out);
}

/* What a learned query gathers from the last N tokens, by some heads; then an MLP: pooled (D). */
static inline void twin_pool(double *pooled, const struct twin *t, const double *tokens) {
    size_t D = t->c.width, h = t->c.pool_heads ? t->c.pool_heads : t->c.heads, d = D / h;
    size_t M = t->c.pool_mlp_width ? t->c.pool_mlp_width : t->c.mlp_width;
    size_t N = t->c.pool_prefix ? t->T : t->N;
    const double *w = twin_tensor(t, "attn_pool.qkv.weight");
    const double *bias = twin_tensor(t, "attn_pool.qkv.bias");
    double *query = doubles(D), *kv = doubles(N * 2 * D), *scores = doubles(N);
    double *mixed = doubles(D), *wide = doubles(M);
    twin_linear(query, twin_tensor(t, "attn_pool.latent"), w, bias, D, D);
    tokens += (t->T - N) * D;
    for (size_t n = 0; n < N; n++)
        twin_linear(kv + n * 2 * D, tokens + n * D, w + D * D, bias + D, 2 * D, D);
    for (size_t head = 0; head < h; head++) {
        for (size_t n = 0; n < N; n++) {
            scores[n] = 0;
            for (size_t i = head * d; i < (head + 1) * d; i++)
                scores[n] += query[i] * kv[n * 2 * D + i] / sqrt((double)d);
        }
        twin_softmax(scores, N);
        for (size_t n = 0; n < N; n++)
            for (size_t i = head * d; i < (head + 1) * d; i++)
                mixed[i] += scores[n] * kv[(n * 2 + 1) * D + i];
    }
    twin_linear(pooled, mixed, twin_tensor(t, "attn_pool.proj.weight"),
                twin_tensor(t, "attn_pool.proj.bias"), D, D);
    twin_norm(mixed, pooled, twin_tensor(t, "attn_pool.norm.weight"),
              twin_tensor(t, "attn_pool.norm.bias"), t->c.norm_eps, D);
    twin_linear(wide, mixed, twin_tensor(t, "attn_pool.mlp.fc1.weight"),
                twin_tensor(t, "attn_pool.mlp.fc1.bias"), M, D);
    for (size_t i = 0; i < M; i++) wide[i] = twin_activation((int)t->c.activation, wide[i]);
    twin_linear(mixed, wide, twin_tensor(t, "attn_pool.mlp.fc2.weight"),
                twin_tensor(t, "attn_pool.mlp.fc2.bias"), D, M);
    for (size_t i = 0; i < D; i++) pooled[i] += mixed[i];
    free(query), free(kv), free(scores), free(mixed), free(wide);
}

/* One detection token (D) → what an MLP of three layers makes of it (N). */
static inline void twin_object(double *y, const struct twin *t, const char *name, const double *x,
                               size_t N) {
    size_t D = t->c.width;
    double *in = doubles(D), *out = doubles(D);
    memcpy(in, x, D * sizeof *in);
    for (size_t layer = 0; layer < 3; layer++) {
        const double *w = twin_tensor(t, "%s.layers.%zu.weight", name, layer);
        const double *bias = twin_tensor(t, "%s.layers.%zu.bias", name, layer);
        twin_linear(layer < 2 ? out : y, in, w, bias, layer < 2 ? D : N, D);
        for (size_t i = 0; layer < 2 && i < D; i++) in[i] = fmax(out[i], 0);
    }
    free(in);
    free(out);
}

/* tokens (T,D) → for each detection token K+1 scores and a box. */
static inline void twin_objects(double *logits, const struct twin *t, const double *tokens) {
    size_t n = t->c.detections, D = t->c.width, K = t->c.classes + 1;
    for (size_t i = 0; i < n; i++, logits += K + 4) {
        const double *x = tokens + (t->prefix - n + i) * D;
        twin_object(logits, t, "class_embed", x, K);
        twin_object(logits + K, t, "bbox_embed", x, 4);
        for (size_t k = K; k < K + 4; k++) logits[k] = 1 / (1 + exp(-logits[k]));
    }
}

/* tokens (T,D) → logits (K). */
static inline void twin_logits(double *logits, const struct twin *t, const double *tokens) {
    size_t D = t->c.width, K = vit_logits(&t->c);
    double *pooled = doubles(D), *other = doubles(K);
    memcpy(pooled, tokens, D * sizeof *pooled);
    if (t->c.pool == VIT_POOL_MEAN)
        for (size_t i = 0; i < D; i++) {
            pooled[i] = 0;
            for (size_t a = t->prefix; a < t->T; a++) pooled[i] += tokens[a * D + i] / (double)t->N;
        }
    if (t->c.pool == VIT_POOL_ATTENTION) twin_pool(pooled, t, tokens);
    if (t->c.fc_norm || t->c.head_norm)
        twin_norm(pooled, pooled, twin_tensor(t, "fc_norm.weight"), twin_tensor(t, "fc_norm.bias"),
                  t->c.norm_eps, D);
    size_t H = t->c.head_hidden;
    double *hidden = doubles(H), *fed = H ? hidden : pooled;
    if (H)
        twin_linear(hidden, pooled, twin_tensor(t, "pre_logits.weight"),
                    twin_tensor(t, "pre_logits.bias"), H, D);
    for (size_t i = 0; i < H; i++)
        hidden[i] = twin_activation((int)t->c.head_activation, hidden[i]);
    twin_linear(logits, fed, twin_tensor(t, "head.weight"), twin_tensor(t, "head.bias"), K,
                H ? H : D);
    free(hidden);
    if (t->c.distillation_tokens) {
        twin_linear(other, tokens + D, twin_tensor(t, "head_dist.weight"),
                    twin_tensor(t, "head_dist.bias"), K, D);
        for (size_t k = 0; k < K; k++) logits[k] = (logits[k] + other[k]) / 2;
    }
    free(pooled);
    free(other);
}

/* The outputs for one image. It owns every pointer. */
struct twin_run {
    double *logits, *attention, *hidden, *tokens; /* (K) (L,h,T,T) (L,T,D) (T,D) */
};

/* Runs the blocks from `first` on and the head. run->tokens holds the tokens before these blocks.
 * keep (L) scales both branches of each block; NULL: 1. */
static inline void twin_run_from(struct twin_run *run, const struct twin *t, size_t first,
                                 const float *keep) {
    size_t D = t->c.width, T = t->T, maps = t->c.heads * T * T;
    double *x = run->tokens;
    for (size_t layer = first; layer < t->c.depth; layer++) {
        for (size_t half = 1; half <= 2; half++)
            twin_branch(x, run->attention + layer * maps, t, layer, half, keep ? keep[layer] : 1);
        const double *mid = twin_tensor(t, "mid_pos_embed");
        size_t without = T - t->c.position_rows, count = t->c.position_rows * D;
        for (size_t i = 0; mid && layer + 1 < t->c.depth && i < count; i++)
            x[without * D + i] += mid[layer * count + i];
        memcpy(run->hidden + layer * T * D, x, T * D * sizeof *x);
    }
    if (twin_tensor(t, "norm.weight")) twin_norm_rows(x, t, "norm", x);
    if (t->c.detections)
        twin_objects(run->logits, t, x);
    else
        twin_logits(run->logits, t, x);
}

static inline struct twin_run twin_forward(const struct twin *t, const float *image,
                                           const float *keep) {
    size_t D = t->c.width, T = t->T, L = t->c.depth;
    struct twin_run run = {doubles(vit_logits(&t->c)), doubles(L * t->c.heads * T * T),
                           doubles(L * T * D), doubles(T * D)};
    twin_tokens(run.tokens, t, image);
    twin_run_from(&run, t, 0, keep);
    return run;
}

static inline void twin_run_free(struct twin_run *run) {
    free(run->logits);
    free(run->attention);
    free(run->hidden);
    free(run->tokens);
}

/* Compares n numbers with the twin's: within `share` of its largest number, or of `least` if that is
 * more. */
static inline void twin_compare(const char *config, const char *kernels, const char *part,
                                const float *got, const double *want, size_t n, double share,
                                double least) {
    char what[128];
    float *rounded = floats(n);
    for (size_t i = 0; i < n; i++) rounded[i] = (float)want[i];
    snprintf(what, sizeof what, "%s, %s, %s", config, kernels, part);
    CHECK_CLOSE(got, rounded, n, share * fmax(least, largest(rounded, n)), what);
    free(rounded);
}

/* Cross-entropy of one image against smoothed labels. */
static inline double twin_loss(const double *logits, size_t label, size_t K, double smoothing) {
    double most = -INFINITY, sum = 0, loss = 0;
    for (size_t k = 0; k < K; k++) most = fmax(most, logits[k]);
    for (size_t k = 0; k < K; k++) sum += exp(logits[k] - most);
    for (size_t k = 0; k < K; k++) {
        double target = smoothing / (double)K + (k == label ? 1 - smoothing : 0);
        loss -= target * (logits[k] - most - log(sum));
    }
    return loss;
}

#endif
