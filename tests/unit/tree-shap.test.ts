// Exact contributions: against the sum over all subsets of the columns (Shapley 1953), and adding up to what the trees say.

import assert from 'node:assert/strict';
import test from 'node:test';
import { exactlyWhy } from '../../engine/explanation/rows.ts';
import type { Subject } from '../../engine/explanation/subject.ts';
import type { Trained } from '../../engine/learners/learner.ts';
import { columnGains, exactContributions, type GrownTrees } from '../../engine/learners/trees/explained.ts';
import { finish } from '../../engine/learners/trees/ensemble.ts';
import type { ColumnBins } from '../../engine/learners/trees/bins.ts';
import { goesLeftOf, TreeBuilder, type Tree } from '../../engine/learners/trees/tree.ts';
import type { Contributions } from '../../engine/protocol/explanation.ts';
import { uniform } from '../support/table.ts';

const random = uniform(3);
const below = (count: number): number => Math.floor(random() * count);

const columnsOf = (count: number): ColumnBins[] =>
  Array.from({ length: count }, (_, i) =>
    i % 3 === 2
      ? { kind: 'category', bins: 6, codes: Int32Array.from({ length: 6 }, (_unused, k) => k) }
      : { kind: 'number', bins: 10, edges: Float64Array.from({ length: 9 }, (_unused, k) => k + 0.5) },
  );

/** Splits the last leaves first where it has to be deep. */
function randomTree(columns: readonly ColumnBins[], leaves: number, outputs: number, deep = false): Tree {
  const builder = new TreeBuilder();
  for (let leaf = 1; leaf < leaves; leaf++) {
    const column = deep ? leaf % columns.length : below(columns.length);
    const { kind, bins } = columns[column];
    const set =
      kind === 'category' ? Array.from({ length: bins + 1 }, (_, bin) => bin).filter(() => random() < 0.5) : null;
    const split = { column, cut: below(bins), missingLeft: random() < 0.5, gain: 1 + below(9), set };
    builder.split(deep ? leaf - 1 : below(leaf), split);
  }
  const starts = Int32Array.from({ length: leaves + 1 }, (_, leaf) => leaf * outputs);
  const spread = { starts, outputs: Int32Array.from({ length: leaves * outputs }, (_, i) => i % outputs) };
  const value = Float64Array.from({ length: leaves * outputs }, () => random() - 0.3);
  const rows = Float64Array.from({ length: leaves }, () => 1 + below(50));
  return builder.finish(value, rows, outputs > 1 ? spread : null);
}

/** What a tree says on average of rows of which some columns are known. */
function expectation(
  tree: Tree,
  output: number,
  goesLeft: (node: number) => boolean,
  known: (column: number) => boolean,
): number {
  const { left, right, rows, spread, value } = tree;
  const rowsOf = (child: number): number => (child < 0 ? rows[~child] : rowsOf(left[child]) + rowsOf(right[child]));
  const at = (child: number): number => {
    if (child < 0) return spread ? value[spread.starts[~child] + output] : value[~child];
    if (known(tree.column[child])) return at(goesLeft(child) ? left[child] : right[child]);
    const [a, b] = [left[child], right[child]];
    return (rowsOf(a) * at(a) + rowsOf(b) * at(b)) / (rowsOf(a) + rowsOf(b));
  };
  return at(left.length === 0 ? -1 : 0);
}

function grownOf(
  C: number,
  trees: readonly Tree[],
  columns: readonly ColumnBins[],
  first: readonly number[],
): GrownTrees {
  return {
    columns,
    trees,
    first,
    adds: true,
    alone: () => ({ factor: 1, offset: 0 }),
    sumOf: (wanted) => ({ output: wanted ?? 0, factor: 1.5, offset: C, scale: 'score' }),
  };
}

