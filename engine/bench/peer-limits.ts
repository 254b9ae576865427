// How fast a workload has to be: its time at most, as a share of the fastest peer's in the same run (medians of pairs, the same threads).
// Goals that a change is held against, never a timed test.

/** By the name of the workload; PyTorch is the peer. */
export const mostOfPeer: Readonly<Record<string, number>> = {
  'tabular-mlp': 0.026,
  mlp: 0.55,
  'mnist-cnn': 0.55,
  resnet20: 0.7,
  transformer: 0.8,
  'resnet18-224': 0.9,
  'mobilenet-96': 0.8,
  'mlp-one-row': 0.3,
  'resnet20-one-row': 0.3,
  ...Object.fromEntries([256, 512, 1024, 2048, 4096].map((n) => [`gemm-${n}`, 0.97])),
};
