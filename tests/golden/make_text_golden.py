#!/usr/bin/env python3
"""Writes the golden values of a small BERT that is fine-tuned and of a small GPT-2: the data, the first weights, the first gradients
and ten losses, of transformers' own models with random weights.

Needs PyTorch and transformers; run it again only when a model is added.
usage: make_text_golden.py [FOLDER]
"""
import json, os, sys
import torch
import torch.nn as nn

torch.library.register_fake = lambda *a, **k: (lambda f: f)  # torchvision's detection ops are not needed
import transformers  # noqa: E402

torch.manual_seed(11)
torch.set_num_threads(1)
ROWS, BATCH, STEPS, LENGTH, VOCABULARY, WIDTH, HEADS, INNER, CLASSES = 24, 8, 10, 7, 11, 8, 2, 16, 3


def rounded(tensor):
    return [float("%.9g" % v) for v in tensor.detach().double().flatten().tolist()]


class Classifier(nn.Module):
    """A body, what is taken of its positions, and an output layer."""

    def __init__(self, body, last):
        super().__init__()
        self.body, self.last, self.out = body, last, nn.Linear(WIDTH, CLASSES)

    def forward(self, ids, mask):
        found = self.body(input_ids=ids, attention_mask=mask)
        if not self.last:
            return self.out(found.pooler_output)
        return self.out(found.last_hidden_state[torch.arange(len(ids)), mask.sum(1) - 1])


def norm(name, module):
    return {name + ".weight": (module.weight, False), name + ".bias": (module.bias, False)}


def linear(name, module):
    return {name + ".weight": (module.weight, True), name + ".bias": (module.bias, False)}


def bert():
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=LENGTH + 2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.3, pad_token_id=None)
    model = Classifier(transformers.BertModel(config), False)
    e = model.body.embeddings
    tensors = {"tokens.weight": (e.word_embeddings.weight, False), "places.weight": (e.position_embeddings.weight, False),
               "places.segment": (e.token_type_embeddings.weight, False), **norm("embedded", e.LayerNorm)}
    layers = [dict(type="token_embedding", id="tokens", dimensions=WIDTH),
              dict(type="position_embedding", id="places", most=LENGTH + 2, segments=2),
              dict(type="layer_norm", id="embedded", epsilon=1e-12)]
    before = "embedded"
    for i, block in enumerate(model.body.encoder.layer):
        b = f"b{i + 1}"
        layers += [dict(type="attention", id=b + ".a", heads=HEADS), dict(type="add", id=b + ".s", **{"from": [b + ".a", before]}),
                   dict(type="layer_norm", id=b + ".m", epsilon=1e-12),
                   dict(type="dense", id=b + ".u", units=INNER, activation="gelu"),
                   dict(type="dense", id=b + ".d", units=WIDTH, activation="none"),
                   dict(type="add", id=b + ".t", **{"from": [b + ".d", b + ".m"]}), dict(type="layer_norm", id=b, epsilon=1e-12)]
        own, out = block.attention.self, block.attention.output
        packed = [own.query, own.key, own.value]
        tensors |= {b + ".a.in_weight": ([m.weight for m in packed], True), b + ".a.in_bias": ([m.bias for m in packed], False),
                    b + ".a.out_weight": (out.dense.weight, True), b + ".a.out_bias": (out.dense.bias, False),
                    **norm(b + ".m", out.LayerNorm), **linear(b + ".u", block.intermediate.dense),
                    **linear(b + ".d", block.output.dense), **norm(b, block.output.LayerNorm)}
        before = b
    layers += [dict(type="pool_positions", pool="first"), dict(type="dense", id="pooler", units=WIDTH, activation="tanh")]
    return "bert", model, layers, tensors | linear("pooler", model.body.pooler.dense)


