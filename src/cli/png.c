/* Reads and writes PNG files. A small file can announce a huge image, so the size is checked before
 * memory is taken for pixels. Chunks that do not change the pixels are skipped. */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "cli.h"
#include "train/files.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* web/cli/photos.ts has the same limits. A real photo has at least a byte for 32 pixels. */
enum { MOST_PIXELS = 1 << 28, ALWAYS_PIXELS = 1 << 23, PIXELS_A_BYTE = 32, MOST_SIDE = 1 << 15 };

struct reader {
    png_structp png;
    png_infop info;
    FILE *file;
    size_t file_size;
    vit_pixels pixels;
    uint8_t *bytes;
    char message[120]; /* libpng's error message */
    vit_error *why;
};

static void on_error(png_structp png, png_const_charp message) {
    struct reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static void keep_few_chunks(png_structp png) {
    static const png_byte kept[] = "gAMA\0cHRM\0sRGB";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_AS_DEFAULT, kept, 3);
}

static vit_status check_size(const struct reader *reader, size_t rows, size_t columns) {
    size_t most = ALWAYS_PIXELS, size = reader->file_size == SIZE_OF_PIPE ? 0 : reader->file_size;
    if (size > ALWAYS_PIXELS / PIXELS_A_BYTE)
        most = size < MOST_PIXELS / PIXELS_A_BYTE ? size * PIXELS_A_BYTE : MOST_PIXELS;
    if (rows <= MOST_SIDE && columns <= MOST_SIDE && rows * columns <= most) return VIT_OK;
    return vit_fail(reader->why, VIT_BAD_IMAGE,
                    "%zx%z pixels: expected at most %z rows and columns, and in a file of %z bytes "
                    "at most %z pixels; make it smaller",
                    columns, rows, (size_t)MOST_SIDE, size, most);
}

/* Pixels become 8-bit sRGB, by the file's gamma if it has one. Without one, 16-bit pixels are taken
 * for sRGB too, not for linear light. */
static void set_transforms(struct reader *reader) {
    png_structp png = reader->png;
    png_set_alpha_mode(png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
    png_set_expand(png);
    png_set_scale_16(png);
}

/* Decodes each row to its final place. There is no second copy, even if the image is interlaced. */
static vit_status read_rows(struct reader *reader) {
    png_structp png = reader->png;
    png_init_io(png, reader->file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    keep_few_chunks(png);
    png_read_info(png, reader->info);
    size_t rows = png_get_image_height(png, reader->info);
    size_t columns = png_get_image_width(png, reader->info);
    vit_status status = check_size(reader, rows, columns);
    if (status) return status;
    set_transforms(reader);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    size_t channels = png_get_channels(png, reader->info);
    reader->pixels = (vit_pixels){NULL, rows, columns, channels};
    reader->bytes = malloc(rows * columns * channels);
    if (!reader->bytes) return vit_fail(reader->why, VIT_NO_MEMORY, "no memory for its pixels");
    while (passes-- > 0)
        for (size_t y = 0; y < rows; y++)
            png_read_row(png, reader->bytes + y * columns * channels, NULL);
    return VIT_OK;
}

/* A function of its own, because a variable that changes after setjmp would be lost by the jump. */
static vit_status read_or_jump(struct reader *reader) {
    if (!reader->info || setjmp(png_jmpbuf(reader->png)))
        return vit_fail(reader->why, VIT_BAD_IMAGE, "expected a whole PNG, got a damaged one: %s",
                        reader->message[0] ? reader->message : "no memory");
    return read_rows(reader);
}

vit_status read_png(vit_pixels *pixels, uint8_t **bytes, const char *path, vit_error *why) {
    vit_error inner = {""};
    struct reader reader = {.why = &inner};
    int fd;
    *bytes = NULL;
    vit_status status = open_input(&fd, &reader.file_size, path, why);
    if (status) return status;
    reader.file = fdopen(fd, "rb");
    reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
    reader.info = reader.png ? png_create_info_struct(reader.png) : NULL;
    if (reader.file && reader.info)
        status = read_or_jump(&reader);
    else
        status = vit_fail(&inner, VIT_NO_MEMORY, "no memory to read it");
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    if (reader.file)
        fclose(reader.file);
    else
        close(fd);
    *pixels = reader.pixels;
    pixels->data = reader.bytes;
    if (status) free(reader.bytes);
    if (status) return vit_fail(why, status, "%s: %s", path, inner.text);
    *bytes = reader.bytes;
    return VIT_OK;
}

vit_status write_png(const char *path, const vit_pixels *pixels, vit_error *why) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)pixels->columns,
                       .height = (png_uint_32)pixels->rows,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(size);
    vit_status status = VIT_OK;
    if (!bytes || !png_image_write_to_memory(&image, bytes, &size, 0, pixels->data, 0, NULL))
        status = vit_fail(why, VIT_NO_MEMORY, "%s: cannot be written: %s", path,
                          bytes ? image.message : "no memory");
    if (!status) status = write_file(path, bytes, size, why);
    free(bytes);
    return status;
}
