#!/usr/bin/python3
"""Golden vectors of CLIP and SigLIP, whose texts are compared with images: torch.nn's own encoder layers and
attention, in tests/golden/towers/.

    python3 tests/golden/towers.py [FOLDER]

NAME.safetensors         the model, with transformers' names; its config.json in __metadata__
NAME.golden.safetensors  all F32: images (B,C,H,W), ids (N,S), text_embeds (N,P) of length 1, similarity (B,N):
                         transformers' logits_per_image; of CLIP also end_embeds (N,P): those of the same
                         texts if the config's eos_token_id is END
"""

import json
import math

import torch
from torch import nn
import torch.nn.functional as F

from make import draw_weights, gelu_tanh, quick_gelu, started, write_case

IMAGE, PATCH, WIDTH, MLP, HEADS = 8, 4, 8, 10, 2
TEXT_WIDTH, TEXT_MLP, TEXT_HEADS, VOCABULARY, S = 12, 14, 3, 20, 6
B, N, END = 2, 3, 4
P = {"clip": 7, "siglip": WIDTH}  # SigLIP's images are not projected
PARTS = {"self_attn.out_proj": "self_attn.out_proj", "norm1": "layer_norm1", "norm2": "layer_norm2",
         "linear1": "mlp.fc1", "linear2": "mlp.fc2"}


class Tower(nn.Module):
    def __init__(self, width, heads, mlp, depth, siglip):
        super().__init__()
        self.eps = 1e-6 if siglip else 1e-5
        layer = nn.TransformerEncoderLayer(
            width, heads, mlp, dropout=0, activation=gelu_tanh if siglip else quick_gelu,
            layer_norm_eps=self.eps, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, depth)
        self.norm = nn.LayerNorm(width, self.eps)

    def names(self, before):
        """transformers' names, and the tensors."""
        for i, layer in enumerate(self.layers.layers):
            tensors = dict(layer.named_parameters())
            for end in ["weight", "bias"]:
                rows = tensors[f"self_attn.in_proj_{end}"].chunk(3)
                for part, x in zip("qkv", rows):
                    yield f"{before}.encoder.layers.{i}.self_attn.{part}_proj.{end}", x
                for ours, theirs in PARTS.items():
                    yield f"{before}.encoder.layers.{i}.{theirs}.{end}", tensors[f"{ours}.{end}"]


class Text(Tower):
    def __init__(self, siglip):
        super().__init__(TEXT_WIDTH, TEXT_HEADS, TEXT_MLP, 2, siglip)
        self.siglip = siglip
        self.token = nn.Parameter(torch.empty(VOCABULARY, TEXT_WIDTH))
        self.position = nn.Parameter(torch.empty(S, TEXT_WIDTH))
        self.head = nn.Linear(TEXT_WIDTH, P["siglip" if siglip else "clip"], bias=siglip)

    def forward(self, ids, end):
        """end: which token is pooled; None: the one with the largest number."""
        mask = None if self.siglip else torch.full((S, S), -math.inf).triu(1)
        x = self.norm(self.layers(self.token[ids] + self.position, mask))
        at = ids.argmax(-1) if end is None else (ids == end).int().argmax(-1)
        return self.head(x[:, -1] if self.siglip else x[torch.arange(len(ids)), at])

    def tensors(self):
        yield "text_model.embeddings.token_embedding.weight", self.token
        yield "text_model.embeddings.position_embedding.weight", self.position
        yield from self.names("text_model")
        for end, x in self.norm.named_parameters():
            yield f"text_model.final_layer_norm.{end}", x
        for end, x in self.head.named_parameters():
            yield f"text_model.head.{end}" if self.siglip else f"text_projection.{end}", x


