// One arena of shared memory with its threads. Thread 0 is the caller; the others are worker threads that sleep between
// submits. The memory has its final size from the start: it cannot grow, and nothing is allocated after creation.

import { Worker } from 'node:worker_threads';
import { TrainyardError } from '../../protocol/errors.ts';
import type { HostArray } from '../backend.ts';
import { machineBytes, pageBytes, reservedArena } from './arena.ts';
import {
  controlFailed,
  controlPhase,
  controlReady,
  outcomeDone,
  outcomeTimeout,
  programStop,
  sleepSlice,
} from './layout.ts';
import type { KernelExports, KernelModule } from './module.ts';
import { loadNative } from './native.ts';
import type { NativeStretch } from './native.ts';

/** What a worker is started with. */
export interface WorkerTask {
  readonly kernels: KernelModule;
  readonly memory: WebAssembly.Memory;
  /** Path of the native addon, if it is in use. */
  readonly native: string | undefined;
  readonly place: ThreadPlace;
  readonly thread: number;
  readonly threads: number;
}

export interface MachineOptions {
  readonly kernels: KernelModule;
  readonly threads: number;
  /** Bytes wanted behind the control block, static data and scratch areas. */
  readonly bytes: number;
  /** Bytes of scratch memory a thread: `scratchBytes` of the plan. */
  readonly scratch: number;
  /** The worker's entry file; default: worker.ts next to this file. */
  readonly worker?: URL | string;
  /** Path of the native addon, if it is to be used. */
  readonly native?: string;
  /** Seconds a thread waits for the others before the submit fails. */
  readonly patience?: number;
}

export interface Machine {
  readonly buffer: SharedArrayBuffer;
  /** First free byte; `MachineOptions.bytes` bytes from here are the user's. */
  readonly base: number;
  readonly threads: number;
  /** Starts the worker threads without waiting for them; the first submit that needs them does it otherwise. */
  start(): void;
  /** Whether all threads are up. */
  readonly ready: boolean;
  /**
   * Runs steps `firstStep` … of an encoded program on all threads, or on the calling one `alone`, and returns when they are
   * done.
   * @throws TrainyardError `device.worker_failed` if a thread failed or vanished; the machine is then unusable.
   */
  submit(program: number, firstStep: number, steps: number, alone?: boolean): void;
  /** Copies an array of another memory, or into one. Both are of one kind and length. */
  copy(target: HostArray, source: HostArray): void;
  dispose(): void;
}

/** Bytes from which on a copy is worth a call of the addon. */
const copiedNatively = 16_384;

/** Bytes of a machine's memory in front of the user's: control block, static data, scratch areas. */
export function reservedBytes(kernels: KernelModule, threads: number, scratch: number): number {
  return reservedArena(staticDataEnd(kernels), threads, scratch);
}

/**
 * Seconds. A thread that leaves says so at once (worker.ts), so that only one without a word is waited for so long; one whose core others
 * want is late, at a low priority on a busy machine by more than ten seconds.
 */
const usualPatience = 60;

