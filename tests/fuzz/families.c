/* timm's names → the names of other code. Tensors are cut and transposed as that code has them. The
 * tables are taken from the state_dicts of the code itself: tests/golden/families.py. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>

/* The start of timm's name → the start of theirs, * for a block's number. {a,b,c} in theirs are
 * three tensors, each with a third of the rows. The first line that fits is used. */
struct alias {
    const char *ours, *theirs;
};

static const struct alias VIT_NAMES[] = {
    {"cls_token", "embeddings.cls_token"},
    {"dist_token", "embeddings.distillation_token"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
    {"blocks.*.attn.qkv", "encoder.layer.*.attention.attention.{query,key,value}"},
    {"blocks.*.attn.proj", "encoder.layer.*.attention.output.dense"},
    {"blocks.*.norm1", "encoder.layer.*.layernorm_before"},
    {"blocks.*.norm2", "encoder.layer.*.layernorm_after"},
    {"blocks.*.mlp.fc1", "encoder.layer.*.intermediate.dense"},
    {"blocks.*.mlp.fc2", "encoder.layer.*.output.dense"},
    {"norm", "layernorm"},
    {"head_dist", "distillation_classifier"},
    {"head", "classifier"},
    {0}};
static const struct alias DINO_NAMES[] = {
    {"cls_token", "embeddings.cls_token"},
    {"reg_token", "embeddings.register_tokens"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
    {"blocks.*.attn.qkv", "encoder.layer.*.attention.attention.{query,key,value}"},
    {"blocks.*.attn.proj", "encoder.layer.*.attention.output.dense"},
    {"blocks.*.ls1.gamma", "encoder.layer.*.layer_scale1.lambda1"},
    {"blocks.*.ls2.gamma", "encoder.layer.*.layer_scale2.lambda1"},
    {"blocks.*.", "encoder.layer.*."},
    {"norm", "layernorm"},
    {"head", "classifier"},
    {0}};
static const struct alias TOWER_NAMES[] = {
    {"cls_token", "embeddings.class_embedding"},
    {"pos_embed", "embeddings.position_embedding.weight"},
    {"patch_embed.proj", "embeddings.patch_embedding"},
    {"norm_pre", "pre_layrnorm"},
    {"blocks.*.norm1", "encoder.layers.*.layer_norm1"},
    {"blocks.*.norm2", "encoder.layers.*.layer_norm2"},
    {"blocks.*.attn.qkv", "encoder.layers.*.self_attn.{q_proj,k_proj,v_proj}"},
    {"blocks.*.attn.proj", "encoder.layers.*.self_attn.out_proj"},
    {"blocks.*.mlp", "encoder.layers.*.mlp"},
    {"norm", "post_layernorm"},
    {"attn_pool.latent", "head.probe"},
    {"attn_pool.qkv.weight", "head.attention.in_proj_weight"},
    {"attn_pool.qkv.bias", "head.attention.in_proj_bias"},
    {"attn_pool.proj", "head.attention.out_proj"},
    {"attn_pool.norm", "head.layernorm"},
    {"attn_pool.mlp", "head.mlp"},
    {"head", "visual_projection"},
    {0}};
static const struct alias TORCHVISION_NAMES[] = {
    {"cls_token", "class_token"},
    {"pos_embed", "encoder.pos_embedding"},
    {"patch_embed.proj", "conv_proj"},
    {"blocks.*.norm1", "encoder.layers.encoder_layer_*.ln_1"},
    {"blocks.*.norm2", "encoder.layers.encoder_layer_*.ln_2"},
    {"blocks.*.attn.qkv.weight", "encoder.layers.encoder_layer_*.self_attention.in_proj_weight"},
    {"blocks.*.attn.qkv.bias", "encoder.layers.encoder_layer_*.self_attention.in_proj_bias"},
    {"blocks.*.attn.proj", "encoder.layers.encoder_layer_*.self_attention.out_proj"},
    {"blocks.*.mlp.fc1", "encoder.layers.encoder_layer_*.mlp.0"},
    {"blocks.*.mlp.fc2", "encoder.layers.encoder_layer_*.mlp.3"},
    {"norm", "encoder.ln"},
    {"head", "heads.head"},
    {0}};
static const struct alias VIT_PYTORCH_NAMES[] = {
    {"pos_embed", "pos_embedding"},
    {"patch_embed.norm_in", "to_patch_embedding.1"},
    {"patch_embed.proj", "to_patch_embedding.2"},
    {"patch_embed.norm", "to_patch_embedding.3"},
    {"blocks.*.norm1", "transformer.layers.*.0.norm"},
    {"blocks.*.attn.qkv", "transformer.layers.*.0.to_qkv"},
    {"blocks.*.attn.proj", "transformer.layers.*.0.to_out.0"},
    {"blocks.*.norm2", "transformer.layers.*.1.net.0"},
    {"blocks.*.mlp.fc1", "transformer.layers.*.1.net.1"},
    {"blocks.*.mlp.fc2", "transformer.layers.*.1.net.4"},
    {"norm", "transformer.norm"},
    {"head", "mlp_head"},
    {0}};
static const struct alias VIT_PYTORCH_OLD_NAMES[] = {
    {"pos_embed", "pos_embedding"},
    {"patch_embed.proj", "to_patch_embedding.1"},
    {"blocks.*.norm1", "transformer.layers.*.0.norm"},
    {"blocks.*.attn.qkv", "transformer.layers.*.0.fn.to_qkv"},
    {"blocks.*.attn.proj", "transformer.layers.*.0.fn.to_out.0"},
    {"blocks.*.norm2", "transformer.layers.*.1.norm"},
    {"blocks.*.mlp.fc1", "transformer.layers.*.1.fn.net.0"},
    {"blocks.*.mlp.fc2", "transformer.layers.*.1.fn.net.3"},
    {"norm", "mlp_head.0"},
    {"fc_norm", "mlp_head.0"},
    {"head", "mlp_head.1"},
    {0}};
static const struct alias ENCODER_NAMES[] = {
    {"pos_embed", "pos_embedding"},
    {"patch_embed.proj", "patch_embed"},
    {"blocks.*.norm1", "layers.*.norm1"},
    {"blocks.*.norm2", "layers.*.norm2"},
    {"blocks.*.attn.qkv.weight", "layers.*.self_attn.in_proj_weight"},
    {"blocks.*.attn.qkv.bias", "layers.*.self_attn.in_proj_bias"},
    {"blocks.*.attn.proj", "layers.*.self_attn.out_proj"},
    {"blocks.*.mlp.fc1", "layers.*.linear1"},
    {"blocks.*.mlp.fc2", "layers.*.linear2"},
    {0}};
static const struct alias VIT_5_NAMES[] = {
    {"cls_token", "embeddings.cls_token"},
    {"dist_token", "embeddings.distillation_token"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
    {"blocks.*.attn.qkv", "layers.*.attention.{q_proj,k_proj,v_proj}"},
    {"blocks.*.attn.proj", "layers.*.attention.o_proj"},
    {"blocks.*.norm1", "layers.*.layernorm_before"},
    {"blocks.*.norm2", "layers.*.layernorm_after"},
    {"blocks.*.mlp", "layers.*.mlp"},
    {"norm", "layernorm"},
    {"head_dist", "distillation_classifier"},
    {"head", "classifier"},
    {0}};
static const struct alias DINO_5_NAMES[] = {
    {"cls_token", "embeddings.cls_token"},
    {"reg_token", "embeddings.register_tokens"},
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
    {"blocks.*.attn.qkv", "encoder.layer.*.attention.{q_proj,k_proj,v_proj}"},
    {"blocks.*.attn.proj", "encoder.layer.*.attention.o_proj"},
    {"blocks.*.ls1.gamma", "encoder.layer.*.layer_scale1.lambda1"},
    {"blocks.*.ls2.gamma", "encoder.layer.*.layer_scale2.lambda1"},
    {"blocks.*.", "encoder.layer.*."},
    {"norm", "layernorm"},
    {"head", "classifier"},
    {0}};
static const struct alias CHUNK_NAMES[] = {
    {"reg_token", "register_tokens"}, {"blocks.*.", "blocks.0.*."}, {0}};
static const struct alias OPEN_CLIP_NAMES[] = {
    {"cls_token", "class_embedding"},
    {"pos_embed", "positional_embedding"},
    {"patch_embed.proj", "conv1"},
    {"norm_pre", "ln_pre"},
    {"blocks.*.norm1", "transformer.resblocks.*.ln_1"},
    {"blocks.*.norm2", "transformer.resblocks.*.ln_2"},
    {"blocks.*.ls1", "transformer.resblocks.*.ls_1"},
    {"blocks.*.ls2", "transformer.resblocks.*.ls_2"},
    {"blocks.*.attn.qkv.weight", "transformer.resblocks.*.attn.in_proj_weight"},
    {"blocks.*.attn.qkv.bias", "transformer.resblocks.*.attn.in_proj_bias"},
    {"blocks.*.attn.proj", "transformer.resblocks.*.attn.out_proj"},
    {"blocks.*.mlp.fc1", "transformer.resblocks.*.mlp.c_fc"},
    {"blocks.*.mlp.fc2", "transformer.resblocks.*.mlp.c_proj"},
    {"norm", "ln_post"},
    {"head.weight", "proj"},
    {0}};
static const struct alias TIMM_NAMES[] = {{0}};

/* All in their names. prefixes: put before every name, except names that begin as `outside` lists;
 * extra: a tensor that we do not need. */
static const struct family_row {
    const struct alias *names;
    const char *prefixes[3], *outside[6], *extra;
} ROWS[FAMILIES] = {
    [TIMM] = {TIMM_NAMES, {"", "model.", "module.backbone."}, {0}, "mask_token"},
    [VIT] = {VIT_NAMES,
             {"", "vit.", "deit."},
             {"classifier", "cls_classifier", "distillation_classifier", "pooler", 0},
             "pooler.dense.weight"},
    [DINO] = {DINO_NAMES, {"", "dinov2.", "a.b."}, {"classifier", 0}, "embeddings.mask_token"},
    [CLIP] = {TOWER_NAMES,
              {"vision_model.", "vision_model.", "clip.vision_model."},
              {"visual_projection", "text_model", 0},
              "text_model.encoder.layers.0.self_attn.q_proj.weight"},
    [SIGLIP] = {TOWER_NAMES,
                {"vision_model.", "vision_model.", "siglip.vision_model."},
                {"logit_scale", 0},
                "logit_scale"},
    [TORCHVISION] = {TORCHVISION_NAMES, {"", "module.", "a.b.c."}, {0}, NULL},
    [VIT_PYTORCH] = {VIT_PYTORCH_NAMES, {"", "vit.", "module."}, {0}, NULL},
    [VIT_PYTORCH_OLD] = {VIT_PYTORCH_OLD_NAMES, {"", "vit.", "module."}, {0}, NULL},
    [ENCODER] = {ENCODER_NAMES,
                 {"", "encoder.", "model.encoder."},
                 {"cls_token", "pos_embedding", "patch_embed", "head", 0},
                 NULL},
    [VIT_5] = {VIT_5_NAMES,
               {"", "vit.", "deit."},
               {"classifier", "cls_classifier", "distillation_classifier", "pooler", 0},
               "pooler.dense.weight"},
    [DINO_5] = {DINO_5_NAMES, {"", "dinov2.", "a.b."}, {"classifier", 0}, "embeddings.mask_token"},
    [CHUNKS] = {CHUNK_NAMES, {"", "backbone.", "teacher.backbone."}, {0}, "mask_token"},
    [OPEN_CLIP] = {OPEN_CLIP_NAMES,
                   {"visual.", "", "module.visual."},
                   {"text_projection", 0},
                   NULL},
};

/* The rest of `name` after a pattern; NULL: the name does not begin like the pattern. */
static const char *behind(const char *pattern, const char *name, size_t *number) {
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*name++ != *pattern) return NULL;
            continue;
        }
        char *end;
        *number = strtoul(name, &end, 10);
        name = end;
    }
    return *name == '\0' || *name == '.' || pattern[-1] == '.' ? name : NULL;
}

