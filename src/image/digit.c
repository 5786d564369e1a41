#include "digit.h"

#include <assert.h>
#include <string.h>

enum { LEVELS = 256 };

struct box {
    size_t top, left, rows, columns;
};

static size_t longest(size_t side) {
    size_t most = (20 * side + 14) / 28;
    return most ? most : 1;
}

/* The cells that gather the box's ink, then one row of cells. */
uint64_t digit_size(size_t rows, size_t columns) {
    uint64_t wide = longest(columns);
    return longest(rows) * wide * sizeof(uint64_t) + wide * sizeof(uint32_t);
}

/* Counts `n` pixels' levels and the steps between neighbours. */
static void count_levels(uint32_t *levels, uint32_t *steps, const uint8_t *x, size_t n,
                         size_t stride) {
    for (size_t i = 0; i < n; i++) levels[x[i * stride]]++;
    for (size_t i = 1; i < n; i++) {
        int step = x[i * stride] - x[(i - 1) * stride];
        steps[step < 0 ? -step : step]++;
    }
}

/* The level at place `rank`, from 0, if all that was counted is sorted by level. */
static unsigned ranked(const uint32_t *counts, uint64_t rank) {
    unsigned level = 0;
    for (uint64_t sum = counts[0]; sum <= rank && level < LEVELS - 1; sum += counts[level]) level++;
    return level;
}

static uint64_t total(const uint32_t *counts) {
    uint64_t sum = 0;
    for (size_t i = 0; i < LEVELS; i++) sum += counts[i];
    return sum;
}

/* Turns grey levels into ink, 0 on the paper, and returns the most ink; 0 if nothing stands out.
 * The paper's level is the median of the border. The ink lies on the side, darker or lighter,
 * whose extreme is further from the paper, beyond the border's own spread (uneven light) and
 * grain (noise). */
static unsigned find_ink(uint8_t *plane, size_t rows, size_t columns) {
    uint32_t levels[LEVELS] = {0}, steps[LEVELS] = {0}, spreads[LEVELS] = {0};
    size_t n = rows * columns;
    count_levels(levels, steps, plane, columns, 1);
    count_levels(levels, steps, plane + n - columns, columns, 1);
    count_levels(levels, steps, plane, rows, columns);
    count_levels(levels, steps, plane + columns - 1, rows, columns);
    uint8_t darkest = LEVELS - 1, lightest = 0;
    for (size_t i = 0; i < n; i++) {
        darkest = plane[i] < darkest ? plane[i] : darkest;
        lightest = plane[i] > lightest ? plane[i] : lightest;
    }

    uint64_t count = total(levels); /* even: the paper is the middle one further from the ink */
    unsigned low = ranked(levels, count / 2 - 1), high = ranked(levels, count / 2);
    bool dark = low + high >= darkest + lightest;
    unsigned paper = dark ? high : low, most = dark ? paper - darkest : lightest - paper;
    for (unsigned i = 0; i < LEVELS; i++) spreads[i > paper ? i - paper : paper - i] += levels[i];
    unsigned spread = ranked(spreads, count / 2), grain = ranked(steps, total(steps) / 2);
    unsigned gate = 5 * spread / 2 > 6 * grain ? 5 * spread / 2 : 6 * grain;
    if (most < DIGIT_FAINTEST || most <= gate) return 0;

    int sign = dark ? -1 : 1, from = (int)paper, least = (int)gate;
    for (size_t i = 0; i < n; i++) {
        int ink = sign * (plane[i] - from);
        plane[i] = (uint8_t)(ink > least ? ink : 0);
    }
    return most;
}

/* The box of all ink above `faint`. There must be some. */
static struct box find_box(const uint8_t *ink, size_t rows, size_t columns, unsigned faint) {
    size_t top = rows, bottom = 0, left = columns, right = 0;
    for (size_t y = 0; y < rows; y++) {
        const uint8_t *row = ink + y * columns;
        size_t first = 0, end = columns;
        while (first < columns && row[first] <= faint) first++;
        if (first == columns) continue;
        while (row[end - 1] <= faint) end--;
        if (top == rows) top = y;
        bottom = y + 1;
        if (first < left) left = first;
        if (end > right) right = end;
    }
    return (struct box){top, left, bottom - top, right - left};
}

/* Shares n pixels among m cells by the length that they have in common. A pixel is m long, a cell
 * n. */
