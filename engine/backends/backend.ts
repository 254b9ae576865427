// What a device offers: compile a plan once, then run its programs. The same five functions for the float64 reference,
// the CPU (WASM threads) and WebGPU. After `compile`, `run` allocates nothing on the device.

import type { Plan } from '../plan/plan.ts';
import type { HostArray } from './host-arrays.ts';

export type { HostArray } from './host-arrays.ts';

export interface DeviceDescription {
  readonly kind: 'reference' | 'cpu' | 'gpu';
  /** For people: "AMD EPYC, 2 threads, SIMD + AVX-512" or "NVIDIA H200 (Vulkan)". */
  readonly name: string;
  readonly threads: number;
  /** A software adapter: for testing, never chosen by itself. */
  readonly software?: boolean;
  /** What a person has to know about it before a run, such as a self-test that did not pass. */
  readonly warning?: string;
}

export interface Backend {
  readonly device: DeviceDescription;
  /** Bytes the resident rows may take on this device at most, where that is less than the host's memory allows. */
  readonly dataBudget?: number;
  /** Scratch values may be stored in 16 bits (`f16`), while kernels compute in float32. */
  readonly halfStorage?: boolean;
  /** Allocates every slot and prepares every program. Throws `OutOfMemoryError` or `UnsupportedPlanError` before the first step. */
  compile(plan: Plan): Promise<Executable>;
  /** GFLOP/s of multiply-adds that touch no memory, on so many cores, where the device can tell: no product is faster. Takes some 20 ms. */
  multiplyAddRate?(threads: number): number;
  /** What it does at its best, where it has its own way to measure that; takes a fraction of a second. */
  peaks?(): Promise<DevicePeaks>;
  /** It is several devices that share every batch; absent: it is one. */
  readonly together?: Together;
  close(): Promise<void>;
}

/** Devices that train one run, each with its share of every batch: docs/data-parallel.md. */
export interface Together {
  /** The first sums the gradients and updates the weights. */
  readonly devices: readonly DeviceDescription[];
  /** How the batch is to be shared, one number a device; null: evenly among devices of one kind, else by their speed. */
  readonly weights: readonly number[] | null;
  /** The first device as a run has it that names no others, for comparison; whoever opens it closes it. Absent: there is no such thing. */
  readonly alone?: () => Promise<Backend>;
  /** Calls back when a device has failed: the others go on with its share. */
  onLost(listener: (device: DeviceDescription, reason: string) => void): void;
}

/** What several devices have done together. Times are milliseconds. */
export interface Standing {
  readonly steps: number;
  /** In the order of `Together.devices`. `working`: at the gradients of its shares; `waiting`: for those who took longer. */
  readonly devices: readonly { readonly working: number; readonly waiting: number; readonly lost: boolean }[];
  /** Of all steps: handing gradients and weights over and summing them, which nothing else hides. */
  readonly exchange: number;
  readonly update: number;
}

export interface DevicePeaks {
  /** Floating-point operations a second, in billions; a multiply-add counts as two. */
  readonly gflops: number;
  /** Bytes read and written a second by a copying kernel, in billions. */
  readonly copyGigabytes: number;
}

export interface Executable {
  /** Copies host data into a named tensor, from element `offset` on. */
  write(tensor: string, data: HostArray, offset?: number): void;
  /** Copies a named tensor (or `length` elements from `offset`) to the host. */
  read(tensor: string, offset?: number, length?: number): Promise<HostArray>;
  /** Where the memory of the device is the host's own: copies a whole tensor at once, and nothing is made for it. */
  copy?(tensor: string, into: HostArray): void;
  /** Where that memory can be shared with other threads: the tensor itself. */
  view?(tensor: string): HostArray;
  /**
   * Runs `steps` steps of a program; step i uses row i of the step tables, which the caller wrote before. Resolves when the
   * caller may write the tables of the next run: the device may still be at work on this one (and on no earlier one). Reads
   * see all runs before them and none after, so their results need not be awaited before the next run. `first`: begins with that
   * step's rows of the tables instead of the first.
   */
  run(program: string, steps: number, first?: number): Promise<void>;
  /**
   * Milliseconds of one step of each of these programs by the device's own clock, one after the other; absent: it has no such clock. A clock may be
   * coarse: the mean of many is right.
   */
  timeEach?(programs: readonly string[]): Promise<readonly number[]>;
  /** Steps of a program that one run should hold, by how long they have taken: what a person waits for who pauses. */
  stepsAtOnce(program: string): number;
  /** Threads this plan runs on, where the device has any; default: the device's. */
  readonly threads?: number;
  /** Threads that its calls are large enough for, where that is fewer: more were asked for than are likely to pay. */
  readonly payingThreads?: number;
  /** Of several devices: what each has done so far; `anew`: what follows is counted by itself. Absent: it is one. */
  standing?(anew?: boolean): Standing;
  /** Bytes allocated on the device for this plan. */
  readonly bytes: number;
  dispose(): void;
}
