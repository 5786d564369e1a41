/* A table for each family, with a line for each tensor: our name, a space, their name. `*` is the
 * block's number, # is any number, and the tensors {a,b,c} become one tensor of ours, their rows
 * one after the other. A name without its last part (.weight, .bias, .gamma) stands for all such
 * names. Of several lines with the same name of ours, the first whose tensors are in the file
 * counts. Tensors without a line have timm's names, which are those of params.h. */
#include "families.h"

#include "vit.h"

/* timm's names, and the other names in facebook's code of DINOv2 and DeiT III. Ignored: MAE's
 * decoder, the projection heads of DINO and DINOv2. */
static const char TIMM[] = "head head\n"
                           "head head.proj\n" /* open_clip's head after timm's tower */
                           "attn_pool.qkv attn_pool.{q,kv}\n"
                           "attn_pool.qkv attn_pool.qkv\n"
                           "reg_token reg_token\n"
                           "reg_token register_tokens\n"
                           "blocks.*.ls1.gamma blocks.*.ls1.gamma\n"
                           "blocks.*.ls1.gamma blocks.*.gamma_1\n"
                           "blocks.*.ls2.gamma blocks.*.ls2.gamma\n"
                           "blocks.*.ls2.gamma blocks.*.gamma_2\n";
#define TIMM_IGNORED "mask_token\ndecoder_\nhead.mlp.\nhead.last_layer.\ndino_head.\nibot_head.\n"

/* facebook's DINOv2 as it is trained: the number of a chunk stands before that of the block. */
static const char CHUNKS[] = "reg_token register_tokens\n"
                             "blocks.*.norm1 blocks.#.*.norm1\n"
                             "blocks.*.attn.qkv blocks.#.*.attn.qkv\n"
                             "blocks.*.attn.proj blocks.#.*.attn.proj\n"
                             "blocks.*.ls1 blocks.#.*.ls1\n"
                             "blocks.*.norm2 blocks.#.*.norm2\n"
                             "blocks.*.mlp.fc1 blocks.#.*.mlp.fc1\n"
                             "blocks.*.mlp.fc2 blocks.#.*.mlp.fc2\n"
                             "blocks.*.ls2 blocks.#.*.ls2\n";

/* ViT, DeiT, ViT-MAE and ViT-MSN; other names of DINOv2; other names of transformers 5. */
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

/* The vision towers of CLIP and SigLIP in transformers, and classifiers made of them. The
 * classifiers read the mean of the last hidden state, CLIP's before the norm, SigLIP's after it. */
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

/* OpenAI's CLIP and open_clip's. Ignored: what lies beside the vision tower. */
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
    "head heads.0\n" /* a tutorial replaces the head so */
    "head heads\n";

/* Of two lines for one tensor, the first is of vit-pytorch 1.0 and later, the second of earlier
 * versions. */
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
                                  "fc_norm mlp_head.0\n" /* if a mean is pooled */
                                  "head mlp_head\n"
                                  "head mlp_head.1\n";

/* A stack of torch.nn.TransformerEncoderLayer. PyTorch names only the layers; other tensors have
 * timm's names or names that people often choose. */
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
 * Zhai et al., arXiv:2106.04560, table 2. Width 64 is asked for in timm's files, because its
 * test_vit has 2 heads and other small models may not. Width 1536 is SigLIP 2's giant. */
#define HEADS                                                                                      \
    {1152, 16}, {1280, 16}, {1408, 16}, {                                                          \
        1664, 16                                                                                   \
    }
static const struct published HEADS_64[] = {{0, 0}}, USUAL_HEADS[] = {HEADS, {0, 0}},
                              TIMMS_HEADS[] = {HEADS, {64, 0}, {0, 0}},
                              SIGLIPS_HEADS[] = {HEADS, {1536, 16}, {0, 0}};

#define ANCHOR_OF_TIMM "blocks.0.attn.qkv.weight\n"
#define ANCHOR_OF_TRUNK "visual.trunk.blocks.0.attn.qkv.weight\n"
/* The first name is that of transformers up to 4, the others are those of 5. */
#define ANCHOR_OF_VIT                                                                              \
    "encoder.layer.0.attention.attention.query.weight\n"                                           \
    "encoder.layer.0.attention.q_proj.weight\nlayers.0.attention.q_proj.weight\n"
#define ANCHOR_OF_TOWER                                                                            \
    "vision_model.encoder.layers.0.self_attn.q_proj.weight\n"                                      \
    "encoder.layers.0.self_attn.q_proj.weight\n"

