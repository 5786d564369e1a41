/* Any text as a config. If vit_config_read accepts it, its sizes are counted without wrapping, or
 * reported as too large. The true sizes are added up here in doubles, from tensors.c. It is printed
 * so that it can be read again. */
#include <stdlib.h>

#include "file/config.h"
#include "file/create.h"
#include "harness.h"
#include "kernels/kernels.h"
#include "model.h"
#include "params.h"
#include "save.h"
#include "shapes.h"
#include "vit.h"

static struct plan plan_of(const vit_config *c) {
    struct plan p = {.channels = c->channels,
                     .width = c->width,
                     .depth = 1,
                     .heads = c->heads,
                     .head_width = c->head_width,
                     .mlp_width = c->mlp_width,
                     .classes = c->classes,
                     .final_norm = c->final_norm,
                     .qkv_bias = c->qkv_bias,
                     .qk_norm = c->qk_norm,
                     .layer_scale = c->layer_scale,
                     .no_residual = !c->residual,
                     .per_head = c->attention == VIT_PER_HEAD,
                     .class_tokens = c->class_tokens,
                     .distillation = c->distillation_tokens,
                     .registers = c->register_tokens,
                     .detections = c->detections,
                     .head_hidden = c->head_hidden,
                     .stem_layers = c->stem_layers,
                     .split = c->tokens_to_token,
                     .token_width = c->token_width,
                     .patch_bias = c->patch_bias,
                     .head_bias = c->head_bias,
                     .head_dist = c->classes && c->distillation_tokens,
                     .mid_position = c->mid_position,
                     .pool = c->pool,
                     .pool_heads = c->pool_heads,
                     .pool_mlp_width = c->pool_mlp_width,
                     .gated = c->mlp == VIT_MLP_GATED,
                     .mlp_norm = c->mlp_norm,
                     .rotary = {.learned = c->rotary_frequencies == VIT_ROTARY_LEARNED},
                     .position = c->position == VIT_RELATIVE ? RELATIVE
                                 : c->position == VIT_ROTARY ? ROTARY
                                                             : LEARNED,
                     .position_rows = c->position == VIT_LEARNED ? c->position_rows : 0};
    for (int i = 0; i < 2; i++)
        p.image[i] = c->image_size[i], p.patch[i] = c->patch_size[i],
        p.stride[i] = c->patch_stride[i] ? c->patch_stride[i] : p.patch[i];
    for (size_t i = 0; i < c->stem_layers; i++)
        p.stem[i][0] = c->stem[i].channels, p.stem[i][1] = c->stem[i].stride;
    return p;
}

static struct text_plan text_plan_of(const vit_text_config *c) {
    return (struct text_plan){.depth = c->depth > 0,
                              .width = c->width,
                              .heads = c->heads,
                              .mlp_width = c->mlp_width,
                              .vocabulary = c->vocabulary,
                              .max_tokens = c->max_tokens,
                              .offset = c->position_offset,
                              .token_types = c->token_types,
                              .projection = c->projection,
                              .position = c->position,
                              .final_norm = c->final_norm,
                              .embedding_norm = c->embedding_norm,
                              .encoder_proj = c->encoder_proj,
                              .tied_head = c->tied_head,
                              .head_bias = c->head_bias,
                              .head_hidden = c->head_hidden,
                              .projection_bias = c->projection_bias,
                              .logit_bias = c->logit_bias};
}

static double least_floats(const vit_config *c) {
    static struct tensors tensors;
    struct plan plan = plan_of(c);
    plan.texts[TEXT_DECODER] = text_plan_of(&c->decoder);
    plan.texts[TEXT_TOWER] = text_plan_of(&c->text);
    const size_t depths[] = {1, c->decoder.depth, c->text.depth};
    double floats = 0;
    tensors_make(&tensors, &plan);
    for (size_t i = 0; i < tensors.count; i++) {
        const struct tensor *t = &tensors.list[i];
        double count = (double)(t->in_block ? c->depth : depths[t->in_texts]);
        for (size_t k = 0; k < t->rank; k++) count *= (double)t->shape[k];
        floats += count;
    }
    return floats;
}

/* The floats of x, the queries, keys and values, the MLP's hidden layer and the patches. */
static double least_state(const vit_config *c) {
    double T = (double)vit_tokens(c), D = (double)c->width, M = (double)c->mlp_width;
    double A = (double)c->heads * (c->head_width ? (double)c->head_width : D / (double)c->heads);
    return T * (D + 3 * A + M) + (double)vit_patches(c) * (double)patch_values(c);
}

static void check_sizes(const vit_config *c, const struct vit_kernels *k, size_t batch) {
    double floats = least_floats(c);
    size_t parameters = params_floats(c, k);
    EXPECT((double)parameters >= floats || parameters > SIZE_MAX / sizeof(float),
           "%.0f floats of parameters or too many, got %zu", floats, parameters);
    vit_model model = {.config = *c, .kernels = k};
    size_t state = vit_state_size(&model, batch, NULL);
    EXPECT(state == 0 || (double)state >= 4 * least_state(c), "%.0f bytes of a state or 0, got %zu",
           4 * least_state(c), state);
    vit_model *created = NULL;
    vit_error why = {""};
    if (parameters > SIZE_MAX / sizeof(float))
        EXPECT(model_new(&created, c, "{}", 2, k, &why) == VIT_NO_MEMORY,
               "a model of at least %.0f floats was created", floats);
    if ((double)parameters * 4 > 8e6 || k->packed) return;
    meter_start();
    vit_status status = vit_create(&created, c, "{}", 2, k, &why);
    expect_cheap(meter_stop(), (uint64_t)floats * 4, "an empty model");
    EXPECT(status == VIT_OK || why.text[0], "a failure without a message");
    vit_close(created);
}

static void check_printed(const vit_config *c, const char *json, size_t size) {
    size_t length;
    vit_config again;
    vit_error why = {""};
    char *printed = config_print(&length, c, json, size);
    vit_status status = vit_config_read(&again, printed, length, &why);
    EXPECT(status == VIT_OK, "the printed config is refused: %s", why.text);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    uint8_t choice = tape_byte(&tape);
    const struct vit_kernels *k = kernels_pick(choice >> 1);
    struct specimen *specimen = calloc(1, sizeof *specimen);
    vit_config config;
    vit_error why = {""};
    if (choice & 1) { /* raw text */
        specimen->json_size = (size_t)(tape.end - tape.at);
        if (specimen->json_size > sizeof specimen->json)
            specimen->json_size = sizeof specimen->json;
        memcpy(specimen->json, tape.at, specimen->json_size);
    } else {
        plan_draw(&specimen->plan, &tape);
        for (size_t i = tape_below(&tape, 6); i > 0; i--) mutate_plan(specimen, &tape);
        specimen->json_size = plan_json(specimen->json, sizeof specimen->json, &specimen->plan);
        for (size_t i = tape_below(&tape, 4); i > 0; i--) mutate_json(specimen, &tape);
    }
    char *exact = malloc(specimen->json_size + 1);
    memcpy(exact, specimen->json, specimen->json_size);
    meter_start();
    vit_status status = vit_config_read(&config, exact, specimen->json_size, &why);
    expect_cheap(meter_stop(), specimen->json_size, "reading a config");
    EXPECT(status == VIT_OK || why.text[0], "a failure without a message");
    if (status == VIT_OK) {
        check_sizes(&config, k, (size_t)1 << tape_below(&tape, 32));
        check_printed(&config, exact, specimen->json_size);
    }
    free(exact);
    free(specimen);
    return 0;
}
