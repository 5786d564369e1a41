#!/usr/bin/python3
"""Golden vectors of models with the tensor names of other code: tests/golden/families/.

    python3 tests/golden/families.py [FOLDER]    PyTorch and torchvision, from 1.13 and 0.14 on

torchvision's model and torch.nn.TransformerEncoder run their own code. The others are make.py's
model with tensors renamed and cut as in transformers and vit-pytorch. Each model has two files:

NAME.safetensors         the tensors, without a config
NAME.golden.safetensors  all F32: images (B,C,H,W), logits (B,K) if there is a head,
                         attention (B·L,h,T,T), hidden (B,L,T,D), tokens (B,T,D), and
                         pooled (B,D) of our models

and those of SIZED a third, NAME.sized.golden.safetensors: images (1,C,H,W) of another size, and logits or tokens.
"""

import re

import numpy as np
import torch
import torch.nn.functional as F

from make import BATCH, DEFAULTS, DTYPES, VisionTransformer, draw_weights, started, write_case, write_safetensors
from others import (Bare, Beit, Blip, MeanOfAll, Refined, RelPos, Siglip, VitPytorch, VitPytorchMean, of_a_tutorial,
                    of_encoder, of_torchvision)
from t2t import T2T

# ---- Our names → theirs ----------------------------------------------------------------


def renamed(tensors, table, cut_qkv=None):
    """table: patterns of our names and theirs; cut_qkv: their names of queries, keys and values."""
    out = {}
    for name, tensor in tensors.items():
        for ours, theirs in table:
            new, count = re.subn("^" + ours, theirs, name)
            if not count:
                continue
            if cut_qkv and ".attn.qkv." in name:
                for part, rows in zip(cut_qkv, tensor.chunk(3)):
                    out[new.replace("QKV", part)] = rows
            else:
                out[new] = tensor
            break
        else:
            out[name] = tensor
    return out


QKV = ["query", "key", "value"]
TRANSFORMERS = [
    (r"cls_token", "embeddings.cls_token"),
    (r"dist_token", "embeddings.distillation_token"),
    (r"reg_token", "embeddings.register_tokens"),
    (r"pos_embed", "embeddings.position_embeddings"),
    (r"patch_embed.proj", "embeddings.patch_embeddings.projection"),
    (r"blocks\.(\d+)\.attn\.qkv", r"encoder.layer.\1.attention.attention.QKV"),
    (r"blocks\.(\d+)\.attn\.proj", r"encoder.layer.\1.attention.output.dense"),
]
VIT = TRANSFORMERS + [
    (r"blocks\.(\d+)\.norm1", r"encoder.layer.\1.layernorm_before"),
    (r"blocks\.(\d+)\.norm2", r"encoder.layer.\1.layernorm_after"),
    (r"blocks\.(\d+)\.mlp\.fc1", r"encoder.layer.\1.intermediate.dense"),
    (r"blocks\.(\d+)\.mlp\.fc2", r"encoder.layer.\1.output.dense"),
    (r"norm\.", "layernorm."),
]
DINO = TRANSFORMERS + [
    (r"blocks\.(\d+)\.ls(\d)\.gamma", r"encoder.layer.\1.layer_scale\2.lambda1"),
    (r"blocks\.(\d+)\.", r"encoder.layer.\1."),
    (r"norm\.", "layernorm."),
]
TOWER = [
    (r"cls_token", "embeddings.class_embedding"),
    (r"pos_embed", "embeddings.position_embedding.weight"),
    (r"patch_embed.proj", "embeddings.patch_embedding"),
    (r"norm_pre", "pre_layrnorm"),
    (r"blocks\.(\d+)\.norm(\d)", r"encoder.layers.\1.layer_norm\2"),
    (r"blocks\.(\d+)\.attn\.qkv", r"encoder.layers.\1.self_attn.QKV"),
    (r"blocks\.(\d+)\.attn\.proj", r"encoder.layers.\1.self_attn.out_proj"),
    (r"blocks\.(\d+)\.mlp", r"encoder.layers.\1.mlp"),
    (r"norm\.", "post_layernorm."),
]


def behind(prefix, tensors, outside=()):
    return {n if n.startswith(tuple(outside)) else prefix + n: t for n, t in tensors.items()}


def without(tensors, start):
    return {n: t for n, t in tensors.items() if not n.startswith(start)}


def headless(tensors):
    return without(tensors, "head.")


def form(table, cut_qkv=None, prefix="", outside=()):
    """A function that renames a model's tensors."""
    return lambda tensors: behind(prefix, renamed(tensors, table, cut_qkv), outside)


CLASSIFIER = [("head", "classifier")]
PROJECTIONS = ["q_proj", "k_proj", "v_proj"]
as_timm = form([], prefix="model.")
as_vit, as_ijepa = (form(VIT + CLASSIFIER, QKV, prefix, ["classifier"]) for prefix in ["vit.", "ijepa."])
as_deit = form(VIT + [("head_dist", "distillation_classifier"), ("head", "cls_classifier")], QKV, "deit.", ["cls_", "distillation_"])


def as_bare_vit(tensors):
    pooler = {"pooler.dense.weight": torch.ones(3, 3), "pooler.dense.bias": torch.ones(3)}
    return {**renamed(headless(tensors), VIT, QKV), **pooler}


