/* PNG files made by hand, good and bad. Include command.h first. */
#ifndef PNG_FILES_H
#define PNG_FILES_H

#include <zlib.h>

struct bytes {
    uint8_t at[1 << 18];
    size_t size;
};

static inline void put_big_endian(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void add_chunk(struct bytes *png, const char *type, const uint8_t *data,
                             size_t size) {
    uint8_t *at = png->at + png->size;
    if (png->size + size + 12 > sizeof png->at) exit(EXIT_FAILURE);
    put_big_endian(at, (uint32_t)size);
    memcpy(at + 4, type, 4);
    if (size) memcpy(at + 8, data, size);
    put_big_endian(at + 8 + size, (uint32_t)crc32(0, at + 4, (unsigned)size + 4));
    png->size += size + 12;
}

static inline void begin_png(struct bytes *png, uint32_t columns, uint32_t rows, int depth,
                             int colour, bool interlaced) {
    uint8_t header[13] = {0};
    memcpy(png->at, "\x89PNG\r\n\x1a\n", 8);
    png->size = 8;
    put_big_endian(header, columns);
    put_big_endian(header + 4, rows);
    header[8] = (uint8_t)depth, header[9] = (uint8_t)colour, header[12] = interlaced;
    add_chunk(png, "IHDR", header, sizeof header);
}

/* `size` zeros, deflated. */
static inline size_t deflated(uint8_t *out, size_t room, size_t size) {
    static uint8_t zeros[1 << 16];
    z_stream stream = {.next_out = out, .avail_out = (unsigned)room};
    deflateInit(&stream, 9);
    for (size_t n; size > 0; size -= n) {
        n = size < sizeof zeros ? size : sizeof zeros;
        stream.next_in = zeros, stream.avail_in = (unsigned)n;
        deflate(&stream, Z_NO_FLUSH);
    }
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) exit(EXIT_FAILURE);
    deflateEnd(&stream);
    return stream.total_out;
}

static inline void end_png(struct bytes *png, const char *name, size_t inflated) {
    static uint8_t packed[1 << 17];
    if (inflated) add_chunk(png, "IDAT", packed, deflated(packed, sizeof packed, inflated));
    add_chunk(png, "IEND", NULL, 0);
    put_file(file_at(name), png->at, png->size);
}

#endif
