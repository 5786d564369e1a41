/* A file in pieces of any sizes gives the same result as the whole file: the same status and
 * message, or the same model. If a file is shorter than announced, zeros are fed for a while. */
#include "harness.h"

#include <stdlib.h>

enum { ZEROS = 1 << 20, ZEROS_MOST = 12, ALONE = 1000 };

struct pieces {
    struct tape *tape;
    size_t kind;
};

static size_t next_piece(struct pieces *p, size_t left) {
    static const size_t SIZES[] = {SIZE_MAX, 1, 7, 8, 9, 100, 1000, 4096};
    size_t n = p->kind < 8 ? SIZES[p->kind] : tape_byte(p->tape);
    if (n == 0 && p->tape->at == p->tape->end) n = left; /* a tape that has ended gives 0 forever */
    return n < left ? n : left;
}

/* Feeds a piece from a block of its own, so that the sanitizer sees a read past it. */
static vit_status feed_alone(vit_loader *loader, const uint8_t *bytes, size_t n) {
    uint8_t *piece = malloc(n);
    memcpy(piece, bytes, n);
    vit_status status = vit_open_feed(loader, piece, n);
    free(piece);
    return status;
}

static vit_status feed(vit_loader *loader, const uint8_t *bytes, size_t size,
                       struct pieces *pieces) {
    vit_status status = VIT_OK;
    for (size_t at = 0, n, i = 0; at < size; at += n, i++) {
        n = next_piece(pieces, size - at);
        status =
            i < ALONE ? feed_alone(loader, bytes + at, n) : vit_open_feed(loader, bytes + at, n);
        if (status && tape_bool(pieces->tape)) break; /* a caller may stop, or go on */
    }
    return status;
}

static vit_status open_in_pieces(vit_model **out, const struct source *s, uint64_t announced,
                                 const struct vit_kernels *k, struct pieces *pieces,
                                 vit_error *why) {
    vit_loader *loader;
    size_t says = announced > SIZE_MAX ? SIZE_MAX : (size_t)announced;
    vit_status status =
        vit_open_begin(&loader, says, s->json, s->json_size, s->map, s->map_size, k, why);
    *out = NULL;
    if (status) return status;
    status = feed(loader, s->bytes, s->size, pieces);
    if (says > s->size && !status) {
        uint8_t *zeros = calloc(ZEROS, 1);
        size_t left = says - s->size;
        for (int i = 0; i < ZEROS_MOST && left && !status; i++) {
            size_t n = left < ZEROS ? left : ZEROS;
            status = vit_open_feed(loader, zeros, n);
            left -= n;
        }
        free(zeros);
    }
    vit_status end = vit_open_end(out, loader, why);
    EXPECT(!status || end == status, "vit_open_feed gave %s, vit_open_end %s",
           vit_status_name(status), vit_status_name(end));
    return end;
}

static void compare(const struct source *s, const struct vit_kernels *k, vit_status status,
                    const vit_model *model, const vit_error *why) {
    vit_model *whole;
    vit_error other = {""};
    vit_status want = open_whole(&whole, s, k, &other);
    EXPECT(status == want, "%s (%s), got %s (%s)", vit_status_name(want), other.text,
           vit_status_name(status), why->text);
    EXPECT(!strcmp(why->text, other.text), "whole: \"%s\", in pieces: \"%s\"", other.text,
           why->text);
    if (model) expect_same_models(model, whole, "in pieces and whole");
    vit_close(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct tape tape = {bytes, bytes + size};
    const struct vit_kernels *k = kernels_pick(tape_byte(&tape));
    struct pieces pieces = {&tape, tape_below(&tape, 12)};
    struct specimen *specimen = specimen_new(&tape, true);
    struct source source = specimen_source(specimen);
    vit_model *model;
    vit_error why = {""};
    meter_start();
    vit_status status = open_in_pieces(&model, &source, specimen->announced, k, &pieces, &why);
    expect_cheap(meter_stop(), specimen->announced + specimen->json_size + specimen->map_size,
                 "opening in pieces");
    EXPECT(specimen->mutations || specimen->plan.may_fail || status == VIT_OK,
           "a model without changes does not open: %s", why.text);
    if (specimen->announced == specimen->size) compare(&source, k, status, model, &why);
    vit_close(model);
    specimen_free(specimen);
    return 0;
}
