// A device on which trees are boosted: rows, scores and histograms stay in its memory, the host says what to do next.

import { blocksOf, noSlot } from '../../../kernels/trees.ts';
import { splitEntries } from '../../../kernels/tree_split/kernel.ts';
import type { Backend, Executable, HostArray } from '../../backends/backend.ts';
import type { ColumnBins } from './bins.ts';
import { boostPlan, sizeOf, type BoostSizes, type jobNames, type Sized } from './device-plan.ts';
import { countBits, gradientBits, hessianBits } from './grid.ts';
import type { BinnedRows } from './rows.ts';
import type { Bounds, Split, SplitRules, Sums } from './split.ts';
import { encodeTrees } from './encoded.ts';
import { masksOf, type Tree } from './tree.ts';

/** What the device found of a leaf. */
export interface FoundCuts {
  readonly sums: Sums;
  /** [columns, 8]: the best cut of each column of numbers, see the kernel tree_split. */
  readonly cuts: Float64Array;
}

/** A leaf whose histogram is to be looked through. */
export interface Looked {
  readonly slot: number;
  readonly bounds: Bounds;
}

/** Rows of a leaf whose histogram is made; the parent's becomes the sibling's. */
export interface Counted {
  readonly from: number;
  readonly to: number;
  readonly slot: number;
  readonly parent: number | null;
}

/** Where the bins of each column stand in a histogram: bin b of column c at `starts[c] + b`; the last is their number. */
export function binStarts(columns: readonly ColumnBins[]): Uint32Array<ArrayBuffer> {
  const starts = new Uint32Array(columns.length + 1);
  columns.forEach(({ bins }, column) => (starts[column + 1] = starts[column] + bins + 1));
  return starts;
}

/** Bytes that histograms may take. */
const mostBytes = 2 ** 28;

/** Histograms that are kept at once for trees of so many leaves: two at least. */
export const keptHistograms = (leaves: number, bins: number): number =>
  Math.max(2, Math.min(leaves, Math.floor(mostBytes / (16 * bins))));

export class BoostDevice {
  readonly sizes: BoostSizes;
  readonly starts: Uint32Array<ArrayBuffer>;
  readonly #executable: Executable;
  readonly #columns: readonly ColumnBins[];
  /** Columns of the tree that grows. */
  #chosen = 0;
  /** Rows of the tree that grows. */
  #count = 0;

  private constructor(executable: Executable, sizes: BoostSizes, columns: readonly ColumnBins[]) {
    this.#executable = executable;
    this.sizes = sizes;
    this.#columns = columns;
    this.starts = binStarts(columns);
  }

  /** Puts rows on a device, with scores of 0. Throws `OutOfMemoryError` where they do not fit. */
  static async open(
    backend: Backend,
    { bins, targets }: BinnedRows,
    columns: readonly ColumnBins[],
    rules: SplitRules,
    sizes: Omit<BoostSizes, 'bins' | 'histograms' | 'monotone' | 'width'>,
  ): Promise<BoostDevice> {
    const total = binStarts(columns)[columns.length];
    const width = columns.length;
    const all: BoostSizes = {
      ...{ ...sizes, width, bins: total, monotone: rules.monotone !== null },
      histograms: keptHistograms(sizes.leaves, total),
    };
    const executable = await backend.compile(boostPlan(all));
    const { rows, loss } = sizes;
    const write = (tensor: string, data: HostArray): void => executable.write(tensor, data);
    write('bins', bins.subarray(0, rows * width));
    write('targets', targets.subarray(0, rows));
    write('starts', binStarts(columns));
    write(
      'numbers',
      Uint32Array.from(columns, ({ kind }) => (kind === 'number' ? 1 : 0)),
    );
    const { l1, l2, minGain, minRows, minHessian, monotone } = rules;
    write('rules', Float64Array.of(l1, l2, minGain, minRows, minHessian, 0, 0, 0));
    if (monotone) write('monotone', Int32Array.from(monotone));
    if (loss.weights) write('weights', Float64Array.from(loss.weights));
    write('constants', Float64Array.of(...loss.constants, 0));
    return new BoostDevice(executable, all, columns);
  }

  /** Threads it may run on. */
  get threads(): number {
    return this.#executable.threads ?? 1;
  }

  setScores(scores: Float64Array): void {
    this.#executable.write('scores', scores);
  }

