/* A table a family, a line a tensor: ours, a space, theirs. `*` is the block's number; {a,b,c} are
 * tensors whose rows follow each other in ours; # is any number. A name without its last part
 * (.weight, .bias, .gamma) stands for all of them. Of several lines with the same name the first
 * that the file has counts; what no line names is called as by timm, which is as in params.h. */
#include "names.h"

#include "error.h"
#include "text.h"

struct family {
    const char *name;
    const char *anchors; /* a line each: a tensor of the first block, behind what is a prefix */
    const char *needs;   /* a line each: tensors that must be there too */
    bool variant;        /* of another family, which is the one to name where none fits */
    const char *aliases;
    const char *ignored; /* a line each: how names begin; after a ^, outside of the whole prefix */
    struct habits habits;
};

/* timm's own; then what the first code of DINOv2 and of DeiT III calls otherwise. What is passed
 * over: MAE's decoder, the projection heads of DINO and DINOv2. */
static const char TIMM[] = "head head\n"
                           "head head.proj\n" /* open_clip's behind it */
                           "attn_pool.qkv attn_pool.{q,kv}\n"
                           "attn_pool.qkv attn_pool.qkv\n"
                           "reg_token reg_token\n"
                           "reg_token register_tokens\n"
                           "blocks.*.ls1.gamma blocks.*.ls1.gamma\n"
                           "blocks.*.ls1.gamma blocks.*.gamma_1\n"
                           "blocks.*.ls2.gamma blocks.*.ls2.gamma\n"
                           "blocks.*.ls2.gamma blocks.*.gamma_2\n";
#define TIMM_IGNORED "mask_token\ndecoder_\nhead.mlp.\nhead.last_layer.\ndino_head.\nibot_head.\n"

/* facebook's DINOv2 as it is trained: a block's name has its chunk's number before its own. */
static const char CHUNKS[] = "reg_token register_tokens\n"
                             "blocks.*.norm1 blocks.#.*.norm1\n"
                             "blocks.*.attn.qkv blocks.#.*.attn.qkv\n"
                             "blocks.*.attn.proj blocks.#.*.attn.proj\n"
                             "blocks.*.ls1 blocks.#.*.ls1\n"
                             "blocks.*.norm2 blocks.#.*.norm2\n"
                             "blocks.*.mlp.fc1 blocks.#.*.mlp.fc1\n"
                             "blocks.*.mlp.fc2 blocks.#.*.mlp.fc2\n"
                             "blocks.*.ls2 blocks.#.*.ls2\n";

/* ViT, DeiT, ViT-MAE, ViT-MSN; what DINOv2 calls otherwise; what transformers 5 does. */
static const char TRANSFORMERS[] =
    "cls_token embeddings.cls_token\n"
    "dist_token embeddings.distillation_token\n"
    "reg_token embeddings.register_tokens\n"
    "pos_embed embeddings.position_embeddings\n"
    "patch_embed.proj embeddings.patch_embeddings.projection\n"
    "blocks.*.norm1 encoder.layer.*.layernorm_before\n"
    "blocks.*.norm1 encoder.layer.*.norm1\n"
    "blocks.*.attn.qkv encoder.layer.*.attention.attention.{query,key,value}\n"
    "blocks.*.attn.proj encoder.layer.*.attention.output.dense\n"
    "blocks.*.ls1.gamma encoder.layer.*.layer_scale1.lambda1\n"
    "blocks.*.norm2 encoder.layer.*.layernorm_after\n"
    "blocks.*.norm2 encoder.layer.*.norm2\n"
    "blocks.*.mlp.fc1 encoder.layer.*.intermediate.dense\n"
    "blocks.*.mlp.fc1 encoder.layer.*.mlp.fc1\n"
    "blocks.*.mlp.fc2 encoder.layer.*.output.dense\n"
    "blocks.*.mlp.fc2 encoder.layer.*.mlp.fc2\n"
    "blocks.*.ls2.gamma encoder.layer.*.layer_scale2.lambda1\n"
    "blocks.*.norm1 layers.*.layernorm_before\n"
    "blocks.*.attn.qkv encoder.layer.*.attention.{q_proj,k_proj,v_proj}\n"
    "blocks.*.attn.qkv layers.*.attention.{q_proj,k_proj,v_proj}\n"
    "blocks.*.attn.proj encoder.layer.*.attention.o_proj\n"
    "blocks.*.attn.proj layers.*.attention.o_proj\n"
    "blocks.*.norm2 layers.*.layernorm_after\n"
    "blocks.*.mlp.fc1 layers.*.mlp.fc1\n"
    "blocks.*.mlp.fc2 layers.*.mlp.fc2\n"
    "norm layernorm\n"
    "head classifier\n"
    "head cls_classifier\n"
    "head_dist distillation_classifier\n";
