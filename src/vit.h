/* Vitrine: a Vision Transformer in C11. This header is the manual.
 *
 * Contents, from what everyone needs to what few need:
 *   1  Simple         open a model, classify one image, close the model
 *   2  Batches        many images a call, attention maps and tokens, threads
 *   3  Opening        a file that arrives in pieces, the config, facts about the model
 *   4  Preparing      pixels become images
 *
 * This header includes vit_config.h, the config of a model. Fewer users need the other headers:
 *   draw.h            pen strokes become ink, and ink the image of a digit
 *   trace.h           the intermediate results of a run; runs that leave parts out
 *   overlay.h         heat maps: attention, and which patches support a class
 *   save.h            models that are made, not opened; tensors by name; files
 *   tape.h            training: forward and backward passes, losses
 *
 * Rules that hold for every function of these headers:
 *   Arrays     are row-major, without gaps, float32 unless the type says otherwise. A comment
 *              gives an array's shape in parentheses. `size` counts bytes.
 *   Letters    B batch   C channels   H,W rows and columns of the image   N patches   D width
 *              T tokens = prefix + N   L blocks   h heads   d width of a head   M MLP width
 *              K classes
 *   Errors     A function that returns vit_status returns VIT_OK or an error. If it takes `why`,
 *              it writes the error's message there; `why` may be NULL. Functions that return no
 *              status trust their arguments.
 *   Memory     Only vit_open…, vit_create, vit_model_resize and vit_close use the heap. All other
 *              functions work in memory that the caller passes and owns. A pointer that a model returns belongs
 *              to the model, and stays valid until vit_close.
 *   Threads    There is no global state. Threads may share a model, because nothing changes it
 *              after it is opened (training apart). A state, a tape and a loader serve one call
 *              at a time.
 *   Outside    Nothing here prints, exits or reads files.
 *
 * A program that says which class an image shows. CMake compiles it from this comment.
 *
 * ---- example ----
 *     #include <stdio.h>
 *     #include <stdlib.h>
 *     #include "vit.h"
 *
 *     // The bytes of a file and a 0 after them, to be freed. NULL if it cannot be read.
 *     static char *read_file(const char *path, size_t *size) {
 *         FILE *file = fopen(path, "rb");
 *         long length = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
 *         char *bytes = length < 0 ? NULL : calloc((size_t)length + 1, 1);
 *         if (bytes) rewind(file);
 *         *size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
 *         if (!bytes || *size != (size_t)length) {
 *             perror(path);
 *             free(bytes);
 *             bytes = NULL;
 *         }
 *         if (file) fclose(file);
 *         return bytes;
 *     }
 *
 *     // Finds the pixels in a grey PGM file, which begins "P5 columns rows 255".
 *     static vit_status find_pixels(vit_pixels *pixels, const char *pgm, size_t size) {
 *         int at = 0;
 *         if (sscanf(pgm, "P5 %zu %zu 255%n", &pixels->columns, &pixels->rows, &at) < 2 ||
 *             at == 0 || (size_t)at >= size || pixels->columns == 0 ||
 *             pixels->rows > (size - (size_t)at - 1) / pixels->columns)
 *             return VIT_BAD_IMAGE;
 *         pixels->data = (const uint8_t *)pgm + at + 1;
 *         pixels->channels = 1;
 *         return VIT_OK;
 *     }
 *
 *     // Prints the likeliest class.
 *     static vit_status classify(const vit_model *model, const vit_pixels *pixels,
 *                                vit_error *why) {
 *         const vit_config *c = vit_model_config(model);
 *         size_t floats = c->channels * c->image_size[0] * c->image_size[1], best = 0;
 *         size_t size = vit_state_size(model, 1, NULL);
 *         vit_state *state = NULL;
 *         float *image = malloc(floats * sizeof *image);
 *         float *p = malloc((c->classes + 1) * sizeof *p);
 *         void *memory = malloc(size);
 *         void *scratch = malloc(
 *             vit_prepare_size(c, pixels->rows, pixels->columns, pixels->channels) + 1);
 *         vit_status status = image && p && memory && scratch ? VIT_OK : VIT_NO_MEMORY;
 *         if (!status) status = vit_prepare_image(image, scratch, pixels, c, why);
 *         if (!status) status = vit_state_init(&state, memory, size, model, 1, NULL);
 *         if (!status) status = vit_run(model, state, image, 1, p, NULL);
 *         if (!status && c->classes) {
 *             vit_answers(p, p, c);
 *             for (size_t i = 1; i < c->classes; i++)
 *                 if (p[i] > p[best]) best = i;
 *             const char *label = vit_model_label(model, best);
 *             printf("class %zu (%s), probability %.4f\n", best, label ? label : "?", p[best]);
 *         }
 *         free(scratch);
 *         free(memory);
 *         free(p);
 *         free(image);
 *         return status;
 *     }
 *
 *     int main(int argc, char **argv) {
 *         if (argc != 3) {
 *             fprintf(stderr, "usage: example MODEL.safetensors IMAGE.pgm\n");
 *             return EXIT_FAILURE;
 *         }
 *         size_t size = 0, pgm_size = 0;
 *         char *bytes = read_file(argv[1], &size), *pgm = read_file(argv[2], &pgm_size);
 *         vit_status status = bytes && pgm ? VIT_OK : VIT_BAD_FILE;
 *         vit_model *model = NULL;
 *         vit_pixels pixels;
 *         vit_error why = {"expected a model and a grey PGM image that fit in memory"};
 *         if (!status) status = find_pixels(&pixels, pgm, pgm_size);
 *         if (!status) status = vit_open(&model, bytes, size, NULL, &why);
 *         if (!status) status = classify(model, &pixels, &why);
 *         if (status) fprintf(stderr, "%s: %s\n", vit_status_name(status), why.text);
 *         vit_close(model);
 *         free(pgm);
 *         free(bytes);
 *         return status ? EXIT_FAILURE : EXIT_SUCCESS;
 *     }
 * ---- end of example ----
 *
 * A model is one safetensors file. Integers are little-endian.
 *
 *   byte 0        8                        8 + n                                    end
 *        ┌────────┬────────────────────────┬──────────────────────────────────────────┐
 *        │ n      │ header: JSON, n bytes  │ data: the tensors' numbers, end to end   │
 *        │ uint64 │                        │ byte 0 of the data is byte 8 + n         │
 *        └────────┴────────────────────────┴──────────────────────────────────────────┘
 *   {"__metadata__": {"vitrine": "{\"image_size\":[28,28], …}"},
 *    "cls_token": {"dtype": "F32", "shape": [1,1,64], "data_offsets": [0,256]}, …
 *    "blocks.0.attn.qkv.weight.scale": {"dtype": "F32", "shape": [192], …},
 *    "blocks.0.attn.qkv.weight": {"dtype": "I8", "shape": [192,64], …}}
 *
 *   Config    `__metadata__.vitrine` is the config as JSON text, quoted once more. The table in
 *             src/README.md lists its keys. It may hold other keys too, such as the recipe.
 *   Tensors   have timm's names and shapes; src/params.h lists them. dtype F64, F32, F16
 *             and BF16 are read, F32 is written. data_offsets are [begin,end] in the data.
 *             Tensors leave no gaps and do not overlap.
 *   int8      The matrix NAME (rows,columns) is I8 if NAME.scale (rows), which is F32, stands
 *             beside it. Number [i][j] is then NAME[i][j] · NAME.scale[i]. Either all matrices
 *             of the blocks are I8 or none. Any other I8 matrix becomes floats when it is opened.
 *
 * A file whose tensors have other names opens too, with a config and a map of its tensors: see
 * vit_open_begin. The JavaScript API makes both for files of transformers, torchvision, CLIP, ….
 *
 * Papers: Vaswani et al., arXiv:1706.03762; Dosovitskiy et al., arXiv:2010.11929. */
