/* A file is data from a stranger. Every fault gives the right status and a message that names the
 * culprit, and never a model, a crash or a leak. */
#include "hostile.h"

TEST("the good file that the tests spoil opens, with and without a place for messages") {
    struct file f = file_of(CONFIG);
    vit_error why;
    vit_model *model = NULL;
    CHECK(open_bytes(f.bytes, f.size, &why) == VIT_OK, "%s", why.text);
    CHECK(vit_open(&model, f.bytes, f.size, NULL, NULL) == VIT_OK,
          "without a table and without why");
    vit_close(model);
    CHECK(vit_open(&model, f.bytes, f.size - 1, NULL, NULL) != VIT_OK, "cut, without why");
    free(f.bytes);
}

/* ---- The bytes ---------------------------------------------------------- */

TEST("a file cut off at any byte is refused") {
    struct file f = file_of(CONFIG);
    size_t header = 8 + (f.bytes[0] | (size_t)f.bytes[1] << 8);
    for (size_t size = 0; size < f.size; size++) {
        struct file cut = new_file(size);
        vit_error why;
        memcpy(cut.bytes, f.bytes, size);
        vit_status status = open_bytes(cut.bytes, size, &why);
        CHECK(size < header ? status == VIT_BAD_FILE : status != VIT_OK,
              "cut at %zu of %zu: %s: %s", size, f.size, vit_status_name(status), why.text);
        free(cut.bytes);
    }
    free(f.bytes);
}

TEST("a file with bytes after its data is refused") {
    struct file f = file_of(CONFIG);
    for (size_t more = 1; more < 6; more++) {
        struct file longer = new_file(f.size + more);
        memset(longer.bytes, 0, longer.size);
        memcpy(longer.bytes, f.bytes, f.size);
        expect("trailing bytes", longer, VIT_BAD_FILE, "bytes of data");
    }
    free(f.bytes);
}

TEST("a header length beyond the file or beyond the limit is refused") {
    static const uint64_t LENGTHS[] = {
        0,          1,          2,           1u << 20,  100000001,      0x7fffffff,
        0x80000000, 0xffffffff, 0x100000000, INT64_MAX, UINT64_MAX - 7, UINT64_MAX};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        struct file f = file_of(CONFIG);
        for (size_t b = 0; b < 8; b++) f.bytes[b] = (uint8_t)(LENGTHS[i] >> 8 * b);
        expect("a wrong header length", f, VIT_BAD_FILE, "");
    }
}

TEST("a file that is no safetensors file is refused as such") {
    static const char *const FILES[][2] = {
        {"", "safetensors"},
        {"<!DOCTYPE html><html><head><title>404</title></head></html>", "HTML"},
        {"{\"error\":\"not found\"}", "safetensors"},
        {"\x89PNG\r\n\x1a\n followed by some more", "safetensors"}};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        struct file f = new_file(strlen(FILES[i][0]));
        memcpy(f.bytes, FILES[i][0], f.size);
        expect(FILES[i][0], f, VIT_BAD_FILE, FILES[i][1]);
    }
    vit_error why;
    CHECK(open_bytes(NULL, 0, &why) == VIT_BAD_FILE, "no bytes: %s", why.text);
}

/* ---- The header --------------------------------------------------------- */

#define CLS "\"cls_token\":{\"dtype\":\"F32\",\"shape\":[1,1,4],\"data_offsets\":[0,16]}"

