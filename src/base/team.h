/* How threads share a run: each takes some of the rows, and a row is a token. Only in attention
 * does a row depend on others (blocks.c). */
#ifndef VIT_TEAM_H
#define VIT_TEAM_H

#include "vit.h"

#if defined(__wasm__) && !defined(__wasm_atomics__)
enum { TEAMS = false }; /* a module without atomics has one thread and needs no code for more */
#else
enum { TEAMS = true };
#endif

static inline size_t team_size(const vit_team *team) {
    return TEAMS && team ? team->size : 1;
}

/* The team calls part(context, i, count) for all i < count. Without a team there is one part. */
static inline void team_run(vit_team *team, vit_part *part, void *context) {
    if (TEAMS && team)
        team->run(team, part, context);
    else
        part(context, 0, 1);
}

/* The rows first…first+count-1. */
struct rows {
    size_t first, count;
};

/* Part `part` of the rows of `batch` images, `each` rows an image. A part is whole images if they
 * divide evenly, else about an even share of the rows, cut between the kernels' tiles. */
struct rows team_rows(size_t batch, size_t each, size_t part, size_t parts);
static inline struct rows rows_part(size_t batch, size_t each, size_t part, size_t parts) {
    return TEAMS ? team_rows(batch, each, part, parts) : (struct rows){0, batch * each};
}

/* The part of `rows` that lies in first…first+count-1, counted from `first`. */
static inline struct rows rows_within(struct rows rows, size_t first, size_t count) {
    size_t end = rows.first + rows.count, begin = rows.first > first ? rows.first : first;
    if (end > first + count) end = first + count;
    return begin < end ? (struct rows){begin - first, end - begin} : (struct rows){0, 0};
}

/* [begin, end): part `thread` of `threads` of n things. */
struct range {
    size_t begin, end;
};
static inline struct range range_part(size_t n, size_t thread, size_t threads) {
    uint64_t end = n; /* in 32 bits a product could be too large */
    return (struct range){(size_t)(end * thread / threads), (size_t)(end * (thread + 1) / threads)};
}

#endif
