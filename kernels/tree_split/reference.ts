// Oracle of tree_split: every cut is tried.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { wordAt } from '../trees.ts';
import { splitEntries, type kernel } from './kernel.ts';

type Sums = readonly [gradient: number, hessian: number, rows: number];

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, { width, total }) => {
  const { columns, histograms, starts, numbers, rules, steps, bounds, job } = present(inputs);
  const { splits, sums } = present(outputs);
  const [l1, l2, minGain, minRows, minHessian] = rules;
  const [leaves, count, countBits] = job;
  for (let leaf = 0; leaf < leaves; leaf++) {
    const bin = (index: number): Sums => {
      const at = 4 * (job[3 + leaf] * total + index);
      const [g, hc] = [wordAt(histograms, at), wordAt(histograms, at + 2)];
      const rows = BigInt.asUintN(countBits, hc);
      return [Number(g) * steps[0], Number(hc >> BigInt(countBits)) * steps[1], Number(rows)];
    };
    const sumOf = (from: number, to: number): Sums => {
      const all: [number, number, number] = [0, 0, 0];
      for (let i = from; i < to; i++) bin(i).forEach((one, j) => (all[j] += one));
      return all;
    };
    const [low, high] = inputs.monotone ? bounds.subarray(2 * leaf, 2 * leaf + 2) : [-Infinity, Infinity];
    const shrunk = (g: number): number => Math.sign(g) * Math.max(0, Math.abs(g) - l1);
    const valueOf = ([g, h]: Sums): number => Math.min(high, Math.max(low, h + l2 > 0 ? -shrunk(g) / (h + l2) : 0));
    const scoreOf = (side: Sums): number => {
      const [t, h] = [shrunk(side[0]), side[1] + l2];
      if (h <= 0) return 0;
      if (low === -Infinity && high === Infinity) return (t * t) / h;
      const value = valueOf(side);
      return -(2 * t * value + h * value * value);
    };
    for (const column of columns.subarray(0, count)) {
      const [start, end] = [starts[column], starts[column + 1]];
      const all = sumOf(start, end);
      if (column === columns[0]) sums.set([...all, 0], 4 * leaf);
      const split = splits.subarray((leaf * width + column) * splitEntries, (leaf * width + column + 1) * splitEntries);
      split.fill(0);
      if (numbers[column] === 0) continue;
      const missing = bin(end - 1);
      let best = 0;
      // Sums are exact: they may be made one from the other.
      let known: Sums = [0, 0, 0];
      for (let cut = 0; start + cut + 1 < end; cut++) {
        const own = bin(start + cut);
        known = [known[0] + own[0], known[1] + own[1], known[2] + own[2]];
        const last = start + cut + 2 === end;
        for (const missingLeft of [false, true]) {
          if (missingLeft && (missing[2] === 0 || last)) continue;
          if (last && missing[2] === 0) continue;
          const left = known.map((one, j) => one + (missingLeft ? missing[j] : 0)) as unknown as Sums;
          const right = all.map((one, j) => one - left[j]) as unknown as Sums;
          if (Math.min(left[2], right[2]) < minRows || Math.min(left[1], right[1]) < minHessian) continue;
          const gain = scoreOf(left) + scoreOf(right) - scoreOf(all);
          if (gain - minGain <= best) continue;
          const direction = inputs.monotone?.[column] ?? 0;
          if (direction * (valueOf(right) - valueOf(left)) < 0) continue;
          best = gain - minGain;
          const side = missing[2] > 0 ? missingLeft : 2 * left[2] >= all[2];
          split.set([gain, cut, side ? 1 : 0, ...left, 0, 0]);
        }
      }
    }
  }
};
