// README of a project for several machines.

import { clusterWords, type Cluster } from '../../../hardware/cluster.ts';
import type { RunRecord } from '../../../protocol/runs.ts';

/** Cards that are told of, the quickest first. */
const mostCards = 5;

function sizeText({ sizes, taken }: Cluster): string {
  if (taken === null) return 'No card of the catalogue holds a copy of this model: data parallelism alone will not do.';
  const cards = [...new Set([taken.device, ...sizes.map(({ device }) => device)])].slice(0, mostCards);
  const lines = sizes.filter(({ device }) => cards.includes(device)).map((size) => `- ${clusterWords(size)}`);
  const one =
    taken.devices === 1
      ? 'One card is enough: more would be less than 70 % efficient, or hardly sooner done.'
      : 'More of them are hardly sooner done, or less than 70 % efficient.';
  return `**${clusterWords(taken)}**: what the ways to start it ask for. ${one}\n\nAll epochs in float32, by data sheets and rents of Trainyard's catalogue, validation and waiting for rows left out; right within a factor of 1.3 or so. Nobody's price is known where none stands.\n\n${lines.join('\n')}`;
}

export const clusterReadme = ({ name, id, relation }: RunRecord, texts: boolean, cluster: Cluster): string => `# ${name}

Trains the model of run ${id} on as many devices as there are, from ${relation === 'continued' ? 'first weights' : 'the same first weights'}, on the same rows in the same batches whatever their number.

    pip install -r requirements.txt
    python train.py                                  # one process
    torchrun --nproc-per-node 4 train.py             # one machine: as many as it has GPUs, or processes of a CPU
    torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 train.py
    sbatch slurm.sh                                  # SLURM
    kubectl apply -f kubernetes.yaml                 # Kubernetes: the folder on the volume of its claim
    python ray_train.py                              # Ray Train

The folder has to be where every machine sees it; a process reads the rows that it takes, and no others.

## How large

${sizeText(cluster)}

## What comes back

\`result/\`, written by the first process: \`metrics.jsonl\` (the curves), \`weights.safetensors\` (the best by the validation loss), \`result.json\` (scores, at the end). Drop it, or this folder, on Trainyard's window,
or \`trainyard import-model result/\`: it becomes a run that names run ${id} as where it comes from.

## Ended before its time

Each epoch ends with a checkpoint (\`result/checkpoint.pt\`), a long one has some within (\`--checkpoint-seconds 300\`). The same command goes on from it, with any number of processes; \`--fresh\` begins anew. A process that is
asked to end (SIGTERM) has all of them end together, with a checkpoint. One that is killed takes the others along: what was done since the last checkpoint is done again. \`torchrun --max-restarts 3\` does that by itself.

## What is in it

- \`model.py\`: the network. \`python model.py\` loads \`trained.safetensors\`, the weights of run ${id}.
- \`data.py\`: the rows as the run saw them, in shards (\`data/train-00000.x.npy\`: scaled numbers and codes, or bytes of pictures) that are mapped, not read; and which of them a process takes.
${texts ? '- `tokens.py`: makes tokens of other texts as the run does, by the tokenizers beside it.\n' : ''}- \`train.py\`: optimizer, schedule, loss and early stopping as in \`config.json\`. Each step's batch is divided among the processes; their mean gradient is that of the whole batch, and batch norm takes its statistics over all of it.
  The losses are those of one process to the rounding of sums. Dropout and changes to pictures draw other random numbers in each process: with them they agree only roughly.
- \`initial.safetensors\`: ${relation === 'continued' ? 'weights to begin with, drawn by the seed of the run' : 'the weights the run began with'}. \`data/order.npy\`: the order of the rows in its first epoch; later epochs are shuffled by seed and epoch.
`;
