/* The first parameters. A tensor's kind decides how it is filled. */
#include "init.h"
#include "base/direction.h"
#include "base/error.h"
#include "base/rng.h"
#include "muon.h"
#include "save.h"
#include "shapes.h"
#include "stages/tokens.h"

#include <stdio.h>
#include <string.h>

static void fill(float *x, size_t n, float value) {
    for (size_t i = 0; i < n; i++) x[i] = value;
}

static void fill_normal(float *x, size_t n, double deviation, struct rng *rng) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(deviation * rng_normal(rng));
}

/* Uniform in ±sqrt(6 / (fan_in + fan_out)): keeps the variance of activations and of gradients
 * about level. Glorot & Bengio, AISTATS 2010, equation 16. */
static void fill_xavier(float *x, const vit_tensor *tensor, struct rng *rng) {
    struct matrices of = stacked_matrices(tensor);
    double limit = sqrt(6 / ((double)of.columns + (double)of.rows));
    for (size_t i = 0; i < tensor->count; i++) x[i] = (float)rng_within(rng, limit);
}

/* The powers of the base, in a direction of the image that each head draws, and across it in its
 * second half. Heo et al., arXiv:2403.13298, section 3.2. */
static void fill_frequencies(float *x, const vit_config *c, struct rng *rng) {
    size_t half = head_width(c) / 2, quarter = half / 2, pairs = c->heads * half;
    for (size_t head = 0; head < c->heads; head++) {
        double angle = rng_within(rng, 3.141592653589793);
        for (size_t i = 0; i < half; i++) {
            double power = pow(c->rotary_base, -(double)(i % quarter) / (double)quarter);
            struct direction to = direction(i < quarter ? angle : angle + 1.5707963267948966);
            x[head * half + i] = (float)(power * to.cosine);
            x[pairs + head * half + i] = (float)(power * to.sine);
        }
    }
}

static void init_tensor(float *x, const vit_tensor *tensor, const vit_config *c, struct rng *rng) {
    static const double TOKEN = 0.02, LAYER_SCALE = 0.1;
    switch (tensor->kind) {
    case VIT_KIND_TOKEN:
    case VIT_KIND_POSITION:
    case VIT_KIND_RELATIVE:
    case VIT_KIND_EMBEDDING:
    case VIT_KIND_HEAD: fill_normal(x, tensor->count, TOKEN, rng); break;
    case VIT_KIND_ROTARY: fill_frequencies(x, c, rng); break;
    case VIT_KIND_LAYER_SCALE: fill(x, tensor->count, (float)LAYER_SCALE); break;
    case VIT_KIND_GAIN:
    case VIT_KIND_PIXEL_GAIN: fill(x, tensor->count, 1); break;
    default:
        if (tensor->matrix)
            fill_xavier(x, tensor, rng);
        else
            fill(x, tensor->count, 0); /* biases */
    }
}

static bool find_tensor(vit_tensor *found, const vit_model *model, const char *name) {
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        *found = vit_tensor_at(model, i);
        if (!strcmp(found->name, name)) return true;
    }
    return false;
}

/* ---- Mimetic: Trockman & Kolter, arXiv:2305.09828, section 3 --------------------------------- */

static double product(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* Random rows of length 1. Each stands at right angles to the others of its lot of `columns` rows.
 * Gram and Schmidt, twice because of rounding. */
static void fill_orthonormal(float *x, size_t rows, size_t columns, struct rng *rng) {
    for (size_t i = 0; i < rows; i++) {
        float *row = x + i * columns;
        fill_normal(row, columns, 1, rng);
        for (int twice = 0; twice < 2; twice++) {
            for (size_t k = i - i % columns; k < i; k++) {
                double along = product(row, x + k * columns, columns);
                for (size_t j = 0; j < columns; j++) row[j] -= (float)along * x[k * columns + j];
            }
            double length = sqrt(product(row, row, columns));
            for (size_t j = 0; j < columns; j++) row[j] = (float)(row[j] / length);
        }
    }
}

/* x = scale·(x + noise), where a row's noise has about the length `noise`. */
static void blur(float *x, size_t n, double scale, double noise, size_t columns, struct rng *rng) {
    double deviation = noise / sqrt((double)columns);
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * (x[i] + deviation * rng_normal(rng)));
}

/* Keys times queries are about 0.7 of the identity plus noise, and the projection times the values
 * about -0.4 of it: the paper's β. */
static void mimic_attention(float *qkv, float *proj, const vit_config *c, struct rng *rng) {
    static const double QK = 0.84, QK_NOISE = 0.5, VP = 0.63, VP_NOISE = 0.6;
    size_t D = c->width, d = head_width(c), A = attention_width(c), n = A * D;
    float *keys = qkv + n, *values = keys + n;
    for (size_t row = 0; row < A; row += d) fill_orthonormal(qkv + row * D, d, D, rng);
    memcpy(keys, qkv, n * sizeof *keys);
    fill_orthonormal(values, A, D, rng);
    for (size_t i = 0; i < n; i++) proj[i] = -values[i % A * D + i / A];
    blur(qkv, 2 * n, QK, QK_NOISE, D, rng);
    blur(values, n, VP, VP_NOISE, D, rng);
    blur(proj, n, VP, VP_NOISE, A, rng);
}

