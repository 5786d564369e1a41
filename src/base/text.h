/* Builds text in a buffer of fixed size. What does not fit is cut off. */
#ifndef VIT_TEXT_H
#define VIT_TEXT_H

#include <stddef.h>
#include <string.h>

struct text {
    char *at, *end;
};

static inline void put(struct text *out, const char *s, size_t n) {
    size_t room = (size_t)(out->end - out->at);
    if (n > room) n = room;
    memcpy(out->at, s, n);
    out->at += n;
}

static inline void put_words(struct text *out, const char *s) {
    put(out, s, strlen(s));
}

static inline void put_size(struct text *out, size_t value) {
    char digits[24], *p = digits + sizeof digits;
    do *--p = (char)('0' + value % 10);
    while (value /= 10);
    put(out, p, (size_t)(digits + sizeof digits - p));
}

#endif
