/* Makes text from outside safe to print on a terminal. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* → how many bytes the UTF-8 sequence at the start of s (n) has, and its code point; 0 if there is
 * no valid one. Overlong forms and surrogates are not valid: RFC 3629. */
static size_t decode(uint32_t *point, const unsigned char *s, size_t n) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (size == 0 || size > n || s[0] > 0xf4) return 0;
    *point = size == 1 ? s[0] : s[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        *point = *point << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point < least[size] || *point > 0x10ffff || surrogate ? 0 : size;
}

/* True of controls, of separators of lines and paragraphs, and of marks that turn the direction of
 * text. */
static bool needs_escape(uint32_t c) {
    static const uint32_t ranges[][2] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

void show(FILE *out, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    size_t size = strlen(text);
    for (size_t i = 0, n; i < size; i += n) {
        uint32_t point = 0;
        n = decode(&point, s + i, size - i);
        if (n == 0)
            fprintf(out, "\\x%02x", s[i]), n = 1;
        else if (needs_escape(point))
            fprintf(out, "\\u%04x", (unsigned)point);
        else
            fwrite(s + i, 1, n, out);
    }
}

int fail(const vit_error *why) {
    fprintf(stderr, "vit: ");
    show(stderr, why->text);
    fprintf(stderr, "\n");
    return EXIT_FAILED;
}
