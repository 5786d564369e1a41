/* A file opened in pieces gives the same model as the file opened at once, and a bad file gives the
 * same status and message. */
#include "golden.h"
#include "hostile.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "save.h"
#include "vit.h"

/* ---- Good files --------------------------------------------------------- */

/* Opens a model from its file's bytes, fed in pieces of `piece`. */
static vit_model *open_in_pieces(const uint8_t *bytes, size_t size, size_t piece,
                                 const struct vit_kernels *k, vit_status *status, vit_error *why) {
    vit_loader *loader = NULL;
    vit_model *model = NULL;
    *status = vit_open_begin(&loader, size, NULL, 0, NULL, 0, k, why);
    if (*status) return NULL;
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        uint8_t *copy = malloc(n); /* a block of its own, so that a sanitizer sees any overrun */
        memcpy(copy, bytes + at, n);
        vit_status fed = vit_open_feed(loader, copy, n);
        free(copy);
        if (fed) break;
    }
    *status = vit_open_end(&model, loader, why);
    return model;
}

static void check_same_model(const char *name, size_t piece, const vit_model *got,
                             const vit_model *want) {
    char what[128];
    snprintf(what, sizeof what, "%s, %s, pieces of %zu", name, want->kernels->name, piece);
    CHECK(got->float_count == want->float_count, "%s: another size", what);
    if (got->float_count == want->float_count)
        CHECK_SAME_BITS(got->floats, want->floats, want->float_count, what);
}

static void check_pieces(const char *name, const uint8_t *bytes, size_t size) {
    static const size_t PIECES[] = {1, 7, 61, 4096};
    EACH_KERNELS(k) {
        vit_error why = {""};
        vit_model *whole = NULL;
        vit_status status = vit_open(&whole, bytes, size, k, &why);
        CHECK(whole, "%s, %s: %s", name, k->name, why.text);
        for (size_t i = 0; whole && i < sizeof PIECES / sizeof *PIECES; i++) {
            vit_model *model = open_in_pieces(bytes, size, PIECES[i], k, &status, &why);
            CHECK(model, "%s, %s, pieces of %zu: %s", name, k->name, PIECES[i], why.text);
            if (model) check_same_model(name, PIECES[i], model, whole);
            vit_close(model);
        }
        vit_close(whole);
    }
}

TEST("a file read in pieces of any size gives the same model as the file at once") {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) {
        vit_model *origin = random_model(&CONFIGS[i].config, unpacked_kernels(), i);
        for (int int8 = 0; int8 < 2; int8++) {
            size_t size;
            uint8_t *bytes = encode_as(origin, int8, &size);
            check_pieces(CONFIGS[i].name, bytes, size);
            free(bytes);
        }
        vit_close(origin);
    }
}

TEST("files of halves, or of positions for another image size, may also come in pieces") {
    static const char *const NAMES[] = {"half", "bfloat", "positions_enlarged", "positions_reduced",
                                        "patch_positions"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t size;
        uint8_t *bytes = read_file(NAMES[i], ".safetensors", &size);
        if (bytes) check_pieces(NAMES[i], bytes, size);
        free(bytes);
    }
}

/* Compares the packed matrices with those that `pack` makes of a whole matrix at once. */
TEST("packing rows as they arrive gives the same bits as packing the whole matrix") {
    vit_config wide = CONFIGS[0].config;
    wide.width = 148; /* three whole groups of rows and a part */
    wide.image_size[0] = wide.image_size[1] = 4, wide.patch_size[0] = wide.patch_size[1] = 2;
    wide.channels = 3, wide.depth = 1, wide.heads = 2, wide.mlp_width = 101, wide.classes = 50;
    vit_model *origin = random_model(&wide, unpacked_kernels(), 9);
    const float *p = parameters_of(origin);
    EACH_KERNELS(k) {
        vit_model *model = reopen(origin, k);
        struct params_walk walk = params_walk_start(&model->config, k, NULL);
        struct param to;
        for (size_t i = 0; params_next(&walk, &to); i++) {
            if (!to.matrices) continue;
            size_t n = k->packed_size(to.N, to.K);
            float *packed = floats(n);
            memset(packed, 0, n * sizeof *packed); /* floats between rows are 0 in a model too */
            k->pack(packed, p + vit_tensor_at(origin, i).offset, to.K, 1, to.N, to.K);
            CHECK_SAME_BITS(model->floats + to.offset, packed, n, to.name);
            free(packed);
        }
        vit_close(model);
    }
    vit_close(origin);
}

