// The memory planner: gives every scratch value a slot for as long as it lives, and hands the slot on afterwards. Programs
// run one at a time, so all of them share one pool. Greedy best fit over call order; a call's outputs never share a slot
// with its inputs, because WebGPU cannot read and write one buffer in a dispatch.

import type { ElementType } from '../../kernels/contract.ts';
import type { ValueId } from '../graph/graph.ts';

/** A scratch slot shared by all programs; `elements` grows to the largest tenant. Its tenants all have its type. */
export interface ScratchSlot {
  readonly type: ElementType;
  elements: number;
}

/** First and last call a value takes part in. */
interface Lifetime {
  readonly first: number;
  last: number;
}

/**
 * Assigns each value of `calls` (the scratch values each of them reads or writes) to an index into the pool. Values an op makes
 * but nobody reads still get room: their kernel writes them.
 */
export function planScratch(
  calls: readonly (readonly ValueId[])[],
  pool: ScratchSlot[],
  needOf: (value: ValueId) => Readonly<ScratchSlot>,
): ReadonlyMap<ValueId, number> {
  const lifetimes = new Map<ValueId, Lifetime>();
  calls.forEach((values, index) => {
    for (const value of values) {
      const lifetime = lifetimes.get(value);
      if (lifetime) lifetime.last = index;
      else lifetimes.set(value, { first: index, last: index });
    }
  });

  const slots = new Map<ValueId, number>();
  const free = new Set(pool.keys());
  const starting = groupBy(lifetimes, (lifetime) => lifetime.first);
  const ending = groupBy(lifetimes, (lifetime) => lifetime.last);
  calls.forEach((_, index) => {
    for (const value of starting.get(index) ?? []) {
      const need = needOf(value);
      const slot = bestFit(pool, free, need);
      free.delete(slot);
      pool[slot].elements = Math.max(pool[slot].elements, need.elements);
      slots.set(value, slot);
    }
    for (const value of ending.get(index) ?? []) free.add(slots.get(value)!);
  });
  return slots;
}

/** The free slot of the type that wastes least: the smallest that fits, else the largest to grow, else a new one. */
function bestFit(pool: ScratchSlot[], free: ReadonlySet<number>, need: Readonly<ScratchSlot>): number {
  let fitting = -1;
  let largest = -1;
  for (const slot of free) {
    const { elements, type } = pool[slot];
    if (type !== need.type) continue;
    if (elements >= need.elements && (fitting < 0 || elements < pool[fitting].elements)) fitting = slot;
    if (largest < 0 || elements > pool[largest].elements) largest = slot;
  }
  if (fitting >= 0) return fitting;
  if (largest >= 0) return largest;
  pool.push({ type: need.type, elements: 0 });
  return pool.length - 1;
}

function groupBy(
  lifetimes: ReadonlyMap<ValueId, Lifetime>,
  key: (lifetime: Lifetime) => number,
): ReadonlyMap<number, readonly ValueId[]> {
  const groups = new Map<number, ValueId[]>();
  for (const [value, lifetime] of lifetimes) {
    const index = key(lifetime);
    const group = groups.get(index);
    if (group) group.push(value);
    else groups.set(index, [value]);
  }
  return groups;
}
