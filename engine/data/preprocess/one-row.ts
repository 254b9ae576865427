// Rows given one by one, as objects of values, made ready for a model by a fitted recipe: what a form or a request of the server
// holds. Cells of files are read by the SQL of features.ts; both read the same words alike, which tests/unit/data/one-row.test.ts proves.

import { rawCodes } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import { ownValue } from '../../protocol/own.ts';
import { missingWords } from '../schema/spelling.ts';
import { truthOf } from '../schema/stored.ts';
import { CutTexts } from './cut-texts.ts';
import { RowEncoder } from './encode.ts';
import { bareName, meantCategory } from './forms.ts';
import { fewestRows, likeOthers, spreadOfValues } from './likeness.ts';
import type { CellValue } from '../../protocol/data.ts';
import { valueOfRaw, type FeatureRecipe, type Preprocessing } from './recipe.ts';
import { makeValues, type RawCells, type Values } from './values.ts';
import { placelessOf, placelessWarning } from './placeless.ts';
import { readTime } from './read-time.ts';
import { readersOfNumbers } from './request-numbers.ts';

/** Values by the name of their column. */
export type RowObject = Readonly<Record<string, unknown>>;

export interface EncodedRows {
  readonly rows: number;
  /** [rows, width] */
  readonly x: Values;
  /** What could not be used of each row, in words. */
  readonly reasons: readonly (readonly string[])[];
  /** What all of them together look like: columns that were exchanged, texts that the model does not read to their end. */
  readonly warnings: readonly string[];
}

interface Reader {
  readonly recipe: FeatureRecipe;
  /** The value that the encoder takes; null = missing, undefined = it cannot be used. */
  readonly read: (value: unknown) => number | string | null | undefined;
  readonly problem: string;
}

export class RowReader {
  readonly #readers: readonly Reader[];
  readonly #encoder: RowEncoder;
  /** Names without case and marks that stand for one column alone. */
  readonly #bare = new Map<string, number>();
  readonly #preprocessing: Preprocessing;

  constructor(preprocessing: Preprocessing) {
    this.#preprocessing = preprocessing;
    this.#readers = preprocessing.features.map(readerOf);
    this.#encoder = new RowEncoder(preprocessing);
    preprocessing.features.forEach(({ column }, index) => {
      const name = bareName(column);
      this.#bare.set(name, this.#bare.has(name) ? -1 : index);
    });
  }

  get width(): number {
    return this.#encoder.width;
  }

  /**
   * A row has every column of the model; null says that a value is missing, other members are left alone.
   * @throws InputError `input.missing_column` naming the row and the column that is not there.
   */
  read(rows: readonly RowObject[]): EncodedRows {
    const raw = this.#readers.map(() => new Array<number | string | null>(rows.length).fill(null));
    const given = rows.map((row) => this.#givenBy(row));
    const readers = this.#readersOf(given);
    const reasons = given.map((row, at) => this.#readRow(readers, row, at, raw));
    const x = makeValues(this.#encoder.element, rows.length * this.#encoder.width);
    const columns = raw.map((values) => ({ getItem: (row: number) => values[row] ?? null }) as RawCells);
    this.#encoder.encode(columns, rows.length, x);
    const cut = new CutTexts(this.#preprocessing);
    cut.watch(columns, rows.length, x, this.#encoder.width);
    const cutTexts = cut.warnings.map(({ message }) => message);
    return { rows: rows.length, x, reasons, warnings: [...this.#exchanged(raw), ...this.#placeless(raw), ...cutTexts] };
  }

  /** A row as it is read, column by column: what is not given or cannot be used is null, a category that is unknown its own word. */
  values(row: RowObject): Readonly<Record<string, CellValue>> {
    const given = this.#givenBy(row);
    return Object.fromEntries(
      this.#readersOf([given]).map(({ recipe, read }, index) => {
        const value = given.get(index);
        const found = read(value);
        const unknown = found === undefined && 'categories' in recipe;
        return [recipe.column, unknown ? String(value) : valueOfRaw(recipe, found)];
      }),
    );
  }

  /** As of the columns of a file; of a few rows nothing can be told. */
  #exchanged(raw: readonly (readonly (number | string | null)[])[]): readonly string[] {
    if ((raw[0]?.length ?? 0) < fewestRows) return [];
    const columns = this.#readers.flatMap(({ recipe }, index) =>
      recipe.kind === 'number' || recipe.kind === 'datetime'
        ? [{ recipe, own: spreadOfValues(raw[index] as readonly (number | null)[]) }]
        : [],
    );
    return likeOthers(columns).map(({ message }) => message);
  }

  #placeless(raw: readonly (readonly (number | string | null)[])[]): readonly string[] {
    return this.#readers.flatMap(({ recipe }, index) => {
      const token = placelessOf(recipe);
      const found = raw[index].filter(
        (text) => token !== undefined && typeof text === 'string' && text.includes(token),
      );
      return placelessWarning(recipe, found.length).map(({ message }) => message);
    });
  }

