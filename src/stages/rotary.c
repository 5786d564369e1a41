/* Rotary positions: each head's queries and keys are turned, pair by pair, by angles that follow
 * from the patch's place. So a score depends on how far apart two patches lie. Su et al.,
 * arXiv:2104.09864, section 3.4; in two dimensions, by powers of a base or by learned frequencies, Heo
 * et al., arXiv:2403.13298, section 3.2. */
#include "rotary.h"

#include "base/direction.h"
#include "model.h"
#include "shapes.h"

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

static void turn(float *a, float *b, float cosine, float sine) {
    float old = *a;
    *a = old * cosine - *b * sine;
    *b = *b * cosine + old * sine;
}

/* From a pair to the next, and from a pair's first number to its second. */
static size_t step_of(const vit_config *c) {
    return c->rotary_pairs == VIT_HALVES ? 1 : 2;
}

static size_t apart(const vit_config *c) {
    return c->rotary_pairs == VIT_HALVES ? head_width(c) / 2 : 1;
}

/* A head by the table. */
static void turn_head(float *x, const float *table, size_t half, size_t step, size_t apart,
                      float way) {
    for (size_t i = 0; i < half; i++)
        turn(x + i * step, x + i * step + apart, table[i], way * table[half + i]);
}

/* Where pair i of a row (A) of queries or keys lies. */
static size_t pair_at(const vit_config *c, size_t i) {
    size_t half = head_width(c) / 2;
    return i / half * 2 * half + i % half * step_of(c);
}

/* The two numbers of pair i: how far a step along the rows (0) and the columns (1) turns it. */
static void rates_of(double rates[2], const vit_config *c, const float *frequencies, size_t i) {
    int first = c->rotary_first == VIT_COLUMNS;
    rates[first] = frequencies[i];
    rates[!first] = frequencies[attention_width(c) / 2 + i];
}

static struct direction both(struct direction a, struct direction b) {
    return (struct direction){a.cosine * b.cosine - a.sine * b.sine,
                              a.sine * b.cosine + a.cosine * b.sine};
}

/* Pair i of a share's tokens by learned frequencies. A column is a step from the one before, always
 * from the row's first, so shares do not change the bits. */
static void turn_pair(const vit_model *m, const float *frequencies, float *qkv, struct rows share,
                      float way, size_t i) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), A = attention_width(c), prefix = vit_prefix(c);
    size_t columns = vit_grid(c, 1), x = pair_at(c, i);
    double rates[2], first = place(c, 1, 0);
    rates_of(rates, c, frequencies, i);
    struct direction step = direction(rates[1] * (place(c, 1, 1) - first)), by = {1, 0};
    for (size_t t = 0; t < share.count; t++, qkv += 3 * A) {
        size_t token = (share.first + t) % T, column = (token - prefix) % columns;
        if (token < prefix) continue;
        if (column == 0 || t == 0) {
            double down = place(c, 0, (token - prefix) / columns);
            by = direction(rates[0] * down + rates[1] * first);
            for (size_t k = 0; k < column; k++) by = both(by, step);
        } else {
            by = both(by, step);
        }
        float cosine = (float)by.cosine, sine = way * (float)by.sine;
        for (float *a = qkv + x, *end = a + 2 * A; a < end; a += A)
            turn(a, a + apart(c), cosine, sine);
    }
}

void rotary_turn(const vit_model *m, const float *frequencies, float *qkv, struct rows share,
                 float way) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), A = attention_width(c), d = head_width(c), prefix = vit_prefix(c);
    for (size_t i = 0; frequencies && i < A / 2; i++) turn_pair(m, frequencies, qkv, share, way, i);
    for (size_t t = 0; !frequencies && t < share.count; t++, qkv += 3 * A) {
        size_t token = (share.first + t) % T;
        if (token < prefix) continue;
        for (size_t i = 0; i < 2 * c->heads; i++)
            turn_head(qkv + i * d, m->rotary + (token - prefix) * d, d / 2, step_of(c), apart(c),
                      way);
    }
}

void rotary_backward(const vit_model *m, float *dfrequencies, const float *dqkv, const float *qkv,
                     size_t batch, size_t queries) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), A = attention_width(c), prefix = vit_prefix(c);
    size_t columns = vit_grid(c, 1), pairs = A / 2;
    int first = c->rotary_first == VIT_COLUMNS;
    for (size_t i = 0; i < pairs; i++) {
        size_t x = pair_at(c, i);
        double sums[2] = {0}; /* of rows, of columns */
        for (size_t row = 0; row < batch * T; row++) {
            size_t token = row % T;
            if (token < prefix) continue;
            double dangle = 0; /* the gradient of the angle */
            for (size_t part = token < queries ? 0 : 1; part < 2; part++) {
                size_t a = (row * 3 + part) * A + x, b = a + apart(c);
                dangle += (double)dqkv[b] * qkv[a] - (double)dqkv[a] * qkv[b];
            }
            sums[0] += dangle * place(c, 0, (token - prefix) / columns);
            sums[1] += dangle * place(c, 1, (token - prefix) % columns);
        }
        dfrequencies[i] += (float)sums[first];
        dfrequencies[pairs + i] += (float)sums[!first];
    }
}
