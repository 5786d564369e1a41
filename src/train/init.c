/* The first parameters: a table of name endings and how each is drawn. */
#include "base/error.h"
#include "rng.h"
#include "train.h"

#include <string.h>

/* Each writes n floats of a tensor. */
static void fill(float *x, size_t n, float value) {
    for (size_t i = 0; i < n; i++) x[i] = value;
}

static void fill_normal(float *x, size_t n, double deviation, struct rng *rng) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(deviation * rng_normal(rng));
}

/* Uniform in ±sqrt(6 / (fan_in + fan_out)): keeps the variance of activations and of gradients
 * about level. Glorot & Bengio, AISTATS 2010, equation 16. `parts` matrices are stacked in x. */
static void fill_xavier(float *x, const vit_tensor *tensor, size_t parts, struct rng *rng) {
    double fan_out = (double)(tensor->shape[0] / parts);
    double fan_in = (double)(tensor->count / tensor->shape[0]);
    double limit = sqrt(6 / (fan_in + fan_out));
    for (size_t i = 0; i < tensor->count; i++) x[i] = (float)rng_within(rng, limit);
}

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && !strcmp(name + n - m, ending);
}

static void init_tensor(float *x, const vit_tensor *tensor, struct rng *rng) {
    static const double TOKEN = 0.02, LAYER_SCALE = 0.1;
    const char *name = tensor->name;
    bool head = !strncmp(name, "head", 4);
    if (ends_with(name, "_token") || ends_with(name, "pos_embed") ||
        ends_with(name, "_bias_table") || (head && tensor->rank > 1))
        fill_normal(x, tensor->count, TOKEN, rng);
    else if (ends_with(name, ".gamma"))
        fill(x, tensor->count, (float)LAYER_SCALE);
    else if (tensor->matrix)
        fill_xavier(x, tensor, strstr(name, ".qkv.") ? 3 : 1, rng);
    else /* gains of norms are 1, biases 0 */
        fill(x, tensor->count, ends_with(name, ".weight") ? 1 : 0);
}

void init_parameters(vit_model *model, uint64_t seed) {
    size_t count;
    float *parameters = vit_parameters(model, &count);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor tensor = vit_tensor_at(model, i);
        struct rng rng = rng_stream(seed, RNG_INIT, 0, i);
        init_tensor(parameters + tensor.offset, &tensor, &rng);
    }
}

static bool find_tensor(vit_tensor *found, const vit_model *model, const char *name) {
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        *found = vit_tensor_at(model, i);
        if (!strcmp(found->name, name)) return true;
    }
    return false;
}

vit_status init_from(vit_model *model, vit_model *from, vit_error *why) {
    size_t count;
    float *to_all = vit_parameters(model, &count);
    const float *from_all = vit_parameters(from, &count);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor to = vit_tensor_at(model, i), old;
        if (!find_tensor(&old, from, to.name))
            return vit_fail(why, VIT_BAD_TENSOR,
                            "%s: the recipe's model has it, the model to start from has not",
                            to.name);
        bool same = old.rank == to.rank && !memcmp(old.shape, to.shape, to.rank * sizeof *to.shape);
        if (same)
            memcpy(to_all + to.offset, from_all + old.offset, to.count * sizeof *to_all);
        else if (strncmp(to.name, "head", 4) != 0)
            return vit_fail(why, VIT_BAD_TENSOR,
                            "%s: the recipe's model wants %d, the model to start from has %d",
                            to.name, to.shape, to.rank, old.shape, old.rank);
    }
    return VIT_OK;
}
