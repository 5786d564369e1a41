#!/usr/bin/python3
"""Golden vectors: an independent Vision Transformer in plain PyTorch, and its results.

    python3 tests/golden/make.py [FOLDER]       any PyTorch from 1.13 on; no other package

The model below knows nothing of the C code. It is written from src/README.md's config and timm's
names alone, in PyTorch's own layers. Weights are drawn as float32 or rounded to the file's type, the
model runs in float64, and results are stored as float32. Each of CASES has two files in the
safetensors format:

NAME.safetensors         the model: timm's tensor names, its config in __metadata__.vitrine
NAME.golden.safetensors  its results for a batch of B images; every tensor is F32:
    images     (B,C,H,W)
    labels     (B)           class numbers
    logits     (B,K)
    attention  (B·L,h,T,T)   of every block: B, then L
    hidden     (B,L,T,D)     the tokens after every block
    tokens     (B,T,D)       after the last block and the final norm
    smoothing  (1)           of the labels in the loss
    loss       (1)           mean cross-entropy over the batch
    dlogits    (B,K)         the loss's gradient by the logits
    grad.NAME                the loss's gradient by each tensor of the model, in that tensor's
                             shape; by a resized pos_embed, in the shape after resizing
    relevance  (B,K,N)       of each class, by gradient × attention, if the pool is class or mean

The same PyTorch on the same kind of machine gives the same bytes each time.
"""

import json
import pathlib
import struct
import sys

import torch
from torch import nn
import torch.nn.functional as F

BATCH = 3

DEFAULTS = dict(
    image_size=[8, 8], patch_size=[4, 4], channels=1, width=12, depth=2, heads=3, mlp_width=28,
    classes=7, norm="pre", norm_eps=1e-6, final_norm=True, activation="gelu", position="learned",
    pool="class", qkv_bias=True, qk_norm=False, layer_scale=False, prefix=["class"],
    attention="standard")

