/* Pen drawings, and pens to draw them with. */
#ifndef VIT_STROKES_H
#define VIT_STROKES_H

#include "draw.h"

enum { NO_CLASS = 255 };

struct drawings {
    struct drawing {
        uint8_t label; /* NO_CLASS: of no class */
        size_t writer;
        size_t first_stroke, strokes, first_point, points;
    } * list;
    size_t count, most_points, most_strokes; /* most: of one drawing */
    size_t *lengths;                         /* (stroke_count): points of each stroke */
    float (*points)[2];                      /* x right, y down, in the file's unit */
    size_t stroke_count, point_count;
};

void drawings_close(struct drawings *drawings);

/* A fifth of the writers is held out of training and of all choices; a tenth is for choices. */
enum writers { WRITERS_TRAINING = 1, WRITERS_VALIDATION = 2, WRITERS_HELD_OUT = 4 };
enum writers writers_part(size_t writer);

/* A pen, in pixels. */
struct pen {
    float width;
    float size;           /* of the longer side */
    float stretch, slant; /* x → stretch·x + slant·(height above the foot) */
    float x, y;           /* the centre */
    /* These differ from hand to hand. All are 0 for the drawing as it is. */
    float perspective; /* how much wider the foot is than the head, as a share of the width */
    struct wave {
        float height, length, phase; /* length: radians over the whole drawing */
    } bend[2], pressure;             /* x along y, y along x: shares of size; a share of width */
};

/* Adds a bare line of the pen's size, as most people draw a 1, to `ink` (rows,columns). */
void pen_draw_line(uint8_t *ink, size_t rows, size_t columns, const struct pen *pen);

struct box {
    float low[2], high[2]; /* x, y */
};

/* The smallest box that holds the points; infinite and inside out if there are none. */
struct box points_box(const vit_point *points, size_t count);

/* A drawing whose strokes may be changed before it is drawn. */
struct sketch {
    vit_point *point; /* (points), in the file's unit, y down; sketch_draw sets widths */
    size_t *length;   /* (strokes): points of each */
    size_t points, strokes, most_points, most_strokes;
};

/* Makes room for any of the drawings (NULL: none) and for further `points` and `strokes`. False:
 * no memory. Close it either way. */
bool sketch_open(struct sketch *sketch, const struct drawings *drawings, size_t points,
                 size_t strokes);
void sketch_close(struct sketch *sketch);
/* Copies drawing `index` into the sketch. */
void sketch_take(struct sketch *sketch, const struct drawings *drawings, size_t index);
/* The shorter side as a share of the longer one, after its width is multiplied by `stretch`. */
float sketch_narrowness(const struct sketch *sketch, float stretch);
/* Keeps the first points only, this share of them, at least one: a drawing that is not finished. */
void sketch_cut(struct sketch *sketch, double share);
/* Adds the sketch to `ink` (rows,columns). Its points become places on the ink. */
void sketch_draw(uint8_t *ink, size_t rows, size_t columns, struct sketch *sketch,
                 const struct pen *pen);

#endif
