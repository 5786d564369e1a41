/* Real photos, read with libpng as the command reads them, are prepared to the bytes that Pillow
 * makes. tests/golden/photos.py made the numbers and explains the words of a case. */
#include "check.h"

#include <png.h>

#include "vit.h"

enum { SAMPLES_MOST = 4096 };

struct photo_case {
    char file[32], filter[16], fit[16], middle[16], samples[2 * SAMPLES_MOST + 1];
    size_t from, to, resize, stretch[2], crop[2], step;
    int grey;
    unsigned hash;
};

static bool next_case(struct photo_case *c, FILE *file) {
    return fscanf(file, "%31s %zu %zu %15s %zu %zu %zu %15s %zu %zu %15s %d %zu %x %8192s", c->file,
                  &c->from, &c->to, c->filter, &c->resize, &c->stretch[0], &c->stretch[1], c->fit,
                  &c->crop[0], &c->crop[1], c->middle, &c->grey, &c->step, &c->hash,
                  c->samples) == 15;
}

/* The place of a word among those of an enum. */
static unsigned place_of(const char *word, const char *const *words) {
    for (unsigned i = 0; words[i]; i++)
        if (!strcmp(word, words[i])) return i;
    CHECK(false, "photos.txt: unknown word %s", word);
    return 0;
}

/* Reads a photo from beside the repository, or from in or beside the folder in VITRINE_DATA. */
static bool read_photo(vit_pixels *rgb, const char *name) {
    static const char *const folders[] = {"../photos", "photos", "."};
    const char *given = getenv("VITRINE_DATA");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        png_image png = {.version = PNG_IMAGE_VERSION};
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/%s", given ? given : GOLDEN_DIR "/../../../shared/mnist",
                 folders[i], name);
        if (!png_image_begin_read_from_file(&png, path)) continue;
        png.format = PNG_FORMAT_RGB;
        uint8_t *bytes = malloc(PNG_IMAGE_SIZE(png));
        *rgb = (vit_pixels){bytes, png.height, png.width, 3};
        if (png_image_finish_read(&png, NULL, bytes, 0, NULL)) return true;
        free(bytes);
    }
    return false;
}

/* The pixels with `channels` channels, made as photos.py makes them. */
static uint8_t *with_channels(const vit_pixels *rgb, size_t channels) {
    uint8_t *out = malloc(rgb->rows * rgb->columns * channels), *p = out;
    for (size_t i = 0; i < rgb->rows * rgb->columns; i++) {
        const uint8_t *in = rgb->data + 3 * i;
        if (channels < 3) *p++ = in[1];
        for (size_t c = 0; channels >= 3 && c < 3; c++) *p++ = in[c];
        if (channels % 2 == 0) *p++ = (uint8_t)(3 * (i % rgb->columns) + 5 * (i / rgb->columns));
    }
    return out;
}

/* The prepared image's bytes (crop,crop,to), or NULL. */
static uint8_t *prepared_bytes(const struct photo_case *c, const vit_pixels *pixels) {
    static const char *const filters[] = {"bilinear", "bicubic", "lanczos", "nearest", NULL};
    static const char *const fits[] = {"stretch", "cover", "contain", NULL};
    float grey = (float)c->grey;
    vit_config config = {.image_size = {c->crop[0], c->crop[1]},
                         .channels = c->to,
                         .prepare = VIT_PREPARE_PHOTO,
                         .photo = {.resize = c->resize,
                                   .stretch = {c->stretch[0], c->stretch[1]},
                                   .fit = (vit_fit)place_of(c->fit, fits),
                                   .crop = {c->crop[0], c->crop[1]},
                                   .crop_floor = !strcmp(c->middle, "floor"),
                                   .fills = c->grey >= 0,
                                   .fill = {grey, grey, grey, grey},
                                   .std = {1, 1, 1, 1},
                                   .filter = (vit_filter)place_of(c->filter, filters)}};
    size_t n = c->crop[0] * c->crop[1];
    size_t size = vit_prepare_size(&config, pixels->rows, pixels->columns, pixels->channels);
    float *image = malloc(n * c->to * sizeof *image);
    void *scratch = malloc(size + 1);
    uint8_t *bytes = NULL;
    vit_error why = {""};
    vit_status status = vit_prepare_image(image, scratch, pixels, &config, &why);
    CHECK(status == VIT_OK, "%s: %s", c->file, why.text);
    if (!status) bytes = malloc(n * c->to);
    for (size_t at = 0; bytes && at < n * c->to; at++)
        bytes[at] = (uint8_t)lroundf(255 * image[at % c->to * n + at / c->to]);
    free(image), free(scratch);
    return bytes;
}

/* The largest distance of a sample from Pillow's, in levels. */
static int farthest_sample(const struct photo_case *c, const uint8_t *bytes) {
    const char *hex = c->samples;
    int most = 0;
    for (size_t y = 0; y < c->crop[0]; y += c->step)
        for (size_t x = 0; x < c->crop[1]; x += c->step)
            for (size_t k = 0; k < c->to; k++, hex += 2) {
                unsigned want = 0;
                if (sscanf(hex, "%2x", &want) != 1) return 256;
                int gap = abs((int)want - bytes[(y * c->crop[1] + x) * c->to + k]);
                if (gap > most) most = gap;
            }
    return *hex ? 256 : most;
}

TEST("real photos are resized, stretched, cropped and laid on white as Pillow does, to the byte") {
    FILE *file = fopen(GOLDEN_DIR "/photos.txt", "r");
    REQUIRE(file, "cannot read photos.txt");
    static struct photo_case c;
    size_t count = 0, same = 0;
    int most = 0;
    for (; next_case(&c, file); count++) {
        vit_pixels rgb, pixels;
        if (!read_photo(&rgb, c.file)) break;
        uint8_t *data = with_channels(&rgb, c.from);
        pixels = (vit_pixels){data, rgb.rows, rgb.columns, c.from};
        uint8_t *bytes = prepared_bytes(&c, &pixels);
        int gap = bytes ? farthest_sample(&c, bytes) : 256;
        uint32_t hash = 0x811c9dc5; /* FNV-1a */
        for (size_t i = 0; bytes && i < c.crop[0] * c.crop[1] * c.to; i++)
            hash = (hash ^ bytes[i]) * 0x01000193;
        CHECK(gap <= 1, "%s, %zu to %zu channels, %s, %s, crop %zux%zu: %d levels away", c.file,
              c.from, c.to, c.filter, c.fit, c.crop[0], c.crop[1], gap);
        CHECK(hash == c.hash, "%s, %zu to %zu channels, %s, %s, crop %zux%zu: other bytes", c.file,
              c.from, c.to, c.filter, c.fit, c.crop[0], c.crop[1]);
        if (gap > most) most = gap;
        same += hash == c.hash;
        free(bytes), free(data), free((void *)rgb.data);
    }
    fclose(file);
    if (count == 0) SKIP("no photos in the folder that VITRINE_DATA names, nor beside it");
    CHECK(count == 144, "%zu cases, not 144", count);
    printf("    %zu of %zu cases are the same in every byte; the farthest is %d levels away\n",
           same, count, most);
}
