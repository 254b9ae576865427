// The statement that has DuckDB read delimited text by a layout.

import { parsedNumber } from '../schema/numbers.ts';
import { storedAs } from '../schema/stored.ts';
import type { StoredColumn } from '../schema/stored.ts';
import { quoteList, quoteName, quoteText } from '../sql.ts';
import type { CellTexts } from './format.ts';
import type { Layout } from './layout.ts';

/** Rejected rows remembered: enough to decide, and bounded for any file. */
export const rejectLimit = 10_000;

/** What differs from file to file in reading it. */
export interface ReadCall {
  readonly delimiter: string;
  readonly quote: string;
  readonly columns: readonly StoredColumn[];
  /** Further settings. */
  readonly settings: readonly string[];
}

/** The `read_csv` call for a layout. */
export function readCsv(path: string, layout: Layout, call: ReadCall): string {
  const { delimiter, columns } = call;
  const types = columns.map((column) => [column.name, isGrouped(column) ? 'VARCHAR' : column.storage] as const);
  const exact = columns.some((column) => column.exact === true);
  const words = missingSpellings(layout, delimiter);
  const table = csvTable(path, call, types, [
    `nullstr = ${quoteList(exact ? [''] : words)}`,
    `decimal_separator = ${quoteText(layout.style.decimal)}`,
    'store_rejects = true',
    `rejects_limit = ${rejectLimit}`,
  ]);
  return `SELECT ${columns.map((column) => storedValue(column, exact ? words : [])).join(', ')} FROM ${table}`;
}

/** What DuckDB takes for missing, as it stands there; it refuses words that hold the delimiter. */
export function missingSpellings({ missing }: Layout, delimiter: string): readonly string[] {
  return missing.filter((word) => word === '' || !word.includes(delimiter));
}

/** The cells of the same rows as they stand in the file; an empty one is null. */
export function textsOfCsv(path: string, call: ReadCall): CellTexts {
  return {
    path,
    table: (names) =>
      csvTable(
        path,
        call,
        names.map((name) => [name, 'VARCHAR'] as const),
        ["nullstr = ''"],
      ),
  };
}

function csvTable(
  path: string,
  { delimiter, quote, settings }: ReadCall,
  types: readonly (readonly [name: string, type: string])[],
  further: readonly string[],
): string {
  const all = [
    'auto_detect = false',
    `delim = ${quoteText(delimiter)}`,
    `quote = ${quoteText(quote)}`,
    `escape = ${quoteText(quote)}`,
    `columns = {${types.map(([name, type]) => `${quoteText(name)}: ${quoteText(type)}`).join(', ')}}`,
    ...further,
    ...settings,
  ];
  return `read_csv(${quoteText(path)}, ${all.join(', ')})`;
}

/** Numbers with marks between thousands. DuckDB's own way of reading them would take 1,5 for 15. */
export function isGrouped({ storage, written }: StoredColumn): boolean {
  return storage === 'DOUBLE' && written !== undefined && written.thousands !== '';
}

/** A column as it is stored; `words`: cells that are still to be told missing, but for those of exact columns. */
function storedValue(column: StoredColumn, words: readonly string[]): string {
  const { name, storage, written } = column;
  if (isGrouped(column)) {
    const text = `nullif(trim(${quoteName(name)}), '')`;
    const number = parsedNumber(text, written);
    return `CASE WHEN ${text} IS NOT NULL THEN coalesce(${number}, error('no such number')) END AS ${quoteName(name)}`;
  }
  if (storage !== 'VARCHAR') return quoteName(name);
  const cell = quoteName(name);
  const text =
    words.length === 0 || column.exact === true
      ? cell
      : `CASE WHEN ${cell} NOT IN (${words.map(quoteText).join(', ')}) THEN ${cell} END`;
  return `${storedAs(text)} AS ${cell}`;
}
