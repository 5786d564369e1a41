/* vit classify --overlay: the picture against maps that are made here in double, from the attention
 * that vit_run gives. */
#define _GNU_SOURCE
#include "command.h"

#include <png.h>

static const double RED[3] = {0.86, 0.16, 0.16};
static const double STRENGTH = 0.75;

/* What a command with --overlay is about. */
struct subject {
    vit_model *model;
    const vit_config *c;
    float *image, *attention; /* (C,H,W); (L,h,T,T) */
};

static const char *put_pixels(const char *name, size_t rows, size_t columns, size_t channels,
                              const uint8_t *pixels) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    png.width = (png_uint_32)columns, png.height = (png_uint_32)rows;
    png.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    if (!png_image_write_to_file(&png, file_at(name), 0, pixels, 0, NULL)) exit(EXIT_FAILURE);
    return file_at(name);
}

static struct subject subject_of(const char *path, const vit_pixels *pixels) {
    struct subject s = {.model = read_model(path)};
    if (!s.model) exit(EXIT_FAILURE);
    const vit_config *c = s.c = vit_model_config(s.model);
    size_t T = vit_tokens(c), size = vit_state_size(s.model, 1, NULL);
    s.image = floats(c->channels * c->image_size[0] * c->image_size[1]);
    s.attention = floats(c->depth * c->heads * T * T);
    void *scratch =
        malloc(vit_prepare_size(c, pixels->rows, pixels->columns, pixels->channels) + 1);
    void *memory = malloc(size);
    vit_state *state;
    vit_taps taps = {.attention = s.attention};
    vit_error why = {""};
    if (vit_prepare_image(s.image, scratch, pixels, c, &why) ||
        vit_state_init(&state, memory, size, s.model, 1, NULL) ||
        vit_run(s.model, state, s.image, 1, NULL, &taps))
        check_failed(__FILE__, __LINE__, "%s: %s", path, why.text);
    free(memory);
    free(scratch);
    return s;
}

static void subject_free(struct subject *s) {
    vit_close(s->model);
    free(s->image);
    free(s->attention);
}

/* (T,T): the mean of a layer's heads. */
static double mean_of_heads(const struct subject *s, size_t layer, size_t i, size_t j) {
    size_t T = vit_tokens(s->c), h = s->c->heads;
    double sum = 0;
    for (size_t head = 0; head < h; head++)
        sum += s->attention[((layer * h + head) * T + i) * T + j];
    return sum / (double)h;
}

/* The row of the class token, or without one the mean of all rows, of the last layer; or of the
 * product of all layers' (A + I) / 2. */
static void want_map(double *map, const struct subject *s, bool rollout) {
    size_t T = vit_tokens(s->c), prefix = vit_prefix(s->c), L = s->c->depth;
    double *row = calloc(2 * T, sizeof *row), *next = row + T;
    for (size_t i = 0; i < T; i++) row[i] = prefix ? i == 0 : 1 / (double)T;
    for (size_t layer = L; layer-- > (rollout ? 0 : L - 1);) {
        for (size_t j = 0; j < T; j++) {
            next[j] = rollout ? row[j] / 2 : 0;
            for (size_t i = 0; i < T; i++)
                next[j] += row[i] * mean_of_heads(s, layer, i, j) / (rollout ? 2 : 1);
        }
        memcpy(row, next, T * sizeof *row);
    }
    double low = INFINITY, high = 0;
    for (size_t j = prefix; j < T; j++) low = fmin(low, row[j]), high = fmax(high, row[j]);
    for (size_t j = prefix; j < T; j++) map[j - prefix] = (row[j] - low) / (high - low);
    free(row);
}

/* light: the image's red, green and blue, 0..255, (H,W,3). */
static void check_picture(const char *what, const char *path, const struct subject *s,
                          const double *light, bool rollout) {
    static uint8_t got[448 * 448 * 3];
    png_image png = {.version = PNG_IMAGE_VERSION};
    const size_t H = s->c->image_size[0], W = s->c->image_size[1], factor = 448 / (H > W ? H : W);
    const size_t rows = H * factor, columns = W * factor;
    REQUIRE(png_image_begin_read_from_file(&png, path), "%s: %s", what, png.message);
    REQUIRE(png.height == rows && png.width == columns && png.format == PNG_FORMAT_RGB,
            "%s: %ux%u of format %u", what, png.height, png.width, png.format);
    REQUIRE(png_image_finish_read(&png, NULL, got, 0, NULL), "%s: %s", what, png.message);
    double map[64], worst = 0;
    want_map(map, s, rollout);
    for (size_t i = 0; i < rows * columns * 3; i++) {
        size_t y = i / 3 / columns / factor, x = i / 3 % columns / factor;
        size_t patch =
            y / s->c->patch_size[0] * (W / s->c->patch_size[1]) + x / s->c->patch_size[1];
        double from = light[(y * W + x) * 3 + i % 3];
        double want = from + STRENGTH * map[patch] * (255 * RED[i % 3] - from);
        worst = fmax(worst, fabs(got[i] - want));
    }
    CHECK(worst < 0.51, "%s: a pixel is %g off", what, worst);
}

