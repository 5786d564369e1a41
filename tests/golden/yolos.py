#!/usr/bin/python3
"""Golden vectors of YOLOS (Fang et al., arXiv:2106.00666): tests/golden/yolos/.

    python3 tests/golden/yolos.py [FOLDER]    PyTorch, from 1.13 on, and Pillow, from 9.1 on

A model of make.py's blocks whose tokens are the class token, the patches, then detection tokens. After
each block but the last it may add positions again, and two MLPs read the detection tokens. Each of CASES
has two files:

NAME.safetensors         the model; its config in __metadata__.vitrine if the file is of our own format
NAME.golden.safetensors  all F32: images (B,C,H,W), logits (B,n,K+5): K+1 scores, then a box of 0 to 1;
                         attention (B·L,h,T,T), hidden (B,L,T,D) and tokens (B,T,D) with the detection
                         tokens before the patches, as here

Those of PHOTO have photos too: NAME.photos.safetensors has for each of PHOTOS its rows and columns, those of
the image that it becomes, and logits (photos,n,K+5).
"""

import fractions

import json

import torch
from PIL import Image
from torch import nn
import torch.nn.functional as F

from families import QKV, VIT, behind, renamed
from make import BATCH, Block, DEFAULTS, PatchEmbed, draw_weights, started, write_case, write_safetensors

SMALL = dict(DEFAULTS, image_size=[8, 12], channels=3, classes=5, norm_eps=1e-12, detections=3)

# Name → whether the file is of our own format, and the config. GRID: that of the positions in the file.
CASES = {
    "own": (True, dict(SMALL, depth=3, mid_position=True)),
    "own_resized": (True, dict(SMALL, depth=3, mid_position=True, image_size=[12, 8], position_size=[8, 20],
                               position_resize="plain", GRID=[2, 5])),
    "transformers": (False, dict(SMALL, activation="relu")),
    "transformers_mid": (False, dict(SMALL, depth=3, mid_position=True, image_size=[16, 8],
                                     position_size=[8, 20], position_resize="plain", GRID=[2, 5])),
    "hustvl": (False, dict(SMALL, depth=3, mid_position=True, image_size=[16, 8], position_size=[8, 20],
                           position_resize="plain", norm_eps=1e-6, GRID=[2, 5])),
}

PHOTO = ["transformers_mid", "hustvl"]
# Rows and columns, and the lengths of the shorter and at most of the longer side. Each length is then reduced
# to a multiple of 16.
PHOTOS, EDGES = [(40, 30), (17, 50), (90, 40), (33, 33), (32, 70)], (32, 53)
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Mlp(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, n) for n in [width, width, out])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class Yolos(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, self.n = c["width"], c["detections"]
        self.image = [i // p for i, p in zip(c["image_size"], c["patch_size"])]
        self.grid = c.get("GRID", self.image)
        length = 1 + self.grid[0] * self.grid[1] + self.n
        self.cls_token = nn.Parameter(torch.empty(1, 1, D))
        self.det_token = nn.Parameter(torch.empty(1, self.n, D))
        self.pos_embed = nn.Parameter(torch.empty(1, length, D))
        if c.get("mid_position"):
            self.mid_pos_embed = nn.Parameter(torch.empty(c["depth"] - 1, 1, length, D))
        self.patch_embed = PatchEmbed(c)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["depth"]))
        self.norm = nn.LayerNorm(D, eps=c["norm_eps"])
        self.class_embed = Mlp(D, c["classes"] + 1)
        self.bbox_embed = Mlp(D, 4)

    def resized(self, positions):
        """(1,length,D): the class token's, the patches', the detection tokens'."""
        first, grid, last = positions[:, :1], positions[:, 1:-self.n], positions[:, -self.n:]
        grid = grid.transpose(1, 2).reshape(1, -1, *self.grid)
        grid = F.interpolate(grid, size=self.image, mode="bicubic", align_corners=False)
        return torch.cat([first, grid.flatten(2).transpose(1, 2), last], dim=1)

    def forward(self, images):
        x = self.patch_embed(images)
        expand = lambda token: token.expand(len(x), -1, -1)
        x = torch.cat([expand(self.cls_token), x, expand(self.det_token)], dim=1)
        x = x + self.resized(self.pos_embed)
        hidden = []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if hasattr(self, "mid_pos_embed") and i + 1 < len(self.blocks):
                x = x + self.resized(self.mid_pos_embed[i])
            hidden.append(x)
        self.hidden = torch.stack(hidden, dim=1)
        self.attention = torch.stack([block.attn.weights for block in self.blocks], dim=1)
        self.tokens = x = self.norm(x)
        found = x[:, -self.n:]
        return torch.cat([self.class_embed(found), self.bbox_embed(found).sigmoid()], dim=-1)


