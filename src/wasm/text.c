/* The exports for texts, in the full edition only: text/text.h and text/generate.h with ints and
 * pointers. The letters are those of text/text.h. The image's tokens are those of session.c. */
#include <stdint.h>

#include "base/error.h"
#include "base/sizes.h"
#include "kernels/kernels.h"
#include "model.h"
#include "module.h"
#include "session.h"
#include "text/generate.h"
#include "text/text.h"

static struct words {
#define WORD(type, name) type name;
#include "text.def"
} words;

static struct buffer ids, text, logits, self, cross, hidden, pooled, embeds, writer;
static vit_writer *writing; /* NULL: none */
static size_t writing_uses; /* of the model with which it began */
static float scales[2];

static bool hold_floats(float **out, struct buffer *buffer, size_t a, size_t b, size_t c,
                        size_t d) {
    size_t count = size_times(size_times(a, b), size_times(c, d));
    bool has_memory = hold(buffer, size_times(count, sizeof(float)));
    *out = buffer->data;
    return has_memory;
}

static vit_status no_memory(void) {
    return vit_fail(&module_error, VIT_NO_MEMORY, "texts need more memory than there is");
}

struct words *vitw_text(void) {
    const vit_model *model = session_model(NULL);
    words.scales = scales;
    if (model && model->params.text.logit_scale) scales[0] = *model->params.text.logit_scale;
    if (model && model->params.text.logit_bias) scales[1] = *model->params.text.logit_bias;
    return &words;
}

/* → room for tokens, which the next call reads; NULL: no memory. */
uint32_t *vitw_ids(size_t count) {
    words.ids = hold(&ids, size_times(count, sizeof *words.ids)) ? ids.data : NULL;
    return words.ids;
}

static bool has_ids(size_t count) {
    return size_times(count, sizeof *words.ids) <= ids.size;
}

static bool are_tokens(const vit_text_config *c, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words.ids[i] >= c->vocabulary) return false;
    return true;
}

/* Checks vitw_ids, and makes texts. */
static vit_status begin(vit_text **out, const vit_model *model, vit_text_part part, size_t texts,
                        size_t tokens) {
    const vit_text_config *c = vit_text_of(&model->config, part);
    size_t count = size_times(texts, tokens);
    if (!c->depth || !tokens || !has_ids(count)) return bad_call("expected tokens in vitw_ids");
    if (tokens > c->max_tokens)
        return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                        "expected a text of at most %z tokens, got %z", c->max_tokens, tokens);
    if (!are_tokens(c, count))
        return vit_fail(&module_error, VIT_BAD_ARGUMENT,
                        "expected tokens below %z, the size of the vocabulary", c->vocabulary);
    size_t size = vit_text_size(model, part, 1, tokens);
    if (!size || !hold(&text, size)) return no_memory();
    return vit_text_init(out, text.data, size, model, part, 1, tokens);
}

/* The S tokens of vitw_ids about an image of the last vitw_run → logits (S,V), and if wanted self
 * (L,h,S,S) and cross (L,h,S,T). */
vit_status vitw_force(size_t image, size_t S, bool attention) {
    const vit_model *model = session_model(NULL);
    const float *tokens = session_tokens(image);
    vit_text *forced;
    if (!model || !tokens) return bad_call("expected an image whose tokens vitw_run has kept");
    vit_status status = begin(&forced, model, VIT_DECODER, 1, S);
    if (status) return status;
    const vit_text_config *c = &model->config.decoder;
    size_t heads = attention ? c->depth * c->heads : 0;
    if (!hold_floats(&words.logits, &logits, S, c->vocabulary, 1, 1) ||
        !hold_floats(&words.self, &self, heads, S, S, 1) ||
        !hold_floats(&words.cross, &cross, heads, S, vit_tokens(&model->config), 1))
        return no_memory();
    const vit_text_taps taps = {.self = attention ? words.self : NULL,
                                .cross = attention ? words.cross : NULL};
    status = vit_text_set_image(forced, tokens);
    return status ? status : vit_text_run(forced, words.ids, 1, S, words.logits, &taps);
}

/* The vit_text_output of the text. */
static void show(void) {
    const vit_text_output *r = vit_writer_result(writing);
    words.written = r->ids;
    words.p = r->p;
    words.count = r->count;
    words.done = r->done;
    words.beams = r->beams;
    words.parents = r->parents;
    words.tokens = r->tokens;
    words.scores = r->scores;
    words.looked = (float *)r->cross;
}

/* Begins a text about an image of the last vitw_run. The other members are those of vit_writing;
 * prompt: how many tokens of vitw_ids it begins with. */
vit_status vitw_write(size_t image, size_t tokens, size_t beams, float temperature, float top_p,
                      uint32_t seed, size_t prompt) {
    const vit_writing how = {tokens, beams, temperature, top_p, seed};
    const vit_model *model = session_model(&writing_uses);
    const float *image_tokens = session_tokens(image);
    writing = NULL;
    if (!model || !image_tokens || !has_ids(prompt))
        return bad_call("expected an image whose tokens vitw_run has kept");
    size_t size = vit_writer_size(model, &how);
    if (size == 0 || prompt > tokens || !are_tokens(&model->config.decoder, prompt))
        return bad_call("expected a way to write that the model can follow");
    if (!hold(&writer, size)) return no_memory();
    vit_status status = vit_writer_init(&writing, writer.data, size, model, &how);
    if (!status) status = vit_writer_begin(writing, image_tokens, words.ids, prompt);
    if (!status) show();
    return status == VIT_BAD_ARGUMENT ? bad_call("expected a first token: the model has no start")
                                      : status;
}

/* Writes one token more, unless the text is done. */
vit_status vitw_step(void) {
    size_t uses;
    session_model(&uses);
    if (!writing || uses != writing_uses)
        return bad_call("expected a text that vitw_write began for this image size");
    vit_writer_step(writing);
    show();
    return VIT_OK;
}

/* The texts (texts,S) of vitw_ids → hidden (texts,S,D), pooled (texts,D), embeds (texts,P). */
vit_status vitw_embed(size_t texts, size_t S) {
    const vit_model *model = session_model(NULL);
    vit_text *tower;
    if (!model) return bad_call("expected a module with a model, got one without");
    vit_status status = begin(&tower, model, VIT_TOWER, texts, S);
    if (status) return status;
    const vit_text_config *c = &model->config.text;
    if (!hold_floats(&words.hidden, &hidden, texts, S, c->width, 1) ||
        !hold_floats(&words.pooled, &pooled, texts, c->width, 1, 1) ||
        !hold_floats(&words.embeds, &embeds, texts, c->projection, 1, 1))
        return no_memory();
    return vit_text_embed(tower, words.ids, texts, S, words.hidden, words.pooled,
                          c->projection ? words.embeds : NULL);
}
