// Rows as places on two grids, of which one lies half a step beside the other, so that rounding rarely parts copies.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import { explainFailure } from '../failures.ts';
import { double } from '../sql.ts';
import { numericValue, typedValue } from './stored.ts';
import type { StoredColumn } from './stored.ts';
import { columnsAtOnce } from './table.ts';
import type { MeasuredTable } from './table.ts';

/** A column that counts when rows are compared: a feature in use, or the target. */
export interface ComparedColumn {
  readonly column: StoredColumn;
  readonly info: ColumnInfo;
}

/** All rows as places on the two grids of a step. */
export interface PlacedRows {
  /** Rows that are different from each other on both grids. */
  readonly different: number;
  /**
   * SQL for a relation: `file_row_number`, and the row's places `one` and `other` on the two grids, of which one is the same
   * for copies; `beside` is the given expression of the table's columns. Not where all rows are different.
   */
  from(beside?: string): string;
}

/** Step of the grids in standard deviations, at most and at least: copies differ by far less than neighbours do. */
const coarsest = 0.02;
export const finestStep = 1e-6;

/** The step is as coarse as it may be: three times as many bits as tell the rows apart are left, so that hardly any meet by chance. */
export function coarsestStep(columns: readonly ComparedColumn[], rows: number): number {
  const measured = columns.filter(({ info }) => isMeasured(info)).length;
  return Math.max(finestStep, Math.min(coarsest, 4 * 2 ** ((-3 * Math.log2(rows)) / Math.max(1, measured))));
}

export function isMeasured({ type, deviation = 0 }: ColumnInfo): boolean {
  return (type === 'number' || type === 'datetime') && deviation > 0 && Number.isFinite(deviation);
}

/**
 * Of a wide table, the places are held in memory by the connection, until others are placed by the same name: the time to plan
 * one statement grows faster than its columns, to minutes for 5,000.
 */
export async function placeOnGrids(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly ComparedColumn[],
  step: number,
  name: 'copy_grids' | 'finer_copy_grids' = 'copy_grids',
): Promise<PlacedRows> {
  if (columns.length <= columnsAtOnce) {
    const from = (beside = 'NULL'): string => placeRows(table, columns, step, beside);
    return { different: await countDifferent(connection, from()), from };
  }
  let different = 0;
  for (let start = 0; start < columns.length && different < table.rows; start += columnsAtOnce) {
    const rows = placeRows(table, columns.slice(start, start + columnsAtOnce), step);
    const selected =
      start === 0
        ? `file_row_number, one, other FROM ${rows}`
        : `file_row_number, hash(before.one, next.one) AS one, hash(before.other, next.other) AS other
           FROM ${name} AS before JOIN ${rows} AS next USING (file_row_number)`;
    await explainFailure(() => connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS SELECT ${selected}`));
    different = await countDifferent(connection, name);
  }
  return {
    different,
    from: (beside) =>
      beside === undefined
        ? name
        : `(SELECT * FROM ${name} JOIN (SELECT file_row_number, ${beside} AS beside FROM ${table.from}) USING (file_row_number))`,
  };
}

async function countDifferent(connection: DuckDBConnection, placed: string): Promise<number> {
  const [row = {}] = await queryRows(
    connection,
    `SELECT count(DISTINCT one) AS a, count(DISTINCT other) AS b FROM ${placed}`,
  );
  return Math.min(Number(row.a), Number(row.b));
}

/** SQL for a relation as `PlacedRows.from` gives it. */
function placeRows(table: MeasuredTable, columns: readonly ComparedColumn[], step: number, beside = 'NULL'): string {
  const grid = (offset: number): string => `hash(${columns.map((column) => onGrid(column, step, offset)).join(', ')})`;
  return `(SELECT file_row_number, ${grid(0)} AS one, ${grid(0.5)} AS other, ${beside} AS beside FROM ${table.from})`;
}

function onGrid({ column, info }: ComparedColumn, step: number, offset: number): string {
  const { type, mean = 0, deviation = 1 } = info;
  if (type !== 'number' && type !== 'datetime') return typedValue(column, type);
  const value = numericValue(column, type);
  if (!isMeasured(info)) return value;
  // Adding 0 makes one number of 0 and −0.
  return `floor(((${value}) - ${double(mean)}) / ${double(deviation * step)} + ${double(offset)}) + 0`;
}
