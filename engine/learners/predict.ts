// A finished run put to use: the files it keeps, read back by its learner and applied to prepared rows.

import { damagedRunFile, namedModelFile, type ModelFile } from '../protocol/model-file.ts';
import { evaluate, likeliest, probabilities, type Evaluation } from '../train/metrics.ts';
import { decodeSafetensors } from '../train/safetensors.ts';
import type { Weights } from '../train/weights.ts';
import type { OtherLearners, RawOutputs, Rows, Trained } from './learner.ts';
import { checkedModelFile, readModelFile, refuseWriter } from './model-file.ts';
import { learnerNamed } from './registry.ts';

/** Reads the files of a run that answers rows. Throws TrainyardError when they are damaged, InputError `run.language` where it writes text. */
export function readTrained(model: string, weights: Uint8Array, run: number): Trained {
  const trained = readWriter(model, weights, run);
  refuseWriter(trained.file, run);
  return trained;
}

/** The same of any run. */
export function readWriter(model: string, weights: Uint8Array, run: number): Trained {
  const file = readModelFile(model, run);
  return learnerNamed(file.learner).read(file, decodeWeights(weights, run), otherLearners);
}

/** What learners that are made of others know of them. */
export const otherLearners: OtherLearners = {
  named: learnerNamed,
  read(model, weights) {
    const file = checkedModelFile(model, 0);
    return learnerNamed(file.learner).read(file, weights, otherLearners);
  },
  readOwn(model, weights) {
    const file = namedModelFile(model) as ModelFile;
    return learnerNamed(file.learner).read(file, weights, otherLearners);
  },
};

/** Weights that can be used: every value is a number. Throws TrainyardError `data.safetensors`, `run.damaged_file`. */
export function decodeWeights(file: Uint8Array, run: number): Weights {
  const { tensors } = decodeSafetensors(file);
  for (const [name, { data }] of Object.entries(tensors)) {
    const odd = data.findIndex((value) => !Number.isFinite(value));
    if (odd >= 0) throw damagedRunFile(run, 'best.safetensors', `value ${odd} of tensor ${name} is ${data[odd]}`);
  }
  return tensors;
}

export interface Predictions {
  /** Raw outputs [rows, width]. */
  readonly outputs: Float32Array;
  readonly rows: number;
  /** Class number, or the value in the target's unit. */
  readonly values: Float64Array;
  /** [rows, classes]; null for regression. */
  readonly probabilities: Float64Array | null;
  /** Metrics where the rows have targets; null where they have none. */
  readonly evaluation: Evaluation | null;
}

/** What came out of a prediction as a whole. */
export interface PredictedAll {
  readonly rows: number;
  /** Where all rows have targets; null where one has none, or there are too many rows to keep (`scoredBytes`). */
  readonly evaluation: Evaluation | null;
  /** Each row has a target, but there are too many of them to be scored. */
  readonly tooMany: boolean;
}

/** Rows of prepared data that are predicted at a time: so many shards' bytes. */
const windowBytes = 2 ** 24;
/** Bytes of outputs and targets that are kept for scores: areas under curves take all rows at once. */
const scoredBytes = 2 ** 28;

/** Consecutive rows and what is predicted for them. */
export interface PredictedWindow {
  readonly start: number;
  readonly predictions: Predictions;
}

/**
 * Predicts prepared data window by window, as they are asked for: there may be more rows than memory. Iterating throws InputError
 * `model.weights` when weights and data do not fit.
 */
export class WindowedPredictions {
  readonly #trained: Trained;
  readonly #rows: Rows;
  #scored: RawOutputs[] = [];
  #bytes = 0;
  #known = true;
  #total = 0;

  constructor(trained: Trained, rows: Rows) {
    this.#trained = trained;
    this.#rows = rows;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<PredictedWindow> {
    for (const window of windowsOf(this.#rows)) {
      const { outputs, targets } = await this.#trained.outputs(window);
      const start = this.#total;
      this.#keep({ outputs, targets });
      yield { start, predictions: predictionsOf(this.#trained, outputs, targets.length) };
    }
  }

  #keep({ outputs, targets }: RawOutputs): void {
    this.#total += targets.length;
    this.#known &&= targets.length > 0 && targets.every((target) => !Number.isNaN(target));
    this.#bytes += outputs.byteLength + targets.byteLength;
    if (this.#known && this.#bytes <= scoredBytes) this.#scored.push({ outputs, targets });
    else this.#scored = [];
  }

  /** Once all windows have been taken. */
  summary(): PredictedAll {
    const tooMany = this.#known && this.#bytes > scoredBytes;
    const evaluation = this.#scored.length > 0 ? evaluateAll(this.#scored, this.#trained) : null;
    return { rows: this.#total, evaluation, tooMany };
  }
}

/** Prepared data as several of them, each of a few shards. */
function* windowsOf(rows: Rows): Iterable<Rows> {
  const { data, readShard } = rows;
  const { shardStarts, width } = data;
  const perWindow = Math.max(1, Math.floor(windowBytes / (4 * width)));
  for (let first = 0; first + 1 < shardStarts.length;) {
    let next = first + 1;
    while (next + 1 < shardStarts.length && shardStarts[next + 1] - shardStarts[first] <= perWindow) next++;
    const from = first;
    const starts = shardStarts.slice(from, next + 1).map((start) => start - shardStarts[from]);
    const counts = { train: 0, validation: 0, test: starts[starts.length - 1] };
    const whole = from === 0 && next + 1 === shardStarts.length;
    yield whole
      ? rows
      : { ...rows, data: { ...data, shardStarts: starts, counts }, readShard: (shard) => readShard(from + shard) };
    first = next;
  }
}

function evaluateAll(parts: readonly RawOutputs[], { evaluation }: Trained): Evaluation {
  const join = (values: readonly Float32Array[]): Float32Array => {
    if (values.length === 1) return values[0];
    const all = new Float32Array(values.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of values) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  };
  return evaluate(join(parts.map(({ outputs }) => outputs)), join(parts.map(({ targets }) => targets)), evaluation);
}

/** Raw outputs [rows, width] as what they mean. */
export function predictionsOf({ file: { output } }: Trained, outputs: Float32Array, rows: number): Predictions {
  if (output.kind === 'value') {
    const values = Float64Array.from(outputs, (value) => value * output.scale + output.offset);
    return { outputs, rows, values, probabilities: null, evaluation: null };
  }
  const classes = output.classes.length;
  const shares = probabilities(outputs, rows, classes);
  const values = Float64Array.from({ length: rows }, (_, row) => likeliest(shares, row, classes));
  return { outputs, rows, values, probabilities: shares, evaluation: null };
}

/**
 * Predicts all rows of prepared data at once.
 * Throws InputError `model.weights` when weights and data do not fit.
 */
export async function predictRows(trained: Trained, rows: Rows): Promise<Predictions> {
  const { outputs, targets } = await trained.outputs(rows);
  const known = targets.length > 0 && targets.every((target) => !Number.isNaN(target));
  const evaluation = known ? evaluate(outputs, targets, trained.evaluation) : null;
  return { ...predictionsOf(trained, outputs, targets.length), evaluation };
}
