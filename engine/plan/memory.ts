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
  const free = new FreeSlots(pool);
  const starting = groupBy(lifetimes, (lifetime) => lifetime.first);
  const ending = groupBy(lifetimes, (lifetime) => lifetime.last);
  calls.forEach((_, index) => {
    for (const value of starting.get(index) ?? []) {
      const need = needOf(value);
      const slot = free.take(need) ?? pool.push({ type: need.type, elements: 0 }) - 1;
      pool[slot].elements = Math.max(pool[slot].elements, need.elements);
      slots.set(value, slot);
    }
    for (const value of ending.get(index) ?? []) free.add(slots.get(value)!);
  });
  return slots;
}

/** Free slots of one type by their size; of one size the one that has been free longest comes first. */
interface FreeSizes {
  /** Ascending, each once. */
  readonly sizes: number[];
  readonly slots: Map<number, { first: number; readonly queue: number[] }>;
}

/** The slots nobody lives in: a deep model frees tens of thousands, so none is looked for by looking at all. */
class FreeSlots {
  readonly #pool: readonly ScratchSlot[];
  readonly #byType = new Map<ElementType, FreeSizes>();

  constructor(pool: readonly ScratchSlot[]) {
    this.#pool = pool;
    pool.forEach((_, slot) => this.add(slot));
  }

  add(slot: number): void {
    const { type, elements } = this.#pool[slot];
    let free = this.#byType.get(type);
    if (!free) this.#byType.set(type, (free = { sizes: [], slots: new Map() }));
    const same = free.slots.get(elements);
    if (same) {
      same.queue.push(slot);
      return;
    }
    free.slots.set(elements, { first: 0, queue: [slot] });
    free.sizes.splice(firstAtLeast(free.sizes, elements), 0, elements);
  }

  /** Takes the slot of the type that wastes least: the smallest that fits, else the largest, to grow; undefined: none is free. */
  take({ type, elements }: Readonly<ScratchSlot>): number | undefined {
    const free = this.#byType.get(type);
    if (!free || free.sizes.length === 0) return undefined;
    const at = Math.min(firstAtLeast(free.sizes, elements), free.sizes.length - 1);
    const size = free.sizes[at];
    const same = free.slots.get(size)!;
    const slot = same.queue[same.first++];
    if (same.first === same.queue.length) {
      free.slots.delete(size);
      free.sizes.splice(at, 1);
    }
    return slot;
  }
}

/** Index of the first of the ascending `sizes` that is at least `wanted`; their number if none is. */
function firstAtLeast(sizes: readonly number[], wanted: number): number {
  let [low, high] = [0, sizes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sizes[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
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
