/* Tensors that are each well formed but make no sense together: parts of a parameter, norms and
 * positions in the wrong place, int8 that is not supported. Each is refused by name, or lies in
 * memory where it belongs. */
#include "builder.h"
#include "file/safetensors.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "vit.h"

struct sizes {
    size_t width, heads, stem;
    bool per_head;
    const char *prefix;
};

static const char *config_of(const struct sizes *s) {
    static char json[1024];
    snprintf(json, sizeof json,
             "{\"image_size\":[4,4],\"patch_size\":[2,2],\"channels\":1,\"width\":%zu,\"depth\":1,"
             "\"heads\":%zu,\"mlp_width\":3,\"classes\":2,\"norm\":\"pre\",\"norm_eps\":1e-6,"
             "\"final_norm\":false,\"activation\":\"gelu\",\"position\":\"none\",\"pool\":\"mean\","
             "\"prefix\":[%s],\"attention\":\"%s\",\"stem\":[%s]}",
             s->width, s->heads, s->prefix ? s->prefix : "", s->per_head ? "per_head" : "standard",
             s->stem ? "4" : "");
    return json;
}

/* ---- Queries, keys and values apart -------------------------------------- */

enum what { PATCH = 1, NORM1, QKV, QKV_BIAS, PROJ, NORM2, FC1, FC2, HEAD, OTHER };

/* Adds all tensors but the patches' matrix, and the attention's queries, keys and values. */
static void add_but_patches(struct builder *b, const struct sizes *s) {
    size_t D = s->width;
    ADD(b, "patch_embed.proj.bias", PATCH, 9999, D);
    ADD(b, "blocks.0.norm1.weight", NORM1, 0, D);
    ADD(b, "blocks.0.norm1.bias", NORM1, 9999, D);
    ADD(b, "blocks.0.norm2.weight", NORM2, 0, D);
    ADD(b, "blocks.0.norm2.bias", NORM2, 9999, D);
    ADD(b, "blocks.0.mlp.fc1.weight", FC1, 0, 3, D);
    ADD(b, "blocks.0.mlp.fc1.bias", FC1, 9999, 3);
    ADD(b, "blocks.0.mlp.fc2.weight", FC2, 0, D, 3);
    ADD(b, "blocks.0.mlp.fc2.bias", FC2, 9999, D);
    ADD(b, "head.weight", HEAD, 0, 2, D);
    ADD(b, "head.bias", HEAD, 9999, 2);
    if (s->per_head) return;
    ADD(b, "blocks.0.attn.proj.weight", PROJ, 0, D, D);
    ADD(b, "blocks.0.attn.proj.bias", PROJ, 9999, D);
}

static void add_rest(struct builder *b, const struct sizes *s) {
    ADD(b, "patch_embed.proj.weight", PATCH, 0, s->width, 1, 2, 2);
    add_but_patches(b, s);
}

/* The map of a file with separate queries, keys and values. */
static const char *map_apart(void) {
    static char map[TEXT_MAX];
    write_map(map, "",
              "\"blocks.0.attn.qkv.weight\":[\"query.weight\",\"key.weight\",\"value.weight\"],"
              "\"blocks.0.attn.qkv.bias\":[\"query.bias\",\"key.bias\",\"value.bias\"],"
              "\"patch_embed.backbone.0.weight\":[\"patch_embed.backbone.0.weight\"],"
              "\"patch_embed.backbone.0.bias\":[\"patch_embed.backbone.0.bias\"]");
    return map;
}

/* A file of separate queries, keys and values. rows: how many each has. order: their order in the
 * file. */
static struct file apart(const struct sizes *s, const size_t rows[3], const size_t order[3]) {
    static const char *const NAMES[] = {"query", "key", "value"};
    size_t K = s->per_head ? s->width / s->heads : s->width;
    struct builder *b = builder_new();
    for (size_t i = 0; i < 3; i++) {
        char name[96];
        size_t part = order[i], first = 0;
        for (size_t j = 0; j < part; j++) first += rows[j];
        snprintf(name, sizeof name, "%s.weight", NAMES[part]);
        ADD(b, name, QKV, first * K, rows[part], K);
        snprintf(name, sizeof name, "%s.bias", NAMES[part]);
        ADD(b, name, QKV_BIAS, first, rows[part]);
    }
    add_rest(b, s);
    return builder_file(b);
}

/* A number of a parameter of the opened model, whatever the table's packing: the product with a row
 * of the unit matrix. */
