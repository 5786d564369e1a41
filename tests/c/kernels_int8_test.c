/* int8 in every kernel table: quantised rows and exact products. */
#include "models.h"
#include "twin.h"

/* The rows of an (M,K) matrix, quantised by a table. */
struct rows {
    size_t M, K;
    struct vit_quantized q;
};

static struct rows quantized(const struct vit_kernels *k, const float *x, size_t M, size_t K) {
    struct rows rows = {M, K, {malloc(M * vit_quantized_row(K) + 1), floats(M), NULL}};
    rows.q.zero = malloc(M * sizeof *rows.q.zero + 1);
    k->quantize(&rows.q, x, K, M, K);
    return rows;
}

static void rows_free(struct rows *rows) {
    free(rows->q.q), free(rows->q.scale), free(rows->q.zero);
}

static int8_t *random_int8(size_t n, bool extreme, uint64_t *seed) {
    int8_t *w = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        w[i] = (int8_t)(extreme ? (random_below(seed, 2) ? 127 : -128)
                                : (int)random_below(seed, 256) - 128);
    return w;
}

/* The result by definition, from scalar's rows. There are four roundings: of the product of the
 * scales, of its product with the sum, after the bias, and after adding to y. */
static float want(const struct rows *x, const int8_t *w, const float *scale, const float *bias,
                  float before, bool add, size_t m, size_t n) {
    int64_t dot = 0;
    for (size_t i = 0; i < x->K; i++)
        dot += (int64_t)(x->q.q[m * vit_quantized_row(x->K) + i] - x->q.zero[m]) * w[n * x->K + i];
    volatile float by = x->q.scale[m] * scale[n], product = (float)dot * by;
    volatile float sum = product + (bias ? bias[n] : 0);
    return add ? before + sum : sum;
}

static void check_product(const struct vit_kernels *k, size_t M, size_t N, size_t K, bool extreme,
                          uint64_t *seed) {
    float *x = random_floats(M * K, 3, seed), *scale = random_floats(N, 1, seed);
    float *bias = random_below(seed, 2) ? random_floats(N, 1, seed) : NULL;
    bool add = random_below(seed, 2), same = true;
    int8_t *w = random_int8(N * K, extreme, seed);
    size_t ldy = N + random_below(seed, 3), count = (M - 1) * ldy + N;
    float *y = guarded(count), *before = floats(count);
    struct rows own = quantized(k, x, M, K), plain = quantized(&vit_scalar, x, M, K);
    size_t packed_size = (k->packed_size_int8(N, K) + 3) / 4;
    float *packed = guarded(packed_size);

    for (size_t m = 0; m < M; m++) random_fill(y + m * ldy, N, 1, seed);
    memcpy(before, y, count * sizeof *y);
    for (size_t n = 0; n < N; n += VIT_INT8_ROWS)
        k->pack_int8(packed, w + n * K, n, N - n < VIT_INT8_ROWS ? N - n : VIT_INT8_ROWS, N, K);
    k->matmul_int8(y, ldy, &own.q, packed, scale, bias, VIT_LINEAR, add, M, N, K);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float expected = want(&plain, w, scale, bias, before[m * ldy + n], add, m, n);
            same = same && memcmp(&expected, &y[m * ldy + n], sizeof expected) == 0;
        }
    CHECK(same, "%s: M,N,K %zu,%zu,%zu is not exact", k->name, M, N, K);
    CHECK(guards_intact(packed, packed_size) && guards_intact(y, count),
          "%s: M,N,K %zu,%zu,%zu wrote past an array", k->name, M, N, K);
    rows_free(&own), rows_free(&plain), guarded_free(packed), guarded_free(y);
    free(before), free(w), free(x), free(scale), free(bias);
}

TEST("int8: every table gives the exact product, bit for bit, at every two sizes from 1 to 33") {
    enum { SIZES = 33, SOME = 4 };
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 1;
        for (size_t M = 1; M <= SIZES; M++)
            for (size_t N = 1; N <= SIZES; N++)
                for (size_t i = 0; i < SOME; i++)
                    check_product(k, M, N, 1 + (7 * M + 13 * N + 8 * i) % SIZES, false, &seed);
    }
}

TEST("int8: the sums stay exact if every weight and every number is the largest or smallest") {
    static const size_t WIDE[] = {3072, 4097, VIT_INT8_K};
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 2;
        for (size_t i = 0; i < sizeof WIDE / sizeof *WIDE; i++)
            check_product(k, 5, 9, WIDE[i], true, &seed);
        /* The largest possible sums: x has two values, and all weights are the same. */
        for (int sign = -1; sign <= 1; sign += 2) {
            size_t K = VIT_INT8_K;
            float *x = floats(K), scale = 1, y;
            int8_t *w = malloc(K), end = sign < 0 ? -128 : 127;
            void *packed = malloc(k->packed_size_int8(1, K));
            for (size_t i = 0; i < K; i++) x[i] = i ? 127 : 0, w[i] = end;
            struct rows rows = quantized(k, x, 1, K);
            k->pack_int8(packed, w, 0, 1, 1, K);
            k->matmul_int8(&y, 1, &rows.q, packed, &scale, NULL, VIT_LINEAR, false, 1, 1, K);
            float sum = (float)((int64_t)(K - 1) * 127 * end);
            CHECK(y == sum, "%s: %g, want %g", k->name, (double)y, (double)sum);
            rows_free(&rows), free(x), free(w), free(packed);
        }
    }
}

