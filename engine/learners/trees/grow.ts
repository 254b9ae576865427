// A tree grown leaf by leaf: the leaf whose best split gains most is split next (Shi 2007, as LightGBM does). Of two children the one
// with fewer rows is counted, the other is what is left of their parent's histogram.

import type { ColumnBins } from './bins.ts';
import type { Gradients } from './gradients.ts';
import { addRows, entries, subtract } from './histogram.ts';
import { RowLists } from './partition.ts';
import type { BinnedRows } from './rows.ts';
import { leafValue, SplitFinder, unbound, type Bounds, type Split, type SplitRules, type Sums } from './split.ts';
import { TreeBuilder, type Tree } from './tree.ts';

export interface GrowRules extends SplitRules {
  readonly leaves: number;
  /** 0 = as deep as it gets. */
  readonly depth: number;
}

export interface GrownTree {
  readonly tree: Tree;
  /** Row numbers of the rows it was grown on, leaf by leaf: those of leaf i from `starts[i]` to before `ends[i]`. */
  readonly list: Uint32Array;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

interface Leaf {
  from: number;
  to: number;
  depth: number;
  sums: Sums;
  bounds: Bounds;
  /** Its value by its own sums. */
  value: number;
  histogram: Float64Array | null;
  split: Split | null;
}

/** Bytes that histograms may take. */
const mostBytes = 2 ** 28;

export class Grower {
  readonly #rows: BinnedRows;
  readonly #columns: readonly ColumnBins[];
  readonly #starts: Int32Array;
  readonly #rules: GrowRules;
  readonly #finder: SplitFinder;
  /** Histograms that are free. */
  readonly #pool: Float64Array[] = [];
  #made = 0;

  constructor(rows: BinnedRows, columns: readonly ColumnBins[], starts: Int32Array, rules: GrowRules) {
    this.#rows = rows;
    this.#columns = columns;
    this.#starts = starts;
    this.#rules = rules;
    this.#finder = new SplitFinder(columns, starts, rules);
  }

