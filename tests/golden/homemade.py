#!/usr/bin/python3
"""Golden vectors of Vision Transformers as people write them by hand: tests/golden/homemade/.

    python3 tests/golden/homemade.py [FOLDER]    PyTorch from 1.13 on

NAME.safetensors         the tensors under the names of a tutorial's code
NAME.golden.safetensors  images (B,C,H,W), logits (B,K); its metadata `answers` says what no tensor tells
"""

import json

import torch
from torch import nn

from make import BATCH, draw_weights, started, write_safetensors

WIDTH, HEADS, HIDDEN, CLASSES, DEPTH, SIDE = 8, 2, 12, 3, 2, 28


def attend(q, k, v, heads, scale, shares=1.0):
    def apart(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)

    weights = (apart(q) @ apart(k).transpose(-1, -2) * scale).softmax(-1) * shares
    return (weights @ apart(v)).transpose(1, 2).flatten(2)


class HeadByHead(nn.Module):
    """A Linear for each head's queries, keys and values."""

    def __init__(self):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, name, nn.ModuleList(nn.Linear(WIDTH, WIDTH // HEADS) for _ in range(HEADS)))
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (torch.cat([one(x) for one in part], -1) for part in (self.query, self.key, self.value))
        return self.mix(attend(q, k, v, HEADS, (WIDTH // HEADS) ** -0.5))


class OnSlices(nn.Module):
    """Each head reads its own slice of the token, and nothing mixes them."""

    def __init__(self):
        super().__init__()
        d = WIDTH // HEADS
        for name in ("q_mappings", "k_mappings", "v_mappings"):
            setattr(self, name, nn.ModuleList(nn.Linear(d, d) for _ in range(HEADS)))

    def forward(self, x):
        slices = x.chunk(HEADS, -1)
        q, k, v = (torch.cat([one(part) for one, part in zip(maps, slices)], -1)
                   for maps in (self.q_mappings, self.k_mappings, self.v_mappings))
        return attend(q, k, v, HEADS, (WIDTH // HEADS) ** -0.5)


class Twice(nn.Module):
    """Linears before the projections of nn.MultiheadAttention."""

    def __init__(self):
        super().__init__()
        for name in ("to_q", "to_k", "to_v"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH, bias=False))
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, x):
        return self.attention(self.to_q(x), self.to_k(x), self.to_v(x))[0]


class Unscaled(nn.Module):
    """The shares are divided by the root of the width, after the softmax."""

    def __init__(self):
        super().__init__()
        for name in ("queries", "keys", "values", "projection"):
            setattr(self, name, nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        return self.projection(attend(self.queries(x), self.keys(x), self.values(x), HEADS, 1.0, WIDTH ** -0.5))


class Interleaved(nn.Module):
    """One Linear, whose rows hold for each head, and in it for each number, a query, a key and a value."""

    def __init__(self):
        super().__init__()
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.flatten(2) for part in self.qkv(x).unflatten(-1, (HEADS, WIDTH // HEADS, 3)).unbind(-1))
        return self.projection(attend(q, k, v, HEADS, 1.0, WIDTH ** -0.5))


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.projection(attend(*self.qkv(x).chunk(3, -1), HEADS, (WIDTH // HEADS) ** -0.5))


class WithoutBias(nn.Module):
    """nn.LayerNorm(bias=False) of later versions of PyTorch."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.weight)


class Block(nn.Module):
    def __init__(self, attention, activation, order, norm):
        super().__init__()
        self.ln_a, self.look = norm(WIDTH), attention()
        self.ln_b = norm(WIDTH)
        self.think = nn.Sequential(nn.Linear(WIDTH, HIDDEN), activation(), nn.Dropout(0.1), nn.Linear(HIDDEN, WIDTH))
        self.order = order

    def forward(self, x):
        if self.order == "post":
            x = self.ln_a(x + self.look(x))
            return self.ln_b(x + self.think(x))
        if self.order == "late":
            x = self.ln_a(x)
            x = self.ln_b(x + self.look(x))
            return x + self.think(x)
        x = x + self.look(self.ln_a(x))
        return x + (self.ln_b(self.think(x)) if self.order == "after" else self.think(self.ln_b(x)))


class Model(nn.Module):
    def __init__(self, patches, count, attention, head, activation=nn.GELU, order="pre", pool="class", norm=nn.LayerNorm, before=False, last=False):
        super().__init__()
        self.patches, self.pool = patches, pool
        self.first = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.place = nn.Parameter(torch.zeros(1, count + 1, WIDTH))
        self.smooth = norm(WIDTH) if before else nn.Identity()
        self.stack = nn.ModuleList(Block(attention, activation, order, norm) for _ in range(DEPTH))
        self.ln = norm(WIDTH) if last else nn.Identity()
        self.answer = head

    def forward(self, x):
        x = self.patches(x)
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.place
        x = self.smooth(x)
        for block in self.stack:
            x = block(x)
        x = self.ln(x)
        return self.answer(x[:, 0] if self.pool == "class" else x.mean(1))


class Unfolded(nn.Module):
    """Patches as rows of numbers, channel by channel."""

    def __init__(self, side, stride):
        super().__init__()
        self.unfold, self.linear = nn.Unfold(side, stride=stride), nn.Linear(side * side, WIDTH)

    def forward(self, x):
        return self.linear(self.unfold(x).transpose(1, 2))


class Convolved(nn.Module):
    def __init__(self, side, between=None):
        super().__init__()
        self.conv = nn.Conv2d(1, between or WIDTH, side, side)
        self.linear = nn.Linear(between, WIDTH) if between else nn.Identity()

    def forward(self, x):
        return self.linear(self.conv(x).flatten(2).transpose(1, 2))


def linear():
    return nn.Linear(WIDTH, CLASSES)


ANSWERS = {"heads": HEADS, "norm": "pre", "activation": "gelu", "pool": "class"}
CASES = {
    "overlapping_hidden_head": (
        lambda: Model(Unfolded(7, 3), 64, HeadByHead, nn.Sequential(nn.Linear(WIDTH, 6), nn.Tanh(), nn.Linear(6, CLASSES))),
        {"activation": "gelu", "image_size": [SIDE, SIDE], "head_activation": "tanh"}),
    "slices_norm_after": (
        lambda: Model(Convolved(7), 16, OnSlices, linear(), order="after"), {"mlp_norm_after": True}),
    "twice_post_relu": (
        lambda: Model(Convolved(7, 5), 16, Twice, nn.Sequential(nn.Linear(WIDTH, 6), nn.Linear(6, CLASSES)), nn.ReLU, "post"),
        {"norm": "post", "activation": "relu", "head_activation": "none"}),
    "unscaled_mean": (
        lambda: Model(Convolved(7), 16, Unscaled, nn.Sequential(nn.LayerNorm(WIDTH), linear()), pool="mean"),
        {"pool": "mean", "pool_prefix": True, "attention_scale": "after_softmax"}),
    "interleaved": (
        lambda: Model(Convolved(7), 16, Interleaved, linear()), {"attention_scale": "after_softmax", "qkv_order": "h d qkv"}),
    "norms_in_a_row": (
        lambda: Model(Convolved(7), 16, Fused, nn.Sequential(nn.LayerNorm(WIDTH), linear()), before=True, last=True),
        {"early_norm": "tokens"}),
    "norms_without_bias": (  # saved while nn.DataParallel was around it
        lambda: nn.ModuleDict({"module": Model(Convolved(7), 16, Fused, linear(), pool="mean", norm=WithoutBias, last=True)}),
        {"pool": "mean", "pool_prefix": True, "norm_bias": "none"}),
    "normed_residual": (  # what a branch is added to has gone through the norm too
        lambda: Model(Convolved(7), 16, Fused, nn.Sequential(nn.LayerNorm(WIDTH), linear()), nn.ReLU, order="late"),
        {"activation": "relu", "norm_order": "norm(x) + f(norm(x))"}),
}


if __name__ == "__main__":
    folder = started("homemade")
    for seed, (name, (build, differs)) in enumerate(CASES.items(), start=1):
        random = torch.Generator().manual_seed(seed)
        model = build().eval()
        draw_weights(model, torch.float32, random)
        images = torch.randn(BATCH, 1, SIDE, SIDE, generator=random, dtype=torch.float32)
        with torch.no_grad():
            logits = (model["module"] if isinstance(model, nn.ModuleDict) else model)(images.double())
        write_safetensors(folder / f"{name}.safetensors", {n: ("F32", t) for n, t in model.state_dict().items()})
        write_safetensors(folder / f"{name}.golden.safetensors", {"images": ("F32", images), "logits": ("F32", logits)},
                          {"answers": json.dumps({**ANSWERS, **differs})})
        print(name)
