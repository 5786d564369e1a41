/* Reads JSON (RFC 8259) in place: json_read checks the whole text once; the other functions make
 * views into it. Nothing is allocated. */
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

/* A view of a value inside a checked text. A string keeps its quotes and escapes. */
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
/* Goes to the next element or member; false at the end. key: becomes a member's name, as a
 * JSON_STRING; may be NULL. */
bool json_next(struct json_walk *walk, struct json *key, struct json *value);
/* Finds an object's member. Of several with this name it takes the last, as JavaScript and Python
 * do. */
bool json_get(const struct json *object, const char *key, struct json *value);
size_t json_length(const struct json *container);

bool json_is(const struct json *string, const char *text);
/* Unescapes a string into out, as UTF-8 without a 0 at the end. out needs room for string->size
 * bytes. False if an escape makes no character. */
bool json_unescape(char *out, size_t *size, const struct json *string);
/* Escapes a byte for a JSON string. → how many bytes are written. */
enum { JSON_ESCAPED = 6 };
size_t json_escape(char out[JSON_ESCAPED], char c);
double json_number(const struct json *number);
/* Reads a whole number from 0 to `max`. False for anything else. */
bool json_size(const struct json *number, size_t max, size_t *out);

#endif