def in_order(tokens, n, dim):
    """The class token, then the last n, then the patches."""
    order = [0, *range(tokens - n, tokens), *range(1, tokens - n)]
    return lambda x: x.index_select(dim, torch.tensor(order))


def own_size(rows, columns):
    ratio = fractions.Fraction(max(rows, columns), min(rows, columns))
    shorter = min(fractions.Fraction(EDGES[0]), EDGES[1] / ratio)
    sides = [length // 16 * 16 for length in [round(shorter), int(shorter * ratio)]]
    return sides if rows <= columns else sides[::-1]


def photo(rows, columns):
    data = bytes((7 * x + 13 * y + 29 * c + x * y) % 256 for y in range(rows) for x in range(columns) for c in range(3))
    return Image.frombytes("RGB", (columns, rows), data)


def prepared(image, rows, columns):
    image = image.resize((columns, rows), Image.Resampling.BILINEAR)
    values = torch.tensor(list(image.getdata()), dtype=torch.float64).reshape(1, rows, columns, 3) / 255
    return ((values - torch.tensor(MEAN)) / torch.tensor(STD)).permute(0, 3, 1, 2)


def find(model, patch):
    """→ sizes (photos,4) and logits (photos,n,K+5)"""
    sizes, logits = [], []
    for rows, columns in PHOTOS:
        size = own_size(rows, columns)
        model.image = [side // patch for side, patch in zip(size, patch)]
        sizes.append([rows, columns, *size])
        logits.append(model(prepared(photo(rows, columns), *size))[0])
    return dict(sizes=torch.tensor(sizes), logits=torch.stack(logits))


NAMES = VIT + [
    (r"det_token", "embeddings.detection_tokens"),
    (r"mid_pos_embed", "encoder.mid_position_embeddings"),
    (r"class_embed", "class_labels_classifier"),
    (r"bbox_embed", "bbox_predictor"),
]


def make(folder, name, own, case, seed):
    random = torch.Generator().manual_seed(seed)
    model = Yolos(case)
    draw_weights(model, torch.float32, random)
    images = torch.randn(BATCH, 3, *case["image_size"], generator=random, dtype=torch.float32).double()
    logits = model(images)
    order = lambda x, dim: in_order(model.tokens.shape[1], model.n, dim)(x)
    results = dict(
        images=images, logits=logits, tokens=order(model.tokens, 1), hidden=order(model.hidden, 2),
        attention=order(order(model.attention, 3), 4).flatten(0, 1))
    tensors, metadata = dict(model.state_dict()), None
    if own:
        before = model.pos_embed.shape[1]
        for key, dim in [("pos_embed", 1), ("mid_pos_embed", 2)]:
            tensors[key] = in_order(before, model.n, dim)(tensors[key])
        tensors["mid_pos_embed"] = tensors["mid_pos_embed"].squeeze(1)
        config = {key: value for key, value in case.items() if not key.isupper()}
        metadata = {"vitrine": json.dumps({**config, "labels": [f"n° {k}" for k in range(case["classes"])]})}
    elif name == "hustvl":
        tensors = behind("backbone.", tensors, ["class_", "bbox_"])
    else:
        tensors = behind("vit.", renamed(tensors, NAMES, QKV), ["class_", "bbox_"])
    write_case(folder / name, tensors, results, metadata)
    if name in PHOTO:
        found = find(model, case["patch_size"])
        write_safetensors(folder / f"{name}.photos.safetensors", {n: ("F32", t) for n, t in found.items()})


if __name__ == "__main__":
    folder = started("yolos")
    for seed, (name, (own, case)) in enumerate(CASES.items(), start=1):
        make(folder, name, own, case, seed)
        print(name)
