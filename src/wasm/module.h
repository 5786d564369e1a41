/* What every WebAssembly module has, whether it runs models or trains them: its heap, the message
 * of the last error, and the pixels and strokes that JavaScript passes. */
#ifndef VIT_WASM_MODULE_H
#define VIT_WASM_MODULE_H

#include "vit.h"

#ifdef __wasm_atomics__
extern vit_team wasm_team; /* wasm/team.c */
#define TEAM &wasm_team
#else
#define TEAM NULL
#endif

/* The last error's message. */
extern vit_error module_error;
/* The error for a call that breaks a rule of this module, which is a bug in our JavaScript. */
vit_status bad_call(const char *what);

/* Begins to open a file of weights, for these kernels; NULL: the best. vitw_feed takes its
 * bytes. */
vit_status begin_file(size_t size, const char *json, size_t json_size, const char *map,
                      size_t map_size, const struct vit_kernels *kernels);
/* After the last byte. Its error has the message of a vitw_feed that failed, too. */
vit_status end_file(vit_model **model);

/* A buffer grows for a larger use and never shrinks. */
struct buffer {
    void *data;
    size_t size;
};

/* Gives the buffer at least `size` bytes, 16-byte aligned. When it grows, its bytes are lost. */
bool hold(struct buffer *buffer, size_t size);

/* The bytes that vitw_pixels or vitw_ink made room for → image (C,H,W), and where it lies in
 * them. */
vit_status prepare_pixels(float *image, vit_placement *placement, const vit_config *config,
                          size_t rows, size_t columns, size_t channels);

#endif
