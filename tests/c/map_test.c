/* Files whose tensors have other names, opened by a map: they give the same parameters as our own
 * files, to the bit. A map that lies is refused by a message. */
#include "file/safetensors.h"
#include "hostile.h"
#include "kernels/kernels.h"
#include "model.h"
#include "save.h"
#include "vit.h"

/* ---- True maps ----------------------------------------------------------- */

/* A file that is made of one of ours, and its map. */
struct foreign {
    char header[TEXT_MAX], tensors[TEXT_MAX]; /* without the first brace and comma */
    uint8_t *data;
    size_t size;
};

/* Adds a tensor of floats. Dimensions of 1 are left out of its shape. */
static void add(struct foreign *f, const char *name, const float *x, const size_t *shape,
                size_t rank) {
    size_t count = 1, written = 0;
    put(f->header, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", name);
    for (size_t i = 0; i < rank; i++) {
        count *= shape[i];
        if (shape[i] != 1 || rank == 2) put(f->header, written++ ? ",%zu" : "%zu", shape[i]);
    }
    put(f->header, "],\"data_offsets\":[%zu,%zu]}", f->size, f->size + 4 * count);
    memcpy(f->data + f->size, x, 4 * count);
    f->size += 4 * count;
}

/* Adds queries, keys and values, or queries and the rest, each as a tensor; the last comes first. */
static void add_parts(struct foreign *f, const char *ours, const float *x, size_t rows, size_t each,
                      size_t parts, bool vector) {
    char name[96];
    put(f->tensors, ",\"%s\":[", ours);
    for (size_t i = 0; i < parts; i++)
        put(f->tensors, "%s\"part %zu of %s\"", i ? "," : "", i, ours);
    put(f->tensors, "]");
    for (size_t i = parts; i-- > 0;) {
        size_t first = i * rows / 3, last = i + 1 < parts ? first + rows / 3 : rows;
        snprintf(name, sizeof name, "part %zu of %s", i, ours);
        add(f, name, x + first * each, (const size_t[]){last - first, each}, vector ? 1 : 2);
    }
}

/* (N,C,A) → (N,A,C), for each of N. */
static void swap_axes(float *to, const float *from, size_t N, size_t C, size_t A) {
    for (size_t n = 0; n < N; n++)
        for (size_t c = 0; c < C; c++)
            for (size_t a = 0; a < A; a++) to[(n * A + a) * C + c] = from[(n * C + c) * A + a];
}

/* Adds tensor t of our file, as other code may have it. kind: a number that varies it. */
static void add_changed(struct foreign *f, const struct st_tensor *t, const uint8_t *bytes,
                        const vit_config *c, size_t kind) {
    char name[96];
    size_t rows = t->shape[0], each = rows ? t->count / rows : 0;
    float *x = floats(t->count), *y = floats(t->count);
    st_floats(x, t->type, bytes, t->count);
    snprintf(name, sizeof name, "their %s", t->name);
    if (strstr(t->name, ".qkv.")) {
        add_parts(f, t->name, x, rows, each, 2 + kind % 2, t->rank == 1);
    } else {
        put(f->tensors, ",\"%s\":[\"%s\"]", t->name, name);
        if (!strcmp(t->name, "head.weight") && kind % 2) {
            swap_axes(y, x, 1, rows, each);
            add(f, name, y, (const size_t[]){each, rows}, 2);
        } else if (!strcmp(t->name, "patch_embed.proj.weight") && !c->stem_layers) {
            size_t channels = t->shape[1], area = each / channels;
            if (kind % 2) swap_axes(y, x, rows, channels, area);
            add(f, name, kind % 2 ? y : x, (const size_t[]){rows, each}, 2);
        } else if (strstr(t->name, ".norm_in.") && kind % 2) {
            swap_axes(y, x, 1, c->channels, t->count / c->channels);
            add(f, name, y, t->shape, t->rank);
        } else {
            add(f, name, x, t->shape, t->rank);
        }
    }
    free(x), free(y);
}

static void check_same(const char *what, const vit_model *got, const vit_model *want) {
    CHECK(got->float_count == want->float_count, "%s: another size", what);
    if (got->float_count == want->float_count)
        CHECK_SAME_BITS(got->floats, want->floats, want->float_count, what);
}

/* Checks that the model, encoded as ours, opens without a map. */
static void check_encoded(const char *what, vit_model *model) {
    vit_model *again = NULL;
    vit_error why = {""};
    size_t json_size, count;
    const char *json = vit_model_json(model, &json_size);
    const float *parameters = vit_parameters(model, &count);
    if (!parameters) return;
    size_t size = vit_encode(NULL, 0, model, parameters, json, json_size);
    uint8_t *bytes = malloc(size);
    vit_encode(bytes, size, model, parameters, json, json_size);
    vit_status status = vit_open(&again, bytes, size, model->kernels, &why);
    free(bytes);
    REQUIRE(status == VIT_OK, "%s, encoded: %s", what, why.text);
    check_same(what, again, model);
    vit_close(again);
}

static void check_foreign(const char *what, const struct file *f, const char *json, const char *map,
                          const vit_model *want, size_t piece) {
    vit_loader *loader;
    vit_model *got;
    vit_error why = {""};
    REQUIRE(!vit_open_begin(&loader, f->size, json, strlen(json), map, strlen(map), want->kernels,
                            &why),
            "%s: %s", what, why.text);
    for (size_t at = 0; at < f->size; at += piece)
        vit_open_feed(loader, f->bytes + at, f->size - at < piece ? f->size - at : piece);
    REQUIRE(!vit_open_end(&got, loader, &why), "%s, %s: %s", what, want->kernels->name, why.text);
    check_same(what, got, want);
    check_encoded(what, got);
    vit_close(got);
}

/* Checks the model in a file of other code. index: a number that varies the file. */
static void check_config(const struct named_config *named, size_t index) {
    vit_model *ours = random_model(&named->config, unpacked_kernels(), index);
    const vit_config *c = vit_model_config(ours);
    vit_error why = {""};
    struct safetensors st;
    struct foreign foreign = {"", "", NULL, 0};
    char map[2 * TEXT_MAX], json[2048];
    size_t size, length;
    uint8_t *bytes = encode_model(ours, &size);
    CHECK(!st_length(&length, bytes, size, &why), "%s", why.text);
    const uint8_t *data = bytes + ST_LENGTH_BYTES + length;
    MUST(st_open(&st, (const char *)bytes + ST_LENGTH_BYTES, length,
                 size - ST_LENGTH_BYTES - length, &why));
    foreign.data = malloc(size);
    for (size_t i = st.count; i-- > 0;)
        add_changed(&foreign, &st.tensors[i], data + st.tensors[i].begin, c, index);
    add(&foreign, "another tower", (const float[]){1, 2}, (const size_t[]){1, 2}, 2);
    snprintf(map, sizeof map,
             "{\"family\":\"others\",\"strict\":false,\"matrix_patches\":true,\"transposed\":[%s],"
             "\"skipped\":[\"another tower\"],\"tensors\":{%s}}",
             index % 2 ? "\"head.weight\"" : "", foreign.tensors + 1);
    snprintf(json, sizeof json, "{\"patch_order\":\"channels_%s\",%s", index % 2 ? "last" : "first",
             config_json(c) + 1);
    foreign.header[0] = '{';
    put(foreign.header, "}");
    struct file f = pack_file(foreign.header, foreign.size);
    memcpy(f.bytes + f.size - foreign.size, foreign.data, foreign.size);
    EACH_KERNELS(k) {
        vit_model *want = reopen(ours, k);
        check_foreign(named->name, &f, json, map, want, SIZE_MAX / 2);
        check_foreign(named->name, &f, json, map, want, 61);
        vit_close(want);
    }
    free(f.bytes), free(foreign.data), free(bytes);
    st_close(&st);
    vit_close(ours);
}

TEST("a file with other names, parts and orders gives the same parameters by its map") {
    for (size_t i = 0; i < CONFIGS_COUNT; i++) check_config(&CONFIGS[i], i);
}

/* Only the tensors tell these. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct named_config FOUND[] = {
    {"norms of the patches", {TINY, .channels = 3, .patch_norm_in = true, .patch_norm = true}},
    {"a norm before the blocks, without biases",
     {TINY, .norm_pre = true, .patch_bias = false, .head_bias = false}},
    {"a distillation token without a head", {TINY, .distillation_tokens = 1, .no_head_dist = true}},
    {"an fc_norm", {TINY, .pool = VIT_POOL_MEAN, .fc_norm = true}},
    {"an fc_norm beside the norm", {TINY, .head_norm = true}},
    {"a norm of the patches' tokens alone", {TINY, .patch_norm = true}},
};
#pragma GCC diagnostic pop

TEST("parameters that a model need not have are found by the map") {
    for (size_t i = 0; i < sizeof FOUND / sizeof *FOUND; i++)
        for (size_t kind = 0; kind < 2; kind++) check_config(&FOUND[i], kind);
}

/* ---- Maps that lie ------------------------------------------------------- */

#define CLASS "\"cls_token\":[\"cls_token\"]"
static const struct spoiled LIES[] = {
    {"a true map", "", "", VIT_OK, ""},
    {"a name with an escape", CLASS, "\"cls_token\":[\"cls\\u005ftoken\"]", VIT_OK, ""},
    {"a skipped tensor that is not there", "\"skipped\":[", "\"skipped\":[\"x\"", VIT_OK, ""},
    {"a parameter that no model has", CLASS, CLASS ",\"x\":[\"y\",\"z\"]", VIT_OK, ""},
    {"a member less", "\"strict\":false,", "", VIT_BAD_ARGUMENT, "map: strict is missing"},
    {"a member more", "\"strict\"", "\"loose\":1,\"strict\"", VIT_BAD_ARGUMENT, "\"loose\""},
    {"a member twice", "\"skipped\"", "\"skipped\":[],\"skipped\"", VIT_BAD_ARGUMENT, "twice"},
    {"a number for true", "\"strict\":false", "\"strict\":1", VIT_BAD_ARGUMENT, "strict"},
    {"a number for a family", "\"a test\"", "7", VIT_BAD_ARGUMENT, "family"},
    {"an object for a list", "\"skipped\":[]", "\"skipped\":{}", VIT_BAD_ARGUMENT, "skipped"},
    {"a list for the tensors", "\"tensors\":{", "\"tensors\":[],\"x\":{", VIT_BAD_ARGUMENT,
     "tensors"},
    {"a null for the tensors", "\"tensors\":{", "\"tensors\":null,\"x\":{", VIT_BAD_ARGUMENT,
     "tensors"},
    {"a number skipped", "\"skipped\":[", "\"skipped\":[1", VIT_BAD_ARGUMENT, "got 1"},
    {"skipped and used", "\"skipped\":[", "\"skipped\":[\"cls_token\"", VIT_BAD_ARGUMENT,
     "\"cls_token\" is there twice"},
    {"skipped and then needed", CLASS ",", "", VIT_BAD_TENSOR, "\"cls_token\": is missing"},
    {"a norm transposed", "\"transposed\":[", "\"transposed\":[\"norm.weight\"", VIT_BAD_ARGUMENT,
     "or \"text.proj.weight\", got \"norm.weight\""},
    {"a number transposed", "\"transposed\":[", "\"transposed\":[1", VIT_BAD_ARGUMENT, "got 1"},
    {"a head that is not transposed", "\"transposed\":[", "\"transposed\":[\"head.weight\"",
     VIT_BAD_TENSOR, "\"head.weight\": expected shape (4,2), got (2,4)"},
    {"no source", CLASS, "\"cls_token\":[]", VIT_BAD_ARGUMENT, "expected 1 to 3 names"},
    {"a source that is no list", CLASS, "\"cls_token\":\"cls_token\"", VIT_BAD_ARGUMENT,
     "expected 1 to 3 names"},
    {"four sources", CLASS, "\"cls_token\":[\"a\",\"b\",\"c\",\"d\"]", VIT_BAD_ARGUMENT,
     "expected 1 to 3 names"},
    {"a number for a source", CLASS, "\"cls_token\":[1]", VIT_BAD_ARGUMENT, "got 1"},
    {"a list for a source", CLASS, "\"cls_token\":[[\"cls_token\"]]", VIT_BAD_ARGUMENT, "got ["},
    {"a source of two parameters", CLASS, "\"cls_token\":[\"pos_embed\"]", VIT_BAD_ARGUMENT,
     "\"pos_embed\" is there twice"},
    {"a source twice in a parameter", CLASS, "\"x\":[\"cls_token\",\"cls_token\"]",
     VIT_BAD_ARGUMENT, "\"cls_token\" is there twice"},
    {"a parameter twice", CLASS, CLASS ",\"cls_token\":[\"x\"]", VIT_BAD_ARGUMENT,
     "tensors: \"cls_token\" is there twice"},
    {"a source that is missing", CLASS, "\"cls_token\":[\"class\"]", VIT_BAD_TENSOR,
     "tensor \"class\": is missing; expected it, named as in a test, for cls_token of shape"},
    {"a part that is missing", "[\"blocks.0.attn.qkv.bias\"]",
     "[\"blocks.0.attn.qkv.bias\",\"k\",\"v\"]", VIT_BAD_TENSOR, "tensor \"k\": is missing"},
    {"an unknown parameter", CLASS, "\"class_token\":[\"cls_token\"]", VIT_BAD_TENSOR,
     "\"cls_token\": is missing"},
    {"parts of a norm", "\"norm.weight\":[\"norm.weight\"],\"norm.bias\":[\"norm.bias\"]",
     "\"norm.weight\":[\"norm.weight\",\"norm.bias\"]", VIT_BAD_ARGUMENT,
     "map: norm.weight: expected one tensor, got 2"},
    {"parts that do not fit", "\"blocks.0.attn.qkv.bias\":[\"blocks.0.attn.qkv.bias\"]",
     "\"blocks.0.attn.qkv.bias\":[\"blocks.0.attn.qkv.bias\",\"head.bias\"]", VIT_BAD_ARGUMENT,
     "twice"},
    {"a name that is no text", CLASS, "\"cls_token\":[\"\\ud800\"]", VIT_BAD_ARGUMENT, "ud800"},
    {"a name that is not UTF-8", CLASS, "\"cls_token\":[\"\xff\xfe\"]", VIT_BAD_TENSOR,
     "is missing"},
    {"a name with a 0", CLASS, "\"cls_token\":[\"cls_token\\u0000\"]", VIT_BAD_TENSOR,
     "tensor \"cls_token"},
    {"no JSON", "{", "{,", VIT_BAD_ARGUMENT, "map: expected a JSON object"},
    {"a deep list", "\"skipped\":[", "\"skipped\":[" DEEP8(DEEP8(DEEP8(DEEP8("")))),
     VIT_BAD_ARGUMENT, "map: expected a JSON object"},
};

TEST("a map that lies is refused by a message, and a harmless one is not") {
    char map[TEXT_MAX];
    struct file f = file_of(CONFIG);
    write_map(map, "", "");
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        const char *spoiled = replaced(map, LIES[i].from, LIES[i].to);
        expect_mapped(LIES[i].what, &f, CONFIG, spoiled, strlen(spoiled), LIES[i].status,
                      LIES[i].says);
    }
    expect_mapped("a list", &f, CONFIG, "[]", 2, VIT_BAD_ARGUMENT, "JSON object");
    expect_mapped("nothing", &f, CONFIG, "", 0, VIT_BAD_ARGUMENT, "JSON object");
    for (size_t size = 0; size < strlen(map); size++)
        expect_mapped("half a map", &f, CONFIG, map, size, VIT_BAD_ARGUMENT, "map");
    free(f.bytes);
}

