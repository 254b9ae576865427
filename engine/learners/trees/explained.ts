// Trained trees as those see them who explain them: what their sums mean, exact contributions of the columns, and what the columns gained.

import type { ColumnGains } from '../../protocol/explanation.ts';
import type { TreeScale } from '../../protocol/trees.ts';
import { binnerOf, type ColumnBins } from './bins.ts';
import { shapTree, TreeShap } from './shap.ts';
import { goesLeftOf, type Tree } from './tree.ts';

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

export interface ExactRow {
  readonly shares: Float64Array;
  readonly prediction: number;
}

export interface ExactContributions {
  readonly scale: TreeScale;
  /** By the training rows. */
  readonly average: number;
  /** Of a row: what the columns did [columns], which is prediction − average, and the prediction; after each tree the share that is done. */
  row(values: ArrayLike<number>): Generator<number, ExactRow, void>;
}

/** Trees that speak of an output: all of those with several outputs a leaf, else each of its own. */
export function treesOf({ trees, first }: Pick<GrownTrees, 'trees' | 'first'>, output: number): readonly Tree[] {
  return trees.filter(({ spread }, index) => spread !== null || index % first.length === output);
}

export function exactContributions(grown: GrownTrees, wanted: number | null): ExactContributions {
  const { columns, first } = grown;
  const { output, factor, offset, scale } = grown.sumOf(wanted);
  const trees = treesOf(grown, output).map((tree) => shapTree(tree, output));
  const tests = trees.map(({ tree }) => goesLeftOf(tree, columns));
  const shap = new TreeShap(trees.reduce((most, { depth }) => Math.max(most, depth), 0));
  const binners = columns.map(binnerOf);
  const bins = new Uint8Array(columns.length);
  const average = trees.reduce((sum, { mean }) => sum + mean, first[output]);
  return {
    scale,
    average: factor * average + offset,
    *row(values) {
      binners.forEach((binner, at) => binner(values, 1, columns.length, at, bins, 0));
      const shares = new Float64Array(columns.length);
      let sum = first[output];
      for (const [t, one] of trees.entries()) {
        const goesLeft = (node: number): boolean => tests[t](node, bins);
        shap.add(one, goesLeft, factor, shares);
        sum += one.value[leafOf(one.tree, goesLeft)];
        yield (t + 1) / trees.length;
      }
      return { shares, prediction: factor * sum + offset };
    },
  };
}

function leafOf({ left, right }: Tree, goesLeft: (node: number) => boolean): number {
  if (left.length === 0) return 0;
  let node = 0;
  while (node >= 0) node = goesLeft(node) ? left[node] : right[node];
  return ~node;
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
