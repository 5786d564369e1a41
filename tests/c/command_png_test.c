/* The command's PNG reader, compared with libpng's own simplified reader. */
#define _GNU_SOURCE
#include "command.h"

#include "../../src/cli/png.c"
#include "png_files.h"

enum { EDGE = 19 };

static const struct kind {
    int depth, colour;
} KINDS[] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {8, 2}, {16, 2},
             {1, 3}, {4, 3}, {8, 3}, {8, 4}, {16, 4}, {8, 6}, {16, 6}};

/* A PNG of random pixels. gamma: linear. transparency: a tRNS chunk, if the colour type has one. */
static void put_odd_png(const char *name, struct kind kind, bool gamma, bool transparency,
                        uint64_t *seed) {
    static struct bytes png;
    static uint8_t rows[EDGE * (1 + EDGE * 8)], packed[2 * sizeof rows];
    static const size_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    size_t row = (EDGE * channels[kind.colour] * (size_t)kind.depth + 7) / 8;
    begin_png(&png, EDGE, EDGE, kind.depth, kind.colour, false);
    if (gamma) add_chunk(&png, "gAMA", (uint8_t[4]){0, 1, 0x86, 0xa0}, 4);
    if (kind.colour == 3) {
        uint8_t palette[768];
        for (size_t i = 0; i < sizeof palette; i++) palette[i] = (uint8_t)random_bits(seed);
        add_chunk(&png, "PLTE", palette, 3u << kind.depth);
    }
    if (transparency && kind.colour == 3) add_chunk(&png, "tRNS", (uint8_t[2]){0, 128}, 2);
    if (transparency && kind.colour == 0) add_chunk(&png, "tRNS", (uint8_t[2]){0, 1}, 2);
    if (transparency && kind.colour == 2)
        add_chunk(&png, "tRNS", (uint8_t[6]){0, 1, 0, 2, 0, 3}, 6);
    for (size_t i = 0; i < EDGE * (row + 1); i++)
        rows[i] = i % (row + 1) ? (uint8_t)random_bits(seed) : 0;
    uLongf size = sizeof packed;
    if (compress(packed, &size, rows, EDGE * (row + 1))) exit(EXIT_FAILURE);
    add_chunk(&png, "IDAT", packed, size);
    add_chunk(&png, "IEND", NULL, 0);
    put_file(file_at(name), png.at, png.size);
}

static void check_pixels(const char *what, const char *path) {
    static uint8_t want[256 * 256 * 4];
    png_image image = {.version = PNG_IMAGE_VERSION};
    REQUIRE(png_image_begin_read_from_file(&image, path), "%s: %s", what, image.message);
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    image.format &= PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_COLOR;
    size_t channels = PNG_IMAGE_PIXEL_CHANNELS(image.format), size = PNG_IMAGE_SIZE(image);
    REQUIRE(size <= sizeof want && png_image_finish_read(&image, NULL, want, 0, NULL), "%s: %s",
            what, image.message);
    vit_pixels pixels;
    uint8_t *bytes;
    vit_error why = {""};
    REQUIRE(!read_png(&pixels, &bytes, path, &why), "%s: %s", what, why.text);
    CHECK(pixels.rows == image.height && pixels.columns == image.width &&
              pixels.channels == channels,
          "%s: %zux%zux%zu", what, pixels.rows, pixels.columns, pixels.channels);
    CHECK_SAME_BITS(bytes, want, size, what);
    free(bytes);
}

TEST("every kind of PNG gives the pixels that libpng's own reader gives") {
    uint64_t seed = 3;
    for (size_t i = 0; i < 4 * sizeof KINDS / sizeof *KINDS; i++) {
        char what[80];
        struct kind kind = KINDS[i / 4];
        put_odd_png("odd.png", kind, i & 1, i & 2, &seed);
        snprintf(what, sizeof what, "depth %d, colour %d, case %zu", kind.depth, kind.colour,
                 i % 4);
        check_pixels(what, file_at("odd.png"));
    }
}

/* libpng writes the file with all seven passes. */
TEST("an interlaced PNG gives the same pixels as its rows in order") {
    static uint8_t pixels[EDGE * EDGE * 3];
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)random_bits(&seed);
    FILE *file = fopen(file_at("interlaced.png"), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    REQUIRE(file && !setjmp(png_jmpbuf(png)), "the PNG cannot be written");
    png_init_io(png, file);
    png_set_IHDR(png, info, EDGE, EDGE, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7, 0, 0);
    png_bytep rows[EDGE];
    for (size_t y = 0; y < EDGE; y++) rows[y] = pixels + y * EDGE * 3;
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
    check_pixels("interlaced", file_at("interlaced.png"));
    vit_pixels read;
    uint8_t *bytes;
    vit_error why = {""};
    REQUIRE(!read_png(&read, &bytes, file_at("interlaced.png"), &why), "%s", why.text);
    CHECK_SAME_BITS(bytes, pixels, sizeof pixels, "interlaced");
    free(bytes);
}
