/* How vit bench takes time, writes a line, and measures the limits that are its 100 %. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

/* ---- Time --------------------------------------------------------------- */

static double now(void) { /* seconds */
#ifdef __EMSCRIPTEN__
    return emscripten_get_now() * 1e-3;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

/* In seconds. Calls are timed in slices that are long enough for the clock. The warm-up is long
 * enough for an engine to compile a second time, for speed. */
static const double WARM_UP = 0.03, SLICE = 0.001, MEASURE = 0.06;
enum { FEW = 5, SLICES = 63 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The share of these seconds that a line may take. */
static double allowed(const struct bench *bench, double seconds) {
    return bench->options->brief ? 0.02 * seconds : seconds;
}

struct timing bench_measure(const struct bench *bench, void (*run)(void *), void *context) {
    double slices[SLICES], start = now(), spent;
    size_t calls = 0, count = 0;
    do {
        run(context);
        calls++;
        spent = now() - start;
    } while (spent < allowed(bench, WARM_UP));
    if (calls == 1 && spent > MEASURE) return (struct timing){spent, spent};
    size_t repeats = (size_t)(SLICE * (double)calls / spent) + 1;
    start = now();
    do {
        double slice_start = now();
        for (size_t i = 0; i < repeats; i++) run(context);
        slices[count++] = (now() - slice_start) / (double)repeats;
    } while (count < FEW || (count < SLICES && now() - start < allowed(bench, MEASURE)));
    qsort(slices, count, sizeof *slices, compare);
    return (struct timing){slices[count / 2], slices[0]};
}

/* ---- Lines -------------------------------------------------------------- */

static const char *const UNITS[] = {"GFLOP/s", "GOP/s", "ns"};
static const char *const KEYS[] = {"gflops", "gops", "ns"}; /* in JSON */

struct label bench_label(const struct vit_kernels *k) {
    struct label label;
    size_t count, same = 1;
    const struct vit_kernels *const *tables = vit_kernels_all(&count);
    for (size_t i = 0; i < count && tables[i] != k; i++) same += !strcmp(tables[i]->name, k->name);
    snprintf(label.text, sizeof label.text, same > 1 ? "%s-%zu" : "%s", k->name, same);
    return label;
}

bool bench_wants(const struct bench *bench, const char *table, const char *what) {
    char name[128], words[256];
    snprintf(name, sizeof name, "%s %s", table, what);
    snprintf(words, sizeof words, "%s", bench->options->only ? bench->options->only : "");
    for (char *word = strtok(words, ", "); word; word = strtok(NULL, ", "))
        if (!strstr(name, word)) return false;
    return true;
}

void bench_print(struct bench *bench, const struct line *line, struct timing t) {
    double rate = 1e-9 * line->work / t.median, share = line->work / t.median / line->limit;
    double best_share = line->work / t.best / line->limit;
    if (line->unit == NANOSECONDS) rate = 1e9 * t.median / line->work;
    if (bench->options->json) {
        fprintf(bench->out,
                "{\"what\":\"%s\",\"kernels\":\"%s\",\"ms\":%.6g,\"best_ms\":%.6g,\"%s\":%.4g",
                line->what, line->table, 1e3 * t.median, 1e3 * t.best, KEYS[line->unit], rate);
        if (line->limit > 0)
            fprintf(bench->out, ",\"share\":%.4f,\"best_share\":%.4f", share, best_share);
        fprintf(bench->out, "}\n");
    } else {
        if (bench->lines == 0)
            fprintf(bench->out, "%-40s %-10s %10s %10s %17s %6s %6s\n", "what (MxKxN)", "kernels",
                    "ms", "best", "rate", "share", "best");
        fprintf(bench->out, "%-40s %-10s %10.5f %10.5f %9.4g %s", line->what, line->table,
                1e3 * t.median, 1e3 * t.best, rate, UNITS[line->unit]);
        if (line->limit > 0)
            fprintf(bench->out, "%*s%5.0f %% %4.0f %%", 7 - (int)strlen(UNITS[line->unit]), "",
                    100 * share, 100 * best_share);
        fprintf(bench->out, "\n");
    }
    fflush(bench->out);
    bench->lines++;
}

/* The best call: how well independent chains interleave is chance. */
static struct timing measure_limit(const struct bench *bench, const struct limit *limit) {
    double best = INFINITY, start = now(), call_start = start;
    while (call_start - start < allowed(bench, WARM_UP + MEASURE)) {
        limit->run();
        double end = now();
        best = fmin(best, end - call_start);
        call_start = end;
    }
    return (struct timing){best, best};
}

static void keep_higher(double *most, double value) {
    if (value > *most) *most = value;
}

void bench_limits(struct bench *bench) {
    size_t count;
    const struct limit *limits = limits_all(&count);
    for (size_t i = 0; i < count; i++) {
        const struct limit *limit = &limits[i];
        struct timing t = measure_limit(bench, limit);
        double best = limit->operations / t.best;
        keep_higher(limit->int8 ? &bench->wide8 : &bench->wide, best);
        if (limit->bits <= 128) keep_higher(limit->int8 ? &bench->int8 : &bench->f32, best);
        char what[96];
        snprintf(what, sizeof what, "limit %zu %s", limit->bits, limit->name);
        struct line line = {what, "-", limit->int8 ? GOPS : GFLOPS, limit->operations, 0};
        if (bench_wants(bench, line.table, what)) bench_print(bench, &line, t);
    }
}

double bench_limit(const struct bench *bench, const struct vit_kernels *k, bool int8) {
#ifndef __wasm__
    if (k == &vit_native) return int8 ? bench->wide8 : bench->wide;
#endif
    (void)k;
    return int8 ? bench->int8 : bench->f32;
}

/* ---- Numbers ------------------------------------------------------------ */

void bench_fill(float *x, size_t n, uint32_t *seed) {
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        x[i] = (float)((int32_t)((*seed >> 8) % 33) - 16) / 16;
    }
}

bool bench_no_memory(vit_error *why) {
    snprintf(why->text, sizeof why->text, "no memory for this measurement");
    return false;
}