static const struct spoiled HEADERS[] = {
    {"no object", "{\"__meta", "[\"__meta", VIT_BAD_FILE, "JSON"},
    {"two values", "{\"__meta", "{}{\"__meta", VIT_BAD_FILE, "JSON"},
    {"a comma too many", "},\"cls", "},,\"cls", VIT_BAD_FILE, "JSON"},
    {"an unknown escape", "cls_token", "cls\\x5ftoken", VIT_BAD_FILE, "JSON"},
    {"half an escape", "cls_token", "cls\\u00_token", VIT_BAD_FILE, "JSON"},
    {"a control character", "cls_token", "cls\ntoken", VIT_BAD_FILE, "JSON"},
    {"half a surrogate pair", "cls_token", "\\ud83dtoken", VIT_BAD_FILE, "escape"},
    {"a surrogate pair turned round", "cls_token", "\\ude00\\ud83d", VIT_BAD_FILE, "escape"},
    {"a name that is no UTF-8", "cls_token", "cls\xff\xfe", VIT_BAD_TENSOR, ""},
    {"a name with a NUL in it", "cls_token", "cls_token\\u0000", VIT_BAD_TENSOR, "cls_token"},
    {"deep nesting", "[1,1,4]", DEEP8(DEEP8(DEEP8(DEEP8(DEEP8(DEEP8("1")))))), VIT_BAD_FILE,
     "JSON"},
    {"metadata that is no object", "{\"format\":\"pt\",", "[],\"other\":{", VIT_BAD_FILE,
     "__metadata__"},
    {"metadata that is no string", "\"format\":\"pt\"", "\"format\":1", VIT_BAD_FILE, "format"},
    {"no config", "\"vitrine\"", "\"vitrage\"", VIT_BAD_CONFIG,
     "the file holds no config in __metadata__.vitrine; npx vitrine"},
    {"two configs", "\"format\":\"pt\"", "\"vitrine\":\"{}\"", VIT_BAD_FILE, "twice"},
    {"metadata twice", CLS, CLS ",\"__metadata__\":{}", VIT_BAD_FILE, "__metadata__"},
    {"a tensor twice", CLS, CLS "," CLS, VIT_BAD_TENSOR, "cls_token"},
    {"a tensor twice, one empty", CLS,
     CLS ",\"cls_token\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", VIT_BAD_TENSOR,
     "cls_token"},
    {"an empty tensor more", CLS,
     CLS ",\"nothing\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[16,16]}", VIT_BAD_TENSOR,
     "nothing"},
    {"a tensor that is no object", CLS, "\"cls_token\":7", VIT_BAD_TENSOR, "cls_token"},
    {"no dtype", "\"dtype\":\"F32\",", "", VIT_BAD_TENSOR, "cls_token"},
    {"a member more", "\"dtype\":\"F32\",", "\"dtype\":\"F32\",\"x\":0,", VIT_BAD_TENSOR,
     "cls_token"},
    {"dtype twice", "\"shape\":[1,1,4]", "\"dtype\":\"F32\"", VIT_BAD_TENSOR, "cls_token"},
    {"type F64", "F32", "F64", VIT_BAD_TENSOR, "F64"},
    {"type I64", "F32", "I64", VIT_BAD_TENSOR, "cls_token"},
    {"type f32", "F32", "f32", VIT_BAD_TENSOR, "cls_token"},
    {"type 32", "\"F32\"", "32", VIT_BAD_TENSOR, "cls_token"},
    {"type I64 of I64's size", "F32\",\"shape\":[1,1,4]", "I64\",\"shape\":[1,1,2]", VIT_BAD_TENSOR,
     "cls_token\": expected"},
    {"type BOOL of the expected shape", "F32\",\"shape\":[1,1,4],\"data_offsets\":[0,16]",
     "BOOL\",\"shape\":[1,1,4],\"data_offsets\":[0,4]},\"x\":{\"dtype\":\"U8\",\"shape\":[12],"
     "\"data_offsets\":[4,16]",
     VIT_BAD_TENSOR, "cls_token\": expected dtype F64, F32, F16, BF16 or I8, got BOOL"},
    {"bytes that wrap in the widest type", "F32\",\"shape\":[1,1,4]",
     "F64\",\"shape\":[2305843009213693954]", VIT_BAD_TENSOR, "fit in memory"},
    {"type F16 of F32's size", "F32", "F16", VIT_BAD_TENSOR, "cls_token"},
    {"type I8 of F32's size", "F32", "I8", VIT_BAD_TENSOR, "cls_token"},
    {"type I8 in place of a float", "F32\",\"shape\":[1,1,4]", "I8\",\"shape\":[1,1,16]",
     VIT_BAD_TENSOR, "cls_token"},
    {"a shape too short", "[1,1,4]", "[1,4]", VIT_BAD_TENSOR, "cls_token"},
    {"a shape too long", "[1,1,4]", "[1,1,1,4]", VIT_BAD_TENSOR, "cls_token"},
    {"a shape turned round", "[12,4]", "[4,12]", VIT_BAD_TENSOR, "attn.qkv.weight"},
    {"another rank for the patches", "[4,1,2,2]", "[4,4]", VIT_BAD_TENSOR, "patch_embed"},
    {"no shape", "[1,1,4]", "[]", VIT_BAD_TENSOR, "cls_token"},
    {"a shape that is no array", "[1,1,4]", "4", VIT_BAD_TENSOR, "cls_token"},
    {"a shape of rank 9", "[1,1,4]", "[1,1,1,1,1,1,1,1,4]", VIT_BAD_TENSOR, "cls_token"},
    {"a negative size", "[1,1,4]", "[-1,-1,4]", VIT_BAD_TENSOR, "cls_token"},
    {"a size with a fraction", "[1,1,4]", "[1,1,4.5]", VIT_BAD_TENSOR, "cls_token"},
    {"a size of 1e400", "[1,1,4]", "[1,1,1e400]", VIT_BAD_TENSOR, "cls_token"},
    {"a size that is a string", "[1,1,4]", "[1,1,\"4\"]", VIT_BAD_TENSOR, "cls_token"},
    {"a size that wraps 64 bits", "[1,1,4]", "[1,1,18446744073709551620]", VIT_BAD_TENSOR,
     "cls_token"},
    {"a size that wraps 32 bits", "[1,1,4]", "[1,1,4294967300]", VIT_BAD_TENSOR, "cls_token"},
    {"a product that wraps", "[1,1,4]", "[4294967296,4294967296,4]", VIT_BAD_TENSOR, "cls_token"},
    {"bytes that wrap", "[1,1,4]", "[1,1,4611686018427387908]", VIT_BAD_TENSOR, "cls_token"},
    {"a product that wraps to the very size", "[1,1,4]", "[4,4611686018427387905]", VIT_BAD_TENSOR,
     "fit in memory"},
    {"a product that wraps past a 0", "[1,1,4]", "[4294967296,4294967296,0,4]", VIT_BAD_TENSOR,
     "cls_token"},
    {"one offset", "[0,16]", "[16]", VIT_BAD_TENSOR, "cls_token"},
    {"three offsets", "[0,16]", "[0,16,16]", VIT_BAD_TENSOR, "cls_token"},
    {"offsets turned round", "[0,16]", "[16,0]", VIT_BAD_TENSOR, "cls_token"},
    {"a negative offset", "[0,16]", "[-16,0]", VIT_BAD_TENSOR, "cls_token"},
    {"offsets past the end", "[0,16]", "[100000,100016]", VIT_BAD_TENSOR, "cls_token"},
    {"offsets that wrap", "[0,16]", "[18446744073709551600,18446744073709551615]", VIT_BAD_TENSOR,
     "cls_token"},
    {"offsets beyond 64 bits", "[0,16]", "[36893488147419103232,36893488147419103248]",
     VIT_BAD_TENSOR, "cls_token"},
    {"an offset with a fraction", "[0,16]", "[0.5,16.5]", VIT_BAD_TENSOR, "cls_token"},
    {"a size that is not the shape's", "[0,16]", "[0,12]", VIT_BAD_TENSOR, "cls_token"},
    {"tensors that overlap", "[16,96]", "[12,92]", VIT_BAD_TENSOR, "pos_embed"},
    {"tensors that share", "[16,96]", "[0,80]", VIT_BAD_TENSOR, ""},
    {"a gap", "[0,16]", "[4,20]", VIT_BAD_TENSOR, "cls_token"},
    {"no such block", "blocks.0.norm1.weight", "blocks.1.norm1.weight", VIT_BAD_TENSOR,
     "blocks.0.norm1.weight"},
};

