// Files whose columns carry types (Parquet, JSON): which of the four storage types each becomes.

import { uniqueNames } from '../schema/names.ts';
import type { StorageType, StoredColumn } from '../schema/stored.ts';
import type { SqlValue } from '../database.ts';
import { quoteName } from '../sql.ts';
import type { TableSource } from './format.ts';

/** A source over a table expression, given DuckDB's description of its columns. */
export function storeTyped(
  described: readonly Record<string, SqlValue>[],
  table: string,
  reading: Readonly<Record<string, string>>,
): TableSource {
  const written = described.map((row) => String(row.column_name));
  const { names, warnings } = uniqueNames(written);
  const columns: StoredColumn[] = [];
  const expressions: string[] = [];
  described.forEach((row, index) => {
    const name = names[index] ?? '';
    const { storage, expression } = convert(quoteName(written[index] ?? ''), String(row.column_type));
    columns.push({ name, storage, missing: [] });
    expressions.push(`${expression} AS ${quoteName(name)}`);
  });
  const query = `SELECT ${expressions.join(', ')} FROM ${table}`;
  return { columns, query, reading, warnings, check: () => Promise.resolve({ finished: [] }) };
}

function convert(column: string, type: string): { storage: StorageType; expression: string } {
  if (/^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UINTEGER|FLOAT|DOUBLE|REAL|DECIMAL.*)$/.test(type)) {
    return { storage: 'DOUBLE', expression: `CAST(${column} AS DOUBLE)` };
  }
  if (type === 'BOOLEAN') return { storage: 'BOOLEAN', expression: column };
  if (type === 'DATE' || type.startsWith('TIMESTAMP')) {
    return { storage: 'TIMESTAMP', expression: `CAST(${column} AS TIMESTAMP)` };
  }
  const nested = /[\[(]/.test(type) && !type.startsWith('ENUM');
  const text = nested ? `CAST(to_json(${column}) AS VARCHAR)` : `nullif(trim(CAST(${column} AS VARCHAR)), '')`;
  return { storage: 'VARCHAR', expression: text };
}
