#include <emscripten/emmalloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sizes.h"
#include "draw.h"
#include "module.h"

vit_error module_error;

vit_status bad_call(const char *what) {
    return vit_fail(&module_error, VIT_BAD_ARGUMENT, "%s", what);
}

/* The instruction set of this module. */
const char *vitw_variant(void) {
#if defined(__wasm_relaxed_simd__)
    return "relaxed";
#elif defined(__wasm_simd128__)
    return "simd128";
#else
    return "scalar";
#endif
}

/* ---- The heap ----------------------------------------------------------- */

/* Counts every allocation of the module, so that a test can show that a run makes none. */
static uint32_t allocations;

#if defined(__wasm_atomics__) && defined(VITRINE_TRAINS)
/* Helpers allocate while they train, and emmalloc is for one thread. */
static atomic_flag heap_lock = ATOMIC_FLAG_INIT;

static void lock(void) {
    while (atomic_flag_test_and_set(&heap_lock)) {
    }
}

static void unlock(void) {
    atomic_flag_clear(&heap_lock);
}

void free(void *memory) {
    lock();
    emmalloc_free(memory);
    unlock();
}
#else
static void lock(void) {}
static void unlock(void) {}
#endif

void *malloc(size_t size) {
    lock();
    allocations++;
    void *memory = emmalloc_memalign(16, size);
    unlock();
    return memory;
}

void *calloc(size_t count, size_t size) {
    lock();
    allocations++;
    void *memory = emmalloc_calloc(count, size);
    unlock();
    return memory;
}

/* Not emmalloc's, which calls `free` while it holds the heap. */
void *realloc(void *old, size_t size) {
    void *memory = malloc(size);
    if (!old || !memory) return memory;
    size_t old_size = emmalloc_usable_size(old);
    memcpy(memory, old, old_size < size ? old_size : size);
    free(old);
    return memory;
}

uint32_t vitw_allocations(void) {
    return allocations;
}

void *vitw_alloc(size_t size) {
    return malloc(size);
}

void vitw_free(void *memory) {
    free(memory);
}

bool hold(struct buffer *buffer, size_t size) {
    if (size <= buffer->size) return true;
    if (size == SIZE_TOO_LARGE) return false;
    free(buffer->data);
    *buffer = (struct buffer){malloc(size), size};
    if (!buffer->data) buffer->size = 0;
    return buffer->data != NULL;
}

/* ---- A file of weights ------------------------------------------------------ */

static vit_loader *loader;

vit_status begin_file(size_t size, const char *json, size_t json_size, const char *map,
                      size_t map_size, const struct vit_kernels *kernels) {
    return vit_open_begin(&loader, size, json, json_size, map, map_size, kernels, &module_error);
}

vit_status vitw_feed(const void *bytes, size_t size) {
    return loader ? vit_open_feed(loader, bytes, size) : VIT_BAD_ARGUMENT;
}

vit_status end_file(vit_model **model) {
    if (!loader) return bad_call("expected a file that is being fed, got none");
    vit_status status = vit_open_end(model, loader, &module_error);
    loader = NULL;
    return status;
}

/* ---- Pixels and strokes --------------------------------------------------- */

static struct buffer pixels, scratch;

/* → room for the bytes of one image; NULL: no memory. */
uint8_t *vitw_pixels(size_t size) {
    return hold(&pixels, size) ? pixels.data : NULL;
}

/* → a plane without ink, in the buffer of vitw_pixels; NULL: no memory. */
uint8_t *vitw_ink(size_t rows, size_t columns) {
    size_t size = size_times(rows, columns);
    uint8_t *ink = vitw_pixels(size);
    if (ink) memset(ink, 0, size);
    return ink;
}

/* → room for the points of a stroke, valid until an image is prepared; NULL: no memory. */
vit_point *vitw_points(size_t count) {
    return hold(&scratch, size_times(count, sizeof(vit_point))) ? scratch.data : NULL;
}

/* Whether vitw_pixels or vitw_ink made room for such an image. */
static bool has_pixels(size_t rows, size_t columns, size_t channels) {
    return size_times(size_times(rows, columns), channels) <= pixels.size;
}

/* Adds the stroke in vitw_points to the plane of vitw_ink. */
vit_status vitw_stroke(size_t rows, size_t columns, size_t count) {
    if (!has_pixels(rows, columns, 1) || count > scratch.size / sizeof(vit_point))
        return bad_call("expected a stroke that vitw_points made room for");
    vit_draw_stroke(pixels.data, rows, columns, scratch.data, count);
    return VIT_OK;
}

vit_status prepare_pixels(float *image, vit_placement *placement, const vit_config *config,
                          size_t rows, size_t columns, size_t channels) {
    if (!has_pixels(rows, columns, channels))
        return bad_call("expected an image that vitw_pixels made room for");
    const vit_pixels source = {pixels.data, rows, columns, channels};
    if (!hold(&scratch, vit_prepare_size(config, rows, columns, channels)))
        return vit_fail(
            &module_error, VIT_NO_MEMORY,
            "preparing %zx%z pixels takes more memory than there is: give a smaller image", rows,
            columns);
    return vit_prepare_placed(image, placement, scratch.data, &source, config, &module_error);
}
