// Writes a table of numbers and texts as a Parquet file, a row group after the other: uncompressed, columns of few values with a
// dictionary. The form that DuckDB's own writer gives our copies, for rows that do not come from DuckDB.

import type { FileHandle } from 'node:fs/promises';
import type { GroupMoments } from '../schema/moments.ts';

/** A column of a row group. Numbers: NaN = missing. Texts: code `missingCode` = missing. */
export type GroupColumn =
  | {
      readonly kind: 'number';
      readonly values: Float64Array;
      readonly moments: GroupMoments;
      /** The different ones, where they have been looked for; null: there are too many, or none. */
      readonly coded?: CodedNumbers | null;
    }
  | {
      readonly kind: 'text';
      /** Place of each row's text in `texts`; with `texts` in the order of the rows, only whether there is one counts. */
      readonly codes: Uint16Array;
      /** Texts, each behind its length in four bytes: the different ones, or those of all rows that have one. */
      readonly texts: Uint8Array;
      /** How many different texts there are; null: `texts` are those of all rows. */
      readonly different: number | null;
    };

/** Different numbers, and which of them each value is, but for missing ones. */
export interface CodedNumbers {
  readonly different: Float64Array;
  readonly codes: Uint16Array;
}

export const missingCode = 0xffff;
/** Different values up to which a row group's column is worth a dictionary; looking for more costs time. */
export const dictionaryValues = 1024;

/** Numbers of the format: types of a value, encodings, kinds of a page. */
const [double, byteArray] = [5, 6];
const [plain, rle, dictionary] = [0, 3, 8];
const [dataPage, dictionaryPage] = [0, 2];

interface Chunk {
  readonly offset: number;
  readonly bytes: number;
  readonly dictionaryBytes: number;
  readonly missing: number;
  readonly extremes: readonly [number, number] | null;
}

export class ParquetWriter {
  readonly #file: FileHandle;
  readonly #columns: readonly { readonly name: string; readonly text: boolean }[];
  readonly #groups: { readonly rows: number; readonly chunks: readonly Chunk[] }[] = [];
  readonly #slots = new NumberSlots();
  #position = 4;

  constructor(file: FileHandle, columns: readonly { readonly name: string; readonly text: boolean }[]) {
    this.#file = file;
    this.#columns = columns;
  }

