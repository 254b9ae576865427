// A tree grown leaf by leaf: the leaf whose best split gains most is split next (Shi 2007, as LightGBM does). Of two children the one
// with fewer rows is counted, the other is what is left of their parent's histogram.

import type { ColumnBins } from './bins.ts';
import type { BoostDevice, FoundCuts } from './device.ts';
import { leafValue, SplitFinder, unbound, type Bounds, type Split, type SplitRules, type Sums } from './split.ts';
import { TreeBuilder, type Tree } from './tree.ts';

export interface GrowRules extends SplitRules {
  readonly leaves: number;
  /** 0 = as deep as it gets. */
  readonly depth: number;
}

export interface GrownTree {
  readonly tree: Tree;
  /** The rows it was grown on stand leaf by leaf in the device's list: those of leaf i from `starts[i]` to before `ends[i]`. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

interface Leaf {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
  readonly sums: Sums;
  readonly bounds: Bounds;
  /** Its value by its own sums. */
  readonly value: number;
  /** Where its histogram is; null: it has none. */
  slot: number | null;
  split: Split | null;
}

export class Grower {
  readonly #device: BoostDevice;
  readonly #columns: readonly ColumnBins[];
  readonly #rules: GrowRules;
  readonly #finder: SplitFinder;
  /** Histograms that are free. */
  readonly #free: number[];

  constructor(device: BoostDevice, columns: readonly ColumnBins[], rules: GrowRules) {
    this.#device = device;
    this.#columns = columns;
    this.#rules = rules;
    this.#finder = new SplitFinder(columns, rules);
    this.#free = Array.from({ length: device.sizes.histograms }, (_, slot) => slot);
  }

  /** Grows a tree on the `rows` rows that the device was prepared for, by the columns in `chosen`. */
  async *grow(rows: number, chosen: Int32Array): AsyncGenerator<void, GrownTree, void> {
    const { l1, l2 } = this.#rules;
    const device = this.#device;
    const builder = new TreeBuilder();
    const leaves: Leaf[] = [];
    device.choose(chosen);
    const slot = this.#take(leaves);
    await device.count({ from: 0, to: rows, slot, parent: null });
    const [found] = await device.find([{ slot, bounds: unbound }]);
    const root = { from: 0, to: rows, depth: 0, sums: found.sums, bounds: unbound, value: 0, slot, split: null };
    leaves.push({ ...root, value: leafValue(found.sums, l1, l2) });
    await this.#look(leaves[0], found, chosen);
    yield;
    while (leaves.length < this.#rules.leaves) {
      const next = bestOf(leaves);
      if (next < 0) break;
      const parent = leaves[next];
      const split = parent.split!;
      builder.split(next, split);
      const [left, right] = this.#children(parent, split);
      leaves[next] = left;
      leaves.push(right);
      await this.#divide(parent, left, right, leaves, chosen);
      yield;
    }
    for (const leaf of leaves) this.#drop(leaf);
    const tree = builder.finish(
      Float64Array.from(leaves, ({ value }) => value),
      Float64Array.from(leaves, ({ from, to }) => to - from),
    );
    return { tree, starts: leaves.map(({ from }) => from), ends: leaves.map(({ to }) => to) };
  }

  #children(parent: Leaf, split: Split): readonly [Leaf, Leaf] {
    const { monotone } = this.#rules;
    const direction = monotone === null || split.set ? 0 : monotone[split.column];
    const border = (split.leftValue + split.rightValue) / 2;
    const { lowest, highest } = parent.bounds;
    const below: Bounds = { lowest, highest: Math.min(highest, border) };
    const above: Bounds = { lowest: Math.max(lowest, border), highest };
    const common = { depth: parent.depth + 1, slot: null, split: null };
    const middle = parent.from + split.left.rows;
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

  /** Sorts the rows of two children of a leaf, and finds how they are best split if they may be. */
  async #divide(parent: Leaf, left: Leaf, right: Leaf, leaves: readonly Leaf[], chosen: Int32Array): Promise<void> {
    const device = this.#device;
    const split = parent.split!;
    const places = [parent.from, left.to, parent.to] as const;
    if (leaves.length >= this.#rules.leaves || (!this.#mayBeSplit(left) && !this.#mayBeSplit(right))) {
      this.#drop(parent);
      return device.sort(split, ...places);
    }
    const [small, large] = left.to - left.from <= right.to - right.from ? [left, right] : [right, left];
    const inherited = parent.slot;
    parent.slot = null;
    small.slot = this.#take(leaves);
    const counted = { from: small.from, to: small.to, slot: small.slot, parent: inherited };
    if (inherited !== null) {
      large.slot = inherited;
      const looked = [left, right].map(({ slot, bounds }) => ({ slot: slot!, bounds }));
      const found = await device.grow(split, places, counted, looked);
      for (const [i, leaf] of [left, right].entries()) await this.#look(leaf, found[i], chosen);
      return;
    }
    await device.sort(split, ...places);
    await device.count(counted);
    large.slot = this.#take(leaves.filter((leaf) => leaf !== small));
    await device.count({ from: large.from, to: large.to, slot: large.slot, parent: null });
    for (const leaf of [left, right]) {
      const [found] = await device.find([{ slot: leaf.slot!, bounds: leaf.bounds }]);
      await this.#look(leaf, found, chosen);
    }
  }

  #mayBeSplit({ sums, depth }: Leaf): boolean {
    return sums.rows >= 2 * this.#rules.minRows && (this.#rules.depth === 0 || depth < this.#rules.depth);
  }

  /** Takes the best of what was found of a leaf, and of its categories. */
  async #look(leaf: Leaf, { cuts }: FoundCuts, chosen: Int32Array): Promise<void> {
    if (this.#mayBeSplit(leaf)) {
      const histograms = new Map<number, Float64Array>();
      for (const column of chosen) {
        if (this.#columns[column].kind === 'category') {
          histograms.set(column, await this.#device.histogram(leaf.slot!, column));
        }
      }
      leaf.split = this.#finder.best(leaf.sums, chosen, leaf.bounds, cuts, histograms);
    }
    if (leaf.split === null) this.#drop(leaf);
  }

  #drop(leaf: Leaf): void {
    if (leaf.slot !== null) this.#free.push(leaf.slot);
    leaf.slot = null;
  }

  /** A place for a histogram; where all are taken, that of the leaf that will be split last. */
  #take(leaves: readonly Leaf[]): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const owners = leaves.filter(({ slot }) => slot !== null);
    const last = owners.reduce((least, leaf) => ((leaf.split?.gain ?? 0) < (least.split?.gain ?? 0) ? leaf : least));
    const taken = last.slot!;
    last.slot = null;
    return taken;
  }
}

function bestOf(leaves: readonly Leaf[]): number {
  let best = -1;
  leaves.forEach(({ split }, index) => {
    if (split !== null && (best < 0 || split.gain > leaves[best].split!.gain)) best = index;
  });
  return best;
}
