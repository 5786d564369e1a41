/* Writes numbers into the config of a model's file. All tensors keep their bytes. */
#include "base/error.h"
#include "cli.h"
#include "file/json.h"
#include "file/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* → a copy of a text in which one span is replaced, ended by 0; the caller frees it. */
static char *spliced(const char *text, size_t size, const char *from, const char *to,
                     const char *put) {
    size_t before = (size_t)(from - text), after = size - (size_t)(to - text);
    char *out = malloc(before + strlen(put) + after + 1);
    if (!out) return NULL;
    memcpy(out, text, before);
    strcpy(out + before, put);
    memcpy(out + before + strlen(put), to, after);
    out[before + strlen(put) + after] = '\0';
    return out;
}

/* → the text of a JSON object in which the key has its new number. */
static char *with_number(const char *text, const struct config_number *number) {
    struct json object, value;
    char put[96];
    if (!json_read(&object, text, strlen(text)) || object.type != JSON_OBJECT) return NULL;
    if (json_get(&object, number->key, &value)) {
        snprintf(put, sizeof put, "%.9g", number->value);
        return spliced(text, strlen(text), value.text, value.text + value.size, put);
    }
    const char *brace = object.text + object.size - 1;
    snprintf(put, sizeof put, "%s\"%s\":%.9g", json_length(&object) ? "," : "", number->key,
             number->value);
    return spliced(text, strlen(text), brace, brace, put);
}

/* → the text as a JSON string, with quotes. */
static char *quoted(const char *text) {
    char *out = malloc(JSON_ESCAPED * strlen(text) + 3), *at = out;
    if (!out) return NULL;
    *at++ = '"';
    for (; *text; text++) at += json_escape(at, *text);
    strcpy(at, "\"");
    return out;
}

/* A config as a JSON string → the same with the numbers, again as a JSON string. */
static char *rewritten(const struct json *string, const struct config_number *numbers,
                       size_t count) {
    size_t size;
    char *text = malloc(string->size + 1), *out;
    if (!text || !json_unescape(text, &size, string)) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    for (size_t i = 0; text && i < count; i++) {
        out = with_number(text, &numbers[i]);
        free(text);
        text = out;
    }
    out = text ? quoted(text) : NULL;
    free(text);
    return out;
}

/* The file: length, header, data. Spaces end the header, so that the data lies on whole words. */
static uint8_t *join(size_t *out_size, const char *header, const uint8_t *data, size_t data_size) {
    size_t length = strlen(header);
    while (length && strchr(" \t\r\n", header[length - 1])) length--;
    size_t padded = (length + 7) / 8 * 8;
    uint8_t *out = malloc(ST_LENGTH_BYTES + padded + data_size);
    if (!out) return NULL;
    for (size_t i = 0; i < ST_LENGTH_BYTES; i++) out[i] = (uint8_t)((uint64_t)padded >> 8 * i);
    memset(out + ST_LENGTH_BYTES, ' ', padded);
    memcpy(out + ST_LENGTH_BYTES, header, length);
    memcpy(out + ST_LENGTH_BYTES + padded, data, data_size);
    *out_size = ST_LENGTH_BYTES + padded + data_size;
    return out;
}

vit_status model_set_numbers(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
                             const struct config_number *numbers, size_t count, vit_error *why) {
    struct json header, metadata, config;
    size_t length = 0;
    *out = NULL;
    if (size < ST_LENGTH_BYTES || st_length(&length, bytes, size, why) ||
        !json_read(&header, (const char *)bytes + ST_LENGTH_BYTES, length) ||
        !json_get(&header, "__metadata__", &metadata) || !json_get(&metadata, "vitrine", &config))
        return vit_fail(why, VIT_BAD_CONFIG, "__metadata__.vitrine: expected a config, got none");
    const char *text = (const char *)bytes + ST_LENGTH_BYTES;
    char *string = rewritten(&config, numbers, count);
    char *new_header =
        string ? spliced(text, length, config.text, config.text + config.size, string) : NULL;
    if (new_header)
        *out = join(out_size, new_header, bytes + ST_LENGTH_BYTES + length,
                    size - ST_LENGTH_BYTES - length);
    free(new_header);
    free(string);
    return *out ? VIT_OK : vit_fail(why, VIT_NO_MEMORY, "no memory to write the config");
}
