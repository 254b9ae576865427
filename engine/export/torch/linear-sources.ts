// The Python of a linear model's project: its solver and its README. What differs from run to run stands in config.json.

import type { LinearModelFile } from '../../learners/linear/file.ts';
import { leaveSource } from './sources.ts';

export const linearReadme = (name: string, { output, penalty }: LinearModelFile, solved: boolean): string => `# ${name}

Solves this linear model again, from scratch and on the same rows. There are no steps, epochs or learning rate: the best weights follow from the rows and the penalty${penalty > 0 ? ` (${penalty}, which the run ${solved ? 'settled on' : 'had come to'})` : ''}.

    pip install -r requirements.txt
    python train.py                                  # one process
    torchrun --nproc-per-node 4 train.py             # as many as there are GPUs, or processes of a CPU
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-endpoint HOST:29500 train.py

- \`model.py\`: the model. \`python model.py\` loads \`trained.safetensors\`, the weights of the run.
- \`data.py\`: the rows as the run saw them (\`data/x.npy\`: scaled numbers and codes, or bytes of pictures; training rows first, then validation, then test).
- \`train.py\`: ${
  output.kind === 'value'
    ? 'ridge regression. The normal equations of the centred columns are summed over all rows and solved in float64; of more than 4,000 columns L-BFGS finds the weights.'
    : 'logistic regression. L-BFGS with a strong Wolfe line search takes all rows at once, in float64, until no entry of the gradient is above 1e-8. The run itself goes by steps of Newton and stops at 1e-6, so the paths differ and only the end is the same.'
} Under torchrun the rows are divided among the processes and the sums are added up; every process ends with the same weights.

${
  solved
    ? `\`python train.py --compare\` holds the solution against that of the run, on all rows: the penalised loss of a row may be 1e-6 higher or lower (above 1: 1e-6 of itself), an answer ${output.kind === 'value' ? '0.001 of the target’s deviation' : '0.01 of probability'} away. It ends with 1 where that is not so.`
    : 'The run was stopped before it had its solution: there is nothing to compare this one with.'
}
`;

export const solveSource = `"""Solves the model from scratch: alone (python train.py) or, unchanged, in several processes (torchrun … train.py)."""
import argparse
import contextlib
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch.nn.parallel import DistributedDataParallel

from data import Rows, config, here
from model import Model

classes, penalty = config["output"]["kind"] == "classes", config["penalty"]
world, rank, local = (int(os.environ.get(k, d)) for k, d in (("WORLD_SIZE", "1"), ("RANK", "0"), ("LOCAL_RANK", "0")))
device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
block, most_columns = 16_384, 4_000


def summed(values):
    """Over all processes."""
    if world > 1:
        dist.all_reduce(values)
    return values


class Problem:
    """The training rows, this process's share of them, and the loss of a row."""

    def __init__(self):
        self.rows = Rows(device)
        train = self.rows.split("train").to(device)
        self.own = train.tensor_split(world)[rank]
        y = self.rows.y[train]
        if classes:
            count = len(config["output"]["classes"])
            self.counts = torch.bincount(y.long(), minlength=count).double()
            self.weights = torch.tensor(config["classWeights"] or [1.0] * count, dtype=torch.float64, device=device)
            self.total = float((self.counts * self.weights).sum())
            # Two classes have one logit. A class that no row has takes no part.
            self.present = torch.nonzero(self.counts).flatten() if count > 2 else torch.arange(1, device=device)
            self.constant = int((self.counts > 0).sum()) < 2 or penalty == 0
        else:
            self.mean, self.total = float(y.double().mean()), float(len(train))
            self.constant = penalty == 0

    def blocks(self, places):
        for part in places.split(block):
            x, y = self.rows.take(part)
            yield x.double(), y.long() if classes else y.double()

    def losses(self, outputs, y):
        """Sum over the rows."""
        if not classes:
            return (outputs[:, 0] - y).square().sum()
        if outputs.shape[1] == 1:
            each = F.binary_cross_entropy_with_logits(outputs[:, 0], y.double(), reduction="none")
            return (self.weights[y] * each).sum()
        named = torch.zeros_like(self.counts, dtype=torch.long)
        named[self.present] = torch.arange(len(self.present), device=device)
        return F.cross_entropy(outputs[:, self.present], named[y], weight=self.weights[self.present], reduction="sum")

    def penalised(self, model):
        return penalty * (0.5 if classes else 1) * model.output.weight.square().sum() / self.total


def always_the_same(problem, model):
    """What a search for weights begins with: the mean, or the classes' shares."""
    model.output.weight.zero_()
    if not classes:
        model.output.bias.fill_(problem.mean)
        return
    logits = (problem.counts.clamp(min=0.5) * torch.where(problem.weights > 0, problem.weights, 1.0)).log()
    model.output.bias.copy_(logits if len(logits) > 2 else logits[1:] - logits[:1])


