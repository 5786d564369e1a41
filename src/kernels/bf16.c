/* For training: products of bfloat16, summed in float, by AMX tiles or else by AVX-512.
 * A tile is 16 rows of 64 bytes. A tile of the left factor holds 16 rows of 32 k. A tile of the
 * right factor holds 16 columns: the two bfloat16 of a pair of k lie side by side, the next pair
 * of k in the next row.
 * Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter 20. */
#define _GNU_SOURCE
#include "bf16.h"

#ifdef HAVE_BF16
#include "kernels.h"

#include <immintrin.h>
#ifdef HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum {
    SIDE = 16,               /* rows or columns of a tile */
    DEPTH = 32,              /* k of a tile */
    TILE = SIDE * DEPTH / 2, /* pairs of bfloat16 */
    BLOCK = 2 * SIDE,        /* rows and columns of c at a time */
    DEEPEST = 2048,          /* k */
    RIGHT = 1 << 17,         /* pairs of the right factor */
    AT_ONCE = 8,             /* rows whose sums stay in registers */
    WORTH_IT = 1 << 17       /* multiplications; with fewer, cutting the tiles takes longer */
};

static _Thread_local _Alignas(64) uint32_t left[BLOCK * DEEPEST / 2], right[RIGHT];

static size_t round_up(size_t n, size_t to) {
    return (n + to - 1) / to * to;
}

/* The first n of 16 lanes. */
static __mmask16 lanes(size_t n) {
    return (__mmask16)(n < SIDE ? (1U << n) - 1 : 0xFFFF);
}

/* 32 floats in a row → 16 pairs; 0 past n. */
static __m512i pairs_along(const float *x, size_t n) {
    __m512 low = _mm512_maskz_loadu_ps(lanes(n), x);
    __m512 high = n > SIDE ? _mm512_maskz_loadu_ps(lanes(n - SIDE), x + SIDE) : _mm512_setzero_ps();
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* 16 floats of a row, each with the float below it → 16 pairs; 0 past n and below the last row. */
static __m512i pairs_down(const float *x, size_t ld, size_t n, bool last) {
    const __m512i both =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512 low = _mm512_maskz_loadu_ps(lanes(n), x);
    __m512 high = last ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(lanes(n), x + ld);
    return _mm512_permutexvar_epi16(both, (__m512i)_mm512_cvtne2ps_pbh(high, low));
}

/* In place. One bit at a time, a bit of the line's number changes places with the same bit of the
 * lane's number. */
static void transpose(__m512i lines[SIDE]) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i other = _mm512_set1_epi32(SIDE); /* a lane of the second vector */
    for (int bit = 1; bit < SIDE; bit *= 2) {
        const __m512i step = _mm512_set1_epi32(bit);
        __mmask16 has = _mm512_test_epi32_mask(lane, step);
        __m512i low = _mm512_mask_add_epi32(lane, has, _mm512_sub_epi32(lane, step), other);
        __m512i high = _mm512_mask_add_epi32(_mm512_add_epi32(lane, step), has, lane, other);
        for (int i = 0; i < SIDE; i++) {
            if (i & bit) continue;
            __m512i a = lines[i], b = lines[i + bit];
            lines[i] = _mm512_permutex2var_epi32(a, low, b);
            lines[i + bit] = _mm512_permutex2var_epi32(a, high, b);
        }
    }
}

/* n rows of the left factor, or n columns of the right one, by k → a tile. `along`: neighbours in
 * memory differ in k, else in n. */
static void cut_tile(uint32_t *tile, const float *x, size_t ld, bool along, bool of_right, size_t n,
                     size_t k) {
    __m512i lines[SIDE];
    size_t count = along ? n : (k + 1) / 2;
    for (size_t i = 0; i < count; i++)
        lines[i] =
            along ? pairs_along(x + i * ld, k) : pairs_down(x + 2 * i * ld, ld, n, 2 * i + 1 == k);
    for (size_t i = count; i < SIDE; i++) lines[i] = _mm512_setzero_si512();
    if (along == of_right) transpose(lines);
    for (size_t i = 0; i < SIDE; i++) _mm512_store_si512(tile + i * SIDE, lines[i]);
}

/* Up to 32 rows or columns of a factor → two tiles for each 32 of k. */
static void cut_block(uint32_t *tiles, const float *x, size_t ld, bool along, bool of_right,
                      size_t n, size_t K) {
    for (size_t k = 0; k < K; k += DEPTH)
        for (size_t half = 0; half < BLOCK; half += SIDE, tiles += TILE) {
            if (half >= n) continue; /* multiply_block does not read this tile */
            const float *from = along ? x + half * ld + k : x + k * ld + half;
            size_t rows = n - half < SIDE ? n - half : SIDE, deep = K - k < DEPTH ? K - k : DEPTH;
            cut_tile(tiles, from, ld, along, of_right, rows, deep);
        }
}

/* ---- A block of c, (32,32) or less: by AMX tiles, two by two ------------------------------ */

#ifdef HAVE_AMX

static void begin_tiles(void) {
    static const struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } eight = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&eight);
}

static void end_tiles(void) {
    _tile_release();
}

