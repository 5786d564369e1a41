#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/text.h"
#include "json.h"
#include "safetensors.h"
#include "vit.h"

enum { ENTRIES_MOST = 100000 };

struct name {
    const char *text; /* ended by 0 */
    size_t size;
};

/* A parameter and the tensors that make it. */
struct map_entry {
    struct name name;
    struct {
        struct name name;
        const struct st_tensor *tensor; /* NULL: the file has none of this name */
    } sources[MAP_SOURCES];
    size_t count;
};

/* ---- Reading ------------------------------------------------------------ */

enum member { FAMILY, STRICT, MATRIX_PATCHES, TENSORS, TRANSPOSED, SKIPPED, MEMBERS };
static const struct {
    const char *name;
    json_type type; /* JSON_TRUE: true or false */
} KNOWN[MEMBERS] = {[FAMILY] = {"family", JSON_STRING},
                    [STRICT] = {"strict", JSON_TRUE},
                    [MATRIX_PATCHES] = {"matrix_patches", JSON_TRUE},
                    [TENSORS] = {"tensors", JSON_OBJECT},
                    [TRANSPOSED] = {"transposed", JSON_ARRAY},
                    [SKIPPED] = {"skipped", JSON_ARRAY}};

struct reader {
    struct tensor_map *map;
    struct json members[MEMBERS];
    char *text;    /* where the next name goes */
    bool *claimed; /* (st->count): the tensors that the map has named */
    vit_error *why;
};

static vit_status read_members(struct reader *r, const char *json, size_t size) {
    struct json root, key, value;
    bool found[MEMBERS] = {false};
    if (!json_read(&root, json, size) || root.type != JSON_OBJECT)
        return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: expected a JSON object");
    for (struct json_walk walk = json_walk(&root); json_next(&walk, &key, &value);) {
        size_t i = 0;
        while (i < MEMBERS && !json_is(&key, KNOWN[i].name)) i++;
        if (i == MEMBERS || found[i])
            return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: %t: is unknown or there twice",
                            key.text, key.size);
        if (value.type != KNOWN[i].type && (KNOWN[i].type != JSON_TRUE || value.type != JSON_FALSE))
            return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: %s: has a wrong type: %t",
                            KNOWN[i].name, value.text, value.size);
        found[i] = true;
        r->members[i] = value;
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (!found[i])
            return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: %s is missing", KNOWN[i].name);
    return VIT_OK;
}

/* Unescapes a name and keeps it. */
static vit_status keep_name(struct reader *r, struct name *out, const struct json *string) {
    out->text = r->text;
    if (string->type != JSON_STRING || !json_unescape(r->text, &out->size, string) ||
        out->size > MAP_NAME_MOST)
        return vit_fail(r->why, VIT_BAD_ARGUMENT,
                        "map: expected a name of at most %z bytes, got %t", (size_t)MAP_NAME_MOST,
                        string->text, string->size);
    r->text[out->size] = '\0';
    r->text += out->size + 1;
    return VIT_OK;
}

/* Finds the tensor of this name, which the map may name only once. *out is NULL if the file has
 * none. */
static vit_status claim(struct reader *r, const struct st_tensor **out, const struct name *name) {
    const struct safetensors *st = r->map->st;
    const struct st_tensor *t = *out = st_find(st, name->text, name->size);
    if (t && r->claimed[t - st->tensors])
        return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: tensor \"%t\" is there twice", name->text,
                        name->size);
    if (t) r->claimed[t - st->tensors] = true;
    return VIT_OK;
}

static vit_status read_entry(struct reader *r, struct map_entry *entry, const struct json *key,
                             const struct json *value) {
    struct json source;
    size_t most = value->type == JSON_ARRAY ? json_length(value) : 0;
    if (most < 1 || most > MAP_SOURCES)
        return vit_fail(r->why, VIT_BAD_ARGUMENT,
                        "map: tensors: expected 1 to %z names for %t, got %t", (size_t)MAP_SOURCES,
                        key->text, key->size, value->text, value->size);
    vit_status status = keep_name(r, &entry->name, key);
    for (struct json_walk walk = json_walk(value); !status && json_next(&walk, NULL, &source);) {
        size_t i = entry->count++;
        status = keep_name(r, &entry->sources[i].name, &source);
        if (!status) status = claim(r, &entry->sources[i].tensor, &entry->sources[i].name);
    }
    return status;
}

static int compare(const struct name *a, const struct name *b) {
    return st_compare_names(a->text, a->size, b->text, b->size);
}

static int by_name(const void *a, const void *b) {
    return compare(&((const struct map_entry *)a)->name, &((const struct map_entry *)b)->name);
}

static vit_status read_entries(struct reader *r) {
    struct tensor_map *map = r->map;
    struct json key, value;
    vit_status status = VIT_OK;
    for (struct json_walk walk = json_walk(&r->members[TENSORS]);
         !status && json_next(&walk, &key, &value);)
        status = read_entry(r, &map->entries[map->count++], &key, &value);
    if (status) return status;
    sort(map->entries, map->count, sizeof *map->entries, by_name);
    for (size_t i = 1; i < map->count; i++)
        if (by_name(&map->entries[i - 1], &map->entries[i]) == 0)
            return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: tensors: \"%t\" is there twice",
                            map->entries[i].name.text, map->entries[i].name.size);
    return VIT_OK;
}