/** @throws RangeError if the system does not give the memory. */
export function createMachine(options: MachineOptions): Machine {
  const { kernels, threads, scratch, patience = usualPatience } = options;
  const base = reservedBytes(kernels, threads, scratch);
  const pages = machineBytes(base, options.bytes) / pageBytes;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const buffer = memory.buffer;
  const control = new Int32Array(buffer, 0, controlReady / 4 + 1);
  // For tests and for comparing, as the addon: TRAINYARD_WINOGRAD=0 has all convolutions computed directly.
  const winograd = process.env.TRAINYARD_WINOGRAD !== '0';
  const place = (thread: number): ThreadPlace => {
    return { base, scratch: base - (threads - thread) * scratch, scratchBytes: scratch, winograd, patience };
  };
  const run = instantiate(kernels, memory, options.native, place(0));

  const workers: Worker[] = [];
  let failure: string | null = null;
  let disposed = false;

  function start(): void {
    if (workers.length > 0) return;
    for (let thread = 1; thread < threads; thread++) {
      const task: WorkerTask = { kernels, memory, native: options.native, place: place(thread), thread, threads };
      const file = options.worker ?? new URL('./worker.ts', import.meta.url);
      // No flags of the parent: some of them (--input-type, test runners') make a worker fail before it starts.
      const worker = new Worker(file, { workerData: task, execArgv: [] });
      worker.unref();
      worker.on('error', (error: Error) => (failure ??= `CPU thread ${thread} failed: ${error.message}`));
      worker.on('exit', () => {
        if (!disposed) failure ??= `CPU thread ${thread} ended unexpectedly.`;
      });
      workers.push(worker);
    }
  }

  return {
    buffer,
    base,
    threads,
    start,
    get ready() {
      return Atomics.load(control, controlReady / 4) === threads - 1;
    },
    submit(program, firstStep, steps, alone = threads === 1) {
      if (disposed) throw new TrainyardError('internal.disposed', 'This CPU program has been disposed of.');
      if (!alone) start();
      if (failure === null) {
        try {
          const outcome = run.submit(program, alone ? 1 : threads, firstStep, steps);
          if (outcome === outcomeDone) return;
          const thread = Atomics.load(control, controlFailed / 4);
          failure =
            outcome === outcomeTimeout
              ? `A CPU thread did not answer for ${patience} seconds.`
              : `CPU thread ${thread - 1} failed in a kernel.`;
        } catch (cause) {
          failure = `CPU thread 0 failed in a kernel: ${cause instanceof Error ? cause.message : String(cause)}`;
          markFailed(control, 0);
        }
      }
      throw new TrainyardError('device.worker_failed', failure, 'Resume the run from its last checkpoint.');
    },
    copy(target, source) {
      if (options.native === undefined || target.byteLength < copiedNatively) target.set(source);
      else loadNative(options.native).copy(target, source);
    },
    dispose() {
      if (disposed) return;
      disposed = true;
      if (workers.length === 0) return;
      if (failure === null) run.submit(programStop, threads, 0, 0);
      for (const worker of workers) void worker.terminate();
    },
  };
}

/** What differs between the instances of a machine's threads, and how long they wait for each other. */
export interface ThreadPlace {
  /** Byte address of the plan, behind all scratch areas. */
  readonly base: number;
  /** Byte address of the thread's scratch area. */
  readonly scratch: number;
  readonly scratchBytes: number;
  /** Whether 3 × 3 convolutions may go by Winograd's transforms. */
  readonly winograd: boolean;
  /** Seconds. */
  readonly patience: number;
}

/** Instantiates the kernels over a machine's memory, on the calling thread. */
export function instantiate(
  kernels: KernelModule,
  memory: WebAssembly.Memory,
  native: string | undefined,
  { base, scratch, scratchBytes, winograd, patience }: ThreadPlace,
): KernelExports {
  const stretch =
    native === undefined
      ? noNative
      : loadNative(native).attach(Buffer.from(memory.buffer), kernels.names, patience, base);
  const instance = new WebAssembly.Instance(kernels.module, { env: { memory, native: stretch } });
  const exports = instance.exports as unknown as KernelExports;
  const slices = Math.max(1, Math.round((patience * 1e9) / sleepSlice));
  exports.setUp(scratch, scratchBytes, slices, Number(winograd));
  return exports;
}

const noNative: NativeStretch = () => {
  throw new Error('the program has native calls but there is no native addon');
};

/** Tells all threads that thread `thread` failed, and wakes those asleep at the barrier. */
export function markFailed(control: Int32Array, thread: number): void {
  Atomics.compareExchange(control, controlFailed / 4, 0, thread + 1);
  Atomics.notify(control, controlPhase / 4);
}

const staticEnds = new WeakMap<WebAssembly.Module, number>();

/** Where the module's static data ends; read once from an instance over the smallest memory. */
function staticDataEnd(kernels: KernelModule): number {
  let end = staticEnds.get(kernels.module);
  if (end === undefined) {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const nowhere = { base: 0, scratch: 0, scratchBytes: 0, winograd: false, patience: 0 };
    end = instantiate(kernels, memory, undefined, nowhere).staticEnd();
    staticEnds.set(kernels.module, end);
  }
  return end;
}
