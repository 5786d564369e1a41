/* Every key of config.def is read, has its default, and is printed so that it can be read again. */
#include "check.h"
#include "file/config.h"
#include "models.h"
#include "shapes.h"

static const struct row {
    const char *key, *type, *of;
    const char *otherwise; /* JSON text; NULL: the key is required */
    bool photo, derived, text;
} ROWS[] = {
#define VIT_REQUIRED(key, type, of) {#key, #type, #of, NULL, false, false, false},
#define VIT_DERIVED(key, type, of, from) {#key, #type, #of, NULL, false, true, false},
#define VIT_KEY(key, type, of, standard) {#key, #type, #of, #standard, false, false, false},
#define VIT_PHOTO(key, type, of, standard) {#key, #type, #of, #standard, true, false, false},
#define VIT_TEXT(key, type, of, standard) {#key, #type, #of, #standard, false, false, true},
#include "config.def"
};

/* What messages say of a type's values. */
static const char *const TYPES[][2] = {
#define VIT_TYPE(type, values, typescript) {#type, values},
#define VIT_PHOTO_TYPE VIT_TYPE
#define VIT_TEXT_TYPE VIT_TYPE
#include "config.def"
};

/* A list's name, then its words. */
static const struct {
    const char *list, *word;
} WORDS[] = {
#define VIT_WORDS(name) {#name, NULL},
#define VIT_WORD(constant, word) {NULL, #word},
#define VIT_NO_WORD(constant)
#define VIT_WORDS_END(name) {"", NULL},
#include "config.def"
};

enum { COUNT = sizeof ROWS / sizeof *ROWS };

static const char *expected_of(const struct row *row) {
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i][0], row->type) == 0) return TYPES[i][1];
    return "";
}

/* → the value number `index` that is tried of a key, as JSON; false past the last. */
static bool value_of(char out[64], const struct row *row, size_t index) {
    static const char *const BOOLS[] = {"false", "true"};
    size_t at = 0;
    if (strcmp(row->type, "BOOL") == 0 && index < 2) return strcpy(out, BOOLS[index]);
    if (strcmp(row->type, "WORD") != 0) return false;
    while (!WORDS[at].list || strcmp(WORDS[at].list, row->of) != 0) at++;
    for (at++; index > 0 && WORDS[at].word; index--) at++;
    return WORDS[at].word && sprintf(out, "\"%s\"", WORDS[at].word);
}

/* ---- Configs ------------------------------------------------------------ */

static const char *const NEEDED[][2] = {
    {"image_size", "[32,48]"},
    {"patch_size", "[16,16]"},
    {"channels", "1"},
    {"width", "12"},
    {"depth", "2"},
    {"heads", "3"},
    {"mlp_width", "17"},
    {"classes", "3"},
};
static const char *const PHOTO[][2] = {
    {"kind", "\"photo\""}, {"mean", "[0]"}, {"resize", "[32,48]"}, {"std", "[1]"}, {"fill", "[9]"}};
static const char *const TEXT[][2] = {{"depth", "2"},      {"width", "12"},
                                      {"heads", "3"},      {"mlp_width", "17"},
                                      {"vocabulary", "3"}, {"max_tokens", "5"}};

/* Appends members. `key` has `value`, or is left out if `value` is NULL. */
static void append(char *out, const char *const (*members)[2], size_t count, const char *key,
                   const char *value) {
    strcat(out, "{");
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i][0], key) != 0)
            sprintf(out + strlen(out), "\"%s\":%s,", members[i][0], members[i][1]);
    if (value) sprintf(out + strlen(out), "\"%s\":%s,", key, value);
    out[strlen(out) - 1] = '}';
}

/* A config of the needed keys and this one. A photo's key stands in its preparation, a text's in
 * `text`. */
