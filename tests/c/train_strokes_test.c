/* Pen drawings: the file, the parts of the writers, the pens, and the samples of an epoch. */
#define _GNU_SOURCE
#include "train/augment.h"
#include "train/checkpoint.h"
#include "train/files.h"
#include "train/job.h"
#include "train/jsonl.h"
#include "train/run.h"
#include "train/samples.h"
#include "train/strokes.h"
#include "train_support.h"

#include <zlib.h>

/* ---- The file ----------------------------------------------------------- */

static const char TWO[] =
    "{\"label\": 1, \"writer\": 7, \"sample\": 3, \"strokes\": [[[0, 0], [0, 100.5]], [[5, -5]]]}\n"
    "\n"
    "{\"strokes\": [[[1, 2], [3, 4], [5, 6]]], \"label\": 0}";

static vit_status open_text(struct drawings *drawings, const char *text, vit_error *why) {
    const char *path = scratch_path("strokes.jsonl");
    put_file(path, text, strlen(text));
    return drawings_open(drawings, path, 3, why);
}

static void check_two(const struct drawings *d) {
    REQUIRE(d->count == 2 && d->stroke_count == 3 && d->point_count == 6, "%zu drawings, %zu, %zu",
            d->count, d->stroke_count, d->point_count);
    CHECK(d->list[0].label == 1 && d->list[0].writer == 7 && d->list[0].strokes == 2, "the first");
    CHECK(d->list[1].label == 0 && d->list[1].writer == 0 && d->list[1].points == 3, "the second");
    CHECK(d->list[1].first_stroke == 2 && d->list[1].first_point == 3, "where the second begins");
    CHECK(d->lengths[0] == 2 && d->lengths[1] == 1 && d->lengths[2] == 3, "lengths");
    CHECK(d->points[1][0] == 0 && d->points[1][1] == -100.5f, "y does not point down");
    CHECK(d->most_points == 3, "most points: %zu", d->most_points);
}

TEST("drawings are read one from each line, plain or gzipped") {
    struct drawings drawings;
    vit_error why = {""};
    MUST(open_text(&drawings, TWO, &why));
    check_two(&drawings);
    drawings_close(&drawings);
    const char *path = scratch_path("strokes.jsonl.gz");
    gzFile file = gzopen(path, "wb");
    gzputs(file, TWO);
    gzclose(file);
    MUST(drawings_open(&drawings, path, 3, &why));
    check_two(&drawings);
    drawings_close(&drawings);
}

TEST("a broken file of drawings is refused with the line and the reason") {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "the file is empty"},
        {"\n \n", "the file is empty"},
        {"[]", "line 1: expected a JSON object"},
        {"{\"label\": 1, \"strokes\": [[[0, 0]]]", "line 1: expected a JSON object"},
        {"{\"label\": 3, \"strokes\": [[[0, 0]]]}", "the model's 3 classes"},
        {"{\"label\": false, \"strokes\": [[[0, 0]]]}", "classes, or null"},
        {"{\"label\": -1, \"strokes\": [[[0, 0]]]}", "the model's 3 classes"},
        {"{\"label\": \"1\", \"strokes\": [[[0, 0]]]}", "the model's 3 classes"},
        {"{\"strokes\": [[[0, 0]]]}", "the model's 3 classes"},
        {"{\"label\": 1}", "array `strokes`"},
        {"{\"label\": 1, \"strokes\": []}", "a stroke or more"},
        {"{\"label\": 1, \"strokes\": [[]]}", "a point or more"},
        {"{\"label\": 1, \"strokes\": [3]}", "array of points"},
        {"{\"label\": 1, \"strokes\": [[[0]]]}", "points of two numbers"},
        {"{\"label\": 1, \"strokes\": [[[0, 0, 0]]]}", "points of two numbers"},
        {"{\"label\": 1, \"strokes\": [[[0, \"0\"]]]}", "points of two numbers"},
        {"{\"label\": 1, \"strokes\": [[[0, 1e7]]]}", "at most 1e6"},
        {"{\"label\": 1, \"strokes\": [[[0, 1e999]]]}", "at most 1e6"},
        {"{\"label\": 1, \"writer\": 1.5, \"strokes\": [[[0, 0]]]}", "`writer`"},
        {"{\"label\": 1, \"strokes\": [[[0, 0]]]}\n{\"label\": 9, \"strokes\": [[[0, 0]]]}",
         "line 2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct drawings drawings;
        vit_error why = {""};
        CHECK(open_text(&drawings, bad[i].text, &why), "accepted: %s", bad[i].text);
        CHECK(strstr(why.text, bad[i].words), "%s: %s", bad[i].text, why.text);
        CHECK(!drawings.list && !drawings.points && !drawings.lengths,
              "the drawings are not empty");
    }
}

