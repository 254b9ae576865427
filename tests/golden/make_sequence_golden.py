#!/usr/bin/env python3
"""Writes the golden values of more models of texts, as make_text_golden.py does: a small Llama (RMS norm, rotary places, grouped heads,
SwiGLU) of transformers, an LSTM and a GRU of PyTorch that read both ways, a small vision
transformer of torchvision (its pictures are rows of numbers).

Needs PyTorch and transformers; run it again only when a model is added.
usage: make_sequence_golden.py [FOLDER]
"""
import os, sys
import torch
import torch.nn as nn
from make_text_golden import CLASSES, Classifier, HEADS, INNER, linear, LENGTH, norm, VOCABULARY, WIDTH, transformers, write
import torchvision

UNITS = 6


def plain(name, *modules):
    """The weight of products without a bias, side by side."""
    return {name: ([module.weight for module in modules], True)}


def llama():
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=HEADS, num_key_value_heads=1, intermediate_size=INNER,
        max_position_embeddings=LENGTH, rms_norm_eps=1e-5, rope_theta=100.0, attention_dropout=0.0, initializer_range=0.3, pad_token_id=None)
    model = Classifier(transformers.LlamaModel(config), True)
    tensors = {"tokens.weight": (model.body.embed_tokens.weight, False)}
    layers = [dict(type="token_embedding", id="tokens", dimensions=WIDTH)]
    before = "tokens"
    for i, block in enumerate(model.body.layers):
        b = f"b{i + 1}"
        layers += [dict(type="rms_norm", id=b + ".n"),
                   dict(type="attention", id=b + ".a", heads=HEADS, groups=1, causal=True, bias=False, rotary=True, base=100),
                   dict(type="add", id=b + ".s", **{"from": [b + ".a", before]}), dict(type="rms_norm", id=b + ".m"),
                   dict(type="gated_dense", id=b + ".g", units=INNER, bias=False),
                   dict(type="dense", id=b + ".d", units=WIDTH, activation="none", bias=False),
                   dict(type="add", id=b, **{"from": [b + ".d", b + ".s"]})]
        own, fed = block.self_attn, block.mlp
        tensors |= {b + ".n.weight": (block.input_layernorm.weight, False), b + ".m.weight": (block.post_attention_layernorm.weight, False),
                    **plain(b + ".a.in_weight", own.q_proj, own.k_proj, own.v_proj), **plain(b + ".a.out_weight", own.o_proj),
                    **plain(b + ".g.weight", fed.gate_proj, fed.up_proj), **plain(b + ".d.weight", fed.down_proj)}
        before = b
    layers += [dict(type="rms_norm", id="normed"), dict(type="pool_positions", pool="last")]
    return "llama", model, layers, tensors | {"normed.weight": (model.body.norm.weight, False)}


class Recurrent(nn.Module):
    """The mean of what is read both ways, over the real positions."""

    def __init__(self, module):
        super().__init__()
        self.tokens, self.read, self.out = nn.Embedding(VOCABULARY, WIDTH), module, nn.Linear(2 * UNITS, CLASSES)

    def forward(self, ids, mask):
        lengths = mask.sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.tokens(ids), lengths, batch_first=True, enforce_sorted=False)
        found, _ = nn.utils.rnn.pad_packed_sequence(self.read(packed)[0], batch_first=True, total_length=LENGTH)
        return self.out(found.sum(1) / lengths.unsqueeze(1))


def recurrent(name, module):
    model = Recurrent(module)
    layers = [dict(type="token_embedding", id="tokens", dimensions=WIDTH), dict(type=name, id="read", units=UNITS, direction="both"),
              dict(type="pool_positions")]
    tensors = {"tokens.weight": (model.tokens.weight, False)}
    for way, end in (("", "_l0"), ("back_", "_l0_reverse")):
        part = lambda kind: getattr(module, kind + end)
        tensors |= {f"read.{way}in_weight": (part("weight_ih"), True), f"read.{way}weight": (part("weight_hh"), True),
                    f"read.{way}in_bias": (part("bias_ih"), False), f"read.{way}bias": (part("bias_hh"), False)}
    return name, model, layers, tensors


class Vision(nn.Module):
    """torchvision's, on rows of numbers; its first outputs would all be 0."""

    numeric = 3 * 6 * 4

    def __init__(self):
        super().__init__()
        self.body = torchvision.models.VisionTransformer(
            image_size=6, patch_size=2, num_layers=2, num_heads=HEADS, hidden_dim=WIDTH, mlp_dim=INNER, num_classes=CLASSES)
        # Its pictures are square: one patch less in each row makes them 6 × 4.
        self.body.encoder.pos_embedding = nn.Parameter(torch.randn(1, 7, WIDTH))
        nn.init.normal_(self.body.class_token)
        nn.init.normal_(self.body.heads.head.weight)
        self.out = self.body.heads.head

    def forward(self, x):
        patches = self.body.conv_proj(x.reshape(-1, 3, 6, 4)).flatten(2).transpose(1, 2)
        found = self.body.encoder(torch.cat([self.body.class_token.expand(len(x), -1, -1), patches], 1))
        return self.out(found[:, 0])


def vision():
    model = Vision()
    body = model.body
    tensors = {"patches.weight": (body.conv_proj.weight, False), "patches.bias": (body.conv_proj.bias, False),
               "patches.class": (body.class_token, False), "places.weight": (body.encoder.pos_embedding, False)}
    layers = [dict(type="reshape", channels=3, height=6, width=4),
              dict(type="patch_embedding", id="patches", size=2, dimensions=WIDTH, classToken=True),
              dict(type="position_embedding", id="places")]
    before = "places"
    for i, block in enumerate(body.encoder.layers):
        b, own = f"b{i + 1}", block.self_attention
        layers += [dict(type="layer_norm", id=b + ".n", epsilon=1e-6), dict(type="attention", id=b + ".a", heads=HEADS),
                   dict(type="add", id=b + ".s", **{"from": [b + ".a", before]}), dict(type="layer_norm", id=b + ".m", epsilon=1e-6),
                   dict(type="dense", id=b + ".u", units=INNER, activation="gelu"),
                   dict(type="dense", id=b + ".d", units=WIDTH, activation="none"),
                   dict(type="add", id=b, **{"from": [b + ".d", b + ".s"]})]
        tensors |= {**norm(b + ".n", block.ln_1), b + ".a.in_weight": (own.in_proj_weight, True),
                    b + ".a.in_bias": (own.in_proj_bias, False), b + ".a.out_weight": (own.out_proj.weight, True),
                    b + ".a.out_bias": (own.out_proj.bias, False), **norm(b + ".m", block.ln_2),
                    **linear(b + ".u", block.mlp[0]), **linear(b + ".d", block.mlp[3])}
        before = b
    layers += [dict(type="layer_norm", id="normed", epsilon=1e-6), dict(type="pool_positions", pool="first")]
    return "vision", model, layers, tensors | norm("normed", body.encoder.ln)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    sizes = dict(input_size=WIDTH, hidden_size=UNITS, bidirectional=True, batch_first=True)
    for make in (llama, lambda: recurrent("lstm", nn.LSTM(**sizes)), lambda: recurrent("gru", nn.GRU(**sizes)), vision):
        torch.manual_seed(11)
        write(folder, (make(),))