def as_deit_of_one_head(tensors):
    return form(VIT + CLASSIFIER, QKV, "deit.", ["classifier"])(without(tensors, "head_dist."))


def as_dinov2(tensors):
    tensors = headless(tensors)
    mask = {"embeddings.mask_token": torch.ones(1, tensors["cls_token"].shape[-1])}
    return {**renamed(tensors, DINO, QKV), **mask}


def as_dinov2_classifier(tensors):
    out = behind("dinov2.", as_dinov2(tensors))
    return {**out, **{n.replace("head", "classifier"): t for n, t in tensors.items() if n.startswith("head.")}}


def class_position_apart(tensors):
    """Positions of the class token and the patches. In our model the class token holds its own."""
    first = torch.linspace(-1, 1, tensors["cls_token"].shape[-1]).reshape(1, 1, -1)
    return {**tensors, "cls_token": tensors["cls_token"] - first,
            "pos_embed": torch.cat([first, tensors["pos_embed"]], 1)}


def as_registers(tensors):
    return as_dinov2(class_position_apart(tensors))


def as_clip(tensors):
    tensors = renamed(tensors, TOWER + [("head", "visual_projection")], PROJECTIONS)
    for name in ["embeddings.class_embedding", "embeddings.position_embedding.weight"]:
        tensors[name] = tensors[name].reshape(tensors[name].shape[-2:]).squeeze(0)
    other = {"logit_scale": torch.ones(()), "text_projection.weight": torch.ones(2, 2)}
    other["text_model.encoder.layers.0.self_attn.q_proj.weight"] = torch.ones(2, 2)
    return {**behind("vision_model.", tensors, ["visual_"]), **other}


def as_siglip(tensors):
    tensors = renamed(tensors, TOWER, PROJECTIONS)
    name = "embeddings.position_embedding.weight"
    tensors[name] = tensors[name][0]
    other = {"logit_scale": torch.ones(1), "logit_bias": torch.ones(1)}
    return {**behind("vision_model.", tensors), **other}


def as_timms_siglip(tensors):
    """timm has one matrix for the query and one for keys and values."""
    out = {}
    for name, tensor in tensors.items():
        if "in_proj" in name:
            width, end = tensor.shape[0] // 3, name.split("_")[-1]
            out[f"attn_pool.q.{end}"], out[f"attn_pool.kv.{end}"] = tensor[:width], tensor[width:]
        else:
            name = name.replace("head.attention.out_proj", "attn_pool.proj")
            name = name.replace("head.layernorm", "attn_pool.norm").replace("head.mlp", "attn_pool.mlp")
            out[name.replace("head.probe", "attn_pool.latent")] = tensor
    return out


VIT_PYTORCH = [
    (r"pos_embed", "pos_embedding"),
    (r"patch_embed\.norm_in", "to_patch_embedding.1"),
    (r"patch_embed\.proj", "to_patch_embedding.2"),
    (r"patch_embed\.norm", "to_patch_embedding.3"),
    (r"blocks\.(\d+)\.norm1", r"transformer.layers.\1.0.norm"),
    (r"blocks\.(\d+)\.attn\.qkv", r"transformer.layers.\1.0.to_qkv"),
    (r"blocks\.(\d+)\.attn\.proj", r"transformer.layers.\1.0.to_out.0"),
    (r"blocks\.(\d+)\.norm2", r"transformer.layers.\1.1.net.0"),
    (r"blocks\.(\d+)\.mlp\.fc1", r"transformer.layers.\1.1.net.1"),
    (r"blocks\.(\d+)\.mlp\.fc2", r"transformer.layers.\1.1.net.4"),
    (r"norm\.", "transformer.norm."),
    (r"head", "mlp_head"),
]
VIT_PYTORCH_BEFORE = [
    (r"pos_embed", "pos_embedding"),
    (r"patch_embed\.proj", "to_patch_embedding.1"),
    (r"blocks\.(\d+)\.norm1", r"transformer.layers.\1.0.norm"),
    (r"blocks\.(\d+)\.attn\.qkv", r"transformer.layers.\1.0.fn.to_qkv"),
    (r"blocks\.(\d+)\.attn\.proj", r"transformer.layers.\1.0.fn.to_out.0"),
    (r"blocks\.(\d+)\.norm2", r"transformer.layers.\1.1.norm"),
    (r"blocks\.(\d+)\.mlp\.fc1", r"transformer.layers.\1.1.fn.net.0"),
    (r"blocks\.(\d+)\.mlp\.fc2", r"transformer.layers.\1.1.fn.net.3"),
    (r"norm\.", "mlp_head.0."),
    (r"head", "mlp_head.1"),
]


def channels_last(tensors):
    """In vit-pytorch a patch is a row (P,Q,C), and the projection is a Linear."""
    tensors = dict(tensors)
    weight = tensors["patch_embed.proj.weight"]
    tensors["patch_embed.proj.weight"] = weight.permute(0, 2, 3, 1).flatten(1)
    return tensors


def as_vit_pytorch(tensors):
    return renamed(channels_last(tensors), VIT_PYTORCH)


def as_vit_pytorch_before(tensors):
    return renamed(channels_last(tensors), VIT_PYTORCH_BEFORE)


as_deit3 = form([(r"(blocks\.\d+)\.ls(\d)\.gamma", r"\1.gamma_\2")])


