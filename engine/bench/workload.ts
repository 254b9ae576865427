// What is timed: work in units, opened on a backend.

import type { Backend } from '../backends/backend.ts';
import type { Program } from '../plan/plan.ts';

export interface OpenWorkload {
  /** Threads in use, where the device has any. */
  readonly threads: number;
  /** Runs units of work one after the other (one by default) and waits for the last. */
  readonly run: (units?: number) => Promise<void>;
  readonly close: () => void;
}

/** A training step whose calls are programs of their own, beside the whole one. */
export interface OpenCalls {
  readonly threads: number;
  /** The whole step. */
  readonly program: Program;
  /** Runs as many of it as training would submit at once, and says how many. */
  readonly steps: () => Promise<number>;
  /** One call of the step by its position, to its end; null: a submit with nothing in it. */
  readonly call: (position: number | null) => Promise<void>;
  /** Milliseconds of nothing and of each call, in their order, by the device's own clock. Absent: it has none. */
  readonly times?: () => Promise<readonly number[]>;
  readonly close: () => void;
}

export interface Workload {
  readonly name: string;
  readonly unit: 'ms/epoch' | 'ms/step' | 'ms/row';
  /** Floating-point operations of one unit. */
  readonly flops: number;
  /** Bytes its kernels read and write, each operand once. */
  readonly bytes: number;
  /** The programs that a unit runs, and how often each. */
  readonly programs: readonly { readonly program: Program; readonly times: number }[];
  readonly open: (backend: Backend) => Promise<OpenWorkload>;
  /** Of training steps alone: call by call. */
  readonly openCalls?: (backend: Backend) => Promise<OpenCalls>;
}

/** Training steps. */
export interface StepsWorkload extends Workload {
  readonly unit: 'ms/epoch' | 'ms/step';
}