static void mimic(vit_model *model, float *parameters, uint64_t seed) {
    const vit_config *c = vit_model_config(model);
    vit_tensor qkv, proj, position;
    char name[64];
    for (size_t block = 0; block < c->depth; block++) {
        struct rng rng = rng_stream(seed, RNG_INIT, 1, block);
        snprintf(name, sizeof name, "blocks.%zu.attn.qkv.weight", block);
        bool found = find_tensor(&qkv, model, name);
        snprintf(name, sizeof name, "blocks.%zu.attn.proj.weight", block);
        if (found && find_tensor(&proj, model, name))
            mimic_attention(parameters + qkv.offset, parameters + proj.offset, c, &rng);
    }
    if (c->position != VIT_LEARNED || !find_tensor(&position, model, "pos_embed")) return;
    vit_config patches = *c; /* without the tokens before them */
    patches.position = VIT_SINCOS2D;
    patches.class_tokens = patches.distillation_tokens = patches.register_tokens = 0;
    tokens_sincos(parameters + position.offset + (c->position_rows - vit_patches(c)) * c->width,
                  &patches);
}

void init_parameters(vit_model *model, size_t start, uint64_t seed) {
    size_t count;
    float *parameters = vit_parameters(model, &count);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor tensor = vit_tensor_at(model, i);
        struct rng rng = rng_stream(seed, RNG_INIT, 0, i);
        init_tensor(parameters + tensor.offset, &tensor, vit_model_config(model), &rng);
    }
    if (start == START_MIMETIC) mimic(model, parameters, seed);
}

/* ---- From another model ------------------------------------------------------------------- */

static bool of_head(const vit_tensor *tensor) {
    return tensor->kind == VIT_KIND_HEAD || tensor->kind == VIT_KIND_HEAD_BIAS;
}

/* A tensor that is left behind would make the start another model. */
static vit_status check_start(const vit_model *model, vit_model *from, vit_error *why) {
    size_t count;
    if (!vit_parameters(from, &count))
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        vit_model_config(from)->int8
                            ? "the model to start from: expected one of floats, got an int8 one; "
                              "use the model that it was quantised from"
                            : "the model to start from: expected unpacked parameters");
    for (size_t i = 0; i < vit_tensor_count(from); i++) {
        vit_tensor old = vit_tensor_at(from, i), to;
        if (!of_head(&old) && !find_tensor(&to, model, old.name))
            return vit_fail(why, VIT_BAD_TENSOR,
                            "%s: the model to start from has it, but the recipe's model does not",
                            old.name);
    }
    return VIT_OK;
}

static const size_t NOT_FOUND = SIZE_MAX;

/* → the class of `from` that has the name of class `index` of `model`; NOT_FOUND: none. */
static size_t same_class(const vit_model *model, const vit_model *from, size_t index) {
    const char *name = vit_model_label(model, index), *other;
    for (size_t i = 0; name && (other = vit_model_label(from, i)); i++)
        if (!strcmp(name, other)) return i;
    return NOT_FOUND;
}

/* Copies a head's rows of the classes that both models name, and then the row of doubt that both
 * have. → how many classes; `row`: a row's numbers. */
static size_t copy_rows(float *x, const float *old, const vit_model *model, const vit_model *from,
                        size_t row) {
    const vit_config *to = vit_model_config(model), *other = vit_model_config(from);
    size_t copied = 0;
    for (size_t i = 0; i < to->classes; i++) {
        size_t at = same_class(model, from, i);
        if (at == NOT_FOUND) continue;
        memcpy(x + i * row, old + at * row, row * sizeof *x);
        copied++;
    }
    if (copied && to->doubt && other->doubt)
        memcpy(x + to->classes * row, old + other->classes * row, row * sizeof *x);
    return copied;
}

vit_status init_from(vit_model *model, vit_model *from, vit_error *why) {
    size_t count;
    vit_status status = check_start(model, from, why);
    if (status) return status;
    float *to_all = vit_parameters(model, &count);
    const float *from_all = vit_parameters(from, &count);
    for (size_t i = 0; i < vit_tensor_count(model); i++) {
        vit_tensor to = vit_tensor_at(model, i), old;
        if (!find_tensor(&old, from, to.name)) {
            if (of_head(&to)) continue;
            return vit_fail(why, VIT_BAD_TENSOR,
                            "%s: the recipe's model has it, but the model to start from does not",
                            to.name);
        }
        float *x = to_all + to.offset;
        const float *start = from_all + old.offset;
        bool same =
            old.rank == to.rank && !memcmp(old.shape, to.shape, to.rank * sizeof *to.shape) &&
            !(of_head(&to) && vit_model_config(model)->doubt != vit_model_config(from)->doubt);
        size_t row = to.count / to.shape[0];
        bool rows_match = of_head(&to) && row == old.count / old.shape[0];
        if (rows_match && copy_rows(x, start, model, from, row)) continue;
        if (same)
            memcpy(x, start, to.count * sizeof *x);
        else if (!of_head(&to))
            return vit_fail(why, VIT_BAD_TENSOR,
                            "%s: expected %d as in the recipe's model, got %d in the model to "
                            "start from",
                            to.name, to.shape, to.rank, old.shape, old.rank);
    }
    return VIT_OK;
}
