/* Pixels → image, as they are and as photos: compared with Pillow's bytes and with a twin in
 * double; and images that must be refused. Drawings are in digit_test.c. */
#include "resampled.h"

static vit_config as_is(size_t rows, size_t columns, size_t channels) {
    return (vit_config){.image_size = {rows, columns}, .channels = channels};
}

/* A photo's config whose mean and deviation leave bytes / 255. */
static vit_config photo(size_t resize, size_t crop, size_t channels, vit_filter filter) {
    return (vit_config){
        .image_size = {crop, crop},
        .channels = channels,
        .prepare = VIT_PREPARE_PHOTO,
        .photo = {.resize = resize, .crop = {crop, crop}, .std = {1, 1, 1, 1}, .filter = filter}};
}

/* Prepares with exactly the scratch memory that is asked for. Gives the guarded image, or NULL. */
static float *prepared(const vit_config *config, const uint8_t *data, size_t rows, size_t columns,
                       size_t channels) {
    size_t n = config->image_size[0] * config->image_size[1] * config->channels;
    size_t size = vit_prepare_size(config, rows, columns, channels);
    if (size == 0) return NULL;
    void *scratch = malloc(size);
    float *image = guarded(n);
    vit_pixels pixels = {data, rows, columns, channels};
    vit_error why = {""};
    vit_status status = vit_prepare_image(image, scratch, &pixels, config, &why);
    CHECK(status == VIT_OK, "%s: %s", vit_status_name(status), why.text);
    CHECK(guards_intact(image, n), "written outside the image");
    free(scratch);
    return image;
}

static uint8_t *pattern(size_t rows, size_t columns, size_t channels) {
    uint8_t *data = malloc(rows * columns * channels), *p = data;
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++)
            for (size_t c = 0; c < channels; c++)
                *p++ = (uint8_t)((x * x + 3 * x * y + 37 * y + 91 * c) % 251);
    return data;
}

/* ---- Photos ------------------------------------------------------------- */

/* FNV-1a of the bytes of Pillow 9.4, in Python, for `image` as in pattern():
 *     short = min(rows, columns)
 *     w, h = (int(resize * n / short) for n in (columns, rows))
 *     left, top = (int(round((n - crop) / 2.0)) for n in (w, h))
 *     image.resize((w, h), filter).crop((left, top, left + crop, top + crop)) */
static uint32_t hash_of(const vit_config *config, size_t rows, size_t columns) {
    size_t C = config->channels, n = config->photo.crop[0] * config->photo.crop[1];
    uint8_t *data = pattern(rows, columns, C);
    float *image = prepared(config, data, rows, columns, C);
    uint32_t hash = 0x811c9dc5;
    for (size_t at = 0; image && at < n * C; at++)
        hash = (hash ^ (uint32_t)lroundf(255 * image[at % C * n + at / C])) * 0x01000193;
    if (image) guarded_free(image);
    free(data);
    return hash;
}

TEST("a photo is resized or stretched, and cropped, as Pillow does, to the byte") {
    static const struct {
        size_t rows, columns, channels, resize, stretch[2],
            crop;           /* resize 0: to w and h as given */
        uint32_t hashes[4]; /* one for each filter */
    } cases[] = {
        {37, 53, 3, 24, {0}, 20, {0xe073c7fa, 0x44dae2f4, 0x3cbbdbea, 0x61f52e2e}},
        {53, 37, 3, 32, {0}, 32, {0xd495cbd4, 0x75bcfbe6, 0xf73c62ff, 0xa26abcce}},
        {9, 7, 3, 40, {0}, 33, {0x4045f33b, 0x8dbe193a, 0x84a87882, 0x9c662531}},
        {100, 11, 1, 16, {0}, 13, {0x56e9892d, 0x4b283e53, 0x7c9639f2, 0x07d19b4d}},
        {224, 300, 3, 256, {0}, 224, {0x95261e3f, 0xddcd0495, 0x363000a6, 0xd750e377}},
        {640, 480, 3, 73, {0}, 64, {0xfdf2ffa9, 0x79d71088, 0x1273acf8, 0x8044269f}},
        {1, 40, 1, 5, {0}, 5, {0x1059e372, 0x39688ed5, 0x576aac62, 0xbec95952}},
        {61, 61, 1, 61, {0}, 60, {0xdfd9f6b7, 0xdfd9f6b7, 0xdfd9f6b7, 0xdfd9f6b7}},
        {37, 53, 3, 0, {20, 20}, 20, {0x6a2f9cf8, 0xfa57b7b5, 0xd29d2408, 0xaf73f083}},
        {53, 37, 3, 0, {40, 24}, 20, {0x528ffa26, 0xd86ad325, 0x0789dbca, 0xa8a87c8e}},
        {100, 11, 1, 0, {13, 13}, 13, {0xaea4dc8d, 0xeda3277c, 0x9f79b1d6, 0x0d23947c}},
        {9, 7, 3, 0, {33, 40}, 33, {0xc399b3da, 0x431c778a, 0x266995a0, 0xcc6f281f}},
        {64, 48, 3, 0, {30, 64}, 16, {0xb62cd160, 0x39aee984, 0x3ffd9960, 0x3db34948}},
    };
    for (size_t i = 0; i < 4 * sizeof cases / sizeof *cases; i++) {
        size_t rows = cases[i / 4].rows, columns = cases[i / 4].columns;
        vit_filter filter = (vit_filter)(i % 4);
        vit_config config =
            photo(cases[i / 4].resize, cases[i / 4].crop, cases[i / 4].channels, filter);
        memcpy(config.photo.stretch, cases[i / 4].stretch, sizeof config.photo.stretch);
        uint32_t hash = hash_of(&config, rows, columns);
        CHECK(hash == cases[i / 4].hashes[i % 4], "%zux%zu, filter %zu: 0x%08x", rows, columns,
              i % 4, (unsigned)hash);
    }
}