#ifndef VIT_H
#define VIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vit_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================================================== *
 * 1  Simple: open a model, classify one image, close the model
 * ======================================================================== */

typedef enum vit_status {
    VIT_OK,
    VIT_BAD_ARGUMENT, /* a value that the caller passed is out of range */
    VIT_NO_MEMORY,
    VIT_BAD_FILE,    /* not a safetensors file, or a damaged one */
    VIT_BAD_CONFIG,  /* a config key is missing, or its value makes no sense */
    VIT_BAD_TENSOR,  /* missing, unknown, of a wrong shape or type, or not finite */
    VIT_BAD_IMAGE,   /* of a wrong size, or with pixels that are not finite */
    VIT_BLANK_IMAGE, /* a drawing without ink */
    VIT_STATUS_COUNT
} vit_status;

/* A sentence in UTF-8, ended by 0: what was expected and what was found. It names the tensor or
 * the config key. */
typedef struct vit_error {
    char text[240];
} vit_error;

/* → "ok", "bad_argument", …, or "unknown" for any other number; static text. The JavaScript API
 * uses these names as VitError's `code`. */
const char *vit_status_name(vit_status status);

typedef struct vit_model vit_model; /* a model in memory, ready to run */
typedef struct vit_state vit_state; /* the working memory of a run */
typedef struct vit_taps vit_taps;   /* what a run gives besides the logits: part 2 */
typedef struct vit_team vit_team;   /* threads: part 2 */
struct vit_kernels;                 /* an instruction set's functions: kernels/kernels.h */

