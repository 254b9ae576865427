// Parquet files. Their columns are typed already; what a table cannot use as such (lists, maps) becomes JSON text.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';
import { queryRows } from '../database.ts';
import { quoteText } from '../sql.ts';
import type { DatasetFormat } from './format.ts';
import { typedSource } from './typed.ts';

const magic = [0x50, 0x41, 0x52, 0x31];

/** DuckDB takes "A" and "a" for one name and numbers the second by itself. */
async function respelled(connection: DuckDBConnection, path: string): Promise<readonly DataWarning[]> {
  const [, ...written] = await queryRows(connection, `SELECT name FROM parquet_schema(${quoteText(path)})`);
  const read = await connection.runAndReadAll(`SELECT * FROM read_parquet(${quoteText(path)}) LIMIT 0`);
  const names = read.columnNames();
  // Columns with parts have more names than there are columns.
  if (names.length !== written.length) return [];
  const changed = names.flatMap((name, index) => {
    const before = String(written[index]?.name);
    return before === name ? [] : [{ name, before }];
  });
  if (changed.length === 0) return [];
  const listed = changed.slice(0, 5).map(({ name, before }) => `"${before}" is now "${name}"`);
  const more = changed.length > 5 ? `; and ${changed.length - 5} more` : '';
  return [
    {
      code: 'renamed',
      message: `Column names have to differ in more than capitals: ${listed.join('; ')}${more}.`,
      columns: changed.map(({ name }) => name),
    },
  ];
}

export const parquet: DatasetFormat = {
  name: 'Parquet',
  sniff: (head) => magic.every((byte, index) => head.bytes[index] === byte),
  async open({ head, connection: opening }) {
    const connection = await opening;
    const table = `read_parquet(${quoteText(head.path)})`;
    try {
      const source = await typedSource(connection, table, { format: 'Parquet' });
      return { ...source, warnings: [...(await respelled(connection, head.path)), ...source.warnings] };
    } catch (error) {
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw new InputError(
        'input.parquet',
        `${head.name} is a damaged Parquet file, or was not copied to its end.`,
        'Write or copy the file again.',
        { cause: error },
      );
    }
  },
};
