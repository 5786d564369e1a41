/* Pen drawings in memory, and how a pen draws them. */
#include "strokes.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void drawings_close(struct drawings *drawings) {
    free(drawings->list);
    free(drawings->lengths);
    free(drawings->points);
    *drawings = (struct drawings){0};
}

enum writers writers_part(size_t writer) {
    if (writer % 5 == 0) return WRITERS_HELD_OUT;
    return writer % 10 == 4 ? WRITERS_VALIDATION : WRITERS_TRAINING;
}

struct box points_box(const vit_point *points, size_t count) {
    struct box box = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (size_t i = 0; i < count; i++) {
        box.low[0] = fminf(box.low[0], points[i].x);
        box.low[1] = fminf(box.low[1], points[i].y);
        box.high[0] = fmaxf(box.high[0], points[i].x);
        box.high[1] = fmaxf(box.high[1], points[i].y);
    }
    return box;
}

static float wave_at(const struct wave *wave, float at) {
    return wave->height * sinf(wave->length * at + wave->phase);
}

/* Where the pen puts a point (x,y) of a drawing of size 1 around (0,0), at `time` from 0 to 1. */
static vit_point put_point(const struct pen *pen, float x, float y, float time) {
    return (vit_point){
        pen->x + pen->size * (x * (1 + pen->perspective * y) + wave_at(&pen->bend[0], y)),
        pen->y + pen->size * (y + wave_at(&pen->bend[1], x)),
        pen->width * (1 + wave_at(&pen->pressure, time)),
    };
}

bool sketch_open(struct sketch *s, const struct drawings *drawings, size_t points, size_t strokes) {
    *s = (struct sketch){0};
    s->most_points = points + (drawings ? drawings->most_points : 0);
    s->most_strokes = strokes + (drawings ? drawings->most_strokes : 0);
    s->point = malloc(s->most_points * sizeof *s->point);
    s->length = malloc(s->most_strokes * sizeof *s->length);
    return s->point && s->length;
}

void sketch_close(struct sketch *s) {
    free(s->point);
    free(s->length);
    *s = (struct sketch){0};
}

void sketch_take(struct sketch *s, const struct drawings *drawings, size_t index) {
    const struct drawing *drawing = &drawings->list[index];
    float(*from)[2] = drawings->points + drawing->first_point;
    s->points = drawing->points;
    s->strokes = drawing->strokes;
    for (size_t i = 0; i < s->points; i++) s->point[i] = (vit_point){from[i][0], from[i][1], 0};
    memcpy(s->length, drawings->lengths + drawing->first_stroke, s->strokes * sizeof *s->length);
}

void sketch_cut(struct sketch *s, double share) {
    size_t points = (size_t)((double)s->points * share), end = 0;
    if (points >= s->points) return;
    s->points = points ? points : 1;
    for (size_t i = 0; i < s->strokes; i++) {
        end += s->length[i];
        if (end < s->points) continue;
        s->length[i] -= end - s->points;
        s->strokes = i + 1;
    }
}

/* Stretches and slants the points as the pen does. */
static struct box stretch_points(struct sketch *s, const struct pen *pen) {
    for (size_t i = 0; i < s->points; i++)
        s->point[i].x = s->point[i].x * pen->stretch - s->point[i].y * pen->slant;
    return points_box(s->point, s->points);
}

void pen_draw_line(uint8_t *ink, size_t rows, size_t columns, const struct pen *pen) {
    enum { POINTS = 9 };
    vit_point line[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        float time = (float)i / (POINTS - 1), y = time - 0.5f;
        line[i] = put_point(pen, -pen->slant * y, y, time);
    }
    vit_draw_stroke(ink, rows, columns, line, POINTS);
}

float sketch_narrowness(const struct sketch *s, float stretch) {
    struct box box = points_box(s->point, s->points);
    float wide = stretch * box.high[0] - stretch * box.low[0], high = box.high[1] - box.low[1];
    float longer = fmaxf(wide, high);
    return longer > 0 ? fminf(wide, high) / longer : 1;
}

void sketch_draw(uint8_t *ink, size_t rows, size_t columns, struct sketch *s,
                 const struct pen *pen) {
    struct box box = stretch_points(s, pen);
    float wide = box.high[0] - box.low[0], high = box.high[1] - box.low[1];
    float longer = fmaxf(wide, high), scale = longer > 0 ? 1 / longer : 0;
    for (size_t i = 0; i < s->points; i++) {
        float x = scale * (s->point[i].x - box.low[0] - wide / 2);
        float y = scale * (s->point[i].y - box.low[1] - high / 2);
        s->point[i] = put_point(pen, x, y, (float)i / (float)s->points);
    }
    const vit_point *at = s->point;
    for (size_t i = 0; i < s->strokes; at += s->length[i++])
        vit_draw_stroke(ink, rows, columns, at, s->length[i]);
}
