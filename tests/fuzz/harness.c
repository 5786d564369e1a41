#include "harness.h"

#include <math.h>
#include <sanitizer/allocator_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list values;
    fprintf(stderr, "%s:%d: expected %s: ", file, line, condition);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n");
    abort();
}

/* malloc refuses more than 256 MiB at once, as on a small machine. The quarantine of freed memory
 * is small, because memory is measured. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:max_allocation_size_mb=256:quarantine_size_mb=16:"
           "malloc_context_size=8";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "print_stacktrace=1";
}

/* ---- Memory ------------------------------------------------------------- */

static bool metering;
static size_t live, peak;

static void count_malloc(const volatile void *at, size_t size) {
    if (!metering || !at) return;
    live += size;
    if (live > peak) peak = live;
}

static void count_free(const volatile void *at) {
    if (!metering || !at) return;
    size_t size = __sanitizer_get_allocated_size(at);
    live -= size < live ? size : live;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
    return 0;
}

void meter_start(void) {
    live = peak = 0;
    metering = true;
}

size_t meter_stop(void) {
    metering = false;
    return peak;
}

void expect_cheap(size_t bytes, uint64_t justified, const char *what) {
    double most = 50e6 + 16 * (double)justified;
    EXPECT((double)bytes <= most, "%s took %zu bytes for a size of %llu", what, bytes,
           (unsigned long long)justified);
}

/* ---- Kernels ------------------------------------------------------------ */

extern const struct vit_kernels vit_simd128, vit_relaxed, vit_relaxed_pairs;
static const struct vit_kernels *const ALL[] = {&vit_scalar, &vit_native, &vit_simd128,
                                                &vit_relaxed, &vit_relaxed_pairs};

size_t kernels_count(void) {
    return sizeof ALL / sizeof *ALL;
}

const struct vit_kernels *kernels_pick(size_t index) {
    return ALL[index % kernels_count()];
}

/* ---- Opening ------------------------------------------------------------ */

struct source specimen_source(const struct specimen *specimen) {
    return (struct source){specimen->bytes,
                           specimen->size,
                           specimen->json_apart ? specimen->json : NULL,
                           specimen->json_apart ? specimen->json_size : 0,
                           specimen->mapped ? specimen->map : NULL,
                           specimen->mapped ? specimen->map_size : 0};
}

vit_status open_whole(vit_model **out, const struct source *s, const struct vit_kernels *kernels,
                      vit_error *why) {
    return vit_open_with_config(out, s->bytes, s->size, s->json, s->json_size, s->map, s->map_size,
                                kernels, why);
}

void expect_same_models(const vit_model *a, const vit_model *b, const char *what) {
    EXPECT(a->float_count == b->float_count, "%s: %zu and %zu numbers", what, a->float_count,
           b->float_count);
    for (size_t i = 0; i < a->float_count; i++)
        EXPECT(same_bits(a->floats + i, b->floats + i, 1), "%s: number %zu: %.9g, got %.9g", what,
               i, (double)a->floats[i], (double)b->floats[i]);
    EXPECT(a->json_size == b->json_size && !memcmp(a->json, b->json, a->json_size),
           "%s: the configs differ", what);
    EXPECT(a->config.int8 == b->config.int8, "%s: only one model is int8", what);
}

