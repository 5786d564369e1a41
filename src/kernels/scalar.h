/* Functions of the scalar table that other tables use too. */
#ifndef VIT_SCALAR_H
#define VIT_SCALAR_H

#include "vit.h"

struct vit_quantized;

size_t scalar_packed_size(size_t N, size_t K);
void scalar_pack(float *restrict packed, const float *restrict b, size_t n_stride, size_t k_stride,
                 size_t N, size_t K);
void scalar_unpack(float *restrict b, const float *restrict packed, size_t n, size_t rows,
                   size_t K);
size_t scalar_packed_size_int8(size_t N, size_t K);
void scalar_pack_int8(void *restrict packed, const int8_t *restrict b, size_t n, size_t rows,
                      size_t N, size_t K);
void scalar_unpack_int8(float *restrict b, const void *restrict packed, const float *restrict scale,
                        size_t N, size_t K);
void scalar_quantize(const struct vit_quantized *q, const float *restrict x, size_t ldx, size_t M,
                     size_t K);
void scalar_matmul_int8(float *restrict y, size_t ldy, const struct vit_quantized *x,
                        const void *restrict packed, const float *restrict scale,
                        const float *restrict bias, int act, bool add, size_t M, size_t N,
                        size_t K);
void scalar_gemm(float *restrict c, size_t ldc, const float *restrict a, size_t lda,
                 bool transpose_a, const float *restrict b, size_t ldb, bool transpose_b,
                 float alpha, float beta, size_t M, size_t N, size_t K);

#endif
