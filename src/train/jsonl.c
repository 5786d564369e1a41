/* Reads pen drawings: a line of JSON each, {"label": 7, "writer": 12, "strokes": [[[x,y], …], …]},
 * the label null for a drawing of no class, x to the right and y up, in any unit; plain or gzipped.
 * The pen digits of Alimoglu & Alpaydin (UCI, CC BY 4.0) are such strokes. */
#define _POSIX_C_SOURCE 200809L
#include "jsonl.h"
#include "base/error.h"
#include "file/json.h"
#include "files.h"
#include "strokes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { LINE = 1 << 20, MOST_WRITERS = 1 << 30, MOST_LABELS = NO_CLASS };
/* The most text that a file may unpack to: ALWAYS bytes, or MOST_TIMES the bytes that were read.
 * Such files unpack to 5 times their size. A pipe has a limit of its own. */
enum { ALWAYS = 1 << 22, MOST_TIMES = 100, MOST_OF_PIPE = 1 << 30 };
static const double FARTHEST = 1e6;

struct reader {
    struct drawings *to;
    size_t list_room, length_room, point_room, line;
    const char *path;
    vit_error *why;
};

static vit_status complain(const struct reader *r, const char *expected) {
    return vit_fail(r->why, VIT_BAD_FILE, "%s: line %z: expected %s", r->path, r->line, expected);
}

/* Makes room for one more item of `size` bytes after `count` items. */
static bool grow(void **list, size_t *room, size_t count, size_t size) {
    if (count < *room) return true;
    size_t more = *room ? 2 * *room : 1024;
    void *larger = realloc(*list, more * size);
    if (!larger) return false;
    *list = larger;
    *room = more;
    return true;
}

static vit_status no_memory(const struct reader *r) {
    return vit_fail(r->why, VIT_NO_MEMORY, "%s: no memory for it", r->path);
}

static vit_status read_point(struct reader *r, const struct json *pair) {
    static const char expected[] = "points of two numbers, at most 1e6 from 0";
    struct drawings *to = r->to;
    struct json value;
    double at[2] = {0, 0};
    if (pair->type != JSON_ARRAY || json_length(pair) != 2) return complain(r, expected);
    struct json_walk walk = json_walk(pair);
    for (size_t i = 0; json_next(&walk, NULL, &value); i++) {
        at[i] = value.type == JSON_NUMBER ? json_number(&value) : 2 * FARTHEST;
        if (!(fabs(at[i]) <= FARTHEST)) return complain(r, expected);
    }
    if (!grow((void **)&to->points, &r->point_room, to->point_count, sizeof *to->points))
        return no_memory(r);
    float *point = to->points[to->point_count++];
    point[0] = (float)at[0];
    point[1] = (float)-at[1]; /* y of pixels points down */
    return VIT_OK;
}

static vit_status read_stroke(struct reader *r, const struct json *stroke) {
    struct drawings *to = r->to;
    struct json point;
    size_t before = to->point_count;
    if (stroke->type != JSON_ARRAY) return complain(r, "each stroke to be an array of points");
    for (struct json_walk walk = json_walk(stroke); json_next(&walk, NULL, &point);) {
        vit_status status = read_point(r, &point);
        if (status) return status;
    }
    if (to->point_count == before) return complain(r, "a point or more in each stroke");
    if (!grow((void **)&to->lengths, &r->length_room, to->stroke_count, sizeof *to->lengths))
        return no_memory(r);
    to->lengths[to->stroke_count++] = to->point_count - before;
    return VIT_OK;
}

static vit_status read_drawing(struct reader *r, const char *text, size_t size, size_t classes) {
    struct drawings *to = r->to;
    struct json whole, label, writer, strokes, stroke;
    struct drawing drawing = {.first_stroke = to->stroke_count, .first_point = to->point_count};
    size_t most = classes < MOST_LABELS ? classes : MOST_LABELS, number, by = 0;
    if (!json_read(&whole, text, size) || whole.type != JSON_OBJECT)
        return complain(r, "a JSON object");
    bool labelled = json_get(&whole, "label", &label), none = labelled && label.type == JSON_NULL;
    if (none)
        number = NO_CLASS;
    else if (!labelled || !json_size(&label, most - 1, &number))
        return vit_fail(r->why, VIT_BAD_FILE,
                        "%s: line %z: expected a `label` below the model's %z classes, or null",
                        r->path, r->line, most);
    if (json_get(&whole, "writer", &writer) && !json_size(&writer, MOST_WRITERS, &by))
        return complain(r, "`writer` to be a whole number");
    if (!json_get(&whole, "strokes", &strokes) || strokes.type != JSON_ARRAY)
        return complain(r, "an array `strokes`");
    for (struct json_walk walk = json_walk(&strokes); json_next(&walk, NULL, &stroke);) {
        vit_status status = read_stroke(r, &stroke);
        if (status) return status;
    }
    drawing.label = (uint8_t)number;
    drawing.writer = by;
    drawing.strokes = to->stroke_count - drawing.first_stroke;
    drawing.points = to->point_count - drawing.first_point;
    if (drawing.strokes == 0) return complain(r, "a stroke or more");
    if (!grow((void **)&to->list, &r->list_room, to->count, sizeof *to->list)) return no_memory(r);
    if (drawing.points > to->most_points) to->most_points = drawing.points;
    if (drawing.strokes > to->most_strokes) to->most_strokes = drawing.strokes;
    to->list[to->count++] = drawing;
    return VIT_OK;
}

static bool is_plausible(gzFile file, size_t position) {
    z_off_t read = gzoffset(file); /* negative if the file is a pipe */
    return position <= ALWAYS || position <= (read < 0 ? MOST_OF_PIPE : (size_t)read * MOST_TIMES);
}

static vit_status read_lines(struct reader *r, gzFile file, char *line, size_t classes) {
    for (size_t position = 0, before; gzgets(file, line, LINE);) {
        size_t size = strlen(line);
        before = position, position = (size_t)gztell(file);
        r->line++;
        if (size + 1 == LINE) return complain(r, "a line of less than a mebibyte");
        if (size != position - before) return complain(r, "text, without bytes of 0");
        if (!is_plausible(file, position))
            return complain(r, "no more text than is plausible for a file of its size");
        if (strspn(line, " \t\r\n") == size) continue;
        vit_status status = read_drawing(r, line, size, classes);
        if (status) return status;
    }
    int code;
    gzerror(file, &code);
    if (code != Z_OK || !gzeof(file))
        return vit_fail(r->why, VIT_BAD_FILE, "%s: the file is cut short or damaged", r->path);
    if (r->to->count == 0)
        return vit_fail(r->why, VIT_BAD_FILE,
                        "%s: expected at least one drawing, but the file is empty", r->path);
    return VIT_OK;
}

vit_status drawings_open(struct drawings *drawings, const char *path, size_t classes,
                         vit_error *why) {
    struct reader reader = {.to = drawings, .path = path, .why = why};
    *drawings = (struct drawings){0};
    int fd;
    size_t size;
    vit_status status = open_input(&fd, &size, path, why);
    if (status) return status;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return no_memory(&reader);
    }
    char *line = malloc(LINE);
    status = line ? read_lines(&reader, file, line, classes) : no_memory(&reader);
    free(line);
    gzclose(file);
    if (status) drawings_close(drawings);
    return status;
}