/* Writes their name with the number, and of {a,b,c} the part `which`. */
static void write_theirs(char out[NAME_ROOM], const char *theirs, size_t number, size_t which,
                         const char *rest) {
    size_t n = 0;
    for (; *theirs; theirs++) {
        if (*theirs == '*') {
            n += (size_t)snprintf(out + n, NAME_ROOM - n, "%zu", number);
        } else if (*theirs == '{') {
            for (theirs++; which > 0; which--) theirs = strchr(theirs, ',') + 1;
            while (*theirs != ',' && *theirs != '}') out[n++] = *theirs++;
            theirs = strchr(theirs, '}');
        } else {
            out[n++] = *theirs;
        }
    }
    snprintf(out + n, NAME_ROOM - n, "%s", rest);
}

static void rename_one(struct tensors *all, size_t index, const struct alias *names) {
    struct tensor *t = &all->list[index];
    size_t number = 0;
    char old[NAME_ROOM];
    memcpy(old, t->name, sizeof old);
    for (; names->ours; names++) {
        const char *rest = behind(names->ours, old, &number);
        if (!rest) continue;
        if (strchr(names->theirs, '{')) t->shape[0] /= 3;
        write_theirs(t->name, names->theirs, number, 0, rest);
        for (size_t i = 1; strchr(names->theirs, '{') && i < 3; i++) {
            if (all->count == TENSORS_MOST) return;
            struct tensor *part = &all->list[all->count++];
            *part = *t;
            write_theirs(part->name, names->theirs, number, i, rest);
        }
        return;
    }
}

