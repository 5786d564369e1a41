/* The trainer's readers: recipes from memory; IDX files, pen drawings and checkpoints as files in
 * memory, plain or gzipped. Input that is read is used, and a refusal has a message. */
#define _GNU_SOURCE
#include "base/rng.h"
#include "train/checkpoint.h"
#include "train/data.h"
#include "train/habits.h"
#include "train/idx.h"
#include "train/jsonl.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/strokes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "harness.h"

enum { ROOM = 1 << 16 };

struct text {
    uint8_t bytes[ROOM];
    size_t size;
};

static void put(struct text *out, const void *bytes, size_t n) {
    if (n > ROOM - out->size) n = ROOM - out->size;
    memcpy(out->bytes + out->size, bytes, n);
    out->size += n;
}

static void put_words(struct text *out, const char *words) {
    put(out, words, strlen(words));
}

/* Changes bytes, cuts the text off, or takes all bytes from the tape. */
static void mutate(struct text *text, struct tape *t) {
    size_t kind = tape_below(t, 6), n = 1 + tape_below(t, 3);
    if (kind == 5) {
        text->size = 0;
        put(text, t->at, (size_t)(t->end - t->at));
    }
    if (kind == 4) text->size = tape_below(t, text->size + 1);
    for (size_t i = 0; kind == 3 && text->size && i < n; i++)
        text->bytes[tape_below(t, text->size)] = tape_byte(t);
}

/* ---- Files in memory ---------------------------------------------------- */

struct file {
    int number;
    char path[32];
};

static struct file file_new(const struct text *text, bool gzipped, struct tape *t) {
    struct file file = {memfd_create("fuzz", 0), ""};
    static uint8_t packed[ROOM + 1000];
    const uint8_t *bytes = text->bytes;
    size_t size = text->size;
    EXPECT(file.number >= 0, "no file in memory");
    if (gzipped) {
        z_stream z = {.next_in = (uint8_t *)text->bytes,
                      .avail_in = (unsigned)text->size,
                      .next_out = packed,
                      .avail_out = sizeof packed};
        deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        deflate(&z, Z_FINISH);
        size = sizeof packed - z.avail_out;
        deflateEnd(&z);
        bytes = packed;
        if (size && tape_chance(t, 6)) packed[tape_below(t, size)] ^= tape_byte(t);
        if (tape_chance(t, 6)) size -= tape_below(t, size);
    }
    EXPECT(write(file.number, bytes, size) == (ssize_t)size,
           "the file in memory cannot be written");
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.number);
    return file;
}

/* ---- Data sets ---------------------------------------------------------- */

