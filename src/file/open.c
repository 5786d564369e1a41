/* Makes a model from its file while the bytes arrive. The header is compared with the config before
 * the model's memory is taken. Then tensors are converted and packed a few rows at a time, so there
 * is never a second copy of the weights. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "base/sort.h"
#include "config.h"
#include "create.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "map.h"
#include "match.h"
#include "model.h"
#include "params.h"
#include "resize.h"
#include "safetensors.h"
#include "save.h"
#include "stages/stem.h"
#include "vit.h"

enum {
    GROUP_ROWS = 48, /* rows packed at once: whole panels of every table, of floats and of int8 */
    HEADER_AT_ONCE = 1 << 20,      /* bytes of memory for a header before any of it has arrived */
    POSITIONS_OVER_FILE = 16 << 20 /* see check_positions */
};

struct vit_loader {
    const struct vit_kernels *kernels;
    const char *json;     /* the config's text: the caller's, or NULL; then the file's own */
    const char *map_json; /* the caller's, or NULL */
    size_t json_size, map_size, file_size, fed;

    uint8_t *header; /* its length in 8 bytes, then the header; NULL after it is read */
    size_t header_size, header_fill, header_room;
    struct safetensors st;
    struct tensor_map map;
    struct placement *places; /* (st.count) in the file's order */
    vit_model *model;
    float *scales; /* of the int8 matrices that become floats */

    size_t index;                 /* the tensor that arrives now */
    struct param param;           /* the parameter where it goes, if it is a parameter's */
    size_t row;                   /* the matrix row where the unit begins */
    void *unit;                   /* some rows of a matrix, or a whole tensor, as float or int8_t */
    float *reordered;             /* the unit in another order, if it needs one */
    size_t count, fill;           /* the unit's numbers, and how many of them have arrived */
    uint8_t split[ST_TYPE_BYTES]; /* the first bytes of a number that the last piece cut in two */
    size_t split_size;

    vit_status status;
    vit_error why;
};

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- Tensors ------------------------------------------------------------ */

static bool any_negative(const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] < 0) return true;
    return false;
}

/* → the numbers in a row of the tensor. */
static size_t row_values(const struct placement *place, const struct param *param) {
    return place->transposed ? param->N : param->K;
}

static size_t tensor_rows(const struct placement *place, const struct param *param) {
    return place->tensor->count / row_values(place, param);
}

/* → how many rows of the tensor make one matrix. */
static size_t matrix_rows(const struct placement *place, const struct param *param) {
    return place->transposed ? param->K : param->N;
}

/* → the first matrix row after the tensor's. */
static size_t end_row(const struct placement *place, const struct param *param) {
    return place->row + tensor_rows(place, param);
}

/* → the numbers of the unit that begins at matrix row `row`. A unit is some rows of one matrix, or
 * a whole tensor that is no matrix. */
static size_t unit_count(const struct placement *place, const struct param *param, size_t row) {
    if (place->where != PLACE_PARAMETER || !param->matrices) return place->tensor->count;
    size_t rows = matrix_rows(place, param);
    size_t in_matrix = rows - row % rows, in_tensor = end_row(place, param) - row;
    return least(least(in_matrix, in_tensor), GROUP_ROWS) * row_values(place, param);
}

/* → the numbers of the tensor's largest unit. */
static size_t largest_unit(const struct placement *place, const struct param *param) {
    if (place->where != PLACE_PARAMETER || !param->matrices) return place->tensor->count;
    return least(least(matrix_rows(place, param), tensor_rows(place, param)), GROUP_ROWS) *
           row_values(place, param);
}

/* Begins the next tensor that has numbers. */
static void begin_tensor(vit_loader *l) {
    while (l->index < l->st.count && l->places[l->index].tensor->count == 0) l->index++;
    if (l->index == l->st.count) return;
    const struct placement *place = &l->places[l->index];
    if (place->where == PLACE_PARAMETER)
        params_at(&l->model->config, l->kernels, place->param, &l->param);
    l->row = place->row;
    l->fill = 0;
    l->count = unit_count(place, &l->param, l->row);
}

