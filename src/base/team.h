/* How threads share a run: by rows, of which each token is one. Only attention looks from one
 * row at others (blocks.c). */
#ifndef VIT_TEAM_H
#define VIT_TEAM_H

#include "vit.h"

#if defined(__wasm__) && !defined(__wasm_atomics__)
enum { TEAMS = false }; /* a module without atomics has one thread, and is spared the code */
#else
enum { TEAMS = true };
#endif

static inline size_t team_size(const vit_team *team) {
    return TEAMS && team ? team->size : 1;
}

/* part(context, i, count) for all i < count, by the team; in one part where that is NULL. */
static inline void team_run(vit_team *team, vit_part *part, void *context) {
    if (TEAMS && team)
        team->run(team, part, context);
    else
        part(context, 0, 1);
}

/* Rows one after the other. */
struct rows {
    size_t first, count;
};

/* Part `part` of the rows of `batch` images: whole images where that is even, else whole tiles
 * of the kernels', or nearly. */
struct rows team_rows(size_t batch, size_t each, size_t part, size_t parts);
static inline struct rows rows_part(size_t batch, size_t each, size_t part, size_t parts) {
    return TEAMS ? team_rows(batch, each, part, parts) : (struct rows){0, batch * each};
}

/* Those of `rows` that lie in first…first+count-1, counted from `first`. */
static inline struct rows rows_within(struct rows rows, size_t first, size_t count) {
    size_t end = rows.first + rows.count, begin = rows.first > first ? rows.first : first;
    if (end > first + count) end = first + count;
    return begin < end ? (struct rows){begin - first, end - begin} : (struct rows){0, 0};
}

#endif
