// The Python of a training step by step: losses, schedule and optimizer, the same alone and on several machines, and the script of a project that
// trains on one.

import { leaveSource } from './sources.ts';

/** Losses, learning rate, optimizer: functions of `config`, with `math`, `torch` and `F`. */
export const stepSource = `training, classes = config["training"], config["output"]["kind"] == "classes"


def weight_of(y, weights):
    """Sum of the rows' weights."""
    return weights[y.long()].sum() if "cross_entropy" in config["loss"] else torch.tensor(float(len(y)), device=y.device)


def losses(outputs, y, weights, smoothing=training["labelSmoothing"]):
    """Sum of the rows' losses, and the sum of their weights."""
    if config["loss"] == "cross_entropy":
        y = y.long()
        shares = F.one_hot(y, outputs.shape[1]).to(outputs.dtype) * (1 - smoothing) + smoothing / outputs.shape[1]
        return -(weights * shares * F.log_softmax(outputs, dim=1)).sum(), weight_of(y, weights)
    if config["loss"] == "binary_cross_entropy":
        w, target = weights[y.long()], y * (1 - smoothing) + smoothing / 2
        return (w * F.binary_cross_entropy_with_logits(outputs[:, 0], target, reduction="none")).sum(), weight_of(y, weights)
    error = outputs[:, 0] - y
    if config["loss"] == "mae":
        each = error.abs()
    elif config["loss"] == "huber":
        each = F.huber_loss(outputs[:, 0], y, delta=training["huberDelta"], reduction="none")
    else:
        each = error.square()
    return each.sum(), weight_of(y, weights)


def learning_rate(step, steps, per_epoch):
    """Of a step from 0: the schedule of the run."""
    schedule, peak = training["schedule"], training["optimizer"]["learningRate"]
    over = schedule.get("overEpochs") or 0
    steps = over * per_epoch if over else steps
    warmup = min(round(schedule.get("warmupEpochs", 0) * per_epoch), steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    share = min(1, (step - warmup) / (steps - warmup - 1)) if steps > warmup + 1 else 1
    cosine = lambda start, end, part: end + (start - end) * 0.5 * (1 + math.cos(math.pi * min(1, part)))
    if schedule["name"] == "step":
        return peak * schedule["gamma"] ** ((step - warmup) // per_epoch // max(1, schedule["stepEpochs"]))
    if schedule["name"] == "cosine":
        return cosine(peak, peak * schedule["finalShare"], share)
    if schedule["name"] == "one_cycle":
        return cosine(peak / 25, peak, share / 0.3) if share < 0.3 else cosine(peak, peak / 250_000, (share - 0.3) / 0.7)
    if schedule["name"] == "coslog4":
        return peak * 0.5 * (1 - math.cos(2 * math.pi * math.log2(1 + 15 * share)))
    return peak


def regularisation(step, steps, per_epoch):
    """Share of dropout and weight decay at a step from 0."""
    schedule = training["schedule"]
    if schedule.get("regularisation") != "flat_cosine":
        return 1.0
    over = schedule.get("overEpochs") or 0
    steps = over * per_epoch if over else steps
    return 0.5 * (1 + math.cos(math.pi * max(0.0, 2 * min(1, step / max(1, steps - 1)) - 1)))


def make_optimizer(model):
    about, still = training["optimizer"], set(config["undecayed"])
    named = list(model.named_parameters())
    factors = config["rates"]
    groups = []
    for factor in dict.fromkeys([1.0, *factors.values()]):
        own = [(n, p) for n, p in named if factors.get(n, 1.0) == factor]
        # AdamW's decay goes by the learning rate of the run, not by that of the group.
        decay = about["weightDecay"] / (factor if about["name"] == "adamw" else 1)
        for part, of in (([p for n, p in own if n not in still], decay), ([p for n, p in own if n in still], 0.0)):
            if part:
                groups.append({"params": part, "weight_decay": of, "decay": of, "factor": factor})
    rate = about["learningRate"]
    if about["name"] == "sgd":
        nesterov = bool(about["nesterov"]) and about["momentum"] > 0
        return torch.optim.SGD(groups, lr=rate, momentum=about["momentum"], nesterov=nesterov)
    if about["name"] == "rmsprop":
        return torch.optim.RMSprop(groups, lr=rate, alpha=about["alpha"], eps=about["epsilon"], momentum=about["momentum"])
    kind = torch.optim.AdamW if about["name"] == "adamw" else torch.optim.Adam
    return kind(groups, lr=rate, betas=(about["beta1"], about["beta2"]), eps=about["epsilon"])


def back_to_training(model):
    """Frozen layers work as they do in prediction."""
    model.train()
    for name in config["frozen"]:
        model._modules[name].eval()


class Everywhere(torch.autograd.Function):
    """The sum over all processes; its gradient is the sum of theirs."""

    @staticmethod
    def forward(_, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(_, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


class WholeBatchNorm(_BatchNorm):
    """Batch norm over the rows of all processes, also where one has none: SyncBatchNorm needs GPUs."""

    def _check_input_dim(self, x):
        pass

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        over = [d for d in range(x.dim()) if d != 1]
        shape = [1, -1] + [1] * (x.dim() - 2)
        count = torch.tensor([x.numel() / x.shape[1]], dtype=torch.float64, device=x.device)
        dist.all_reduce(count)
        count = count.to(x.dtype)
        mean = Everywhere.apply(x.sum(over)) / count
        centred = x - mean.view(shape)
        variance = Everywhere.apply(centred.square().sum(over)) / count
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1).clamp_min(1), self.momentum)
        scale = (variance + self.eps).rsqrt() * self.weight
        return centred * scale.view(shape) + self.bias.view(shape)


def together(model, world, device):
    """The model as all processes train it, and whether each of them takes part in its batch norm, also without a row."""
    normed = any(isinstance(part, _BatchNorm) and part.training for part in model.modules())
    if world == 1:
        return model, normed
    for part in model.modules():
        if isinstance(part, _BatchNorm):
            part.__class__ = WholeBatchNorm
    return DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None), normed


def take_step(whole, optimizer, rows, of_all, weights, step, steps, per_epoch, world, counts):
    """One step of all processes; the loss of this one's rows, weighed by the whole batch. counts: whether they are rows of it."""
    x, y = rows
    share = regularisation(step, steps, per_epoch)
    (whole.module if world > 1 else whole).share = share
    for group in optimizer.param_groups:
        group["lr"] = group["factor"] * learning_rate(step, steps, per_epoch)
        if "adam" in training["optimizer"]["name"]:
            group["weight_decay"] = group["decay"] * share
    outputs, members = whole(x), 1
    if outputs.dim() == 3:
        # Each member of an ensemble has its own loss; the loss is their mean.
        members = outputs.shape[1]
        outputs, y = outputs.flatten(0, 1), y.repeat_interleave(members)
    # DistributedDataParallel takes the mean over the processes.
    loss = losses(outputs, y, weights)[0] / members * float(counts) / of_all
    optimizer.zero_grad(set_to_none=True)
    (loss * world).backward()
    if training["clipNorm"] > 0:
        torch.nn.utils.clip_grad_norm_(whole.parameters(), training["clipNorm"])
    optimizer.step()
    return loss.detach()
`;