/* Opens the model in `bytes` (size), a whole file.
 * kernels: the instruction set to run on; NULL takes the best one compiled in.
 * → *out: the model, which the caller closes; NULL on failure. It keeps nothing of `bytes`.
 * Errors: VIT_BAD_FILE, VIT_BAD_CONFIG, VIT_BAD_TENSOR, VIT_NO_MEMORY. */
vit_status vit_open(vit_model **out, const void *bytes, size_t size,
                    const struct vit_kernels *kernels, vit_error *why);

/* Frees the model and all that it returned. NULL is allowed. */
void vit_close(vit_model *model);

/* → the model's config, never NULL; the model owns it. */
const vit_config *vit_model_config(const vit_model *model);

/* → the name of class `index`, in UTF-8; the model owns it. NULL if there is no such class or
 * the config has no `labels`. */
const char *vit_model_label(const vit_model *model, size_t index);

/* → how many bytes a state needs that runs up to `batch` images together on `team`. A NULL team
 * is the caller's own thread. 0 if batch or the team's size is 0, or if that many bytes do not
 * fit in size_t. */
size_t vit_state_size(const vit_model *model, size_t batch, const vit_team *team);

/* Makes a state in `memory` (size), which may have any alignment. The caller owns the memory:
 * there is nothing to close, and freeing the memory ends the state.
 * model, batch, team: as passed to vit_state_size. The state keeps the pointers to the model and
 * to the team, whose size must not change.
 * → *out: the state, inside `memory`; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, or vit_state_size is 0. */
vit_status vit_state_init(vit_state **out, void *memory, size_t size, const vit_model *model,
                          size_t batch, vit_team *team);

/* Runs the model.
 * images (B,C,H,W): what vit_prepare_image makes, or numbers that are prepared alike.
 * batch: B, any number. A B above the state's own is run in parts.
 * → logits (B,K), the class scores; NULL: not needed. With doubt or detections an image has
 * other numbers of them: see vit_logits.
 * taps: what else to write; NULL: nothing.
 * Errors: VIT_BAD_ARGUMENT if the state is another model's, or views are wanted beside tokens, hidden
 * tokens or the last layer's attention; VIT_BAD_IMAGE if a number is not finite. Nothing is run
 * then.
 * The results are the same to the bit for any B and any team, if the kernels give a row the same
 * result beside any other rows (matmul in kernels/kernels.h says which kernels do). */
vit_status vit_run(const vit_model *model, vit_state *state, const float *images, size_t batch,
                   float *logits, const vit_taps *taps);

/* logits (K) → p (K): softmax(logits / temperature), which sums to 1. p may be logits.
 * temperature: above 0, usually the config's. Guo et al., arXiv:1706.04599, section 4.2. */
void vit_probabilities(float *p, const float *logits, size_t classes, float temperature);

/* logits (K) → p (K): what the config's problem_type makes of them. The probabilities of classes
 * that exclude each other, as vit_probabilities has them; or each class's own probability,
 * 1/(1+e^-z) with z = logit / temperature; or the values. p may be logits.
 * With doubt the last logit d is of none of the classes, and the others' probabilities are
 * multiplied by 1/(1+e^d), which is then their sum. */