static void expect_spoiled(const char *header, size_t data_size, const struct spoiled *list,
                           size_t count) {
    for (const struct spoiled *s = list; s < list + count; s++)
        expect(s->what, pack_file(replaced(header, s->from, s->to), data_size), s->status, s->says);
}

TEST("every fault in a header is refused with its tensor or key named") {
    char header[TEXT_MAX];
    size_t data_size = write_header(header, CONFIG, SIZE_MAX);
    expect_spoiled(header, data_size, HEADERS, sizeof HEADERS / sizeof *HEADERS);
}

TEST("a header may have escapes in names, and padding") {
    char header[TEXT_MAX];
    size_t data_size = write_header(header, CONFIG, SIZE_MAX);
    expect("an escaped name",
           pack_file(replaced(header, "cls_token", "\\u0063ls\\u005Ftoken"), data_size), VIT_OK,
           "");
    put(header, " \t\r\n     ");
    expect("padding", pack_file(header, data_size), VIT_OK, "");
}

TEST("a header of brackets alone is refused without exhausting the stack") {
    enum { DEPTH = 200000 };
    struct file f = new_file(8 + DEPTH);
    for (size_t i = 0; i < 8; i++) f.bytes[i] = (uint8_t)((uint64_t)DEPTH >> 8 * i);
    memset(f.bytes + 8, '[', DEPTH);
    expect("brackets", f, VIT_BAD_FILE, "JSON");
}

/* ---- The tensors -------------------------------------------------------- */

TEST("a missing tensor is refused by name") {
    for (size_t i = 0; i < TENSORS_COUNT; i++) {
        char header[TEXT_MAX];
        size_t data_size = write_header(header, CONFIG, i);
        expect("a missing tensor", pack_file(header, data_size), VIT_BAD_TENSOR, TENSORS[i].name);
    }
}

