// Parquet files. Their columns are typed already; what a table cannot use as such (lists, structures) becomes JSON text.

import { InputError } from '../../protocol/errors.ts';
import { queryRows } from '../database.ts';
import { firstLine } from '../failures.ts';
import { quoteText } from '../sql.ts';
import type { DatasetFormat } from './format.ts';
import { storeTyped } from './typed.ts';

const magic = [0x50, 0x41, 0x52, 0x31];

export const parquet: DatasetFormat = {
  name: 'Parquet',
  sniff: (head) => magic.every((byte, index) => head.bytes[index] === byte),
  async open({ head, connection }) {
    const table = `read_parquet(${quoteText(head.path)})`;
    try {
      const described = await queryRows(connection, `DESCRIBE SELECT * FROM ${table}`);
      return storeTyped(described, table, { format: 'Parquet' });
    } catch (error) {
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw new InputError(
        'input.parquet',
        `${head.name} is a damaged Parquet file: ${firstLine(error.message)}`,
        'Write the file again; it may have been cut off.',
        { cause: error },
      );
    }
  },
};
