// Rows of plain tables read by the native addon (native/plain_rows.c): what plain-cells.ts reads, with the same bits, on other threads
// and in a third of the time.

import { findNative, loadNative } from '../../backends/cpu/native.ts';
import type { NativeAddon } from '../../backends/cpu/native.ts';
import { dictionaryValues } from './parquet-writer.ts';
import type { PlainColumn, PlainGroup, PlainReader, PlainStyle } from './plain-cells.ts';

/** The reader's part of the addon. */
export type NativeTables = Pick<NativeAddon, 'afterLines' | 'readRows'>;

/** null: there is no addon, it is turned off, or a word for missing cells is too long for it. */
export function nativeTables({ missing }: PlainStyle): NativeTables | null {
  const file = findNative();
  if (file === undefined || missing.some((word) => Buffer.byteLength(word) > 0xff)) return null;
  return loadNative(file);
}

const roomForLonger = 1.1;
/** Numbers that the addon tells of a column: `ColumnFacts` of native/plain_rows.h. */
const factsOfColumn = 9;
/** `Cell` of native/plain_rows.c. */
const placeBytes = 8;

/** Bytes that the columns of so many rows take, besides those of their texts. */
function sizeOf(columns: readonly PlainColumn[], rows: number): number {
  const numbers = columns.filter(({ text }) => !text).length;
  return numbers * (rows + dictionaryValues) * 8 + columns.length * rows * 2 + (columns.length - numbers) * rows * 4;
}

/** Bytes that reading so many rows takes, besides those of their texts: the columns, and while it reads the place of each text. */
export function memoryOf(columns: readonly PlainColumn[], rows: number): number {
  return sizeOf(columns, rows) + columns.filter(({ text }) => text).length * rows * placeBytes;
}

export class NativeCells implements PlainReader {
  readonly #tables: NativeTables;
  readonly #columns: readonly PlainColumn[];
  readonly #style: Uint8Array;
  readonly #facts: Float64Array;
  #out = new ArrayBuffer(0);

  constructor(tables: NativeTables, columns: readonly PlainColumn[], style: PlainStyle) {
    this.#tables = tables;
    this.#columns = columns;
    const words = style.missing.flatMap((word) => [Buffer.byteLength(word), ...Buffer.from(word)]);
    const kinds = columns.map(({ text, exact }) => (text ? (exact === true ? 2 : 1) : 0));
    const marks = [style.delimiter, style.quote, style.decimal, style.returns ? 1 : 0];
    this.#style = Uint8Array.from([...marks, ...kinds, ...words]);
    this.#facts = new Float64Array(columns.length * factsOfColumn);
  }

  async read(bytes: Buffer, lines: number, masks: Uint32Array): Promise<PlainGroup | null> {
    const size = sizeOf(this.#columns, lines) + bytes.length;
    // With room for longer rows: large arrays that come and go have the collector look at everything, again and again.
    if (this.#out.byteLength < size) this.#out = new ArrayBuffer(Math.ceil(size * roomForLonger));
    const out = new Uint8Array(this.#out);
    return (await this.#tables.readRows(bytes, lines, this.#style, masks, out, this.#facts))
      ? this.#group(lines)
      : null;
  }

  /** What stands in memory after so many rows have been read. */
  #group(rows: number): PlainGroup {
    const numbers = this.#columns.filter(({ text }) => !text).length;
    const numberBytes = (rows + dictionaryValues) * 8;
    let next = 0;
    return this.#columns.map(({ text }, index): PlainGroup[number] => {
      const facts = this.#facts.subarray(index * factsOfColumn, (index + 1) * factsOfColumn);
      const [count, minimum, maximum, mean, squares, whole, different, chosen, end] = facts as unknown as Facts;
      const codes = new Uint16Array(this.#out, numbers * numberBytes + index * rows * 2, rows);
      if (text) {
        const texts = new Uint8Array(this.#out, chosen, end - chosen);
        return { kind: 'text', codes, texts, different: different < 0 ? null : different };
      }
      const at = next++ * numberBytes;
      return {
        kind: 'number',
        values: new Float64Array(this.#out, at, rows),
        moments: { count, minimum, maximum, mean, squares, whole: whole === 1 },
        coded:
          different < 0
            ? null
            : { different: new Float64Array(this.#out, at + rows * 8, different), codes: codes.subarray(0, count) },
        ...(chosen >= 0 && { chosen: new Float64Array(this.#out, Math.ceil(codes.byteOffset / 8) * 8, chosen) }),
      };
    });
  }
}

type Facts = readonly [
  count: number,
  minimum: number,
  maximum: number,
  mean: number,
  squares: number,
  whole: number,
  different: number,
  chosen: number,
  end: number,
];