def as_hubs_dinov2(tensors):
    out = renamed(class_position_apart(headless(tensors)), [("reg_token", "register_tokens")])
    return {**out, "mask_token": torch.ones(1, out["cls_token"].shape[-1])}


def as_mae(tensors):
    out = {f"decoder_{n}": t[:2] for n, t in tensors.items() if n.startswith(("blocks", "norm"))}
    return {**headless(tensors), **out, "decoder_pos_embed": torch.ones(1, 2, 2),
            "mask_token": torch.ones(1, 1, 2)}


def as_classifier(tensors, others):
    tensors = renamed(tensors, TOWER + CLASSIFIER, PROJECTIONS)
    name = "embeddings.position_embedding.weight"
    tensors[name] = tensors[name][0]
    return behind("vision_model.", {**tensors, **others}, ["classifier"])


def as_clip_classifier(tensors):
    return as_classifier(tensors, {"post_layernorm.weight": torch.ones(20)})


def as_siglip_classifier(tensors):
    return as_classifier(tensors, {"head.probe": torch.ones(1, 1, 20)})


OPEN_CLIP = [
    (r"cls_token", "class_embedding"),
    (r"pos_embed", "positional_embedding"),
    (r"patch_embed.proj", "conv1"),
    (r"norm_pre", "ln_pre"),
    (r"blocks\.(\d+)\.norm(\d)", r"transformer.resblocks.\1.ln_\2"),
    (r"blocks\.(\d+)\.attn\.qkv\.", r"transformer.resblocks.\1.attn.in_proj_"),
    (r"blocks\.(\d+)\.attn\.proj", r"transformer.resblocks.\1.attn.out_proj"),
    (r"blocks\.(\d+)\.mlp\.fc1", r"transformer.resblocks.\1.mlp.c_fc"),
    (r"blocks\.(\d+)\.mlp\.fc2", r"transformer.resblocks.\1.mlp.c_proj"),
    (r"norm\.", "ln_post."),
]


def as_open_clip_alone(tensors):
    out = renamed(headless(tensors), OPEN_CLIP)
    for name in ["class_embedding", "positional_embedding"]:
        out[name] = out[name].reshape(out[name].shape[-2:]).squeeze(0)
    return {**out, "proj": tensors["head.weight"].T.contiguous()}


def as_openai_clip(tensors):
    """The file also has a deeper text tower, whose names differ only by the prefix."""
    alone = as_open_clip_alone(tensors)
    text = {n: torch.ones(2) for n in alone if n.startswith("transformer.resblocks.0.")}
    deeper = {n.replace(".0.", f".{i}.", 1): t for n, t in text.items() for i in range(4)}
    other = {n: torch.ones(2, 2) for n in ["positional_embedding", "text_projection", "token_embedding.weight"]}
    return {**behind("visual.", alone), **deeper, **other, "ln_final.weight": torch.ones(2),
            "logit_scale": torch.ones(())}


def as_vit_pytorch_without_class(tensors):
    width = tensors["pos_embed"].shape[-1]
    return {"cls_token": torch.ones(0, width), **as_vit_pytorch(tensors)}


VIT_OF_5 = TRANSFORMERS[:5] + [
    (r"blocks\.(\d+)\.attn\.qkv", r"layers.\1.attention.QKV_proj"),
    (r"blocks\.(\d+)\.attn\.proj", r"layers.\1.attention.o_proj"),
    (r"blocks\.(\d+)\.norm1", r"layers.\1.layernorm_before"),
    (r"blocks\.(\d+)\.norm2", r"layers.\1.layernorm_after"),
    (r"blocks\.(\d+)\.mlp", r"layers.\1.mlp"),
    (r"norm\.", "layernorm."),
] + CLASSIFIER
DINO_OF_5 = TRANSFORMERS[:5] + [
    (r"blocks\.(\d+)\.attn\.qkv", r"encoder.layer.\1.attention.QKV_proj"),
    (r"blocks\.(\d+)\.attn\.proj", r"encoder.layer.\1.attention.o_proj"),
] + DINO[7:]


as_vit_of_5 = form(VIT_OF_5, ["q", "k", "v"], "vit.", ["classifier"])


def as_dinov2_of_5(tensors):
    return renamed(headless(tensors), DINO_OF_5, ["q", "k", "v"])


def as_siglip_of_5(tensors):
    return {n.replace("vision_model.", ""): t for n, t in as_siglip(tensors).items()
            if n.startswith("vision_model.")}


def as_dinov2_in_chunks(tensors):
    """Two blocks, each in a chunk of its own."""
    return renamed(headless(tensors), [(r"blocks\.(\d+)", r"blocks.\1.\1")])


def as_open_clip_of_timm(tensors):
    text = {f"text.{n}": torch.ones(2) for n in tensors if n.startswith("blocks.0.")}
    return {**behind("visual.trunk.", as_timms_siglip(tensors)), **text, "logit_scale": torch.ones(()),
            "logit_bias": torch.ones(1)}


def as_vit_pytorch_mean_before(tensors):
    table = [(r"fc_norm\.", "mlp_head.0."), *VIT_PYTORCH_BEFORE]
    return renamed(channels_last(tensors), table)


def as_averaged(tensors):
    """The file that torch.optim.swa_utils.AveragedModel saves, except for its counter's type."""
    return {**behind("module.", tensors), "n_averaged": torch.ones(())}


