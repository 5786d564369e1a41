/* vit calibrate, and the output of vit eval for a calibrated model. */
#define _GNU_SOURCE
#include "command.h"

#include "hostile.h"
#include "kernels/kernels.h"
#include "save.h"
#include "text/generate.h"
#include "text/text.h"
#include "train/calibrate.h"
#include "train/evaluate.h"

static const char STEM[] = GOLDEN_DIR "/../../weights/digits-stem.safetensors";
static const char DOUBTING[] = GOLDEN_DIR "/../../weights/digits.safetensors";
enum { COUNT = 300, EDGE = 12, CLASSES = 7, SKIPPED = 40 };

/* ---- Labelled images ---------------------------------------------------- */

/* Writes images.idx and labels.idx, once: random images, and the class that MODEL gives to each.
 * But the first SKIPPED and every seventh of the others have the next class. */
static void put_images(void) {
    static uint8_t pixels[COUNT * EDGE * EDGE], labels[COUNT];
    static float images[COUNT * EDGE * EDGE], logits[COUNT * CLASSES];
    uint64_t seed = 11;
    if (exists(file_at("labels.idx"))) return;
    for (size_t i = 0; i < sizeof pixels; i++) {
        pixels[i] = (uint8_t)random_bits(&seed);
        images[i] = (float)pixels[i] / 255;
    }
    vit_model *model = read_model(MODEL);
    struct owned_state s = new_state(model, COUNT);
    CHECK(!vit_run(model, s.state, images, COUNT, logits, NULL), "the model does not run");
    for (size_t i = 0; i < COUNT; i++) {
        size_t class = largest_logit(logits + i * CLASSES, CLASSES);
        labels[i] = (uint8_t)((class + (i < SKIPPED || i % 7 == 0)) % CLASSES);
    }
    put_idx("images.idx", COUNT, EDGE, pixels);
    put_idx("labels.idx", COUNT, 0, labels);
    free(s.memory);
    vit_close(model);
}

static int calibrate(const char *model, const char *out, const char *more) {
    put_images();
    return vit("calibrate --model %s --out %s --images %s --labels %s %s", model, out,
               file_at("images.idx"), file_at("labels.idx"), more);
}

/* ---- Files -------------------------------------------------------------- */

struct parts {
    char *header; /* terminated, without the spaces at its end */
    uint8_t *bytes, *data;
    size_t length, data_size;
};

static struct parts parts_of(const char *path) {
    struct parts parts = {0};
    size_t size;
    parts.bytes = bytes_of(path, &size);
    for (size_t i = 8; i > 0; i--) parts.length = parts.length << 8 | parts.bytes[i - 1];
    parts.header = strndup((char *)parts.bytes + 8, parts.length);
    for (size_t n = strlen(parts.header); n && parts.header[n - 1] == ' ';)
        parts.header[--n] = '\0';
    parts.data = parts.bytes + 8 + parts.length;
    parts.data_size = size - 8 - parts.length;
    return parts;
}

static void parts_free(struct parts *parts) {
    free(parts->header);
    free(parts->bytes);
}

/* Checks that `out` is `origin` with two keys more and no other difference. */
static void check_only_keys_added(const char *origin, const char *out) {
    struct parts a = parts_of(origin), b = parts_of(out);
    CHECK(b.length % 8 == 0, "a header of %zu bytes", b.length);
    CHECK(a.data_size == b.data_size && !memcmp(a.data, b.data, a.data_size), "other tensors");
    char *from = strstr(b.header, ",\\\"temperature\\\":");
    char *to = from ? strstr(from, "}\"") : NULL;
    CHECK(from && to && strstr(from, "\\\"uncertain_below\\\":"), "no keys: %.900s", b.header);
    if (from && to) memmove(from, to, strlen(to) + 1);
    CHECK(!strcmp(a.header, b.header), "more has changed: %.900s", b.header);
    parts_free(&a);
    parts_free(&b);
}

/* ---- vit calibrate ------------------------------------------------------ */

/* How many right and wrong answers the command counted. */
static bool scan_answers(size_t *right, size_t *wrong) {
    const char *line = strstr(output, "uncertain below");
    return line && sscanf(line,
                          "uncertain below: %*f, which is %*u of %zu right answers and %*u "
                          "of %zu wrong ones",
                          right, wrong) == 2;
}