#define TRANSFORMERS_IGNORED "pooler.\nembeddings.mask_token\ndecoder.\n"

/* The vision towers of CLIP and SigLIP in transformers; and their classifiers, which read the mean
 * of the last hidden state: CLIP's before its norm, SigLIP's behind it, past its pooling. */
#define TOWER                                                                                      \
    "cls_token embeddings.class_embedding\n"                                                       \
    "pos_embed embeddings.position_embedding.weight\n"                                             \
    "patch_embed.proj embeddings.patch_embedding\n"                                                \
    "norm_pre pre_layrnorm\n" /* sic */                                                            \
    "blocks.*.norm1 encoder.layers.*.layer_norm1\n"                                                \
    "blocks.*.attn.qkv encoder.layers.*.self_attn.{q_proj,k_proj,v_proj}\n"                        \
    "blocks.*.attn.proj encoder.layers.*.self_attn.out_proj\n"                                     \
    "blocks.*.norm2 encoder.layers.*.layer_norm2\n"                                                \
    "blocks.*.mlp.fc1 encoder.layers.*.mlp.fc1\n"                                                  \
    "blocks.*.mlp.fc2 encoder.layers.*.mlp.fc2\n"
static const char CLIP[] = TOWER "norm post_layernorm\n"
                                 "head visual_projection\n";
static const char SIGLIP[] = TOWER "norm post_layernorm\n"
                                   "attn_pool.latent head.probe\n"
                                   "attn_pool.qkv.weight head.attention.in_proj_weight\n"
                                   "attn_pool.qkv.bias head.attention.in_proj_bias\n"
                                   "attn_pool.proj head.attention.out_proj\n"
                                   "attn_pool.norm head.layernorm\n"
                                   "attn_pool.mlp.fc1 head.mlp.fc1\n"
                                   "attn_pool.mlp.fc2 head.mlp.fc2\n"
                                   "head visual_projection\n";
static const char CLIP_CLASSIFIER[] = TOWER "head classifier\n";
static const char SIGLIP_CLASSIFIER[] = TOWER "norm post_layernorm\n"
                                              "head classifier\n";
#define TOWERS_IGNORED                                                                             \
    "text_model.\ntext_projection.\nlogit_scale\nlogit_bias\nembeddings.position_ids\n"

/* OpenAI's CLIP and open_clip's; and what lies beside their vision tower. */
static const char OPEN_CLIP[] =
    "cls_token class_embedding\n"
    "pos_embed positional_embedding\n"
    "patch_embed.proj conv1\n"
    "norm_pre ln_pre\n"
    "blocks.*.norm1 transformer.resblocks.*.ln_1\n"
    "blocks.*.attn.qkv.weight transformer.resblocks.*.attn.in_proj_weight\n"
    "blocks.*.attn.qkv.bias transformer.resblocks.*.attn.in_proj_bias\n"
    "blocks.*.attn.proj transformer.resblocks.*.attn.out_proj\n"
    "blocks.*.norm2 transformer.resblocks.*.ln_2\n"
    "blocks.*.ls1.gamma transformer.resblocks.*.ls_1.gamma\n"
    "blocks.*.ls2.gamma transformer.resblocks.*.ls_2.gamma\n"
    "blocks.*.mlp.fc1 transformer.resblocks.*.mlp.c_fc\n"
    "blocks.*.mlp.fc2 transformer.resblocks.*.mlp.c_proj\n"
    "norm ln_post\n"
    "head.weight proj\n";
#define OPEN_CLIP_IGNORED                                                                          \
    "^transformer.\n^text.\n^token_embedding.\n^positional_embedding\n^ln_final.\n"                \
    "^text_projection\n^logit_scale\n^logit_bias\n"                                                \
    "^input_resolution\n^context_length\n^vocab_size\n"