# Name → the differences from DEFAULTS. Keys in capitals are no config keys. They shape the file:
# DTYPE       the tensors' type
# PAD         whether the header is padded to 8 bytes
# FC_NORM     fc_norm in place of norm, or "both"
# LEARNED_TOO whether there is a pos_embed besides relative positions
# POSITION_ROWS "patches": pos_embed has no rows for the prefix
# HOLD        the file holds the fixed positions
# GRID        the side, or sides, of the grid that pos_embed was made for; it is resized as in timm
# NORM_PRE, PATCH_BIAS, HEAD_BIAS (families.py): as in CLIP
CASES = {
    "pre_gelu_learned": dict(image_size=[12, 12], depth=3),
    "post_relu_sincos1d_mean": dict(
        norm="post", activation="relu", position="sincos1d", pool="mean", prefix=[], width=15,
        mlp_width=31, image_size=[12, 12], final_norm=False, norm_eps=1e-5),
    "tanh_sincos2d_rectangular": dict(
        image_size=[12, 20], patch_size=[4, 5], channels=3, width=20, heads=4, classes=10,
        activation="gelu_tanh", position="sincos2d"),
    "quick_none_mean": dict(
        activation="quick_gelu", position="none", pool="mean", channels=2, patch_size=[2, 4]),
    "distillation": dict(prefix=["class", "distillation"], image_size=[12, 8]),
    "registers_scale_qknorm": dict(
        prefix=["class", "register", "register", "register"], layer_scale=True, qk_norm=True,
        qkv_bias=False, width=20, heads=4, norm_eps=1e-5),
    "per_head": dict(  # the shape of the classic tutorial's model
        image_size=[28, 28], width=8, heads=2, mlp_width=32, classes=10, position="sincos1d",
        attention="per_head", final_norm=False, norm_eps=1e-5),
    "per_head_qknorm": dict(
        attention="per_head", qk_norm=True, qkv_bias=False, layer_scale=True, norm="post"),
    "fc_norm": dict(pool="mean", FC_NORM=True, position="sincos2d", HOLD=True),
    "fc_norm_no_prefix": dict(pool="mean", FC_NORM=True, prefix=[], image_size=[12, 12]),
    "patch_positions": dict(
        POSITION_ROWS="patches", prefix=["class", "register"], width=20, heads=4),
    "positions_enlarged": dict(image_size=[12, 20], GRID=2),
    "positions_reduced": dict(image_size=[12, 8], GRID=7, POSITION_ROWS="patches"),
    "post_scale_final": dict(norm="post", layer_scale=True, activation="relu", norm_eps=1e-3),
    "one_block_one_head": dict(
        depth=1, heads=1, width=5, mlp_width=3, classes=2, image_size=[3, 1], patch_size=[1, 1],
        PAD=False),
    "half": dict(DTYPE="F16", image_size=[12, 12]),
    "bfloat": dict(DTYPE="BF16", image_size=[12, 12], PAD=False),
    "relative": dict(position="relative", image_size=[12, 8]),
    "relative_no_prefix": dict(
        position="relative", pool="mean", prefix=[], image_size=[8, 12], qk_norm=True,
        layer_scale=True),
    "relative_registers": dict(
        position="relative", prefix=["class", "register", "register"], width=20, heads=4),
    "stem": dict(image_size=[12, 20], stem=[6, 9]),
    "stem_of_three": dict(
        image_size=[16, 24], patch_size=[16, 8], channels=3, stem=[4, [5, 1], 6], position="sincos2d",
        activation="gelu_tanh"),
    "no_residual": dict(residual=False, image_size=[12, 8], depth=3),
    "no_residual_post_scale_mean": dict(
        residual=False, norm="post", layer_scale=True, pool="mean", prefix=[]),
    "relative_learned": dict(position="relative", LEARNED_TOO=True, image_size=[8, 12]),
    "rotary": dict(
        position="rotary", image_size=[12, 20], prefix=["class", "register", "register"], width=24,
        qk_norm=True, layer_scale=True, qkv_bias=False),
    "rotary_learned": dict(
        position="rotary", LEARNED_TOO=True, image_size=[12, 8], rotary_places="from_1",
        rotary_base=10000, rotary_first="columns", rotary_pairs="neighbours", rotary_grid=[6, 3]),
    "rotary_no_prefix": dict(
        position="rotary", image_size=[8, 16], width=16, heads=2, prefix=[], pool="mean",
        rotary_places="from_0", rotary_base=30, rotary_pairs="neighbours"),
    "gated": dict(mlp="gated", activation="silu", mlp_width=19),
    "gated_norm": dict(
        mlp="gated", activation="silu", mlp_norm=True, norm="post", layer_scale=True, pool="mean"),
    "attention_pool": dict(
        image_size=[12, 8], width=24, position="rotary", LEARNED_TOO=True, pool="attention", pool_heads=4,
        pool_mlp_width=19, pool_prefix=True),
    "rotary_mixed": dict(
        image_size=[12, 20], prefix=["class", "register", "register"], width=24, position="rotary",
        rotary_frequencies="learned", rotary_places="from_0", rotary_first="columns",
        rotary_pairs="neighbours"),
    "head_norm": dict(FC_NORM="both", norm="post", activation="relu", image_size=[8, 12]),
}

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


# ---- The model -------------------------------------------------------------------------


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


ACTIVATIONS = {"silu": F.silu, "gelu": F.gelu, "gelu_tanh": gelu_tanh, "quick_gelu": quick_gelu, "relu": F.relu}


