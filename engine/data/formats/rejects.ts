// The rows DuckDB's CSV reader could not take, and how to tell a person which lines they are.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';

/** A line that does not have the shape of the others. */
export interface BrokenLine {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly kind: 'fields' | 'quote';
  /** Fields found, for `fields`. */
  readonly found: number;
}

/** What DuckDB could not take. */
export interface Rejects {
  /** Values that are not of their column's type, by column. */
  readonly casts: ReadonlyMap<string, readonly string[]>;
  /** Lines without the shape of the others, or so it took them. */
  readonly broken: number;
  /** Line of the first character that is not UTF-8, if there is one. */
  readonly invalidEncoding: number | null;
  /** There were more than `limit`: not all casts are listed. */
  readonly more: boolean;
}

/** Reads and forgets what the connection's last CSV read rejected. */
export async function takeRejects(connection: DuckDBConnection, limit: number): Promise<Rejects> {
  const tables = await queryRows(
    connection,
    "SELECT table_name FROM duckdb_tables() WHERE table_name IN ('reject_errors', 'reject_scans')",
  );
  if (tables.length === 0) return { casts: new Map(), broken: 0, invalidEncoding: null, more: false };
  const rows = await queryRows(
    connection,
    `SELECT CAST(line AS DOUBLE) AS line, column_name, CAST(error_type AS VARCHAR) AS kind, error_message AS message
     FROM reject_errors ORDER BY line LIMIT ${limit}`,
  );
  await forgetRejects(connection);
  const casts = new Map<string, string[]>();
  let broken = 0;
  let invalidEncoding: number | null = null;
  for (const row of rows) {
    const [line, message, column] = [Number(row.line), String(row.message), String(row.column_name)];
    if (row.kind === 'CAST') {
      const value = /Could not convert string "(.*)" to /s.exec(message)?.[1] ?? message;
      casts.set(column, [...(casts.get(column) ?? []), value]);
    } else if (row.kind === 'INVALID ENCODING') invalidEncoding ??= line;
    else broken++;
  }
  return { casts, broken, invalidEncoding, more: rows.length >= limit };
}

/** Forgets what a CSV read rejected. */
export async function forgetRejects(connection: DuckDBConnection): Promise<void> {
  for (const table of ['reject_errors', 'reject_scans']) await connection.run(`DROP TABLE IF EXISTS ${table}`);
}

/** Lines named in a message. */
const namedLines = 5;

/** The refusal of a file whose lines do not fit together. `count`: how many there are, of which some are listed. */
export function explainBroken(name: string, fields: number, broken: readonly BrokenLine[], count: number): InputError {
  const quote = broken.find((line) => line.kind === 'quote');
  if (quote !== undefined) {
    return new InputError(
      'input.unclosed_quote',
      `${name}, line ${quote.line}: a quote is opened and not closed as it should be.`,
      'Close the quote in that line (a quote inside a quoted value is written twice), or let bad lines be left out.',
    );
  }
  const listed = broken.slice(0, namedLines).map(({ line, found }) => `line ${line} has ${found}`);
  const rest = count > namedLines ? `, and ${count - namedLines} more lines` : '';
  return new InputError(
    'input.ragged',
    `${name} should have ${fields} ${fields === 1 ? 'field' : 'fields'} in every line, but ${listed.join(', ')}${rest}.`,
    'Correct these lines, name another delimiter, or let bad lines be left out.',
  );
}

/** The warning for lines that were left out on request. */
export function skippedLines(broken: readonly BrokenLine[], count: number): DataWarning {
  const lines = broken.map((line) => line.line);
  const listed = `${lines.slice(0, namedLines).join(', ')}${count > namedLines ? ' …' : ''}`;
  return {
    code: 'skipped_lines',
    message: `${count} ${count === 1 ? 'line could not be read and was' : 'lines could not be read and were'} left out: ${listed}.`,
    rows: lines.slice(0, 20),
  };
}
