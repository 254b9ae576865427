// Trees leave as one TreeEnsembleRegressor in double precision: numbers are compared with the edges they were binned by, so that every
// value goes the way it goes here. A set of categories is a row of such comparisons by bin, which share the two children. N rows, K outputs.

import { columnOf } from '../../learners/trees/tree-files.ts';
import type { ColumnBins } from '../../learners/trees/bins.ts';
import { leastVotes } from '../../learners/trees/forest.ts';
import type { ForestModelFile } from '../../learners/trees/forest-learner.ts';
import type { BoostedModelFile } from '../../learners/boosted/file.ts';
import type { ColumnFile, TreeFile } from '../../learners/trees/model-schema.ts';
import type { Weights } from '../../train/weights.ts';
import type { OnnxBuilder, ValueName } from './builder.ts';

/** What all files of trees have. */
export interface TreesOnnx {
  readonly columns: readonly ColumnFile[];
  readonly trees: readonly TreeFile[];
}

/** Adds the trees; gives the sums of their leaves and of the first scores, [N,K] float. `features`: [N,columns] as they are (`rawCodes`). */
export function exportTrees(
  onnx: OnnxBuilder,
  { columns: files, trees }: TreesOnnx,
  weights: Weights,
  features: ValueName,
): ValueName {
  const first = weights.first.data;
  const K = first.length;
  const columns = files.map(columnOf);
  const nodes = new NodeLists();
  // A tree that is one leaf: onnxruntime forgets the base values of outputs that no leaf speaks of.
  nodes.addLeaf(0, 0, [...first], [...first.keys()]);
  trees.forEach((tree, index) => nodes.addTree(index + 1, tree, columns, index % K));
  return onnx.ml('TreeEnsembleRegressor', [binned(onnx, columns, features)], {
    n_targets: { int: K },
    aggregate_function: { text: 'SUM' },
    post_transform: { text: 'NONE' },
    ...nodes.attributes(),
  });
}

/** Scores of boosting as raw outputs: those of Poisson are logarithms of counts. */
export function exportScores(onnx: OnnxBuilder, { boosted, output }: BoostedModelFile, scores: ValueName): ValueName {
  if (output.kind === 'classes' || boosted.objective !== 'poisson') return scores;
  const counts = onnx.one('Exp', [onnx.cast(scores, 'double')]);
  const centred = onnx.one('Sub', [counts, onnx.double([output.offset])]);
  return onnx.cast(onnx.one('Div', [centred, onnx.double([output.scale])]), 'float');
}

/** Sums of the trees of a forest as raw outputs (`forestRaw`). */
export function exportVotes(onnx: OnnxBuilder, { trees, output }: ForestModelFile, sums: ValueName): ValueName {
  const sum = onnx.cast(sums, 'double');
  if (output.kind === 'value')
    return onnx.cast(onnx.one('Div', [sum, onnx.double([Math.max(1, trees.length)])]), 'float');
  if (output.classes.length > 2) return onnx.cast(onnx.one('Log', [sum]), 'float');
  const rest = onnx.one('Sub', [onnx.double([trees.length + 1]), sum]);
  const odds = onnx.one('Div', [sum, onnx.one('Max', [rest, onnx.double([leastVotes])])]);
  return onnx.cast(onnx.one('Log', [odds]), 'float');
}

/** The columns with categories as their bins. */
function binned(onnx: OnnxBuilder, columns: readonly ColumnBins[], features: ValueName): ValueName {
  if (columns.every(({ kind }) => kind === 'number')) return features;
  const parts = columns.map((column, index) => {
    const own = onnx.one('Gather', [features, onnx.int64([index])], { axis: { int: 1 } });
    if (column.kind === 'number') return own;
    const highest = column.codes.reduce((most, code) => Math.max(most, code), 0);
    const binOf = new Float64Array(highest + 2).fill(column.bins);
    column.codes.forEach((code, bin) => (binOf[code] = bin));
    // What is beyond the last code with a bin has none.
    const code = onnx.one('Min', [own, onnx.double([highest + 1])]);
    return onnx.one('Gather', [onnx.double(binOf, [binOf.length]), onnx.cast(code, 'int64')], { axis: { int: 0 } });
  });
  return parts.length === 1 ? parts[0] : onnx.one('Concat', parts, { axis: { int: 1 } });
}

