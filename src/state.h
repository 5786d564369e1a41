/* The working memory of a run, which vit.c and trace.c go through. */
#ifndef VIT_STATE_H
#define VIT_STATE_H

#include "stages/activations.h"
#include "stages/logits.h"
#include "stages/soft_split.h"
#include "stages/stem.h"
#include "trace.h"
#include "vit.h"

struct vit_state {
    const vit_model *model;
    vit_team *team;
    size_t batch; /* images that go through the blocks together */
    struct activations block;
    struct scratch *scratch; /* one for each thread */
    struct head_activations head;
    struct stem stem;
    struct soft_split split;
    float *patches; /* (batch·N,C·P·Q) */
    vit_ablation without;
};

/* What one image's patches are cut from: the image, or the last maps of what comes before. */
struct maps patches_input(const vit_state *state, const float *images, size_t image);

#endif
