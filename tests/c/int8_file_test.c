/* Files of int8 models: every fault in one is refused by name. */
#include "hostile.h"
#include "kernels/kernels.h"
#include "model.h"
#include "vit.h"

/* The good file in int8, made by hand, which tests spoil. There is room for one more tensor. */
struct entry {
    char name[64];
    const char *type, *shape;
    size_t count;
};
struct entries {
    struct entry at[TENSORS_COUNT + 5];
    size_t count;
};

static void add_entry(struct entries *list, const char *name, const char *type, const char *shape,
                      size_t count) {
    struct entry *e = &list->at[list->count++];
    *e = (struct entry){.type = type, .shape = shape, .count = count};
    snprintf(e->name, sizeof e->name, "%s", name);
}

static struct entries good_entries(void) {
    struct entries list = {.count = 0};
    for (size_t i = 0; i < TENSORS_COUNT; i++) {
        const struct tensor *t = &TENSORS[i];
        bool int8 = !strncmp(t->name, "blocks.", 7) && strchr(t->shape, ',');
        size_t rows = (size_t)strtoul(t->shape + 1, NULL, 10);
        char scale[64];
        snprintf(scale, sizeof scale, "%s.scale", t->name);
        add_entry(&list, t->name, int8 ? "I8" : "F32", t->shape, t->count);
        if (int8)
            add_entry(&list, scale, "F32", rows == 12 ? "[12]" : rows == 3 ? "[3]" : "[4]", rows);
    }
    return list;
}

static struct entry *entry_of(struct entries *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0) return &list->at[i];
    check_failed(__FILE__, __LINE__, "the good file has no %s", name);
    return list->at;
}

static size_t bytes_each(const struct entry *e) {
    return strcmp(e->type, "I8") == 0 ? 1 : strcmp(e->type, "F16") == 0 ? 2 : 4;
}

/* Makes the file. Floats are 0.5, int8 numbers count up from -128, and the first number of tensor
 * `spoiled` is `value`. */
static struct file file_from(const struct entries *list, const char *spoiled, float value) {
    char header[TEXT_MAX];
    size_t size = 0;
    begin_header(header, CONFIG);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = &list->at[i];
        size = put_tensor(header, e->name, e->type, e->shape, size, e->count * bytes_each(e));
    }
    put(header, "}");
    struct file f = header_file(header, size);
    uint8_t *at = f.bytes + f.size - size;
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = &list->at[i];
        bool spoil = spoiled && strcmp(spoiled, e->name) == 0;
        for (size_t k = 0; k < e->count; k++, at += bytes_each(e)) {
            float number = spoil && k == 0 ? value : 0.5f;
            uint8_t bytes[4] = {(uint8_t)(k - 128)};
            if (bytes_each(e) == 4) memcpy(bytes, &number, sizeof number);
            memcpy(at, bytes, bytes_each(e));
        }
    }
    return f;
}

TEST("an int8 file made by hand opens, even with a weight of -128 or a scale of 0") {
    struct entries list = good_entries();
    expect("the good file", file_from(&list, NULL, 0), VIT_OK, "");
    expect("a scale of 0", file_from(&list, "blocks.0.mlp.fc1.weight.scale", 0), VIT_OK, "");
}

TEST("an int8 scale of a wrong value, type or shape is refused by name") {
    static const float BAD[] = {-0.5f, NAN, INFINITY, -INFINITY};
    static const char *const NAMES[] = {
        "blocks.0.attn.qkv.weight.scale", "blocks.0.attn.proj.weight.scale",
        "blocks.0.mlp.fc1.weight.scale", "blocks.0.mlp.fc2.weight.scale"};
    static const struct entry WRONG[] = {{"missing", "F32", NULL, 0},
                                         {"", "F16", NULL, 0},
                                         {"", "I8", NULL, 0},
                                         {"", "F32", "[1]", 1},
                                         {"", "F32", "[1,2]", 2}};
    for (size_t i = 0; i < 4; i++) {
        struct entries good = good_entries();
        for (size_t k = 0; k < 4; k++)
            expect("a bad scale", file_from(&good, NAMES[i], BAD[k]), VIT_BAD_TENSOR, NAMES[i]);
        for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; k++) {
            struct entries list = good_entries();
            struct entry *e = entry_of(&list, NAMES[i]);
            if (WRONG[k].name[0]) strcpy(e->name, WRONG[k].name);
            e->type = WRONG[k].type;
            if (WRONG[k].count) e->shape = WRONG[k].shape, e->count = WRONG[k].count;
            expect("a wrong scale", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAMES[i]);
        }
    }
}