static const char TORCHVISION[] =
    "cls_token class_token\n"
    "pos_embed encoder.pos_embedding\n"
    "patch_embed.proj conv_proj\n"
    "blocks.*.norm1 encoder.layers.encoder_layer_*.ln_1\n"
    "blocks.*.attn.qkv.weight encoder.layers.encoder_layer_*.self_attention.in_proj_weight\n"
    "blocks.*.attn.qkv.bias encoder.layers.encoder_layer_*.self_attention.in_proj_bias\n"
    "blocks.*.attn.proj encoder.layers.encoder_layer_*.self_attention.out_proj\n"
    "blocks.*.norm2 encoder.layers.encoder_layer_*.ln_2\n"
    "blocks.*.mlp.fc1 encoder.layers.encoder_layer_*.mlp.0\n"
    "blocks.*.mlp.fc1 encoder.layers.encoder_layer_*.mlp.linear_1\n" /* up to 0.12 */
    "blocks.*.mlp.fc2 encoder.layers.encoder_layer_*.mlp.3\n"
    "blocks.*.mlp.fc2 encoder.layers.encoder_layer_*.mlp.linear_2\n"
    "norm encoder.ln\n"
    "head heads.head\n"
    "head heads.0\n" /* what a tutorial puts in its place */
    "head heads\n";

/* The first of two rows: from 1.0 on; the second: before. */
static const char VIT_PYTORCH[] = "pos_embed pos_embedding\n"
                                  "patch_embed.proj to_patch_embedding.2\n"
                                  "patch_embed.proj to_patch_embedding.1\n"
                                  "patch_embed.norm_in to_patch_embedding.1\n"
                                  "patch_embed.norm to_patch_embedding.3\n"
                                  "blocks.*.norm1 transformer.layers.*.0.norm\n"
                                  "blocks.*.attn.qkv transformer.layers.*.0.to_qkv\n"
                                  "blocks.*.attn.qkv transformer.layers.*.0.fn.to_qkv\n"
                                  "blocks.*.attn.proj transformer.layers.*.0.to_out.0\n"
                                  "blocks.*.attn.proj transformer.layers.*.0.fn.to_out.0\n"
                                  "blocks.*.norm2 transformer.layers.*.1.net.0\n"
                                  "blocks.*.norm2 transformer.layers.*.1.norm\n"
                                  "blocks.*.mlp.fc1 transformer.layers.*.1.net.1\n"
                                  "blocks.*.mlp.fc1 transformer.layers.*.1.fn.net.0\n"
                                  "blocks.*.mlp.fc2 transformer.layers.*.1.net.4\n"
                                  "blocks.*.mlp.fc2 transformer.layers.*.1.fn.net.3\n"
                                  "norm transformer.norm\n"
                                  "norm mlp_head.0\n"
                                  "fc_norm mlp_head.0\n" /* of a mean */
                                  "head mlp_head\n"
                                  "head mlp_head.1\n";

/* What is around a stack of torch.nn.TransformerEncoderLayer has no names of its own: timm's,
 * or those that are often met. */
static const char ENCODER[] = "cls_token cls_token\n"
                              "cls_token class_token\n"
                              "pos_embed pos_embed\n"
                              "pos_embed pos_embedding\n"
                              "patch_embed.proj patch_embed.proj\n"
                              "patch_embed.proj patch_embed\n"
                              "patch_embed.proj conv_proj\n"
                              "blocks.*.norm1 layers.*.norm1\n"
                              "blocks.*.attn.qkv.weight layers.*.self_attn.in_proj_weight\n"
                              "blocks.*.attn.qkv.bias layers.*.self_attn.in_proj_bias\n"
                              "blocks.*.attn.proj layers.*.self_attn.out_proj\n"
                              "blocks.*.norm2 layers.*.norm2\n"
                              "blocks.*.mlp.fc1 layers.*.linear1\n"
                              "blocks.*.mlp.fc2 layers.*.linear2\n"
                              "head head\n"
                              "head classifier\n";

/* SO400M, ViT-H, ViT-g, ViT-G: Alabdulmohsin et al., arXiv:2305.13035; Dosovitskiy et al., table 1;
 * Zhai et al., arXiv:2106.04560, table 2. Then timm's test_vit, whose 2
 * a small model of another's may not have, and SigLIP 2's giant. */
#define HEADS                                                                                      \
    {1152, 16}, {1280, 16}, {1408, 16}, {                                                          \
        1664, 16                                                                                   \
    }
