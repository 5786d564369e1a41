/* A drawing → a digit: compared with a plain twin in double, and with the same drawing at another
 * place, in another size, or light on dark. MNIST's own images are in digit_mnist_test.c. */
#include "canvas.h"

/* A stroke from a to b (row, column) of this radius, its edge one pixel soft. */
static void stroke(struct canvas on, double ay, double ax, double by, double bx, double radius,
                   uint8_t ink) {
    for (size_t y = 0; y < on.rows; y++)
        for (size_t x = 0; x < on.columns; x++) {
            double dy = by - ay, dx = bx - ax, py = (double)y - ay, px = (double)x - ax;
            double length = dy * dy + dx * dx;
            double t = length > 0 ? fmin(1, fmax(0, (py * dy + px * dx) / length)) : 0;
            double cover = radius + 0.5 - hypot(py - t * dy, px - t * dx);
            uint8_t *pixel = &on.data[y * on.columns + x];
            cover = fmin(1, fmax(0, cover));
            *pixel = (uint8_t)lround(*pixel + cover * (ink - *pixel));
        }
}

/* A four, drawn into a square of `size` whose corner is at (top, left). */
static void draw_four(struct canvas on, double top, double left, double size, uint8_t ink) {
    double u = size / 10, radius = size / 16;
    stroke(on, top + u, left + 4 * u, top + 6 * u, left + 2 * u, radius, ink);
    stroke(on, top + 6 * u, left + 2 * u, top + 6 * u, left + 8 * u, radius, ink);
    stroke(on, top + 3 * u, left + 6 * u, top + 9 * u, left + 6 * u, radius, ink);
}

static struct canvas drawn_four(uint8_t paper, uint8_t ink) {
    struct canvas four = canvas(140, 120, paper);
    draw_four(four, 15, 10, 100, ink);
    return four;
}

/* ---- The recipe --------------------------------------------------------- */

/* The digit of a clean drawing by definition: each cell of the box is an integral over the ink. */
static void twin(double *image, struct canvas from, uint8_t paper) {
    size_t top = from.rows, bottom = 0, left = from.columns, right = 0;
    double most = 0;
    for (size_t i = 0; i < from.rows * from.columns; i++)
        most = fmax(most, abs(from.data[i] - paper));
    for (size_t y = 0; y < from.rows; y++)
        for (size_t x = 0; x < from.columns; x++)
            if (abs(from.data[y * from.columns + x] - paper) > floor(most / 16)) {
                top = y < top ? y : top, bottom = y >= bottom ? y + 1 : bottom;
                left = x < left ? x : left, right = x >= right ? x + 1 : right;
            }
    double h = (double)(bottom - top), w = (double)(right - left);
    double longer = h > w ? h : w;
    size_t rows = (size_t)lround(20 * h / longer), columns = (size_t)lround(20 * w / longer);
    double cells[20][20] = {{0}}, fullest = 0, mass = 0, down = 0, across = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double y0 = (double)i * h / (double)rows, y1 = (double)(i + 1) * h / (double)rows;
            double x0 = (double)j * w / (double)columns, x1 = (double)(j + 1) * w / (double)columns;
            for (size_t y = top; y < bottom; y++)
                for (size_t x = left; x < right; x++) {
                    double py = (double)(y - top), px = (double)(x - left);
                    double tall = fmin(py + 1, y1) - fmax(py, y0);
                    double wide = fmin(px + 1, x1) - fmax(px, x0);
                    if (tall > 0 && wide > 0)
                        cells[i][j] += tall * wide * abs(from.data[y * from.columns + x] - paper);
                }
            fullest = fmax(fullest, cells[i][j]);
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double ink = cells[i][j] = round(255 * cells[i][j] / fullest);
            mass += ink, down += (double)i * ink, across += (double)j * ink;
        }
    double first_row = ceil((13.5 * mass - down) / mass);
    double first_column = ceil((13.5 * mass - across) / mass);
    first_row = fmin(fmax(first_row, 0), 28 - (double)rows);
    first_column = fmin(fmax(first_column, 0), 28 - (double)columns);
    for (size_t i = 0; i < AREA; i++) image[i] = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            image[(i + (size_t)first_row) * SIDE + j + (size_t)first_column] = cells[i][j] / 255;
}

