/* Products by a kernel table's gemm, compared with sums in double. */
#ifndef GEMM_H
#define GEMM_H

#include "check.h"
#include "kernels/kernels.h"

struct product {
    size_t M, N, K, lda, ldb, ldc;
    bool transpose_a, transpose_b;
    float alpha, beta;
};

/* Floats of a matrix whose last row ends the array. */
static inline size_t span(size_t rows, size_t columns, size_t stride) {
    return rows ? (rows - 1) * stride + columns : 0;
}

/* A product of these sizes with `slack` floats between rows, random alpha and beta, and each
 * transpose as kind's bits say. */
static inline struct product random_product(size_t M, size_t N, size_t K, size_t kind, size_t slack,
                                            uint64_t *seed) {
    static const float FACTORS[] = {0, 1, -0.5f};
    struct product p = {.M = M,
                        .N = N,
                        .K = K,
                        .transpose_a = kind & 1,
                        .transpose_b = kind & 2,
                        .alpha = FACTORS[1 + random_below(seed, 2)],
                        .beta = FACTORS[random_below(seed, 3)]};
    p.lda = (p.transpose_a ? M : K) + slack;
    p.ldb = (p.transpose_b ? K : N) + slack;
    p.ldc = N + slack;
    return p;
}

/* Factors that end where the matrix ends, so that a sanitizer sees a read past it. If beta is 0, c
 * starts as NaN and must not be read. */
struct factors {
    float *a, *b, *c, *before;
    size_t c_count;
};

static inline void fill(float *x, size_t n, bool whole, uint64_t *seed) {
    for (size_t i = 0; i < n; i++)
        x[i] = whole ? (float)random_below(seed, 201) - 100 : random_float(seed);
}

/* `whole`: sums of whole numbers, and their halves, are exact in floats. */
static inline struct factors new_factors(const struct product *p, bool whole, uint64_t *seed) {
    size_t a = p->transpose_a ? span(p->K, p->M, p->lda) : span(p->M, p->K, p->lda);
    size_t b = p->transpose_b ? span(p->N, p->K, p->ldb) : span(p->K, p->N, p->ldb);
    size_t c = span(p->M, p->N, p->ldc);
    struct factors f = {floats(a), floats(b), guarded(c), guarded(c), c};
    fill(f.a, a, whole, seed), fill(f.b, b, whole, seed);
    for (size_t m = 0; m < p->M && p->beta != 0; m++)
        for (size_t n = 0; n < p->N; n++)
            f.c[m * p->ldc + n] = whole ? (float)random_below(seed, 200) * 2 : random_float(seed);
    memcpy(f.before, f.c, c * sizeof *f.c);
    return f;
}

static inline void factors_free(struct factors *f) {
    free(f->a), free(f->b);
    guarded_free(f->c), guarded_free(f->before);
}

static inline void multiply(const struct vit_kernels *k, const struct product *p,
                            struct factors *f) {
    k->gemm(f->c, p->ldc, f->a, p->lda, p->transpose_a, f->b, p->ldb, p->transpose_b, p->alpha,
            p->beta, p->M, p->N, p->K);
}

/* Every c is within `rounding` times its terms' sizes, and nothing else was written. */
static inline bool gemm_is_right(const struct product *p, const struct factors *f,
                                 double rounding) {
    bool right = guards_intact(f->c, f->c_count);
    for (size_t m = 0; m < p->M; m++) {
        for (size_t n = 0; n < p->N; n++) {
            double sum = p->beta == 0 ? 0 : (double)p->beta * f->before[m * p->ldc + n];
            double mass = fabs(sum) + FLT_MIN;
            for (size_t k = 0; k < p->K; k++) {
                double a = f->a[p->transpose_a ? k * p->lda + m : m * p->lda + k];
                double b = f->b[p->transpose_b ? n * p->ldb + k : k * p->ldb + n];
                sum += p->alpha * a * b, mass += fabs(p->alpha * a * b);
            }
            right = right && within(f->c[m * p->ldc + n], sum, rounding * mass);
        }
        for (size_t n = p->N; n < p->ldc && m + 1 < p->M; n++)
            right = right && is_sentinel(f->c + m * p->ldc + n);
    }
    return right;
}

static inline void check_product(const struct vit_kernels *k, const struct product *p, bool whole,
                                 double rounding, uint64_t *seed) {
    struct factors f = new_factors(p, whole, seed);
    multiply(k, p, &f);
    CHECK(gemm_is_right(p, &f, rounding),
          "%s: M,N,K %zu,%zu,%zu%s%s alpha %g beta %g, %s factors, is wrong", k->name, p->M, p->N,
          p->K, p->transpose_a ? " a transposed" : "", p->transpose_b ? " b transposed" : "",
          (double)p->alpha, (double)p->beta, whole ? "whole" : "any");
    factors_free(&f);
}

#endif
