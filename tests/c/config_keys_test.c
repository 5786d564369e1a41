/* The tables of config keys in src/README.md agree with the code that reads a config: they have the
 * same keys, with the same values and defaults. */
#include "check.h"
#include "file/config.h"
#include "vit.h"

static const char README[] = GOLDEN_DIR "/../../src/README.md";
static const char SOURCE[] = GOLDEN_DIR "/../../src/file/config.c";

/* The text of a file. The caller frees it. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 18);
    if (!file || !text || fread(text, 1, (1 << 18) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return text;
}

/* ---- The tables --------------------------------------------------------- */

enum { ROWS_MOST = 64, CELL = 160 };
struct row {
    char key[CELL], values[CELL], standard[CELL];
};
static struct row rows[ROWS_MOST];
static size_t row_count;

/* Copies a cell's text up to the next bar, without backticks and outer spaces. Returns the place
 * after the bar. */
static const char *read_cell(char out[CELL], const char *at) {
    size_t n = 0;
    for (at += strspn(at, " "); *at && *at != '|' && *at != '\n'; at++)
        if (*at != '`' && n < CELL - 1) out[n++] = *at;
    while (n > 0 && out[n - 1] == ' ') n--;
    out[n] = '\0';
    return *at == '|' ? at + 1 : at;
}

/* Reads the rows whose first cell is a key, on the first call only. */
static void read_tables(void) {
    if (row_count) return;
    char *text = read_text(README);
    const char *line = strstr(text, "\n## Config keys\n");
    for (; line && row_count < ROWS_MOST; line = strstr(line + 1, "\n| `")) {
        if (strncmp(line, "\n| `", 4)) continue;
        struct row *row = &rows[row_count++];
        read_cell(row->standard, read_cell(row->values, read_cell(row->key, line + 2)));
    }
    free(text);
}

static const struct row *find_row(const char *key) {
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].key, key) == 0) return &rows[i];
    return NULL;
}

/* ---- Configs ------------------------------------------------------------ */

static const char PREPARE[] = "prepare.";
static const char *const NEEDED[][2] = {
    {"image_size", "[6,9]"},
    {"patch_size", "[3,3]"},
    {"channels", "1"},
    {"width", "12"},
    {"depth", "2"},
    {"heads", "3"},
    {"mlp_width", "17"},
    {"classes", "3"},
    {"prepare.kind", "\"photo\""},
    {"prepare.mean", "[0]"},
    {"prepare.resize", "[6,9]"},
    {"prepare.std", "[1]"},
};

static bool is_of_prepare(const char *key) {
    return strncmp(key, PREPARE, strlen(PREPARE)) == 0;
}

/* Appends the keys that a config needs, those of `prepare` or the others. `key` has `value`, or is
 * left out if `value` is NULL. */
static void append_keys(char *out, bool prepare, const char *key, const char *value) {
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++) {
        const char *name = NEEDED[i][0];
        if (is_of_prepare(name) != prepare || strcmp(name, key) == 0) continue;
        sprintf(out + strlen(out), "\"%s\":%s,", name + (prepare ? strlen(PREPARE) : 0),
                NEEDED[i][1]);
    }
    if (value && is_of_prepare(key) == prepare)
        sprintf(out + strlen(out), "\"%s\":%s,", key + (prepare ? strlen(PREPARE) : 0), value);
    out[strlen(out) - 1] = '}';
}

/* Reads a config of the needed keys and `key` with `value`. A key of `prepare` stands in a photo's
 * preparation. */
static vit_status read_with(vit_config *config, const char *key, const char *value,
                            vit_error *why) {
    char json[1024] = "{", photo[512] = "{";
    append_keys(photo, true, key, value);
    if (is_of_prepare(key)) sprintf(json, "{\"prepare\":%s,", photo);
    append_keys(json, false, key, value);
    memset(config, 0, sizeof *config);
    *why = (vit_error){""};
    return vit_config_read(config, json, strlen(json), why);
}

/* ---- The table agrees with the code -------------------------------------- */