static const char *config_with(const struct row *row, const char *value) {
    static char out[1024];
    char inner[512] = "";
    const char *key = row->photo ? "prepare" : row->text ? "text" : row->key;
    out[0] = '\0';
    if (row->photo) append(inner, PHOTO, sizeof PHOTO / sizeof *PHOTO, row->key, value);
    if (row->text) append(inner, TEXT, sizeof TEXT / sizeof *TEXT, row->key, value);
    append(out, NEEDED, sizeof NEEDED / sizeof *NEEDED, key, *inner ? inner : value);
    return out;
}

static vit_status read_text(vit_config *config, const char *json, vit_error *why) {
    *why = (vit_error){""};
    return vit_config_read(config, json, strlen(json), why);
}

/* ---- Keys --------------------------------------------------------------- */

TEST("a config key refuses what it cannot be, and says what it expects") {
    for (size_t i = 0; i < COUNT; i++) {
        const char *expected = expected_of(&ROWS[i]);
        char begin[128];
        vit_config config;
        vit_error why;
        bool object = strcmp(ROWS[i].type, "TEXT") == 0;
        sprintf(begin, "%.*s", (int)strcspn(expected, "%"), expected);
        vit_status status = read_text(&config, config_with(&ROWS[i], object ? "[]" : "{}"), &why);
        CHECK(status == VIT_BAD_CONFIG && strstr(why.text, ROWS[i].key) && strstr(why.text, begin),
              "%s: expected '%s', got '%s'", ROWS[i].key, expected, why.text);
    }
}

TEST("a config key that is left out has its default, or is asked for by name") {
    for (size_t i = 0; i < COUNT; i++) {
        const struct row *row = &ROWS[i];
        vit_config without, with;
        vit_error why;
        vit_status status = read_text(&without, config_with(row, NULL), &why);
        if (row->derived || (row->photo && strcmp(row->otherwise, "resize") == 0)) {
            CHECK(status == VIT_OK, "%s: %s", row->key, why.text);
        } else if (!row->otherwise || strcmp(row->otherwise, "required") == 0) {
            CHECK(status == VIT_BAD_CONFIG && strstr(why.text, row->key) &&
                      strstr(why.text, row->photo ? "expected" : " is missing"),
                  "%s: %s", row->key, why.text);
        } else {
            status = read_text(&with, config_with(row, row->otherwise), &why);
            CHECK(status == VIT_OK, "%s: %s", row->key, why.text);
            CHECK(memcmp(&without, &with, sizeof with) == 0, "%s: not %s", row->key,
                  row->otherwise);
        }
    }
}

/* ---- Out again ---------------------------------------------------------- */

/* → the whole config of a text, terminated; the caller frees it. */
static char *whole(vit_config *config, const char *json) {
    size_t size;
    vit_error why;
    vit_status status = read_text(config, json, &why);
    CHECK(status == VIT_OK, "%s: %s", json, why.text);
    if (status) return calloc(1, 1);
    char *printed = config_print(&size, config, json, strlen(json));
    char *text = calloc(size + 1, 1);
    memcpy(text, printed, size);
    free(printed);
    return text;
}

TEST("a config of sizes alone describes timm's ViT, with biases and learned positions") {
    static const vit_config WANT = {.image_size = {32, 48},
                                    .patch_size = {16, 16},
                                    .channels = 1,
                                    .width = 12,
                                    .depth = 2,
                                    .heads = 3,
                                    .mlp_width = 17,
                                    .classes = 3,
                                    .norm = VIT_PRE,
                                    .norm_eps = 1e-6f,
                                    .final_norm = true,
                                    .activation = VIT_GELU,
                                    .position = VIT_LEARNED,
                                    .position_rows = 7,
                                    .position_grid = {2, 3},
                                    .pool = VIT_POOL_CLASS,
                                    .residual = true,
                                    .qkv_bias = true,
                                    .patch_bias = true,
                                    .head_bias = true,
                                    .class_tokens = 1,
                                    .rotary_base = 100,
                                    .token_width = 64,
                                    .head_activation = VIT_TANH,
                                    .unfinished_ink = 1,
                                    .temperature = 1};
    vit_config got;
    char *printed = whole(&got, config_with(&(struct row){.key = ""}, NULL));
    CHECK(memcmp(&got, &WANT, sizeof got) == 0, "another config: %s", printed);
    free(printed);
}