TEST("a file of drawings that is missing, cut short or one endless line is refused") {
    struct drawings drawings;
    vit_error why = {""};
    CHECK(drawings_open(&drawings, "/nowhere/at/all", 3, &why), "opened nothing");
    const char *path = scratch_path("cut.jsonl.gz");
    gzFile file = gzopen(path, "wb");
    for (int i = 0; i < 1000; i++)
        gzprintf(file, "{\"label\": 1, \"strokes\": [[[%d, %d]]]}\n", i * 7919 % 1000, i);
    gzclose(file);
    size_t size;
    uint8_t *bytes = bytes_of(path, &size);
    for (size_t cut = size / 3; cut < size; cut += size / 3) {
        put_file(path, bytes, cut);
        CHECK(drawings_open(&drawings, path, 3, &why), "accepted when cut to %zu bytes", cut);
    }
    free(bytes);
    size_t endless = 3 << 20;
    char *text = malloc(endless);
    memset(text, ' ', endless);
    put_file(path, text, endless);
    free(text);
    CHECK(drawings_open(&drawings, path, 3, &why) && strstr(why.text, "mebibyte"), "%s", why.text);
}

TEST("a fifth of the writers is held out, and a tenth is for validation") {
    size_t counts[8] = {0};
    for (size_t writer = 1; writer <= 30; writer++) counts[writers_part(writer)]++;
    CHECK(counts[WRITERS_HELD_OUT] == 6 && counts[WRITERS_VALIDATION] == 3 &&
              counts[WRITERS_TRAINING] == 21,
          "%zu held out, %zu to validate, %zu to train", counts[WRITERS_HELD_OUT],
          counts[WRITERS_VALIDATION], counts[WRITERS_TRAINING]);
}

/* ---- Pens --------------------------------------------------------------- */

enum { PAD = 100 };

struct extent {
    size_t left, right, top, bottom;
};

static struct extent extent_of(const uint8_t *ink) {
    struct extent e = {PAD, 0, PAD, 0};
    for (size_t i = 0; i < PAD * PAD; i++) {
        if (ink[i] < 128) continue;
        size_t x = i % PAD, y = i / PAD;
        if (x < e.left) e.left = x;
        if (x > e.right) e.right = x;
        if (y < e.top) e.top = y;
        if (y > e.bottom) e.bottom = y;
    }
    return e;
}

static void draw_first(uint8_t *ink, struct sketch *sketch, const struct drawings *drawings,
                       const struct pen *pen) {
    sketch_take(sketch, drawings, 0);
    sketch_draw(ink, PAD, PAD, sketch, pen);
}

static float narrowness_of_first(struct sketch *sketch, const struct drawings *drawings,
                                 float stretch) {
    sketch_take(sketch, drawings, 0);
    return sketch_narrowness(sketch, stretch);
}

TEST("a pen's drawing has its size, place and slant") {
    static const char L[] = "{\"label\": 1, \"strokes\": [[[0, 50], [0, 0], [0, 0], [25, 0]]]}";
    struct drawings drawings;
    vit_error why = {""};
    MUST(open_text(&drawings, L, &why));
    struct sketch sketch;
    REQUIRE(sketch_open(&sketch, &drawings, 0, 0), "no memory");
    uint8_t ink[PAD * PAD] = {0};
    draw_first(ink, &sketch, &drawings,
               &(struct pen){.width = 4, .size = 60, .stretch = 1, .x = 50, .y = 40});
    struct extent e = extent_of(ink);
    CHECK(e.top == 8 && e.bottom == 71, "60 high and a pen of 4 about 40: %zu to %zu", e.top,
          e.bottom);
    CHECK(e.left == 33 && e.right == 66, "30 wide about 50: %zu to %zu", e.left, e.right);
    CHECK(ink[60 * PAD + 34] && !ink[60 * PAD + 60], "the upright is not on the left");
    CHECK(!ink[12 * PAD + 60] && ink[70 * PAD + 60], "the foot is not below");
    memset(ink, 0, sizeof ink);
    draw_first(ink, &sketch, &drawings,
               &(struct pen){.width = 4, .size = 60, .stretch = 1, .slant = 1, .x = 50, .y = 50});
    CHECK(ink[20 * PAD + 79] && !ink[20 * PAD + 20], "the top does not lean to the right");
    CHECK(narrowness_of_first(&sketch, &drawings, 1) == 0.5f, "not half as wide as high");
    CHECK(narrowness_of_first(&sketch, &drawings, 4) == 0.5f, "not half as high as wide");
    sketch_close(&sketch);
    drawings_close(&drawings);
}