/* Runs the command for both maps, and then compares its pictures. */
static void check_both(const char *model, const char *photo, const struct subject *s,
                       const double *light) {
    const char *out = file_at("overlay.png"), *plain = file_at("plain.txt");
    static const char *const maps[] = {"", "--map class", "--map=rollout"};
    CHECK(vit("classify --model %s %s", model, photo) == 0, "%s", said);
    put_file(plain, said, strlen(said));
    for (size_t i = 0; i < 3; i++) {
        remove(out);
        int code = vit("classify --model %s --overlay %s %s %s", model, out, maps[i], photo);
        REQUIRE(code == 0, "%s %s: %d: %s", model, maps[i], code, said);
        put_file(file_at("line.txt"), said, strlen(said));
        CHECK(same_files(plain, file_at("line.txt")), "%s: the answer is another: %s", maps[i],
              said);
        CHECK(!exists(file_at("overlay.png.part")), "%s: a part is left", maps[i]);
        check_picture(maps[i], out, s, light, i == 2);
    }
}

TEST("vit classify --overlay tints a photo by the last layer's class row or by rollout") {
    static const struct {
        const char *name;
        size_t rows, columns, channels;
    } MODELS[] = {{"tanh_sincos2d_rectangular", 12, 20, 3},
                  {"post_relu_sincos1d_mean", 12, 12, 1},
                  {"registers_scale_qknorm", 8, 8, 1}};
    uint64_t seed = 8;
    for (size_t i = 0; i < 3; i++) {
        char model[256];
        uint8_t pixels[12 * 20 * 3];
        double light[12 * 20 * 3];
        snprintf(model, sizeof model, "%s/%s.safetensors", GOLDEN_DIR, MODELS[i].name);
        for (size_t j = 0; j < sizeof pixels; j++) pixels[j] = (uint8_t)random_bits(&seed);
        vit_pixels photo = {pixels, MODELS[i].rows, MODELS[i].columns, MODELS[i].channels};
        for (size_t j = 0; j < photo.rows * photo.columns * 3; j++)
            light[j] = pixels[photo.channels == 3 ? j : j / 3];
        struct subject s = subject_of(model, &photo);
        const char *path =
            put_pixels("photo.png", photo.rows, photo.columns, photo.channels, pixels);
        check_both(model, path, &s, light);
        subject_free(&s);
    }
}

TEST("vit classify --overlay shows a digit as dark ink on paper, centred as the model saw it") {
    static uint8_t pixels[40 * 40];
    static double light[28 * 28 * 3];
    const char *model = GOLDEN_DIR "/../../weights/digits.safetensors";
    memset(pixels, 255, sizeof pixels);
    for (size_t y = 5; y < 35; y++) memset(pixels + y * 40 + 28, 0, 4);
    struct subject s = subject_of(model, &(vit_pixels){pixels, 40, 40, 1});
    for (size_t j = 0; j < 28 * 28 * 3; j++) light[j] = 255 * (1 - (double)s.image[j / 3]);
    CHECK(light[14 * 28 * 3 + 14 * 3] < 64 && light[0] > 254, "no ink in the middle");
    check_both(model, put_pixels("stroke.png", 40, 40, 1, pixels), &s, light);
    subject_free(&s);
}

TEST("vit classify --overlay to the output writes the picture there and the answer to the errors") {
    uint8_t pixels[12 * 12] = {0};
    const char *photo = put_pixels("grey.png", 12, 12, 1, pixels);
    const char *out = file_at("out.png"), *there = file_at("there.png");
    const char *answer = file_at("answer.txt");
    CHECK(vit("classify --model %s --overlay %s %s", MODEL, out, photo) == 0, "%s", said);
    CHECK(vit("classify --model %s --overlay /dev/stdout %s 2>%s >%s; cat %s", MODEL, photo, answer,
              there, answer) == 0,
          "%s", said);
    CHECK(!strncmp(said, photo, strlen(photo)), "no answer: %s", said);
    CHECK(same_files(out, there), "another picture");
}

TEST("vit classify --overlay refuses what it cannot draw, in words, and writes nothing") {
    uint8_t pixels[12 * 12] = {0};
    const char *photo = put_pixels("grey.png", 12, 12, 1, pixels), *out = file_at("none.png");
    const char *copy = put_pixels("copy.png", 12, 12, 1, pixels);
    put_pixels("small.png", 3, 3, 1, pixels);
    const struct {
        const char *more, *says;
        int code;
    } BAD[] = {
        {"--overlay none.png grey.png copy.png", "--overlay: expected one image, got 2", 2},
        {"--overlay grey.png grey.png", "expected another file than the image, got grey.png", 2},
        {"--overlay none.png --map patch grey.png", "expected class or rollout, got patch", 2},
        {"--map class grey.png", "--map: expected --overlay OUT.png beside it", 2},
        {"--overlay", "a value expected after --overlay", 2},
        {"--overlay none.png small.png", "small.png: expected 12x12 pixels, got 3x3", 1},
        {"--overlay nowhere/none.png grey.png", "nowhere/none.png: cannot be written", 1},
    };
    char folder[256];
    snprintf(folder, sizeof folder, "%s", photo);
    *strrchr(folder, '/') = '\0';
    REQUIRE(chdir(folder) == 0, "%s", folder);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        int code = vit("classify --model %s %s", MODEL, BAD[i].more);
        CHECK(code == BAD[i].code && strstr(said, BAD[i].says), "%s: %d: %s", BAD[i].more, code,
              said);
        CHECK(!exists(out), "%s: it is written", BAD[i].more);
    }
    CHECK(same_files(photo, copy), "the photo is another");
}
