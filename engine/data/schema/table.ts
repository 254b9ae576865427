// Where a dataset's rows are: the whole table, and an even sample of it for what need not look at every row.

import type { DuckDBConnection } from '@duckdb/node-api';
import { explainFailure } from '../failures.ts';
import { parquetTable, quoteName } from '../sql.ts';
import type { NumberMoments } from './moments.ts';

export interface MeasuredTable {
  /** Table expression of all rows, with `file_row_number` (from 0). */
  readonly from: string;
  readonly rows: number;
  /** Table expression of some rows, evenly spread; the same as `from` for tables that are not long. */
  readonly sample: string;
  /** What is known of columns of numbers already, by name: over all rows, infinite values and all. */
  readonly numbers?: ReadonlyMap<string, NumberMoments>;
}

/** Rows of a sample, and cells, which bound it for wide tables. A median from it is off by about 0.3 % of the rows. */
const sampleRows = 2 ** 15;
const sampleCells = 2 ** 22;
const fewestRows = 4096;

/** A Parquet file as a table. */
export function measuredTable(path: string, rows: number, columns: number): MeasuredTable {
  const from = parquetTable(path);
  const step = Math.ceil(rows / Math.max(fewestRows, Math.min(sampleRows, sampleCells / columns)));
  const sample = step <= 1 ? from : `(SELECT * FROM ${from} WHERE file_row_number % ${step} = 0)`;
  return { from, rows, sample };
}

/** Columns looked at together: a wide table does not fit into memory, a part of its columns does. */
export const columnsAtOnce = 256;

/**
 * Some columns of a table for many queries in a row: their sample (or all rows, if there are not many) is read into memory
 * once. What was held by this name before is let go.
 */
export async function holdSample(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly string[],
  name = 'held_sample',
): Promise<MeasuredTable> {
  const selected = [...columns.map(quoteName), 'file_row_number'].join(', ');
  await explainFailure(() =>
    connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS SELECT ${selected} FROM ${table.sample}`),
  );
  return { ...table, sample: name, ...(table.sample === table.from ? { from: name } : {}) };
}
