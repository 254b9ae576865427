// The Python of a PyTorch project that is the same for every run: its data, its training, its README. What differs stands in config.json.

import type { ExportedFile } from '../../protocol/exports.ts';
import type { RunRecord } from '../../protocol/runs.ts';
import { utf8 } from '../onnx/proto.ts';

/** `torch`: the first version that will do. */
export const requirements = (torch = '2.1'): string => `torch>=${torch}\nnumpy>=1.24\nsafetensors>=0.4\n`;
export const text = (path: string, content: string): ExportedFile => ({ path, data: utf8(content) });

export const readme = (
  { name, parent, relation }: RunRecord,
  compared: boolean,
  texts: 'read' | 'written' | false,
): string => `# ${name}

Trains the model of this run again, from ${relation === 'continued' ? 'first weights' : 'the same first weights'} and on the same rows.

    pip install -r requirements.txt
    python train.py                                  # one process
    torchrun --nproc-per-node 4 train.py             # as many as there are GPUs, or processes of a CPU
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-endpoint HOST:29500 train.py

- \`model.py\`: the network. \`python model.py\` loads \`trained.safetensors\`, the weights of the run.
- \`data.py\`: the rows as the run saw them (\`data/x.npy\`: scaled numbers and codes, or bytes of pictures; training rows first, then validation, then test).
${texts === 'written' ? '- `write.py`: writes on after a prompt, as the run does with temperature 0: `python write.py "Once upon a time" 100`.\n' : ''}${texts === 'read' ? '- `tokens.py`: makes tokens of other texts as the run does, by the tokenizers beside it; `codes({column: texts})` are the last columns of the rows that the model takes.\n' : ''}- \`train.py\`: optimizer, schedule, loss and early stopping as in \`config.json\`. Under torchrun each step's batch is divided among the processes; their mean gradient is that of the whole batch.
- \`initial.safetensors\`: ${relation === 'continued' ? 'weights to begin with, drawn by the seed of the run' : 'the weights the run began with'}. \`data/order.npy\`: the order of the rows in its first epoch; later epochs are shuffled by PyTorch.

${
  compared
    ? '`python train.py --compare` stops after ten steps, of a shorter epoch after that, and holds their losses against those of the run. Dropout and changes to pictures draw other random numbers here, batch norm looks at the whole of a batch that the run computed in parts, and 16 bits are float32: with any of these the losses agree only roughly.'
    : relation === 'continued'
      ? `The run goes on from run ${parent}, whose settings may have been others: there is nothing to compare the first losses with.`
      : 'The curve of the run is too long to hold each of its first steps: there is nothing to compare the first losses with.'
}
Of the changes to pictures, mirroring and shifting are done here. Under torchrun batch norm takes its statistics over the rows of all processes.
`;

/** `stepwise`: with the order of the rows in each epoch, and changes to pictures. */
export const dataSource = (
  stepwise: boolean,
): string => `"""The rows of the run: training first, then validation, then test."""
import json
import pathlib

import numpy as np
import torch

here = pathlib.Path(__file__).resolve().parent
config = json.loads((here / "config.json").read_text(encoding="utf-8"))


class Rows:
    """All rows on one device. Pictures stay bytes until they are taken."""

    def __init__(self, device):
        self.x = torch.from_numpy(np.load(here / "data" / "x.npy")).to(device)
        self.y = torch.from_numpy(np.load(here / "data" / "y.npy")).to(device)
${stepwise ? orderSource : ''}        self.pictures = self.x.dtype == torch.uint8
        if self.pictures:
            about = config["normalization"] or {"mean": [0.0], "deviation": [1.0]}
            self.mean, self.deviation = (torch.tensor(about[k], device=device).reshape(1, -1, 1, 1) for k in ("mean", "deviation"))

    def take(self, rows${stepwise ? ', augmented=False' : ''}):
        x, y = self.x[rows], self.y[rows]
        if not self.pictures:
            return x, y
        x = x.float() / 255
${stepwise ? augmentSource : ''}        return (x - self.mean) / self.deviation, y

    def split(self, name):
        counts = config["counts"]
        start = {"train": 0, "validation": counts["train"], "test": counts["train"] + counts["validation"]}[name]
        return torch.arange(start, start + counts[name])
${stepwise ? epochSource : ''}`;

const orderSource = `        self.order = torch.from_numpy(np.load(here / "data" / "order.npy").astype(np.int64))
`;

const augmentSource = `        if augmented:
            x = self.augment(x)
`;

const epochSource = `
    def augment(self, x):
        """Mirrored and shifted, as the run's settings say."""
        about = config["training"].get("augmentation") or {}
        if about.get("flip"):
            x = torch.where(torch.rand(len(x), 1, 1, 1, device=x.device) < 0.5, x.flip(3), x)
        most = int(about.get("crop") or 0)
        if most:
            height, width = x.shape[2:]
            padded = torch.nn.functional.pad(x - self.mean, (most,) * 4) + self.mean
            places = torch.randint(0, 2 * most + 1, (len(x), 2)).tolist()
            x = torch.stack([one[:, top : top + height, left : left + width] for one, (top, left) in zip(padded, places)])
        return x

    def epoch(self, number):
        """The order of the training rows: the run's own in the first epoch."""
        if number == 0:
            return self.order[: config["rowsOfEpoch"]]
        generator = torch.Generator().manual_seed(config["training"]["seed"] * 1_000_003 + number)
        return torch.randperm(config["counts"]["train"], generator=generator)[: config["rowsOfEpoch"]]
`;

/** The end of a script that several processes run: with `os`, `sys` and `dist`. */
export const leaveSource = `def leave(code):
    """Ends the group, and this process at once: threads of gloo outlive the group, and often abort a process that ends while they do."""
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
`;
