/* Opens models while their files are read. A bad header is refused before the rest is read, and a
 * pipe is read no further than its header announces. */
#define _POSIX_C_SOURCE 200809L
#include "base/error.h"
#include "cli.h"
#include "file/json.h"
#include "file/safetensors.h"
#include "train/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

struct source {
    int fd;
    size_t size;    /* of the file; of a pipe, the size that its header announces */
    uint8_t *bytes; /* bytes that are read and not fed yet, or with `keep` all that are read */
    size_t fill, room, fed;
    bool keep; /* the caller needs all bytes */
};

/* ---- A pipe's header ---------------------------------------------------- */

static bool hold(struct source *source, size_t more) {
    if (source->room - source->fill >= more) return true;
    size_t room = 2 * source->room > source->fill + more ? 2 * source->room : source->fill + more;
    uint8_t *larger = realloc(source->bytes, room);
    if (!larger) return false;
    source->bytes = larger;
    source->room = room;
    return true;
}

static vit_status read_more(struct source *source, size_t want, size_t *got, vit_error *why) {
    if (!hold(source, want)) return vit_fail(why, VIT_NO_MEMORY, "no memory for the file's bytes");
    if (!read_some(got, source->fd, source->bytes + source->fill, want))
        return vit_fail(why, VIT_BAD_FILE, "%s", strerror(errno));
    source->fill += *got;
    return VIT_OK;
}

/* The end of the last tensor. A text that is not a header gives some size; the loader refuses it
 * later. */
static size_t announced_data(const char *text, size_t size) {
    struct json header, tensor, offsets, end;
    size_t most = 0, at;
    if (!json_read(&header, text, size) || header.type != JSON_OBJECT) return 0;
    for (struct json_walk walk = json_walk(&header); json_next(&walk, NULL, &tensor);) {
        if (tensor.type != JSON_OBJECT || !json_get(&tensor, "data_offsets", &offsets)) continue;
        if (offsets.type != JSON_ARRAY) continue;
        for (struct json_walk pair = json_walk(&offsets); json_next(&pair, NULL, &end);)
            if (json_size(&end, SIZE_MAX / 4, &at) && at > most) most = at;
    }
    return most;
}

static vit_status measure_pipe(struct source *source, vit_error *why) {
    size_t got = 0, length = 0;
    vit_status status = read_more(source, ST_LENGTH_BYTES, &got, why);
    source->size = got;
    if (status || got < ST_LENGTH_BYTES) return status;
    status = st_length(&length, source->bytes, SIZE_MAX / 2, why);
    /* Piece by piece, because fewer bytes may come than the length announces. */
    for (size_t rest = length; !status && rest > 0; rest -= got) {
        status = read_more(source, rest < PIECE ? rest : PIECE, &got, why);
        if (got == 0) break;
    }
    source->size = source->fill;
    if (status || source->fill < ST_LENGTH_BYTES + length) return status;
    source->size += announced_data((const char *)source->bytes + ST_LENGTH_BYTES, length);
    return VIT_OK;
}

/* ---- A file or a pipe --------------------------------------------------- */

static vit_status feed(vit_loader *loader, struct source *source, vit_error *why) {
    vit_status status = VIT_OK;
    for (size_t got = 1; !status && got > 0;) {
        if (vit_open_feed(loader, source->bytes + source->fed, source->fill - source->fed)) break;
        source->fed = source->fill;
        if (!source->keep) source->fill = source->fed = 0;
        status = read_more(source, PIECE, &got, why);
    }
    return status;
}

static vit_status open_source(vit_model **model, struct source *source,
                              const struct vit_kernels *kernels, vit_error *why) {
    vit_loader *loader;
    vit_status status = source->size == SIZE_OF_PIPE ? measure_pipe(source, why) : VIT_OK,
               end_status;
    if (!status) status = vit_open_begin(&loader, source->size, NULL, 0, NULL, 0, kernels, why);
    if (status) return status;
    status = feed(loader, source, why);
    end_status = vit_open_end(model, loader, status ? NULL : why);
    if (!status || end_status) return status ? status : end_status;
    vit_close(*model);
    *model = NULL;
    return status;
}

vit_status model_read_with_bytes(vit_model **model, uint8_t **bytes, size_t *size, const char *path,
                                 const struct vit_kernels *kernels, vit_error *why) {
    struct source source = {.keep = bytes != NULL};
    vit_error inner = {""};
    *model = NULL;
    if (bytes) *bytes = NULL;
    vit_status status = open_input(&source.fd, &source.size, path, why);
    if (status) return status;
    status = open_source(model, &source, kernels, &inner);
    close(source.fd);
    if (bytes)
        *bytes = source.bytes, *size = source.fill;
    else
        free(source.bytes);
    if (status) snprintf(why->text, sizeof why->text, "%.80s: %.150s", path, inner.text);
    return status;
}

vit_status model_needs_head(const vit_model *model, const char *path, vit_error *why) {
    if (vit_model_config(model)->detections)
        return vit_fail(why, VIT_BAD_ARGUMENT,
                        "%s: expected a model that classifies, got one that finds objects: use npx "
                        "vitrine detect",
                        path);
    if (vit_model_config(model)->classes > 0) return VIT_OK;
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "%s: expected a model with a head, got one without, which cannot classify",
                    path);
}

vit_status model_needs_classes(const vit_model *model, const char *path, vit_error *why) {
    vit_status status = model_needs_head(model, path, why);
    if (status || vit_model_config(model)->problem_type == VIT_SINGLE_LABEL_CLASSIFICATION)
        return status;
    return vit_fail(why, VIT_BAD_ARGUMENT,
                    "%s: expected a model whose problem_type is single_label_classification, "
                    "because each image has one label here",
                    path);
}

const char *class_label(char number[24], const vit_model *model, size_t index) {
    const char *label = vit_model_label(model, index);
    if (!label) snprintf(number, 24, "%zu", index);
    return label ? label : number;
}
