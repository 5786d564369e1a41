/* The shipped models on drawings by writers that they never saw. Each way of drawing changes at
 * most one answer in a hundred. The models are unsure of drawings that are no digit. Sanitizers see
 * only some of the drawings. */
#define _GNU_SOURCE
#include "train/jsonl.h"
#include "train/strokes.h"
#include "train_support.h"

#include "reader.h"

enum { PAD = 280, EVERY = 5, MODELS = 2, STEP = SANITIZED ? 21 : 1 };

struct way {
    const char *what;
    struct pen pen;
    uint8_t ink, paper;
};

#define LARGE 196
#define PAGE 10 /* the page's pen */
#define PEN(WIDTH, SIZE, SLANT, X, Y)                                                              \
    { .width = WIDTH, .size = SIZE, .stretch = 1, .slant = SLANT, .x = X, .y = Y }
static const struct way WAYS[] = {
    {"as the page", PEN(PAGE, LARGE, 0, 140, 140), 0, 255},
    {"up to the left", PEN(PAGE, 150, 0, 90, 90), 0, 255},
    {"down to the right", PEN(PAGE, 150, 0, 190, 190), 0, 255},
    {"a quarter of the pad", PEN(PAGE / 2.8f, PAD / 4, 0, 140, 140), 0, 255},
    {"a quarter of the pad, in a corner", PEN(PAGE / 2.8f, PAD / 4, 0, 45, 230), 0, 255},
    {"a quarter of the pad, by the page's pen", PEN(PAGE, PAD / 4, 0, 140, 140), 0, 255},
    {"half of the pad", PEN(PAGE, PAD / 2, 0, 140, 140), 0, 255},
    {"the whole pad", PEN(PAGE, PAD - 24, 0, 140, 140), 0, 255},
    {"a pen of 1", PEN(1, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 2", PEN(2, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 4", PEN(4, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 8", PEN(8, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 15", PEN(15, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 23", PEN(23, LARGE, 0, 140, 140), 0, 255},
    {"a pen of 30", PEN(30, LARGE, 0, 140, 140), 0, 255},
    {"leaning 12° to the right", PEN(PAGE, LARGE, 0.2126f, 140, 140), 0, 255},
    {"leaning 12° to the left", PEN(PAGE, LARGE, -0.2126f, 140, 140), 0, 255},
    {"leaning 25° to the right", PEN(PAGE, LARGE, 0.4663f, 140, 140), 0, 255},
    {"leaning 25° to the left", PEN(PAGE, LARGE, -0.4663f, 140, 140), 0, 255},
    {"light on dark", PEN(PAGE, LARGE, 0, 140, 140), 255, 0},
    {"dark on grey", PEN(PAGE, LARGE, 0, 140, 140), 40, 128},
    {"light on grey", PEN(PAGE, LARGE, 0, 140, 140), 200, 100},
    {"faint on white", PEN(PAGE, LARGE, 0, 140, 140), 200, 255},
};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

static const char *const NAMES[MODELS] = {"digits", "digits-large"};
static struct reader readers[MODELS];
static size_t models; /* that are tested: digits alone, unless npm run test:full runs this */
static struct drawings drawings;
#define NO_DRAWINGS "no pen drawings in the folder that VITRINE_DATA names, nor beside it"
static struct sketch sketch; /* room for any drawing */

static void draw(uint8_t *plane, size_t drawing, const struct pen *pen) {
    sketch_take(&sketch, &drawings, drawing);
    sketch_draw(plane, PAD, PAD, &sketch, pen);
}

/* False if there are no drawings. */
static bool open_all(void) {
    static const char *const folders[] = {"../strokes", "strokes", "."};
    const char *folder = getenv("VITRINE_DATA");
    vit_error why = {""};
    bool found = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/pendigits-train.jsonl.gz",
                 folder ? folder : GOLDEN_DIR "/../../../shared/mnist", folders[i]);
        found = !access(path, R_OK) && !drawings_open(&drawings, path, DIGITS, &why);
    }
    models = getenv("VITRINE_FULL") ? MODELS : 1;
    for (size_t i = 0; i < models && found; i++) readers[i] = reader_open(NAMES[i], PAD, WAY_COUNT);
    return found && sketch_open(&sketch, &drawings, 0, 0);
}

static void close_all(void) {
    for (size_t i = 0; i < models; i++) reader_close(&readers[i]);
    sketch_close(&sketch);
    drawings_close(&drawings);
}

/* Each model's answers to the images of its batch. */
static void read_batch(struct reading readings[MODELS][WAY_COUNT], size_t count) {
    for (size_t i = 0; i < models; i++) reader_read(&readers[i], readings[i], count);
}

/* Prepares the plane as image `at` of each model's batch. */
static void add_plane(size_t at, const uint8_t plane[PAD * PAD]) {
    for (size_t i = 0; i < models; i++) reader_add(&readers[i], at, plane);
}

/* Each model's answers to the drawing in the first `count` ways. */
static void read_ways(struct reading readings[MODELS][WAY_COUNT], size_t drawing, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct way *way = &WAYS[i];
        uint8_t plane[PAD * PAD] = {0};
        draw(plane, drawing, &way->pen);
        for (size_t k = 0; k < PAD * PAD; k++)
            plane[k] = (uint8_t)(way->paper + (way->ink - way->paper) * plane[k] / 255);
        add_plane(i, plane);
    }
    read_batch(readings, count);
}

/* The next drawing after `drawing` by a held-out writer; SIZE_MAX if there is none. */
static size_t next_held_out(size_t drawing) {
    while (++drawing < drawings.count)
        if (writers_part(drawings.list[drawing].writer) == WRITERS_HELD_OUT) return drawing;
    return SIZE_MAX;
}

/* One of a hundred; of few, one. */
static size_t hundredth(size_t count) {
    return count < 100 ? 1 : count / 100;
}

struct tally {
    size_t right, uncertain; /* of the page's pen; the uncertain ones are right */
    size_t changed[WAY_COUNT], wrong[WAY_COUNT];
};

static void count_ways(struct tally *tally, const struct reading *readings, size_t count,
                       size_t label) {
    bool right = readings[0].class == label;
    tally->right += right;
    tally->uncertain += right && readings[0].uncertain;
    for (size_t way = 0; way < count; way++) {
        tally->changed[way] += readings[way].class != readings[0].class;
        tally->wrong[way] += readings[way].class != label;
    }
}

static void check_tally(const struct tally *t, const char *model, size_t held_out, size_t count) {
    for (size_t way = 1; way < WAY_COUNT; way++) {
        if (getenv("VERBOSE"))
            printf("    %-40s %2zu changed, %2zu wrong\n", WAYS[way].what, t->changed[way],
                   t->wrong[way]);
        CHECK(t->changed[way] <= hundredth(count), "%s: %s: %zu of %zu answers changed", model,
              WAYS[way].what, t->changed[way], count);
    }
    CHECK(held_out - t->right <= hundredth(held_out), "%s: %zu of %zu right", model, t->right,
          held_out);
    CHECK(t->uncertain <= hundredth(t->right), "%s: uncertain of %zu of %zu good digits", model,
          t->uncertain, t->right);
}

TEST("at most one digit in a hundred is misread or doubted, or read otherwise in another place, "
     "size, pen, slant or paper") {
    struct tally tally[MODELS] = {0};
    size_t held_out = 0, count = 0, seen = 0;
    if (!open_all()) SKIP(NO_DRAWINGS);
    for (size_t i = SIZE_MAX; (i = next_held_out(i)) != SIZE_MAX;) {
        if (seen++ % STEP) continue;
        struct reading readings[MODELS][WAY_COUNT];
        size_t ways = held_out++ % EVERY ? 1 : WAY_COUNT;
        read_ways(readings, i, ways);
        for (size_t k = 0; k < models; k++)
            count_ways(&tally[k], readings[k], ways, drawings.list[i].label);
        count += ways > 1;
    }
    for (size_t i = 0; i < models; i++) check_tally(&tally[i], readers[i].name, held_out, count);
    close_all();
}

/* ---- No digits ---------------------------------------------------------- */

/* Letters and signs as points on a grid of 0…9. The brush rounds their corners. */
static const char *const SIGNS[] = {
    /* A */ "09 13 30 41 63 79,15 45 65",
    /* E */ "71 40 11 13 34 54,34 15 17 39 69 78",
    /* G */ "72 50 20 03 06 29 59 77 75 75 45",
    /* H */ "10 14 09,60 64 69,14 34 65",
    /* K */ "10 13 16 19,60 42 24 24 46 69",
    /* M */ "09 04 10 10 33 44 44 62 80 80 84 89",
    /* N */ "09 05 01 01 33 66 68 68 64 60",
    /* R */ "19 14 10 40 61 53 24 24 46 69",
    /* W */ "00 14 28 28 35 43 43 56 68 68 74 80",
    /* Ω */ "09 29 26 03 10 50 73 56 59 79",
    /* & */ "79 55 21 20 50 42 14 17 39 67 74",
    /* x */ "00 11 33 66 88,80 62 35 17 09",
    /* k */ "20 23 26 29,63 44 25 25 47 69",
    /* m */ "03 05 09,05 23 33 46 49,46 63 73 86 89",
    /* star */ "40 44 49,05 45 85,12 34 45 57 78,71 53 45 36 18",
    /* heart */ "44 22 00 03 26 49 49 66 83 80 62 44",
    /* lightning */ "50 32 14 14 34 54 54 36 19",
    /* house */ "09 04 04 22 40 40 62 84 84 89 89 49 09",
};
enum { SIGN_COUNT = sizeof SIGNS / sizeof *SIGNS, SIGN_POINTS = 32 };

static void draw_sign(uint8_t *plane, const char *sign, float unit, float slant, float width) {
    vit_point points[SIGN_POINTS];
    size_t n = 0;
    for (const char *at = sign;; at += 3) {
        float x = (float)(at[0] - '4'), y = (float)(at[1] - '4');
        points[n++] = (vit_point){140 + unit * (x - slant * y), 140 + unit * y, width};
        if (at[2] == ' ') continue;
        vit_draw_stroke(plane, PAD, PAD, points, n);
        n = 0;
        if (!at[2]) return;
    }
}

static void draw_knot(uint8_t *plane, size_t i, float width) {
    enum { POINTS = 160 };
    vit_point points[POINTS];
    float across = 1.3f + 0.37f * (float)(i % 7), down = 2.1f + 0.29f * (float)(i % 11);
    for (size_t k = 0; k < POINTS; k++) {
        float t = 0.06f * (float)k;
        points[k] =
            (vit_point){140 + 95 * sinf(across * t + (float)i), 140 + 95 * sinf(down * t), width};
    }
    vit_draw_stroke(plane, PAD, PAD, points, POINTS);
}

/* Two drawings of one or more writers, side by side. */
static void draw_pair(uint8_t *plane, size_t drawing, float width) {
    struct pen pen = PEN(width, 100, 0, 85, 140);
    draw(plane, drawing, &pen);
    pen.x = 195;
    draw(plane, next_held_out(drawing), &pen);
}

enum { SIGN, KNOT, PAIR, KINDS, EACH = 4 * SIGN_COUNT };

static void draw_other(uint8_t *plane, size_t kind, size_t i, size_t drawing) {
    float width = 6 + 7 * (float)(i % 4);
    if (kind == SIGN)
        draw_sign(plane, SIGNS[i / 4], 14 + 3 * (float)(i % 3), 0.1f * (float)(i % 5) - 0.2f,
                  width);
    else if (kind == KNOT)
        draw_knot(plane, i, width);
    else
        draw_pair(plane, drawing, width / 2);
}

TEST("nine in ten letters, signs, knots and pairs are uncertain") {
    static const char *const kinds[KINDS] = {"signs", "knots", "pairs"};
    size_t flagged[MODELS][KINDS] = {0}, drawing = SIZE_MAX, count = 0;
    if (!open_all()) SKIP(NO_DRAWINGS);
    for (size_t i = 0; i < EACH; i++) {
        drawing = next_held_out(drawing);
        if (i % STEP) continue;
        count++;
        struct reading readings[MODELS][WAY_COUNT];
        for (size_t kind = 0; kind < KINDS; kind++) {
            uint8_t plane[PAD * PAD] = {0};
            draw_other(plane, kind, i, drawing);
            add_plane(kind, plane);
        }
        read_batch(readings, KINDS);
        for (size_t k = 0; k < models; k++)
            for (size_t kind = 0; kind < KINDS; kind++) {
                flagged[k][kind] += readings[k][kind].uncertain;
                if (getenv("VERBOSE") && !readings[k][kind].uncertain)
                    printf("    %s: %s %zu: %zu\n", readers[k].name, kinds[kind], i,
                           readings[k][kind].class);
            }
    }
    for (size_t k = 0; k < models; k++) {
        const size_t *f = flagged[k];
        CHECK(10 * (f[SIGN] + f[KNOT] + f[PAIR]) >= 9 * KINDS * count,
              "%s: uncertain of %zu, %zu and %zu of %zu each", readers[k].name, f[SIGN], f[KNOT],
              f[PAIR], count);
    }
    close_all();
}
