/* Habits of other hands: what they change, and that what they write is still the digit. */
#define _GNU_SOURCE
#include "base/rng.h"
#include "train/habits.h"
#include "train/jsonl.h"
#include "train/negatives.h"
#include "train/strokes.h"
#include "train_support.h"

#include "reader.h"

enum { PAD = 100, TRIES = 2000 };

/* A digit in a file of one drawing, with room for habits. */
struct one {
    struct drawings drawings;
    struct sketch sketch;
};

static bool one_open(struct one *one, const char *strokes) {
    char line[4096];
    vit_error why = {""};
    const char *path = scratch_path("one.jsonl");
    snprintf(line, sizeof line, "{\"label\": 0, \"strokes\": %s}", strokes);
    put_file(path, line, strlen(line));
    vit_status status = drawings_open(&one->drawings, path, 10, &why);
    CHECK(!status, "%s", why.text);
    return !status && sketch_open(&one->sketch, &one->drawings, HABIT_POINTS, HABIT_STROKES);
}

static void one_close(struct one *one) {
    sketch_close(&one->sketch);
    drawings_close(&one->drawings);
}

/* Changes the drawing by the habits of `label` and number `i` of the random streams. */
static void change(struct one *one, uint8_t label, double share, size_t i) {
    struct rng rng = rng_stream(3, RNG_DRAW, label, i);
    sketch_take(&one->sketch, &one->drawings, 0);
    habits_apply(&one->sketch, label, share, &rng);
}

static void draw_habit(uint8_t *ink, struct one *one, uint8_t label, double share, size_t i) {
    const struct pen pen = {.width = 4, .size = 80, .stretch = 1, .x = 50, .y = 50};
    change(one, label, share, i);
    memset(ink, 0, PAD * PAD);
    sketch_draw(ink, PAD, PAD, &one->sketch, &pen);
}

/* Whether another form replaced the drawing. Forms are as small as their grid of ten. */
static bool is_form(const struct one *one) {
    for (size_t i = 0; i < one->sketch.points; i++)
        if (one->sketch.point[i].x > 20) return false;
    return true;
}

/* Whether there is ink in the middle, where a plain zero has none. */
static bool is_crossed(const uint8_t *ink) {
    for (size_t y = 44; y < 56; y++)
        for (size_t x = 44; x < 56; x++)
            if (ink[y * PAD + x] > 128) return true;
    return false;
}

static const char CIRCLE[] = "[[[30, 0], [21, 21], [0, 30], [-21, 21], [-30, 0], [-21, -21],"
                             " [0, -30], [21, -21], [30, 0]]]";
static const char SEVEN[] = "[[[0, 90], [60, 90], [40, 45], [20, 0]]]";
static const char BARRED_SEVEN[] = "[[[0, 90], [60, 90], [20, 0]], [[10, 45], [70, 45]]]";

TEST("three zeros in ten get a slash or a dot, and no digit without the habit does") {
    struct one one;
    uint8_t ink[PAD * PAD];
    if (!one_open(&one, CIRCLE)) return;
    size_t crossed = 0, others = 0;
    for (size_t i = 0; i < TRIES; i++) {
        draw_habit(ink, &one, 0, 1, i);
        crossed += is_crossed(ink);
        draw_habit(ink, &one, 11, 1, i); /* 11 is no digit, so no form replaces the circle */
        others += is_crossed(ink);
    }
    CHECK(within((double)crossed / TRIES, 0.3, 0.04), "%zu of %d zeros", crossed, TRIES);
    CHECK(others == 0, "%zu of other drawings", others);
    one_close(&one);
}

TEST("a seven without a bar often gets one, and a seven with a bar never a second") {
    struct one plain, barred;
    if (!one_open(&plain, SEVEN) || !one_open(&barred, BARRED_SEVEN)) return;
    size_t bars = 0, second = 0, own = 0;
    for (size_t i = 0; i < TRIES; i++) {
        change(&plain, 7, 1, i);
        bars += !is_form(&plain) && plain.sketch.strokes > 1;
        change(&barred, 7, 1, i);
        own += !is_form(&barred);
        second += !is_form(&barred) && barred.sketch.strokes > 2;
    }
    CHECK(within((double)own / TRIES, 0.75, 0.04), "%zu of %d are no other form", own, TRIES);
    CHECK(within((double)bars / (double)own, 0.35, 0.04), "%zu of %zu get a bar", bars, own);
    CHECK(second == 0, "%zu of %zu have two", second, own);
    one_close(&barred);
    one_close(&plain);
}

TEST("with a share of no habits a drawing stays as it is") {
    struct one one;
    uint8_t ink[PAD * PAD], same[PAD * PAD] = {0};
    if (!one_open(&one, SEVEN)) return;
    const struct pen pen = {.width = 4, .size = 80, .stretch = 1, .x = 50, .y = 50};
    sketch_take(&one.sketch, &one.drawings, 0);
    sketch_draw(same, PAD, PAD, &one.sketch, &pen);
    for (size_t i = 0; i < 100; i++) {
        draw_habit(ink, &one, 7, 0, i);
        CHECK(!memcmp(ink, same, sizeof ink), "try %zu differs", i);
    }
    one_close(&one);
}

