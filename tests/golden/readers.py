#!/usr/bin/python3
"""Golden vectors of image to text: transformers' VisionEncoderDecoder, in tests/golden/readers/.

    python3 tests/golden/readers.py [FOLDER]    PyTorch, from 1.13 on

The encoder is make.py's model. The decoders are written from the formulas of transformers' modules, over
tensors with the modules' names: TrOCR's, GPT-2's, BERT's and RoBERTa's. `torch`, `narrow` and
`bridged` are strangers' models, without self and cross. Each has two files:

NAME.safetensors         the model; its config.json and generation_config.json in __metadata__
NAME.golden.safetensors  all F32: images (B,C,H,W), ids (B,S), and teacher-forced on them logits (B,S,V),
                         self (L,B,h,S,S), cross (L,B,h,S,T); greedy (B,G): what each step's largest logit
                         makes, from the start on, paddings after the end; beams (B,G): by three beams
"""

import json
import math

import torch
from torch import nn
import torch.nn.functional as F

from families import QKV, VIT, renamed
from make import ACTIVATIONS, DEFAULTS, VisionTransformer, draw_weights, started, write_case

WIDTH, HEADS, MLP, VOCABULARY, POSITIONS = 8, 2, 10, 11, 9
B, S, MAX_LENGTH = 2, 6, 7
START, END, PADDING = 2, 3, 1
BEAMS = 3

ENCODER = dict(DEFAULTS, image_size=[8, 12], width=12, heads=3, depth=1, mlp_width=14, channels=3, classes=1, norm_eps=1e-12)

TROCR = dict(model_type="trocr", d_model=WIDTH, decoder_attention_heads=HEADS, decoder_ffn_dim=MLP, decoder_layers=2,
             max_position_embeddings=POSITIONS, activation_function="gelu", layernorm_embedding=True,
             use_learned_position_embeddings=True, scale_embedding=True, tie_word_embeddings=False)
MBART = dict(model_type="mbart", d_model=WIDTH, decoder_attention_heads=HEADS, decoder_ffn_dim=MLP, decoder_layers=2,
            max_position_embeddings=POSITIONS, activation_function="swish", scale_embedding=True)
BERT = dict(model_type="bert", hidden_size=WIDTH, num_attention_heads=HEADS, intermediate_size=MLP, num_hidden_layers=2,
            max_position_embeddings=POSITIONS, type_vocab_size=2, hidden_act="gelu", layer_norm_eps=1e-12)
CASES = {
    "trocr": TROCR,
    "trocr_sinusoidal": dict(TROCR, use_learned_position_embeddings=False, layernorm_embedding=False, activation_function="relu",
                             cross_attention_hidden_size=12, tie_word_embeddings=True),
    "gpt2": dict(model_type="gpt2", n_embd=WIDTH, n_head=HEADS, n_inner=MLP, n_layer=2, n_positions=POSITIONS,
                 activation_function="gelu_new", scale_attn_by_inverse_layer_idx=True, scale_attn_weights=False),
    "bert": BERT,
    "roberta": dict(BERT, model_type="roberta", type_vocab_size=1, layer_norm_eps=1e-5),
    "mbart": MBART,
}

THEIRS = dict(ACTIVATIONS, gelu_new=ACTIVATIONS["gelu_tanh"], swish=F.silu)


class Tensors(dict):
    """Draws each tensor when its name is first used."""

    def __init__(self, random):
        super().__init__()
        self.random = random

    def draw(self, name, *shape, scale=0.5, mean=0.0):
        if name not in self:
            self[name] = (mean + scale * torch.randn(*shape, generator=self.random, dtype=torch.float32)).double()
        return self[name]

    def linear(self, name, x, out, transposed=False, bias=True):
        shape = (x.shape[-1], out) if transposed else (out, x.shape[-1])
        weight = self.draw(f"{name}.weight", *shape)
        return x @ (weight if transposed else weight.T) + (self.draw(f"{name}.bias", out) if bias else 0)

    def norm(self, name, x, eps=1e-5):
        width = x.shape[-1]
        return F.layer_norm(x, [width], self.draw(f"{name}.weight", width, mean=1.0), self.draw(f"{name}.bias", width), eps)


