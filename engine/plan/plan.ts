// A Plan is a compiled training step as plain data: which buffers exist, and which kernels run over them in which order.
// Backends execute it; nothing here knows a device. The seam between devices is the whole plan, never one op.

/** A buffer of `elements` 32-bit words (or bytes for `u8`). Backends allocate each slot once. */
export interface Slot {
  readonly id: number;
  readonly elements: number;
  readonly type: 'f32' | 'u32' | 'u8';
  /**
   * persistent: survives steps and is part of a checkpoint when named in `checkpoint` (parameters, optimizer state);
   * data: the resident rows; step: per-step tables written by the host before a submit; ring: results read after it;
   * scratch: contents are undefined between programs, and slots of disjoint lifetimes share memory.
   */
  readonly kind: 'persistent' | 'data' | 'step' | 'ring' | 'scratch';
  readonly label: string;
}

/** Part of a slot: `offset` and the operand's size are in elements. Offsets are multiples of 64 (256 bytes). */
export interface SlotRef {
  readonly slot: number;
  readonly offset: number;
}

/** One kernel invocation. Operands stand in the contract's order; `null` = absent. */
export interface Call {
  readonly kernel: string;
  readonly inputs: readonly (SlotRef | null)[];
  readonly outputs: readonly (SlotRef | null)[];
  readonly params: Readonly<Record<string, number>>;
}

/** A straight list of calls for one batch size. */
export interface Program {
  readonly name: string;
  /** Rows a step of this program takes. */
  readonly batch: number;
  readonly calls: readonly Call[];
  readonly flops: number;
  readonly bytes: number;
}

/** Where a named tensor lives. */
export interface TensorPlace extends SlotRef {
  readonly shape: readonly number[];
  readonly type: 'f32' | 'u32' | 'u8';
}

export interface Plan {
  readonly slots: readonly Slot[];
  /** Parameters by their layer path (`0.weight`), running statistics, and the reserved names of `reservedTensors`. */
  readonly tensors: Readonly<Record<string, TensorPlace>>;
  /** `train@32`, `evaluate@256`, `predict@256`, … */
  readonly programs: Readonly<Record<string, Program>>;
  /** Steps one submit may hold: the length of the step tables and rings. */
  readonly stepCapacity: number;
  /** Names of the tensors a checkpoint holds. */
  readonly checkpoint: readonly string[];
}

/**
 * Tensors the trainer and the backends agree on:
 * `data.x` [rows,width] (u8 for images), `data.y` [rows,targets] the resident rows; `data.normalization` [channels,2] mean and
 * deviation of images in 0 … 1, which the host writes once; `step.indices` u32 [stepCapacity·largest batch] row numbers;
 * `step.scalars` [stepCapacity,4]; `step.counters` u32 [stepCapacity]; `ring.loss` [stepCapacity];
 * `ring.outputs` [outputRows, outputs] the model's outputs of an evaluate or predict submit, step after step.
 */
export const reservedTensors = [
  'data.x',
  'data.y',
  'step.indices',
  'step.scalars',
  'step.counters',
  'ring.loss',
  'ring.outputs',
] as const;

export const programName = (kind: 'train' | 'evaluate' | 'predict', batch: number): string => `${kind}@${batch}`;
