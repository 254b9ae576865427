// Plain delimited text, as most tables of numbers are, copied by our own reader: the native one on several threads, or where there is
// none that of plain-cells.ts. It tells nothing: at the first byte that is not plain it gives up, and DuckDB reads the file.

import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Job } from '../jobs.ts';
import { DistinctSample, maskFor, type Distinct } from '../schema/distinct-sample.ts';
import { MomentsSum } from '../schema/moments.ts';
import { rowNumber, sampleStep, sampleTable } from '../schema/table.ts';
import type { FileHead, WrittenTable } from './format.ts';
import type { Layout } from './layout.ts';
import { LineGroups, afterLines, lineStart } from './line-groups.ts';
import type { LineGroup } from './line-groups.ts';
import { NativeCells, memoryOf, nativeTables } from './native-cells.ts';
import type { NativeTables } from './native-cells.ts';
import { ParquetWriter } from './parquet-writer.ts';
import { PlainCells } from './plain-cells.ts';
import type { PlainColumn, PlainGroup, PlainReader, PlainStyle } from './plain-cells.ts';
import { PlainSample } from './plain-sample.ts';
import { isGrouped, missingSpellings } from './read-csv.ts';

/** Groups of rows read at once: the pool has four threads, and one is for files. Bytes that they take at most. */
const [mostReading, readingBytes] = [3, 2 ** 27];
/** Columns of numbers of which different values are counted while rows pass by: each takes up to a megabyte. */
const countedColumns = 48;
const firstRows = 4096;
/** Milliseconds between two reports. */
const reportInterval = 100;

const newline = 0x0a;
const carriageReturn = 0x0d;

