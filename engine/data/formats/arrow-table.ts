// Arrow files, Arrow streams and Feather files. DuckDB reads them with an extension only, so their batches are written as a
// table of text, every digit kept, that DuckDB then reads to the types the file names.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { CompressionType, DataType, RecordBatchReader, TimeUnit, compressionRegistry } from 'apache-arrow';
import type { RecordBatch, Vector } from 'apache-arrow';
import { InputError } from '../../protocol/errors.ts';
import { uniqueNames } from '../schema/names.ts';
import { storedAs } from '../schema/stored.ts';
import type { StorageType, StoredColumn } from '../schema/stored.ts';
import { quoteName, quoteText } from '../sql.ts';
import type { OpenRequest, TableSource } from './format.ts';
import { unpackLz4 } from './lz4.ts';

/** Bytes DuckDB reads at a time. */
const bufferBytes = 2 ** 23;
/** Characters written at a time. */
const writeCharacters = 2 ** 20;

compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: unpackLz4 });
// Node 22 and later; before, such files are refused.
if ('zstdDecompressSync' in zlib) {
  compressionRegistry.set(CompressionType.ZSTD, { decode: (data) => zlib.zstdDecompressSync(data) });
}

/** A column of a batch: the value of a row, null where there is none. */
interface Cells {
  readonly vector: Vector | null;
  readonly get: (row: number) => unknown;
}

/** How a column, or a part of a structure, is written. */
interface Leaf {
  readonly name: string;
  readonly storage: StorageType;
  readonly large: boolean;
  /** Its values in a batch. */
  readonly find: (batch: RecordBatch) => Cells;
  readonly write: (value: unknown) => string;
}

/**
 * Writes the batches of a file as text. `file`: it is an Arrow file, not a stream.
 * @throws Error of the library if it is damaged.
 */
export async function openArrow({ head, workFolder, job }: OpenRequest, file: boolean): Promise<TableSource> {
  const report = job.stage('Unpacking the Arrow file');
  const path = join(workFolder, 'arrow.csv');
  const input = file ? await open(head.path, 'r') : createReadStream(head.path);
  const output = await open(path, 'w');
  let rows = 0;
  let longest = 0;
  let leaves: readonly Leaf[] = [];
  try {
    const reader = 'destroyed' in input ? await RecordBatchReader.from(input) : await RecordBatchReader.from(input);
    await reader.open();
    leaves = reader.schema.fields.flatMap((field, index) =>
      leavesOf(field.name, field.type as DataType, (batch) => cellsOf(batch.getChildAt(index))),
    );
    for await (const batch of reader) {
      job.throwIfCancelled();
      const columns = leaves.map(({ find }) => find(batch));
      let text = '';
      for (let row = 0; row < batch.numRows; row++) {
        const cells = leaves.map(({ write }, index) => {
          const value = columns[index]?.get(row) ?? null;
          return value === null ? '' : `"${write(value).replaceAll('"', '""')}"`;
        });
        // A single empty field would be a blank line.
        const line = leaves.length === 1 && cells[0] === '' ? '""' : cells.join(',');
        longest = Math.max(longest, line.length * 3 + 1);
        text += `${line}\n`;
        if (text.length > writeCharacters) {
          await output.write(text);
          text = '';
        }
      }
      await output.write(text);
      rows += batch.numRows;
      report(Math.min(1, rows / Math.max(rows + 1, 1)));
    }
  } finally {
    await output.close();
    if (!('destroyed' in input)) await input.close().catch(() => undefined);
  }
  return sourceOf(path, leaves, { rows, longest, name: head.name }, new Set());
}