/* Of ten points, how many a drawing that stops early keeps: the least and the most. */
static void check_share(double halves, size_t fewest, size_t largest) {
    struct one one;
    if (!one_open(&one, "[[[0, 0], [1, 1], [2, 2], [3, 3]], [[4, 4], [5, 5], [6, 6]],"
                        " [[7, 7], [8, 8], [9, 9]]]"))
        return;
    size_t least = 10, most = 0;
    for (size_t i = 0; i < TRIES; i++) {
        struct rng rng = rng_stream(3, RNG_DRAW, 0, i);
        sketch_take(&one.sketch, &one.drawings, 0);
        double share = habit_stop_early(&one.sketch, halves, &rng);
        size_t points = one.sketch.points, sum = 0;
        for (size_t k = 0; k < one.sketch.strokes; k++) sum += one.sketch.length[k];
        CHECK(sum == points, "%zu points in strokes of %zu", points, sum);
        CHECK(fabs(10 * share - (double)points) <= 1, "%zu of ten points, share %g", points, share);
        for (size_t k = 0; k < points; k++)
            CHECK(one.sketch.point[k].x == (float)k, "point %zu is another", k);
        least = points < least ? points : least;
        most = points > most ? points : most;
    }
    CHECK(least == fewest && most == largest, "halves %g: %zu to %zu of ten points", halves, least,
          most);
    one_close(&one);
}

TEST("a drawing that stops early keeps its first strokes and between 0.3 and 0.9 of its points") {
    check_share(0, 3, 8);
}

TEST("a drawing that stops at about its half keeps between 0.45 and 0.55 of its points") {
    check_share(1, 4, 5);
}

TEST("a blot is one round patch of ink without a hole") {
    const struct pen pen = {.width = 35, .size = 35, .stretch = 1, .x = 50, .y = 50};
    struct one one;
    uint8_t ink[PAD * PAD];
    if (!one_open(&one, "[[[0, 0]]]")) return;
    for (size_t i = 0; i < 100; i++) {
        struct rng rng = rng_stream(3, RNG_DRAW, 0, i);
        size_t full = 0, paper = 0;
        negative_blot(&one.sketch, &rng);
        memset(ink, 0, sizeof ink);
        sketch_draw(ink, PAD, PAD, &one.sketch, &pen);
        for (size_t k = 30; k < 70; k++) full += ink[50 * PAD + k] > 128 && ink[k * PAD + 50] > 128;
        for (size_t k = 0; k < PAD; k++) paper += ink[k] + ink[(PAD - 1) * PAD + k];
        CHECK(full == 40 && paper == 0, "blot %zu: %zu of 40 full, %zu at the edge", i, full,
              paper);
    }
    one_close(&one);
}

/* ---- Read by a model that learnt without habits ------------------------ */

static struct reading reading_of(struct reader *judge, const uint8_t *ink) {
    struct reading reading;
    reader_add(judge, 0, ink);
    reader_read(judge, &reading, 1);
    return reading;
}

TEST("digits-large reads nine in ten of each digit's other forms as that digit") {
    enum { EACH = SANITIZED ? 20 : 60 };
    struct reader judge = reader_open("digits-large", PAD, 1);
    struct one one;
    uint8_t ink[PAD * PAD];
    if (!one_open(&one, "[[[0, 0]]]")) return;
    for (uint8_t label = 1; label < 10; label++) {
        size_t right = 0, forms = 0;
        for (size_t i = 0; forms < EACH; i++) {
            draw_habit(ink, &one, label, 1, i);
            if (one.sketch.points < 4) continue; /* the dot itself, hooked or not */
            forms++;
            right += reading_of(&judge, ink).class == label;
        }
        CHECK(10 * right >= 9 * forms, "%d: %zu of %zu", label, right, forms);
    }
    reader_close(&judge);
    one_close(&one);
}

TEST("digits-large is sure of few of the letters, whatever digit it names") {
    enum { EACH = SANITIZED ? 100 : 300 };
    struct reader judge = reader_open("digits-large", PAD, 1);
    struct one one;
    uint8_t ink[PAD * PAD];
    if (!one_open(&one, "[[[0, 0]]]")) return;
    const struct pen pen = {.width = 6, .size = 80, .stretch = 1, .x = 50, .y = 50};
    size_t sure = 0;
    for (size_t i = 0; i < EACH; i++) {
        struct rng rng = rng_stream(3, RNG_DRAW, 1, i);
        negative_letter(&one.sketch, &rng);
        memset(ink, 0, sizeof ink);
        sketch_draw(ink, PAD, PAD, &one.sketch, &pen);
        sure += !reading_of(&judge, ink).uncertain;
    }
    CHECK(2 * sure < EACH, "of %zu of %d", sure, EACH);
    reader_close(&judge);
    one_close(&one);
}
