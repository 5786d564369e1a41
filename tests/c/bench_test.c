/* vit bench: its output and its refusals. Speed is not tested. */
#include "check.h"

#include "../../src/cli/bench.h"
#include "../../src/cli/cli.h"

static char text[1 << 14]; /* the output of the last run of `bench` */

static bool bench(const struct bench_options *options, vit_error *why) {
    FILE *file = tmpfile();
    if (!file) {
        snprintf(why->text, sizeof why->text, "no temporary file");
        return false;
    }
    bool good = bench_run(file, options, why);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return good;
}

static size_t occurrences(const char *what) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) count++;
    return count;
}

static const char MODEL[] = GOLDEN_DIR "/half.safetensors";

TEST("vit bench prints a line for each table and shape of a kernel, with its share of the limit") {
    const char *const kernels[][2] = {{"f32,digits,q", " %"},       {"int8,digits,proj", " GOP/s"},
                                      {"quantize,digits", " ns\n"}, {"norm,digits", " ns\n"},
                                      {"softmax,digits", " ns\n"},  {"gelu,digits", " ns\n"},
                                      {"pack,digits", " ns\n"}};
    const size_t shapes[] = {3, 2, 2, 1, 1, 1, 2};
    size_t tables;
    const struct vit_kernels *const *all = vit_kernels_all(&tables);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        vit_error why = {""};
        const struct bench_options options = {.model = MODEL, .only = kernels[i][0], .brief = true};
        REQUIRE(bench(&options, &why), "%s: %s", kernels[i][0], why.text);
        size_t able = 0; /* tables that have the kernel */
        for (size_t j = 0; j < tables; j++) {
            char name[32];
            bool has = all[j]->matmul_int8 || (i != 1 && i != 2);
            snprintf(name, sizeof name, " %s ", bench_label(all[j]).text);
            CHECK(occurrences(name) == (has ? shapes[i] : 0), "%s:\n%s", kernels[i][0], text);
            able += has;
        }
        CHECK(occurrences("\n") == 1 + able * shapes[i], "%s:\n%s", kernels[i][0], text);
        CHECK(occurrences(kernels[i][1]) >= able, "%s:\n%s", kernels[i][0], text);
    }
}

TEST("vit bench prints every limit, and each is above zero") {
    size_t count;
    const struct limit *limits = limits_all(&count);
    vit_error why = {""};
    const struct bench_options options = {
        .model = MODEL, .only = "limit", .json = true, .brief = true};
    REQUIRE(bench(&options, &why), "%s", why.text);
    CHECK(occurrences("\n") == count, "%zu limits:\n%s", count, text);
    for (size_t i = 0; i < count; i++) CHECK(strstr(text, limits[i].name), "%s", limits[i].name);
    CHECK(occurrences("ops\":0,") + occurrences("inf") + occurrences("nan") == 0, "%s", text);
}

TEST("vit bench measures a whole model alone and in a batch, with every table, and prints JSON") {
    size_t tables;
    vit_kernels_all(&tables);
    vit_error why = {""};
    const struct bench_options options = {
        .model = MODEL, .only = "model", .json = true, .brief = true};
    REQUIRE(bench(&options, &why), "%s", why.text);
    CHECK(occurrences("{\"what\":\"model, batch 1\",\"kernels\":\"") == tables, "%s", text);
    CHECK(occurrences("{\"what\":\"model, batch 64\",\"kernels\":\"") == tables, "%s", text);
    CHECK(occurrences(",\"gflops\":") == 2 * tables, "%s", text);
    CHECK(occurrences(",\"share\":") == 2 * tables, "%s", text);
    CHECK(occurrences("inf") + occurrences("nan") == 0, "%s", text);
}

TEST("vit bench measures a training step with every table that trains") {
    size_t tables, training = 0;
    const struct vit_kernels *const *all = vit_kernels_all(&tables);
    for (size_t i = 0; i < tables; i++) training += !all[i]->packed;
    vit_error why = {""};
    const struct bench_options options = {
        .model = MODEL, .only = "training step", .json = true, .brief = true};
    REQUIRE(bench(&options, &why), "%s", why.text);
    CHECK(occurrences("{\"what\":\"training step, batch 64\",\"kernels\":\"") == training, "%s",
          text);
    CHECK(occurrences(",\"share\":") == training, "%s", text);
    CHECK(occurrences("inf") + occurrences("nan") == 0, "%s", text);
}

TEST("vit bench names a missing file, a bad model or an unknown word, and runs nothing") {
    const struct {
        struct bench_options options;
        const char *says;
    } cases[] = {{{.model = "nowhere.safetensors"}, "nowhere.safetensors: "},
                 {{.model = GOLDEN_DIR "/make.py"}, "make.py: "},
                 {{.model = MODEL, .only = "f32,nonsense"}, "--only f32,nonsense: "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vit_error why = {""};
        CHECK(!bench(&cases[i].options, &why), "case %zu was run", i);
        CHECK(strstr(why.text, cases[i].says), "case %zu: %s", i, why.text);
        CHECK(!*text, "case %zu: %s", i, text);
    }
}

TEST("vit bench has one exit code for success, one for wrong use and one for failure") {
    char model[] = "--model", nowhere[] = "nowhere", help[] = "--help", wrong[] = "--wrong";
    char only[] = "--only", kernel[] = "softmax,digits,scalar";
    CHECK(command_bench(1, (char *[]){help}) == EXIT_FINE, "--help");
    CHECK(command_bench(2, (char *[]){only, kernel}) == EXIT_FINE, "--only");
    CHECK(command_bench(2, (char *[]){model, nowhere}) == EXIT_FAILED, "--model");
    CHECK(command_bench(1, (char *[]){wrong}) == EXIT_USAGE, "an unknown option");
    CHECK(command_bench(1, (char *[]){only}) == EXIT_USAGE, "no value");
}