static float packed_at(const vit_model *m, const struct param *p, size_t row, size_t column) {
    size_t N = p->N, K = p->K;
    const float *matrix = m->floats + p->offset + row / N * matrix_floats(m->kernels, false, N, K);
    float *x = floats(K), *y = floats(N);
    memset(x, 0, K * sizeof *x);
    x[column] = 1;
    m->kernels->matmul(y, N, x, K, matrix, NULL, VIT_LINEAR, false, 1, N, K);
    float value = y[row % N];
    free(x), free(y);
    return value;
}

static void check_qkv(const struct sizes *s, const size_t order[3], const struct vit_kernels *k) {
    const size_t rows[] = {s->width, s->width, s->width};
    struct file f = apart(s, rows, order);
    vit_model *m = NULL;
    vit_error why = {""};
    const char *json = config_of(s), *map = map_apart();
    vit_status status =
        vit_open_with_config(&m, f.bytes, f.size, json, strlen(json), map, strlen(map), k, &why);
    free(f.bytes);
    REQUIRE(status == VIT_OK, "%s, width %zu: %s", k->name, s->width, why.text);
    struct params_walk walk = params_walk_start(&m->config, k, NULL);
    struct param param;
    while (params_next(&walk, &param) && strcmp(param.name, "blocks.0.attn.qkv.weight")) continue;
    for (size_t row = 0; row < 3 * s->width; row++)
        for (size_t column = 0; column<param.K; column += param.K> 1 ? param.K - 1 : 1) {
            uint64_t seed = (uint64_t)QKV << 32 | (row * param.K + column);
            float want = random_float(&seed), got = packed_at(m, &param, row, column);
            CHECK(within(got, want, 0),
                  "%s, width %zu, heads %zu, per_head %d: row %zu is %g, want %g", k->name,
                  s->width, s->heads, s->per_head, row, (double)got, (double)want);
        }
    vit_close(m);
}