  /** Writes the next rows. The columns may be changed once the promise is kept. */
  async add(rows: number, columns: readonly GroupColumn[]): Promise<void> {
    const parts: Uint8Array[] = this.#groups.length === 0 ? [magic] : [];
    const chunks = columns.map((column) => {
      const { pages, dictionaryBytes, missing, extremes } = encode(column, rows, this.#slots);
      const bytes = pages.reduce((sum, { byteLength }) => sum + byteLength, 0);
      parts.push(...pages);
      const chunk = { offset: this.#position, bytes, dictionaryBytes, missing, extremes };
      this.#position += bytes;
      return chunk;
    });
    this.#groups.push({ rows, chunks });
    await writeAll(this.#file, parts);
  }

  /** Writes what the file ends with. */
  async finish(): Promise<void> {
    const footer = this.#footer();
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    await writeAll(this.#file, [...(this.#groups.length === 0 ? [magic] : []), footer, length, magic]);
  }

  #footer(): Uint8Array {
    const out = new Thrift();
    const rows = this.#groups.reduce((sum, group) => sum + group.rows, 0);
    out.int(1, 1);
    out.list(2, this.#columns.length + 1, Thrift.struct);
    out.int(3, 0).text(4, 'schema').int(5, this.#columns.length).end();
    for (const { name, text } of this.#columns) {
      out
        .int(1, text ? byteArray : double)
        .int(3, 1)
        .text(4, name);
      if (text) out.int(6, 0);
      out.end();
    }
    out.long(3, rows);
    out.list(4, this.#groups.length, Thrift.struct);
    for (const group of this.#groups) this.#group(out, group);
    out.text(6, 'trainyard');
    // Extremes count only where the order they are in is said: that of the values themselves.
    out.list(7, this.#columns.length, Thrift.struct);
    for (let column = 0; column < this.#columns.length; column++) out.struct(1).end().end();
    return out.end().bytes();
  }

  #group(out: Thrift, { rows, chunks }: { readonly rows: number; readonly chunks: readonly Chunk[] }): void {
    out.list(1, chunks.length, Thrift.struct);
    chunks.forEach((chunk, index) => {
      const { offset, bytes, dictionaryBytes, missing, extremes } = chunk;
      const { name, text } = this.#columns[index] as { name: string; text: boolean };
      const encodings = dictionaryBytes > 0 ? [plain, rle, dictionary] : [plain, rle];
      out.long(2, 0).struct(3);
      out.int(1, text ? byteArray : double).list(2, encodings.length, Thrift.integer);
      for (const encoding of encodings) out.element(encoding);
      out.list(3, 1, Thrift.binary).elementText(name);
      out.int(4, 0).long(5, rows).long(6, bytes).long(7, bytes);
      out.long(9, offset + dictionaryBytes);
      if (dictionaryBytes > 0) out.long(11, offset);
      out.struct(12);
      // Readers trust extremes that are said in the older way too, and to be exact.
      if (extremes !== null) out.double(1, extremes[1]).double(2, extremes[0]);
      out.long(3, missing);
      if (extremes !== null) out.double(5, extremes[1]).double(6, extremes[0]).yes(7).yes(8);
      out.end().end().end();
    });
    out
      .long(
        2,
        chunks.reduce((sum, { bytes }) => sum + bytes, 0),
      )
      .long(3, rows)
      .end();
  }
}

const magic = Buffer.from('PAR1');

async function writeAll(file: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  let rest = parts;
  while (rest.length > 0) {
    // Systems take a thousand parts at once.
    let { bytesWritten } = await file.writev(rest.slice(0, 512));
    let done = 0;
    while (done < rest.length && bytesWritten >= (rest[done] as Uint8Array).byteLength) {
      bytesWritten -= (rest[done++] as Uint8Array).byteLength;
    }
    rest =
      bytesWritten === 0
        ? rest.slice(done)
        : [(rest[done] as Uint8Array).subarray(bytesWritten), ...rest.slice(done + 1)];
  }
}

interface Encoded {
  readonly pages: readonly Uint8Array[];
  readonly dictionaryBytes: number;
  readonly missing: number;
  readonly extremes: readonly [number, number] | null;
}

function encode(column: GroupColumn, rows: number, slots: NumberSlots): Encoded {
  if (column.kind === 'text') {
    const { codes, texts, different } = column;
    const missing = countMissing(codes, rows);
    if (different === null) return { ...plainPage(rows, levels(codes, rows, missing), texts), missing, extremes: null };
    const coded = { texts, different, codes: present(codes, rows, missing) };
    return { ...codedPages(rows, levels(codes, rows, missing), coded), missing, extremes: null };
  }
  const { values, moments } = column;
  const missing = rows - moments.count;
  const extremes = moments.count === 0 ? null : ([moments.minimum, moments.maximum] as const);
  const marks =
    missing === 0
      ? null
      : Uint16Array.from(values.subarray(0, rows), (value) => (Number.isNaN(value) ? missingCode : 0));
  const some =
    missing === 0 ? values.subarray(0, rows) : values.subarray(0, rows).filter((value) => !Number.isNaN(value));
  const coded = column.coded === undefined ? slots.code(some) : column.coded;
  const defined = marks === null ? allDefined(rows) : levels(marks, rows, missing);
  if (coded === null) return { ...plainPage(rows, defined, bytesOf(some)), missing, extremes };
  const { different, codes } = coded;
  const texts = { texts: bytesOf(different), different: different.length, codes };
  return { ...codedPages(rows, defined, texts), missing, extremes };
}

function bytesOf(values: Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function countMissing(codes: Uint16Array, rows: number): number {
  let missing = 0;
  for (let row = 0; row < rows; row++) if (codes[row] === missingCode) missing++;
  return missing;
}

function present(codes: Uint16Array, rows: number, missing: number): Uint16Array {
  const used = codes.subarray(0, rows);
  return missing === 0 ? used : used.filter((code) => code !== missingCode);
}

/** Which rows have a value: runs of bits, behind their length. */
function levels(codes: Uint16Array, rows: number, missing: number): Uint8Array {
  if (missing === 0) return allDefined(rows);
  const packed = packBits(
    Uint16Array.from(codes.subarray(0, rows), (code) => (code === missingCode ? 0 : 1)),
    1,
  );
  return Buffer.concat([fourBytes(packed.length), packed]);
}

function allDefined(rows: number): Uint8Array {
  const run = [...variable(rows * 2), 1];
  return Buffer.concat([fourBytes(run.length), Uint8Array.from(run)]);
}

function fourBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** One run of numbers of `width` bits each, eight at a time. */
function packBits(values: Uint16Array, width: number): Uint8Array {
  const groups = Math.ceil(values.length / 8);
  const header = variable(groups * 2 + 1);
  const out = new Uint8Array(header.length + groups * width);
  out.set(header);
  let [at, bits, held] = [header.length, 0, 0];
  for (const value of values) {
    held |= value << bits;
    bits += width;
    while (bits >= 8) {
      out[at++] = held;
      held >>>= 8;
      bits -= 8;
    }
  }
  if (bits > 0) out[at] = held;
  return out;
}

function plainPage(rows: number, defined: Uint8Array, values: Uint8Array): Pick<Encoded, 'pages' | 'dictionaryBytes'> {
  const header = pageHeader(dataPage, defined.length + values.byteLength, rows, plain);
  return { pages: [Buffer.concat([header, defined]), values], dictionaryBytes: 0 };
}

function codedPages(
  rows: number,
  defined: Uint8Array,
  { texts, different, codes }: { readonly texts: Uint8Array; readonly different: number; readonly codes: Uint16Array },
): Pick<Encoded, 'pages' | 'dictionaryBytes'> {
  const width = Math.max(1, Math.ceil(Math.log2(different)));
  const packed = packBits(codes, width);
  const first = pageHeader(dictionaryPage, texts.byteLength, different, plain);
  const second = pageHeader(dataPage, defined.length + 1 + packed.length, rows, dictionary);
  return {
    pages: [first, texts, Buffer.concat([second, defined, Uint8Array.of(width), packed])],
    dictionaryBytes: first.length + texts.byteLength,
  };
}

function pageHeader(kind: number, bytes: number, values: number, encoding: number): Uint8Array {
  const out = new Thrift().int(1, kind).int(2, bytes).int(3, bytes);
  if (kind === dataPage) out.struct(5).int(1, values).int(2, encoding).int(3, rle).int(4, rle).end();
  else out.struct(7).int(1, values).int(2, encoding).end();
  return out.end().bytes();
}

/** Finds the different numbers of a column, by their bits: 0 and −0 are two. */
class NumberSlots {
  readonly #slots = new Int16Array(4096);
  readonly #numbers = new Float64Array(dictionaryValues);
  #codes = new Uint16Array(0);

  /** null: there are more than `dictionaryValues`, or none. */
  code(values: Float64Array): CodedNumbers | null {
    if (values.length === 0) return null;
    if (this.#codes.length < values.length) this.#codes = new Uint16Array(values.length);
    const [slots, numbers, codes] = [this.#slots.fill(-1), this.#numbers, this.#codes];
    const halves = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    const known = new Uint32Array(numbers.buffer);
    let different = 0;
    for (let row = 0; row < values.length; row++) {
      const [low, high] = [halves[2 * row] as number, halves[2 * row + 1] as number];
      let slot = (Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 20) & 4095;
      let code = slots[slot] as number;
      while (code >= 0 && (known[2 * code] !== low || known[2 * code + 1] !== high)) {
        slot = (slot + 1) & 4095;
        code = slots[slot] as number;
      }
      if (code < 0) {
        if (different === dictionaryValues) return null;
        numbers[different] = values[row] as number;
        slots[slot] = code = different++;
      }
      codes[row] = code;
    }
    return { different: numbers.slice(0, different), codes: codes.subarray(0, values.length) };
  }
}

function variable(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return bytes;
}

/** Thrift's compact protocol, as far as Parquet needs it. Fields are written in the order of their numbers. */
class Thrift {
  static readonly integer = 5;
  static readonly binary = 8;
  static readonly struct = 12;
  readonly #bytes: number[] = [];
  readonly #outer: number[] = [];
  #last = 0;

  #field(number: number, type: number): void {
    this.#bytes.push(((number - this.#last) << 4) | type);
    this.#last = number;
  }

  int(field: number, value: number): this {
    this.#field(field, Thrift.integer);
    return this.element(value);
  }

  long(field: number, value: number): this {
    this.#field(field, 6);
    return this.element(value);
  }

  double(field: number, value: number): this {
    this.#field(field, Thrift.binary);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#bytes.push(8, ...bytes);
    return this;
  }

  /** A field that is true. */
  yes(field: number): this {
    this.#field(field, 1);
    return this;
  }

  text(field: number, value: string): this {
    this.#field(field, Thrift.binary);
    return this.elementText(value);
  }

  list(field: number, length: number, type: number): this {
    this.#field(field, 9);
    if (length < 15) this.#bytes.push((length << 4) | type);
    else this.#bytes.push(0xf0 | type, ...variable(length));
    if (type === Thrift.struct) this.#open(length);
    return this;
  }

  struct(field: number): this {
    this.#field(field, Thrift.struct);
    this.#open(1);
    return this;
  }

  /** Structures that follow each other begin with a field number of their own each. */
  #open(count: number): void {
    if (count === 0) return;
    for (let index = 0; index < count; index++) this.#outer.push(index === 0 ? this.#last : 0);
    this.#last = 0;
  }

  element(value: number): this {
    this.#bytes.push(...variable(value * 2));
    return this;
  }

  elementText(value: string): this {
    const bytes = Buffer.from(value);
    for (const byte of variable(bytes.length)) this.#bytes.push(byte);
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  end(): this {
    this.#bytes.push(0);
    this.#last = this.#outer.pop() ?? 0;
    return this;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}
