// What training keeps in memory, by the textbook: states of parameters (whole or shared out over devices), activations, and
// what comes on top. All in bytes. Our own plans are exact and need none of this; it is for other software and other machines.

export const gibibyte = 2 ** 30;

/**
 * Bytes a parameter by what holds it: weights, gradients, optimizer state and, where weights are 16-bit, a float32 copy.
 * `mixed16` is the accounting of ZeRO (arXiv 1910.02054): 2 + 2 + 4 (copy) and two moments of 4; `mixed16-torch` keeps float32
 * weights and gradients beside a 16-bit copy, as PyTorch's autocast does (2 + 4, 4, two moments of 4).
 */
export type StatePrecision = 'float32' | 'mixed16' | 'mixed16-torch';
export type StateOptimizer = 'sgd' | 'momentum' | 'adam' | 'adam8bit';

export interface StateBytes {
  readonly weights: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly total: number;
}

const optimizerBytes: Readonly<Record<StateOptimizer, number>> = { sgd: 0, momentum: 4, adam: 8, adam8bit: 2 };
const weightBytes: Readonly<Record<StatePrecision, number>> = { float32: 4, mixed16: 6, 'mixed16-torch': 6 };
const gradientBytes: Readonly<Record<StatePrecision, number>> = { float32: 4, mixed16: 2, 'mixed16-torch': 4 };

/** Model states of `parameters` parameters, in bytes. A float32 copy of 16-bit weights counts as weights. */
export function modelStates(parameters: number, optimizer: StateOptimizer, precision: StatePrecision): StateBytes {
  const weights = parameters * weightBytes[precision];
  const gradients = parameters * gradientBytes[precision];
  const state = parameters * optimizerBytes[optimizer];
  return { weights, gradients, optimizer: state, total: weights + gradients + state };
}

export type ZeroStage = 0 | 1 | 2 | 3;

/**
 * Bytes of model states on each of `ranks` devices when 16-bit weights (2), 16-bit gradients (2) and `optimizer` bytes a
 * parameter (12 for mixed-precision Adam) are shared out: stage 1 the optimizer, stage 2 gradients too, stage 3 weights too.
 * Source: ZeRO, arXiv 1910.02054, section 5.
 */
export function zeroStates(parameters: number, ranks: number, stage: ZeroStage, optimizer = 12): number {
  const shared = (bytes: number, from: ZeroStage): number => (parameters * bytes) / (stage >= from ? ranks : 1);
  return shared(2, 3) + shared(2, 2) + shared(optimizer, 1);
}

export interface OffloadEstimate {
  /** Bytes on each device. */
  readonly device: number;
  /** Bytes in the host's memory, for all devices of the machine; 0 without offload. */
  readonly host: number;
}

/** DeepSpeed's own estimate of stage 2 (its memory estimators): 4N + 16N/n a device, or 2N with the optimizer on the host. */
export function deepspeedStage2(parameters: number, ranks: number, offload: boolean): OffloadEstimate {
  if (!offload) return { device: 4 * parameters + (16 * parameters) / ranks, host: 0 };
  return { device: 2 * parameters, host: 1.5 * parameters * Math.max(4 * ranks, 16) };
}

/** DeepSpeed's own estimate of stage 3 without offload: the largest layer whole, the rest shared. Bytes a device. */
export function deepspeedStage3(parameters: number, largestLayer: number, ranks: number): number {
  return 4 * largestLayer + (18 * parameters) / ranks;
}

/** The rule of model hubs: training with Adam takes four times the weights in their own type. It leaves out activations. */
export const fourTimesWeights = (bytesOfWeights: number): number => 4 * bytesOfWeights;

/** Activations kept for the backward pass: `values` an example (input and stored outputs), in bytes. */
export const keptActivations = (values: number, batch: number, bytesPerValue = 4): number =>
  values * batch * bytesPerValue;

export interface TransformerShape {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Tokens a sequence. */
  readonly sequence: number;
}

/**
 * Bytes of activations of one transformer layer with 16-bit values. `kept`: everything, s·b·h·(34 + 5·a·s/h); `selective`: flash
 * attention or selective recomputation, without the attention scores; `full`: the layer's input alone, 2·s·b·h, for about a
 * third more computing. Source: arXiv 2205.05198.
 */
export function transformerLayerActivations(
  { hidden, heads, sequence }: TransformerShape,
  batch: number,
  recompute: 'kept' | 'selective' | 'full' = 'kept',
): number {
  const inputs = sequence * batch * hidden;
  if (recompute === 'full') return 2 * inputs;
  return inputs * (34 + (recompute === 'kept' ? (5 * heads * sequence) / hidden : 0));
}

export const transformerActivations = (
  shape: TransformerShape,
  batch: number,
  recompute: 'kept' | 'selective' | 'full' = 'kept',
): number => shape.layers * transformerLayerActivations(shape, batch, recompute);

/** Scores over the vocabulary, kept in float32: bytes. */
export const logitBytes = (batch: number, sequence: number, vocabulary: number): number =>
  4 * batch * sequence * vocabulary;

/** What a GPU holds beside the model: its context and kernels (0.5 to 2 GiB), processes of a group (1 to 2), fragmentation. */
export const overheads = {
  context: { low: 0.5 * gibibyte, high: 2 * gibibyte },
  distributed: { low: gibibyte, high: 2 * gibibyte },
  /** Shares of what is allocated. */
  fragmentation: { low: 0.05, high: 0.2 },
} as const;

/** Shares of free memory above which a plan is warned of, and refused. */
export const memoryLimits = { warn: 0.8, refuse: 0.9 } as const;

/** Whether `needed` bytes go into `free` ones: read free memory, not the card's total, for others hold some of it. */
export function fitOf(
  needed: number,
  free: number,
  limits: { warn: number; refuse: number } = memoryLimits,
): 'fits' | 'tight' | 'too large' {
  if (needed > limits.refuse * free) return 'too large';
  return needed > limits.warn * free ? 'tight' : 'fits';
}
