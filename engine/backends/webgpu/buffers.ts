// The buffers of a compiled plan: one a slot, one for what lives between the passes of a call, and the numbers of the steps.
// Everything is allocated before the first step; what does not fit the device's limits is refused by name.

import type { Plan, Slot } from '../../plan/plan.ts';
import { bytes } from './adapter.ts';
import { type DeviceWatch, limitError, outOfMemoryError } from './failure.ts';
import { bufferUsage } from './flags.ts';
import { rounded, slotBytes, stepStride } from './sizes.ts';

export interface PlanBuffers {
  /** By slot id. */
  readonly slots: readonly GPUBuffer[];
  /** What they hold. */
  readonly types: readonly Pick<Slot, 'type' | 'kind'>[];
  /** Shared by all calls, one after the other. */
  readonly temporary: GPUBuffer;
  /** The number i at byte `i · stepStride`: bound with a dynamic offset. */
  readonly steps: GPUBuffer;
  readonly bytes: number;
  destroy(): void;
}

/** Byte offset of a step's number, for `setBindGroup`. */
export const stepOffset = (step: number): number => step * stepStride;

/** Throws `device.limit` if a slot is larger than one buffer may be. */
export function checkSlots(plan: Plan, limits: GPUSupportedLimits, device: string): void {
  for (const slot of plan.slots) {
    const size = slotBytes(slot);
    if (size <= limits.maxBufferSize) continue;
    const hint =
      slot.kind === 'data'
        ? 'Train on the CPU, or on fewer rows or columns: the data has to fit one buffer of the GPU.'
        : 'Choose a smaller model or batch, or train on the CPU.';
    throw limitError(
      `“${slot.label}” takes ${bytes(size)}, but one buffer of the GPU (${device}) holds ${bytes(limits.maxBufferSize)} at most.`,
      hint,
    );
  }
}

/** Allocates all buffers. Throws `device.out_of_memory`. `temporaryBytes`: the most any call needs between its passes. */
export async function allocate(
  device: GPUDevice,
  plan: Plan,
  temporaryBytes: number,
  watch: DeviceWatch,
): Promise<PlanBuffers> {
  const made: GPUBuffer[] = [];
  const make = (label: string, size: number, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ label, size, usage });
    made.push(buffer);
    return buffer;
  };
  const destroy = (): void => made.forEach((buffer) => buffer.destroy());
  const { storage, uniform, copySource, copyTarget } = bufferUsage;
  const wanted = `the model and its data (${bytes(plan.slots.reduce((sum, slot) => sum + slotBytes(slot), 0))})`;
  try {
    return await watch.scoped(wanted, () => {
      const slots = plan.slots.map((slot) => make(slot.label, slotBytes(slot), storage | copySource | copyTarget));
      const temporary = make('temporary', rounded(temporaryBytes), storage);
      const stepCount = Math.max(1, plan.stepCapacity);
      const steps = make('step numbers', stepCount * stepStride, uniform | copyTarget);
      const numbers = new Uint32Array((stepCount * stepStride) / 4);
      for (let step = 0; step < stepCount; step++) numbers[(step * stepStride) / 4] = step;
      device.queue.writeBuffer(steps, 0, numbers);
      const total = made.reduce((sum, buffer) => sum + buffer.size, 0);
      return { slots, types: plan.slots, temporary, steps, bytes: total, destroy };
    });
  } catch (error) {
    destroy();
    // Some implementations throw a RangeError where they should report an out-of-memory error.
    if (error instanceof RangeError) throw outOfMemoryError(watch.name, wanted, error);
    throw error;
  }
}
