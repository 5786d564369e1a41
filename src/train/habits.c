/* Digits as other hands write them: a zero with a slash, a seven with a bar, a one with flag and
 * foot, an open or a closed four. The strokes change, not the pixels. Random numbers make every
 * change; none comes from a data set. */
#include "habits.h"

#include <string.h>

/* Other forms of the digits, as sketch_write reads them. */
static const struct form {
    uint8_t digit;
    const char *corners;
} FORMS[] = {
    {1, "33 50 50 59"},                      /* a flag */
    {1, "15 50 50 59"},                      /* a long flag */
    {1, "07 60 60 69"},                      /* a flag down to the foot */
    {1, "32 50 50 59,29 79"},                /* a flag and a foot */
    {1, "24 50 50 59,09 99"},                /* a flag and a wide foot */
    {1, "40 49,29 69"},                      /* a foot alone */
    {2, "12 30 60 72 54 09 09 89"},          /* a corner at the foot */
    {2, "12 30 60 72 54 29 09 07 27 49 89"}, /* a loop at the foot */
    {2, "13 20 60 73 46 19 06 26 58 99"},    /* a wide loop */
    {2, "11 20 60 61 61 09 09 79"},          /* a straight back */
    {3, "00 00 80 80 44 44 75 78 49 08"},    /* a flat top */
    {4, "20 06 06 76,60 69"},                /* open */
    {4, "10 06 06 76,70 79"},                /* open, arms alike */
    {4, "30 15 15 65,53 59"},                /* open, a short stem */
    {4, "20 14 26 75,70 72 69"},             /* open and round */
    {4, "10 05 05 55,40 49"},                /* open and tall */
    {4, "60 06 06 86,60 69"},                /* closed */
    {4, "50 05 05 85,53 59"},                /* closed, a short stem */
    {5, "10 10 04 04 43 75 78 49 08,10 80"}, /* its roof apart */
    {5, "80 10 10 04 04 53 86 69 08"},       /* in one stroke */
    {6, "70 30 04 08 39 68 75 43 06"},       /* a round back */
    {6, "60 60 05 07 39 78 56 25 07"},       /* a straight back */
    {6, "50 12 07 49 68 56 17"},             /* a small loop */
    {7, "00 00 80 80 39"},                   /* without a bar */
    {7, "02 00 00 80 80 29"},                /* with a serif */
    {8, "70 30 12 44 77 49 17 44 72 60"},    /* in one stroke */
    {8, "40 12 44 72 40,44 17 49 87 44"},    /* of two circles */
    {9, "72 40 12 35 64 72 72 79"},          /* a straight leg */
    {9, "72 40 02 35 64 72 78 49 17"},       /* a hook */
};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

struct extent {
    float x, y, wide, high; /* x, y: the centre */
};

static struct extent extent_of(const struct sketch *s) {
    struct box box = points_box(s->point, s->points);
    return (struct extent){(box.low[0] + box.high[0]) / 2, (box.low[1] + box.high[1]) / 2,
                           box.high[0] - box.low[0], box.high[1] - box.low[1]};
}

static float size_of(const struct sketch *s) {
    struct extent box = extent_of(s);
    return fmaxf(box.wide, box.high);
}

static void begin_stroke(struct sketch *s) {
    if (s->strokes < s->most_strokes) s->length[s->strokes++] = 0;
}

static void add_point(struct sketch *s, float x, float y) {
    if (s->points == s->most_points) return;
    s->point[s->points++] = (vit_point){x, y, 0};
    s->length[s->strokes - 1]++;
}

/* ---- Of single digits --------------------------------------------------------- */

static void add_line(struct sketch *s, float x, float y, float angle, float length) {
    float dx = cosf(angle) * length / 2, dy = sinf(angle) * length / 2;
    begin_stroke(s);
    add_point(s, x - dx, y + dy);
    add_point(s, x, y);
    add_point(s, x + dx, y - dy);
}

/* Adds a zero's slash, within its rim or beyond, mostly from lower left to upper right; or a
 * dot. */
static void add_slash(struct sketch *s, struct rng *rng) {
    struct extent box = extent_of(s);
    float x = box.x + box.wide * rng_between(rng, -0.1, 0.1),
          y = box.y + box.high * rng_between(rng, -0.1, 0.1);
    float usual = atan2f(box.high, box.wide), angle = usual + (float)rng_within(rng, 0.5);
    double kind = rng_unit(rng);
    if (kind < 0.15) { /* a dot */
        add_line(s, x, y, 0, 0.12f * box.wide * rng_between(rng, 0, 1));
        return;
    }
    if (kind < 0.35) angle = (float)rng_within(rng, 3.1416);
    if (kind > 0.9) angle = -angle;
    float reach =
        fminf(box.wide / (fabsf(cosf(angle)) + 1e-3f), box.high / (fabsf(sinf(angle)) + 1e-3f));
    add_line(s, x, y, angle, reach * rng_between(rng, 0.45, 1.35));
}

/* Finds the last place where a stroke crosses height y: of a seven, its stem. */
static bool crossing(float *x, const struct sketch *s, float y) {
    bool found = false;
    const vit_point *p = s->point;
    for (size_t stroke = 0; stroke < s->strokes; p += s->length[stroke++])
        for (size_t i = 1; i < s->length[stroke]; i++) {
            vit_point a = p[i - 1], b = p[i];
            if ((a.y < y) == (b.y < y)) continue;
            *x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
            found = true;
        }
    return found;
}