export const trainSource = `"""Trains the model from scratch: alone (python train.py) or, unchanged, in several processes (torchrun … train.py)."""
import argparse
import math
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from data import Rows, config, here
from model import Model

${stepSource}

${leaveSource}

@torch.no_grad()
def evaluate(model, rows, split, weights):
    """Loss and accuracy of a split; (nan, nan) where it is empty."""
    model.eval()
    total, weight, right = 0.0, 0.0, 0
    places, each = rows.split(split), rows.y[0].numel()
    # What a text costs to tell is told without smoothing.
    smoothing = 0 if config["everyPosition"] else training["labelSmoothing"]
    for part in places.split(max(1, 1024 // each)):
        x, y = rows.take(part)
        y = y.reshape(-1)
        outputs = model(x)
        one, many = losses(outputs, y, weights, smoothing)
        total, weight = total + float(one), weight + float(many)
        if classes:
            found = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).long()
            right += int((found == y.long()).sum())
    back_to_training(model)
    return (total / weight, right / (len(places) * each)) if weight else (math.nan, math.nan)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=training["epochs"], help="stop after so many; the schedule stays that of all")
    parser.add_argument("--compare", action="store_true", help="ten steps of the first epoch, their losses held against those of the run")
    parser.add_argument("--out", default=str(here / "again.safetensors"))
    options = parser.parse_args()

    world, rank, local = (int(os.environ.get(k, d)) for k, d in (("WORLD_SIZE", "1"), ("RANK", "0"), ("LOCAL_RANK", "0")))
    device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(training["seed"] + rank)

    rows = Rows(device)
    model = Model()
    model.load_state_dict(load_file(str(here / "initial.safetensors")))
    for name in config["frozen"]:
        model._modules[name].requires_grad_(False)
    model.to(device)
    model.every = config["everyPosition"]
    back_to_training(model)
    optimizer = make_optimizer(model)
    whole, normed = together(model, world, device)
    width = max(2, len(config["output"].get("classes", [])))
    weights = torch.tensor(config["classWeights"] or [1.0] * width, device=device)

    batch, stopping = config["batch"], training["earlyStopping"]
    per_epoch = math.ceil(config["rowsOfEpoch"] / batch)
    steps = training["epochs"] * per_epoch
    step, best, stale, first = 0, math.inf, 0, []
    for epoch in range(options.epochs):
        total = 0.0
        for places in rows.epoch(epoch).split(batch):
            own = places.tensor_split(world)[rank]
            counts = len(own) > 0
            # No row of a small last batch is left for this process: one that counts nothing keeps it in step with the others.
            x, y = rows.take(own if counts or normed else places[:1], augmented=counts)
            of_all = weight_of(rows.y[places].reshape(-1), weights)
            value = take_step(whole, optimizer, (x, y.reshape(-1)), of_all, weights, step, steps, per_epoch, world, counts)
            if world > 1:
                dist.all_reduce(value)
            step, total = step + 1, total + float(value)
            first.append(float(value))
            if options.compare and step == 10:
                break
        if options.compare:
            break
        validation, accuracy = evaluate(model, rows, "validation", weights)
        if rank == 0:
            print(f"epoch {epoch + 1}: loss {total / per_epoch:.6f}, validation {validation:.6f}" + (f", accuracy {accuracy:.4f}" if classes else ""), flush=True)
        if math.isnan(validation) or validation < best - stopping["minimumDelta"]:
            best, stale = validation, 0
            if rank == 0:
                save_file({k: v.contiguous().cpu() for k, v in model.state_dict().items()}, options.out)
        else:
            stale += 1
            if stopping["enabled"] and stale >= stopping["patience"]:
                break

    if options.compare and rank == 0:
        for number, (here_, there) in enumerate(zip(first, config["firstLosses"]), 1):
            print(f"step {number}: {here_:.7f}, the run {there:.7f}, difference {abs(here_ - there):.2e}")
    if world > 1:
        leave(0)


if __name__ == "__main__":
    main()
`;