def sincos1d(tokens, width):
    """Vaswani et al.: position / 10000^(column pair / D); sin on even columns, cos on odd ones."""
    table = torch.empty(tokens, width)
    for t in range(tokens):
        for column in range(width):
            angle = torch.tensor(t / 10000 ** (column // 2 * 2 / width))
            table[t, column] = angle.cos() if column % 2 else angle.sin()
    return table


def sincos2d(rows, columns, width, prefix):
    """MoCo v3, MAE: D/2 numbers for the column, then D/2 for the row; each all sin, then all cos."""
    omega = 10000.0 ** -(torch.arange(width // 4) / (width / 4))

    def encode(place):
        angle = place.reshape(-1, 1) * omega
        return torch.cat([angle.sin(), angle.cos()], dim=1)

    row, column = torch.meshgrid(
        torch.arange(rows, dtype=torch.float64), torch.arange(columns, dtype=torch.float64),
        indexing="ij")
    grid = torch.cat([encode(column.flatten()), encode(row.flatten())], dim=1)
    return torch.cat([torch.zeros(prefix, width), grid])


def places_of(c):
    """Each patch's two coordinates, that of rotary_first first, as columns (N,1)."""
    rows, columns = sides = [i // p for i, p in zip(c["image_size"], c["patch_size"])]
    grid = c.get("rotary_grid", sides)
    places = []
    for side, reference in zip(sides, grid):
        counted = torch.arange(side, dtype=torch.float64)
        places.append({
            "minus_1_to_1": 2 * torch.pi * ((counted + 0.5) / side * 2 - 1),
            "from_0": counted * reference / side,
            "from_1": (counted + 1) * reference / side,
        }[c.get("rotary_places", "minus_1_to_1")])
    down, right = torch.meshgrid(*places, indexing="ij")
    both = [right, down] if c.get("rotary_first") == "columns" else [down, right]
    return [place.reshape(-1, 1) for place in both]


def turns(angles, prefix):
    """Complex numbers by which pairs are multiplied; the prefix's are 1."""
    angles = torch.cat([torch.zeros(*angles.shape[:-2], prefix, angles.shape[-1]), angles], dim=-2)
    return torch.complex(angles.cos(), angles.sin())


def rotary(c):
    """Complex numbers (T,d/2)."""
    quarter = c["width"] // c["heads"] // 4
    frequencies = c.get("rotary_base", 100) ** -(torch.arange(quarter, dtype=torch.float64) / quarter)
    return turns(torch.cat([place * frequencies for place in places_of(c)], dim=1), len(c["prefix"]))


class MixedRotary(nn.Module):
    """rope-vit's: every pair of every head has a frequency of its own for each coordinate."""

    def __init__(self, c):
        super().__init__()
        self.places, self.prefix, self.heads = places_of(c), len(c["prefix"]), c["heads"]
        self.freqs = nn.Parameter(torch.empty(2, c["width"] // 2))

    def forward(self):
        first, second = self.freqs.reshape(2, self.heads, 1, -1)
        return turns(self.places[0] * first + self.places[1] * second, self.prefix)


def rotate(x, by, pairs):
    """x (B,h,T,d), whose pairs are neighbours, or the first number of each half and so on."""
    if pairs == "neighbours":
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * by).flatten(-2)
    real, imaginary = x.chunk(2, dim=-1)
    product = torch.complex(real, imaginary) * by
    return torch.cat([product.real, product.imag], dim=-1)


class PerHeadLinear(nn.Module):
    """Each head's q, k and v from its own slice of the token."""

    def __init__(self, width, heads, bias):
        super().__init__()
        self.heads = heads
        self.weight = nn.Parameter(torch.empty(3 * width, width // heads))
        self.bias = nn.Parameter(torch.empty(3 * width)) if bias else None

    def forward(self, x):
        slices = x.chunk(self.heads, dim=-1)
        out = []
        for rows in self.weight.chunk(3):  # of q, of k, of v
            out += [s @ matrix.T for s, matrix in zip(slices, rows.chunk(self.heads))]
        out = torch.cat(out, dim=-1)
        return out if self.bias is None else out + self.bias


class RelPosBias(nn.Module):
    """Swin's and BEiT's bias of the scores (T,T), with timm's name and order. The table has a row
    for each offset query - key, sorted by rows, then columns; then one for prefix to patch, one for
    patch to prefix, and one for prefix to prefix."""

    def __init__(self, c):
        super().__init__()
        rows, columns = (i // p for i, p in zip(c["image_size"], c["patch_size"]))
        prefix = len(c["prefix"])
        place = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
        offsets, index = torch.unique(
            (place[:, None] - place[None, :]).reshape(-1, 2), dim=0, return_inverse=True)
        self.index = torch.empty(prefix + rows * columns, prefix + rows * columns).long()
        self.index[prefix:, prefix:] = index.reshape(rows * columns, rows * columns)
        self.index[:prefix, prefix:] = len(offsets)
        self.index[prefix:, :prefix] = len(offsets) + 1
        self.index[:prefix, :prefix] = len(offsets) + 2
        self.relative_position_bias_table = nn.Parameter(
            torch.empty(len(offsets) + 3 * (prefix > 0), c["heads"]))

    def forward(self, scores):
        return scores + self.relative_position_bias_table[self.index].permute(2, 0, 1)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, self.heads = c["width"], c["heads"]
        d = D // self.heads
        if c["attention"] == "per_head":
            self.qkv = PerHeadLinear(D, self.heads, c["qkv_bias"])
            self.proj = nn.Identity()
        else:
            self.qkv = nn.Linear(D, 3 * D, bias=c["qkv_bias"])
            self.proj = nn.Linear(D, D)
        self.q_norm = nn.LayerNorm(d, eps=c["norm_eps"]) if c["qk_norm"] else nn.Identity()
        self.k_norm = nn.LayerNorm(d, eps=c["norm_eps"]) if c["qk_norm"] else nn.Identity()
        mixed = c.get("rotary_frequencies") == "learned"
        self.pairs, self.rotary = c.get("rotary_pairs"), None
        if mixed:
            self.rope = MixedRotary(c)
        elif c["position"] == "rotary":
            self.rotary = rotary(c)
        self.rel_pos = RelPosBias(c) if c["position"] == "relative" else nn.Identity()

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (
            part.reshape(B, T, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        q, k = self.q_norm(q), self.k_norm(k)
        by = self.rope() if hasattr(self, "rope") else self.rotary
        if by is not None:
            q, k = rotate(q, by, self.pairs), rotate(k, by, self.pairs)
        scores = q @ k.transpose(2, 3) / (D // self.heads) ** 0.5
        self.weights = self.rel_pos(scores).softmax(dim=-1)
        return self.proj((self.weights @ v).transpose(1, 2).reshape(B, T, D))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gated = c.get("mlp") == "gated"
        self.fc1 = nn.Linear(c["width"], c["mlp_width"] * (1 + self.gated))
        self.norm = nn.LayerNorm(c["mlp_width"], eps=c["norm_eps"]) if c.get("mlp_norm") else nn.Identity()
        self.fc2 = nn.Linear(c["mlp_width"], c["width"])
        self.activation = ACTIVATIONS[c["activation"]]

    def forward(self, x):
        if self.gated:
            gate, value = self.fc1(x).chunk(2, dim=-1)
            return self.fc2(self.norm(self.activation(gate) * value))
        return self.fc2(self.norm(self.activation(self.fc1(x))))


class AttentionPool(nn.Module):
    """A learned query gathers from the tokens; then comes an MLP. The names are timm's."""

    def __init__(self, c):
        super().__init__()
        D, self.heads = c["width"], c.get("pool_heads", c["heads"])
        self.latent = nn.Parameter(torch.empty(1, 1, D))
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.norm = nn.LayerNorm(D, eps=c["norm_eps"])
        self.mlp = Mlp(dict(c, mlp_width=c.get("pool_mlp_width", c["mlp_width"])))

    def forward(self, x):
        D = x.shape[-1]
        weight, bias = self.qkv.weight, self.qkv.bias
        q = F.linear(self.latent, weight[:D], bias[:D])
        k, v = F.linear(x, weight[D:], bias[D:]).chunk(2, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        weights = (q @ k.transpose(2, 3) / (D // self.heads) ** 0.5).softmax(dim=-1)
        x = self.proj((weights @ v).transpose(1, 2).flatten(1))
        return x + self.mlp(self.norm(x))


class LayerScale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        D = c["width"]
        self.post = c["norm"] == "post"
        self.skip = 1 if c.get("residual", True) else 0
        self.norm1 = nn.LayerNorm(D, eps=c["norm_eps"])
        self.attn = Attention(c)
        self.ls1 = LayerScale(D) if c["layer_scale"] else nn.Identity()
        self.norm2 = nn.LayerNorm(D, eps=c["norm_eps"])
        self.mlp = Mlp(c)
        self.ls2 = LayerScale(D) if c["layer_scale"] else nn.Identity()

    def forward(self, x):
        if self.post:
            x = self.norm1(self.skip * x + self.ls1(self.attn(x)))
            return self.norm2(self.skip * x + self.ls2(self.mlp(x)))
        x = self.skip * x + self.ls1(self.attn(self.norm1(x)))
        return self.skip * x + self.ls2(self.mlp(self.norm2(x)))


class Activation(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.forward = ACTIVATIONS[c["activation"]]


class PatchEmbed(nn.Module):
    def __init__(self, c):
        super().__init__()
        layers, channels = [], c["channels"]
        total = 1
        for layer in c.get("stem", []):
            out, stride = layer if isinstance(layer, list) else (layer, 2)
            layers += [nn.Conv2d(channels, out, 3, stride=stride, padding=1), Activation(c)]
            channels, total = out, total * stride
        self.backbone = nn.Sequential(*layers)
        size = tuple(p // total for p in c["patch_size"])
        self.proj = nn.Conv2d(
            channels, c["width"], kernel_size=size, stride=size, bias=c.get("PATCH_BIAS", True))

    def forward(self, images):
        return self.proj(self.backbone(images)).flatten(2).transpose(1, 2)


class VisionTransformer(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, K, prefix = c["width"], c["classes"], len(c["prefix"])
        rows, columns = (i // p for i, p in zip(c["image_size"], c["patch_size"]))
        tokens = prefix + rows * columns
        self.pool, self.prefix = c["pool"], prefix
        if "class" in c["prefix"]:
            self.cls_token = nn.Parameter(torch.empty(1, 1, D))
        if "distillation" in c["prefix"]:
            self.dist_token = nn.Parameter(torch.empty(1, 1, D))
        if registers := c["prefix"].count("register"):
            self.reg_token = nn.Parameter(torch.empty(1, registers, D))
        self.patches_only = c.get("POSITION_ROWS") == "patches"
        if c["position"] == "learned" or c.get("LEARNED_TOO"):
            self.grid = rows, columns
            self.made_for, self.antialias = c.get("GRID"), c.get("ANTIALIAS", True)
            if isinstance(self.made_for, int):
                self.made_for = [self.made_for] * 2
            length = self.made_for[0] * self.made_for[1] if self.made_for else rows * columns
            if not self.patches_only:
                length += prefix
            self.pos_embed = nn.Parameter(torch.empty(1, length, D))
        else:
            table = {
                "none": lambda: torch.zeros(tokens, D),
                "relative": lambda: torch.zeros(tokens, D),  # they are in the attention
                "rotary": lambda: torch.zeros(tokens, D),  # they too
                "sincos1d": lambda: sincos1d(tokens, D),
                "sincos2d": lambda: sincos2d(rows, columns, D, prefix),
            }[c["position"]]()
            self.register_buffer("pos_embed", table[None], persistent=c.get("HOLD", False))
        self.patch_embed = PatchEmbed(c)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["depth"]))
        fc_norm = c.get("FC_NORM", False)
        norm = lambda present: nn.LayerNorm(D, eps=c["norm_eps"]) if present else nn.Identity()
        self.norm_pre = norm(c.get("NORM_PRE", False))
        self.norm = norm(c["final_norm"] and fc_norm is not True)
        self.fc_norm = norm(fc_norm)
        if c["pool"] == "attention":
            self.attn_pool = AttentionPool(c)
            self.pool_prefix = c.get("pool_prefix", False)
        features = 2 * D if c["pool"] == "class_mean" else D
        self.head = nn.Linear(features, K, bias=c.get("HEAD_BIAS", True))
        if "distillation" in c["prefix"]:
            self.head_dist = nn.Linear(D, K)

    def positions(self):
        """pos_embed with its grid resized to the image's. It is kept for its gradient."""
        if getattr(self, "made_for", None) is None:
            return self.pos_embed
        patches = self.made_for[0] * self.made_for[1]
        rest, grid = self.pos_embed[:, :-patches], self.pos_embed[:, -patches:]
        grid = grid.reshape(1, *self.made_for, -1).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=self.grid, mode="bicubic", antialias=self.antialias)
        self.resized = torch.cat([rest, grid.flatten(2).transpose(1, 2)], dim=1)
        self.resized.retain_grad()
        return self.resized

    def forward(self, images):
        x = self.patch_embed(images)
        if self.patches_only:
            x = x + self.positions()
        names = ["cls_token", "dist_token", "reg_token"]
        prefix = [getattr(self, n).expand(len(x), -1, -1) for n in names if hasattr(self, n)]
        x = torch.cat(prefix + [x], dim=1)
        if not self.patches_only:
            x = x + self.positions()

        x = self.norm_pre(x)
        hidden = []
        for block in self.blocks:
            x = block(x)
            hidden.append(x)
        self.hidden = torch.stack(hidden, dim=1)
        self.attention = torch.stack([block.attn.weights for block in self.blocks], dim=1)
        self.tokens = x = self.norm(x)

        patches = x[:, self.prefix:]
        pooled = {
            "class": lambda: x[:, 0],
            "mean": lambda: patches.mean(dim=1),
            "max": lambda: patches.amax(dim=1),
            "mean_max": lambda: (patches.mean(dim=1) + patches.amax(dim=1)) / 2,
            "class_mean": lambda: x[:, 0],
            "attention": lambda: self.attn_pool(x if self.pool_prefix else patches),
        }[self.pool]()
        self.pooled = self.fc_norm(pooled)
        both = [self.pooled, x[:, 1:].mean(dim=1)]
        logits = self.head(torch.cat(both, dim=1) if self.pool == "class_mean" else self.pooled)
        if getattr(self, "head_dist", None):
            logits = (logits + self.head_dist(x[:, 1])) / 2
            self.pooled = (self.pooled + x[:, 1]) / 2  # as in timm; each head reads one of the two
        return logits


def relevance_of(model, logits):
    """(B,K,N): Chefer et al., arXiv:2103.15679, equations 5 and 6. R starts as the identity; the map
    is the mean of the rows that the head reads, less the identity's. Without residual connections
    there is no identity: R becomes A·R, and nothing is taken away."""
    weights = [block.attn.weights for block in model.blocks]
    tokens, prefix = weights[0].shape[-1], model.prefix
    read = slice(prefix, None) if model.pool == "mean" else slice(2 if hasattr(model, "head_dist") else 1)
    maps, skip = [], model.blocks[0].skip
    for logit in logits.sum(dim=0):
        R = torch.eye(tokens)
        for grad, weight in zip(torch.autograd.grad(logit, weights, retain_graph=True), weights):
            R = skip * R + (grad * weight).clamp(min=0).mean(dim=1) @ R
        maps.append((R - skip * torch.eye(tokens))[:, read, prefix:].mean(dim=1))
    return torch.stack(maps, dim=1)


# ---- The files -------------------------------------------------------------------------


def write_safetensors(path, tensors, metadata=None, pad=True):
    """tensors: name → (type's name, tensor). 8 bytes of header length, JSON, the data."""
    header, data, end = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, tensor) in tensors.items():
        tensor = tensor.detach().to(DTYPES[dtype]).contiguous()
        if dtype == "BF16":  # NumPy lacks this type
            tensor = tensor.view(torch.int16)
        raw = tensor.numpy().tobytes()
        header[name] = dict(
            dtype=dtype, shape=list(tensor.shape), data_offsets=[end, end + len(raw)])
        data.append(raw)
        end += len(raw)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    if pad:
        text += b" " * (-len(text) % 8)
    path.write_bytes(b"".join([struct.pack("<Q", len(text)), text, *data]))


def write_case(path, tensors, results, metadata=None, dtype="F32", pad=True):
    """The model and, in F32, its results."""
    write_safetensors(path.with_name(f"{path.name}.safetensors"), {n: (dtype, t) for n, t in tensors.items()}, metadata, pad)
    write_safetensors(path.with_name(f"{path.name}.golden.safetensors"), {n: ("F32", t) for n, t in results.items()})


def started(name=""):
    """The folder for the files: the command's argument, or this folder's `name`. Models run in float64 on one thread."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / name)
    folder.mkdir(exist_ok=True)
    return folder


def draw_weights(model, dtype, random):
    """Draws every tensor far from its usual start, so that a 0 or a 1 hides no mistake."""
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=random, dtype=torch.float32)
        if p.dim() == 1 and name.endswith(("weight", "gamma")):
            value = 1 + 0.3 * noise
        elif name.endswith(".bias") or p.dim() == 3:
            value = 0.4 * noise
        elif name.endswith("bias_table"):
            value = noise
        else:
            value = 1.2 * noise / p[0].numel() ** 0.5
        p.data = value.to(dtype).double()


def make(folder, name, differs, seed):
    case = {**DEFAULTS, **differs}
    config = {key: value for key, value in case.items() if not key.isupper()}
    config["labels"] = [f"n° {k}" for k in range(case["classes"])]
    config["seed"] = seed
    random = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(shape, generator=random, dtype=torch.float32).double()

    model = VisionTransformer(case)
    dtype = case.get("DTYPE", "F32")
    draw_weights(model, DTYPES[dtype], random)
    images = draw(BATCH, case["channels"], *case["image_size"])
    labels = torch.randint(case["classes"], (BATCH,), generator=random)
    smoothing = 0.1 if seed % 2 else 0.0

    logits = model(images)
    relevance = relevance_of(model, logits) if model.pool in ["class", "mean"] else None
    logits.retain_grad()
    loss = F.cross_entropy(logits, labels, label_smoothing=smoothing)
    loss.backward()

    results = dict(
        images=images, labels=labels, logits=logits, attention=model.attention.flatten(0, 1),
        hidden=model.hidden, tokens=model.tokens, smoothing=torch.tensor([smoothing]),
        loss=loss.reshape(1), dlogits=logits.grad)
    results.update({f"grad.{n}": p.grad for n, p in model.named_parameters()})
    if hasattr(model, "resized"):
        results["grad.pos_embed"] = model.resized.grad
    if relevance is not None:
        results["relevance"] = relevance

    write_case(folder / name, model.state_dict(), results, {"vitrine": json.dumps(config)}, dtype, case.get("PAD", True))


if __name__ == "__main__":
    for seed, (name, differs) in enumerate(CASES.items(), start=1):
        make(started(), name, differs, seed)
        print(name)
