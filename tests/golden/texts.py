#!/usr/bin/python3
"""Golden vectors of decoders: torch.nn.TransformerDecoder behind make.py's Vision Transformer.

    python3 tests/golden/texts.py [FOLDER]

NAME.safetensors         the model, in our names
NAME.golden.safetensors  of B images and texts, each text about its own image:
    images (B,C,H,W), ids (B,S+1): the texts, whose last token is only predicted, logits (B,S,V),
    loss (1): the sum over all tokens that are no padding, grad.NAME: its gradient
"""

import json

import torch
from torch import nn
import torch.nn.functional as F

import make

S, V = 6, 11
IMAGE = dict(image_size=[8, 8], width=12, depth=1, heads=2, mlp_width=14, classes=0)
TEXT = dict(depth=2, heads=2, mlp_width=13, vocabulary=V, max_tokens=S, start=1, end=2, padding=0)
CASES = {
    "decoder_pre": dict(width=12, norm="pre", norm_eps=1e-6, activation="gelu"),
    "decoder_post": dict(width=12, norm="post", norm_eps=1e-5, activation="relu", final_norm=False,
                         position="sincos1d", tied_head=True, head_bias=False),
}
# The names of torch's TransformerDecoderLayer, and ours.
NAMES = {"self_attn.in_proj_weight": ["attn.qkv.weight"], "self_attn.in_proj_bias": ["attn.qkv.bias"],
         "multihead_attn.in_proj_weight": ["cross.q.weight", "cross.kv.weight"],
         "multihead_attn.in_proj_bias": ["cross.q.bias", "cross.kv.bias"]}
PARTS = {"self_attn.out_proj": "attn.proj", "multihead_attn.out_proj": "cross.proj", "norm1": "norm1",
         "norm2": "cross_norm", "norm3": "norm2", "linear1": "mlp.fc1", "linear2": "mlp.fc2"}


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        D, pre = c["width"], c["norm"] == "pre"
        layer = nn.TransformerDecoderLayer(
            D, c["heads"], c["mlp_width"], dropout=0, activation=c["activation"],
            layer_norm_eps=c["norm_eps"], batch_first=True, norm_first=pre)
        final = nn.LayerNorm(D, c["norm_eps"]) if c.get("final_norm", True) else None
        self.layers = nn.TransformerDecoder(layer, c["depth"], final)
        self.embed = nn.Parameter(torch.empty(V, D))
        self.position = None if "position" in c else nn.Parameter(torch.empty(1, S, D))
        self.head = None if c.get("tied_head") else nn.Linear(D, V)

    def forward(self, ids, memory):
        D = self.embed.shape[1]
        x = self.embed[ids] + (make.sincos1d(S, D) if self.position is None else self.position)
        mask = torch.full((S, S), float("-inf")).triu(1)
        x = self.layers(x, memory, tgt_mask=mask)
        return x @ self.embed.T if self.head is None else self.head(x)

    def ours(self, of=lambda p: p):
        """Our names and `of` each parameter, cut where ours are."""
        yield "token_embed.weight", of(self.embed)
        if self.position is not None:
            yield "pos_embed", of(self.position)
        for name, p in [*self.layers.named_parameters(), *(self.head.named_parameters("head") if self.head else [])]:
            kind = ".".join(name.split(".")[2:])
            if name.startswith("layers."):
                block = f"blocks.{name.split('.')[1]}."
                part, _, end = kind.rpartition(".")
                names = NAMES.get(kind, [f"{PARTS.get(part)}.{end}"])
                pieces = of(p).split([len(p) // 3, 2 * len(p) // 3]) if len(names) > 1 else [of(p)]
                yield from zip((block + n for n in names), pieces)
            else:
                yield name, of(p)


def save(folder, name, text, seed):
    random = torch.Generator().manual_seed(seed)
    image = {**make.DEFAULTS, **IMAGE}
    encoder, decoder = make.VisionTransformer(image), Decoder({**TEXT, **text})
    encoder.head = nn.Identity()
    for model in encoder, decoder:
        make.draw_weights(model, torch.float32, random)
    images = torch.randn(make.BATCH, 1, 8, 8, generator=random, dtype=torch.float32).double()
    ids = torch.randint(V, (make.BATCH, S + 1), generator=random)
    encoder(images)
    logits = decoder(ids[:, :-1], encoder.tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0, reduction="sum")
    loss.backward()
    results = dict(images=images, ids=ids, logits=logits, loss=loss.reshape(1))
    of_encoder = {n: p for n, p in encoder.named_parameters()}
    results.update({f"grad.{n}": p.grad for n, p in of_encoder.items()})
    results.update({f"grad.decoder.{n}": g for n, g in decoder.ours(lambda p: p.grad)})
    tensors = {**of_encoder, **{f"decoder.{n}": p for n, p in decoder.ours()}}
    make.write_case(folder / name, tensors, results, {"vitrine": json.dumps({**image, "decoder": {**TEXT, **text}})})


if __name__ == "__main__":
    folder = make.started("texts")
    for seed, (name, text) in enumerate(CASES.items(), start=70):
        save(folder, name, text, seed)
        print(name)
