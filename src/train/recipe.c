/* A recipe is JSON: {"model": a vit_config, "training": the keys of the table below}. */
#include "recipe.h"
#include "base/error.h"
#include "file/config.h"
#include "file/json.h"
#include "kernels/kernels.h"
#include "save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNT, REAL, NAME };

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct recipe */
    double lowest, highest, otherwise;
    const char *const *names; /* of a NAME, NULL-terminated */
};

static const char *const STARTS[] = {"xavier", "mimetic", NULL};
static const char *const OPTIMIZERS[] = {"adamw", "adam", "muon", NULL};
static const char *const SCHEDULES[] = {"cosine", "constant", NULL};
static const char *const PRECISIONS[] = {"float32", "bfloat16", NULL};

#define AT(field) offsetof(struct recipe, field)

static const struct key TRAINING[] = {
    {"epochs", COUNT, AT(epochs), 1, 100000, 50, NULL},
    {"batch", COUNT, AT(batch), 1, 65536, 128, NULL},
    {"validation", COUNT, AT(validation), 0, 1e9, 5000, NULL},
    {"seed", COUNT, AT(seed), 0, 9007199254740992.0, 1, NULL},
    {"start", NAME, AT(start), 0, 0, START_XAVIER, STARTS},
    {"optimizer", NAME, AT(optimizer), 0, 0, OPTIMIZER_ADAMW, OPTIMIZERS},
    {"schedule", NAME, AT(schedule), 0, 0, SCHEDULE_COSINE, SCHEDULES},
    {"learning_rate", REAL, AT(learning_rate), 0, 10, 1e-3, NULL},
    {"min_learning_rate", REAL, AT(min_learning_rate), 0, 10, 0, NULL},
    {"warmup_epochs", REAL, AT(warmup_epochs), 0, 100000, 0, NULL},
    {"weight_decay", REAL, AT(weight_decay), 0, 10, 0, NULL},
    {"beta1", REAL, AT(beta1), 0, 0.999999, 0.9, NULL},
    {"beta2", REAL, AT(beta2), 0, 0.999999, 0.999, NULL},
    {"epsilon", REAL, AT(epsilon), 1e-20, 1, 1e-8, NULL},
    {"clip_norm", REAL, AT(clip_norm), 0, 1e9, 0, NULL},
    {"label_smoothing", REAL, AT(label_smoothing), 0, 0.9, 0, NULL},
    {"ema_decay", REAL, AT(ema_decay), 0, 0.999999, 0, NULL},
    {"drop_path", REAL, AT(drop_path), 0, 0.9, 0, NULL},
    {"freeze", COUNT, AT(freeze), 0, 1e6, 0, NULL},
    {"sharpness", REAL, AT(sharpness), 0, 100, 0, NULL},
    {"sharpness_batch", COUNT, AT(sharpness_batch), 0, 1e6, 0, NULL},
    {"distillation", REAL, AT(distillation), 0, 1, 0, NULL},
    {"drawings", COUNT, AT(drawings), 0, 1000, 0, NULL},
    {"hand", REAL, AT(hand), 0, 1, 0, NULL},
    {"habits", REAL, AT(habits), 0, 1, 0, NULL},
    {"unfinished", REAL, AT(unfinished), 0, 1, 0, NULL},
    {"halves", REAL, AT(halves), 0, 1, 0, NULL},
    {"doubt", REAL, AT(doubt), 0, 1, 0, NULL},
    {"negatives", REAL, AT(negatives), 0, 1, 0, NULL},
    {"mixup", REAL, AT(mixup), 0, 1, 0, NULL},
    {"cutmix", REAL, AT(cutmix), 0, 1, 0, NULL},
    {"precision", NAME, AT(precision), 0, 0, PRECISION_FLOAT32, PRECISIONS},
};

static const struct key AUGMENT[] = {
    {"probability", REAL, AT(augment.probability), 0, 1, 1, NULL},
    {"settle", REAL, AT(augment.settle), 0, 1, 0, NULL},
    {"shift", REAL, AT(augment.shift), 0, 1000, 0, NULL},
    {"rotation", REAL, AT(augment.rotation), 0, 180, 0, NULL},
    {"scale", REAL, AT(augment.scale), 0, 4, 0, NULL},
    {"shear", REAL, AT(augment.shear), 0, 60, 0, NULL},
    {"elastic", REAL, AT(augment.elastic), 0, 100, 0, NULL},
    {"elastic_grid", COUNT, AT(augment.elastic_grid), 1, 64, 4, NULL},
    {"thickness", REAL, AT(augment.thickness), 0, 1, 0, NULL},
    {"bold", REAL, AT(augment.bold), 0, 10, 0, NULL},
    {"erase", COUNT, AT(augment.erase), 0, 1000, 0, NULL},
    {"flip", REAL, AT(augment.flip), 0, 1, 0, NULL},
    {"crop", COUNT, AT(augment.crop), 0, 1000, 0, NULL},
    {"colour", REAL, AT(augment.colour), 0, 1, 0, NULL},
    {"photometric", REAL, AT(augment.photometric), 0, 1, 0, NULL},
};