TEST("pen_draw_line draws a line of the pen's length, width and slant") {
    uint8_t ink[PAD * PAD] = {0};
    struct pen pen = {.width = 10, .size = 60, .stretch = 1, .x = 50, .y = 40};
    pen_draw_line(ink, PAD, PAD, &pen);
    struct extent e = extent_of(ink);
    CHECK(e.top == 5 && e.bottom == 74, "60 high and a pen of 10 about 40: %zu to %zu", e.top,
          e.bottom);
    CHECK(e.left == 45 && e.right == 54, "10 wide about 50: %zu to %zu", e.left, e.right);
    memset(ink, 0, sizeof ink);
    pen.slant = 1;
    pen_draw_line(ink, PAD, PAD, &pen);
    CHECK(ink[15 * PAD + 75] && !ink[15 * PAD + 25], "the top does not lean to the right");
}

TEST("a free hand bends strokes, presses unevenly and widens the foot") {
    static const char LADDER[] = "{\"label\": 1, \"strokes\": [[[0, 50], [0, 25], [0, 0]],"
                                 " [[50, 50], [50, 25], [50, 0]]]}";
    struct drawings drawings;
    vit_error why = {""};
    MUST(open_text(&drawings, LADDER, &why));
    struct sketch sketch;
    REQUIRE(sketch_open(&sketch, &drawings, 0, 0), "no memory");
    uint8_t ink[PAD * PAD] = {0};
    struct pen pen = {.width = 4, .size = 60, .stretch = 1, .x = 50, .y = 50};
    pen.perspective = 0.5f;
    draw_first(ink, &sketch, &drawings, &pen);
    CHECK(sketch.point[0].x == 27.5f && sketch.point[1].x == 20 && sketch.point[2].x == 12.5f,
          "%g %g %g", (double)sketch.point[0].x, (double)sketch.point[1].x,
          (double)sketch.point[2].x);
    pen.perspective = 0;
    pen.bend[0] = (struct wave){0.1f, 3.1415927f, 1.5707963f}; /* a cosine along the height */
    draw_first(ink, &sketch, &drawings, &pen);
    CHECK(within(sketch.point[0].x, 20, 1e-4) && within(sketch.point[1].x, 26, 1e-4), "%g %g",
          (double)sketch.point[0].x, (double)sketch.point[1].x);
    pen.pressure = (struct wave){0.5f, 3, 1.5707963f}; /* a cosine over time */
    draw_first(ink, &sketch, &drawings, &pen);
    CHECK(within(sketch.point[0].width, 6, 1e-4) &&
              within(sketch.point[3].width, 4 + 2 * cos(1.5), 1e-4),
          "%g %g", (double)sketch.point[0].width, (double)sketch.point[3].width);
    sketch_close(&sketch);
    drawings_close(&drawings);
}

