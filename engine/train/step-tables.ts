// The tables that steps read on the device: which rows they take, learning rates and corrections, random counters and, of steps
// in parts, how much each part counts. A step in parts takes a row of the tables for each.

import type { Executable } from '../backends/backend.ts';
import { optimizerStates } from '../model/summary.ts';
import type { TrainingSpec } from '../model/spec.ts';
import { drawBeta, streams } from '../optim/random.ts';
import { scalarsName } from '../graph/tensors.ts';
import { indicesOf, partSizes } from '../plan/parts.ts';

export interface StepTablesOptions {
  readonly executable: Executable;
  /** Rows of the tables. */
  readonly capacity: number;
  readonly training: TrainingSpec;
  readonly learningRate: (step: number) => number;
  /** Factors of the learning rate, one a group of the parameters. */
  readonly rates: readonly number[];
  /** Share of dropout and weight decay at a step; null: they stay what they are. */
  readonly regularisation: ((step: number) => number) | null;
  /** Updates that made the optimizer's state, before a step. */
  readonly updates: (step: number) => number;
  /** Rows of each part of a step that takes so many; null: steps are one program. */
  readonly parts: ((rows: number) => readonly number[]) | null;
  /** Which device adds each of these parts up, where several do; null: one sum takes them all. */
  readonly devices: ((rows: number) => readonly number[]) | null;
  /** Rows of steps: the batch, and the remainder of an epoch. */
  readonly batches: readonly number[];
  /** Weight of a row in the loss, by its number in the data; null: all weigh the same. */
  readonly weightOf: ((row: number) => number) | null;
}

/** The rows of steps: places on the device, and numbers in the data. */
export interface StepRows {
  readonly places: Uint32Array;
  readonly numbers: Uint32Array;
}

export class StepTables {
  readonly #options: StepTablesOptions;
  readonly #scalars: Float32Array;
  readonly #counters: Uint32Array;
  readonly #shares: Float32Array;
  /** Parts of a full step: random counters are those of all parts of all steps in a row. */
  readonly #mostParts: number;
  readonly #largestPart: number;

  constructor(options: StepTablesOptions) {
    const { capacity, parts, batches } = options;
    this.#options = options;
    this.#scalars = new Float32Array(capacity * 4);
    this.#counters = new Uint32Array(capacity);
    this.#shares = new Float32Array(parts ? capacity * 2 : 0);
    this.#mostParts = parts ? parts(batches[0]).length : 1;
    this.#largestPart = parts ? partSizes(parts, batches)[0] : batches[0];
  }

  /** Writes the tables of `steps` steps of `size` rows each, the first of which is number `step`. Returns what becomes of their losses. */
  write(step: number, steps: number, size: number, rows: StepRows): (losses: Float32Array) => Float32Array {
    const { executable, parts } = this.#options;
    const sizes = parts ? parts(size) : [size];
    const tableRows = steps * sizes.length;
    for (let i = 0; i < steps; i++) {
      for (let part = 0; part < sizes.length; part++) {
        this.#fill(i * sizes.length + part, step + i, (step + i) * this.#mostParts + part);
      }
    }
    executable.write('step.scalars', this.#scalars.subarray(0, 4 * tableRows));
    this.#options.rates.slice(1).forEach((rate, i) => {
      const scaled = this.#scalars.slice(0, 4 * tableRows);
      for (let row = 0; row < tableRows; row++) scaled[4 * row] *= rate;
      executable.write(scalarsName(i + 1), scaled);
    });
    executable.write('step.counters', this.#counters.subarray(0, tableRows));
    if (!parts) {
      executable.write('step.indices', rows.places);
      return (losses) => losses;
    }
    const shares = this.#writeParts(steps, size, sizes, rows);
    return (losses) =>
      Float32Array.from({ length: steps }, (_, i) =>
        sizes.reduce((sum, __, part) => {
          const row = i * sizes.length + part;
          return sum + shares[row] * losses[row];
        }, 0),
      );
  }

  #fill(row: number, step: number, counter: number): void {
    const { training, learningRate, updates, regularisation } = this.#options;
    const { beta1, beta2 } = training.optimizer;
    const corrected = optimizerStates(training.optimizer) > 0;
    const mixup = training.augmentation?.mixup ?? 0;
    this.#scalars[4 * row] = learningRate(step);
    this.#scalars[4 * row + 1] = corrected ? 1 - beta1 ** (updates(step) + 1) : 1;
    this.#scalars[4 * row + 2] = corrected ? 1 - beta2 ** (updates(step) + 1) : 1;
    this.#scalars[4 * row + 3] = regularisation
      ? regularisation(step)
      : mixup > 0
        ? drawBeta(mixup, training.seed, streams.mixup, step)
        : 0;
    this.#counters[row] = counter;
  }

  /** The rows of each part, in the table of its size, and its share of the loss of its step. Returns the shares. */
  #writeParts(steps: number, size: number, sizes: readonly number[], { places, numbers }: StepRows): Float64Array {
    const { executable, weightOf } = this.#options;
    const devices = this.#options.devices?.(size);
    const tables = new Map(sizes.map((part) => [part, new Uint32Array(steps * sizes.length * part)]));
    const shares = new Float64Array(steps * sizes.length);
    for (let i = 0, from = 0; i < steps; i++) {
      const whole = weightOf ? sumOver(numbers, i * size, size, weightOf) : size;
      sizes.forEach((part, j) => {
        const row = i * sizes.length + j;
        tables.get(part)!.set(places.subarray(from, from + part), row * part);
        shares[row] = (weightOf ? sumOver(numbers, from, part, weightOf) : part) / whole;
        this.#shares[2 * row] = j === 0 || devices?.[j] !== devices?.[j - 1] ? 0 : 1;
        this.#shares[2 * row + 1] = shares[row];
        from += part;
      });
    }
    for (const [part, table] of tables) executable.write(indicesOf(part, this.#largestPart), table);
    executable.write('step.shares', this.#shares.subarray(0, 2 * shares.length));
    return shares;
  }
}

function sumOver(numbers: Uint32Array, from: number, count: number, weightOf: (row: number) => number): number {
  let sum = 0;
  for (let i = from; i < from + count; i++) sum += weightOf(numbers[i]);
  return sum;
}