  /** [rows, outputs] */
  async scores(): Promise<Float64Array> {
    return (await this.#executable.read('scores')) as Float64Array;
  }

  /** Gradients and hessians by output `k` of the rows in `list`, which the next tree is grown on. */
  async prepare(list: Uint32Array, k: number): Promise<void> {
    const count = list.length;
    this.#count = count;
    this.#executable.write('list', list);
    this.#job('gradients', [count, k]);
    this.#job('grid', [count, gradientBits, hessianBits(count), countBits(count)]);
    await this.#executable.run('gradients', 1);
  }

  choose(columns: Int32Array): void {
    this.#chosen = columns.length;
    this.#executable.write('columns', Uint32Array.from(columns));
  }

  /** Makes the histogram of some rows. */
  async count(rows: Counted): Promise<void> {
    this.#counted(rows);
    await this.#runSized('count', rows.to - rows.from);
  }

  /** Looks through histograms that are there. */
  async find(leaves: readonly Looked[]): Promise<readonly FoundCuts[]> {
    this.#looked(leaves);
    await this.#executable.run('find', 1);
    return this.#found(leaves.length);
  }

  /** Sorts the rows of a leaf by its split. */
  async sort(split: Split, from: number, middle: number, to: number): Promise<void> {
    this.#sorted(split, from, middle, to);
    await this.#runSized('sort', to - from);
  }

  /** All of that at once. */
  async grow(
    split: Split,
    [from, middle, to]: readonly [number, number, number],
    small: Counted,
    leaves: readonly Looked[],
  ): Promise<readonly FoundCuts[]> {
    this.#sorted(split, from, middle, to);
    this.#counted(small);
    this.#looked(leaves);
    await this.#runSized('grow', to - from);
    return this.#found(leaves.length);
  }

  /** A column's part of a histogram, [bins, 3]: gradient, hessian, rows. */
  async histogram(slot: number, column: number): Promise<Float64Array> {
    const { bins } = this.sizes;
    const size = this.starts[column + 1] - this.starts[column];
    const at = 4 * (slot * bins + this.starts[column]);
    const words = await this.#executable.read('histograms', at, 4 * size);
    const [gradientStep, hessianStep] = await this.#executable.read('steps');
    const high = 2 ** 32;
    const rows = 2 ** countBits(this.#count);
    const sums = new Float64Array(3 * size);
    for (let bin = 0; bin < size; bin++) {
      const i = 4 * bin;
      sums[3 * bin] = ((words[i + 1] | 0) * high + words[i]) * gradientStep;
      // The count of rows has 31 bits at most: it stands in the lower word.
      const count = words[i + 2] % rows;
      sums[3 * bin + 1] = ((words[i + 3] * high + (words[i + 2] - count)) / rows) * hessianStep;
      sums[3 * bin + 2] = count;
    }
    return sums;
  }

  /** The rows of the tree that grew, leaf by leaf. */
  async list(): Promise<Uint32Array> {
    return (await this.#executable.read('list', 0, this.#count)) as Uint32Array;
  }

  /** Adds values to the scores of the rows that a tree was grown on: those of leaf i stand before `ends[i]`. */
  async addGrown(ends: Uint32Array, values: Float64Array, k: number): Promise<void> {
    this.#executable.write('ends', ends);
    this.#executable.write('values', values);
    this.#job('scores', [ends.length, k]);
    await this.#executable.run('scores', 1);
  }

  /** Adds a tree to the scores of `rows`: those listed, or from one to before another. */
  async addTree(tree: Tree, k: number, rows: Uint32Array | readonly [from: number, to: number]): Promise<void> {
    const listed = rows instanceof Uint32Array;
    const count = listed ? rows.length : rows[1] - rows[0];
    if (count === 0) return;
    const { nodes, masks, roots, values } = encodeTrees([tree], this.#columns);
    const write = (tensor: string, data: HostArray): void => this.#executable.write(tensor, data);
    write('nodes', nodes);
    write('masks', masks);
    write('roots', roots);
    write('values', values);
    if (listed) write('spare', rows);
    this.#job('predict', [count, listed ? 1 : 0, listed ? 0 : rows[0], 1, k]);
    await this.#runSized('predict', count);
  }

  /** The mean loss of rows from … to − 1. */
  async loss(from: number, to: number): Promise<number> {
    this.#job('loss', [from, to]);
    await this.#executable.run('loss', 1);
    const sums = await this.#executable.read('losses', 0, 2 * blocksOf(to - from));
    let [sum, weight] = [0, 0];
    for (let i = 0; i < sums.length; i += 2) {
      sum += sums[i];
      weight += sums[i + 1];
    }
    return sum / weight;
  }

  dispose(): void {
    this.#executable.dispose();
  }

  #job(name: (typeof jobNames)[number], words: readonly number[]): void {
    this.#executable.write(`job.${name}`, Uint32Array.from(words));
  }

  #runSized(name: Sized, rows: number): Promise<void> {
    return this.#executable.run(`${name}@${sizeOf(rows)}`, 1);
  }

  #counted({ from, to, slot, parent }: Counted): void {
    this.#job('histogram', [from, to, this.#chosen, slot, parent ?? noSlot]);
  }

  #looked(leaves: readonly Looked[]): void {
    this.#job('split', [leaves.length, this.#chosen, countBits(this.#count), ...leaves.map(({ slot }) => slot)]);
    const bounds = leaves.flatMap(({ bounds: { lowest, highest } }) => [lowest, highest]);
    this.#executable.write('bounds', Float64Array.from(bounds));
  }

  #sorted({ column, cut, set, missingLeft }: Split, from: number, middle: number, to: number): void {
    const goesLeft = new Uint8Array(256);
    if (set) {
      const masks = masksOf([set]);
      for (let bin = 0; bin < 256; bin++) goesLeft[bin] = (masks[bin >> 5] >>> (bin & 31)) & 1;
    } else {
      goesLeft.fill(1, 0, cut + 1);
      goesLeft[this.#columns[column].bins] = missingLeft ? 1 : 0;
    }
    this.#executable.write('goesLeft', goesLeft);
    this.#job('rows', [from, to, column, middle]);
  }

  async #found(leaves: number): Promise<readonly FoundCuts[]> {
    const entries = splitEntries * this.sizes.width;
    const cuts = (await this.#executable.read('splits', 0, leaves * entries)) as Float64Array;
    const sums = await this.#executable.read('sums', 0, 4 * leaves);
    return Array.from({ length: leaves }, (_, leaf) => ({
      sums: { gradient: sums[4 * leaf], hessian: sums[4 * leaf + 1], rows: sums[4 * leaf + 2] },
      cuts: cuts.subarray(leaf * entries, (leaf + 1) * entries),
    }));
  }
}
