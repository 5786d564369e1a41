/* Finds a parameter's tensors by the names of families.c, after any prefix that a file has. */
#include "naming.h"

#include "base/error.h"
#include "base/text.h"
#include "safetensors.h"
#include "vit.h"

#include <assert.h>

/* A prefix is the attributes of wrappers, such as "module.encoder.". Its parts are limited because
 * each one costs time. */
enum { PREFIX_MOST = 128, PREFIX_PARTS = 8 };
enum { NUMBERS_MOST = 64 }; /* a # stands for a lower number */
enum { NAME_MOST = NAMES_MOST - PREFIX_MOST };

/* ---- Lines and patterns ------------------------------------------------- */

static size_t line_size(const char *line) {
    return strcspn(line, "\n");
}

/* Every line ends with a newline; after the last one comes an empty line. */
static const char *next_line(const char *line) {
    return line + line_size(line) + 1;
}

static const char *theirs_of(const char *line) {
    return strchr(line, ' ') + 1;
}

static size_t digits(const char *s) {
    return strspn(s, "0123456789");
}

/* Whether `name` fits the line's pattern of our name, or the pattern and then a dot and a last
 * part. number: where in `name` the number of * begins. rest: that dot and last part, or
 * nothing. */
static bool matches(const char *line, const char *name, const char **number, const char **rest) {
    for (; *line != ' '; line++) {
        size_t n = *line == '*' ? digits(name) : 1;
        if (*line == '*' ? n == 0 : *line != *name) return false;
        if (*line == '*') *number = name;
        name += n;
    }
    *rest = name;
    return *name == '\0' || (*name == '.' && !strchr(name + 1, '.'));
}

/* Writes the line's name of theirs, with the alternative `which` of {a,b,c}. */
static void put_theirs(struct text *out, const char *line, const char *number, size_t which) {
    for (const char *p = theirs_of(line); *p != '\n'; p++) {
        if (*p == '*') {
            assert(number); /* a line has a * on both sides */
            put(out, number, digits(number));
        } else if (*p == '{') {
            for (p++; which > 0; which--) p = strchr(p, ',') + 1;
            put(out, p, strcspn(p, ",}"));
            p = strchr(p, '}');
        } else {
            put(out, p, 1);
        }
    }
}

static size_t alternatives(const char *line) {
    size_t n = 1, size = line_size(line), brace = strcspn(line, "{");
    for (size_t i = brace; i < size; i++) n += line[i] == ',';
    return n;
}

/* ---- Finding ------------------------------------------------------------ */

/* Looks for `name` after the whole prefix. If `outside`, the tensor may lie outside of the encoder:
 * the name is then looked for after shorter prefixes too. */
static const struct st_tensor *find_whole(const struct names *names, const struct safetensors *st,
                                          const char *name, bool outside) {
    char whole[NAMES_MOST];
    for (size_t n = names->prefix_size;; n--) {
        struct text out = {whole, whole + sizeof whole - 1};
        if (n == 0 || names->prefix[n - 1] == '.') {
            put(&out, names->prefix, n);
            put_words(&out, name);
            *out.at = '\0';
            const struct st_tensor *found = st_find(st, whole);
            if (found) return found;
        }
        if (n == 0 || !outside) return NULL;
    }
}

/* As find_whole, with any number for a # in the name. */
static const struct st_tensor *find(const struct names *names, const struct safetensors *st,
                                    const char *name, bool outside) {
    const char *hole = strchr(name, '#');
    char numbered[NAMES_MOST];
    if (!hole) return find_whole(names, st, name, outside);
    for (size_t number = 0; number < NUMBERS_MOST; number++) {
        struct text out = {numbered, numbered + sizeof numbered - 1};
        put(&out, name, (size_t)(hole - name));
        put_size(&out, number);
        put_words(&out, hole + 1);
        *out.at = '\0';
        const struct st_tensor *found = find_whole(names, st, numbered, outside);
        if (found) return found;
    }
    return NULL;
}

/* → their name for `ours` by this line, without the prefix; empty if the line is not for `ours`. */
static void rename_by(char out[NAME_MOST], const char *line, const char *ours, size_t which) {
    const char *number = NULL, *rest;
    struct text text = {out, out + NAME_MOST - 1};
    if (matches(line, ours, &number, &rest)) {
        put_theirs(&text, line, number, which);
        put_words(&text, rest);
    }
    *text.at = '\0';
}

size_t names_sources(const struct st_tensor *sources[NAMES_SOURCES], const struct names *names,
                     const struct safetensors *st, const char *ours) {
    char name[NAME_MOST];
    bool named = false, outside = strncmp(ours, "blocks.", 7) != 0;
    for (const char *line = names->family->aliases; *line; line = next_line(line)) {
        size_t parts = alternatives(line), found = 0;
        for (size_t i = 0; i < parts; i++) {
            rename_by(name, line, ours, i);
            if (!*name) break;
            named = true;
            sources[found] = find(names, st, name, outside);
            if (sources[found]) found++;
        }
        if (found == parts) return found;
    }
    if (named) return 0;
    sources[0] = find(names, st, ours, outside);
    return sources[0] != NULL;
}

void names_write(char *out, size_t capacity, const struct names *names, const char *ours) {
    char name[NAME_MOST] = "";
    for (const char *line = names->family->aliases; *line && !*name; line = next_line(line))
        rename_by(name, line, ours, 0);
    struct text text = {out, out + capacity - 1};
    put(&text, names->prefix, names->prefix_size);
    put_words(&text, *name ? name : ours);
    *text.at = '\0';
}

