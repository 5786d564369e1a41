/* Choices that a file of other code does not tell are asked for, or assumed and reported. Skipped
 * tensors are named. */
#include "golden.h"
#include "save.h"

static vit_status open_golden(vit_model **out, const char *name, const char *config,
                              vit_error *why) {
    struct golden g;
    *out = NULL;
    if (!golden_open(&g, name)) return VIT_BAD_FILE;
    vit_status status = vit_open_with_config(out, g.model, g.model_size, config,
                                             config ? strlen(config) : 0, kernels_at(0), why);
    golden_close(&g);
    return status;
}

TEST("a model's origin tells its family, what was assumed and what was skipped") {
    static const struct {
        const char *name, *config, *want;
    } CASES[] = {
        {"families/torchvision", NULL,
         "{\"family\":\"torchvision\",\"projection\":null,\"assumed\":[\"heads\"],"
         "\"skipped\":[]}"},
        {"families/torchvision", "{\"heads\":1}",
         "{\"family\":\"torchvision\",\"projection\":null,\"assumed\":[],\"skipped\":[]}"},
        {"families/open_clip_alone", "{\"heads\":2}",
         "{\"family\":\"OpenAI's CLIP and open_clip, the vision tower alone\","
         "\"projection\":\"head\",\"assumed\":[\"image_size\",\"pool\",\"norm_eps\","
         "\"activation\"],\"skipped\":[]}"},
        {"families/clip_classifier", "{\"heads\":2}",
         "{\"family\":\"transformers' CLIPForImageClassification\",\"projection\":null,"
         "\"assumed\":[\"image_size\",\"norm_eps\",\"activation\"],"
         "\"skipped\":[\"vision_model.post_layernorm.weight\"]}"},
        {"families/siglip", "{\"heads\":2}",
         "{\"family\":\"transformers' SigLIP\",\"projection\":\"pooled\","
         "\"assumed\":[\"image_size\",\"norm_eps\",\"activation\"],"
         "\"skipped\":[\"logit_scale\",\"logit_bias\"]}"},
        {"families/encoder_unfolded", "{\"heads\":2,\"norm\":\"pre\",\"activation\":\"gelu\"}",
         "{\"family\":\"torch.nn.TransformerEncoder\",\"projection\":null,"
         "\"assumed\":[\"channels\",\"patch_size\",\"image_size\",\"pool\",\"norm_eps\","
         "\"patch_order\"],\"skipped\":[]}"},
        {"families/vit_of_another_grid",
         "{\"heads\":2,\"image_size\":[8,16],\"position_size\":[8,20]}",
         "{\"family\":\"transformers' ViT, DeiT, ViT-MAE and ViT-MSN\",\"projection\":null,"
         "\"assumed\":[\"norm_eps\",\"activation\"],\"skipped\":[]}"},
        {"families/vit_of_another_grid",
         "{\"heads\":2,\"image_size\":[8,16],\"position_size\":[8,20],\"norm_eps\":1e-12,"
         "\"activation\":\"gelu\"}",
         "{\"family\":\"transformers' ViT, DeiT, ViT-MAE and ViT-MSN\",\"projection\":null,"
         "\"assumed\":[],\"skipped\":[]}"},
        {"families/vit_pytorch_one_head", "{\"pool\":\"class\"}",
         "{\"family\":\"vit-pytorch\",\"projection\":null,\"assumed\":[\"channels\",\"patch_size\","
         "\"image_size\",\"activation\"],\"skipped\":[]}"},
        {"families/timm_mean_of_all", "{\"heads\":2}",
         "{\"family\":\"timm\",\"projection\":null,\"assumed\":[\"image_size\",\"pool\","
         "\"pool_prefix\",\"norm\",\"norm_eps\",\"activation\"],\"skipped\":[\"n_averaged\"]}"},
        {"families/deit3", "{\"heads\":2,\"image_size\":[8,8]}",
         "{\"family\":\"timm\",\"projection\":null,\"assumed\":[\"position\",\"pool\",\"norm\","
         "\"norm_eps\","
         "\"activation\",\"position_size\"],\"skipped\":[]}"},
        {"families/timm_max", "{\"heads\":2,\"pool\":\"max\",\"image_size\":[8,8]}",
         "{\"family\":\"timm\",\"projection\":null,\"assumed\":[\"pool_prefix\",\"norm\",\"norm_"
         "eps\","
         "\"activation\",\"position_resize\",\"position_size\"],\"skipped\":[]}"},
        {"pre_gelu_learned", NULL,
         "{\"family\":\"vitrine\",\"projection\":null,\"assumed\":[],\"skipped\":[]}"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        vit_model *model;
        vit_error why = {""};
        size_t size;
        vit_status status = open_golden(&model, CASES[i].name, CASES[i].config, &why);
        CHECK(!status, "%s: %s", CASES[i].name, why.text);
        if (status) continue;
        const char *origin = vit_model_origin(model, &size);
        CHECK(size == strlen(CASES[i].want) && !memcmp(origin, CASES[i].want, size), "%s: %.*s",
              CASES[i].name, (int)size, origin);
        vit_close(model);
    }
}

TEST("a model that was created has no origin") {
    vit_model *model;
    vit_error why;
    size_t size = 1;
    const vit_config config = {.image_size = {4, 4},
                               .patch_size = {2, 2},
                               .channels = 1,
                               .width = 4,
                               .depth = 1,
                               .heads = 1,
                               .mlp_width = 4,
                               .classes = 2,
                               .norm_eps = 1e-6f,
                               .class_tokens = 1,
                               .temperature = 1,
                               .position_rows = 5};
    REQUIRE(!vit_create(&model, &config, "{}", 2, &vit_scalar, &why), "%s", why.text);
    CHECK(!vit_model_origin(model, &size) && size == 0, "it has an origin");
    vit_close(model);
}

TEST("a missing choice is asked for by the config key and its possible values") {
    static const struct {
        const char *name, *config, *want;
    } CASES[] = {
        {"families/vit", NULL, "config: heads: tell 1, 2, 4 or 5; nothing in this file does"},
        {"families/encoder_post", "{\"heads\":4}",
         "config: norm: tell pre or post; nothing in this file does"},
        {"families/encoder_post", "{\"heads\":4,\"norm\":\"post\"}",
         "config: activation: tell relu or gelu; nothing in this file does"},
        {"families/siglip_of_timm", "{\"heads\":2}",
         "config: activation: tell gelu or gelu_tanh; nothing in this file does"},
        {"families/timm_prr_of_all", "{\"heads\":2,\"activation\":\"relu\",\"width\":\"x\"}",
         "config: width: expected a whole number from 1 to 65536, got \"x\""},
        {"families/vit_pytorch", "{\"heads\":2}",
         "config: pool: tell class or mean; nothing in this file does"},
        {"families/timm_map_registers", "{\"heads\":2,\"activation\":\"gelu\"}",
         "config: pool_prefix: tell true or false, whether the prefix is pooled too; nothing in "
         "this file does"},
        {"families/dinov2_classifier", "{\"heads\":2,\"prefix\":[\"class\",\"register\"]}",
         "config: pool_prefix: tell true or false, whether registers are in the mean; nothing in "
         "this file does"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        vit_model *model;
        vit_error why = {""};
        vit_status status = open_golden(&model, CASES[i].name, CASES[i].config, &why);
        CHECK(status == VIT_BAD_CONFIG && !strcmp(why.text, CASES[i].want), "%s: %s: %s",
              CASES[i].name, vit_status_name(status), why.text);
        vit_close(model);
    }
}
