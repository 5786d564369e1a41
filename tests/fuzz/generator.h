/* Models of every kind that Vitrine reads, as files in memory, from a tape of choices.
 *
 *   plan.c      what the model is: a config that makes sense
 *   tensors.c   its tensors as our own files have them, or as other code may have them
 *   file.c      types, order and numbers of the tensors → the file's bytes, and a map of them
 *   mutate.c    a stranger's changes to all of that
 *
 * Names, shapes and config keys are written down here a second time, taken from the code that
 * writes such files. They are not taken from src/, because src/ is tested. */
#ifndef FUZZ_GENERATOR_H
#define FUZZ_GENERATOR_H

#include "tape.h"

enum position { LEARNED, NO_POSITION, SINCOS1D, SINCOS2D, RELATIVE, ROTARY, POSITIONS };
enum pooling_kind {
    POOL_CLASS,
    POOL_MEAN,
    POOL_ATTENTION,
    POOL_MAX,
    POOL_MEAN_MAX,
    POOL_CLASS_MEAN, /* never drawn */
    POOL_PRR,
    POOLS
};
/* A decoder, or a tower of texts beside images; depth 0: none. */
struct text_plan {
    size_t depth, width, heads, mlp_width, vocabulary, max_tokens, offset, token_types, projection;
    size_t norm, activation, position, mask, pool; /* indices of their words */
    size_t start, end, padding;
    bool final_norm, embedding_norm, encoder_proj, tied_head, head_bias, head_hidden;
    bool projection_bias, logit_bias, labels, scaled;
};
enum { TEXT_DECODER, TEXT_TOWER, TEXTS };
struct plan {
    size_t image[2], patch[2], stride[2], channels, width, depth, heads, head_width, mlp_width,
        classes;
    size_t norm, activation, position, pool; /* indices of their words; enums above */
    size_t pool_heads, pool_mlp_width;       /* 0: as the blocks' */
    bool gated, mlp_norm;
    struct {
        bool learned, neighbours, columns_first, gridded;
        size_t places, base, grid[2];
    } rotary;
    bool final_norm, qkv_bias, qk_norm, layer_scale, no_residual, per_head, labels;
    size_t class_tokens, distillation, registers, detections, prepare;
    size_t head_hidden;
    bool mid_position, mlp_norm_after;
    size_t stem_layers, stem[6][2];
    size_t split, token_width; /* tokens_to_token: the index of its word */
    struct text_plan texts[TEXTS];
    bool norm_in, patch_norm, norm_pre, fc_norm, patch_bias, head_bias, head_dist;
    size_t position_rows; /* in the file; 0: no positions are there */
    size_t resize;        /* an index of its word */
    bool resized, variant, config_apart;
    /* A mapped file has other names, and perhaps a skipped tensor, no dimensions of 1, the patches'
     * projection as a matrix, the head transposed, and qkv in two or three parts. */
    bool mapped, extras, no_ones, matrix_patches, channels_last, transposed;
    size_t parts, prefix;
    size_t dtype;
    bool int8, int8_outside;
    /* The reason why the file need not open; NULL: it must open. */
    const char *may_fail;
};

size_t plan_grid(const struct plan *plan, int axis);
size_t plan_patches(const struct plan *plan);
size_t plan_tokens(const struct plan *plan);
size_t plan_head_width(const struct plan *plan);
void plan_draw(struct plan *plan, struct tape *tape);
/* The config as JSON, of at most `room` bytes with the terminator; returns its length. */
size_t plan_json(char *out, size_t room, const struct plan *plan);

enum dtype { F32, F16, BF16, I8, I64, F64, I32, U8, BOOLEAN, DTYPES };
enum role { VECTOR, GAIN, MATRIX, SCALE, ALIEN };
enum fill { PLAIN, ZERO, HUGE_NUMBERS, TINY, NAN_AT_END, INFINITE, ANY_BITS, FILLS };

enum { NAME_ROOM = 160, TENSORS_MOST = 320, JSON_ROOM = 16384, HEADER_MOST = 1 << 18 };

struct tensor {
    char name[NAME_ROOM], ours[NAME_ROOM]; /* ours: the parameter; empty: none */
    size_t part, parts; /* which it is of the tensors that make the parameter, and how many */
    size_t repeat;      /* how many times more the name is repeated, for long names */
    uint64_t shape[4];
    size_t rank;
    enum dtype type;
    enum role role;
    enum fill fill;
    bool in_block;                  /* of the image's blocks */
    size_t in_texts;                /* in a block of texts[in_texts - 1] */
    int64_t begin_shift, end_shift; /* added to the offsets in the header, which lie then */
    uint64_t begin, bytes;          /* of the data, without these shifts */
};

struct tensors {
    struct tensor list[TENSORS_MOST];
    size_t count;
};

struct tensor *tensors_add(struct tensors *tensors, enum role role, const char *name, size_t rank,
                           const size_t *shape);
void tensors_make(struct tensors *tensors, const struct plan *plan);
uint64_t tensor_bytes(const struct tensor *tensor);

struct specimen {
    struct plan plan;
    struct tensors tensors;
    char json[JSON_ROOM]; /* the config, apart or in the file */
    size_t json_size;
    bool json_apart; /* false: NULL is passed in place of a config */
    char *map;       /* (HEADER_MOST) */
    size_t map_size;
    bool mapped; /* false: NULL is passed in place of a map */
    /* The file, on the heap. `announced` is its announced size, which a mutation may make larger
     * than `size`. */
    uint8_t *bytes;
    size_t size, header_size;
    uint64_t announced;
    size_t mutations;
    bool wild; /* numbers may be huge, or NaN */
    uint64_t seed;
};

/* A model made from the tape, with some mutations if `mutable`. Call specimen_free before the next. */
struct specimen *specimen_new(struct tape *tape, bool mutable);
/* A model without mutations. `fill` says how its matrices and vectors are filled. */
struct specimen *specimen_filled(struct tape *tape, enum fill fill);
void specimen_free(struct specimen *specimen);

/* file.c: types and scales; the map; then the bytes. */
void file_types(struct tensors *tensors, struct plan *plan, struct tape *tape, uint64_t *seed);
void file_map(struct specimen *specimen);
void file_write(struct specimen *specimen, struct tape *tape);

/* mutate.c, in the order in which a file is made: */
void mutate_plan(struct specimen *specimen, struct tape *tape);
void mutate_tensors(struct specimen *specimen, struct tape *tape);
void mutate_json(struct specimen *specimen, struct tape *tape);
void mutate_map(struct specimen *specimen, struct tape *tape);
void mutate_bytes(struct specimen *specimen, struct tape *tape);

#endif
