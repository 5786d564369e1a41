/* The exports of the WebAssembly module: the functions of vit.h with ints and pointers. Only
 * web/engine/model-session.ts calls them.
 *
 * An instance of the module is one session: a model, its state and the buffers of a run. A buffer
 * grows for a larger run and never shrinks, so a run that is no larger than an earlier one
 * allocates nothing. Nothing is closed, because JavaScript drops the whole instance. */
#include <stdlib.h>

#include "base/error.h"
#include "base/sizes.h"
#include "base/team.h"
#include "draw.h"
#include "edition.h"
#include "file/config.h"
#include "kernels/kernels.h"
#include "module.h"
#include "overlay.h"
#include "session.h"
#include "shapes.h"
#include "trace.h"

static struct session {
#define WORD(type, name) type name;
#include "session.def"
} session;

_Static_assert(sizeof(size_t) == 4 && sizeof(void *) == 4, "JavaScript reads words of 32 bits");
_Static_assert(sizeof(vit_placement) == 4 * sizeof(double), "JavaScript reads four doubles");

static vit_model *whole, *resized; /* as it was opened; for the last other image size, or NULL */
static const vit_model *model;     /* the one of both that runs */
static vit_state *state;
static size_t model_uses; /* how many have been such a model */
static size_t state_batch, state_threads;
static vit_ablation without; /* what vitw_ablate set */
static vit_trace parts;      /* what vitw_trace wrote */

/* The largest run that the buffers have room for. */
static struct {
    size_t batch, layers;
    bool tokens;
} reserved;

/* ---- Memory -------------------------------------------------------------- */

static struct buffer arena, images, placements, logits, attention, tokens, pooled, views, trace,
    relevance, replaced, projected;

static size_t floats(const size_t shape[5]) {
    size_t count = 1;
    for (size_t i = 0; i < 5; i++) count = size_times(count, shape[i]);
    return count;
}

static bool hold_floats(struct buffer *buffer, const size_t shape[5]) {
    return hold(buffer, size_times(floats(shape), sizeof(float)));
}

static bool hold_state(size_t batch) {
    if (batch <= state_batch && state_threads == team_size(TEAM)) return true;
    size_t size = vit_state_size(model, batch, TEAM);
    state_batch = 0;
    if (size == 0 || !hold(&arena, size)) return false;
    if (vit_state_init(&state, arena.data, size, model, batch, TEAM) != VIT_OK) return false;
    state_batch = batch;
    state_threads = team_size(TEAM);
    return true;
}

/* ---- The session -------------------------------------------------------- */

struct session *vitw_session(void) {
    session.why = module_error.text;
    return &session;
}

const vit_model *session_model(size_t *uses) {
    if (uses) *uses = model_uses;
    return model;
}

const float *session_tokens(size_t image) {
    if (image >= reserved.batch || !reserved.tokens) return NULL;
    size_t T = session.prefix + session.grid_rows * session.grid_columns;
    return session.tokens + image * T * session.width;
}

/* Begins to open the one model of this instance.
 * json: the config; NULL: the file's own. map: see vit_open_begin. Both must stay until vitw_end.
 * in_pairs: the relaxed module makes products of int8 in two steps; other modules ignore it.
 * After a failure the module is of no further use. vitw_session has the message of vitw_begin;
 * vitw_end has the message of a vitw_feed that failed. */
vit_status vitw_begin(size_t file_size, const char *json, size_t json_size, const char *map,
                      size_t map_size, bool in_pairs) {
#ifdef __wasm_relaxed_simd__
    const struct vit_kernels *kernels = in_pairs ? &vit_relaxed_pairs : &vit_relaxed;
#else
    const struct vit_kernels *kernels = NULL;
    (void)in_pairs;
#endif
    return begin_file(file_size, json, json_size, map, map_size, kernels);
}

/* From now on this model runs. The state, the room for runs and the trace are those of another. */
static void use(const vit_model *next) {
    const vit_config *config = vit_model_config(model = next);
    if (VIT_FULL) model_uses++;
    session.rows = config->image_size[0];
    session.columns = config->image_size[1];
    session.grid_rows = vit_grid(config, 0);
    session.grid_columns = vit_grid(config, 1);
    state_batch = reserved.batch = 0;
    parts = (vit_trace){0};
}

vit_status vitw_end(void) {
    vit_status status = end_file(&whole);
    if (status != VIT_OK) return status;
    use(whole);
    const vit_config *config = vit_model_config(model);
    session.channels = config->channels;
    session.prefix = vit_prefix(config);
    session.width = config->width;
    session.depth = config->depth;
    session.heads = config->heads;
    session.classes = config->classes;
    session.logit_count = vit_logits(config);
    session.detections = detections_of(config);
    const char *json = vit_model_json(model, &session.json_size);
    session.json = config_print(&session.json_size, config, json, session.json_size);
    session.head_width = head_width(config);
    session.layers = calloc(config->depth + 1, 1);
    session.without = calloc(config->depth + 1, config->heads + 2);
    session.relevance_classes = calloc(config->classes + 1, sizeof *session.relevance_classes);
    return session.json && session.layers && session.without && session.relevance_classes
               ? VIT_OK
               : vit_fail(&module_error, VIT_NO_MEMORY, "no memory left for the model");
}

