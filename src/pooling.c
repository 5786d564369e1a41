/* Patch tokens (N,D) → one vector (D) by attention: a learned query looks at all of them, then
 * comes an MLP in a residual branch. Zhai et al., arXiv:2106.04560, section 3.3; SigLIP's. */
#include <math.h>
#include <string.h>

#include "model.h"

void pooling_lay_out(struct pooling *room, struct arena *arena, const vit_model *m, size_t batch) {
    size_t D = m->config.width, N = vit_patches(&m->config);
    room->qkv = arena_floats(arena, N, 3, D);
    room->query = arena_floats(arena, 3, D);
    room->scores = arena_floats(arena, N);
    room->mixed = arena_floats(arena, batch, D);
    room->hidden = arena_floats(arena, batch, m->config.mlp_width);
}

/* The query's mean of the values, head by head. */
static void mix(const vit_model *m, float *mixed, const struct pooling *room) {
    size_t N = vit_patches(&m->config), D = m->config.width, d = head_width(&m->config);
    memset(mixed, 0, D * sizeof *mixed);
    for (size_t head = 0; head < m->config.heads; head++) {
        const float *query = room->query + head * d, *key = room->qkv + D + head * d;
        const float *value = key + D;
        for (size_t t = 0; t < N; t++) {
            float sum = 0;
            for (size_t i = 0; i < d; i++) sum += query[i] * key[t * 3 * D + i];
            room->scores[t] = sum;
        }
        m->kernels->softmax(room->scores, N, 1 / sqrtf((float)d), 1, N);
        for (size_t t = 0; t < N; t++)
            for (size_t i = 0; i < d; i++)
                mixed[head * d + i] += room->scores[t] * value[t * 3 * D + i];
    }
}

void pooling_forward(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch) {
    const struct vit_kernels *k = m->kernels;
    const struct vit_params *p = &m->params;
    size_t T = vit_tokens(&m->config), N = vit_patches(&m->config);
    size_t D = m->config.width, M = m->config.mlp_width;
    k->matmul(room->query, 3 * D, p->pool_latent, D, p->pool_qkv_weight, p->pool_qkv_bias,
              VIT_LINEAR, false, 1, 3 * D, D);
    for (size_t i = 0; i < batch; i++) {
        k->matmul(room->qkv, 3 * D, x + (i * T + T - N) * D, D, p->pool_qkv_weight,
                  p->pool_qkv_bias, VIT_LINEAR, false, N, 3 * D, D);
        mix(m, room->mixed + i * D, room);
    }
    k->matmul(pooled, D, room->mixed, D, p->pool_proj_weight, p->pool_proj_bias, VIT_LINEAR, false,
              batch, D, D);
    k->norm(room->mixed, D, NULL, NULL, pooled, D, p->pool_norm_gain, p->pool_norm_bias,
            m->config.norm_eps, batch, D);
    k->matmul(room->hidden, M, room->mixed, D, p->pool_fc1_weight, p->pool_fc1_bias,
              (int)m->config.activation, false, batch, M, D);
    k->matmul(pooled, D, room->hidden, M, p->pool_fc2_weight, p->pool_fc2_bias, VIT_LINEAR, true,
              batch, D, M);
}
