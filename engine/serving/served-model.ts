// A finished run kept ready: rows as objects become encoded rows, wait for each other for no longer than the device is busy, and
// are predicted together.

import type { Backend } from '../backends/backend.ts';
import { RowReader, type EncodedRows, type RowObject } from '../data/preprocess/one-row.ts';
import {
  inputSpec,
  outputSpec,
  parsePreprocessing,
  type FeatureRecipe,
  type Preprocessing,
} from '../data/preprocess/recipe.ts';
import { lazyBackend, type LazyBackend } from '../learners/lazy-backend.ts';
import type { Resident, Trained } from '../learners/learner.ts';
import { predictionsOf, readTrained } from '../learners/predict.ts';
import { withReadings } from '../learners/text-readings.ts';
import type { OutputSpec } from '../model/spec.ts';
import type { CellValue, PreparedData } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { parseRunJson } from '../protocol/model-file.ts';
import type { FormField, ModelForm, ModelSource, PredictionSpeed, RowAnswers } from '../protocol/serving.ts';
import { measureSpeed } from './speed.ts';

/** Rows that are predicted together at most. */
const batchRows = 4096;

interface Waiting extends Pick<EncodedRows, 'x' | 'rows'> {
  readonly resolve: (outputs: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

export class ServedModel {
  readonly run: number;
  readonly name: string;
  readonly output: OutputSpec;
  readonly features: readonly FeatureRecipe[];
  readonly #trained: Trained;
  readonly #resident: Resident;
  readonly #reader: RowReader;
  readonly #backend: LazyBackend;
  #waiting: Waiting[] = [];
  #busy = false;

  /** Throws InputError `input.preprocessing`, `model.weights`, `run.damaged_file`, and `run.pictures` for runs on pictures. */
  static async open(source: ModelSource, openBackend: () => Promise<Backend>): Promise<ServedModel> {
    const trained = readTrained(source.model, source.weights, source.run);
    if (trained.file.input.kind === 'image') {
      throw new InputError(
        'run.pictures',
        `Run ${source.run} tells pictures apart; rows of values are asked for here.`,
        'Show it files: on its page, or with `trainyard predict`.',
      );
    }
    const kept = parseRunJson(source.preprocessing, source.run, 'preprocessing.json') as object;
    const preprocessing = parsePreprocessing(withReadings(trained.file, kept));
    const backend = lazyBackend(openBackend);
    try {
      const resident = await residentOf(trained, dataOf(preprocessing), backend);
      return new ServedModel(source, { trained, resident, preprocessing, backend });
    } catch (error) {
      await backend.close();
      throw error;
    }
  }

  private constructor(
    source: ModelSource,
    parts: { trained: Trained; resident: Resident; preprocessing: Preprocessing; backend: LazyBackend },
  ) {
    this.run = source.run;
    this.name = source.name;
    this.output = parts.trained.file.output;
    this.features = parts.preprocessing.features;
    this.#trained = parts.trained;
    this.#resident = parts.resident;
    this.#reader = new RowReader(parts.preprocessing);
    this.#backend = parts.backend;
  }

  get form(): ModelForm {
    return { output: this.output, fields: this.features.map(fieldOf) };
  }

  /** Throws InputError `input.missing_column` when a row lacks a column of the model. */
  async predict(rows: readonly RowObject[]): Promise<RowAnswers> {
    if (rows.length === 0)
      return { values: [], probabilities: this.output.kind === 'classes' ? [] : null, reasons: [], warnings: [] };
    const encoded = this.#reader.read(rows);
    const outputs = await this.#outputs(encoded.x, encoded.rows);
    const { values, probabilities } = predictionsOf(this.#trained, outputs, encoded.rows);
    const classes = this.output.kind === 'classes' ? this.output.classes.length : 0;
    const shares =
      probabilities && rows.map((_, row) => [...probabilities.subarray(row * classes, (row + 1) * classes)]);
    const { reasons, warnings } = encoded;
    return { values: [...values], probabilities: shares, reasons, warnings };
  }

  /** See `RowReader.values`. */
  read(row: RowObject): Readonly<Record<string, CellValue>> {
    return this.#reader.values(row);
  }

  /** Of rows as they are in the middle of training. They wait their turn as all others do: the resident answers one call at a time. */
  speed(): Promise<PredictionSpeed> {
    const middle = Object.fromEntries(this.form.fields.map(({ name, middle: value }) => [name, value]));
    return measureSpeed(
      (x, rows) => this.#outputs(x, rows),
      (rows) => this.#reader.read(Array.from({ length: rows }, () => middle)).x,
    );
  }

  #outputs(x: EncodedRows['x'], rows: number): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ x, rows, resolve, reject });
      if (!this.#busy) void this.#work();
    });
  }

  /** Takes what has come in the meantime, as much as fits, until nothing waits. */
  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        const all = batch.reduce((sum, { rows }) => sum + rows, 0);
        const outputs = await this.#resident.outputs(joined(batch), all);
        const width = outputs.length / all;
        let at = 0;
        for (const { rows, resolve } of batch) {
          resolve(outputs.slice(at * width, (at + rows) * width));
          at += rows;
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = false;
  }

  #take(): readonly Waiting[] {
    let rows = 0;
    let count = 0;
    while (count < this.#waiting.length) {
      rows += this.#waiting[count].rows;
      if (count > 0 && rows > batchRows) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async close(): Promise<void> {
    this.#resident.close();
    await this.#backend.close();
  }
}

function joined(batch: readonly Waiting[]): EncodedRows['x'] {
  const [{ x: first }] = batch;
  if (batch.length === 1) return first;
  const length = batch.reduce((sum, { x }) => sum + x.length, 0);
  const joint = first instanceof Float64Array ? new Float64Array(length) : new Float32Array(length);
  let at = 0;
  for (const { x } of batch) {
    joint.set(x, at);
    at += x.length;
  }
  return joint;
}

/** A learner that keeps nothing ready predicts each batch as if it were a file. */
async function residentOf(trained: Trained, data: PreparedData, backend: LazyBackend): Promise<Resident> {
  if (trained.resident) return trained.resident(data, backend.open);
  return {
    async outputs(x, rows) {
      const shard = { rows, x, y: new Float32Array(rows).fill(NaN) };
      const counts = { train: 0, validation: 0, test: rows };
      const { outputs } = await trained.outputs({
        data: { ...data, counts, shardStarts: [0, rows] },
        readShard: async () => shard,
        dataBudget: Infinity,
        backend: backend.open,
      });
      return outputs;
    },
    close: () => undefined,
  };
}

/** What rows of a recipe look like; there are none. */
export function dataOf(preprocessing: Preprocessing): PreparedData {
  const output = outputSpec(preprocessing);
  return {
    handle: '',
    input: inputSpec(preprocessing),
    output,
    task: output.kind === 'classes' ? 'classification' : 'regression',
    counts: { train: 0, validation: 0, test: 0 },
    width: new RowReader(preprocessing).width,
    targets: 1,
    shardStarts: [0, 0],
    classCounts: [],
    preprocessing,
    warnings: [],
  };
}

/** Standard deviations on either side of the mean that a control covers where the data itself is gone. */
const usualDeviations = 3;

function fieldOf(recipe: FeatureRecipe): FormField {
  const { column: name, missingShare } = recipe;
  // Recipes of earlier versions say it by the column that tells of gaps.
  const gaps = missingShare === undefined ? !('indicator' in recipe) || recipe.indicator : missingShare > 0;
  switch (recipe.kind) {
    case 'number':
    case 'datetime': {
      const { mean, deviation, impute, kind } = recipe;
      const reach = usualDeviations * deviation;
      return { name, kind, middle: impute, gaps, usual: [mean - reach, mean + reach] };
    }
    case 'boolean':
      return { name, kind: 'boolean', gaps, middle: recipe.impute >= 0.5 };
    case 'one_hot':
    case 'embedding':
      return { name, kind: 'category', gaps, middle: recipe.categories[0], categories: recipe.categories };
    case 'text':
      return { name, kind: 'text', gaps, middle: '' };
    default:
      return recipe satisfies never;
  }
}
