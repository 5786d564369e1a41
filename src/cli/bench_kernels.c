/* Measures each kernel of each table at shapes of real models. Scalar's answer is the right one. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { LINEAR = 1, ATTENTION = 2, TOKENS = 4, SCORES = 8, HIDDEN = 16 };

static const struct shape {
    enum kind kind;
    const char *name;
    size_t M, K, N; /* K: 1 if nothing is multiplied */
} SHAPES[] = {
    {LINEAR, "ViT-B/16 qkv", 197, 768, 2304},
    {LINEAR, "ViT-B/16 proj", 197, 768, 768},
    {LINEAR, "ViT-B/16 fc1", 197, 768, 3072},
    {LINEAR, "ViT-B/16 fc2", 197, 3072, 768},
    {LINEAR, "DeiT-Ti/16 qkv", 197, 192, 576},
    {LINEAR, "DeiT-Ti/16 proj", 197, 192, 192},
    {LINEAR, "DeiT-Ti/16 fc1", 197, 192, 768},
    {LINEAR, "DeiT-Ti/16 fc2", 197, 768, 192},
    {LINEAR, "digits qkv", 50, 80, 240},
    {LINEAR, "digits proj", 50, 80, 80},
    {LINEAR, "digits fc1", 50, 80, 208},
    {LINEAR, "digits fc2", 50, 208, 80},
    {LINEAR, "5 digits qkv", 250, 80, 240},
    {LINEAR, "5 digits proj", 250, 80, 80},
    {LINEAR, "5 digits fc1", 250, 80, 208},
    {LINEAR, "5 digits fc2", 250, 208, 80},
    {ATTENTION, "ViT/16 qk", 197, 64, 197},
    {ATTENTION, "ViT/16 pv", 197, 197, 64},
    {ATTENTION, "digits qk", 50, 16, 50},
    {ATTENTION, "digits pv", 50, 50, 16},
    {TOKENS, "ViT-B/16", 197, 1, 768},
    {TOKENS, "DeiT-Ti/16", 197, 1, 192},
    {TOKENS, "digits", 50, 1, 80},
    {SCORES, "ViT/16", 197, 1, 197},
    {SCORES, "digits", 50, 1, 50},
    {HIDDEN, "ViT-B/16", 197, 1, 3072},
    {HIDDEN, "DeiT-Ti/16", 197, 1, 768},
    {HIDDEN, "digits", 50, 1, 208},
};

/* The input of one shape, and room for each kernel's output. */
struct work {
    size_t M, N, K;
    float *x, *b, *bias; /* (M,K), (N,K), (N) */
    float *rows;         /* (M,N): the input of softmax, norm, activate and quantize */
    float *y, *want;     /* (M,N) */
    int8_t *b8;          /* (N,K); its scales are `scale` (N) */
    float *scale;
    struct vit_quantized x8, rows8;
    const struct vit_kernels *k;
    void *packed; /* b or b8, as k packs it */
    bool whole;   /* false: there was no memory for a part of it */
};

static void *hold(struct work *w, size_t size) {
    void *memory = malloc(size + 1);
    if (!memory) w->whole = false;
    return memory;
}

static float *hold_floats(struct work *w, size_t n) {
    return hold(w, n * sizeof(float));
}

static struct vit_quantized hold_quantized(struct work *w, size_t M, size_t K) {
    return (struct vit_quantized){hold(w, M * vit_quantized_row(K)), hold_floats(w, M),
                                  hold(w, M * sizeof(int32_t))};
}

