/* Checkpoints with the tensor names of other code, compared with PyTorch: every file of
 * ../golden/families, with every kernel table, fed whole and in pieces. Also the messages about
 * files that are no ViT. */
#include "golden.h"

#include "file/complete.h"
#include "save.h"

/* config: the keys that no tensor tells. */
static const struct family_case {
    const char *name, *config;
} CASES[] = {
    {"families/torchvision", NULL},
    {"families/encoder_post", "{\"heads\":4,\"norm\":\"post\",\"activation\":\"relu\"}"},
    {"families/encoder_pre", "{\"heads\":2,\"norm\":\"pre\",\"activation\":\"gelu\"}"},
    {"families/timm_behind_a_prefix", "{\"heads\":2}"},
    {"families/vit", "{\"heads\":2}"},
    {"families/vit_half", NULL},
    {"families/vit_without_head", "{\"heads\":2}"},
    {"families/deit", "{\"heads\":2}"},
    {"families/deit_of_one_head", "{\"heads\":2}"},
    {"families/dinov2", "{\"heads\":2,\"norm_eps\":1e-6,\"image_size\":[8,16]}"},
    {"families/dinov2_registers", "{\"heads\":2,\"norm_eps\":1e-6}"},
    {"families/clip", "{\"heads\":2}"},
    {"families/siglip", "{\"heads\":2,\"norm_eps\":1e-6,\"activation\":\"gelu_tanh\"}"},
    {"families/siglip_of_timm", "{\"heads\":2,\"activation\":\"gelu_tanh\"}"},
    {"families/vit_pytorch", "{\"heads\":2,\"pool\":\"class\"}"},
    {"families/vit_pytorch_before", "{\"pool\":\"class\"}"},
    {"families/deit3", "{\"heads\":2}"},
    {"families/dinov2_of_the_hub", "{\"heads\":2}"},
    {"families/mae_with_decoder", "{\"heads\":2}"},
    {"families/clip_classifier", "{\"heads\":2}"},
    {"families/siglip_classifier", "{\"heads\":2}"},
    {"families/timm_map_registers", "{\"heads\":2,\"activation\":\"gelu\",\"pool_prefix\":false}"},
    {"families/openai_clip", "{\"heads\":2}"},
    {"families/open_clip_alone", "{\"heads\":2}"},
    {"families/vit_pytorch_one_head", "{\"pool\":\"class\"}"},
    {"families/vit_pytorch_without_class", "{\"heads\":2,\"pool\":\"mean\"}"},
    {"families/torchvision_of_a_tutorial", NULL},
    {"families/timm_avgmax", "{\"heads\":2,\"pool\":\"mean_max\"}"},
    {"families/timm_max", "{\"heads\":2,\"pool\":\"max\"}"},
    {"families/dinov2_classifier", "{\"heads\":2}"},
    {"families/encoder_unfolded", "{\"heads\":2,\"norm\":\"pre\",\"activation\":\"gelu\"}"},
    {"families/vit_of_transformers_5", "{\"heads\":2}"},
    {"families/dinov2_of_transformers_5", "{\"heads\":2}"},
    {"families/siglip_of_transformers_5", "{\"heads\":2}"},
    {"families/dinov2_in_chunks", "{\"heads\":2}"},
    {"families/open_clip_of_timm", "{\"heads\":2,\"activation\":\"gelu\"}"},
    {"families/timm_prr", "{\"heads\":2,\"pool\":\"prr\"}"},
    {"families/timm_prr_of_all", "{\"heads\":2,\"pool\":\"prr\"}"},
    {"families/timm_mean_of_all", "{\"heads\":2,\"pool_prefix\":true}"},
    {"families/vit_pytorch_mean_before", "{\"pool\":\"mean\"}"},
    {"families/vit_of_another_grid",
     "{\"heads\":2,\"image_size\":[8,16],\"position_size\":[8,20]}"},
};
enum { CASES_COUNT = sizeof CASES / sizeof *CASES };

/* Opens the model, fed `piece` bytes at a time. */
static vit_model *open_in_pieces(const struct golden *g, const char *config, size_t piece,
                                 const struct vit_kernels *kernels) {
    vit_loader *loader = NULL;
    vit_model *model = NULL;
    vit_error why = {""};
    size_t length = config ? strlen(config) : 0;
    if (vit_open_begin(&loader, g->model_size, config, length, kernels, &why)) {
        check_failed(__FILE__, __LINE__, "%s: %s", g->name, why.text);
        return NULL;
    }
    for (size_t at = 0; at < g->model_size; at += piece) {
        size_t n = g->model_size - at < piece ? g->model_size - at : piece;
        vit_open_feed(loader, g->model + at, n);
    }
    vit_status status = vit_open_end(&model, loader, &why);
    if (status)
        check_failed(__FILE__, __LINE__, "%s, %s: %s: %s", g->name, kernels->name,
                     vit_status_name(status), why.text);
    return model;
}

