import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBits } from '../../../engine/data/preprocess/split.ts';
import { drawNumbers } from '../../../engine/data/schema/histogram.ts';

const extremes = (values: Float64Array): [number, number] => [Math.min(...values), Math.max(...values)];

function sortedMedian(values: Float64Array): number {
  const sorted = values.slice().sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

test('the median found among the bins in the middle is that of all sorted numbers, and each number is in one bin', () => {
  for (let round = 0; round < 3000; round++) {
    const count = 1 + (randomBits(1, round) % 60);
    const different = [1, 2, 4, 30, 2 ** 32][round % 5];
    const size = [1e-320, 1e-9, 1, 1e300][round % 4];
    const values = Float64Array.from(
      { length: count },
      (_, row) => ((randomBits(round + 2, row) % different) / different - 0.5) * size,
    );
    const [minimum, maximum] = extremes(values);
    const { counts, median } = drawNumbers(values, minimum, maximum);
    assert.equal(median, sortedMedian(values), `${values}`);
    assert.equal(
      counts.reduce((sum, one) => sum + one, 0),
      count,
    );
    assert.ok(counts.length <= 20);
  }
});

test('an upper edge belongs to its bin', () => {
  const values = Float64Array.from({ length: 41 }, (_, index) => index / 2);
  assert.deepEqual(drawNumbers(values, 0, 20).counts, [3, ...Array.from({ length: 19 }, () => 2)]);
});

test('infinite numbers, ranges beyond all numbers, and none at all have a median as well', () => {
  for (const values of [
    [-Infinity, 1, 2, Infinity],
    [1, 2, Infinity],
    [-Infinity, 3, 1],
    [-1.7e308, 3, 1.7e308],
  ]) {
    const numbers = Float64Array.from(values);
    assert.equal(drawNumbers(numbers, ...extremes(numbers)).median, sortedMedian(numbers));
  }
  assert.equal(drawNumbers(new Float64Array(), 0, 1).median, null);
});