static const struct published HEADS_64[] = {{0, 0}}, USUAL_HEADS[] = {HEADS, {0, 0}},
                              TIMMS_HEADS[] = {HEADS, {64, 0}, {0, 0}},
                              SIGLIPS_HEADS[] = {HEADS, {1536, 16}, {0, 0}};

#define ANCHOR_OF_TIMM "blocks.0.attn.qkv.weight\n"
#define ANCHOR_OF_TRUNK "visual.trunk.blocks.0.attn.qkv.weight\n"
/* Names up to transformers 4, then those of 5. */
#define ANCHOR_OF_VIT                                                                              \
    "encoder.layer.0.attention.attention.query.weight\n"                                           \
    "encoder.layer.0.attention.q_proj.weight\nlayers.0.attention.q_proj.weight\n"
#define ANCHOR_OF_TOWER                                                                            \
    "vision_model.encoder.layers.0.self_attn.q_proj.weight\n"                                      \
    "encoder.layers.0.self_attn.q_proj.weight\n"

#define HABITS_OF_TIMM .norm = "pre", .norm_eps = "1e-6", .activation = "gelu"
#define HABITS_OF_TIMMS_CLIP                                                                       \
    .norm = "pre", .norm_eps = "1e-5", .activation = "gelu or quick_gelu", .heads = USUAL_HEADS
#define HABITS_OF_TIMMS_SIGLIP                                                                     \
    .norm = "pre", .norm_eps = "1e-6", .activation = "gelu or gelu_tanh", .heads = SIGLIPS_HEADS
#define HABITS_OF_CLIP                                                                             \
    .norm = "pre", .norm_eps = "1e-5", .activation = "quick_gelu", .heads = USUAL_HEADS
#define HABITS_OF_SIGLIP                                                                           \
    .norm = "pre", .norm_eps = "1e-6", .activation = "gelu_tanh", .heads = SIGLIPS_HEADS

