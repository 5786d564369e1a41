/* Every kernel table's pack, unpack, matmul and gemm, compared with naive sums in double. */
#include "gemm.h"
#include "models.h"
#include "twin.h"

/* No activation is steeper than STEEPEST: gelu's slope peaks at 1.129. Each is computed to within
 * ACTIVATION_ERROR, a share of its argument (kernels_rows_test.c). */
static const double STEEPEST = 1.13, ACTIVATION_ERROR = 3e-7;

/* ---- matmul ------------------------------------------------------------- */

struct problem {
    size_t M, N, K, ldx, ldy;
    size_t shift; /* floats past malloc's alignment */
    int act;
    bool bias, add;
};

static struct problem random_problem(size_t M, size_t N, size_t K, uint64_t *seed) {
    struct problem p = {.M = M, .N = N, .K = K, .shift = random_below(seed, 4)};
    p.ldx = K + random_below(seed, 3), p.ldy = N + random_below(seed, 3);
    p.act = (int)random_below(seed, 6) - 2; /* VIT_LINEAR, then each vit_activation */
    if (p.act < VIT_LINEAR) p.act = VIT_LINEAR;
    p.bias = random_below(seed, 2);
    p.add = p.act == VIT_LINEAR && random_below(seed, 2); /* `add` demands VIT_LINEAR */
    return p;
}

struct operands {
    float *x, *w, *bias, *packed, *y, *before;
    size_t y_count;
};

static struct operands new_operands(const struct vit_kernels *k, const struct problem *p,
                                    uint64_t *seed) {
    size_t packed_size = k->packed_size(p->N, p->K);
    struct operands o = {.x = random_floats(p->shift + span(p->M, p->K, p->ldx), 1, seed),
                         .w = random_floats(p->N * p->K, 1, seed),
                         .bias = random_floats(p->N, 1, seed),
                         .packed = guarded(packed_size),
                         .y_count = span(p->M, p->N, p->ldy)};
    o.y = guarded(o.y_count);
    o.before = guarded(o.y_count);
    for (size_t m = 0; m < p->M && p->add; m++) random_fill(o.y + m * p->ldy, p->N, 1, seed);
    memcpy(o.before, o.y, o.y_count * sizeof *o.y);
    k->pack(o.packed, o.w, p->K, 1, p->N, p->K);
    CHECK(guards_intact(o.packed, packed_size), "%s: pack (%zu,%zu) wrote past its %zu floats",
          k->name, p->N, p->K, packed_size);
    return o;
}

static void operands_free(struct operands *o) {
    free(o->x), free(o->w), free(o->bias);
    guarded_free(o->packed), guarded_free(o->y), guarded_free(o->before);
}

static void run_matmul(const struct vit_kernels *k, const struct problem *p,
                       const struct operands *o) {
    k->matmul(o->y, p->ldy, o->x + p->shift, p->ldx, o->packed, p->bias ? o->bias : NULL, p->act,
              p->add, p->M, p->N, p->K);
}

static bool product_is_right(const struct problem *p, const struct operands *o, size_t m,
                             size_t n) {
    double sum = p->bias ? o->bias[n] : 0, mass = fabs(sum);
    for (size_t i = 0; i < p->K; i++) {
        double term = (double)o->x[p->shift + m * p->ldx + i] * o->w[n * p->K + i];
        sum += term, mass += fabs(term);
    }
    if (p->add) {
        sum += o->before[m * p->ldy + n];
        mass += fabs(o->before[m * p->ldy + n]);
    }
    double tolerance = (double)(p->K + 2) * FLT_EPSILON * mass;
    if (p->act != VIT_LINEAR) tolerance = STEEPEST * tolerance + ACTIVATION_ERROR * fabs(sum);
    return within(o->y[m * p->ldy + n], twin_activation(p->act, sum), tolerance + FLT_MIN);
}

static void check_matmul(const struct vit_kernels *k, struct problem p, uint64_t *seed) {
    struct operands o = new_operands(k, &p, seed);
    run_matmul(k, &p, &o);
    bool right = true, gaps = true;
    for (size_t m = 0; m < p.M; m++) {
        for (size_t n = 0; n < p.N; n++) right = right && product_is_right(&p, &o, m, n);
        for (size_t n = p.N; n < p.ldy && m + 1 < p.M; n++)
            gaps = gaps && is_sentinel(o.y + m * p.ldy + n);
    }
    CHECK(right, "%s: M,N,K %zu,%zu,%zu act %d bias %d add %d is wrong", k->name, p.M, p.N, p.K,
          p.act, p.bias, p.add);
    CHECK(gaps && guards_intact(o.y, o.y_count), "%s: M,N,K %zu,%zu,%zu wrote past a row", k->name,
          p.M, p.N, p.K);
    operands_free(&o);
}

