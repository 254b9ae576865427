// The Python that reads a dataset in shards and deals its rows out to the processes of a training.

/** `data.py`. */
export const shardsSource = `"""The rows of the run in shards, and which of them a process takes at each step."""
import json
import pathlib

import numpy as np
import torch
from torch.utils.data import DataLoader, DistributedSampler

here = pathlib.Path(__file__).resolve().parent
config = json.loads((here / "config.json").read_text(encoding="utf-8"))


class Split:
    """Rows of train, validation or test. The files are mapped: a process reads the rows that it takes, and no others."""

    def __init__(self, name):
        self.count, self.size = config["counts"][name], config["shardRows"]
        shards = range(-(-self.count // self.size))
        self.x = [np.load(here / "data" / f"{name}-{shard:05d}.x.npy", mmap_mode="r") for shard in shards]
        y = [np.load(here / "data" / f"{name}-{shard:05d}.y.npy") for shard in shards]
        # Targets are four bytes a row: everybody has them all, for the weight of a whole batch.
        self.y = torch.from_numpy(np.concatenate(y) if y else np.zeros(0, np.float32))

    def __len__(self):
        return self.count

    def __getitems__(self, rows):
        """The rows of a step at once, [rows, …] and [rows]."""
        rows = np.asarray(rows, dtype=np.int64)
        first = self.x[0]
        x = np.empty((len(rows), *first.shape[1:]), first.dtype)
        shards = rows // self.size
        for shard in np.unique(shards):
            own = shards == shard
            x[own] = self.x[shard][rows[own] - shard * self.size]
        return torch.from_numpy(x), self.y[torch.from_numpy(rows)]


class Shares(DistributedSampler):
    """A DistributedSampler whose batches are those of one process, whatever their number: of each step's batch this process takes every
    WORLD_SIZE-th row from its own on, none twice. In its first epoch the order is the run's own, later the sampler's by seed and epoch."""

    def __init__(self, split, world, rank):
        super().__init__(split, num_replicas=world, rank=rank, seed=config["training"]["seed"])
        self.first = torch.from_numpy(np.load(here / "data" / "order.npy").astype(np.int64))
        self.done = 0

    def batches(self):
        """Rows of the whole batches of this epoch that are still to be taken."""
        if self.epoch == 0:
            order = self.first
        else:
            order = torch.randperm(len(self.dataset), generator=torch.Generator().manual_seed(self.seed + self.epoch))
        return order[: config["rowsOfEpoch"]].split(config["batch"])[self.done :]

    def __iter__(self):
        for rows in self.batches():
            yield rows[self.rank :: self.num_replicas].tolist()

    def __len__(self):
        return len(self.batches())


def as_it_is(rows):
    return rows


def loader(split, shares, workers, pinned):
    """Gives (x, y) of this process for each step."""
    about = {"persistent_workers": True} if workers else {}
    return DataLoader(split, batch_sampler=shares, num_workers=workers, collate_fn=as_it_is, pin_memory=pinned, **about)


class Pictures:
    """What becomes of the bytes of pictures on the device; other rows stay as they are."""

    def __init__(self, device):
        about = config["normalization"] or {"mean": [0.0], "deviation": [1.0]}
        self.mean, self.deviation = (torch.tensor(about[k], device=device).reshape(1, -1, 1, 1) for k in ("mean", "deviation"))

    def __call__(self, x, drawn=None):
        if x.dtype != torch.uint8:
            return x
        x = x.float() / 255
        if drawn:
            x = self.augment(x, *drawn)
        return (x - self.mean) / self.deviation

    def augment(self, x, mirrored, tops, lefts):
        """Mirrored and shifted, as the run's settings say."""
        most, (height, width) = limits()[1], x.shape[2:]
        x = torch.where(mirrored.to(x.device).reshape(-1, 1, 1, 1), x.flip(3), x)
        if most == 0 or len(x) == 0:
            return x
        padded = torch.nn.functional.pad(x - self.mean, (most,) * 4) + self.mean
        places = zip(padded, tops.tolist(), lefts.tolist())
        return torch.stack([one[:, top : top + height, left : left + width] for one, top, left in places])


def limits():
    """Whether pictures are mirrored, and by how many pixels they are shifted at most."""
    about = config["training"].get("augmentation") or {}
    return bool(about.get("flip")), int(about.get("crop") or 0)


def drawn(step, count, shares):
    """What becomes of each picture of a step's whole batch, for those of this process: the same whatever the number of processes."""
    generator = torch.Generator().manual_seed((config["training"]["seed"] + 1) * 1_000_003 + step)
    flip, most = limits()
    mirrored = torch.rand(count, generator=generator) < (0.5 if flip else 0.0)
    tops, lefts = (torch.randint(0, 2 * most + 1, (count,), generator=generator) for _ in range(2))
    return [values[shares.rank :: shares.num_replicas] for values in (mirrored, tops, lefts)]
`;