/* The first that fits counts, so variants stand before what they are variants of. */
static const struct family FAMILIES[] = {
    {"open_clip with timm's CLIP",
     ANCHOR_OF_TRUNK,
     "norm_pre.weight\n",
     true,
     TIMM,
     OPEN_CLIP_IGNORED,
     {HABITS_OF_TIMMS_CLIP, .projection = PROJECTION_HEAD}},
    {"open_clip with timm's tower",
     ANCHOR_OF_TRUNK,
     "",
     true,
     TIMM,
     OPEN_CLIP_IGNORED,
     {HABITS_OF_TIMMS_SIGLIP, .projection = PROJECTION_HEAD}},
    {"timm's CLIP",
     ANCHOR_OF_TIMM,
     "norm_pre.weight\n",
     true,
     TIMM,
     TIMM_IGNORED,
     {HABITS_OF_TIMMS_CLIP}},
    {"timm's SigLIP",
     ANCHOR_OF_TIMM,
     "attn_pool.latent\n",
     true,
     TIMM,
     TIMM_IGNORED,
     {HABITS_OF_TIMMS_SIGLIP, .projection = PROJECTION_POOLED}},
    {"timm",
     ANCHOR_OF_TIMM,
     "",
     false,
     TIMM,
     TIMM_IGNORED,
     {HABITS_OF_TIMM, .prefixless = "gelu or gelu_tanh", .shared = true, .heads = TIMMS_HEADS}},
    {"DINOv2 in chunks",
     "blocks.0.0.attn.qkv.weight\n",
     "",
     false,
     CHUNKS,
     TIMM_IGNORED,
     {HABITS_OF_TIMM, .heads = USUAL_HEADS}},
    {"transformers' DINOv2",
     ANCHOR_OF_VIT,
     "encoder.layer.0.norm1.weight\n",
     true,
     TRANSFORMERS,
     TRANSFORMERS_IGNORED,
     {.norm = "pre",
      .norm_eps = "1e-6",
      .activation = "gelu",
      .heads = USUAL_HEADS,
      .squares = true,
      .resize = VIT_RESIZE_PLAIN}},
    {"transformers' ViT, DeiT, ViT-MAE and ViT-MSN",
     ANCHOR_OF_VIT,
     "",
     false,
     TRANSFORMERS,
     TRANSFORMERS_IGNORED,
     {.norm = "pre",
      .norm_eps = "1e-12",
      .activation = "gelu",
      .heads = USUAL_HEADS,
      .resize = VIT_RESIZE_PLAIN}},
    {"transformers' CLIPForImageClassification",
     ANCHOR_OF_TOWER,
     "classifier.weight\npre_layrnorm.weight\n",
     true,
     CLIP_CLASSIFIER,
     TOWERS_IGNORED "post_layernorm.\n",
     {HABITS_OF_CLIP, .mean = true, .resize = VIT_RESIZE_PLAIN}},
    {"transformers' SiglipForImageClassification",
     ANCHOR_OF_TOWER,
     "classifier.weight\n",
     true,
     SIGLIP_CLASSIFIER,
     TOWERS_IGNORED "head.\n",
     {HABITS_OF_SIGLIP, .mean = true, .resize = VIT_RESIZE_PLAIN}},
    {"transformers' CLIP",
     ANCHOR_OF_TOWER,
     "pre_layrnorm.weight\n",
     true,
     CLIP,
     TOWERS_IGNORED,
     {HABITS_OF_CLIP, .resize = VIT_RESIZE_PLAIN, .projection = PROJECTION_HEAD}},
    {"transformers' SigLIP",
     ANCHOR_OF_TOWER,
     "embeddings.patch_embedding.weight\n",
     false,
     SIGLIP,
     TOWERS_IGNORED,
     {HABITS_OF_SIGLIP, .resize = VIT_RESIZE_PLAIN, .projection = PROJECTION_POOLED}},
    {"OpenAI's CLIP and open_clip",
     "visual.transformer.resblocks.0.attn.in_proj_weight\n",
     "conv1.weight\n",
     true,
     OPEN_CLIP,
     OPEN_CLIP_IGNORED,
     {HABITS_OF_CLIP, .gelu_assumed = true, .head_transposed = true,
      .projection = PROJECTION_HEAD}},
    {"OpenAI's CLIP and open_clip, the vision tower alone",
     "transformer.resblocks.0.attn.in_proj_weight\n",
     "conv1.weight\n",
     true,
     OPEN_CLIP,
     "",
     {HABITS_OF_CLIP, .gelu_assumed = true, .head_transposed = true,
      .projection = PROJECTION_HEAD}},
    {"torchvision",
     "encoder.layers.encoder_layer_0.self_attention.in_proj_weight\n",
     "",
     false,
     TORCHVISION,
     "",
     {.norm = "pre",
      .norm_eps = "1e-6",
      .activation = "gelu",
      .heads = USUAL_HEADS,
      .resize = VIT_RESIZE_ALIGN_CORNERS}},
    {"vit-pytorch",
     "transformer.layers.0.0.to_qkv.weight\ntransformer.layers.0.0.fn.to_qkv.weight\n",
     "",
     false,
     VIT_PYTORCH,
     "",
     {.norm = "pre", .norm_eps = "1e-5", .activation = "gelu", .heads = HEADS_64, .bare = true}},
    {"torch.nn.TransformerEncoder",
     "layers.0.self_attn.in_proj_weight\n",
     "",
     false,
     ENCODER,
     "",
     {.norm = "pre or post",
      .norm_eps = "1e-5",
      .activation = "relu or gelu",
      .heads = USUAL_HEADS,
      .unfolds = true}},
};
/* What stands before a family's names: a wrapper's attribute or a few, such as "module.encoder.".
 * Each part is looked for, so more of them than anybody has would only cost time. */
enum { PREFIX_MOST = 128, PREFIX_PARTS = 8 };
enum { NUMBERS_MOST = 64 }; /* of a # */
enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES, NAME_MOST = NAMES_MOST - PREFIX_MOST };

/* ---- Lines and patterns ------------------------------------------------- */

static size_t line_size(const char *line) {
    return strcspn(line, "\n");
}

/* Of lines that all end in one; an empty line is behind the last. */
static const char *next_line(const char *line) {
    return line + line_size(line) + 1;
}

static const char *theirs_of(const char *line) {
    return strchr(line, ' ') + 1;
}

static size_t digits(const char *s) {
    return strspn(s, "0123456789");
}

/* Is `name` as a line's pattern of ours says, or so and then a dot and its last part? `number`:
 * what stands for its *; `rest`: that dot and part. */
static bool matches(const char *line, const char *name, const char **number, const char **rest) {
    for (; *line != ' '; line++) {
        size_t n = *line == '*' ? digits(name) : 1;
        if (*line == '*' ? n == 0 : *line != *name) return false;
        if (*line == '*') *number = name;
        name += n;
    }
    *rest = name;
    return *name == '\0' || (*name == '.' && !strchr(name + 1, '.'));
}

