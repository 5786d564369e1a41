/* A config from a stranger, in the file or passed apart from it. Every fault is refused by the name
 * of its key, before any weight is read. */
#include "hostile.h"

#define SMALL                                                                                      \
    "\"image_size\":[4,4],\"patch_size\":[2,2],\"channels\":1,\"width\":4,\"depth\":1,\"heads\""
#define LARGER                                                                                     \
    "\"image_size\":[16,16],\"patch_size\":[16,16],\"channels\":1,\"width\":4,\"depth\":1,"
#define SPLIT_OF(width, more)                                                                      \
    "\"tokens_to_token\":\"performer\",\"token_width\":" width more ",\"heads\""
#define DECODER(more)                                                                              \
    "\"decoder\":{\"depth\":1,\"width\":4,\"heads\":2,\"mlp_width\":3,\"vocabulary\":5,"           \
    "\"max_tokens\":6" more "},\"heads\""
#define PREPARE "{\"kind\":\"digit\"}"
#define PHOTO(more) "{\"kind\":\"photo\",\"mean\":[0],\"std\":[1]" more "}"

/* The good config's text with `from` replaced by `to`, and words of the message. */
static const struct {
    const char *what, *from, *to, *says;
} CONFIGS_BAD[] = {
    {"no object", "{\"image", "[\"image", "JSON"},
    {"no image_size", "\"image_size\"", "\"imagesize\"", "image_size"},
    {"a number for image_size", "[4,4]", "4", "image_size"},
    {"three image sizes", "[4,4]", "[4,4,4]", "image_size"},
    {"an image of no rows", "[4,4]", "[0,4]", "image_size"},
    {"an absurd image", "[4,4]", "[4,1e300]", "image_size"},
    {"an image that wraps", "[4,4]", "[4294967300,4]", "image_size"},
    {"a patch of nothing", "[2,2]", "[2,0]", "patch_size"},
    {"patches that do not fit", "[2,2]", "[3,2]", "patch_size"},
    {"a patch larger than the image", "[2,2]", "[8,8]", "patch_size"},
    {"too many patches", "[4,4],\"patch_size\":[2,2]", "[16384,16384],\"patch_size\":[2,2]",
     "patch"},
    {"no channels", "\"channels\":1", "\"channels\":0", "channels"},
    {"half a channel", "\"channels\":1", "\"channels\":0.5", "channels"},
    {"minus a channel", "\"channels\":1", "\"channels\":-1", "channels"},
    {"true channels", "\"channels\":1", "\"channels\":true", "channels"},
    {"no width", "\"width\":4", "\"width\":0", "width"},
    {"an absurd width", "\"width\":4", "\"width\":4e18", "width"},
    {"no depth", "\"depth\":1", "\"depth\":0", "depth"},
    {"an absurd depth", "\"depth\":1", "\"depth\":99999999999", "depth"},
    {"no heads", "\"heads\":2", "\"heads\":0", "heads"},
    {"heads that do not divide", "\"heads\":2", "\"heads\":3", "heads"},
    {"a string of heads", "\"heads\":2", "\"heads\":\"2\"", "heads"},
    {"no mlp_width", "\"mlp_width\":3", "\"mlp_width\":0", "mlp_width"},
    {"null mlp_width", "\"mlp_width\":3", "\"mlp_width\":null", "mlp_width"},
    {"no classes", "\"classes\":2", "\"classes\":0", "labels"},
    {"absurd classes", "\"classes\":2", "\"classes\":18446744073709551616", "classes"},
    {"another norm", "\"pre\"", "\"batch\"", "norm"},
    {"norm 1", "\"pre\"", "1", "norm"},
    {"a negative norm_eps", "1e-6", "-1e-6", "norm_eps"},
    {"an infinite norm_eps", "1e-6", "1e999", "norm_eps"},
    {"norm_eps in words", "1e-6", "\"small\"", "norm_eps"},
    {"final_norm 1", "\"final_norm\":true", "\"final_norm\":1", "final_norm"},
    {"another activation", "\"gelu\"", "\"swish\"", "activation"},
    {"half an activation", "\"gelu\"", "\"gel\"", "activation"},
    {"another position", "\"learned\"", "\"rotary\"", "position"},
    {"another pool", "\"class\",\"qkv", "\"softmax\",\"qkv", "pool"},
    {"class pool without class", "[\"class\"]", "[]", "class"},
    {"qkv_bias in words", "\"qkv_bias\":true", "\"qkv_bias\":\"yes\"", "qkv_bias"},
    {"qk_norm 0", "\"qk_norm\":false", "\"qk_norm\":0", "qk_norm"},
    {"residual as a word", "\"layer_scale\":false", "\"residual\":\"no\"", "residual"},
    {"layer_scale as number", "\"layer_scale\":false", "\"layer_scale\":1e-5", "layer_scale"},
    {"prefix in words", "[\"class\"]", "\"class\"", "prefix"},
    {"an unknown prefix", "[\"class\"]", "[\"class\",\"mask\"]", "prefix"},
    {"two class tokens", "[\"class\"]", "[\"class\",\"class\"]", "prefix"},
    {"a prefix out of order", "[\"class\"]", "[\"register\",\"class\"]", "prefix"},
    {"a stem in words", "\"heads\"", "\"stem\":\"3\",\"heads\"", "stem"},
    {"a stem of nothing", "\"heads\"", "\"stem\":[0],\"heads\"", "stem"},
    {"an absurd stem", "\"heads\"", "\"stem\":[1e9],\"heads\"", "stem"},
    {"a stem of a stride of 3", "\"heads\"", "\"stem\":[[1,3]],\"heads\"", "stem"},
    {"a stem of half a pair", "\"heads\"", "\"stem\":[[1]],\"heads\"", "stem"},
    {"a stem of too many", "\"heads\"", "\"stem\":[1,1,1,1,1,1,1],\"heads\"", "stem"},
    {"a stem too deep for the patch size", "\"heads\"", "\"stem\":[1,1],\"heads\"", "stem"},
    {"another split", "\"heads\"", "\"tokens_to_token\":\"linear\",\"heads\"",
     "none, transformer or performer"},
    {"a split for patches of another size", "\"heads\"", SPLIT_OF("2", ""),
     "tokens_to_token: expected patch_size"},
    {"a split behind a stem", SMALL, LARGER SPLIT_OF("8", ",\"stem\":[[1,1]]"),
     "tokens_to_token: expected patch_size"},
    {"a split of overlapping patches", SMALL, LARGER SPLIT_OF("8", ",\"patch_stride\":[8,16]"),
     "tokens_to_token: expected patch_size"},
    {"a split that leaves pixels over", SMALL,
     "\"image_size\":[16,24],\"patch_size\":[16,16],\"channels\":1,\"width\":4,\"depth\":"
     "1," SPLIT_OF("8", ",\"patch_stride\":[16,16]"),
     "tokens_to_token: expected patch_size"},
    {"a performer without features", SMALL, LARGER SPLIT_OF("1", ""), "token_width"},
    {"an absurd token_width", SMALL, LARGER SPLIT_OF("4097", ""), "token_width"},
    {"another attention", "\"standard\"", "\"linear\"", "attention"},
    {"a label too few", "[\"no\",\"yes\"]", "[\"no\"]", "labels"},
    {"a label that is no string", "[\"no\",\"yes\"]", "[0,1]", "labels"},
    {"prepare in words", PREPARE, "\"digit\"", "prepare"},
    {"another prepare", "\"digit\"", "\"sound\"", "prepare"},
    {"a photo without sizes", "\"digit\"", "\"photo\"", "prepare"},
    {"a photo's resize of one side", PREPARE, PHOTO(",\"resize\":[8]"), "prepare.resize"},
    {"a crop of no columns", PREPARE, PHOTO(",\"resize\":8,\"crop\":[8,0]"), "prepare.crop"},
    {"a crop of another shape", PREPARE, PHOTO(",\"resize\":99,\"crop\":[7,8]"),
     "prepare.crop: expected image_size"},
    {"another fit", PREPARE, PHOTO(",\"resize\":[8,8],\"fit\":\"bend\""), "cover or contain"},
    {"a fit of one length", PREPARE, PHOTO(",\"resize\":8,\"fit\":\"cover\""), "prepare.fit"},
    {"a fit without a fill", PREPARE, PHOTO(",\"resize\":[8,8],\"fit\":\"contain\""),
     "prepare.fill is missing"},
    {"a fill that is no byte", PREPARE, PHOTO(",\"resize\":8,\"fill\":[256]"), "prepare.fill"},
    {"another filter", PREPARE, PHOTO(",\"resize\":8,\"interpolation\":\"box\""),
     "lanczos or nearest, got"},
    {"another middle", PREPARE, PHOTO(",\"resize\":8,\"crop_at\":1"), "even or floor"},
    {"a decoder in words", "\"heads\"", "\"decoder\":\"gpt2\",\"heads\"",
     "decoder: expected an object"},
    {"a text of nothing", "\"heads\"", "\"text\":{},\"heads\"", "text.depth is missing"},
    {"a decoder whose heads do not divide", "\"heads\"", DECODER(",\"heads\":3"), "decoder.heads"},
    {"an absurd vocabulary", "\"heads\"", DECODER(",\"vocabulary\":4e18"), "decoder.vocabulary"},
    {"too many tokens", "\"heads\"", DECODER(",\"max_tokens\":65537"), "decoder.max_tokens"},
    {"no tokens", "\"heads\"", DECODER(",\"max_tokens\":0"), "decoder.max_tokens"},
    {"a start that is no token", "\"heads\"", DECODER(",\"start\":5"), "decoder.start"},
    {"an end below 0", "\"heads\"", DECODER(",\"end\":-1"), "decoder.end"},
    {"half a padding", "\"heads\"", DECODER(",\"padding\":0.5"), "decoder.padding"},
    {"halves of an odd width", "\"heads\"",
     DECODER(",\"width\":5,\"heads\":5,\"position\":\"sincos_halves\""), "decoder.width"},
    {"sines that begin late", "\"heads\"",
     DECODER(",\"position\":\"sincos1d\",\"position_offset\":1"), "decoder.position_offset"},
    {"a decoder that sees what comes", "\"heads\"", DECODER(",\"mask\":\"none\""), "decoder.mask"},
    {"a piece too few", "\"heads\"", DECODER(",\"labels\":[\"a\",\"b\",\"c\",\"d\"]"),
     "decoder.labels: expected 5 strings"},
    {"a scale of 0", "\"heads\"", DECODER(",\"embedding_scale\":0"), "decoder.embedding_scale"},
    {"deep nesting", "\"channels\":1", "\"x\":" DEEP8(DEEP8(DEEP8(DEEP8(DEEP8("1"))))), "JSON"},
};

TEST("every fault in a config is refused by the name of its key") {
    for (size_t i = 0; i < sizeof CONFIGS_BAD / sizeof *CONFIGS_BAD; i++)
        expect(CONFIGS_BAD[i].what,
               file_of(replaced(CONFIG, CONFIGS_BAD[i].from, CONFIGS_BAD[i].to)), VIT_BAD_CONFIG,
               CONFIGS_BAD[i].says);
}

TEST("a config that is not the file's is refused by the name of a tensor") {
    expect("another width", file_of(replaced(CONFIG, "\"width\":4", "\"width\":8")), VIT_BAD_TENSOR,
           "expected");
    expect("a stem", file_of(replaced(CONFIG, "\"heads\"", "\"stem\":[1],\"heads\"")),
           VIT_BAD_TENSOR, "backbone.0");
    expect("a split", file_of(replaced(CONFIG, SMALL, LARGER SPLIT_OF("8", ""))), VIT_BAD_TENSOR,
           "tokens_to_token.attention1.norm1.weight");
    expect("a decoder", file_of(replaced(CONFIG, "\"heads\"", DECODER(""))), VIT_BAD_TENSOR,
           "decoder.token_embed.weight");
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
