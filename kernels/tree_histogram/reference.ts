// Oracle of tree_histogram.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { noSlot, setWord, wordAt } from '../trees.ts';
import type { kernel } from './kernel.ts';

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { width, total }) => {
  const { bins, packed, list, columns, starts, job } = present(inputs);
  const { histograms } = present(outputs);
  const [from, to, count, slot, parent] = job;
  for (const column of columns.subarray(0, count)) {
    const size = starts[column + 1] - starts[column];
    const sums = Array.from({ length: 2 * size }, () => 0n);
    for (const row of list.subarray(from, to)) {
      const bin = bins[row * width + column];
      sums[2 * bin] += wordAt(packed, 4 * row);
      sums[2 * bin + 1] += wordAt(packed, 4 * row + 2);
    }
    sums.forEach((sum, i) => {
      const at = 4 * starts[column] + 2 * i;
      setWord(histograms, 4 * slot * total + at, sum);
      if (parent === noSlot) return;
      const place = 4 * parent * total + at;
      setWord(histograms, place, wordAt(histograms, place) - sum);
    });
  }
};
