// A tree as arrays: inner nodes from 0, the root first; a child c ≥ 0 is an inner node, c < 0 the leaf ~c. A tree without inner
// nodes is its one leaf. Rows are bins (rows.ts): a number goes left up to the bin `cut`, a category if its bin is in the set.

import type { ColumnBins } from './bins.ts';

export interface Tree {
  /** [nodes] */
  readonly column: Int32Array;
  /** [nodes]: the last bin that goes left; of a category where its set stands in `sets`. */
  readonly cut: Int32Array;
  /** Bins that go left, ascending. */
  readonly sets: readonly (readonly number[])[];
  /** [nodes]: 1 = what is missing goes left. */
  readonly missingLeft: Uint8Array;
  /** [nodes] */
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** [nodes]: what the split gained. */
  readonly gain: Float64Array;
  /** [leaves]; of a tree that has several outputs as `spread` says. */
  readonly value: Float64Array;
  /** Values of leaf i stand from `starts[i]` to before `starts[i + 1]`, each for one of the `outputs`; null: a value a leaf. */
  readonly spread: { readonly starts: Int32Array; readonly outputs: Int32Array } | null;
  /** [leaves]: training rows. */
  readonly rows: Float64Array;
}

/** The tests of a tree, ready to be asked. */
export interface Walk {
  /** The leaf of the row whose bins stand from `at` on. */
  leafOf(bins: Uint8Array, at: number): number;
}

const words = 8;

export function walkOf(tree: Tree, columns: readonly ColumnBins[]): Walk {
  const { column, cut, missingLeft, left, right } = tree;
  if (column.length === 0) return { leafOf: () => 0 };
  const missing = Int32Array.from(column, (index) => columns[index].bins);
  const isCategory = Uint8Array.from(column, (index) => (columns[index].kind === 'category' ? 1 : 0));
  const masks = masksOf(tree.sets);
  return {
    leafOf(bins, at) {
      let node = 0;
      do {
        const bin = bins[at + column[node]];
        let goesLeft: boolean;
        if (isCategory[node] === 1) goesLeft = ((masks[cut[node] * words + (bin >> 5)] >>> (bin & 31)) & 1) === 1;
        else if (bin === missing[node]) goesLeft = missingLeft[node] === 1;
        else goesLeft = bin <= cut[node];
        node = goesLeft ? left[node] : right[node];
      } while (node >= 0);
      return ~node;
    },
  };
}

/** Which way the row whose bins stand from `at` on goes at a node. */
export function goesLeftOf(
  { column, cut, missingLeft, sets }: Tree,
  columns: readonly ColumnBins[],
): (node: number, bins: Uint8Array, at?: number) => boolean {
  const masks = masksOf(sets);
  const missing = Int32Array.from(column, (index) => (columns[index].kind === 'category' ? -1 : columns[index].bins));
  return (node, bins, at = 0) => {
    const bin = bins[at + column[node]];
    const last = missing[node];
    if (last < 0) return ((masks[cut[node] * words + (bin >> 5)] >>> (bin & 31)) & 1) === 1;
    return bin === last ? missingLeft[node] === 1 : bin <= cut[node];
  };
}

/** [sets, 8] words of 32 bins. */
export function masksOf(sets: readonly (readonly number[])[]): Uint32Array<ArrayBuffer> {
  const masks = new Uint32Array(sets.length * words);
  sets.forEach((set, index) => {
    for (const bin of set) masks[index * words + (bin >> 5)] |= 1 << (bin & 31);
  });
  return masks;
}

/** Collects the nodes of a tree that grows: leaf numbers stay, a leaf that is split keeps its number on the left. */
export class TreeBuilder {
  readonly #nodes: { column: number; cut: number; missingLeft: boolean; gain: number; left: number; right: number }[] =
    [];
  readonly #sets: (readonly number[])[] = [];
  /** Where each leaf hangs: the node and the side; the root's is null. */
  readonly #places: ({ node: number; side: 'left' | 'right' } | null)[] = [null];

  /** Splits a leaf; `set`: of a category. Returns the number of the new leaf, on the right. */
  split(
    leaf: number,
    test: { column: number; cut: number; missingLeft: boolean; gain: number; set: readonly number[] | null },
  ): number {
    const { column, missingLeft, gain, set } = test;
    const node = this.#nodes.length;
    const place = this.#places[leaf];
    if (place) this.#nodes[place.node][place.side] = node;
    const added = this.#places.length;
    const cut = set === null ? test.cut : this.#sets.push(set) - 1;
    this.#nodes.push({ column, cut, missingLeft, gain, left: ~leaf, right: ~added });
    this.#places[leaf] = { node, side: 'left' };
    this.#places.push({ node, side: 'right' });
    return added;
  }

  finish(value: Float64Array, rows: Float64Array, spread: Tree['spread'] = null): Tree {
    const nodes = this.#nodes;
    return {
      column: Int32Array.from(nodes, (node) => node.column),
      cut: Int32Array.from(nodes, (node) => node.cut),
      sets: this.#sets,
      missingLeft: Uint8Array.from(nodes, (node) => (node.missingLeft ? 1 : 0)),
      left: Int32Array.from(nodes, (node) => node.left),
      right: Int32Array.from(nodes, (node) => node.right),
      gain: Float64Array.from(nodes, (node) => node.gain),
      value,
      spread,
      rows,
    };
  }
}