/* Adds a bar to a seven of one stroke, near the middle of its stem. */
static void add_bar(struct sketch *s, struct rng *rng) {
    struct extent box = extent_of(s);
    float x, y = box.y + box.high * rng_between(rng, -0.2, 0.25);
    if (s->strokes > 1 || !crossing(&x, s, y)) return;
    float length = box.wide * rng_between(rng, 0.35, 0.95);
    add_line(s, x + length * rng_between(rng, -0.2, 0.2), y, (float)rng_within(rng, 0.45), length);
}

void sketch_write(struct sketch *s, const char *corners, struct rng *rng) {
    const char *before = NULL;
    float x = 0, y = 0;
    s->points = s->strokes = 0;
    begin_stroke(s);
    for (const char *at = corners;; at += 3) {
        bool again = before && before[0] == at[0] && before[1] == at[1];
        if (!again) {
            x = (float)(at[0] - '0' + rng_within(rng, 0.7));
            y = (float)(at[1] - '0' + rng_within(rng, 0.7));
        }
        add_point(s, x, y);
        if (!at[2]) return;
        before = at[2] == ' ' ? at : NULL;
        if (at[2] == ',') begin_stroke(s);
    }
}

/* Replaces the strokes by another form of the digit, if the table has one. */
static void take_form(struct sketch *s, uint8_t label, struct rng *rng) {
    size_t of[FORM_COUNT], count = 0;
    for (size_t i = 0; i < FORM_COUNT; i++)
        if (FORMS[i].digit == label) of[count++] = i;
    if (count) sketch_write(s, FORMS[of[rng_below(rng, count)]].corners, rng);
}

/* ---- Of any digit --------------------------------------------------------------- */

/* Keeps some of each stroke's points, evenly, and the last one, like a tablet that samples
 * rarely. */
static void sample_coarsely(struct sketch *s, struct rng *rng) {
    size_t most = 8 + rng_below(rng, 9), from = 0, to = 0;
    for (size_t stroke = 0; stroke < s->strokes; stroke++) {
        size_t length = s->length[stroke], step = length / most, first = to;
        for (size_t i = 0; i + 1 < length; i += step ? step : 1)
            s->point[to++] = s->point[from + i];
        if (length) s->point[to++] = s->point[from + length - 1];
        s->length[stroke] = to - first;
        from += length;
    }
    s->points = to;
}

static void tremble(struct sketch *s, struct rng *rng) {
    float size = size_of(s) * rng_between(rng, 0.004, 0.02), x = 0, y = 0;
    for (size_t i = 0; i < s->points; i++) {
        x = 0.5f * x + size * (float)rng_normal(rng);
        y = 0.5f * y + size * (float)rng_normal(rng);
        s->point[i].x += x, s->point[i].y += y;
    }
}

/* Inserts a point of `stroke` before point `at`. */
static void insert_point(struct sketch *s, size_t stroke, size_t at, vit_point point) {
    if (s->points == s->most_points) return;
    memmove(s->point + at + 1, s->point + at, (s->points - at) * sizeof *s->point);
    s->point[at] = point;
    s->points++;
    s->length[stroke]++;
}

/* Adds the short line that a pen makes when it lands or lifts. */
static void hook(struct sketch *s, struct rng *rng) {
    size_t stroke = rng_below(rng, s->strokes), first = 0;
    bool lands = rng_unit(rng) < 0.5;
    for (size_t i = 0; i < stroke; i++) first += s->length[i];
    size_t at = lands ? first : first + s->length[stroke];
    vit_point end = s->point[lands ? at : at - 1];
    float angle = (float)rng_within(rng, 3.1416),
          length = size_of(s) * rng_between(rng, 0.03, 0.13);
    vit_point tip = {end.x + length * cosf(angle), end.y + length * sinf(angle), 0};
    insert_point(s, stroke, at, tip);
}

/* Breaks a stroke in two, because the pen lifts. */
static void lift(struct sketch *s, struct rng *rng) {
    size_t stroke = rng_below(rng, s->strokes), length = s->length[stroke];
    if (length < 6 || s->strokes == s->most_strokes) return;
    size_t cut = 2 + rng_below(rng, length - 4);
    for (size_t i = s->strokes++; i > stroke; i--) s->length[i] = s->length[i - 1];
    s->length[stroke] = cut;
    s->length[stroke + 1] = length - cut;
}

enum { ANY_DIGIT = 255 };

/* Applied in this order, after take_form, so that a form can tremble too. */
static const struct habit {
    uint8_t digit;
    double chance;
    void (*apply)(struct sketch *s, struct rng *rng);
} HABITS[] = {
    {0, 0.3, add_slash},        {7, 0.35, add_bar},     {ANY_DIGIT, 0.15, sample_coarsely},
    {ANY_DIGIT, 0.15, tremble}, {ANY_DIGIT, 0.2, hook}, {ANY_DIGIT, 0.1, lift},
};
static const double FORM_CHANCE = 0.25;

void habits_apply(struct sketch *s, uint8_t label, double share, struct rng *rng) {
    if (rng_unit(rng) < FORM_CHANCE * share) take_form(s, label, rng);
    for (size_t i = 0; i < sizeof HABITS / sizeof *HABITS; i++) {
        const struct habit *habit = &HABITS[i];
        bool its = habit->digit == label || habit->digit == ANY_DIGIT;
        if (its && rng_unit(rng) < habit->chance * share) habit->apply(s, rng);
    }
}

double habit_stop_early(struct sketch *s, double halves, struct rng *rng) {
    bool half = halves > 0 && rng_unit(rng) < halves;
    double share = half ? 0.45 + 0.1 * rng_unit(rng) : 0.3 + 0.6 * rng_unit(rng);
    sketch_cut(s, share);
    return share;
}