TABLE = "relative_position_bias_table"


def as_timms_beit(tensors, shared=False):
    out = {}
    for name, tensor in as_deit3(tensors).items():
        block = name.split(".attn.")[0]
        if name.endswith(".qkv.bias"):
            out[f"{block}.attn.q_bias"], _, out[f"{block}.attn.v_bias"] = tensor.chunk(3)
        elif name.endswith(TABLE):
            out[f"rel_pos_bias.{TABLE}" if shared else f"{block}.attn.{TABLE}"] = tensor
        else:
            out[name] = tensor
    return out


def as_timms_shared_beit(tensors):
    """As its own training saves it."""
    index = {"rel_pos_bias.relative_position_index": torch.ones(2, 2)}
    other = {"mask_token": torch.ones(1, 1, 2), "lm_head.weight": torch.ones(2, 2)}
    return {**without(as_timms_beit(tensors, shared=True), "head."), **index, **other}


def as_beit(tensors, outside=("classifier",)):
    table = VIT + [
        (r"blocks\.(\d+)\.ls(\d)\.gamma", r"encoder.layer.\1.lambda_\2"),
        (r"blocks\.(\d+)\.attn\.rel_pos",
         r"encoder.layer.\1.attention.attention.relative_position_bias"),
        ("fc_norm", "pooler.layernorm"),
        ("head", "classifier"),
    ]
    out = renamed(tensors, table, QKV)
    return behind("beit.", {n: t for n, t in out.items() if not n.endswith("key.bias")}, outside)


def as_data2vec(tensors):
    """The blocks' table is a block's own in the model."""
    own = "encoder.layer.0.attention.attention.relative_position_bias."
    out = {n[len("beit."):].replace(own, "encoder.relative_position_bias."): t
           for n, t in as_beit(tensors, ()).items() if TABLE not in n or own in n}
    return behind("data2vec_vision.", out, ["classifier"])


def in_two(tensors, matrix, *parts):
    """Cuts the matrix of gates and values, and its bias, in two."""
    out = {}
    for name, tensor in tensors.items():
        if matrix not in name:
            out[name] = tensor
            continue
        for part, rows in zip(parts, tensor.chunk(2)):
            out[name.replace(matrix, part)] = rows
    return out


def as_timms_dinov3(tensors):
    return in_two(as_timms_beit(tensors), "fc1", "fc1_g", "fc1_x")


def as_facebooks_dinov3(tensors):
    """The keys' bias, which a mask takes away, is not 0."""
    out = in_two(headless(tensors), "fc1", "w1", "w2")
    out = {n.replace("reg_token", "storage_tokens").replace("mlp.fc2", "mlp.w3"): t for n, t in out.items()}
    for name in [n for n in out if n.endswith("qkv.bias")]:
        q, k, v = out[name].chunk(3)
        out[name] = torch.cat([q, k + 1, v])
        out[f"{name}_mask"] = torch.cat([torch.ones_like(q), torch.zeros_like(k), torch.ones_like(v)])
    width = out["cls_token"].shape[-1]
    return {**out, "rope_embed.periods": torch.ones(3), "mask_token": torch.ones(1, width)}


def as_timms_eva02(tensors):
    """As its base and large models."""
    out = in_two(tensors, "fc1", "fc1_g", "fc1_x")
    for name in [n for n in out if ".qkv." in n]:
        for part, rows in zip("qkv", out.pop(name).chunk(3)):
            if not (part == "k" and name.endswith("bias")):
                out[name.replace("qkv", f"{part}_proj")] = rows
    return out


def as_dinov3(tensors):
    table = [
        (r"cls_token", "embeddings.cls_token"),
        (r"reg_token", "embeddings.register_tokens"),
        (r"patch_embed.proj", "embeddings.patch_embeddings"),
        (r"blocks\.(\d+)\.attn\.qkv", r"layer.\1.attention.QKV"),
        (r"blocks\.(\d+)\.attn\.proj", r"layer.\1.attention.o_proj"),
        (r"blocks\.(\d+)\.ls(\d)\.gamma", r"layer.\1.layer_scale\2.lambda1"),
        (r"blocks\.(\d+)\.mlp\.fc2", r"layer.\1.mlp.down_proj"),
        (r"blocks\.", "layer."),
    ]
    out = in_two(renamed(headless(tensors), table, PROJECTIONS), "fc1", "gate_proj", "up_proj")
    mask = {"embeddings.mask_token": torch.ones(1, 1, tensors["cls_token"].shape[-1])}
    return {**{n: t for n, t in out.items() if not n.endswith("k_proj.bias")}, **mask}


def as_dinov2_swiglu(tensors):
    out = as_dinov2_classifier(tensors)
    return {n.replace("mlp.fc1", "mlp.weights_in").replace("mlp.fc2", "mlp.weights_out"): t for n, t in out.items()}


as_t2t = form([("patch_embed", "tokens_to_token")])


def as_perception_encoder(tensors):
    out = renamed(headless(tensors), OPEN_CLIP)
    out["positional_embedding"] = out["positional_embedding"][0]
    return {re.sub(r"blocks\.(\d+)\.ls(\d)", r"transformer.resblocks.\1.ls_\2", n): t for n, t in out.items()}


