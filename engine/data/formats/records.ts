// Our own reader of delimited text, slower than DuckDB's and minding everything: runs of spaces, any line ends, quotes with
// line breaks inside, escapes. It reads samples, whatever DuckDB cannot read, and finds the line that is wrong.

/** How records are written. */
export interface RecordStyle {
  readonly delimiter: string;
  readonly quote: '"' | "'";
  /** What stands before a quote that belongs to the value: the quote again, or a backslash. */
  readonly escape: '"' | "'" | '\\';
  /** Fields stand apart by any number of spaces and tabs; `delimiter` is a space. */
  readonly spaced: boolean;
}

/** One record, or what is left of a broken one. */
export interface TextRecord {
  readonly fields: readonly string[];
  /** Line of the file at which it starts, from 1. */
  readonly line: number;
  /** `quote`: a quote was opened in this line and not closed as it should be. The record ends with its first line. */
  readonly broken: 'quote' | null;
  /** Fields without quotes around them that hold one. */
  readonly stray: number;
}

/** Characters a record may have; a quote that stays open longer was opened by mistake. */
const longestRecord = 2 ** 27;

const newline = 10;
const carriageReturn = 13;
const space = 32;
const tab = 9;

/** Reads a text in parts. Blank lines are no records. */
export class RecordReader {
  readonly #style: RecordStyle;
  readonly #visit: (record: TextRecord) => void;
  readonly #quote: number;
  /** Text from the beginning of the current record. */
  #text = '';
  /** Line at which that text begins. */
  #line = 1;
  /** The current record has been looked at up to here without finding its end: no need to parse it before. */
  #open = 0;
  /** Where the text has the next delimiter, line feed and carriage return, each from some place on; its length = nowhere. */
  #next = { delimiter: -1, newline: -1, return: -1 };

  constructor(style: RecordStyle, visit: (record: TextRecord) => void, firstLine = 1) {
    this.#style = style;
    this.#visit = visit;
    this.#quote = style.quote.charCodeAt(0);
    this.#line = firstLine;
  }

