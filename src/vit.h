/* Vitrine: a Vision Transformer in C11. This header is the manual.
 *
 * Contents, from what everyone needs to what few do:
 *
 *   1  Simple         open a model, classify one image, close the model
 *   2  Batches        many images a call, attention maps and tokens, threads
 *   3  Opening        the file while it comes, its config, what the model says of itself
 *   4  Preparing      pixels and pen strokes become images
 *   5  Overlay        attention becomes heat maps
 *   6  Saving         tensors by name, files of floats and of int8
 *   7  Training       forward and backward passes, losses
 *
 * Rules that hold for every function below:
 *
 *   Arrays     are row-major, without gaps, float32 unless the type says otherwise. A comment
 *              gives an array's shape in parentheses. `size` counts bytes.
 *   Letters    B batch   C channels   H,W rows and columns of the image   N patches   D width
 *              T tokens = prefix + N   L blocks   h heads   d width of a head   M MLP width
 *              K classes
 *   Errors     A function that returns vit_status returns VIT_OK or an error. If it takes `why`,
 *              it writes the error's message there; `why` may be NULL. Functions that return no
 *              status trust their arguments.
 *   Memory     Only vit_open…, vit_create and vit_close use the heap. All other functions work
 *              in memory that the caller passes and owns. A pointer that a model returns belongs
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
 * Files of other families (transformers, torchvision, CLIP, …) open too. Their tensors' names
 * are translated, and config keys that are missing are inferred from the tensors' shapes.
 *
 * Papers: Vaswani et al., arXiv:1706.03762; Dosovitskiy et al., arXiv:2010.11929. */
#ifndef VIT_H
#define VIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

typedef struct vit_model vit_model;       /* a model in memory, ready to run */
typedef struct vit_state vit_state;       /* the working memory of a run */
typedef struct vit_config vit_config;     /* sizes and kinds of a model: part 3 */
typedef struct vit_taps vit_taps;         /* what a run gives besides the logits: part 2 */
typedef struct vit_trace vit_trace;       /* what a run computes on its way: part 2 */
typedef struct vit_ablation vit_ablation; /* parts that a run leaves out: part 2 */
typedef struct vit_team vit_team;         /* threads: part 2 */
struct vit_kernels;                       /* an instruction set's functions: kernels/kernels.h */

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
 * is the caller's own thread. 0 if batch or the team's size is 0, or if so many bytes cannot be
 * counted. */
size_t vit_state_size(const vit_model *model, size_t batch, const vit_team *team);

/* Makes a state in `memory` (size), which may have any alignment. The caller owns the memory:
 * there is nothing to close, and freeing the memory ends the state.
 * model, batch, team: as given to vit_state_size. The state keeps the pointers to the model and
 * to the team, whose size must not change.
 * → *out: the state, inside `memory`; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, or vit_state_size is 0. */
vit_status vit_state_init(vit_state **out, void *memory, size_t size, const vit_model *model,
                          size_t batch, vit_team *team);

/* Runs the model.
 * images (B,C,H,W): what vit_prepare_image makes, or numbers that are prepared alike.
 * batch: B, any number. A B above the state's own is run in parts.
 * → logits (B,K), the class scores; NULL: not wanted.
 * taps: what else to write; NULL: nothing.
 * Errors: VIT_BAD_ARGUMENT if the state is another model's; VIT_BAD_IMAGE if a number is not
 * finite. Nothing is run then.
 * The results are the same to the bit for any B and any team, if the kernels give a row the same
 * result beside any other rows (matmul in kernels/kernels.h says which kernels do). */
vit_status vit_run(const vit_model *model, vit_state *state, const float *images, size_t batch,
                   float *logits, const vit_taps *taps);

/* logits (K) → p (K): softmax(logits / temperature), which sums to 1. p may be logits.
 * temperature: above 0, usually the config's. Guo et al., arXiv:1706.04599, section 4.2. */
void vit_probabilities(float *p, const float *logits, size_t classes, float temperature);

/* logits (K) → p (K): what the config's problem_type makes of them. The probabilities of classes
 * that exclude each other, as vit_probabilities has them; or each class's own probability,
 * 1/(1+e^-z) with z = logit / temperature; or the values. p may be logits. */
void vit_answers(float *p, const float *logits, const vit_config *config);

