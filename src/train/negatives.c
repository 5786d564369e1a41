/* Drawings that are not digits, from which a model learns to be unsure (outlier exposure:
 * Hendrycks, Mazeika & Dietterich, arXiv:1812.04606): letters and signs that do not look like a
 * digit, scribbles, hatching, and two digits side by side. */
#include "negatives.h"
#include "habits.h"

#include <string.h>

/* The corners of each shape, as x and y from the upper left on a grid of 0…9. A comma begins a new
 * stroke. */
static const char *const SHAPES[] = {
    /* A */ "09 40 89,26 66",
    /* C */ "82 50 20 03 06 29 59 87",
    /* E */ "80 00 09 89,04 64",
    /* F */ "80 00 09,04 64",
    /* G */ "82 50 20 03 06 29 69 86 85 55",
    /* H */ "00 09,80 89,04 84",
    /* K */ "00 09,80 05 89",
    /* L */ "00 09 79",
    /* M */ "09 00 45 80 89",
    /* N */ "09 00 89 80",
    /* P */ "09 00 60 82 64 04",
    /* Q */ "40 03 06 49 86 83 40,56 99",
    /* R */ "09 00 60 82 64 04,44 89",
    /* T */ "00 80,40 49",
    /* U */ "00 06 29 69 86 80",
    /* V */ "00 49 80",
    /* W */ "00 29 43 69 80",
    /* X */ "00 89,80 09",
    /* Y */ "00 45 80,45 49",
    /* f */ "71 50 32 39,14 64",
    /* h */ "00 09,06 34 55 59",
    /* k */ "00 09,63 06 69",
    /* m */ "04 09,05 24 35 39,35 54 65 69",
    /* n */ "04 09,06 34 65 69",
    /* r */ "04 09,06 24 54",
    /* t */ "30 38 49 69,03 63",
    /* w */ "04 29 45 69 84",
    /* x */ "04 69,64 09",
    /* plus */ "40 48,04 84",
    /* equals */ "03 83,06 86",
    /* hash */ "30 18,70 58,03 83,06 76",
    /* star */ "19 40 79 03 83 19",
    /* triangle */ "40 09 89 40",
    /* arrow */ "05 85,62 85 68",
    /* heart */ "43 20 03 49 83 60 43",
    /* tick */ "05 29 90",
    /* wave */ "05 22 45 67 85",
    /* house */ "09 04 40 84 89 09",
    /* Those below come near a digit: a model that has nothing but its classes would doubt digits. */
    /* smiley */ "40 11 04 17 48 77 84 71 40,32 33,52 53,26 37 57 66",
    /* spiral */ "44 54 56 36 33 62 75 68 38 14 21 50",
    /* flash */ "50 25 64 29",
    /* square */ "00 80 88 08 00",
    /* infinity */ "44 22 04 26 44 62 84 66 44",
    /* cloud */ "17 05 23 41 62 84 87 17",
    /* sun */ "42 24 46 64 42,40 41,04 14,84 74,48 47",
    /* crossed circle */ "40 04 48 84 40,40 48,04 84",
    /* tree */ "48 46 06 40 86 46",
    /* umbrella */ "04 22 41 62 84 04,44 48 39 28",
    /* eye */ "04 42 84 46 04,44 45",
    /* note */ "39 18 27 38 30 62",
};
enum { CELLS = 9, STEPS = 5, MOST_CORNERS = 16, NEAR = 12 /* the last of SHAPES */ };

static size_t points_of(const char *shape) {
    return (strlen(shape) + 1) / 3 * STEPS;
}

size_t negative_points(void) {
    size_t most = SCRIBBLE_POINTS;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        if (points_of(SHAPES[i]) > most) most = points_of(SHAPES[i]);
    return most;
}

/* Maps a shape's corners to places on the plane. */
struct hand {
    float xx, xy, yx, yy, x, y, width;
};

static struct hand draw_hand(struct rng *rng, size_t side) {
    float size = (float)((double)side * (0.4 + 0.3 * rng_unit(rng))) / CELLS;
    float wide = (float)(size * exp(rng_within(rng, 0.4))), slant = (float)rng_within(rng, 0.35);
    float turn = (float)rng_within(rng, 0.2);
    struct hand hand = {
        wide, -slant * size, turn * wide, size, 0, 0, draw_width(rng, size * CELLS)};
    hand.x = (float)side / 2 - (hand.xx + hand.xy) * CELLS / 2;
    hand.y = (float)side / 2 - (hand.yx + hand.yy) * CELLS / 2;
    return hand;
}

static vit_point place(const struct hand *hand, const float corner[2]) {
    return (vit_point){hand->x + hand->xx * corner[0] + hand->xy * corner[1],
                       hand->y + hand->yx * corner[0] + hand->yy * corner[1], hand->width};
}

static void draw_shape(uint8_t *ink, size_t side, vit_point *points, bool near, struct rng *rng) {
    const char *at = SHAPES[rng_below(rng, sizeof SHAPES / sizeof *SHAPES - (near ? 0 : NEAR))];
    struct hand hand = draw_hand(rng, side);
    for (size_t n = 0;; at += 3) {
        float corner[2] = {(float)(at[0] - '0' + rng_within(rng, 0.7)),
                           (float)(at[1] - '0' + rng_within(rng, 0.7))};
        vit_point to = place(&hand, corner), from = n ? points[n - 1] : to;
        for (size_t i = n ? 1 : STEPS; i <= STEPS; i++) {
            float t = (float)i / STEPS;
            points[n++] =
                (vit_point){from.x + t * (to.x - from.x), from.y + t * (to.y - from.y), hand.width};
        }
        if (at[2] == ' ') continue;
        vit_draw_stroke(ink, side, side, points, n);
        if (!at[2]) return;
        n = 0;
    }
}

