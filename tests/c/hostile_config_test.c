/* A config from a stranger, in the file or passed apart from it. Every fault is refused by the name
 * of its key, before any weight is read. */
#include "hostile.h"

#define PHOTO(more) "{\"kind\":\"photo\",\"mean\":[0],\"std\":[1]" more "}"

static const struct spoiled CONFIGS_BAD[] = {
    {"no object", "{\"image", "[\"image", VIT_BAD_CONFIG, "JSON"},
    {"no image_size", "\"image_size\"", "\"imagesize\"", VIT_BAD_CONFIG, "image_size"},
    {"a number for image_size", "[4,4]", "4", VIT_BAD_CONFIG, "image_size"},
    {"three image sizes", "[4,4]", "[4,4,4]", VIT_BAD_CONFIG, "image_size"},
    {"an image of no rows", "[4,4]", "[0,4]", VIT_BAD_CONFIG, "image_size"},
    {"an absurd image", "[4,4]", "[4,1e300]", VIT_BAD_CONFIG, "image_size"},
    {"an image that wraps", "[4,4]", "[4294967300,4]", VIT_BAD_CONFIG, "image_size"},
    {"a patch of nothing", "[2,2]", "[2,0]", VIT_BAD_CONFIG, "patch_size"},
    {"patches that do not fit", "[2,2]", "[3,2]", VIT_BAD_CONFIG, "patch_size"},
    {"a patch larger than the image", "[2,2]", "[8,8]", VIT_BAD_CONFIG, "patch_size"},
    {"too many patches", "[4,4],\"patch_size\":[2,2]", "[16384,16384],\"patch_size\":[2,2]",
     VIT_BAD_CONFIG, "patch"},
    {"no channels", "\"channels\":1", "\"channels\":0", VIT_BAD_CONFIG, "channels"},
    {"half a channel", "\"channels\":1", "\"channels\":0.5", VIT_BAD_CONFIG, "channels"},
    {"minus a channel", "\"channels\":1", "\"channels\":-1", VIT_BAD_CONFIG, "channels"},
    {"true channels", "\"channels\":1", "\"channels\":true", VIT_BAD_CONFIG, "channels"},
    {"no width", "\"width\":4", "\"width\":0", VIT_BAD_CONFIG, "width"},
    {"an absurd width", "\"width\":4", "\"width\":4e18", VIT_BAD_CONFIG, "width"},
    {"no depth", "\"depth\":1", "\"depth\":0", VIT_BAD_CONFIG, "depth"},
    {"an absurd depth", "\"depth\":1", "\"depth\":99999999999", VIT_BAD_CONFIG, "depth"},
    {"no heads", "\"heads\":2", "\"heads\":0", VIT_BAD_CONFIG, "heads"},
    {"heads that do not divide", "\"heads\":2", "\"heads\":3", VIT_BAD_CONFIG, "heads"},
    {"a string of heads", "\"heads\":2", "\"heads\":\"2\"", VIT_BAD_CONFIG, "heads"},
    {"no mlp_width", "\"mlp_width\":3", "\"mlp_width\":0", VIT_BAD_CONFIG, "mlp_width"},
    {"null mlp_width", "\"mlp_width\":3", "\"mlp_width\":null", VIT_BAD_CONFIG, "mlp_width"},
    {"no classes", "\"classes\":2", "\"classes\":0", VIT_BAD_CONFIG, "labels"},
    {"absurd classes", "\"classes\":2", "\"classes\":18446744073709551616", VIT_BAD_CONFIG,
     "classes"},
    {"another norm", "\"pre\"", "\"batch\"", VIT_BAD_CONFIG, "norm"},
    {"norm 1", "\"pre\"", "1", VIT_BAD_CONFIG, "norm"},
    {"a negative norm_eps", "1e-6", "-1e-6", VIT_BAD_CONFIG, "norm_eps"},
    {"an infinite norm_eps", "1e-6", "1e999", VIT_BAD_CONFIG, "norm_eps"},
    {"norm_eps in words", "1e-6", "\"small\"", VIT_BAD_CONFIG, "norm_eps"},
    {"final_norm 1", "\"final_norm\":true", "\"final_norm\":1", VIT_BAD_CONFIG, "final_norm"},
    {"another activation", "\"gelu\"", "\"swish\"", VIT_BAD_CONFIG, "activation"},
    {"half an activation", "\"gelu\"", "\"gel\"", VIT_BAD_CONFIG, "activation"},
    {"another position", "\"learned\"", "\"rotary\"", VIT_BAD_CONFIG, "position"},
    {"another pool", "\"class\",\"qkv", "\"softmax\",\"qkv", VIT_BAD_CONFIG, "pool"},
    {"class pool without class", "[\"class\"]", "[]", VIT_BAD_CONFIG, "class"},
    {"qkv_bias in words", "\"qkv_bias\":true", "\"qkv_bias\":\"yes\"", VIT_BAD_CONFIG, "qkv_bias"},
    {"qk_norm 0", "\"qk_norm\":false", "\"qk_norm\":0", VIT_BAD_CONFIG, "qk_norm"},
    {"residual as a word", "\"layer_scale\":false", "\"residual\":\"no\"", VIT_BAD_CONFIG,
     "residual"},
    {"layer_scale as number", "\"layer_scale\":false", "\"layer_scale\":1e-5", VIT_BAD_CONFIG,
     "layer_scale"},
    {"prefix in words", "[\"class\"]", "\"class\"", VIT_BAD_CONFIG, "prefix"},
    {"an unknown prefix", "[\"class\"]", "[\"class\",\"mask\"]", VIT_BAD_CONFIG, "prefix"},
    {"two class tokens", "[\"class\"]", "[\"class\",\"class\"]", VIT_BAD_CONFIG, "prefix"},
    {"a prefix out of order", "[\"class\"]", "[\"register\",\"class\"]", VIT_BAD_CONFIG, "prefix"},
    {"a stem in words", "\"heads\"", "\"stem\":\"3\",\"heads\"", VIT_BAD_CONFIG, "stem"},
    {"a stem of nothing", "\"heads\"", "\"stem\":[0],\"heads\"", VIT_BAD_CONFIG, "stem"},
    {"an absurd stem", "\"heads\"", "\"stem\":[1e9],\"heads\"", VIT_BAD_CONFIG, "stem"},
    {"a stem of a stride of 3", "\"heads\"", "\"stem\":[[1,3]],\"heads\"", VIT_BAD_CONFIG, "stem"},
    {"a stem of half a pair", "\"heads\"", "\"stem\":[[1]],\"heads\"", VIT_BAD_CONFIG, "stem"},
    {"a stem of too many", "\"heads\"", "\"stem\":[1,1,1,1,1,1,1],\"heads\"", VIT_BAD_CONFIG,
     "stem"},
    {"a stem too deep for the patch size", "\"heads\"", "\"stem\":[1,1],\"heads\"", VIT_BAD_CONFIG,
     "stem"},
    {"a stem that the file does not have", "\"heads\"", "\"stem\":[1],\"heads\"", VIT_BAD_TENSOR,
     "backbone.0"},
    {"another attention", "\"standard\"", "\"linear\"", VIT_BAD_CONFIG, "attention"},
    {"a label too few", "[\"no\",\"yes\"]", "[\"no\"]", VIT_BAD_CONFIG, "labels"},
    {"a label that is no string", "[\"no\",\"yes\"]", "[0,1]", VIT_BAD_CONFIG, "labels"},
    {"prepare in words", "{\"kind\":\"digit\"}", "\"digit\"", VIT_BAD_CONFIG, "prepare"},
    {"another prepare", "\"digit\"", "\"sound\"", VIT_BAD_CONFIG, "prepare"},
    {"a photo without sizes", "\"digit\"", "\"photo\"", VIT_BAD_CONFIG, "prepare"},
    {"a photo's resize of one side", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":[8]"),
     VIT_BAD_CONFIG, "prepare.resize"},
    {"a crop of no columns", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":8,\"crop\":[8,0]"),
     VIT_BAD_CONFIG, "prepare.crop"},
    {"a crop of another shape", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":99,\"crop\":[7,8]"),
     VIT_BAD_CONFIG, "prepare.crop: expected image_size"},
    {"another fit", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":[8,8],\"fit\":\"bend\""),
     VIT_BAD_CONFIG, "cover or contain"},
    {"a fit of one length", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":8,\"fit\":\"cover\""),
     VIT_BAD_CONFIG, "prepare.fit"},
    {"a fit without a fill", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":[8,8],\"fit\":\"contain\""),
     VIT_BAD_CONFIG, "prepare.fill is missing"},
    {"a fill that is no byte", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":8,\"fill\":[256]"),
     VIT_BAD_CONFIG, "prepare.fill"},
    {"another filter", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":8,\"interpolation\":\"box\""),
     VIT_BAD_CONFIG, "lanczos or nearest, got"},
    {"another middle", "{\"kind\":\"digit\"}", PHOTO(",\"resize\":8,\"crop_at\":1"), VIT_BAD_CONFIG,
     "even or floor"},
    {"a config that is not the file's", "\"width\":4", "\"width\":8", VIT_BAD_TENSOR, "expected"},
    {"deep nesting", "\"channels\":1", "\"x\":" DEEP8(DEEP8(DEEP8(DEEP8(DEEP8("1"))))),
     VIT_BAD_CONFIG, "JSON"},
};