TEST("a drawing becomes the digit that the definition gives in double") {
    uint64_t seed = 1;
    for (size_t trial = 0; trial < 40; trial++) {
        size_t rows = 4 + random_below(&seed, 90), columns = 4 + random_below(&seed, 90);
        uint8_t paper = trial % 2 ? 255 : 20, ink = trial % 2 ? (uint8_t)(7 * trial / 2) : 250;
        struct canvas from = canvas(rows, columns, paper);
        for (size_t i = 0; i < 3; i++) {
            double ends[4];
            for (size_t j = 0; j < 4; j++)
                ends[j] = 1 + (double)random_below(&seed, (j % 2 ? columns : rows) - 2);
            stroke(from, ends[0], ends[1], ends[2], ends[3], 0.5 + (double)(trial % 4), ink);
        }
        memset(from.data, paper, columns); /* the border must stay free of strokes */
        memset(from.data + (rows - 1) * columns, paper, columns);
        for (size_t y = 0; y < rows; y++)
            from.data[y * columns] = from.data[(y + 1) * columns - 1] = paper;
        double want[AREA];
        float image[AREA];
        twin(want, from, paper);
        REQUIRE(prepare_canvas(image, from) == VIT_OK, "refused %zux%zu", rows, columns);
        double worst = 0;
        for (size_t i = 0; i < AREA; i++) worst = fmax(worst, fabs(image[i] - want[i]));
        /* One of 255 levels, because a half may be rounded the other way. */
        CHECK(worst <= 1.0001 / 255, "%zux%zu: %g apart", rows, columns, worst);
    }
}

TEST("every build prepares a drawing to the same bits") {
    struct canvas ring = canvas(140, 120, 250); /* drawn in integers, the same in every build */
    for (int y = 0; y < 140; y++)
        for (int x = 0; x < 120; x++) {
            int off = abs((y - 66) * (y - 66) + 2 * (x - 63) * (x - 63) - 3000);
            if (off < 1000) ring.data[y * 120 + x] = (uint8_t)(off < 780 ? 30 : off - 750);
        }
    float image[AREA];
    REQUIRE(prepare_canvas(image, ring) == VIT_OK, "refused");
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < AREA; i++) {
        uint32_t bits;
        memcpy(&bits, &image[i], sizeof bits);
        hash = (hash ^ bits) * 0x01000193;
    }
    CHECK(hash == 0x0033e5dd, "hash 0x%08x", (unsigned)hash);
}

TEST("a prepared digit's longer side is 20, its full ink 1, and its mass in the middle") {
    float image[AREA];
    for (size_t size = 12; size <= 112; size += 5) {
        struct canvas four = canvas(120, 130, 255);
        draw_four(four, 2, 130 - (double)size, (double)size, 0);
        REQUIRE(prepare_canvas(image, four) == VIT_OK, "refused size %zu", size);
        struct shape shape = shape_of(image, SIDE, SIDE);
        size_t longer = shape.rows > shape.columns ? shape.rows : shape.columns;
        CHECK(longer == 20, "size %zu: %zux%zu", size, shape.rows, shape.columns);
        CHECK(shape.row >= 13.5 && shape.row < 14.5 && shape.column >= 13.5 && shape.column < 14.5,
              "size %zu: centre of mass at %g, %g", size, shape.row, shape.column);
        CHECK(largest(image, AREA) == 1, "size %zu: full ink is %g", size, largest(image, AREA));
    }
}