static void check_whole(const char *json) {
    vit_config first, second;
    char *once = whole(&first, json), *twice = whole(&second, once);
    struct json root = {"", 0, JSON_NULL}, value;
    CHECK(strcmp(once, twice) == 0, "%s\nprinted:       %s\nprinted again: %s", json, once, twice);
    CHECK(json_read(&root, once, strlen(once)), "no JSON: %s", once);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(ROWS[i].photo || ROWS[i].text || json_get(&root, ROWS[i].key, &value),
              "%s is missing", ROWS[i].key);
    first.head_width = head_width(&first);
    first.pool_heads = pool_heads(&first);
    first.pool_mlp_width = pool_mlp_width(&first);
    if (!first.position_size[0])
        memcpy(first.position_size, first.image_size, sizeof first.image_size);
    if (!first.patch_stride[0])
        memcpy(first.patch_stride, first.patch_size, sizeof first.patch_size);
    for (int i = 0; i < 2; i++)
        if (!first.rotary_grid[i]) first.rotary_grid[i] = vit_grid(&first, i);
    CHECK(memcmp(&first, &second, sizeof first) == 0, "another config: %s", once);
    free(once);
    free(twice);
}

TEST("a whole config that is printed and read again is the same, by each word of each key") {
    for (size_t i = 0; i < COUNT; i++) {
        char value[64], member[128];
        for (size_t j = 0; value_of(value, &ROWS[i], j); j++) {
            const char *json = config_with(&ROWS[i], value);
            vit_config config;
            check_whole(json);
            char *printed = whole(&config, json);
            sprintf(member, "\"%s\":%s", ROWS[i].key, value);
            CHECK(strstr(printed, member), "%s: not %s", printed, member);
            free(printed);
        }
    }
    for (size_t i = 0; i < CONFIGS_COUNT; i++) check_whole(config_json(&CONFIGS[i].config));
}

TEST("what a config has besides its keys is printed as it is, and so are numbers and lists") {
    static const char REST[] = ",\"seed\":1.50,\"re\\u0063ipe\":{ \"width\": [1, 2] }}";
    static const char *const VERBATIM[] = {"\"norm_eps\":1.0E-5,",
                                           "\"labels\":[\"\\u00e4\", \"b\"],",
                                           "\"stem\":[3,[4,1]],",
                                           "\"prefix\":[ \"class\" ],",
                                           "\"temperature\":2.50,",
                                           "\"head_width\":4,",
                                           "\"position_size\":[4,8],",
                                           "\"problem_type\":\"single_label_classification\",",
                                           "\"prepare\":{\"kind\":\"bytes\"},"};
    vit_config config;
    char *printed = whole(
        &config, "{\"seed\":1.50,\"stem\":[3,[4,1]],\"norm_eps\":1.0E-5,\"image_size\":[ 4, 8 ],"
                 "\"patch_size\":[2,4],\"channels\":1,\"width\":12,\"depth\":1,\"heads\":3,"
                 "\"re\\u0063ipe\":{ \"width\": [1, 2] },\"mlp_width\":5,\"classes\":2,"
                 "\"labels\":[\"\\u00e4\", \"b\"],\"prefix\":[ \"class\" ],\"temperature\":2.50}");
    for (size_t i = 0; i < sizeof VERBATIM / sizeof *VERBATIM; i++)
        CHECK(strstr(printed, VERBATIM[i]), "%s lacks %s", printed, VERBATIM[i]);
    CHECK(ends_with(printed, REST), "%s does not end with %s", printed, REST);
    free(printed);
}

TEST("a model of one class without a problem_type is printed as multi-label, with its number") {
    vit_config config;
    const struct row classes = {.key = "classes"};
    char *printed = whole(&config, config_with(&classes, "1"));
    CHECK(strstr(printed, "\"problem_type\":\"multi_label_classification\""), "%s", printed);
    CHECK(strstr(printed, "\"labels\":[\"0\"]"), "%s", printed);
    free(printed);
}