/* A pen that wanders; each turn keeps a part of the turn before it. */
static void draw_scribble(uint8_t *ink, size_t side, vit_point *points, struct rng *rng) {
    size_t strokes = 1 + rng_below(rng, 4);
    float width = draw_width(rng, 0.6f * (float)side), room = 0.7f * (float)side;
    for (size_t stroke = 0; stroke < strokes; stroke++) {
        size_t n = 4 + rng_below(rng, SCRIBBLE_POINTS - 3);
        double x = rng_unit(rng), y = rng_unit(rng), angle = 6.28 * rng_unit(rng), turn = 0;
        double step = 0.05 + 0.15 * rng_unit(rng), wild = 0.2 + 0.8 * rng_unit(rng);
        for (size_t i = 0; i < n; i++) {
            turn = 0.7 * turn + wild * rng_normal(rng);
            angle += turn;
            x += step * cos(angle), y += step * sin(angle);
            x = fmin(fmax(x, 0), 1), y = fmin(fmax(y, 0), 1);
            points[i] = (vit_point){0.15f * (float)side + room * (float)x,
                                    0.15f * (float)side + room * (float)y, width};
        }
        vit_draw_stroke(ink, side, side, points, n);
    }
}

/* Dense hatching to and fro, at any angle. */
static void draw_zigzag(uint8_t *ink, size_t side, vit_point *points, struct rng *rng) {
    size_t n = 6 + rng_below(rng, SCRIBBLE_POINTS - 5);
    double angle = 6.28 * rng_unit(rng), wide = 0.3 + 0.25 * rng_unit(rng), rough = 0.12 * wide;
    float width = draw_width(rng, (float)wide * (float)side);
    for (size_t i = 0; i < n; i++) {
        double across = (i % 2 ? wide : -wide) / 2 + rough * rng_normal(rng);
        double along = ((double)i / (double)(n - 1) - 0.5) * 0.6 + rough * rng_normal(rng);
        points[i] = (vit_point){
            (float)side * (float)(0.5 + across * cos(angle) - along * sin(angle)),
            (float)side * (float)(0.5 + across * sin(angle) + along * cos(angle)), width};
    }
    vit_draw_stroke(ink, side, side, points, n);
}

void negative_draw(uint8_t *ink, size_t side, vit_point *points, bool near, struct rng *rng) {
    double kind = rng_unit(rng);
    if (kind < 0.65)
        draw_shape(ink, side, points, near, rng);
    else if (kind < 0.85)
        draw_scribble(ink, side, points, rng);
    else
        draw_zigzag(ink, side, points, rng);
}

/* Small letters that no digit resembles, as sketch_write reads them. */
static const char *const LETTERS[] = {
    /* a */ "64 43 15 18 39 67 64,63 66 79",
    /* c */ "72 50 14 17 49 68 77",
    /* d */ "65 44 15 18 49 67,60 65 69",
    /* e */ "16 66 64 43 15 18 49 78",
    /* f */ "70 50 32 34 39,14 64",
    /* h */ "10 15 19,16 34 54 65 69",
    /* k */ "10 15 19,63 16 16 69",
    /* m */ "04 06 09,05 23 35 39,36 54 65 69",
    /* n */ "14 16 19,16 34 54 66 69",
    /* p */ "12 15 19,13 32 63 65 36 15",
    /* r */ "14 16 19,16 34 54 65",
    /* t */ "40 43 47 59 78,14 74",
    /* u */ "13 16 29 59 66 63,63 66 79",
    /* v */ "03 49 49 93",
    /* w */ "03 29 29 45 45 69 69 93",
    /* x */ "13 79,73 19",
};

void negative_letter(struct sketch *s, struct rng *rng) {
    sketch_write(s, LETTERS[rng_below(rng, sizeof LETTERS / sizeof *LETTERS)], rng);
}

void negative_blot(struct sketch *s, struct rng *rng) {
    enum { CORNERS = 6 };
    float first = rng_between(rng, 0, 6.283), flat = rng_between(rng, 0.7, 1);
    s->points = 0;
    s->strokes = 1;
    s->length[0] = CORNERS + 1;
    for (size_t i = 0; i <= CORNERS; i++) {
        float angle = first + 6.283f * (float)i / CORNERS, reach = rng_between(rng, 0.7, 1);
        s->point[s->points++] = (vit_point){reach * cosf(angle), flat * reach * sinf(angle), 0};
    }
}

/* Pastes an image (rows,columns) at (top,left) of a square plane. Ink that is already darker
 * stays. */
static void paste(uint8_t *ink, size_t side, const uint8_t *image, size_t rows, size_t columns,
                  size_t top, size_t left) {
    for (size_t y = 0; y < rows && top + y < side; y++)
        for (size_t x = 0; x < columns && left + x < side; x++) {
            uint8_t *to = &ink[(top + y) * side + left + x];
            if (image[y * columns + x] > *to) *to = image[y * columns + x];
        }
}

void negative_pair(uint8_t *ink, size_t side, const struct data_set *data, size_t images,
                   struct rng *rng) {
    size_t rows = data->rows, columns = data->columns, pixels = rows * columns;
    size_t apart = 3 * columns / 4 + rng_below(rng, columns / 4 + 1);
    for (size_t i = 0; i < 2; i++)
        paste(ink, side, data->images + rng_below(rng, images) * pixels, rows, columns,
              1 + rng_below(rng, rows / 4 + 1), 1 + i * apart);
}