TEST("vit calibrate uses only the images that --first and --count name") {
    const char *out = file_at("part.safetensors"), *whole = file_at("whole.safetensors");
    REQUIRE(calibrate(MODEL, out, "--first 40 --count 260") == 0, "%s", output);
    REQUIRE(calibrate(MODEL, whole, "--first=40") == 0, "%s", output);
    CHECK(same_files(out, whole), "--count 260 differs from all that follow");
    REQUIRE(calibrate(MODEL, whole, "") == 0, "%s", output);
    CHECK(!same_files(out, whole), "the first 40 images make no difference");
    REQUIRE(calibrate(MODEL, whole, "--first 40 --threads 3") == 0, "%s", output);
    CHECK(same_files(out, whole), "threads make a difference");
}

TEST("vit calibrate replaces earlier numbers, writes over its own model, and takes int8 models") {
    const char *once = file_at("once.safetensors"), *again = file_at("again.safetensors");
    REQUIRE(calibrate(MODEL, once, "--first 40 --accept 1") == 0, "%s", output);
    REQUIRE(calibrate(MODEL, again, "--accept 0.5") == 0, "%s", output);
    CHECK(!same_files(once, again), "--accept makes no difference");
    REQUIRE(calibrate(again, again, "--first 40 --accept 1") == 0, "%s", output);
    CHECK(same_files(once, again), "a trace of the earlier numbers is left");
    const char *int8 = file_at("int8.safetensors"), *out = file_at("int8-out.safetensors");
    vit("quantize --model %s --out %s", MODEL, int8);
    REQUIRE(calibrate(int8, out, "--first 40") == 0, "%s", output);
    check_only_keys_added(int8, out);
    vit("quantize --model %s --out %s", once, int8);
    vit_model *before = read_model(once), *after = read_model(int8);
    REQUIRE(before && after, "no models");
    const vit_config *a = vit_model_config(before), *b = vit_model_config(after);
    CHECK(a->temperature == b->temperature && a->uncertain_below == b->uncertain_below &&
              b->uncertain_below > 0,
          "quantizing lost the numbers");
    vit_close(before);
    vit_close(after);
}

TEST("vit calibrate keeps a config's escapes, UTF-8 and unknown keys") {
    const char *model = file_at("letters.safetensors"), *out = file_at("letters-out.safetensors");
    put_idx("4x4.idx", 2, 4, (uint8_t[32]){9, 8, 7});
    put_idx("two.idx", 2, 0, (uint8_t[2]){0, 1});
    struct file f = file_of(replaced(CONFIG, "[\"no\",\"yes\"],",
                                     "[\"n\\\"\\\\\\no\\u00e9}\",\"y\xc3\xa9s\"],"
                                     "\"note\":{\"temperature\":3,\"a\":[]},"));
    put_file(model, f.bytes, f.size);
    free(f.bytes);
    int code = vit("calibrate --model %s --out %s --images %s --labels %s", model, out,
                   file_at("4x4.idx"), file_at("two.idx"));
    REQUIRE(code == 0, "%d: %s", code, output);
    CHECK(strstr(output, "temperature: 1.0000\n"), "equal logits: %s", output);
    struct parts a = parts_of(model), b = parts_of(out);
    const char *added = strstr(b.header, ",\\\"temperature\\\":1,\\\"uncertain_below\\\":0.5}\"");
    CHECK(added && !strncmp(a.header, b.header, (size_t)(added - b.header)), "%.900s", b.header);
    parts_free(&a);
    parts_free(&b);
}

TEST("vit calibrate refuses wrong options and files with a message, and writes nothing") {
    const char *out = file_at("refused.safetensors");
    static const struct {
        const char *more, *says;
        int code;
    } BAD[] = {
        {"--first 300", "--first 300 --count 0: expected a part of its 300 images", 1},
        {"--first 200 --count 101", "--first 200 --count 101: expected a part of its 300 images",
         1},
        {"--count 301", "expected a part of its 300 images", 1},
        {"--first 2147483647 --count 1", "expected a part of its 300 images", 1},
        {"--count 40", "classifies right, got none of the 40 right", 1},
        {"--first -1", "expected a whole number from 0 to 2^31 - 1 after --first", 2},
        {"--accept 1.1", "expected a number from 0 to 1 after --accept", 2},
        {"--accept x", "expected a number from 0 to 1 after --accept", 2},
        {"--accept nan", "expected a number from 0 to 1 after --accept", 2},
        {"more", "unexpected argument more", 2},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        int code = calibrate(MODEL, out, BAD[i].more);
        CHECK(code == BAD[i].code && strstr(output, BAD[i].says), "%s: %d: %s", BAD[i].more, code,
              output);
    }
    CHECK_SAYS(calibrate(file_at("none"), out, ""), 1, "No such file");
    CHECK_SAYS(calibrate(MODEL, file_at("none/x"), "--first 40"), 1, "cannot be written");
    static const uint8_t paper[2 * 28 * 28], labels[] = {0, NO_CLASS};
    put_idx("paper.idx", 2, 28, paper);
    put_idx("none.idx", 2, 0, labels);
    CHECK_SAYS(vit("calibrate --model %s --out %s --images %s --labels %s", DOUBTING, out,
                   file_at("paper.idx"), file_at("none.idx")),
               1, "expected images that show a class, but some show none");
    CHECK(!exists(out) && !exists(file_at("refused.safetensors.part")), "something is written");
}

