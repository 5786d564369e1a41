/* The table of other code: what its tensors are called, and what it does where nothing says so. */
#ifndef VIT_FAMILIES_H
#define VIT_FAMILIES_H

#include "vit.h"

/* A published model's width, and its heads where they are not of 64; 0: to be asked for. */
struct published {
    size_t width, heads;
};

/* What the family's code does where nothing says otherwise: values of the config. Of norm and
 * activation "a or b" says that no file tells which, so the config must. */
struct habits {
    const char *norm, *norm_eps, *activation;
    const char *prefixless; /* the activation where no token precedes the patches; NULL: the same */
    const struct published *heads; /* up to one of width 0 */
    bool mean;                     /* a mean feeds the head, though no tensor tells */
    bool bare;                     /* one head as wide as the token has no projection behind it */
    bool unfolds;                  /* a Linear's patches are (C,P,Q), not (P,Q,C) */
    bool squares;                  /* where positions can be a square grid, they are one */
    bool shared;          /* other code has these names too, and other ways to resize positions */
    bool gelu_assumed;    /* files with another activation look the same */
    vit_resize resize;    /* of positions */
    bool head_transposed; /* its matrix is (D,K), not (K,D) */
    /* What is an image's place among texts: what the head makes, or what would feed one. */
    enum { PROJECTION_NONE, PROJECTION_HEAD, PROJECTION_POOLED } projection;
};

struct family {
    const char *name;
    const char *anchors; /* a line each: a tensor of the first block, behind what is a prefix */
    const char *needs;   /* a line each: tensors that must be there too */
    bool variant;        /* of another family, which is the one to name where none fits */
    const char *aliases;
    const char *ignored; /* a line each: how names begin; after a ^, outside of the whole prefix */
    struct habits habits;
};

/* The first that fits a file counts, so variants stand before what they are variants of. */
extern const struct family vit_families[];
extern const size_t vit_families_count;

#endif