TEST("matmul is close to the sum in double, for sizes 0 to 33, any bias, activation and stride") {
    EACH_KERNELS(k) {
        uint64_t seed = 1;
        for (size_t M = 0; M <= 33; M += M > 9 ? 3 : 1)
            for (size_t N = 0; N <= 33; N++)
                for (size_t K = 0; K <= 33; K += K > 9 ? 3 : 1)
                    check_matmul(k, random_problem(M, N, K, &seed), &seed);
    }
}

/* Whole numbers with sums that a float holds. Nothing is rounded, in any order, fused or not. */
static void check_exact(const struct vit_kernels *k, size_t M, size_t N, size_t K, bool add,
                        uint64_t *seed) {
    struct problem p = {.M = M, .N = N, .K = K, .ldx = K, .ldy = N, .act = VIT_LINEAR, .add = add};
    struct operands o = new_operands(k, &p, seed);
    for (size_t i = 0; i < M * K; i++) o.x[i] = (float)random_below(seed, 201) - 100;
    for (size_t i = 0; i < N * K; i++) o.w[i] = (float)random_below(seed, 201) - 100;
    for (size_t i = 0; i < M * N && add; i++)
        o.y[i] = o.before[i] = (float)random_below(seed, 201) - 100;
    k->pack(o.packed, o.w, K, 1, N, K);
    run_matmul(k, &p, &o);
    bool exact = true;
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            int32_t sum = add ? (int32_t)o.before[m * N + n] : 0;
            for (size_t i = 0; i < K; i++) sum += (int32_t)o.x[m * K + i] * (int32_t)o.w[n * K + i];
            exact = exact && o.y[m * N + n] == (float)sum;
        }
    CHECK(exact, "%s: M,N,K %zu,%zu,%zu add %d is not exact", k->name, M, N, K, add);
    operands_free(&o);
}

TEST("matmul is exact on whole numbers at every two sizes from 1 to 33, with some of the third") {
    enum { SIZES = 33, SOME = 4 };
    EACH_KERNELS(k) {
        uint64_t seed = 6;
        for (size_t M = 1; M <= SIZES; M++)
            for (size_t N = 1; N <= SIZES; N++)
                for (size_t i = 0; i < SOME; i++) {
                    size_t K = 1 + (7 * M + 13 * N + 8 * i) % SIZES; /* of each M and N all K */
                    check_exact(k, M, N, K, (M + N + i) % 2, &seed);
                }
    }
}

TEST("matmul is close to the sum in double at the shapes of real models") {
    static const size_t SHAPES[][3] = {{50, 192, 64},  {50, 64, 128}, {197, 64, 64},  {1, 10, 64},
                                       {17, 257, 300}, {64, 7, 1000}, {130, 130, 130}};
    EACH_KERNELS(k) {
        uint64_t seed = 2;
        for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
            check_matmul(k, random_problem(SHAPES[i][0], SHAPES[i][1], SHAPES[i][2], &seed), &seed);
    }
}

/* Compares row m of a product of M rows with the product of that row alone. */
static void check_rows_alone(const struct vit_kernels *k, struct problem p, uint64_t *seed) {
    struct operands o = new_operands(k, &p, seed);
    float *alone = floats(p.N);
    bool same = true;
    run_matmul(k, &p, &o);
    for (size_t m = 0; m < p.M; m++) {
        memcpy(alone, o.before + m * p.ldy, p.N * sizeof *alone);
        k->matmul(alone, p.N, o.x + p.shift + m * p.ldx, p.ldx, o.packed, p.bias ? o.bias : NULL,
                  p.act, p.add, 1, p.N, p.K);
        same = same && memcmp(alone, o.y + m * p.ldy, p.N * sizeof *alone) == 0;
    }
    CHECK(same, "%s: M,N,K %zu,%zu,%zu act %d: a row alone has other bits", k->name, p.M, p.N, p.K,
          p.act);
    free(alone);
    operands_free(&o);
}