static void check_case(const struct golden *g, const char *config, size_t piece,
                       const struct vit_kernels *kernels) {
    vit_model *model = open_in_pieces(g, config, piece, kernels);
    if (!model) return;
    const vit_config *c = vit_model_config(model);
    float *images = wanted(g, "images", BATCH * image_floats(c));
    struct outputs o = run_model(model, images, BATCH, BATCH);
    CHECK((c->classes > 0) == (st_find(&g->st, "logits") != NULL), "%s: %zu classes", g->name,
          c->classes);
    if (c->classes) compare(g, kernels->name, "logits", o.logits, o.logits_count, FORWARD);
    compare(g, kernels->name, "attention", o.attention, o.attention_count, FORWARD);
    compare(g, kernels->name, "hidden", o.hidden, o.hidden_count, FORWARD);
    compare(g, kernels->name, "tokens", o.tokens, o.tokens_count, FORWARD);
    if (st_find(&g->st, "pooled"))
        compare(g, kernels->name, "pooled", o.pooled, o.pooled_count, FORWARD);
    outputs_free(&o);
    free(images);
    vit_close(model);
}

TEST("checkpoints of other code give PyTorch's logits, attention, hidden and final tokens") {
    static const size_t pieces[] = {SIZE_MAX / 2, 997};
    for (size_t i = 0; i < CASES_COUNT; i++) {
        struct golden g;
        if (!golden_open(&g, CASES[i].name)) continue;
        EACH_KERNELS(k) {
            for (size_t p = 0; p < 2; p++) check_case(&g, CASES[i].config, pieces[p], k);
        }
        golden_close(&g);
    }
}

TEST("checkpoints of other code give the same bits after they are encoded as ours") {
    const struct vit_kernels *k = unpacked_kernels();
    if (!k) SKIP("every kernel table here packs its weights");
    for (size_t i = 0; i < CASES_COUNT; i++) {
        struct golden g;
        if (!golden_open(&g, CASES[i].name)) continue;
        vit_model *model = open_in_pieces(&g, CASES[i].config, SIZE_MAX / 2, k), *ours = NULL;
        REQUIRE(model, "%s does not open", g.name);
        vit_error why = {""};
        size_t json_size, size;
        const char *json = vit_model_json(model, &json_size);
        const float *p = parameters_of(model);
        size = vit_encode(NULL, 0, model, p, json, json_size);
        uint8_t *bytes = malloc(size);
        vit_encode(bytes, size, model, p, json, json_size);
        vit_status status = vit_open(&ours, bytes, size, k, &why);
        CHECK(status == VIT_OK, "%s: %s", g.name, why.text);
        if (ours) {
            float *images = wanted(&g, "images", BATCH * image_floats(vit_model_config(model)));
            struct outputs a = run_model(model, images, BATCH, BATCH),
                           b = run_model(ours, images, BATCH, BATCH);
            CHECK_SAME_BITS(b.logits, a.logits, a.logits_count, g.name);
            CHECK_SAME_BITS(b.tokens, a.tokens, a.tokens_count, g.name);
            outputs_free(&a), outputs_free(&b);
            free(images);
        }
        free(bytes);
        vit_close(ours);
        size = vit_encode_int8(NULL, 0, model, p, json, json_size);
        bytes = malloc(size);
        vit_encode_int8(bytes, size, model, p, json, json_size);
        status = vit_open(&ours, bytes, size, k, &why);
        CHECK(status == VIT_OK && vit_model_config(ours)->int8, "%s in int8: %s", g.name, why.text);
        free(bytes);
        vit_close(ours), vit_close(model);
        golden_close(&g);
    }
}

/* ---- Files that cannot be opened ---------------------------------------- */

/* A file of F32 vectors of one number with these names, NULL after the last. */
static uint8_t *file_of(const char *const *names, size_t *size) {
    char header[4096] = "{";
    size_t count = 0;
    for (; names[count]; count++)
        snprintf(header + strlen(header), sizeof header - strlen(header),
                 "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
                 count ? "," : "", names[count], 4 * count, 4 * count + 4);
    strcat(header, "}");
    size_t length = strlen(header);
    *size = 8 + length + 4 * count;
    uint8_t *bytes = calloc(*size, 1);
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memcpy(bytes + 8, header, length);
    return bytes;
}

