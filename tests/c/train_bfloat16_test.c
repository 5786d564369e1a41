/* Products of factors rounded to bfloat16: kernels/bf16.c. */
#define _GNU_SOURCE
#include "train_support.h"

#include "../../src/kernels/kernels.h"
#include "../../src/train/adamw.h"
#include "../../src/train/muon.h"

/* Half of the distance from 1 to the next bfloat16. */
static const double ROUNDING = 1.0 / 256;

#define REQUIRE_TABLE(k)                                                                           \
    const struct vit_kernels *k = vit_bfloat16();                                                  \
    if (!k) SKIP("this processor or its system has no AMX")

struct product {
    size_t M, N, K, lda, ldb, ldc;
    bool transpose_a, transpose_b;
    float alpha, beta;
};

struct factors {
    float *a, *b, *c, *before;
    size_t a_count, b_count, c_count;
};

static size_t span(size_t rows, size_t columns, size_t stride) {
    return (rows - 1) * stride + columns;
}

static struct product random_product(uint64_t *seed) {
    static const size_t SIZES[] = {1, 15, 16, 17, 31, 32, 33, 48, 50, 67, 96, 130};
    static const float FACTORS[] = {0, 1, -0.5f};
    size_t kinds = sizeof SIZES / sizeof *SIZES, slack = random_below(seed, 4);
    struct product p = {.M = SIZES[random_below(seed, kinds)],
                        .N = SIZES[random_below(seed, kinds)],
                        .K = SIZES[random_below(seed, kinds)],
                        .transpose_a = random_below(seed, 2),
                        .transpose_b = random_below(seed, 2),
                        .alpha = FACTORS[1 + random_below(seed, 2)],
                        .beta = FACTORS[random_below(seed, 3)]};
    p.lda = (p.transpose_a ? p.M : p.K) + slack;
    p.ldb = (p.transpose_b ? p.K : p.N) + slack;
    p.ldc = p.N + slack;
    return p;
}

/* Copies of the factors that end where the matrix ends, so that a sanitizer sees a read past it. */
static struct factors new_factors(const struct product *p, bool whole, uint64_t *seed) {
    struct factors f = {
        .a_count = p->transpose_a ? span(p->K, p->M, p->lda) : span(p->M, p->K, p->lda),
        .b_count = p->transpose_b ? span(p->N, p->K, p->ldb) : span(p->K, p->N, p->ldb),
        .c_count = span(p->M, p->N, p->ldc)};
    f.a = random_floats(f.a_count, 1, seed);
    f.b = random_floats(f.b_count, 1, seed);
    f.c = guarded(f.c_count), f.before = guarded(f.c_count);
    for (size_t i = 0; whole && i < f.a_count; i++) f.a[i] = (float)random_below(seed, 201) - 100;
    for (size_t i = 0; whole && i < f.b_count; i++) f.b[i] = (float)random_below(seed, 201) - 100;
    for (size_t m = 0; m < p->M && p->beta != 0; m++)
        for (size_t n = 0; n < p->N; n++) f.c[m * p->ldc + n] = (float)random_below(seed, 200) * 2;
    memcpy(f.before, f.c, f.c_count * sizeof *f.c);
    return f;
}

static void factors_free(struct factors *f) {
    free(f->a), free(f->b);
    guarded_free(f->c), guarded_free(f->before);
}

static void multiply(const struct vit_kernels *k, const struct product *p, struct factors *f) {
    k->gemm(f->c, p->ldc, f->a, p->lda, p->transpose_a, f->b, p->ldb, p->transpose_b, p->alpha,
            p->beta, p->M, p->N, p->K);
}

/* The sum for c(m,n). *mass is the sum of the terms' sizes. */
static double exact(const struct product *p, const struct factors *f, size_t m, size_t n,
                    double *mass) {
    double old = p->beta == 0 ? 0 : (double)p->beta * f->before[m * p->ldc + n], sum = 0;
    *mass = 0;
    for (size_t k = 0; k < p->K; k++) {
        double a = f->a[p->transpose_a ? k * p->lda + m : m * p->lda + k];
        double b = f->b[p->transpose_b ? n * p->ldb + k : k * p->ldb + n];
        sum += a * b, *mass += fabs(a * b);
    }
    *mass *= fabs(p->alpha);
    return old + p->alpha * sum;
}

/* Every c is within `rounding` times its terms' sizes, and nothing else was written. */
static bool product_is_right(const struct product *p, const struct factors *f, double rounding) {
    bool right = guards_intact(f->c, f->c_count);
    for (size_t m = 0; m < p->M; m++) {
        for (size_t n = 0; n < p->N; n++) {
            double mass, sum = exact(p, f, m, n, &mass);
            right = right && within(f->c[m * p->ldc + n], sum, rounding * mass);
        }
        for (size_t n = p->N; n < p->ldc && m + 1 < p->M; n++)
            right = right && is_sentinel(f->c + m * p->ldc + n);
    }
    return right;
}

