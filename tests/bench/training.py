"""Trains a model of ours by PyTorch, on one thread, as training-epochs.mjs asks it to.

    python3 tests/bench/training.py FILE CONSTANTS

FILE: safetensors with what forPeers and patchRows of training-model.mjs give, and the labels.
CONSTANTS: JSON of { batch, learning_rate, weight_decay, beta1, beta2, epsilon }. It answers each
line of the standard input by a line of JSON: "steps N" by the losses of N steps on the first batch
from the start; "epoch" by the mean loss of an epoch in a new order. The first epoch begins from the
start, too.
"""
import json
import re
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    config = json.loads(header.pop("__metadata__")["vitrine"])
    tensors = {}
    for name, about in header.items():
        begin, end = (8 + size + offset for offset in about["data_offsets"])
        numbers = np.frombuffer(data[begin:end], np.float32)
        tensors[name] = torch.from_numpy(numbers.copy()).reshape(about["shape"])
    return config, tensors


def is_matrix(name):
    return name.endswith(".weight") and not re.search(r"(^|\.)norm\d?\.weight$", name)


class Model:
    def __init__(self, config, tensors, constants):
        self.config, self.constants = config, constants
        self.labels = tensors.pop("labels").long()
        self.position = tensors.pop("position")
        values = len(tensors["patch_embed.proj.weight"])
        self.patches = tensors.pop("patches").reshape(len(self.labels), -1, values)
        self.first = tensors
        self.restart()

    def restart(self):
        self.w = {name: x.clone().requires_grad_() for name, x in self.first.items()}
        c = self.constants
        of = {"lr": c["learning_rate"], "betas": (c["beta1"], c["beta2"]), "eps": c["epsilon"]}
        matrices = [x for name, x in self.w.items() if is_matrix(name)]
        others = [x for name, x in self.w.items() if not is_matrix(name)]
        groups = [
            {"params": matrices, "weight_decay": c["weight_decay"]},
            {"params": others, "weight_decay": 0},
        ]
        self.optimizer = torch.optim.AdamW(groups, foreach=True, **of)

    def linear(self, x, name):
        return torch.addmm(self.w[f"{name}.bias"], x, self.w[f"{name}.weight"])

    def norm(self, x, name):
        weight, bias = self.w[f"{name}.weight"], self.w[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["norm_eps"])

    def attention(self, x, name, batch):
        """(B·T,D) → (B·T,D). Each head has matrices of its own, for its own slice of x."""
        heads, width = self.config["heads"], self.config["width"]
        slices = x.reshape(-1, heads, width // heads).transpose(0, 1)
        qkv = torch.baddbmm(self.w[f"{name}.qkv.bias"], slices, self.w[f"{name}.qkv.weight"])
        q, k, v = qkv.reshape(heads * batch, -1, 3 * width // heads).chunk(3, 2)
        scores = torch.bmm(q, k.transpose(1, 2)) * (width // heads) ** -0.5
        mixed = torch.bmm(scores.softmax(-1), v).reshape(heads, -1, width // heads)
        return mixed.transpose(0, 1).reshape(-1, width)

    def logits(self, patches):
        batch, width = len(patches), self.config["width"]
        rows = self.linear(patches.reshape(-1, patches.shape[2]), "patch_embed.proj")
        prefix = self.w["cls_token"].expand(batch, -1, -1)
        x = torch.cat([prefix, rows.reshape(batch, -1, width)], 1) + self.position
        x = x.reshape(-1, width)
        for block in range(self.config["depth"]):
            name = f"blocks.{block}"
            x = x + self.attention(self.norm(x, f"{name}.norm1"), f"{name}.attn", batch)
            hidden = F.gelu(self.linear(self.norm(x, f"{name}.norm2"), f"{name}.mlp.fc1"))
            x = x + self.linear(hidden, f"{name}.mlp.fc2")
        return self.linear(x.reshape(batch, -1, width)[:, 0], "head")

    def step(self, which):
        loss = F.cross_entropy(self.logits(self.patches[which]), self.labels[which])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def steps(self, count):
        self.restart()
        first = torch.arange(self.constants["batch"])
        losses = [self.step(first) for _ in range(count)]
        self.restart()
        return losses

    def epoch(self):
        parts = torch.randperm(len(self.labels)).split(self.constants["batch"])
        return sum(self.step(part) * len(part) for part in parts) / len(self.labels)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config, tensors = read(sys.argv[1])
    if config["attention"] != "per_head" or config["final_norm"]:
        sys.exit("training.py: expected a model of per_head and no final norm")
    model = Model(config, tensors, json.loads(sys.argv[2]))
    print(json.dumps(torch.__version__), flush=True)
    for line in sys.stdin:
        command, *numbers = line.split()
        print(json.dumps(getattr(model, command)(*map(int, numbers))), flush=True)


main()
