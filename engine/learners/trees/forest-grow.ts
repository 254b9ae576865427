// A tree of a forest (Breiman 2001): grown to the end, each node looking at some columns of its own. A split makes the sum over the
// outputs of (sum of weighted targets)² / weight of both sides large: the least squared error, and of classes the least Gini
// impurity. The rows of a node are sorted by their bins, so that small nodes cost no more than their rows.

import type { ColumnBins } from './bins.ts';
import { RowLists } from './partition.ts';
import type { BinnedRows } from './rows.ts';
import { TreeBuilder, type Tree } from './tree.ts';

export interface ForestRules {
  /** Rows of a leaf at least, each as often as it was drawn. */
  readonly minRows: number;
  /** 0 = as deep as it gets. */
  readonly depth: number;
  /** Columns that a node looks at: those that are the same in all its rows do not count. */
  readonly columns: number;
  /** One cut a column, drawn between its least and largest bin (Geurts et al. 2006), instead of the best. */
  readonly randomCuts: boolean;
}

export interface ForestProblem {
  readonly rows: BinnedRows;
  readonly columns: readonly ColumnBins[];
  /** Classes of the targets; 0: they are numbers. */
  readonly classes: number;
  readonly rules: ForestRules;
}

interface Node {
  readonly leaf: number;
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

interface Found {
  readonly column: number;
  readonly cut: number;
  readonly set: readonly number[] | null;
  readonly missingLeft: boolean;
  readonly score: number;
}

/** Of all rows of a node: what they count for, and how often they were drawn. */
interface Whole {
  readonly weight: number;
  readonly drawn: number;
}

/** Rows sorted between two looks at messages. */
const slice = 400_000;
/** Rows that are sorted by insertion. */
const fewRows = 24;

export class ForestGrower {
  readonly #problem: ForestProblem;
  readonly #outputs: number;
  /** By output: of the node, and of the side that grows. */
  readonly #whole: Float64Array;
  readonly #side: Float64Array;
  /** Rows of the node sorted by their bins: those of a bin from `begins` to before `ends`. */
  readonly #begins = new Int32Array(256);
  readonly #ends = new Int32Array(256);
  readonly #counts = new Int32Array(257);
  #sorted = new Uint32Array(0);
  #bins = new Uint8Array(0);
  readonly #order: Int32Array;
  #weights: Float64Array = new Float64Array(0);
  #draws: Float64Array = new Float64Array(0);
  #best: Found | null = null;

  constructor(problem: ForestProblem) {
    this.#problem = problem;
    this.#outputs = Math.max(1, problem.classes > 2 ? problem.classes : 1);
    this.#whole = new Float64Array(this.#outputs);
    this.#side = new Float64Array(this.#outputs);
    this.#order = Int32Array.from(problem.columns.keys());
  }

  /** Grows a tree on the rows of `list`: how often each was drawn is in `draws` [rows], what it counts for in `weights` [rows]. */
  *grow(
    list: Uint32Array,
    draws: Float64Array,
    draw: (below: number) => number,
    weights: Float64Array = draws,
  ): Generator<void, Tree, void> {
    const { columns, rules } = this.#problem;
    if (this.#sorted.length < list.length) {
      this.#sorted = new Uint32Array(list.length);
      this.#bins = new Uint8Array(list.length);
    }
    this.#weights = weights;
    this.#draws = draws;
    this.#order.forEach((_, i) => (this.#order[i] = i));
    const lists = new RowLists(list);
    const builder = new TreeBuilder();
    const done: Node[] = [];
    const open: Node[] = [{ leaf: 0, from: 0, to: list.length, depth: 0 }];
    let work = 0;
    for (let node = open.pop(); node; node = open.pop()) {
      const { leaf, from, to, depth } = node;
      const deeper = rules.depth === 0 || depth < rules.depth;
      const found = deeper && to - from > 1 ? this.#find(list, from, to, draw) : null;
      work += (to - from) * rules.columns;
      if (work > slice) {
        work = 0;
        yield;
      }
      if (found === null) {
        done.push(node);
        continue;
      }
      const { column, cut, set, missingLeft } = found;
      const middle = lists.split(this.#problem.rows, columns[column], { column, cut, set, missingLeft }, from, to);
      const added = builder.split(leaf, { column, cut, missingLeft, gain: found.score, set });
      open.push({ leaf: added, from: middle, to, depth: depth + 1 }, { leaf, from, to: middle, depth: depth + 1 });
    }
    return this.#finish(builder, done, list);
  }

  #target(row: number): number {
    return this.#problem.rows.targets[row];
  }