TEST("in other image sizes the digit's longer side is the same share, 20 in 28") {
    static const size_t sizes[][2] = {{56, 56}, {32, 32}, {14, 28}, {28, 14}, {1, 1}, {7, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vit_config config = DIGIT;
        size_t rows = config.image_size[0] = sizes[i][0];
        size_t columns = config.image_size[1] = sizes[i][1], n = rows * columns;
        config.channels = 2;
        struct canvas four = drawn_four(255, 0);
        vit_pixels pixels = {four.data, four.rows, four.columns, 1};
        float *image = guarded(2 * n);
        void *scratch = malloc(vit_prepare_size(&config, four.rows, four.columns, 1));
        vit_status status = vit_prepare_image(image, scratch, &pixels, &config, NULL);
        CHECK(status == VIT_OK, "%zux%zu: %s", rows, columns, vit_status_name(status));
        CHECK(guards_intact(image, 2 * n), "%zux%zu: written outside", rows, columns);
        CHECK_SAME_BITS(image, image + n, n, "the second channel");
        struct shape shape = shape_of(image, rows, columns);
        size_t tall = (20 * rows + 14) / 28, wide = (20 * columns + 14) / 28;
        CHECK(shape.rows <= (tall ? tall : 1) && shape.columns <= (wide ? wide : 1) &&
                  (shape.rows == tall || shape.columns == wide),
              "%zux%zu: the box is %zux%zu", rows, columns, shape.rows, shape.columns);
        guarded_free(image);
        free(scratch);
        free(four.data);
    }
}

/* ---- Differences that must not matter ----------------------------------- */

TEST("light ink on dark paper gives the same digit as dark ink on light paper") {
    float dark[AREA], light[AREA];
    uint64_t seed = 2;
    for (size_t noise = 0; noise < 4; noise++) {
        struct canvas four = drawn_four(220, 40);
        for (size_t i = 0; noise && i < four.rows * four.columns; i++)
            four.data[i] = (uint8_t)(four.data[i] + random_below(&seed, noise));
        CHECK(prepare(dark, four.data, four.rows, four.columns, 1) == VIT_OK, "refused");
        for (size_t i = 0; i < four.rows * four.columns; i++)
            four.data[i] = (uint8_t)(255 - four.data[i]);
        CHECK(prepare_canvas(light, four) == VIT_OK, "refused");
        CHECK_SAME_BITS(light, dark, AREA, "inverted");
    }
}

TEST("a drawing gives the same digit anywhere on the canvas") {
    float here[AREA], there[AREA];
    for (size_t top = 0; top < 60; top += 12)
        for (size_t left = 0; left < 60; left += 12) {
            struct canvas four = canvas(100, 100, 255);
            draw_four(four, (double)top, (double)left, 40, 0);
            CHECK(prepare_canvas(top + left ? there : here, four) == VIT_OK, "refused");
            if (top + left) CHECK_SAME_BITS(there, here, AREA, "moved");
        }
}

TEST("a larger drawing gives nearly the same digit, and repeated pixels give the same bits") {
    float small[AREA], large[AREA], repeated[AREA];
    struct canvas one = canvas(70, 70, 255), two = canvas(140, 140, 255),
                  three = canvas(210, 210, 255);
    draw_four(one, 0, 0, 70, 0);
    draw_four(two, 0, 0, 140, 0);
    for (size_t y = 0; y < 210; y++)
        for (size_t x = 0; x < 210; x++) three.data[y * 210 + x] = one.data[y / 3 * 70 + x / 3];
    CHECK(prepare_canvas(small, one) == VIT_OK, "refused");
    CHECK(prepare_canvas(large, two) == VIT_OK, "refused");
    CHECK(prepare_canvas(repeated, three) == VIT_OK, "refused");
    CHECK(mean_difference(large, small) < 0.01, "%g apart", mean_difference(large, small));
    CHECK_SAME_BITS(repeated, small, AREA, "three times as large");
}

TEST("grey, grey with alpha, RGB and RGBA give the same digit") {
    float want[AREA], image[AREA];
    struct canvas four = drawn_four(255, 0);
    size_t n = four.rows * four.columns;
    CHECK(prepare(want, four.data, four.rows, four.columns, 1) == VIT_OK, "refused");
    uint8_t *pixels = malloc(4 * n);
    for (size_t channels = 2; channels <= 4; channels++) {
        for (size_t i = 0; i < n; i++) {
            memset(pixels + i * channels, four.data[i], channels);
            if (channels % 2 == 0) pixels[(i + 1) * channels - 1] = 255;
        }
        CHECK(prepare(image, pixels, four.rows, four.columns, channels) == VIT_OK, "refused");
        CHECK_SAME_BITS(image, want, AREA, "more channels");
    }
    for (size_t level = 0; level <= 255; level += 255) { /* black, then white, on transparency */
        for (size_t i = 0; i < n; i++) {
            memset(pixels + 4 * i, (int)level, 4);
            pixels[4 * i + 3] = (uint8_t)(255 - four.data[i]);
        }
        CHECK(prepare(image, pixels, four.rows, four.columns, 4) == VIT_OK, "refused");
        CHECK_SAME_BITS(image, want, AREA,
                        level ? "white on transparency" : "black on transparency");
    }
    free(pixels);
    free(four.data);
}

TEST("grey paper, faint ink, noise and uneven light change a digit little") {
    static const struct {
        const char *what;
        uint8_t paper, ink, noise, slope;
    } cases[] = {
        {"grey paper", 128, 20, 0, 0},
        {"grey paper, light ink", 128, 250, 0, 0},
        {"faint ink", 200, 180, 0, 0},
        {"noise", 200, 40, 12, 0},
        {"faint and noisy", 180, 90, 6, 0},
        {"hardly more ink than noise", 180, 90, 12, 0},
        {"uneven light", 180, 30, 0, 60},
        {"all of it", 170, 30, 8, 40},
        {"light ink, all of it", 60, 230, 8, 40},
    };
    uint64_t seed = 3;
    float want[AREA], image[AREA];
    CHECK(prepare_canvas(want, drawn_four(255, 0)) == VIT_OK, "refused");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct canvas four = drawn_four(cases[i].paper, cases[i].ink);
        for (size_t y = 0; y < four.rows; y++)
            for (size_t x = 0; x < four.columns; x++) {
                double noise = 0;
                for (size_t k = 0; k < 3; k++) noise += random_float(&seed); /* deviation 1 */
                double light = ((double)(x + y) / (double)(four.rows + four.columns) - 0.5);
                double level = four.data[y * four.columns + x] + noise * cases[i].noise +
                               light * cases[i].slope;
                four.data[y * four.columns + x] = (uint8_t)fmin(255, fmax(0, level));
            }
        vit_status status = prepare_canvas(image, four);
        CHECK(status == VIT_OK, "%s: %s", cases[i].what, vit_status_name(status));
        CHECK(mean_difference(image, want) < 0.03, "%s: %g apart", cases[i].what,
              mean_difference(image, want));
    }
}