/* Checks that the file is refused with a message that contains each of the words. */
static void check_refused(const char *what, const uint8_t *bytes, size_t size, const char *config,
                          vit_status want, const char *const words[3]) {
    vit_model *model;
    vit_error why = {""};
    vit_status status = vit_open_with_config(&model, bytes, size, config,
                                             config ? strlen(config) : 0, kernels_at(0), &why);
    CHECK(status == want, "%s: %s, want %s: %s", what, vit_status_name(status),
          vit_status_name(want), why.text);
    for (size_t i = 0; i < 3 && words[i]; i++)
        CHECK(strstr(why.text, words[i]), "%s: the message does not say %s: %s", what, words[i],
              why.text);
    if (!status) vit_close(model);
}

TEST("a checkpoint of another kind of model is refused, and the message names the closest family") {
    static const struct {
        const char *what, *tensors[6], *words[3];
    } OTHERS[] = {
        {"a ResNet",
         {"bn1.weight", "conv1.weight", "layer1.0.conv1.weight", "fc.weight"},
         {"Vision Transformer", "bn1.weight"}},
        {"a BERT",
         {"bert.embeddings.word_embeddings.weight",
          "bert.encoder.layer.0.attention.self.query.weight",
          "bert.encoder.layer.0.attention.output.dense.weight",
          "bert.encoder.layer.0.intermediate.dense.weight",
          "bert.encoder.layer.0.output.dense.weight"},
         {"encoder.layer.0.attention.attention.query.weight", "transformers"}},
        {"an empty file", {NULL}, {"no tensors"}},
    };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        size_t size;
        uint8_t *bytes = file_of(OTHERS[i].tensors, &size);
        check_refused(OTHERS[i].what, bytes, size, NULL, VIT_BAD_TENSOR, OTHERS[i].words);
        free(bytes);
    }
}

/* Changes the first `from` in the header to `to`, which has the same length. */
static void change(uint8_t *bytes, const char *from, const char *to) {
    size_t n = strlen(from);
    for (;; bytes++)
        if (!memcmp(bytes, from, n)) break;
    memcpy(bytes, to, n);
}

TEST("a tensor that is missing, left over or misshapen is named as its own code names it") {
    static const struct {
        const char *file, *from, *to, *config, *words[3];
        vit_status status;
    } FAULTS[] = {
        {"families/vit",
         "encoder.layer.1.layernorm_before.bias",
         "encoder.layer.1.layernorm_befoer.bias",
         "{\"heads\":2}",
         {"\"vit.encoder.layer.1.layernorm_before.bias\"", "missing", "transformers"},
         VIT_BAD_TENSOR},
        {"families/vit",
         "encoder.layer.1.attention.attention.key.weight",
         "encoder.layer.1.attention.attention.kex.weight",
         "{\"heads\":2}",
         {"\"vit.encoder.layer.1.attention.attention.query.weight\"", "missing"},
         VIT_BAD_TENSOR},
        {"families/deit_of_one_head",
         "classifier.bias",
         "classifiex.bias",
         "{\"heads\":2}",
         {"classifier.bias\"", "missing"},
         VIT_BAD_TENSOR},
        {"families/torchvision",
         "heads.head.bias",
         "heads.hexd.bias",
         NULL,
         {"heads.head.bias", "torchvision"},
         VIT_BAD_TENSOR},
        {"families/vit",
         "embeddings.cls_token\":{\"dtype\":\"F32\",\"shape\":[1,1,20]",
         "embeddings.cls_token\":{\"dtype\":\"F32\",\"shape\":[1,2,10]",
         "{\"heads\":2}",
         {"vit.embeddings.cls_token", "(1,1,20)", "(1,2,10)"},
         VIT_BAD_TENSOR},
        {"families/vit",
         "vit.",
         "vit.",
         "{\"heads\":2,\"mlp_width\":31}",
         {"intermediate.dense", "(31", "(30"},
         VIT_BAD_TENSOR},
        {"families/vit",
         "vit.",
         "vit.",
         NULL,
         {"heads: tell 1, 2, 4 or 5; nothing in this file does"},
         VIT_BAD_CONFIG},
        {"families/vit", "vit.", "vit.", "{\"heads\":3}", {"heads", "20"}, VIT_BAD_CONFIG},
        {"families/encoder_pre", "vit", "vit", "[]", {"JSON object"}, VIT_BAD_CONFIG},
    };
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        struct golden g;
        if (!golden_open(&g, FAULTS[i].file)) continue;
        if (strcmp(FAULTS[i].from, FAULTS[i].to)) change(g.model, FAULTS[i].from, FAULTS[i].to);
        check_refused(FAULTS[i].file, g.model, g.model_size, FAULTS[i].config, FAULTS[i].status,
                      FAULTS[i].words);
        golden_close(&g);
    }
}

