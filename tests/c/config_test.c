/* The keys that a config must have, and the defaults of the others. */
#include "models.h"

static const char *const REQUIRED[] = {
    "\"image_size\":[28,28]", "\"patch_size\":[7,7]", "\"channels\":1",
    "\"width\":16",           "\"depth\":2",          "\"heads\":2",
    "\"mlp_width\":32",       "\"classes\":10"};
enum { COUNT = sizeof REQUIRED / sizeof *REQUIRED };

/* A config with all required keys except number `without`. */
static const char *config_without(size_t without) {
    static char text[512];
    strcpy(text, "{\"a\":0");
    for (size_t i = 0; i < COUNT; i++)
        if (i != without) strcat(strcat(text, ","), REQUIRED[i]);
    return strcat(text, "}");
}

TEST("a config of sizes alone describes timm's ViT, with biases and learned positions") {
    const vit_config want = {.image_size = {28, 28},
                             .patch_size = {7, 7},
                             .channels = 1,
                             .width = 16,
                             .depth = 2,
                             .heads = 2,
                             .mlp_width = 32,
                             .classes = 10,
                             .norm = VIT_PRE,
                             .norm_eps = 1e-6f,
                             .final_norm = true,
                             .activation = VIT_GELU,
                             .position = VIT_LEARNED,
                             .position_rows = 17,
                             .position_grid = {4, 4},
                             .position_resize = VIT_RESIZE_BY_FAMILY,
                             .pool = VIT_POOL_CLASS,
                             .patch_order = VIT_CHANNELS_FIRST,
                             .residual = true,
                             .qkv_bias = true,
                             .patch_bias = true,
                             .head_bias = true,
                             .attention = VIT_STANDARD,
                             .class_tokens = 1,
                             .temperature = 1};
    vit_config got;
    vit_error why = {""};
    const char *json = config_without(COUNT);
    REQUIRE(vit_config_read(&got, json, strlen(json), &why) == VIT_OK, "%s", why.text);
    CHECK(got.norm == want.norm && got.activation == want.activation &&
              got.position == want.position && got.position_resize == want.position_resize &&
              got.pool == want.pool && got.patch_order == want.patch_order &&
              got.attention == want.attention,
          "words: %d %d %d %d %d %d %d", got.norm, got.activation, got.position,
          got.position_resize, got.pool, got.patch_order, got.attention);
    CHECK(got.final_norm && got.qkv_bias && got.patch_bias && got.head_bias && !got.qk_norm &&
              !got.layer_scale && got.residual && !got.pool_prefix,
          "flags");
    CHECK(!memcmp(&got.norm_eps, &want.norm_eps, sizeof want.norm_eps), "%.9g",
          (double)got.norm_eps);
    CHECK(got.temperature == 1 && got.uncertain_below == 0, "probabilities");
    CHECK(got.class_tokens == 1 && !got.distillation_tokens && !got.register_tokens, "the prefix");
    CHECK(!got.stem_layers && !got.head_width && got.prepare == want.prepare,
          "stem, head_width or prepare");
    CHECK(got.position_rows == 17 && got.position_grid[0] == 4 && got.position_grid[1] == 4 &&
              !got.position_size[0] && !got.position_size[1],
          "positions");
}

TEST("a config that lacks a size is refused by the size's name") {
    for (size_t i = 0; i < COUNT; i++) {
        const char *json = config_without(i);
        char words[64];
        vit_config config;
        vit_error why = {""};
        int size = (int)strcspn(REQUIRED[i] + 1, "\"");
        snprintf(words, sizeof words, "config: %.*s is missing", size, REQUIRED[i] + 1);
        CHECK(vit_config_read(&config, json, strlen(json), &why) == VIT_BAD_CONFIG, "%s", json);
        CHECK(!strcmp(why.text, words), "%s: %s", words, why.text);
    }
}
