/* The samples of an epoch: each image of the data set once, each drawing by a training writer
 * several times, and drawings of no digit. (seed, epoch, index) decides how a sample is changed. */
#include "samples.h"
#include "augment.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/team.h"
#include "data.h"
#include "habits.h"
#include "negatives.h"
#include "recipe.h"
#include "strokes.h"

#include <stdlib.h>
#include <string.h>

/* The side of the plane for drawings, in pixels. A digit on the page's pad is about as large. */
enum { SIDE = 180 };

/* Drawings, of digits or not, have one channel. */
static vit_status check_keys(const struct samples *s, vit_error *why) {
    const struct recipe *recipe = s->recipe;
    if (recipe->negatives > 0 && recipe->config.classes > NO_CLASS)
        return vit_fail(why, VIT_BAD_CONFIG, "training key negatives: expected at most %z classes",
                        (size_t)NO_CLASS);
    if (recipe->mixup + recipe->cutmix > 0 && recipe->config.classes > MOST_MIXED)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "training keys mixup and cutmix: expected at most %z classes",
                        (size_t)MOST_MIXED);
    if (s->data->channels == 1) return VIT_OK;
    const char *key = recipe->drawings || s->drawings ? "drawings"
                      : recipe->negatives > 0         ? "negatives"
                                                      : NULL;
    if (!key) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "training key %s: expected images of one channel, got %z channels", key,
                    s->data->channels);
}

/* Whether drawing i is by these writers, and of no class if `other`, else of one. */
static bool trains(const struct drawings *drawings, size_t i, unsigned writers, bool other) {
    const struct drawing *drawing = &drawings->list[i];
    return (writers & writers_part(drawing->writer)) && (drawing->label == NO_CLASS) == other;
}

vit_status samples_open(struct samples *s, const struct recipe *recipe, const struct data_set *data,
                        const struct drawings *drawings, vit_error *why) {
    *s = (struct samples){.recipe = recipe, .data = data, .drawings = drawings};
    vit_status status = check_keys(s, why);
    if (status) return status;
    s->images = data->count - recipe->validation;
    unsigned writers = WRITERS_TRAINING | (recipe->validation ? 0 : WRITERS_VALIDATION);
    s->list = malloc((drawings ? drawings->count : 0) * sizeof *s->list + 1);
    if (!s->list) return vit_fail(why, VIT_NO_MEMORY, "no memory for the drawings");
    for (size_t i = 0; drawings && i < drawings->count; i++)
        if (trains(drawings, i, writers, false)) s->list[s->listed++] = i;
    for (size_t i = 0; drawings && i < drawings->count; i++)
        if (trains(drawings, i, writers, true)) s->list[s->listed + s->others++] = i;
    s->negatives = (size_t)(recipe->negatives * (double)s->images);
    s->count = s->images + s->listed * recipe->drawings + s->negatives;
    if (s->count > UINT32_MAX)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "training key drawings: expected a shorter epoch, got one of %z "
                        "images",
                        s->count);
    return augmenter_open(&s->augmenter, &recipe->augment, recipe->epochs, data->rows,
                          data->columns, why);
}

void samples_close(struct samples *s) {
    augmenter_close(s->augmenter);
    free(s->list);
    *s = (struct samples){0};
}

bool sample_room_open(struct sample_room *room, const struct samples *s) {
    vit_config digit = {.prepare = VIT_PREPARE_DIGIT,
                        .image_size = {s->data->rows, s->data->columns},
                        .channels = 1};
    room->ink = malloc(SIDE * SIDE);
    room->points = malloc(negative_points() * sizeof *room->points);
    bool sketched = sketch_open(&room->sketch, s->drawings, HABIT_POINTS, HABIT_STROKES);
    room->prepare = malloc(vit_prepare_size(&digit, SIDE, SIDE, 1));
    room->bytes = malloc(s->data->rows * s->data->columns);
    room->augment = malloc(augmenter_scratch(s->augmenter) * sizeof *room->augment);
    room->other = malloc(data_values(s->data) * sizeof *room->other);
    return sketched && room->ink && room->points && room->prepare && room->bytes && room->augment &&
           room->other;
}

void sample_room_close(struct sample_room *room) {
    free(room->ink);
    free(room->points);
    sketch_close(&room->sketch);
    free(room->prepare);
    free(room->bytes);
    free(room->augment);
    free(room->other);
    *room = (struct sample_room){0};
}

static struct wave draw_wave(struct rng *rng, double highest, double longest) {
    struct wave wave = {.height = (float)(highest * rng_unit(rng))};
    wave.length = (float)(longest * rng_unit(rng));
    wave.phase = (float)(6.283 * rng_unit(rng));
    return wave;
}

/* The thickest pen that keeps the holes of a drawing of size 1 open. An 8 full of ink would teach
 * that fat 1s are 8s. */
