/* y = fc2(act(fc1(x))): the position-wise feed-forward layer, Vaswani et al., section 3.3. */
#include "model.h"

void mlp_forward(const vit_model *m, const struct block_params *p, float *y, bool add,
                 const float *x, const struct activations *a, size_t rows) {
    const struct vit_kernels *k = m->kernels;
    size_t D = m->config.width, M = m->config.mlp_width;
    int act = (int)m->config.activation;
    if (a->pre) { /* kept for the backward pass */
        k->matmul(a->pre, M, x, D, p->fc1_weight, p->fc1_bias, VIT_LINEAR, false, rows, M, D);
        k->activate(a->hidden, a->pre, act, rows * M);
    } else {
        k->matmul(a->hidden, M, x, D, p->fc1_weight, p->fc1_bias, act, false, rows, M, D);
    }
    k->matmul(y, D, a->hidden, M, p->fc2_weight, p->fc2_bias, VIT_LINEAR, add, rows, D, M);
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
