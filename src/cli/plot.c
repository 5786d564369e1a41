/* Draws a training log's curves as SVG: errors above, losses below, both on logarithmic scales. */
#include "base/error.h"
#include "cli.h"
#include "train/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 720, LEFT = 60, RIGHT = WIDTH - 20, PANEL = 270, MARGIN = 30, POINT_ROOM = 16 };

struct series {
    const char *column, *label, *colour;
    size_t panel;
    bool error; /* the column is an accuracy; the curve is 1 - accuracy, in percent */
};

static const struct series SERIES[] = {
    {"train_accuracy", "error on training samples, %", "#b5651d", 0, true},
    {"validation_accuracy", "error on validation images, %", "#2a6f97", 0, true},
    {"drawings_accuracy", "error on validation drawings, %", "#4b8b3b", 0, true},
    {"train_loss", "loss on training samples", "#b5651d", 1, false},
    {"validation_loss", "loss on validation images", "#2a6f97", 1, false},
};
enum { MOST_LOG = 1 << 26 }; /* bytes */
enum { PANELS = 2, SERIES_COUNT = sizeof SERIES / sizeof *SERIES };

struct log {
    double *values; /* (SERIES_COUNT, epochs); NaN: not measured */
    size_t epochs;
};

struct text {
    char *at;
    size_t size, room;
};

#define PUT(text, ...)                                                                             \
    ((text)->size +=                                                                               \
     (size_t)snprintf((text)->at + (text)->size, (text)->room - (text)->size, __VA_ARGS__))

static size_t column_index(const char *line, const char *name) {
    size_t index = 0, size = strlen(name);
    for (const char *at = line;; at += strcspn(at, "\t\n") + 1, index++) {
        size_t length = strcspn(at, "\t\n");
        if (length == size && !memcmp(at, name, size)) return index;
        if (at[length] != '\t') return SIZE_MAX;
    }
}

static double cell(const char *line, size_t column) {
    for (; column && strcspn(line, "\t\n") < strcspn(line, "\n"); column--)
        line += strcspn(line, "\t\n") + 1;
    char *end;
    double value = strtod(line, &end);
    return column || end == line || *line == '-' ? NAN : value;
}

static vit_status read_log(struct log *log, const char *path, const char *text, vit_error *why) {
    size_t lines = 0, columns[SERIES_COUNT];
    for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
    if (strncmp(text, "epoch\t", 6) || lines < 2)
        return vit_fail(why, VIT_BAD_FILE,
                        "%s: expected the log of vit train with an epoch or more", path);
    for (size_t i = 0; i < SERIES_COUNT; i++) columns[i] = column_index(text, SERIES[i].column);
    log->epochs = lines - 1;
    log->values = malloc(SERIES_COUNT * log->epochs * sizeof *log->values);
    if (!log->values) return vit_fail(why, VIT_NO_MEMORY, "no memory to plot %s", path);
    const char *line = text;
    for (size_t epoch = 0; epoch < log->epochs; epoch++) {
        line = strchr(line, '\n') + 1;
        for (size_t i = 0; i < SERIES_COUNT; i++) {
            double value = columns[i] == SIZE_MAX ? NAN : cell(line, columns[i]);
            log->values[i * log->epochs + epoch] = SERIES[i].error ? 100 - 100 * value : value;
        }
    }
    return VIT_OK;
}

struct scale {
    double low, high; /* 1, 2 or 5 times a power of ten */
    double top, bottom;
};

static double scale_y(const struct scale *scale, double value) {
    double within = fmin(fmax(value, scale->low), scale->high);
    double share = log(within / scale->low) / log(scale->high / scale->low);
    return scale->bottom - share * (scale->bottom - scale->top);
}

/* 1, 2, 5, 10, 20, … from 1e-4 on. */
static double tick(size_t i) {
    static const double steps[] = {1, 2, 5};
    return steps[i % 3] * pow(10, (double)(i / 3) - 4);
}

