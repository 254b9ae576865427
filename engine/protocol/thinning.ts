// Which of the states that a run has kept have to give way for the rest to fit into a budget: the oldest lose the optimizer's
// memory first, then they go; best and last stay.

import type { Checkpoint } from './going-on.ts';

export interface Thinning {
  /** Those that are weights alone from then on. */
  readonly slimmed: readonly Checkpoint[];
  readonly removed: readonly Checkpoint[];
  /** Bytes. */
  readonly freed: number;
}

/** `budget`, `slimBytes`: bytes they may take, and bytes that weights alone take. */
export function thinned(kept: readonly Checkpoint[], budget: number, slimBytes: number): Thinning {
  const before = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  let total = before;
  const oldest = kept.filter((one) => one.kept === 'epoch').toSorted((a, b) => a.epoch - b.epoch);
  const slimmed: Checkpoint[] = [];
  const removed: Checkpoint[] = [];
  for (const one of oldest) {
    if (total <= budget) break;
    if (!one.everything || one.bytes <= slimBytes) continue;
    slimmed.push(one);
    total -= one.bytes - slimBytes;
  }
  for (const one of oldest) {
    if (total <= budget) break;
    removed.push(one);
    total -= slimmed.includes(one) ? slimBytes : one.bytes;
  }
  return { slimmed: slimmed.filter((one) => !removed.includes(one)), removed, freed: before - total };
}