def pooled_apart(tensors):
    """timm has one matrix for the pool's query and one for its keys and values."""
    out = {}
    for name, tensor in tensors.items():
        if name.startswith("attn_pool.qkv"):
            width = tensor.shape[0] // 3
            out[name.replace("qkv", "q")], out[name.replace("qkv", "kv")] = tensor[:width], tensor[width:]
        else:
            out[name] = tensor
    return out


def as_facebooks_pe_core(tensors):
    table = [
        (r"attn_pool\.latent", "attn_pool.probe"),
        (r"attn_pool\.qkv\.", "attn_pool.attn.in_proj_"),
        (r"attn_pool\.proj", "attn_pool.attn.out_proj"),
        (r"attn_pool\.norm", "attn_pool.layernorm"),
        (r"attn_pool\.mlp\.fc1", "attn_pool.mlp.c_fc"),
        (r"attn_pool\.mlp\.fc2", "attn_pool.mlp.c_proj"),
    ]
    return as_openai_clip(renamed(tensors, table))


def as_rope_mixed(tensors, name="rope.freqs", flat=False):
    """The frequencies of all blocks in one tensor (2,L,h,d/2), or (2,L,D/2)."""
    out = {n: t for n, t in as_deit3(tensors).items() if not n.endswith("rope.freqs")}
    freqs = torch.stack([t for n, t in tensors.items() if n.endswith("rope.freqs")], dim=1)
    return {**out, name: freqs if flat else freqs.unflatten(-1, (2, -1))}


def as_navers_rope_mixed(tensors):
    buffers = {f"freqs_t_{axis}": torch.arange(9) for axis in "xy"}
    return {**as_rope_mixed(tensors, "freqs", flat=True), **buffers}


def as_blip(tensors, projection="visual_projection"):
    table = [row for row in TOWER if not row[0].endswith(r"attn\.qkv")]
    table = [(ours, theirs.replace("out_proj", "projection").replace("embedding.weight", "embedding")) for ours, theirs in table]
    table += [(r"blocks\.(\d+)\.attn\.qkv", r"encoder.layers.\1.self_attn.qkv"), (r"head", projection)]
    out = renamed(without(tensors, "fc_norm."), table)
    text = {n: torch.ones(2) for n in ["text_model.encoder.layer.0.attention.self.query.bias", "text_projection.weight",
                                       "text_decoder.bert.embeddings.word_embeddings.weight", "text_proj.bias",
                                       "text_encoder.pooler.dense.bias", "itm_head.bias"]}
    return {**behind("vision_model.", out, ["vis"]), **text, "logit_scale": torch.ones(())}


def as_blip_retrieval(tensors):
    return as_blip(tensors, "vision_proj")


# ---- The cases -------------------------------------------------------------------------

