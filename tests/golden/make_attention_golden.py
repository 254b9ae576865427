#!/usr/bin/env python3
"""Writes attention.json: data, first weights, first gradients and ten losses of a small attention block, from PyTorch.

dense -> + rows of a table of positions -> two heads of attention -> residual -> layer norm -> mean over the positions -> output
usage: make_attention_golden.py [FOLDER]
"""
import json, math, os, sys
import torch
import torch.nn.functional as F

torch.manual_seed(11)
torch.set_num_threads(1)
ROWS, BATCH, STEPS = 40, 8, 10
POSITIONS, INPUTS, WIDTH, HEADS = 5, 3, 12, 2
INDICES = [6, 0, 3, 3, 1]


def rounded(tensor):
    return [float("%.9g" % v) for v in tensor.detach().double().flatten().tolist()]


def forward(p, x):
    h = x.view(-1, POSITIONS, INPUTS) @ p["embed"] + p["bias"] + p["table"][INDICES]
    split = lambda t: t.view(-1, POSITIONS, HEADS, WIDTH // HEADS).transpose(1, 2)
    q, k, v = (split(h @ p[name]) for name in ("query", "key", "value"))
    weights = F.softmax(q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS), -1)
    mixed = (weights @ v).transpose(1, 2).reshape(-1, POSITIONS, WIDTH) @ p["out"]
    h = F.layer_norm(h + mixed, [WIDTH], p["gamma"], p["beta"])
    return (h * p["gate"]).mean(1) @ p["head"]


def main(folder):
    shapes = dict(embed=[INPUTS, WIDTH], bias=[WIDTH], table=[7, WIDTH], query=[WIDTH, WIDTH], key=[WIDTH, WIDTH],
                  value=[WIDTH, WIDTH], out=[WIDTH, WIDTH], gamma=[WIDTH], beta=[WIDTH], gate=[POSITIONS, 1], head=[WIDTH, 1])
    p = {name: (torch.randn(shape) * (0.4 if len(shape) > 1 else 0.1)).requires_grad_() for name, shape in shapes.items()}
    with torch.no_grad():
        p["gamma"] += 1
        p["gate"] += 1
    x = torch.randn(ROWS, POSITIONS * INPUTS)
    y = x.view(ROWS, POSITIONS, INPUTS).amax(1).sum(1, keepdim=True).sin()
    initial = {name: rounded(t) for name, t in p.items()}
    optimizer, losses, gradients = torch.optim.Adam(p.values(), lr=0.01), [], {}
    for step in range(STEPS):
        rows = [(step * BATCH + i) % ROWS for i in range(BATCH)]
        optimizer.zero_grad()
        loss = F.mse_loss(forward(p, x[rows]), y[rows])
        loss.backward()
        if step == 0:
            gradients = {name: rounded(t.grad) for name, t in p.items()}
        optimizer.step()
        losses.append(loss.item())
    golden = dict(name="attention", rows=ROWS, batch=BATCH, positions=POSITIONS, inputs=INPUTS, width=WIDTH, heads=HEADS,
                  indices=INDICES, shapes=shapes, x=rounded(x), y=rounded(y), parameters=initial, gradients=gradients, losses=losses)
    with open(os.path.join(folder, "attention.json"), "w") as file:
        json.dump(golden, file)
        file.write("\n")
    print(losses)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