/** Whether a file may be plain, as far as its layout and its beginning tell. */
export function mayBePlain(layout: Layout, head: FileHead): boolean {
  const { encoding, dialect, columns, style, careful } = layout;
  if (careful || encoding !== 'utf-8' || dialect.trailing) return false;
  if (style.thousands !== '' && columns.some(isGrouped)) return false;
  if (!/^[\t,;|:\u001f]$/.test(dialect.delimiter) || dialect.delimiter === style.decimal) return false;
  const header = lineStart(head.bytes, dialect.skip);
  const start = lineStart(head.bytes, linesAbove(layout));
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

/** Copies a plain file into a Parquet file and measures its numbers; null: it is not plain. */
export async function copyPlain(
  head: FileHead,
  target: string,
  layout: Layout,
  about: {
    readonly groupRows: number;
    readonly threads: number;
    /** Where the rows of its sample may go. */
    readonly sample: string;
    readonly job: Job;
    readonly report: (share: number) => void;
  },
): Promise<WrittenTable | null> {
  const { dialect, columns } = layout;
  const plain = columns.map(({ name, storage, exact }): PlainColumn => ({
    name,
    text: storage === 'VARCHAR',
    exact: exact === true,
  }));
  const firstEnd = head.bytes.indexOf(newline);
  const style: PlainStyle = {
    delimiter: dialect.delimiter.charCodeAt(0),
    quote: dialect.quote.charCodeAt(0),
    decimal: layout.style.decimal.charCodeAt(0),
    returns: head.bytes[firstEnd - 1] === carriageReturn,
    missing: missingSpellings(layout, dialect.delimiter),
  };
  const tables = nativeTables(style);
  const readers = makeReaders(tables, plain, style, about);
  const source = await open(head.path, 'r');
  try {
    const output = await open(target, 'w');
    const sample = await open(about.sample, 'w');
    const writing = new PlainWriting({ table: output, sample }, plain, readers);
    try {
      const groups = new LineGroups(source, {
        lines: about.groupRows,
        skip: linesAbove(layout),
        returns: style.returns,
        afterLines: tables === null ? afterLines : (...lines) => tables.afterLines(...lines),
      });
      let reported = performance.now();
      for (;;) {
        about.job.throwIfCancelled();
        const group = await groups.next();
        if (group === null) break;
        if (group === 'odd' || !isUtf8(group.bytes)) return null;
        if (!(await writing.take(group, group.end / head.size, () => groups.release(group)))) return null;
        const now = performance.now();
        if (now - reported < reportInterval) continue;
        reported = now;
        about.report(group.end / head.size);
      }
      const written = await writing.finish();
      return written?.sampled === true ? { ...written, sample: sampleTable(about.sample) } : written;
    } finally {
      await writing.settled();
      await output.close();
      await sample.close();
    }
  } finally {
    await source.close();
  }
}

/** One for each thread that reads, and one for the rows that are written. */
function makeReaders(
  tables: NativeTables | null,
  columns: readonly PlainColumn[],
  style: PlainStyle,
  { groupRows, threads }: { readonly groupRows: number; readonly threads: number },
): PlainReader[] {
  // In JavaScript nobody else reads.
  if (tables === null) return [0, 1].map(() => new PlainCells(columns, style, groupRows));
  const fitting = Math.floor(readingBytes / memoryOf(columns, groupRows)) - 1;
  const reading = Math.max(1, Math.min(threads, mostReading, fitting));
  return Array.from({ length: reading + 1 }, () => new NativeCells(tables, columns, style));
}

interface Reading {
  readonly reader: PlainReader;
  readonly group: Promise<PlainGroup | null>;
  /** By which numbers are chosen for the sample of different ones, by column. */
  readonly masks: Uint32Array;
  readonly lines: number;
  readonly share: number;
}

/** What is known so far of a column of numbers. */
interface Measured {
  readonly sum: MomentsSum;
  /** null: not while rows pass by. */
  readonly different: DistinctSample | null;
  counted: Distinct | null;
}

function countDifferent(values: Float64Array, rows: number): Distinct | null {
  const sample = new DistinctSample(rows);
  sample.add(values, rows);
  return sample.result();
}

/** Rows that become row groups: some are read while others are written. */
class PlainWriting {
  readonly #writer: ParquetWriter;
  /** Those that neither read nor hold rows that are written. */
  readonly #free: PlainReader[];
  readonly #reading: Reading[] = [];
  #writing: Promise<void> = Promise.resolve();
  #rows = 0;
  readonly #measured: readonly (Measured | null)[];
  readonly #columns: readonly PlainColumn[];
  readonly #files: { readonly table: FileHandle; readonly sample: FileHandle };
  /** Bits of a hash that will be 0 of the numbers kept of a column, should nearly all of its numbers differ. */
  #mask = 0;
  /** From the first row group on, if the table is long. */
  #sample: PlainSample | null = null;

  constructor(
    files: { readonly table: FileHandle; readonly sample: FileHandle },
    columns: readonly PlainColumn[],
    readers: readonly PlainReader[],
  ) {
    this.#files = files;
    this.#columns = columns;
    const counts = columns.filter(({ text }) => !text).length <= countedColumns;
    this.#measured = columns.map(({ text }) =>
      text ? null : { sum: new MomentsSum(), different: counts ? new DistinctSample() : null, counted: null },
    );
    this.#writer = new ParquetWriter(files.table, columns);
    this.#free = [...readers];
  }

  /**
   * Takes the next rows; while all readers are busy it waits for earlier ones. `share`: that of the file which ends with them;
   * `release`: called when their bytes have been read. false: a line is not plain.
   */
  async take({ bytes, lines }: LineGroup, share: number, release: () => void): Promise<boolean> {
    while (this.#free.length === 0) if (!(await this.#writeNext())) return false;
    const reader = this.#free.pop() as PlainReader;
    // The first rows are read, and those behind them, before anything is known of their numbers: for once it is assumed.
    if (this.#rows === 0 && this.#reading.length === 0) this.#mask = maskFor(lines / share);
    const assumed = this.#rows === 0 ? this.#mask : 0;
    const masks = Uint32Array.from(this.#measured, (column) => column?.different?.mask || assumed);
    const group = reader.read(bytes, lines, masks).finally(release);
    // Awaited in its turn; until then its failure is nobody else's business.
    group.catch(() => undefined);
    this.#reading.push({ reader, group, masks, lines, share });
    return true;
  }

  /** The rows that were read first become a row group; false: a line is not plain. */
  async #writeNext(): Promise<boolean> {
    const { reader, group, masks, lines, share } = this.#reading.shift() as Reading;
    const columns = await group;
    if (columns === null) return false;
    const before = this.#rows;
    this.#rows += lines;
    columns.forEach((column, index) => this.#measure(column, index, masks[index] as number, lines, share));
    if (before === 0) this.#sample = this.#startSample(lines / share);
    await this.#sample?.add(columns, lines, before);
    await this.#writing;
    this.#writing = this.#writer.add(lines, columns).finally(() => this.#free.push(reader));
    this.#writing.catch(() => undefined);
    return true;
  }

  /** `mask`: by which the numbers were chosen. */
  #measure(column: PlainGroup[number], index: number, mask: number, rows: number, done: number): void {
    const measured = this.#measured[index];
    if (column.kind !== 'number' || !measured) return;
    measured.sum.add(column.moments);
    const { different } = measured;
    const isFirst = this.#rows === rows;
    if (different === null) {
      // Where these are all rows, what one column takes is free for the next.
      if (isFirst && done === 1) measured.counted = countDifferent(column.values, rows);
      return;
    }
    // The first rows tell how many numbers to keep.
    const first = isFirst ? Math.min(rows, firstRows) : 0;
    if (first > 0) {
      different.add(column.values, first);
      different.expect(rows / done, first);
    }
    if (column.coded) different.add(column.coded.different, column.coded.different.length);
    else if (column.chosen && mask <= different.mask) different.add(column.chosen, column.chosen.length);
    else different.add(column.values.subarray(first), rows - first);
  }

  /** `rows`: about how many the table will have. */
  #startSample(rows: number): PlainSample | null {
    const step = sampleStep(rows, this.#columns.length);
    // The place of a row would be a second column of that name.
    if (step === 1 || this.#columns.some(({ name }) => name.toLowerCase() === rowNumber)) return null;
    return new PlainSample(this.#files.sample, this.#columns, step);
  }

  /** Nothing is read or written any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#writing, ...this.#reading.map(({ group }) => group)]);
  }

  /** null: a line is not plain. */
  async finish(): Promise<(WrittenTable & { readonly sampled: boolean }) | null> {
    while (this.#reading.length > 0) if (!(await this.#writeNext())) return null;
    await this.#writing;
    await this.#writer.finish();
    const numbers = new Map(
      this.#columns.flatMap(({ name }, index) => {
        const measured = this.#measured[index];
        if (!measured) return [];
        return [[name, { ...measured.sum.moments(), different: measured.different?.result() ?? measured.counted }]];
      }),
    );
    await this.#sample?.finish();
    return { rows: this.#rows, numbers, sampled: this.#sample?.step === sampleStep(this.#rows, this.#columns.length) };
  }
}
