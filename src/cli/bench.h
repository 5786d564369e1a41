/* vit bench has five files: bench.c measures a whole model, bench_training.c a training step,
 * bench_kernels.c the kernels, limit.c the machine; bench_lines.c takes the time and writes the
 * lines. The native command contains them. For wasm they are a program of their own. */
#ifndef VIT_BENCH_H
#define VIT_BENCH_H

#include "kernels/kernels.h"

#include <stdio.h>

struct bench_options {
    const char *model; /* safetensors; NULL: the shipped one, if it is found */
    const char *only;  /* only lines whose names have all these words; NULL: all lines */
    bool json;         /* each line is a JSON object */
    bool brief;        /* measures each line for a moment: enough for a test, not for a figure */
};

/* Checks every result, then measures it and writes a line. False if a result is wrong. */
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

/* Images of a batch; and operations: no batch or step that takes more of them is run. */
#define BENCH_BATCH 64
#define BENCH_MOST 5e10

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
    double f32, int8;   /* limits at 128 bits; of several the highest */
    double wide, wide8; /* and at any width, for kernels of the machine's own */
};

struct timing bench_measure(const struct bench *bench, void (*run)(void *), void *context);
void bench_print(struct bench *bench, const struct line *line, struct timing t);
/* A table's name, with a number if an earlier table has the same name. */
struct label {
    char text[24];
};
struct label bench_label(const struct vit_kernels *k);
/* Whether a line's name, "TABLE WHAT", has every word of --only. */
bool bench_wants(const struct bench *bench, const char *table, const char *what);
/* Measures the limits, whatever --only says, because shares are counted from them. */
void bench_limits(struct bench *bench);
/* The limit that is 100 % for a table, in operations a second. */
double bench_limit(const struct bench *bench, const struct vit_kernels *k, bool int8);

/* Fills x with multiples of 1/16 from -1 to 1. A sum of up to 2^16 products of two such numbers is
 * exact in any order, so a matmul has one right answer. */
void bench_fill(float *x, size_t n, uint32_t *seed);
bool bench_no_memory(vit_error *why); /* writes the message; always false */

bool bench_kernels(struct bench *bench, vit_error *why);
/* Steps from random parameters of the model's shape. Models of one channel that can be trained. */
bool bench_training(struct bench *bench, const vit_model *model, vit_error *why);

#endif