enum { TIMMS, ENCODERS, FAMILIES };

/* Infers a config from the tensors of a model of width D. */
static vit_status config_of_width(vit_config *c, int family, size_t D, const char *config,
                                  vit_error *why) {
    static const char *const names_of[FAMILIES][6] = {
        {"cls_token", "patch_embed.proj.weight", "pos_embed", "blocks.0.norm1.weight",
         "blocks.0.attn.qkv.weight", "blocks.0.mlp.fc1.weight"},
        {"cls_token", "patch_embed.weight", "pos_embed", "layers.0.norm1.weight",
         "layers.0.self_attn.in_proj_weight", "layers.0.linear1.weight"}};
    const char *const *name = names_of[family];
    const struct {
        const char *name;
        size_t rows, columns;
    } tensors[] = {{name[0], 1, D}, {name[1], D, 196},   {name[2], 257, D},
                   {name[3], 1, D}, {name[4], 3 * D, D}, {name[5], 4 * D, D}};
    char header[1024] = "{";
    size_t count = sizeof tensors / sizeof *tensors, at = 0, size;
    for (size_t i = 0; i < count; i++) {
        size_t end = at + 4 * tensors[i].rows * tensors[i].columns, used = strlen(header);
        snprintf(header + used, sizeof header - used,
                 "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
                 i ? "," : "", tensors[i].name, tensors[i].rows, tensors[i].columns, at, end);
        at = end;
    }
    strcat(header, "}");
    struct safetensors st;
    struct names names;
    char *json = NULL;
    struct assumed assumed;
    const struct json given = {config, strlen(config), JSON_OBJECT};
    vit_status status = st_open(&st, header, strlen(header), at, why);
    if (!status && !names_find(&names, &st, why)) status = VIT_BAD_TENSOR;
    if (!status) status = infer_config(&json, &size, &assumed, &names, &st, &given, why);
    if (!status) status = vit_config_read(c, json, size, why);
    free(json);
    st_close(&st);
    return status;
}

TEST("without a config, the number of heads is the one that models of this width have") {
    static const struct {
        const char *model;
        size_t width, heads;
    } MODELS[] = {
        {"ViT-Ti", 192, 3},  {"ViT-S", 384, 6},    {"ViT-B", 768, 12},
        {"ViT-L", 1024, 16}, {"SO400M", 1152, 16}, {"ViT-H", 1280, 16},
        {"ViT-g", 1408, 16}, {"ViT-G", 1664, 16},  {"DINOv2's ViT-g", 1536, 24},
    };
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        vit_config c = {0};
        vit_error why = {""};
        vit_status status = config_of_width(&c, TIMMS, MODELS[i].width, "{}", &why);
        CHECK(!status && c.heads == MODELS[i].heads && c.width == MODELS[i].width,
              "%s: %zu heads: %s", MODELS[i].model, c.heads, why.text);
    }
}

TEST("the heads of a torch.nn.TransformerEncoder are asked for, whatever its width") {
    for (size_t width = 64; width <= 1280; width += 64) {
        vit_config c = {0};
        vit_error why = {""};
        const char *config = "{\"norm\":\"pre\",\"activation\":\"gelu\"}";
        vit_status status = config_of_width(&c, ENCODERS, width, config, &why);
        CHECK(status == VIT_BAD_CONFIG && strstr(why.text, "config: heads: tell "), "width %zu: %s",
              width, why.text);
    }
}

TEST("without a config, one is inferred from the shapes, and it can be read back") {
    struct golden g;
    REQUIRE(golden_open(&g, "families/torchvision"), "no file");
    vit_model *model = NULL;
    vit_error why = {""};
    CHECK(!vit_open(&model, g.model, g.model_size, kernels_at(0), &why), "%s", why.text);
    if (model) {
        size_t size;
        const char *json = vit_model_json(model, &size);
        vit_config c;
        CHECK(!vit_config_read(&c, json, size, &why), "%s", why.text);
        CHECK(c.width == 64 && c.depth == 2 && c.heads == 1 && c.mlp_width == 24 &&
                  c.classes == 5 && c.channels == 3 && c.image_size[0] == 8 &&
                  c.image_size[1] == 8 && c.patch_size[0] == 4,
              "%.*s", (int)size, json);
    }
    vit_close(model);
    golden_close(&g);
}