static double drawn(const double *x, size_t stride, size_t in, size_t out, size_t o,
                    vit_filter filter) {
    return fmin(255, fmax(0, resampled(x, stride, in, out, o, filter)));
}

TEST("a photo of any size is within one level of 255 of the definition in double") {
    uint64_t seed = 1;
    for (size_t trial = 0; trial < 30; trial++) {
        size_t rows = 1 + random_below(&seed, 60), columns = 1 + random_below(&seed, 60);
        size_t resize = 1 + random_below(&seed, 40), crop = 1 + random_below(&seed, resize);
        size_t shorter = rows < columns ? rows : columns;
        size_t H = resize * rows / shorter, W = resize * columns / shorter;
        vit_filter filter = (vit_filter)(trial % 3);
        vit_config config = photo(resize, crop, 1, filter);
        config.photo.mean[0] = 0.4f, config.photo.std[0] = 0.2f;
        uint8_t *data = malloc(rows * columns);
        double *in = malloc(rows * columns * sizeof *in), *narrow = malloc(rows * W * sizeof *in);
        for (size_t i = 0; i < rows * columns; i++) in[i] = data[i] = (uint8_t)random_bits(&seed);
        for (size_t i = 0; i < rows * W; i++)
            narrow[i] = drawn(in + i / W * columns, 1, columns, W, i % W, filter);
        size_t top = (size_t)nearbyint((double)(H - crop) / 2);
        size_t left = (size_t)nearbyint((double)(W - crop) / 2);
        float *image = prepared(&config, data, rows, columns, 1);
        REQUIRE(image, "%zux%zu is refused", rows, columns);
        for (size_t i = 0; i < crop * crop; i++) {
            double want = drawn(narrow + left + i % crop, W, rows, H, top + i / crop, filter) / 255;
            CHECK(within(image[i] * 0.2 + 0.4, want, 1.2 / 255), "%zux%zu [%zu]: %g, want %g", rows,
                  columns, i, image[i] * 0.2 + 0.4, want);
        }
        guarded_free(image);
        free(data), free(in), free(narrow);
    }
}

