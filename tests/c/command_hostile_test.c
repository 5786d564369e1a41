/* Files from a stranger, given to the native command. It refuses them at once, with a message that
 * forges no line and steers no terminal. */
#define _GNU_SOURCE
#include "command.h"

#include "hostile.h"
#include "png_files.h"

#include <png.h>
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
__attribute__((format(printf, 2, 3))) static void refused(const char *words, const char *format,
                                                          ...) {
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
    CHECK((code == 1 || code == 2) && strstr(said, words), "%s: %d: %s", line, code, said);
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

/* A grey plus sign, large enough to count as ink. */
static const char *put_photo(const char *name, png_uint_32 side, png_uint_32 format) {
    static uint8_t pixels[64 * 64 * 4];
    size_t channels = PNG_IMAGE_PIXEL_CHANNELS(format);
    const char *path = file_at(name);
    memset(pixels, 255, sizeof pixels);
    for (size_t i = side / 4; i < side - side / 4; i++) {
        memset(pixels + (side / 2 * side + i) * channels, 0, channels < 3 ? 1 : 3);
        memset(pixels + (i * side + side / 2) * channels, 0, channels < 3 ? 1 : 3);
    }
    png_image png = {.version = PNG_IMAGE_VERSION, .width = side, .height = side, .format = format};
    if (!png_image_write_to_file(&png, path, 0, pixels, 0, NULL)) exit(EXIT_FAILURE);
    return path;
}

/* `count` images of 4×4, labelled 0 to classes-1 in turn. */
static void put_data(size_t count, size_t classes) {
    uint8_t images[16 + 256 * 16] = {0, 0, 8, 3, 0, 0, 0, (uint8_t)count, 0, 0, 0, 4, 0, 0, 0, 4};
    uint8_t labels[8 + 256] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
    for (size_t i = 0; i < count * 16; i++) images[16 + i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < count; i++) labels[8 + i] = (uint8_t)(i % classes);
    put_file(file_at("images.idx"), images, 16 + count * 16);
    put_file(file_at("labels.idx"), labels, 8 + count);
}

TEST("a model without a head is refused by the commands that need one, and by no others") {
    const char *model = put_headless("headless.safetensors");
    const char *photo = put_photo("plus.png", 16, PNG_FORMAT_GRAY);
    put_data(4, 2);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *head = "expected a model with a head";
    refused(head, "classify --model %s %s", model, photo);
    refused(head, "eval --model %s --images %s --labels %s --confusion", model, images, labels);
    refused(head, "eval --model %s --strokes %s", model, images);
    refused(head, "calibrate --model %s --out %s --images %s --labels %s", model,
            file_at("out.safetensors"), images, labels);
    refused(head, "bench --model %s --only model", model);
    CHECK(vit("info --model %s", model) == 0, "info: %s", said);
    const char *out = file_at("headless-int8.safetensors");
    CHECK(vit("quantize --model %s --out %s", model, out) == 0, "quantize: %s", said);
    CHECK(vit("info --model %s", out) == 0, "info of int8: %s", said);
}

TEST("vit takes a model without labels or preparation, and refuses labels that a model lacks") {
    put_data(4, 1);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *grey = put_photo("plus.png", 16, PNG_FORMAT_GRAY);
    const char *model = put_config("bare.safetensors", "\"labels\":[\"no\",\"yes\"],", "");
    CHECK(vit("classify --model %s %s", model, grey) == 0 && strstr(said, "\t0\t0.5000\n"), "%s",
          said);
    CHECK(vit("eval --confusion --model %s --images %s --labels %s", model, images, labels) == 0 &&
              strstr(said, "accuracy: 1.0000 (4/4)"),
          "%s", said);
    model = put_config("none.safetensors", ",\"prepare\":{\"kind\":\"digit\"}", "");
    refused("expected 4x4 pixels, got 16x16", "classify --model %s %s", model, grey);
    put_photo("four.png", 4, PNG_FORMAT_RGBA);
    CHECK(vit("classify --model %s %s", model, file_at("four.png")) == 0, "%s", said);
    put_data(4, 3);
    refused("label 2; the model has 2 classes", "eval --model %s --images %s --labels %s", model,
            images, labels);
}

TEST("vit refuses pixels where nothing tells how they are prepared, and to count answers that are "
     "no "
     "one class") {
    put_data(4, 1);
    const char *images = file_at("images.idx"), *labels = file_at("labels.idx");
    const char *prepare = "\"prepare\":{\"kind\":\"digit\"}", *photo = file_at("four.png");
    put_photo("four.png", 4, PNG_FORMAT_GRAY);
    const char *model = put_config("unknown.safetensors", prepare, "\"prepare\":null");
    refused("no `prepare` that says how", "classify --model %s %s", model, photo);
    refused("no `prepare` that says how", "eval --model %s --images %s --labels %s", model, images,
            labels);
    model = put_config("values.safetensors", prepare, "\"problem_type\":\"regression\"");
    CHECK(vit("classify --model %s %s", model, photo) == 0 && strstr(said, "\tno\t1.5000\n"), "%s",
          said);
    const char *why = "expected a model whose problem_type is single_label_classification";
    refused(why, "eval --model %s --images %s --labels %s", model, images, labels);
    refused(why, "calibrate --model %s --out %s --images %s --labels %s", model,
            file_at("out.safetensors"), images, labels);
}

TEST("a device, a folder or an empty pipe is refused as a model at once") {
    const char *commands[] = {"info --model", "bench --only model --model", "eval --model",
                              "quantize --out x --model"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        refused("expected a file or a pipe, got a device", "%s /dev/zero", commands[i]);
        refused("expected a file or a pipe, got a directory", "%s %s", commands[i],
                scratch_path(""));
    }
    const char *photo = put_photo("plus.png", 16, PNG_FORMAT_GRAY);
    refused("got a device", "classify --model /dev/urandom %s", photo);
    refused("got a device", "classify --model %s /dev/zero", MODEL);
    refused("/dev/stdin", "info --model /dev/stdin < /dev/null");
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
    char feeder[600];
    int code = vit_fed("cat /dev/zero", "info --model /dev/stdin");
    CHECK(code == 1 && strstr(said, "not a JSON object"), "zeros: %d: %s", code, said);
    code = vit_fed("cat /dev/urandom", "info --model /dev/stdin");
    CHECK(code == 1, "chance: %d: %s", code, said);
    snprintf(feeder, sizeof feeder, "cat %s", good);
    code = vit_fed(feeder, "info --model /dev/stdin");
    CHECK(code == 0 && strstr(said, "parameters: "), "a model: %d: %s", code, said);
    snprintf(feeder, sizeof feeder, "cat %s /dev/zero", good);
    code = vit_fed(feeder, "info --model /dev/stdin");
    CHECK(code == 1 && strstr(said, "got more"), "a model and more: %d: %s", code, said);
    snprintf(feeder, sizeof feeder, "head -c 2600 %s", good);
    code = vit_fed(feeder, "info --model /dev/stdin");
    CHECK(code == 1 && strstr(said, "truncated"), "half of it: %d: %s", code, said);
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    CHECK(use.ru_maxrss < MOST_KILOBYTES, "the runs took up to %ld kB", use.ru_maxrss);
}

/* ---- PNG ---------------------------------------------------------------- */

TEST("a small PNG that announces a huge image is refused before memory is taken for it") {
    static struct bytes png;
    static const struct {
        uint32_t columns, rows;
        int depth, colour;
    } cases[] = {{16000, 16000, 8, 2},  {16000, 16000, 16, 6},
                 {16000, 16000, 1, 0},  {16000, 16000, 8, 3},
                 {2000000, 1, 8, 0},    {1, 2000000, 8, 6},
                 {40000, 40000, 16, 6}, {0x7fffffff, 0x7fffffff, 8, 2}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        begin_png(&png, cases[i / 2].columns, cases[i / 2].rows, cases[i / 2].depth,
                  cases[i / 2].colour, i % 2);
        if (cases[i / 2].colour == 3) add_chunk(&png, "PLTE", (uint8_t[6]){0, 1, 2, 3, 4, 5}, 6);
        end_png(&png, "huge.png", 100000);
        char size[64];
        snprintf(size, sizeof size, "huge.png: %ux%u pixels: expected at most",
                 cases[i / 2].columns, cases[i / 2].rows);
        refused(size, "classify --model %s %s", MODEL, file_at("huge.png"));
    }
    begin_png(&png, 0xffffffff, 1, 8, 2, false);
    end_png(&png, "huge.png", 100);
    refused("a damaged one: ", "classify --model %s %s", MODEL, file_at("huge.png"));
}

TEST("a PNG's other chunks are never inflated into memory") {
    static struct bytes png;
    static uint8_t bomb[1 << 17];
    const char *model =
        put_config("no.safetensors", "\"image_size\":[4,4]", "\"image_size\":[4,4]");
    memcpy(bomb, "bomb\0\0", 6);
    size_t size = 6 + deflated(bomb + 6, sizeof bomb - 6, 100 << 20);
    const char *types[] = {"zTXt", "iCCP", "iTXt", "eXIf", "sPLT", "teSt"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        begin_png(&png, 16, 16, 8, 0, false);
        add_chunk(&png, types[i], bomb, size);
        end_png(&png, "bomb.png", 16 * 17);
        refused("the drawing is blank", "classify --model %s %s", model, file_at("bomb.png"));
    }
    begin_png(&png, 16, 16, 8, 0, false);
    memcpy(bomb, "small\0", 7);
    size = 7 + deflated(bomb + 7, 10000, 6 << 20);
    for (size_t i = 0; i < 20; i++) add_chunk(&png, "zTXt", bomb, size);
    end_png(&png, "bomb.png", 16 * 17);
    refused("the drawing is blank", "classify --model %s %s", model, file_at("bomb.png"));
}

TEST("a PNG is refused with a message if it is cut, and no changed byte crashes the command") {
    static uint8_t spoiled[1 << 12];
    const char *model = put_model("digit.safetensors", file_of(CONFIG)), *path;
    uint8_t *bytes;
    size_t size;
    vit_error why = {""};
    path = put_photo("plus.png", 16, PNG_FORMAT_RGBA);
    REQUIRE(!read_file(&bytes, &size, path, sizeof spoiled, &why), "%s", why.text);
    REQUIRE(vit("classify --model %s %s", model, path) == 0, "%s", said);
    for (size_t i = 0; i < size - 12; i += 1 + size / 40) { /* all but IEND */
        put_file(file_at("spoiled.png"), bytes, i);
        refused("expected a whole PNG, got a damaged one", "classify --model %s %s", model,
                file_at("spoiled.png"));
        memcpy(spoiled, bytes, size);
        spoiled[i] ^= 0x24;
        put_file(file_at("spoiled.png"), spoiled, size);
        int code = vit("classify --model %s %s", model, file_at("spoiled.png"));
        CHECK(code == 0 || code == 1, "byte %zu turned: %d: %s", i, code, said);
    }
    static struct bytes png;
    begin_png(&png, 16, 16, 8, 3, false);
    end_png(&png, "spoiled.png", 16 * 17);
    refused("PLTE", "classify --model %s %s", model, file_at("spoiled.png"));
    begin_png(&png, 16, 16, 8, 0, false);
    end_png(&png, "spoiled.png", 0);
    refused("damaged", "classify --model %s %s", model, file_at("spoiled.png"));
    begin_png(&png, 16, 16, 8, 0, false);
    end_png(&png, "spoiled.png", 17);
    refused("damaged", "classify --model %s %s", model, file_at("spoiled.png"));
    free(bytes);
}

/* ---- Names and labels --------------------------------------------------- */

/* Checks that nothing in `said` steers a terminal, and that it has `lines` lines. */
static void check_plain(const char *what, size_t lines) {
    size_t ends = 0;
    for (const char *p = said; *p; p++) {
        unsigned char c = (unsigned char)*p;
        ends += c == '\n';
        if (!strncmp(p, "\xc3\xa9", 2) || !strncmp(p, "\xe2\x80\xa6", 3))
            p += c == 0xe2 ? 2 : 1; /* é, … */
        else
            CHECK((c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t', "%s: byte %02x in: %s", what,
                  c, said);
    }
    CHECK(ends == lines, "%s: %zu lines: %s", what, ends, said);
}

TEST("labels, names and messages are printed without bytes that forge lines or steer terminals") {
    static const char LABELS[] =
        "[\"7\\n3: 100 %\\u001b[2J\\u0007\xc2\x9b\x7f\\t1.0\",\"\\u202e\xe2\x80\xa8"
        "\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c\\r\xff\xc0\xaf\"]";
    const char *model = put_config("labels.safetensors", "[\"no\",\"yes\"]", LABELS);
    const char *photo = put_photo("plus.png", 16, PNG_FORMAT_GRAY);
    put_data(4, 2);
    int code = vit("classify --model %s %s", model, photo);
    CHECK(code == 0 && strstr(said, "7\\u000a3: 100 %\\u001b[2J\\u0007\\u009b\\u007f\\u00091.0"),
          "%s", said);
    check_plain("classify", 1);
    code = vit("eval --confusion --model %s --images %s --labels %s", model, file_at("images.idx"),
               file_at("labels.idx"));
    CHECK(code == 0 && strstr(said, "\\u202e\\u2028\\u2066\\u200e\\u061c\\u000d\\xff\\xc0\\xaf\t"),
          "%s", said);
    check_plain("eval", 7);
    CHECK(vit("info --model %s | grep -a labels", model) == 0, "%s", said);
    check_plain("info", 1);
    const char *name = file_at("\x1b[2J\n\xc3\xa9.png");
    put_file(name, "", 0);
    CHECK(vit("classify --model %s '%s'", model, name) == 1 &&
              strstr(said, "\\u001b[2J\\u000a\xc3\xa9"),
          "%s", said);
    check_plain("a file's name", 1);
    const char *commands[] = {"info --model", "eval --images x --labels x --model",
                              "quantize --out x --model", "bench --only model --model",
                              "train --data x --out x --recipe"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        CHECK(vit("%s '%s'", commands[i], name) == 1, "%s", said);
        check_plain(commands[i], 1);
    }
    vit("'\x1b[2J'"), check_plain("no command", 10);
    vit("info '--\x1b[2J\n'"), check_plain("no option", 2);
    vit("info '\x1b[2J\n'"), check_plain("no operand", 2);
    char header[TEXT_MAX];
    size_t size = write_header(header, CONFIG, SIZE_MAX);
    char renamed[TEXT_MAX];
    strcpy(renamed, replaced(header, "head.bias", "\\u001b[2J\\nfake: 1\xc2\x85"));
    CHECK(vit("info --model %s", put_model("name.safetensors", pack_file(renamed, size))) == 1 ||
              strstr(said, "fake"),
          "%s", said);
    check_plain("a tensor's name", 1);
}
