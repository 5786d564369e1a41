/* Writes where a model comes from, as JSON: vit_model_origin. */
#include "origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "complete.h"
#include "json.h"
#include "match.h"
#include "model.h"
#include "naming.h"
#include "safetensors.h"
#include "vit.h"

enum { ROOM = 512 }; /* bytes, without the names of skipped tensors */

static size_t escaped_size(const char *text, size_t size) {
    char escaped[JSON_ESCAPED];
    size_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += json_escape(escaped, text[i]);
    return sum;
}

/* Writes "text", after a comma unless it is the first element. */
static void put_element(struct text *out, const char *text, size_t size, bool first) {
    char escaped[JSON_ESCAPED];
    put_words(out, first ? "\"" : ",\"");
    for (size_t i = 0; i < size; i++) put(out, escaped, json_escape(escaped, text[i]));
    put_words(out, "\"");
}

static const char *projection_of(const vit_config *c, const struct names *names) {
    switch (names ? names_habits(names)->projection : PROJECTION_NONE) {
    case PROJECTION_HEAD: return c->classes ? "\"head\"" : "\"pooled\"";
    case PROJECTION_POOLED: return c->classes ? "null" : "\"pooled\"";
    default: return "null";
    }
}

vit_status model_set_origin(vit_model *m, const struct placement *places, size_t count,
                            const struct names *names, const struct assumed *assumed,
                            vit_error *why) {
    size_t room = ROOM, skipped = 0;
    for (size_t i = 0; i < count; i++)
        if (places[i].where == PLACE_SKIPPED)
            room += 3 + escaped_size(places[i].tensor->name, places[i].tensor->name_size);
    if (!(m->origin = malloc(room)))
        return vit_fail(why, VIT_NO_MEMORY, "no memory for the names of skipped tensors");
    struct text out = {m->origin, m->origin + room};
    put_words(&out, "{\"family\":\"");
    put_words(&out, names ? names_family(names) : "vitrine");
    put_words(&out, "\",\"projection\":");
    put_words(&out, projection_of(&m->config, names));
    put_words(&out, ",\"assumed\":[");
    for (size_t i = 0; i < assumed->count; i++)
        put_element(&out, assumed->keys[i], strlen(assumed->keys[i]), i == 0);
    put_words(&out, "],\"skipped\":[");
    for (size_t i = 0; i < count; i++) {
        const struct st_tensor *t = places[i].tensor;
        if (places[i].where == PLACE_SKIPPED) put_element(&out, t->name, t->name_size, !skipped++);
    }
    put_words(&out, "]}");
    m->origin_size = (size_t)(out.at - m->origin);
    m->bytes += room;
    return VIT_OK;
}
