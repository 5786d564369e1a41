/* y = fc2(act(fc1(x))): the position-wise feed-forward layer, Vaswani et al., section 3.3. */
#include "mlp.h"

#include "activations.h"
#include "linear.h"
#include "model.h"
#include "params.h"
#include "vit.h"

void mlp_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                 const float *x, const struct activations *a, const struct scratch *s,
                 size_t rows) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, M = m->config.mlp_width;
    int act = (int)m->config.activation;
    const struct linear fc1 = {p->fc1_weight, p->fc1_scale, p->fc1_bias, M, D},
                        fc2 = {p->fc2_weight, p->fc2_scale, p->fc2_bias, D, M};
    if (a->pre) { /* kept for the backward pass */
        linear_forward(k, a->pre, M, x, D, &fc1, VIT_LINEAR, false, rows, &s->quantized);
        k->activate(a->hidden, a->pre, act, rows * M);
    } else {
        linear_forward(k, a->hidden, M, x, D, &fc1, act, false, rows, &s->quantized);
    }
    linear_forward(k, y, D, a->hidden, M, &fc2, VIT_LINEAR, add, rows, &s->quantized);
}

void mlp_backward(const vit_model *m, const struct block_params *p, const struct block_params *g,
                  float *dx, const float *dy, const float *x, const struct activations *a,
                  const struct scratch *s, size_t rows) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, M = m->config.mlp_width;
    linear_backward(k, s->dhidden, M, g->fc2_weight, g->fc2_bias, dy, D, a->hidden, M,
                    p->fc2_weight, rows, D, M);
    k->activate_backward(s->dhidden, s->dhidden, a->pre, (int)m->config.activation, rows * M);
    linear_backward(k, dx, D, g->fc1_weight, g->fc1_bias, s->dhidden, M, x, D, p->fc1_weight, rows,
                    M, D);
}
