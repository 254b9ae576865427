// A device on which trees of a forest grow whole (kernel tree_forest): each in a slot, until it is done and read.

import { categoryKind, slotStatus, stateAt, stateWords } from '../../../kernels/tree_forest/kernel.ts';
import type { Backend, Executable } from '../../backends/backend.ts';
import type { ForestSetup } from './forest-setup.ts';
import { kernelPlan } from './kernel-plan.ts';
import { drawerState } from './sampling.ts';
import type { Tree } from './tree.ts';

/** Rows that all slots together visit in one go: some tens of milliseconds of one thread. */
const visitsAtOnce = 4_000_000;
/** Slots at most, and the bytes they may take. */
const [mostSlots, mostBytes] = [64, 2 ** 30];
/** Digits of a leaf's value: it is written so, and means what is written. */
const digits = 9;

export interface GrownOne {
  readonly tree: Tree;
  /** [rows]: 1 = the tree was grown on it. */
  readonly inBag: Uint8Array;
}

export class ForestDevice {
  readonly #executable: Executable;
  readonly #setup: ForestSetup;
  readonly #outputs: number;
  readonly #slots: number;
  readonly #capacity: number;
  /** Tree by slot; −1 = none. */
  readonly #trees: Int32Array;

  private constructor(executable: Executable, setup: ForestSetup, outputs: number, slots: number, capacity: number) {
    this.#executable = executable;
    this.#setup = setup;
    this.#outputs = outputs;
    this.#slots = slots;
    this.#capacity = capacity;
    this.#trees = new Int32Array(slots).fill(-1);
  }

  /** For up to `wanted` trees. Throws `OutOfMemoryError` where the rows do not fit. */
  static async open(backend: Backend, setup: ForestSetup, outputs: number, wanted: number): Promise<ForestDevice> {
    const { rows: table, columns, train, classWeights, settings } = setup;
    const width = columns.length;
    const { minRows, depth } = settings;
    const capacity = Math.max(1, Math.min(Math.floor(train / minRows), depth > 0 ? 2 ** Math.min(31, depth) : train));
    const sets = columns.some(({ kind }) => kind === 'category') ? capacity : 1;
    const room = outputs > 1 ? train : capacity;
    const bytes = 24 * train + 40 * capacity + 32 * sets + 12 * room + 2064 * Math.max(2, outputs);
    const visits = (2 + settings.columns) * train * Math.log2(2 + train);
    const threads = backend.device.threads ?? 1;
    // Enough for all threads to have something to do until the end of a call, and for small trees to be worth one.
    const useful = Math.max(2 * threads, Math.ceil(visitsAtOnce / visits));
    const slots = Math.max(1, Math.min(wanted, mostSlots, useful, Math.floor(mostBytes / bytes)));
    const params = { rows: train, width, slots, outputs, capacity, sets, room };
    const executable = await backend.compile(
      kernelPlan(
        {
          bins: { type: 'u8', elements: train * width },
          targets: { type: 'f32', elements: train },
          ...(classWeights ? { weights: { type: 'f64', elements: Math.max(2, outputs) } as const } : {}),
          kinds: { type: 'u32', elements: width },
          job: { type: 'u32', elements: 6 },
          states: { type: 'u32', elements: slots * stateWords },
          lists: { type: 'u32', elements: slots * 6 * train },
          orders: { type: 'u32', elements: slots * width },
          sums: { type: 'f64', elements: slots * 258 * Math.max(2, outputs) },
          nodes: { type: 'u32', elements: slots * capacity * 4 },
          gains: { type: 'f64', elements: slots * capacity },
          masks: { type: 'u32', elements: slots * sets * 8 },
          leaves: { type: 'u32', elements: slots * capacity * 4 },
          values: { type: 'f64', elements: slots * room },
          classes: { type: 'u32', elements: slots * room },
        },
        { grow: [{ kernel: 'tree_forest', params }] },
      ),
    );
    executable.write('bins', table.bins.subarray(0, train * width));
    executable.write('targets', table.targets.subarray(0, train));
    if (classWeights) executable.write('weights', Float64Array.from(classWeights));
    executable.write(
      'kinds',
      Uint32Array.from(columns, ({ kind, bins }) => bins + (kind === 'category' ? categoryKind : 0)),
    );
    const { columns: looked, randomCuts, bootstrap } = settings;
    const budget = Math.ceil(visitsAtOnce / slots);
    executable.write('job', Uint32Array.of(minRows, depth, looked, randomCuts ? 1 : 0, bootstrap ? 1 : 0, budget));
    return new ForestDevice(executable, setup, outputs, slots, capacity);
  }

