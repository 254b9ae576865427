// The best cut of each column of numbers of a leaf, by its histogram.

import { defineKernel } from '../contract.ts';
import { normal, whole } from '../samples.ts';
import { totalBins } from '../tree_histogram/kernel.ts';

/** Numbers of a split: gain, cut, 1 = what is missing goes left, gradient, hessian and rows of the left side. */
export const splitEntries = 8;

export const kernel = defineKernel({
  name: 'tree_split',
  summary:
    'Of (leaves, columns, countBits, slot, slot) = job: for each leaf and each of so many `columns` of numbers the cut with the ' +
    'largest gain above minGain (gain 0: none), of equal ones the first, what is missing (the last bin) on the right before the ' +
    'left. Gains of gradient boosting with L1 and L2 (Chen & Guestrin 2016, equation 7, without the halves); rules: l1, l2, ' +
    'minGain, minRows, minHessian. Where a column is monotone, values of sides may not fall (1) or rise (−1), within bounds of the leaf.',
  inputs: [
    { name: 'columns', shape: (p) => [p.width], type: 'u32', sample: (p, _, index) => p.width - 1 - index },
    {
      name: 'histograms',
      shape: (p) => [p.slots, p.total, 4],
      type: 'u32',
      // Gradients of both signs, hessians, counts of 12 bits; some bins are empty.
      sample(_, random, index) {
        const bin = Math.floor(index / 4);
        if (bin % 5 === 3) return 0;
        if (index % 4 === 0) return 4096 * (bin % 7) + whole(random, 4096);
        if (index % 4 === 1) return bin % 3 === 0 ? 0xffffffff : 0;
        return index % 4 === 2 ? 4096 * (1 + whole(random, 2 ** 10)) + 1 + whole(random, 9) : 0;
      },
    },
    { name: 'starts', shape: (p) => [p.width + 1], type: 'u32', sample: (_p, _, index) => totalBins(index) },
    { name: 'numbers', shape: (p) => [p.width], type: 'u32', sample: (_p, _, index) => (index % 6 === 5 ? 0 : 1) },
    {
      name: 'monotone',
      shape: (p) => [p.width],
      type: 'i32',
      optional: true,
      sample: (_p, _, index) => (index % 3) - 1,
    },
    { name: 'rules', shape: () => [8], type: 'f64', sample: (_p, _, index) => [0.05, 0.5, 0, 2, 1e-3, 0, 0, 0][index] },
    { name: 'steps', shape: () => [2], type: 'f64', sample: (_p, _, index) => [2 ** -14, 2 ** -10][index] },
    {
      name: 'bounds',
      shape: () => [2, 2],
      type: 'f64',
      sample: (_, random, index) => (index % 2 === 0 ? -1 : 1) * Math.abs(normal(random)),
    },
    { name: 'job', shape: () => [5], type: 'u32', sample: (p, _, index) => [2, p.width, 12, 0, p.slots - 1][index] },
  ],
  outputs: [
    { name: 'splits', shape: (p) => [2, p.width, splitEntries], type: 'f64', inPlace: true },
    { name: 'sums', shape: () => [2, 4], type: 'f64', inPlace: true },
  ],
  params: { width: 'i32', total: 'i32', slots: 'i32' },
  cost: (p) => ({ flops: 40 * p.total, bytes: 32 * p.total }),
  tolerance: { relative: 1e-13, absolute: 1e-12, why: 'quotients of exact sums; their difference' },
  cases: [
    { params: { width: 1, total: totalBins(1), slots: 1 } },
    { params: { width: 3, total: totalBins(3), slots: 2 }, absent: ['monotone'] },
    { params: { width: 11, total: totalBins(11), slots: 3 } },
    { params: { width: 19, total: totalBins(19), slots: 2 }, absent: ['monotone'] },
  ],
});