TEST("separate queries, keys and values are packed like one tensor, wherever panels begin") {
    static const size_t ORDERS[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    static const struct sizes SIZES[] = {
        {4, 1, 0, false, 0},  {4, 4, 0, true, 0},   {12, 3, 0, false, 0}, {12, 3, 0, true, 0},
        {20, 1, 0, true, 0},  {24, 2, 0, false, 0}, {40, 2, 0, true, 0},  {48, 1, 0, true, 0},
        {50, 1, 0, false, 0}, {52, 1, 0, true, 0},  {64, 4, 0, true, 0},
    };
    EACH_KERNELS(k) {
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
            for (size_t j = 0; j < 3; j++) check_qkv(&SIZES[i], ORDERS[j], k);
    }
}

/* map: NULL if all names are ours. Frees the file. */
static void expect_opened(const char *what, struct file f, const char *json, const char *map,
                          vit_status want, const char *says) {
    expect_mapped(what, &f, json, map, map ? strlen(map) : 0, want, says);
    free(f.bytes);
}

TEST("separate queries, keys and values that are not a third each are refused by name") {
    static const size_t SHARES[][3] = {{47, 96, 1}, {1, 1, 142}, {96, 24, 24}, {24, 48, 72},
                                       {0, 72, 72}, {144, 0, 0}, {48, 48, 47}, {48, 49, 48}};
    static const size_t ORDERS[][3] = {{0, 1, 2}, {2, 0, 1}};
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        for (size_t j = 0; j < 4; j++) {
            const struct sizes s = {48, j & 1 ? 2 : 1, 0, j & 2, NULL};
            expect_opened("shares", apart(&s, SHARES[i], ORDERS[j % 2]), config_of(&s), map_apart(),
                          VIT_BAD_TENSOR, "expected shape (48,");
        }
}

/* ---- int8 that is not supported ------------------------------------------ */

static void add_qkv(struct builder *b) {
    ADD(b, "blocks.0.attn.qkv.weight", QKV, 0, 48, 16);
    ADD(b, "blocks.0.attn.qkv.bias", QKV_BIAS, 0, 48);
}

static void add_blocks(struct builder *b) {
    add_rest(b, &(struct sizes){.width = 16});
    add_qkv(b);
}

static void add_pooling(struct builder *b) {
    ADD(b, "attn_pool.latent", OTHER, 0, 1, 1, 16);
    ADD(b, "attn_pool.q.bias", OTHER, 1000, 16);
    ADD(b, "attn_pool.kv.bias", OTHER, 1100, 32);
    ADD(b, "attn_pool.proj.weight", OTHER, 2000, 16, 16);
    ADD(b, "attn_pool.proj.bias", OTHER, 3000, 16);
    ADD(b, "attn_pool.norm.weight", OTHER, 4000, 16);
    ADD(b, "attn_pool.norm.bias", OTHER, 5000, 16);
    ADD(b, "attn_pool.mlp.fc1.weight", OTHER, 6000, 3, 16);
    ADD(b, "attn_pool.mlp.fc1.bias", OTHER, 7000, 3);
    ADD(b, "attn_pool.mlp.fc2.weight", OTHER, 8000, 16, 3);
    ADD(b, "attn_pool.mlp.fc2.bias", OTHER, 9000, 16);
}

TEST("int8 in any of the tensors that make up a pooling's matrix is refused by name") {
    char json[TEXT_MAX];
    strcpy(json, replaced(config_of(&(struct sizes){16, 2, 0, false, NULL}), "\"mean\"",
                          "\"attention\""));
    for (unsigned int8 = 0; int8 < 8; int8++) { /* bits: q in int8, kv in int8, a scale */
        struct builder *b = builder_new();
        add_blocks(b), add_pooling(b);
        if (int8 & 4) ADD(b, "attn_pool.qkv.weight.scale", OTHER, 0, 48);
        if (!(int8 & 1)) ADD(b, "attn_pool.q.weight", OTHER, 100, 16, 16);
        if (!(int8 & 2)) ADD(b, "attn_pool.kv.weight", OTHER, 200, 32, 16);
        if (int8 & 1) add_int8(b, "attn_pool.q.weight", 16, 16);
        if (int8 & 2) add_int8(b, "attn_pool.kv.weight", 32, 16);
        expect_opened("int8 parts", builder_file(b), json, NULL, int8 ? VIT_BAD_TENSOR : VIT_OK,
                      int8 & 1   ? "\"attn_pool.q.weight\": expected F32"
                      : int8 & 2 ? "\"attn_pool.kv.weight\": expected F32"
                      : int8     ? "\"attn_pool.qkv.weight.scale\""
                                 : "");
    }
}

TEST("int8 in any of the tensors that make up a block's matrix is refused by name") {
    static const char *const NAMES[] = {"query", "key", "value"};
    const struct sizes s = {16, 1, 0, false, NULL};
    for (unsigned int8 = 1; int8 < 8; int8++) {
        struct builder *b = builder_new();
        char name[96], says[128] = "";
        add_rest(b, &s);
        for (unsigned i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "%s.bias", NAMES[i]);
            ADD(b, name, QKV_BIAS, i, 16);
        }
        ADD(b, "blocks.0.attn.qkv.weight.scale", OTHER, 0, 48);
        for (unsigned pass = 0; pass < 2; pass++)
            for (unsigned i = 0; i < 3; i++) {
                snprintf(name, sizeof name, "%s.weight", NAMES[i]);
                if (pass == 0 && !(int8 >> i & 1)) ADD(b, name, QKV, 0, 16, 16);
                if (pass == 1 && int8 >> i & 1) add_int8(b, name, 16, 16);
                if (int8 >> i & 1 && !*says) snprintf(says, sizeof says, "%s", name);
            }
        expect_opened("int8 parts", builder_file(b), config_of(&s), map_apart(), VIT_BAD_TENSOR,
                      says);
    }
}

/* ---- Norms and positions in the wrong place ------------------------------ */

TEST("a norm of the patches after a stem is refused by name") {
    static const char *const NORMS[] = {"patch_embed.norm_in.weight", "patch_embed.norm_in.bias",
                                        "patch_embed.norm.weight"};
    for (size_t n = 0; n <= 3; n++) {
        struct builder *b = builder_new();
        add_blocks(b);
        ADD(b, "patch_embed.backbone.0.weight", OTHER, 0, 4, 1, 3, 3);
        ADD(b, "patch_embed.backbone.0.bias", OTHER, 100, 4);
        for (size_t i = 0; i < n; i++) ADD(b, NORMS[i], OTHER, 200, i < 2 ? 4 : 16);
        strcpy(b->header, replaced(b->header, "[16,1,2,2]", "[16,4,1,1]"));
        expect_opened("a norm behind a stem", builder_file(b),
                      config_of(&(struct sizes){16, 2, 1, false, NULL}), NULL,
                      n ? VIT_BAD_TENSOR : VIT_OK, n ? "patch_embed.norm" : "");
    }
}

