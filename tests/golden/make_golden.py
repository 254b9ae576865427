#!/usr/bin/env python3
"""Writes the golden values of this folder: for each model the data, the first weights, the first gradients and ten losses.

Needs PyTorch (Debian: python3-torch) and nothing else; run it again only when a model is added.
usage: make_golden.py [FOLDER]
"""
import json, os, sys
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)
ROWS, BATCH, STEPS = 40, 8, 10


def rounded(tensor):
    return [float("%.9g" % v) for v in tensor.detach().double().flatten().tolist()]


class Residual(nn.Module):
    """dense(12) silu -> layer norm -> + dense(12) gelu -> concat with input -> output"""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.norm = nn.Linear(inputs, 12), nn.LayerNorm(12)
        self.second, self.out = nn.Linear(12, 12), nn.Linear(12 + inputs, outputs)

    def forward(self, x):
        a = self.norm(F.silu(self.first(x)))
        b = a + F.gelu(self.second(a))
        return self.out(torch.cat([b, x], 1))


class Embedded(nn.Module):
    """two embedding columns beside numbers -> dense(16) leaky relu -> batch norm -> dense(8) sigmoid -> output"""

    def __init__(self, numeric, outputs):
        super().__init__()
        self.numeric = numeric
        self.e0, self.e1 = nn.Embedding(6, 3), nn.Embedding(9, 4)
        self.first, self.norm = nn.Linear(numeric + 7, 16), nn.BatchNorm1d(16)
        self.second, self.out = nn.Linear(16, 8), nn.Linear(8, outputs)

    def forward(self, x):
        n = self.numeric
        x = torch.cat([x[:, :n], self.e0(x[:, n].long()), self.e1(x[:, n + 1].long())], 1)
        x = self.norm(F.leaky_relu(self.first(x), 0.01))
        return self.out(torch.sigmoid(self.second(x)))


def named(pairs):
    """Our name -> (PyTorch tensor, transpose?)"""
    out = {}
    for ours, module in pairs:
        if isinstance(module, nn.Embedding):
            out[ours] = (module.weight, False)
        else:
            out[ours + ".weight"] = (module.weight, isinstance(module, nn.Linear))
            out[ours + ".bias"] = (module.bias, False)
    return out


def cases():
    mlp = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh(), nn.Linear(8, 1))
    yield dict(
        name="mlp-regression", model=mlp, tensors=named([("0", mlp[0]), ("1", mlp[2]), ("2", mlp[4])]),
        numeric=5, embeddings=[], classes=0,
        layers=[dict(type="dense", units=16, activation="relu"), dict(type="dense", units=8, activation="tanh"), dict(type="output")],
        training=dict(loss="mse", clipNorm=0, optimizer=dict(name="adam", learningRate=0.01, weightDecay=0.0)),
        optimizer=lambda p: torch.optim.Adam(p, lr=0.01), loss=nn.MSELoss())
    residual = Residual(4, 3)
    weights = torch.tensor([0.5, 1.5, 1.0])
    yield dict(
        name="residual-classes", model=residual, weights=weights,
        tensors=named([("a", residual.first), ("n", residual.norm), ("b", residual.second), ("out", residual.out)]),
        numeric=4, embeddings=[], classes=3,
        layers=[dict(type="dense", id="a", units=12, activation="silu"), dict(type="layer_norm", id="n"),
                dict(type="dense", id="b", units=12, activation="gelu"), dict(type="add", id="sum", **{"from": ["n", "b"]}),
                dict(type="concat", id="cat", **{"from": ["sum", "input"]}), dict(type="output", id="out")],
        training=dict(loss="cross_entropy", labelSmoothing=0.1, classWeights="balanced", clipNorm=0.5,
                      optimizer=dict(name="adamw", learningRate=0.02, weightDecay=0.05)),
        clip=0.5, decay=0.05, kind="adamw",
        loss=nn.CrossEntropyLoss(weight=weights, label_smoothing=0.1))
    embedded = Embedded(3, 1)
    yield dict(
        name="embedded-huber", model=embedded,
        tensors=named([("input.embedding0", embedded.e0), ("input.embedding1", embedded.e1), ("0", embedded.first),
                       ("1", embedded.norm), ("2", embedded.second), ("3", embedded.out)]),
        numeric=3, embeddings=[dict(vocabulary=6, dimensions=3), dict(vocabulary=9, dimensions=4)], classes=0,
        layers=[dict(type="dense", units=16, activation="leaky_relu"), dict(type="batch_norm"),
                dict(type="dense", units=8, activation="sigmoid"), dict(type="output")],
        training=dict(loss="huber", huberDelta=0.8, clipNorm=0,
                      optimizer=dict(name="sgd", learningRate=0.05, momentum=0.9, nesterov=True, weightDecay=0.0)),
        optimizer=lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True), loss=nn.HuberLoss(delta=0.8))


def optimizer_of(case, tensors):
    if "optimizer" in case:
        return case["optimizer"](case["model"].parameters())
    decayed = [t for name, (t, _) in tensors.items() if t.dim() > 1]
    plain = [t for name, (t, _) in tensors.items() if t.dim() == 1]
    groups = [dict(params=decayed, weight_decay=case["decay"]), dict(params=plain, weight_decay=0.0)]
    return torch.optim.AdamW(groups, lr=case["training"]["optimizer"]["learningRate"])


def main(folder):
    for case in cases():
        model, tensors = case["model"], case["tensors"]
        x = torch.randn(ROWS, case["numeric"])
        for column in case["embeddings"]:
            x = torch.cat([x, torch.randint(0, column["vocabulary"], (ROWS, 1)).float()], 1)
        y = torch.randint(0, case["classes"], (ROWS,)) if case["classes"] else x[:, :2].sum(1, keepdim=True).sin()
        turned = lambda t, turn: t.detach().t() if turn else t.detach()
        initial = {name: rounded(turned(t, turn)) for name, (t, turn) in tensors.items()}
        optimizer, losses, gradients = optimizer_of(case, tensors), [], {}
        for step in range(STEPS):
            rows = [(step * BATCH + i) % ROWS for i in range(BATCH)]
            optimizer.zero_grad()
            loss = case["loss"](model(x[rows]), y[rows])
            loss.backward()
            if step == 0:
                gradients = {name: rounded(turned(t.grad, turn)) for name, (t, turn) in tensors.items()}
            if "clip" in case:
                nn.utils.clip_grad_norm_(model.parameters(), case["clip"])
            optimizer.step()
            losses.append(loss.item())
        golden = dict(
            name=case["name"], numeric=case["numeric"], embeddings=case["embeddings"], classes=case["classes"],
            classWeights=rounded(case["weights"]) if "weights" in case else None,
            layers=case["layers"], training=case["training"], batch=BATCH, rows=ROWS,
            x=rounded(x), y=rounded(y.float()), parameters=initial, gradients=gradients, losses=losses)
        with open(os.path.join(folder, case["name"] + ".json"), "w") as file:
            json.dump(golden, file)
            file.write("\n")
        print(case["name"], losses)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
