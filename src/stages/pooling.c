/* Tokens → one vector (D) by attention, in one of two ways. SigLIP: a learned query looks at all
 * patches, then comes an MLP in a residual branch (Zhai et al., arXiv:2106.04560, section 3.3).
 * PRR, as in timm: the tokens attend to each other without weights. */
#include "pooling.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "shapes.h"
#include "vit.h"

void pooling_lay_out(struct pooling *room, struct arena *arena, const vit_model *m, size_t batch) {
    size_t D = m->config.width, N = pooled_rows(&m->config);
    room->scores = arena_floats(arena, N);
    if (m->config.pool == VIT_POOL_PRR) return;
    room->qkv = arena_floats(arena, N, 3, D);
    room->query = arena_floats(arena, 3, D);
    room->mixed = arena_floats(arena, batch, D);
    room->hidden = arena_floats(arena, batch, pool_mlp_width(&m->config));
}

/* Adds one query's weighted mean of the values to mixed (D), head by head. Keys are `step` floats
 * apart, and values too. */
static void mix(const vit_model *m, float *mixed, float *scores, const float *query,
                const float *keys, const float *values, size_t step, size_t rows) {
    size_t heads = pool_heads(&m->config), d = m->config.width / heads;
    for (size_t head = 0; head < heads; head++) {
        const float *key = keys + head * d, *value = values + head * d;
        for (size_t t = 0; t < rows; t++) {
            float sum = 0;
            for (size_t i = 0; i < d; i++) sum += query[head * d + i] * key[t * step + i];
            scores[t] = sum;
        }
        m->kernels->softmax(scores, rows, 1 / sqrtf((float)d), 1, rows);
        for (size_t t = 0; t < rows; t++)
            for (size_t i = 0; i < d; i++) mixed[head * d + i] += scores[t] * value[t * step + i];
    }
}

void pooling_refined(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch) {
    size_t T = vit_tokens(&m->config), D = m->config.width;
    size_t queries = m->config.class_tokens ? 1 : T;
    for (size_t b = 0; b < batch; b++, x += T * D, pooled += D) {
        memset(pooled, 0, D * sizeof *pooled);
        for (size_t t = 0; t < queries; t++) mix(m, pooled, room->scores, x + t * D, x, x, D, T);
        for (size_t i = 0; i < D; i++) pooled[i] /= (float)queries;
    }
}

void pooling_forward(const vit_model *m, float *pooled, const struct pooling *room, const float *x,
                     size_t batch) {
    const struct vit_kernels *k = m->kernels;
    const struct vit_params *p = &m->params;
    size_t T = vit_tokens(&m->config), N = pooled_rows(&m->config);
    size_t D = m->config.width, M = pool_mlp_width(&m->config);
    k->matmul(room->query, 3 * D, p->pool_latent, D, p->pool_qkv_weight, p->pool_qkv_bias,
              VIT_LINEAR, false, 1, 3 * D, D);
    for (size_t i = 0; i < batch; i++) {
        k->matmul(room->qkv, 3 * D, x + (i * T + T - N) * D, D, p->pool_qkv_weight,
                  p->pool_qkv_bias, VIT_LINEAR, false, N, 3 * D, D);
        float *mixed = room->mixed + i * D;
        memset(mixed, 0, D * sizeof *mixed);
        mix(m, mixed, room->scores, room->query, room->qkv + D, room->qkv + 2 * D, 3 * D, N);
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
