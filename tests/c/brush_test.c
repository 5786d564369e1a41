/* The brush, compared with a pixel's covered area, which is counted by points, and with properties
 * that ink must have. */
#include "check.h"

#include "../../src/draw.h"

enum { SIDE = 64, CELLS = 16, LINES = 100 };

static double to_segment(double x, double y, const double a[2], const double b[2]) {
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    double t = square > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / square : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* A quadratic Bézier curve by its formula, as many lines. */
static void curve(double path[LINES + 1][2], const double p[3][2]) {
    for (int i = 0; i <= LINES; i++) {
        double t = (double)i / LINES, s = 1 - t;
        for (int k = 0; k < 2; k++)
            path[i][k] = s * s * p[0][k] + 2 * s * t * p[1][k] + t * t * p[2][k];
    }
}

/* The share of a pixel that lies within `radius` of the path, counted by CELLS² points in it. */
static double covered(const double path[LINES + 1][2], double radius, size_t row, size_t column) {
    double centre = INFINITY;
    for (int i = 0; i < LINES; i++)
        centre =
            fmin(centre, to_segment((double)column + 0.5, (double)row + 0.5, path[i], path[i + 1]));
    if (centre > radius + 0.75) return 0;
    if (centre < radius - 0.75) return 1;
    int inside = 0;
    for (int i = 0; i < CELLS * CELLS; i++) {
        double x = (double)column + (i % CELLS + 0.5) / CELLS;
        double y = (double)row + (i / CELLS + 0.5) / CELLS;
        for (int k = 0; k < LINES; k++)
            if (to_segment(x, y, path[k], path[k + 1]) <= radius) {
                inside++;
                break;
            }
    }
    return (double)inside / (CELLS * CELLS);
}

/* The brush knows only a pixel's distance and takes the edge for straight and upright. So it may
 * cut a pixel's corner, by at most (√2 - 1)/2 of the pixel's side, or 21 %. */
static const double CORNER = 0.21;

TEST("a stroke of three points covers the area of its curve") {
    uint64_t seed = 1;
    for (int trial = 0; trial < 6; trial++) {
        uint8_t ink[SIDE * SIDE] = {0};
        vit_point points[3];
        double p[3][2], path[LINES + 1][2], path2[LINES + 1][2];
        float width = trial < 3 ? 1.5f + (float)trial * 3 : 12;
        for (int i = 0; i < 3; i++) {
            points[i] =
                (vit_point){32 + 24 * random_float(&seed), 32 + 24 * random_float(&seed), width};
            p[i][0] = (double)points[i].x, p[i][1] = (double)points[i].y;
        }
        vit_draw_stroke(ink, SIDE, SIDE, points, 3);
        /* A curve to the midpoint of the second and third point, then a straight line. */
        double middle[2] = {(p[1][0] + p[2][0]) / 2, (p[1][1] + p[2][1]) / 2};
        curve(path,
              (const double[3][2]){{p[0][0], p[0][1]}, {p[1][0], p[1][1]}, {middle[0], middle[1]}});
        curve(path2,
              (const double[3][2]){{middle[0], middle[1]}, {p[2][0], p[2][1]}, {p[2][0], p[2][1]}});
        double worst = 0, sum = 0;
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            double radius = (double)width / 2, want = covered(path, radius, i / SIDE, i % SIDE);
            want = fmax(want, covered(path2, radius, i / SIDE, i % SIDE));
            worst = fmax(worst, fabs(ink[i] / 255.0 - want));
            sum += ink[i] / 255.0 - want;
        }
        CHECK(worst <= CORNER, "width %g: a pixel is %g off", (double)width, worst);
        CHECK(fabs(sum) <= 4, "width %g: the area is %g pixels off", (double)width, sum);
    }
}

TEST("a stroke of one point is a dot of the pen's area, at that point") {
    for (float width = 2; width <= 40; width *= 1.5f) {
        uint8_t ink[SIDE * SIDE] = {0};
        vit_draw_stroke(ink, SIDE, SIDE, &(vit_point){30.25f, 33.75f, width}, 1);
        double mass = 0, x = 0, y = 0, radius = (double)width / 2;
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            mass += ink[i] / 255.0;
            x += ink[i] / 255.0 * ((double)(i % SIDE) + 0.5);
            y += ink[i] / 255.0 * ((double)(i / SIDE) + 0.5);
        }
        double area = acos(-1) * radius * radius;
        CHECK(within(mass, area, 0.02 * area + 0.3), "width %g: area %g, want %g", (double)width,
              mass, area);
        CHECK(within(x / mass, 30.25, 0.05) && within(y / mass, 33.75, 0.05), "width %g: at %g, %g",
              (double)width, x / mass, y / mass);
    }
}

TEST("a stroke thinner than a pixel fills its share of the pixel") {
    uint8_t ink[SIDE * SIDE] = {0};
    vit_draw_stroke(ink, SIDE, SIDE, (vit_point[]){{10, 20.5f, 0.4f}, {50, 20.5f, 0.4f}}, 2);
    CHECK(ink[20 * SIDE + 30] == 102, "0.4 of 255 is 102, got %d", ink[20 * SIDE + 30]);
    CHECK(ink[19 * SIDE + 30] == 0 && ink[21 * SIDE + 30] == 0, "the rows beside it have ink");
}

TEST("a stroke never lightens ink, and moves with its points") {
    uint64_t seed = 2;
    vit_point points[20], moved[20];
    for (int i = 0; i < 20; i++) {
        points[i] = (vit_point){20 + 12 * random_float(&seed), 20 + 12 * random_float(&seed),
                                4 + 3 * random_float(&seed)};
        moved[i] = (vit_point){points[i].x + 16, points[i].y + 8, points[i].width};
    }
    uint8_t ink[SIDE * SIDE] = {0}, other[SIDE * SIDE] = {0}, before[SIDE * SIDE];
    vit_draw_stroke(ink, SIDE, SIDE, points, 20);
    vit_draw_stroke(other, SIDE, SIDE, moved, 20);
    for (size_t i = 0; i + 8 * SIDE + 16 < SIDE * SIDE; i++) /* moved floats round differently */
        CHECK(abs(ink[i] - other[i + 8 * SIDE + 16]) <= 1, "pixel %zu: %d, moved %d", i, ink[i],
              other[i + 8 * SIDE + 16]);
    memcpy(before, ink, sizeof ink);
    vit_draw_stroke(ink, SIDE, SIDE, moved, 20);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        CHECK(ink[i] >= before[i] && ink[i] >= other[i], "pixel %zu lost ink", i);
    memcpy(before, ink, sizeof ink);
    vit_draw_stroke(ink, SIDE, SIDE, points, 0);
    CHECK_SAME_BITS(ink, before, SIDE * SIDE, "after a stroke without points");
}

TEST("points outside the image are not drawn, however far away they are") {
    enum { ROWS = 7, COLUMNS = 11, ROOM = 64 };
    static const float far[] = {-3, 20, -1e9f, 1e9f, -3e38f, 3e38f};
    uint8_t block[ROOM + ROWS * COLUMNS + ROOM];
    memset(block, 77, sizeof block);
    uint8_t *ink = block + ROOM;
    memset(ink, 0, ROWS * COLUMNS);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            vit_point points[] = {{far[i], far[j], 3}, {5, 3, 3}, {far[j], far[i], 3}};
            vit_draw_stroke(ink, ROWS, COLUMNS, points, 3);
        }
    for (size_t i = 0; i < ROOM; i++)
        CHECK(block[i] == 77 && block[ROOM + ROWS * COLUMNS + i] == 77, "written past the plane");
}
