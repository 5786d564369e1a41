/* Files from a stranger, given to the native command. It refuses them at once, with a message that
 * forges no line and steers no terminal. */
#define _GNU_SOURCE
#include "command.h"

#include "hostile.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* ---- The cost of a run -------------------------------------------------- */

enum { MOST_KILOBYTES = 100000 }; /* of this file's largest run, including the sanitizers */

static double seconds_of_runs(void) {
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Runs `vit` and checks that it refuses with `words`, in little time and memory. */
__attribute__((format(printf, 2, 3))) static void check_refusal(const char *words,
                                                                const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    double before = seconds_of_runs();
    int code = vit("%s", line);
    double seconds = seconds_of_runs() - before;
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    CHECK((code == 1 || code == 2) && strstr(output, words), "%s: %d: %s", line, code, output);
    CHECK(seconds < 2, "%s: took %g s", line, seconds);
    CHECK(use.ru_maxrss < MOST_KILOBYTES, "%s: took %ld kB", line, use.ru_maxrss);
}

/* ---- Models ------------------------------------------------------------- */

static const char *put_model(const char *name, struct file f) {
    const char *path = file_at(name);
    put_file(path, f.bytes, f.size);
    free(f.bytes);
    return path;
}

static const char *put_config(const char *name, const char *from, const char *to) {
    return put_model(name, file_of(replaced(CONFIG, from, to)));
}

/* The good file without its head. */
static const char *put_headless(const char *name) {
    char header[TEXT_MAX];
    const char *config = replaced(CONFIG, "\"classes\":2", "\"classes\":0");
    char text[TEXT_MAX];
    strcpy(text, config);
    size_t size =
        write_header(header, replaced(text, "\"labels\":[\"no\",\"yes\"],", ""), SIZE_MAX);
    strcpy(strstr(header, ",\"head.weight\""), "}");
    return put_model(name, pack_file(header, size - 4 * (8 + 2)));
}

/* `count` images of 4×4, labelled 0 to classes-1 in turn. */
static void put_data(size_t count, size_t classes) {
    uint8_t images[256 * 16], labels[256];
    for (size_t i = 0; i < count * 16; i++) images[i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < count; i++) labels[i] = (uint8_t)(i % classes);
    put_idx("images.idx", count, 4, images);
    put_idx("labels.idx", count, 0, labels);
}

TEST("a model without a head is refused by the commands that need one, and by no others") {
    const char *model = put_headless("headless.safetensors");
    put_data(4, 2);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *head = "expected a model with a head";
    check_refusal(head, "eval --model %s --images %s --labels %s --confusion", model, images,
                  labels);
    check_refusal(head, "eval --model %s --strokes %s", model, images);
    check_refusal(head, "calibrate --model %s --out %s --images %s --labels %s", model,
                  file_at("out.safetensors"), images, labels);
    check_refusal(head, "bench --model %s --only model", model);
    const char *out = file_at("headless-int8.safetensors");
    CHECK(vit("quantize --model %s --out %s", model, out) == 0, "quantize: %s", output);
}

TEST("vit takes a model without labels, and refuses labels that a model lacks") {
    put_data(4, 1);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *model = put_config("bare.safetensors", "\"labels\":[\"no\",\"yes\"],", "");
    CHECK_SAYS(vit("eval --confusion --model %s --images %s --labels %s", model, images, labels), 0,
               "accuracy: 1.0000 (4/4)");
    put_data(4, 3);
    check_refusal("label 2; the model has 2 classes", "eval --model %s --images %s --labels %s",
                  model, images, labels);
}

TEST("vit refuses pixels if the config does not say how to prepare them, and to count answers that "
     "are "
     "no one class") {
    put_data(4, 1);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *prepare = "\"prepare\":{\"kind\":\"digit\"}";
    const char *model = put_config("unknown.safetensors", prepare, "\"prepare\":null");
    check_refusal("no `prepare` that says how", "eval --model %s --images %s --labels %s", model,
                  images, labels);
    model = put_config("values.safetensors", prepare, "\"problem_type\":\"regression\"");
    const char *why = "expected a model whose problem_type is single_label_classification";
    check_refusal(why, "eval --model %s --images %s --labels %s", model, images, labels);
    check_refusal(why, "calibrate --model %s --out %s --images %s --labels %s", model,
                  file_at("out.safetensors"), images, labels);
}

TEST("a device, a folder or an empty pipe is refused as a model at once") {
    const char *commands[] = {"bench --only model --model", "eval --images x --labels x --model",
                              "calibrate --out x --images x --labels x --model",
                              "quantize --out x --model"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        check_refusal("expected a file or a pipe, got a device", "%s /dev/zero", commands[i]);
        check_refusal("expected a file or a pipe, got a directory", "%s %s", commands[i],
                      scratch_path(""));
    }
    check_refusal("got a device", "quantize --out x --model /dev/urandom");
    check_refusal("/dev/stdin", "quantize --out x --model /dev/stdin < /dev/null");
}

/* Runs `vit` behind a pipe. */
static int vit_fed(const char *feeder, const char *arguments) {
    char line[1024];
    snprintf(line, sizeof line, "true; { %s; } 2>/dev/null | %s %s", feeder, VIT, arguments);
    return vit("bench --help >/dev/null; %s", line);
}

TEST("an endless pipe is read only as far as its header announces") {
    struct file f = file_of(CONFIG);
    const char *good = put_model("good.safetensors", f);
    char feeder[600], arguments[300];
    snprintf(arguments, sizeof arguments, "quantize --model /dev/stdin --out %s",
             file_at("piped.safetensors"));
    CHECK_SAYS(vit_fed("cat /dev/zero", arguments), 1, "not a JSON object");
    int code = vit_fed("cat /dev/urandom", arguments);
    CHECK(code == 1, "chance: %d: %s", code, output);
    snprintf(feeder, sizeof feeder, "cat %s", good);
    CHECK_SAYS(vit_fed(feeder, arguments), 0, "bytes instead of");
    snprintf(feeder, sizeof feeder, "cat %s /dev/zero", good);
    CHECK_SAYS(vit_fed(feeder, arguments), 1, "got more");
    snprintf(feeder, sizeof feeder, "head -c 2600 %s", good);
    CHECK_SAYS(vit_fed(feeder, arguments), 1, "truncated");
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    CHECK(use.ru_maxrss < MOST_KILOBYTES, "the runs took up to %ld kB", use.ru_maxrss);
}

/* ---- Names and labels --------------------------------------------------- */

/* Checks that nothing in `output` steers a terminal, and that it has `lines` lines. */
static void check_plain(const char *what, size_t lines) {
    size_t ends = 0;
    for (const char *p = output; *p; p++) {
        unsigned char c = (unsigned char)*p;
        ends += c == '\n';
        if (!strncmp(p, "\xc3\xa9", 2) || !strncmp(p, "\xe2\x80\xa6", 3))
            p += c == 0xe2 ? 2 : 1; /* é, … */
        else
            CHECK((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t', "%s: byte %02x in: %s", what,
                  c, output);
    }
    CHECK(ends == lines, "%s: %zu lines: %s", what, ends, output);
}

TEST("labels, names and messages are printed without bytes that forge lines or steer terminals") {
    static const char LABELS[] =
        "[\"7\\n3: 100 %\\u001b[2J\\u0007\xc2\x9b\x7f\\t1.0\",\"\\u202e\xe2\x80\xa8"
        "\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c\\r\xff\xc0\xaf\"]";
    const char *model = put_config("labels.safetensors", "[\"no\",\"yes\"]", LABELS);
    put_data(4, 2);
    int code = vit("eval --confusion --model %s --images %s --labels %s", model,
                   file_at("images.idx"), file_at("labels.idx"));
    CHECK(code == 0 &&
              strstr(output, "\\u202e\\u2028\\u2066\\u200e\\u061c\\u000d\\xff\\xc0\\xaf\t"),
          "%s", output);
    CHECK(strstr(output, "7\\u000a3: 100 %\\u001b[2J\\u0007\\u009b\\u007f\\u00091.0"), "%s",
          output);
    check_plain("eval", 7);
    const char *name = file_at("\x1b[2J\n\xc3\xa9.safetensors");
    put_file(name, "", 0);
    const char *commands[] = {"eval --images x --labels x --model", "quantize --out x --model",
                              "bench --only model --model", "train --data x --out x --recipe"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        CHECK_SAYS(vit("%s '%s'", commands[i], name), 1, "\\u001b[2J\\u000a\xc3\xa9");
        check_plain(commands[i], 1);
    }
    vit("'\x1b[2J'"), check_plain("no command", 8);
    vit("quantize '--\x1b[2J\n'"), check_plain("no option", 2);
    vit("quantize '\x1b[2J\n'"), check_plain("no operand", 2);
    char header[TEXT_MAX];
    size_t size = write_header(header, CONFIG, SIZE_MAX);
    char renamed[TEXT_MAX];
    strcpy(renamed, replaced(header, "head.bias", "\\u001b[2J\\nfake: 1\xc2\x85"));
    CHECK(vit("quantize --out x --model %s",
              put_model("name.safetensors", pack_file(renamed, size))) == 1,
          "%s", output);
    check_plain("a tensor's name", 1);
}
