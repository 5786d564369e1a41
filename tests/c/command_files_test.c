/* How the native command writes files: whole or not at all, through a user's links, into pipes, but
 * never through a .part file that somebody else has laid. */
#define _GNU_SOURCE
#include "command.h"

#include "hostile.h"
#include "kernels/kernels.h"
#include "save.h"

#include <sys/stat.h>

static const char *quantized; /* MODEL after vit quantize */

static void quantize_once(void) {
    quantized = file_at("quantized.safetensors");
    if (exists(quantized)) return;
    if (vit("quantize --model %s --out %s", MODEL, quantized)) exit(EXIT_FAILURE);
}

static mode_t mode_of(const char *path) {
    struct stat file = {0};
    return lstat(path, &file) ? 0 : file.st_mode;
}

static bool holds(const char *path, const char *text) {
    uint8_t *bytes;
    size_t size;
    vit_error why;
    if (read_file(&bytes, &size, path, 1 << 20, &why)) return false;
    bool same = size == strlen(text) && !memcmp(bytes, text, size);
    free(bytes);
    return same;
}

static void put_text(const char *path, const char *text) {
    put_file(path, text, strlen(text));
}

TEST("--out keeps the mode of the file that it replaces, and gives a new file the umask's mode") {
    quantize_once();
    const char *out = file_at("mode.safetensors");
    static const mode_t modes[] = {0600, 0644, 0640, 0400};
    mode_t before = umask(027);
    CHECK(vit("quantize --model %s --out %s", MODEL, out) == 0, "%s", output);
    umask(before);
    CHECK(mode_of(out) == (S_IFREG | 0640), "new: %o", mode_of(out));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put_text(out, "old");
        chmod(out, modes[i]);
        CHECK(vit("quantize --model %s --out %s", MODEL, out) == 0, "%s", output);
        CHECK(mode_of(out) == (S_IFREG | modes[i]), "%o: %o", modes[i], mode_of(out));
        CHECK(same_files(out, quantized), "%o: another file", modes[i]);
        chmod(out, 0600);
    }
}

TEST("if --out is a link, the link stays and its target is written") {
    quantize_once();
    const char *link = file_at("link.safetensors"), *nothing = file_at("nothing.safetensors");
    mkdir(file_at("far"), 0700);
    put_text(file_at("far/target.safetensors"), "old");
    REQUIRE(!symlink("far/target.safetensors", link), "no link");
    CHECK(vit("quantize --model %s --out %s", MODEL, link) == 0, "%s", output);
    CHECK(S_ISLNK(mode_of(link)), "the link is gone");
    CHECK(same_files(file_at("far/target.safetensors"), quantized), "the target is another");
    REQUIRE(!symlink("far/none.safetensors", nothing), "no link");
    CHECK_SAYS(vit("quantize --model %s --out %s", MODEL, nothing), 1, "link to nothing");
    CHECK(S_ISLNK(mode_of(nothing)) && !exists(file_at("far/none.safetensors")), "written");
}

TEST("a .part file that is a link is not followed, and a killed run's .part file is replaced") {
    quantize_once();
    const char *out = file_at("out.safetensors"), *part = file_at("out.safetensors.part");
    const char *victim = file_at("victim");
    put_text(victim, "precious");
    REQUIRE(!symlink(victim, part), "no link");
    CHECK(vit("quantize --model %s --out %s", MODEL, out) == 0, "%s", output);
    CHECK(holds(victim, "precious"), "the victim was written through a link");
    CHECK(same_files(out, quantized) && !mode_of(part), "another file, or a part is left");
    REQUIRE(!link(victim, part), "no hard link");
    CHECK(vit("quantize --model %s --out %s", MODEL, out) == 0, "%s", output);
    CHECK(holds(victim, "precious"), "the victim was written through a hard link");
    put_text(part, "half a mod");
    CHECK(vit("quantize --model %s --out %s", MODEL, out) == 0, "%s", output);
    CHECK(same_files(out, quantized) && !mode_of(part), "another file, or a part is left");
    put_text(out, "old");
    mkdir(part, 0700);
    CHECK_SAYS(vit("quantize --model %s --out %s", MODEL, out), 1, "cannot be written");
    CHECK(holds(out, "old"), "the old file is gone");
    rmdir(part);
}