def attend(q, k, v, causal, scale):
    """q (B,S,D), k and v (B,T,D) → (B,S,D), (B,h,S,T)."""
    q, k, v = (x.unflatten(-1, (HEADS, -1)).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(2, 3) * scale
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    weights = scores.softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2), weights


def ranks(ids, cached):
    """The numbers of RoBERTa's and TrOCR's sinusoidal positions, from PADDING on, where a padding stands.
    With a cache the number of a token counts the paddings before it, too."""
    real = (ids != PADDING).long()
    counted = torch.arange(1, ids.shape[1] + 1).expand_as(ids) if cached else real.cumsum(1)
    return counted * real + PADDING


def sinusoidal(rows):
    half = WIDTH // 2
    powers = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(rows)[:, None] * powers
    table = torch.cat([angles.sin(), angles.cos()], dim=1)
    table[PADDING] = 0
    return table


def trocr(c, t, ids, image_tokens, cached):
    """And mBART's, which differs little."""
    kind, before = c["model_type"], "model.decoder."
    act = THEIRS[c["activation_function"]]
    pre = kind == "mbart"
    scale = WIDTH**0.5 if c.get("scale_embedding") else 1
    words = t.draw(before + "embed_tokens.weight", VOCABULARY, WIDTH)
    if c.get("use_learned_position_embeddings", True):
        places = t.draw(before + "embed_positions.weight", POSITIONS + 2, WIDTH)[2:][: ids.shape[1]]
    else:
        places = sinusoidal(POSITIONS + PADDING + 1)[ranks(ids, cached)]
    x = words[ids] * scale + places
    if c.get("layernorm_embedding", kind != "trocr"):
        x = t.norm(before + "layernorm_embedding", x)
    maps = [], []
    for layer in range(c["decoder_layers"]):
        at = f"{before}layers.{layer}."

        def attention(name, x, memory, causal):
            project = lambda part, x: t.linear(f"{at}{name}.{part}_proj", x, WIDTH)
            out, weights = attend(project("q", x), project("k", memory), project("v", memory), causal, (WIDTH // HEADS) ** -0.5)
            maps[not causal].append(weights)
            return project("out", out)

        branches = [("self_attn_layer_norm", lambda x: attention("self_attn", x, x, True)),
                    ("encoder_attn_layer_norm", lambda x: attention("encoder_attn", x, image_tokens, False)),
                    ("final_layer_norm", lambda x: t.linear(at + "fc2", act(t.linear(at + "fc1", x, c["decoder_ffn_dim"])), WIDTH))]
        for norm, branch in branches:
            x = x + branch(t.norm(at + norm, x)) if pre else t.norm(at + norm, x + branch(x))
    if pre:
        x = t.norm(before + "layer_norm", x)
    if c.get("tie_word_embeddings", True):
        return x @ words.T, *maps
    return t.linear("output_projection", x, VOCABULARY, bias=False), *maps


def gpt2(c, t, ids, image_tokens, cached):
    x = t.draw("transformer.wte.weight", VOCABULARY, WIDTH)[ids] + t.draw("transformer.wpe.weight", POSITIONS, WIDTH)[: ids.shape[1]]
    maps = [], []
    conv = lambda name, x, out: t.linear(name, x, out, transposed=True)
    for layer in range(c["n_layer"]):
        at, scale = f"transformer.h.{layer}.", 1 / (layer + 1)
        q, k, v = conv(at + "attn.c_attn", t.norm(at + "ln_1", x), 3 * WIDTH).chunk(3, -1)
        out, weights = attend(q, k, v, True, scale)
        maps[0].append(weights)
        x = x + conv(at + "attn.c_proj", out, WIDTH)
        q = conv(at + "crossattention.q_attn", t.norm(at + "ln_cross_attn", x), WIDTH)
        k, v = conv(at + "crossattention.c_attn", image_tokens, 2 * WIDTH).chunk(2, -1)
        out, weights = attend(q, k, v, False, scale)
        maps[1].append(weights)
        x = x + conv(at + "crossattention.c_proj", out, WIDTH)
        hidden = THEIRS[c["activation_function"]](conv(at + "mlp.c_fc", t.norm(at + "ln_2", x), c["n_inner"]))
        x = x + conv(at + "mlp.c_proj", hidden, WIDTH)
    return t.norm("transformer.ln_f", x) @ t["transformer.wte.weight"].T, *maps


def bert(c, t, ids, image_tokens, cached):
    kind, eps, act = c["model_type"], c["layer_norm_eps"], THEIRS[c["hidden_act"]]
    e = f"{kind}.embeddings."
    words = t.draw(e + "word_embeddings.weight", VOCABULARY, WIDTH)
    places = t.draw(e + "position_embeddings.weight", POSITIONS, WIDTH)
    places = places[ranks(ids, cached)] if kind == "roberta" else places[: ids.shape[1]]
    x = words[ids] + places + t.draw(e + "token_type_embeddings.weight", c["type_vocab_size"], WIDTH)[0]
    x = t.norm(e + "LayerNorm", x, eps)
    maps = [], []
    for layer in range(c["num_hidden_layers"]):
        at = f"{kind}.encoder.layer.{layer}."
        for name, causal in [("attention", True), ("crossattention", False)]:
            memory = x if causal else image_tokens
            q, k, v = (t.linear(f"{at}{name}.self.{part}", y, WIDTH) for part, y in [("query", x), ("key", memory), ("value", memory)])
            out, weights = attend(q, k, v, causal, (WIDTH // HEADS) ** -0.5)
            maps[not causal].append(weights)
            x = t.norm(f"{at}{name}.output.LayerNorm", x + t.linear(f"{at}{name}.output.dense", out, WIDTH), eps)
        hidden = act(t.linear(at + "intermediate.dense", x, c["intermediate_size"]))
        x = t.norm(at + "output.LayerNorm", x + t.linear(at + "output.dense", hidden, WIDTH), eps)
    if kind == "bert":
        x = t.norm("cls.predictions.transform.LayerNorm", act(t.linear("cls.predictions.transform.dense", x, WIDTH)), eps)
        return x @ words.T + t.draw("cls.predictions.bias", VOCABULARY), *maps
    x = t.norm("lm_head.layer_norm", F.gelu(t.linear("lm_head.dense", x, WIDTH)), eps)
    return x @ words.T + t.draw("lm_head.bias", VOCABULARY), *maps


DECODERS = dict(trocr=trocr, mbart=trocr, gpt2=gpt2, bert=bert, roberta=bert)


def greedy(decode):
    ids = torch.full((B, 1), START)
    while ids.shape[1] < MAX_LENGTH:
        best = decode(ids, True)[0][:, -1].argmax(-1)
        ended = (ids[:, 1:] == END).any(1)
        ids = torch.cat([ids, torch.where(ended, PADDING, best)[:, None]], dim=1)
    return ids


def search(decode):
    """The best text by generate()'s beams of one image: scores are means over the tokens after the first."""
    running, ended = [(0, [START])], []
    while True:
        logs = decode(torch.tensor([text for _, text in running]))[0][:, -1].log_softmax(-1)
        choices = [(score + logs[i, v].item(), text + [v]) for i, (score, text) in enumerate(running) for v in range(VOCABULARY)]
        choices = sorted(choices, reverse=True)[: 2 * BEAMS]
        count = len(choices[0][1]) - 1
        ended += [(score / count, text) for score, text in choices[:BEAMS] if text[-1] == END]
        ended = sorted(ended, reverse=True)[:BEAMS]
        running = [one for one in choices if one[1][-1] != END][:BEAMS]
        if len(ended) == BEAMS and ended[-1][0] >= choices[0][0] / count:
            return ended[0][1]
        if count + 1 == MAX_LENGTH:
            return max(ended + [(score / count, text) for score, text in running])[1]


def make(folder, name, decoder, seed):
    random = torch.Generator().manual_seed(seed)
    encoder = VisionTransformer(ENCODER)
    draw_weights(encoder, torch.float32, random)
    images = torch.randn(B, 3, *ENCODER["image_size"], generator=random, dtype=torch.float32).double()
    encoder(images)
    image_tokens, t = encoder.tokens, Tensors(random)
    if decoder.get("cross_attention_hidden_size") is None:
        image_tokens = t.linear("enc_to_dec_proj", image_tokens, WIDTH)
    projection = dict(t)
    decode = lambda ids, cached=False, image_tokens=image_tokens: DECODERS[decoder["model_type"]](decoder, t, ids, image_tokens, cached)
    first = PADDING if name in ("trocr_sinusoidal", "roberta") else PADDING + 1
    ids = torch.randint(first, VOCABULARY, (B, S), generator=random)
    ids[:, 0] = START
    logits, own, cross = decode(ids)
    texts = [search(lambda ids: decode(ids, True, one[None].expand(len(ids), -1, -1))) for one in image_tokens]
    beams = torch.tensor([text + [PADDING] * (MAX_LENGTH - len(text)) for text in texts])
    results = dict(images=images, ids=ids, logits=logits, self=torch.stack(own), cross=torch.stack(cross), greedy=greedy(decode), beams=beams)
    encoders = {n: x for n, x in encoder.state_dict().items() if not n.startswith("head")}
    tensors = {**{f"encoder.{n}": x for n, x in renamed(encoders, VIT, QKV).items()},
               **{n if n in projection else f"decoder.{n}": x for n, x in t.items()}}
    config = dict(
        architectures=["VisionEncoderDecoderModel"], model_type="vision-encoder-decoder", is_encoder_decoder=True,
        encoder=dict(model_type="vit", image_size=ENCODER["image_size"], patch_size=4, num_channels=3, hidden_size=12,
                     num_hidden_layers=1, num_attention_heads=3, intermediate_size=14, hidden_act="gelu", layer_norm_eps=1e-12),
        decoder=dict(decoder, vocab_size=VOCABULARY, is_decoder=True, add_cross_attention=True, pad_token_id=PADDING),
        pad_token_id=PADDING, transformers_version="4.48.0")
    generation = dict(decoder_start_token_id=START, eos_token_id=END, pad_token_id=PADDING, max_length=MAX_LENGTH)
    metadata = {"config": json.dumps(config), "generation_config": json.dumps(generation)}
    write_case(folder / name, tensors, results, metadata)
    print(name, results["greedy"].tolist(), texts)


class Stranger(nn.Module):
    """As people write it by hand around PyTorch's modules: the encoder's norms first, the decoder's last."""

    def __init__(self):
        super().__init__()
        kinds = dict(d_model=WIDTH, nhead=HEADS, dim_feedforward=MLP, batch_first=True)
        self.patches = nn.Conv2d(3, WIDTH, 4, stride=4)
        self.pos_embed = nn.Parameter(torch.empty(1, 6, WIDTH))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**kinds, norm_first=True), 2)
        self.word_embed = nn.Embedding(VOCABULARY, WIDTH)
        self.word_pos_embed = nn.Parameter(torch.empty(1, POSITIONS, WIDTH))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**kinds), 2, norm=nn.LayerNorm(WIDTH))
        self.generator = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, images, ids):
        image_tokens = self.encoder(self.patches(images).flatten(2).transpose(1, 2) + self.pos_embed)
        x = self.word_embed(ids) + self.word_pos_embed[:, : ids.shape[1]]
        mask = torch.full((ids.shape[1],) * 2, -math.inf).triu(1)
        return self.generator(self.decoder(x, image_tokens, tgt_mask=mask))