static float thickest_pen(float narrowness) {
    static const float ALWAYS = 0.1f, HOLE = 0.55f;
    return fmaxf(ALWAYS, HOLE * narrowness);
}

/* A random pen: thin or thick, leaning left or right, narrow or wide, large or small. The recipe's
 * `hand` sets how far it bends strokes and presses unevenly. */
static struct pen draw_pen(const struct recipe *recipe, struct rng *rng) {
    float size = (float)(SIDE * (0.35 + 0.3 * rng_unit(rng)));
    struct pen pen = {.width = draw_width(rng, size), .size = size, .x = SIDE / 2, .y = SIDE / 2};
    pen.stretch = (float)exp(rng_within(rng, log(1.3)));
    pen.slant = (float)tan(
        0.105 + rng_within(rng, 0.54)); /* -25° to 37°, because most hands lean to the right */
    double hand = recipe->hand;
    if (hand > 0) {
        pen.perspective = (float)rng_within(rng, 0.3 * hand);
        pen.bend[0] = draw_wave(rng, 0.06 * hand, 7);
        pen.bend[1] = draw_wave(rng, 0.06 * hand, 7);
        pen.pressure = draw_wave(rng, 0.4 * hand, 40);
    }
    return pen;
}

static void draw_sketch(struct sample_room *room, struct pen *pen) {
    float narrowness = sketch_narrowness(&room->sketch, pen->stretch);
    float thickest = pen->size * thickest_pen(narrowness) / (1 + pen->pressure.height);
    pen->width = fminf(pen->width, thickest);
    sketch_draw(room->ink, SIDE, SIDE, &room->sketch, pen);
}

static const struct sample NOTHING = {.label = NO_CLASS, .advice = ADVICE_NEVER};

/* Draws a digit. It may teach NO_CLASS where it stops early. If the recipe's hand is 1, half of the
 * 1s are bare lines, some as wide as bars. */
static struct sample draw_drawing(struct sample_room *room, const struct samples *s, size_t drawing,
                                  struct rng *rng) {
    const struct recipe *recipe = s->recipe;
    struct sample sample = {.label = s->drawings->list[drawing].label, .advice = ADVICE_IF_RIGHT};
    struct pen pen = draw_pen(recipe, rng);
    if (sample.label == 1 && rng_unit(rng) < 0.5 * recipe->hand) {
        pen.width = fminf(pen.width * (float)(1 + rng_unit(rng)),
                          (0.95f * SIDE - pen.size) / (1 + pen.pressure.height));
        pen_draw_line(room->ink, SIDE, SIDE, &pen);
        return sample;
    }
    sketch_take(&room->sketch, s->drawings, drawing);
    if (recipe->habits > 0) habits_apply(&room->sketch, sample.label, recipe->habits, rng);
    double missing = 0;
    if (recipe->unfinished > 0 && rng_unit(rng) < recipe->unfinished) {
        missing = 1 - habit_stop_early(&room->sketch, recipe->halves, rng);
        sample.unfinished = true;
        sample.advice = ADVICE_NEVER;
    }
    draw_sketch(room, &pen);
    if (recipe->doubt > 0 && rng_unit(rng) < recipe->doubt * missing) sample.label = NO_CLASS;
    return sample;
}

/* Draws a small letter or a blot. The paper's edge cuts half of the blots. */
static void draw_other(struct sample_room *room, const struct recipe *recipe, struct rng *rng) {
    struct pen pen = draw_pen(recipe, rng);
    if (rng_unit(rng) < 0.75) {
        negative_letter(&room->sketch, rng);
        draw_sketch(room, &pen);
        return;
    }
    negative_blot(&room->sketch, rng);
    pen.size *= (float)(0.2 + 0.4 * rng_unit(rng));
    pen.width = pen.size; /* it fills its rim */
    if (rng_unit(rng) < 0.5) {
        float edge = rng_unit(rng) < 0.5 ? 0 : SIDE;
        *(rng_unit(rng) < 0.5 ? &pen.x : &pen.y) = edge;
    }
    sketch_draw(room->ink, SIDE, SIDE, &room->sketch, &pen);
}

static struct sample draw(struct sample_room *room, const struct samples *s, size_t *side,
                          size_t index, struct rng *rng) {
    *side = SIDE;
    memset(room->ink, 0, SIDE * SIDE);
    index -= s->images;
    if (index < s->listed * s->recipe->drawings)
        return draw_drawing(room, s, s->list[index % s->listed], rng);
    if (s->others && rng_unit(rng) < 0.6) {
        struct pen pen = draw_pen(s->recipe, rng);
        sketch_take(&room->sketch, s->drawings, s->list[s->listed + rng_below(rng, s->others)]);
        draw_sketch(room, &pen);
        return NOTHING;
    }
    if (s->recipe->habits > 0 && rng_unit(rng) < 0.5 * s->recipe->habits) {
        draw_other(room, s->recipe, rng);
        return NOTHING;
    }
    size_t pair = 2 * s->data->columns + 2;
    if (pair <= SIDE && s->data->rows <= s->data->columns && rng_unit(rng) < 0.35)
        negative_pair(room->ink, *side = pair, s->data, s->images, rng);
    else
        negative_draw(room->ink, SIDE, room->points, s->recipe->config.doubt, rng);
    return NOTHING;
}