TEST("a tensor that the config does not need must be skipped, or is named with its family") {
    char map[TEXT_MAX], config[TEXT_MAX];
    struct file f = file_of(CONFIG);
    strcpy(config, replaced(CONFIG, "\"final_norm\":true", "\"final_norm\":false"));
    write_map(map, "", "");
    expect_mapped(
        "a norm too many", &f, config, map, strlen(map), VIT_BAD_TENSOR,
        "\"norm.bias\": is not part of the model that the config describes; names are as in "
        "a test");
    write_map(map, "", "\"norm.weight\":[\"x\"],\"norm.bias\":[\"y\"]");
    strcpy(map, replaced(map, "\"skipped\":[", "\"skipped\":[\"norm.bias\",\"norm.weight\""));
    expect_mapped("both skipped", &f, config, map, strlen(map), VIT_OK, "");
    strcpy(map, replaced(map, "\"norm.bias\",", ""));
    expect_mapped("one skipped", &f, config, map, strlen(map), VIT_BAD_TENSOR, "\"norm.bias\"");
    free(f.bytes);
}

TEST("a strict map takes no other dimensions of 1, and its messages are short") {
    char header[TEXT_MAX], map[TEXT_MAX];
    size_t data_size = write_header(header, CONFIG, SIZE_MAX);
    struct file f = pack_file(replaced(header, "[1,1,4]", "[4]"), data_size);
    write_map(map, "", "");
    expect_mapped("(4)", &f, CONFIG, map, strlen(map), VIT_OK, "");
    strcpy(map, replaced(map, "\"strict\":false", "\"strict\":true"));
    expect_mapped("(4), strict", &f, CONFIG, map, strlen(map), VIT_BAD_TENSOR,
                  "\"cls_token\": expected shape (1,1,4), got (4)");
    strcpy(map, replaced(map, CLASS, "\"cls_token\":[\"class\"]"));
    expect_mapped("missing, strict", &f, CONFIG, map, strlen(map), VIT_BAD_TENSOR,
                  "tensor \"class\": is missing; expected shape (1,1,4)");
    free(f.bytes);
}