class Attention(nn.Module):
    """Words of nobody's, and a mask in the file."""

    def __init__(self, width, memory_width=None):
        super().__init__()
        self.qry = nn.Linear(width, width, bias=False)
        self.key, self.val = (nn.Linear(memory_width or width, width, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width)
        self.layer_norm = nn.LayerNorm(width)
        if memory_width is None:
            self.register_buffer("tril", torch.ones(POSITIONS, POSITIONS).tril())

    def forward(self, x, memory=None):
        q, k, v = (one(y).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for one, y in ((self.qry, self.layer_norm(x)), *((one, self.layer_norm(x) if memory is None else memory) for one in (self.key, self.val))))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if memory is None:
            n = x.shape[1]
            scores = scores.masked_fill(self.tril[:n, :n] == 0, -math.inf)
        return x + self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Narrow(nn.Module):
    """A decoder narrower than the encoder, whose norms are in its attentions and whose head has no bias. A head for classes was never trained."""

    def __init__(self):
        super().__init__()
        self.cls = nn.Parameter(torch.empty(1, 1, 12))
        self.emb = nn.Conv2d(3, 12, 4, stride=4)
        self.pos = nn.Embedding(7, 12)
        self.enc = nn.ModuleList(nn.TransformerEncoderLayer(12, HEADS, MLP, batch_first=True, activation="gelu") for _ in range(2))
        self.fin = nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 5))
        self.emb_output = nn.Embedding(VOCABULARY, WIDTH)
        self.pos_output = nn.Embedding(POSITIONS, WIDTH)
        self.dec = nn.ModuleList(nn.ModuleDict(dict(
            self_attn=Attention(WIDTH), cross_attn=Attention(WIDTH, 12), mlp=nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, MLP), nn.GELU(), nn.Linear(MLP, WIDTH)))) for _ in range(2))
        self.fin_output = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False))

    def forward(self, images, ids):
        image_tokens = torch.cat([self.cls.expand(len(images), -1, -1), self.emb(images).flatten(2).transpose(1, 2)], 1) + self.pos.weight
        for block in self.enc:
            image_tokens = block(image_tokens)
        x = self.emb_output(ids) + self.pos_output.weight[: ids.shape[1]]
        for block in self.dec:
            x = block["cross_attn"](block["self_attn"](x), image_tokens)
            x = x + block["mlp"](x)
        return self.fin_output(x)