/* ---- Edges -------------------------------------------------------------- */

TEST("paper without ink is refused as a blank image") {
    float image[AREA];
    uint64_t seed = 4;
    for (size_t channels = 1; channels <= 4; channels++)
        for (int level = 0; level <= 255; level += 51) {
            uint8_t pixels[9 * 7 * 4];
            memset(pixels, level, sizeof pixels);
            vit_status status = prepare(image, pixels, 9, 7, channels);
            CHECK(status == VIT_BLANK_IMAGE, "%zu channels of %d: %s", channels, level,
                  vit_status_name(status));
        }
    struct canvas noisy = canvas(100, 100, 0), uneven = canvas(100, 100, 0),
                  faint = canvas(100, 100, 200);
    for (size_t i = 0; i < 100 * 100; i++) {
        noisy.data[i] = (uint8_t)(200 + random_below(&seed, 20) + random_below(&seed, 20));
        uneven.data[i] = (uint8_t)(100 + i % 100 + i / 100 / 4);
    }
    draw_four(faint, 10, 10, 80, 200 - 15);
    CHECK(prepare_canvas(image, noisy) == VIT_BLANK_IMAGE, "noise was taken for ink");
    CHECK(prepare_canvas(image, uneven) == VIT_BLANK_IMAGE, "uneven light was taken for ink");
    CHECK(prepare_canvas(image, faint) == VIT_BLANK_IMAGE, "15 of 255 levels were taken for ink");
}

TEST("a single pixel, a line and a drawing that fills its image become digits too") {
    float image[AREA];
    struct canvas dot = canvas(5, 9, 255), across = canvas(1, 300, 255), down = canvas(300, 1, 255),
                  longest = canvas(1, 32768, 10), tight = canvas(40, 40, 255);
    dot.data[2 * 9 + 3] = 0;
    memset(across.data + 40, 0, 30);
    memset(down.data + 40, 0, 30);
    memset(longest.data + 9000, 255, 9000);
    draw_four(tight, -6, -8, 52, 0);
    static const size_t boxes[][2] = {{20, 20}, {1, 20}, {20, 1}, {1, 20}};
    struct canvas all[] = {dot, across, down, longest};
    for (size_t i = 0; i < 4; i++) {
        REQUIRE(prepare_canvas(image, all[i]) == VIT_OK, "drawing %zu is refused", i);
        struct shape shape = shape_of(image, SIDE, SIDE);
        CHECK(shape.rows == boxes[i][0] && shape.columns == boxes[i][1], "drawing %zu: %zux%zu", i,
              shape.rows, shape.columns);
        CHECK(within(shape.row, 14, 0.5) && within(shape.column, 14, 0.5),
              "drawing %zu is centred at %g, %g", i, shape.row, shape.column);
    }
    CHECK(prepare_canvas(image, tight) == VIT_OK, "a tight crop is refused");
}

