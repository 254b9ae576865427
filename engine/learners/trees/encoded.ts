// Trees as the kernel tree_predict takes them: nodes, masks and values of all of them, one behind the other.

import { setTest } from '../../../kernels/tree_predict/kernel.ts';
import type { ColumnBins } from './bins.ts';
import { masksOf, type Tree } from './tree.ts';

export interface EncodedTrees {
  /** [nodes, 4]: column, test, left, right. */
  readonly nodes: Uint32Array<ArrayBuffer>;
  /** Words of sets of bins, eight each. */
  readonly masks: Uint32Array<ArrayBuffer>;
  /** [trees]: a node, or ~leaf. */
  readonly roots: Uint32Array<ArrayBuffer>;
  /** [leaves] */
  readonly values: Float64Array<ArrayBuffer>;
}

/** A bin that no row has. */
const noBin = 0x7fff;

/** Of trees with a value a leaf. */
export function encodeTrees(trees: readonly Tree[], columns: readonly ColumnBins[]): EncodedTrees {
  const nodes = trees.reduce((sum, { column }) => sum + column.length, 0);
  const encoded = {
    nodes: new Uint32Array(4 * nodes),
    masks: masksOf(trees.flatMap(({ sets }) => sets)),
    roots: new Uint32Array(trees.length),
    values: new Float64Array(trees.reduce((sum, { value }) => sum + value.length, 0)),
  };
  let [node, leaf, set] = [0, 0, 0];
  trees.forEach((tree, t) => {
    const { column, cut, missingLeft, left, right, value, sets } = tree;
    const place = (child: number): number => (child >= 0 ? node + child : ~(leaf + ~child));
    encoded.roots[t] = column.length > 0 ? node : ~leaf;
    column.forEach((own, i) => {
      const { kind, bins } = columns[own];
      const missing = missingLeft[i] === 1 ? bins : noBin;
      const test = kind === 'category' ? setTest + 8 * (set + cut[i]) : cut[i] + 2 ** 16 * missing;
      encoded.nodes.set([own, test, place(left[i]), place(right[i])], 4 * (node + i));
    });
    encoded.values.set(value, leaf);
    node += column.length;
    leaf += value.length;
    set += sets.length;
  });
  return encoded;
}
