// Trees of a forest (Breiman 2001), grown whole: each in a slot of its own, where it stays until it is done. So that no call takes long, each
// goes on by about as many rows as the job says.

import { defineKernel } from '../contract.ts';
import { uniform, whole } from '../samples.ts';

/** Words of a state: where a slot is, its random numbers and the nodes that wait. */
export const stateWords = 512;
/** Places of words in a state. */
export const stateAt = { status: 0, cuts: 2, nodes: 7, leaves: 8, sets: 9, rows: 10, values: 11, draws: 12 } as const;
/** What a slot is at. */
export const slotStatus = { idle: 0, toBegin: 1, growing: 2, done: 3 } as const;
/** In `kinds`, above the bin for what is missing: the column has categories. */
export const categoryKind = 0x80000000;

const weightOf = (_: unknown, random: () => number): number => uniform(random, 0.5, 2);
const binsOf = (column: number): number => [255, 3, 12, 1, 40][column % 5];
const isCategory = (column: number): boolean => column % 3 === 2;

export const kernel = defineKernel({
  name: 'tree_forest',
  summary:
    'Of (minRows, depth, columns, randomCuts, bootstrap, budget) = job: in each slot that is to begin rows are drawn (or all taken) into its list ' +
    '(row, times, target), and in each that grows nodes are split until about `budget` rows were visited, or none waits. A node looks at so many ' +
    'columns, drawn without replacement, those that are the same in its rows left out. A split makes Σ (sum of weighted targets)² / weight of both ' +
    'sides largest, over the outputs: least squares, and of classes the least Gini impurity; it takes the best cut of each column or, with ' +
    'randomCuts, one drawn between its least and largest bin (Geurts et al. 2006). What is missing is tried on both sides, categories are sorted ' +
    'by their means. Nodes are (column | missing left · 2³¹, bin or set, left, right), a child that is a leaf as its complement; leaves ' +
    '(from, to in the list, from, to in the values).',
  inputs: [
    {
      name: 'bins',
      shape: (p) => [p.rows, p.width],
      type: 'u8',
      sample: (p, random, index) => whole(random, 1 + binsOf(index % p.width)),
    },
    {
      name: 'targets',
      shape: (p) => [p.rows],
      sample: (p, random) => (p.outputs > 1 ? whole(random, p.outputs) : whole(random, 2)),
    },
    { name: 'weights', shape: (p) => [Math.max(2, p.outputs)], type: 'f64', optional: true, sample: weightOf },
    {
      name: 'kinds',
      shape: (p) => [p.width],
      type: 'u32',
      sample: (_p, _, index) => binsOf(index) + (isCategory(index) ? categoryKind : 0),
    },
    {
      name: 'job',
      shape: () => [6],
      type: 'u32',
      // Every other case cuts at random and takes all rows; a budget that is enough for the small ones.
      sample: (p, _, index) =>
        [1 + (p.width % 3), p.width === 7 ? 4 : 0, 2, p.width % 2, 1 - (p.width % 2), 40_000][index],
    },
  ],
  outputs: [
    {
      name: 'states',
      shape: (p) => [p.slots, stateWords],
      type: 'u32',
      inPlace: true,
      // The last slot is idle.
      sample(p, random, index) {
        const [slot, word] = [Math.floor(index / stateWords), index % stateWords];
        if (word === stateAt.status) return slot > 0 && slot === p.slots - 1 ? slotStatus.idle : slotStatus.toBegin;
        const random32 = (word >= 2 && word < 6) || (word >= 12 && word < 16);
        return random32 ? whole(random, 2 ** 32) : 0;
      },
    },
    { name: 'lists', shape: (p) => [p.slots, 2, p.rows, 3], type: 'u32', inPlace: true, sample: () => 0 },
    { name: 'orders', shape: (p) => [p.slots, p.width], type: 'u32', inPlace: true, sample: () => 0 },
    {
      name: 'sums',
      shape: (p) => [p.slots, 258, p.outputs > 1 ? p.outputs : 2],
      type: 'f64',
      inPlace: true,
      sample: () => 0,
    },
    { name: 'nodes', shape: (p) => [p.slots, p.capacity, 4], type: 'u32', inPlace: true, sample: () => 0 },
    { name: 'gains', shape: (p) => [p.slots, p.capacity], type: 'f64', inPlace: true, sample: () => 0 },
    { name: 'masks', shape: (p) => [p.slots, p.sets, 8], type: 'u32', inPlace: true, sample: () => 0 },
    { name: 'leaves', shape: (p) => [p.slots, p.capacity, 4], type: 'u32', inPlace: true, sample: () => 0 },
    { name: 'values', shape: (p) => [p.slots, p.room], type: 'f64', inPlace: true, sample: () => 0 },
    { name: 'classes', shape: (p) => [p.slots, p.room], type: 'u32', inPlace: true, sample: () => 0 },
  ],
  params: { rows: 'i32', width: 'i32', slots: 'i32', outputs: 'i32', capacity: 'i32', sets: 'i32', room: 'i32' },
  cost: (p) => ({ flops: 50 * p.slots * p.rows * Math.sqrt(p.width), bytes: 50 * p.slots * p.rows }),
  tolerance: { relative: 0, absolute: 0, why: 'the same sums in the same order' },
  cases: [
    { params: { rows: 1, width: 1, slots: 1, outputs: 1, capacity: 1, sets: 1, room: 1 }, absent: ['weights'] },
    { params: { rows: 37, width: 3, slots: 2, outputs: 1, capacity: 37, sets: 37, room: 37 }, absent: ['weights'] },
    { params: { rows: 211, width: 6, slots: 3, outputs: 1, capacity: 211, sets: 211, room: 211 } },
    { params: { rows: 211, width: 7, slots: 5, outputs: 3, capacity: 211, sets: 211, room: 211 } },
    { params: { rows: 997, width: 8, slots: 4, outputs: 5, capacity: 997, sets: 997, room: 997 }, absent: ['weights'] },
    {
      params: { rows: 2003, width: 10, slots: 4, outputs: 1, capacity: 2003, sets: 2003, room: 2003 },
      absent: ['weights'],
    },
  ],
});