class Image(Tower):
    def __init__(self, siglip):
        super().__init__(WIDTH, HEADS, MLP, 1, siglip)
        self.siglip = siglip
        self.patches = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH, bias=siglip)
        self.position = nn.Parameter(torch.empty((IMAGE // PATCH) ** 2 + (not siglip), WIDTH))
        if siglip:
            self.probe = nn.Parameter(torch.empty(1, 1, WIDTH))
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.layernorm = nn.LayerNorm(WIDTH, self.eps)
            self.fc1, self.fc2 = nn.Linear(WIDTH, MLP), nn.Linear(MLP, WIDTH)
        else:
            self.class_token = nn.Parameter(torch.empty(WIDTH))
            self.norm_pre = nn.LayerNorm(WIDTH, self.eps)
            self.projection = nn.Linear(WIDTH, P["clip"], bias=False)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        if self.siglip:
            x = self.norm(self.layers(x + self.position))
            x = self.attention(self.probe.expand(len(x), -1, -1), x, x, need_weights=False)[0][:, 0]
            return x + self.fc2(gelu_tanh(self.fc1(self.layernorm(x))))
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1) + self.position
        return self.projection(self.norm(self.layers(self.norm_pre(x))[:, 0]))

    def tensors(self):
        yield "vision_model.embeddings.patch_embedding.weight", self.patches.weight
        yield "vision_model.embeddings.position_embedding.weight", self.position
        yield from self.names("vision_model")
        modules = [("post_layernorm", self.norm)]
        if self.siglip:
            yield "vision_model.embeddings.patch_embedding.bias", self.patches.bias
            yield "vision_model.head.probe", self.probe
            modules += [("head.attention", self.attention), ("head.layernorm", self.layernorm),
                        ("head.mlp.fc1", self.fc1), ("head.mlp.fc2", self.fc2)]
        else:
            yield "vision_model.embeddings.class_embedding", self.class_token
            yield "visual_projection.weight", self.projection.weight
            modules += [("pre_layrnorm", self.norm_pre)]
        for name, module in modules:
            for end, x in module.named_parameters():
                yield f"vision_model.{name}.{end}", x


def make(folder, name, seed):
    siglip = name == "siglip"
    random = torch.Generator().manual_seed(seed)
    text, image = Text(siglip).eval(), Image(siglip).eval()
    for tower in [text, image]:
        draw_weights(tower, torch.float32, random)
    images = torch.randn(B, 3, IMAGE, IMAGE, generator=random, dtype=torch.float32).double()
    ids = torch.randint(END + 1, VOCABULARY, (N, S), generator=random)
    ids[0, 3], ids[1, 5] = END, END  # the last text has none, so that its first token is pooled
    scale, bias = torch.tensor([1.3]), torch.tensor([-2.5])
    with torch.no_grad():
        words, pictures = F.normalize(text(ids, None), dim=-1), F.normalize(image(images), dim=-1)
        similarity = pictures @ words.T * scale.exp() + (bias if siglip else 0)
        results = dict(images=images, ids=ids, text_embeds=words, similarity=similarity)
        if not siglip:
            results["end_embeds"] = F.normalize(text(ids, END), dim=-1)
    tensors = dict([*text.tensors(), *image.tensors()], logit_scale=scale if siglip else scale[0])
    if siglip:
        tensors["logit_bias"] = bias
    config = dict(
        architectures=["SiglipModel" if siglip else "CLIPModel"], model_type=name, projection_dim=P[name],
        text_config=dict(hidden_size=TEXT_WIDTH, intermediate_size=TEXT_MLP, max_position_embeddings=S,
                         num_attention_heads=TEXT_HEADS, num_hidden_layers=2, vocab_size=VOCABULARY, eos_token_id=2),
        vision_config=dict(hidden_size=WIDTH, intermediate_size=MLP, image_size=IMAGE, patch_size=PATCH,
                           num_attention_heads=HEADS, num_hidden_layers=1))
    write_case(folder / name, tensors, results, {"config": json.dumps(config)})
    print(name, similarity.tolist())


if __name__ == "__main__":
    folder = started("towers")
    for seed, name in enumerate(["clip", "siglip"], start=1):
        make(folder, name, seed)