#define LENGTH(table) (sizeof(table) / sizeof *(table))

static void set_key(struct recipe *recipe, const struct key *key, double value) {
    char *at = (char *)recipe + key->offset;
    if (key->kind == REAL)
        *(double *)at = value;
    else if (key->offset == AT(seed))
        *(uint64_t *)at = (uint64_t)value;
    else
        *(size_t *)at = (size_t)value;
}

static double get_key(const struct recipe *recipe, const struct key *key) {
    const char *at = (const char *)recipe + key->offset;
    if (key->kind == REAL) return *(const double *)at;
    if (key->offset == AT(seed)) return (double)*(const uint64_t *)at;
    return (double)*(const size_t *)at;
}

static vit_status read_name(struct recipe *recipe, const struct key *key, const struct json *value,
                            vit_error *why) {
    char all[80] = "";
    for (size_t i = 0; key->names[i]; i++) {
        if (json_is(value, key->names[i])) {
            set_key(recipe, key, (double)i);
            return VIT_OK;
        }
        if (i) strcat(all, ", ");
        strcat(all, key->names[i]);
    }
    return vit_fail(why, VIT_BAD_CONFIG, "training key %s: expected one of %s, got %t", key->name,
                    all, value->text, value->size);
}

static vit_status read_number(struct recipe *recipe, const struct key *key,
                              const struct json *value, vit_error *why) {
    double number = value->type == JSON_NUMBER ? json_number(value) : key->lowest - 1;
    size_t whole;
    bool fits = number >= key->lowest && number <= key->highest;
    if (fits && (key->kind == REAL || json_size(value, SIZE_MAX, &whole))) {
        set_key(recipe, key, number);
        return VIT_OK;
    }
    char range[80];
    snprintf(range, sizeof range, "a %snumber from %.10g to %.10g",
             key->kind == COUNT ? "whole " : "", key->lowest, key->highest);
    return vit_fail(why, VIT_BAD_CONFIG, "training key %s: expected %s, got %t", key->name, range,
                    value->text, value->size);
}

static const struct key *find_key(const struct key *keys, size_t count, const struct json *name) {
    for (size_t i = 0; i < count; i++)
        if (json_is(name, keys[i].name)) return &keys[i];
    return NULL;
}

/* Reads an object of `keys`. If `augment` is not NULL, a member of that name is put there. */
static vit_status read_keys(struct recipe *recipe, const struct json *object,
                            const struct key *keys, size_t count, struct json *augment,
                            vit_error *why) {
    for (size_t i = 0; i < count; i++) set_key(recipe, &keys[i], keys[i].otherwise);
    struct json name, value;
    for (struct json_walk walk = json_walk(object); json_next(&walk, &name, &value);) {
        if (augment && json_is(&name, "augment") && value.type == JSON_OBJECT) {
            *augment = value;
            continue;
        }
        const struct key *key = find_key(keys, count, &name);
        if (!key)
            return vit_fail(why, VIT_BAD_CONFIG, "%t is not a %skey", name.text, name.size,
                            augment ? "training " : "training.augment ");
        vit_status status = (key->kind == NAME ? read_name : read_number)(recipe, key, &value, why);
        if (status) return status;
    }
    return VIT_OK;
}

/* A copy without the white space between tokens, terminated. */
static char *compact(const struct json *value) {
    char *out = malloc(value->size + 1), *end = out;
    bool string = false;
    for (size_t i = 0; out && i < value->size; i++) {
        char c = value->text[i];
        if (!string && memchr(" \t\r\n", c, 4)) continue;
        *end++ = c;
        if (string && c == '\\')
            *end++ = value->text[++i];
        else if (c == '"')
            string = !string;
    }
    if (out) *end = '\0';
    return out;
}

