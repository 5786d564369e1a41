/* Reads a command line by a table of options. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const struct usage *usage) {
    printf("vit %s: %s\n\nusage: vit %s", usage->command, usage->summary, usage->command);
    for (size_t i = 0; i < usage->count; i++) {
        const struct option *o = &usage->options[i];
        const char *space = o->metavar ? " " : "", *value = o->metavar ? o->metavar : "";
        printf(o->required ? " %s%s%s" : " [%s%s%s]", o->name, space, value);
    }
    printf("%s%s\n\n", usage->operands ? " " : "", usage->operands ? usage->operands : "");
    for (size_t i = 0; i < usage->count; i++) {
        const struct option *o = &usage->options[i];
        printf("  %-12s %-7s %s\n", o->name, o->metavar ? o->metavar : "", o->help);
    }
    printf("  %-12s %-7s %s\n", "--help", "", "print this");
}

static bool read_whole(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *out = value;
    return isdigit((unsigned char)*text) && !*end && !errno;
}

static bool read_share(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return (isdigit((unsigned char)*text) || *text == '.') && !*end && *out >= 0 && *out <= 1;
}

static bool store(const struct option *option, const char *text) {
    uint64_t whole = 0;
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)option->value = true; return true;
    case OPTION_TEXT: *(const char **)option->value = text; return *text != '\0';
    case OPTION_INDEX:
        if (!read_whole(text, &whole) || whole > INT32_MAX) return false;
        *(size_t *)option->value = (size_t)whole;
        return true;
    case OPTION_SHARE: return read_share(text, option->value);
    case OPTION_SEED:
        if (!read_whole(text, &whole) || whole > (uint64_t)1 << 53) return false;
        *(uint64_t *)option->value = whole;
        return true;
    case OPTION_COUNT:
        if (!read_whole(text, &whole) || whole < 1 || whole > 100000) return false;
        *(size_t *)option->value = (size_t)whole;
        return true;
    }
    return false;
}

static const struct option *find(const struct usage *usage, const char *text, size_t size) {
    for (size_t i = 0; i < usage->count; i++) {
        const char *name = usage->options[i].name;
        if (strlen(name) == size && !memcmp(name, text, size)) return &usage->options[i];
    }
    return NULL;
}

static bool complain(const struct usage *usage, int *code, const char *what, const char *which) {
    fprintf(stderr, "vit %s: %s", usage->command, what);
    show(stderr, which);
    fprintf(stderr, "\nvit %s --help explains all options\n", usage->command);
    *code = EXIT_USAGE;
    return false;
}

static const char *expected(const struct option *option) {
    static const char *const what[] = {
        [OPTION_TEXT] = "expected a value after ",
        [OPTION_COUNT] = "expected a whole number from 1 to 100000 after ",
        [OPTION_INDEX] = "expected a whole number from 0 to 2^31 - 1 after ",
        [OPTION_SEED] = "expected a whole number from 0 to 2^53 after ",
        [OPTION_SHARE] = "expected a number from 0 to 1 after ",
        [OPTION_FLAG] = "expected no value after "};
    return what[option->kind];
}

bool options_read(const struct usage *usage, int argc, char **argv, int *operands, int *code) {
    bool seen[32] = {false};
    bool only_operands = false;
    *operands = 0;
    for (int i = 0; i < argc; i++) {
        char *text = argv[i], *equals = strchr(text, '=');
        if (only_operands || text[0] != '-' || !text[1]) {
            if (!usage->operands) return complain(usage, code, "unexpected argument ", text);
            argv[(*operands)++] = text;
        } else if (!strcmp(text, "--")) {
            only_operands = true;
        } else if (!strcmp(text, "--help") || !strcmp(text, "-h")) {
            print_help(usage);
            *code = EXIT_FINE;
            return false;
        } else {
            const struct option *option =
                find(usage, text, equals ? (size_t)(equals - text) : strlen(text));
            if (!option) return complain(usage, code, "unknown option ", text);
            const char *value = equals ? equals + 1 : NULL;
            if (option->kind != OPTION_FLAG && !value) value = i + 1 < argc ? argv[++i] : "";
            bool flag_with_value = option->kind == OPTION_FLAG && value;
            if (flag_with_value || !store(option, value))
                return complain(usage, code, expected(option), option->name);
            seen[option - usage->options] = true;
        }
    }
    for (size_t i = 0; i < usage->count; i++)
        if (usage->options[i].required && !seen[i])
            return complain(usage, code, "missing option ", usage->options[i].name);
    if (usage->operands && *operands == 0)
        return complain(usage, code, "expected ", usage->operands);
    return true;
}
