// Cells of plain delimited text, read into columns: UTF-8, every record on a line of its own, quotes at most around whole cells. Whatever
// is not as it usually is (a number written in another way, a record of another width, a quote within a cell) is left to DuckDB, which
// reads the whole file then. A cell in quotes is the same as one without: missing words are missing, numbers are numbers.

import { momentsOf } from '../schema/moments.ts';
import { dictionaryValues, missingCode } from './parquet-writer.ts';
import type { GroupColumn } from './parquet-writer.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const [minus, point, zero] = [0x2d, 0x2e, 0x30];

/** Powers of ten that are exact. */
const powers = Float64Array.from({ length: 23 }, (_, index) => Number(`1e${index}`));
/** A whole number below this, which its digits add up to, is exact. */
const exactLimit = 2 ** 53;

const numberShape = /^ *[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)? *$/i;
const zeroShape = /^ *[+-]?[0.]+(e|$)/i;

export interface PlainColumn {
  readonly name: string;
  readonly text: boolean;
  /** Of a text: no word stands for a missing cell. */
  readonly exact?: boolean;
}

export interface PlainStyle {
  readonly delimiter: number;
  readonly quote: number;
  readonly decimal: number;
  /** Lines end with a carriage return and a newline, all of them. */
  readonly returns: boolean;
  /** Spellings of a missing value. */
  readonly missing: readonly string[];
}

/** Bytes of a number; longer ones are not plain. */
const longestNumber = 500;

/** Rows of a call: one that goes on and on is compiled again and again, for what it has met so far. */
const rowsAtOnce = 256;

/** Columns of a group of rows, and of numbers those that may be in the sample of different ones; without, all may. */
export type PlainGroup = readonly (GroupColumn & { readonly chosen?: Float64Array })[];

/** Reads groups of rows, one after the other. */
export interface PlainReader {
  /**
   * Takes some whole lines; null: they are not plain. What it gives is valid until the next call.
   * `masks`: of each column, that of its sample of different numbers (schema/distinct-sample.ts).
   */
  read(bytes: Buffer, lines: number, masks: Uint32Array): Promise<PlainGroup | null>;
}

/** Columns of some rows. */
export class PlainCells implements PlainReader {
  readonly #limit: number;
  #rows = 0;
  readonly #columns: readonly (NumberCells | TextCells)[];
  readonly #kinds: Uint8Array;
  readonly #numbers: readonly Float64Array[];
  readonly #style: PlainStyle;
  readonly #missing: ReadonlySet<string>;
  readonly #ends: Uint8Array;

