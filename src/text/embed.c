#include "embed.h"

#include "base/direction.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "stages/tokens.h"
#include "vit.h"

/* x (D) += the sine and cosine of the position over D/2 wavelengths, side by side (Vaswani et al.,
 * section 3.5), or all sines first. */
static void add_sincos(float *x, const vit_text_config *c, size_t position) {
    bool halves = c->position == VIT_TEXT_SINCOS_HALVES;
    size_t D = c->width, half = D / 2;
    for (size_t i = 0; 2 * i < D; i++) {
        double radian = halves ? position_wave(i, half - 1) : position_wave(2 * i, D);
        struct direction at = direction((double)position / radian);
        size_t sine = halves ? i : 2 * i, cosine = halves ? half + i : 2 * i + 1;
        x[sine] += (float)at.sine;
        if (cosine < D) x[cosine] += (float)at.cosine;
    }
}

/* Whether the token is a padding that is not counted. */
static bool skips(const vit_text_config *c, uint32_t id) {
    return c->position >= VIT_TEXT_SINCOS_HALVES && id == c->padding;
}

static const size_t NOWHERE = SIZE_MAX;

/* A token's position; `next` is that of the next one that is counted. */
static size_t place(const vit_text_config *c, uint32_t id, size_t next) {
    if (!skips(c, id)) return next;
    return c->position == VIT_TEXT_COUNTED && c->position_offset ? c->position_offset - 1 : NOWHERE;
}

void text_embed(const vit_model *m, const vit_text_config *c, const struct text_params *p, float *x,
                const uint32_t *ids, size_t n, size_t past) {
    size_t D = c->width, next = past + c->position_offset;
    for (; n > 0; n--, ids++, x += D) {
        m->kernels->unpack(x, p->token_embed, *ids, 1, D);
        for (size_t i = 0; c->embedding_scale != 1 && i < D; i++) x[i] *= c->embedding_scale;
        for (size_t i = 0; p->type_embed && i < D; i++) x[i] += p->type_embed[i];
        size_t at = place(c, *ids, next);
        next += !skips(c, *ids);
        if (at == NOWHERE) continue;
        for (size_t i = 0; p->position && i < D; i++) x[i] += p->position[at * D + i];
        if (!p->position) add_sincos(x, c, at);
    }
}

void text_embed_backward(const vit_text_config *c, const struct text_params *g, const float *dx,
                         const uint32_t *ids, size_t n) {
    size_t D = c->width, next = c->position_offset;
    for (; n > 0; n--, ids++, dx += D) {
        float *token = g->token_embed + *ids * D;
        for (size_t i = 0; i < D; i++) token[i] += c->embedding_scale * dx[i];
        for (size_t i = 0; g->type_embed && i < D; i++) g->type_embed[i] += dx[i];
        size_t at = place(c, *ids, next);
        next += !skips(c, *ids);
        if (at == NOWHERE || !g->position) continue;
        for (size_t i = 0; i < D; i++) g->position[at * D + i] += dx[i];
    }
}