/* ======================================================================== *
 * 2  Batches, attention maps, threads
 * ======================================================================== */

/* Arrays for vit_run to write, which the caller owns. A pointer that is NULL is not written.
 * A mask (L) is nonzero for each wanted layer; a NULL mask wants all layers. l is the number of
 * wanted layers. */
struct vit_taps {
    float *attention; /* (B,l,h,T,T): in row i, how much token i attends to each token; sums to 1 */
    const uint8_t *attention_layers; /* mask (L) */
    float *hidden;                   /* (B,l,T,D): the tokens after each wanted block */
    const uint8_t *hidden_layers;    /* mask (L) */
    float *tokens; /* (B,T,D): the tokens after the last block and the final norm */
    float *pooled; /* (B,D): what feeds the head; for class_mean its first D numbers */
};

/* What one image's run computes on its way. The caller owns the arrays. One that is NULL is not
 * written. A is heads·d, the width of all queries of a token. */
struct vit_trace {
    float *embedded; /* (T,D): the tokens before positions are added to them */
    float *stream;   /* (L+1,T,D): the tokens before the first block, then after each block */
    float *qkv;      /* (L,T,3,A): queries, keys and values, head beside head; after qk_norm */
    float *scores; /* (L,h,T,T): q·k/√d and the bias of relative positions, before the softmax */
    float *attention; /* (L,h,T,T): after it, as vit_taps has it */
    float *added;     /* (L,2,T,D): what attention adds to the tokens, and what the MLP adds */
};

/* Runs one image as vit_run does, and writes the trace. Sums are formed in another order, so
 * results may differ from vit_run's by rounding.
 * image (C,H,W).
 * → logits (K).
 * Errors: as vit_run. */
vit_status vit_run_traced(const vit_model *model, vit_state *state, const float *image,
                          float *logits, const vit_trace *trace);

/* The head alone: final norm, pooling and classes of any tokens (T,D), as those after an earlier
 * block: the logit lens (nostalgebraist 2020).
 * → logits (K).
 * Errors: VIT_BAD_ARGUMENT if the state is another model's, or the model has no head. */
vit_status vit_run_head(const vit_model *model, vit_state *state, const float *tokens,
                        float *logits);

/* The queries, keys or values that a head takes in place of those it would compute: activation
 * patching, Zhang & Nanda, arXiv:2309.16042. */
typedef struct vit_replacement {
    size_t layer, head;
    size_t part;       /* 0: the queries, 1: the keys, 2: the values */
    const float *rows; /* (T,d), for every image of the run; as vit_trace has them, after qk_norm */
} vit_replacement;

/* Parts that a run leaves out or replaces. A NULL mask leaves out nothing; nonzero leaves out. */
struct vit_ablation {
    const uint8_t *heads;            /* mask (L,h): the head's values are 0 */
    const uint8_t *mlps;             /* mask (L): the block's MLP adds nothing */
    const uint8_t *norms;            /* mask (L): the block's two norms pass their input on */
    bool positions;                  /* no positions are added, to tokens or to scores */
    const vit_replacement *replaced; /* (replaced_count) */
    size_t replaced_count;
};

/* From now on the state's runs leave these parts out. It borrows all arrays. NULL: nothing. */
void vit_state_ablate(vit_state *state, const vit_ablation *without);

/* A part of some work: does the index-th of `count` shares. */
typedef void vit_part(void *context, size_t index, size_t count);

/* The caller's threads. The library knows nothing else of them.
 * size: the most parts that work is split into, 1 or more.
 * run: chooses a count from 1 to size, calls part(context, i, count) once for every i below it,
 * in any order and at the same time if it can, and returns when all calls have returned.
 * A batch is split by whole images if that is even, else by tokens. */
struct vit_team {
    size_t size;
    void (*run)(struct vit_team *team, vit_part *part, void *context);
};

/* ======================================================================== *
 * 3  Opening: the config, a file while it comes, what the model says of itself
 * ======================================================================== */

/* A word of the config's JSON is the enumerator in small letters, without VIT_ and without the
 * enum's name. */
