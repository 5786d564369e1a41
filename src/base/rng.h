/* Random numbers. (seed, purpose, epoch, index) names a stream, and a stream depends on nothing
 * else, so any number of threads and a resumed run draw the same numbers.
 * The generator is splitmix64: Steele, Lea & Flood, OOPSLA 2014, doi:10.1145/2660193.2660195. */
#ifndef VIT_RNG_H
#define VIT_RNG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum rng_purpose {
    RNG_INIT,
    RNG_SHUFFLE,
    RNG_AUGMENT,
    RNG_DROP_PATH,
    RNG_DRAW,
    RNG_COLOUR,
    RNG_MIX,
    RNG_WRITE
};

struct rng {
    uint64_t state;
};

static inline uint64_t rng_bits(struct rng *rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline struct rng rng_stream(uint64_t seed, enum rng_purpose purpose, size_t epoch,
                                    size_t index) {
    const uint64_t key[] = {(uint64_t)purpose, epoch, index};
    struct rng rng = {seed};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) rng.state = rng_bits(&rng) ^ key[i];
    rng.state = rng_bits(&rng);
    return rng;
}

/* In [0, 1). */
static inline double rng_unit(struct rng *rng) {
    return (double)(rng_bits(rng) >> 11) * 0x1p-53;
}

/* In ±limit. */
static inline double rng_within(struct rng *rng, double limit) {
    return limit * (2 * rng_unit(rng) - 1);
}

/* In [least, most). */
static inline float rng_between(struct rng *rng, double least, double most) {
    return (float)(least + (most - least) * rng_unit(rng));
}

/* In 0…n-1, with a bias below n / 2^64. */
static inline size_t rng_below(struct rng *rng, size_t n) {
    return (size_t)(rng_bits(rng) % n);
}

/* Mean 0, variance 1. Box & Muller 1958. */
static inline double rng_normal(struct rng *rng) {
    double radius = sqrt(-2 * log(1 - rng_unit(rng)));
    return radius * cos(6.283185307179586 * rng_unit(rng));
}

#endif
