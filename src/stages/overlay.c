#include <string.h>

#include "overlay.h"
#include "vit.h"

void vit_overlay_row(float *map, const float *attention, size_t heads, size_t tokens, size_t prefix,
                     size_t head, size_t token) {
    size_t patches = tokens - prefix, one = tokens * tokens;
    const float *row = attention + token * tokens + prefix;
    if (head != VIT_MEAN_OF_HEADS) {
        memcpy(map, row + head * one, patches * sizeof *map);
        return;
    }
    memset(map, 0, patches * sizeof *map);
    for (size_t i = 0; i < heads; i++)
        for (size_t j = 0; j < patches; j++) map[j] += row[i * one + j];
    for (size_t j = 0; j < patches; j++) map[j] /= (float)heads;
}

/* ---- Rollout ------------------------------------------------------------ *
 *
 * For each layer and each of its rows i, in this order:
 *   1. fuse      a[j] = mean, max or min over the heads of attention[head][i][j]
 *   2. discard   the n smallest of a[1..T-1] become 0, n = floor(discard·T + 1/2). discard is held
 *                to 0..1 and n to T-1. Of equal numbers those of lower j come first
 *   3. residual  a[i] += 1, where the model has residual connections
 *   4. normalise a /= sum of a, unless the sum is 0
 * Rollout is then row · A_L · … · A_1, where `row` picks the first token, or averages all tokens
 * if there is no prefix. It is multiplied from the left, so a row meets a matrix, and never a
 * matrix a matrix. The map is the patch columns of the result, divided by their sum. */

static void fuse_heads(float *restrict row, const float *restrict attention, size_t heads,
                       size_t tokens, vit_fuse fuse) {
    memcpy(row, attention, tokens * sizeof *row);
    for (size_t head = 1; head < heads; head++) {
        const float *next = attention + head * tokens * tokens;
        for (size_t j = 0; j < tokens; j++) {
            if (fuse == VIT_FUSE_MEAN)
                row[j] += next[j];
            else if ((fuse == VIT_FUSE_MAX) == (next[j] > row[j]))
                row[j] = next[j];
        }
    }
    if (fuse == VIT_FUSE_MEAN)
        for (size_t j = 0; j < tokens; j++) row[j] /= (float)heads;
}

/* Floats that are not negative have the same order as their bits. */
static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void discard_smallest(float *x, size_t n, size_t drop) {
    if (drop == 0) return;
    uint32_t low = 0, high = 0x7f800000; /* bisection: the drop-th smallest lies between them */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t below = 0;
        for (size_t j = 0; j < n; j++) below += bits_of(x[j]) <= middle;
        if (below >= drop)
            high = middle;
        else
            low = middle + 1;
    }
    size_t equal = drop;
    for (size_t j = 0; j < n; j++) equal -= bits_of(x[j]) < low;
    for (size_t j = 0; j < n; j++) {
        uint32_t bits = bits_of(x[j]);
        if (bits < low)
            x[j] = 0;
        else if (bits == low && equal > 0)
            x[j] = 0, equal--;
    }
}

/* Row i of a layer's A: the shares in which token i mixes all tokens, itself included. */
static void mixing_row(float *row, const float *attention, size_t heads, size_t tokens, size_t i,
                       bool residual, size_t drop, vit_fuse fuse) {
    fuse_heads(row, attention + i * tokens, heads, tokens, fuse);
    discard_smallest(row + 1, tokens - 1, drop);
    if (residual) row[i] += 1;
    float sum = 0;
    for (size_t j = 0; j < tokens; j++) sum += row[j];
    for (size_t j = 0; j < tokens; j++) row[j] /= sum > 0 ? sum : 1;
}

void vit_overlay_rollout(float *map, float *scratch, const float *attention, size_t layers,
                         size_t heads, size_t tokens, size_t prefix, bool residual, float discard,
                         vit_fuse fuse) {
    float *mix = scratch, *next = mix + tokens, *row = next + tokens;
    float share = discard > 0 ? discard < 1 ? discard : 1 : 0;
    size_t drop = (size_t)((double)share * (double)tokens + 0.5);
    if (drop >= tokens) drop = tokens - 1;

    for (size_t j = 0; j < tokens; j++) mix[j] = prefix ? j == 0 : 1 / (float)tokens;
    for (size_t layer = layers; layer-- > 0;) {
        const float *maps = attention + layer * heads * tokens * tokens;
        memset(next, 0, tokens * sizeof *next);
        for (size_t i = 0; i < tokens; i++) {
            if (mix[i] == 0) continue;
            mixing_row(row, maps, heads, tokens, i, residual, drop, fuse);
            for (size_t j = 0; j < tokens; j++) next[j] += mix[i] * row[j];
        }
        memcpy(mix, next, tokens * sizeof *mix);
    }

    float sum = 0;
    for (size_t j = prefix; j < tokens; j++) sum += mix[j];
    for (size_t j = prefix; j < tokens; j++) map[j - prefix] = sum > 0 ? mix[j] / sum : 0;
}
