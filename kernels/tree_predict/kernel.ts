// Trees asked: each adds the value of a row's leaf to the row's scores.

import { defineKernel } from '../contract.ts';
import { normal, whole, word } from '../samples.ts';

/** Set in a node's test: it is a set of bins, a mask of 256 bits from word (test without this bit) of `masks` on. */
export const setTest = 0x80000000;
/** Nodes of each tree of the cases: a chain that goes on to the left. */
const chain = 3;

export const kernel = defineKernel({
  name: 'tree_predict',
  summary:
    'Of (count, listed, first row, trees, first output) = job: each tree adds values[leaf] to scores[row, (first output + tree) mod ' +
    'outputs] of count rows: those of the list where listed is 1, else from the first row on. roots and children are nodes (≥ 0) or ' +
    'leaves (~leaf); a node is column, test, left, right: left where bin ≤ test & 0xffff or bin = test >> 16, or, with the bit ' +
    'setTest, where the bin is in the mask.',
  inputs: [
    { name: 'bins', shape: (p) => [p.rows, p.width], type: 'u8', sample: (_, random) => whole(random, 256) },
    { name: 'list', shape: (p) => [p.rows], type: 'u32', sample: (p, _, index) => p.rows - 1 - index },
    {
      name: 'nodes',
      shape: (p) => [p.nodes, 4],
      type: 'u32',
      sample(p, random, index) {
        const node = index >> 2;
        const tree = Math.floor(node / chain);
        const [deep, leaf] = [node % chain, tree * (chain + 1) + (node % chain)];
        if (index % 4 === 0) return whole(random, p.width);
        if (index % 4 === 1) {
          const number = whole(random, 255) + 2 ** 16 * (whole(random, 2) === 0 ? 0x7fff : 255);
          return node % 5 === 4 ? setTest + 8 * (node % 2) : number;
        }
        if (index % 4 === 3) return ~leaf >>> 0;
        return deep + 1 < chain && node + 1 < p.nodes ? node + 1 : ~(leaf + 1) >>> 0;
      },
    },
    { name: 'masks', shape: (p) => [p.masks], type: 'u32', sample: (_, random) => word(random) },
    {
      name: 'roots',
      shape: (p) => [p.trees],
      type: 'u32',
      sample: (p, _, index) => (index * chain < p.nodes ? index * chain : ~0 >>> 0),
    },
    { name: 'values', shape: (p) => [p.leaves], type: 'f64', sample: (_, random) => normal(random) },
    {
      name: 'job',
      shape: () => [5],
      type: 'u32',
      sample: (p, _, index) => {
        const first = p.rows % 2 === 0 ? Math.floor(p.rows / 3) : 0;
        return [p.rows - first, p.rows % 2, first, p.trees, p.outputs - 1][index];
      },
    },
  ],
  outputs: [{ name: 'scores', shape: (p) => [p.rows, p.outputs], type: 'f64', inPlace: true }],
  params: { rows: 'i32', width: 'i32', outputs: 'i32', nodes: 'i32', trees: 'i32', leaves: 'i32', masks: 'i32' },
  cost: (p) => ({ flops: 16 * p.rows * p.trees, bytes: p.rows * (p.width + 8 * p.outputs) }),
  tolerance: { relative: 0, absolute: 0, why: 'the same additions in float64, in the order of the trees' },
  cases: [
    { params: { rows: 1, width: 1, outputs: 1, nodes: 1, trees: 2, leaves: 2, masks: 16 } },
    { params: { rows: 37, width: 3, outputs: 1, nodes: 9, trees: 4, leaves: 12, masks: 16 } },
    { params: { rows: 1000, width: 7, outputs: 3, nodes: 30, trees: 10, leaves: 40, masks: 16 } },
    { params: { rows: 1031, width: 5, outputs: 2, nodes: 12, trees: 4, leaves: 16, masks: 16 } },
  ],
});
