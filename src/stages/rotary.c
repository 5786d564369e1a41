/* Rotary positions: each head's queries and keys are turned, pair by pair, by angles that follow
 * from the patch's place. So a score depends on how far apart two patches lie. Su et al.,
 * arXiv:2104.09864, section 3.4; in two dimensions Heo et al., arXiv:2403.13298, section 3.2. */
#include "rotary.h"

#include "base/direction.h"
#include "model.h"
#include "shapes.h"

/* ln(x) for x in 1…10^6, by Halley's method. */
static double logarithm(double x) {
    double y = 0;
    for (int i = 0; i < 16; i++) {
        double power = exponential(y);
        y += 2 * (x - power) / (x + power);
    }
    return y;
}

/* The coordinate of row or column `at`. */
static double place(const vit_config *c, int axis, size_t at) {
    double side = (double)vit_grid(c, axis), grid = (double)c->rotary_grid[axis];
    if (c->rotary_places == VIT_FROM_MINUS_1)
        return 6.283185307179586 * (2 * (double)at + 1 - side) / side;
    return (double)(at + (c->rotary_places == VIT_FROM_1)) * (grid > 0 ? grid / side : 1);
}

void rotary_table(float *table, const vit_config *c) {
    size_t half = head_width(c) / 2, quarter = half / 2, columns = vit_grid(c, 1);
    double slope = logarithm(c->rotary_base) / (double)quarter;
    for (size_t i = 0; i < half; i++) {
        bool first = i < quarter;
        int axis = first == (c->rotary_first == VIT_COLUMNS);
        double period = exponential(slope * (double)(first ? i : i - quarter));
        for (size_t n = 0; n < vit_patches(c); n++) {
            size_t at = axis ? n % columns : n / columns;
            struct direction to = direction(place(c, axis, at) / period);
            table[n * 2 * half + i] = (float)to.cosine;
            table[n * 2 * half + half + i] = (float)to.sine;
        }
    }
}

/* Pair i of a head is x[i·step] and the number `apart` after it. */
static void turn(float *x, const float *table, size_t half, size_t step, size_t apart, float way) {
    for (size_t i = 0; i < half; i++) {
        float *a = x + i * step, *b = a + apart;
        float cosine = table[i], sine = way * table[half + i], old = *a;
        *a = old * cosine - *b * sine;
        *b = *b * cosine + old * sine;
    }
}

void rotary_turn(const vit_model *m, float *qkv, struct rows share, float way) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), d = head_width(c), half = d / 2, prefix = vit_prefix(c);
    bool halves = c->rotary_pairs == VIT_HALVES;
    for (size_t t = 0; t < share.count; t++, qkv += 3 * attention_width(c)) {
        size_t token = (share.first + t) % T;
        if (token < prefix) continue;
        for (size_t i = 0; i < 2 * c->heads; i++)
            turn(qkv + i * d, m->rotary + (token - prefix) * d, half, halves ? 1 : 2,
                 halves ? half : 1, way);
    }
}