static bool has_size(const vit_model *m, size_t rows, size_t columns) {
    const size_t *size = vit_model_config(m)->image_size;
    return size[0] == rows && size[1] == columns;
}

/* From now on images have this size. The positions of the last other size than the file's are kept.
 * A failure changes nothing. */
vit_status vitw_resize(size_t rows, size_t columns) {
    if (!whole) return bad_call("expected a module with a model, got one without");
    vit_model *next = has_size(whole, rows, columns) ? whole : resized;
    if (!next || !has_size(next, rows, columns)) {
        const size_t size[] = {rows, columns};
        vit_status status = vit_model_resize(&next, whole, size, &module_error);
        if (status) return status;
        vit_close(resized);
        resized = next;
    }
    use(next);
    return VIT_OK;
}

/* Makes room for a run of `batch` images that keeps the attention of `layers` layers and, if
 * `want_tokens`, the final tokens and the pooled ones. Call it before images are filled, because
 * the buffers may move. */
vit_status vitw_reserve(size_t batch, size_t layers, bool want_tokens) {
    if (!model) return bad_call("expected a module with a model, got one without");
    reserved.batch = 0; /* stays 0 on failure, because some buffers may have moved */
    size_t T = session.prefix + session.grid_rows * session.grid_columns;
    const size_t image_shape[] = {batch, session.channels, session.rows, session.columns, 1};
    const size_t logit_shape[] = {batch, session.logit_count, 1, 1, 1};
    const size_t attention_shape[] = {batch, layers, session.heads, T, T};
    const size_t token_shape[] = {want_tokens ? batch : 0, T, session.width, 1, 1};
    bool finds = detections_of(vit_model_config(model));
    const size_t view_shape[] = {finds ? batch : 0, session.heads, session.prefix, T, 1};
    const size_t pooled_shape[] = {want_tokens ? batch : 0, session.width, 1, 1, 1};
    bool has_memory = hold_state(batch) && hold_floats(&images, image_shape) &&
                      hold(&placements, size_times(batch, sizeof(vit_placement))) &&
                      hold_floats(&logits, logit_shape) &&
                      hold_floats(&attention, attention_shape) &&
                      hold_floats(&tokens, token_shape) && hold_floats(&pooled, pooled_shape) &&
                      hold_floats(&views, view_shape);
    session.images = images.data;
    session.placements = placements.data;
    session.logits = logits.data;
    session.attention = attention.data;
    session.tokens = tokens.data;
    session.pooled = pooled.data;
    session.views = views.data;
    if (has_memory) {
        reserved.batch = batch;
        reserved.layers = layers;
        reserved.tokens = want_tokens;
        return VIT_OK;
    }
    return vit_fail(&module_error, VIT_NO_MEMORY,
                    "%z images with the attention of %z layers need more memory than there is; ask "
                    "for fewer at once",
                    batch, layers);
}

/* The bytes in vitw_pixels → images[index] and placements[index]. */
vit_status vitw_prepare(size_t index, size_t rows, size_t columns, size_t channels,
                        bool unfinished) {
    if (index >= reserved.batch)
        return bad_call("expected an image that vitw_reserve made room for");
    float *image = session.images + index * session.channels * session.rows * session.columns;
    const vit_config *config = vit_model_config(model);
    vit_placement *placement = session.placements + index;
    vit_status status = prepare_pixels(image, placement, config, rows, columns, channels);
    if (!status && unfinished) vit_prepare_unfinished(image, config);
    return status;
}

/* Adds the message to the status of a run. */
static vit_status run_status(vit_status status) {
    if (status != VIT_BAD_IMAGE) return status;
    return vit_fail(&module_error, status, "image: expected finite values, got NaN or infinity");
}

/* images → logits; if wanted, also the attention of the marked layers, and the final tokens with
 * the pooled ones. Of a model with detections also the views, unless the attention has them or the
 * tokens are wanted. */
vit_status vitw_run(size_t batch, bool want_attention, bool want_tokens) {
    size_t layers = 0;
    for (size_t i = 0; want_attention && i < session.depth; i++) layers += session.layers[i] != 0;
    if (batch > reserved.batch || layers > reserved.layers || want_tokens > reserved.tokens)
        return bad_call("expected a run that vitw_reserve made room for");
    bool finds = detections_of(vit_model_config(model));
    bool has_views =
        want_tokens || (want_attention && session.depth && session.layers[session.depth - 1]);
    vit_taps taps = {
        .attention = want_attention ? session.attention : NULL,
        .attention_layers = session.layers,
        .tokens = want_tokens ? session.tokens : NULL,
        .pooled = want_tokens ? session.pooled : NULL,
        .views = finds && session.depth && !has_views ? session.views : NULL,
    };
    return run_status(vit_run(model, state, session.images, batch, session.logits, &taps));
}