/* ---- Other commands ----------------------------------------------------- */

static const char *last_line(void) {
    size_t n = strlen(output);
    if (n) output[n - 1] = '\0';
    const char *line = strrchr(output, '\n');
    return line ? line + 1 : output;
}

TEST("vit eval prints the calibration error at the model's temperature, and the accuracy last") {
    const char *out = file_at("evaluated.safetensors");
    float errors[2], before, after, losses[2];
    REQUIRE(calibrate(MODEL, out, "") == 0, "%s", output);
    REQUIRE(sscanf(strstr(output, "calibration"), "calibration error: %f before, %f", &before,
                   &after) == 2,
            "%s", output);
    for (int i = 0; i < 2; i++) {
        vit("eval --model %s --images %s --labels %s", i ? out : MODEL, file_at("images.idx"),
            file_at("labels.idx"));
        const char *line = strstr(output, "loss: ");
        REQUIRE(line && sscanf(line, "loss: %f\ncalibration error: %f\naccuracy: ", &losses[i],
                               &errors[i]) == 2,
                "%s", output);
        CHECK(!strncmp(last_line(), "accuracy: ", strlen("accuracy: ")), "%s", last_line());
    }
    CHECK(errors[0] == before && errors[1] == after, "%g, %g; vit calibrate printed %g, %g",
          (double)errors[0], (double)errors[1], (double)before, (double)after);
    CHECK(losses[1] < losses[0], "a loss of %g before, %g after", (double)losses[0],
          (double)losses[1]);
}

/* ---- Texts --------------------------------------------------------------- */

enum { PADS = 210, TOKENS = 6, PIECES = 7, PADDING = 2 };

static const char WRITER[] =
    "{\"image_size\":[8,8],\"patch_size\":[4,4],\"channels\":1,\"width\":8,\"depth\":1,"
    "\"heads\":2,\"mlp_width\":8,\"classes\":0,\"decoder\":{\"depth\":1,\"width\":8,"
    "\"heads\":2,\"mlp_width\":8,\"vocabulary\":7,\"max_tokens\":6,\"start\":0,\"end\":1,"
    "\"padding\":2}}";

static vit_model *new_writer(void) {
    vit_config config;
    vit_model *model = NULL;
    vit_error why = {""};
    uint64_t seed = 2;
    size_t n = strlen(WRITER);
    if (vit_config_read(&config, WRITER, n, &why) ||
        vit_create(&model, &config, WRITER, n, unpacked_kernels(), &why)) {
        check_failed(__FILE__, __LINE__, "%s", why.text);
        exit(EXIT_FAILURE);
    }
    random_weights(model, &seed);
    return model;
}

/* Writes the text of an image → ids (TOKENS), paddings after its end, and its probability at a
 * temperature: the product of the forced tokens' softmax. */
