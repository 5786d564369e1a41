"""T2T-ViT's tokens-to-token module, for families.py: Yuan et al., arXiv:2101.11986, sections 3.1 and 3.3.

Written from the paper and the names of yitu's files. Squares that overlap are cut by unfold; each has
one head of attention as wide as the new token, whose residual connection starts from the values.
"""

import torch
from torch import nn

from make import ACTIVATIONS, VisionTransformer


class Feedforward(nn.Module):
    def __init__(self, c, t):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(t, t), nn.Linear(t, t)
        self.activation = ACTIVATIONS[c["activation"]]

    def forward(self, x):
        return self.fc2(self.activation(self.fc1(x)))


class OneHead(nn.Module):
    """Scores are divided by the root of what a square holds, not of the head's width."""

    def __init__(self, K, t):
        super().__init__()
        self.qkv, self.proj = nn.Linear(K, 3 * t, bias=False), nn.Linear(t, t)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = (q @ k.transpose(1, 2) / x.shape[-1] ** 0.5).softmax(dim=-1)
        return v + self.proj(weights @ v)


class TokenTransformer(nn.Module):
    def __init__(self, c, K, t):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(K, eps=c["norm_eps"]), nn.LayerNorm(t, eps=c["norm_eps"])
        self.attn, self.mlp = OneHead(K, t), Feedforward(c, t)

    def forward(self, x):
        x = self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TokenPerformer(nn.Module):
    """exp(q·k) is estimated by t/2 positive random features: Choromanski et al., arXiv:2009.14794, lemma 1."""

    def __init__(self, c, K, t):
        super().__init__()
        self.w = nn.Parameter(torch.empty(t // 2, t))
        self.kqv, self.proj = nn.Linear(K, 3 * t), nn.Linear(t, t)
        self.norm1, self.norm2 = nn.LayerNorm(K, eps=c["norm_eps"]), nn.LayerNorm(t, eps=c["norm_eps"])
        self.mlp = nn.Sequential(nn.Linear(t, t), nn.GELU(), nn.Linear(t, t))

    def features(self, x):
        return (x @ self.w.T - x.square().sum(dim=-1, keepdim=True) / 2).exp() / len(self.w) ** 0.5

    def forward(self, x):
        k, q, v = self.kqv(self.norm1(x)).chunk(3, dim=-1)
        scores = self.features(q) @ self.features(k).transpose(1, 2)
        x = v + self.proj(scores @ v / (scores.sum(dim=-1, keepdim=True) + 1e-8))
        return x + self.mlp(self.norm2(x))


class TokensToToken(nn.Module):
    def __init__(self, c):
        super().__init__()
        t, self.size = c["token_width"], c["image_size"]
        module = {"transformer": TokenTransformer, "performer": TokenPerformer}[c["tokens_to_token"]]
        self.splits = [nn.Unfold(7, stride=4, padding=2), *[nn.Unfold(3, stride=2, padding=1)] * 2]
        self.attention1, self.attention2 = module(c, 49 * c["channels"], t), module(c, 9 * t, t)
        self.project = nn.Linear(9 * t, c["width"])

    def forward(self, x):
        for step, split, attend in zip([4, 8], self.splits, [self.attention1, self.attention2]):
            x = attend(split(x).transpose(1, 2)).transpose(1, 2)
            x = x.unflatten(2, [side // step for side in self.size])
        return self.project(self.splits[2](x).transpose(1, 2))


class T2T(VisionTransformer):
    def __init__(self, c):
        super().__init__(c)
        self.patch_embed = TokensToToken(c)
