// Trained trees as those see them who explain them: what their sums mean, exact contributions of the columns, and what the columns gained.

import type { ColumnGains } from '../../protocol/explanation.ts';
import type { TreeScale } from '../../protocol/trees.ts';
import { binnerOf, type ColumnBins } from './bins.ts';
import { shapCost, shapTree, TreeShap } from './shap.ts';
import { walkOf, type Tree } from './tree.ts';

/** A sum of trees [output] is, times `factor` and with `offset`, what is explained. */
export interface ExplainedSum {
  readonly output: number;
  readonly factor: number;
  readonly offset: number;
  readonly scale: TreeScale;
}

export interface GrownTrees {
  readonly columns: readonly ColumnBins[];
  readonly trees: readonly Tree[];
  /** [outputs] */
  readonly first: ArrayLike<number>;
  /** What is explained of a class, or of a number (null). */
  sumOf(wanted: number | null): ExplainedSum;
  /** What a tree alone says: of boosting what it adds, of a forest its own answer. */
  alone(wanted: number | null): Pick<ExplainedSum, 'factor' | 'offset'>;
  /** Whether trees add to each other; else they are averaged. */
  readonly adds: boolean;
}

export interface ExactRows {
  /** [rows, columns] what each column did; of a row they add up to prediction − average. */
  readonly shares: Float64Array;
  /** [rows] */
  readonly predictions: Float64Array;
}

export interface ExactContributions {
  readonly scale: TreeScale;
  /** Steps that a row takes through the edges of all trees. */
  readonly cost: number;
  /** By the training rows. */
  readonly average: number;
  /** Of rows [count, columns] as they are; between two steps the share that is done. */
  rows(values: ArrayLike<number>, count: number): Generator<number, ExactRows, void>;
}

/** Steps of rows through edges between two looks at messages. */
const stepsAtOnce = 4_000_000;

/** Trees that speak of an output: all of those with several outputs a leaf, else each of its own. */
export function treesOf({ trees, first }: Pick<GrownTrees, 'trees' | 'first'>, output: number): readonly Tree[] {
  return trees.filter(({ spread }, index) => spread !== null || index % first.length === output);
}

export function exactContributions(grown: GrownTrees, wanted: number | null): ExactContributions {
  const { columns, first } = grown;
  const { output, factor, offset, scale } = grown.sumOf(wanted);
  const trees = treesOf(grown, output).map((tree) => shapTree(tree, output));
  const walks = trees.map(({ tree }) => walkOf(tree, columns));
  const shap = new TreeShap();
  const binners = columns.map(binnerOf);
  const C = columns.length;
  const average = trees.reduce((sum, { mean }) => sum + mean, first[output]);
  return {
    scale,
    cost: trees.reduce((sum, one) => sum + shapCost(one), 0),
    average: factor * average + offset,
    // Tree by tree: what is made ready of one serves all rows.
    *rows(values, count) {
      const bins = new Uint8Array(count * C);
      binners.forEach((binner, at) => binner(values, count, C, at, bins, 0));
      const shares = new Float64Array(count * C);
      const predictions = new Float64Array(count).fill(first[output]);
      for (const [t, one] of trees.entries()) {
        shap.load(one, columns);
        const atOnce = Math.ceil(stepsAtOnce / Math.max(1, shapCost(one)));
        for (let row = 0; row < count; row++) {
          shap.add(bins, row * C, factor, shares, row * C);
          predictions[row] += one.value[walks[t].leafOf(bins, row * C)];
          if ((row + 1) % atOnce === 0 && row + 1 < count) yield (t + (row + 1) / count) / trees.length;
        }
        yield (t + 1) / trees.length;
      }
      return { shares, predictions: predictions.map((sum) => factor * sum + offset) };
    },
  };
}

/** What the splits on each column gained in all, and how many there are: [columns]. */
export function columnGains({ trees, columns }: Pick<GrownTrees, 'trees' | 'columns'>): ColumnGains {
  const gain = new Float64Array(columns.length);
  const splits = new Float64Array(columns.length);
  for (const tree of trees) {
    tree.column.forEach((column, node) => {
      gain[column] += tree.gain[node];
      splits[column]++;
    });
  }
  return { gain, splits };
}
