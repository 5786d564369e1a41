/* The test harness. Each *_test.c includes it, and check.c has main(): all files are one program.
 *
 *     TEST("a batch of three equals three single images") {
 *         CHECK(size > 0, "size is %zu", size);   counts a failure and goes on
 *         REQUIRE(model, "no model: %s", text);   counts a failure and leaves the test
 *     }
 *
 * `vit_tests golden_test` runs the tests of golden_test.c in the file's order; with a second
 * argument, only those whose names contain it; without arguments, all tests. It prints
 * `N passed, N failed`, and fails if any test failed or none ran. */
#ifndef CHECK_H
#define CHECK_H

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tests -------------------------------------------------------------- */

struct test {
    const char *file, *sentence;
    void (*run)(void);
    struct test *next;
};

void test_add(struct test *test);

#define TEST(sentence) TEST_AT(sentence, __LINE__)
#define TEST_AT(sentence, line) TEST_ON(sentence, line)
#define TEST_ON(sentence, line) TEST_NAMED(sentence, test_##line, add_##line)
#define TEST_NAMED(sentence, body, add)                                                            \
    static void body(void);                                                                        \
    __attribute__((constructor)) static void add(void) {                                           \
        static struct test test = {__FILE__, sentence, body, NULL};                                \
        test_add(&test);                                                                           \
    }                                                                                              \
    static void body(void)

__attribute__((format(printf, 3, 4))) void check_failed(const char *file, int line,
                                                        const char *format, ...);
void check_skipped(void);

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) check_failed(__FILE__, __LINE__, __VA_ARGS__);                           \
    } while (0)

#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failed(__FILE__, __LINE__, __VA_ARGS__);                                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* For calls that return a vit_status and write a message to `why`. MUST leaves the test. */
#define MUST(call) REQUIRE(!(call), "%s", why.text)
#define CHECK_FAILS(call, status, words)                                                           \
    CHECK((call) == (status) && strstr(why.text, words), "%s", why.text)

/* Leaves the test. It is printed as skipped and counts neither as passed nor as failed. */
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        printf("    ");                                                                            \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        check_skipped();                                                                           \
        return;                                                                                    \
    } while (0)

/* Under sanitizers a test may take fewer cases of a kind. Released builds take all of them. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- Comparisons: each is false for NaN --------------------------------- */

static inline bool within(double got, double want, double tolerance) {
    return fabs(got - want) <= tolerance;
}

static inline double largest(const float *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs((double)x[i]) > most) most = fabs((double)x[i]);
    return most;
}

/* The worst |got - want|, infinite if either is NaN. *where is its index, unless where is NULL. */
static inline double farthest(const float *got, const float *want, size_t n, size_t *where) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double far = fabs((double)got[i] - want[i]);
        if (isnan(far)) far = INFINITY;
        if (far > worst || (i == 0 && where)) {
            worst = far;
            if (where) *where = i;
        }
    }
    return worst;
}

/* Every got[i] is within `tolerance` of want[i]. The message names the worst. */
#define CHECK_CLOSE(got, want, n, tolerance, what)                                                 \
    do {                                                                                           \
        size_t at_ = 0;                                                                            \
        double far_ = farthest(got, want, n, &at_);                                                \
        CHECK(far_ <= (tolerance), "%s[%zu]: got %.9g, want %.9g, %.3g apart, %.3g allowed", what, \
              at_, (double)(got)[at_], (double)(want)[at_], far_, (double)(tolerance));            \
    } while (0)

#define CHECK_SAME_BITS(got, want, n, what)                                                        \
    CHECK(memcmp(got, want, (n) * sizeof *(got)) == 0, "%s: the bits differ", what)

/* ---- Memory ------------------------------------------------------------- */

/* n floats that end where their malloc block ends, so that a sanitizer sees any access past it. */
static inline float *floats(size_t n) {
    float *x = malloc(n * sizeof *x + (n == 0));
    if (!x) {
        fprintf(stderr, "no memory for %zu floats\n", n);
        exit(EXIT_FAILURE);
    }
    return x;
}

#define SENTINELS 64
#define SENTINEL 0x7fa5c3d2u /* a NaN, so that reading a sentinel shows too */

/* n floats between sentinels. The floats are filled with the sentinel too. */
static inline float *guarded(size_t n) {
    float *block = floats(n + 2 * SENTINELS);
    for (size_t i = 0; i < n + 2 * SENTINELS; i++)
        memcpy(&block[i], &(uint32_t){SENTINEL}, sizeof *block);
    return block + SENTINELS;
}

static inline bool is_sentinel(const float *x) {
    return memcmp(x, &(uint32_t){SENTINEL}, sizeof *x) == 0;
}

/* False if something was written before or past the n floats. */
static inline bool guards_intact(const float *x, size_t n) {
    for (size_t i = 0; i < SENTINELS; i++)
        if (!is_sentinel(x - 1 - i) || !is_sentinel(x + n + i)) return false;
    return true;
}

static inline void guarded_free(float *x) {
    if (x) free(x - SENTINELS);
}

/* ---- Random numbers: splitmix64, the same on every machine -------------- */

static inline uint64_t random_bits(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline size_t random_below(uint64_t *seed, size_t n) {
    return (size_t)(random_bits(seed) % n);
}

/* Uniform in -1..1. */
static inline float random_float(uint64_t *seed) {
    return (float)(int32_t)(random_bits(seed) >> 32) * 0x1p-31f;
}

static inline void random_fill(float *x, size_t n, float scale, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) x[i] = scale * random_float(seed);
}

static inline float *random_floats(size_t n, float scale, uint64_t *seed) {
    float *x = floats(n);
    random_fill(x, n, scale, seed);
    return x;
}

#endif
