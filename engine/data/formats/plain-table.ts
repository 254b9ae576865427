// Plain delimited text, as most tables of numbers are, copied by our own reader, which takes a third of the time DuckDB's takes.
// It tells nothing: at the first byte that is not plain it gives up, and DuckDB reads the file.

import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Job } from '../jobs.ts';
import { DistinctSample } from '../schema/distinct-sample.ts';
import { MomentsSum } from '../schema/moments.ts';
import { columnsAtOnce, rowNumber, sampleStep, sampleTable } from '../schema/table.ts';
import type { FileHead, WrittenTable } from './format.ts';
import type { Layout } from './layout.ts';
import { ParquetWriter } from './parquet-writer.ts';
import type { GroupColumn } from './parquet-writer.ts';
import { PlainCells } from './plain-cells.ts';
import type { PlainColumn, PlainStyle } from './plain-cells.ts';
import { PlainSample } from './plain-sample.ts';
import { isGrouped, missingSpellings } from './read-csv.ts';

/** Bytes read at a time. */
const bytesAtOnce = 2 ** 19;
/** Columns of numbers of which different values are counted: each takes up to a megabyte. */
const countedColumns = 48;
const firstRows = 4096;
/** Milliseconds between two reports. */
const reportInterval = 100;

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Whether a file may be plain, as far as its layout and its beginning tell. */
export function mayBePlain(layout: Layout, head: FileHead): boolean {
  const { encoding, dialect, columns, style, careful } = layout;
  if (careful || encoding !== 'utf-8' || dialect.trailing || columns.length > columnsAtOnce) return false;
  if (style.thousands !== '' && columns.some(isGrouped)) return false;
  if (!/^[\t,;|:\u001f]$/.test(dialect.delimiter) || dialect.delimiter === style.decimal) return false;
  const header = bodyStart(head.bytes, dialect.skip);
  const start = bodyStart(head.bytes, linesAbove(layout));
  if (start < 0 || !isUtf8(head.bytes.subarray(0, start))) return false;
  // What is skipped is not looked at later: it must not hold a quote that DuckDB takes for the beginning of a cell.
  const text = (from: number, end: number): string => Buffer.from(head.bytes.subarray(from, end)).toString('latin1');
  const { delimiter, quote } = dialect;
  const cell = `(?:${quote}[^${quote}]*${quote}|[^${quote}${delimiter}]*)`;
  const shape = new RegExp(`^${cell}(?:[${delimiter}]${cell})*$`);
  return !text(0, header).includes(quote) && shape.test(text(header, start).trimEnd());
}

/** Lines above the first row. */
function linesAbove({ dialect, header }: Layout): number {
  return dialect.skip + (header === 'none' ? 0 : 1);
}

/** Where the line after so many begins, or −1. A byte-order mark belongs to no line. */
function bodyStart(bytes: Uint8Array, lines: number): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let line = 0; line < lines; line++) {
    const end = bytes.indexOf(newline, at);
    if (end < 0) return -1;
    at = end + 1;
  }
  return at;
}

/** Copies a plain file into a Parquet file and measures its numbers; null: it is not plain. */
export async function copyPlain(
  head: FileHead,
  target: string,
  layout: Layout,
  about: {
    readonly groupRows: number;
    /** Where the rows of its sample may go. */
    readonly sample: string;
    readonly job: Job;
    readonly report: (share: number) => void;
  },
): Promise<WrittenTable | null> {
  const { dialect, columns, style } = layout;
  const plain = columns.map(({ name, storage, exact }): PlainColumn => ({
    name,
    text: storage === 'VARCHAR',
    exact: exact === true,
  }));
  const firstEnd = head.bytes.indexOf(newline);
  const marks: PlainStyle = {
    delimiter: dialect.delimiter.charCodeAt(0),
    quote: dialect.quote.charCodeAt(0),
    decimal: style.decimal.charCodeAt(0),
    returns: head.bytes[firstEnd - 1] === carriageReturn,
    missing: missingSpellings(layout, dialect.delimiter),
  };
  const source = await open(head.path, 'r');
  try {
    const output = await open(target, 'w');
    const sample = await open(about.sample, 'w');
    try {
      const writing = new PlainWriting({ table: output, sample }, plain, marks, about.groupRows);
      const lines = new LineBlocks(source, linesAbove(layout), marks.returns);
      let reported = performance.now();
      for (;;) {
        about.job.throwIfCancelled();
        const block = await lines.next();
        if (block === null) break;
        if (!block.whole || !isUtf8(block.bytes)) return null;
        if (!(await writing.take(block.bytes, (at) => (block.start + at) / head.size))) return null;
        const now = performance.now();
        if (now - reported < reportInterval) continue;
        reported = now;
        about.report(lines.done / head.size);
      }
      const written = await writing.finish();
      return written.sampled ? { ...written, sample: sampleTable(about.sample) } : written;
    } finally {
      await output.close();
      await sample.close();
    }
  } finally {
    await source.close();
  }
}

/** A file in parts of whole lines; the next part is read while one is used. */
class LineBlocks {
  readonly #file: FileHandle;
  /** Lines that come before the first part. */
  readonly #skip: number;
  readonly #returns: boolean;
  #current = Buffer.allocUnsafe(3 * bytesAtOnce);
  #next = Buffer.allocUnsafe(3 * bytesAtOnce);
  #reading: Promise<number> | null = null;
  /** Bytes of an unfinished line at the beginning of `#next`. */
  #rest = 0;
  /** Bytes read so far. */
  done = 0;

