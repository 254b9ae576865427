// Rows that hold columns as they are → the rows a model learned from, by the recipe that its run keeps: one preparation serves whoever
// shows the columns and whoever asks the model. N rows.

import type { PreparedData, Shard } from '../../protocol/data.ts';
import { rawCodes, type RawColumn, type RawText } from '../../model/spec.ts';
import { packedWidth, unpackText } from '../../text/packed.ts';
import { isImagePreprocessing, parseImagePreprocessing } from '../images/recipe.ts';
import { RowEncoder } from './encode.ts';
import { inputSpec, parsePreprocessing, rawColumns, textFeatures, type Preprocessing } from './recipe.ts';
import { makeValues, type NumberColumn, type TextCells, type Values } from './values.ts';

interface PreparedRows {
  readonly data: PreparedData;
  readonly readShard: (index: number) => Promise<Shard>;
}

/**
 * The same rows, split by split and shard by shard, as `preprocessing` makes them. They have its columns at least, under dictionaries of
 * their own. Columns for a model that learned from those stay, and so do pictures but for how they are scaled.
 */
export function modelledRows<R extends PreparedRows>(rows: R, preprocessing: unknown): R {
  const { data, readShard } = rows;
  if (isImagePreprocessing(preprocessing)) {
    const { mean, deviation } = parseImagePreprocessing(preprocessing);
    return { ...rows, data: { ...data, normalization: { mean, deviation } } };
  }
  if (data.input.kind !== 'columns') return rows;
  const recipe = parsePreprocessing(preprocessing);
  const { columns, texts = [] } = data.input;
  const taken = takenColumns(columns, recipe);
  const read = takenTexts(columns.length, texts, recipe);
  const same = taken.length === columns.length && taken.every(({ codes, from }, at) => codes === null && from === at);
  const wide = textFeatures(recipe).map(({ characters }) => packedWidth(characters));
  const sameTexts = wide.length === texts.length && texts.every(({ width: own }, at) => own === wide[at]);
  if (recipe.form === 'columns' && same && sameTexts) return rows;
  const encode = columnsEncoder(recipe);
  const { width } = data;
  return {
    ...rows,
    data: { ...data, input: inputSpec(recipe), width: encode.width, preprocessing },
    readShard: async (index) => {
      const { rows: count, x, y } = await readShard(index);
      const values = taken.map(({ from, codes }) => {
        const own = new Float64Array(count);
        for (let row = 0; row < count; row++) own[row] = x[row * width + from];
        return codes ? own.map((code) => codes[code]) : own;
      });
      const cells = read.map((at) => ({ getItem: (row: number) => unpackText(x, row * width + at) }));
      return { rows: count, x: encode.encode(values, count, cells), y };
    },
  };
}

/** Columns as they are without the texts behind them, for models that cannot read those. */
export function withoutTexts<R extends PreparedRows>(rows: R): R {
  const { data, readShard } = rows;
  if (data.input.kind !== 'columns' || data.input.texts === undefined) return rows;
  const { columns } = data.input;
  const width = columns.length;
  return {
    ...rows,
    data: { ...data, input: { kind: 'columns', columns }, width },
    readShard: async (index) => {
      const { rows: count, x, y } = await readShard(index);
      const own = new Float64Array(count * width);
      for (let row = 0; row < count; row++) {
        for (let i = 0; i < width; i++) own[row * width + i] = x[row * data.width + i];
      }
      return { rows: count, x: own, y };
    },
  };
}

/** Where a column of a recipe stands among others, and its codes by theirs; null: they are the same. */
interface TakenColumn {
  readonly from: number;
  readonly codes: Float64Array | null;
}

/** A category that the recipe does not have is one that its training did not see. */
function takenColumns(columns: readonly RawColumn[], recipe: Preprocessing): readonly TakenColumn[] {
  return rawColumns(recipe).map((wanted): TakenColumn => {
    const from = columns.findIndex(({ name }) => name === wanted.name);
    const there = columns[from] as RawColumn | undefined;
    if (there === undefined) throw new RangeError(`these rows have no column ${wanted.name}`);
    if (wanted.kind !== 'category' || there.kind !== 'category') return { from, codes: null };
    const { missing, unseen, first } = rawCodes;
    const places = new Map(wanted.categories.map((category, place) => [category, place + first]));
    const known = there.categories.map((category) => places.get(category) ?? unseen);
    const same = known.length === places.size && known.every((code, place) => code === place + first);
    return { from, codes: same ? null : Float64Array.of(missing, unseen, ...known) };
  });
}

/** Where the texts of a recipe begin among the numbers of a row that holds others behind so many columns. */
function takenTexts(columns: number, texts: readonly RawText[], recipe: Preprocessing): readonly number[] {
  return textFeatures(recipe).map((wanted) => {
    const place = texts.findIndex(({ name }) => name === wanted.column);
    if (place < 0) throw new RangeError(`these rows have no text ${wanted.column}`);
    return texts.slice(0, place).reduce((at, { width }) => at + width, columns);
  });
}

export interface ColumnsEncoder {
  readonly width: number;
  /** [C][N] columns as they are, and the texts behind them → x [N, width]. */
  readonly encode: (columns: readonly Float64Array[], rows: number, texts?: readonly TextCells[]) => Values;
}

/** Encodes columns as they are (`RawColumn`), in the order of the recipe's features; texts stand behind all others. */
export function columnsEncoder(recipe: Preprocessing): ColumnsEncoder {
  const encoder = new RowEncoder(recipe);
  const coded = recipe.form === undefined;
  return {
    width: encoder.width,
    encode(columns, rows, texts = []) {
      const x = makeValues(encoder.element, rows * encoder.width);
      const [nextColumn, nextText] = [columns.values(), texts.values()];
      const read = recipe.features.map(({ kind }) =>
        kind === 'text'
          ? (nextText.next().value as TextCells)
          : asRead(nextColumn.next().value as Float64Array, coded && (kind === 'one_hot' || kind === 'embedding')),
      );
      encoder.encode(read, rows, x);
      return x;
    },
  };
}

/** A raw column as a recipe's encoder takes it: null for what is missing; codes of categories from 1, 0 = missing or unseen. */
function asRead(values: Float64Array, category: boolean): NumberColumn {
  if (category) return { getItem: (row) => Math.max(0, values[row] - rawCodes.first + 1) };
  return { getItem: (row) => (Number.isNaN(values[row]) ? null : values[row]) };
}
