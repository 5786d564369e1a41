/* The optimisers' steps, compared with the papers' formulas. */
#define _GNU_SOURCE
#include "train_support.h"

#include "../../src/kernels/kernels.h"
#include "../../src/save.h"
#include "../../src/train/adamw.h"
#include "../../src/train/muon.h"

/* ---- AdamW and its schedule --------------------------------------------- */

/* AdamW in double, as printed in Loshchilov & Hutter, arXiv:1711.05101, algorithm 2. Plain Adam
 * puts the decay into the gradient and leaves out the last term of the update. */
static void naive_adam(double *p, double *m, double *v, double g, int t, bool decoupled,
                       double rate, double decay) {
    const double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
    if (!decoupled) g += decay * *p;
    *m = beta1 * *m + (1 - beta1) * g;
    *v = beta2 * *v + (1 - beta2) * g * g;
    double mhat = *m / (1 - pow(beta1, t)), vhat = *v / (1 - pow(beta2, t));
    *p -= rate * mhat / (sqrt(vhat) + epsilon) + (decoupled ? rate * decay * *p : 0);
}

TEST("AdamW and Adam follow the papers' formulas for a hundred steps") {
    enum { N = 37, STEPS = 100 };
    for (int kind = 0; kind < 4; kind++) {
        bool decoupled = kind % 2, decays = kind / 2;
        uint64_t seed = 1;
        float p[N], m[N] = {0}, v[N] = {0}, average[N], gradient[N];
        double pp[N], mm[N] = {0}, vv[N] = {0}, aa[N];
        random_fill(p, N, 1, &seed);
        for (size_t i = 0; i < N; i++) average[i] = p[i], aa[i] = pp[i] = (double)p[i];
        for (int t = 1; t <= STEPS; t++) {
            random_fill(gradient, N, 2, &seed);
            struct adamw adamw = {0.01, 0.9, 0.98, 1e-8, 0.1, decoupled, (size_t)t, 0.9, 0.5};
            adamw_update(p, m, v, average, gradient, N, decays, &adamw);
            for (size_t i = 0; i < N; i++) {
                naive_adam(&pp[i], &mm[i], &vv[i], 0.5 * (double)gradient[i], t, decoupled, 0.01,
                           decays ? 0.1 : 0);
                aa[i] = 0.9 * aa[i] + 0.1 * pp[i];
            }
        }
        for (size_t i = 0; i < N; i++) { /* each step rounds p, below 4, a few times */
            CHECK(within((double)p[i], pp[i], 8 * STEPS * FLT_EPSILON), "p[%zu]: %g, want %g", i,
                  (double)p[i], pp[i]);
            CHECK(within((double)average[i], aa[i], 8 * STEPS * FLT_EPSILON),
                  "average[%zu]: %g, want %g", i, (double)average[i], aa[i]);
        }
    }
}

/* ---- Muon --------------------------------------------------------------- */

enum { MOST = 12 }; /* rows or columns of the tests' matrices */

/* y (M,N) = a (M,K) · b (K,N), or bᵀ of b (N,K). */
static void naive_product(double *y, const double *a, const double *b, bool transpose_b, size_t M,
                          size_t N, size_t K) {
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            y[i * N + j] = 0;
            for (size_t k = 0; k < K; k++)
                y[i * N + j] += a[i * K + k] * (transpose_b ? b[j * K + k] : b[k * N + j]);
        }
}

/* X (rows,columns) ← an odd polynomial of X, five times, in double, as in Jordan's listing. Tall
 * matrices are not transposed, because aX + b(XXᵀ)X + c(XXᵀ)²X is the same either way. */
static void naive_newton_schulz(double *X, size_t rows, size_t columns) {
    double norm = 0, S[MOST * MOST], Y[MOST * MOST], Z[MOST * MOST];
    for (size_t i = 0; i < rows * columns; i++) norm += X[i] * X[i];
    for (size_t i = 0; i < rows * columns; i++) X[i] /= sqrt(norm);
    for (int step = 0; step < 5; step++) {
        naive_product(S, X, X, true, rows, rows, columns);
        naive_product(Y, S, X, false, rows, columns, rows);
        naive_product(Z, S, Y, false, rows, columns, rows);
        for (size_t i = 0; i < rows * columns; i++)
            X[i] = 3.4445 * X[i] - 4.7750 * Y[i] + 2.0315 * Z[i];
    }
}

static const size_t SHAPES[][2] = {{7, 7}, {5, 12}, {12, 5}, {1, 9}, {9, 1}};