void vit_answers(float *p, const float *logits, const vit_config *config);

/* ======================================================================== *
 * 2  Batches, attention maps, threads
 * ======================================================================== */

/* Arrays for vit_run to write, which the caller owns. A pointer that is NULL is not written.
 * A mask (L) is nonzero for each selected layer; a NULL mask selects all layers. l is the number of
 * selected layers. */
struct vit_taps {
    float *attention; /* (B,l,h,T,T): in row i, how much token i attends to each token; sums to 1 */
    const uint8_t *attention_layers; /* mask (L) */
    float *hidden;                   /* (B,l,T,D): the tokens after each selected block */
    const uint8_t *hidden_layers;    /* mask (L) */
    float *tokens; /* (B,T,D): the tokens after the last block and the final norm */
    float *pooled; /* (B,D): what feeds the head; for class_mean its first D numbers */
    /* (B,h,prefix,T): the prefix's rows of the last layer's attention, without its other rows; only
     * of a model with detections */
    float *views;
};

/* A part of some work: does the index-th of `count` shares. */
typedef void vit_part(void *context, size_t index, size_t count);

/* The caller's threads. The library knows nothing else about them.
 * size: the most parts that work is split into, 1 or more.
 * run: chooses a count from 1 to size, calls part(context, i, count) once for every i below it,
 * in any order and at the same time if it can, and returns when all calls have returned.
 * A batch is split by whole images if that is even, else by tokens. */
struct vit_team {
    size_t size;
    void (*run)(struct vit_team *team, vit_part *part, void *context);
};

/* ======================================================================== *
 * 3  Opening: the config, a file that arrives in pieces, facts about the model
 * ======================================================================== */

/* → rows (axis 0) or columns (1) of the grid of patches */
size_t vit_grid(const vit_config *config, int axis);
size_t vit_patches(const vit_config *config); /* → N */
size_t vit_prefix(const vit_config *config);  /* → T - N */
size_t vit_tokens(const vit_config *config);  /* → T */
/* → logits of an image: K, or K+1 with doubt. Of a model with detections each detection token's: K+1
 * scores, the last of no object, then the box: its centre's column and row, its width and its
 * height, as shares of the image's. */
size_t vit_logits(const vit_config *config);
enum { VIT_BOX = 4 };

/* Reads a config from JSON text (size), and checks every value alone and with the others.
 * → *config: sizes and kinds, without pointers. Labels stay in the text.
 * Errors: VIT_BAD_CONFIG; VIT_NO_MEMORY if such a model is too large for this machine's
 * addresses. */
vit_status vit_config_read(vit_config *config, const char *json, size_t size, vit_error *why);

/* As vit_open, with the config `json` (json_size) in place of the file's own, and with the map of
 * the file's tensors; vit_open_begin describes both. Neither text is kept. */
vit_status vit_open_with_config(vit_model **out, const void *bytes, size_t size, const char *json,
                                size_t json_size, const char *map, size_t map_size,
                                const struct vit_kernels *kernels, vit_error *why);

/* As vit_open_with_config, for a file that arrives in pieces and is never whole in memory: begin,
 * feed all bytes in order, end. */
typedef struct vit_loader vit_loader;

/* file_size: of the whole file. json (json_size): the config; NULL: the file's own.
 * map (map_size): which tensors of the file make which parameter, as JSON text with all of these
 * members; NULL: each parameter's tensor has its name, and there are no other tensors.
 *     {"family": "transformers' ViT", "strict": false, "matrix_patches": false, "tensors":
 *         {"cls_token": ["embeddings.cls_token"], "norm.weight": ["layernorm.weight"],
 *          "blocks.0.attn.qkv.bias": ["0.query.bias", "0.key.bias", "0.value.bias"], …},
 *      "transposed": [], "skipped": ["pooler.dense.weight"]}
 * family          whose names they are, for messages
 * strict          shapes must agree in dimensions of 1, too
 * matrix_patches  patch_embed.proj.weight may be a matrix (D,C·P·Q)
 * tensors         the tensors whose rows make a parameter: one; for qkv also three, or two (q, kv).
 *                 A parameter that the model need not have is had if the file has its tensors.
 * transposed      "head.weight" if that tensor is (D,K), "text.proj.weight" if that one is (D,P)
 * skipped         tensors that the model does not need; each other one makes one parameter
 * The loader borrows both texts until vit_open_end.
 * → *out: a loader, which vit_open_end frees; NULL on failure.
 * Errors: VIT_BAD_FILE if file_size is too small for a file, VIT_NO_MEMORY. */
