/* A model without changes, except that its numbers may be huge, is run in every way: any batch and
 * state, taps of any layers, a team, every table of kernels, and overlays. Results have the same
 * bits for every batch and team, and are finite if the weights are plain. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "model.h"
#include "overlay.h"
#include "steady.h"

enum { IMAGES = 3 };

/* A team that runs its parts on the caller's thread, in another order each time. */
struct orderly {
    vit_team team;
    uint64_t seed;
};

static void run_in_turn(vit_team *team, vit_part *part, void *context) {
    struct orderly *o = (struct orderly *)team;
    size_t count = random_next(&o->seed) % 4 ? team->size : 1 + random_next(&o->seed) % team->size;
    size_t start = random_next(&o->seed) % count;
    for (size_t i = 0; i < count; i++) part(context, (start + i) % count, count);
}

struct outputs {
    size_t counts[5];
    float *logits, *attention, *hidden, *tokens, *pooled; /* NULL: not requested */
};

/* A block of exactly this size, or NULL if it is not requested. */
static float *room(size_t count, bool is_requested) {
    float *x = is_requested ? malloc(count * sizeof *x + (count == 0)) : NULL;
    EXPECT(!is_requested || x, "no memory");
    for (size_t i = 0; is_requested && i < count; i++) x[i] = NAN;
    return x;
}

static size_t count_layers(const uint8_t *mask, size_t depth) {
    size_t n = 0;
    for (size_t i = 0; i < depth; i++) n += mask[i] != 0;
    return n;
}

static struct outputs outputs_new(const vit_config *c, size_t batch, const uint8_t *masks,
                                  unsigned wants) {
    size_t T = vit_tokens(c), D = c->width;
    size_t maps = count_layers(masks, c->depth), streams = count_layers(masks + c->depth, c->depth);
    struct outputs o = {{batch * vit_logits(c), batch * maps * c->heads * T * T,
                         batch * streams * T * D, batch * T * D, batch * D},
                        NULL,
                        NULL,
                        NULL,
                        NULL,
                        NULL};
    o.logits = room(o.counts[0], wants & 1);
    o.attention = room(o.counts[1], wants & 2);
    o.hidden = room(o.counts[2], wants & 4);
    o.tokens = room(o.counts[3], wants & 8);
    o.pooled = room(o.counts[4], wants & 16);
    return o;
}

static void outputs_free(struct outputs *o) {
    free(o->logits), free(o->attention), free(o->hidden), free(o->tokens), free(o->pooled);
}

struct subject {
    const vit_model *model;
    const float *images;
    const uint8_t *masks; /* (2,L): for attention, for hidden tokens */
    unsigned wants;
    bool plain;
};

static struct outputs run(const struct subject *s, size_t first, size_t batch, size_t state_batch,
                          vit_team *team) {
    const vit_config *c = vit_model_config(s->model);
    struct outputs o = outputs_new(c, batch, s->masks, s->wants);
    vit_taps taps = {.attention = o.attention,
                     .attention_layers = s->masks,
                     .hidden = o.hidden,
                     .hidden_layers = s->masks + c->depth,
                     .tokens = o.tokens,
                     .pooled = o.pooled};
    size_t size = vit_state_size(s->model, state_batch, team);
    void *memory = malloc(size);
    vit_state *state;
    EXPECT(size && memory, "a state");
    EXPECT(!vit_state_init(&state, memory, size, s->model, state_batch, team), "a state");
    vit_status status =
        vit_run(s->model, state, s->images + first * image_floats(c), batch, o.logits, &taps);
    EXPECT(status == VIT_OK, "a run: %s", vit_status_name(status));
    free(memory);
    return o;
}

/* Expects the same bits, or NaN in both. */
static void same(const float *a, const float *b, size_t n, const char *what) {
    for (size_t i = 0; a && i < n; i++)
        EXPECT(same_bits(a + i, b + i, 1) || (isnan(a[i]) && isnan(b[i])),
               "%s: %.9g at %zu, got %.9g", what, (double)a[i], i, (double)b[i]);
}

/* Compares `part`, `batch` images, with `whole` from image `first` on. */
static void compare(const struct outputs *whole, const struct outputs *part, size_t first,
                    size_t batch, size_t all, const char *what) {
    const float *a[] = {whole->logits, whole->attention, whole->hidden, whole->tokens,
                        whole->pooled};
    const float *b[] = {part->logits, part->attention, part->hidden, part->tokens, part->pooled};
    for (size_t i = 0; i < 5; i++) {
        size_t each = whole->counts[i] / all;
        if (a[i]) same(a[i] + first * each, b[i], batch * each, what);
    }
}

static void check_plain(const struct outputs *o, size_t T) {
    const float *all[] = {o->logits, o->attention, o->hidden, o->tokens, o->pooled};
    for (size_t i = 0; i < 5; i++)
        EXPECT(!all[i] || finite_floats(all[i], o->counts[i]), "output %zu is not finite", i);
    for (size_t row = 0; o->attention && row < o->counts[1] / T; row++) {
        double sum = 0;
        for (size_t i = 0; i < T; i++) sum += (double)o->attention[row * T + i];
        EXPECT(fabs(sum - 1) < 1e-4, "a row of attention must sum to 1, got %g", sum);
    }
}