/* Writes a line's pattern of theirs, of {a,b,c} the alternative `which`. */
static void put_theirs(struct text *out, const char *line, const char *number, size_t which) {
    for (const char *p = theirs_of(line); *p != '\n'; p++) {
        if (*p == '*') {
            put(out, number, digits(number));
        } else if (*p == '{') {
            for (p++; which > 0; which--) p = strchr(p, ',') + 1;
            put(out, p, strcspn(p, ",}"));
            p = strchr(p, '}');
        } else {
            put(out, p, 1);
        }
    }
}

static size_t alternatives(const char *line) {
    size_t n = 1, size = line_size(line), brace = strcspn(line, "{");
    for (size_t i = brace; i < size; i++) n += line[i] == ',';
    return n;
}

/* ---- Finding ------------------------------------------------------------ */

/* Looks behind the whole prefix; and behind less of it for what may lie `outside` of the encoder.
 */
static const struct st_tensor *find_whole(const struct names *names, const struct safetensors *st,
                                          const char *name, bool outside) {
    char whole[NAMES_MOST];
    for (size_t n = names->prefix_size;; n--) {
        struct text out = {whole, whole + sizeof whole - 1};
        if (n == 0 || names->prefix[n - 1] == '.') {
            put(&out, names->prefix, n);
            put_words(&out, name);
            *out.at = '\0';
            const struct st_tensor *found = st_find(st, whole);
            if (found) return found;
        }
        if (n == 0 || !outside) return NULL;
    }
}

/* The same, where a # in the name is any number. */
static const struct st_tensor *find(const struct names *names, const struct safetensors *st,
                                    const char *name, bool outside) {
    const char *hole = strchr(name, '#');
    char numbered[NAMES_MOST];
    if (!hole) return find_whole(names, st, name, outside);
    for (size_t number = 0; number < NUMBERS_MOST; number++) {
        struct text out = {numbered, numbered + sizeof numbered - 1};
        put(&out, name, (size_t)(hole - name));
        put_size(&out, number);
        put_words(&out, hole + 1);
        *out.at = '\0';
        const struct st_tensor *found = find_whole(names, st, numbered, outside);
        if (found) return found;
    }
    return NULL;
}

/* The name of `ours` by one line, without the prefix; empty where the line is of another. */
static void rename_by(char out[NAME_MOST], const char *line, const char *ours, size_t which) {
    const char *number = NULL, *rest;
    struct text text = {out, out + NAME_MOST - 1};
    if (matches(line, ours, &number, &rest)) {
        put_theirs(&text, line, number, which);
        put_words(&text, rest);
    }
    *text.at = '\0';
}

size_t names_sources(const struct st_tensor *sources[NAMES_SOURCES], const struct names *names,
                     const struct safetensors *st, const char *ours) {
    char name[NAME_MOST];
    bool named = false, outside = strncmp(ours, "blocks.", 7) != 0;
    for (const char *line = names->family->aliases; *line; line = next_line(line)) {
        size_t parts = alternatives(line), found = 0;
        for (size_t i = 0; i < parts; i++) {
            rename_by(name, line, ours, i);
            if (!*name) break;
            named = true;
            sources[found] = find(names, st, name, outside);
            if (sources[found]) found++;
        }
        if (found == parts) return found;
    }
    if (named) return 0;
    sources[0] = find(names, st, ours, outside);
    return sources[0] != NULL;
}

void names_write(char *out, size_t capacity, const struct names *names, const char *ours) {
    char name[NAME_MOST] = "";
    for (const char *line = names->family->aliases; *line && !*name; line = next_line(line))
        rename_by(name, line, ours, 0);
    struct text text = {out, out + capacity - 1};
    put(&text, names->prefix, names->prefix_size);
    put_words(&text, *name ? name : ours);
    *text.at = '\0';
}

static bool is_ignored(const struct names *names, const struct st_tensor *tensor,
                       const char *lines) {
    for (const char *line = lines; *line; line = next_line(line)) {
        size_t n = line_size(line), most = names->prefix_size;
        if (*line == '^' && most == 0) continue;
        if (*line == '^') most--, line++, n--;
        for (size_t skip = 0; skip <= most; skip++)
            if ((skip == 0 || names->prefix[skip - 1] == '.') && tensor->name_size >= skip + n &&
                !memcmp(tensor->name, names->prefix, skip) && !memcmp(tensor->name + skip, line, n))
                return true;
    }
    return false;
}

