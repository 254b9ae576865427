// The memory planner: gives every scratch value a slot for as long as it lives, and hands the slot on afterwards. Programs
// run one at a time, so all of them share one pool. Greedy best fit over call order; a call's outputs never share a slot
// with its inputs, because WebGPU cannot read and write one buffer in a dispatch.

import type { LoweredCall, LoweredOperand } from '../graph/op.ts';
import type { ValueId } from '../graph/graph.ts';

/** Scratch slots shared by all programs; `elements` grows to the largest tenant. */
export interface ScratchPool {
  readonly elements: number[];
}

/** First and last call a value takes part in. */
interface Lifetime {
  readonly first: number;
  last: number;
}

/**
 * Assigns each value that `isScratch` to an index into the pool. `sizeOf` gives elements. Values an op makes but
 * nobody reads still get room: their kernel writes them.
 */
export function planScratch(
  calls: readonly LoweredCall[],
  pool: ScratchPool,
  isScratch: (value: ValueId) => boolean,
  sizeOf: (value: ValueId) => number,
): ReadonlyMap<ValueId, number> {
  const lifetimes = new Map<ValueId, Lifetime>();
  calls.forEach((call, index) => {
    for (const operand of [...call.inputs, ...call.outputs]) {
      if (!isValue(operand) || !isScratch(operand)) continue;
      const lifetime = lifetimes.get(operand);
      if (lifetime) lifetime.last = index;
      else lifetimes.set(operand, { first: index, last: index });
    }
  });

  const slots = new Map<ValueId, number>();
  const free = new Set(pool.elements.keys());
  const starting = groupBy(lifetimes, (lifetime) => lifetime.first);
  const ending = groupBy(lifetimes, (lifetime) => lifetime.last);
  calls.forEach((_, index) => {
    for (const value of starting.get(index) ?? []) {
      const needed = sizeOf(value);
      const slot = bestFit(pool, free, needed);
      free.delete(slot);
      pool.elements[slot] = Math.max(pool.elements[slot], needed);
      slots.set(value, slot);
    }
    for (const value of ending.get(index) ?? []) free.add(slots.get(value)!);
  });
  return slots;
}

export const isValue = (operand: LoweredOperand): operand is ValueId => typeof operand === 'number';

/** The free slot that wastes least: the smallest that fits, else the largest to grow, else a new one. */
function bestFit(pool: ScratchPool, free: ReadonlySet<number>, needed: number): number {
  let fitting = -1;
  let largest = -1;
  for (const slot of free) {
    const size = pool.elements[slot];
    if (size >= needed && (fitting < 0 || size < pool.elements[fitting])) fitting = slot;
    if (largest < 0 || size > pool.elements[largest]) largest = slot;
  }
  if (fitting >= 0) return fitting;
  if (largest >= 0) return largest;
  pool.elements.push(0);
  return pool.elements.length - 1;
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
