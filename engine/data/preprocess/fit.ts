// Fitting preprocessing: one pass over the table, looking only at rows of the training split.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo } from '../../protocol/data.ts';
import { streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import type { MeasuredTable } from '../schema/table.ts';
import { numericValue, spellingOf } from '../schema/stored.ts';
import type { StoredColumn } from '../schema/stored.ts';
import { datePart } from './encode.ts';
import type { DatePart } from './encode.ts';
import { categoryCode } from './features.ts';
import { medianOf } from './median.ts';
import type { FeatureRecipe } from './recipe.ts';

/** Up to this many categories a column is one-hot; above, it gets a learned embedding. */
export const oneHotLimit = 16;
/** Values remembered for a median; longer columns are thinned evenly. All columns together hold at most 128 MB. */
const medianValues = 2 ** 17;
const medianBytes = 128 * 2 ** 20;

/** A column to fit. `dictionary`: the values of a category column, the most frequent first. */
export interface FeatureColumn {
  readonly stored: StoredColumn;
  readonly info: ColumnInfo;
  readonly dictionary: readonly string[];
}

/** Width of an embedding: 1.6 · n^0.56, at most 50 (the rule of thumb of fast.ai's tabular models). */
export function embeddingDimensions(categories: number): number {
  return Math.min(50, Math.max(2, Math.round(1.6 * categories ** 0.56)));
}

export interface FitRequest {
  readonly table: MeasuredTable;
  readonly features: readonly FeatureColumn[];
  /** Regression: the column whose mean and deviation are wanted as well. */
  readonly target: StoredColumn | null;
  /** Split of each row; 0 = training. */
  readonly splits: Uint8Array;
  readonly trainRows: number;
  readonly job: Job;
}

export interface Fit {
  /** Null: the column is the same in the whole training split, or empty there. */
  readonly features: readonly (FeatureRecipe | null)[];
  readonly target: { readonly mean: number; readonly deviation: number } | null;
}

/** Fits all features (and a numeric target) in one pass. */
export async function fit(connection: DuckDBConnection, request: FitRequest): Promise<Fit> {
  const { table, features, target, splits, trainRows, job } = request;
  const limit = Math.max(1024, Math.min(medianValues, Math.floor(medianBytes / 8 / Math.max(1, features.length))));
  const fitters = features.map((feature) => fitterOf(feature, trainRows, limit));
  const moments = new NumberFitter(0, 1);
  const expressions = features.map(rawValue);
  if (target !== null) expressions.push(numericValue(target, 'number'));
  let start = 0;
  // Of texts alone there is nothing to fit here.
  const sql = `SELECT ${expressions.length > 0 ? expressions.join(', ') : 'NULL::DOUBLE'} FROM ${table.from}`;
  await streamNumbers(connection, sql, job, (columns, rows) => {
    columns.slice(0, expressions.length).forEach((column, index) => {
      const fitter = fitters[index] ?? moments;
      for (let row = 0; row < rows; row++) if (splits[start + row] === 0) fitter.add(column.getItem(row));
    });
    start += rows;
  });
  return {
    features: fitters.map((fitter, index) => fitter.recipe((features[index] as FeatureColumn).stored)),
    target: target === null ? null : { mean: moments.mean, deviation: moments.deviation },
  };
}

function rawValue({ stored, info, dictionary }: FeatureColumn): string {
  const { type } = info;
  if (type === 'number' || type === 'boolean' || type === 'datetime') return numericValue(stored, type);
  return categoryCode(stored, dictionary);
}

interface Fitter {
  add(value: number | null): void;
  recipe(column: StoredColumn): FeatureRecipe | null;
}

function fitterOf({ info, dictionary }: FeatureColumn, rows: number, limit: number): Fitter {
  switch (info.type) {
    case 'number':
      return new NumberFitter(rows, limit);
    case 'boolean':
      return new BooleanFitter();
    case 'datetime':
      return new TimeFitter(rows, limit);
    default:
      return new CategoryFitter(dictionary);
  }
}

/** Mean and deviation by Welford's method, the median from evenly thinned values. */
class NumberFitter implements Fitter {
  readonly #kept: Float64Array;
  readonly #every: number;
  #count = 0;
  #missing = 0;
  #mean = 0;
  #squares = 0;

  constructor(rows: number, limit: number) {
    this.#every = Math.max(1, Math.ceil(rows / limit));
    this.#kept = new Float64Array(Math.ceil(rows / this.#every));
  }

  add(value: number | null): void {
    if (value === null) {
      this.#missing++;
      return;
    }
    if (this.#count % this.#every === 0) this.#kept[this.#count / this.#every] = value;
    this.#count++;
    const difference = value - this.#mean;
    this.#mean += difference / this.#count;
    this.#squares += difference * (value - this.#mean);
  }

  get count(): number {
    return this.#count;
  }

  get hasMissing(): boolean {
    return this.#missing > 0;
  }

  get mean(): number {
    return this.#mean;
  }

  /** Standard deviation over all values (divided by their number), as usual for standardising. */
  get deviation(): number {
    return this.#count === 0 ? 0 : Math.sqrt(this.#squares / this.#count);
  }

  get median(): number {
    return medianOf(this.#kept.subarray(0, Math.ceil(this.#count / this.#every)));
  }

  recipe(column: StoredColumn): FeatureRecipe | null {
    const { name, missing } = column;
    const numbers = spellingOf(column);
    if (this.count === 0 || (!isSpread(this) && !this.hasMissing)) return null;
    const deviation = isSpread(this) ? this.deviation : 1;
    const { median, mean } = this;
    return {
      kind: 'number',
      column: name,
      missing: [...missing],
      missingShare: shareOf(this.#missing, this.count),
      ...(numbers === undefined ? {} : { numbers }),
      impute: median,
      mean,
      deviation,
      indicator: this.hasMissing,
    };
  }
}

function shareOf(missing: number, present: number): number {
  return missing === 0 ? 0 : missing / (missing + present);
}

/** Whether values differ by more than rounding. */
function isSpread({ mean, deviation }: NumberFitter): boolean {
  return deviation > 1e-12 * Math.max(1e-300, Math.abs(mean));
}

class BooleanFitter implements Fitter {
  #yes = 0;
  #no = 0;
  #missing = 0;

  add(value: number | null): void {
    if (value === null) this.#missing++;
    else if (value === 1) this.#yes++;
    else this.#no++;
  }

  recipe({ name, missing }: StoredColumn): FeatureRecipe | null {
    const kinds = Number(this.#yes > 0) + Number(this.#no > 0) + Number(this.#missing > 0);
    if (kinds < 2) return null;
    const impute = this.#yes > this.#no ? 1 : 0;
    const missingShare = shareOf(this.#missing, this.#yes + this.#no);
    return { kind: 'boolean', column: name, missing: [...missing], missingShare, impute, indicator: this.#missing > 0 };
  }
}

class CategoryFitter implements Fitter {
  readonly #dictionary: readonly string[];
  readonly #counts: Uint32Array;

  constructor(dictionary: readonly string[]) {
    this.#dictionary = dictionary;
    this.#counts = new Uint32Array(dictionary.length + 1);
  }

  add(code: number | null): void {
    const index = code ?? 0;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  recipe({ name, missing }: StoredColumn): FeatureRecipe | null {
    const categories = this.#dictionary.filter((_, index) => (this.#counts[index + 1] ?? 0) > 0);
    const indicator = (this.#counts[0] ?? 0) > 0;
    if (categories.length === 0 || (categories.length === 1 && !indicator)) return null;
    const [unknown = 0, ...known] = this.#counts;
    const missingShare = shareOf(
      unknown,
      known.reduce((sum, count) => sum + count, 0),
    );
    const base = { column: name, missing: [...missing], missingShare, categories };
    if (categories.length <= oneHotLimit) return { kind: 'one_hot', ...base, indicator };
    return { kind: 'embedding', ...base, dimensions: embeddingDimensions(categories.length) };
  }
}

class TimeFitter implements Fitter {
  readonly #numbers: NumberFitter;
  /** Least and greatest of each part: parts that vary are used. */
  readonly #ranges = new Map<DatePart, [number, number]>();

  constructor(rows: number, limit: number) {
    this.#numbers = new NumberFitter(rows, limit);
  }

  add(value: number | null): void {
    this.#numbers.add(value);
    if (value === null) return;
    for (const part of ['month', 'weekday', 'hour'] as const) {
      const now = datePart(value, part);
      const range = this.#ranges.get(part);
      if (range === undefined) this.#ranges.set(part, [now, now]);
      else if (now < range[0]) range[0] = now;
      else if (now > range[1]) range[1] = now;
    }
  }

  recipe(column: StoredColumn): FeatureRecipe | null {
    const base = this.#numbers.recipe({ ...column, numbers: undefined, written: undefined });
    if (base?.kind !== 'number') return null;
    // Days within one month say nothing about the time of year.
    const varies = { month: 1 / 12, weekday: 0, hour: 0 };
    const parts = [...this.#ranges]
      .filter(([part, [least, most]]) => most - least > varies[part])
      .map(([part]) => part);
    const format = column.dateFormat === undefined ? {} : { dateFormat: column.dateFormat };
    return { ...base, kind: 'datetime', ...format, parts };
  }
}