static void share_line(uint32_t *cells, size_t m, const uint8_t *ink, size_t n) {
    memset(cells, 0, m * sizeof *cells);
    size_t cell = 0, at = 0, edge = n;
    for (size_t i = 0; i < n; i++, at += m) {
        size_t rest = m;
        for (; at + m > edge; edge += n) {
            size_t part = rest - (at + m - edge);
            cells[cell++] += (uint32_t)(ink[i] * part);
            rest -= part;
        }
        cells[cell] += (uint32_t)(ink[i] * rest);
    }
}

static void add_line(uint64_t *cells, const uint32_t *line, size_t columns, size_t length) {
    for (size_t x = 0; x < columns; x++) cells[x] += (uint64_t)line[x] * length;
}

/* Averages ink (n_rows,n_columns) of a larger plane by area into cells (rows,columns), then scales
 * the cells to bytes like MNIST's: the fullest cell is 255. `line` has room for a row of cells. */
static void shrink(uint64_t *cells, uint32_t *line, size_t rows, size_t columns, const uint8_t *ink,
                   size_t n_rows, size_t n_columns, size_t stride) {
    size_t n = rows * columns;
    memset(cells, 0, n * sizeof *cells);
    uint64_t *row = cells, most = 0;
    size_t at = 0, edge = n_rows;
    for (size_t y = 0; y < n_rows; y++, at += rows) {
        share_line(line, columns, ink + y * stride, n_columns);
        size_t rest = rows;
        for (; at + rows > edge; edge += n_rows, row += columns) {
            size_t part = rest - (at + rows - edge);
            add_line(row, line, columns, part);
            rest -= part;
        }
        add_line(row, line, columns, rest);
    }
    for (size_t i = 0; i < n; i++)
        if (cells[i] > most) most = cells[i];
    assert(most > 0);
    for (size_t i = 0; i < n; i++) cells[i] = (255 * cells[i] + most / 2) / most;
}

/* Where a box of `size` begins on a side of `room`, so that its centre of mass lies within half a
 * pixel of room/2. moment/mass is the mean index in the box. Nothing is cut off. */
static size_t begin(uint64_t moment, uint64_t mass, size_t size, size_t room) {
    uint64_t want = mass * (room - 1), have = 2 * moment;
    uint64_t at = want > have ? (want - have + 2 * mass - 1) / (2 * mass) : 0;
    return at < room - size ? (size_t)at : room - size;
}

/* Draws the cells so that their mass is centred. They show `box` of the drawing. Returns where the
 * image lies in the drawing. */
static vit_placement place(float *image, size_t rows, size_t columns, const uint64_t *cells,
                           size_t box_rows, size_t box_columns, struct box box) {
    uint64_t mass = 0, down = 0, across = 0;
    for (size_t y = 0; y < box_rows; y++)
        for (size_t x = 0; x < box_columns; x++) {
            uint64_t ink = cells[y * box_columns + x];
            mass += ink, down += y * ink, across += x * ink;
        }
    size_t top = begin(down, mass, box_rows, rows),
           left = begin(across, mass, box_columns, columns);
    memset(image, 0, rows * columns * sizeof *image);
    for (size_t y = 0; y < box_rows; y++)
        for (size_t x = 0; x < box_columns; x++)
            image[(top + y) * columns + left + x] = (float)cells[y * box_columns + x] / 255.0f;
    double cell_height = (double)box.rows / (double)box_rows;
    double cell_width = (double)box.columns / (double)box_columns;
    return (vit_placement){
        .left = (double)box.left - (double)left * cell_width,
        .top = (double)box.top - (double)top * cell_height,
        .width = (double)columns * cell_width,
        .height = (double)rows * cell_height,
    };
}

bool digit_draw(float *image, vit_placement *placement, size_t rows, size_t columns, uint8_t *grey,
                size_t grey_rows, size_t grey_columns, void *scratch) {
    unsigned most = find_ink(grey, grey_rows, grey_columns);
    if (most == 0) return false;
    struct box box = find_box(grey, grey_rows, grey_columns, most / 16);
    assert(box.rows > 0 && box.columns > 0);
    size_t h = longest(rows), w = longest(columns);
    uint64_t *cells = scratch;
    uint32_t *line = (uint32_t *)(cells + h * w);
    if (box.rows * w >= box.columns * h)
        w = (box.columns * h + box.rows / 2) / box.rows;
    else
        h = (box.rows * w + box.columns / 2) / box.columns;
    h += h == 0;
    w += w == 0;
    const uint8_t *ink = grey + box.top * grey_columns + box.left;
    shrink(cells, line, h, w, ink, box.rows, box.columns, grey_columns);
    *placement = place(image, rows, columns, cells, h, w, box);
    return true;
}
