/* Loops of one vector operation. Enough independent numbers hide its latency. The kernels would be
 * as fast as these loops if loads, stores and addresses cost nothing. */
#include "bench.h"

#include <string.h>

/* V8 has 15 vector registers on x86: enough for seven pairs of numbers and one operand. */
enum { PAIRS = 7, STEPS = 1 << 16 };
#define FOR_PAIRS(f, ...)                                                                          \
    f(0, __VA_ARGS__) f(1, __VA_ARGS__) f(2, __VA_ARGS__) f(3, __VA_ARGS__) f(4, __VA_ARGS__)      \
        f(5, __VA_ARGS__) f(6, __VA_ARGS__)

/* Uses a loop's result, because the compiler leaves out a loop whose result is not used. */
static uint32_t fold(const void *bytes, size_t size) {
    uint32_t words[16], mixed = 0;
    memcpy(words, bytes, size);
    for (size_t i = 0; i < size / sizeof *words; i++) mixed ^= words[i];
    return mixed;
}

/* A number that the compiler does not know. */
static volatile const float ONE = 1;

/* Each pair starts with other numbers, because the compiler would keep only one of equal pairs.
 * Each step changes p, because the compiler would move a constant operation out of the loop. */
#define START(i, vector, splat) vector p##i = splat(ONE + i), s##i = splat(ONE - i);
#define STEP(i, name) p##i = name##_first(p##i, a), s##i = name##_second(s##i, p##i, a);
#define FOLD(i, mixed) mixed += fold(&p##i, sizeof p##i) ^ fold(&s##i, sizeof s##i);

#define LIMIT_LOOP(name, vector, splat, first, second)                                             \
    static inline vector name##_first(vector p, vector a) {                                        \
        return first;                                                                              \
    }                                                                                              \
    static inline vector name##_second(vector s, vector p, vector a) {                             \
        (void)p, (void)a;                                                                          \
        return second;                                                                             \
    }                                                                                              \
    static uint32_t name(void) {                                                                   \
        const vector a = splat(ONE);                                                               \
        uint32_t mixed = 0;                                                                        \
        FOR_PAIRS(START, vector, splat)                                                            \
        for (size_t n = 0; n < STEPS; n++) {                                                       \
            FOR_PAIRS(STEP, name)                                                                  \
        }                                                                                          \
        FOR_PAIRS(FOLD, mixed)                                                                     \
        return mixed;                                                                              \
    }

/* The operations of a call. Each step makes `each` multiply-adds of `lanes` numbers. */
#define CALL(each, lanes) (2.0 * (each) * (lanes)*PAIRS * STEPS)

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

/* Two forms, because V8's versions differ in which one they compile better. */
#define F32_CHAIN(x) wasm_f32x4_add(wasm_f32x4_mul(x, a), a)
LIMIT_LOOP(mul_add, v128_t, wasm_f32x4_splat, wasm_f32x4_mul(p, a), wasm_f32x4_add(s, p))
LIMIT_LOOP(mul_add_chain, v128_t, wasm_f32x4_splat, F32_CHAIN(p), F32_CHAIN(s))
/* The numbers have 16 bits, because widening numbers of 8 bits would cost time. */
#define DOT_CHAIN(x) wasm_i32x4_add(wasm_i32x4_dot_i16x8(x, a), a)
LIMIT_LOOP(dot_i16, v128_t, wasm_f32x4_splat, DOT_CHAIN(p), DOT_CHAIN(s))
#ifdef __wasm_relaxed_simd__
LIMIT_LOOP(relaxed_madd, v128_t, wasm_f32x4_splat, wasm_f32x4_relaxed_madd(p, a, a),
           wasm_f32x4_relaxed_madd(s, a, a))
#define PAIRS_CHAIN(x)                                                                             \
    wasm_i32x4_add(wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_relaxed_dot_i8x16_i7x16(x, a)), a)
LIMIT_LOOP(relaxed_pairs, v128_t, wasm_f32x4_splat, PAIRS_CHAIN(p), PAIRS_CHAIN(s))
LIMIT_LOOP(relaxed_dot, v128_t, wasm_f32x4_splat, wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, a, p),
           wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, a, s))
#endif

static const struct limit LIMITS[] = {
    {"f32x4 mul, add", 128, false, CALL(1, 4), mul_add},
    {"f32x4 mul, add, chained", 128, false, CALL(2, 4), mul_add_chain},
    {"i32x4 dot_i16x8, add", 128, true, CALL(2, 8), dot_i16},
#ifdef __wasm_relaxed_simd__
    {"f32x4 relaxed_madd", 128, false, CALL(2, 4), relaxed_madd},
    {"i32x4 relaxed_dot_i8x16", 128, true, CALL(2, 16), relaxed_dot},
    {"i16x8 relaxed_dot, extadd, add", 128, true, CALL(2, 16), relaxed_pairs},
#endif
};

#elif defined(__wasm__)

#define SAME(x) (x)
LIMIT_LOOP(mul_add, float, SAME, (p * a), (s + p))

static const struct limit LIMITS[] = {{"f32 mul, add", 32, false, CALL(1, 1), mul_add}};

#elif defined(__FMA__)
#include <immintrin.h>

LIMIT_LOOP(fma_128, __m128, _mm_set1_ps, _mm_fmadd_ps(p, a, a), _mm_fmadd_ps(s, a, a))
LIMIT_LOOP(fma_256, __m256, _mm256_set1_ps, _mm256_fmadd_ps(p, a, a), _mm256_fmadd_ps(s, a, a))
#ifdef __AVX512F__
LIMIT_LOOP(fma_512, __m512, _mm512_set1_ps, _mm512_fmadd_ps(p, a, a), _mm512_fmadd_ps(s, a, a))
#endif
#ifdef __AVX512VNNI__
#define SPLAT_BITS(x) _mm512_castps_si512(_mm512_set1_ps(x))
LIMIT_LOOP(dot_512, __m512i, SPLAT_BITS, _mm512_dpbusd_epi32(p, a, a), _mm512_dpbusd_epi32(s, a, a))
#endif

static const struct limit LIMITS[] = {
    {"f32 fused multiply-add", 128, false, CALL(2, 4), fma_128},
    {"f32 fused multiply-add", 256, false, CALL(2, 8), fma_256},
#ifdef __AVX512F__
    {"f32 fused multiply-add", 512, false, CALL(2, 16), fma_512},
#endif
#ifdef __AVX512VNNI__
    {"int8 dot", 512, true, CALL(2, 64), dot_512},
#endif
};

#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

LIMIT_LOOP(fma_128, float32x4_t, vdupq_n_f32, vfmaq_f32(a, p, a), vfmaq_f32(a, s, a))

static const struct limit LIMITS[] = {{"f32 fused multiply-add", 128, false, CALL(2, 4), fma_128}};

#else

typedef float four __attribute__((vector_size(16)));
#define SPLAT(x) ((four){x, x, x, x})
LIMIT_LOOP(mul_add, four, SPLAT, (p * a), (s + p))

static const struct limit LIMITS[] = {{"f32 mul, add", 128, false, CALL(1, 4), mul_add}};

#endif

const struct limit *limits_all(size_t *count) {
    *count = sizeof LIMITS / sizeof *LIMITS;
    return LIMITS;
}
