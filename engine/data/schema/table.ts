// Where a dataset's rows are: the whole table, and an even sample of it for what need not look at every row.

import type { DuckDBConnection } from '@duckdb/node-api';
import { explainFailure } from '../failures.ts';
import { parquetTable, quoteName, quoteText } from '../sql.ts';
import type { NumberMoments } from './moments.ts';

export interface MeasuredTable {
  /** Table expression of all rows, with `file_row_number` (from 0). */
  readonly from: string;
  readonly rows: number;
  /** Table expression of some rows, evenly spread; the same as `from` for tables that are not long. */
  readonly sample: string;
  /** The sample is a small file of its own. */
  readonly apart?: true;
  /** What is known of columns of numbers already, by name: over all rows, infinite values and all. */
  readonly numbers?: ReadonlyMap<string, NumberMoments>;
}

/** Rows of a sample, and cells, which bound it for wide tables. A median from it is off by about 0.3 % of the rows. */
const sampleRows = 2 ** 15;
const sampleCells = 2 ** 22;
const fewestRows = 4096;

/** The name by which tables know a row's place. */
export const rowNumber = 'file_row_number';

/** Every so manieth row of a table is in its sample; 1 = all of them. */
export function sampleStep(rows: number, columns: number): number {
  return Math.max(1, Math.ceil(rows / Math.max(fewestRows, Math.min(sampleRows, sampleCells / columns))));
}

/** A sample that is a file of its own, with the places of its rows among its columns, as a table expression. */
export function sampleTable(path: string): string {
  return `(SELECT * REPLACE (CAST(${rowNumber} AS BIGINT) AS ${rowNumber}) FROM read_parquet(${quoteText(path)}))`;
}

/** A Parquet file as a table. */
export function measuredTable(path: string, rows: number, columns: number): MeasuredTable {
  const from = parquetTable(path);
  const step = sampleStep(rows, columns);
  const sample = step <= 1 ? from : `(SELECT * FROM ${from} WHERE file_row_number % ${step} = 0)`;
  return { from, rows, sample };
}

/** Columns looked at together: a wide table does not fit into memory, a part of its columns does. */
export const columnsAtOnce = 256;

/**
 * Some columns of a table for many queries in a row: their sample (or all rows, if there are not many) is read into memory
 * once, unless it is a file of its own: a table in memory takes 50 ms to make. What was held by this name before is let go.
 */
export async function holdSample(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly string[],
  name = 'held_sample',
): Promise<MeasuredTable> {
  if (table.apart === true) return table;
  const selected = [...columns.map(quoteName), 'file_row_number'].join(', ');
  await explainFailure(() =>
    connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS SELECT ${selected} FROM ${table.sample}`),
  );
  return { ...table, sample: name, ...(table.sample === table.from ? { from: name } : {}) };
}