function explained(
  { rows }: ReturnType<typeof exactContributions>,
  values: readonly number[],
): { shares: Float64Array; prediction: number } {
  const { shares, predictions } = finish(rows(values, 1));
  return { shares, prediction: predictions[0] };
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

test('contributions are the Shapley values of all subsets of the columns', () => {
  for (const outputs of [1, 3]) {
    const C = 6;
    const columns = columnsOf(C);
    const trees = Array.from({ length: 5 }, (_, i) => randomTree(columns, [1, 2, 9, 20, 33][i], outputs));
    const grown = grownOf(C, trees, columns, outputs === 1 ? [0.25] : [0.1, 0.2, 0.3]);
    for (let round = 0; round < 4; round++) {
      const row = columns.map(({ kind, bins }) => (random() < 0.2 ? (kind === 'number' ? NaN : 99) : below(bins)));
      const wanted = outputs - 1;
      const exact = exactContributions(grown, wanted);
      const { average } = exact;
      const { shares, prediction } = explained(exact, row);
      const bins = Uint8Array.from(row, (value, at) =>
        Number.isNaN(value) || value === 99 ? columns[at].bins : value,
      );
      const valueOf = (subset: number): number =>
        trees.reduce((sum, tree) => {
          const goesLeft = (node: number): boolean => goesLeftOf(tree, columns)(node, bins);
          return sum + expectation(tree, wanted, goesLeft, (column) => ((subset >> column) & 1) === 1);
        }, grown.first[wanted]);
      for (let column = 0; column < C; column++) {
        let share = 0;
        for (let subset = 0; subset < 2 ** C; subset++) {
          if ((subset >> column) & 1) continue;
          const size = [...Array(C).keys()].filter((i) => (subset >> i) & 1).length;
          const weight = (factorial(size) * factorial(C - size - 1)) / factorial(C);
          share += weight * (valueOf(subset | (1 << column)) - valueOf(subset));
        }
        assert.ok(
          Math.abs(shares[column] - 1.5 * share) < 1e-10,
          `column ${column}: ${shares[column]}, ${1.5 * share}`,
        );
      }
      assert.ok(Math.abs(average - 1.5 * valueOf(0) - C) < 1e-10);
      assert.ok(Math.abs(prediction - 1.5 * valueOf(2 ** C - 1) - C) < 1e-10);
    }
  }
});

test('they add up to the prediction, of wide, deep and many trees', () => {
  for (const [C, leaves, deep] of [
    [40, 3000, false],
    [40, 41, true],
    [12, 400, true],
  ] as const) {
    const columns = columnsOf(C);
    const trees = Array.from({ length: 20 }, () => randomTree(columns, leaves, 1, deep));
    const exact = exactContributions(grownOf(C, trees, columns, [0.5]), null);
    const rows = Array.from({ length: 5 }, () => columns.map(({ bins }) => below(bins)));
    const together = finish(exact.rows(rows.flat(), rows.length));
    for (const [index, row] of rows.entries()) {
      const { shares, prediction } = explained(exact, row);
      const sum = shares.reduce((all, share) => all + share, exact.average);
      assert.ok(Math.abs(sum - prediction) <= 1e-9, `${leaves} leaves, ${C} columns: ${sum - prediction}`);
      assert.deepEqual(together.shares.subarray(index * C, (index + 1) * C), shares);
      assert.equal(together.predictions[index], prediction);
    }
  }
});

test('a row of many trees tells how far it is, and is cancelled', async () => {
  const columns = columnsOf(4);
  const trees = Array.from({ length: 8 }, () => randomTree(columns, 9, 1));
  const trained = { trees: grownOf(4, trees, columns, [0.5]) } as unknown as Trained;
  const subject = { output: { kind: 'value', name: 'y', offset: 0, scale: 1 } } as unknown as Subject;
  const row = { values: Float64Array.of(1, 2, 3, 4), source: 0, truth: NaN };
  const told = async (stopAt: number): Promise<{ shares: readonly number[]; found: Contributions | null }> => {
    const shares: number[] = [];
    let now = 0;
    const found = await exactlyWhy(trained, subject, async () => Float64Array.of(7), row, null, {
      ...{ clock: () => (now += 100), breathe: () => Promise.resolve() },
      ...{ onProgress: (share: number) => shares.push(share), stopped: () => shares.length === stopAt },
    });
    return { shares, found };
  };
  const { shares, found } = await told(Infinity);
  assert.deepEqual(
    shares,
    [1, 2, 3, 4, 5, 6, 7, 8].map((tree) => tree / 8),
  );
  assert.deepEqual(
    [found?.prediction, found?.exact?.answer],
    [explained(exactContributions(trained.trees!, null), [...row.values]).prediction, 7],
  );
  await assert.rejects(told(3), { code: 'run.cancelled' });
});

test('gains and splits are counted by column', () => {
  const columns = columnsOf(3);
  const trees = [randomTree(columns, 8, 1), randomTree(columns, 5, 1)];
  const { gain, splits } = columnGains({ columns, trees });
  assert.equal(
    splits.reduce((a, b) => a + b, 0),
    11,
  );
  const all = trees.flatMap(({ gain: own }) => [...own]).reduce((a, b) => a + b, 0);
  assert.equal(
    gain.reduce((a, b) => a + b, 0),
    all,
  );
});
