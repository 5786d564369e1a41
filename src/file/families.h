/* The table of families, which are other code for ViTs: their tensors' names, and what their code
 * does without saying so in the file. */
#ifndef VIT_FAMILIES_H
#define VIT_FAMILIES_H

#include "vit.h"

/* A width of published models whose heads are not 64 wide. heads 0: the config must tell them. */
struct published {
    size_t width, heads;
};

/* Config keys that a family's code lets people choose while no tensor shows their choice. The
 * usual value is taken, and the key counts as assumed. */
enum guesses {
    GUESS_IMAGE_SIZE = 1, /* positions are counted, and taken for those of a square */
    GUESS_NORM_EPS = 2,
    GUESS_ACTIVATION = 4,
    GUESS_POOL = 8, /* and pool_prefix */
    GUESS_NORM = 16
};

/* The config values that a family's code uses if nothing says otherwise. If norm or activation is
 * "a or b", files do not tell which one, so the config must. */
struct habits {
    const char *norm, *norm_eps, *activation;
    unsigned guesses;       /* of enum guesses */
    const char *prefixless; /* the activation of a model without a prefix; NULL: `activation` */
    const struct published *heads; /* the last one has width 0; NULL: heads are always asked for */
    bool mean;                     /* a mean feeds the head; no tensor shows it */
    bool bare;            /* attention has no projection if it has one head as wide as the token */
    bool unfolds;         /* a Linear takes patches as (C,P,Q), not as (P,Q,C) */
    bool squares;         /* positions are a square grid whenever their number is a square */
    bool shared;          /* other code uses these names too, and resizes positions in other ways */
    bool projects;        /* its towers have a head; without one it is a Perception Encoder */
    vit_resize resize;    /* how its code resizes positions */
    bool head_transposed; /* the head's matrix is (D,K), not (K,D) */
    /* What places an image among texts: nothing, the head's output, or what feeds a head. */
    enum { PROJECTION_NONE, PROJECTION_HEAD, PROJECTION_POOLED } projection;
};

struct family {
    const char *name;
    const char *anchors; /* lines: names of a tensor of the first block; what precedes such a name
                            in the file is the prefix */
    const char *needs;   /* lines: tensors that must be there too */
    bool variant;        /* of another family: messages never name this one as the closest */
    const char *aliases;
    const char
        *ignored; /* lines: beginnings of names; after a ^, only outside of the whole prefix */
    struct habits habits;
};

/* The first family that fits a file counts, so a variant stands before its family. */
extern const struct family vit_families[];
extern const size_t vit_families_count;

#endif
