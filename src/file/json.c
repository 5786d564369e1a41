#include "json.h"

#include <stdint.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

static const char *skip_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    return p;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Each check_* returns the end of the part that it checked, or NULL if that part is wrong. */
static const char *check_string(const char *p, const char *end) {
    if (p == end || *p++ != '"') return NULL;
    while (p < end && *p != '"') {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p++ != '\\') continue;
        if (p == end) return NULL;
        if (*p == 'u') {
            if (end - p < 5) return NULL;
            for (int i = 1; i <= 4; i++)
                if (hex_digit(p[i]) < 0) return NULL;
            p += 5;
        } else if (memchr("\"\\/bfnrt", *p, 8)) {
            p++;
        } else {
            return NULL;
        }
    }
    return p < end ? p + 1 : NULL;
}

static const char *check_digits(const char *p, const char *end) {
    const char *start = p;
    while (p < end && is_digit(*p)) p++;
    return p > start ? p : NULL;
}

static const char *check_number(const char *p, const char *end) {
    if (p < end && *p == '-') p++;
    if (p < end && *p == '0') {
        p++;
    } else if (!(p = check_digits(p, end))) {
        return NULL;
    }
    if (p < end && *p == '.' && !(p = check_digits(p + 1, end))) return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        p = check_digits(p, end);
    }
    return p;
}

static const char *check_value(const char *p, const char *end, int depth);

static const char *check_container(const char *p, const char *end, int depth) {
    bool object = *p == '{';
    char close = object ? '}' : ']';
    if (depth == MAX_DEPTH) return NULL;
    p = skip_space(p + 1, end);
    if (p < end && *p == close) return p + 1;
    for (;;) {
        if (object) {
            if (!(p = check_string(p, end))) return NULL;
            p = skip_space(p, end);
            if (p == end || *p++ != ':') return NULL;
            p = skip_space(p, end);
        }
        if (!(p = check_value(p, end, depth + 1))) return NULL;
        p = skip_space(p, end);
        if (p == end) return NULL;
        if (*p == close) return p + 1;
        if (*p++ != ',') return NULL;
        p = skip_space(p, end);
    }
}

static const struct {
    const char *text;
    json_type type;
} WORDS[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};

static json_type type_of(char first) {
    switch (first) {
    case '{': return JSON_OBJECT;
    case '[': return JSON_ARRAY;
    case '"': return JSON_STRING;
    case 'n': return JSON_NULL;
    case 'f': return JSON_FALSE;
    case 't': return JSON_TRUE;
    default: return JSON_NUMBER;
    }
}

static const char *check_value(const char *p, const char *end, int depth) {
    if (p == end) return NULL;
    switch (type_of(*p)) {
    case JSON_OBJECT:
    case JSON_ARRAY: return check_container(p, end, depth);
    case JSON_STRING: return check_string(p, end);
    case JSON_NUMBER: return check_number(p, end);
    default: break;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t n = strlen(WORDS[i].text);
        if ((size_t)(end - p) >= n && !memcmp(p, WORDS[i].text, n)) return p + n;
    }
    return NULL;
}

bool json_read(struct json *value, const char *text, size_t size) {
    const char *end = text + size, *p = skip_space(text, end);
    const char *stop = check_value(p, end, 0);
    if (!stop || skip_space(stop, end) != end) return false;
    *value = (struct json){p, (size_t)(stop - p), type_of(*p)};
    return true;
}

struct json_walk json_walk(const struct json *container) {
    if (container->type != JSON_OBJECT && container->type != JSON_ARRAY)
        return (struct json_walk){container->text, container->text, false};
    const char *last = container->text + container->size - 1;
    return (struct json_walk){skip_space(container->text + 1, last), last,
                              container->type == JSON_OBJECT};
}

/* The text is already checked, so the check_* functions only find where a value ends. */
bool json_next(struct json_walk *walk, struct json *key, struct json *value) {
    const char *p = walk->at, *end = walk->end;
    if (p >= end) return false;
    if (walk->object) {
        const char *stop = check_string(p, end);
        if (key) *key = (struct json){p, (size_t)(stop - p), JSON_STRING};
        p = skip_space(skip_space(stop, end) + 1, end);
    }
    const char *stop = check_value(p, end, 0);
    *value = (struct json){p, (size_t)(stop - p), type_of(*p)};
    p = skip_space(stop, end);
    walk->at = p < end ? skip_space(p + 1, end) : end;
    return true;
}