TEST("the code reads every config key in the README's table") {
    read_tables();
    CHECK(row_count >= 40, "only %zu rows", row_count);
    for (size_t i = 0; i < row_count; i++) {
        const char *key = rows[i].key;
        char quoted[CELL + 2];
        struct json name;
        snprintf(quoted, sizeof quoted, "\"%.*s\"", CELL - 1, key);
        if (!is_of_prepare(key))
            CHECK(json_read(&name, quoted, strlen(quoted)) && config_has_key(&name),
                  "the code does not read the key %s", key);
        CHECK(find_row(key) == &rows[i], "the table has %s twice", key);
    }
}

TEST("a config key has the same values in the README's table as in its error message") {
    static const char *const BEFORE[] = {"expected ", "expected one of ", "expected mean and std, ",
                                         "expected 3 " /* classes */};
    read_tables();
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        const char *name = is_of_prepare(row->key) ? "prepare" : row->key;
        vit_config config;
        vit_error why;
        vit_status status = read_with(&config, row->key, "{}", &why);
        bool same = false;
        for (size_t j = 0; j < sizeof BEFORE / sizeof *BEFORE; j++) {
            char wanted[2 * CELL];
            snprintf(wanted, sizeof wanted, "%s%s", BEFORE[j], row->values);
            const char *at = strstr(why.text, wanted);
            same |= at && (at[strlen(wanted)] == ',' || at[strlen(wanted)] == '\0');
        }
        CHECK(status == VIT_BAD_CONFIG && strstr(why.text, name), "%s: {}: %s", row->key, why.text);
        CHECK(same, "%s: the table says '%s', the code '%s'", row->key, row->values, why.text);
    }
}

TEST("a config key that is left out has the default in the README's table") {
    size_t needed = 0, without = 0;
    read_tables();
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        vit_config left_out, given;
        vit_error why;
        vit_status status = read_with(&left_out, row->key, NULL, &why);
        if (strcmp(row->standard, "required") == 0) {
            CHECK(status == VIT_BAD_CONFIG, "%s is not required", row->key);
            needed++;
            continue;
        }
        CHECK(status == VIT_OK, "%s is required: %s", row->key, why.text);
        if (strcmp(row->standard, "none") == 0) {
            without++;
            continue;
        }
        status = read_with(&given, row->key, row->standard, &why);
        CHECK(status == VIT_OK, "%s: %s", row->key, why.text);
        CHECK(memcmp(&left_out, &given, sizeof given) == 0, "%s: the default is not %s", row->key,
              row->standard);
    }
    CHECK(needed == sizeof NEEDED / sizeof *NEEDED, "%zu keys are required", needed);
    CHECK(without == 5, "%zu keys have no default", without);
}

/* ---- The code has no key that the table lacks ---------------------------- */

/* Checks every string in the source that is a key by `is_key`. Returns how many there are. */
static size_t check_strings(bool (*is_key)(const char *at, const struct json *string),
                            const char *before) {
    char *text = read_text(SOURCE);
    size_t count = 0;
    for (const char *at = strchr(text, '"'); at; at = strchr(at + 1, '"')) {
        char key[CELL];
        size_t size = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
        struct json string;
        if (size == 0 || at[size + 1] != '"') continue;
        if (!json_read(&string, at, size + 2) || !is_key(at, &string)) continue;
        snprintf(key, sizeof key, "%s%.*s", before, (int)size, at + 1);
        CHECK(find_row(key), "the README's table lacks %s", key);
        count++;
    }
    free(text);
    return count;
}

static bool is_top_key(const char *at, const struct json *string) {
    (void)at;
    return config_has_key(string);
}

/* config.c reads every member of `prepare` as `value, "…"`. */
static bool is_member(const char *at, const struct json *string) {
    (void)string;
    return strncmp(at - 7, "value, ", 7) == 0;
}

TEST("every config key that the code reads is in the README's table") {
    read_tables();
    size_t keys = check_strings(is_top_key, ""), members = check_strings(is_member, PREPARE);
    CHECK(keys >= 31, "only %zu keys found in config.c", keys);
    CHECK(members >= 9, "only %zu members of `prepare` found in config.c", members);
}