static void check_overlays(const struct subject *s, const struct outputs *o, struct tape *t) {
    const vit_config *c = vit_model_config(s->model);
    size_t T = vit_tokens(c), prefix = vit_prefix(c), layers = count_layers(s->masks, c->depth);
    if (!o->attention || layers == 0) return;
    static const float SHARES[] = {0, 0.5f, 0.9f, 1, 2, -1, NAN, INFINITY};
    float *map = room(T - prefix, true), *scratch = room(3 * T, true);
    size_t head = tape_bool(t) ? VIT_MEAN_OF_HEADS : tape_below(t, c->heads);
    vit_overlay_row(map, o->attention, c->heads, T, prefix, head, tape_below(t, T));
    EXPECT(!s->plain || finite_floats(map, T - prefix), "the map is not finite");
    vit_overlay_rollout(map, scratch, o->attention, layers, c->heads, T, prefix, c->residual,
                        SHARES[tape_below(t, 8)], (vit_fuse)tape_below(t, 3));
    EXPECT(!s->plain || finite_floats(map, T - prefix), "the rollout is not finite");
    free(map);
    free(scratch);
}

static void check_bad_image(const vit_model *model, struct tape *t) {
    static const float BAD[] = {NAN, INFINITY, -INFINITY};
    uint64_t seed = 1;
    const vit_config *c = vit_model_config(model);
    float *images = images_new(c, 2, false, &seed);
    images[tape_below(t, 2 * image_floats(c))] = BAD[tape_below(t, 3)];
    float *logits = run_logits(model, images, 2, 1 + tape_below(t, 2), NULL);
    EXPECT(!logits, "an image that is not finite was run");
    free(images);
}

static void check(const struct subject *s, struct tape *t) {
    const vit_config *c = vit_model_config(s->model);
    size_t batch = 1 + tape_below(t, IMAGES), state = 1 + tape_below(t, IMAGES);
    struct outputs whole = run(s, 0, batch, state, NULL);
    if (s->plain) check_plain(&whole, vit_tokens(c));
    check_overlays(s, &whole, t);
    for (size_t i = 0; i < batch; i++) {
        struct outputs one = run(s, i, 1, 1, NULL);
        compare(&whole, &one, i, 1, batch, "one image alone");
        outputs_free(&one);
    }
    struct orderly team = {{2 + (tape_chance(t, 4) ? tape_below(t, 9) : 0), run_in_turn},
                           tape_byte(t)};
    struct outputs shared = run(s, 0, batch, state, &team.team);
    compare(&whole, &shared, 0, batch, batch, "a team");
    outputs_free(&shared);
    outputs_free(&whole);
}

/* Runs the model with scalar and with its own table. */
static void check_tables(const struct subject *s, const struct source *source) {
    const vit_config *c = vit_model_config(s->model);
    vit_model *other;
    vit_error why;
    EXPECT(!open_whole(&other, source, &vit_scalar, &why),
           "the model does not open with scalar: %s", why.text);
    float *a = run_logits(s->model, s->images, 1, 1, NULL),
          *b = run_logits(other, s->images, 1, 1, NULL);
    bool steady = is_steady(other, s->images, b);
    float tolerance = tolerance_of(b, vit_logits(c));
    for (size_t i = 0; steady && i < vit_logits(c); i++)
        EXPECT(fabsf(a[i] - b[i]) <= tolerance, "%s must give scalar's %g, got %g",
               vit_model_kernels(s->model)->name, (double)b[i], (double)a[i]);
    free(a);
    free(b);
    vit_close(other);
}

/* Mostly numbers like a trained model's. */
static const enum fill FILL[] = {PLAIN, PLAIN, PLAIN, PLAIN,        PLAIN, PLAIN,
                                 PLAIN, PLAIN, PLAIN, HUGE_NUMBERS, TINY,  ZERO};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    const struct vit_kernels *k = kernels_pick(tape_byte(&tape));
    unsigned wants = tape_byte(&tape);
    enum fill fill = FILL[tape_below(&tape, sizeof FILL / sizeof *FILL)];
    bool wild_image = tape_chance(&tape, 8);
    uint8_t masks[64];
    for (size_t i = 0; i < 8; i++) masks[i] = tape_byte(&tape) & 1;
    struct specimen *specimen = specimen_filled(&tape, fill);
    struct source source = specimen_source(specimen);
    vit_model *model;
    vit_error why = {""};
    vit_status status = open_whole(&model, &source, k, &why);
    EXPECT(specimen->plan.may_fail || !status, "a model without changes does not open: %s",
           why.text);
    if (!status && affordable(model, 3 * IMAGES)) {
        uint64_t seed = specimen->seed;
        if (!specimen->plan.may_fail) expect_planned(specimen, model);
        float *images = images_new(vit_model_config(model), IMAGES, wild_image, &seed);
        struct subject subject = {model, images, masks, wants, fill != HUGE_NUMBERS && !wild_image};
        check(&subject, &tape);
        if (!wild_image) run_texts(model, images, subject.plain, &seed);
        if (fill == PLAIN && !wild_image) check_tables(&subject, &source);
        check_bad_image(model, &tape);
        free(images);
    }
    if (!status) vit_close(model);
    specimen_free(specimen);
    return 0;
}
