// Raw columns → prepared rows in their splits, and what is known about them. Training data and new files come through here.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, PreparedData } from '../../protocol/data.ts';
import { streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import type { MeasuredTable } from '../schema/table.ts';
import type { DatasetStore } from '../store.ts';
import { RowEncoder } from './encode.ts';
import { inputSpec, outputSpec } from './recipe.ts';
import type { Preprocessing } from './recipe.ts';
import { RowWriter, shardStarts } from './row-store.ts';
import { makeValues, type NumberColumn, type RawCells, type Values } from './values.ts';
import type { RowStore } from './row-store.ts';

export interface WriteRequest {
  readonly table: MeasuredTable;
  /** SQL for the raw value of each feature, in the recipe's order. */
  readonly features: readonly string[];
  /** SQL for the raw value of the target; null = the table has none. */
  readonly target: string | null;
  readonly preprocessing: Preprocessing;
  /** Rows of each split. */
  readonly counts: readonly [number, number, number];
  /** Split of a row of the table; rows of a split that counts none are not written. */
  readonly splitOf: (row: number) => number;
  /** Told of each chunk of columns and of the rows that were made of it: x [rows, width]. */
  readonly watch?: (columns: readonly RawCells[], rows: number, x: Values, width: number) => void;
  readonly store: DatasetStore;
  readonly memoryBytes: number;
  readonly job: Job;
}

/** Encodes all rows and sorts them into their splits. */
export async function writeRows(
  connection: DuckDBConnection,
  request: WriteRequest,
): Promise<{ rows: RowStore; classCounts: number[] }> {
  const { table, features, target, preprocessing, counts, splitOf, store, memoryBytes, job } = request;
  const encoder = new RowEncoder(preprocessing);
  const expressions = target === null ? features : [...features, target];
  const { width, element } = encoder;
  const shape = { rows: counts[0] + counts[1] + counts[2], element, width, targets: 1 };
  const writer = await RowWriter.create(shape, counts, store, memoryBytes);
  const recipe = preprocessing.target;
  const classCounts = new Array<number>(recipe.kind === 'classes' ? recipe.classes.length : 0).fill(0);
  let x = makeValues(element, 0);
  let y = new Float32Array(0);
  let places = new Uint32Array(0);
  let start = 0;
  const report = job.stage('Preparing rows');
  try {
    await streamNumbers(connection, `SELECT ${expressions.join(', ')} FROM ${table.from}`, job, async (chunk, rows) => {
      if (y.length < rows) {
        [x, y] = [makeValues(element, rows * width), new Float32Array(rows)];
        places = new Uint32Array(rows);
      }
      encoder.encodeTarget(target === null ? null : (chunk[features.length] ?? null), rows, y);
      let kept = 0;
      for (let row = 0; row < rows; row++) {
        const split = splitOf(start + row);
        if (split === 0 && classCounts.length > 0)
          classCounts[y[row] as number] = (classCounts[y[row] as number] ?? 0) + 1;
        if ((counts[split] ?? 0) > 0) places[kept++] = row;
      }
      // Where few rows are wanted the others need not be encoded.
      const columns = kept === rows ? chunk : chunk.map((column) => new SomeRows(column, places));
      encoder.encode(columns, kept, x);
      request.watch?.(columns, kept, x, width);
      for (let row = 0; row < kept; row++) y[row] = y[places[row]];
      await writer.add(x, y, kept, (row) => splitOf(start + places[row]));
      start += rows;
      report(start / table.rows);
    });
    return { rows: await writer.finish(), classCounts };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** Some rows of a column. */
class SomeRows implements NumberColumn {
  readonly #column: NumberColumn;
  readonly #places: Uint32Array;

  constructor(column: NumberColumn, places: Uint32Array) {
    this.#column = column;
    this.#places = places;
  }

  getItem(index: number): number | null {
    return this.#column.getItem(this.#places[index]);
  }
}

/** Everything about prepared rows except their handle. */
export function describePrepared(
  preprocessing: Preprocessing,
  counts: readonly [number, number, number],
  classCounts: readonly number[],
  warnings: readonly DataWarning[],
): PreparedData {
  const input = inputSpec(preprocessing);
  const output = outputSpec(preprocessing);
  const { width, element } = new RowEncoder(preprocessing);
  const rows = counts[0] + counts[1] + counts[2];
  return {
    handle: '',
    input,
    output,
    task: output.kind === 'classes' ? 'classification' : 'regression',
    counts: { train: counts[0], validation: counts[1], test: counts[2] },
    width,
    targets: 1,
    shardStarts: shardStarts({ rows, element, width, targets: 1 }),
    classCounts,
    preprocessing,
    leftOut: preprocessing.leftOut,
    warnings,
  };
}