  /** Puts trees into slots that are free, as long as `next` has some. */
  fill(next: () => number | null): void {
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#trees[slot] >= 0) continue;
      const tree = next();
      if (tree === null) return;
      this.#trees[slot] = tree;
      const { seed } = this.#setup.settings;
      const state = new Uint32Array(stateWords);
      state[stateAt.status] = slotStatus.toBegin;
      state.set(drawerState(seed, 'cuts', tree), stateAt.cuts);
      state.set(drawerState(seed, 'bootstrap', tree), stateAt.draws);
      this.#executable.write('states', state, slot * stateWords);
    }
  }

  /** Grows for a while; the trees that are done by then. */
  async grow(): Promise<ReadonlyMap<number, GrownOne>> {
    await this.#executable.run('grow', 1);
    const done = new Map<number, GrownOne>();
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#trees[slot] < 0) continue;
      const state = (await this.#executable.read('states', slot * stateWords, stateAt.draws)) as Uint32Array;
      if (state[stateAt.status] !== slotStatus.done) continue;
      done.set(this.#trees[slot], await this.#read(slot, state));
      this.#trees[slot] = -1;
    }
    return done;
  }

  dispose(): void {
    this.#executable.dispose();
  }

  async #read(slot: number, state: Uint32Array): Promise<GrownOne> {
    const { train } = this.#setup;
    const read = async <Of>(tensor: string, size: number, count: number): Promise<Of> =>
      (await this.#executable.read(tensor, slot * size, count)) as Of;
    const [nodes, leaves, values] = [state[stateAt.nodes], state[stateAt.leaves], state[stateAt.values]];
    const capacity = this.#capacity;
    const words = await read<Uint32Array>('nodes', 4 * capacity, 4 * nodes);
    const ends = await read<Uint32Array>('leaves', 4 * capacity, 4 * leaves);
    const several = this.#outputs > 1;
    const room = several ? train : capacity;
    const sets = await read<Uint32Array>('masks', this.#sets, 8 * state[stateAt.sets]);
    const value = await read<Float64Array>('values', room, values);
    for (let i = 0; i < value.length; i++) value[i] = shortened(value[i]);
    const list = await read<Uint32Array>('lists', 6 * train, 3 * state[stateAt.rows]);
    const inBag = new Uint8Array(train);
    for (let i = 0; i < list.length; i += 3) inBag[list[i]] = 1;
    const spread = several
      ? {
          starts: Int32Array.from({ length: leaves + 1 }, (_, leaf) => (leaf < leaves ? ends[4 * leaf + 2] : values)),
          outputs: Int32Array.from(await read<Uint32Array>('classes', room, values)),
        }
      : null;
    const pick = (place: number): Int32Array => {
      const picked = new Int32Array(nodes);
      for (let node = 0; node < nodes; node++) picked[node] = words[4 * node + place];
      return picked;
    };
    const tests = pick(0);
    const rows = new Float64Array(leaves);
    for (let leaf = 0; leaf < leaves; leaf++) rows[leaf] = ends[4 * leaf + 1] - ends[4 * leaf];
    const tree: Tree = {
      column: tests.map((test) => test & 0x7fffffff),
      cut: pick(1),
      sets: Array.from({ length: state[stateAt.sets] }, (_, set) => binsOf(sets.subarray(8 * set, 8 * set + 8))),
      missingLeft: Uint8Array.from(tests, (test) => test >>> 31),
      left: pick(2),
      right: pick(3),
      gain: await read<Float64Array>('gains', capacity, nodes),
      ...{ value, spread, rows },
    };
    return { tree, inBag };
  }

  /** Words of the sets of a slot. */
  get #sets(): number {
    return 8 * (this.#setup.columns.some(({ kind }) => kind === 'category') ? this.#capacity : 1);
  }
}

/** Bins whose bits are set in words of 32, ascending. */
function binsOf(words: Uint32Array): readonly number[] {
  const bins: number[] = [];
  for (let bin = 0; bin < 256; bin++) if ((words[bin >> 5] >>> (bin & 31)) & 1) bins.push(bin);
  return bins;
}

/** As it is written; whole numbers are short as they are. */
const shortened = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(digits)));
