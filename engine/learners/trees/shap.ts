// What each column did for what trees say of a row, exactly: path-dependent TreeSHAP (Lundberg et al. 2018), where a column that is not
// known sends a row both ways by the training rows of the two sides. It is computed as the integral of the slopes of the multilinear
// extension (Owen 1972). At a leaf that is a product with a factor (1 − t)·z + t·o for each column on the way: z the share of the training
// rows that pass its tests, o = 1 where the row does. Of D columns it is a polynomial in t, which Q = ⌈D/2⌉ places of Gauss and Legendre
// integrate exactly; all factors are positive, so nothing is lost by rounding. L leaves: O(L·Q) a tree and row.

import type { ColumnBins } from './bins.ts';
import { goesLeftOf, type Tree } from './tree.ts';

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
  /** Columns on the way that asks the most of them. */
  readonly columns: number;
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
  return { tree, value, rows, mean, depth, columns: columnsOnWay(tree) };
}

/** Different columns on the way down that asks for the most of them. */
function columnsOnWay({ left, right, column }: Tree): number {
  const parent = new Int32Array(left.length).fill(-1);
  const counts = new Int32Array(left.length);
  let most = 0;
  for (let node = 0; node < left.length; node++) {
    let up = parent[node];
    while (up >= 0 && column[up] !== column[node]) up = parent[up];
    counts[node] = (parent[node] < 0 ? 0 : counts[parent[node]]) + (up < 0 ? 1 : 0);
    most = Math.max(most, counts[node]);
    for (const child of [left[node], right[node]]) if (child >= 0) parent[child] = node;
  }
  return most;
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

const placesOf = ({ columns }: ShapTree): number => Math.max(1, Math.ceil(columns / 2));

/** What a row of it costs: edges times places. */
export const shapCost = (one: ShapTree): number => 2 * one.tree.left.length * placesOf(one);

/** An edge goes from a node to one of its children: `2 · node` to the left one, `2 · node + 1` to the right one. */
export class TreeShap {
  #one: ShapTree | null = null;
  #goesLeft: (node: number, bins: Uint8Array, at: number) => boolean = () => true;
  #places = 0;
  /** [nodes]: the edge that leads there; the root's is −1. */
  #into = new Int32Array(0);
  /** [nodes]: the last edge above that asks for the same column; −1: none does. */
  #above = new Int32Array(0);
  /** [edges]: 1 = the row passes all tests of the edge's column as far as here. */
  #hot = new Uint8Array(0);
  /**
   * [edges, 3, Q]: what the product is multiplied by at an edge, and what each unit of the product below adds to the edge's column. The
   * three: the row failed a test of this column above, fails it here, passes it here.
   */
  #ratio = new Float64Array(0);
  #slope = new Float64Array(0);
  /** [1 + edges, Q]: the product on the way down to an edge; on the way up, the sum over the leaves below it. The first is the root's. */
  #sums = new Float64Array(0);

  /** The tree that rows are explained by from now on. */
  load(one: ShapTree, columns: readonly ColumnBins[]): void {
    const { tree } = one;
    const nodes = tree.left.length;
    const Q = placesOf(one);
    this.#one = one;
    this.#goesLeft = goesLeftOf(tree, columns);
    this.#places = Q;
    if (this.#into.length < nodes) {
      this.#into = new Int32Array(nodes);
      this.#above = new Int32Array(nodes);
      this.#hot = new Uint8Array(2 * nodes);
    }
    if (this.#ratio.length < 6 * nodes * Q) {
      this.#ratio = new Float64Array(6 * nodes * Q);
      this.#slope = new Float64Array(6 * nodes * Q);
      this.#sums = new Float64Array((1 + 2 * nodes) * Q);
    }
    this.#tabulate(one, gaussLegendre(Q));
  }

  #tabulate({ tree, rows }: ShapTree, { places, weights }: Quadrature): void {
    const { left, right, column } = tree;
    const Q = places.length;
    const [into, above, ratio, slope] = [this.#into, this.#above, this.#ratio, this.#slope];
    /** Share of the training rows that pass all tests of an edge's column as far as there. */
    const shares = new Float64Array(2 * left.length);
    into[0] = -1;
    for (let node = 0; node < left.length; node++) {
      let edge = into[node];
      while (edge >= 0 && column[edge >> 1] !== column[node]) edge = into[edge >> 1];
      above[node] = edge;
      const before = edge < 0 ? 1 : shares[edge];
      for (let side = 0; side < 2; side++) {
        const child = side === 0 ? left[node] : right[node];
        if (child >= 0) into[child] = 2 * node + side;
        const own = before * fraction(child >= 0 ? rows[child] : tree.rows[~child], rows[node]);
        shares[2 * node + side] = own;
        for (let state = 0; state < 3; state++) {
          const [was, is] = [state === 0 ? 0 : 1, state === 2 ? 1 : 0];
          for (let q = 0; q < Q; q++) {
            const t = places[q];
            const at = ((2 * node + side) * 3 + state) * Q + q;
            const [old, now] = [before * (1 - t) + was * t, own * (1 - t) + is * t];
            // No training row and not this one: nothing below counts.
            ratio[at] = old > 0 ? now / old : 0;
            slope[at] = weights[q] * ((now > 0 ? (is - own) / now : 0) - (old > 0 ? (was - before) / old : 0));
          }
        }
      }
    }
  }

  /** Adds `factor` times what each column did for the row whose bins stand from `at` on to `shares`, from `to` on. */
  add(bins: Uint8Array, at: number, factor: number, shares: Float64Array, to: number): void {
    const one = this.#one;
    if (one === null || one.tree.left.length === 0) return;
    const { left, right, column } = one.tree;
    const value = one.value;
    const Q = this.#places;
    const goesLeft = this.#goesLeft;
    const [into, aboves, hot] = [this.#into, this.#above, this.#hot];
    const [sums, ratio, slope] = [this.#sums, this.#ratio, this.#slope];
    sums.fill(1, 0, Q);
    for (let node = 0; node < left.length; node++) {
      const from = (into[node] + 1) * Q;
      const above = aboves[node];
      const was = above < 0 ? 1 : hot[above];
      const isLeft = goesLeft(node, bins, at) ? was : 0;
      const isRight = was - isLeft;
      hot[2 * node] = isLeft;
      hot[2 * node + 1] = isRight;
      const [toLeft, toRight] = [(2 * node + 1) * Q, (2 * node + 2) * Q];
      const tableLeft = (6 * node + was + isLeft) * Q;
      const tableRight = (6 * node + 3 + was + isRight) * Q;
      const valueLeft = left[node] < 0 ? value[~left[node]] : 1;
      const valueRight = right[node] < 0 ? value[~right[node]] : 1;
      for (let q = 0; q < Q; q++) {
        const product = sums[from + q];
        sums[toLeft + q] = product * ratio[tableLeft + q] * valueLeft;
        sums[toRight + q] = product * ratio[tableRight + q] * valueRight;
        // From here on it holds the sum over the leaves below.
        sums[from + q] = 0;
      }
    }
    for (let edge = 2 * left.length - 1; edge >= 0; edge--) {
      const node = edge >> 1;
      const above = aboves[node];
      const state = (above < 0 ? 1 : hot[above]) + hot[edge];
      const own = (edge + 1) * Q;
      const up = (into[node] + 1) * Q;
      const table = (edge * 3 + state) * Q;
      let share = 0;
      for (let q = 0; q < Q; q++) {
        const sum = sums[own + q];
        share += slope[table + q] * sum;
        sums[up + q] += sum;
      }
      shares[to + column[node]] += factor * share;
    }
  }
}

interface Quadrature {
  /** [Q] in 0 … 1. */
  readonly places: Float64Array;
  readonly weights: Float64Array;
}

const quadratures: Quadrature[] = [];

/** Places and weights that integrate polynomials up to degree 2·Q − 1 over 0 … 1 (Golub & Welsch 1969; by Newton's method on Legendre's polynomial). */
export function gaussLegendre(Q: number): Quadrature {
  return (quadratures[Q] ??= roots(Q));
}

function roots(Q: number): Quadrature {
  const places = new Float64Array(Q);
  const weights = new Float64Array(Q);
  for (let i = 0; i < Q; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (Q + 0.5));
    let slope = 1;
    for (let round = 0; round < 100; round++) {
      let [last, value] = [1, x];
      for (let n = 2; n <= Q; n++) [last, value] = [value, ((2 * n - 1) * x * value - (n - 1) * last) / n];
      slope = (Q * (last - x * value)) / (1 - x * x);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    places[i] = (1 - x) / 2;
    weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return { places, weights };
}