  /** Sums of the node's rows into `whole`; its weight. */
  #sum(list: Uint32Array, from: number, to: number): number {
    const whole = this.#whole.fill(0);
    let weight = 0;
    for (let i = from; i < to; i++) {
      const row = list[i];
      const own = this.#weights[row];
      weight += own;
      if (this.#outputs === 1) whole[0] += own * this.#target(row);
      else whole[this.#target(row)] += own;
    }
    return weight;
  }

  #find(list: Uint32Array, from: number, to: number, draw: (below: number) => number): Found | null {
    const weight = this.#sum(list, from, to);
    const { rules, columns } = this.#problem;
    let drawn = 0;
    for (let i = from; i < to; i++) drawn += this.#draws[list[i]];
    if (drawn < 2 * rules.minRows) return null;
    const parent = this.#whole.reduce((sum, one) => sum + one * one, 0) / weight;
    this.#best = null;
    const order = this.#order;
    for (let i = 0, looked = 0; i < order.length && looked < rules.columns; i++) {
      const j = i + draw(order.length - i);
      [order[i], order[j]] = [order[j], order[i]];
      if (this.#look(columns[order[i]], order[i], list, from, to, { weight, drawn }, draw)) looked++;
    }
    // Found anew each time, so that no cast is needed: the looks above change it.
    const best = this.#taken();
    if (best === null) return null;
    const gain = best.score - parent;
    return gain > 1e-9 * Math.max(1, Math.abs(parent)) ? { ...best, score: gain } : null;
  }

  #taken(): Found | null {
    return this.#best;
  }

  /** Looks at one column; false: it is the same in all rows. */
  #look(
    column: ColumnBins,
    index: number,
    list: Uint32Array,
    from: number,
    to: number,
    whole: Whole,
    draw: (below: number) => number,
  ): boolean {
    const used = this.#sort(index, list, from, to);
    if (used.length < 2) return false;
    if (column.kind === 'category') {
      const ordered = this.#byTarget(used);
      const only = this.#problem.rules.randomCuts ? draw(ordered.length - 1) : -1;
      this.#scan(index, ordered, whole, only, ordered, false);
      return true;
    }
    const missing = used[used.length - 1] === column.bins;
    const known = missing ? used.slice(0, -1) : used;
    let only = -1;
    if (this.#problem.rules.randomCuts) {
      const cut = known[0] + draw(Math.max(1, known[known.length - 1] - known[0]));
      only = known.findLastIndex((bin) => bin <= cut);
    }
    // What is missing comes last, then first; where nothing is, a later one goes the way of most rows.
    this.#scan(index, used, whole, only, null, missing ? false : null);
    if (missing) this.#scan(index, [column.bins, ...known], whole, only < 0 ? -1 : only + 1, null, true);
    return true;
  }

  /** Sorts the node's rows by their bins of a column; returns the bins there are, in order. */
  #sort(column: number, list: Uint32Array, from: number, to: number): number[] {
    const { bins, width } = this.#problem.rows;
    const own = this.#bins;
    for (let i = from; i < to; i++) own[i - from] = bins[list[i] * width + column];
    const used = to - from <= fewRows ? this.#sortFew(list, from, to - from) : this.#sortMany(list, from, to - from);
    for (let i = 0, begin = 0; i < used.length; begin = this.#ends[used[i++]]) this.#begins[used[i]] = begin;
    return used;
  }