  constructor(columns: readonly PlainColumn[], style: PlainStyle, limit: number) {
    this.#limit = limit;
    this.#style = style;
    this.#missing = new Set(style.missing.map(bytewise));
    const words: Words = {
      missing: this.#missing,
      longest: Math.max(0, ...[...this.#missing].map(({ length }) => length)),
      delimiter: style.delimiter,
      quote: style.quote,
    };
    const noWords: Words = { ...words, missing: new Set(), longest: 0 };
    const lineEnd = style.returns ? carriageReturn : newline;
    this.#columns = columns.map(({ text, exact }) =>
      text ? new TextCells(limit, exact ? noWords : words) : new NumberCells(limit),
    );
    this.#kinds = Uint8Array.from(columns, ({ text }) => (text ? 1 : 0));
    this.#numbers = this.#columns.map((column) => (column instanceof NumberCells ? column.values : noNumbers));
    this.#ends = Uint8Array.from(columns, (_, index) => (index === columns.length - 1 ? lineEnd : style.delimiter));
  }

  read(bytes: Buffer, lines: number): Promise<PlainGroup | null> {
    this.#rows = 0;
    for (const column of this.#columns) column.clear();
    let at = 0;
    while (at >= 0 && this.#rows < lines) at = this.#take(bytes, at);
    return Promise.resolve(at === bytes.length ? this.#columns.map((column) => column.group(lines)) : null);
  }

  /** Takes `rowsAtOnce` lines at most of those from `start` on; returns where it stopped, or −1 at a line that is not plain. */
  #take(bytes: Buffer, start: number): number {
    const [kinds, ends, numbers, columns] = [this.#kinds, this.#ends, this.#numbers, this.#columns];
    const limit = Math.min(this.#limit, this.#rows + rowsAtOnce);
    const { returns } = this.#style;
    const mark = this.#style.decimal - zero;
    const quote = this.#style.quote - zero;
    const width = kinds.length;
    let [at, row] = [start, this.#rows];
    const end = bytes.length;
    while (at < end && row < limit) {
      const line = at;
      for (let column = 0; column < width; column++) {
        const last = ends[column] as number;
        if (kinds[column] === 1) {
          at = (columns[column] as TextCells).take(bytes, at, last, row);
          if (at < 0) return -1;
          continue;
        }
        const from = at;
        let digit = (bytes[at] as number) - zero;
        const quoted = digit === quote;
        if (quoted) digit = (bytes[++at] as number) - zero;
        const negative = digit === minus - zero;
        if (negative) digit = (bytes[++at] as number) - zero;
        const digits = at;
        let [whole, decimals] = [0, 0];
        while (digit >= 0 && digit <= 9) {
          whole = whole * 10 + digit;
          digit = (bytes[++at] as number) - zero;
        }
        let fits = at > digits;
        if (digit === mark) {
          const first = ++at;
          digit = (bytes[at] as number) - zero;
          while (digit >= 0 && digit <= 9) {
            whole = whole * 10 + digit;
            digit = (bytes[++at] as number) - zero;
          }
          decimals = at - first;
          fits ||= decimals > 0;
        }
        if (quoted) {
          fits &&= digit === quote;
          digit = (bytes[++at] as number) - zero;
        }
        let value: number;
        if (fits && digit === last - zero && whole < exactLimit && decimals < powers.length) {
          value = decimals === 0 ? whole : whole / (powers[decimals] as number);
          if (negative) value = -value;
        } else {
          const open = quoted ? from + 1 : from;
          const close = bytes.indexOf(quoted ? this.#style.quote : last, open);
          if (close < 0 || close >= end) return -1;
          at = quoted ? close + 1 : close;
          if (bytes[at] !== last) return -1;
          value = this.#other(bytes, open, close);
          if (value === Infinity) return -1;
        }
        (numbers[column] as Float64Array)[row] = value;
        at++;
      }
      if (returns && bytes[at++] !== newline) return -1;
      // Whether a line of blanks is a record is not for us to tell.
      if ((this.#style.delimiter <= space || width === 1) && isBlank(bytes, line, at)) return -1;
      row++;
    }
    this.#rows = row;
    return at;
  }

  /** A number cell that is written in another way; NaN: missing, Infinity: it is not for us to tell. */
  #other(bytes: Buffer, from: number, end: number): number {
    const cell = bytes.toString('latin1', from, end);
    if (this.#missing.has(cell)) return NaN;
    if (cell.length > longestNumber) return Infinity;
    const { decimal } = this.#style;
    const text = decimal === point ? cell : cell.replace('.', 'no').replace(String.fromCharCode(decimal), '.');
    if (!numberShape.test(text)) return Infinity;
    const value = Number(text);
    const size = Math.abs(value);
    // What is too large or too small for a number is refused or not, in DuckDB's own way.
    return size < 1e300 && (size > 1e-290 || zeroShape.test(text)) ? value : Infinity;
  }
}

const noNumbers = new Float64Array(0);

/** The bytes of a text in UTF-8, a character each: cells are compared without being decoded. */
function bytewise(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function isBlank(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if ((bytes[at] as number) > space) return false;
  return true;
}

/** Whether there are only separators of space, those of Unicode with them: a text of these is missing. */
function isSpace(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from;
  while (at < end) {
    const length = spaceLength(bytes, at);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Bytes of the separator at a place (category Zs), 0: there is none. */
function spaceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return first <= space ? 1 : 0;
  const second = bytes[at + 1] as number;
  if (first === 0xc2) return second === 0xa0 ? 2 : 0;
  const rest = (second << 8) | (bytes[at + 2] as number);
  if (first === 0xe1) return rest === 0x9a80 ? 3 : 0;
  if (first === 0xe3) return rest === 0x8080 ? 3 : 0;
  const wide = (rest >= 0x8080 && rest <= 0x808a) || rest === 0x80af || rest === 0x819f;
  return first === 0xe2 && wide ? 3 : 0;
}

class NumberCells {
  readonly values: Float64Array;

  constructor(limit: number) {
    this.values = new Float64Array(limit);
  }

  group(rows: number): GroupColumn {
    return { kind: 'number', values: this.values, moments: momentsOf(this.values, rows) };
  }

  /** Rows are overwritten. */
  clear(): void {}
}

interface Words {
  readonly missing: ReadonlySet<string>;
  /** Bytes of the longest. */
  readonly longest: number;
  readonly delimiter: number;
  readonly quote: number;
}

const slotCount = 4096;

/** A column of texts: with the different ones of its rows as long as these are few. */
class TextCells {
  readonly #words: Words;
  readonly #codes: Uint16Array;
  readonly #slots = new Int16Array(slotCount).fill(-1);
  /** Cells that were seen: where they begin in `#seen`, how long they are, and their code. */
  readonly #seenAt = new Int32Array(dictionaryValues);
  readonly #seenLength = new Int32Array(dictionaryValues);
  readonly #seenCode = new Int32Array(dictionaryValues);
  #seenCount = 0;
  #seen: Buffer = Buffer.alloc(2 ** 12);
  #seenEnd = 0;
  /** Texts behind their lengths: the different ones, then those of all rows. */
  #texts: Buffer = Buffer.alloc(2 ** 12);
  #end = 0;
  #places: number[] = [];
  #few = true;

  constructor(limit: number, words: Words) {
    this.#words = words;
    this.#codes = new Uint16Array(limit);
  }

  /** Takes the cell at `start`; returns where the next one begins, −1 = the cell is not plain. */
  take(bytes: Buffer, start: number, last: number, row: number): number {
    const { delimiter, quote } = this.#words;
    const quoted = bytes[start] === quote;
    const from = quoted ? start + 1 : start;
    const close = quoted ? quote : last;
    let [at, hash] = [from, 0];
    let byte = bytes[at] as number;
    while (byte !== close) {
      // The line has fewer cells, or more, or there is a quote within one.
      if (byte < space || (!quoted && (byte === delimiter || byte === quote))) return -1;
      hash = Math.imul(hash ^ byte, 0x01000193);
      byte = bytes[++at] as number;
    }
    if (!this.#few) this.#codes[row] = this.#append(bytes, from, at) ? 0 : missingCode;
    else if (!this.#look(bytes, from, at, hash, row)) {
      this.#spread(row);
      this.#codes[row] = this.#append(bytes, from, at) ? 0 : missingCode;
    }
    if (!quoted) return at + 1;
    return bytes[at + 1] === last ? at + 2 : -1;
  }

  /** Finds the cell among those seen, or remembers it; false: there are too many. */
  #look(bytes: Buffer, from: number, end: number, hash: number, row: number): boolean {
    const length = end - from;
    let slot = ((hash ^ (hash >>> 15)) + length) & (slotCount - 1);
    let known = this.#slots[slot] as number;
    while (known >= 0) {
      if (this.#seenLength[known] === length && this.#isSame(bytes, from, known, length)) {
        this.#codes[row] = this.#seenCode[known] as number;
        return true;
      }
      slot = (slot + 1) & (slotCount - 1);
      known = this.#slots[slot] as number;
    }
    if (this.#seenCount === dictionaryValues) return false;
    this.#slots[slot] = known = this.#seenCount++;
    this.#seen = withRoom(this.#seen, this.#seenEnd, length);
    bytes.copy(this.#seen, this.#seenEnd, from, end);
    this.#seenAt[known] = this.#seenEnd;
    this.#seenLength[known] = length;
    this.#seenEnd += length;
    const place = this.#end;
    const code = this.#append(bytes, from, end) ? this.#places.push(place) - 1 : missingCode;
    this.#seenCode[known] = code;
    this.#codes[row] = code;
    return true;
  }

  #isSame(bytes: Buffer, from: number, known: number, length: number): boolean {
    const [seen, at] = [this.#seen, this.#seenAt[known] as number];
    for (let index = 0; index < length; index++) if (seen[at + index] !== bytes[from + index]) return false;
    return true;
  }

  /** Adds a cell's text; false: it is missing. */
  #append(bytes: Buffer, from: number, end: number): boolean {
    if (end - from <= this.#words.longest && this.#words.missing.has(bytes.toString('latin1', from, end))) return false;
    if (isSpace(bytes, from, end)) return false;
    const length = end - from;
    this.#texts = withRoom(this.#texts, this.#end, length + 4);
    this.#texts.writeUInt32LE(length, this.#end);
    bytes.copy(this.#texts, this.#end + 4, from, end);
    this.#end += length + 4;
    return true;
  }

  /** There are many different texts: from now on all of them are kept, row by row. */
  #spread(rows: number): void {
    const [texts, places, end] = [this.#texts.subarray(0, this.#end), this.#places, this.#end];
    this.#few = false;
    this.#texts = Buffer.alloc(Math.max(2 ** 16, 4 * end));
    this.#end = 0;
    for (let row = 0; row < rows; row++) {
      const code = this.#codes[row] as number;
      if (code === missingCode) continue;
      const text = texts.subarray(places[code], places[code + 1] ?? end);
      this.#texts = withRoom(this.#texts, this.#end, text.length);
      text.copy(this.#texts, this.#end);
      this.#end += text.length;
    }
  }

  group(): GroupColumn {
    return {
      kind: 'text',
      codes: this.#codes,
      texts: this.#texts.subarray(0, this.#end),
      different: this.#few && this.#places.length > 0 ? this.#places.length : null,
    };
  }

  clear(): void {
    this.#slots.fill(-1);
    this.#seenCount = this.#seenEnd = this.#end = 0;
    this.#places = [];
    this.#few = true;
  }
}

function withRoom(buffer: Buffer, end: number, more: number): Buffer {
  if (end + more <= buffer.length) return buffer;
  const larger = Buffer.alloc(Math.max(buffer.length * 2, end + more));
  buffer.copy(larger, 0, 0, end);
  return larger;
}
