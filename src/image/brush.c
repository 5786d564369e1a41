/* Strokes of a pen → pixels of ink, as the page's canvas draws them. A stroke is a chain of
 * quadratic curves with round caps. The curves meet at the midpoints between the pen's points and
 * have the points as control points. A pixel holds the share of it that a band of the pen's width
 * covers. */
#include <math.h>

#include "draw.h"

static float at_most(float x, float limit) {
    return x < limit ? x : limit;
}

static float at_least(float x, float limit) {
    return x > limit ? x : limit;
}

/* The rows or columns whose centres lie within `reach` of both ends, clipped to 0…n. */
static void span(size_t *first, size_t *end, float a, float b, float reach, size_t n) {
    float low = floorf(at_most(a, b) - reach), high = ceilf(at_least(a, b) + reach);
    *first = (size_t)at_most(at_least(low, 0), (float)n);
    *end = (size_t)at_most(at_least(high, 0), (float)n);
}

/* A straight line with round ends. Ink that is already darker stays. */
static void draw_line(uint8_t *ink, size_t rows, size_t columns, vit_point a, vit_point b) {
    float radius = (a.width + b.width) / 4, reach = radius + 0.5f;
    float dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    size_t top, bottom, left, right;
    span(&top, &bottom, a.y, b.y, reach, rows);
    span(&left, &right, a.x, b.x, reach, columns);
    for (size_t row = top; row < bottom; row++)
        for (size_t column = left; column < right; column++) {
            uint8_t *pixel = ink + row * columns + column;
            if (*pixel == 255) continue; /* full: most of a line lies on the one before it */
            float x = (float)column + 0.5f - a.x, y = (float)row + 0.5f - a.y;
            float along = square > 0 ? (x * dx + y * dy) / square : 0;
            along = at_most(at_least(along, 0), 1);
            x -= along * dx, y -= along * dy;
            float distance = sqrtf(x * x + y * y);
            float covered = at_most(distance + 0.5f, radius) - at_least(distance - 0.5f, -radius);
            uint8_t level = (uint8_t)(255 * at_most(at_least(covered, 0), 1) + 0.5f);
            if (level > *pixel) *pixel = level;
        }
}

static vit_point between(vit_point a, vit_point b, float t) {
    return (vit_point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y),
                       a.width + t * (b.width - a.width)};
}

/* A Bézier curve as n lines. They stay within 1/n² of the curve's height over its chord; n is
 * chosen so that this is an eighth of a pixel or less. */
static void draw_curve(uint8_t *ink, size_t rows, size_t columns, vit_point from, vit_point control,
                       vit_point to) {
    enum { MOST = 64 };
    float x = from.x - 2 * control.x + to.x, y = from.y - 2 * control.y + to.y;
    float lines = ceilf(sqrtf(2 * sqrtf(x * x + y * y)));
    size_t n = (size_t)at_most(at_least(lines, 1), MOST);
    vit_point a = from;
    a.width = (from.width + to.width) / 2; /* a canvas gives a path one width */
    for (size_t i = 1; i <= n; i++) {
        float t = (float)i / (float)n;
        vit_point b = between(between(from, control, t), between(control, to, t), t);
        b.width = a.width;
        draw_line(ink, rows, columns, a, b);
        a = b;
    }
}

void vit_draw_stroke(uint8_t *ink, size_t rows, size_t columns, const vit_point *points,
                     size_t count) {
    if (count == 0) return;
    vit_point from = points[0], last = points[count - 1];
    for (size_t i = 1; i + 1 < count; i++) {
        vit_point middle = between(points[i], points[i + 1], 0.5f);
        draw_curve(ink, rows, columns, from, points[i], middle);
        from = middle;
    }
    draw_curve(ink, rows, columns, from, last, last);
}
