/* y = fc2(act(fc1(x))): the position-wise feed-forward layer, Vaswani et al., section 3.3. If it is
 * gated, fc1 makes a gate and a value, and fc2 reads act(gate) · value: Shazeer, arXiv:2002.05202. */
#include "mlp.h"

#include <string.h>

#include "activations.h"
#include "edition.h"
#include "linear.h"
#include "model.h"
#include "norm.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

/* Rows of 2M: y's first M = act(x's first M) · x's last M. y may be x. */
static void gate(const struct vit_kernels *k, float *y, const float *x, int act, size_t rows,
                 size_t M) {
    for (; rows > 0; rows--, x += 2 * M, y += 2 * M) {
        k->activate(y, x, act, M);
        for (size_t i = 0; i < M; i++) y[i] *= x[M + i];
    }
}

/* Rows of 2M: dy's first M, the gradient of gate's y, becomes the gradient of its x. */
static void gate_backward(const struct vit_kernels *k, float *dy, const float *x, int act,
                          size_t rows, size_t M) {
    for (; rows > 0; rows--, x += 2 * M, dy += 2 * M) {
        k->activate(dy + M, x, act, M);
        for (size_t i = 0; i < M; i++) dy[M + i] *= dy[i], dy[i] *= x[M + i];
        k->activate_backward(dy, dy, x, act, M);
    }
}

void mlp_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                 const float *x, const struct activations *a, const struct scratch *s,
                 size_t rows) {
    const struct vit_kernels *k = m->kernels;
    const vit_config *c = &m->config;
    size_t D = c->width, M = c->mlp_width, G = mlp_rows(c);
    int act = (int)c->activation;
    bool gated = mlp_of(c) == VIT_MLP_GATED;
    const struct linear fc1 = {p->fc1_weight, p->fc1_scale, p->fc1_bias, G, D},
                        fc2 = {p->fc2_weight, p->fc2_scale, p->fc2_bias, D, M};
    float *pre = a->pre ? a->pre : a->hidden; /* kept for the backward pass */
    bool at_once = !a->pre && !gated;
    linear_forward(k, pre, G, x, D, &fc1, at_once ? act : VIT_LINEAR, false, rows, &s->quantized);
    if (gated)
        gate(k, a->hidden, pre, act, rows, M);
    else if (!at_once)
        k->activate(a->hidden, pre, act, rows * M);
    if (mlp_norm_of(c) && a->mlp_raw) memcpy(a->mlp_raw, a->hidden, rows * G * sizeof *a->hidden);
    if (mlp_norm_of(c))
        k->norm(a->hidden, G, a->mlp_mean, a->mlp_rstd, a->hidden, G, p->mlp_norm_gain,
                p->mlp_norm_bias, c->norm_eps, rows, M);
    linear_forward(k, y, D, a->hidden, G, &fc2, VIT_LINEAR, add, rows, &s->quantized);
}

void mlp_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                  float *dx, const float *dy, const float *x, const struct activations *a,
                  const struct scratch *s, size_t rows) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, M = m->config.mlp_width, G = mlp_rows(&m->config);
    int act = (int)m->config.activation;
    linear_backward(k, s->dhidden, G, g->fc2_weight, g->fc2_bias, dy, D, a->hidden, G,
                    p->fc2_weight, rows, D, M);
    if (mlp_norm_of(&m->config))
        norm_backward(s->dhidden, G, g->mlp_norm_gain, g->mlp_norm_bias, s->dhidden, G, a->mlp_raw,
                      G, a->mlp_mean, a->mlp_rstd, p->mlp_norm_gain, rows, M);
    if (mlp_of(&m->config) == VIT_MLP_GATED)
        gate_backward(k, s->dhidden, a->pre, act, rows, M);
    else
        k->activate_backward(s->dhidden, s->dhidden, a->pre, act, rows * M);
    linear_backward(k, dx, D, g->fc1_weight, g->fc1_bias, s->dhidden, G, x, D, p->fc1_weight, rows,
                    G, D);
}