TEST("every fault in a config is refused by the name of its key") {
    for (size_t i = 0; i < sizeof CONFIGS_BAD / sizeof *CONFIGS_BAD; i++) {
        const struct spoiled *s = &CONFIGS_BAD[i];
        const char *config = replaced(CONFIG, s->from, s->to);
        expect(s->what, file_of(config), s->status, s->says);
    }
}

TEST("sincos2d positions are refused unless the width is a multiple of four") {
    char config[TEXT_MAX];
    strcpy(config, replaced(CONFIG, "\"learned\"", "\"sincos2d\""));
    expect("a width of 6", file_of(replaced(config, "\"width\":4", "\"width\":6")), VIT_BAD_CONFIG,
           "width");
}

TEST("a stem whose maps cannot be counted is refused") {
    static const char LARGE[] =
        "{\"image_size\":[4096,4096],\"patch_size\":[16,16],\"channels\":1,\"width\":4,"
        "\"depth\":1,\"heads\":1,\"mlp_width\":4,\"classes\":2,\"stem\":[4096]}";
    vit_config config;
    vit_error why = {""};
    vit_status status = vit_config_read(&config, LARGE, strlen(LARGE), &why);
    bool fits = SIZE_MAX > UINT32_MAX; /* 4096 maps of 2048×2048 do not fit in 32 bits */
    CHECK(status == (fits ? VIT_OK : VIT_NO_MEMORY), "%s: %s", vit_status_name(status), why.text);
}