vit_status vit_open_begin(vit_loader **out, size_t file_size, const char *json, size_t json_size,
                          const char *map, size_t map_size, const struct vit_kernels *kernels,
                          vit_error *why);

/* Takes the next `size` bytes, any number, and keeps no pointer to them. The header is checked
 * when it is complete, and so is each tensor.
 * → VIT_OK, or the first failure, after which more bytes are ignored.
 * Errors: as vit_open; VIT_BAD_FILE for too many bytes; VIT_BAD_ARGUMENT for a wrong map. */
vit_status vit_open_feed(vit_loader *loader, const void *bytes, size_t size);

/* Frees the loader, and may be called at any time.
 * → *out: the model, which the caller closes; NULL on failure.
 * Errors: the first failure of feed, with its message; VIT_BAD_FILE if bytes are missing. */
vit_status vit_open_end(vit_model **out, vit_loader *loader, vit_error *why);

/* Makes a model for images of another size, rows and columns. It shares the weights of `model`, which
 * must be closed after it, and serves for running only: it has no vit_parameters. Positions are
 * resized from those of the file, as position_resize says, or computed again; so the results are
 * those of the file opened with this image_size, to the bit. Relative positions are resized here
 * alone. Its config says how photos of this size are prepared: their resized lengths keep their
 * proportion to the crop. vit_model_json is that of `model`.
 * → *out: the model, which the caller closes; NULL on failure.
 * Errors: VIT_BAD_CONFIG if positions are relative and position_resize is not for them, or if the
 * config cannot have this image_size; VIT_NO_MEMORY. */
vit_status vit_model_resize(vit_model **out, const vit_model *model, const size_t size[2],
                            vit_error *why);

/* → the config as JSON text of *size bytes, followed by 0; the model owns it. It has the labels
 * and all other keys of the file. */
const char *vit_model_json(const vit_model *model, size_t *size);

/* → the kernels that run the model; static. */
const struct vit_kernels *vit_model_kernels(const vit_model *model);

/* → how many bytes of heap the model holds. */
size_t vit_model_bytes(const vit_model *model);

/* ======================================================================== *
 * 4  Preparing: pixels become images
 * ======================================================================== */

/* An image in bytes: data (rows,columns,channels), which the caller owns.
 * channels: 1 is grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
typedef struct vit_pixels {
    const uint8_t *data;
    size_t rows, columns, channels;
} vit_pixels;

/* → how many bytes of scratch memory vit_prepare_image needs for such pixels. 0 if it refuses
 * them; a call then says why, and touches no scratch memory. */
size_t vit_prepare_size(const vit_config *config, size_t rows, size_t columns, size_t channels);

/* Pixels → image (C,H,W), in the way that the config's `prepare` says. Transparent pixels lie on
 * white.
 * scratch: as many bytes as vit_prepare_size says, 16-byte aligned.
 * Errors: VIT_BAD_IMAGE if the pixels have a size or a number of channels that the model cannot
 * take, or if the config does not say how to prepare them; VIT_BLANK_IMAGE; VIT_BAD_CONFIG if
 * `prepare` contradicts image_size. */
vit_status vit_prepare_image(float *image, void *scratch, const vit_pixels *pixels,
                             const vit_config *config, vit_error *why);

/* Where an image lies in its source: a rectangle in the source's pixels, from its upper left
 * corner. It reaches beyond the source where the image has a border that the source does not. */
typedef struct vit_placement {
    double left, top, width, height;
} vit_placement;

/* As vit_prepare_image. → placement: where the image lies in the pixels. */
vit_status vit_prepare_placed(float *image, vit_placement *placement, void *scratch,
                              const vit_pixels *pixels, const vit_config *config, vit_error *why);

#ifdef __cplusplus
}
#endif
#endif