/* From the last tick below all values to the first above them. */
static struct scale fit(const struct log *log, size_t panel) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < SERIES_COUNT * log->epochs; i++) {
        double value = log->values[i];
        if (SERIES[i / log->epochs].panel != panel || !(value > 0)) continue;
        low = fmin(low, value), high = fmax(high, value);
    }
    struct scale scale = {tick(0), tick(1), MARGIN + (double)panel * PANEL,
                          (double)(panel + 1) * PANEL - MARGIN};
    for (size_t i = 0; i < 30; i++) {
        if (tick(i) <= low) scale.low = tick(i);
        if (scale.high < high || scale.high <= scale.low) scale.high = tick(i);
    }
    return scale;
}

static double epoch_x(size_t epoch, size_t epochs) {
    return LEFT + (RIGHT - LEFT) * (double)epoch / (epochs > 1 ? (double)epochs - 1 : 1);
}

static void draw_grid(struct text *svg, const struct scale *scale, size_t epochs) {
    for (size_t i = 0; i < 30; i++) {
        if (tick(i) < scale->low || tick(i) > scale->high) continue;
        double y = scale_y(scale, tick(i));
        PUT(svg, "<path d=\"M%d %.1fH%d\" stroke=\"#8884\"/>", LEFT, y, RIGHT);
        PUT(svg, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 8, y + 4,
            tick(i));
    }
    size_t step = epochs > 200 ? epochs / 20 : 10;
    for (size_t epoch = 1; epoch <= epochs; epoch++)
        if (epoch == 1 || epoch == epochs || epoch % step == 0)
            PUT(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%zu</text>\n",
                epoch_x(epoch - 1, epochs), scale->bottom + 18, epoch);
}

static void draw_series(struct text *svg, const struct scale *scale, const struct log *log,
                        size_t index, size_t *labels) {
    const double *values = log->values + index * log->epochs;
    size_t known = 0;
    for (size_t i = 0; i < log->epochs; i++) known += isfinite(values[i]) != 0;
    if (!known) return;
    PUT(svg, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"",
        SERIES[index].colour);
    for (size_t i = 0; i < log->epochs; i++)
        if (isfinite(values[i]))
            PUT(svg, "%.1f,%.1f ", epoch_x(i, log->epochs), scale_y(scale, values[i]));
    PUT(svg, "\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"%s\">%s</text>\n", RIGHT,
        scale->top + 16 * (double)++*labels, SERIES[index].colour, SERIES[index].label);
}

static void draw(struct text *svg, const struct log *log) {
    PUT(svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"system-ui, "
        "sans-serif\" font-size=\"12\" fill=\"#777\">\n<title>Error and loss by epoch</title>\n",
        WIDTH, PANELS * PANEL);
    for (size_t panel = 0; panel < PANELS; panel++) {
        struct scale scale = fit(log, panel);
        size_t labels = 0;
        draw_grid(svg, &scale, log->epochs);
        for (size_t i = 0; i < SERIES_COUNT; i++)
            if (SERIES[i].panel == panel) draw_series(svg, &scale, log, i, &labels);
    }
    PUT(svg, "</svg>\n");
}

vit_status plot_log(const char *path, const char *out, vit_error *why) {
    uint8_t *bytes;
    size_t size;
    vit_status status = read_file(&bytes, &size, path, MOST_LOG, why);
    if (status) return status;
    char *text = calloc(size + 1, 1);
    struct log log = {0};
    if (text) memcpy(text, bytes, size);
    free(bytes);
    status = text ? read_log(&log, path, text, why)
                  : vit_fail(why, VIT_NO_MEMORY, "no memory to plot %s", path);
    free(text);
    struct text svg = {.room = 1 << 16};
    svg.room += SERIES_COUNT * POINT_ROOM * log.epochs;
    svg.at = status ? NULL : malloc(svg.room);
    if (svg.at) {
        draw(&svg, &log);
        status = write_file(out, svg.at, svg.size, why);
    } else if (!status) {
        status = vit_fail(why, VIT_NO_MEMORY, "no memory to plot %s", path);
    }
    free(svg.at);
    free(log.values);
    return status;
}