/* A map of more than `count` entries, whose tensors no file has. */
static char *long_map(size_t count, size_t name_size) {
    char map[TEXT_MAX], *name = malloc(name_size + 1);
    write_map(map, "", "");
    size_t room = sizeof map + count * (name_size + 24);
    char *out = malloc(room), *at = out + strlen(map) - 2;
    memset(name, 'x', name_size);
    name[name_size] = '\0';
    strcpy(out, map);
    for (size_t i = 0; i < count; i++)
        at += snprintf(at, room - (size_t)(at - out), ",\"%zu\":[\"%s\"]", i, name);
    strcpy(at, "}}");
    free(name);
    return out;
}

TEST("a map may be long, but not of a million entries or of endless names") {
    static const struct {
        size_t count, name_size;
        vit_status status;
        const char *says;
    } CASES[] = {{90000, 1, VIT_OK, ""},
                 {100000, 1, VIT_BAD_ARGUMENT, "map: tensors: expected at most 100000"},
                 {1000000, 1, VIT_BAD_ARGUMENT, "map: tensors: expected at most 100000"},
                 {1, 384, VIT_OK, ""},
                 {1, 385, VIT_BAD_ARGUMENT, "at most 384 bytes"},
                 {1, 1 << 20, VIT_BAD_ARGUMENT, "at most 384 bytes"}};
    struct file f = file_of(CONFIG);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char *map = long_map(CASES[i].count, CASES[i].name_size);
        expect_mapped("a long map", &f, CONFIG, map, strlen(map), CASES[i].status, CASES[i].says);
        free(map);
    }
    free(f.bytes);
}
