/* Bytes of an image → (C,H,W) floats. All sums are of integers and all divisions are of exact
 * values, so that every build prepares the same bits. */
#include "base/error.h"
#include "digit.h"
#include "resample.h"

#include <math.h>
#include <string.h>

enum { MAX_SIDE = 1 << 15, MAX_PIXELS = 1 << 28 };

/* ---- Channels ----------------------------------------------------------- */

static inline uint8_t over_white(unsigned value, unsigned alpha) {
    return (uint8_t)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

/* ITU-R BT.601 in 16 bits, as Pillow computes it. The weights sum to 1, so grey stays as it is. */
static inline uint8_t luma(unsigned red, unsigned green, unsigned blue) {
    return (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

static bool convertible(size_t from, size_t to) {
    return from == to || to == 1 || to == 3;
}

static inline void convert_loop(uint8_t *restrict out, size_t to, const uint8_t *restrict in,
                                size_t from, size_t n) {
    for (size_t i = 0; i < n; i++, in += from, out += to) {
        unsigned alpha = from % 2 == 0 ? in[from - 1] : 255;
        if (to == 1)
            out[0] = over_white(from < 3 ? in[0] : luma(in[0], in[1], in[2]), alpha);
        else
            for (size_t c = 0; c < 3; c++) out[c] = over_white(in[from < 3 ? 0 : c], alpha);
    }
}

/* `n` pixels of `from` channels → `to` channels, on white paper where they are transparent. */
static void convert(uint8_t *restrict out, size_t to, const uint8_t *restrict in, size_t from,
                    size_t n) {
    if (from == to)
        memcpy(out, in, n * to);
    else if (from == 4 && to == 1) /* a canvas: with constants, the compiler unrolls the loop */
        convert_loop(out, 1, in, 4, n);
    else
        convert_loop(out, to, in, from, n);
}

/* ---- Scratch memory ----------------------------------------------------- */

/* Hands out parts of `base`. Without a base it only counts their bytes. */
struct scratch {
    uint8_t *base;
    uint64_t used;
};

static void *take(struct scratch *scratch, uint64_t count, size_t size) {
    void *part = scratch->base ? scratch->base + scratch->used : NULL;
    scratch->used += (count * size + 15) & ~(uint64_t)15;
    return part;
}

/* ---- none: the image as it is ------------------------------------------- */

static vit_status prepare_as_is(float *image, vit_placement *placement, void *scratch,
                                const vit_pixels *pixels, const vit_config *config,
                                vit_error *why) {
    (void)scratch, (void)why;
    *placement = (vit_placement){.width = (double)pixels->columns, .height = (double)pixels->rows};
    size_t n = pixels->rows * pixels->columns, channels = config->channels;
    for (size_t i = 0; i < n; i++) {
        uint8_t pixel[4];
        convert(pixel, channels, pixels->data + i * pixels->channels, pixels->channels, 1);
        for (size_t c = 0; c < channels; c++) image[c * n + i] = pixel[c] / 255.0f;
    }
    return VIT_OK;
}

/* ---- photo: resize, crop, standardise ----------------------------------- *
 *
 * Gives the same bits as torchvision, timm and transformers on Pillow's images: weights have 22
 * fractional bits, and between the two passes every channel is a byte. */

enum { FRACTION = 22 };

/* One axis, resized from `in` to `out`. `count` of the resized ones, from `first` on, are kept.
 * They fill the `crop` from `before` on; the photo has nothing for the rest. */
struct axis {
    size_t in, out, first, count, before, crop;
};

struct photo {
    struct axis rows, columns;
    size_t first_row, row_count; /* the image's rows that the crop needs */
    size_t channels, taps;
    double *weights; /* (taps), for one output of an axis */
    int32_t *fixed;  /* (crop,taps) of the columns; (taps) of one row */
    size_t *nearest; /* (crop) the row that each output row copies */
    size_t *start;   /* (crop) the first column that each output column needs */
    size_t *span;    /* (crop) how many columns each output column needs */
    int32_t *sums;   /* (crop,channels) */
    uint8_t *line;   /* (columns,channels): a row of the image */
    uint8_t *narrow; /* (row_count,crop,channels): rows whose columns are resized */
};

/* The length of a side after resizing. `cover` and `contain` follow timm's ResizeKeepRatio. */
static size_t resized_side(const vit_config *config, const size_t sides[2], int which) {
    const size_t *stretch = config->photo.stretch, resize = config->photo.resize;
    if (resize) return (size_t)((uint64_t)resize * sides[which] / sides[sides[0] > sides[1]]);
    if (!stretch[0]) return sides[which];
    if (config->photo.fit == VIT_STRETCH) return stretch[which];
    double rows = (double)sides[0] / (double)stretch[0];
    double columns = (double)sides[1] / (double)stretch[1];
    bool longer = (rows > columns) == (config->photo.fit == VIT_CONTAIN);
    return (size_t)rint((double)sides[which] / (longer ? rows : columns));
}

static struct axis crop_axis(const vit_config *config, const vit_pixels *pixels, int which) {
    const size_t sides[] = {pixels->rows, pixels->columns};
    size_t out = resized_side(config, sides, which), crop = config->photo.crop[which];
    if (out < crop) return (struct axis){sides[which], out, 0, out, (crop - out) / 2, crop};
    size_t spare = out - crop, first = spare / 2;
    if (config->photo.crop_at == VIT_CROP_EVEN)
        first += spare % 4 == 3; /* Python rounds halves to even */
    return (struct axis){sides[which], out, first, crop, 0, crop};
}

static uint64_t photo_layout(struct photo *photo, void *memory, const vit_pixels *pixels,
                             const vit_config *config) {
    vit_filter filter = config->photo.filter;
    size_t rows = pixels->rows, columns = pixels->columns;
    photo->rows = crop_axis(config, pixels, 0);
    photo->columns = crop_axis(config, pixels, 1);

    const struct axis *down = &photo->rows;
    size_t crop = photo->columns.count, last, count;
    resample_span(&photo->first_row, rows, down->out, down->first, filter);
    count = resample_span(&last, rows, down->out, down->first + down->count - 1, filter);
    photo->row_count = last + count - photo->first_row;
    photo->channels = config->channels;
    size_t across = resample_taps(columns, photo->columns.out, filter);
    photo->taps = resample_taps(rows, down->out, filter);
    if (photo->taps < across) photo->taps = across;

    struct scratch scratch = {memory, 0};
    photo->weights = take(&scratch, photo->taps, sizeof *photo->weights);
    photo->fixed = take(&scratch, (uint64_t)crop * photo->taps, sizeof *photo->fixed);
    photo->nearest = take(&scratch, down->count, sizeof *photo->nearest);
    photo->start = take(&scratch, crop, sizeof *photo->start);
    photo->span = take(&scratch, crop, sizeof *photo->span);
    photo->sums = take(&scratch, crop * photo->channels, sizeof *photo->sums);
    photo->line = take(&scratch, columns * photo->channels, 1);
    photo->narrow = take(&scratch, (uint64_t)photo->row_count * crop * photo->channels, 1);
    return scratch.used;
}

static void to_fixed(int32_t *fixed, const double *weights, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double scaled = weights[i] * (1 << FRACTION);
        fixed[i] = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
}

static inline uint8_t to_byte(int32_t sum) {
    return (uint8_t)(sum < 0 ? 0 : sum >= 256 << FRACTION ? 255 : sum >> FRACTION);
}

/* The weights of output `index` of an axis, and where its inputs start. Returns how many inputs
 * there are. `nearest`: the input that each output copies with VIT_NEAREST. */
static size_t fixed_weights(int32_t *fixed, size_t *start, const struct photo *photo,
                            const struct axis *axis, size_t index, const size_t *nearest,
                            vit_filter filter) {
    if (filter == VIT_NEAREST) {
        *start = nearest[index];
        fixed[0] = 1 << FRACTION;
        return 1;
    }
    size_t count =
        resample_weights(photo->weights, start, axis->in, axis->out, axis->first + index, filter);
    to_fixed(fixed, photo->weights, count);
    return count;
}

static void narrow_rows(const struct photo *photo, const vit_pixels *pixels, vit_filter filter) {
    const struct axis *across = &photo->columns;
    size_t C = photo->channels, crop = across->count;
    if (filter == VIT_NEAREST)
        resample_nearest(photo->start, across->in, across->out, across->first, crop);
    for (size_t x = 0; x < crop; x++)
        photo->span[x] = fixed_weights(photo->fixed + x * photo->taps, &photo->start[x], photo,
                                       across, x, photo->start, filter);
    size_t row_size = pixels->columns * pixels->channels;
    uint8_t *out = photo->narrow;
    for (size_t y = 0; y < photo->row_count; y++) {
        const uint8_t *row = pixels->data + (photo->first_row + y) * row_size;
        convert(photo->line, C, row, pixels->channels, pixels->columns);
        for (size_t x = 0; x < crop; x++)
            for (size_t c = 0; c < C; c++) {
                const uint8_t *in = photo->line + photo->start[x] * C + c;
                const int32_t *weights = photo->fixed + x * photo->taps;
                int32_t sum = 1 << (FRACTION - 1);
                for (size_t t = 0; t < photo->span[x]; t++) sum += weights[t] * in[t * C];
                *out++ = to_byte(sum);
            }
    }
}

static void fill_image(float *image, const vit_config *config) {
    size_t n = config->photo.crop[0] * config->photo.crop[1];
    for (size_t c = 0; c < config->channels; c++) {
        float mean = config->photo.mean[c], std = config->photo.std[c];
        float value = (config->photo.fill[c] / 255.0f - mean) / std;
        for (size_t i = 0; i < n; i++) image[c * n + i] = value;
    }
}

/* Where the crop begins and how long it is, in pixels of the photo. */
static void place_axis(double *from, double *length, const struct axis *axis) {
    double step = (double)axis->in / (double)axis->out;
    *from = ((double)axis->first - (double)axis->before) * step;
    *length = (double)axis->crop * step;
}

static vit_status prepare_photo(float *image, vit_placement *placement, void *scratch,
                                const vit_pixels *pixels, const vit_config *config,
                                vit_error *why) {
    (void)why;
    struct photo photo;
    photo_layout(&photo, scratch, pixels, config);
    vit_filter filter = config->photo.filter;
    const struct axis *down = &photo.rows, *across = &photo.columns;
    place_axis(&placement->top, &placement->height, down);
    place_axis(&placement->left, &placement->width, across);
    if (down->count < down->crop || across->count < across->crop) fill_image(image, config);
    narrow_rows(&photo, pixels, filter);
    if (filter == VIT_NEAREST)
        resample_nearest(photo.nearest, down->in, down->out, down->first, down->count);
    size_t C = photo.channels, n = across->count * C;
    for (size_t y = 0; y < down->count; y++) {
        size_t start;
        size_t count = fixed_weights(photo.fixed, &start, &photo, down, y, photo.nearest, filter);
        for (size_t i = 0; i < n; i++) photo.sums[i] = 1 << (FRACTION - 1);
        const uint8_t *in = photo.narrow + (start - photo.first_row) * n;
        for (size_t t = 0; t < count; t++, in += n)
            for (size_t i = 0; i < n; i++) photo.sums[i] += photo.fixed[t] * in[i];
        for (size_t c = 0; c < C; c++) {
            float mean = config->photo.mean[c], std = config->photo.std[c];
            float *row = image + (c * down->crop + down->before + y) * across->crop;
            for (size_t x = 0; x < across->count; x++)
                row[across->before + x] = (to_byte(photo.sums[x * C + c]) / 255.0f - mean) / std;
        }
    }
    return VIT_OK;
}

/* ---- digit -------------------------------------------------------------- */

struct drawing {
    uint8_t *grey; /* (rows,columns) of the drawing */
    void *cells;   /* digit_draw's own scratch */
};

static uint64_t drawing_layout(struct drawing *drawing, void *memory, const vit_pixels *pixels,
                               size_t rows, size_t columns) {
    struct scratch scratch = {memory, 0};
    drawing->cells = take(&scratch, digit_size(rows, columns), 1);
    drawing->grey = take(&scratch, (uint64_t)pixels->rows * pixels->columns, 1);
    return scratch.used;
}

static vit_status draw_digit(float *image, vit_placement *placement, void *scratch,
                             const vit_pixels *pixels, size_t rows, size_t columns,
                             vit_error *why) {
    struct drawing drawing;
    drawing_layout(&drawing, scratch, pixels, rows, columns);
    size_t h = pixels->rows, w = pixels->columns, channels = pixels->channels;
    convert(drawing.grey, 1, pixels->data, channels, h * w);
    if (digit_draw(image, placement, rows, columns, drawing.grey, h, w, drawing.cells))
        return VIT_OK;
    if (channels % 2 == 0) { /* white ink on nothing: the alpha channel holds the drawing */
        for (size_t i = 0; i < h * w; i++)
            drawing.grey[i] = pixels->data[i * channels + channels - 1];
        if (digit_draw(image, placement, rows, columns, drawing.grey, h, w, drawing.cells))
            return VIT_OK;
    }
    return vit_fail(why, VIT_BLANK_IMAGE,
                    "the drawing is blank: expected ink that stands out from the paper by %z of "
                    "255 levels or more",
                    (size_t)DIGIT_FAINTEST);
}

/* ---- The kinds of `prepare` --------------------------------------------- */

static vit_status check_size(size_t rows, size_t columns, size_t channels, vit_error *why) {
    if (rows - 1 < MAX_SIDE && columns - 1 < MAX_SIDE && (uint64_t)rows * columns <= MAX_PIXELS &&
        channels - 1 < 4)
        return VIT_OK;
    return vit_fail(why, VIT_BAD_IMAGE,
                    "expected an image of 1 to %z rows and columns, at most %z pixels, and 1 to 4 "
                    "channels, got %zx%z pixels of %z channels",
                    (size_t)MAX_SIDE, (size_t)MAX_PIXELS, rows, columns, channels);
}

static vit_status check_channels(const vit_pixels *pixels, const vit_config *config,
                                 vit_error *why) {
    if (convertible(pixels->channels, config->channels)) return VIT_OK;
    return vit_fail(why, VIT_BAD_IMAGE, "expected pixels of %z channels, got %z", config->channels,
                    pixels->channels);
}

static vit_status check_as_is(const vit_pixels *pixels, const vit_config *config, vit_error *why) {
    const size_t *size = config->image_size;
    if (pixels->rows != size[0] || pixels->columns != size[1])
        return vit_fail(why, VIT_BAD_IMAGE,
                        "expected %zx%z pixels, got %zx%z: this model's config has no `prepare` "
                        "that says how to resize",
                        size[0], size[1], pixels->rows, pixels->columns);
    return check_channels(pixels, config, why);
}

static vit_status check_unknown(const vit_pixels *pixels, const vit_config *config,
                                vit_error *why) {
    (void)config;
    return vit_fail(why, VIT_BAD_IMAGE,
                    "expected prepared numbers, got %zx%z pixels: this model's config has no "
                    "`prepare` that says how pixels become its image (size, mean, std); give one",
                    pixels->rows, pixels->columns);
}

static vit_status check_digit(const vit_pixels *pixels, const vit_config *config, vit_error *why) {
    (void)pixels;
    if (check_size(config->image_size[0], config->image_size[1], 1, NULL) == VIT_OK) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG, "image_size: expected at most %z rows and columns, got %d",
                    (size_t)MAX_SIDE, config->image_size, (size_t)2);
}

static vit_status check_photo(const vit_pixels *pixels, const vit_config *config, vit_error *why) {
    const size_t *crop = config->photo.crop, resize = config->photo.resize;
    for (size_t i = 0; i < 2; i++) {
        size_t side = resize ? resize : config->photo.stretch[i];
        bool as_is = !resize && !config->photo.stretch[0];
        if (!crop[i] || side > MAX_SIDE || (!as_is && !config->photo.fills && side < crop[i]))
            return vit_fail(why, VIT_BAD_CONFIG,
                            "prepare.resize: expected numbers from prepare.crop, %z, to %z, got %z",
                            crop[i], (size_t)MAX_SIDE, side);
    }
    if (config->image_size[0] != crop[0] || config->image_size[1] != crop[1])
        return vit_fail(why, VIT_BAD_CONFIG,
                        "prepare.crop: expected image_size, which is %d, got %d",
                        config->image_size, (size_t)2, crop, (size_t)2);
    for (int i = 0; i < 2; i++) {
        struct axis axis = crop_axis(config, pixels, i);
        if (axis.count && (axis.count == axis.crop || config->photo.fills)) continue;
        return vit_fail(why, VIT_BAD_IMAGE,
                        "expected a photo that has %z %s or more once it is resized, got %z of "
                        "%zx%z pixels: give a larger one",
                        axis.count ? axis.crop : 1, i ? "columns" : "rows", axis.count,
                        pixels->rows, pixels->columns);
    }
    vit_status status = check_channels(pixels, config, why);
    for (size_t c = 0; status == VIT_OK && c < config->channels; c++)
        if (!(config->photo.std[c] > 0))
            return vit_fail(why, VIT_BAD_CONFIG, "prepare.std: number %z is not above 0", c + 1);
    return status;
}

static uint64_t as_is_size(const vit_pixels *pixels, const vit_config *config) {
    (void)pixels, (void)config;
    return 1; /* 0 would mean that the image is refused */
}

static uint64_t photo_size(const vit_pixels *pixels, const vit_config *config) {
    struct photo photo;
    return photo_layout(&photo, NULL, pixels, config);
}

static uint64_t drawing_size(const vit_pixels *pixels, const vit_config *config) {
    struct drawing drawing;
    return drawing_layout(&drawing, NULL, pixels, config->image_size[0], config->image_size[1]);
}

static vit_status prepare_digit(float *image, vit_placement *placement, void *scratch,
                                const vit_pixels *pixels, const vit_config *config,
                                vit_error *why) {
    size_t rows = config->image_size[0], columns = config->image_size[1], n = rows * columns;
    vit_status status = draw_digit(image, placement, scratch, pixels, rows, columns, why);
    for (size_t c = 1; status == VIT_OK && c < config->channels; c++)
        memcpy(image + c * n, image, n * sizeof *image);
    return status;
}

static const struct {
    vit_status (*check)(const vit_pixels *pixels, const vit_config *config, vit_error *why);
    uint64_t (*size)(const vit_pixels *pixels, const vit_config *config);
    vit_status (*prepare)(float *image, vit_placement *placement, void *scratch,
                          const vit_pixels *pixels, const vit_config *config, vit_error *why);
} KINDS[] = {
    [VIT_PREPARE_BYTES] = {check_as_is, as_is_size, prepare_as_is},
    [VIT_PREPARE_DIGIT] = {check_digit, drawing_size, prepare_digit},
    [VIT_PREPARE_PHOTO] = {check_photo, photo_size, prepare_photo},
    [VIT_PREPARE_UNKNOWN] = {check_unknown, NULL, NULL},
};

static vit_status scratch_size(uint64_t *size, const vit_pixels *pixels, const vit_config *config,
                               vit_error *why) {
    vit_status status = check_size(pixels->rows, pixels->columns, pixels->channels, why);
    if (status == VIT_OK) status = KINDS[config->prepare].check(pixels, config, why);
    if (status != VIT_OK) return status;
    *size = KINDS[config->prepare].size(pixels, config);
    if (*size <= SIZE_MAX / 2) return VIT_OK;
    return vit_fail(why, VIT_BAD_IMAGE,
                    "preparing %zx%z pixels takes more memory than there is: give a smaller image",
                    pixels->rows, pixels->columns);
}

size_t vit_prepare_size(const vit_config *config, size_t rows, size_t columns, size_t channels) {
    vit_pixels pixels = {NULL, rows, columns, channels};
    uint64_t size;
    return scratch_size(&size, &pixels, config, NULL) == VIT_OK ? (size_t)size : 0;
}

vit_status vit_prepare_placed(float *image, vit_placement *placement, void *scratch,
                              const vit_pixels *pixels, const vit_config *config, vit_error *why) {
    uint64_t size;
    vit_status status = scratch_size(&size, pixels, config, why);
    if (status != VIT_OK) return status;
    return KINDS[config->prepare].prepare(image, placement, scratch, pixels, config, why);
}

vit_status vit_prepare_image(float *image, void *scratch, const vit_pixels *pixels,
                             const vit_config *config, vit_error *why) {
    vit_placement placement;
    return vit_prepare_placed(image, &placement, scratch, pixels, config, why);
}

void vit_prepare_unfinished(float *image, const vit_config *config) {
    size_t size = config->channels * config->image_size[0] * config->image_size[1];
    for (size_t i = 0; i < size; i++) image[i] *= config->unfinished_ink;
}

vit_status vit_prepare_digit(float *image, void *scratch, const vit_pixels *pixels, size_t rows,
                             size_t columns, vit_error *why) {
    vit_status status = check_size(pixels->rows, pixels->columns, pixels->channels, why);
    if (status != VIT_OK) return status;
    vit_placement placement;
    return draw_digit(image, &placement, scratch, pixels, rows, columns, why);
}