static bool is_outside(const struct family_row *row, const char *name) {
    for (size_t i = 0; row->outside[i]; i++)
        if (!strncmp(name, row->outside[i], strlen(row->outside[i]))) return true;
    return false;
}

/* Shapes in other code: towers have no leading dimensions of 1, vit-pytorch's Linear has patches of
 * rank 2, and open_clip's projection is (D,K). */
static void reshape(struct tensor *t, enum author family) {
    bool tower = family == CLIP || family == SIGLIP || family == OPEN_CLIP;
    bool linear = family == VIT_PYTORCH || family == VIT_PYTORCH_OLD;
    while (tower && t->role == VECTOR && t->rank > 1 && t->shape[0] == 1 && t->rank > 2) {
        t->shape[0] = t->shape[1], t->shape[1] = t->shape[2];
        t->rank--;
    }
    if (family == OPEN_CLIP && !strcmp(t->name, "proj")) { /* (D,K) */
        uint64_t rows = t->shape[0];
        t->shape[0] = t->shape[1], t->shape[1] = rows;
    }
    if (linear && t->rank == 4) {
        t->shape[1] *= t->shape[2] * t->shape[3];
        t->rank = 2;
    }
}

void families_rename(struct tensors *all, const struct plan *p) {
    const struct family_row *row = &ROWS[p->family];
    const char *prefix = row->prefixes[p->prefix];
    char name[NAME_ROOM];
    for (size_t i = 0, count = all->count; i < count; i++) rename_one(all, i, row->names);
    if (p->extras && row->extra) {
        enum role role = p->family == TIMM ? VECTOR : ALIEN;
        tensors_add(all, role, row->extra, 2, (size_t[]){2, 2});
    }
    for (size_t i = 0; i < all->count; i++) {
        struct tensor *t = &all->list[i];
        reshape(t, p->family);
        if (is_outside(row, t->name)) continue;
        snprintf(name, sizeof name, "%s%.120s", prefix, t->name);
        memcpy(t->name, name, sizeof name);
    }
}