typedef enum vit_norm { VIT_PRE, VIT_POST } vit_norm;
typedef enum vit_activation { VIT_GELU, VIT_GELU_TANH, VIT_QUICK_GELU, VIT_RELU } vit_activation;
typedef enum vit_position {
    VIT_POSITION_NONE,
    VIT_LEARNED,
    VIT_SINCOS1D,
    VIT_SINCOS2D,
    VIT_RELATIVE
} vit_position;
/* What feeds the head. Only the first two train. */
typedef enum vit_pool {
    VIT_POOL_CLASS,      /* the class token */
    VIT_POOL_MEAN,       /* the mean of the patch tokens */
    VIT_POOL_ATTENTION,  /* what a learned query gathers from the patch tokens */
    VIT_POOL_MAX,        /* the largest of the patch tokens, number by number */
    VIT_POOL_MEAN_MAX,   /* half of the mean plus half of the largest */
    VIT_POOL_CLASS_MEAN, /* the class token and the mean side by side: 2D numbers */
    VIT_POOL_PRR /* timm's parameter-free pooling: all tokens attend to each other without weights;
                    then the class token is taken, or the mean if there is no class token */
} vit_pool;
/* The order of a patch's numbers, if the file has the patches' projection as a matrix. */
typedef enum vit_patch_order {
    VIT_CHANNELS_FIRST, /* (C,P,Q) */
    VIT_CHANNELS_LAST   /* (P,Q,C) */
} vit_patch_order;
typedef enum vit_attention { VIT_STANDARD, VIT_PER_HEAD } vit_attention;
/* What the logits are. The words are transformers'. */
typedef enum vit_problem {
    VIT_SINGLE_LABEL_CLASSIFICATION, /* one class is right: softmax */
    VIT_MULTI_LABEL_CLASSIFICATION,  /* any number of classes is right: each has a sigmoid */
    VIT_REGRESSION                   /* the logits are the values themselves */
} vit_problem;
typedef enum vit_prepare {
    VIT_PREPARE_NONE, /* without the key, in a file of ours: bytes of the image's size, as 0 to 1 */
    VIT_PREPARE_DIGIT,
    VIT_PREPARE_PHOTO,
    VIT_PREPARE_UNKNOWN /* null, as in a file of another family: pixels are refused */
} vit_prepare;
typedef enum vit_filter { VIT_BILINEAR, VIT_BICUBIC, VIT_LANCZOS, VIT_NEAREST } vit_filter;
/* How a photo is resized to two lengths. */
typedef enum vit_fit {
    VIT_STRETCH, /* each side becomes its own length */
    VIT_COVER,   /* the proportions stay, and no side is too short */
    VIT_CONTAIN  /* the proportions stay, and no side is too long */
} vit_fit;

enum { VIT_STEM_MOST = 6 };

/* Whose way to resize a grid of positions is used. All are bicubic. */
typedef enum vit_resize {
    VIT_RESIZE_BY_FAMILY,    /* the file's family decides; timm's way for our own files */
    VIT_RESIZE_ANTIALIAS,    /* timm: with antialiasing */
    VIT_RESIZE_PLAIN,        /* transformers: without antialiasing */
    VIT_RESIZE_OFFSET,       /* facebook's DINOv2: the scale is that of a grid 0.1 rows larger */
    VIT_RESIZE_ALIGN_CORNERS /* torchvision: corners stay on corners */
} vit_resize;