/* (rows,P·Q,C) → (rows,C,P·Q). */
static void channels_first(float *restrict to, const float *restrict from, size_t rows, size_t C,
                           size_t area) {
    for (size_t row = 0; row < rows; row++, to += C * area, from += C * area)
        for (size_t c = 0; c < C; c++)
            for (size_t i = 0; i < area; i++) to[c * area + i] = from[i * C + c];
}

/* Packs rows number by number, because other rows share their panels. */
static void pack_singly(const struct vit_kernels *k, float *matrix, const float *rows, size_t row,
                        size_t count, size_t K) {
    size_t panel = k->packed_size(1, 1);
    for (size_t i = 0; i < count; i++, row++, rows += K)
        for (size_t n = 0; n < K; n++)
            matrix[(row / panel * K + n) * panel + row % panel] = rows[n];
}

/* Packs `count` columns of a matrix (N,K) from `column` on. In `columns` they lie one after the
 * other. */
static void pack_columns(const struct vit_kernels *k, float *matrix, const float *columns,
                         size_t column, size_t count, size_t N, size_t K) {
    size_t panel = k->packed_size(1, 1);
    for (size_t end = column + count; column < end; column++)
        for (size_t n = 0; n < N; n++)
            matrix[(n / panel * K + column) * panel + n % panel] = *columns++;
}

static void pack_rows(vit_loader *l, const struct placement *place) {
    const struct vit_kernels *k = l->kernels;
    const struct param *p = &l->param;
    float *unit = l->unit, *matrix = l->model->floats + p->offset;
    size_t N = p->N, K = p->K, rows = l->count / K, row = l->row % N;
    if (place->transposed) {
        pack_columns(k, matrix, unit, l->row, l->count / N, N, K);
        return;
    }
    matrix += l->row / N * matrix_floats(k, p->int8, N, K);
    if (p->int8) {
        k->pack_int8(matrix, l->unit, row, rows, N, K);
        return;
    }
    if (k->packed && p->kind == VIT_KIND_CONVOLUTION) {
        stem_reorder(l->reordered, unit, rows, p->shape[1]);
        unit = l->reordered;
    }
    if (place->channels_last) {
        channels_first(l->reordered, unit, rows, p->shape[1], p->shape[2] * p->shape[3]);
        unit = l->reordered;
    }
    if (row % VIT_INT8_ROWS || (row + rows < N && rows % VIT_INT8_ROWS))
        pack_singly(k, matrix, unit, row, rows, K);
    else
        k->pack(matrix + k->packed_size(row, K), unit, K, 1, rows, K);
}

/* Multiplies int8 numbers that become floats by their scales. */
static void scale_rows(vit_loader *l, const struct placement *place) {
    float *unit = l->unit;
    for (size_t i = 0; i < l->count; i++)
        unit[i] *= l->scales[place->scales + l->row + i / l->param.K];
}

static vit_status check_floats(vit_loader *l, const struct st_tensor *t, bool scales) {
    const struct placement *place = &l->places[l->index];
    if (!all_finite(l->unit, l->count)) {
        const float *unit = l->unit;
        size_t i = 0;
        while (all_finite(unit + i, 1)) i++;
        if (!scales && l->param.matrices) i += (l->row - place->row) * row_values(place, &l->param);
        return vit_fail(&l->why, VIT_BAD_TENSOR,
                        "tensor \"%t\": expected finite numbers, got NaN or infinity at index %z",
                        t->name, t->name_size, i);
    }
    if (scales && any_negative(l->unit, l->count))
        return vit_fail(&l->why, VIT_BAD_TENSOR,
                        "tensor \"%t\": expected scales from 0 up, got a negative one", t->name,
                        t->name_size);
    return VIT_OK;
}

