// `train.py` of a project for several machines: DistributedDataParallel over gloo or nccl, checkpoints, and what comes back as a run.

import { leaveSource } from '../sources.ts';
import { stepSource } from '../training-source.ts';

/** Points of the step curve at most, as a run here makes them. */
const stepPoints = 2000;

export const clusterTrainSource = `"""Trains the model on one device or many: torchrun … train.py, or one of the ways beside it. What comes back stands in result/."""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from data import Pictures, Shares, Split, config, drawn, here, loader
from model import Model

${stepSource}

${leaveSource}

class Processes:
    """Those that train together: how many, which this is, its device, and sums over all of them."""

    def __init__(self, device):
        self.world, self.rank, local = (int(os.environ.get(k, d)) for k, d in (("WORLD_SIZE", "1"), ("RANK", "0"), ("LOCAL_RANK", "0")))
        self.device = device or (torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu"))
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        # Ray has made the group already.
        self.own = self.world > 1 and not dist.is_initialized()
        if self.own:
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo", timeout=datetime.timedelta(minutes=10))

    def sum(self, *values):
        """Of numbers, in float64."""
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        if self.world > 1:
            dist.all_reduce(total)
        return total.tolist()

    def say(self, text):
        if self.rank == 0:
            print(text, flush=True)

    def end(self, code):
        """Of processes that torchrun has started: those of Ray live on."""
        if self.own:
            leave(code)


def replace(path, write):
    """A file is there as a whole or not at all."""
    write(path.with_name(path.name + ".new"))
    os.replace(path.with_name(path.name + ".new"), path)


@torch.no_grad()
def evaluate(model, split, pictures, weights, processes):
    """Scores of a split by their names, its rows divided among the processes; none where it is empty."""
    model.eval()
    total, weight, first, second = 0.0, 0.0, 0.0, 0.0
    for rows in torch.arange(len(split))[processes.rank :: processes.world].split(1024):
        x, y = split.__getitems__(rows.tolist())
        y = y.to(processes.device)
        outputs = model(pictures(x.to(processes.device)))
        one, many = losses(outputs, y, weights)
        total, weight = total + float(one), weight + float(many)
        if classes:
            found = outputs.argmax(1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).long()
            first += int((found == y.long()).sum())
        else:
            error = outputs[:, 0].double() - y.double()
            first, second = first + float(error.abs().sum()), second + float(error.square().sum())
    total, weight, first, second = processes.sum(total, weight, first, second)
    back_to_training(model)
    if not weight:
        return {}
    if classes:
        return {"loss": total / weight, "accuracy": first / len(split)}
    # In the target's unit; of the variance the share that is explained.
    scale, spread = config["output"]["scale"], float((split.y.double() - split.y.double().mean()).square().sum())
    explained = {"r2": 1 - second / spread} if spread else {}
    return {"loss": total / weight, "mae": first / len(split) * scale, "rmse": math.sqrt(second / len(split)) * scale, **explained}


class Curves:
    """metrics.jsonl: a point a line, as the history keeps them. One process writes it."""

    def __init__(self, path, kept):
        self.file = None
        if path is None:
            return
        with open(path, "ab") as file:
            file.truncate(kept)
        self.file = open(path, "a", encoding="utf-8")

    def point(self, series, value, step, epoch, seconds):
        if self.file and math.isfinite(value):
            said = {"series": series, "step": step, "epoch": round(epoch, 6), "seconds": round(seconds, 3), "value": value}
            self.file.write(json.dumps(said) + "\\n")

    def bytes(self):
        self.file.flush()
        return self.file.tell()


class Training:
    """The state of a training, the same in every process: what a checkpoint holds, whatever the number of processes that goes on with it."""

    def __init__(self, options, processes):
        self.options, self.processes = options, processes
        rank, world, device = processes.rank, processes.world, processes.device
        self.out = pathlib.Path(options.out)
        self.kept, self.best = self.out / "checkpoint.pt", self.out / "weights.safetensors"
        self.data, self.validation, self.pictures = Split("train"), Split("validation"), Pictures(device)
        self.model = Model()
        self.model.load_state_dict(load_file(str(here / "initial.safetensors")))
        for name in config["frozen"]:
            self.model._modules[name].requires_grad_(False)
        self.model.to(device)
        back_to_training(self.model)
        self.optimizer = make_optimizer(self.model)
        width = max(2, len(config["output"].get("classes", [])))
        self.weights = torch.tensor(config["classWeights"] or [1.0] * width, device=device)
        self.per_epoch = math.ceil(config["rowsOfEpoch"] / config["batch"])
        self.steps = training["epochs"] * self.per_epoch
        # Steps of a point of the curve, and after how many everybody's sums are added up.
        every = math.ceil(self.steps / ${stepPoints})
        self.gathered = min(every, 20)
        self.every = math.ceil(every / self.gathered) * self.gathered
        self.state = {"epoch": 0, "step": 0, "loss": 0.0, "rows": 0, "point": 0.0, "points": 0, "best": None, "bestEpoch": 0, "stale": 0, "early": False, "seconds": 0.0, "bytes": 0}
        if rank == 0:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / "result.json").unlink(missing_ok=True)
            if options.fresh:
                self.kept.unlink(missing_ok=True)
        # Nobody looks for a checkpoint before it is known to count.
        processes.sum(0)
        if self.kept.exists():
            self.go_on(torch.load(self.kept, map_location="cpu", weights_only=True))
        self.curves = Curves(self.out / "metrics.jsonl" if rank == 0 else None, self.state["bytes"])
        self.whole, self.normed = together(self.model, world, device)
        self.shares = Shares(self.data, world, rank)
        workers = options.workers if options.workers is not None else (2 if device.type == "cuda" else 0)
        self.given = loader(self.data, self.shares, workers, device.type == "cuda")
        self.begun = time.monotonic() - self.state["seconds"]
        self.written = time.monotonic()
        self.asked = False
        # Under Ray this is no main thread, and Ray ends processes in its own way.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self.ask)

    def ask(self, *_):
        """Somebody wants this process to end: all end together, with a checkpoint."""
        self.asked = True

    def go_on(self, found):
        if found["run"] != config["run"]:
            sys.exit(f"{self.kept} is the checkpoint of another run: give another folder with --out, or --fresh to begin anew.")
        self.model.load_state_dict(found["model"])
        self.optimizer.load_state_dict(found["optimizer"])
        self.state = found["state"]
        self.processes.say(f"goes on after step {self.state['step']} of {self.steps}")

    def keep(self):
        if self.processes.rank == 0:
            self.state["bytes"] = self.curves.bytes()
            whole = {"run": config["run"], "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "state": self.state}
            replace(self.kept, lambda path: torch.save(whole, path))
        self.written = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.begun

    def step(self, places, x, y):
        """One step of all processes; the loss of this one's rows, weighed by the whole batch."""
        step, device, world = self.state["step"], self.processes.device, self.processes.world
        # By seed, step and process: a training that goes on draws what it would have drawn.
        torch.manual_seed((training["seed"] * 1_000_003 + step) * 4096 + self.processes.rank)
        counts = len(x) > 0
        if not counts and not self.normed:
            # No row of a small last batch is left for this process: one that counts nothing keeps it in step with the others.
            x, y = self.data.__getitems__(places[:1].tolist())
        x = self.pictures(x.to(device, non_blocking=True), drawn(step, len(places), self.shares) if counts else None)
        y = y.to(device, non_blocking=True)
        of_all = float(weight_of(self.data.y[places], self.weights.cpu()))
        along = (self.weights, step, self.steps, self.per_epoch, world, counts)
        return take_step(self.whole, self.optimizer, (x, y), of_all, *along).double()

    def epoch(self):
        """The rest of an epoch; what ends the training, or None."""
        state = self.state
        self.shares.set_epoch(state["epoch"])
        self.shares.done = state["step"] - state["epoch"] * self.per_epoch
        point, loss, rows, steps = 0.0, 0.0, 0, 0
        for places, (x, y) in zip(self.shares.batches(), self.given):
            value = self.step(places, x, y)
            point, loss, rows, steps = point + value, loss + value * len(places), rows + len(places), steps + 1
            state["step"] += 1
            last = state["step"] % self.per_epoch == 0
            if (state["points"] + steps) % self.gathered != 0 and not last:
                continue
            # Until here the sums were on the device, and each process had its own.
            due = self.processes.rank == 0 and time.monotonic() - self.written >= self.options.checkpoint_seconds
            point, loss, due, asked = self.processes.sum(float(point), float(loss), float(due), float(self.asked))
            state["point"], state["points"] = state["point"] + point, state["points"] + steps
            state["loss"], state["rows"] = state["loss"] + loss, state["rows"] + rows
            point, loss, rows, steps = 0.0, 0.0, 0, 0
            state["seconds"] = self.seconds()
            if not math.isfinite(state["loss"]):
                return "diverged"
            if state["points"] >= self.every:
                self.point("step_loss", state["point"] / state["points"])
                state["point"], state["points"] = 0.0, 0
            if (due or asked) and not last:
                self.keep()
            if asked and not last:
                return "asked"
        return self.end_epoch()

    def point(self, series, value):
        state = self.state
        self.curves.point(series, value, state["step"], state["step"] / self.per_epoch, state["seconds"])

    def end_epoch(self):
        state, stopping = self.state, training["earlyStopping"]
        state["epoch"] += 1
        mean = state["loss"] / state["rows"]
        state["loss"], state["rows"] = 0.0, 0
        scores = evaluate(self.model, self.validation, self.pictures, self.weights, self.processes)
        state["seconds"] = self.seconds()
        self.point("train_loss", mean)
        for name, value in scores.items():
            self.point(f"val_{name}", value)
        self.point("learning_rate", learning_rate(state["step"] - 1, self.steps, self.per_epoch))
        said = ", ".join(f"{name} {value:.6g}" for name, value in scores.items()) or "none"
        self.processes.say(f"epoch {state['epoch']}: loss {mean:.6f}; validation: {said}")
        judged = scores.get("loss", mean)
        if state["best"] is None or judged < state["best"] - stopping["minimumDelta"]:
            state["best"], state["bestEpoch"], state["stale"] = judged, state["epoch"], 0
            if self.processes.rank == 0:
                tensors = {k: v.contiguous().cpu() for k, v in self.model.state_dict().items() if v.is_floating_point()}
                replace(self.best, lambda path: save_file(tensors, path, metadata=origin()))
        else:
            state["stale"] += 1
            state["early"] = stopping["enabled"] and state["stale"] >= stopping["patience"]
        self.keep()
        return "asked" if self.processes.sum(float(self.asked))[0] else None

    def run(self):
        ended = None
        while self.state["epoch"] < self.options.epochs and not self.state["early"] and ended is None:
            ended = self.epoch()
        if ended == "asked":
            self.processes.say(f"asked to end: {self.kept} is of step {self.state['step']}, and the same command goes on from there")
            return 143
        if ended == "diverged":
            self.processes.say(f"the loss is no number any more at step {self.state['step']}: what was best before is kept")
        if not self.best.exists():
            return 1
        self.finish("diverged" if ended else "early_stopped" if self.state["early"] else "completed")
        return 1 if ended else 0

    def finish(self, reason):
        """What comes back: the best weights' scores on all splits, beside the curves and the weights."""
        processes, state = self.processes, self.state
        self.model.load_state_dict(load_file(str(self.best)))
        scores = {}
        for short, split in (("train", self.data), ("val", self.validation), ("test", Split("test"))):
            found = evaluate(self.model, split, self.pictures, self.weights, processes)
            scores |= {f"{short}_{name}": value for name, value in found.items()}
        device = torch.cuda.get_device_name(processes.device) if processes.device.type == "cuda" else platform.processor() or platform.machine()
        rows = state["epoch"] * config["rowsOfEpoch"]
        result = {
            "version": 1, "reason": reason, "epochs": state["epoch"], "steps": state["step"], "seconds": state["seconds"],
            "examplesPerSecond": rows / max(1e-9, state["seconds"]), "bestEpoch": state["bestEpoch"], "processes": processes.world,
            "kind": "gpu" if processes.device.type == "cuda" else "cpu", "device": device, "torch": torch.__version__, "metrics": {k: v for k, v in scores.items() if math.isfinite(v)},
        }
        if processes.rank == 0:
            self.curves.bytes()
            replace(self.out / "result.json", lambda path: path.write_text(json.dumps(result, indent=2) + "\\n", encoding="utf-8"))
        processes.say(f"done: {self.out} holds the curves, the weights of epoch {state['bestEpoch']} and their scores. Drop the folder on Trainyard's window, or: trainyard import-model {self.out}")


def origin():
    """What the weights are of: the model, its preprocessing and the run, as Trainyard wrote them down."""
    with safe_open(str(here / "initial.safetensors"), "pt") as file:
        return file.metadata()


def lost(error):
    """Whether another process is gone."""
    return any(word in str(error).lower() for word in ("connection", "peer", "timed out", "socket", "nccl", "gloo"))


def main(arguments=None, device=None):
    """device: where something else has chosen it already."""
    parser = argparse.ArgumentParser(description="Trains the model; under torchrun with as many processes as that starts.")
    parser.add_argument("--out", default=str(here / "result"), help="what comes back, and the checkpoint")
    parser.add_argument("--epochs", type=int, default=training["epochs"], help="stop after so many; the schedule stays that of all")
    parser.add_argument("--fresh", action="store_true", help="begin anew though there is a checkpoint")
    parser.add_argument("--checkpoint-seconds", type=float, default=300, help="between checkpoints within an epoch; each epoch ends with one")
    parser.add_argument("--workers", type=int, help="processes that read rows, for each that trains (default: 2 beside a GPU, else 0)")
    options = parser.parse_args(arguments)
    processes = Processes(device)
    try:
        if processes.world > config["batch"]:
            sys.exit(f"{processes.world} processes share a batch of {config['batch']} rows: some would have none. Start {config['batch']} at most.")
        code = Training(options, processes).run()
    except RuntimeError as error:
        if not processes.own or not lost(error):
            raise
        print(f"process {processes.rank}: another process is gone; the last checkpoint is in {options.out}, and the same command goes on from there", file=sys.stderr, flush=True)
        # Waiting for the others' sockets to close would wait for nobody.
        os._exit(1)
    processes.end(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
`;