class Bridged(Stranger):
    """A Linear between encoder and decoder, a tied head, and positions that no tensor holds: first all sines, then all cosines."""

    def __init__(self):
        super().__init__()
        del self.word_pos_embed, self.decoder.norm
        decoder, generator = self.decoder, self.generator
        del self.decoder, self.generator
        self.bridge = nn.Linear(WIDTH, WIDTH)
        self.decoder, self.generator = decoder, generator
        self.decoder.norm = None
        self.generator.weight = self.word_embed.weight

    def forward(self, images, ids):
        image_tokens = self.bridge(self.encoder(self.patches(images).flatten(2).transpose(1, 2) + self.pos_embed))
        n, half = ids.shape[1], WIDTH // 2
        angles = torch.arange(n, dtype=torch.float64)[:, None] * torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
        x = self.word_embed(ids) * math.sqrt(WIDTH) + torch.cat([angles.sin(), angles.cos()], 1)
        return self.generator(self.decoder(x, image_tokens, tgt_mask=torch.full((n, n), -math.inf).triu(1)))


STRANGERS = {"torch": Stranger, "narrow": Narrow, "bridged": Bridged}


def make_stranger(folder, kind, name, seed):
    random = torch.Generator().manual_seed(seed)
    model = kind().eval()
    draw_weights(model, torch.float32, random)
    if hasattr(model, "fin"):
        nn.init.zeros_(model.fin[0].bias), nn.init.zeros_(model.fin[1].bias)
    images = torch.randn(B, 3, *ENCODER["image_size"], generator=random, dtype=torch.float32).double()
    ids = torch.randint(0, VOCABULARY, (B, S), generator=random)
    with torch.no_grad():
        results = dict(images=images, ids=ids, logits=model(images, ids), greedy=greedy(lambda ids, cached: [model(images, ids)]))
    write_case(folder / name, model.state_dict(), results)
    print(name, results["greedy"].tolist())


if __name__ == "__main__":
    folder = started("readers")
    for seed, (name, decoder) in enumerate(CASES.items(), start=1):
        make(folder, name, decoder, seed)
    for seed, (name, kind) in enumerate(STRANGERS.items(), start=len(CASES) + 1):
        make_stranger(folder, kind, name, seed)