TEST("half of a drawing's points draw the same as a drawing of that half") {
    static const char WHOLE[] = "{\"label\": 1, \"writer\": 5, \"strokes\": [[[0, 0], [10, 80],"
                                " [40, 90]], [[50, 40], [60, 10], [90, 0], [95, 5]]]}\n",
                      HALF[] = "{\"label\": 1, \"writer\": 5, \"strokes\": [[[0, 0], [10, 80],"
                               " [40, 90]]]}\n";
    struct drawings whole, half;
    struct data_set cut, same;
    vit_error why = {""};
    MUST(open_text(&whole, WHOLE, &why));
    MUST(open_text(&half, HALF, &why));
    struct drawing_options first = {WRITERS_HELD_OUT, .points = 0.5, .unfinished_ink = 1};
    MUST(drawings_data(&cut, &whole, first, 28, 28, &why));
    MUST(drawings_data(&same, &half, (struct drawing_options){WRITERS_HELD_OUT, .points = 1}, 28,
                       28, &why));
    CHECK(!memcmp(cut.images, same.images, 784), "the first 3 of 7 points");
    data_close(&cut);
    first.unfinished_ink = 0.5f;
    MUST(drawings_data(&cut, &whole, first, 28, 28, &why));
    for (size_t i = 0; i < 784; i++)
        CHECK(abs(2 * cut.images[i] - same.images[i]) <= 1, "%zu: %d, not half of %d", i,
              cut.images[i], same.images[i]);
    data_close(&cut);
    MUST(drawings_data(&cut, &whole, (struct drawing_options){WRITERS_HELD_OUT, .points = 1}, 28,
                       28, &why));
    CHECK(memcmp(cut.images, same.images, 784) != 0, "all 7 points draw something else");
    data_close(&cut);
    MUST(drawings_data(&cut, &whole,
                       (struct drawing_options){WRITERS_HELD_OUT, .points = 0, .unfinished_ink = 1},
                       28, 28, &why));
    CHECK(cut.count == 1, "at least one point is left, a dot");
    data_close(&cut);
    data_close(&same);
    drawings_close(&half);
    drawings_close(&whole);
}

TEST("the same habits change an evaluation's drawings each time, and none by default") {
    char text[4096] = "";
    for (int i = 0; i < 20; i++) /* zeros, of which one in three gets a slash or a dot */
        sprintf(text + strlen(text), "{\"label\": 0, \"writer\": 5, \"strokes\": [[[0, 0], [60, 0],"
                                     " [60, 90], [0, 90], [0, 0]]]}\n");
    struct drawings drawings;
    struct data_set plain, habits[2];
    vit_error why = {""};
    struct drawing_options which = {WRITERS_HELD_OUT, .points = 1};
    MUST(open_text(&drawings, text, &why));
    MUST(drawings_data(&plain, &drawings, which, 28, 28, &why));
    which.habits = 1;
    size_t changed = 0;
    for (int i = 0; i < 2; i++) MUST(drawings_data(&habits[i], &drawings, which, 28, 28, &why));
    for (size_t i = 0; i < 20; i++)
        changed += memcmp(plain.images + i * 784, habits[0].images + i * 784, 784) != 0;
    CHECK(changed > 3, "%zu of 20 drawings change", changed);
    CHECK(!memcmp(habits[0].images, habits[1].images, sizeof(uint8_t[20 * 784])),
          "the second time");
    data_close(&plain), data_close(&habits[0]), data_close(&habits[1]);
    drawings_close(&drawings);
}

TEST("drawings for evaluation are prepared digits of the chosen writers") {
    char text[4096] = "";
    for (int writer = 1; writer <= 10; writer++)
        sprintf(text + strlen(text),
                "{\"label\": %d, \"writer\": %d, \"strokes\": [[[0, 0], [%d, 90], [50, 40]]]}\n",
                writer % 3, writer, writer * 10);
    struct drawings drawings;
    struct data_set data;
    vit_error why = {""};
    MUST(open_text(&drawings, text, &why));
    MUST(drawings_data(&data, &drawings,
                       (struct drawing_options){WRITERS_HELD_OUT | WRITERS_VALIDATION, .points = 1},
                       28, 28, &why));
    REQUIRE(data.count == 3, "writers 4, 5 and 10: got %zu", data.count);
    CHECK(data.labels[0] == 1 && data.labels[1] == 2 && data.labels[2] == 1, "their labels");
    for (size_t i = 0; i < 3; i++) {
        size_t top = 28, bottom = 0, most = 0;
        for (size_t j = 0; j < 784; j++) {
            uint8_t level = data.images[i * 784 + j];
            if (level > most) most = level;
            if (!level) continue;
            if (j / 28 < top) top = j / 28;
            bottom = j / 28;
        }
        CHECK(most == 255, "the fullest pixel is %zu", most);
        CHECK(bottom - top >= 17 && bottom - top <= 19, "rows %zu to %zu", top, bottom);
    }
    data_close(&data);
    drawings_close(&drawings);
}