#define GUESSES_OF_TRANSFORMERS (GUESS_IMAGE_SIZE | GUESS_NORM_EPS | GUESS_ACTIVATION)
#define GUESSES_OF_OPEN_CLIP (GUESSES_OF_TRANSFORMERS | GUESS_POOL)
#define GUESSES_OF_TIMM (GUESSES_OF_OPEN_CLIP | GUESS_NORM) /* its ResPostBlock has norm1, too */

#define HABITS_OF_TIMM .norm = "pre", .norm_eps = "1e-6", .activation = "gelu"
#define HABITS_OF_TIMMS_CLIP                                                                       \
    .norm = "pre", .norm_eps = "1e-5", .activation = "gelu or quick_gelu", .heads = USUAL_HEADS,   \
    .guesses = GUESSES_OF_TIMM
#define HABITS_OF_TIMMS_SIGLIP                                                                     \
    .norm = "pre", .norm_eps = "1e-6", .activation = "gelu or gelu_tanh", .heads = SIGLIPS_HEADS,  \
    .guesses = GUESSES_OF_TIMM
#define HABITS_OF_CLIP                                                                             \
    .norm = "pre", .norm_eps = "1e-5", .activation = "quick_gelu", .heads = USUAL_HEADS
#define HABITS_OF_SIGLIP                                                                           \
    .norm = "pre", .norm_eps = "1e-6", .activation = "gelu_tanh", .heads = SIGLIPS_HEADS,          \
    .guesses = GUESSES_OF_TRANSFORMERS

const struct family vit_families[] = {
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
     {HABITS_OF_TIMM, .guesses = GUESSES_OF_TIMM, .prefixless = "gelu or gelu_tanh", .shared = true,
      .heads = TIMMS_HEADS}},
    {"DINOv2 in chunks",
     "blocks.0.0.attn.qkv.weight\n",
     "",
     false,
     CHUNKS,
     TIMM_IGNORED,
     {HABITS_OF_TIMM, .heads = USUAL_HEADS, .guesses = GUESS_IMAGE_SIZE}},
    {"transformers' DINOv2",
     ANCHOR_OF_VIT,
     "encoder.layer.0.norm1.weight\n",
     true,
     TRANSFORMERS,
     TRANSFORMERS_IGNORED,
     {.norm = "pre",
      .norm_eps = "1e-6",
      .activation = "gelu",
      .guesses = GUESSES_OF_TRANSFORMERS,
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
      .guesses = GUESSES_OF_TRANSFORMERS,
      .heads = USUAL_HEADS,
      .resize = VIT_RESIZE_PLAIN}},
    {"transformers' CLIPForImageClassification",
     ANCHOR_OF_TOWER,
     "classifier.weight\npre_layrnorm.weight\n",
     true,
     CLIP_CLASSIFIER,
     TOWERS_IGNORED "post_layernorm.\n",
     {HABITS_OF_CLIP, .guesses = GUESSES_OF_TRANSFORMERS, .mean = true,
      .resize = VIT_RESIZE_PLAIN}},
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
     {HABITS_OF_CLIP, .guesses = GUESSES_OF_TRANSFORMERS, .resize = VIT_RESIZE_PLAIN,
      .projection = PROJECTION_HEAD}},
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
     {HABITS_OF_CLIP, .guesses = GUESSES_OF_OPEN_CLIP, .projects = true, .head_transposed = true,
      .projection = PROJECTION_HEAD}},
    {"OpenAI's CLIP and open_clip, the vision tower alone",
     "transformer.resblocks.0.attn.in_proj_weight\n",
     "conv1.weight\n",
     true,
     OPEN_CLIP,
     "",
     {HABITS_OF_CLIP, .guesses = GUESSES_OF_OPEN_CLIP, .projects = true, .head_transposed = true,
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
     {.norm = "pre",
      .norm_eps = "1e-5",
      .activation = "gelu",
      .guesses = GUESS_IMAGE_SIZE | GUESS_ACTIVATION,
      .heads = HEADS_64,
      .bare = true}},
    {"torch.nn.TransformerEncoder",
     "layers.0.self_attn.in_proj_weight\n",
     "",
     false,
     ENCODER,
     "",
     {.norm = "pre or post",
      .norm_eps = "1e-5",
      .activation = "relu or gelu",
      .guesses = GUESS_IMAGE_SIZE | GUESS_NORM_EPS | GUESS_POOL,
      .unfolds = true}},
};

const size_t vit_families_count = sizeof vit_families / sizeof *vit_families;