bool names_ignore(const struct names *names, const struct st_tensor *tensor) {
    static const char counters[] = "^n_averaged\n"; /* of torch.optim.swa_utils */
    return is_ignored(names, tensor, names->family->ignored) || is_ignored(names, tensor, counters);
}

/* ---- Families ----------------------------------------------------------- */

/* Ends a name so, behind a dot or nothing? */
static bool ends_with(const char *name, size_t size, const char *ending, size_t n) {
    return size >= n && !memcmp(name + size - n, ending, n) &&
           (size == n || name[size - n - 1] == '.');
}

/* How many of the names of a family's first block the file has, behind whatever prefix. */
static size_t likeness(const struct family *family, const struct safetensors *st) {
    size_t count = 0;
    char name[NAME_MOST];
    for (const char *line = family->aliases; *line; line = next_line(line))
        for (size_t i = 0; i < alternatives(line); i++) {
            struct text text = {name, name + sizeof name - 1};
            put_theirs(&text, line, "0", i);
            bool found = false;
            for (size_t t = 0; t < st->count && !found; t++) {
                size_t n = (size_t)(text.at - name), whole = st->tensors[t].name_size, cut = whole;
                const char *tensor = st->tensors[t].name;
                if (whole > NAMES_MOST) continue;
                while (cut && tensor[--cut] != '.') continue; /* its last part */
                found = ends_with(tensor, whole, name, n) || ends_with(tensor, cut, name, n);
            }
            count += found;
        }
    return count;
}

static vit_status none_found(const struct safetensors *st, vit_error *why) {
    size_t most = 1; /* a single name in common tells nothing */
    const struct family *closest = names_timms().family;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (FAMILIES[i].variant) continue;
        size_t alike = likeness(&FAMILIES[i], st);
        if (alike > most) most = alike, closest = &FAMILIES[i];
    }
    if (st->count == 0) return vit_fail(why, VIT_BAD_TENSOR, "the file holds no tensors");
    return vit_fail(why, VIT_BAD_TENSOR,
                    "expected a Vision Transformer's first block, as the tensor \"%t\" of %s, the "
                    "closest; got others, as \"%t\"",
                    closest->anchors, line_size(closest->anchors), closest->name, st->tensors->name,
                    st->tensors->name_size);
}

static bool is_prefix(const char *name, size_t size) {
    size_t parts = 0;
    if (size > PREFIX_MOST) return false;
    for (size_t i = 0; i < size; i++) parts += name[i] == '.';
    return parts <= PREFIX_PARTS;
}

static bool has_all(const struct names *names, const struct safetensors *st, const char *lines) {
    char name[NAME_MOST];
    for (; *lines; lines = next_line(lines)) {
        struct text text = {name, name + sizeof name - 1};
        put(&text, lines, line_size(lines));
        *text.at = '\0';
        if (!find(names, st, name, true)) return false;
    }
    return true;
}

/* Of the anchor of a tower in a larger model, the part that is a prefix of all its names. */
static size_t tower_size(const char *anchor) {
    static const char *const towers[] = {"vision_model.", "visual.trunk.", "visual."};
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (!strncmp(anchor, towers[i], strlen(towers[i]))) return strlen(towers[i]);
    return 0;
}

bool names_find(struct names *names, const struct safetensors *st, vit_error *why) {
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        for (const char *line = FAMILIES[i].anchors; *line; line = next_line(line))
            for (size_t t = 0; t < st->count; t++) {
                const struct st_tensor *tensor = &st->tensors[t];
                size_t n = line_size(line), prefix = tensor->name_size - n;
                if (!ends_with(tensor->name, tensor->name_size, line, n)) continue;
                if (!is_prefix(tensor->name, prefix)) continue;
                prefix += tower_size(line);
                *names = (struct names){&FAMILIES[i], tensor->name, prefix};
                if (has_all(names, st, FAMILIES[i].needs)) return true;
            }
    none_found(st, why);
    return false;
}

struct names names_timms(void) {
    const struct family *family = FAMILIES;
    while (strcmp(family->name, "timm")) family++;
    return (struct names){family, "", 0};
}

bool names_are_timms(const struct names *names) {
    return names->family->aliases == TIMM;
}

const char *names_family(const struct names *names) {
    return names->family->name;
}

const struct habits *names_habits(const struct names *names) {
    return &names->family->habits;
}
