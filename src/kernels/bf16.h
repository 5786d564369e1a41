/* Products of bfloat16, if the processor that this is compiled for has them: AVX-512's, or AMX
 * tiles. */
#ifndef VIT_BF16_H
#define VIT_BF16_H

#include "vit.h"

#ifdef __AVX512BF16__
#define HAVE_BF16
#if defined(__linux__) && defined(__AMX_BF16__) && defined(__AMX_TILE__)
#define HAVE_AMX
#endif
/* Asks the system for leave to use AMX tiles; false if it refuses. */
bool bf16_begin(void);
/* The kernels' gemm. Products too small or too large for the tiles are left to vit_native, which
 * does not round to bfloat16. */
void bf16_gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda, bool transpose_a,
               const float *restrict b, size_t ldb, bool transpose_b, float alpha, float beta,
               size_t M, size_t N, size_t K);
#endif

#endif