TEST("int8: unpacking gives each weight times its row's scale, to the bit") {
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 7;
        for (size_t N = 1; N <= 35; N++)
            for (size_t K = 1; K <= 35; K += K > 9 ? 3 : 1) {
                float *scale = random_floats(N, 1, &seed), *got = guarded(N * K),
                      *exact = floats(N * K);
                int8_t *w = random_int8(N * K, false, &seed);
                void *packed = malloc(k->packed_size_int8(N, K));
                for (size_t n = 0; n < N; n += VIT_INT8_ROWS)
                    k->pack_int8(packed, w + n * K, n,
                                 N - n < VIT_INT8_ROWS ? N - n : VIT_INT8_ROWS, N, K);
                k->unpack_int8(got, packed, scale, N, K);
                for (size_t i = 0; i < N * K; i++) exact[i] = scale[i / K] * (float)w[i];
                CHECK_SAME_BITS(got, exact, N * K, k->name);
                CHECK(guards_intact(got, N * K), "%s: N,K %zu,%zu wrote past b", k->name, N, K);
                free(scale), free(exact), free(w), free(packed), guarded_free(got);
            }
    }
}

TEST("int8: a quantised row is within half a step of the numbers, and the same in every table") {
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 3;
        for (size_t K = 1; K <= 70; K++) {
            const size_t M = 7;
            float *x = random_floats(M * K, 1, &seed);
            for (size_t i = 0; i < K; i++) { /* rows without 0 in their range, one constant */
                x[i] = fabsf(x[i]) + 1, x[K + i] = -fabsf(x[K + i]) - 1;
                x[2 * K + i] = 5, x[3 * K + i] = 0, x[4 * K + i] *= 1e-20f, x[5 * K + i] *= 1e-38f;
            }
            struct rows own = quantized(k, x, M, K), plain = quantized(&vit_scalar, x, M, K);
            for (size_t m = 0; m < M; m++) {
                double step = plain.q.scale[m], worst = 0;
                for (size_t i = 0; i < K; i++) {
                    int q = plain.q.q[m * vit_quantized_row(K) + i];
                    worst = fmax(worst, fabs(step * (q - plain.q.zero[m]) - x[m * K + i]));
                }
                CHECK(worst <= step / 2 * (1 + 1e-4) + 1e-30, "row %zu: %g from a step of %g", m,
                      worst, step);
                CHECK(own.q.scale[m] == plain.q.scale[m] && own.q.zero[m] == plain.q.zero[m],
                      "%s: row %zu of %zu has another scale or zero", k->name, m, K);
            }
            rows_free(&own), rows_free(&plain), free(x);
        }
    }
}

/* Huge weights make such rows from good numbers. */
TEST("int8: a row that is not finite, or whose range is not, has a zero in 0..127 and no finite "
     "product") {
    static const float BAD[][2] = {{INFINITY, 1}, {-INFINITY, 1},  {INFINITY, -INFINITY},
                                   {NAN, 1},      {3e38f, -3e38f}, {NAN, INFINITY},
                                   {-NAN, 1}};
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 5;
        for (size_t K = 2; K <= 19; K++)
            for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
                float *x = random_floats(K, 1, &seed), scale = 1, y = 0;
                int8_t *w = random_int8(K, false, &seed);
                void *packed = malloc(k->packed_size_int8(1, K));
                size_t at = random_below(&seed, K);
                x[at] = BAD[i][0], x[(at + 1) % K] = BAD[i][1];
                struct rows rows = quantized(k, x, 1, K);
                k->pack_int8(packed, w, 0, 1, 1, K);
                k->matmul_int8(&y, 1, &rows.q, packed, &scale, NULL, VIT_LINEAR, false, 1, 1, K);
                CHECK(rows.q.zero[0] >= 0 && rows.q.zero[0] <= 127, "%s: case %zu of %zu: zero %d",
                      k->name, i, K, rows.q.zero[0]);
                CHECK(!isfinite(y), "%s: case %zu of %zu: %g", k->name, i, K, (double)y);
                rows_free(&rows), free(x), free(w), free(packed);
            }
    }
}

TEST("int8: the activation of a product is close to the double twin's") {
    EACH_INT8_KERNELS(k) {
        uint64_t seed = 4;
        const size_t M = 6, N = 21, K = 40;
        float *x = random_floats(M * K, 1, &seed), *scale = floats(N), *bias = floats(N);
        int8_t *w = random_int8(N * K, false, &seed);
        void *packed = malloc(k->packed_size_int8(N, K));
        float *y = floats(M * N), *linear = floats(M * N);
        for (size_t n = 0; n < N; n++) scale[n] = 0.01f, bias[n] = 0.1f;
        struct rows rows = quantized(k, x, M, K);
        k->pack_int8(packed, w, 0, N, N, K);
        k->matmul_int8(linear, N, &rows.q, packed, scale, bias, VIT_LINEAR, false, M, N, K);
        for (int act = VIT_GELU; act <= VIT_RELU; act++) {
            k->matmul_int8(y, N, &rows.q, packed, scale, bias, act, false, M, N, K);
            for (size_t i = 0; i < M * N; i++) {
                double exact = twin_activation(act, linear[i]);
                CHECK(within(y[i], exact, 4e-7 * fabs(linear[i]) + 1e-30), "%s: act %d of %g is %g",
                      k->name, act, (double)linear[i], (double)y[i]);
            }
        }
        rows_free(&rows), free(x), free(scale), free(bias), free(w), free(packed);
        free(y), free(linear);
    }
}