static void work_open(struct work *w, const struct shape *shape) {
    size_t M = shape->M, N = shape->N, K = shape->K;
    *w = (struct work){.M = M, .N = N, .K = K, .whole = true};
    float **const floats[] = {&w->x, &w->b, &w->bias, &w->rows, &w->scale, &w->y, &w->want};
    const size_t counts[] = {M * K, N * K, N, M * N, N, M * N, M * N};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        *floats[i] = hold_floats(w, counts[i]);
    w->b8 = hold(w, N * K);
    w->x8 = hold_quantized(w, M, K);
    w->rows8 = hold_quantized(w, M, N);
    if (!w->whole) return;
    uint32_t seed = 1;
    for (size_t i = 0; i < 5; i++) bench_fill(*floats[i], counts[i], &seed);
    for (size_t i = 0; i < N * K; i++) w->b8[i] = (int8_t)(127 * w->b[i]);
}

static void work_close(struct work *w) {
    void *const arrays[] = {w->x,       w->b,       w->bias,        w->rows,      w->scale,
                            w->y,       w->want,    w->b8,          w->x8.q,      w->x8.scale,
                            w->x8.zero, w->rows8.q, w->rows8.scale, w->rows8.zero};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static void run_matmul(void *work) {
    const struct work *w = work;
    w->k->matmul(w->y, w->N, w->x, w->K, w->packed, w->bias, VIT_LINEAR, false, w->M, w->N, w->K);
}

static void run_matmul_int8(void *work) {
    const struct work *w = work;
    w->k->matmul_int8(w->y, w->N, &w->x8, w->packed, w->scale, w->bias, VIT_LINEAR, false, w->M,
                      w->N, w->K);
}

/* As attention does it: keys lie row by row, values column by column. */
static void run_pack(void *work) {
    const struct work *w = work;
    bool values = w->N < w->K;
    w->k->pack(w->packed, w->b, values ? 1 : w->K, values ? w->N : 1, w->N, w->K);
}

static void run_quantize(void *work) {
    const struct work *w = work;
    w->k->quantize(&w->rows8, w->rows, w->N, w->M, w->N);
}

static void run_softmax(void *work) {
    const struct work *w = work;
    w->k->softmax(w->y, w->N, 0.125f, w->M, w->N);
}

static void run_norm(void *work) {
    const struct work *w = work;
    w->k->norm(w->y, w->N, NULL, NULL, w->rows, w->N, w->bias, w->scale, 1e-6f, w->M, w->N);
}

static void run_gelu(void *work) {
    const struct work *w = work;
    w->k->activate(w->y, w->rows, VIT_GELU, w->M * w->N);
}

static const struct op {
    const char *name;
    int kinds; /* the kinds of shapes at which it is measured */
    enum unit unit;
    double tolerance; /* of y; the numbers are about 1 */
    void (*run)(void *work);
} OPS[] = {
    {"matmul f32", LINEAR | ATTENTION, GFLOPS, 0, run_matmul},
    {"matmul int8", LINEAR, GOPS, 0, run_matmul_int8},
    {"pack", ATTENTION, NANOSECONDS, 0, run_pack},
    {"quantize", TOKENS | HIDDEN, NANOSECONDS, 1e-4, run_quantize},
    {"norm", TOKENS, NANOSECONDS, 1e-4, run_norm},
    {"softmax", SCORES, NANOSECONDS, 1e-4, run_softmax},
    {"gelu", HIDDEN, NANOSECONDS, 1e-4, run_gelu},
};

/* Makes `work` ready for an op of table k: packs b for it, and copies the input to y, because some
 * kernels work in place. False: no memory. */
static bool choose(struct work *w, const struct op *op, const struct vit_kernels *k) {
    size_t N = w->N, K = w->K;
    bool int8 = op->run == run_matmul_int8;
    w->k = k;
    w->packed =
        malloc((int8 ? k->packed_size_int8(N, K) : sizeof(float) * k->packed_size(N, K)) + 1);
    if (!w->packed) return false;
    if (op->run == run_matmul) k->pack(w->packed, w->b, K, 1, N, K);
    if (int8) k->pack_int8(w->packed, w->b8, 0, N, N, K), k->quantize(&w->x8, w->x, K, w->M, K);
    memcpy(w->y, w->rows, w->M * N * sizeof *w->y);
    return true;
}

/* Reads the scales and zeros that quantize made. Its q is not compared, because each table lays q
 * out in its own way. */
static void read_quantized(const struct work *w) {
    for (size_t m = 0; m < w->M; m++) {
        w->y[m * w->N] = w->rows8.scale[m];
        w->y[m * w->N + 1] = (float)w->rows8.zero[m];
    }
}

/* Runs the op once; w->y is the result. */
static bool run_once(struct work *w, const struct op *op, const struct vit_kernels *k) {
    if (!choose(w, op, k)) return false;
    op->run(w);
    if (op->run == run_quantize) read_quantized(w);
    free(w->packed);
    return true;
}

static bool agrees(const struct work *w, const struct op *op, const char *what, vit_error *why) {
    for (size_t i = 0; i < w->M * w->N; i++) {
        double got = (double)w->y[i], want = (double)w->want[i];
        if (fabs(got - want) <= op->tolerance) continue;
        snprintf(why->text, sizeof why->text, "%s %s: y(%zu,%zu): expected scalar's %.9g, got %.9g",
                 bench_label(w->k).text, what, i / w->N, i % w->N, want, got);
        return false;
    }
    return true;
}

/* Checks and measures one op of one table at one shape. w->want is scalar's answer. */
static bool measure_kernel(struct bench *bench, struct work *w, const struct op *op,
                           const struct vit_kernels *k, const char *what, vit_error *why) {
    bool int8 = op->run == run_matmul_int8 || op->run == run_quantize;
    if (int8 && !k->matmul_int8) return true;
    if (k != &vit_scalar) {
        if (!run_once(w, op, k)) return bench_no_memory(why);
        if (!agrees(w, op, what, why)) return false;
    }
    if (!choose(w, op, k)) return bench_no_memory(why);
    double numbers = (double)(op->run == run_pack ? w->N * w->K : w->M * w->N);
    const struct label label = bench_label(k);
    struct line line = {what, label.text, op->unit, numbers, 0};
    if (op->unit != NANOSECONDS) {
        line.work *= 2 * (double)w->K;
        line.limit = bench_limit(bench, k, op->unit == GOPS);
    }
    bench_print(bench, &line, bench_measure(bench, op->run, w));
    free(w->packed);
    return true;
}

/* Measures one op of every table at one shape. */
static bool measure_shape(struct bench *bench, const struct op *op, const struct shape *shape,
                          vit_error *why) {
    char what[96];
    size_t M = shape->M, N = shape->N, K = shape->K, count;
    const struct vit_kernels *const *tables = vit_kernels_all(&count);
    if (K > 1)
        snprintf(what, sizeof what, "%s %s %zux%zux%zu", op->name, shape->name, M, K, N);
    else
        snprintf(what, sizeof what, "%s %s %zux%zu", op->name, shape->name, M, N);
    bool any = false, fast = false;
    for (size_t i = 0; i < count; i++)
        if (bench_wants(bench, bench_label(tables[i]).text, what))
            any = true, fast |= tables[i] != &vit_scalar;
    if (!any) return true;
    struct work w;
    work_open(&w, shape);
    bool good = w.whole && (!fast || run_once(&w, op, &vit_scalar));
    if (!good) bench_no_memory(why);
    if (good && fast) memcpy(w.want, w.y, M * N * sizeof *w.want);
    for (size_t i = 0; good && i < count; i++)
        if (bench_wants(bench, bench_label(tables[i]).text, what))
            good = measure_kernel(bench, &w, op, tables[i], what, why);
    work_close(&w);
    return good;
}

bool bench_kernels(struct bench *bench, vit_error *why) {
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        for (size_t j = 0; j < sizeof SHAPES / sizeof *SHAPES; j++)
            if (OPS[i].kinds & (int)SHAPES[j].kind &&
                !measure_shape(bench, &OPS[i], &SHAPES[j], why))
                return false;
    return true;
}