# OTHERS: name → a function that makes the model, its options. OURS: name → a function that
# renames the tensors, the model's config.
OTHERS = {
    "torchvision": (of_torchvision, dict(
        image_size=8, patch_size=4, num_layers=2, heads=1, hidden_dim=64, mlp_dim=24,
        num_classes=5)),
    "encoder_post": (of_encoder, dict(
        image=12, patch=4, channels=1, width=24, heads=4, mlp=40, depth=2, classes=5)),
    "encoder_pre": (of_encoder, dict(
        image=12, patch=4, channels=3, width=20, heads=2, mlp=30, depth=2, classes=5,
        norm_first=True, activation="gelu")),
}
SMALL = dict(image_size=[12, 12], channels=3, width=20, heads=2, mlp_width=30, norm_eps=1e-12)
OURS = {
    "timm_behind_a_prefix": (as_timm, dict(SMALL, norm_eps=1e-6)),
    "vit": (as_vit, dict(SMALL)),
    "vit_half": (as_vit, dict(SMALL, DTYPE="F16", width=64, heads=1, mlp_width=20)),
    "vit_without_head": (as_bare_vit, dict(SMALL, width=36)),
    "deit": (as_deit, dict(SMALL, prefix=["class", "distillation"])),
    "deit_of_one_head": (as_deit_of_one_head, dict(SMALL, prefix=["class", "distillation"])),
    "dinov2": (as_dinov2, dict(
        SMALL, layer_scale=True, norm_eps=1e-6, image_size=[8, 16], GRID=5, ANTIALIAS=False)),
    "dinov2_registers": (as_registers, dict(
        SMALL, layer_scale=True, norm_eps=1e-6, prefix=["class", "register", "register"],
        POSITION_ROWS="patches")),
    "clip": (as_clip, dict(
        SMALL, norm_eps=1e-5, activation="quick_gelu", NORM_PRE=True, PATCH_BIAS=False,
        HEAD_BIAS=False)),
    "siglip": (as_siglip, dict(
        SMALL, MODEL=Siglip, prefix=[], pool="mean", activation="gelu_tanh", norm_eps=1e-6)),
    "siglip_of_timm": (as_timms_siglip, dict(
        SMALL, MODEL=Siglip, prefix=[], pool="mean", activation="gelu_tanh", norm_eps=1e-6)),
    "vit_pytorch": (as_vit_pytorch, dict(
        SMALL, MODEL=VitPytorch, NORMED_PATCHES=True, qkv_bias=False, norm_eps=1e-5, head_width=7)),
    "vit_pytorch_before": (as_vit_pytorch_before, dict(
        SMALL, MODEL=VitPytorch, NORMED_PATCHES=False, qkv_bias=False, norm_eps=1e-5,
        head_width=64, heads=1)),
    # later ones behind them, because a model's number is its seed
    "deit3": (as_deit3, dict(SMALL, layer_scale=True, norm_eps=1e-6, POSITION_ROWS="patches")),
    "dinov2_of_the_hub": (as_hubs_dinov2, dict(
        SMALL, layer_scale=True, norm_eps=1e-6, prefix=["class", "register", "register"],
        POSITION_ROWS="patches")),
    "mae_with_decoder": (as_mae, dict(SMALL, norm_eps=1e-6)),
    "clip_classifier": (as_clip_classifier, dict(
        SMALL, norm_eps=1e-5, activation="quick_gelu", NORM_PRE=True, PATCH_BIAS=False,
        pool="mean", final_norm=False)),
    "siglip_classifier": (as_siglip_classifier, dict(
        SMALL, prefix=[], pool="mean", activation="gelu_tanh", norm_eps=1e-6)),
    "timm_map_registers": (as_timms_siglip, dict(
        SMALL, MODEL=Siglip, prefix=["register", "register"], pool="mean", norm_eps=1e-6)),
    "openai_clip": (as_openai_clip, dict(
        SMALL, norm_eps=1e-5, activation="quick_gelu", NORM_PRE=True, PATCH_BIAS=False,
        HEAD_BIAS=False)),
    "open_clip_alone": (as_open_clip_alone, dict(
        SMALL, norm_eps=1e-5, activation="quick_gelu", NORM_PRE=True, PATCH_BIAS=False,
        HEAD_BIAS=False, width=52, classes=50)),
    "vit_pytorch_one_head": (as_vit_pytorch, dict(
        SMALL, MODEL=Bare, NORMED_PATCHES=True, qkv_bias=False, norm_eps=1e-5, head_width=20,
        heads=1)),
    "vit_pytorch_without_class": (as_vit_pytorch_without_class, dict(
        SMALL, MODEL=VitPytorch, NORMED_PATCHES=True, qkv_bias=False, norm_eps=1e-5, head_width=7,
        prefix=[], pool="mean")),
    "timm_avgmax": (dict, dict(SMALL, norm_eps=1e-6, pool="mean_max", FC_NORM=True)),
    "timm_max": (dict, dict(SMALL, norm_eps=1e-6, pool="max", FC_NORM=True)),
    "dinov2_classifier": (as_dinov2_classifier, dict(
        SMALL, layer_scale=True, norm_eps=1e-6, pool="class_mean")),
}
OTHERS_LATER = {
    "torchvision_of_a_tutorial": (of_a_tutorial, OTHERS["torchvision"][1]),
    "encoder_unfolded": (of_encoder, dict(OTHERS["encoder_pre"][1], unfold=True)),
}
OURS_LATER = {
    "vit_of_transformers_5": (as_vit_of_5, dict(SMALL)),
    "dinov2_of_transformers_5": (as_dinov2_of_5, dict(SMALL, layer_scale=True, norm_eps=1e-6)),
    "siglip_of_transformers_5": (as_siglip_of_5, dict(
        SMALL, MODEL=Siglip, prefix=[], pool="mean", activation="gelu_tanh", norm_eps=1e-6)),
    "dinov2_in_chunks": (as_dinov2_in_chunks, dict(SMALL, layer_scale=True, norm_eps=1e-6)),
    "open_clip_of_timm": (as_open_clip_of_timm, dict(
        SMALL, MODEL=Siglip, prefix=[], pool="mean", norm_eps=1e-6)),
    "timm_prr": (dict, dict(SMALL, MODEL=Refined, norm_eps=1e-6, pool="class")),
    "timm_prr_of_all": (dict, dict(
        SMALL, MODEL=Refined, norm_eps=1e-6, prefix=["register"], pool="mean")),
    "timm_mean_of_all": (as_averaged, dict(
        SMALL, MODEL=MeanOfAll, norm_eps=1e-6, pool="mean", FC_NORM=True,
        prefix=["class", "register"])),
    "vit_pytorch_mean_before": (as_vit_pytorch_mean_before, dict(
        SMALL, MODEL=VitPytorchMean, NORMED_PATCHES=False, qkv_bias=False, norm_eps=1e-5,
        head_width=64, heads=1, pool="mean", FC_NORM=True)),
    "vit_of_another_grid": (as_vit, dict(
        SMALL, image_size=[8, 16], GRID=[2, 5], ANTIALIAS=False)),
}
BEIT = dict(SMALL, MODEL=Beit, position="relative", layer_scale=True, pool="mean", FC_NORM=True)
OURS_LATEST = {
    "ijepa": (as_ijepa, dict(SMALL, prefix=[], pool="mean")),
    "timm_beit": (as_timms_beit, dict(BEIT, norm_eps=1e-6)),
    "timm_beit_shared": (as_timms_shared_beit, dict(
        BEIT, norm_eps=1e-6, SHARED=True, pool="class", FC_NORM=False)),
    "beit": (as_beit, dict(BEIT)),
    "data2vec_vision": (as_data2vec, dict(
        BEIT, SHARED=True, LEARNED_TOO=True, pool="class", FC_NORM=False)),
    "timm_eva": (as_timms_beit, dict(
        BEIT, norm_eps=1e-6, position="learned", layer_scale=False)),
    "timm_relpos": (dict, dict(
        SMALL, MODEL=RelPos, norm_eps=1e-6, position="relative", layer_scale=True, prefix=[],
        pool="mean", image_size=[8, 12])),
    "timm_relpos_class": (dict, dict(
        SMALL, MODEL=RelPos, norm_eps=1e-6, position="relative", layer_scale=True)),
}
SWIGLU = dict(SMALL, mlp="gated", activation="silu", norm_eps=1e-6)
DINOV3 = dict(
    SWIGLU, MODEL=Beit, position="rotary", width=24, layer_scale=True, norm_eps=1e-5,
    prefix=["class", "register", "register"])