static vit_status check_config(const vit_config *config, vit_error *why) {
    if (config->classes == 0 && !config->decoder.depth)
        return vit_fail(why, VIT_BAD_CONFIG, "recipe: model: classes: expected at least 1, got 0");
    if (config->classes && config->decoder.depth)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: model: classes: expected 0 beside a decoder, because only one of "
                        "them is trained; got %z",
                        config->classes);
    if (config->decoder.vocabulary > 256)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: model: decoder.vocabulary: expected at most 256, because texts to "
                        "learn from are bytes; got %z",
                        config->decoder.vocabulary);
    if (config->decoder.depth && config->decoder.padding != VIT_NO_TOKEN &&
        config->decoder.padding == config->decoder.end)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: model: decoder.padding: expected another token than the end, %z, "
                        "because the end is learnt",
                        config->decoder.end);
    if (config->detections)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: model: detections: expected 0, because no other can be trained");
    if (config->pool > VIT_POOL_MEAN)
        return vit_fail(
            why, VIT_BAD_CONFIG,
            "recipe: model: pool: expected class or mean, because no other can be trained");
    if (config->tokens_to_token)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: model: tokens_to_token: expected none, because no other can be "
                        "trained");
    return VIT_OK;
}

static vit_status read_model(struct recipe *recipe, const struct json *model, vit_error *why) {
    if (model->type != JSON_OBJECT)
        return vit_fail(why, VIT_BAD_CONFIG, "recipe: `model` must be an object, got %t",
                        model->text, model->size);
    struct json name, value;
    for (struct json_walk walk = json_walk(model); json_next(&walk, &name, &value);)
        if (!config_has_key(&name))
            return vit_fail(why, VIT_BAD_CONFIG, "recipe: %t is not a key of `model`", name.text,
                            name.size);
    recipe->model = compact(model);
    if (!recipe->model) return vit_fail(why, VIT_NO_MEMORY, "no memory for the recipe");
    vit_status status = vit_config_read(&recipe->config, recipe->model, strlen(recipe->model), why);
    return status ? status : check_config(&recipe->config, why);
}

static vit_status read_training(struct recipe *recipe, const struct json *training,
                                vit_error *why) {
    struct json augment = {"{}", 2, JSON_OBJECT};
    vit_status status = read_keys(recipe, training, TRAINING, LENGTH(TRAINING), &augment, why);
    size_t most = recipe->config.depth + 1;
    if (!status && recipe->freeze > most)
        status =
            vit_fail(why, VIT_BAD_CONFIG,
                     "training key freeze: expected a whole number from 0 to %z, one more than "
                     "the model's depth, got %z",
                     most, recipe->freeze);
    if (!status && recipe->drop_path > 0 && !recipe->config.residual)
        status = vit_fail(why, VIT_BAD_CONFIG,
                          "training key drop_path: expected 0 for a model without residual "
                          "connections");
    if (!status && recipe->start == START_MIMETIC && recipe->config.attention != VIT_STANDARD)
        status = vit_fail(why, VIT_BAD_CONFIG,
                          "training key start: expected xavier for a model with attention "
                          "per_head, got mimetic");
    bool labelled = recipe->drawings || recipe->negatives > 0 || recipe->distillation > 0 ||
                    recipe->mixup + recipe->cutmix > 0;
    if (!status && recipe->config.decoder.depth && labelled)
        status = vit_fail(why, VIT_BAD_CONFIG,
                          "training keys drawings, negatives, distillation, mixup and cutmix: "
                          "expected none for a model with a decoder, whose images have texts");
    return status ? status : read_keys(recipe, &augment, AUGMENT, LENGTH(AUGMENT), NULL, why);
}

static vit_status read_recipe(struct recipe *recipe, const struct json *whole, vit_error *why) {
    struct json name, value, model = {0}, training = {0};
    for (struct json_walk walk = json_walk(whole); json_next(&walk, &name, &value);) {
        if (json_is(&name, "model"))
            model = value;
        else if (json_is(&name, "training"))
            training = value;
        else
            return vit_fail(why, VIT_BAD_CONFIG,
                            "recipe: %t: unknown key, expected `model` and `training`", name.text,
                            name.size);
    }
    if (!model.text || training.type != JSON_OBJECT)
        return vit_fail(why, VIT_BAD_CONFIG,
                        "recipe: expected an object with two objects, `model` and `training`");
    vit_status status = read_model(recipe, &model, why);
    return status ? status : read_training(recipe, &training, why);
}