/* A config key has the name of its field, unless a comment says otherwise. */
struct vit_config {
    size_t image_size[2], patch_size[2]; /* rows, columns; (P,Q) is the patch size */
    size_t channels, width, depth, heads, mlp_width;
    size_t classes;     /* 0: the model has no head */
    size_t head_width;  /* d; 0: D/h */
    size_t stem_layers; /* convolutions of 3×3 with padding 1, before the patches are cut */
    struct {
        size_t channels, stride; /* stride: 1 or 2 */
    } stem[VIT_STEM_MOST];
    vit_norm norm;
    float norm_eps;
    bool final_norm;
    vit_activation activation;
    vit_position position;
    size_t position_size[2]; /* the image size that the learned positions fit; 0: image_size */
    vit_pool pool;
    bool pool_prefix; /* the prefix is pooled with the patches; for class_mean, the prefix without
                         the class token */
    vit_patch_order patch_order;
    bool qkv_bias, qk_norm, layer_scale;
    bool residual; /* a branch's output is added to its input; false: it takes its place */
    bool patch_bias, head_bias;
    size_t class_tokens, distillation_tokens, register_tokens; /* `prefix`, in this order */
    vit_attention attention;
    vit_problem problem_type; /* a model of one class that does not say: multi-label */
    float temperature;        /* the logits are divided by it to make probabilities */
    float uncertain_below;    /* an answer whose probability is lower is uncertain; 0..1 */
    float unfinished_ink;     /* an unfinished drawing is multiplied by it; above 0, up to 1 */
    vit_prepare prepare;
    struct {               /* the rest of `prepare`, if its kind is photo */
        size_t resize;     /* the length that the shorter side becomes; 0: see `stretch` */
        size_t stretch[2]; /* the lengths that rows and columns become; 0: unchanged */
        vit_fit fit;       /* how, if `stretch` is used */
        size_t crop[2];    /* the rows and columns of the middle part that is kept */
        bool crop_floor;   /* half of an odd margin is rounded down, not to the even number */
        bool fills;        /* a photo smaller than the crop is filled up; otherwise refused */
        float mean[4], std[4], fill[4]; /* one number a channel; fill: 0..255 */
        vit_filter filter;              /* `interpolation` */
    } photo;
    /* vit_open finds these in the file. Only `resize` has a config key. */
    bool fc_norm;                   /* the norm comes after the mean, not before it */
    bool patch_norm_in, patch_norm; /* patches are normed before and after they become tokens */
    bool norm_pre;                  /* the tokens are normed before the blocks */
    bool class_position;     /* pos_embed has a row for the class token but none for registers */
    bool no_head_dist;       /* the distillation token has no head of its own */
    bool int8;               /* the blocks' matrices are int8 */
    size_t position_rows;    /* rows of pos_embed: T, or N if the prefix has none */
    size_t position_grid[2]; /* rows and columns of the grid in the file */
    vit_resize resize;       /* `position_resize`, or the way of the file's family */
};

size_t vit_patches(const vit_config *config); /* → N */
size_t vit_prefix(const vit_config *config);  /* → T - N */
size_t vit_tokens(const vit_config *config);  /* → T */

/* Reads a config from JSON text (size), and checks every value alone and with the others.
 * → *config: sizes and kinds, without pointers. Labels stay in the text.
 * Errors: VIT_BAD_CONFIG; VIT_NO_MEMORY if such a model is too large for this machine's
 * addresses. */
vit_status vit_config_read(vit_config *config, const char *json, size_t size, vit_error *why);

/* As vit_open, with the config from `json` (json_size) and not from the file. If `json` is NULL,
 * the file's own config is used. The text is not kept. */
vit_status vit_open_with_config(vit_model **out, const void *bytes, size_t size, const char *json,
                                size_t json_size, const struct vit_kernels *kernels,
                                vit_error *why);

/* As vit_open_with_config, for a file that comes in pieces and is never whole in memory: begin,
 * feed all bytes in order, end. */
typedef struct vit_loader vit_loader;

/* file_size: the size of the whole file. The loader borrows `json` until vit_open_end.
 * → *out: a loader, which vit_open_end frees; NULL on failure.
 * Errors: VIT_BAD_FILE if file_size is too small for a file, VIT_NO_MEMORY. */
vit_status vit_open_begin(vit_loader **out, size_t file_size, const char *json, size_t json_size,
                          const struct vit_kernels *kernels, vit_error *why);

/* Takes the next `size` bytes, any number, and keeps no pointer to them. The header is checked
 * when it is complete, and so is each tensor.
 * → VIT_OK, or the first failure, after which more bytes are ignored.
 * Errors: as vit_open; VIT_BAD_FILE if there are more bytes than file_size. */
vit_status vit_open_feed(vit_loader *loader, const void *bytes, size_t size);

/* Frees the loader, and may be called at any time.
 * → *out: the model, which the caller closes; NULL on failure.
 * Errors: the first failure of feed, with its message; VIT_BAD_FILE if bytes are missing. */
vit_status vit_open_end(vit_model **out, vit_loader *loader, vit_error *why);

/* → the config as JSON text of *size bytes, followed by 0; the model owns it. It has the labels
 * and all other keys of the file. */
const char *vit_model_json(const vit_model *model, size_t *size);

