/* y = x·wᵀ + bias, by floats or by int8, and its backward pass. */
#include "linear.h"

#include "base/arena.h"
#include "kernels/kernels.h"
#include "model.h"
#include "shapes.h"
#include "vit.h"

/* Bytes from a row to the next: enough for the widest layer's input. */
static size_t quantized_stride(const vit_config *c) {
    size_t A = attention_width(c), D = c->width > A ? c->width : A;
    return vit_quantized_row(D > c->mlp_width ? D : c->mlp_width);
}

void scratch_quantized(struct vit_quantized *q, struct arena *arena, const vit_model *m,
                       size_t rows) {
    *q = (struct vit_quantized){0};
    if (!m->config.int8) return;
    q->q = (void *)arena_floats(arena, rows, quantized_stride(&m->config) / sizeof(float));
    q->scale = arena_floats(arena, rows);
    q->zero = (void *)arena_floats(arena, rows);
}

/* Rows of any width start quantized_stride bytes apart, so that shares of rows never meet. */
struct vit_quantized quantized_from(const vit_model *m, const struct vit_quantized *q, size_t row) {
    if (!q->q) return *q;
    return (struct vit_quantized){q->q + row * quantized_stride(&m->config), q->scale + row,
                                  q->zero + row};
}

void linear_forward(const struct vit_kernels *k, float *y, size_t ldy, const float *x, size_t ldx,
                    const struct linear *w, int act, bool add, size_t M,
                    const struct vit_quantized *q) {
    if (!w->scale) {
        k->matmul(y, ldy, x, ldx, w->weight, w->bias, act, add, M, w->N, w->K);
        return;
    }
    k->quantize(q, x, ldx, M, w->K);
    k->matmul_int8(y, ldy, q, w->weight, w->scale, w->bias, act, add, M, w->N, w->K);
}

void linear_backward(const struct vit_kernels *k, float *dx, size_t lddx, float *dw, float *dbias,
                     const float *dy, size_t lddy, const float *x, size_t ldx, const float *w,
                     size_t M, size_t N, size_t K) {
    if (dx && k->packed)
        k->matmul(dx, lddx, dy, lddy, w, NULL, VIT_LINEAR, false, M, K, N);
    else if (dx)
        k->gemm(dx, lddx, dy, lddy, false, w, K, false, 1, 0, M, K, N);
    if (dw) k->gemm(dw, K, dy, lddy, true, x, ldx, false, 1, 1, N, K, M);
    if (!dbias) return;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) dbias[j] += dy[i * lddy + j];
}