OURS_ROTARY = {
    "timm_dinov3": (as_timms_dinov3, dict(DINOV3, pool="mean")),
    "timm_rope": (as_deit3, dict(
        SMALL, position="rotary", width=24, layer_scale=True, norm_eps=1e-6, rotary_places="from_0",
        rotary_first="columns", rotary_pairs="neighbours")),
    "facebook_dinov3": (as_facebooks_dinov3, dict(DINOV3, norm_eps=1e-6, image_size=[8, 16])),
    "timm_eva02": (as_timms_eva02, dict(
        SWIGLU, MODEL=Beit, position="rotary", LEARNED_TOO=True, width=24, mlp_norm=True, pool="mean",
        FC_NORM=True, rotary_places="from_0", rotary_base=10000, rotary_pairs="neighbours",
        rotary_grid=[16, 16])),
    "dinov2_swiglu": (as_dinov2_swiglu, dict(SWIGLU, layer_scale=True, pool="class_mean")),
    "perception_encoder": (as_perception_encoder, dict(
        SMALL, position="rotary", LEARNED_TOO=True, width=24, layer_scale=True, NORM_PRE=True,
        PATCH_BIAS=False, prefix=[], pool="mean", final_norm=False, norm_eps=1e-5,
        rotary_places="from_1", rotary_base=10000, rotary_first="columns",
        rotary_pairs="neighbours")),
    "dinov3": (as_dinov3, dict(DINOV3, image_size=[8, 16])),
    "timm_rope_reg": (as_timms_beit, dict(
        SMALL, MODEL=Beit, position="rotary", width=24, layer_scale=True, norm_eps=1e-6,
        prefix=["register"], pool="mean", FC_NORM=True, rotary_places="from_0", rotary_base=10000,
        rotary_pairs="neighbours", rotary_grid=[16, 16])),
}


PE_CORE = dict(
    SMALL, position="rotary", LEARNED_TOO=True, width=24, NORM_PRE=True, PATCH_BIAS=False, norm_eps=1e-5,
    pool="attention", pool_heads=8, pool_prefix=True, rotary_places="from_1", rotary_base=10000,
    rotary_first="columns", rotary_pairs="neighbours")
MIXED = dict(
    SMALL, position="rotary", rotary_frequencies="learned", width=24, layer_scale=True, norm_eps=1e-6,
    rotary_places="from_0", rotary_first="columns", rotary_pairs="neighbours")
OURS_POOLED = {
    "timm_pe_core": (pooled_apart, dict(PE_CORE, rotary_grid=[24, 24])),
    "facebook_pe_core": (as_facebooks_pe_core, dict(PE_CORE, pool_mlp_width=50, HEAD_BIAS=False)),
    "timm_rope_mixed": (as_rope_mixed, dict(MIXED)),
    "naver_rope_mixed": (as_navers_rope_mixed, dict(MIXED, LEARNED_TOO=True, image_size=[8, 16])),
    "timm_uni": (headless, dict(
        SWIGLU, layer_scale=True, prefix=["class"] + 8 * ["register"], POSITION_ROWS="patches")),
    "blip": (as_blip, dict(SMALL, MODEL=Blip, norm_eps=1e-5, HEAD_BIAS=False)),
    "blip_retrieval": (as_blip_retrieval, dict(SMALL, norm_eps=1e-5)),
    "timm_virchow": (headless, dict(SWIGLU, layer_scale=True, prefix=["class"] + 4 * ["register"])),
    "timm_pe_spatial": (lambda tensors: as_deit3(headless(tensors)), dict(
        PE_CORE, pool="mean", layer_scale=True, final_norm=False)),
}
T2T_VIT = dict(
    MODEL=T2T, image_size=[48, 48], patch_size=[16, 16], channels=3, width=24, heads=2, mlp_width=30,
    norm_eps=1e-5, qkv_bias=False, position="sincos1d", HOLD=True, token_width=8)
OURS_SPLIT = {
    "t2t_vit_t": (as_t2t, dict(T2T_VIT, tokens_to_token="transformer", image_size=[32, 48])),
    "t2t_vit": (as_t2t, dict(T2T_VIT, tokens_to_token="performer")),
}


HEADLESS = ["dinov3", "facebook_dinov3", "perception_encoder", "vit_without_head", "dinov2", "dinov2_registers", "siglip", "siglip_of_timm",
            "dinov2_of_the_hub", "mae_with_decoder", "timm_map_registers",
            "dinov2_of_transformers_5", "siglip_of_transformers_5", "dinov2_in_chunks",
            "open_clip_of_timm", "timm_beit_shared", "timm_uni", "timm_virchow", "timm_pe_spatial"]