static double write_pad(uint8_t *ids, const vit_model *model, const uint8_t *pixels,
                        double temperature) {
    const vit_writing how = {.tokens = TOKENS, .beams = 1, .top_p = 1};
    size_t size = vit_writer_size(model, &how);
    size_t text_size = vit_text_size(model, VIT_DECODER, 1, TOKENS);
    void *memory = malloc(size), *text_memory = malloc(text_size);
    struct owned_state s = new_state(model, 1);
    vit_writer *writer;
    vit_text *text;
    float image[PIXELS], tokens[64], logits[TOKENS * PIECES], p[PIECES];
    double product = 1;
    for (size_t i = 0; i < PIXELS; i++) image[i] = (float)pixels[i] / 255;
    vit_run(model, s.state, image, 1, NULL, &(vit_taps){.tokens = tokens});
    CHECK(!vit_writer_init(&writer, memory, size, model, &how), "no writer");
    vit_writer_begin(writer, tokens, NULL, 0);
    while (!vit_writer_result(writer)->done) vit_writer_step(writer);
    const vit_text_output *r = vit_writer_result(writer);
    CHECK(!vit_text_init(&text, text_memory, text_size, model, VIT_DECODER, 1, TOKENS), "no text");
    vit_text_set_image(text, tokens);
    vit_text_run(text, r->ids, 1, r->count, logits, NULL);
    for (size_t i = 0; i < TOKENS; i++) ids[i] = (uint8_t)(i < r->count ? r->ids[i] : PADDING);
    for (size_t i = 1; i < r->count; i++) {
        vit_probabilities(p, logits + (i - 1) * PIECES, PIECES, (float)temperature);
        product *= (double)p[r->ids[i]];
    }
    free(memory), free(text_memory), free(s.memory);
    return product;
}

/* Writes writer.safetensors, and of random images pads.idx and texts.idx, which the model writes;
 * but every third has another second token. */
static void put_pads(vit_model *model, uint8_t *pixels, uint8_t *texts) {
    uint64_t seed = 3;
    size_t length = strlen(WRITER);
    const float *parameters = parameters_of(model);
    size_t size = vit_encode(NULL, 0, model, parameters, WRITER, length);
    uint8_t *bytes = malloc(size), *labels = malloc(12 + PADS * TOKENS);
    vit_encode(bytes, size, model, parameters, WRITER, length);
    put_file(file_at("writer.safetensors"), bytes, size);
    for (size_t i = 0; i < PADS * PIXELS; i++) pixels[i] = (uint8_t)random_bits(&seed);
    for (size_t i = 0; i < PADS; i++) {
        write_pad(texts + i * TOKENS, model, pixels + i * PIXELS, 1);
        if (i % 3 == 0) texts[i * TOKENS + 1] = (uint8_t)(texts[i * TOKENS + 1] == 3 ? 4 : 3);
    }
    put_idx("pads.idx", PADS, SIDE, pixels);
    memcpy(labels, (uint8_t[12]){0, 0, 8, 2, 0, 0, 0, PADS, 0, 0, 0, TOKENS}, 12);
    memcpy(labels + 12, texts, PADS * TOKENS);
    put_file(file_at("texts.idx"), labels, 12 + PADS * TOKENS);
    free(bytes), free(labels);
}

static int calibrate_writer(const char *out, const char *more) {
    return vit("calibrate --model %s --out %s --images %s --labels %s %s",
               file_at("writer.safetensors"), out, file_at("pads.idx"), file_at("texts.idx"), more);
}

TEST("vit calibrate of a decoder makes its texts' probabilities honest, as vit eval measures it") {
    static uint8_t pixels[PADS * PIXELS], texts[PADS * TOKENS];
    const char *model_file = file_at("writer.safetensors"),
               *out = file_at("writer-out.safetensors");
    vit_model *model = new_writer();
    float temperature, threshold, errors[2], tokens[2];
    size_t right, right_below, wrong, wrong_below, below[2] = {0};
    put_pads(model, pixels, texts);
    REQUIRE(calibrate_writer(out, "--accept 0.9") == 0, "%s", output);
    REQUIRE(
        sscanf(output,
               "temperature: %f\ncalibration error of texts: %f before, %f after\n"
               "calibration error of tokens: %f before, %f after\nuncertain below: %f, which is "
               "%zu of %zu right answers and %zu of %zu wrong ones",
               &temperature, &errors[0], &errors[1], &tokens[0], &tokens[1], &threshold,
               &right_below, &right, &wrong_below, &wrong) == 10,
        "%s", output);
    check_only_keys_added(model_file, out);
    CHECK(right == PADS - PADS / 3 && wrong == PADS / 3, "%zu right, %zu wrong", right, wrong);
    CHECK(errors[1] < errors[0] && tokens[1] < tokens[0], "no better: %s", output);
    for (size_t after = 0; after < 2; after++) {
        struct reliability measured = {0};
        for (size_t i = 0; i < PADS; i++) {
            uint8_t ids[TOKENS];
            double p = write_pad(ids, model, pixels + i * PIXELS, after ? (double)temperature : 1);
            reliability_add(&measured, p, i % 3 != 0);
            if (after) below[i % 3 == 0] += (float)p < threshold;
        }
        float by_eval = NAN;
        vit("eval --model %s --images %s --labels %s", after ? out : model_file,
            file_at("pads.idx"), file_at("texts.idx"));
        const char *line = strstr(output, "calibration error: ");
        if (line) sscanf(line, "calibration error: %f", &by_eval);
        CHECK(errors[after] == by_eval && fabs(calibration_error(&measured) - by_eval) < 1e-4,
              "%g, %g by eval, %g by hand", (double)errors[after], (double)by_eval,
              calibration_error(&measured));
        CHECK(!after == !strstr(output, "uncertain: "), "%s", output);
    }
    CHECK(below[0] == right_below && below[1] == wrong_below && right_below <= right / 10,
          "%zu and %zu are below, not %zu and %zu", below[0], below[1], right_below, wrong_below);
    vit_close(model);
}

