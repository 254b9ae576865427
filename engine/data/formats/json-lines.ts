// JSON lines: one JSON object a line. Keys that come and go are missing values.

import { InputError } from '../../protocol/errors.ts';
import { queryRows } from '../database.ts';
import { quoteText } from '../sql.ts';
import { decodeHead, sniffEncoding } from './encoding.ts';
import type { DatasetFormat } from './format.ts';
import { storeTyped } from './typed.ts';

export const jsonLines: DatasetFormat = {
  name: 'JSON lines',
  sniff(head) {
    if (sniffEncoding(head.bytes) !== 'utf-8') return false;
    const start = decodeHead(head.bytes, 'utf-8').trimStart();
    return /^\{\s*"/.test(start) || (start.startsWith('[') && /^\[\s*\{\s*"/.test(start));
  },
  async open({ head, connection, options }) {
    const settings = [
      "format = 'auto'",
      `ignore_errors = ${options.skipBadLines === true}`,
      'maximum_object_size = 16777216',
      'sample_size = -1',
      'maximum_depth = 2',
    ];
    const table = `read_json(${quoteText(head.path)}, ${settings.join(', ')})`;
    try {
      const described = await queryRows(connection, `DESCRIBE SELECT * FROM ${table}`);
      return storeTyped(described, table, { format: 'JSON lines', encoding: 'UTF-8' });
    } catch (error) {
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw malformed(head.name, error);
    }
  },
};

function malformed(name: string, error: Error): InputError {
  const line = /in line (\d+)/.exec(error.message)?.[1];
  return new InputError(
    'input.json',
    `${name}${line === undefined ? '' : `, line ${line}`}: not a JSON object as it should be.`,
    'Write one complete JSON object a line, or let bad lines be left out.',
    { cause: error },
  );
}
