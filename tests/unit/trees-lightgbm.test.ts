// Trees that LightGBM grew, built as ours: the same rows get the same predictions.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binnerOf, type ColumnBins } from '../../engine/learners/trees/bins.ts';
import { addTrees, finish } from '../../engine/learners/trees/ensemble.ts';
import { TreeBuilder, type Tree } from '../../engine/learners/trees/tree.ts';

/** A node of LightGBM's dump, or the value of a leaf. */
type Dumped =
  | number
  | {
      readonly column: number;
      /** Of a category the values that go left. */
      readonly threshold: number | readonly number[];
      readonly missingLeft: boolean;
      readonly left: Dumped;
      readonly right: Dumped;
    };

interface Fixture {
  readonly trees: readonly Dumped[];
  readonly rows: readonly (readonly (number | null)[])[];
  readonly predictions: readonly number[];
}

test('the same trees answer as in LightGBM: numbers, missing values, categories', () => {
  const file = path.join(import.meta.dirname, 'fixtures/trees-lightgbm.json');
  const { trees, rows, predictions } = JSON.parse(fs.readFileSync(file, 'utf8')) as Fixture;
  const edges: number[][] = [[], [], []];
  const collect = (node: Dumped): void => {
    if (typeof node === 'number') return;
    if (typeof node.threshold === 'number') edges[node.column].push(node.threshold);
    for (const child of [node.left, node.right]) collect(child);
  };
  trees.forEach(collect);
  const columns: readonly ColumnBins[] = edges.map((found, column) => {
    if (column === 2) return { kind: 'category', bins: 12, codes: Int32Array.from({ length: 12 }, (_, code) => code) };
    const sorted = Float64Array.from(new Set(found)).sort();
    return { kind: 'number', bins: sorted.length + 1, edges: sorted };
  });
  const built = trees.map((root): Tree => {
    const builder = new TreeBuilder();
    const values: number[] = [];
    const add = (node: Dumped, leaf: number): void => {
      if (typeof node === 'number') {
        values[leaf] = node;
        return;
      }
      const { column, threshold, missingLeft } = node;
      const test = columns[column];
      const set = typeof threshold === 'number' ? null : threshold;
      const cut = test.kind === 'number' && typeof threshold === 'number' ? test.edges.indexOf(threshold) : 0;
      const added = builder.split(leaf, { column, cut, missingLeft, gain: 1, set });
      add(node.left, leaf);
      add(node.right, added);
    };
    add(root, 0);
    return builder.finish(
      Float64Array.from(values),
      Float64Array.from(values, () => 1),
    );
  });
  const x = rows.flat().map((one) => one ?? NaN);
  const bins = new Uint8Array(x.length);
  columns.forEach((column, at) => binnerOf(column)(x, rows.length, 3, at, bins, 0));
  const scores = new Float64Array(rows.length);
  finish(addTrees(scores, 1, built, columns, { bins, width: 3 }, 0, rows.length));
  assert.ok(x.some(Number.isNaN));
  scores.forEach((score, row) =>
    assert.ok(Math.abs(score - predictions[row]) < 1e-12, `${score}, ${predictions[row]}`),
  );
});