/* Of an image of the last run that kept tokens: its patches by the head's matrix (N,K). NULL: the
 * head is more than a matrix, there is no memory, or this is the small edition. */
const float *vitw_project(size_t index) {
    size_t N = session.grid_rows * session.grid_columns, T = session.prefix + N;
    const size_t shape[] = {N, session.logit_count, 1, 1, 1};
    if (!VIT_FULL || index >= reserved.batch || !reserved.tokens) return NULL;
    if (!hold_floats(&projected, shape)) return NULL;
    const float *patches = session.tokens + (index * T + session.prefix) * session.width;
    return vit_run_project(model, projected.data, patches, N) ? NULL : projected.data;
}

/* → room for `count` replacements, whose rows (T,d) follow them in the same order. NULL: no memory.
 * The caller fills in all but the addresses of the rows. */
vit_replacement *vitw_replacements(size_t count) {
    size_t T = session.prefix + session.grid_rows * session.grid_columns;
    size_t head = size_times(count, sizeof(vit_replacement)), each = T * session.head_width;
    size_t rows = size_times(size_times(count, each), sizeof(float));
    if (!hold(&replaced, size_plus(head, rows))) return NULL;
    vit_replacement *all = replaced.data;
    const float *first = (const float *)(const void *)((const char *)replaced.data + head);
    for (size_t i = 0; i < count; i++) all[i].rows = first + i * each;
    return all;
}

/* From now on runs leave out what session.without marks, if `masks`, and positions, if `positions`;
 * and they take the first `count` replacements of vitw_replacements. */
void vitw_ablate(bool masks, bool positions, size_t count) {
    size_t L = session.depth, h = session.heads;
    const uint8_t *heads = session.without, *mlps = heads + L * h, *norms = mlps + L;
    without =
        (vit_ablation){.positions = positions, .replaced = replaced.data, .replaced_count = count};
    if (masks) without.heads = heads, without.mlps = mlps, without.norms = norms;
    vit_state_ablate(state, &without);
}

/* images[0] → session.trace, array after array: the stream, the attention, the logits of
 * the tokens before the first block and after each (L+1,K). Unless `all`, only the last of these
 * logits are written, and no more arrays. Else the others of vit_trace follow in their order. */
vit_status vitw_trace(bool all) {
    if (!reserved.batch) return bad_call("expected an image that vitw_reserve made room for");
    size_t T = session.prefix + session.grid_rows * session.grid_columns, D = session.width;
    size_t L = session.depth, h = session.heads, K = session.logit_count;
    float *lens;
    const struct {
        float **at;
        size_t shape[5];
    } arrays[] = {
        {&parts.stream, {L + 1, T, D, 1, 1}},
        {&parts.attention, {L, h, T, T, 1}},
        {&lens, {L + 1, K, 1, 1, 1}},
        {&parts.embedded, {T, D, 1, 1, 1}},
        {&parts.qkv, {L, T, 3, h, session.head_width}},
        {&parts.scores, {L, h, T, T, 1}},
        {&parts.added, {L, 2, T, D, 1}},
    };
    size_t count = all ? sizeof arrays / sizeof *arrays : 3, size = 0;
    for (size_t i = 0; i < count; i++) size = size_plus(size, floats(arrays[i].shape));
    parts = (vit_trace){0};
    if (!hold(&trace, size_times(size, sizeof(float))))
        return vit_fail(&module_error, VIT_NO_MEMORY, "a trace needs more memory than there is");
    float *next = session.trace = trace.data;
    for (size_t i = 0; i < count; next += floats(arrays[i++].shape)) *arrays[i].at = next;
    vit_status status = vit_run_traced(model, state, session.images, lens + L * K, &parts);
    for (size_t stage = 0; all && stage < L && !status; stage++)
        status = vit_run_head(model, state, parts.stream + stage * T * D, lens + stage * K);
    return run_status(status);
}

/* The trace of vitw_trace → session.relevance (count,N), for the first classes of
 * session.relevance_classes. */
vit_status vitw_relevance(size_t count) {
    if (!parts.stream || count > session.classes) return bad_call("expected a trace, got none");
    const size_t shape[] = {count, session.grid_rows, session.grid_columns, 1, 1};
    size_t map = size_times(floats(shape), sizeof(float)), room = vit_relevance_size(model, count);
    if (room == 0 || !hold(&relevance, size_plus(map, room)))
        return vit_fail(&module_error, VIT_NO_MEMORY,
                        "the relevance of %z classes needs more memory than there is", count);
    session.relevance = relevance.data;
    return vit_relevance(model, (char *)relevance.data + map, room, &parts, &without,
                         session.relevance_classes, count, session.relevance);
}
