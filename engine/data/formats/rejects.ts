// The rows DuckDB's CSV reader could not take, and how to tell a person which lines they are.

import type { DuckDBConnection } from '@duckdb/node-api';
import { InputError } from '../../protocol/errors.ts';
import type { DataWarning } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';

/** A line that does not have the shape of the others. */
export interface BrokenLine {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly kind: 'fields' | 'quote' | 'other';
  /** Fields found, for `fields`. */
  readonly found: number;
  readonly message: string;
}

export interface Rejects {
  /** Values that are not of their column's type, by column. */
  readonly casts: ReadonlyMap<string, readonly string[]>;
  readonly broken: readonly BrokenLine[];
  readonly invalidEncoding: number;
  /** There were more than are listed. */
  readonly more: boolean;
}

/** Reads and forgets what the connection's last CSV read rejected. */
export async function takeRejects(connection: DuckDBConnection, limit: number): Promise<Rejects> {
  const tables = await queryRows(
    connection,
    "SELECT table_name FROM duckdb_tables() WHERE table_name IN ('reject_errors', 'reject_scans')",
  );
  if (tables.length === 0) return { casts: new Map(), broken: [], invalidEncoding: 0, more: false };
  const rows = await queryRows(
    connection,
    `SELECT CAST(line AS DOUBLE) AS line, column_name, CAST(error_type AS VARCHAR) AS kind, error_message AS message
     FROM reject_errors ORDER BY line LIMIT ${limit}`,
  );
  for (const { table_name: table } of tables) await connection.run(`DROP TABLE ${String(table)}`);
  const casts = new Map<string, string[]>();
  const broken = new Map<number, BrokenLine>();
  let invalidEncoding = 0;
  for (const row of rows) {
    const [line, message, column] = [Number(row.line), String(row.message), String(row.column_name)];
    if (row.kind === 'CAST') {
      const value = /Could not convert string "(.*)" to /s.exec(message)?.[1] ?? message;
      casts.set(column, [...(casts.get(column) ?? []), value]);
    } else if (row.kind === 'INVALID ENCODING') {
      invalidEncoding++;
      broken.set(line, { line, kind: 'other', found: 0, message: 'characters that are not UTF-8' });
    } else {
      const found = Number(/Found: (\d+)/.exec(message)?.[1] ?? 0);
      const kind = found > 0 ? 'fields' : row.kind === 'UNQUOTED VALUE' ? 'quote' : 'other';
      if (!broken.has(line)) broken.set(line, { line, kind, found, message });
    }
  }
  return { casts, broken: [...broken.values()], invalidEncoding, more: rows.length >= limit };
}

/** Lines named in a message. */
const namedLines = 5;

/** The refusal of a file whose lines do not fit together. */
export function explainBroken(name: string, fields: number, { broken, more }: Rejects): InputError {
  const quote = broken.find((line) => line.kind === 'quote');
  if (quote !== undefined) {
    return new InputError(
      'input.unclosed_quote',
      `${name}, line ${quote.line}: a quote is opened and not closed as it should be.`,
      'Close the quote in that line (a quote inside a quoted value is written twice), or let bad lines be left out.',
    );
  }
  const ragged = broken.filter((line) => line.kind === 'fields');
  if (ragged.length > 0) {
    const listed = ragged.slice(0, namedLines).map(({ line, found }) => `line ${line} has ${found}`);
    const rest = ragged.length > namedLines ? `, and ${more ? 'many' : ragged.length - namedLines} more lines` : '';
    return new InputError(
      'input.ragged',
      `${name} should have ${fields} ${fields === 1 ? 'field' : 'fields'} in every line, but ${listed.join(', ')}${rest}.`,
      'Correct these lines, name another delimiter, or let bad lines be left out.',
    );
  }
  const first = broken[0];
  return new InputError(
    'input.bad_line',
    `${name}, line ${first?.line ?? 1}: ${first?.message ?? 'the line cannot be read'}`,
    'Correct that line, name the encoding, or let bad lines be left out.',
  );
}

/** The warning for lines that were left out on request. */
export function skippedLines({ broken, more }: Rejects): DataWarning {
  const count = `${broken.length}${more ? ' or more' : ''}`;
  const lines = broken.map((line) => line.line);
  return {
    code: 'skipped_lines',
    message: `${count} ${lines.length === 1 && !more ? 'line' : 'lines'} could not be read and ${lines.length === 1 && !more ? 'was' : 'were'} left out: ${lines.slice(0, namedLines).join(', ')}${lines.length > namedLines ? ' …' : ''}.`,
    rows: lines.slice(0, 20),
  };
}
