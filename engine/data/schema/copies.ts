// Rows that are copies of each other in the columns a model uses, whatever identifier they carry. Numbers may differ a little:
// they are compared on two grids, of which one lies half a step beside the other, so that rounding rarely parts copies.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnInfo, DataWarning, SplitBy } from '../../protocol/data.ts';
import { queryRows, streamNumbers } from '../database.ts';
import type { Job } from '../jobs.ts';
import { double } from '../sql.ts';
import { numericValue, typedValue } from './stored.ts';
import type { StoredColumn } from './stored.ts';
import type { MeasuredTable } from './table.ts';
import { show } from './typing.ts';

/** A column that counts when rows are compared: a feature in use, or the target. */
export interface ComparedColumn {
  readonly column: StoredColumn;
  readonly info: ColumnInfo;
}

/** Step of the grids in standard deviations, at most and at least: copies differ by far less than neighbours do. */
const coarsest = 0.02;
const finest = 1e-6;
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
  /** Step of the grids on which they were found. */
  readonly step: number;
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
  const { repeated, different, copies, step } = await countRepeats(connection, table, columns);
  if (repeated === 0) return null;
  const [grid] = grids(columns, step);
  const rows = await queryRows(
    connection,
    `SELECT number FROM (SELECT file_row_number + 1 AS number, ${grid} AS row FROM ${table.from})
     QUALIFY row_number() OVER (PARTITION BY row ORDER BY number) > 1 ORDER BY number LIMIT ${listedRows}`,
  );
  const which = `${show(repeated)} ${repeated === 1 ? 'row repeats an earlier one' : 'rows repeat earlier ones'} in the columns used`;
  return {
    code: 'duplicates',
    message: copies
      ? split === null
        ? `${which}: copies are kept in one split, unless it goes by time or group.`
        : `${which}${await acrossSplit(connection, table, grid, split)}`
      : `${which}, as these allow few combinations (${show(different)}): results look better than they are when both are in different splits.`,
    rows: rows.map((row) => Number(row.number)),
  };
}

/** How many copies a split parts, and what to do. */
async function acrossSplit(
  connection: DuckDBConnection,
  table: MeasuredTable,
  grid: string,
  { kind, by: { column, info }, before }: SplitOfCopies,
): Promise<string> {
  const { name } = info;
  if (kind === 'group') {
    const [row = {}] = await queryRows(
      connection,
      `SELECT sum(n) AS parted FROM (SELECT count(*) AS n FROM
         (SELECT ${grid} AS row, ${typedValue(column, 'category')} AS g FROM ${table.from}) GROUP BY row HAVING count(DISTINCT g) > 1)`,
    );
    const parted = Number(row.parted ?? 0);
    if (parted === 0) return `, all within one ${name}: none stands in two splits.`;
    return `: ${show(parted)} rows have a copy in another ${name}, and a split by ${name} may learn from one and test on the other. Remove copies from the file if they are no rows of their own.`;
  }
  const time = numericValue(column, info.type === 'number' ? 'number' : 'datetime');
  const [row = {}] = await queryRows(
    connection,
    `WITH placed AS (SELECT ${grid} AS row, t > quantile_disc(t, ${before}) OVER () AS later
       FROM (SELECT *, ${time} AS t FROM ${table.from}) WHERE t IS NOT NULL)
     SELECT count(*) FILTER (later) AS tested, count(*) FILTER (later AND row IN (SELECT row FROM placed WHERE NOT later)) AS parted
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
  const { copies, step } = await countRepeats(connection, table, columns);
  if (!copies) return null;
  const [first, second] = grids(columns, step);
  const sql = `SELECT CAST(file_row_number AS DOUBLE), CAST(one AS DOUBLE), CAST(other AS DOUBLE) FROM
    (SELECT file_row_number, min(file_row_number) OVER (PARTITION BY one) AS one, min(file_row_number) OVER (PARTITION BY other) AS other
     FROM (SELECT file_row_number, ${first} AS one, ${second} AS other FROM ${table.from}))
    WHERE one < file_row_number OR other < file_row_number`;
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

async function countRepeats(
  connection: DuckDBConnection,
  table: MeasuredTable,
  columns: readonly ComparedColumn[],
): Promise<Repeats> {
  let step = coarsestStep(columns, table.rows);
  const none = { repeated: 0, different: table.rows, copies: false, step };
  if (columns.length < 2 || table.rows > longestTable) return none;
  // A few columns with many values usually tell all rows apart, and then the others need not be read.
  const byDistinct = [...columns].sort((one, other) => other.info.distinct - one.info.distinct);
  for (const telling of tellingColumns) {
    if (columns.length <= telling) break;
    const different = await countDifferent(connection, table, grids(byDistinct.slice(0, telling), step));
    if (different === table.rows) return none;
  }
  let different = await countDifferent(connection, table, grids(columns, step));
  // Rows in even steps lie near each other in all columns at once, and yet none is a copy: a finer grid parts them.
  while (different < table.rows && step > finest && columns.some(({ info }) => isMeasured(info))) {
    const next = Math.max(finest, step / finer);
    const parted = await countDifferent(connection, table, grids(columns, next));
    if ((table.rows - parted) * 2 >= table.rows - different) break;
    [different, step] = [parted, next];
  }
  if (different === table.rows) return none;
  const copies = different * rowsPerCombination >= table.rows;
  return { repeated: table.rows - different, different, copies, step };
}

async function countDifferent(
  connection: DuckDBConnection,
  table: MeasuredTable,
  found: readonly [string, string],
): Promise<number> {
  const counts = found.map((grid, index) => `count(DISTINCT ${grid}) AS g${index}`);
  const [row = {}] = await queryRows(connection, `SELECT ${counts.join(', ')} FROM ${table.from}`);
  return Math.min(Number(row.g0 ?? table.rows), Number(row.g1 ?? table.rows));
}

/** The step is as coarse as it may be: three times as many bits as tell the rows apart are left, so that hardly any meet by chance. */
function coarsestStep(columns: readonly ComparedColumn[], rows: number): number {
  const measured = columns.filter(({ info }) => isMeasured(info)).length;
  return Math.max(finest, Math.min(coarsest, 4 * 2 ** ((-3 * Math.log2(rows)) / Math.max(1, measured))));
}

/** SQL for two numbers of a row, of which one is the same for copies. */
function grids(columns: readonly ComparedColumn[], step: number): readonly [string, string] {
  const grid = (offset: number): string => `hash(${columns.map((column) => onGrid(column, step, offset)).join(', ')})`;
  return [grid(0), grid(0.5)];
}

function isMeasured({ type, deviation = 0 }: ColumnInfo): boolean {
  return (type === 'number' || type === 'datetime') && deviation > 0 && Number.isFinite(deviation);
}

function onGrid({ column, info }: ComparedColumn, step: number, offset: number): string {
  const { type, mean = 0, deviation = 1 } = info;
  if (type !== 'number' && type !== 'datetime') return typedValue(column, type);
  const value = numericValue(column, type);
  if (!isMeasured(info)) return value;
  // Adding 0 makes one number of 0 and −0.
  return `floor(((${value}) - ${double(mean)}) / ${double(deviation * step)} + ${double(offset)}) + 0`;
}