/* The devices are named through /proc/self/fd, so that a faulty command cannot replace them. */
TEST("if --out is a device or a pipe, it is written to and not replaced") {
    quantize_once();
    int code = vit("quantize --model %s --out /proc/self/fd/3 3>/dev/null", MODEL);
    CHECK(code == 0, "%d: %s", code, output);
    CHECK_SAYS(vit("quantize --model %s --out /proc/self/fd/3 3>/dev/full", MODEL), 1,
               "No space left");
    const char *pipe = file_at("fifo"), *copy = file_at("copy");
    REQUIRE(!mkfifo(pipe, 0600), "no pipe");
    CHECK(vit("bench --help >/dev/null; { cat %s > %s & } ; " VIT
              " quantize --model %s --out %s; wait",
              pipe, copy, MODEL, pipe) == 0,
          "%s", output);
    CHECK(S_ISFIFO(mode_of(pipe)), "the pipe is gone");
    CHECK(same_files(copy, quantized), "other bytes came through the pipe");
}

TEST("if --out is standard output, it gets only the model's bytes, behind any earlier ones") {
    quantize_once();
    const char *copy = file_at("stdout");
    CHECK(vit("quantize --model %s --out /proc/self/fd/1 2>/dev/null | cat > %s; true", MODEL,
              copy) == 0,
          "%s", output);
    CHECK(same_files(copy, quantized), "a pipe: %s", output);
    CHECK(vit("quantize --model %s --out /proc/self/fd/1 2>/dev/null > %s; true", MODEL, copy) == 0,
          "%s", output);
    CHECK(same_files(copy, quantized), "a file: %s", output);
    put_text(copy, "before");
    CHECK(vit("quantize --model %s --out /proc/self/fd/1 2>/dev/null >> %s; true", MODEL, copy) ==
              0,
          "%s", output);
    size_t size;
    uint8_t *bytes = bytes_of(copy, &size);
    CHECK(size > 6 && !memcmp(bytes, "before", 6), "the earlier bytes are gone");
    free(bytes);
}

TEST("a write that fails half-way leaves the old file and no .part file") {
    const char *out = file_at("limited.safetensors");
    put_text(out, "old");
    CHECK_SAYS(vit("bench --help >/dev/null; ulimit -f 4; " VIT " quantize --model %s --out %s",
                   MODEL, out),
               1, "cannot be written: File too large");
    CHECK(holds(out, "old") && !exists(file_at("limited.safetensors.part")),
          "something is written");
}

TEST("a model that would not open is not written, and the old file stays") {
    const char *out = file_at("old.safetensors");
    vit_error why = {""};
    put_text(out, "old");
    struct file f = file_of(CONFIG);
    f.bytes[f.size - 1] = 0x7f, f.bytes[f.size - 2] = 0xc0; /* NaN */
    CHECK_FAILS(write_model(out, f.bytes, f.size, &why), VIT_BAD_TENSOR, "not written");
    CHECK(strstr(why.text, "NaN"), "%s", why.text);
    CHECK(holds(out, "old") && !exists(file_at("old.safetensors.part")), "something is written");
    f.bytes[f.size - 1] = 0x3f;
    CHECK(!write_model(out, f.bytes, f.size, &why) && !holds(out, "old"), "%s", why.text);
    free(f.bytes);
}

TEST("vit quantize turns a model that pools by attention, also in place, into one that opens") {
    static const char POOLING[] =
        "{\"image_size\":[8,8],\"patch_size\":[4,4],\"channels\":3,\"width\":20,\"depth\":2,"
        "\"heads\":2,\"mlp_width\":24,\"classes\":5,\"prefix\":[],\"pool\":\"attention\"}";
    const char *model = file_at("pooling.safetensors");
    uint8_t *bytes;
    size_t size, count;
    vit_error why = {""};
    vit_model *opened;
    vit_config config;
    REQUIRE(!vit_config_read(&config, POOLING, strlen(POOLING), &why) &&
                !vit_create(&opened, &config, POOLING, strlen(POOLING), &vit_native, &why),
            "%s", why.text);
    random_weights(opened, &(uint64_t){1});
    const float *parameters = vit_parameters(opened, &count);
    size = vit_encode(NULL, 0, opened, parameters, POOLING, strlen(POOLING));
    bytes = malloc(size);
    vit_encode(bytes, size, opened, parameters, POOLING, strlen(POOLING));
    put_file(model, bytes, size);
    free(bytes);
    vit_close(opened);
    REQUIRE(vit("quantize --model %s --out %s", model, model) == 0, "%s", output);
    opened = read_model(model);
    CHECK(opened && vit_model_config(opened)->int8, "it is not int8");
    vit_close(opened);
}
