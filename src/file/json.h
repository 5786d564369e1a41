/* JSON read in place (RFC 8259): one strict check of the whole text, then views into it.
 * Nothing is allocated. */
#ifndef VIT_JSON_H
#define VIT_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;

/* A value inside a checked text; strings keep their quotes and escapes. */
struct json {
    const char *text;
    size_t size;
    json_type type;
};

/* Walks the members of an object or the elements of an array. */
struct json_walk {
    const char *at, *end;
    bool object;
};

/* Checks that `text` is one JSON value, nested at most 32 deep, and views it. */
bool json_read(struct json *value, const char *text, size_t size);

struct json_walk json_walk(const struct json *container);
/* False at the end. `key` is a JSON_STRING for objects; may be NULL. */
bool json_next(struct json_walk *walk, struct json *key, struct json *value);
/* An object's last member of that name, which is the one that JavaScript and Python take. */
bool json_get(const struct json *object, const char *key, struct json *value);
size_t json_length(const struct json *container);

bool json_is(const struct json *string, const char *text);
/* Unescapes into out (UTF-8, not terminated), whose capacity must be >= value->size.
 * False where an escape makes no character. */
bool json_unescape(char *out, size_t *size, const struct json *string);
/* A character of a string as its text has it; returns how many bytes that takes. */
enum { JSON_ESCAPED = 6 };
size_t json_escape(char out[JSON_ESCAPED], char c);
double json_number(const struct json *number);
/* A whole number of at most `max`; false for anything else. */
bool json_size(const struct json *number, size_t max, size_t *out);

#endif
