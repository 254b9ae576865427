// What one training step of a model costs, whatever runs it: every kernel call with its work, and what is kept for the backward
// pass. From a ModelSpec (from-model.ts) or, for models this program does not build, from published sizes (transformers.ts).

/** `update`: the optimizer and what it needs. */
export type CostPhase = 'forward' | 'backward' | 'update';

/** How a kernel works, which decides how much of a device's peaks it reaches. */
export type WorkKind = 'product' | 'convolution' | 'depthwise' | 'normalisation' | 'pooling' | 'elementwise' | 'update';

/** One kernel call of a step. */
export interface CallCost {
  /** Id of the layer; `data`, `input` and `loss` stand before and behind the layers, `update` is the optimizer's. */
  readonly layer: string;
  readonly phase: CostPhase;
  readonly kernel: string;
  readonly kind: WorkKind;
  /** A multiply-add counts as two. */
  readonly flops: number;
  /** Read and written, each operand once, as float32. */
  readonly bytes: number;
  /** The same on a device that stores 16 bits (GPU), of a run that asks for it; absent: `bytes`. */
  readonly stored?: number;
  /** Of products and convolutions: the harmonic mean of rows, columns and summed length; the shortest side decides the rate. */
  readonly edge?: number;
  /** As the kernels of the CPU go about it, where that decides (on-cpu.ts). */
  readonly cpu?: CpuWork;
}

/** Work of a call on the CPU. */
export interface CpuWork {
  /** What registers compute, with what is dropped again; starting a tile counts as what it would compute meanwhile. */
  readonly flops: number;
  /** Edge of the cube that comes as near to the peak. */
  readonly edge: number;
  /** Time that comes on top, as bytes that a copy of as many bytes as `from` moves meanwhile. */
  readonly streamed: number;
  readonly from: number;
  /** Pieces that threads share, where they are few: the images of a batch. */
  readonly pieces?: number;
}

/** What a layer keeps for the backward pass, of a whole batch. */
export interface KeptActivations {
  readonly layer: string;
  /** Numbers kept. */
  readonly values: number;
  /** Of those, stored in 16 bits. */
  readonly half?: number;
  /** Whole numbers kept beside them by other software: the winners of max pooling. Bytes. */
  readonly indexBytes: number;
}

export interface ModelCosts {
  readonly name: string;
  /** Examples a step: rows, images, sequences. */
  readonly batch: number;
  /** Numbers that are learned, or were where layers are frozen. */
  readonly parameters: number;
  /** Of them those that this training changes: gradients and the state of the optimizer are of these alone. */
  readonly trained: number;
  /** Of those trained, as float32. */
  readonly trainedBytes: number;
  /** Of one training step, the update included, divided by the batch. */
  readonly flopsPerExample: number;
  readonly calls: readonly CallCost[];
  readonly activations: readonly KeptActivations[];
  /** Numbers of one example as the rows hold them, and the bytes of each. */
  readonly example: { readonly values: number; readonly bytes: number };
  /** Sizes of a transformer, whose activations go by a formula of their own. */
  readonly transformer?: {
    readonly layers: number;
    readonly hidden: number;
    readonly heads: number;
    readonly sequence: number;
    readonly vocabulary: number;
    /** Scores over the vocabulary are computed for every token. */
    readonly logits: boolean;
  };
}

/** Work of many calls. */
export function sumOf(calls: readonly CallCost[]): { readonly flops: number; readonly bytes: number } {
  return calls.reduce(({ flops, bytes }, call) => ({ flops: flops + call.flops, bytes: bytes + call.bytes }), {
    flops: 0,
    bytes: 0,
  });
}
