/* What a recipe may say, and what it freezes. */
#include "small_task.h"

#include "../../src/save.h"

TEST("a recipe has classes or a decoder, and a decoder's has no key that needs classes") {
    static const char *const KEYS[] = {"drawings", "negatives", "distillation", "mixup", "cutmix"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"epochs\": 1, \"%s\": 1", KEYS[i]);
        expect_bad_recipe(text_recipe(key), KEYS[i]);
    }
    const char *good = text_recipe("\"epochs\": 1");
    expect_bad_recipe(edited(good, "\"classes\": 0", "\"classes\": 3"),
                      "expected 0 beside a decoder");
    expect_bad_recipe(edited(good, "\"padding\": 5", "\"padding\": 4"),
                      "expected another token than the end, 4");
}

TEST("a recipe freezes at most one block more than its model has") {
    expect_bad_recipe(frozen_recipe(RECIPE, 4),
                      "training key freeze: expected a whole number from 0 to 3, one more "
                      "than the model's depth, got 4");
    struct recipe recipe = recipe_of(RECIPE);
    CHECK(recipe.freeze == 0, "%zu blocks are frozen by default", recipe.freeze);
    recipe_close(&recipe);
}

TEST("a recipe for a model without residual connections drops no branch") {
    const char *drops = edited(RECIPE, "\"depth\"", "\"residual\": false, \"depth\"");
    expect_bad_recipe(drops, "training key drop_path: expected 0 for a model without residual");
    struct recipe recipe = recipe_of(edited(drops, "\"drop_path\": 0.1", "\"drop_path\": 0"));
    CHECK(!recipe.config.residual, "the key is not read");
    recipe_close(&recipe);
}

TEST("a mimetic start is for heads that see the whole token") {
    const char *json = mimetic_recipe("\"epochs\": 6");
    expect_bad_recipe(edited(json, "\"standard\"", "\"per_head\""),
                      "training key start: expected xavier for a model with attention per_head");
}

TEST("each tensor is frozen with its block; stems and positions with the first, norms with all") {
    static const struct {
        const char *name;
        vit_kind kind;
        size_t frozen_from;
    } ALL[] = {
        {"patch_embed.backbone.0.weight", VIT_KIND_CONVOLUTION, 1},
        {"patch_embed.proj.bias", VIT_KIND_BIAS, 1},
        {"reg_token", VIT_KIND_TOKEN, 1},
        {"norm_pre.weight", VIT_KIND_GAIN, 1},
        {"blocks.1.attn.rel_pos.relative_position_bias_table", VIT_KIND_RELATIVE, 2},
        {"blocks.10.norm1.weight", VIT_KIND_GAIN, 11},
        {"norm.bias", VIT_KIND_BIAS, 13},
        {"fc_norm.weight", VIT_KIND_GAIN, 13},
        {"head.weight", VIT_KIND_HEAD, 14},
        {"head_dist.bias", VIT_KIND_HEAD_BIAS, 14},
    };
    struct recipe recipe = {.config.depth = 12};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        vit_tensor tensor = {.kind = ALL[i].kind};
        strcpy(tensor.name, ALL[i].name);
        for (recipe.freeze = 0; recipe.freeze <= 13; recipe.freeze++)
            CHECK(recipe_trains(&recipe, &tensor) == (recipe.freeze < ALL[i].frozen_from),
                  "%s with %zu frozen blocks", tensor.name, recipe.freeze);
    }
}
