// The CPU backend: compiles plans for WASM kernels on worker threads over one shared arena. `run` does its work
// synchronously on the calling thread (and the workers) before it returns its promise; see docs/cpu-backend.md.

import type { Plan } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { Backend, Executable } from '../backend.ts';
import { addressLimit, placePlan, scratchBytes } from './arena.ts';
import { cpuName, instructionSets } from './describe.ts';
import { availableMemory, usableCores } from '../../system/cores.ts';
import { checkLimits } from './encode.ts';
import { createExecutable } from './executable.ts';
import { createMachine, reservedBytes, type Machine } from './machine.ts';
import { loadKernels, type KernelModule } from './module.ts';
import { findNative, loadNative, multiplyAddRate } from './native.ts';
import { mostThreads } from './threads.ts';

export interface CpuOptions {
  /** Threads to use, the calling one included; 0 (the default) = one or one a core, whichever proves faster (threads.ts). */
  readonly threads?: number;
  /** Programs that run on the calling thread alone: other devices are at work on the same cores meanwhile. */
  readonly alone?: (program: string) => boolean;
  /** The compiled kernels: a file or its bytes. Default: build/kernels/kernels.wasm. */
  readonly wasm?: Uint8Array | URL | string;
  /** Entry file of the worker threads. Default: worker.ts next to this file (or its bundle). */
  readonly worker?: URL | string;
  /** The native addon; `false` = WASM only. Default: build/kernels/native.node where it was built. */
  readonly native?: URL | string | false;
  /** Seconds a thread waits for the others before a submit fails. */
  readonly patience?: number;
  /** Largest arena in bytes; default: what the system has available. For tests. */
  readonly memoryLimit?: number;
}

/** The plan does not fit into memory; nothing has been allocated. */
export class OutOfMemoryError extends TrainyardError {
  readonly needed: number;
  readonly available: number;

  constructor(needed: number, available: number) {
    super(
      'device.out_of_memory',
      `This run needs ${megabytes(needed)} of memory on the CPU, and ${megabytes(available)} can be used.`,
      'Use a smaller batch or a smaller model, or close other programs.',
    );
    this.name = 'OutOfMemoryError';
    this.needed = needed;
    this.available = available;
  }
}

/**
 * Opens the CPU as a device.
 * @throws TrainyardError `device.kernels_missing` if the kernels have not been built or do not run here.
 */
export function createCpuBackend(options: CpuOptions = {}): Backend {
  const kernels = loadKernels(options.wasm);
  const nativeFile = options.native === false ? undefined : findNative(options.native);
  const nativeKernels = new Set(nativeFile === undefined ? [] : loadNative(nativeFile).kernels);
  const most = options.threads || usableCores();
  const executables = new Set<Executable>();

  return {
    device: {
      kind: 'cpu',
      name: `${cpuName()}, ${most} ${most === 1 ? 'thread' : 'threads'}, ${instructionSets(nativeFile)}`,
      threads: most,
    },
    async compile(plan) {
      checkLimits(plan);
      const adaptive = !options.threads;
      const paying = mostThreads(plan, most);
      const threads = options.threads || paying;
      const machine = prepareMachine(plan, { ...options, threads }, kernels, nativeFile);
      const executable = createExecutable(plan, machine, {
        kernels: kernels.names,
        native: nativeKernels,
        adaptive,
        paying,
        alone: options.alone,
        onDispose: () => executables.delete(executable),
      });
      executables.add(executable);
      return executable;
    },
    ...(nativeFile === undefined
      ? {}
      : { multiplyAddRate: (threads) => threads * multiplyAddRate(loadNative(nativeFile)) }),
    async close() {
      for (const executable of executables) executable.dispose();
    },
  };
}

/** Bytes below which nobody asks what the system has left: that takes a tenth of a millisecond, and a search compiles thousands of small plans. */
const unasked = 2 ** 24;

/** Allocates the arena of a plan, if there is room for it. */
function prepareMachine(
  plan: Plan,
  options: CpuOptions & { readonly threads: number },
  kernels: KernelModule,
  native: string | undefined,
): Machine {
  const { threads, worker, patience } = options;
  const bytes = placePlan(plan, 0).end;
  const scratch = scratchBytes(plan);
  const needed = reservedBytes(kernels, threads, scratch) + bytes;
  const limit = options.memoryLimit ?? (needed < unasked ? unasked : availableMemory());
  const available = Math.min(limit, addressLimit);
  if (needed > available) throw new OutOfMemoryError(needed, available);
  try {
    return createMachine({ kernels, threads, bytes, scratch, worker, native, patience });
  } catch (error) {
    // The system had promised more than it gives.
    throw error instanceof RangeError ? new OutOfMemoryError(needed, available) : error;
  }
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`;
