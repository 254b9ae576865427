// What the settings that spare memory do for a run before it starts: its plan with them and without, exact both.

import type { ModelAtHand } from './costs/from-model.ts';
import { planMemory, type PlanDevice, type RowCounts } from './memory-forecast.ts';

/** Bytes of the plan as asked for, and without gradient checkpointing and 16 bits; null where neither is asked for, or does anything here. */
export function sparedMemory(
  model: ModelAtHand,
  counts: RowCounts,
  device: PlanDevice,
): { readonly bytes: number; readonly without: number } | null {
  const { training } = model;
  if (!training.checkpointing && training.precision === 'float32') return null;
  const plain: ModelAtHand = { ...model, training: { ...training, checkpointing: false, precision: 'float32' } };
  const [bytes, without] = [model, plain].map((one) => planMemory(one, counts, device).memory.total);
  return bytes === without ? null : { bytes, without };
}
