/* A table for training in 128-bit vectors, a template over tiles.h. Parameters that change at every
 * step are not worth packing, so the table keeps them plain; each product packs its factors block
 * by block, and multiplies them by the tiles. */
#ifndef VIT_TRAINING_H
#define VIT_TRAINING_H

#include "by_gemm.h"
#include "tiles.h"

/* A block of b is 24 KiB: with one of a it fits the first cache, and a thread's stack. */
enum { BLOCK_M = 24, BLOCK_N = 64, BLOCK_K = 96 };

/* alpha times the first rows and columns of a, whose strides may be swapped → block
 * (rows,BLOCK_K). */
static void copy_block(float *restrict block, const float *restrict a, size_t row_stride,
                       size_t column_stride, float alpha, size_t rows, size_t columns) {
    for (size_t k = 0; k < columns; k++)
        for (size_t m = 0; m < rows; m++)
            block[m * BLOCK_K + k] = alpha * a[m * row_stride + k * column_stride];
}

static void scale_rows(float *c, size_t ldc, float beta, size_t M, size_t N) {
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) c[m * ldc + n] = beta == 0 ? 0 : beta * c[m * ldc + n];
}

static void blocked_gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                         bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                         float alpha, float beta, size_t M, size_t N, size_t K) {
    float panels[BLOCK_N * BLOCK_K], block[BLOCK_M * BLOCK_K];
    size_t a_row = transpose_a ? 1 : lda, a_column = transpose_a ? lda : 1;
    size_t b_row = transpose_b ? 1 : ldb, b_column = transpose_b ? ldb : 1;
    bool plain = !transpose_a && alpha == 1;
    if (beta != 1 && (beta != 0 || K == 0)) scale_rows(c, ldc, beta, M, N);
    for (size_t k = 0; k < K; k += BLOCK_K) {
        size_t depth = K - k < BLOCK_K ? K - k : BLOCK_K;
        bool add = k > 0 || beta != 0;
        for (size_t n = 0; n < N; n += BLOCK_N) {
            size_t columns = N - n < BLOCK_N ? N - n : BLOCK_N;
            pack(panels, b + k * b_row + n * b_column, b_column, b_row, columns, depth);
            if (plain) {
                matmul(c + n, ldc, a + k, lda, panels, NULL, VIT_LINEAR, add, M, columns, depth);
                continue;
            }
            for (size_t m = 0; m < M; m += BLOCK_M) {
                size_t rows = M - m < BLOCK_M ? M - m : BLOCK_M;
                copy_block(block, a + m * a_row + k * a_column, a_row, a_column, alpha, rows,
                           depth);
                matmul(c + m * ldc + n, ldc, block, BLOCK_K, panels, NULL, VIT_LINEAR, add, rows,
                       columns, depth);
            }
        }
    }
}

#endif