void expect_planned(const struct specimen *specimen, const vit_model *model) {
    const struct plan *p = &specimen->plan;
    const vit_config *c = vit_model_config(model);
    const struct {
        const char *key;
        size_t got, want;
    } sizes[] = {{"rows", c->image_size[0], p->image[0]},
                 {"columns", c->image_size[1], p->image[1]},
                 {"patch rows", c->patch_size[0], p->patch[0]},
                 {"patch columns", c->patch_size[1], p->patch[1]},
                 {"channels", c->channels, p->channels},
                 {"width", c->width, p->width},
                 {"depth", c->depth, p->depth},
                 {"heads", c->heads, p->heads},
                 {"head_width", head_width(c), plan_head_width(p)},
                 {"mlp_width", c->mlp_width, p->mlp_width},
                 {"mlp", c->mlp, p->gated},
                 {"mlp_norm", c->mlp_norm, p->mlp_norm},
                 {"tokens_to_token", c->tokens_to_token, p->split},
                 {"pool_heads", pool_heads(c), p->pool_heads ? p->pool_heads : p->heads},
                 {"classes", c->classes, p->classes},
                 {"tokens", vit_tokens(c), plan_tokens(p)},
                 {"class tokens", c->class_tokens, p->class_tokens},
                 {"detections", c->detections, p->detections},
                 {"mid_position", c->mid_position, p->mid_position},
                 {"mlp_norm_after", c->mlp_norm_after, p->mlp_norm_after},
                 {"head_hidden", c->head_hidden, p->head_hidden},
                 {"grid rows", vit_grid(c, 0), plan_grid(p, 0)},
                 {"pool", c->pool, p->pool},
                 {"qkv_bias", c->qkv_bias, p->qkv_bias},
                 {"qk_norm", c->qk_norm, p->qk_norm},
                 {"layer_scale", c->layer_scale, p->layer_scale},
                 {"residual", c->residual, !p->no_residual},
                 {"final_norm", c->final_norm, p->final_norm},
                 {"int8", c->int8, p->int8},
                 {"fc_norm", c->fc_norm, p->fc_norm},
                 {"decoder.depth", c->decoder.depth, p->texts[TEXT_DECODER].depth},
                 {"decoder.width", c->decoder.width, p->texts[TEXT_DECODER].width},
                 {"decoder.max_tokens", c->decoder.max_tokens, p->texts[TEXT_DECODER].max_tokens},
                 {"decoder.vocabulary", c->decoder.vocabulary, p->texts[TEXT_DECODER].vocabulary},
                 {"text.depth", c->text.depth, p->texts[TEXT_TOWER].depth},
                 {"text.heads", c->text.heads, p->texts[TEXT_TOWER].heads},
                 {"text.projection", c->text.projection, p->texts[TEXT_TOWER].projection}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        EXPECT(sizes[i].got == sizes[i].want, "%s: %zu, got %zu", sizes[i].key, sizes[i].want,
               sizes[i].got);
}

/* ---- Running ------------------------------------------------------------ */

size_t image_floats(const vit_config *c) {
    return c->channels * c->image_size[0] * c->image_size[1];
}

bool affordable(const vit_model *model, size_t batch) {
    const vit_config *c = vit_model_config(model);
    double T = (double)vit_tokens(c), D = (double)c->width, A = (double)attention_width(c);
    double pixels = (double)c->image_size[0] * (double)c->image_size[1], in = (double)c->channels;
    double work = T * ((double)patch_values(c) * D + (double)c->classes * D);
    work += (double)c->depth * T * (4 * D * A + 2 * D * (double)c->mlp_width + 2 * T * A);
    for (size_t i = 0; i < c->stem_layers; i++, in = (double)c->stem[i - 1].channels)
        work += pixels * 9 * in * (double)c->stem[i].channels;
    for (size_t split = 0; split < VIT_SOFT_SPLITS && c->tokens_to_token; split++) {
        double N = split ? pixels / 64 : pixels / 16, t = (double)c->token_width;
        work += N * t * (3 * (double)split_values(c, split) + 2 * N + 4 * t);
    }
    double maps = (double)c->depth * (double)c->heads * T * T;
    return (double)batch * (work + pixels * (double)c->channels + maps) < 1e6;
}

float *images_new(const vit_config *c, size_t batch, bool wild, uint64_t *seed) {
    size_t n = batch * image_floats(c);
    float *images = malloc(n * sizeof *images);
    EXPECT(images, "no memory for images");
    for (size_t i = 0; i < n; i++) images[i] = random_share(seed) * (wild ? 3e38f : 1);
    return images;
}

float *run_logits(const vit_model *model, const float *images, size_t batch, size_t state_batch,
                  vit_team *team) {
    const vit_config *c = vit_model_config(model);
    size_t size = vit_state_size(model, state_batch, team);
    EXPECT(size > 0, "no state for a model that can be run");
    void *memory = malloc(size);
    float *logits = malloc(batch * vit_logits(c) * sizeof *logits + 1);
    vit_state *state;
    EXPECT(memory && logits, "no memory for a state of %zu bytes", size);
    EXPECT(vit_state_init(&state, memory, size, model, state_batch, team) == VIT_OK, "no state");
    vit_status status = vit_run(model, state, images, batch, logits, NULL);
    EXPECT(status == VIT_OK || status == VIT_BAD_IMAGE, "a run: %s", vit_status_name(status));
    free(memory);
    if (status == VIT_OK) return logits;
    free(logits);
    return NULL;
}

bool same_bits(const float *a, const float *b, size_t n) {
    return memcmp(a, b, n * sizeof *a) == 0;
}

bool finite_floats(const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

void open_and_run(const struct source *s, const struct vit_kernels *kernels) {
    vit_model *model;
    vit_error why = {""};
    uint64_t seed = s->size;
    meter_start();
    vit_status status = open_whole(&model, s, kernels, &why);
    expect_cheap(meter_stop(), s->size + s->json_size + s->map_size, "opening");
    EXPECT(status == VIT_OK || why.text[0], "%s without a message", vit_status_name(status));
    EXPECT((status == VIT_OK) == (model != NULL), "a model after a failure, or none after success");
    if (status) return;
    if (affordable(model, 1)) {
        float *images = images_new(vit_model_config(model), 1, false, &seed);
        free(run_logits(model, images, 1, 1, NULL));
        run_texts(model, images, false, &seed);
        free(images);
    }
    vit_close(model);
}