static bool is_ignored(const struct names *names, const struct st_tensor *tensor,
                       const char *lines) {
    for (const char *line = lines; *line; line = next_line(line)) {
        size_t n = line_size(line), most = names->prefix_size;
        if (*line == '^' && most == 0) continue;
        if (*line == '^') most--, line++, n--;
        for (size_t skip = 0; skip <= most; skip++)
            if ((skip == 0 || names->prefix[skip - 1] == '.') && tensor->name_size >= skip + n &&
                !memcmp(tensor->name, names->prefix, skip) && !memcmp(tensor->name + skip, line, n))
                return true;
    }
    return false;
}

bool names_ignore(const struct names *names, const struct st_tensor *tensor) {
    static const char counters[] = "^n_averaged\n";              /* of torch.optim.swa_utils */
    bool counts = tensor->rank == 0 && tensor->type >= ST_OTHER; /* num_updates and the like */
    return counts || is_ignored(names, tensor, names->family->ignored) ||
           is_ignored(names, tensor, counters);
}

/* ---- Families ----------------------------------------------------------- */

/* Whether `ending` is the whole name, or its end after a dot. */
static bool ends_with(const char *name, size_t size, const char *ending, size_t n) {
    return size >= n && !memcmp(name + size - n, ending, n) &&
           (size == n || name[size - n - 1] == '.');
}

/* → how many names of a family the file has, after any prefix. Of the blocks' names, those of the
 * first block count. */
static size_t likeness(const struct family *family, const struct safetensors *st) {
    size_t count = 0;
    char name[NAME_MOST];
    for (const char *line = family->aliases; *line; line = next_line(line))
        for (size_t i = 0; i < alternatives(line); i++) {
            struct text text = {name, name + sizeof name - 1};
            put_theirs(&text, line, "0", i);
            bool found = false;
            for (size_t t = 0; t < st->count && !found; t++) {
                size_t n = (size_t)(text.at - name), whole = st->tensors[t].name_size, cut = whole;
                const char *tensor = st->tensors[t].name;
                if (whole > NAMES_MOST) continue;
                while (cut && tensor[--cut] != '.') continue; /* cut off the last part */
                found = ends_with(tensor, whole, name, n) || ends_with(tensor, cut, name, n);
            }
            count += found;
        }
    return count;
}

static vit_status none_found(const struct safetensors *st, vit_error *why) {
    size_t most = 1; /* one common name alone tells nothing */
    const struct family *closest = names_timms().family;
    for (size_t i = 0; i < vit_families_count; i++) {
        if (vit_families[i].variant) continue;
        size_t alike = likeness(&vit_families[i], st);
        if (alike > most) most = alike, closest = &vit_families[i];
    }
    if (st->count == 0) return vit_fail(why, VIT_BAD_TENSOR, "the file holds no tensors");
    return vit_fail(
        why, VIT_BAD_TENSOR,
        "expected a Vision Transformer's first block, such as \"%t\" of %s, the closest "
        "family; got tensors such as \"%t\"",
        closest->anchors, line_size(closest->anchors), closest->name, st->tensors->name,
        st->tensors->name_size);
}

static bool is_prefix(const char *name, size_t size) {
    size_t parts = 0;
    if (size > PREFIX_MOST) return false;
    for (size_t i = 0; i < size; i++) parts += name[i] == '.';
    return parts <= PREFIX_PARTS;
}

static bool has_all(const struct names *names, const struct safetensors *st, const char *lines) {
    char name[NAME_MOST];
    for (; *lines; lines = next_line(lines)) {
        struct text text = {name, name + sizeof name - 1};
        put(&text, lines, line_size(lines));
        *text.at = '\0';
        if (!find(names, st, name, true)) return false;
    }
    return true;
}

/* → how many bytes of the anchor are a prefix of all names of the tower; 0 if the model is no tower
 * of a larger one. */
static size_t tower_size(const char *anchor) {
    static const char *const towers[] = {"vision_model.", "visual.trunk.", "visual."};
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (!strncmp(anchor, towers[i], strlen(towers[i]))) return strlen(towers[i]);
    return 0;
}

bool names_find(struct names *names, const struct safetensors *st, vit_error *why) {
    for (size_t i = 0; i < vit_families_count; i++)
        for (const char *line = vit_families[i].anchors; *line; line = next_line(line))
            for (size_t t = 0; t < st->count; t++) {
                const struct st_tensor *tensor = &st->tensors[t];
                size_t n = line_size(line), prefix = tensor->name_size - n;
                if (!ends_with(tensor->name, tensor->name_size, line, n)) continue;
                if (!is_prefix(tensor->name, prefix)) continue;
                prefix += tower_size(line);
                *names = (struct names){&vit_families[i], tensor->name, prefix};
                if (has_all(names, st, vit_families[i].needs)) return true;
            }
    none_found(st, why);
    return false;
}

struct names names_timms(void) {
    const struct family *family = vit_families;
    while (strcmp(family->name, "timm")) family++;
    return (struct names){family, "", 0};
}

bool names_are_timms(const struct names *names) {
    return names->family->aliases == names_timms().family->aliases;
}

const char *names_family(const struct names *names) {
    return names->family->name;
}

const struct habits *names_habits(const struct names *names) {
    return &names->family->habits;
}