TEST("a stem's convolution with the shape of a Linear is refused by name") {
    struct builder *b = builder_new();
    const struct sizes s = {16, 2, 1, false, NULL};
    add_rest(b, &s);
    ADD(b, "query.weight", QKV, 0, 16, 16);
    ADD(b, "key.weight", QKV, 0, 16, 16);
    ADD(b, "value.weight", QKV, 0, 16, 16);
    ADD(b, "patch_embed.backbone.0.weight", OTHER, 0, 4, 9);
    ADD(b, "patch_embed.backbone.0.bias", OTHER, 100, 4);
    strcpy(b->header, replaced(b->header, "[16,1,2,2]", "[16,4,1,1]"));
    expect_opened("a flat convolution", builder_file(b), config_of(&s),
                  replaced(map_apart(), "patches\":false", "patches\":true"), VIT_BAD_TENSOR,
                  "patch_embed.backbone.0.weight\": expected shape (4,1,3,3), got (4,9)");
}

/* For four patches and each prefix: the numbers of rows of positions that are accepted. All other
 * numbers are refused. */
TEST("positions that neither fit the prefix nor form a grid to resize are refused by name") {
    static const struct {
        const char *prefix;
        size_t registers;
        bool rows[14]; /* whether this number of rows is accepted */
    } PREFIXES[] = {
        {"", 0, {[1] = 1, [4] = 1, [9] = 1}},
        {"\"register\"", 1, {[1] = 1, [2] = 1, [4] = 1, [5] = 1, [9] = 1, [10] = 1}},
        {"\"register\",\"register\"", 2, {[1] = 1, [3] = 1, [4] = 1, [6] = 1, [9] = 1, [11] = 1}},
        {"\"class\"", 0, {[1] = 1, [2] = 1, [4] = 1, [5] = 1, [9] = 1, [10] = 1}},
        {"\"class\",\"register\"",
         1,
         {[1] = 1, [2] = 1, [3] = 1, [4] = 1, [5] = 1, [6] = 1, [9] = 1, [10] = 1, [11] = 1}},
        {"\"class\",\"distillation\",\"register\"",
         1,
         {[1] = 1, [4] = 1, [7] = 1, [9] = 1, [12] = 1}},
    };
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        for (size_t rows = 0; rows < 14; rows++) {
            char json[TEXT_MAX];
            struct builder *b = builder_new();
            const struct sizes s = {16, 2, 0, false, PREFIXES[i].prefix};
            strcpy(json, replaced(config_of(&s), "\"none\"", "\"learned\""));
            add_blocks(b);
            ADD(b, "pos_embed", OTHER, 0, 1, rows, 16);
            if (strstr(s.prefix, "class")) ADD(b, "cls_token", OTHER, 500, 1, 1, 16);
            if (strstr(s.prefix, "distil")) ADD(b, "dist_token", OTHER, 600, 1, 1, 16);
            if (PREFIXES[i].registers)
                ADD(b, "reg_token", OTHER, 700, 1, PREFIXES[i].registers, 16);
            if (strstr(s.prefix, "distil")) {
                ADD(b, "head_dist.weight", HEAD, 0, 2, 16);
                ADD(b, "head_dist.bias", HEAD, 9999, 2);
            }
            char what[64];
            snprintf(what, sizeof what, "[%s] and %zu positions", s.prefix, rows);
            bool valid = PREFIXES[i].rows[rows];
            expect_opened(what, builder_file(b), json, NULL, valid ? VIT_OK : VIT_BAD_TENSOR,
                          valid ? "" : "\"pos_embed\"");
        }
}

/* ---- Small files that ask for much --------------------------------------- */

TEST("computed positions far larger than the file are refused before memory is taken for them") {
    static const char *const KINDS[] = {"\"sincos1d\"", "\"sincos2d\"", "\"learned\""};
    for (size_t i = 0; i < 3; i++) {
        char json[TEXT_MAX];
        struct builder *b = builder_new();
        strcpy(json,
               replaced(config_of(&(struct sizes){128, 2, 0, false, NULL}), "\"none\"", KINDS[i]));
        strcpy(json, replaced(json, "\"image_size\":[4,4]", "\"image_size\":[512,512]"));
        add_blocks(b);
        if (i == 2) ADD(b, "pos_embed", OTHER, 0, 1, 1, 128);
        expect_opened(KINDS[i], builder_file(b), json, NULL, VIT_BAD_CONFIG,
                      "config: image_size: expected positions of at most");
    }
}