TEST("a tensor that the config does not know is refused by name") {
    expect("no final norm",
           file_of(replaced(CONFIG, "\"final_norm\":true", "\"final_norm\":false")), VIT_BAD_TENSOR,
           "\"norm.");
    expect("no qkv bias", file_of(replaced(CONFIG, "\"qkv_bias\":true", "\"qkv_bias\":false")),
           VIT_BAD_TENSOR, "blocks.0.attn.qkv.bias");
}

TEST("empty positions that claim any number of rows are refused at once") {
    static const size_t ROWS[] = {SIZE_MAX, 1000000};
    for (size_t i = 0; i < 2; i++) {
        char header[TEXT_MAX];
        snprintf(
            header, sizeof header,
            "{\"__metadata__\":{\"vitrine\":\"{\\\"image_size\\\":[4,4],\\\"patch_size\\\":[2,2],"
            "\\\"channels\\\":1,\\\"width\\\":4,\\\"depth\\\":1,\\\"heads\\\":1,\\\"mlp_width\\\":"
            "4,"
            "\\\"classes\\\":2}\"},\"pos_embed\":{\"dtype\":\"F32\",\"shape\":[0,%zu,4],"
            "\"data_offsets\":[0,0]}}",
            ROWS[i]);
        expect("rows without numbers", pack_file(header, 0), VIT_BAD_TENSOR,
               "patch_embed.proj.weight");
    }
}

TEST("weights that are not finite are refused, in every tensor") {
    static const float BAD[] = {NAN, INFINITY, -INFINITY};
    size_t at = 0;
    for (size_t i = 0; i < TENSORS_COUNT; at += TENSORS[i++].count)
        for (size_t k = 0; k < 3; k++) {
            struct file f = file_of(CONFIG);
            size_t data = 8 + (f.bytes[0] | (size_t)f.bytes[1] << 8);
            size_t element = at + (k == 0 ? 0 : TENSORS[i].count - 1);
            memcpy(f.bytes + data + 4 * element, &BAD[k], sizeof(float));
            char says[128];
            snprintf(says, sizeof says,
                     "\"%s\": expected finite numbers, got NaN or infinity at index %zu",
                     TENSORS[i].name, element - at);
            expect("a weight", f, VIT_BAD_TENSOR, says);
        }
}

/* ---- Relative positions ------------------------------------------------- */

#define TABLE "blocks.0.attn.rel_pos.relative_position_bias_table"

/* The good file's header with relative positions. The patches are four in a row, so that the table
 * takes as many bytes as pos_embed did. */
static size_t relative_header(char *out) {
    char config[TEXT_MAX];
    strcpy(config, replaced(CONFIG, "\"learned\"", "\"relative\""));
    strcpy(config, replaced(config, "[4,4]", "[2,8]"));
    size_t data_size = write_header(out, config, SIZE_MAX);
    strcpy(out, replaced(out, "pos_embed", TABLE));
    strcpy(out, replaced(out, "[1,5,4]", "[10,2]"));
    return data_size;
}

static const struct spoiled TABLES[] = {
    {"nothing wrong", TABLE, TABLE, VIT_OK, ""},
    {"no table", TABLE, "relative_position_bias_table", VIT_BAD_TENSOR, TABLE},
    {"another image size", "[2,8]", "[4,4]", VIT_BAD_TENSOR, TABLE "\": expected 12 rows"},
    {"another image size, with the reason", "[2,8]", "[4,8]", VIT_BAD_TENSOR, "only a call"},
    {"many more patches", "[2,8]", "[16384,8]", VIT_BAD_TENSOR, "expected 114684 rows"},
    {"a table turned round", "[10,2]", "[2,10]", VIT_BAD_TENSOR, TABLE "\": expected shape (10,2)"},
    {"a table of one dimension", "[10,2]", "[20]", VIT_BAD_TENSOR, "expected shape (10,2)"},
    {"a table of other heads", "[10,2]", "[20,1]", VIT_BAD_TENSOR, "expected shape (10,2)"},
    {"learned positions besides", "\"norm.weight\"",
     "\"pos_embed\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"norm.weight\"",
     VIT_BAD_TENSOR, "pos_embed"},
};

TEST("a table of relative positions must match the config's grid, prefix and heads") {
    char header[TEXT_MAX];
    size_t data_size = relative_header(header);
    expect_spoiled(header, data_size, TABLES, sizeof TABLES / sizeof *TABLES);
}

TEST("a relative bias that is not finite is refused") {
    char header[TEXT_MAX];
    size_t data_size = relative_header(header), table = 4; /* floats before it: cls_token's */
    for (size_t element = 0; element < 20; element += 19) {
        struct file f = pack_file(header, data_size);
        size_t at = f.size - data_size + 4 * (table + element);
        memcpy(f.bytes + at, &(float){NAN}, sizeof(float));
        expect("a bias", f, VIT_BAD_TENSOR, TABLE);
    }
}
