#include "check.h"

#define COMPLAINTS_MAX 8 /* printed for one test; the rest are only counted */

static struct test *first, *last;
static size_t complaints; /* of the running test */
static bool skips;

void test_add(struct test *test) {
    *(last ? &last->next : &first) = test;
    last = test;
}

void check_failed(const char *file, int line, const char *format, ...) {
    if (complaints++ >= COMPLAINTS_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    printf("    %s:%d: ", file, line);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

void check_skipped(void) {
    skips = true;
}

/* Whether `name` is that of the test's file, without folder and ".c". */
static bool is_in(const struct test *test, const char *name) {
    const char *slash = strrchr(test->file, '/'), *file = slash ? slash + 1 : test->file;
    size_t n = strlen(name);
    return strncmp(file, name, n) == 0 && strcmp(file + n, ".c") == 0;
}

int main(int argc, char **argv) {
    size_t passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (const struct test *test = first; test; test = test->next) {
        if (argc > 1 && !is_in(test, argv[1])) continue;
        if (argc > 2 && !strstr(test->sentence, argv[2])) continue;
        complaints = 0;
        skips = false;
        test->run();
        if (complaints > COMPLAINTS_MAX) printf("    … %zu failures in all\n", complaints);
        const char *verdict = complaints ? "FAILED" : skips ? "skipped" : "ok";
        printf("%-7s %s\n", verdict, test->sentence);
        if (complaints)
            failed++;
        else if (skips)
            skipped++;
        else
            passed++;
    }
    printf("%zu passed, %zu failed", passed, failed);
    if (skipped) printf(", %zu skipped", skipped);
    printf("\n");
    return failed == 0 && passed + skipped > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