/* ---- An epoch's samples ------------------------------------------------- */

enum { IMAGES = 50, ROWS = 28 };

struct world {
    struct recipe recipe;
    struct data_set data;
    struct drawings drawings;
    struct samples samples;
    struct sample_room room;
};

/* Each image has its number in a corner. Drawings by writers that training leaves out have class
 * 2. */
static bool world_open(struct world *w, size_t validation) {
    char text[4096] = "";
    vit_error why = {""};
    for (int writer = 1; writer <= 10; writer++)
        sprintf(text + strlen(text),
                "{\"label\": %d, \"writer\": %d, \"strokes\": [[[0, 0], [%d, 90], [90, 10], [0, "
                "0]]]}\n",
                writers_part((size_t)writer) == WRITERS_TRAINING ? 1 : 2, writer, writer * 10);
    *w = (struct world){.recipe = recipe_of(RECIPE)};
    w->recipe.validation = validation;
    w->recipe.drawings = 3;
    w->recipe.negatives = 0.5;
    w->recipe.augment = (struct augment){.elastic_grid = 4};
    w->data =
        (struct data_set){calloc(IMAGES, ROWS * ROWS), calloc(IMAGES, 1), IMAGES, 1, ROWS, ROWS, 0};
    for (size_t i = 0; i < IMAGES; i++) {
        w->data.images[i * ROWS * ROWS] = (uint8_t)(i + 1);
        w->data.images[i * ROWS * ROWS + ROWS * ROWS / 2] = 255;
    }
    bool fine = !open_text(&w->drawings, text, &why) &&
                !samples_open(&w->samples, &w->recipe, &w->data, &w->drawings, &why) &&
                sample_room_open(&w->room, &w->samples);
    CHECK(fine, "%s", why.text);
    return fine;
}

static void world_close(struct world *w) {
    sample_room_close(&w->room);
    samples_close(&w->samples);
    drawings_close(&w->drawings);
    data_close(&w->data);
    recipe_close(&w->recipe);
}