/* The sides are odd, so an output's middle lies in an input and not between two. */
TEST("nearest takes the pixel in which an output's middle lies") {
    static const size_t sizes[][3] = {{9, 7, 5}, {5, 41, 13}, {63, 49, 48}, {1, 101, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t rows = sizes[k][0], columns = sizes[k][1], side = sizes[k][2];
        vit_config config = photo(0, side, 1, VIT_NEAREST);
        config.photo.stretch[0] = config.photo.stretch[1] = side;
        uint8_t *data = pattern(rows, columns, 1);
        float *image = prepared(&config, data, rows, columns, 1);
        REQUIRE(image, "%zux%zu is refused", rows, columns);
        for (size_t i = 0; i < side * side; i++) {
            size_t y = (2 * (i / side) + 1) * rows / (2 * side);
            size_t x = (2 * (i % side) + 1) * columns / (2 * side);
            CHECK(image[i] == data[y * columns + x] / 255.0f, "%zux%zu [%zu]: %g", rows, columns, i,
                  255 * (double)image[i]);
        }
        guarded_free(image);
        free(data);
    }
}

TEST("contain puts the photo into the crop and the fill around it") {
    vit_config config = photo(0, 5, 1, VIT_BILINEAR);
    config.photo.stretch[0] = config.photo.stretch[1] = 5;
    config.photo.fit = VIT_CONTAIN, config.photo.fills = true, config.photo.fill[0] = 9;
    uint8_t data[3] = {10, 20, 30};
    float *image = prepared(&config, data, 1, 3, 1);
    REQUIRE(image, "refused");
    for (size_t i = 0; i < 25; i++) /* 3 columns become 5, and 1 row 5/3, which is 2 */
        CHECK((image[i] * 255.0f == 9) == (i / 5 != 1 && i / 5 != 2), "[%zu]: %g", i,
              255 * (double)image[i]);
    guarded_free(image);
}

TEST("each channel of a photo is standardised by its own mean and deviation") {
    vit_config config = photo(2, 2, 3, VIT_BICUBIC);
    memcpy(config.photo.mean, (float[]){0.485f, 0.456f, 0.406f}, 3 * sizeof(float));
    memcpy(config.photo.std, (float[]){0.229f, 0.224f, 0.225f}, 3 * sizeof(float));
    uint8_t data[12];
    for (size_t i = 0; i < 12; i++) data[i] = (uint8_t)(20 * i);
    float *image = prepared(&config, data, 2, 2, 3);
    REQUIRE(image, "refused");
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 4; i++) {
            double want = (data[3 * i + c] / 255.0 - config.photo.mean[c]) / config.photo.std[c];
            CHECK(within(image[4 * c + i], want, 1e-6), "channel %zu, pixel %zu: %g, want %g", c, i,
                  (double)image[4 * c + i], want);
        }
    guarded_free(image);
}

/* ---- Channels ----------------------------------------------------------- */

TEST("without preparation pixels become bytes / 255, one plane for each channel") {
    for (size_t channels = 1; channels <= 4; channels++) {
        vit_config config = as_is(3, 5, channels);
        uint8_t *data = pattern(3, 5, channels);
        float *image = prepared(&config, data, 3, 5, channels);
        REQUIRE(image, "%zu channels are refused", channels);
        for (size_t i = 0; i < 15 * channels; i++)
            CHECK(image[i % channels * 15 + i / channels] == (float)data[i] / 255.0f,
                  "%zu channels, byte %zu", channels, i);
        guarded_free(image);
        free(data);
    }
}

