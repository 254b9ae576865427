// The rows of a table's sample (schema/table.ts), put aside while the table is written: picked from it afterwards they would take a
// reading of all of it.

import type { FileHandle } from 'node:fs/promises';
import { momentsOf } from '../schema/moments.ts';
import { rowNumber } from '../schema/table.ts';
import { missingCode, ParquetWriter } from './parquet-writer.ts';
import type { GroupColumn } from './parquet-writer.ts';
import type { PlainColumn } from './plain-cells.ts';

export class PlainSample {
  /** Every so manieth row is picked, the first one too. */
  readonly step: number;
  readonly #writer: ParquetWriter;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, columns: readonly PlainColumn[], step: number) {
    this.step = step;
    this.#writer = new ParquetWriter(file, [...columns, { name: rowNumber, text: false }]);
  }

  /** Takes rows of the table; `start`: those before them. */
  async add(columns: readonly GroupColumn[], rows: number, start: number): Promise<void> {
    await this.#writing;
    const first = (this.step - (start % this.step)) % this.step;
    const count = Math.max(0, Math.ceil((rows - first) / this.step));
    if (count === 0) return;
    const places = new Float64Array(count);
    for (let index = 0; index < count; index++) places[index] = start + first + index * this.step;
    const group = columns.map((column) => pick(column, { first, count, step: this.step }));
    this.#writing = this.#writer.add(count, [...group, numbers(places)]);
    this.#writing.catch(() => undefined);
  }

  async finish(): Promise<void> {
    await this.#writing;
    await this.#writer.finish();
  }
}

function numbers(values: Float64Array): GroupColumn {
  return { kind: 'number', values, moments: momentsOf(values, values.length) };
}

interface Picked {
  readonly first: number;
  readonly count: number;
  readonly step: number;
}

function pick(column: GroupColumn, { first, count, step }: Picked): GroupColumn {
  const chosen = (from: Float64Array | Uint16Array, to: Float64Array | Uint16Array): void => {
    for (let index = 0, row = first; index < count; index++, row += step) to[index] = from[row] as number;
  };
  if (column.kind === 'number') {
    const values = new Float64Array(count);
    chosen(column.values, values);
    return numbers(values);
  }
  const codes = new Uint16Array(count);
  chosen(column.codes, codes);
  // A copy: the writer of the table may be through with its texts before.
  if (column.different !== null) return { ...column, codes, texts: column.texts.slice() };
  const { texts } = column;
  const lengths = new DataView(texts.buffer, texts.byteOffset, texts.byteLength);
  const found: Uint8Array[] = [];
  let at = 0;
  for (let row = 0; row < first + count * step && at < texts.length; row++) {
    if (column.codes[row] === missingCode) continue;
    const end = at + 4 + lengths.getUint32(at, true);
    if (row >= first && (row - first) % step === 0) found.push(texts.subarray(at, end));
    at = end;
  }
  return { kind: 'text', codes, texts: Buffer.concat(found), different: null };
}