def make_other(name, build, options, seed):
    random = torch.Generator().manual_seed(seed)
    model, recorded = build(**options)
    draw_weights(model, torch.float32, random)
    model.train()  # so that nn.TransformerEncoderLayer takes no shortcut past its modules
    size = options.get("image_size", options.get("image"))
    channels = options.get("channels", 3)
    images = torch.randn(BATCH, channels, size, size, generator=random, dtype=torch.float32)
    logits = model(images.double())
    return model.state_dict(), "F32", dict(
        images=images, logits=logits, attention=torch.stack(recorded.attention, 1).flatten(0, 1),
        hidden=torch.stack(recorded.hidden, 1), tokens=recorded.tokens)


# Models with relative positions that run at another size too, and how their own code resizes the table.
SIZED, SIZE = {"timm_beit": "steps", "timm_beit_shared": "steps", "beit": "linear", "data2vec_vision": "linear"}, [20, 8]


def steps(from_side, to_side):
    """Where the offsets of a side lie in BEiT's code: 1, 1+q, 1+q+q²…, as far as those of the other side."""
    low, high = 1.01, 1.5
    while high - low > 1e-6:
        q = (low + high) / 2
        low, high = (low, q) if sum(q ** i for i in range(from_side - 1)) > to_side - 1 else (q, high)
    places = [sum(q ** j for j in range(i)) for i in range(from_side)]
    return np.array([-place for place in places[:0:-1]] + places)


def resized_table(table, case, way):
    """(offsets of a 3×3 grid and 3, heads) → the same of SIZE"""
    side = case["image_size"][0] // case["patch_size"][0]
    grid = [length // patch for length, patch in zip(SIZE, case["patch_size"])]
    offsets, rest = table[:-3].T.reshape(1, -1, 2 * side - 1, 2 * side - 1), table[-3:]
    if way == "linear":
        out = F.interpolate(offsets, size=[2 * length - 1 for length in grid], mode="bilinear")
    else:
        offsets_out = [np.arange(1 - length, length) for length in grid]
        along = lambda axis, x: np.apply_along_axis(lambda y: np.interp(offsets_out[axis], steps(side, grid[axis]), y), 2 + axis, x)
        out = torch.tensor(along(1, along(0, offsets.numpy())))
    return torch.cat([out.flatten(2)[0].T, rest])


def at_another_size(name, case, model, random):
    """The same weights, with resized positions."""
    tensors = dict(model.state_dict())
    for key in [key for key in tensors if key.endswith(TABLE)]:
        tensors[key] = resized_table(tensors[key], case, SIZED[name])
    other = {**case, "image_size": SIZE}
    if "pos_embed" in tensors:
        side, (rows, columns) = case["image_size"][0] // 4, [length // 4 for length in SIZE]
        first, grid = tensors["pos_embed"][:, :1], tensors["pos_embed"][:, 1:]
        grid = F.interpolate(grid.transpose(1, 2).reshape(1, -1, side, side), size=[rows, columns], mode="bicubic")
        tensors["pos_embed"] = torch.cat([first, grid.flatten(2).transpose(1, 2)], 1)
    larger = case["MODEL"](other)
    larger.load_state_dict(tensors)
    images = torch.randn(1, case["channels"], *SIZE, generator=random, dtype=torch.float32)
    logits = larger(images.double())
    return dict(images=images, **(dict(tokens=larger.tokens) if name in HEADLESS else dict(logits=logits)))


def make_ours(name, rename, differs, seed):
    case = {**DEFAULTS, **differs}
    random = torch.Generator().manual_seed(seed)
    model = case.get("MODEL", VisionTransformer)(case)
    dtype = case.get("DTYPE", "F32")
    draw_weights(model, DTYPES[dtype], random)
    images = torch.randn(BATCH, case["channels"], *case["image_size"], generator=random,
                         dtype=torch.float32)
    if name == "deit_of_one_head":  # only the head of the class token is left
        model.head_dist = None
        model.__dict__.pop("head_dist", None)
        del model._modules["head_dist"]
    logits = model(images.double())
    results = dict(images=images, logits=logits, attention=model.attention.flatten(0, 1),
                   hidden=model.hidden, tokens=model.tokens, pooled=model.pooled)
    tensors = rename(model.state_dict())
    if name in HEADLESS:
        del results["logits"]
    if name in SIZED:
        results["sized"] = at_another_size(name, case, model, random)
    return tensors, dtype, results


# Each case's seed is its place among its own, from the first one's.
CASES = [(1, OTHERS, make_other), (1 + len(OTHERS), OURS, make_ours), (100, OTHERS_LATER, make_other),
         (200, OURS_LATER, make_ours), (300, OURS_LATEST, make_ours), (400, OURS_ROTARY, make_ours),
         (500, OURS_POOLED, make_ours), (600, OURS_SPLIT, make_ours)]

if __name__ == "__main__":
    folder = started("families")
    for start, cases, build in CASES:
        for seed, name in enumerate(cases, start):
            tensors, dtype, results = build(name, *cases[name], seed)
            sized = results.pop("sized", None)
            write_case(folder / name, tensors, results, dtype=dtype)
            if sized:
                write_safetensors(folder / f"{name}.sized.golden.safetensors", {n: ("F32", t) for n, t in sized.items()})
            print(name)
