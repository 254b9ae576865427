// Forests: trees that know nothing of each other, each grown on rows drawn with replacement, whose answers are averaged. The rows a tree
// was not grown on are out of its bag: what the other trees say of them is as good as a validation.

import type { OutputSpec } from '../../model/spec.ts';
import { addSpread, addTrees } from './ensemble.ts';
import { ForestDevice, type GrownOne } from './forest-device.ts';
import type { ForestSetup } from './forest-setup.ts';

import { drawer } from './sampling.ts';
import { walkOf, type Tree } from './tree.ts';

/** What a forest knows; it is what a checkpoint keeps. */
export interface Forest {
  /** [outputs]: shares of the classes, which count as one tree more; 0 for numbers. */
  readonly first: Float32Array;
  readonly trees: Tree[];
  /** A value a tree; empty without validation rows. */
  readonly validationLoss: number[];
  /** Of the rows that some tree was not grown on; empty where each tree sees all. */
  readonly outOfBagLoss: number[];
}

/** Outputs of a forest: one for numbers and for two classes (the share of the second), else one a class. */
export function forestOutputs(output: OutputSpec): number {
  return output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
}

/** Shares of the classes in the training rows, by their weights. */
export function firstShares({ rows, train, output, classWeights }: ForestSetup): Float32Array {
  if (output.kind === 'value') return new Float32Array(1);
  const counts = new Float64Array(output.classes.length);
  for (let row = 0; row < train; row++) counts[rows.targets[row]] += classWeights?.[rows.targets[row]] ?? 1;
  const sum = counts.reduce((total, count) => total + Math.max(count, 0.5), 0);
  const shares = Float32Array.from(counts, (count) => Math.max(count, 0.5) / sum);
  return shares.length > 2 ? shares : shares.slice(1);
}

/** What the other of two classes has at least, of all votes. */
export const leastVotes = 1e-12;

/**
 * Sums of `trees` answers [rows, outputs] as raw outputs: logits, or standardised values. Sums of shares are taken in float32: classes
 * that are equal but for the order in which trees were added are equal.
 */
export function forestRaw(scores: Float64Array, trees: number, output: OutputSpec): Float32Array {
  if (output.kind === 'value') return Float32Array.from(scores, (score) => score / Math.max(1, trees));
  const sums = Float32Array.from(scores);
  if (output.classes.length > 2) return sums.map(Math.log);
  return sums.map((sum) => Math.log(sum / Math.max(trees + 1 - sum, leastVotes)));
}

/** Grows on; `forest` is brought up to date after every tree. `loss`: of raw outputs, the mean. */
export async function* growForest(
  setup: ForestSetup,
  forest: Forest,
  loss: (outputs: Float32Array, targets: Float32Array) => number,
): AsyncGenerator<void, void, void> {
  if (forest.trees.length >= setup.settings.trees) return;
  const K = forest.first.length;
  const device = await ForestDevice.open(await setup.backend(), setup, K, setup.settings.trees - forest.trees.length);
  try {
    yield* growOn(device, setup, forest, loss);
  } finally {
    device.dispose();
  }
}

async function* growOn(
  device: ForestDevice,
  setup: ForestSetup,
  forest: Forest,
  loss: (outputs: Float32Array, targets: Float32Array) => number,
): AsyncGenerator<void, void, void> {
  const { rows, columns, train, validation, output, settings } = setup;
  const K = forest.first.length;
  const bag = new OutOfBag(setup, forest.first);
  const seen = new Float64Array(validation * K).map((_, i) => forest.first[i % K]);
  yield* addTrees(seen, K, forest.trees, columns, rows, train, train + validation);
  const truth = rows.targets.subarray(train, train + validation);
  for (let t = 0; t < forest.trees.length && settings.bootstrap; t++) {
    bag.add(forest.trees[t], drawnRows(setup, t));
    yield;
  }
  // Trees are done in any order, and taken in their own.
  const done = new Map<number, GrownOne>();
  let next = forest.trees.length;
  while (forest.trees.length < settings.trees) {
    device.fill(() => (next < settings.trees ? next++ : null));
    for (const [t, grown] of await device.grow()) done.set(t, grown);
    yield;
    for (let own = done.get(forest.trees.length); own; own = done.get(forest.trees.length)) {
      const { tree, inBag } = own;
      const t = forest.trees.length;
      done.delete(t);
      if (validation > 0) {
        yield* addTrees(seen, K, [tree], columns, rows, train, train + validation);
        forest.validationLoss.push(loss(forestRaw(seen, t + 1, output), truth));
      }
      if (settings.bootstrap) {
        bag.add(tree, inBag);
        forest.outOfBagLoss.push(bag.loss(t + 1, loss));
      }
      forest.trees.push(tree);
      yield;
    }
  }
}

/** Which training rows were drawn for a tree: 1 = at least once. */
function drawnRows({ train, settings }: ForestSetup, tree: number): Uint8Array {
  const drawn = new Uint8Array(train);
  const draw = drawer(settings.seed, 'bootstrap', tree);
  for (let i = 0; i < train; i++) drawn[draw(train)] = 1;
  return drawn;
}

/** What the trees say of the rows that they were not grown on. */
class OutOfBag {
  readonly #setup: ForestSetup;
  readonly #first: Float32Array;
  /** [rows, outputs] */
  readonly #sums: Float64Array;
  /** Trees that were not grown on a row. */
  readonly #votes: Float64Array;
  readonly #outputs: number;

  constructor(setup: ForestSetup, first: Float32Array) {
    this.#setup = setup;
    this.#first = first;
    this.#outputs = first.length;
    const rows = setup.settings.bootstrap ? setup.train : 0;
    this.#votes = new Float64Array(rows);
    this.#sums = new Float64Array(rows * first.length);
  }

  add(tree: Tree, inBag: Uint8Array): void {
    const { rows, columns } = this.#setup;
    const walk = walkOf(tree, columns);
    for (let row = 0; row < this.#votes.length; row++) {
      if (inBag[row] === 1) continue;
      this.#votes[row]++;
      const leaf = walk.leafOf(rows.bins, row * rows.width);
      if (tree.spread === null) this.#sums[row] += tree.value[leaf];
      else addSpread(this.#sums, row * this.#outputs, tree.value, tree.spread, leaf);
    }
  }

  /** Of the rows that a tree has voted on, as if all `trees` had voted as those did. */
  loss(trees: number, loss: (outputs: Float32Array, targets: Float32Array) => number): number {
    const { output, rows } = this.#setup;
    const K = this.#outputs;
    const votes = this.#votes;
    let known = 0;
    for (let row = 0; row < votes.length; row++) if (votes[row] > 0) known++;
    const scores = new Float64Array(known * K);
    const targets = new Float32Array(known);
    for (let row = 0, i = 0; row < votes.length; row++) {
      if (votes[row] === 0) continue;
      const weight = trees / votes[row];
      for (let k = 0; k < K; k++) scores[i * K + k] = this.#first[k] + weight * this.#sums[row * K + k];
      targets[i++] = rows.targets[row];
    }
    return loss(forestRaw(scores, trees, output), targets);
  }
}
