/* The fuzzer's bytes as a tape of choices. A tape that has ended gives zeros, and zero is always
 * the plainest choice, so the empty tape makes a plain model. libFuzzer's mutations of a tape are
 * mutations of the model. */
#ifndef FUZZ_TAPE_H
#define FUZZ_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tape {
    const uint8_t *at, *end;
};

static inline uint8_t tape_byte(struct tape *t) {
    return t->at < t->end ? *t->at++ : 0;
}

/* 0…n-1; n up to 2^24. */
static inline size_t tape_below(struct tape *t, size_t n) {
    uint32_t value = tape_byte(t);
    if (n > 0x100) value = value << 8 | tape_byte(t);
    if (n > 0x10000) value = value << 8 | tape_byte(t);
    return n ? value % n : 0;
}

/* Once in n. */
static inline bool tape_chance(struct tape *t, size_t n) {
    return tape_below(t, n) == n - 1;
}

static inline bool tape_bool(struct tape *t) {
    return tape_byte(t) & 1;
}

static inline uint32_t tape_word(struct tape *t) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value = value << 8 | tape_byte(t);
    return value;
}

static inline float tape_float_bits(struct tape *t) {
    uint32_t bits = tape_word(t);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* For data, because a tape would be too long. Steele et al., splitmix64. */
static inline uint64_t random_next(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* -1…1 */
static inline float random_share(uint64_t *seed) {
    return (float)(int32_t)(random_next(seed) >> 32) * 0x1p-31f;
}

#endif
