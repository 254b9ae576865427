// A quick look at all bytes of a text file while DuckDB reads it: how many records there should be. Two counts that differ
// mean that the file has to be read the careful way; nothing is ever lost in silence.

import { open } from 'node:fs/promises';

/** Bytes looked at together. */
const bytesAtOnce = 2 ** 19;

/** Bytes a record may have: DuckDB looks at a longer one again from each of the lines in it. */
export const longestLine = 2 ** 21;

/** Bytes of a line from which on a call that finds its end is quicker than a look at each of them, and lines that tell how long they are. */
const shortLine = 32;
const telling = 16;

const apostrophe = 0x27;
const quoteByte = 0x22;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * Counts the records of a file: lines that are not blank, line breaks inside quotes aside. Right for every file whose
 * quotes come in pairs. `onLong` is called once, at the first record that is longer than `longestLine`.
 */
export async function countRecords(
  path: string,
  quote: '"' | "'",
  skipLines: number,
  signal: AbortSignal,
  onLong: () => void = () => undefined,
): Promise<number> {
  const counter = new RecordCounter(quote, skipLines);
  let told = false;
  const file = await open(path, 'r');
  try {
    // One buffer for all: the import is kept waiting by collecting many.
    const buffer = Buffer.alloc(bytesAtOnce);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return counter.end();
      counter.take(buffer.subarray(0, bytesRead));
      if (told || counter.openBytes <= longestLine) continue;
      told = true;
      onLong();
    }
  } finally {
    await file.close();
  }
}

/** Bytes looked at before DuckDB starts: within what it has begun to read it cannot be stopped. */
const firstBytes = 2 ** 26;

/** Whether there is a record longer than `longestLine` near the beginning of a file. */
export async function beginsLong(
  path: string,
  quote: '"' | "'",
  skipLines: number,
  signal: AbortSignal,
): Promise<boolean> {
  const counter = new RecordCounter(quote, skipLines);
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(bytesAtOnce);
    for (let done = 0; done < firstBytes; done += buffer.length) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return false;
      counter.skim(buffer.subarray(0, bytesRead));
      if (counter.openBytes > longestLine) return true;
    }
    return false;
  } finally {
    await file.close();
  }
}

class RecordCounter {
  readonly #mark: number;
  #records = 0;
  #skip: number;
  #quoted = false;
  /** Something other than blanks stands in the current line. */
  #filled = false;
  /** The line end before was a carriage return: right behind it, a newline belongs to it. */
  #returned = false;
  /** Bytes of the record that has not ended yet. */
  openBytes = 0;

  constructor(quote: '"' | "'", skipLines: number) {
    this.#mark = quote === '"' ? quoteByte : apostrophe;
    this.#skip = skipLines;
  }

  /** Takes the next bytes: without quotes and carriage returns among them newlines alone are looked for, where lines are not short. */
  take(bytes: Buffer): void {
    const isPlain = !this.#quoted && this.#skip === 0 && !this.#returned;
    if (isPlain && !bytes.includes(this.#mark) && !bytes.includes(carriageReturn)) this.#hop(bytes);
    else this.#walk(bytes);
  }

  /** From newline to newline; where a line is short, looking at its bytes is quicker. */
  #hop(bytes: Buffer): void {
    let [start, lines, records, filled] = [0, 0, this.#records, this.#filled];
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      for (let index = start; !filled && index < end; index++) filled = (bytes[index] as number) > space;
      if (filled) records++;
      filled = false;
      // The first line alone does not tell: it began in the bytes before.
      if (++lines === telling && end < telling * shortLine) {
        this.#records = records;
        this.#filled = false;
        this.openBytes = 0;
        this.#walk(bytes.subarray(end + 1));
        return;
      }
      start = end + 1;
    }
    for (let index = start; !filled && index < bytes.length; index++) filled = (bytes[index] as number) > space;
    this.openBytes = bytes.length - start + (start === 0 ? this.openBytes : 0);
    [this.#records, this.#filled] = [records, filled];
  }

  /** Byte by byte. All state is local while it runs: a gigabyte takes about a second. */
  #walk(bytes: Uint8Array): void {
    const mark = this.#mark;
    let start = -this.openBytes;
    let [records, skip, quoted, filled, returned] = [
      this.#records,
      this.#skip,
      this.#quoted,
      this.#filled,
      this.#returned,
    ];
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (byte > space) {
        filled = true;
        if (byte === mark) quoted = !quoted;
        continue;
      }
      if (byte !== newline && byte !== carriageReturn) continue;
      const second = byte === newline && returned && (index === 0 || bytes[index - 1] === carriageReturn);
      returned = byte === carriageReturn;
      if (second) continue;
      if (skip > 0) {
        skip--;
        quoted = filled = false;
        start = index + 1;
      } else if (!quoted) {
        start = index + 1;
        if (filled) records++;
        filled = false;
      }
    }
    this.openBytes = bytes.length - start;
    returned &&= bytes.at(-1) === carriageReturn;
    [this.#records, this.#skip, this.#quoted, this.#filled, this.#returned] = [records, skip, quoted, filled, returned];
  }

  /**
   * Takes the next bytes where `openBytes` alone is asked for: without quotes among them, the last newline tells it. The import
   * waits for this. Carriage returns are not looked for: files with lone ones are read in another way.
   */
  skim(bytes: Buffer): void {
    if (this.#quoted || this.#skip > 0 || bytes.includes(this.#mark)) return this.take(bytes);
    this.#returned = false;
    const end = bytes.lastIndexOf(newline);
    this.openBytes = end < 0 ? this.openBytes + bytes.length : bytes.length - end - 1;
  }

  end(): number {
    return this.#records + (this.#filled && this.#skip === 0 ? 1 : 0);
  }
}
