/* vit bench, in four files: a whole model in bench.c, the kernels in bench_kernels.c, what both
 * take time and write lines by in bench_lines.c, the machine's limits in limit.c. Built into the
 * native command, and for wasm as a program of its own. */
#ifndef VIT_BENCH_H
#define VIT_BENCH_H

#include "kernels/kernels.h"

#include <stdio.h>

struct bench_options {
    const char *model; /* safetensors; NULL: the shipped one where it is found */
    const char *only;  /* NULL: everything; else words, every one of which a line's name has */
    bool json;         /* each line is a JSON object */
    bool brief;        /* a moment for each line: enough for a test, not for a number */
};

/* Checks every result, then measures it and writes a line. False: *why says what was wrong. */
bool bench_run(FILE *out, const struct bench_options *options, vit_error *why);

/* ---- The machine's limit: one operation in registers, nothing loaded ----- */

struct limit {
    const char *name;
    size_t bits;       /* of a vector */
    bool int8;         /* else f32 */
    double operations; /* a call; a multiply-add is two */
    uint32_t (*run)(void);
};

const struct limit *limits_all(size_t *count);

/* ---- Measurements and lines --------------------------------------------- */

struct timing {
    double median, best; /* seconds a call */
};

enum unit { GFLOPS, GOPS, NANOSECONDS };

struct line {
    const char *what, *table;
    enum unit unit;
    double work;  /* operations a call, or numbers */
    double limit; /* operations a second; 0: none is known */
};

struct bench {
    const struct bench_options *options;
    FILE *out;
    size_t lines;       /* written */
    double f32, int8;   /* limits at 128 bits, the higher where there are several */
    double wide, wide8; /* and at any width, for kernels of the machine's own */
};

struct timing bench_measure(const struct bench *bench, void (*run)(void *), void *context);
void bench_print(struct bench *bench, const struct line *line, struct timing t);
/* A table's name, numbered where an earlier one has the same. */
struct label {
    char text[24];
};
struct label bench_label(const struct vit_kernels *k);
/* Whether a line's name, "TABLE WHAT", has every word of --only. */
bool bench_wants(const struct bench *bench, const char *table, const char *what);
/* Measures the limits, whatever --only says, for shares need them. */
void bench_limits(struct bench *bench);
/* The limit that a table's shares are of, in operations a second. */
double bench_limit(const struct bench *bench, const struct vit_kernels *k, bool int8);

/* Multiples of 1/16 in -1..1: sums of up to 2^16 products of two are exact in any order, so
 * that a matmul has one right answer. */
void bench_fill(float *x, size_t n, uint32_t *seed);
bool bench_no_memory(vit_error *why); /* says so; false */

bool bench_kernels(struct bench *bench, vit_error *why);

#endif