static void add(float *x, const float *y, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

/* The class token may have a position of its own, which is added to the token. The tensors may come
 * in either order, because the token is 0 at first. In files of other libraries the positions of
 * detection tokens follow those of the patches. Positions that are resized are kept in our order,
 * too, because vit_model_resize resizes them again. */
static vit_status place_positions(vit_loader *l, float *out) {
    vit_model *m = l->model;
    const vit_config *c = &m->config;
    const float *unit = l->unit;
    size_t D = c->width, behind = c->detections_last ? detections_of(c) * D : 0;
    size_t extra = (c->position_rows - vit_patches(c)) * D, before = extra ? extra - behind : 0;
    size_t grid = c->position_grid[0] * c->position_grid[1] * D, tables = l->param.shape[0];
    bool resizes = weights_resize_positions(c);
    bool mid = mid_position_of(c) && out == m->params.mid_position;
    float **copy = mid ? &m->learned_mid : &m->learned, *to = out;
    if (!mid && c->class_position) {
        add(m->params.class_token, unit, D);
        unit += D;
    }
    if (resizes) {
        size_t bytes = tables * (extra + grid) * sizeof *to;
        to = *copy = malloc(bytes + 1);
        if (!to) return vit_fail(&l->why, VIT_NO_MEMORY, "no memory to resize pos_embed");
        m->bytes += bytes;
    }
    for (size_t i = 0; i < tables; i++, unit += extra + grid, to += extra + grid) {
        memcpy(to, unit, before * sizeof *to);
        memcpy(to + before, unit + before + grid, (extra - before) * sizeof *to);
        memcpy(to + extra, unit + before, grid * sizeof *to);
    }
    return resizes ? positions_resize(out, *copy, tables, c, &l->why) : VIT_OK;
}

/* Places a unit that is a whole tensor and no matrix. */
static vit_status place_floats(vit_loader *l, const struct placement *place) {
    vit_model *m = l->model;
    if (place->where == PLACE_SCALES) {
        memcpy(l->scales + place->scales, l->unit, l->count * sizeof(float));
        return VIT_OK;
    }
    float *out = m->floats + l->param.offset;
    const vit_config *c = &m->config;
    if (place->channels_last) { /* it belongs to the norm of a patch's pixels */
        channels_first(out, l->unit, 1, c->channels, l->param.count / c->channels);
        return VIT_OK;
    }
    if (l->param.kind == VIT_KIND_POSITION) return place_positions(l, out);
    if (out == m->params.class_token)
        add(out, l->unit, l->count);
    else
        memcpy(out + place->row, l->unit, l->count * sizeof *out);
    return VIT_OK;
}

/* Puts the unit, which is now complete, into the model. */
static vit_status place_unit(vit_loader *l, const struct placement *place) {
    const struct st_tensor *t = place->tensor;
    bool parameter = place->where == PLACE_PARAMETER, matrix = parameter && l->param.matrices;
    bool scales = place->where == PLACE_SCALES || (parameter && l->param.kind == VIT_KIND_SCALE);
    vit_status status = VIT_OK;
    if (place->where == PLACE_NOWHERE) return VIT_OK;
    if (matrix && t->type == ST_I8 && !l->param.int8) scale_rows(l, place);
    if (!(matrix && l->param.int8)) status = check_floats(l, t, scales);
    if (status) return status;
    if (!matrix) return place_floats(l, place);
    pack_rows(l, place);
    return VIT_OK;
}

static void end_unit(vit_loader *l) {
    const struct placement *place = &l->places[l->index];
    l->status = place_unit(l, place);
    if (place->where == PLACE_PARAMETER && l->param.matrices) {
        l->row += l->count / row_values(place, &l->param);
        l->fill = 0;
        if (l->row < end_row(place, &l->param)) {
            l->count = unit_count(place, &l->param, l->row);
            return;
        }
    }
    l->index++;
    begin_tensor(l);
}

static void convert(vit_loader *l, const struct placement *place, const uint8_t *bytes, size_t n) {
    if (place->where == PLACE_PARAMETER && l->param.int8)
        memcpy((int8_t *)l->unit + l->fill, bytes, n);
    else if (place->where != PLACE_NOWHERE)
        st_floats((float *)l->unit + l->fill, place->tensor->type, bytes, n);
    l->fill += n;
}

/* Takes the bytes that belong to this unit. → how many it took. */
static size_t feed_data(vit_loader *l, const uint8_t *bytes, size_t size) {
    const struct placement *place = &l->places[l->index];
    size_t each = st_type_bytes(place->tensor->type), used = 0;
    if (l->split_size) {
        used = least(each - l->split_size, size);
        memcpy(l->split + l->split_size, bytes, used);
        l->split_size += used;
        if (l->split_size < each) return used;
        convert(l, place, l->split, 1);
        l->split_size = 0;
    }
    size_t missing = l->count - l->fill, n = least((size - used) / each, missing);
    convert(l, place, bytes + used, n);
    used += n * each;
    if (n == missing) {
        end_unit(l);
        return used;
    }
    l->split_size = size - used;
    memcpy(l->split, bytes + used, l->split_size);
    return size;
}

/* ---- The header --------------------------------------------------------- */

static int by_begin(const void *a, const void *b) {
    const struct placement *x = a, *y = b;
    return (x->tensor->begin > y->tensor->begin) - (x->tensor->begin < y->tensor->begin);
}

/* Takes memory for the largest unit and for the scales. */
static bool hold_units(vit_loader *l, const vit_config *config) {
    size_t most = 0, scales = 0, reordered = 0;
    struct param param = {0};
    for (size_t i = 0; i < l->st.count; i++) {
        const struct placement *place = &l->places[i];
        if (place->where == PLACE_NOWHERE) continue;
        if (place->where == PLACE_SCALES) scales += place->tensor->count;
        if (place->where == PLACE_PARAMETER) params_at(config, l->kernels, place->param, &param);
        size_t count = largest_unit(place, &param);
        bool reorders = place->where == PLACE_PARAMETER &&
                        (param.kind == VIT_KIND_CONVOLUTION || place->channels_last);
        if (count > most) most = count;
        if (reorders && count > reordered) reordered = count;
    }
    l->unit = malloc((most + 1) * sizeof(float));
    l->scales = malloc((scales + 1) * sizeof *l->scales);
    l->reordered = malloc((reordered + 1) * sizeof *l->reordered);
    return l->unit && l->scales && l->reordered;
}

/* Refuses positions that are much larger than the file. They are computed or resized, so a few
 * bytes of config could ask for any amount of memory and time. Real ones are far smaller than their
 * file. */
static vit_status check_positions(const vit_loader *l, const vit_config *c, vit_error *why) {
    size_t needed = fixed_position_bytes(c), most = size_plus(l->file_size, POSITIONS_OVER_FILE);
    size_t learned = size_times(size_times(c->position_rows, c->width), sizeof(float));
    if (mid_position_of(c)) learned = size_times(learned, c->depth);
    if (learns_positions(c) && learned > needed) needed = learned;
    if (needed <= most) return VIT_OK;
    return vit_fail(why, VIT_BAD_CONFIG,
                    "config: image_size: expected positions of at most %z bytes, %z more than the "
                    "file has, got %z rows of %z numbers",
                    most, (size_t)POSITIONS_OVER_FILE, c->position_rows, c->width);
}

/* Takes the caller's config, else the file's own. */
static vit_status find_config(vit_loader *l, struct json *config) {
    if (!l->json) l->json = l->st.metadata, l->json_size = l->st.metadata_size;
    if (!l->json)
        return vit_fail(&l->why, VIT_BAD_CONFIG,
                        "the file holds no config in __metadata__.vitrine; npx vitrine and the "
                        "JavaScript API also read files of other families");
    return config_parse(config, l->json, l->json_size, &l->why);
}

/* Makes the model last, so that it lies above all temporary memory on the heap. */
static vit_status open_model(vit_loader *l) {
    vit_config config;
    struct json json;
    vit_error *why = &l->why;
    vit_status status = find_config(l, &json);
    if (!status) status = map_open(&l->map, &l->st, l->map_json, l->map_size, why);
    if (!status) status = weights_read_config(&config, &json, &l->map, why);
    if (!status) status = check_positions(l, &config, why);
    if (status) return status;
    l->places = malloc((l->st.count + 1) * sizeof *l->places);
    if (!l->places) return vit_fail(why, VIT_NO_MEMORY, "no memory for %z tensors", l->st.count);
    status = weights_check(l->places, &config, l->kernels, &l->map, why);
    if (status) return status;
    sort(l->places, l->st.count, sizeof *l->places, by_begin);
    if (!hold_units(l, &config)) return vit_fail(why, VIT_NO_MEMORY, "no memory to read a tensor");
    status = model_new(&l->model, &config, l->json, l->json_size, l->kernels, why);
    return status ? status : config_keep_labels(l->model, &json, why);
}

static void end_header(vit_loader *l) {
    const char *json = (const char *)l->header + ST_LENGTH_BYTES;
    l->status = st_open(&l->st, json, l->header_size - ST_LENGTH_BYTES,
                        l->file_size - l->header_size, &l->why);
    free(l->header);
    l->header = NULL;
    if (!l->status) l->status = open_model(l);
    map_close(&l->map);
    if (!l->status) begin_tensor(l);
}

/* Makes room for more of the header. Memory grows with the bytes that have arrived, not with the
 * length that the file announces. */
static void grow_header(vit_loader *l) {
    size_t room = least(l->header_size, 2 * l->header_fill + HEADER_AT_ONCE);
    uint8_t *larger = realloc(l->header, room);
    if (larger)
        l->header = larger, l->header_room = room;
    else
        l->status =
            vit_fail(&l->why, VIT_NO_MEMORY, "no memory for a header of %z bytes", l->header_size);
}

static size_t feed_header(vit_loader *l, const uint8_t *bytes, size_t size) {
    size_t n = least(l->header_room - l->header_fill, size), length;
    memcpy(l->header + l->header_fill, bytes, n);
    l->header_fill += n;
    if (l->header_fill < l->header_room) return n;
    if (l->header_size == ST_LENGTH_BYTES) {
        l->status = st_length(&length, l->header, l->file_size, &l->why);
        if (l->status) return n;
        l->header_size += length;
    }
    if (l->header_fill == l->header_size)
        end_header(l);
    else
        grow_header(l);
    return n;
}

/* ---- Begin, feed, end --------------------------------------------------- */

vit_status vit_open_begin(vit_loader **out, size_t file_size, const char *json, size_t json_size,
                          const char *map, size_t map_size, const struct vit_kernels *kernels,
                          vit_error *why) {
    *out = NULL;
    if (file_size < ST_LENGTH_BYTES)
        return vit_fail(why, VIT_BAD_FILE, "expected a safetensors file, got %z bytes", file_size);
    vit_loader *l = calloc(1, sizeof *l);
    if (l) l->header = malloc(ST_LENGTH_BYTES);
    if (!l || !l->header) {
        free(l);
        return vit_fail(why, VIT_NO_MEMORY, "no memory to open a model");
    }
    l->kernels = kernels ? kernels : vit_kernels_best();
    l->json = json;
    l->json_size = json_size;
    l->map_json = map;
    l->map_size = map_size;
    l->file_size = file_size;
    l->header_size = l->header_room = ST_LENGTH_BYTES;
    *out = l;
    return VIT_OK;
}

vit_status vit_open_feed(vit_loader *l, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    size_t room = l->file_size - l->fed, rest = least(size, room);
    while (!l->status && rest > 0) {
        size_t used = l->header ? feed_header(l, at, rest) : feed_data(l, at, rest);
        at += used;
        rest -= used;
        l->fed += used;
    }
    if (!l->status && size > room)
        l->status =
            vit_fail(&l->why, VIT_BAD_FILE, "expected a file of %z bytes, got more", l->file_size);
    return l->status;
}

vit_status vit_open_end(vit_model **out, vit_loader *l, vit_error *why) {
    if (!l->status && l->fed < l->file_size)
        l->status =
            vit_fail(&l->why, VIT_BAD_FILE, "expected a file of %z bytes, got %z; is it truncated?",
                     l->file_size, l->fed);
    vit_status status = l->status;
    *out = status ? NULL : l->model;
    if (status) vit_close(l->model);
    if (status && why) *why = l->why;
    st_close(&l->st);
    free(l->header);
    free(l->places);
    free(l->unit);
    free(l->reordered);
    free(l->scales);
    free(l);
    return status;
}

/* ---- At once ------------------------------------------------------------ */

vit_status vit_open_with_config(vit_model **out, const void *bytes, size_t size, const char *json,
                                size_t json_size, const char *map, size_t map_size,
                                const struct vit_kernels *kernels, vit_error *why) {
    vit_loader *loader;
    *out = NULL;
    vit_status status = vit_open_begin(&loader, size, json, json_size, map, map_size, kernels, why);
    if (status) return status;
    vit_open_feed(loader, bytes, size);
    return vit_open_end(out, loader, why);
}

vit_status vit_open(vit_model **out, const void *bytes, size_t size,
                    const struct vit_kernels *kernels, vit_error *why) {
    return vit_open_with_config(out, bytes, size, NULL, 0, NULL, 0, kernels, why);
}