TEST("a drawing of random bytes gives values in 0..1, all within the image") {
    uint64_t seed = 5;
    for (size_t trial = 0; trial < 500; trial++) {
        size_t rows = 1 + random_below(&seed, 40), columns = 1 + random_below(&seed, 40);
        size_t channels = 1 + random_below(&seed, 4), n = rows * columns * channels;
        uint8_t *pixels = malloc(n);
        size_t rare = 1 + random_below(&seed, 30);
        for (size_t i = 0; i < n; i++)
            pixels[i] = random_below(&seed, rare) ? 255 : (uint8_t)random_bits(&seed);
        float *image = guarded(AREA);
        if (prepare(image, pixels, rows, columns, channels) == VIT_OK)
            for (size_t i = 0; i < AREA; i++)
                CHECK(image[i] >= 0 && image[i] <= 1, "trial %zu: %g", trial, (double)image[i]);
        CHECK(guards_intact(image, AREA), "trial %zu: written outside", trial);
        guarded_free(image);
        free(pixels);
    }
}

TEST("a digit's placement lies on the drawing so that both have the same box and centre") {
    uint64_t seed = 17;
    for (size_t trial = 0; trial < 100; trial++) {
        size_t rows = 40 + random_below(&seed, 300), columns = 40 + random_below(&seed, 300);
        struct canvas drawing = canvas(rows, columns, 255);
        double ends[4], width = 1 + (double)random_below(&seed, 4);
        for (size_t i = 0; i < 4; i++)
            ends[i] = 8 + (double)random_below(&seed, (i % 2 ? columns : rows) - 16);
        stroke(drawing, ends[0], ends[1], ends[2], ends[3], width, 0);
        float *ink = malloc(rows * columns * sizeof *ink), image[AREA];
        for (size_t i = 0; i < rows * columns; i++)
            ink[i] = drawing.data[i] < 255 - 255 / 16 ? (float)(255 - drawing.data[i]) : 0;
        struct shape ink_shape = shape_of(ink, rows, columns);
        void *scratch = malloc(vit_prepare_size(&DIGIT, rows, columns, 1));
        vit_pixels pixels = {drawing.data, rows, columns, 1};
        vit_placement place;
        REQUIRE(!vit_prepare_placed(image, &place, scratch, &pixels, &DIGIT, NULL), "refused");
        struct shape digit = shape_of(image, SIDE, SIDE);
        double down = place.height / SIDE, across = place.width / SIDE;
        /* Faint ink at the edges moves the centre, and bytes round it: less than a tenth of a
         * pixel. */
        CHECK(within(place.top + (digit.row + 0.5) * down, ink_shape.row + 0.5, 0.1 * down),
              "trial %zu: row %g, not %g", trial, place.top + (digit.row + 0.5) * down,
              ink_shape.row);
        CHECK(within(place.left + (digit.column + 0.5) * across, ink_shape.column + 0.5,
                     0.1 * across),
              "trial %zu: column %g, not %g", trial, place.left + (digit.column + 0.5) * across,
              ink_shape.column);
        CHECK(within((double)digit.rows * down, (double)ink_shape.rows, down), "trial %zu", trial);
        CHECK(within((double)digit.columns * across, (double)ink_shape.columns, across),
              "trial %zu", trial);
        free(scratch);
        free(ink);
        free(drawing.data);
    }
}

TEST("an unfinished drawing is as pale as the config says") {
    float image[AREA], pale[AREA];
    vit_config config = DIGIT;
    for (size_t i = 0; i < AREA; i++) image[i] = (float)i / AREA;
    for (float ink = 1; ink > 0.2f; ink -= 0.25f) {
        config.unfinished_ink = ink;
        memcpy(pale, image, sizeof pale);
        vit_prepare_unfinished(pale, &config);
        for (size_t i = 0; i < AREA; i++)
            CHECK(pale[i] == image[i] * ink, "%zu: %g", i, (double)pale[i]);
    }
}

TEST("vit_prepare_digit and vit_prepare_image give the same digit") {
    float one[AREA], other[AREA];
    struct canvas four = drawn_four(255, 0);
    vit_pixels pixels = {four.data, four.rows, four.columns, 1};
    void *scratch = malloc(vit_prepare_size(&DIGIT, four.rows, four.columns, 1));
    CHECK(vit_prepare_image(one, scratch, &pixels, &DIGIT, NULL) == VIT_OK, "refused");
    CHECK(vit_prepare_digit(other, scratch, &pixels, SIDE, SIDE, NULL) == VIT_OK, "refused");
    CHECK_SAME_BITS(one, other, AREA, "digit");
    pixels.rows = 0;
    vit_error why;
    CHECK(vit_prepare_digit(other, scratch, &pixels, SIDE, SIDE, &why) == VIT_BAD_IMAGE,
          "accepted");
    CHECK(strstr(why.text, "0x120"), "%s", why.text);
    free(scratch);
    free(four.data);
}