vit_status recipe_read(struct recipe *recipe, const char *json, size_t size, vit_error *why) {
    struct json whole;
    *recipe = (struct recipe){0};
    if (!json_read(&whole, json, size) || whole.type != JSON_OBJECT)
        return vit_fail(why, VIT_BAD_CONFIG, "recipe: expected a JSON object");
    vit_status status = read_recipe(recipe, &whole, why);
    if (status) recipe_close(recipe);
    return status;
}

vit_status recipe_for(struct recipe *recipe, const vit_model *model, const char *training,
                      vit_error *why) {
    struct json whole, config;
    size_t size;
    const char *json = vit_model_json(model, &size);
    *recipe = (struct recipe){.config = *vit_model_config(model)};
    if (!json_read(&config, json, size) || !json_read(&whole, training, strlen(training)))
        return vit_fail(why, VIT_BAD_CONFIG, "recipe: expected a JSON object");
    recipe->model = compact(&config);
    vit_status status = recipe->model ? check_config(&recipe->config, why)
                                      : vit_fail(why, VIT_NO_MEMORY, "no memory for the recipe");
    if (!status) status = read_training(recipe, &whole, why);
    if (status) recipe_close(recipe);
    return status;
}

bool recipe_trains(const struct recipe *recipe, const vit_tensor *tensor) {
    static const char BLOCKS[] = "blocks.";
    size_t frozen = recipe->freeze, length = sizeof BLOCKS - 1;
    if (!frozen || tensor->kind == VIT_KIND_HEAD || tensor->kind == VIT_KIND_HEAD_BIAS ||
        !strncmp(tensor->name, "pre_logits.", 11) || !strncmp(tensor->name, "decoder.", 8))
        return true;
    if (!strncmp(tensor->name, BLOCKS, length))
        return strtoul(tensor->name + length, NULL, 10) >= frozen;
    bool last = !strncmp(tensor->name, "norm.", 5) || !strncmp(tensor->name, "fc_norm.", 8);
    return last && frozen <= recipe->config.depth;
}

const struct vit_kernels *recipe_kernels(const struct recipe *recipe) {
    const struct vit_kernels *rounded =
        recipe->precision == PRECISION_BFLOAT16 ? vit_bfloat16() : NULL;
    return rounded ? rounded : vit_kernels_training();
}

void recipe_close(struct recipe *recipe) {
    free(recipe->model);
    *recipe = (struct recipe){0};
}

static size_t print_keys(char *out, size_t room, const struct recipe *recipe,
                         const struct key *keys, size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct key *key = &keys[i];
        double value = get_key(recipe, key);
        int put = key->kind == NAME
                      ? snprintf(out + n, room - n, "\"%s\":\"%s\",", key->name,
                                 key->names[(size_t)value])
                      : snprintf(out + n, room - n, "\"%s\":%.16g,", key->name, value);
        n += (size_t)put;
    }
    return n;
}

enum { TRAINING_ROOM = 64 * (LENGTH(TRAINING) + LENGTH(AUGMENT) + 1) };

char *recipe_training_json(const struct recipe *recipe) {
    char *out = malloc(TRAINING_ROOM);
    if (!out) return NULL;
    size_t n = (size_t)snprintf(out, TRAINING_ROOM, "{");
    n += print_keys(out + n, TRAINING_ROOM - n, recipe, TRAINING, LENGTH(TRAINING));
    n += (size_t)snprintf(out + n, TRAINING_ROOM - n, "\"augment\":{");
    n += print_keys(out + n, TRAINING_ROOM - n, recipe, AUGMENT, LENGTH(AUGMENT));
    snprintf(out + n - 1, TRAINING_ROOM - n + 1, "}}"); /* in place of the last comma */
    return out;
}

char *recipe_metadata(const struct recipe *recipe, double accuracy) {
    char *training = recipe_training_json(recipe), measured[64] = "";
    if (!training) return NULL;
    if (accuracy >= 0)
        snprintf(measured, sizeof measured, ",\"validation_accuracy\":%.6g", accuracy);
    int model = (int)strlen(recipe->model) - 1; /* without its closing brace */
    size_t room = (size_t)model + strlen(training) + 256;
    char *out = malloc(room);
    if (out)
        snprintf(out, room, "%.*s%s\"training\":%s,\"seed\":%llu,\"epochs\":%zu%s}", model,
                 recipe->model, model > 1 ? "," : "", training, (unsigned long long)recipe->seed,
                 recipe->epochs, measured);
    free(training);
    return out;
}