/** `exact`: columns kept as text, since numbers would lose digits. */
function sourceOf(
  path: string,
  leaves: readonly Leaf[],
  table: { readonly rows: number; readonly longest: number; readonly name: string },
  exact: ReadonlySet<string>,
): TableSource {
  const { names, warnings } = uniqueNames(leaves.map(({ name }) => name));
  const columns = names.map((name, index): StoredColumn => {
    const storage = exact.has(name) ? 'VARCHAR' : (leaves[index]?.storage ?? 'VARCHAR');
    return { name, storage, missing: [] };
  });
  const types = columns.map(({ name, storage }) => `${quoteText(name)}: '${storage}'`);
  const settings = [
    'auto_detect = false',
    "delim = ','",
    `quote = '"'`,
    `escape = '"'`,
    'header = false',
    "nullstr = ''",
    'parallel = false',
    `buffer_size = ${Math.max(bufferBytes, table.longest * 2)}`,
    `max_line_size = ${Math.max(bufferBytes / 4, table.longest)}`,
    `columns = {${types.join(', ')}}`,
  ];
  const values = columns.map(({ name, storage }) =>
    storage === 'VARCHAR' ? `${storedAs(quoteName(name))} AS ${quoteName(name)}` : quoteName(name),
  );
  return {
    columns,
    query: `SELECT ${values.join(', ')} FROM read_csv(${quoteText(path)}, ${settings.join(', ')})`,
    reading: { format: 'Arrow' },
    warnings,
    check(rows) {
      if (rows === table.rows) return Promise.resolve({ finished: [] });
      return Promise.reject(
        new InputError(
          'input.unreadable',
          `${table.name} cannot be read: of its ${table.rows} rows only ${rows} come out.`,
          'Write it as Parquet or CSV.',
        ),
      );
    },
    large: new Set(names.filter((name, index) => leaves[index]?.large === true && !exact.has(name))),
    keepExact: (more) => sourceOf(path, leaves, table, new Set([...exact, ...more])),
  };
}

/** `parent`: the structure it is a part of; where that is missing, so are its parts. */
function cellsOf(vector: Vector | null, parent: Cells | null = null): Cells {
  return {
    vector,
    get: (row) => (parent !== null && parent.get(row) === null ? null : (vector?.get(row) as unknown)),
  };
}

function leavesOf(name: string, type: DataType, find: (batch: RecordBatch) => Cells): readonly Leaf[] {
  const leaf = (storage: StorageType, write: (value: unknown) => string, large = false): readonly Leaf[] => [
    { name, storage, large, find, write },
  ];
  if (DataType.isStruct(type)) {
    return type.children.flatMap((child, index) =>
      leavesOf(`${name}.${child.name}`, child.type as DataType, (batch) => {
        const parent = find(batch);
        return cellsOf(parent.vector?.getChildAt(index) ?? null, parent);
      }),
    );
  }
  const plain = DataType.isDictionary(type) ? (type.dictionary as DataType) : type;
  if (DataType.isInt(plain)) return leaf('DOUBLE', String, plain.bitWidth === 64);
  if (DataType.isFloat(plain)) return leaf('DOUBLE', (value) => (Number.isNaN(value) ? '' : String(value)));
  if (DataType.isDecimal(plain)) return leaf('DOUBLE', (value) => decimalText(value as Uint32Array, plain.scale), true);
  if (DataType.isBool(plain)) return leaf('BOOLEAN', String);
  if (DataType.isDate(plain) || DataType.isTimestamp(plain)) {
    return leaf('TIMESTAMP', (value) => new Date(Number(value)).toISOString().replace('Z', ''));
  }
  if (DataType.isTime(plain)) return leaf('VARCHAR', (value) => clockText(Number(value), plain.unit));
  if (DataType.isUtf8(plain) || DataType.isLargeUtf8(plain)) return leaf('VARCHAR', String);
  return leaf('VARCHAR', (value) => (typeof value === 'object' ? JSON.stringify(value, plainPart) : String(value)));
}

/** A part of a list as JSON has it: whole numbers of 64 bits that JSON cannot keep become texts. */
function plainPart(_key: string, part: unknown): unknown {
  if (typeof part !== 'bigint') return part;
  return Number.isSafeInteger(Number(part)) ? Number(part) : String(part);
}

/** A decimal number of 128 or 256 bits, its lowest word first. */
function decimalText(words: Uint32Array, scale: number): string {
  let value = 0n;
  for (let index = words.length - 1; index >= 0; index--) value = (value << 32n) | BigInt(words[index] as number);
  const bits = BigInt(words.length * 32);
  if (value >> (bits - 1n) === 1n) value -= 1n << bits;
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
}

/** A time of day as 13:05:00.25. */
function clockText(value: number, unit: TimeUnit): string {
  const perSecond = {
    [TimeUnit.SECOND]: 1,
    [TimeUnit.MILLISECOND]: 1e3,
    [TimeUnit.MICROSECOND]: 1e6,
    [TimeUnit.NANOSECOND]: 1e9,
  };
  const milliseconds = Math.round((value / perSecond[unit]) * 1000);
  return new Date(milliseconds)
    .toISOString()
    .slice(11, 23)
    .replace(/\.?0+$/, (zeros) => (zeros.startsWith('.') ? '' : zeros));
}