/* In 32 bits memory is 4 GiB. */
TEST("the config alone decides whether the floats of a model fit in memory") {
    static const struct {
        const char *what;
        size_t width, depth, mlp_width, heads;
        bool fits;
    } MODELS[] = {
        {"ViT-L", 1024, 24, 4096, 16, true},
        {"ViT-H", 1280, 32, 5120, 16, true},
        {"ViT-G", 1664, 48, 8192, 16, false},
        {"one of 6 GB", 4096, 8, 16384, 64, false},
    };
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        char json[512];
        snprintf(json, sizeof json,
                 "{\"image_size\":[224,224],\"patch_size\":[14,14],\"channels\":3,\"width\":%zu,"
                 "\"depth\":%zu,\"mlp_width\":%zu,\"heads\":%zu,\"classes\":1000}",
                 MODELS[i].width, MODELS[i].depth, MODELS[i].mlp_width, MODELS[i].heads);
        vit_config config;
        vit_error why = {""};
        vit_status status = vit_config_read(&config, json, strlen(json), &why);
        bool fits = MODELS[i].fits || SIZE_MAX > UINT32_MAX;
        CHECK(status == (fits ? VIT_OK : VIT_NO_MEMORY), "%s: %s: %s", MODELS[i].what,
              vit_status_name(status), why.text);
    }
}

TEST("a config cut off at any byte is refused, in the file or passed apart from it") {
    struct file good = file_of(CONFIG);
    for (size_t size = 0; size < sizeof CONFIG - 1; size++) {
        char config[sizeof CONFIG] = "";
        vit_model *model = NULL;
        vit_error why;
        char *apart = malloc(size + 1);
        memcpy(config, CONFIG, size);
        memcpy(apart, CONFIG, size);
        expect("half a config", file_of(config), VIT_BAD_CONFIG, "config");
        vit_status status =
            vit_open_with_config(&model, good.bytes, good.size, apart, size, NULL, 0, NULL, &why);
        CHECK(status == VIT_BAD_CONFIG && !model, "%zu bytes: %s", size, vit_status_name(status));
        free(apart);
    }
    free(good.bytes);
}

TEST("a file without a config opens with a config passed apart from it") {
    char header[TEXT_MAX];
    size_t data_size = write_header(header, CONFIG, SIZE_MAX);
    struct file f = pack_file(replaced(header, "\"vitrine\"", "\"other\""), data_size);
    vit_model *model = NULL;
    vit_error why = {""};
    vit_status status = vit_open_with_config(&model, f.bytes, f.size, CONFIG, sizeof CONFIG - 1,
                                             NULL, 0, NULL, &why);
    CHECK(status == VIT_OK && model, "%s: %s", vit_status_name(status), why.text);
    vit_close(model);
    free(f.bytes);
}