/* The matrices that may be transposed: the projections of an image and of a text in OpenAI's CLIP. */
static const char *const MAY_TRANSPOSE[] = {"head.weight", "text.proj.weight"};
enum { MAY_TRANSPOSE_COUNT = sizeof MAY_TRANSPOSE / sizeof *MAY_TRANSPOSE };

bool map_transposes(const struct tensor_map *map, const char *name) {
    for (size_t i = 0; i < MAY_TRANSPOSE_COUNT; i++)
        if (map->transposed >> i & 1 && !strcmp(MAY_TRANSPOSE[i], name)) return true;
    return false;
}

static vit_status read_lists(struct reader *r) {
    struct json value;
    struct name name;
    for (struct json_walk walk = json_walk(&r->members[TRANSPOSED]);
         json_next(&walk, NULL, &value);) {
        size_t i = 0;
        while (i < MAY_TRANSPOSE_COUNT && !json_is(&value, MAY_TRANSPOSE[i])) i++;
        if (i == MAY_TRANSPOSE_COUNT)
            return vit_fail(
                r->why, VIT_BAD_ARGUMENT,
                "map: transposed: expected \"head.weight\" or \"text.proj.weight\", got %t",
                value.text, value.size);
        r->map->transposed |= 1u << i;
    }
    for (struct json_walk walk = json_walk(&r->members[SKIPPED]); json_next(&walk, NULL, &value);) {
        const struct st_tensor *t;
        vit_status status = keep_name(r, &name, &value);
        if (!status) status = claim(r, &t, &name);
        if (status) return status;
        if (t) r->map->skipped[t - r->map->st->tensors] = true;
    }
    return VIT_OK;
}

static vit_status read_map(struct reader *r, size_t size) {
    struct tensor_map *map = r->map;
    struct name family;
    size_t entries = json_length(&r->members[TENSORS]), tensors = map->st->count + 1;
    if (entries > ENTRIES_MOST)
        return vit_fail(r->why, VIT_BAD_ARGUMENT, "map: tensors: expected at most %z, got %z",
                        (size_t)ENTRIES_MOST, entries);
    map->entries = calloc(entries + 1, sizeof *map->entries);
    map->skipped = calloc(tensors, 1);
    r->claimed = calloc(tensors, 1);
    r->text = map->text = malloc(size); /* a quoted string shrinks by two and gains a 0 */
    if (!map->entries || !map->skipped || !r->claimed || !map->text)
        return vit_fail(r->why, VIT_NO_MEMORY, "no memory for a map of %z bytes", size);
    vit_status status = keep_name(r, &family, &r->members[FAMILY]);
    map->family = family.text;
    map->strict = r->members[STRICT].type == JSON_TRUE;
    map->matrix_patches = r->members[MATRIX_PATCHES].type == JSON_TRUE;
    if (!status) status = read_entries(r);
    if (!status) status = read_lists(r);
    return status;
}

vit_status map_open(struct tensor_map *map, const struct safetensors *st, const char *json,
                    size_t size, vit_error *why) {
    struct reader r = {.map = map, .why = why};
    *map = (struct tensor_map){.st = st, .strict = true};
    if (!json) return VIT_OK;
    vit_status status = read_members(&r, json, size);
    if (!status) status = read_map(&r, size);
    free(r.claimed);
    return status;
}

void map_close(struct tensor_map *map) {
    free(map->entries);
    free(map->skipped);
    free(map->text);
    *map = (struct tensor_map){0};
}

/* ---- Finding ------------------------------------------------------------ */

static const struct map_entry *entry_of(const struct tensor_map *map, const char *name) {
    const struct name key = {name, strlen(name)};
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&key, &map->entries[middle].name);
        if (order == 0) return &map->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const struct st_tensor *find_joined(const struct tensor_map *map, const char *beginning,
                                           const char *ending) {
    char name[96];
    struct text text = {name, name + sizeof name};
    put_words(&text, beginning);
    put_words(&text, ending);
    return st_find(map->st, name, (size_t)(text.at - name));
}

/* Our own files store the query of the pooling by attention apart from keys and values. */
static size_t own_sources(const struct st_tensor *sources[MAP_SOURCES],
                          const struct tensor_map *map, const char *name) {
    static const char pooling[] = "attn_pool.qkv";
    const size_t n = sizeof pooling - 1;
    sources[0] = find_joined(map, name, "");
    if (sources[0] || strncmp(name, pooling, n)) return sources[0] != NULL;
    sources[0] = find_joined(map, "attn_pool.q", name + n);
    sources[1] = find_joined(map, "attn_pool.kv", name + n);
    return sources[0] && sources[1] ? 2 : 0;
}

size_t map_sources(const struct st_tensor *sources[MAP_SOURCES], const struct tensor_map *map,
                   const char *name) {
    if (!map->entries) return own_sources(sources, map, name);
    const struct map_entry *entry = entry_of(map, name);
    for (size_t i = 0; entry && i < entry->count; i++)
        if (!(sources[i] = entry->sources[i].tensor)) return 0;
    return entry ? entry->count : 0;
}

const struct st_tensor *map_find(const struct tensor_map *map, const char *name) {
    const struct st_tensor *sources[MAP_SOURCES];
    return map_sources(sources, map, name) ? sources[0] : NULL;
}

const char *map_missing(size_t *size, const struct tensor_map *map, const char *name) {
    const struct map_entry *entry = entry_of(map, name);
    for (size_t i = 0; entry && i < entry->count; i++)
        if (!entry->sources[i].tensor) {
            *size = entry->sources[i].name.size;
            return entry->sources[i].name.text;
        }
    *size = strlen(name);
    return name;
}
