// The split: exact shares, every class in the training split, the same on every machine.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assignSplits, leftOut, randomBits } from '../../../engine/data/preprocess/split.ts';

function count(splits: Uint8Array, split: number, chosen: (row: number) => boolean = () => true): number {
  return splits.filter((value, row) => value === split && chosen(row)).length;
}

test('shares are exact, for all rows and for each class', () => {
  const strata = Int32Array.from({ length: 1003 }, (_, row) => (row % 10 === 0 ? 1 : 0));
  const splits = assignSplits(strata, 2, [0.8, 0.1, 0.1], 7);
  assert.deepEqual([count(splits, 0), count(splits, 1), count(splits, 2)], [802, 100, 101]);
  const rare = (row: number): boolean => strata[row] === 1;
  assert.deepEqual([count(splits, 0, rare), count(splits, 1, rare), count(splits, 2, rare)], [80, 10, 11]);
});

test('many tiny classes: each trains, and the totals are right', () => {
  const strata = Int32Array.from({ length: 300 }, (_, row) => Math.floor(row / 3));
  const splits = assignSplits(strata, 100, [0.8, 0.1, 0.1], 1);
  assert.deepEqual([count(splits, 0), count(splits, 1), count(splits, 2)], [240, 30, 30]);
  for (let label = 0; label < 100; label++) assert.ok(count(splits, 0, (row) => strata[row] === label) >= 1);
});

test('rows without a class are in no split', () => {
  const splits = assignSplits(Int32Array.of(0, -1, 0, -1, 0), 1, [1, 0, 0], 1);
  assert.deepEqual([...splits], [0, leftOut, 0, leftOut, 0]);
});

test('a share of zero gets no row', () => {
  const splits = assignSplits(new Int32Array(17), 1, [0.7, 0.3, 0], 1);
  assert.equal(count(splits, 2), 0);
  assert.equal(count(splits, 0) + count(splits, 1), 17);
});

/** Taken down once: another number here means that old seeds no longer give their splits. */
const expected = [3651860435, 1382322061, 3834657864, 3659902284];

test('random bits are the same everywhere, and even', () => {
  assert.deepEqual([randomBits(0, 0), randomBits(1, 0), randomBits(1, 1), randomBits(42, 2 ** 33)], expected);
  let ones = 0;
  const buckets = new Array<number>(16).fill(0);
  for (let row = 0; row < 64_000; row++) {
    const bits = randomBits(3, row);
    ones += bits & 1;
    buckets[bits >>> 28] = (buckets[bits >>> 28] ?? 0) + 1;
  }
  assert.ok(Math.abs(ones - 32_000) < 600);
  // Chi-squared with 15 degrees of freedom: above 37.7 once in a thousand.
  const chi = buckets.reduce((sum, seen) => sum + (seen - 4000) ** 2 / 4000, 0);
  assert.ok(chi < 37.7, String(chi));
});
