// Parquet files. Their columns are typed already; what a table cannot use as such (lists, maps) becomes JSON text.

import { InputError } from '../../protocol/errors.ts';
import { quoteText } from '../sql.ts';
import type { DatasetFormat } from './format.ts';
import { typedSource } from './typed.ts';

const magic = [0x50, 0x41, 0x52, 0x31];

export const parquet: DatasetFormat = {
  name: 'Parquet',
  sniff: (head) => magic.every((byte, index) => head.bytes[index] === byte),
  async open({ head, connection }) {
    const table = `read_parquet(${quoteText(head.path)})`;
    try {
      return await typedSource(connection, table, { format: 'Parquet' });
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
