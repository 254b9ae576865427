// How many bytes a compiled plan takes on a GPU. Pure arithmetic, which forecasts of memory share: what they say is what
// `compile` allocates.

import { elementBytes, elementCount, type Operand } from '../../../kernels/contract.ts';
import { writtenSingly } from '../../../kernels/gpu-half.ts';
import type { GpuContext, GpuKernel } from '../../../kernels/gpu-contract.ts';
import { gpuKernels } from '../../../kernels/gpu-registry.ts';
import { kernels, type KernelName } from '../../../kernels/registry.ts';
import type { Call, Plan, Slot } from '../../plan/plan.ts';
import { TrainyardError } from '../../protocol/errors.ts';

/** Alignment of binding and dynamic offsets that every device accepts. */
export const offsetAlignment = 256;
/** Bytes from the number of one step to the next. */
export const stepStride = offsetAlignment;

export const rounded = (size: number): number =>
  Math.max(offsetAlignment, Math.ceil(size / offsetAlignment) * offsetAlignment);

/** Bytes of a slot's buffer. */
export const slotBytes = (slot: Slot): number => rounded(slot.elements * elementBytes[slot.type]);

/** Staging buffers of a reader: reads under way at once. */
export const stagingCount = 4;
const leastStagingBytes = 64 * 1024;
const mostStagingBytes = 4 * 1024 * 1024;

/** Bytes of one of them, given the size of the reads that happen all the time; larger ones go in pieces. */
export const stagingBytes = (usual: number): number =>
  rounded(Math.min(Math.max(usual, leastStagingBytes), mostStagingBytes));

/** Bytes of the largest result that is read all the time. */
export function largestRing(plan: Plan): number {
  return Math.max(
    0,
    ...plan.slots.filter(({ kind }) => kind === 'ring').map(({ elements, type }) => elementBytes[type] * elements),
  );
}

/** All bytes that `compile` allocates for a plan. */
export function planBytes(plan: Plan, traits: DeviceTraits): number {
  const slots = plan.slots.reduce((sum, slot) => sum + slotBytes(slot), 0);
  const steps = Math.max(1, plan.stepCapacity) * stepStride;
  return slots + steps + rounded(temporaryBytes(plan, traits)) + stagingCount * stagingBytes(largestRing(plan));
}

/** What kernels may know of the device. */
export type DeviceTraits = Omit<GpuContext, 'has' | 'halves'>;

/**
 * The plan's verifier has seen to it that every kernel exists.
 * @throws TrainyardError `device.unsupported_plan` for one that no GPU has.
 */
export function kernelOf(call: Call): GpuKernel {
  const kernel = gpuKernels[call.kernel as KernelName];
  if (kernel) return kernel;
  throw new TrainyardError('device.unsupported_plan', `The GPU does not have "${call.kernel}".`, 'Use the CPU.');
}

/** Bytes between the passes of a call, the most of all calls. */
export function temporaryBytes(plan: Plan, traits: DeviceTraits): number {
  const sizes = Object.values(plan.programs).flatMap(({ calls }) =>
    calls.map((call) => {
      const halves = halvesOf(call, plan.slots);
      return placeTemporaries(call, gpuContext(call, traits, halves), halves).end;
    }),
  );
  return Math.max(0, ...sizes);
}

export function gpuContext(call: Call, traits: DeviceTraits, halves: ReadonlyMap<string, number>): GpuContext {
  const contract = kernels[call.kernel as KernelName];
  if (!contract) throw new Error(`no such kernel: ${call.kernel}`);
  const present = new Set([
    ...contract.inputs.filter((_, index) => call.inputs[index]).map(({ name }) => name),
    ...contract.outputs.filter((_, index) => call.outputs[index]).map(({ name }) => name),
  ]);
  return { ...traits, has: (operand) => present.has(operand), halves: new Set(halves.keys()) };
}

/** Elements of the call's operands that are stored in 16 bits. */
export function halvesOf(call: Call, slots: readonly Pick<Slot, 'type' | 'kind'>[]): ReadonlyMap<string, number> {
  const contract = kernels[call.kernel as KernelName];
  const operands: readonly Operand[] = [...contract.inputs, ...contract.outputs];
  return new Map(
    [...call.inputs, ...call.outputs].flatMap((ref, index) => {
      const operand = operands[index];
      if (!ref || slots[ref.slot].type !== 'f16' || operand.type === 'f16') return [];
      return [[operand.name, elementCount(operand.shape(call.params))] as const];
    }),
  );
}

/** Which of the operands stored in 16 bits are written as float32 first, between the passes of the call. */
export function singlesOf(call: Call, context: GpuContext, halves: ReadonlyMap<string, number>): ReadonlySet<string> {
  if (halves.size === 0) return new Set();
  return writtenSingly(kernelOf(call).passes(call.params, context), context);
}

interface TemporaryPlaces {
  readonly places: ReadonlyMap<string, { readonly offset: number; readonly size: number }>;
  /** Bytes of all of them. */
  readonly end: number;
}

/** Where the temporaries of a call lie, one behind the other. */
export function placeTemporaries(
  call: Call,
  context: GpuContext,
  halves: ReadonlyMap<string, number>,
): TemporaryPlaces {
  const singles = [...singlesOf(call, context, halves)].map((operand) => [operand, halves.get(operand)!]);
  const wanted: Readonly<Record<string, number>> = {
    ...kernelOf(call).temporaries?.(call.params, context),
    ...Object.fromEntries(singles),
  };
  const places = new Map<string, { readonly offset: number; readonly size: number }>();
  let end = 0;
  for (const [name, words] of Object.entries(wanted)) {
    places.set(name, { offset: end, size: 4 * words });
    end = Math.ceil((end + 4 * words) / offsetAlignment) * offsetAlignment;
  }
  return { places, end };
}
