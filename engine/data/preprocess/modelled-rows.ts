// Rows that hold columns as they are → the rows a model learned from, by the recipe that its run keeps: one preparation serves whoever
// shows the columns and whoever asks the model. N rows.

import type { PreparedData, Shard } from '../../protocol/data.ts';
import { rawCodes } from '../../model/spec.ts';
import { RowEncoder } from './encode.ts';
import { inputSpec, parsePreprocessing, type Preprocessing } from './recipe.ts';
import { makeValues, type NumberColumn, type Values } from './values.ts';

interface PreparedRows {
  readonly data: PreparedData;
  readonly readShard: (index: number) => Promise<Shard>;
}

/** The same rows, split by split and shard by shard, as `preprocessing` makes them. Pictures, and columns for a model that learned from those, stay. */
export function modelledRows<R extends PreparedRows>(rows: R, preprocessing: unknown): R {
  const { data, readShard } = rows;
  if (data.input.kind !== 'columns') return rows;
  const recipe = parsePreprocessing(preprocessing);
  if (recipe.form === 'columns') return rows;
  const encode = columnsEncoder(recipe);
  const columns = recipe.features.length;
  return {
    ...rows,
    data: { ...data, input: inputSpec(recipe), width: encode.width, preprocessing },
    readShard: async (index) => {
      const { rows: count, x, y } = await readShard(index);
      const values = recipe.features.map(() => new Float64Array(count));
      for (let row = 0; row < count; row++) {
        for (let column = 0; column < columns; column++) values[column][row] = x[row * columns + column];
      }
      return { rows: count, x: encode.encode(values, count), y };
    },
  };
}

export interface ColumnsEncoder {
  readonly width: number;
  /** [C][N] columns as they are → x [N, width]. */
  readonly encode: (columns: readonly Float64Array[], rows: number) => Values;
}

/** Encodes columns as they are (`RawColumn`), in the order of the recipe's features. */
export function columnsEncoder(recipe: Preprocessing): ColumnsEncoder {
  const encoder = new RowEncoder(recipe);
  const coded = recipe.form === undefined;
  return {
    width: encoder.width,
    encode(columns, rows) {
      const x = makeValues(encoder.element, rows * encoder.width);
      const read = recipe.features.map(({ kind }, column) =>
        asRead(columns[column], coded && (kind === 'one_hot' || kind === 'embedding')),
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