def by_equations(problem, model):
    """Ridge regression: (X'X + penalty) w = X'y of the centred columns."""
    width = model.output.in_features
    sums = torch.zeros(width, dtype=torch.float64, device=device)
    for x, _ in problem.blocks(problem.own):
        sums += model.features(x).sum(0)
    means = summed(sums) / problem.total
    gram = torch.zeros(width, width, dtype=torch.float64, device=device)
    right = torch.zeros(width, dtype=torch.float64, device=device)
    for x, y in problem.blocks(problem.own):
        centred = model.features(x) - means
        gram += centred.T @ centred
        right += centred.T @ (y - problem.mean)
    summed(gram).diagonal().add_(penalty)
    weight = torch.linalg.solve(gram, summed(right))
    model.output.weight.copy_(weight[None])
    model.output.bias.fill_(problem.mean - weight @ means)


def by_descent(problem, model):
    """L-BFGS over all rows. Every process sees the same loss and gradient, so all go the same way."""
    whole = DistributedDataParallel(model, device_ids=[local] if device.type == "cuda" else None) if world > 1 else model
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=5_000, max_eval=10_000, history_size=100,
        tolerance_grad=1e-8, tolerance_change=1e-16, line_search_fn="strong_wolfe",
    )
    parts = -(-len(problem.own) // block) or 1

    def closure():
        optimizer.zero_grad(set_to_none=True)
        value = torch.zeros((), dtype=torch.float64, device=device)
        for number, (x, y) in enumerate(problem.blocks(problem.own), 1):
            # DistributedDataParallel takes the mean over the processes, once all their blocks are in.
            wait = contextlib.nullcontext() if world == 1 or number == parts else whole.no_sync()
            with wait:
                loss = problem.losses(whole(x), y) * world / problem.total
                if number == parts:
                    loss = loss + problem.penalised(model)
                loss.backward()
            value += loss.detach()
        return summed(value) / world

    optimizer.step(closure)
    if classes and len(problem.present) < len(problem.counts) and len(problem.counts) > 2:
        # Classes without rows have half a row's share.
        with torch.no_grad():
            level = model.output.bias[problem.present].logsumexp(0)
            absent = problem.counts == 0
            model.output.bias[absent] = level + torch.log(torch.tensor(0.5 / config["counts"]["train"]))


@torch.no_grad()
def loss_of(problem, model):
    """The penalised loss, divided by the rows or their weights."""
    value = torch.zeros((), dtype=torch.float64, device=device)
    for x, y in problem.blocks(problem.own):
        value += problem.losses(model(x), y)
    return float(summed(value)) / problem.total + float(problem.penalised(model))


def answers(model, x):
    outputs = model(x)
    if not classes:
        return outputs
    return outputs.sigmoid() if outputs.shape[1] == 1 else outputs.softmax(1)


@torch.no_grad()
def score(problem, model, split):
    """Accuracy, or mean squared error in deviations, of a split."""
    places, value = problem.rows.split(split).to(device), 0.0
    for x, y in problem.blocks(places):
        outputs = model(x)
        if classes:
            found = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).long()
            value += float((found == y).sum())
        else:
            value += float((outputs[:, 0] - y).square().sum())
    return f"{value / len(places):.6f}" if len(places) else "-"


@torch.no_grad()
def compare(problem, model):
    """Whether this is the run's solution."""
    run = Model().double().to(device)
    run.load_state_dict(load_file(str(here / "trained.safetensors")))
    here_, there = loss_of(problem, model), loss_of(problem, run)
    apart, allowed = abs(here_ - there) / max(1, abs(there)), 1e-2 if classes else 1e-3
    everything = torch.arange(len(problem.rows.y), device=device)
    largest = max(float((answers(model, x) - answers(run, x)).abs().max()) for x, _ in problem.blocks(everything))
    same = apart <= 1e-6 and largest <= allowed
    if rank == 0:
        print(f"penalised loss {here_:.9f}, the run {there:.9f}, difference {apart:.1e} (1e-6 allowed)")
        print(f"largest difference of an answer over {len(everything)} rows {largest:.1e} ({allowed:.0e} allowed)")
        print("the same solution" if same else "NOT the same solution")
    return same


${leaveSource}

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compare", action="store_true", help="hold the solution against that of the run")
    parser.add_argument("--out", default=str(here / "again.safetensors"))
    options = parser.parse_args()
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")

    problem, model = Problem(), Model().double().to(device)
    with torch.no_grad():
        always_the_same(problem, model)
    if not problem.constant:
        if not classes and model.output.in_features <= most_columns:
            with torch.no_grad():
                by_equations(problem, model)
        else:
            by_descent(problem, model)
    loss = loss_of(problem, model)
    if rank == 0:
        about = "accuracy" if classes else "mean squared error"
        scores = ", ".join(f"{split} {score(problem, model, split)}" for split in ("train", "validation", "test"))
        print(f"penalised loss {loss:.9f}; {about}: {scores}", flush=True)
        save_file({k: v.float().contiguous().cpu() for k, v in model.state_dict().items()}, options.out)
    same = True
    if options.compare:
        if config["solved"]:
            same = compare(problem, model)
        elif rank == 0:
            print("The run was stopped before it had its solution: nothing to compare with.")
    if world > 1:
        leave(0 if same else 1)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
`;
