"""Trains PyTorch's twin of the preset gpt-char on a text for a number of processor seconds and prints its bits per byte on the validation part.

usage: python tests/bench/char-gpt.py TEXT --seconds 60 [--clock wall|cpu] [--threads 2] [--lr 0.001] [--mode eager|compile|best]
`best` times some steps of both, in turns, and takes the faster; neither that nor compiling is counted.
The same as `trainyard train TEXT --model gpt-char --optimizer adamw --lr 0.001 --schedule constant`: 4 pre-norm blocks of 128, 4 heads, context 64, dropout 0.1,
batch 32 rows, characters, 80 % of the text to train on and 10 % to validate, parted at the same places. `node tests/bench/char-gpt.ts` holds both against each other. One JSON object: {"bits","steps","mode","seconds","processor"}.
"""
import argparse, copy, json, math, sys, time

asked = argparse.ArgumentParser()
asked.add_argument("text")
asked.add_argument("--seconds", type=float, default=60)
asked.add_argument("--threads", type=int, default=2)
asked.add_argument("--lr", type=float, default=0.001)
asked.add_argument("--decay", type=float, default=0.01)
asked.add_argument("--mode", default="best", choices=["eager", "compile", "best"])
asked.add_argument("--clock", default="wall", choices=["wall", "cpu"])
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
first_weights = copy.deepcopy(model.state_dict())
loss_of = lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.flatten())
whole = lambda ids, targets: loss_of(model(ids), targets)
clock = time.perf_counter if args.clock == "wall" else time.process_time


def fresh():
    model.load_state_dict(first_weights)
    torch.manual_seed(1)
    return torch.optim.AdamW(model.parameters(), args.lr, weight_decay=args.decay, fused=True)


def step(run, optimizer, rows):
    loss = run(x[rows], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def usable(mode):
    """What computes the loss in this mode, warm; None with the reason where it does not run here: eager does."""
    try:
        run, optimizer = torch.compile(whole) if mode == "compile" else whole, fresh()
        for _ in range(3):
            step(run, optimizer, torch.arange(BATCH))
        return run
    except Exception as error:
        if args.mode == "compile":
            raise
        print(f"{mode} does not run here: {str(error).splitlines()[0]}", file=sys.stderr)


runs = {mode: usable(mode) for mode in (["eager", "compile"] if args.mode == "best" else [args.mode])}
least = {mode: math.inf for mode, run in runs.items() if run}
if len(least) > 1:
    optimizer = fresh()
    for _ in range(8):
        for mode in least:
            began = clock()
            for _ in range(4):
                step(runs[mode], optimizer, torch.arange(BATCH))
            least[mode] = min(least[mode], clock() - began)
    print({mode: f"{1000 * each / 4:.1f} ms a step" for mode, each in least.items()}, file=sys.stderr)
chosen_mode = min(least, key=least.get)
run, optimizer = runs[chosen_mode], fresh()

began, processor, begun, steps = time.perf_counter(), time.process_time(), clock(), 0
while clock() - begun < args.seconds:
    order = torch.randperm(len(x))
    for at in range(0, len(x) - BATCH + 1, BATCH):
        step(run, optimizer, order[at : at + BATCH])
        steps += 1
        if clock() - begun >= args.seconds:
            break
spent = time.perf_counter() - began, time.process_time() - processor

model.eval()
with torch.no_grad():
    nats = sum(float(loss_of(model(vx[at : at + 256]), vy[at : at + 256])) * len(vx[at : at + 256]) for at in range(0, len(vx), 256)) / len(vx)
each = len(text[first:second].encode()) / len(text[first:second])
print(json.dumps({"bits": nats / math.log(2) / each, "steps": steps, "mode": chosen_mode, "seconds": spent[0], "processor": spent[1]}))