/* → how the file was read, as JSON text of *size bytes; the model owns it. NULL and size 0 for a
 * model that vit_create made.
 *     {"family": "timm", "assumed": ["heads"], "skipped": ["mask_token"], "projection": "head"}
 * family      whose names the tensors have; "vitrine": the file has a config of its own
 * assumed     config keys that were guessed, because nothing told them: all of them
 * skipped     tensors that do not belong to the model
 * projection  what places an image among texts: the logits ("head"), the numbers that feed the
 *             head ("pooled"), or nothing (null) */
const char *vit_model_origin(const vit_model *model, size_t *size);

/* → the kernels that run the model; static. */
const struct vit_kernels *vit_model_kernels(const vit_model *model);

/* → how many bytes of heap the model holds. */
size_t vit_model_bytes(const vit_model *model);

/* ======================================================================== *
 * 4  Preparing: pixels and pen strokes become images
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
 * take, or if nothing tells how they are prepared; VIT_BLANK_IMAGE; VIT_BAD_CONFIG if `prepare`
 * contradicts image_size. */
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

/* Pixels of a drawing → image (rows,columns), ink from 0 to 1, as MNIST's images were made. Ink
 * is what differs from the paper, darker or lighter. It is cropped to its box, scaled by area so
 * that the longer side is 20/28 of the image, and centred by its mass (LeCun et al. 1998).
 * scratch: as many bytes as vit_prepare_size says for a model whose `prepare` is digit and whose
 * image size is (rows,columns).
 * Errors: VIT_BAD_IMAGE, VIT_BLANK_IMAGE. */
vit_status vit_prepare_digit(float *image, void *scratch, const vit_pixels *pixels, size_t rows,
                             size_t columns, vit_error *why);

/* Multiplies a prepared image (C,H,W) by `unfinished_ink`. A model that has learnt from such images
 * can tell by it that the pen is still down. */
void vit_prepare_unfinished(float *image, const vit_config *config);

/* A place of a pen, in pixels from the upper left corner, and the pen's width there. */
typedef struct vit_point {
    float x, y, width;
} vit_point;

/* Adds the stroke of points (count) to ink (rows,columns), 0 for none to 255 for full. Quadratic
 * curves go through the midpoints of the points, with round ends; one point makes a dot. Parts
 * outside the image are not drawn. All numbers must be finite. */
void vit_draw_stroke(uint8_t *ink, size_t rows, size_t columns, const vit_point *points,
                     size_t count);

/* ======================================================================== *
 * 5  Overlay: attention becomes heat maps of (rows,columns) patches
 * ======================================================================== */

#define VIT_MEAN_OF_HEADS SIZE_MAX

/* How much one token attends to each patch.
 * attention (h,T,T): one layer of one image. tokens: T. prefix: T - N.
 * head: below h, or VIT_MEAN_OF_HEADS. token: below T; 0 is the class token, if there is one.
 * → map (N). */
void vit_overlay_row(float *map, const float *attention, size_t heads, size_t tokens, size_t prefix,
                     size_t head, size_t token);

typedef enum vit_fuse { VIT_FUSE_MEAN, VIT_FUSE_MAX, VIT_FUSE_MIN } vit_fuse;

/* Attention rollout: how much of each patch reaches the first token through all layers, or, if
 * there is no prefix, how much of it reaches the patches on average. Each layer's heads become one
 * matrix, the identity is added to it, and its rows are divided by their sums; the map is a row of
 * the product of these matrices. Abnar & Zuidema, arXiv:2005.00928, section 3.
 * attention (L,h,T,T): all layers of one image. tokens: T. prefix: T - N.
 * residual: the config's; the identity stands for residual connections, so without them it is not
 * added.
 * discard: the share of each row, 0..1, that becomes 0 before the identity is added. The smallest
 * values are discarded, but never the first column.
 * fuse: how the heads become one.
 * scratch (3,T).
 * → map (N), which sums to 1. It is 0 if nothing of the patches reaches the first token. */
void vit_overlay_rollout(float *map, float *scratch, const float *attention, size_t layers,
                         size_t heads, size_t tokens, size_t prefix, bool residual, float discard,
                         vit_fuse fuse);

/* → how many bytes of memory vit_relevance needs for that many classes of one image. 0 if there is
 * no class, if so many bytes cannot be counted, or if it does not know such a model: one without a
 * head or without blocks, or with another pool than class or mean. */
