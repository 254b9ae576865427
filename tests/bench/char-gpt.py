"""Trains PyTorch's twin of the preset gpt-char on a text for a number of processor seconds and prints its bits per byte on the validation part.

usage: python tests/bench/char-gpt.py TEXT --seconds 60 [--threads 2] [--lr 0.001] [--compile]
The same as `trainyard train TEXT --model gpt-char --optimizer adamw --lr 0.001 --schedule constant`: 4 pre-norm blocks of 128, 4 heads, context 64, dropout 0.1,
batch 32 rows, characters, 80 % of the text to train on and 10 % to validate, parted at the same places. `node tests/bench/char-gpt.ts` holds both against each other. One JSON object: {"bits","steps","seconds","processor"}.
"""
import argparse, json, math, time

asked = argparse.ArgumentParser()
asked.add_argument("text")
asked.add_argument("--seconds", type=float, default=60)
asked.add_argument("--threads", type=int, default=2)
asked.add_argument("--lr", type=float, default=0.001)
asked.add_argument("--decay", type=float, default=0.01)
asked.add_argument("--compile", action="store_true")
args = asked.parse_args()

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(args.threads)
torch.manual_seed(1)
WIDTH, HEADS, BLOCKS, LENGTH, BATCH, DROPOUT = 128, 4, 4, 64, 32, 0.1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        n, length, _ = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(n, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, length, WIDTH)
        x = x + F.dropout(self.out(mixed), DROPOUT, self.training)
        fed = self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))
        return x + F.dropout(fed, DROPOUT, self.training)


class Gpt(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, WIDTH), nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary)

    def forward(self, ids):
        x = F.dropout(self.tokens(ids) + self.places, DROPOUT, self.training)
        return self.head(self.norm(self.blocks(x)))


text = open(args.text, encoding="utf-8").read()


def border(share):
    """Behind a line where one ends soon, as engine/data/language.ts cuts."""
    place = int(len(text) * share + 0.5)
    line = text.find("\n", place)
    return line + 1 if 0 <= line < place + min(2000, len(text) / 50) else place


first, second = border(0.8), border(0.9)
signs = sorted(set(text[:first]))
place = {sign: i + 1 for i, sign in enumerate(signs)}


def rows(part):
    ids = torch.tensor([place.get(sign, 0) for sign in part])
    count = (len(ids) - 1) // LENGTH
    return ids[: count * LENGTH].view(count, LENGTH), ids[1 : count * LENGTH + 1].view(count, LENGTH)


x, y = rows(text[:first])
vx, vy = rows(text[first:second])
model = Gpt(len(signs) + 1)
optimizer = torch.optim.AdamW(model.parameters(), args.lr, weight_decay=args.decay, fused=True)
run = torch.compile(model) if args.compile else model
loss_of = lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.flatten())
if args.compile:  # compiling is not counted
    loss_of(run(x[:BATCH]), y[:BATCH]).backward()
    optimizer.zero_grad()

began, processor, steps = time.perf_counter(), time.process_time(), 0
while time.process_time() - processor < args.seconds:
    order = torch.randperm(len(x))
    for at in range(0, len(x) - BATCH + 1, BATCH):
        chosen = order[at : at + BATCH]
        loss = loss_of(run(x[chosen]), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
        if time.process_time() - processor >= args.seconds:
            break
spent = time.perf_counter() - began, time.process_time() - processor

model.eval()
with torch.no_grad():
    nats = sum(float(loss_of(model(vx[at : at + 256]), vy[at : at + 256])) * len(vx[at : at + 256]) for at in range(0, len(vx), 256)) / len(vx)
each = len(text[first:second].encode()) / len(text[first:second])
print(json.dumps({"bits": nats / math.log(2) / each, "steps": steps, "seconds": spent[0], "processor": spent[1]}))
