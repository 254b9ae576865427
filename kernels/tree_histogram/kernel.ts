// Histograms of a leaf: for each bin of each column the sums of its rows' words.

import { defineKernel } from '../contract.ts';
import { whole } from '../samples.ts';
import { noSlot, sampleHalf } from '../trees.ts';

/** Bins of a column in the cases: 1, 4, 7, … up to 256. */
const binsOf = (column: number): number => Math.min(256, 1 + 3 * column * column);
const startOf = (column: number): number =>
  Array.from({ length: column }, (_, i) => binsOf(i)).reduce((a, b) => a + b, 0);

/** Of cases: all bins of so many columns. */
export const totalBins = startOf;

export const kernel = defineKernel({
  name: 'tree_histogram',
  summary:
    'Of (from, to, columns, slot, parent) = job: histograms[slot], bin starts[column] + b = Σ packed[row] (two words of 64 bits) of ' +
    'the rows list[from … to) with bins[row, column] = b, for the first so many of `columns`; then histograms[parent] −= it, ' +
    'unless there is no parent.',
  inputs: [
    {
      name: 'bins',
      shape: (p) => [p.rows, p.width],
      type: 'u8',
      sample: (p, random, index) => whole(random, binsOf(index % p.width)),
    },
    {
      name: 'packed',
      shape: (p) => [p.rows, 4],
      type: 'u32',
      sample: (_, random, index) => sampleHalf(random, index, 11),
    },
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    // In pairs that stand the other way round, the last one alone: not side by side.
    {
      name: 'columns',
      shape: (p) => [p.width],
      type: 'u32',
      sample: (p, _, index) => (p.width % 2 === 1 ? index : index ^ 1),
    },
    { name: 'starts', shape: (p) => [p.width + 1], type: 'u32', sample: (_p, _, index) => startOf(index) },
    {
      name: 'job',
      shape: () => [5],
      type: 'u32',
      sample: (p, _, index) => [Math.floor(p.rows / 5), p.rows, p.width, 1, p.slots > 2 ? 2 : noSlot][index],
    },
  ],
  outputs: [
    {
      name: 'histograms',
      shape: (p) => [p.slots, p.total, 4],
      type: 'u32',
      inPlace: true,
      sample: (_, random) => whole(random, 2 ** 31),
    },
  ],
  params: { rows: 'i32', width: 'i32', total: 'i32', slots: 'i32' },
  cost: (p) => ({ flops: 2 * p.rows * p.width, bytes: p.rows * (p.width + 20) + 32 * p.total }),
  tolerance: { relative: 0, absolute: 0, why: 'whole numbers' },
  cases: [
    { params: { rows: 1, width: 1, total: totalBins(1), slots: 2 } },
    { params: { rows: 37, width: 3, total: totalBins(3), slots: 3 } },
    { params: { rows: 997, width: 10, total: totalBins(10), slots: 3 } },
    { params: { rows: 211, width: 17, total: totalBins(17), slots: 2 } },
    { params: { rows: 9001, width: 19, total: totalBins(19), slots: 3 } },
  ],
});
