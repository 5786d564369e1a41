/* Which patches support a class: gradient × attention. From R = I, each block, the first one
 * first, does R += A·R (R = A·R without residual connections), where A (T,T) is the mean over the
 * heads of (∇map ∘ map)⁺ and ∇ the gradient of the class's logit: Chefer et al., arXiv:2103.15679,
 * section 3, equations 5 and 6. That is the rule of their arXiv:2012.09838, equations 13 and 14,
 * with attention itself in place of its layer-wise relevance propagation.
 *
 * What the head reads of R is one row, which meets the blocks from the last one back. So gradient
 * and row go back together, a block at a time: its activations are computed again from its input,
 * and no matrix meets a matrix. */
#include <string.h>

#include "activations.h"
#include "attention.h"
#include "base/arena.h"
#include "base/sizes.h"
#include "blocks.h"
#include "edition.h"
#include "kernels/kernels.h"
#include "linear.h"
#include "logits.h"
#include "model.h"
#include "overlay.h"
#include "params.h"
#include "shapes.h"
#include "trace.h"
#include "vit.h"

struct room {
    struct activations a; /* of one block */
    struct scratch s;
    struct head_activations head;
    float *dx;              /* (classes,T,D): each class's gradient */
    float *rows;            /* (classes,T): its row, less what the head reads directly */
    float *shares, *next;   /* (T): what the head reads directly; the row's next summand */
    float *dpooled;         /* head_gradients */
    float *flat, *matrices; /* one matrix of a block; all of them, as linear_backward takes them */
};

/* The block's matrices. */
enum { MATRICES = 4 };
static void block_matrices(const vit_config *c, size_t count[MATRICES], size_t N[MATRICES],
                           size_t K[MATRICES]) {
    size_t D = c->width, A = attention_width(c), M = c->mlp_width, d = head_width(c);
    bool per_head = c->attention == VIT_PER_HEAD;
    count[0] = per_head ? 3 * c->heads : 1, N[0] = per_head ? d : 3 * A, K[0] = per_head ? d : D;
    count[1] = per_head ? 0 : 1, N[1] = D, K[1] = A;
    count[2] = 1, N[2] = mlp_rows(c), K[2] = D;
    count[3] = 1, N[3] = D, K[3] = M;
}

/* With arena->base NULL it only counts. */
static void room_lay_out(struct room *r, struct arena *arena, const vit_model *m, size_t classes) {
    const vit_config *c = &m->config;
    size_t T = vit_tokens(c), D = c->width, largest = 0, all = 0;
    size_t count[MATRICES], N[MATRICES], K[MATRICES];
    block_matrices(c, count, N, K);
    for (size_t i = 0; i < MATRICES; i++) {
        size_t floats = size_times(N[i], K[i]);
        if (floats > largest) largest = floats;
        all = size_plus(all, size_times(count[i], matrix_floats(m->kernels, false, K[i], N[i])));
    }
    memset(r, 0, sizeof *r);
    tape_block(&r->a, arena, m, 1, T, arena_floats(arena, T, D));
    tape_scratch(&r->s, arena, m, 1);
    scratch_quantized(&r->s.quantized, arena, m, T);
    r->s.relevance = arena_floats(arena, T, T);
    r->head.tokens = arena_floats(arena, T, D);
    r->head.mean = arena_floats(arena, T, 3);
    r->head.rstd = arena_floats(arena, T, 3);
    head_lay_out(&r->head, arena, c, 1);
    r->dx = arena_floats(arena, classes, T, D);
    r->rows = arena_floats(arena, classes, T);
    r->shares = arena_floats(arena, T);
    r->next = arena_floats(arena, T);
    r->dpooled = arena_floats(arena, head_gradients(c, 1));
    r->flat = arena_floats(arena, largest);
    r->matrices = arena_floats(arena, all);
}

size_t vit_relevance_size(const vit_model *m, size_t classes) {
    const vit_config *c = &m->config;
    struct arena arena = {0};
    struct room room;
    if (!c->classes || detections_of(c) || !c->depth || pool_of(c) > VIT_POOL_MEAN || classes == 0)
        return 0;
    room_lay_out(&room, &arena, m, classes);
    return arena.overflow || arena.used > SIZE_MAX - CACHE_LINE ? 0 : arena.used + CACHE_LINE;
}

/* The block's parameters with matrices that linear_backward takes: of floats, transposed where the
 * table packs. */
