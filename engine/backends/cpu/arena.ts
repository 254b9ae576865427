// Where a plan lies in the memory of a machine, and how much of it that takes. Pure arithmetic, which forecasts of memory share:
// what they say is what `compile` allocates.

import { elementBytes, type KernelContract } from '../../../kernels/contract.ts';
import { kernels as contracts, type KernelName } from '../../../kernels/registry.ts';
import type { Call, Plan, Program, Slot } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';
import {
  alignment,
  nativeCachedFloats,
  nativeScratchFloats,
  nativeTileFloats,
  programHeaderWords,
  recordHeaderWords,
  staticBase,
} from './layout.ts';

/** Packing buffers of one thread (kernels/shared/gemm.ts). */
export const packingBytes = 512 * 1024;
/** What a thread works in where a convolution goes by Winograd's transforms (kernels/shared/conv_tiling.ts). */
export const transformBytes = 2 * 1024 * 1024;
/** Bytes that a thread's native convolutions work in beside the arena; by blocks of weights they use all of the memory for tiles. */
export const nativeConvolutionBytes = (blocks: boolean): number =>
  4 * (nativeScratchFloats - nativeTileFloats + (blocks ? nativeTileFloats : nativeCachedFloats));
/** WASM addresses have 32 bits. */
export const addressLimit = 2 ** 32;
/** A page of WebAssembly's memory. */
export const pageBytes = 65536;

/** Where everything of a plan lies, in bytes from the arena's start. */
export interface ArenaLayout {
  /** Byte address by slot id. */
  readonly slots: ReadonlyMap<number, { readonly address: number; readonly slot: Slot }>;
  /** Byte address by program name. */
  readonly programs: Readonly<Record<string, number>>;
  /** First byte behind the programs. */
  readonly programsEnd: number;
  /** First byte behind it all. */
  readonly end: number;
}

/** Places programs first, then slots, each aligned. `base` is the first free byte. */
export function placePlan(plan: Plan, base: number): ArenaLayout {
  let end = align(base);
  const take = (bytes: number): number => {
    const address = end;
    end = align(end + bytes);
    return address;
  };
  const programs = Object.fromEntries(
    Object.entries(plan.programs).map(([name, program]) => [name, take(4 * programWords(program))]),
  );
  const programsEnd = end;
  const slots = new Map(
    plan.slots.map((slot) => [slot.id, { address: take(slot.elements * elementBytes[slot.type]), slot }]),
  );
  return { slots, programs, programsEnd, end };
}

function programWords(program: Program): number {
  return program.calls.reduce((words, call) => words + recordWords(call), programHeaderWords);
}

/** 32-bit words of a call's record. */
export function recordWords(call: Call): number {
  return (
    recordHeaderWords + call.inputs.length + call.outputs.length + Object.keys(contractOf(call.kernel).params).length
  );
}

export function contractOf(kernel: string): KernelContract {
  const contract: KernelContract | undefined = contracts[kernel as KernelName];
  if (!contract) throw unsupported(`The plan calls the kernel "${kernel}", which does not exist.`);
  return contract;
}

export function align(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Bytes of scratch memory that the WASM kernels of a plan have, a thread: the same whether the addon takes its calls over or not. */
export const scratchBytes = (plan: Plan): number =>
  Object.values(plan.programs).some(({ calls }) => calls.some(mayTransform)) ? transformBytes : packingBytes;

/** Whether a call may go by Winograd's transforms: all that do, and a few that do not (kernels/shared/conv_tiling.ts: winogradPays). */
function mayTransform({ kernel, params }: Call): boolean {
  if (!kernel.startsWith('conv2d') || params.kernel !== 3 || params.stride !== 1) return false;
  const { batch, channels, filters, height, width, padding } = params;
  const results = Math.max(height * width, (height + 2 * padding - 2) * (width + 2 * padding - 2));
  return Math.min(channels, filters) >= 12 && 9 * batch * channels * filters * results >= 2 ** 21;
}

/** Bytes in front of a plan: control block and static data, which end at `staticEnd`, and the scratch areas of the threads. */
export const reservedArena = (staticEnd: number, threads: number, scratch: number): number =>
  align(staticEnd) + threads * scratch;

/** Bytes of the memory of a machine with `reserved` bytes in front of `bytes` bytes of a plan: whole pages. */
export const machineBytes = (reserved: number, bytes: number): number =>
  pageBytes * Math.ceil((reserved + bytes) / pageBytes);

/** All bytes that `compile` allocates for a plan on so many threads; the kernels have no static data unless told otherwise. */
export const arenaBytes = (plan: Plan, threads: number, staticEnd: number = staticBase): number =>
  machineBytes(reservedArena(staticEnd, threads, scratchBytes(plan)), placePlan(plan, 0).end);

export function unsupported(message: string): TrainyardError {
  return new TrainyardError('device.unsupported_plan', message, 'This is a defect of Trainyard; please report it.');
}