def gpt():
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=WIDTH, n_layer=2, n_head=HEADS, n_inner=INNER, n_positions=LENGTH,
                                     resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, initializer_range=0.3, pad_token_id=None)
    model = Classifier(transformers.GPT2Model(config), True)
    tensors = {"tokens.weight": (model.body.wte.weight, False), "places.weight": (model.body.wpe.weight, False)}
    layers = [dict(type="token_embedding", id="tokens", dimensions=WIDTH), dict(type="position_embedding", id="places")]
    before = "places"
    for i, block in enumerate(model.body.h):
        b = f"b{i + 1}"
        layers += [dict(type="layer_norm", id=b + ".n"), dict(type="attention", id=b + ".a", heads=HEADS, causal=True),
                   dict(type="add", id=b + ".s", **{"from": [b + ".a", before]}), dict(type="layer_norm", id=b + ".m"),
                   dict(type="dense", id=b + ".u", units=INNER, activation="gelu_tanh"),
                   dict(type="dense", id=b + ".d", units=WIDTH, activation="none"),
                   dict(type="add", id=b, **{"from": [b + ".d", b + ".s"]})]
        # Its products are convolutions of one position: their weights stand as ours do.
        tensors |= {**norm(b + ".n", block.ln_1), b + ".a.in_weight": (block.attn.c_attn.weight, False),
                    b + ".a.in_bias": (block.attn.c_attn.bias, False), b + ".a.out_weight": (block.attn.c_proj.weight, False),
                    b + ".a.out_bias": (block.attn.c_proj.bias, False), **norm(b + ".m", block.ln_2),
                    **norm(b + ".u", block.mlp.c_fc), **norm(b + ".d", block.mlp.c_proj)}
        before = b
    layers += [dict(type="layer_norm", id="normed"), dict(type="pool_positions", pool="last")]
    return "gpt", model, layers, tensors | norm("normed", model.body.ln_f)


def ours(value, turn, grad):
    """A tensor as we have it; packed ones side by side."""
    parts = [(v.grad if grad else v).detach() for v in (value if isinstance(value, list) else [value])]
    return rounded(torch.cat([p.t() if turn else p for p in parts], -1))


def write(folder, models):
    for name, model, layers, tensors in models:
        model.train()
        layers, tensors = layers + [dict(type="output", id="out")], tensors | linear("out", model.out)
        lengths = torch.randint(1, LENGTH + 1, (ROWS, 1))
        mask = (torch.arange(LENGTH) < lengths).long()
        ids = torch.randint(0, VOCABULARY, (ROWS, LENGTH)) * mask
        pictures = torch.randn(ROWS, getattr(model, "numeric", 0))
        given = (lambda rows: (pictures[rows],)) if pictures.numel() else (lambda rows: (ids[rows], mask[rows]))
        y = torch.randint(0, CLASSES, (ROWS,))
        initial = {key: ours(*value, False) for key, value in tensors.items()}
        optimizer, losses, gradients = torch.optim.Adam(model.parameters(), lr=0.01), [], {}
        for step in range(STEPS):
            rows = [(step * BATCH + i) % ROWS for i in range(BATCH)]
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(*given(rows)), y[rows])
            loss.backward()
            if step == 0:
                gradients = {key: ours(*value, True) for key, value in tensors.items()}
            optimizer.step()
            losses.append(loss.item())
        golden = dict(
            name=name, numeric=pictures.shape[1], embeddings=[],
            texts=[] if pictures.numel() else [dict(vocabulary=VOCABULARY + 1, length=LENGTH)], classes=CLASSES,
            classWeights=None, layers=layers, training=dict(loss="cross_entropy", clipNorm=0,
            optimizer=dict(name="adam", learningRate=0.01, weightDecay=0.0)), batch=BATCH, rows=ROWS,
            x=rounded(pictures if pictures.numel() else ((ids + 1) * mask).float()), y=rounded(y.float()), parameters=initial, gradients=gradients, losses=losses)
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(golden, file)
            file.write("\n")
        print(name, losses)


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)), (bert(), gpt()))
