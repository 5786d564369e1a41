"""Models for families.py: code that is not ours, and features that make.py's model lacks."""

import torch
from torch import nn

import make
from make import VisionTransformer

# ---- Code that is not ours -------------------------------------------------------------


class Recorded:
    """The outputs of a model's blocks, and the weights of every nn.MultiheadAttention in them."""

    def __init__(self, blocks, norm):
        self.hidden, self.attention, self.tokens = [], [], None
        for block in blocks:
            block.register_forward_hook(lambda _, __, out: self.hidden.append(out))
            for module in block.modules():
                if isinstance(module, nn.MultiheadAttention):
                    self.watch(module)
        norm.register_forward_hook(lambda _, __, out: setattr(self, "tokens", out))

    def watch(self, module):
        forward = module.forward

        def with_weights(query, key, value, **options):
            options.update(need_weights=True, average_attn_weights=False)
            out, weights = forward(query, key, value, **options)
            self.attention.append(weights)
            return out, weights

        module.forward = with_weights


def of_torchvision(heads, **sizes):
    from torchvision.models.vision_transformer import VisionTransformer as Torchvision

    model = Torchvision(num_heads=heads, **sizes)
    return model, Recorded(model.encoder.layers, model.encoder.ln)


def of_a_tutorial(**sizes):
    model, recorded = of_torchvision(**sizes)
    model.heads = nn.Linear(sizes["hidden_dim"], 3)
    return model, recorded