TEST("a file that is longer than its announced size is refused for the fault that comes first") {
    vit_loader *loader = NULL;
    vit_model *model = NULL;
    vit_error why = {""};
    MUST(vit_open_begin(&loader, ST_LENGTH_BYTES, NULL, 0, NULL, 0, NULL, &why));
    vit_open_feed(loader, "\xff\xff\xff\xff\xff\xff\xff\xff{\"", 10);
    vit_status status = vit_open_end(&model, loader, &why);
    CHECK(status == VIT_BAD_FILE && strstr(why.text, "safetensors"), "%s", why.text);
}

TEST("a long header may arrive in pieces of any size") {
    static char header[(3 << 20) + TEXT_MAX];
    size_t data_size = write_header(header, CONFIG, SIZE_MAX), length = strlen(header);
    memset(header + length, ' ', 3 << 20);
    struct file f = pack_file(header, data_size);
    for (size_t piece = 4099; piece < 8 << 20; piece *= 37) {
        vit_loader *loader = NULL;
        vit_model *model = NULL;
        vit_error why = {""};
        MUST(vit_open_begin(&loader, f.size, NULL, 0, NULL, 0, NULL, &why));
        for (size_t at = 0; at < f.size; at += piece)
            vit_open_feed(loader, f.bytes + at, f.size - at < piece ? f.size - at : piece);
        vit_status status = vit_open_end(&model, loader, &why);
        CHECK(status == VIT_OK, "pieces of %zu: %s", piece, why.text);
        vit_close(model);
    }
    free(f.bytes);
}

/* ---- Files that look odd but are right ----------------------------------- */

/* Puts a prefix before every tensor's name. */
static void put_behind(struct builder *b, const char *prefix) {
    char out[TEXT_MAX] = "";
    for (const char *p = b->header; *p; p++) {
        put(out, "%c", *p);
        if (*p == '"' && p > b->header && p[-1] == ',' && strstr(p, "\":{") &&
            (strncmp(p + 1, "shape", 5) && strncmp(p + 1, "data_", 5)))
            put(out, "%s", prefix);
    }
    strcpy(b->header, out);
}

TEST("an fc_norm and int8 scales are found even if all tensors' names have a prefix") {
    const struct sizes s = {16, 2, 0, false, NULL};
    char json[TEXT_MAX], map[TEXT_MAX];
    write_map(map, "model.",
              "\"fc_norm.weight\":[\"model.fc_norm.weight\"],"
              "\"fc_norm.bias\":[\"model.fc_norm.bias\"],\"norm.weight\":[\"norm.weight\"]");
    struct builder *b = builder_new();
    add_blocks(b);
    ADD(b, "fc_norm.weight", OTHER, 0, 16);
    ADD(b, "fc_norm.bias", OTHER, 0, 16);
    put_behind(b, "model.");
    strcpy(json, replaced(config_of(&s), "\"final_norm\":false", "\"final_norm\":true"));
    expect_opened("fc_norm", builder_file(b), json, map, VIT_OK, "");

    b = builder_new();
    add_but_patches(b, &s);
    add_qkv(b);
    ADD(b, "patch_embed.proj.weight.scale", NORM1, 0, 16);
    for (size_t i = b->floats - 16; i < b->floats; i++) b->data[i] = 0.5f;
    add_int8(b, "patch_embed.proj.weight", 16, 4);
    strcpy(b->header, replaced(b->header, "[16,4]", "[16,1,2,2]"));
    put_behind(b, "model.");
    expect_opened("scales", builder_file(b), config_of(&s), map, VIT_OK, "");
}

TEST("a class token's position is distinguished from a grid that is not square") {
    char json[TEXT_MAX];
    const struct sizes s = {16, 2, 0, false, "\"class\",\"register\""};
    struct builder *b = builder_new();
    strcpy(json, replaced(config_of(&s), "\"none\"", "\"learned\""));
    strcpy(json, replaced(json, "\"image_size\":[4,4]", "\"image_size\":[4,6]"));
    add_blocks(b);
    ADD(b, "pos_embed", OTHER, 0, 1, 7, 16);
    ADD(b, "cls_token", OTHER, 500, 1, 1, 16);
    ADD(b, "reg_token", OTHER, 700, 1, 1, 16);
    expect_opened("2 by 3 patches", builder_file(b), json, NULL, VIT_OK, "");
}