bool bf16_begin(void) {
    enum { ASK_LEAVE = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return syscall(SYS_arch_prctl, ASK_LEAVE, TILE_DATA) == 0;
}

static void multiply_block(float *c, const uint32_t *a, const uint32_t *b, size_t rows,
                           size_t columns, size_t K) {
    const bool tall = rows > SIDE, wide = columns > SIDE;
    const int line = SIDE * sizeof *a, row = BLOCK * sizeof *c;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t k = 0; k < K; k += DEPTH, a += 2 * TILE, b += 2 * TILE) {
        _tile_loadd(4, a, line);
        _tile_loadd(6, b, line);
        _tile_dpbf16ps(0, 4, 6);
        if (wide) _tile_loadd(7, b + TILE, line);
        if (wide) _tile_dpbf16ps(1, 4, 7);
        if (!tall) continue;
        _tile_loadd(5, a + TILE, line);
        _tile_dpbf16ps(2, 5, 6);
        if (wide) _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, row);
    _tile_stored(1, c + SIDE, row);
    _tile_stored(2, c + SIDE * BLOCK, row);
    _tile_stored(3, c + SIDE * BLOCK + SIDE, row);
}

/* ---- The same by AVX-512, eight rows at a time --------------------------------------------- */

#else

static void begin_tiles(void) {}
static void end_tiles(void) {}

bool bf16_begin(void) {
    return true;
}

/* AT_ONCE rows of c by one tile's columns, or two. */
static inline __attribute__((always_inline)) void
multiply_rows(float *c, const uint32_t *a, const uint32_t *b, size_t K, bool wide) {
    __m512 sums[AT_ONCE][2] = {{_mm512_setzero_ps()}};
    for (size_t k = 0; k < K; k += DEPTH, a += 2 * TILE, b += 2 * TILE)
        for (size_t pair = 0; pair < DEPTH / 2; pair++) {
            const uint32_t *columns = b + pair * SIDE;
            __m512bh first = (__m512bh)_mm512_load_si512(columns);
            __m512bh second = wide ? (__m512bh)_mm512_load_si512(columns + TILE) : first;
            for (size_t i = 0; i < AT_ONCE; i++) {
                __m512bh each = (__m512bh)_mm512_set1_epi32((int)a[i * SIDE + pair]);
                sums[i][0] = _mm512_dpbf16_ps(sums[i][0], each, first);
                if (wide) sums[i][1] = _mm512_dpbf16_ps(sums[i][1], each, second);
            }
        }
    for (size_t i = 0; i < AT_ONCE; i++) {
        _mm512_store_ps(c + i * BLOCK, sums[i][0]);
        if (wide) _mm512_store_ps(c + i * BLOCK + SIDE, sums[i][1]);
    }
}

static void multiply_block(float *c, const uint32_t *a, const uint32_t *b, size_t rows,
                           size_t columns, size_t K) {
    for (size_t m = 0; m < rows; m += AT_ONCE) {
        const uint32_t *from = a + m / SIDE * TILE + m % SIDE * SIDE;
        if (columns > SIDE)
            multiply_rows(c + m * BLOCK, from, b, K, true);
        else
            multiply_rows(c + m * BLOCK, from, b, K, false);
    }
}

#endif

/* ---- The whole product --------------------------------------------------------------------- */

/* c = beta·c + alpha·block; c is not read if beta is 0. */
static void put_block(float *c, size_t ldc, const float *block, float alpha, float beta,
                      size_t rows, size_t columns) {
    const __m512 a = _mm512_set1_ps(alpha), b = _mm512_set1_ps(beta);
    for (size_t m = 0; m < rows; m++, c += ldc, block += BLOCK)
        for (size_t n = 0; n < columns; n += SIDE) {
            __mmask16 some = lanes(columns - n);
            __m512 sum = _mm512_mul_ps(a, _mm512_load_ps(block + n));
            if (beta != 0) sum = _mm512_fmadd_ps(b, _mm512_maskz_loadu_ps(some, c + n), sum);
            _mm512_mask_storeu_ps(c + n, some, sum);
        }
}

/* A product whose factors fit into the tiles of `left` and `right`. */
static void multiply_part(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                          bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                          float alpha, float beta, size_t M, size_t N, size_t K) {
    size_t columns = round_up(K, DEPTH) * BLOCK / 2; /* pairs of a block */
    for (size_t n = 0; n < N; n += BLOCK)
        cut_block(right + n / BLOCK * columns, transpose_b ? b + n * ldb : b + n, ldb, transpose_b,
                  true, N - n, K);
    for (size_t m = 0; m < M; m += BLOCK) {
        cut_block(left, transpose_a ? a + m : a + m * lda, lda, !transpose_a, false, M - m, K);
        for (size_t n = 0; n < N; n += BLOCK) {
            _Alignas(64) float block[BLOCK * BLOCK];
            size_t tall = M - m < BLOCK ? M - m : BLOCK, wide = N - n < BLOCK ? N - n : BLOCK;
            multiply_block(block, left, right + n / BLOCK * columns, tall, wide, K);
            put_block(c + m * ldc + n, ldc, block, alpha, beta, tall, wide);
        }
    }
}

void bf16_gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda, bool transpose_a,
               const float *restrict b, size_t ldb, bool transpose_b, float alpha, float beta,
               size_t M, size_t N, size_t K) {
    size_t most = N ? 2 * RIGHT / round_up(N, BLOCK) / DEPTH * DEPTH : 0; /* k at a time */
    if (most > DEEPEST) most = DEEPEST;
    if (M * N * K < WORTH_IT || !most) {
        vit_native.gemm(c, ldc, a, lda, transpose_a, b, ldb, transpose_b, alpha, beta, M, N, K);
        return;
    }
    begin_tiles();
    for (size_t k = 0; k < K; k += most, beta = 1)
        multiply_part(c, ldc, transpose_a ? a + k * lda : a + k, lda, transpose_a,
                      transpose_b ? b + k : b + k * ldb, ldb, transpose_b, alpha, beta, M, N,
                      K - k < most ? K - k : most);
    end_tiles();
}

#endif