size_t vit_relevance_size(const vit_model *model, size_t classes);

/* How much each patch speaks for a class, through attention: gradient × attention. In each block
 *     A (T,T)  is the mean over the heads of the positive part of map ∘ (gradient of the class's
 *              logit by the map)
 *     R        starts as I and becomes R + A·R, or A·R without residual connections
 * Chefer et al., arXiv:2103.15679, section 3; it is their arXiv:2012.09838 without layer-wise
 * relevance propagation. The row of R is the class token's; with a distillation token, or for the
 * pool mean, it is the mean of the rows that the head reads. What these tokens already are, the row
 * of I, is not counted. An int8 model's gradients are those of its weights as floats.
 * memory (size): of the size that vit_relevance_size says, with any alignment.
 * trace: of vit_run_traced; only its stream is read.
 * without: what that run left out, or NULL.
 * classes (count): class numbers, each below K.
 * → relevance (count,N), 0 or more. Only their proportions mean something.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, vit_relevance_size is 0, or there is no
 * such class. */
vit_status vit_relevance(const vit_model *model, void *memory, size_t size, const vit_trace *trace,
                         const vit_ablation *without, const size_t *classes, size_t count,
                         float *relevance);

/* ======================================================================== *
 * 6  Saving: tensors by name, files of floats and of int8
 * ======================================================================== */

/* What a tensor is used for. */
typedef enum vit_kind {
    VIT_KIND_MATRIX,      /* of a linear layer; all kinds up to VIT_KIND_LAST_MATRIX are matrices */
    VIT_KIND_QKV,         /* of a block's queries, keys and values, one after the other */
    VIT_KIND_POOL_QKV,    /* of the queries, keys and values of the pooling by attention */
    VIT_KIND_CONVOLUTION, /* of the stem */
    VIT_KIND_PATCHES,     /* patches → tokens */
    VIT_KIND_HEAD,        /* → logits */
    VIT_KIND_LAST_MATRIX = VIT_KIND_HEAD,
    VIT_KIND_GAIN, /* of a norm; training starts it as 1 */
    VIT_KIND_BIAS, /* of a norm or of a matrix */
    VIT_KIND_HEAD_BIAS,
    VIT_KIND_POOL_QKV_BIAS,
    VIT_KIND_PIXEL_GAIN, /* of the norm of a patch's pixels */
    VIT_KIND_PIXEL_BIAS,
    VIT_KIND_TOKEN, /* learned tokens: class, distillation, registers, the pooling's query */
    VIT_KIND_POSITION,
    VIT_KIND_RELATIVE, /* biases of relative positions */
    VIT_KIND_LAYER_SCALE,
    VIT_KIND_SCALE /* of the rows of an int8 matrix */
} vit_kind;

/* One tensor of a model. */
typedef struct vit_tensor {
    char name[64];
    vit_kind kind;
    size_t shape[4], rank;
    size_t offset, count; /* its place in vit_parameters, in floats */
    bool matrix;          /* a weight of two or more dimensions, which weight decay shrinks */
    bool int8;            /* a matrix of an int8 model */
} vit_tensor;

/* → how many tensors the model has. */
size_t vit_tensor_count(const vit_model *model);

/* → tensor `index`, in the order of the file; all 0 if there is none. */
vit_tensor vit_tensor_at(const vit_model *model, size_t index);

/* → all parameters as one array (*count), in which vit_tensor has the offsets. The model owns the
 * array; the caller may change its numbers. NULL if the model can only run, because its kernels
 * pack the weights (kernels->packed) or it is int8. */
float *vit_parameters(vit_model *model, size_t *count);

/* Writes a model as a safetensors file.
 * out (capacity): room for the file. With NULL and capacity 0 the bytes are only counted. If
 * capacity is too small, only the first part of the file is written.
 * model: one whose vit_parameters are not NULL. parameters: these, or others of the same layout.
 * json (json_size): becomes `__metadata__.vitrine`; usually vit_model_json.
 * → how many bytes the file has. */
size_t vit_encode(uint8_t *out, size_t capacity, const vit_model *model, const float *parameters,
                  const char *json, size_t json_size);