TEST("a file is refused if only some matrices of its blocks are int8, or a vector is") {
    static const char *const MATRICES[] = {"blocks.0.attn.proj.weight", "blocks.0.mlp.fc1.weight",
                                           "blocks.0.mlp.fc2.weight", "blocks.0.attn.qkv.weight"};
    static const char *const VECTORS[] = {
        "cls_token", "pos_embed", "blocks.0.norm1.weight", "blocks.0.attn.qkv.bias",
        "norm.bias", "head.bias"};
    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        struct entries list = good_entries();
        entry_of(&list, VECTORS[i])->type = "I8";
        expect("a vector of int8", file_from(&list, NULL, 0), VIT_BAD_TENSOR, VECTORS[i]);
    }
    for (size_t i = 0; i < 4; i++) { /* qkv decides what the others must be */
        struct entries list = good_entries();
        entry_of(&list, MATRICES[i])->type = "F32";
        expect("a matrix of floats", file_from(&list, NULL, 0), VIT_BAD_TENSOR, MATRICES[i % 3]);
        list = good_entries();
        for (size_t k = 0; k < 4; k++)
            if (k != i) entry_of(&list, MATRICES[k])->type = "F16";
        expect("a matrix of int8", file_from(&list, NULL, 0), VIT_BAD_TENSOR,
               MATRICES[i == 3 ? 0 : i]);
    }
    struct entries list = good_entries();
    for (size_t i = 0; i < 4; i++) entry_of(&list, MATRICES[i])->type = "F32";
    expect("scales of floats", file_from(&list, NULL, 0), VIT_BAD_TENSOR, ".scale");
}

TEST("int8 rows that are too long for 32-bit sums are refused by name") {
    char config[TEXT_MAX];
    strcpy(config, replaced(CONFIG, "\"mlp_width\":3", "\"mlp_width\":65537"));
    struct entries list = good_entries();
    *entry_of(&list, "blocks.0.mlp.fc1.weight") =
        (struct entry){"blocks.0.mlp.fc1.weight", "I8", "[65537,4]", 4 * 65537};
    *entry_of(&list, "blocks.0.mlp.fc1.weight.scale") =
        (struct entry){"blocks.0.mlp.fc1.weight.scale", "F32", "[65537]", 65537};
    *entry_of(&list, "blocks.0.mlp.fc1.bias") =
        (struct entry){"blocks.0.mlp.fc1.bias", "F32", "[65537]", 65537};
    *entry_of(&list, "blocks.0.mlp.fc2.weight") =
        (struct entry){"blocks.0.mlp.fc2.weight", "I8", "[4,65537]", 4 * 65537};
    struct file f = file_from(&list, NULL, 0);
    vit_model *model;
    vit_error why = {""};
    vit_status status =
        vit_open_with_config(&model, f.bytes, f.size, config, strlen(config), NULL, 0, NULL, &why);
    CHECK(status == VIT_BAD_TENSOR && strstr(why.text, "fc2.weight") && strstr(why.text, "65536"),
          "%s: %s", vit_status_name(status), why.text);
    vit_close(model);
    free(f.bytes);
}

/* The good file with the head in int8 and the head's scales before it. */
static struct entries head_in_int8(void) {
    struct entries good = good_entries(), list = {.count = 0};
    for (size_t i = 0; i < good.count; i++) {
        const struct entry *e = &good.at[i];
        bool head = strcmp(e->name, "head.weight") == 0;
        if (head) add_entry(&list, "head.weight.scale", "F32", "[2]", 2);
        add_entry(&list, e->name, head ? "I8" : e->type, e->shape, e->count);
    }
    return list;
}

TEST("an int8 head whose scales are in the file becomes floats") {
    struct entries list = head_in_int8();
    const float scale[] = {0.25f, 0.5f};
    struct file f = file_from(&list, "head.weight.scale", scale[0]);
    EACH_INT8_KERNELS(k) {
        vit_model *model = NULL;
        vit_error why = {""};
        vit_open(&model, f.bytes, f.size, k, &why);
        REQUIRE(model, "%s: %s", k->name, why.text);
        float want[8], packed[64] = {0};
        for (int i = 0; i < 8; i++) want[i] = (float)(i - 128) * scale[i / 4];
        CHECK(k->packed_size(2, 4) <= 64, "%s: a larger head", k->name);
        k->pack(packed, want, 4, 1, 2, 4);
        CHECK_SAME_BITS(model->params.head_weight, packed, k->packed_size(2, 4), k->name);
        vit_close(model);
    }
    free(f.bytes);
}

TEST("an int8 head with wrong scales, or with none before it, is refused by name") {
    static const char NAME[] = "head.weight.scale";
    struct entries list = good_entries();
    entry_of(&list, "head.weight")->type = "I8";
    expect("no scales", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAME);
    add_entry(&list, NAME, "F32", "[2]", 2);
    expect("scales after it", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAME);
    list = head_in_int8();
    expect("a scale below 0", file_from(&list, NAME, -1), VIT_BAD_TENSOR, NAME);
    expect("a scale of NaN", file_from(&list, NAME, NAN), VIT_BAD_TENSOR, NAME);
    expect("a scale out of reach", file_from(&list, NAME, FLT_MAX), VIT_BAD_TENSOR, "head.weight");
    entry_of(&list, NAME)->type = "F16";
    expect("scales in halves", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAME);
    list = head_in_int8();
    *entry_of(&list, NAME) = (struct entry){"head.weight.scale", "F32", "[4]", 4};
    expect("more scales", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAME);
    entry_of(&list, "head.weight")->type = "F32";
    expect("scales of floats", file_from(&list, NULL, 0), VIT_BAD_TENSOR, NAME);
}