  #sortMany(list: Uint32Array, from: number, count: number): number[] {
    const own = this.#bins;
    const counts = this.#counts.fill(0);
    for (let i = 0; i < count; i++) counts[own[i] + 1]++;
    const used: number[] = [];
    for (let bin = 0; bin < 256; bin++) {
      if (counts[bin + 1] > 0) used.push(bin);
      counts[bin + 1] += counts[bin];
      this.#ends[bin] = counts[bin + 1];
    }
    if (used.length < 2) return used;
    for (let i = 0; i < count; i++) this.#sorted[counts[own[i]]++] = list[from + i];
    return used;
  }

  /** By insertion: no look at bins without rows. */
  #sortFew(list: Uint32Array, from: number, count: number): number[] {
    const own = this.#bins;
    const sorted = this.#sorted;
    for (let i = 0; i < count; i++) {
      const bin = own[i];
      let place = i;
      for (; place > 0 && own[place - 1] > bin; place--) {
        own[place] = own[place - 1];
        sorted[place] = sorted[place - 1];
      }
      own[place] = bin;
      sorted[place] = list[from + i];
    }
    const used: number[] = [];
    for (let i = 0; i < count; i++) {
      if (i === 0 || own[i] !== own[i - 1]) used.push(own[i]);
      this.#ends[own[i]] = i + 1;
    }
    return used;
  }

  /** Bins of a category by the mean target of their rows, or the share of the class most rows have. */
  #byTarget(used: readonly number[]): number[] {
    const most = this.#whole.indexOf(Math.max(...this.#whole));
    const means = new Map<number, number>();
    for (const bin of used) {
      let [weight, sum] = [0, 0];
      for (let i = this.#begins[bin]; i < this.#ends[bin]; i++) {
        const row = this.#sorted[i];
        weight += this.#weights[row];
        if (this.#outputs === 1) sum += this.#weights[row] * this.#target(row);
        else if (this.#target(row) === most) sum += this.#weights[row];
      }
      means.set(bin, sum / weight);
    }
    return used.toSorted((one, other) => means.get(one)! - means.get(other)! || one - other);
  }

  /** Tries the cuts behind each of the bins in this order, or that behind place `only` alone. */
  #scan(
    column: number,
    order: readonly number[],
    { weight, drawn }: Whole,
    only: number,
    set: readonly number[] | null,
    missingLeft: boolean | null,
  ): void {
    const { minRows } = this.#problem.rules;
    const whole = this.#whole;
    const side = this.#side.fill(0);
    let [left, drawnLeft, squares] = [0, 0, 0];
    // Of the other side.
    let others = 0;
    for (const one of whole) others += one * one;
    for (let place = 0; place + 1 < order.length; place++) {
      const bin = order[place];
      for (let i = this.#begins[bin]; i < this.#ends[bin]; i++) {
        const row = this.#sorted[i];
        const own = this.#weights[row];
        const target = this.#target(row);
        const k = this.#outputs === 1 ? 0 : target;
        const more = this.#outputs === 1 ? own * target : own;
        left += own;
        drawnLeft += this.#draws[row];
        // (a + b)² − a²
        squares += more * (2 * side[k] + more);
        others -= more * (2 * (whole[k] - side[k]) - more);
        side[k] += more;
      }
      const right = weight - left;
      if (only >= 0 && place !== only) continue;
      // With what is missing alone on the left there is no bin to cut behind.
      if (drawnLeft < minRows || drawn - drawnLeft < minRows || (missingLeft && place === 0)) continue;
      const score = squares / left + others / right;
      if (this.#best !== null && score <= this.#best.score) continue;
      const bins = set === null ? null : set.slice(0, place + 1).sort((one, other) => one - other);
      this.#best = {
        ...{ column, cut: set === null ? bin : 0, set: bins, score },
        missingLeft: missingLeft ?? 2 * drawnLeft >= drawn,
      };
    }
  }

  #finish(builder: TreeBuilder, nodes: readonly Node[], list: Uint32Array): Tree {
    const leaves = nodes.toSorted((one, other) => one.leaf - other.leaf);
    const rows = new Float64Array(leaves.length);
    const values: number[] = [];
    const starts = new Int32Array(leaves.length + 1);
    const outputs: number[] = [];
    leaves.forEach(({ from, to }, leaf) => {
      const weight = this.#sum(list, from, to);
      rows[leaf] = to - from;
      for (let k = 0; k < this.#outputs; k++) {
        if (this.#outputs > 1 && this.#whole[k] === 0) continue;
        values.push(Number((this.#whole[k] / weight).toPrecision(digits)));
        outputs.push(k);
      }
      starts[leaf + 1] = values.length;
    });
    const spread = this.#outputs > 1 ? { starts, outputs: Int32Array.from(outputs) } : null;
    return builder.finish(Float64Array.from(values), rows, spread);
  }
}

/** Digits of a leaf's value: it is written so, and means what is written. */
const digits = 9;