static void put_idx(struct text *out, size_t rank, const size_t *shape, struct tape *t) {
    static const uint32_t EDGES[] = {0, 1, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
    uint64_t seed = tape_word(t);
    size_t count = 1;
    put(out, (uint8_t[]){0, 0, 8, (uint8_t)rank}, 4);
    for (size_t i = 0; i < rank; i++) {
        uint32_t n = tape_chance(t, 12) ? EDGES[tape_below(t, 6)] : (uint32_t)shape[i];
        put(out, (uint8_t[]){(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n},
            4);
        count *= shape[i];
    }
    for (size_t i = 0; i < count; i++)
        put(out, &(uint8_t){(uint8_t)(random_next(&seed) % (rank == 1 ? 3 : 256))}, 1);
    if (tape_chance(t, 4)) mutate(out, t);
}

static void read_data(struct tape *t) {
    static struct text images, labels;
    size_t shape[] = {1 + tape_below(t, 9), 1 + tape_below(t, 30), 1 + tape_below(t, 30)};
    vit_config config = {.image_size = {shape[1], shape[2]}, .channels = 1, .classes = 3};
    images.size = labels.size = 0;
    put_idx(&images, 3, shape, t);
    put_idx(&labels, 1, shape, t);
    struct file a = file_new(&images, tape_bool(t), t), b = file_new(&labels, tape_bool(t), t);
    struct data_set data;
    vit_error why = {""};
    meter_start();
    vit_status status = data_open(&data, a.path, b.path, &config, &why);
    expect_cheap(meter_stop(), images.size + labels.size, "a data set");
    EXPECT(!status || why.text[0], "a failure without a message");
    float *image = malloc(shape[1] * shape[2] * sizeof *image);
    for (size_t i = 0; !status && i < data.count; i++) data_image(image, &data, i);
    if (!status) data_close(&data);
    free(image);
    close(a.number);
    close(b.number);
}

/* ---- Drawings ----------------------------------------------------------- */

static void put_number(struct text *out, struct tape *t) {
    static const char *const EDGES[] = {"1e6", "-1e6", "1e-320", "1e7",     "1e99999", "-0",
                                        "1",   "null", "[]",     "1000001", "0.1e-9"};
    char number[32];
    snprintf(number, sizeof number, "%d", (int)tape_below(t, 1000) - 500);
    put_words(out, tape_chance(t, 16) ? EDGES[tape_below(t, 11)] : number);
}

static void put_drawing(struct text *out, struct tape *t) {
    char start[64];
    snprintf(start, sizeof start, "{\"label\":%zu,\"writer\":%zu,\"strokes\":[", tape_below(t, 11),
             tape_below(t, 40));
    put_words(out, start);
    for (size_t strokes = 1 + tape_below(t, 3), i = 0; i < strokes; i++) {
        put_words(out, i ? ",[" : "[");
        for (size_t points = 1 + tape_below(t, 5), k = 0; k < points; k++) {
            put_words(out, k ? ",[" : "[");
            put_number(out, t);
            put_words(out, ",");
            put_number(out, t);
            put_words(out, "]");
        }
        put_words(out, "]");
    }
    put_words(out, "]}\n");
}

static void use_drawings(const struct drawings *drawings, struct tape *t) {
    enum { ROWS = 20, COLUMNS = 24 };
    uint8_t *ink = calloc(ROWS * COLUMNS, 1);
    struct sketch sketch;
    bool sketched = sketch_open(&sketch, drawings, HABIT_POINTS, HABIT_STROKES);
    struct rng rng = {tape_below(t, 1 << 16)};
    struct data_set data;
    vit_error why = {""};
    for (size_t i = 0; i < drawings->count; i++) {
        struct pen pen = {.width = (float)tape_below(t, 8),
                          .size = (float)tape_below(t, 40),
                          .stretch = 1,
                          .x = 10,
                          .y = 10};
        if (!sketched) break;
        sketch_take(&sketch, drawings, i);
        habits_apply(&sketch, (uint8_t)tape_below(t, 10), 1, &rng);
        if (tape_below(t, 2)) habit_stop_early(&sketch, 0.5, &rng);
        sketch_narrowness(&sketch, 1);
        sketch_draw(ink, ROWS, COLUMNS, &sketch, &pen);
    }
    struct drawing_options which = {.writers = WRITERS_TRAINING | WRITERS_HELD_OUT,
                                    .points = (double)tape_below(t, 11) / 10,
                                    .habits = (double)tape_below(t, 2),
                                    .unfinished_ink = 0.5f};
    vit_status status = drawings_data(&data, drawings, which, 28, 28, &why);
    EXPECT(!status || why.text[0], "a failure without a message");
    if (!status) data_close(&data);
    sketch_close(&sketch);
    free(ink);
}

static void read_drawings(struct tape *t) {
    static struct text text;
    text.size = 0;
    for (size_t i = 0, n = 1 + tape_below(t, 4); i < n; i++) put_drawing(&text, t);
    if (tape_chance(t, 3)) mutate(&text, t);
    struct file file = file_new(&text, tape_bool(t), t);
    struct drawings drawings;
    vit_error why = {""};
    meter_start();
    vit_status status = drawings_open(&drawings, file.path, 10, &why);
    expect_cheap(meter_stop(), text.size, "drawings");
    EXPECT(!status || why.text[0], "a failure without a message");
    if (!status) use_drawings(&drawings, t);
    if (!status) drawings_close(&drawings);
    close(file.number);
}

/* ---- Recipes ------------------------------------------------------------ */

static void read_recipe(struct tape *t) {
    static const char *const KEYS[] = {
        "\"epochs\":3",
        "\"batch\":32",
        "\"seed\":18446744073709551615",
        "\"learning_rate\":1e-3",
        "\"optimizer\":\"muon\"",
        "\"schedule\":\"constant\"",
        "\"drop_path\":0.5",
        "\"drawings\":2",
        "\"augment\":{\"shift\":2,\"elastic_grid\":64,\"erase\":1000}",
        "\"precision\":\"bfloat16\"",
        "\"sharpness\":0.1",
        "\"epochs\":1e3",
        "\"batch\":4294967296",
        "\"nonsense\":1",
        "\"augment\":[]",
        "\"negatives\":1e308",
        "\"beta1\":-0"};
    struct specimen *specimen = calloc(1, sizeof *specimen);
    static struct text text;
    struct recipe recipe;
    vit_error why = {""};
    plan_draw(&specimen->plan, t);
    for (size_t i = tape_below(t, 3); i > 0; i--) mutate_plan(specimen, t);
    text.size = 0;
    put_words(&text, "{\"model\": ");
    put(&text, specimen->json, plan_json(specimen->json, sizeof specimen->json, &specimen->plan));
    put_words(&text, ", \"training\":{");
    for (size_t i = 0, n = tape_below(t, 5); i < n; i++) {
        if (i) put_words(&text, ",");
        put_words(&text, KEYS[tape_below(t, sizeof KEYS / sizeof *KEYS)]);
    }
    put_words(&text, "}}");
    if (tape_chance(t, 3)) mutate(&text, t);
    char *exact = malloc(text.size + 1);
    memcpy(exact, text.bytes, text.size);
    vit_status status = recipe_read(&recipe, exact, text.size, &why);
    EXPECT(!status || why.text[0], "a failure without a message");
    if (!status) {
        free(recipe_training_json(&recipe));
        free(recipe_metadata(&recipe, 0.5));
        recipe_close(&recipe);
    }
    free(exact);
    free(specimen);
}

/* ---- Checkpoints -------------------------------------------------------- */

static void read_checkpoint(struct tape *t) {
    enum { COUNT = 5, EPOCHS = 3, STEPS = 2, HEADER = CHECKPOINT_HEADER / 8 };
    static struct text text;
    float arrays[CHECKPOINT_ARRAYS][COUNT];
    struct epoch_record records[EPOCHS];
    struct checkpoint c = {.records = records, .epochs = EPOCHS, .steps = STEPS, .count = COUNT};
    uint64_t header[HEADER] = {0x0350434b54495600}, seed = tape_word(t), sum;
    for (size_t i = 0; i < CHECKPOINT_ARRAYS; i++) c.arrays[i] = arrays[i];
    uint64_t *identity = header + 1 + CHECKPOINT_PARTS, *end = identity + RUN_IDENTITY;
    for (size_t i = 0; i < RUN_IDENTITY; i++) identity[i] = c.identity[i] = tape_byte(t);
    /* epoch, epochs, step, count, the sums */
    end[0] = tape_below(t, EPOCHS + 2), end[1] = EPOCHS, end[2] = tape_below(t, STEPS + 2);
    end[3] = COUNT;
    if (tape_chance(t, 3)) header[tape_below(t, HEADER)] = random_next(&seed) >> tape_below(t, 64);
    text.size = 0;
    put(&text, header, sizeof header);
    for (size_t i = 0; i < sizeof arrays + sizeof records; i++)
        put(&text, &(uint8_t){(uint8_t)random_next(&seed)}, 1);
    if (tape_chance(t, 3)) mutate(&text, t);
    sum = hash_bytes(0, text.bytes, text.size) ^ tape_chance(t, 8);
    put(&text, &sum, sizeof sum);
    struct file file = file_new(&text, false, t);
    bool found;
    vit_error why = {""};
    vit_status status = checkpoint_load(&c, file.path, &found, &why);
    EXPECT(found && (!status || why.text[0]), "a failure without a message");
    EXPECT(status || c.epoch <= c.epochs, "at most %zu epochs, got %zu", c.epochs, c.epoch);
    EXPECT(status || c.step <= c.steps, "at most %zu steps, got %zu", c.steps, c.step);
    close(file.number);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    switch (tape_below(&tape, 4)) {
    case 0: read_data(&tape); break;
    case 1: read_drawings(&tape); break;
    case 2: read_recipe(&tape); break;
    default: read_checkpoint(&tape);
    }
    return 0;
}