TEST("vit calibrate of a decoder uses only the texts that --first and --count name, and no "
     "drawings") {
    static uint8_t pixels[PADS * PIXELS], texts[PADS * TOKENS];
    const char *out = file_at("some.safetensors"), *other = file_at("others.safetensors");
    vit_model *model = new_writer();
    put_pads(model, pixels, texts);
    REQUIRE(calibrate_writer(out, "--first 10 --count 200") == 0, "%s", output);
    REQUIRE(calibrate_writer(other, "--first 10 --threads 3") == 0, "%s", output);
    CHECK(same_files(out, other), "--count or threads make a difference");
    REQUIRE(calibrate_writer(other, "") == 0, "%s", output);
    CHECK(!same_files(out, other), "the first 10 texts make no difference");
    static const struct {
        const char *more, *says;
    } BAD[] = {{"--count 211", "expected a part of its 210 images"},
               {"--count 1", "writes right, got none of the 1 right"},
               {"--strokes x", "--strokes: expected a model that classifies"}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        CHECK(calibrate_writer(file_at("none-of-it"), BAD[i].more) == 1 &&
                  strstr(output, BAD[i].says),
              "%s: %s", BAD[i].more, output);
    CHECK(!exists(file_at("none-of-it")), "something is written");
    vit_close(model);
}

/* ---- Drawings ----------------------------------------------------------- */

/* Writes `copies` times 30 drawings by a writer for validation: lines and corners, which
 * digits takes for ones, sevens and others. Each label is given to every third. */
static const char *put_strokes(const char *name, int copies) {
    static char text[1 << 16];
    size_t size = 0;
    for (int copy = 0; copy < copies; copy++)
        for (int i = 0; i < 30; i++)
            size += (size_t)sprintf(text + size,
                                    "{\"label\": %d, \"writer\": 14, \"strokes\": [[[0, 200], "
                                    "[%d, %d], [%d, 0]]]}\n",
                                    (int[]){1, 7, 4}[i % 3], 4 * i, 200 - 3 * i, 60 - 2 * i);
    put_file(file_at(name), text, size);
    return file_at(name);
}

/* vit calibrate of digits by two blank images and the drawings. */
static int calibrate_stem(const char *out, const char *strokes, const char *more) {
    put_idx("28x28.idx", 2, 28, (uint8_t[2 * 28 * 28]){0});
    put_idx("two-digits.idx", 2, 0, (uint8_t[2]){1, 8});
    return vit("calibrate --model %s --out %s --images %s --labels %s --strokes %s %s", STEM, out,
               file_at("28x28.idx"), file_at("two-digits.idx"), strokes, more);
}

/* The calibration error that vit eval prints of the first `points` of the drawings' points. */
static float error_by_eval(const char *model, const char *strokes, const char *points) {
    float error = NAN;
    vit("eval --model %s --strokes %s --writers validation --points %s", model, strokes, points);
    const char *line = strstr(output, "calibration error: ");
    if (line) sscanf(line, "calibration error: %f", &error);
    return error;
}

TEST("vit calibrate --points prints the errors that vit eval measures on whole and cut drawings") {
    static const struct {
        const char *name, *points;
    } KINDS[] = {{"drawings", "1"}, {"drawings cut at 0.5", "0.5"}, {"drawings cut at 0.8", "0.8"}};
    const char *strokes = put_strokes("corners.jsonl", 1), *out = file_at("cut.safetensors");
    float errors[3][2];
    size_t right, wrong;
    REQUIRE(calibrate_stem(out, strokes, "--points 0.5,0.8") == 0, "%s", output);
    CHECK(strstr(output, "calibration error of images: "), "%s", output);
    for (size_t i = 0; i < 3; i++) {
        char start[64];
        snprintf(start, sizeof start, "calibration error of %s: ", KINDS[i].name);
        const char *line = strstr(output, start);
        REQUIRE(line && sscanf(line + strlen(start), "%f before, %f after", &errors[i][0],
                               &errors[i][1]) == 2,
                "%s: %s", start, output);
    }
    REQUIRE(scan_answers(&right, &wrong), "%s", output);
    CHECK(right + wrong == 2 + 30, "cut drawings make no threshold: %zu, %zu", right, wrong);
    for (size_t i = 0; i < 3; i++)
        for (size_t after = 0; after < 2; after++) {
            float want = error_by_eval(after ? out : STEM, strokes, KINDS[i].points);
            CHECK(errors[i][after] == want, "%s, %s: %g, not %g", KINDS[i].name,
                  after ? "after" : "before", (double)errors[i][after], (double)want);
        }
}

static double printed_temperature(void) {
    double temperature = NAN;
    sscanf(output, "temperature: %lf", &temperature);
    return temperature;
}

TEST("vit calibrate weighs each kind of sample alike, cut drawings too") {
    const char *once = put_strokes("once.jsonl", 1), *thrice = put_strokes("thrice.jsonl", 3);
    const char *out = file_at("weighed.safetensors");
    double whole, cut;
    REQUIRE(calibrate_stem(out, once, "") == 0, "%s", output);
    whole = printed_temperature();
    REQUIRE(calibrate_stem(out, thrice, "") == 0, "%s", output);
    CHECK(within(printed_temperature(), whole, 1e-4), "%g, and %g thrice", whole,
          printed_temperature());
    REQUIRE(calibrate_stem(out, once, "--points 0.7") == 0, "%s", output);
    cut = printed_temperature();
    CHECK(fabs(cut - whole) > 0.01, "--points makes no difference: %g", cut);
    REQUIRE(calibrate_stem(out, thrice, "--points=0.7") == 0, "%s", output);
    CHECK(within(printed_temperature(), cut, 1e-4), "%g, and %g thrice", cut,
          printed_temperature());
}

TEST("vit calibrate refuses wrong --points with a message, and writes nothing") {
    static const char *const BAD[] = {"0",
                                      "1",
                                      "0.5,",
                                      ",0.5",
                                      "0.5,,0.6",
                                      "0.5 0.6x",
                                      "-0.5",
                                      "half",
                                      "1.5",
                                      "nan",
                                      "inf",
                                      "0.5;0.6",
                                      ".1,.2,.3,.4,.5,.6,.7,.8,.9"};
    const char *strokes = put_strokes("corners.jsonl", 1), *out = file_at("bad.safetensors");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char more[64];
        snprintf(more, sizeof more, "--points '%s'", BAD[i]);
        int code = calibrate_stem(out, strokes, more);
        CHECK(code == 1 && strstr(output, "at most 8 shares above 0 and below 1") &&
                  strstr(output, BAD[i]),
              "%s: %d: %s", BAD[i], code, output);
    }
    CHECK_SAYS(calibrate(MODEL, out, "--points 0.5"), 1,
               "--points: expected --strokes FILE with it");
    CHECK(calibrate_stem(out, strokes, "--points ''") == 2, "an empty value: %s", output);
    CHECK(!exists(out), "something is written");
}

TEST("vit calibrate --strokes counts only the drawings of the writers for validation") {
    char text[2048] = "", more[300];
    size_t right = 0, wrong = 0;
    for (int writer = 1; writer <= 14; writer++)
        sprintf(text + strlen(text),
                "{\"label\": 1, \"writer\": %d, \"strokes\": [[[3, 200], [0, 0]]]}\n", writer);
    put_file(file_at("ones.jsonl"), text, strlen(text));
    snprintf(more, sizeof more, "--strokes %s", file_at("ones.jsonl"));
    REQUIRE(calibrate(MODEL, file_at("calibrated.safetensors"), more) == 0, "%s", output);
    REQUIRE(scan_answers(&right, &wrong), "%s", output);
    CHECK(right + wrong == COUNT + 2, "writers 4 and 14: %zu and %zu answers", right, wrong);
    CHECK_SAYS(calibrate(MODEL, file_at("calibrated.safetensors"), "--strokes /nowhere"), 1,
               "No such file");
}
