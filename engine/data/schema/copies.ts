// Rows that are copies of each other in the columns a model uses, whatever identifier they carry. Numbers may differ a little:
// they are compared on grids (copy-grids.ts).

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning, SplitBy } from '../../protocol/data.ts';
import { queryRows, streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import { coarsestStep, finestStep, isMeasured, placeOnGrids } from './copy-grids.ts';
import type { ComparedColumn, PlacedRows } from './copy-grids.ts';
import { numericValue, typedValue } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { show } from './typing.ts';

/** Copies are still there on a grid finer by this; of neighbours most are gone. */
const finer = 16;
/** In longer tables copies are not looked for: it would take more memory than the table. */
const longestTable = 20_000_000;
/** With more rows for each different one, rows are alike because the columns say little, not because they were copied. */
const rowsPerCombination = 5;
/** Columns that may tell all rows apart, so that the others need not be read; more where those are too few. */
const tellingColumns = [6, 64];
/** Row numbers listed with a warning. */
const listedRows = 10;

/** How many rows repeat earlier ones. */
interface Repeats {
  readonly repeated: number;
  /** Different rows there are. */
  readonly different: number;
  /** The repeats are copies, rather than rows that are alike by chance. */
  readonly copies: boolean;
  /** The grids on which they were found. */
  readonly placed: PlacedRows;
}

/** A split that goes by a column: copies do not keep together in it. */
export interface SplitOfCopies {
  readonly kind: SplitBy['kind'];
  readonly by: ComparedColumn;
  /** Share of the rows that are not of the test split. */
  readonly before: number;
}

/** What to say about rows that repeat others; null = none does. `split`: they may be on both sides of it. */
export async function copiesWarning(
  connection: DuckDBConnection,
  table: MeasuredTable,
  all: readonly ComparedColumn[],
  split: SplitOfCopies | null = null,
): Promise<DataWarning | null> {
  const columns = all.filter(({ info }) => info.name !== split?.by.info.name);
  const repeats = await countRepeats(connection, table, columns);
  if (repeats === null) return null;
  const { repeated, different, copies, placed } = repeats;
  const rows = await queryRows(
    connection,
    `SELECT file_row_number + 1 AS number FROM ${placed.from()}
     QUALIFY row_number() OVER (PARTITION BY one ORDER BY number) > 1 ORDER BY number LIMIT ${listedRows}`,
  );
  const which = `${show(repeated)} ${repeated === 1 ? 'row repeats an earlier one' : 'rows repeat earlier ones'} in the columns used`;
  return {
    code: 'duplicates',
    message: copies
      ? split === null
        ? `${which}: copies are kept in one split, unless it goes by time or group.`
        : `${which}${await acrossSplit(connection, placed, split)}`
      : `${which}, as these allow few combinations (${show(different)}): results look better than they are when both are in different splits.`,
    rows: rows.map((row) => Number(row.number)),
  };
}

/** How many copies a split parts, and what to do. */
async function acrossSplit(
  connection: DuckDBConnection,
  placed: PlacedRows,
  { kind, by: { column, info }, before }: SplitOfCopies,
): Promise<string> {
  const { name } = info;
  if (kind === 'group') {
    const [row = {}] = await queryRows(
      connection,
      `SELECT sum(n) AS parted FROM (SELECT count(*) AS n FROM ${placed.from(typedValue(column, 'category'))}
         GROUP BY one HAVING count(DISTINCT beside) > 1)`,
    );
    const parted = Number(row.parted ?? 0);
    if (parted === 0) return `, all within one ${name}: none stands in two splits.`;
    return `: ${show(parted)} rows have a copy in another ${name}, and a split by ${name} may learn from one and test on the other. Remove copies from the file if they are no rows of their own.`;
  }
  const time = numericValue(column, info.type === 'number' ? 'number' : 'datetime');
  const [row = {}] = await queryRows(
    connection,
    `WITH placed AS (SELECT one, beside > quantile_disc(beside, ${before}) OVER () AS later
       FROM ${placed.from(time)} WHERE beside IS NOT NULL)
     SELECT count(*) FILTER (later) AS tested, count(*) FILTER (later AND one IN (SELECT one FROM placed WHERE NOT later)) AS parted
     FROM placed`,
  );
  const [tested, parted] = [Number(row.tested ?? 0), Number(row.parted ?? 0)];
  if (parted === 0) return ` but for ${name}, none of them in the test split.`;
  return ` but for ${name}: ${show(parted)} of the ${show(tested)} rows of the test split repeat one that comes before it, and may be answered by heart. Remove copies from the file if they are no rows of their own.`;
}

/**
 * For each row the first of the rows it is a copy of, or itself; null = no row is a copy. A row that differs from two others
 * by little joins them.
 */
export async function findCopies(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly ComparedColumn[],
  job: Job,
): Promise<Int32Array | null> {
  const repeats = await countRepeats(connection, table, columns);
  if (repeats?.copies !== true) return null;
  const sql = `SELECT CAST(file_row_number AS DOUBLE), CAST(first AS DOUBLE), CAST(second AS DOUBLE) FROM
    (SELECT file_row_number, min(file_row_number) OVER (PARTITION BY one) AS first, min(file_row_number) OVER (PARTITION BY other) AS second
     FROM ${repeats.placed.from()})
    WHERE first < file_row_number OR second < file_row_number`;
  const leader = Int32Array.from({ length: table.rows }, (_, row) => row);
  const find = (row: number): number => {
    let at = row;
    while (leader[at] !== at) at = leader[at] = leader[leader[at] as number] as number;
    return at;
  };
  await streamNumbers(connection, sql, job, ([numbers, ...firsts], rows) => {
    for (let index = 0; index < rows; index++) {
      for (const column of firsts) {
        const [one, other] = [find(numbers?.getItem(index) ?? 0), find(column.getItem(index) ?? 0)];
        leader[Math.max(one, other)] = Math.min(one, other);
      }
    }
  });
  return leader.map((_, row) => find(row));
}

/** Null: no row repeats another. */
async function countRepeats(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly ComparedColumn[],
): Promise<Repeats | null> {
  if (columns.length < 2 || table.rows > longestTable) return null;
  let step = coarsestStep(columns, table.rows);
  // A few columns with many values usually tell all rows apart, and then the others need not be read.
  const byDistinct = [...columns].sort((one, other) => other.info.distinct - one.info.distinct);
  for (const telling of tellingColumns) {
    if (columns.length <= telling) break;
    const told = await placeOnGrids(connection, table, byDistinct.slice(0, telling), step);
    if (told.different === table.rows) return null;
  }
  const names = ['copy_grids', 'finer_copy_grids'] as const;
  let placed = await placeOnGrids(connection, table, byDistinct, step, names[0]);
  // Rows in even steps lie near each other in all columns at once, and yet none is a copy: a finer grid parts them.
  for (let tried = 1; ; tried++) {
    if (placed.different === table.rows) return null;
    if (step <= finestStep || !columns.some(({ info }) => isMeasured(info))) break;
    step = Math.max(finestStep, step / finer);
    const parted = await placeOnGrids(connection, table, byDistinct, step, names[tried % 2]);
    if ((table.rows - parted.different) * 2 >= table.rows - placed.different) break;
    placed = parted;
  }
  const { different } = placed;
  return { repeated: table.rows - different, different, copies: different * rowsPerCombination >= table.rows, placed };
}