TEST("grey, colour and transparency are converted to the model's channels") {
    static const struct {
        size_t from, to;
        uint8_t in[4], out[3];
    } cases[] = {
        {1, 3, {77}, {77, 77, 77}},
        {3, 1, {0, 91, 182}, {74}}, /* Pillow's convert("L") gives the same */
        {3, 1, {251, 251, 251}, {251}},
        {2, 1, {10, 0}, {255}},
        {2, 3, {0, 128}, {127, 127, 127}},
        {4, 3, {10, 20, 30, 255}, {10, 20, 30}},
        {4, 3, {10, 20, 30, 0}, {255, 255, 255}},
        {4, 3, {0, 100, 200, 51}, {204, 224, 244}},
        {4, 1, {0, 0, 0, 255}, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int kind = 0; kind < 2; kind++) {
            vit_config config = as_is(1, 1, cases[i].to);
            if (kind) config = photo(1, 1, cases[i].to, VIT_BILINEAR);
            float *image = prepared(&config, cases[i].in, 1, 1, cases[i].from);
            REQUIRE(image, "case %zu is refused", i);
            for (size_t c = 0; c < cases[i].to; c++)
                CHECK(image[c] == (float)cases[i].out[c] / 255.0f, "case %zu, channel %zu: %g", i,
                      c, 255 * (double)image[c]);
            guarded_free(image);
        }
}

/* ---- Refusals ----------------------------------------------------------- */

TEST("an image that cannot be prepared is refused with the reason, and needs 0 bytes") {
    vit_config wide = photo(8, 8, 3, VIT_BILINEAR), flat = wide, small = wide, none = wide;
    wide.image_size[1] = 9;
    flat.photo.std[1] = 0;
    small.photo.resize = 7;
    none.photo.crop[0] = none.photo.crop[1] = none.image_size[0] = none.image_size[1] = 0;
    vit_config untouched = photo(0, 8, 3, VIT_BILINEAR), thin = untouched;
    thin.photo.stretch[0] = thin.photo.stretch[1] = 8;
    thin.photo.fit = VIT_CONTAIN, thin.photo.fills = true;
    vit_config huge = as_is(28, 28, 1);
    huge.prepare = VIT_PREPARE_DIGIT, huge.image_size[0] = SIZE_MAX / 2;
    vit_config unknown = as_is(28, 28, 1);
    unknown.prepare = VIT_PREPARE_UNKNOWN;
    const struct {
        vit_config config;
        size_t rows, columns, channels;
        vit_status status;
        const char *says;
    } cases[] = {
        {unknown, 28, 28, 1, VIT_BAD_IMAGE,
         "got 28x28 pixels: this model's config has no `prepare`"},
        {unknown, 99, 9, 3, VIT_BAD_IMAGE, "got 99x9 pixels: this model's config has no `prepare`"},
        {as_is(28, 28, 1), 28, 27, 1, VIT_BAD_IMAGE, "expected 28x28 pixels, got 28x27"},
        {as_is(28, 28, 1), 0, 28, 1, VIT_BAD_IMAGE, "got 0x28"},
        {as_is(28, 28, 1), 28, 28, 0, VIT_BAD_IMAGE, "0 channels"},
        {as_is(28, 28, 1), 28, 28, 5, VIT_BAD_IMAGE, "5 channels"},
        {as_is(28, 28, 4), 28, 28, 3, VIT_BAD_IMAGE, "pixels of 4 channels, got 3"},
        {as_is(28, 28, 7), 28, 28, 1, VIT_BAD_IMAGE, "pixels of 7 channels, got 1"},
        {photo(8, 8, 3, VIT_BILINEAR), 32769, 1, 1, VIT_BAD_IMAGE, "32769x1"},
        {photo(8, 8, 3, VIT_BILINEAR), 1, SIZE_MAX, 1, VIT_BAD_IMAGE, "1 to 32768"},
        {photo(8, 8, 3, VIT_BILINEAR), 32768, 32768, 1, VIT_BAD_IMAGE, "32768x32768"},
        {photo(8, 8, 2, VIT_BILINEAR), 8, 8, 3, VIT_BAD_IMAGE, "pixels of 2 channels, got 3"},
        {wide, 8, 8, 3, VIT_BAD_CONFIG, "prepare.crop"},
        {none, 8, 8, 3, VIT_BAD_CONFIG, "prepare.resize"},
        {small, 8, 8, 3, VIT_BAD_CONFIG, "prepare.resize"},
        {photo(40000, 8, 3, VIT_BILINEAR), 8, 8, 3, VIT_BAD_CONFIG, "prepare.resize"},
        {untouched, 8, 7, 3, VIT_BAD_IMAGE, "8 columns or more"},
        {thin, 1, 100, 3, VIT_BAD_IMAGE, "1 rows or more"},
        {flat, 8, 8, 3, VIT_BAD_CONFIG, "prepare.std"},
        {huge, 28, 28, 1, VIT_BAD_CONFIG, "image_size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_pixels pixels = {NULL, cases[i].rows, cases[i].columns, cases[i].channels};
        vit_error why = {""};
        size_t size =
            vit_prepare_size(&cases[i].config, cases[i].rows, cases[i].columns, cases[i].channels);
        vit_status status = vit_prepare_image(NULL, NULL, &pixels, &cases[i].config, &why);
        CHECK(size == 0, "case %zu: %zu bytes", i, size);
        CHECK(status == cases[i].status, "case %zu: %s", i, vit_status_name(status));
        CHECK(strstr(why.text, cases[i].says), "case %zu: %s", i, why.text);
        CHECK(vit_prepare_image(NULL, NULL, &pixels, &cases[i].config, NULL) == status,
              "case %zu: another status without a message", i);
    }
}

/* A photo that brightens evenly from left to right and, in the second channel, from top to bottom:
 * each pixel of the prepared image says where in the photo it lies. */
static uint8_t *ramps(size_t rows, size_t columns) {
    uint8_t *data = calloc(rows * columns, 3);
    for (size_t i = 0; i < rows * columns; i++) {
        data[3 * i] = (uint8_t)lround(255 * ((double)(i % columns) + 0.5) / (double)columns);
        data[3 * i + 1] = (uint8_t)lround(255 * ((double)(i / columns) + 0.5) / (double)rows);
    }
    return data;
}

/* One axis of a prepared ramp of `in` pixels. Values of all `n` pixels are `stride` apart. */
static void expect_axis(const float *image, size_t n, size_t stride, double from, double length,
                        size_t in, float fill, const char *what) {
    double step = length / (double)n, reach = fmax(step, 1), side = (double)in;
    for (size_t i = 0; i < n; i++) {
        double at = from + ((double)i + 0.5) * step, got = 255 * (double)image[i * stride];
        if (at < 0 || at > side)
            CHECK(within(got, fill, 0.01), "%s %zu: %g, no fill", what, i, got);
        if (at < reach || at > side - reach) continue; /* the filter is cut off at the ends */
        /* half a level by the ramp's own rounding, one by each pass of resizing */
        CHECK(within(got, 255 * at / side, 2.5), "%s %zu: %g, not %g", what, i, got,
              255 * at / side);
    }
}

TEST("the placement of an image says which part of the photo each pixel shows") {
    uint64_t seed = 11;
    size_t reached = 0;
    for (size_t trial = 0; trial < 400; trial++) {
        size_t rows = 20 + random_below(&seed, 60), columns = 20 + random_below(&seed, 60);
        size_t sides[2] = {12 + random_below(&seed, 60), 12 + random_below(&seed, 60)};
        vit_config config = photo(0, 1, 3, VIT_BILINEAR);
        config.photo.fit = (vit_fit)(trial % 3);
        config.photo.crop_at = trial % 2;
        config.photo.fills = true, config.photo.fill[2] = 0;
        if (trial % 4 == 3)
            config.photo.resize = sides[0];
        else
            memcpy(config.photo.stretch, sides, sizeof sides);
        for (size_t i = 0; i < 2; i++)
            config.image_size[i] = config.photo.crop[i] = 8 + random_below(&seed, 70);
        uint8_t *data = ramps(rows, columns);
        vit_pixels pixels = {data, rows, columns, 3};
        size_t H = config.image_size[0], W = config.image_size[1];
        void *scratch = malloc(vit_prepare_size(&config, rows, columns, 3));
        float *image = malloc(3 * H * W * sizeof *image);
        vit_placement place;
        REQUIRE(vit_prepare_placed(image, &place, scratch, &pixels, &config, NULL) == VIT_OK,
                "trial %zu", trial);
        size_t row = H / 2, column = W / 2;
        expect_axis(image + row * W, W, 1, place.left, place.width, columns, 0, "column");
        expect_axis(image + H * W + column, H, W, place.top, place.height, rows, 0, "row");
        reached += place.left < 0 || place.top < 0;
        free(image);
        free(scratch);
        free(data);
    }
    CHECK(reached > 20, "only %zu have a border", reached);
}

TEST("an image that is taken as it is lies over all of its pixels") {
    vit_config config = as_is(5, 7, 1);
    uint8_t data[35] = {1};
    float image[35], scratch[4];
    vit_placement place;
    vit_pixels pixels = {data, 5, 7, 1};
    REQUIRE(!vit_prepare_placed(image, &place, scratch, &pixels, &config, NULL), "refused");
    CHECK(place.left == 0 && place.top == 0 && place.width == 7 && place.height == 5, "moved");
}

/* A photo of one grey becomes an image of that grey, in every way of resizing. The fill is the same
 * grey. */
static void expect_grey(const vit_config *config, size_t rows, size_t columns) {
    uint8_t *data = malloc(rows * columns);
    memset(data, 200, rows * columns);
    float *image = prepared(config, data, rows, columns, 1);
    size_t n = config->image_size[0] * config->image_size[1];
    bool refused = config->photo.fit == VIT_CONTAIN && !image; /* a side would have no pixel */
    CHECK(image || refused, "%zux%zu is refused", rows, columns);
    for (size_t j = 0; image && j < n; j++)
        CHECK(image[j] == 200.0f / 255.0f, "%g", 255 * (double)image[j]);
    if (image) guarded_free(image);
    free(data);
}

TEST("photos of extreme shapes are resized without an access outside their memory") {
    static const size_t shapes[][2] = {{1, 1}, {1, 32768}, {32768, 1}, {2, 5000}, {700, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t side = 1; side <= 64; side *= 4)
            for (int way = 0; way < 16; way++) {
                vit_config config = photo(side, side, 1, (vit_filter)(way % 4));
                if (way >= 4) { /* both sides are given, and differ */
                    config.photo.resize = 0, config.photo.fit = (vit_fit)(way / 4 - 1);
                    config.photo.crop[1] = config.image_size[1] = side + 1;
                    config.photo.stretch[0] = side, config.photo.stretch[1] = side + 1;
                    config.photo.fills = true, config.photo.fill[0] = 200;
                }
                expect_grey(&config, shapes[i][0], shapes[i][1]);
            }
}
