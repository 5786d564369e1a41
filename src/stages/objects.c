/* Detection tokens (n,D) → class scores (n,K+1) and boxes (n,4), each by an MLP of three layers, as
 * in YOLOS (Fang et al., arXiv:2106.00666, section 3). The last score is that of no object. */
#include "objects.h"

#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

void objects_forward(const vit_model *m, float *logits, float *first, float *second, const float *x,
                     size_t batch, size_t tokens) {
    const vit_config *c = &m->config;
    const struct vit_kernels *k = m->kernels;
    size_t n = c->detections, D = c->width, each = object_numbers(c), K = each - VIT_BOX;
    x += (vit_prefix(c) - n) * D;
    for (size_t i = 0; i < 2 * batch; i++) {
        size_t box = i % 2, from = i / 2 * n * each + (box ? K : 0);
        float *const *w = m->params.objects[box].weight, *const *bias = m->params.objects[box].bias;
        k->matmul(first, D, x + i / 2 * tokens * D, D, w[0], bias[0], VIT_RELU, false, n, D, D);
        k->matmul(second, D, first, D, w[1], bias[1], VIT_RELU, false, n, D, D);
        k->matmul(logits + from, each, second, D, w[2], bias[2], VIT_LINEAR, false, n,
                  box ? VIT_BOX : K, D);
        for (size_t j = 0; box && j < n * VIT_BOX; j++) {
            float *side = logits + from + j / VIT_BOX * each + j % VIT_BOX;
            float both[] = {*side, 0}; /* the softmax of x and 0 is 1/(1+e^-x) */
            k->softmax(both, 2, 1, 1, 2);
            *side = both[0];
        }
    }
}