TEST("Muon follows the paper's formulas for thirty steps, for wide and tall matrices") {
    for (size_t shape = 0; shape < sizeof SHAPES / sizeof *SHAPES; shape++) {
        enum { STEPS = 30, ROOM = MOST * MOST };
        size_t rows = SHAPES[shape][0], columns = SHAPES[shape][1], n = rows * columns;
        float p[ROOM], m[ROOM] = {0}, average[ROOM], gradient[ROOM], scratch[4 * ROOM];
        double pp[ROOM], mm[ROOM] = {0}, aa[ROOM], X[ROOM];
        uint64_t seed = 1;
        REQUIRE(muon_scratch(rows, columns) <= 4 * ROOM, "scratch");
        random_fill(p, n, 1, &seed);
        for (size_t i = 0; i < n; i++) average[i] = p[i], aa[i] = pp[i] = (double)p[i];
        for (size_t t = 1; t <= STEPS; t++) {
            random_fill(gradient, n, 2, &seed);
            struct adamw adamw = {0.01, 0.95, 0, 0, 0.1, true, t, 0.9, 0.5};
            muon_update(&vit_native, p, m, average, scratch, gradient, rows, columns, &adamw);
            for (size_t i = 0; i < n; i++) {
                mm[i] = 0.95 * mm[i] + 0.5 * (double)gradient[i];
                X[i] = 0.5 * (double)gradient[i] + 0.95 * mm[i];
            }
            naive_newton_schulz(X, rows, columns);
            double step = 0.01 * 0.2 * sqrt((double)(rows > columns ? rows : columns));
            for (size_t i = 0; i < n; i++) {
                pp[i] -= 0.01 * 0.1 * pp[i] + step * X[i];
                aa[i] = 0.9 * aa[i] + 0.1 * pp[i];
            }
        }
        /* Each of five iterations multiplies a rounding by at most 3.4445, the slope at 0: 486 in
         * all. A step is a hundredth of the result. */
        for (size_t i = 0; i < n; i++) {
            CHECK(within((double)p[i], pp[i], 16 * STEPS * FLT_EPSILON), "p[%zu]: %g, want %g", i,
                  (double)p[i], pp[i]);
            CHECK(within((double)average[i], aa[i], 16 * STEPS * FLT_EPSILON),
                  "average[%zu]: %g, want %g", i, (double)average[i], aa[i]);
        }
    }
}

TEST("a step of Muon moves along every direction of the gradient by nearly the same length") {
    /* A gradient UΣVᵀ of two directions. One is a fiftieth of the other in length. */
    enum { ROWS = 4, COLUMNS = 6 };
    const float u[2][ROWS] = {{0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f, -0.5f}};
    const float v[2][COLUMNS] = {{0.6f, 0, 0.8f}, {0, 1}}, sigma[2] = {50, 1};
    float p[ROWS * COLUMNS] = {0}, m[ROWS * COLUMNS] = {0}, average[ROWS * COLUMNS] = {0};
    float gradient[ROWS * COLUMNS] = {0}, scratch[4 * MOST * MOST];
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            gradient[i] += sigma[k] * u[k][i / COLUMNS] * v[k][i % COLUMNS];
    struct adamw adamw = {1, 0.95, 0, 0, 0, true, 1, 0, 1};
    muon_update(&vit_native, p, m, average, scratch, gradient, ROWS, COLUMNS, &adamw);
    for (size_t k = 0; k < 2; k++) {
        double moved = 0;
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            moved -= (double)(p[i] * u[k][i / COLUMNS] * v[k][i % COLUMNS]);
        double length = moved / (0.2 * sqrt(COLUMNS));
        CHECK(length > 0.68 && length < 1.21, "direction %zu is %g long", k, length);
    }
}

TEST("Muon takes all matrices except the head's, and q, k and v separately") {
    const struct {
        vit_kind kind;
        size_t shape[4], count;
        struct matrices want;
    } cases[] = {{VIT_KIND_QKV, {48, 16}, 768, {3, 16, 16}},
                 {VIT_KIND_MATRIX, {32, 16}, 512, {1, 32, 16}},
                 {VIT_KIND_CONVOLUTION, {8, 4, 3, 3}, 288, {1, 8, 36}},
                 {VIT_KIND_POSITION, {1, 5, 16}, 80, {0, 0, 0}},
                 {VIT_KIND_HEAD, {3, 16}, 48, {0, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_tensor tensor = {.kind = cases[i].kind, .count = cases[i].count};
        tensor.matrix = tensor.kind <= VIT_KIND_LAST_MATRIX;
        memcpy(tensor.shape, cases[i].shape, sizeof tensor.shape);
        struct matrices got = muon_matrices(&tensor), want = cases[i].want;
        CHECK(got.count == want.count && got.rows == want.rows && got.columns == want.columns,
              "kind %d: %zu of %zu by %zu", tensor.kind, got.count, got.rows, got.columns);
    }
}

TEST("the learning rate rises linearly, then falls along half a cosine") {
    struct recipe r = {.epochs = 12,
                       .learning_rate = 2e-3,
                       .min_learning_rate = 1e-5,
                       .warmup_epochs = 2,
                       .schedule = SCHEDULE_COSINE};
    const size_t steps = 10;
    CHECK(within(schedule_rate(&r, 0, steps), 1e-4, 1e-12), "first step");
    CHECK(within(schedule_rate(&r, 9, steps), 1e-3, 1e-12), "half of the warm-up");
    CHECK(within(schedule_rate(&r, 19, steps), 2e-3, 1e-12), "end of the warm-up");
    CHECK(within(schedule_rate(&r, 69, steps), (2e-3 + 1e-5) / 2, 1e-12), "half of the cosine");
    CHECK(within(schedule_rate(&r, 119, steps), 1e-5, 1e-12), "last step");
    r.schedule = SCHEDULE_CONSTANT;
    CHECK(within(schedule_rate(&r, 119, steps), 2e-3, 1e-12), "constant");
    r.warmup_epochs = 0;
    CHECK(within(schedule_rate(&r, 0, steps), 2e-3, 1e-12), "no warm-up");
    r = (struct recipe){.epochs = 1, .learning_rate = 1, .warmup_epochs = 5};
    for (size_t step = 0; step < steps; step++)
        CHECK(schedule_rate(&r, step, steps) <= 1, "a warm-up longer than the run");
    CHECK(ema_warm(0.999, 1) == 2.0 / 11 && ema_warm(0.9, 1000) == 0.9, "the average's warm-up");
}