/** The attributes of the operator while they grow, an entry a node, and one a value of a leaf. */
class NodeLists {
  readonly #tree: number[] = [];
  readonly #id: number[] = [];
  readonly #column: number[] = [];
  readonly #mode: string[] = [];
  readonly #threshold: number[] = [];
  readonly #whenTrue: number[] = [];
  readonly #whenFalse: number[] = [];
  readonly #missingTrue: number[] = [];
  readonly #leafTree: number[] = [];
  readonly #leafId: number[] = [];
  readonly #output: number[] = [];
  readonly #weight: number[] = [];

  /** `output`: of a tree with a value a leaf. */
  addTree(tree: number, file: TreeFile, columns: readonly ColumnBins[], output: number): void {
    const { column, left, right, missingLeft, value, spread, rows } = file;
    // A node's tests stand at consecutive numbers, those of all inner nodes before the leaves.
    const tests = column.map((index, node) => testsOf(file, node, columns[index]));
    const starts = [0];
    for (const { length } of tests) starts.push(starts[starts.length - 1] + length);
    const inner = starts[column.length];
    const idOf = (child: number): number => (child >= 0 ? starts[child] : inner + ~child);
    tests.forEach((own, node) => {
      own.forEach((test, i) => {
        const [hit, miss] = test.left ? [left[node], right[node]] : [right[node], left[node]];
        this.#tree.push(tree);
        this.#id.push(starts[node] + i);
        this.#column.push(column[node]);
        this.#mode.push('BRANCH_LEQ');
        this.#threshold.push(test.threshold);
        this.#whenTrue.push(idOf(hit));
        this.#whenFalse.push(i + 1 === own.length ? idOf(miss) : starts[node] + i + 1);
        this.#missingTrue.push(missingLeft[node]);
      });
    });
    for (let leaf = 0, at = 0; leaf < rows.length; leaf++) {
      const count = spread ? spread.counts[leaf] : 1;
      const outputs = spread ? spread.outputs.slice(at, at + count) : [output];
      this.addLeaf(tree, inner + leaf, value.slice(at, at + count), outputs);
      at += count;
    }
  }

  addLeaf(tree: number, id: number, values: readonly number[], outputs: readonly number[]): void {
    this.#tree.push(tree);
    this.#id.push(id);
    this.#column.push(0);
    this.#mode.push('LEAF');
    this.#threshold.push(0);
    this.#whenTrue.push(0);
    this.#whenFalse.push(0);
    this.#missingTrue.push(0);
    values.forEach((value, i) => {
      this.#leafTree.push(tree);
      this.#leafId.push(id);
      this.#output.push(outputs[i]);
      this.#weight.push(value);
    });
  }

  attributes() {
    const doubles = (values: readonly number[]) =>
      ({ tensor: { type: 'double', shape: [values.length], values: Float64Array.from(values) } }) as const;
    return {
      nodes_treeids: { ints: this.#tree },
      nodes_nodeids: { ints: this.#id },
      nodes_featureids: { ints: this.#column },
      nodes_modes: { texts: this.#mode },
      nodes_values_as_tensor: doubles(this.#threshold),
      nodes_truenodeids: { ints: this.#whenTrue },
      nodes_falsenodeids: { ints: this.#whenFalse },
      nodes_missing_value_tracks_true: { ints: this.#missingTrue },
      target_treeids: { ints: this.#leafTree },
      target_nodeids: { ints: this.#leafId },
      target_ids: { ints: this.#output },
      target_weights_as_tensor: doubles(this.#weight),
    };
  }
}

/** A comparison: what is up to the threshold goes left or right. */
interface NodeTest {
  readonly threshold: number;
  readonly left: boolean;
}

/** The comparisons of a node, one after the other until one holds; what none holds for goes the other way than the last says. */
function testsOf({ cut, sets }: TreeFile, node: number, column: ColumnBins): readonly NodeTest[] {
  // Behind the last edge there is what is missing alone.
  if (column.kind === 'number') return [{ threshold: column.edges.at(cut[node]) ?? Number.MAX_VALUE, left: true }];
  const set = new Set(sets[cut[node]]);
  const tests: NodeTest[] = [];
  for (let bin = 0; bin < column.bins; bin++) {
    if (set.has(bin) !== set.has(bin + 1)) tests.push({ threshold: bin, left: set.has(bin) });
  }
  return tests.length > 0 ? tests : [{ threshold: Number.MAX_VALUE, left: set.has(0) }];
}
