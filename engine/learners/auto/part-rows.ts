// All training rows of an ensemble in memory, and of them the rows of any fold as a learner takes them: a part validates, the others
// train. N rows.

import { modelledRows } from '../../data/preprocess/modelled-rows.ts';
import type { PreparedData, RowForm, Shard } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import { shuffle } from '../../optim/random.ts';
import { rowsOfSplit } from '../split-rows.ts';
import type { Rows } from '../learner.ts';
import { matrixRecipe } from './trained.ts';

interface Held {
  readonly data: PreparedData;
  readonly x: Float32Array | Float64Array;
}

/** Rows of a shard of a fold. */
const shardRows = 65_536;
/** Of random numbers: which rows a smaller share has. */
const stream = 4201;

export class PartRows {
  readonly #rows: Rows;
  readonly #parts: Uint8Array;
  readonly #held = new Map<RowForm, Held>();
  /** [N] */
  readonly targets: Float32Array;
  /** How many parts validate. */
  readonly count: number;

  /** Share of the rows that folds learn from. */
  #share = 1;
  #seed = 0;

  private constructor(rows: Rows, parts: Uint8Array, targets: Float32Array) {
    this.#rows = rows;
    this.#parts = parts;
    this.targets = targets;
    this.count = parts.reduce((most, part) => Math.max(most, part), 0);
  }

  /** Reads the training rows. Throws InputError `input.too_large` where they do not fit. */
  static async read(rows: Rows): Promise<PartRows> {
    const { data, dataBudget } = rows;
    const { parts } = data;
    if (!parts || parts.length !== data.counts.train) throw new RangeError('the rows were not parted');
    if (data.counts.train * data.width * 8 > dataBudget) {
      throw new InputError(
        'input.too_large',
        `${data.counts.train.toLocaleString('en')} rows are too many to train models of every kind on within this memory.`,
        'Train boosted trees on them: they take a byte a value.',
      );
    }
    const made = new PartRows(rows, parts, new Float32Array(data.counts.train));
    await made.#hold('columns', made.targets);
    return made;
  }

  /** The same folds with this share of the rows to learn from, drawn by the seed; a smaller share is a part of a larger one. */
  some(share: number, seed: number): PartRows {
    const fewer = new PartRows(this.#rows, this.#parts, this.targets);
    this.#held.forEach((held, form) => fewer.#held.set(form, held));
    fewer.#share = share;
    fewer.#seed = seed;
    return fewer;
  }

  /** Rows that the fold in which `part` validates learns from. */
  learnedFrom(part: number): Uint32Array {
    const all = this.#rowsWhere((own) => own !== part);
    if (this.#share >= 1) return all;
    shuffle(all, this.#seed, stream, part);
    return all.slice(0, Math.max(2, Math.round(this.#share * all.length))).sort();
  }

  /** Rows of the part, from 1, in their order. */
  rowsOf(part: number): Uint32Array {
    return this.#rowsWhere((own) => own === part);
  }

  /** The fold in which `part` validates, as a job for learners that take `form`. */
  async fold(part: number, form: RowForm): Promise<Pick<Rows, 'data' | 'readShard'>> {
    const { data, x } = this.#held.get(form) ?? (await this.#hold(form));
    const train = this.learnedFrom(part);
    const validation = this.rowsOf(part);
    return this.#view(data, x, [train, validation]);
  }

  /** Rows of the part alone, to be predicted. */
  async only(part: number, form: RowForm): Promise<Pick<Rows, 'data' | 'readShard'>> {
    const { data, x } = this.#held.get(form) ?? (await this.#hold(form));
    return this.#view(data, x, [new Uint32Array(0), this.rowsOf(part)]);
  }

  #view(
    data: PreparedData,
    x: Held['x'],
    [train, validation]: readonly [Uint32Array, Uint32Array],
  ): Pick<Rows, 'data' | 'readShard'> {
    const rows = new Uint32Array(train.length + validation.length);
    rows.set(train);
    rows.set(validation, train.length);
    const starts = Array.from({ length: Math.ceil(rows.length / shardRows) }, (_, shard) => shard * shardRows);
    const classCounts = data.classCounts.map(() => 0);
    if (classCounts.length > 0) for (const row of train) classCounts[this.targets[row]]++;
    return {
      data: {
        ...data,
        counts: { train: train.length, validation: validation.length, test: 0 },
        shardStarts: [...starts, rows.length],
        classCounts,
        warnings: [],
        sources: undefined,
        parts: undefined,
      },
      readShard: async (index) =>
        this.#gather(rows.subarray(index * shardRows, (index + 1) * shardRows), x, data.width),
    };
  }

  #gather(rows: Uint32Array, x: Held['x'], width: number): Shard {
    const some =
      x instanceof Float64Array ? new Float64Array(rows.length * width) : new Float32Array(rows.length * width);
    const y = new Float32Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      some.set(x.subarray(rows[at] * width, (rows[at] + 1) * width), at * width);
      y[at] = this.targets[rows[at]];
    }
    return { rows: rows.length, x: some, y };
  }

  async #hold(form: RowForm, targets?: Float32Array): Promise<Held> {
    const train = rowsOfSplit(this.#rows, 'train');
    const { data, readShard } =
      form === 'columns' ? train : modelledRows(train, matrixRecipe(this.#rows.data.preprocessing));
    const { shardStarts, width } = data;
    const values = shardStarts[shardStarts.length - 1] * width;
    const x = form === 'columns' ? new Float64Array(values) : new Float32Array(values);
    for (let shard = 0; shard + 1 < shardStarts.length; shard++) {
      const { x: some, y } = await readShard(shard);
      x.set(some, shardStarts[shard] * width);
      targets?.set(y, shardStarts[shard]);
    }
    const held = { data, x };
    this.#held.set(form, held);
    return held;
  }

  #rowsWhere(fits: (part: number) => boolean): Uint32Array {
    const places = new Uint32Array(this.#parts.length);
    let count = 0;
    this.#parts.forEach((part, row) => {
      if (fits(part)) places[count++] = row;
    });
    return places.slice(0, count);
  }
}
