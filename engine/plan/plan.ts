// A Plan is a compiled training step as plain data: which buffers exist, and which kernels run over them in which order.
// Backends execute it; nothing here knows a device. The seam between devices is the whole plan, never one op.

import type { ElementType } from '../../kernels/contract.ts';
import type { Origin } from '../graph/graph.ts';

/** A buffer of `elements` values of a type. Backends allocate each slot once. */
export interface Slot {
  readonly id: number;
  readonly elements: number;
  readonly type: ElementType;
  /**
   * persistent: survives steps and is part of a checkpoint when named in `checkpoint` (parameters, optimizer state);
   * data: the resident rows; step: per-step tables written by the host before a submit; ring: results read after it;
   * scratch: contents are undefined between programs, and slots of disjoint lifetimes share memory.
   */
  readonly kind: 'persistent' | 'data' | 'step' | 'ring' | 'scratch';
  readonly label: string;
}

/** Part of a slot: `offset` and the operand's size are in elements. Offsets are multiples of 256 bytes. */
export interface SlotRef {
  readonly slot: number;
  readonly offset: number;
}

/** What a call reads or writes: part of a slot. */
export interface CallOperand extends SlotRef {
  /** Shape of the tensor that lies there. Backends do without it; the verifier holds it against the kernel's contract. */
  readonly shape?: readonly number[];
}

/** One kernel invocation. Operands stand in the contract's order; `null` = absent. */
export interface Call {
  readonly kernel: string;
  /** What it is there for; absent: part of the update. Backends do without it. */
  readonly origin?: Origin;
  readonly inputs: readonly (CallOperand | null)[];
  readonly outputs: readonly (CallOperand | null)[];
  readonly params: Readonly<Record<string, number>>;
  /** Bytes that it moves less than its contract says, as operands are stored in 16 bits; of an update that writes copies of weights: less than none. */
  readonly saved?: number;
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

/** Part of a step: a program, run for `rows` rows of the step tables from the step's row `first` on. */
export interface StepPart {
  readonly program: string;
  readonly first: number;
  readonly rows: number;
  /** Number of the device whose share it is, where several share a batch. */
  readonly device?: number;
}

/** A step of several programs one after the other: gradients of parts of the batch, then the update. */
export interface Sequence {
  readonly name: string;
  /** Rows of data a step takes. */
  readonly batch: number;
  /** Rows of the step tables a step takes. */
  readonly tableRows: number;
  readonly parts: readonly StepPart[];
}

/** Where a named tensor lives. */
export interface TensorPlace extends SlotRef {
  readonly shape: readonly number[];
  readonly type: ElementType;
}

export interface Plan {
  readonly slots: readonly Slot[];
  /** Parameters by their layer path (`0.weight`), running statistics, and the reserved names of engine/graph/tensors.ts. */
  readonly tensors: Readonly<Record<string, TensorPlace>>;
  /** `train@32`, `train@32x24` for texts of up to 24 tokens, `evaluate@256`, `predict@256`, … */
  readonly programs: Readonly<Record<string, Program>>;
  /** Steps made of programs; they are run by their names like programs. */
  readonly sequences?: Readonly<Record<string, Sequence>>;
  /** Rows of the step tables and rings: one submit may hold so many steps of one row. */
  readonly stepCapacity: number;
  /** Names of the tensors a checkpoint holds. */
  readonly checkpoint: readonly string[];
}

/** Where the copy in 16 bits of a tensor lies: a plan that has copies has one of each parameter, which whoever writes them writes too. */
export function copyOf({ tensors }: Plan, name: string): TensorPlace | null {
  const copies = tensors['parameters.half'];
  const place = tensors[name];
  return copies && place.slot === tensors['parameters'].slot ? { ...place, slot: copies.slot, type: 'f16' } : null;
}

/**
 * What a step of a program or sequence consists of, and how many rows of the step tables it takes; null: there is none. `train@32x24,40` is
 * `train@32` with the parts for texts of up to 24 and of up to 40 tokens, in as far as there are programs for them.
 */
export function stepOf(plan: Plan, name: string): Pick<Sequence, 'tableRows' | 'parts'> | null {
  if (plan.sequences && Object.hasOwn(plan.sequences, name)) return plan.sequences[name];
  if (Object.hasOwn(plan.programs, name)) return { tableRows: 1, parts: [{ program: name, first: 0, rows: 1 }] };
  const [, whole = '', given = ''] = /^(train@\d+)x(\d+(?:,\d+)*)$/.exec(name) ?? [];
  const sequence = plan.sequences?.[whole];
  if (!sequence) return null;
  const lengths = given.split(',');
  const parts = sequence.parts.flatMap((part) => {
    if (part.program === updateProgram) return [part];
    return Array.from({ length: part.rows }, (_, i) => {
      const first = part.first + i;
      const shorter = `${part.program}x${lengths[first] ?? lengths[0]}`;
      return { ...part, program: Object.hasOwn(plan.programs, shorter) ? shorter : part.program, first, rows: 1 };
    });
  });
  return { tableRows: sequence.tableRows, parts };
}

export const updateProgram = 'update';
export { gradientsOf } from '../graph/tensors.ts';

/** Adds the gradients that another device has summed. */
export const joinProgram = (device: number): string => `join@${device}`;

/** The gradients of parts that other devices than the first make: running statistics, which are the first one's, stay as they are. */
export const stillProgram = (gradients: string): string => `${gradients} still`;

/** `length`: tokens that a program for shorter texts reads. */
export const programName = (
  kind: 'train' | 'gradients' | 'evaluate' | 'predict',
  batch: number,
  length?: number,
): string => (length === undefined ? `${kind}@${batch}` : `${kind}@${batch}x${length}`);