TEST("a row of matmul has the same bits for any number of rows") {
    EACH_KERNELS(k) {
        if (!rows_keep_bits(k)) continue;
        uint64_t seed = 3;
        for (size_t M = 2; M <= 19; M++)
            for (size_t N = 1; N <= 33; N += 4)
                check_rows_alone(k, random_problem(M, N, 1 + random_below(&seed, 64), &seed),
                                 &seed);
        check_rows_alone(k, random_problem(50, 192, 64, &seed), &seed);
        check_rows_alone(k, random_problem(200, 64, 256, &seed), &seed);
    }
}

TEST("packing a matrix and packing its transpose by its strides give the same bits") {
    EACH_KERNELS(k) {
        uint64_t seed = 4;
        for (size_t N = 0; N <= 20; N++)
            for (size_t K = 0; K <= 20; K++) {
                size_t size = k->packed_size(N, K);
                float *w = random_floats(N * K, 1, &seed), *turned = floats(N * K);
                float *a = guarded(size), *b = guarded(size);
                for (size_t n = 0; n < N; n++)
                    for (size_t i = 0; i < K; i++) turned[i * N + n] = w[n * K + i];
                k->pack(a, w, K, 1, N, K);
                k->pack(b, turned, 1, N, N, K);
                CHECK(memcmp(a, b, size * sizeof *a) == 0, "%s: (%zu,%zu) differs", k->name, N, K);
                if (!k->packed)
                    CHECK(size == N * K && memcmp(a, w, size * sizeof *a) == 0,
                          "%s: expected no packing, but (%zu,%zu) is changed", k->name, N, K);
                free(w), free(turned);
                guarded_free(a), guarded_free(b);
            }
    }
}

TEST("unpack gives any rows of a packed matrix back, bit for bit") {
    EACH_KERNELS(k) {
        uint64_t seed = 6;
        for (size_t N = 1; N <= 33; N++)
            for (size_t K = 1; K <= 33; K += K > 9 ? 3 : 1) {
                size_t n = random_below(&seed, N), rows = 1 + random_below(&seed, N - n);
                float *w = random_floats(N * K, 1, &seed), *packed = floats(k->packed_size(N, K));
                float *all = guarded(N * K), *some = guarded(rows * K);
                k->pack(packed, w, K, 1, N, K);
                k->unpack(all, packed, 0, N, K);
                k->unpack(some, packed, n, rows, K);
                CHECK_SAME_BITS(all, w, N * K, k->name);
                CHECK_SAME_BITS(some, w + n * K, rows * K, k->name);
                CHECK(guards_intact(all, N * K) && guards_intact(some, rows * K),
                      "%s: N,K %zu,%zu wrote past the rows", k->name, N, K);
                free(w), free(packed), guarded_free(all), guarded_free(some);
            }
    }
}

/* ---- gemm --------------------------------------------------------------- */

/* Each transpose. */
static void check_gemms(const struct vit_kernels *k, size_t M, size_t N, size_t K, uint64_t *seed) {
    for (size_t kind = 0; kind < 4; kind++) {
        struct product p = random_product(M, N, K, kind, 1 + random_below(seed, 3), seed);
        check_product(k, &p, false, (double)(K + 3) * FLT_EPSILON, seed);
    }
}

TEST("gemm is close to the sum in double with every transpose, stride, alpha and beta") {
    static const size_t SIZES[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 33};
    enum { COUNT = sizeof SIZES / sizeof *SIZES };
    EACH_KERNELS(k) {
        uint64_t seed = 5;
        for (size_t i = 0; i < COUNT * COUNT * COUNT; i++)
            check_gemms(k, SIZES[i % COUNT], SIZES[i / COUNT % COUNT], SIZES[i / COUNT / COUNT],
                        &seed);
    }
}

/* A block of c has at most 24 rows and 64 columns, and adds up 96 products. */
TEST("gemm is right for matrices of several blocks, too") {
    static const size_t SHAPES[][3] = {{25, 64, 200}, {64, 97, 97},  {97, 25, 64},
                                       {200, 64, 25}, {25, 200, 97}, {49, 129, 193}};
    EACH_KERNELS(k) {
        uint64_t seed = 5;
        for (size_t i = 0; i < 3 * sizeof SHAPES / sizeof *SHAPES; i++) {
            const size_t *shape = SHAPES[i / 3];
            check_gemms(k, shape[0], shape[1], shape[2], &seed);
        }
    }
}