/* An image of the data set, its channels changed alike. Only a drawing of a 1 is solid. */
static struct sample draw_image(float *image, struct sample_room *room, const struct samples *s,
                                size_t epoch, size_t index) {
    size_t plane = s->data->rows * s->data->columns, channels = s->data->channels;
    const uint8_t *source = s->data->images + index * channels * plane;
    uint8_t label = s->data->text_tokens ? 0 : s->data->labels[index];
    bool solid = label == 1 && channels == 1;
    for (size_t c = 0; c < channels; c++)
        augmenter_apply(image + c * plane, room->augment, s->augmenter, source + c * plane, solid,
                        s->recipe->seed, epoch, index);
    augmenter_colour(image, room->augment, s->augmenter, channels, s->recipe->seed, epoch, index);
    return (struct sample){
        .label = label, .image = index, .advice = label == NO_CLASS ? ADVICE_NEVER : ADVICE_ALWAYS};
}

/* image → its own share of each pixel and the rest of `other`'s: Zhang et al., arXiv:1710.09412. */
static void mix(float *image, const float *other, size_t n, float share) {
    for (size_t i = 0; i < n; i++) image[i] += share * (other[i] - image[i]);
}

/* A side of a box about a random place, cut off at the image's edges. */
static struct range draw_side(size_t pixels, double length, struct rng *rng) {
    double middle = rng_unit(rng) * (double)pixels;
    double begin = fmax(0, middle - length / 2), end = fmin((double)pixels, middle + length / 2);
    return (struct range){(size_t)(begin + 0.5), (size_t)(end + 0.5)};
}

/* Pastes a box of `other`, a share of the area or what of it lies on the image. → that share: Yun
 * et al., arXiv:1905.04899. */
static float paste(float *image, const float *other, const struct data_set *data, float share,
                   struct rng *rng) {
    double side = sqrt((double)share);
    struct range y = draw_side(data->rows, side * (double)data->rows, rng);
    struct range x = draw_side(data->columns, side * (double)data->columns, rng);
    size_t columns = x.end - x.begin, plane = data->rows * data->columns;
    for (size_t c = 0; c < data->channels; c++)
        for (size_t row = y.begin; row < y.end; row++) {
            size_t at = c * plane + row * data->columns + x.begin;
            memcpy(image + at, other + at, columns * sizeof *image);
        }
    return (float)((y.end - y.begin) * columns) / (float)plane;
}

/* Mixes another image of the epoch into a share of the images that have a class. The class of the
 * larger part is the label. */
static struct sample mix_image(float *image, struct sample sample, struct sample_room *room,
                               const struct samples *s, size_t epoch, size_t index) {
    const struct recipe *recipe = s->recipe;
    struct rng rng = rng_stream(recipe->seed, RNG_MIX, epoch, index);
    double chance = rng_unit(&rng);
    if (chance >= recipe->mixup + recipe->cutmix || sample.label == NO_CLASS) return sample;
    struct sample other = draw_image(room->other, room, s, epoch, rng_below(&rng, s->images));
    if (other.label == NO_CLASS) return sample;
    float share = (float)rng_unit(&rng);
    if (chance < recipe->mixup)
        mix(image, room->other, data_values(s->data), share);
    else
        share = paste(image, room->other, s->data, share, &rng);
    bool most = share > 0.5f;
    sample.other = most ? sample.label : other.label;
    sample.label = most ? other.label : sample.label;
    sample.mixed = most ? 1 - share : share;
    return sample;
}

struct sample sample_draw(float *image, struct sample_room *room, const struct samples *s,
                          size_t epoch, size_t index) {
    uint64_t seed = s->recipe->seed;
    size_t rows = s->data->rows, columns = s->data->columns, pixels = rows * columns, side;
    if (index < s->images)
        return mix_image(image, draw_image(image, room, s, epoch, index), room, s, epoch, index);
    struct rng rng = rng_stream(seed, RNG_DRAW, epoch, index);
    struct sample sample = draw(room, s, &side, index, &rng);
    vit_pixels plane = {room->ink, side, side, 1};
    vit_error why;
    memset(room->bytes, 0, pixels);
    if (vit_prepare_digit(image, room->prepare, &plane, rows, columns, &why) == VIT_OK)
        for (size_t i = 0; i < pixels; i++) room->bytes[i] = (uint8_t)(255 * image[i] + 0.5f);
    augmenter_apply(image, room->augment, s->augmenter, room->bytes, false, seed, epoch, index);
    if (sample.unfinished) vit_prepare_unfinished(image, &s->recipe->config);
    return sample;
}
