/* Products of factors rounded to bfloat16: kernels/bf16.c. */
#define _GNU_SOURCE
#include "train_support.h"

#include "gemm.h"

#include "../../src/kernels/kernels.h"
#include "../../src/train/adamw.h"
#include "../../src/train/muon.h"

/* Half of the distance from 1 to the next bfloat16. */
static const double ROUNDING = 1.0 / 256;

#define REQUIRE_TABLE(k)                                                                           \
    const struct vit_kernels *k = vit_bfloat16();                                                  \
    if (!k) SKIP("this processor has no products of bfloat16")

static struct product any_product(uint64_t *seed) {
    static const size_t SIZES[] = {1, 15, 16, 17, 31, 32, 33, 48, 50, 67, 96, 130};
    enum { KINDS = sizeof SIZES / sizeof *SIZES };
    size_t M = SIZES[random_below(seed, KINDS)], N = SIZES[random_below(seed, KINDS)];
    size_t K = SIZES[random_below(seed, KINDS)], kind = random_below(seed, 4);
    return random_product(M, N, K, kind, random_below(seed, 4), seed);
}

static void check_rounded(const struct vit_kernels *k, const struct product *p, uint64_t *seed) {
    check_product(k, p, false, 2.01 * ROUNDING + (double)(p->K + 3) * FLT_EPSILON, seed);
}

TEST("factors that are exact in bfloat16 give the exact product, with every transpose and stride") {
    REQUIRE_TABLE(k);
    uint64_t seed = 1;
    for (size_t i = 0; i < 1500; i++) {
        struct product p = any_product(&seed);
        check_product(k, &p, true, 0, &seed);
    }
}

TEST("other factors are each rounded to the nearest bfloat16") {
    REQUIRE_TABLE(k);
    uint64_t seed = 2;
    for (size_t i = 0; i < 500; i++) {
        struct product p = any_product(&seed);
        p.beta = 0;
        check_rounded(k, &p, &seed);
    }
    struct product p = {96, 96, 96, 96, 96, 96, false, true, 1, 0};
    struct factors f = new_factors(&p, false, &seed);
    multiply(k, &p, &f);
    CHECK(!gemm_is_right(&p, &f, (double)(p.K + 3) * FLT_EPSILON), "nothing was rounded");
    factors_free(&f);
}

TEST("bfloat16 products too deep or too wide for the tiles' memory are computed all the same") {
    REQUIRE_TABLE(k);
    static const size_t SHAPES[][3] = {{33, 40, 2047},  {33, 40, 2048},  {33, 40, 2049},
                                       {20, 127, 2048}, {20, 129, 2048}, {3, 5000, 70},
                                       {20, 1152, 500}, {3, 9000, 70}};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        size_t M = SHAPES[i][0], N = SHAPES[i][1], K = SHAPES[i][2];
        struct product p = {M, N, K, K, K, N, false, true, 1, 0};
        check_rounded(k, &p, &seed);
        for (size_t kind = 0; kind < 4; kind++) {
            p = random_product(M, N, K, kind, kind, &seed);
            check_product(k, &p, true, 0, &seed);
        }
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
        double length = 0, square = 0;
        random_fill(u, ROWS, 1, &seed);
        for (size_t i = 0; i < ROWS; i++) length += (double)u[i] * (double)u[i];
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t i = 0; i < ROWS; i++) sum += (double)u[i] * (double)p[0][i * COLUMNS + j];
            square += sum * sum;
        }
        double stretch = sqrt(square / length) / (0.2 * sqrt(COLUMNS));
        /* The polynomial gives 0.68 to 1.21. Five times three roundings add 1/256 each. */
        CHECK(stretch > 0.62 && stretch < 1.28, "a direction is %g long", stretch);
    }
}
