// The memory planner: the slot that wastes least, found without looking at all that are free.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { ElementType } from '../../kernels/contract.ts';
import { planScratch, type ScratchSlot } from '../../engine/plan/memory.ts';

/** Whole numbers below `below` that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

/** What `planScratch` does, written as its rule reads: a look at every free slot, in the order they became free. */
function byLooking(
  calls: readonly (readonly number[])[],
  pool: ScratchSlot[],
  needOf: (value: number) => Readonly<ScratchSlot>,
): ReadonlyMap<number, number> {
  const slots = new Map<number, number>();
  const free = new Set(pool.keys());
  const first = (value: number): number => calls.findIndex((values) => values.includes(value));
  const last = (value: number): number => calls.findLastIndex((values) => values.includes(value));
  const inOrder = [...new Set(calls.flat())];
  calls.forEach((_, index) => {
    for (const value of inOrder.filter((each) => first(each) === index)) {
      const need = needOf(value);
      const usable = [...free].filter((slot) => pool[slot].type === need.type);
      const fitting = usable.filter((slot) => pool[slot].elements >= need.elements);
      const best =
        fitting.length > 0
          ? fitting.reduce((a, b) => (pool[b].elements < pool[a].elements ? b : a))
          : usable.length > 0
            ? usable.reduce((a, b) => (pool[b].elements > pool[a].elements ? b : a))
            : pool.push({ type: need.type, elements: 0 }) - 1;
      free.delete(best);
      pool[best].elements = Math.max(pool[best].elements, need.elements);
      slots.set(value, best);
    }
    for (const value of inOrder.filter((each) => last(each) === index)) free.add(slots.get(value)!);
  });
  return slots;
}

test('every value gets the slot that looking at all of them finds, program after program', () => {
  const types: readonly ElementType[] = ['f32', 'u32'];
  for (let seed = 1; seed <= 20; seed++) {
    const next = numbers(seed);
    const needs = Array.from({ length: 60 }, () => ({ type: types[next(2)], elements: 1 + next(8) }));
    const program = () => Array.from({ length: 80 }, (_, i) => [0, 1, 2].map(() => Math.min(59, next(12) + (i >> 1))));
    const [fast, slow]: ScratchSlot[][] = [[], []];
    for (const calls of [program(), program()]) {
      const wanted = byLooking(calls, slow, (value) => needs[value]);
      assert.deepEqual([...planScratch(calls, fast, (value) => needs[value])], [...wanted]);
      assert.deepEqual(fast, slow);
    }
  }
});

test('a model ten times as deep is planned in about ten times the time, not a hundred', () => {
  /** Processor time for values that are all kept to the middle, as activations are, and freed one after the other. */
  const timeOf = (depth: number): number => {
    const forwards = Array.from({ length: depth }, (_, i) => [i]);
    const calls = [...forwards, ...forwards.toReversed()];
    const before = process.cpuUsage();
    const pool: ScratchSlot[] = [];
    for (let program = 0; program < 2; program++) planScratch(calls, pool, () => ({ type: 'f32', elements: 8 }));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  timeOf(4_000);
  const [shallow, deep] = [timeOf(4_000), timeOf(40_000)];
  assert.ok(deep < 50 * Math.max(shallow, 2_000), `${shallow} and ${deep} µs`);
});
