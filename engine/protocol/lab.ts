// The hardware lab as it crosses process borders: what was measured on a machine, what is told meanwhile, and what the history
// keeps. Charts, forecasts and advice read these values; engine/lab/ makes them.

import type { ModelSpec, NetworkInput, TrainingSpec } from '../model/spec.ts';

/** The median of some calls and the middle 90 % of them; of several rounds the best one's median, the least and the most of all. `low ≤ median ≤ high`, all finite and above 0. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Calls it rests on: those of the last try, of all rounds. */
  readonly calls: number;
  /** Times it was measured; absent = once. Where the last one spread as well, a note of the lab says so. */
  readonly tries?: number;
}

export interface Sample {
  /** Size: N of a product, bytes of a copy, threads. */
  readonly at: number;
  readonly value: Spread;
}

/**
 * call: one more kernel in a program that has some, over a few values; barrier: what each call costs more on all threads than on one;
 * submit: a program of one small call, until the device has done it; readback: from asking for four bytes until they are here.
 */
export const latencyNames = ['call', 'barrier', 'submit', 'readback'] as const;
export type LatencyName = (typeof latencyNames)[number];

export interface LabDevice {
  /** `cpu`: all threads; `cpu-1`: one thread; `cpu-wasm`: all threads without the native addon; `gpu-0`, `gpu-1`, …: adapters. */
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  /** As the backend describes it. */
  readonly name: string;
  readonly threads: number;
  /** An adapter in software: labelled as such everywhere, never advised. */
  readonly software: boolean;
  /** at: N of an N×N×N product in float32; value: GFLOP/s. */
  readonly products: readonly Sample[];
  /** The same with 16-bit operands, where there are such kernels. */
  readonly products16?: readonly Sample[];
  /** `y ← x`. at: bytes of both arrays together; value: GB/s, read and written. */
  readonly copy: readonly Sample[];
  /** `z ← x + y`: two arrays read, one written. at: bytes of the three together; value: GB/s. */
  readonly triad: readonly Sample[];
  readonly latencies: readonly { readonly name: LatencyName; readonly microseconds: Spread }[];
  /** From the host's memory to the device's and back; GPUs alone. */
  readonly transfer?: { readonly toGbPerSecond: Spread; readonly fromGbPerSecond: Spread };
  /** Product rate by threads, of the device with all threads alone. */
  readonly scaling?: {
    /** N of the N×N×N product. */
    readonly product: number;
    /** at: threads; value: GFLOP/s. */
    readonly samples: readonly Sample[];
    /** One product each, on one thread and on all; at: threads; value: GFLOP/s of all together. */
    readonly own?: readonly Sample[];
  };
  /** Training steps of the benchmark workloads (engine/bench/workloads.ts), and fits of table models (engine/bench/learner-fits.ts). */
  readonly workloads: readonly {
    readonly name: string;
    readonly unit: 'ms/epoch' | 'ms/step' | 'ms/fit';
    readonly milliseconds: Spread;
  }[];
}

