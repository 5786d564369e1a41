/* MNIST's images, as they are and enlarged as someone would draw them, become MNIST's images. */
#include "canvas.h"

#include <zlib.h>

#ifndef GOLDEN_DIR
#define GOLDEN_DIR "tests/golden"
#endif

/* The first `count` images of one of MNIST's files, in VITRINE_DATA or beside the repository. */
static uint8_t *mnist(const char *file, size_t count) {
    const char *folder = getenv("VITRINE_DATA");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : GOLDEN_DIR "/../../../shared/mnist",
             file);
    gzFile from = gzopen(path, "rb");
    if (!from) return NULL;
    uint8_t *images = malloc(count * AREA);
    bool whole = gzseek(from, 16, SEEK_SET) == 16 &&
                 gzread(from, images, (unsigned)(count * AREA)) == (int)(count * AREA);
    gzclose(from);
    if (whole) return images;
    free(images);
    return NULL;
}

TEST("preparing MNIST's own images leaves them as they are") {
    enum { COUNT = 10000 };
    uint8_t *images = mnist("t10k-images-idx3-ubyte.gz", COUNT);
    if (!images) SKIP("no MNIST in the folder that VITRINE_DATA names");
    size_t same = 0, near = 0, centred = 0, twenty = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t *bytes = images + i * AREA;
        float original[AREA], image[AREA];
        for (size_t j = 0; j < AREA; j++) original[j] = (float)bytes[j] / 255;
        REQUIRE(prepare(image, bytes, SIDE, SIDE, 1) == VIT_OK, "image %zu is refused", i);
        double worst = farthest(image, original, AREA, NULL);
        same += worst <= 1.5 / 255; /* in some images full ink is 254 and becomes 255 */
        near += mean_difference(image, original) < 0.02;
        struct shape shape = shape_of(original, SIDE, SIDE);
        centred += within(shape.row, 14, 0.5) && within(shape.column, 14, 0.5);
        twenty += (shape.rows > shape.columns ? shape.rows : shape.columns) == 20;
    }
    free(images);
    printf(
        "    of %d: %zu the same, %zu near; of MNIST's own %zu are centred, %zu have 20 pixels\n",
        COUNT, same, near, centred, twenty);
    CHECK(centred >= COUNT - 5 && twenty >= COUNT - 20, "the recipe is not MNIST's");
    CHECK(same >= COUNT * 9 / 10 && near >= COUNT * 998 / 1000, "%zu the same, %zu near", same,
          near);
}

/* The image as someone would draw it: ten times as large, smooth, black on white. */
static struct canvas enlarged(const uint8_t *image) {
    struct canvas large = canvas(10 * SIDE, 10 * SIDE, 0);
    for (size_t y = 0; y < large.rows; y++)
        for (size_t x = 0; x < large.columns; x++) {
            double v = fmax(0, ((double)y + 0.5) / 10 - 0.5),
                   u = fmax(0, ((double)x + 0.5) / 10 - 0.5);
            size_t top = (size_t)v, left = (size_t)u;
            size_t below = top + 1 < SIDE ? top + 1 : top,
                   right = left + 1 < SIDE ? left + 1 : left;
            double down = v - (double)top, across = u - (double)left;
            double ink = (1 - down) * ((1 - across) * image[top * SIDE + left] +
                                       across * image[top * SIDE + right]) +
                         down * ((1 - across) * image[below * SIDE + left] +
                                 across * image[below * SIDE + right]);
            large.data[y * large.columns + x] = (uint8_t)(255 - lround(ink));
        }
    return large;
}

TEST("MNIST's images enlarged tenfold, smooth, black on white, become nearly the originals again") {
    enum { COUNT = 300 };
    uint8_t *images = mnist("t10k-images-idx3-ubyte.gz", COUNT);
    if (!images) SKIP("no MNIST in the folder that VITRINE_DATA names");
    double sum = 0, worst = 0;
    for (size_t i = 0; i < COUNT; i++) {
        float original[AREA], image[AREA];
        for (size_t j = 0; j < AREA; j++) original[j] = (float)images[i * AREA + j] / 255;
        REQUIRE(prepare_canvas(image, enlarged(images + i * AREA)) == VIT_OK, "%zu refused", i);
        double far = mean_difference(image, original);
        sum += far, worst = fmax(worst, far);
    }
    free(images);
    printf("    mean difference %.4f, at worst %.4f\n", sum / COUNT, worst);
    CHECK(sum / COUNT < 0.035 && worst < 0.1, "%g in the mean, %g at worst", sum / COUNT, worst);
}