  /** `returns`: lines end with a carriage return before the newline. */
  constructor(file: FileHandle, skip: number, returns: boolean) {
    this.#file = file;
    this.#skip = skip;
    this.#returns = returns;
  }

  async #read(buffer: Buffer, at: number): Promise<number> {
    const { bytesRead } = await this.#file.read(buffer, at, bytesAtOnce, null);
    return bytesRead;
  }

  /** `start`: their place in the file; `whole`: they end with a line, as they should. The bytes are valid until the next call. */
  async next(): Promise<{ readonly bytes: Buffer; readonly start: number; readonly whole: boolean } | null> {
    const read = await (this.#reading ?? this.#read(this.#next, 0));
    [this.#current, this.#next] = [this.#next, this.#current];
    const bytes = this.#current;
    let end = this.#rest + read;
    const first = this.done === 0;
    const before = this.done - this.#rest;
    this.done += read;
    if (read === 0) {
      // The last line may lack its end.
      if (end === 0) return null;
      if (this.#returns) bytes[end++] = carriageReturn;
      bytes[end++] = newline;
      this.#rest = 0;
      this.#reading = Promise.resolve(0);
      return { bytes: bytes.subarray(0, end), start: before, whole: true };
    }
    let start = 0;
    if (first) {
      start = bodyStart(bytes.subarray(0, end), this.#skip);
      if (start < 0) return { bytes: bytes.subarray(0, 0), start: before, whole: false };
    }
    const after = bytes.lastIndexOf(newline, end - 1) + 1;
    if (after < start || end - after > bytesAtOnce) return { bytes: bytes.subarray(0, 0), start: before, whole: false };
    this.#rest = bytes.copy(this.#next, 0, after, end);
    this.#reading = this.#read(this.#next, this.#rest);
    // Awaited by the next call, if there is one.
    this.#reading.catch(() => undefined);
    return { bytes: bytes.subarray(start, after), start: before + start, whole: true };
  }
}

/** Rows that become row groups; one is written while the next one fills. */
class PlainWriting {
  readonly #writer: ParquetWriter;
  #filling: PlainCells;
  #written: PlainCells;
  #writing: Promise<void> = Promise.resolve();
  #rows = 0;
  readonly #measured: readonly ({ readonly sum: MomentsSum; readonly different: DistinctSample | null } | null)[];
  readonly #columns: readonly PlainColumn[];
  readonly #files: { readonly table: FileHandle; readonly sample: FileHandle };
  /** From the first row group on, if the table is long. */
  #sample: PlainSample | null = null;

  constructor(
    files: { readonly table: FileHandle; readonly sample: FileHandle },
    columns: readonly PlainColumn[],
    style: PlainStyle,
    groupRows: number,
  ) {
    this.#files = files;
    this.#columns = columns;
    const counts = columns.filter(({ text }) => !text).length <= countedColumns;
    this.#measured = columns.map(({ text }) =>
      text ? null : { sum: new MomentsSum(), different: counts ? new DistinctSample() : null },
    );
    this.#writer = new ParquetWriter(files.table, columns);
    this.#filling = new PlainCells(columns, style, groupRows);
    this.#written = new PlainCells(columns, style, groupRows);
  }

  /** `share`: that of the file which ends at a place among the bytes. false: a line is not plain. */
  async take(bytes: Buffer, share: (at: number) => number): Promise<boolean> {
    for (let at = 0; at < bytes.length;) {
      at = this.#filling.take(bytes, at, bytes.length);
      if (at < 0) return false;
      if (this.#filling.full) await this.#write(share(at));
    }
    return true;
  }

  async #write(done: number): Promise<void> {
    await this.#writing;
    [this.#filling, this.#written] = [this.#written, this.#filling];
    this.#filling.clear();
    this.#rows += this.#written.rows;
    const group = this.#written.group();
    group.forEach((column, index) => this.#measure(column, index, done));
    if (this.#rows === this.#written.rows) this.#sample = this.#startSample(this.#rows / done);
    await this.#sample?.add(group, this.#written.rows, this.#rows - this.#written.rows);
    this.#writing = this.#writer.add(this.#written.rows, group);
    this.#writing.catch(() => undefined);
  }

  #measure(column: GroupColumn, index: number, done: number): void {
    const measured = this.#measured[index];
    if (column.kind !== 'number' || !measured) return;
    const { rows } = this.#written;
    measured.sum.add(column.moments);
    const { different } = measured;
    if (different === null) return;
    // The first rows tell how many numbers to keep.
    const first = this.#rows === rows ? Math.min(rows, firstRows) : 0;
    if (first > 0) {
      different.add(column.values, first);
      different.expect(rows / done, first);
    }
    different.add(column.values.subarray(first), rows - first);
  }

  /** `rows`: about how many the table will have. */
  #startSample(rows: number): PlainSample | null {
    const step = sampleStep(rows, this.#columns.length);
    // The place of a row would be a second column of that name.
    if (step === 1 || this.#columns.some(({ name }) => name.toLowerCase() === rowNumber)) return null;
    return new PlainSample(this.#files.sample, this.#columns, step);
  }

  async finish(): Promise<WrittenTable & { readonly sampled: boolean }> {
    if (this.#filling.rows > 0) await this.#write(1);
    await this.#writing;
    await this.#writer.finish();
    const numbers = new Map(
      this.#columns.flatMap(({ name }, index) => {
        const measured = this.#measured[index];
        if (!measured) return [];
        return [[name, { ...measured.sum.moments(), different: measured.different?.result() ?? null }]];
      }),
    );
    await this.#sample?.finish();
    return { rows: this.#rows, numbers, sampled: this.#sample?.step === sampleStep(this.#rows, this.#columns.length) };
  }
}