class Encoder(nn.Module):
    """A usual model around torch.nn.TransformerEncoder."""

    def __init__(self, image, patch, channels, width, heads, mlp, depth, classes, unfold=False,
                 **layer):
        super().__init__()
        self.unfold = nn.Unfold(patch, stride=patch) if unfold else None
        self.patch_embed = (nn.Linear(channels * patch**2, width) if unfold
                            else nn.Conv2d(channels, width, patch, stride=patch))
        self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        self.pos_embedding = nn.Parameter(torch.empty(1, (image // patch) ** 2 + 1, width))
        one = nn.TransformerEncoderLayer(width, heads, mlp, dropout=0.0, batch_first=True, **layer)
        self.encoder = nn.TransformerEncoder(one, depth, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        if self.unfold:
            x = self.patch_embed(self.unfold(images).transpose(1, 2))
        else:
            x = self.patch_embed(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embedding
        return self.head(self.encoder(x)[:, 0])


def of_encoder(**options):
    model = Encoder(**options)
    return model, Recorded(model.encoder.layers, model.encoder.norm)


# ---- Models that make.py lacks ---------------------------------------------------------


class Pooling(nn.Module):
    """SigLIP's head, with parts named as in transformers."""

    def __init__(self, c):
        super().__init__()
        D = c["width"]
        self.probe = nn.Parameter(torch.empty(1, 1, D))
        self.attention = nn.MultiheadAttention(D, c["heads"], batch_first=True)
        self.layernorm = nn.LayerNorm(D, eps=c["norm_eps"])
        self.mlp = make.Mlp(c)

    def forward(self, x):
        pooled = self.attention(self.probe.expand(len(x), -1, -1), x, x)[0]
        return (pooled + self.mlp(self.layernorm(pooled)))[:, 0]


class Siglip(VisionTransformer):
    def __init__(self, c):
        super().__init__(c)
        self.head = nn.Identity()
        self.pool = Pooling(c)

    def state_dict(self):
        return {n.replace("pool.", "head.", 1) if n.startswith("pool.") else n: t
                for n, t in super().state_dict().items()}

    def forward(self, images):
        pool, self.pool = self._modules.pop("pool"), "class"
        super().forward(images)
        del self.pool
        self.pool = pool
        self.pooled = self.pool(self.tokens[:, self.prefix:])
        return self.pooled


class Blip(VisionTransformer):
    """The class token is normed twice by one norm."""

    def __init__(self, c):
        super().__init__(c)
        self.fc_norm = self.norm


class WideAttention(make.Attention):
    """Attention whose heads may have any width."""

    def __init__(self, c):
        super().__init__(c)
        self.inner = c["heads"] * c["head_width"]
        self.qkv = nn.Linear(c["width"], 3 * self.inner, bias=c["qkv_bias"])
        self.proj = nn.Linear(self.inner, c["width"])

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (
            part.reshape(B, T, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        self.weights = (q @ k.transpose(2, 3) / (self.inner // self.heads) ** 0.5).softmax(dim=-1)
        return self.proj((self.weights @ v).transpose(1, 2).reshape(B, T, self.inner))


class VitPytorch(VisionTransformer):
    def __init__(self, c):
        super().__init__(c)
        for block in self.blocks:
            block.attn = WideAttention(c)
        if c["NORMED_PATCHES"]:
            patch = c["patch_size"]
            self.patch_embed = NormedPatches(c["channels"], c["width"], patch, c["norm_eps"])


class Bare(VitPytorch):
    """One head as wide as the token, without a projection after it."""

    def __init__(self, c):
        super().__init__(c)
        for block in self.blocks:
            block.attn.proj = nn.Identity()


class NormedPatches(nn.Module):
    def __init__(self, channels, width, patch, eps):
        super().__init__()
        self.norm_in = nn.LayerNorm(channels * patch[0] * patch[1], eps=eps)
        self.proj = nn.Conv2d(channels, width, patch, stride=patch)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.patch = patch

    def forward(self, images):
        B, C, H, W = images.shape
        P, Q = self.patch
        x = images.reshape(B, C, H // P, P, W // Q, Q).permute(0, 2, 4, 3, 5, 1).flatten(3)
        x = self.norm_in(x.flatten(1, 2))  # patches in the order (P,Q,C)
        return self.norm(nn.functional.linear(
            x, self.proj.weight.permute(0, 2, 3, 1).flatten(1), self.proj.bias))


class Refined(VisionTransformer):
    """timm's PRR: the tokens attend to each other once more, without weights."""

    def forward(self, images):
        self.pool = "class"
        super().forward(images)
        B, T, D = self.tokens.shape
        heads = self.blocks[0].attn.heads
        x = self.tokens.reshape(B, T, heads, -1).transpose(1, 2)
        weights = (x @ x.transpose(2, 3) / (D // heads) ** 0.5).softmax(dim=-1)
        refined = (weights @ x).transpose(1, 2).reshape(B, T, D)
        self.pooled = refined[:, 0] if hasattr(self, "cls_token") else refined.mean(1)
        return self.head(self.pooled)


class MeanOfAll(VisionTransformer):
    """A mean over the prefix too."""

    def forward(self, images):
        super().forward(images)
        self.pooled = self.fc_norm(self.tokens.mean(1))
        return self.head(self.pooled)


class VitPytorchMean(MeanOfAll, VitPytorch):
    """The mean of vit-pytorch before 1.0, with a norm after it."""


class RelPosMlp(make.RelPosBias):
    """An MLP makes the table, for the patches alone, of each offset's logarithms."""

    def __init__(self, c):
        super().__init__(c)
        del self.relative_position_bias_table
        self.mlp = make.Mlp(dict(width=2, mlp_width=9, activation="relu"))
        self.mlp.fc2 = nn.Linear(9, c["heads"])
        sides = [torch.arange(1 - i // p, i // p) for i, p in zip(c["image_size"], c["patch_size"])]
        offsets = torch.cartesian_prod(*sides).double()
        self.offsets = offsets.sign() * (1 + offsets.abs()).log()
        self.rest = torch.zeros(3 if c["prefix"] else 0, c["heads"])

    def forward(self, scores):
        table = torch.cat([self.mlp(self.offsets), self.rest])
        return scores + table[self.index].permute(2, 0, 1)


class RelPos(VisionTransformer):
    def __init__(self, c):
        super().__init__(c)
        for block in self.blocks:
            block.attn.rel_pos = RelPosMlp(c)


class Beit(VisionTransformer):
    """Keys have no bias. c["SHARED"]: the blocks share one table of relative positions."""

    def __init__(self, c):
        super().__init__(c)
        self.shared = c.get("SHARED", False)

    def forward(self, images):
        first = self.blocks[0].attn.rel_pos
        with torch.no_grad():
            for attn in (block.attn for block in self.blocks):
                attn.qkv.bias.chunk(3)[1].zero_()
                if self.shared:
                    attn.rel_pos = first
        return super().forward(images)