/* As vit_encode, with the matrices of stem and blocks in int8. Each row has a scale of its own,
 * which makes its largest number ±127. A model that is opened from such a file runs its blocks in
 * int8 and its stem in floats.
 * → how many bytes the file has; 0 if a row is too long for sums of int8 (more than 65536
 * numbers). */
size_t vit_encode_int8(uint8_t *out, size_t capacity, const vit_model *model,
                       const float *parameters, const char *json, size_t json_size);

/* ======================================================================== *
 * 7  Training: one forward pass, a loss, one backward pass. src/train does the rest.
 * ======================================================================== */

/* Makes a model whose parameters are all 0.
 * config: one that vit_config_read accepted, and not int8. json (json_size): its text, which is
 * copied for vit_model_json. kernels: as for vit_open, with kernels->packed false.
 * → *out: the model, which the caller closes; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if the kernels pack or the config is int8; VIT_NO_MEMORY. */
vit_status vit_create(vit_model **out, const vit_config *config, const char *json, size_t json_size,
                      const struct vit_kernels *kernels, vit_error *why);

/* What a forward pass keeps for the backward pass. */
typedef struct vit_tape vit_tape;

/* → why such a model has no backward pass, as static text; NULL if it has one. It has none without
 * a head, with another pool than class or mean, or with norms around the patches or before the
 * blocks. */
const char *vit_untrainable(const vit_config *config);

/* → how many bytes a tape needs for up to `batch` images. 0 if batch is 0, if so many bytes cannot
 * be counted, or if the model has no backward pass. */
size_t vit_tape_size(const vit_model *model, size_t batch);

/* Makes a tape in `memory` (size), which may have any alignment. The caller owns the memory:
 * there is nothing to close.
 * → *out: the tape, inside `memory`; NULL on failure.
 * Errors: VIT_BAD_ARGUMENT if memory is NULL or too small, vit_tape_size is 0, or the model has
 * no vit_parameters. */
vit_status vit_tape_init(vit_tape **out, void *memory, size_t size, const vit_model *model,
                         size_t batch);

/* Runs the model and keeps what the backward pass needs.
 * tape: of this model. images (B,C,H,W): finite; borrowed until vit_backward, like `keep`.
 * batch: B, at most the tape's.
 * keep (B,L): scales the two residual branches of each image in each block, for stochastic depth
 * (Huang et al., arXiv:1603.09382); NULL: all 1.
 * → logits (B,K). */
void vit_forward(const vit_model *model, vit_tape *tape, const float *images, size_t batch,
                 float *logits, const float *keep);

/* Adds the gradient of the parameters.
 * tape, batch: as in the last vit_forward, whose parameters are unchanged.
 * dlogits (B,K): the gradient of the loss by its logits.
 * → gradient, laid out as vit_parameters; it is added to, so set it to 0 first. */
void vit_backward(const vit_model *model, vit_tape *tape, size_t batch, const float *dlogits,
                  float *gradient);

/* From now on vit_backward leaves out the gradient of the first `blocks` blocks and of all that
 * lies before them: stem, patches, tokens, positions. It goes back only as far as it must.
 * blocks: 0 leaves out nothing; L + 1 leaves out the final norm too, all but the head's matrices
 * and biases. */
void vit_tape_freeze(vit_tape *tape, size_t blocks);

/* Cross-entropy of softmax(logits) against labels (Szegedy et al., arXiv:1512.00567, section 7).
 * logits (B,K). labels (B): class numbers. A number that is no class means that all classes are
 * equally right (Hendrycks et al., arXiv:1812.04606, section 3).
 * smoothing: the share of each label that is spread over all classes, 0..1.
 * → the sum of the losses of the batch; dlogits (B,K): their gradients times `scale`, usually
 * 1/B. dlogits may be logits. */
double vit_cross_entropy(float *dlogits, const float *logits, const uint8_t *labels, size_t batch,
                         size_t classes, float smoothing, float scale);

/* Distillation: cross-entropy of softmax(logits) against softmax(teacher) (Hinton et al.,
 * arXiv:1503.02531, at temperature 1). logits, teacher (B,K).
 * → the sum of the losses of the batch. Adds their gradients times `scale` to dlogits (B,K), which
 * must be neither logits nor teacher. */
double vit_distillation(float *dlogits, const float *logits, const float *teacher, size_t batch,
                        size_t classes, float scale);

#ifdef __cplusplus
}
#endif
#endif