TEST("an epoch is the images, three of each training drawing, and half as many negatives") {
    struct world w;
    float image[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    CHECK(w.samples.count == 40 + 3 * 7 + 20, "%zu samples", w.samples.count);
    for (size_t i = 0; i < w.samples.count; i++) {
        uint8_t label = sample_draw(image, &w.room, &w.samples, 0, i).label;
        CHECK(label == (i < 40 ? 0 : i < 61 ? 1 : NO_CLASS), "sample %zu has label %d", i, label);
        if (i < 40)
            CHECK(image[0] == (float)(i + 1) / 255, "sample %zu is not image %zu", i, i);
        else
            CHECK(largest(image, ROWS * ROWS) >= 0.99, "sample %zu is faint", i);
    }
    world_close(&w);
}

TEST("drawings of no class become three in five negatives, and are evaluated only if asked for") {
    struct world w;
    float image[ROWS * ROWS];
    vit_error why = {""};
    if (!world_open(&w, 10)) return;
    samples_close(&w.samples);
    for (size_t i = 0; i < w.drawings.count; i++)
        if (w.drawings.list[i].writer != 1) w.drawings.list[i].label = NO_CLASS;
    w.recipe.negatives = 40;
    MUST(samples_open(&w.samples, &w.recipe, &w.data, &w.drawings, &why));
    CHECK(w.samples.count == 40 + 3 + 1600, "%zu samples", w.samples.count);
    size_t sketched = 0; /* of the file's drawings: the others need no sketch */
    for (size_t i = 43; i < w.samples.count; i++) {
        w.room.sketch.points = 0;
        struct sample sample = sample_draw(image, &w.room, &w.samples, 0, i);
        CHECK(sample.label == NO_CLASS && !sample.unfinished, "sample %zu has label %d", i,
              sample.label);
        sketched += w.room.sketch.points == 4;
    }
    CHECK(sketched > 880 && sketched < 1040, "%zu of 1600 are the file's", sketched);
    for (int others = 0; others < 2; others++) {
        struct data_set data;
        struct drawing_options which = {WRITERS_TRAINING, .points = 1, .others = others};
        MUST(drawings_data(&data, &w.drawings, which, ROWS, ROWS, &why));
        CHECK(data.count == (others ? 7 : 1), "%zu drawings", data.count);
        CHECK(data.labels[data.count - 1] == (others ? NO_CLASS : 1), "label %d",
              data.labels[data.count - 1]);
        data_close(&data);
    }
    world_close(&w);
}

TEST("without validation, training uses its writers too, but never the held-out ones") {
    struct world w;
    float image[ROWS * ROWS];
    size_t counts[256] = {0};
    if (!world_open(&w, 0)) return;
    for (size_t i = 0; i < w.samples.count; i++)
        counts[sample_draw(image, &w.room, &w.samples, 0, i).label]++;
    CHECK(counts[1] == 3 * 7 && counts[2] == 3 * 1, "%zu and %zu", counts[1], counts[2]);
    world_close(&w);
}

/* The ink's variance along its shorter axis divided by that along its longer axis. */
static double roundness(const float *image) {
    double m[6] = {0}; /* 1, x, y, xx, xy, yy */
    for (size_t i = 0; i < ROWS * ROWS; i++) {
        double x = (double)(i % ROWS), y = (double)(i / ROWS), ink = (double)image[i];
        const double terms[6] = {1, x, y, x * x, x * y, y * y};
        for (size_t k = 0; k < 6; k++) m[k] += ink * terms[k];
    }
    double x = m[1] / m[0], y = m[2] / m[0];
    double xx = m[3] / m[0] - x * x, xy = m[4] / m[0] - x * y, yy = m[5] / m[0] - y * y;
    double half = (xx + yy) / 2, apart = hypot((xx - yy) / 2, xy);
    return (half - apart) / (half + apart);
}

TEST("a free hand draws many a one as a bare line, and an exact hand none") {
    enum { EPOCHS = 20 };
    struct world w;
    float image[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    for (int hand = 0; hand < 2; hand++) {
        size_t lines = 0, ones = 0;
        w.recipe.hand = hand;
        for (size_t epoch = 0; epoch < EPOCHS; epoch++)
            for (size_t i = 40; i < 61; i++, ones++) {
                sample_draw(image, &w.room, &w.samples, epoch, i);
                lines += roundness(image) < 0.05;
            }
        CHECK(hand ? 5 * lines > ones && 2 * lines < ones : lines == 0,
              "hand %d: %zu lines of %zu ones", hand, lines, ones);
    }
    world_close(&w);
}

TEST("doubt makes two in five of the drawings that stop early teach no digit, and no others") {
    enum { EPOCHS = 20, DRAWINGS = 21 }; /* 420 chances of 0.4: 126 to 210 are four deviations */
    struct world w;
    float image[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    for (int stops = 0; stops < 2; stops++)
        for (int doubt = 0; doubt < 2; doubt++) {
            size_t none = 0;
            w.recipe.unfinished = stops, w.recipe.doubt = doubt;
            for (size_t epoch = 0; epoch < EPOCHS; epoch++)
                for (size_t i = 40; i < 40 + DRAWINGS; i++)
                    none += sample_draw(image, &w.room, &w.samples, epoch, i).label == NO_CLASS;
            CHECK(stops && doubt ? none > 126 && none < 210 : none == 0,
                  "unfinished %d, doubt %d: %zu of 420", stops, doubt, none);
        }
    world_close(&w);
}

TEST("drawings that stop early are as pale as the model's config says, and no others") {
    struct world w;
    float image[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    w.recipe.config.unfinished_ink = 0.5f;
    w.recipe.config.image_size[0] = w.recipe.config.image_size[1] = ROWS;
    for (int stops = 0; stops < 2; stops++) {
        w.recipe.unfinished = stops;
        for (size_t i = 0; i < w.samples.count; i++) {
            float most = 0;
            sample_draw(image, &w.room, &w.samples, 0, i);
            for (size_t j = 0; j < ROWS * ROWS; j++) most = fmaxf(most, image[j]);
            bool pale = stops && i >= 40 && i < 61;
            CHECK(pale ? most > 0.4f && most <= 0.5f : most > 0.8f, "sample %zu, stops %d: %g", i,
                  stops, (double)most);
        }
    }
    world_close(&w);
}

TEST("a teacher is asked about images and whole drawings, and never about others") {
    struct world w;
    float image[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    for (int stops = 0; stops < 2; stops++) {
        w.recipe.unfinished = stops;
        for (size_t i = 0; i < w.samples.count; i++) {
            enum advice advice = sample_draw(image, &w.room, &w.samples, 0, i).advice;
            CHECK(advice == (i < 40             ? ADVICE_ALWAYS
                             : i < 61 && !stops ? ADVICE_IF_RIGHT
                                                : ADVICE_NEVER),
                  "sample %zu, unfinished %d: %d", i, stops, (int)advice);
        }
    }
    world_close(&w);
}

TEST("a recipe with negatives must leave a label free for them") {
    struct world w;
    struct samples samples;
    vit_error why = {""};
    if (!world_open(&w, 10)) return;
    w.recipe.config.classes = NO_CLASS;
    CHECK(!samples_open(&samples, &w.recipe, &w.data, NULL, &why), "255 classes: %s", why.text);
    samples_close(&samples);
    w.recipe.config.classes = NO_CLASS + 1;
    CHECK(samples_open(&samples, &w.recipe, &w.data, NULL, &why), "256 classes are accepted");
    CHECK(strstr(why.text, "negatives"), "%s", why.text);
    samples_close(&samples);
    world_close(&w);
}

TEST("a sample depends on seed, epoch and index alone") {
    struct world w, other;
    float one[ROWS * ROWS], two[ROWS * ROWS];
    if (!world_open(&w, 10)) return;
    if (!world_open(&other, 10)) return;
    size_t same_epoch = 0, same_seed = 0;
    for (size_t i = 40; i < w.samples.count; i++) {
        sample_draw(one, &w.room, &w.samples, 4, i);
        sample_draw(two, &other.room, &other.samples, 4, i);
        CHECK_SAME_BITS(one, two, ROWS * ROWS, "again");
        sample_draw(two, &w.room, &w.samples, 5, i);
        same_epoch += memcmp(one, two, sizeof one) == 0;
        other.recipe.seed++;
        sample_draw(two, &other.room, &other.samples, 4, i);
        other.recipe.seed--;
        same_seed += memcmp(one, two, sizeof one) == 0;
    }
    CHECK(same_epoch == 0, "%zu samples are the same in another epoch", same_epoch);
    CHECK(same_seed == 0, "%zu samples are the same with another seed", same_seed);
    world_close(&other);
    world_close(&w);
}

/* ---- Learning from them ------------------------------------------------- */

static void keep_last(void *context, size_t epoch, size_t epochs, const struct epoch_record *r) {
    (void)epoch, (void)epochs;
    *(struct epoch_record *)context = *r;
}

TEST("a run on drawings learns to read writers that it never saw, and logs the accuracy") {
    char text[8192] = "";
    for (int writer = 1; writer <= 30; writer++)
        sprintf(text + strlen(text),
                "{\"label\": %d, \"writer\": %d, \"strokes\": [[[0, 0], [%d, %d]]]}\n", writer % 2,
                writer, writer % 2 ? 90 : writer, writer % 2 ? writer : 90);
    struct recipe recipe = recipe_of(RECIPE);
    struct data_set data = {calloc(IMAGES, PIXELS), calloc(IMAGES, 1), IMAGES, 1, SIDE, SIDE, 0};
    struct drawings drawings;
    struct epoch_record last = {0};
    vit_error why = {""};
    bool finished = false;
    recipe.drawings = 20, recipe.negatives = 0.2, recipe.validation = 10;
    for (size_t i = 0; i < IMAGES; i++) memset(data.images + i * PIXELS, (int)(5 * i), PIXELS);
    memset(data.labels, 2, IMAGES);
    MUST(open_text(&drawings, text, &why));
    struct train_job job = {.recipe = &recipe, .data = &data, .drawings = &drawings};
    struct train_files files = {.out = scratch_path("drawn"),
                                .threads = 2,
                                .watch = {.context = &last, .epoch = keep_last}};
    CHECK(!train_run(&job, &files, &finished, &why) && finished, "%s", why.text);
    CHECK(last.drawings_accuracy == 1, "accuracy of lines up and across: %g",
          last.drawings_accuracy);
    job.drawings = NULL;
    CHECK(train_run(&job, &files, &finished, &why) && strstr(why.text, "drawings"),
          "accepted without a file");
    drawings_close(&drawings);
    data_close(&data);
    recipe_close(&recipe);
}
