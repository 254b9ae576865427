// The CPU backend: compiles plans for WASM kernels on worker threads over one shared arena. `run` does its work
// synchronously on the calling thread (and the workers) before it returns its promise; see docs/cpu-backend.md.

import type { Plan, TensorPlace } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import type { Backend, Executable, HostArray } from '../backend.ts';
import { availableMemory, cpuName, instructionSets, usableCores } from './describe.ts';
import { elementBytes, encodeProgram, placePlan, type ArenaLayout } from './encode.ts';
import { createMachine, type Machine } from './machine.ts';
import { loadKernels, type KernelModule } from './module.ts';
import { findNative, loadNative } from './native.ts';
import { chooseThreads } from './threads.ts';

export interface CpuOptions {
  /** Threads to use, the calling one included; 0 (the default) = as many as pay for the plan, at most one a core. */
  readonly threads?: number;
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

/** WASM addresses have 32 bits. */
const addressLimit = 2 ** 32;

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
      const threads = options.threads || chooseThreads(plan, most);
      const executable = compilePlan(plan, { ...options, threads }, kernels, nativeFile, nativeKernels, () =>
        executables.delete(executable),
      );
      executables.add(executable);
      return executable;
    },
    async close() {
      for (const executable of executables) executable.dispose();
    },
  };
}

function compilePlan(
  plan: Plan,
  options: CpuOptions & { readonly threads: number },
  kernels: KernelModule,
  nativeFile: string | undefined,
  nativeKernels: ReadonlySet<string>,
  onDispose: () => void,
): Executable {
  const bytes = placePlan(plan, 0).end;
  const available = Math.min(options.memoryLimit ?? availableMemory(), addressLimit);
  if (bytes > available) throw new OutOfMemoryError(bytes, available);
  const machine = createMachine({
    kernels,
    threads: options.threads,
    bytes,
    worker: options.worker,
    native: nativeFile,
    patience: options.patience,
  });
  const layout = placePlan(plan, machine.base);
  for (const program of Object.values(plan.programs)) {
    encodeProgram(program, layout, kernels.names, nativeKernels, machine.buffer);
  }
  return createExecutable(plan, layout, machine, onDispose);
}

function createExecutable(plan: Plan, layout: ArenaLayout, machine: Machine, onDispose: () => void): Executable {
  const views = new Map(
    Object.entries(plan.tensors).map(([name, place]) => [name, tensorView(layout, machine, place)]),
  );
  function view(tensor: string): HostArray {
    const found = views.get(tensor);
    if (!found) throw new TrainyardError('internal.no_tensor', `The plan has no tensor "${tensor}".`);
    return found;
  }
  return {
    bytes: machine.buffer.byteLength,
    threads: machine.threads,
    write(tensor, data, offset = 0) {
      const target = view(tensor);
      if (target.constructor !== data.constructor || offset + data.length > target.length) {
        throw new TrainyardError(
          'internal.bad_write',
          `${data.length} ${data.constructor.name} elements at ${offset} do not fit tensor "${tensor}" ` +
            `of ${target.length} ${target.constructor.name} elements.`,
        );
      }
      target.set(data, offset);
    },
    async read(tensor, offset = 0, length) {
      const source = view(tensor);
      return source.slice(offset, length === undefined ? undefined : offset + length);
    },
    async run(name, steps) {
      const program = layout.programs[name];
      if (program === undefined) throw new TrainyardError('internal.no_program', `The plan has no program "${name}".`);
      if (steps > plan.stepCapacity) {
        throw new TrainyardError('internal.too_many_steps', `${steps} steps exceed the plan's ${plan.stepCapacity}.`);
      }
      if (steps > 0) machine.submit(program, 0, steps);
    },
    dispose() {
      machine.dispose();
      onDispose();
    },
  };
}

function tensorView(layout: ArenaLayout, machine: Machine, place: TensorPlace): HostArray {
  const slot = layout.slots.get(place.slot);
  if (!slot)
    throw new TrainyardError('device.unsupported_plan', `A tensor lies in slot ${place.slot}, which does not exist.`);
  const address = slot.address + place.offset * elementBytes(place.type);
  const length = place.shape.reduce((product, size) => product * size, 1);
  if (place.type === 'u8') return new Uint8Array(machine.buffer, address, length);
  if (place.type === 'u32') return new Uint32Array(machine.buffer, address, length);
  return new Float32Array(machine.buffer, address, length);
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`;