  push(part: string): void {
    this.#text += part;
    // A record that is still open is tried again only once it has doubled: a cell of many megabytes stays cheap.
    if (this.#text.length < this.#open) return;
    this.#read(false);
  }

  end(): void {
    this.#read(true);
  }

  #read(last: boolean): void {
    const text = this.#text;
    this.#next = { delimiter: -1, newline: -1, return: -1 };
    let at = 0;
    while (at < text.length) {
      const next = this.#record(text, at, last);
      if (next < 0) break;
      at = next;
    }
    this.#text = text.slice(at);
    this.#open = this.#text.length * 2;
    if (this.#text.length < 2 ** 16) this.#open = 0;
  }

  /** Reads the record at `at`; returns where the next one starts, or −1 if the text may go on. */
  #record(text: string, at: number, last: boolean): number {
    const { delimiter, spaced } = this.#style;
    const fields: string[] = [];
    let quotes = false;
    let stray = 0;
    let position = at;
    for (;;) {
      if (spaced) while (isBlank(text.charCodeAt(position))) position++;
      let value: string;
      if (text.charCodeAt(position) === this.#quote) {
        const closed = this.#quoted(text, position, last);
        if (closed === -1) return text.length - at > longestRecord ? this.#breakOff(text, at, position, true) : -1;
        if (closed === null) return this.#breakOff(text, at, position, last);
        value = closed.value;
        position = closed.end;
        quotes = true;
      } else {
        const end = this.#bareEnd(text, position);
        value = text.slice(position, end);
        position = end;
        if (value.includes(this.#style.quote)) stray++;
      }
      if (position >= text.length && !last) return -1;
      const code = text.charCodeAt(position);
      const ended = position >= text.length || code === newline || code === carriageReturn;
      // Spaces at the end of a line are no field.
      if (!(spaced && value === '' && ended && fields.length > 0 && text.charCodeAt(position - 1) !== this.#quote)) {
        fields.push(value);
      }
      if (!ended) {
        position += spaced ? 1 : delimiter.length;
        continue;
      }
      if (code === carriageReturn && position + 1 >= text.length && !last) return -1;
      const blank = position === at || (spaced && !quotes && fields.length === 1 && fields[0] === '');
      if (!blank) this.#visit({ fields, line: this.#line, broken: null, stray });
      const next = Math.min(text.length, position + lineEnd(text, position));
      // Only quotes hold further line breaks.
      if (quotes) this.#line += countLines(text, at, next);
      else if (next > position) this.#line++;
      return next;
    }
  }

  /** Where a field without quotes ends. */
  #bareEnd(text: string, start: number): number {
    if (this.#style.spaced) {
      for (let position = start; position < text.length; position++) {
        const code = text.charCodeAt(position);
        if (code === newline || code === carriageReturn || isBlank(code)) return position;
      }
      return text.length;
    }
    // Each character is looked for once, however many fields there are.
    const next = this.#next;
    if (next.delimiter < start) next.delimiter = find(text, this.#style.delimiter, start);
    if (next.newline < start) next.newline = find(text, '\n', start);
    if (next.return < start) next.return = find(text, '\r', start);
    return Math.min(next.delimiter, next.newline, next.return);
  }

  /** A quoted field: its value and where it ends; −1 if the text may go on, null if it is not closed as it should be. */
  #quoted(text: string, start: number, last: boolean): { value: string; end: number } | -1 | null {
    const { quote, escape, delimiter, spaced } = this.#style;
    let value = '';
    let from = start + 1;
    for (let position = from; ;) {
      const found = text.indexOf(quote, position);
      if (found < 0) return last ? null : -1;
      if (escape === '\\' && isEscaped(text, found, start)) {
        position = found + 1;
        continue;
      }
      if (found + 1 >= text.length && !last) return -1;
      if (escape !== '\\' && text.charCodeAt(found + 1) === this.#quote) {
        value += text.slice(from, found + 1);
        from = position = found + 2;
        continue;
      }
      value += text.slice(from, found);
      if (escape === '\\') value = value.replaceAll(/\\(.)/gs, '$1');
      const end = found + 1;
      const code = text.charCodeAt(end);
      if (end >= text.length || code === newline || code === carriageReturn) return { value, end };
      if (spaced ? isBlank(code) : isAt(text, delimiter, end)) return { value, end };
      if (delimiter.length > 1 && end + delimiter.length > text.length && !last) return -1;
      return null;
    }
  }

  /** Gives up on a record at a quote: it ends with the line in which the quote was opened; −1 if that may go on. */
  #breakOff(text: string, at: number, quoteAt: number, last: boolean): number {
    const quoteLine = this.#line + countLines(text, at, quoteAt);
    let end = quoteAt;
    while (end < text.length && text.charCodeAt(end) !== newline && text.charCodeAt(end) !== carriageReturn) end++;
    if (!last && (end >= text.length || (text.charCodeAt(end) === carriageReturn && end + 1 >= text.length))) return -1;
    end = Math.min(text.length, end + lineEnd(text, end));
    this.#visit({ fields: [], line: quoteLine, broken: 'quote', stray: 0 });
    this.#line += countLines(text, at, end);
    return end;
  }
}

/** Where a part stands in a text, from `start` on; the text's length = nowhere. */
function find(text: string, part: string, start: number): number {
  const found = text.indexOf(part, start);
  return found < 0 ? text.length : found;
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

function isAt(text: string, part: string, position: number): boolean {
  return part.length === 1 ? text[position] === part : text.startsWith(part, position);
}

/** An odd number of backslashes stands before `position`. */
function isEscaped(text: string, position: number, start: number): boolean {
  let count = 0;
  while (position - 1 - count > start && text[position - 1 - count] === '\\') count++;
  return count % 2 === 1;
}

/** Length of the line end at `position`. */
function lineEnd(text: string, position: number): number {
  return text.charCodeAt(position) === carriageReturn && text.charCodeAt(position + 1) === newline ? 2 : 1;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let position = from; position < to; position++) {
    const code = text.charCodeAt(position);
    if (code === newline) lines++;
    else if (code === carriageReturn && text.charCodeAt(position + 1) !== newline) lines++;
  }
  return lines;
}

/** All records of a text. `complete`: its last record is whole; otherwise it is left out. */
export function readRecords(text: string, style: RecordStyle, complete: boolean, limit = Infinity): TextRecord[] {
  const records: TextRecord[] = [];
  const reader = new RecordReader(style, (record) => records.push(record));
  // In parts, so that a sample of a long text need not read all of it.
  for (let start = 0; start < text.length && records.length < limit; start += 2 ** 16) {
    reader.push(text.slice(start, start + 2 ** 16));
  }
  if (complete) reader.end();
  return records.slice(0, limit);
}
