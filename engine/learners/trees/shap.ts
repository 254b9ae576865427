// What each column did for what trees say of a row, exactly: path-dependent TreeSHAP (Lundberg et al. 2018, algorithm 2), where a column
// that is not known sends a row both ways by the training rows of the two sides. L leaves, D depth: O(L·D²) a tree.

import type { Tree } from './tree.ts';

/** A tree ready for it: `value` [leaves] of one output. */
export interface ShapTree {
  readonly tree: Tree;
  readonly value: Float64Array;
  /** [nodes]: training rows. */
  readonly rows: Float64Array;
  /** Its mean over the training rows. */
  readonly mean: number;
  /** Inner nodes on the longest way down. */
  readonly depth: number;
}

/** A tree's values of one output; a leaf that does not speak of it says 0. */
export function shapTree(tree: Tree, output: number): ShapTree {
  const { left, right, spread } = tree;
  let { value } = tree;
  if (spread !== null) {
    value = new Float64Array(tree.rows.length);
    for (let leaf = 0; leaf < value.length; leaf++) {
      for (let i = spread.starts[leaf]; i < spread.starts[leaf + 1]; i++) {
        if (spread.outputs[i] === output) value[leaf] += tree.value[i];
      }
    }
  }
  const rows = nodeRows(tree);
  const depths = new Int32Array(left.length);
  const rowsOf = (child: number): number => (child >= 0 ? rows[child] : tree.rows[~child]);
  const share = new Float64Array(left.length).fill(1);
  let mean = left.length === 0 ? value[0] : 0;
  let depth = 0;
  for (let node = 0; node < left.length; node++) {
    depth = Math.max(depth, depths[node] + 1);
    for (const child of [left[node], right[node]]) {
      const own = share[node] * fraction(rowsOf(child), rows[node]);
      if (child < 0) mean += own * value[~child];
      else [share[child], depths[child]] = [own, depths[node] + 1];
    }
  }
  return { tree, value, rows, mean, depth };
}

/** Training rows of each inner node: those of its leaves. */
export function nodeRows({ left, right, rows }: Tree): Float64Array {
  const sums = new Float64Array(left.length);
  // A child stands behind its parent.
  for (let node = left.length - 1; node >= 0; node--) {
    for (const child of [left[node], right[node]]) sums[node] += child >= 0 ? sums[child] : rows[~child];
  }
  return sums;
}

const fraction = (part: number, whole: number): number => (whole > 0 ? part / whole : 0.5);

/** The ways down that a subset of the columns would take, all at once: one entry a column on the way, the first is none. */
export class TreeShap {
  readonly #column: Int32Array;
  readonly #zero: Float64Array;
  readonly #one: Float64Array;
  readonly #weight: Float64Array;

  /** `depth`: of the deepest tree. */
  constructor(depth: number) {
    const room = ((depth + 2) * (depth + 3)) / 2;
    this.#column = new Int32Array(room);
    this.#zero = new Float64Array(room);
    this.#one = new Float64Array(room);
    this.#weight = new Float64Array(room);
  }

  /** Adds `factor` times what each column did to `shares`. `goesLeft`: which way the row goes at a node. */
  add(one: ShapTree, goesLeft: (node: number) => boolean, factor: number, shares: Float64Array): void {
    if (one.tree.left.length > 0) this.#walk(one, goesLeft, factor, shares, 0, 0, 0, 1, 1, -1);
  }

  /** The way to `node` has `length` entries from `from` on; `zero`, `hot` and `column` are the next one's. */
  #walk(
    one: ShapTree,
    goesLeft: (node: number) => boolean,
    factor: number,
    shares: Float64Array,
    node: number,
    from: number,
    length: number,
    zero: number,
    hot: number,
    column: number,
  ): void {
    const at = from + length;
    this.#column.copyWithin(at, from, at);
    this.#zero.copyWithin(at, from, at);
    this.#one.copyWithin(at, from, at);
    this.#weight.copyWithin(at, from, at);
    this.#extend(at, length, zero, hot, column);
    if (node < 0) {
      const value = factor * one.value[~node];
      for (let i = 1; i <= length; i++) {
        const weight = this.#sumWithout(at, length, i);
        shares[this.#column[at + i]] += weight * (this.#one[at + i] - this.#zero[at + i]) * value;
      }
      return;
    }
    const { tree, rows } = one;
    const own = tree.column[node];
    let last = length;
    let [wasZero, wasHot] = [1, 1];
    for (let i = 1; i <= last; i++) {
      if (this.#column[at + i] !== own) continue;
      [wasZero, wasHot] = [this.#zero[at + i], this.#one[at + i]];
      this.#unwind(at, last, i);
      last--;
      break;
    }
    const left = goesLeft(node);
    for (const isLeft of [true, false]) {
      const child = isLeft ? tree.left[node] : tree.right[node];
      const share = fraction(child >= 0 ? rows[child] : tree.rows[~child], rows[node]);
      const there = isLeft === left ? wasHot : 0;
      // Neither side of the column would come here: nothing below depends on it, or on anything.
      if (there === 0 && wasZero * share === 0) continue;
      this.#walk(one, goesLeft, factor, shares, child, at, last + 1, wasZero * share, there, own);
    }
  }

  #extend(at: number, length: number, zero: number, hot: number, column: number): void {
    const weight = this.#weight;
    this.#column[at + length] = column;
    this.#zero[at + length] = zero;
    this.#one[at + length] = hot;
    weight[at + length] = length === 0 ? 1 : 0;
    for (let i = length - 1; i >= 0; i--) {
      weight[at + i + 1] += (hot * weight[at + i] * (i + 1)) / (length + 1);
      weight[at + i] *= (zero * (length - i)) / (length + 1);
    }
  }

  /** Takes entry `index` out again. */
  #unwind(at: number, length: number, index: number): void {
    const weight = this.#weight;
    const [hot, zero] = [this.#one[at + index], this.#zero[at + index]];
    let next = weight[at + length];
    for (let i = length - 1; i >= 0; i--) {
      if (hot !== 0) {
        const before = weight[at + i];
        weight[at + i] = (next * (length + 1)) / ((i + 1) * hot);
        next = before - (weight[at + i] * zero * (length - i)) / (length + 1);
      } else weight[at + i] = (weight[at + i] * (length + 1)) / (zero * (length - i));
    }
    for (let i = at + index; i < at + length; i++) {
      this.#column[i] = this.#column[i + 1];
      this.#zero[i] = this.#zero[i + 1];
      this.#one[i] = this.#one[i + 1];
    }
  }

  /** The weights' sum if entry `index` were taken out. */
  #sumWithout(at: number, length: number, index: number): number {
    const weight = this.#weight;
    const [hot, zero] = [this.#one[at + index], this.#zero[at + index]];
    let next = weight[at + length];
    let total = 0;
    for (let i = length - 1; i >= 0; i--) {
      if (hot !== 0) {
        const own = (next * (length + 1)) / ((i + 1) * hot);
        total += own;
        next = weight[at + i] - (own * zero * (length - i)) / (length + 1);
      } else total += (weight[at + i] * (length + 1)) / (zero * (length - i));
    }
    return total;
  }
}