  /** Those of numbers as the rows of this request settle how they are written. */
  #readersOf(given: readonly ReadonlyMap<number, unknown>[]): readonly Reader[] {
    const columns = this.#readers.flatMap(({ recipe }, index) =>
      recipe.kind === 'number' ? [{ index, recipe, values: given.map((row) => row.get(index)) }] : [],
    );
    const numbers = readersOfNumbers(columns);
    const settled = new Map(columns.map(({ index }, place) => [index, numbers[place]]));
    return this.#readers.map((reader, index): Reader => {
      const number = settled.get(index);
      if (number === undefined) return reader;
      return { ...reader, read: (value) => present(value, reader.recipe, number) };
    });
  }

  #readRow(
    readers: readonly Reader[],
    given: ReadonlyMap<number, unknown>,
    at: number,
    raw: readonly (number | string | null)[][],
  ): readonly string[] {
    return readers.flatMap(({ recipe, read, problem }, index) => {
      if (!given.has(index)) {
        const message = `Row ${at + 1} has no "${recipe.column}".`;
        throw new InputError(
          'input.missing_column',
          message,
          'Give every column of the model; null says that it is missing.',
        );
      }
      const value = given.get(index);
      const found = read(value);
      raw[index][at] = this.#code(recipe, found);
      if (found !== undefined) return found === null && neverMissing(recipe) ? [`${recipe.column} is missing`] : [];
      return [`${recipe.column}: ${JSON.stringify(value)} is ${problem}`];
    });
  }

  /** Values by the number of their feature: by the very name, else by the name without case and marks. */
  #givenBy(row: RowObject): ReadonlyMap<number, unknown> {
    const given = new Map<number, unknown>();
    this.#readers.forEach(({ recipe }, index) => {
      if (Object.hasOwn(row, recipe.column)) given.set(index, ownValue(row, recipe.column));
    });
    if (given.size === this.#readers.length) return given;
    for (const [name, value] of Object.entries(row)) {
      const index = this.#bare.get(bareName(name)) ?? -1;
      if (index >= 0 && !given.has(index)) given.set(index, value);
    }
    return given;
  }

  /** As `rawCell` of features.ts has it, where rows hold columns as they are. */
  #code({ kind }: FeatureRecipe, value: number | string | null | undefined): number | string | null {
    const category = kind === 'one_hot' || kind === 'embedding';
    if (!category || typeof value === 'string') return value ?? null;
    if (this.#preprocessing.form !== 'columns') return value ?? 0;
    if (value === null) return rawCodes.missing;
    return value === undefined ? rawCodes.unseen : value - 1 + rawCodes.first;
  }
}

function neverMissing(recipe: FeatureRecipe): boolean {
  return recipe.missingShare === 0;
}

function readerOf(recipe: FeatureRecipe): Reader {
  switch (recipe.kind) {
    case 'number':
      // How numbers are read, the rows of a request settle.
      return { recipe, problem: 'no number', read: () => undefined };
    case 'boolean':
      return { recipe, problem: 'neither yes nor no', read: (value) => present(value, recipe, readBoolean) };
    case 'datetime':
      return {
        recipe,
        problem: 'no date',
        read: (value) => present(value, recipe, (one) => readTime(one, recipe.dateFormat)),
      };
    case 'one_hot':
    case 'embedding':
      return { recipe, problem: 'unknown', read: categoryReader(recipe) };
    case 'text':
      return { recipe, problem: 'no text', read: (value) => presentText(value, recipe) };
    default:
      return recipe satisfies never;
  }
}

/** Words for a missing value, in lower case, as a file has them. */
const wordsForMissing: ReadonlySet<string> = new Set(missingWords([]));

/** Null where a value is missing: null itself, nothing but spaces, what meant "missing" in training, and a word for it that is no value here. */
function present<T>(
  value: unknown,
  { missing }: FeatureRecipe,
  read: (value: unknown) => T | undefined,
  words = wordsForMissing,
): T | null | undefined {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') return read(value);
  const text = value.trim();
  if (text === '' || missing.includes(text)) return null;
  return read(text) ?? (words.has(text.toLowerCase()) ? null : undefined);
}

/** A text keeps its spaces; as in files, only space separators of Unicode do not count where it is told that it is missing. */
function presentText(value: unknown, recipe: FeatureRecipe & { readonly kind: 'text' }): string | null | undefined {
  if (value === null || value === undefined) return null;
  const text = readText(value);
  const bare = text?.replaceAll(/^\p{Zs}+|\p{Zs}+$/gu, '');
  return bare === undefined || (bare !== '' && !meansMissing(bare, recipe)) ? text : null;
}

const meansMissing = (bare: string, { missing, exact }: FeatureRecipe & { readonly kind: 'text' }): boolean =>
  missing.includes(bare) || (exact !== true && wordsForMissing.has(bare.toLowerCase()));

const readText = (value: unknown): string | undefined => (typeof value === 'object' ? undefined : String(value));

function readBoolean(value: unknown): number | undefined {
  const truth = truthOf(String(value));
  return truth === undefined ? undefined : Number(truth);
}

/** Position of the category from 1: by its very name, else by what it means where that is clear. */
function categoryReader(recipe: FeatureRecipe & { readonly categories: readonly string[] }): Reader['read'] {
  const exact = new Map(recipe.categories.map((category, index) => [category, index + 1]));
  const meant = meantCategory(recipe.categories);
  const known = (text: string): number | undefined => exact.get(text) ?? meant(text);
  const words = new Set(missingWords(recipe.categories));
  return (value) =>
    typeof value === 'string' && exact.has(value)
      ? exact.get(value)
      : present(value, recipe, (one) => (typeof one === 'object' ? undefined : known(String(one))), words);
}
