#include "team.h"

/* A kernel's tile has this many rows, or a few more. */
enum { TILE_ROWS = 4 };

static size_t rows_before(size_t batch, size_t each, size_t part, size_t parts) {
    size_t n = batch * each, even = n * part / parts;
    if (part == parts || batch % parts == 0) return even;
    size_t tiles = (even + TILE_ROWS / 2) / TILE_ROWS * TILE_ROWS;
    return tiles < n ? tiles : n;
}

struct rows team_rows(size_t batch, size_t each, size_t part, size_t parts) {
    size_t first = rows_before(batch, each, part, parts);
    return (struct rows){first, rows_before(batch, each, part + 1, parts) - first};
}