static struct block_params transposed(const vit_model *m, const struct room *r,
                                      const struct block_params *p) {
    const struct vit_kernels *k = m->kernels;
    struct block_params back = *p;
    float **const weight[] = {&back.qkv_weight, &back.proj_weight, &back.fc1_weight,
                              &back.fc2_weight};
    const float *const scale[] = {p->qkv_scale, p->proj_scale, p->fc1_scale, p->fc2_scale};
    float *next = r->matrices;
    size_t count[MATRICES], N[MATRICES], K[MATRICES];
    block_matrices(&m->config, count, N, K);
    for (size_t i = 0; i < MATRICES; i++) {
        const float *from = *weight[i];
        *weight[i] = next;
        for (size_t j = 0; j < count[i]; j++, next += matrix_floats(k, false, K[i], N[i])) {
            float *flat = k->packed ? r->flat : next;
            if (scale[i])
                k->unpack_int8(flat, from, scale[i] + j * N[i], N[i], K[i]);
            else
                k->unpack(flat, from, 0, N[i], K[i]);
            from += matrix_floats(k, scale[i] != NULL, N[i], K[i]);
            if (k->packed) k->pack(next, flat, 1, K[i], K[i], N[i]);
        }
    }
    return back;
}

/* row += (shares + row)·A, where A is `relevance` divided by the heads. Without residual
 * connections that is the new row. */
static void row_goes_back(const vit_config *c, const struct room *r, float *row) {
    size_t T = vit_tokens(c);
    memset(r->next, 0, T * sizeof *r->next);
    for (size_t i = 0; i < T; i++) {
        float weight = (r->shares[i] + row[i]) / (float)c->heads;
        for (size_t j = 0; j < T; j++) r->next[j] += weight * r->s.relevance[i * T + j];
    }
    for (size_t j = 0; j < T; j++) row[j] = (float)c->residual * row[j] + r->next[j];
}

static void block_goes_back(const vit_model *m, struct room *r, float *x, size_t layer,
                            const vit_ablation *without, size_t classes) {
    static const struct block_params none = {0};
    const vit_config *c = &m->config;
    const struct block_params *p = &m->params.blocks[layer];
    size_t T = vit_tokens(c), D = c->width;
    struct block_run run = {.batch = 1, .queries = T, .map_rows = T, .map_each = T * T};
    if (without) leave_out(&run, without, c, layer);
    r->a.x = r->a.query_x = x;
    block_forward(m, p, &r->a, &r->s, &run, NULL);
    struct block_params back = transposed(m, r, p);
    struct scratch s = r->s;
    for (size_t i = 0; i < classes; i++) {
        s.dx = r->dx + i * T * D;
        memset(s.relevance, 0, T * T * sizeof *s.relevance);
        block_backward(m, &back, &none, &r->a, &s, &run);
        row_goes_back(c, r, r->rows + i * T);
    }
}

vit_status vit_relevance(const vit_model *m, void *memory, size_t size, const vit_trace *trace,
                         const vit_ablation *without, const size_t *classes, size_t count,
                         float *relevance) {
    const vit_config *c = &m->config;
    size_t need = vit_relevance_size(m, count), T = vit_tokens(c), D = c->width, N = vit_patches(c);
    if (!memory || need == 0 || size < need) return VIT_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (classes[i] >= c->classes) return VIT_BAD_ARGUMENT;
    uintptr_t aligned = ((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct arena arena = {.base = (char *)aligned};
    struct room r;
    room_lay_out(&r, &arena, m, count);
    const float *last = trace->stream + c->depth * T * D;
    logits_forward(m, NULL, &r.head, last, 1, T);
    for (size_t i = 0; i < count; i++)
        logit_backward(m, r.dx + i * T * D, classes[i], &r.head, last, r.dpooled);
    head_shares(c, r.shares);
    memset(r.rows, 0, count * T * sizeof *r.rows);
    for (size_t layer = c->depth; layer-- > 0;) {
        block_goes_back(m, &r, trace->stream + layer * T * D, layer, without, count);
        if (!c->residual) memset(r.shares, 0, T * sizeof *r.shares); /* only the last block's are */
    }
    for (size_t i = 0; i < count; i++)
        memcpy(relevance + i * N, r.rows + i * T + T - N, N * sizeof *relevance);
    return VIT_OK;
}