/* The good file with its tensors in order or backwards. Every number tells its place. */
static struct file reordered(bool backwards) {
    char header[TEXT_MAX];
    size_t begin[TENSORS_COUNT], at = 0;
    begin_header(header, CONFIG);
    for (size_t i = 0; i < TENSORS_COUNT; i++) {
        size_t k = backwards ? TENSORS_COUNT - 1 - i : i;
        begin[k] = at;
        at = put_tensor(header, TENSORS[k].name, "F32", TENSORS[k].shape, at, 4 * TENSORS[k].count);
    }
    put(header, "}");
    struct file f = header_file(header, at);
    uint8_t *data = f.bytes + f.size - at;
    for (size_t i = 0; i < TENSORS_COUNT; i++)
        for (size_t k = 0; k < TENSORS[i].count; k++)
            memcpy(data + begin[i] + 4 * k, &(float){(float)(100 * i + k)}, sizeof(float));
    return f;
}

TEST("tensors may lie in any order in the file") {
    struct file forwards = reordered(false), backwards = reordered(true);
    check_pieces("backwards", backwards.bytes, backwards.size);
    EACH_KERNELS(k) {
        vit_model *a = NULL, *b = NULL;
        vit_open(&a, forwards.bytes, forwards.size, k, NULL);
        vit_open(&b, backwards.bytes, backwards.size, k, NULL);
        CHECK(a && b, "%s: a file does not open", k->name);
        if (a && b) check_same_model("backwards", 0, b, a);
        vit_close(a);
        vit_close(b);
    }
    free(forwards.bytes);
    free(backwards.bytes);
}

TEST("a pos_embed in the file is skipped if the config computes the positions") {
    char config[TEXT_MAX];
    strcpy(config, replaced(CONFIG, "\"learned\"", "\"sincos1d\""));
    struct file f = file_of(config);
    check_pieces("sincos1d", f.bytes, f.size);
    free(f.bytes);
}

/* ---- Bad files ---------------------------------------------------------- */

TEST("a file that ends early or late is refused") {
    struct file f = file_of(CONFIG);
    for (size_t size = 0; size <= f.size + 1; size++) {
        vit_loader *loader;
        vit_model *model = (vit_model *)&size;
        vit_error why = {""};
        uint8_t *bytes = calloc(f.size + 1, 1);
        memcpy(bytes, f.bytes, f.size);
        vit_status status = vit_open_begin(&loader, f.size, NULL, 0, NULL, 0, NULL, &why);
        REQUIRE(status == VIT_OK, "begin: %s", why.text);
        vit_status fed = vit_open_feed(loader, bytes, size);
        status = vit_open_end(&model, loader, &why);
        if (size == f.size)
            CHECK(!fed && !status && model, "a whole file: %s", why.text);
        else
            CHECK((fed != VIT_OK) == (size > f.size) && status == VIT_BAD_FILE && !model &&
                      strstr(why.text, size > f.size ? "got more" : "truncated"),
                  "%zu of %zu bytes: %s: %s", size, f.size, vit_status_name(status), why.text);
        if (model != (vit_model *)&size) vit_close(model);
        free(bytes);
    }
    free(f.bytes);
}

TEST("a size too short for any header is refused before the first byte") {
    for (size_t size = 0; size < 8; size++) {
        vit_loader *loader = (vit_loader *)&size;
        vit_error why = {""};
        vit_status status = vit_open_begin(&loader, size, NULL, 0, NULL, 0, NULL, &why);
        CHECK(status == VIT_BAD_FILE && !loader && strstr(why.text, "safetensors"),
              "%zu bytes: %s: %s", size, vit_status_name(status), why.text);
    }
}

TEST("a bad header is refused at its last byte, and later bytes are ignored") {
    char header[TEXT_MAX];
    size_t data = write_header(header, CONFIG, SIZE_MAX);
    struct file f = pack_file(replaced(header, "cls_token", "cls_taken"), data);
    vit_loader *loader;
    vit_model *model;
    vit_error why = {""};
    REQUIRE(!vit_open_begin(&loader, f.size, NULL, 0, NULL, 0, NULL, &why), "begin: %s", why.text);
    vit_status fed = vit_open_feed(loader, f.bytes, f.size - data - 1);
    CHECK(fed == VIT_OK, "all but its last byte: %s", vit_status_name(fed));
    fed = vit_open_feed(loader, f.bytes + f.size - data - 1, 1);
    CHECK(fed == VIT_BAD_TENSOR, "its last byte: %s", vit_status_name(fed));
    for (size_t i = 0; i < 3; i++) {
        fed = vit_open_feed(loader, f.bytes, f.size);
        CHECK(fed == VIT_BAD_TENSOR, "more: %s", vit_status_name(fed));
    }
    vit_status status = vit_open_end(&model, loader, &why);
    CHECK(status == VIT_BAD_TENSOR && !model && strstr(why.text, "cls_token"), "end: %s", why.text);
    free(f.bytes);
}
