// Ways to start a project for a cluster: SLURM, Kubernetes, Ray Train. Each starts the same train.py; nodes and cards are those of the forecast.

import { boxOf, type ClusterSize } from '../../../hardware/cluster.ts';

/** What the ways are filled in with. */
export interface Launch {
  /** Lower-case letters, digits and dashes. */
  readonly name: string;
  readonly nodes: number;
  readonly cards: number;
  /** Hours that the queue is asked for. */
  readonly hours: number;
}

/** One card of one machine where nothing is forecast. Time is asked for twice the forecast's upper end, as it may wait for data. */
export function launchOf(run: number, size: ClusterSize | null): Launch {
  const cards = size?.devices ?? 1;
  const hours = size === null ? 24 : Math.max(1, Math.ceil((2 * size.most) / 3600));
  return { name: `trainyard-run-${run}`, nodes: Math.ceil(cards / boxOf), cards: Math.min(cards, boxOf), hours };
}

export const slurmSource = ({ name, nodes, cards, hours }: Launch): string => `#!/bin/bash
#SBATCH --job-name=${name}
#SBATCH --nodes=${nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=${cards}
#SBATCH --cpus-per-task=${4 * cards}
#SBATCH --time=${hours}:00:00
#SBATCH --output=slurm-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=TERM@120
# sbatch slurm.sh, in this folder, which every node has to see. Two minutes before the time is up all processes are asked to end, with a
# checkpoint; the same command, or the queue that puts the job in again, goes on from it.
set -euo pipefail
cd "\${SLURM_SUBMIT_DIR:-.}"
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
exec srun torchrun --nnodes "$SLURM_JOB_NUM_NODES" --nproc-per-node "\${SLURM_GPUS_ON_NODE:-${cards}}" \\
    --rdzv-id "$SLURM_JOB_ID" --rdzv-backend c10d --rdzv-endpoint "$head:29500" train.py "$@"
`;

export const kubernetesSource = ({ name, nodes, cards }: Launch): string => `# kubectl apply -f kubernetes.yaml
# This folder has to lie on the volume of the claim "${name}", which every pod mounts; say which image has PyTorch.
apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  clusterIP: None
  selector:
    job-name: ${name}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
spec:
  completionMode: Indexed
  completions: ${nodes}
  parallelism: ${nodes}
  backoffLimit: ${3 * nodes}
  template:
    spec:
      subdomain: ${name}
      restartPolicy: OnFailure
      terminationGracePeriodSeconds: 120
      containers:
        - name: train
          image: pytorch/pytorch:2.7.1-cuda12.6-cudnn9-runtime
          workingDir: /project
          # The first pod is where the others meet; who loses one waits for its successor and goes on from the checkpoint.
          command: ["bash", "-c"]
          args:
            - >-
              pip install -r requirements.txt &&
              exec torchrun --nnodes ${nodes} --nproc-per-node ${cards} --max-restarts 3
              --rdzv-id ${name} --rdzv-backend c10d --rdzv-endpoint ${name}-0.${name}:29500 train.py
          resources:
            limits:
              nvidia.com/gpu: ${cards}
          volumeMounts:
            - name: project
              mountPath: /project
            # Processes hand rows over in it.
            - name: shared-memory
              mountPath: /dev/shm
      volumes:
        - name: project
          persistentVolumeClaim:
            claimName: ${name}
        - name: shared-memory
          emptyDir:
            medium: Memory
`;

export const raySource = ({
  nodes,
  cards,
}: Launch): string => `"""Trains by Ray Train: python ray_train.py [options of train.py], pip install "ray[train]". Every node has to see this folder."""
import argparse
import pathlib
import sys

from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, get_device

here = str(pathlib.Path(__file__).resolve().parent)


def work(config):
    sys.path.insert(0, config["here"])
    import train

    # Ray has brought the processes together already.
    code = train.main(config["arguments"], get_device())
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=${nodes * cards})
    parser.add_argument("--cpu", action="store_true", help="processors instead of GPUs")
    own, others = parser.parse_known_args()
    TorchTrainer(
        work,
        train_loop_config={"here": here, "arguments": others},
        scaling_config=ScalingConfig(num_workers=own.processes, use_gpu=not own.cpu),
        # A process that is lost begins all of them anew: from the checkpoint.
        run_config=RunConfig(failure_config=FailureConfig(max_failures=3)),
    ).fit()
`;