  /** Grows a tree on the rows of `list`, which is sorted in place, by the columns in `chosen`. */
  *grow(
    gradients: Gradients,
    list: Uint32Array,
    chosen: Int32Array,
    random: ((below: number) => number) | null = null,
  ): Generator<void, GrownTree, void> {
    const { l1, l2 } = this.#rules;
    const lists = new RowLists(list);
    const builder = new TreeBuilder();
    const sums = sumsOf(gradients, list);
    const root: Leaf = {
      from: 0,
      to: list.length,
      depth: 0,
      sums,
      bounds: unbound,
      value: 0,
      histogram: null,
      split: null,
    };
    root.value = leafValue(sums, l1, l2);
    root.histogram = this.#takeHistogram([]);
    yield* addRows(root.histogram!, this.#rows, this.#starts, chosen, gradients, list, 0, list.length);
    const leaves = [root];
    this.#find(root, chosen, random);
    while (leaves.length < this.#rules.leaves) {
      const next = bestOf(leaves);
      if (next < 0) break;
      const parent = leaves[next];
      const split = parent.split!;
      builder.split(next, split);
      const middle = lists.split(this.#rows, this.#columns[split.column], split, parent.from, parent.to);
      const [left, right] = this.#children(parent, split, middle);
      leaves[next] = left;
      leaves.push(right);
      yield* this.#count(parent, left, right, leaves, gradients, list, chosen);
      for (const leaf of [left, right]) this.#find(leaf, chosen, random);
      yield;
    }
    for (const { histogram } of leaves) if (histogram) this.#pool.push(histogram);
    const tree = builder.finish(
      Float64Array.from(leaves, ({ value }) => value),
      Float64Array.from(leaves, ({ from, to }) => to - from),
    );
    return { tree, list, starts: leaves.map(({ from }) => from), ends: leaves.map(({ to }) => to) };
  }

  #children(parent: Leaf, split: Split, middle: number): readonly [Leaf, Leaf] {
    const { monotone } = this.#rules;
    const direction = monotone === null || split.set ? 0 : monotone[split.column];
    const border = (split.leftValue + split.rightValue) / 2;
    const { lowest, highest } = parent.bounds;
    const below: Bounds = { lowest, highest: Math.min(highest, border) };
    const above: Bounds = { lowest: Math.max(lowest, border), highest };
    const common = { depth: parent.depth + 1, histogram: null, split: null };
    return [
      {
        ...common,
        ...{ from: parent.from, to: middle, sums: split.left, value: split.leftValue },
        bounds: direction === 0 ? parent.bounds : direction > 0 ? below : above,
      },
      {
        ...common,
        ...{ from: middle, to: parent.to, sums: split.right, value: split.rightValue },
        bounds: direction === 0 ? parent.bounds : direction > 0 ? above : below,
      },
    ];
  }

  /** Makes the histograms of two children of a leaf, if they may be split at all. */
  *#count(
    parent: Leaf,
    left: Leaf,
    right: Leaf,
    leaves: readonly Leaf[],
    gradients: Gradients,
    list: Uint32Array,
    chosen: Int32Array,
  ): Generator<void, void, void> {
    const inherited = parent.histogram;
    parent.histogram = null;
    if (leaves.length >= this.#rules.leaves || (!this.#mayBeSplit(left) && !this.#mayBeSplit(right))) {
      if (inherited) this.#pool.push(inherited);
      return;
    }
    const [small, large] = left.to - left.from <= right.to - right.from ? [left, right] : [right, left];
    small.histogram = this.#takeHistogram(leaves);
    yield* addRows(small.histogram, this.#rows, this.#starts, chosen, gradients, list, small.from, small.to);
    if (inherited) {
      subtract(inherited, small.histogram);
      large.histogram = inherited;
      return;
    }
    large.histogram = this.#takeHistogram(leaves.filter((leaf) => leaf !== small));
    yield* addRows(large.histogram, this.#rows, this.#starts, chosen, gradients, list, large.from, large.to);
  }

  #mayBeSplit({ sums, depth }: Leaf): boolean {
    return sums.rows >= 2 * this.#rules.minRows && (this.#rules.depth === 0 || depth < this.#rules.depth);
  }

  #find(leaf: Leaf, chosen: Int32Array, random: ((below: number) => number) | null): void {
    if (leaf.histogram === null) return;
    if (this.#mayBeSplit(leaf)) {
      leaf.split = this.#finder.best(leaf.histogram, leaf.sums, chosen, leaf.bounds, random);
    }
    if (leaf.split !== null) return;
    this.#pool.push(leaf.histogram);
    leaf.histogram = null;
  }

  /** An empty histogram; where they have become too many, that of the leaf that will be split last. */
  #takeHistogram(leaves: readonly Leaf[]): Float64Array {
    const size = entries * this.#starts[this.#starts.length - 1];
    const free = this.#pool.pop();
    if (free) return free.fill(0);
    const owners = leaves.filter(({ histogram }) => histogram !== null);
    if (owners.length > 0 && (this.#made + 1) * size * 8 > mostBytes) {
      const last = owners.reduce((least, leaf) => ((leaf.split?.gain ?? 0) < (least.split?.gain ?? 0) ? leaf : least));
      const taken = last.histogram!;
      last.histogram = null;
      return taken.fill(0);
    }
    this.#made++;
    return new Float64Array(size);
  }
}

function bestOf(leaves: readonly Leaf[]): number {
  let best = -1;
  leaves.forEach(({ split }, index) => {
    if (split !== null && (best < 0 || split.gain > leaves[best].split!.gain)) best = index;
  });
  return best;
}

function sumsOf({ gradient, hessian }: Gradients, list: Uint32Array): Sums {
  const sums: Sums = { gradient: 0, hessian: 0, rows: list.length };
  for (const row of list) {
    sums.gradient += gradient[row];
    sums.hessian += hessian[row];
  }
  return sums;
}