export interface LabMachine {
  readonly name: string;
  readonly cpu: string;
  /** Processors this program may use. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly powerSource?: 'mains' | 'battery';
}

/** What was measured on a machine at a time. */
export interface LabResult {
  readonly version: 1;
  readonly machine: LabMachine;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Time all of it took. */
  readonly seconds: number;
  readonly devices: readonly LabDevice[];
  /** Sentences: what was noisy and why, likely; what was left out and why. */
  readonly notes: readonly string[];
}

/** The parts of measuring one device, in the order they are done. */
export const labParts = ['latency', 'product', 'copy', 'triad', 'transfer', 'scaling', 'workloads'] as const;
export type LabPart = (typeof labParts)[number];

export interface LabProgress {
  /** Id of the device that is measured, and its name once that is known. */
  readonly device: string;
  readonly name: string | null;
  /** null: the device is being opened. */
  readonly part: LabPart | null;
  /** Share of the whole lab that is done, 0 … 1. */
  readonly done: number;
  /** Of the whole lab. */
  readonly secondsLeft: number;
  /** What is known of the device so far, each time a part of it is complete. */
  readonly measured?: LabDevice;
}

/** What would disturb a lab now. */
export interface LabConditions {
  readonly processors: number;
  /** Processors in use; null: not known. */
  readonly busy: number | null;
  readonly battery: boolean;
}

/** A lab in the history. */
export interface LabRecord {
  readonly id: number;
  /** Read from a file: it may be another machine's. */
  readonly imported: boolean;
  readonly result: LabResult;
}

/** A line of the list of labs. */
export interface LabSummary {
  readonly id: number;
  readonly imported: boolean;
  readonly machine: string;
  readonly startedAt: number;
  readonly seconds: number;
  readonly devices: readonly string[];
}

/** What one device of a host is measured as. */
export interface LabTarget {
  readonly id: string;
  readonly kind: 'cpu' | 'gpu';
  /** CPU: threads; 0 = as many as there are. GPU: absent. */
  readonly threads?: number;
  /** CPU: training steps on one thread or all, whichever proves faster, as a run takes them. */
  readonly asTrained?: boolean;
  /** CPU: false = WebAssembly alone. */
  readonly native?: boolean;
  /** GPU: its place in the list of adapters. */
  readonly adapter?: number;
}

/** What a part of a measurement has to say: what it measured, what did not fit its time, and what was noisy. */
export interface LabReport {
  readonly part: LabPart;
  /** Its figures by name: "the product of N = 256". */
  readonly measured: readonly string[];
  /** Milliseconds that would have been needed, and those there were. */
  readonly leftOut: readonly { readonly what: string; readonly needed: number; readonly share: number }[];
  /** What was begun and given up, and processors that other programs used meanwhile. */
  readonly givenUp: readonly { readonly what: string; readonly others: number | null }[];
  /** Width of the middle 90 % as a share of the median; processors that other programs used, where that is known. */
  readonly noise: readonly { readonly what: string; readonly share: number; readonly others: number | null }[];
  /** Processors that other programs used while the part lasted; null or absent: not known. */
  readonly others?: number | null;
}

/** What a host measured of one device. */
export interface LabMeasurement {
  readonly device: LabDevice;
  /** Sentences about what failed or does not apply. */
  readonly notes: readonly string[];
  readonly reports?: readonly LabReport[];
  /** From hosts that know it. */
  readonly machine?: LabMachine;
}

/** Offered by each host for its own devices. One measurement at a time. */
export interface LabHost {
  /** `calls`: that a figure needs at least. Rejects with CancelledError; a part that fails is said in the notes and keeps the rest. */
  measureLab(request: { target: LabTarget; seconds: number; calls?: number }): Promise<LabMeasurement>;
  /** Between two calls of the device: within 100 ms where a call takes no longer. */
  cancelLab(): Promise<void>;
  /** `done` and `secondsLeft` of this measurement alone. */
  onLabProgress(listener: (progress: LabProgress) => void): () => void;
}

/** What a training step is of, its layers and batch apart. */
export interface RacedModel {
  readonly input: NetworkInput;
  /** 0: it predicts a number. */
  readonly classes: number;
  readonly optimizer: Pick<TrainingSpec['optimizer'], 'name' | 'learningRate' | 'momentum'>;
}

/** A place that two devices race at. */
export interface RacePoint {
  /** What is varied: the batch, or the units of the widest layer. */
  readonly at: number;
  readonly batch: number;
  readonly model: ModelSpec;
}

/** A step that is open on a device, to be timed. */
export interface OpenStep {
  readonly step: number;
  readonly name: string;
  readonly software: boolean;
}

/** Offered by each host: training steps of any model on one of its devices, timed by the host itself. */
export interface StepHost {
  openStep(request: RacedModel & Omit<RacePoint, 'at'> & { target: LabTarget }): Promise<OpenStep>;
  /** Milliseconds of so many. */
  timeStep(request: { step: number; units: number }): Promise<number>;
  closeStep(request: { step: number }): Promise<void>;
}

/** A model on two devices in turns. `near` is quick to start, `far` computes faster; ids as in a lab. */
export interface RaceRequest extends RacedModel {
  readonly near: string;
  readonly far: string;
  readonly points: readonly RacePoint[];
}

/** What one point of a race came to: seconds of a step of both, turn by turn. */
export interface RaceTimes {
  readonly at: number;
  readonly near: readonly number[];
  readonly far: readonly number[];
}

/** Words for a device: what it is called in charts, tables and steps. */
export function deviceWords({
  id,
  kind,
  threads,
  software,
}: Pick<LabDevice, 'id' | 'kind' | 'threads' | 'software'>): string {
  if (kind === 'gpu') {
    const place = Number(id.split('-')[1] ?? 0);
    return software ? 'GPU in software' : place > 0 ? `GPU ${place + 1}` : 'GPU';
  }
  if (id === 'cpu-wasm') return 'CPU, WebAssembly';
  if (id === 'cpu-1') return 'CPU, 1 thread';
  return threads > 0 ? `CPU, ${threads} ${threads === 1 ? 'thread' : 'threads'}` : 'CPU, all threads';
}