static void check_product(const struct vit_kernels *k, const struct product *p, bool whole,
                          uint64_t *seed) {
    struct factors f = new_factors(p, whole, seed);
    multiply(k, p, &f);
    /* Sums of whole numbers below 2^24, and their halves, are exact in floats. */
    double rounding = whole ? 0 : 2.01 * ROUNDING + (double)(p->K + 3) * FLT_EPSILON;
    CHECK(product_is_right(p, &f, rounding),
          "M,N,K %zu,%zu,%zu%s%s alpha %g beta %g, %s factors, is wrong", p->M, p->N, p->K,
          p->transpose_a ? " a transposed" : "", p->transpose_b ? " b transposed" : "",
          (double)p->alpha, (double)p->beta, whole ? "whole" : "any");
    factors_free(&f);
}

/* If beta is 0, c starts as NaN and must not be read. */
TEST("factors that are exact in bfloat16 give the exact product, with every transpose and stride") {
    REQUIRE_TABLE(k);
    uint64_t seed = 1;
    for (size_t i = 0; i < 1500; i++) {
        struct product p = random_product(&seed);
        check_product(k, &p, true, &seed);
    }
}

TEST("other factors are each rounded to the nearest bfloat16") {
    REQUIRE_TABLE(k);
    uint64_t seed = 2;
    for (size_t i = 0; i < 500; i++) {
        struct product p = random_product(&seed);
        p.beta = 0;
        check_product(k, &p, false, &seed);
    }
    struct product p = {96, 96, 96, 96, 96, 96, false, true, 1, 0};
    struct factors f = new_factors(&p, false, &seed);
    multiply(k, &p, &f);
    CHECK(!product_is_right(&p, &f, (double)(p.K + 3) * FLT_EPSILON), "nothing was rounded");
    factors_free(&f);
}

TEST("bfloat16 products too deep or too wide for the tiles' memory are computed all the same") {
    REQUIRE_TABLE(k);
    static const size_t SHAPES[][3] = {{33, 40, 2047},  {33, 40, 2048},  {33, 40, 2049},
                                       {20, 127, 2048}, {20, 129, 2048}, {3, 5000, 70}};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        size_t M = SHAPES[i][0], N = SHAPES[i][1], K = SHAPES[i][2];
        struct product p = {M, N, K, K, K, N, false, true, 1, 0};
        check_product(k, &p, false, &seed);
    }
}

TEST("a layer in bfloat16 is its product, its bias and its activation") {
    REQUIRE_TABLE(k);
    enum { M = 50, N = 72, K = 96 };
    uint64_t seed = 4;
    float *x = random_floats(M * K, 1, &seed), *w = random_floats(N * K, 1, &seed);
    float *bias = random_floats(N, 1, &seed), *y = guarded(M * N), *want = guarded(M * N);
    for (int act = VIT_LINEAR; act <= VIT_RELU; act++) {
        k->matmul(y, N, x, K, w, bias, act, false, M, N, K);
        k->gemm(want, N, x, K, false, w, K, true, 1, 0, M, N, K);
        for (size_t i = 0; i < M * N; i++) want[i] += bias[i % N];
        if (act != VIT_LINEAR) vit_native.activate(want, want, act, M * N);
        for (size_t i = 0; i < M * N; i++)
            CHECK(within(y[i], want[i], 1e-5), "activation %d: [%zu] %g, not %g", act, i,
                  (double)y[i], (double)want[i]);
    }
    CHECK(guards_intact(y, M * N), "wrote past its rows");
    free(x), free(w), free(bias);
    guarded_free(y), guarded_free(want);
}

TEST("Muon in bfloat16 also gives all directions nearly the same length") {
    REQUIRE_TABLE(rounded);
    enum { ROWS = 64, COLUMNS = 96, N = ROWS * COLUMNS };
    static float gradient[N], p[2][N], m[2][N], average[2][N], scratch[4 * N];
    const struct vit_kernels *kernels[] = {rounded, &vit_native};
    struct adamw adamw = {1, 0.95, 0, 0, 0, true, 1, 0, 1};
    uint64_t seed = 11;
    random_fill(gradient, N, 1, &seed);
    REQUIRE(muon_scratch(ROWS, COLUMNS) <= 4 * N, "scratch");
    for (size_t i = 0; i < 2; i++)
        muon_update(kernels[i], p[i], m[i], average[i], scratch, gradient, ROWS, COLUMNS, &adamw);
    CHECK(memcmp(p[0], p[1], sizeof p[0]), "nothing was rounded");
    for (size_t trial = 0; trial < 20; trial++) {
        float u[ROWS];
        double length = 0, moved = 0;
        random_fill(u, ROWS, 1, &seed);
        for (size_t i = 0; i < ROWS; i++) length += (double)u[i] * (double)u[i];
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t i = 0; i < ROWS; i++) sum += (double)u[i] * (double)p[0][i * COLUMNS + j];
            moved += sum * sum;
        }
        double stretch = sqrt(moved / length) / (0.2 * sqrt(COLUMNS));
        /* The polynomial gives 0.68 to 1.21. Five times three roundings add 1/256 each. */
        CHECK(stretch > 0.62 && stretch < 1.28, "a direction is %g long", stretch);
    }
}