bool json_get(const struct json *object, const char *key, struct json *value) {
    struct json name, member;
    bool found = false;
    if (object->type != JSON_OBJECT) return false;
    for (struct json_walk walk = json_walk(object); json_next(&walk, &name, &member);) {
        if (!json_is(&name, key)) continue;
        *value = member;
        found = true;
    }
    return found;
}

size_t json_length(const struct json *container) {
    struct json value;
    size_t n = 0;
    for (struct json_walk walk = json_walk(container); json_next(&walk, NULL, &value);) n++;
    return n;
}

static uint32_t read_hex4(const char *p) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) code = code << 4 | (uint32_t)hex_digit(p[i]);
    return code;
}

static size_t put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(0xf0u << (4 - n) | code);
    return n;
}

/* Reads the character at *p, escaped or not, into out (at most 4 bytes). → how many bytes it has; 0
 * if an escape makes no character. */
static size_t read_char(char *out, const char **p) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *s = *p;
    if (*s != '\\') {
        *p = s + 1;
        *out = *s;
        return 1;
    }
    if (s[1] != 'u') {
        *p = s + 2;
        *out = bytes[(const char *)memchr(names, s[1], sizeof names - 1) - names];
        return 1;
    }
    uint32_t code = read_hex4(s + 2);
    s += 6;
    if (code >= 0xdc00 && code < 0xe000) return 0;
    if (code >= 0xd800 && code < 0xdc00) { /* a surrogate pair */
        if (s[0] != '\\' || s[1] != 'u') return 0;
        uint32_t low = read_hex4(s + 2);
        if (low < 0xdc00 || low >= 0xe000) return 0;
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        s += 6;
    }
    *p = s;
    return put_utf8(out, code);
}

size_t json_escape(char out[JSON_ESCAPED], char c) {
    static const char hex[] = "0123456789abcdef";
    unsigned char u = (unsigned char)c;
    if (u < 0x20) {
        memcpy(out, (char[]){'\\', 'u', '0', '0', hex[u >> 4], hex[u & 15]}, 6);
        return 6;
    }
    bool quoted = c == '"' || c == '\\';
    out[0] = '\\';
    out[quoted] = c;
    return quoted + 1u;
}

bool json_unescape(char *out, size_t *size, const struct json *string) {
    const char *p = string->text + 1, *end = string->text + string->size - 1;
    size_t n = 0;
    while (p < end) {
        size_t put = read_char(out + n, &p);
        if (!put) return false;
        n += put;
    }
    *size = n;
    return true;
}

bool json_is(const struct json *string, const char *text) {
    if (string->type != JSON_STRING) return false;
    const char *p = string->text + 1, *end = string->text + string->size - 1;
    while (p < end) {
        char c[4];
        size_t n = read_char(c, &p);
        if (!n || !*c || strncmp(text, c, n) != 0) return false;
        text += n;
    }
    return *text == '\0';
}

double json_number(const struct json *number) {
    const char *p = number->text, *end = p + number->size;
    bool negative = *p == '-';
    uint64_t digits = 0;
    int exponent = 0, exponent_part = 0;
    bool fraction = false;
    for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = true;
        } else if (digits < UINT64_MAX / 10 - 1) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            exponent -= fraction;
        } else {
            exponent += !fraction;
        }
    }
    if (p < end) {
        bool minus = *++p == '-';
        for (p += minus || *p == '+'; p < end; p++)
            if (exponent_part < 10000) exponent_part = exponent_part * 10 + (*p - '0');
        exponent += minus ? -exponent_part : exponent_part;
    }
    double value = (double)digits, power = 1, base = 10;
    for (unsigned e = (unsigned)(exponent < 0 ? -exponent : exponent); e && value != 0; e >>= 1) {
        if (e & 1) power *= base;
        base *= base;
    }
    value = exponent < 0 ? value / power : value * (value != 0 ? power : 1);
    return negative ? -value : value;
}

bool json_size(const struct json *number, size_t max, size_t *out) {
    if (number->type != JSON_NUMBER || number->size > 20) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < number->size; i++) {
        if (!is_digit(number->text[i])) return false;
        uint64_t digit = (uint64_t)(number->text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (value > max) return false;
    *out = (size_t)value;
    return true;
}
