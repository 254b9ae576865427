// A file of lines, taken apart into groups of so many whole lines: the row groups of its copy, wherever the parts that are read
// begin and end. The next group is read while others are used.

import type { FileHandle } from 'node:fs/promises';
import { headBytes } from './format.ts';

/** Bytes read at a time. */
const bytesAtOnce = 2 ** 20;
/** Bytes of a line; longer ones are not plain. */
const longestLine = 2 ** 19;
/** Bytes of a group, however few lines they are: all of it is in memory. */
const groupBytes = 2 ** 25;

const newline = 0x0a;
const carriageReturn = 0x0d;

export interface LineGroup {
  /** Whole lines. */
  readonly bytes: Buffer;
  readonly lines: number;
  /** Where in the file they end. */
  readonly end: number;
}

/** Where the line after so many begins, or −1 − the lines there are. */
export type AfterLines = (bytes: Buffer, from: number, end: number, lines: number) => number;

/** In JavaScript. */
export const afterLines: AfterLines = (bytes, from, end, lines) => {
  const within = bytes.subarray(0, end);
  let at = from;
  for (let line = 0; line < lines; line++) {
    at = within.indexOf(newline, at) + 1;
    if (at === 0) return -1 - line;
  }
  return at;
};

interface GroupSettings {
  /** Lines of a group. */
  readonly lines: number;
  /** Lines that come before the first group. */
  readonly skip: number;
  /** Lines end with a carriage return before the newline. */
  readonly returns: boolean;
  readonly afterLines: AfterLines;
}

export class LineGroups {
  readonly #file: FileHandle;
  readonly #settings: GroupSettings;
  readonly #free: Buffer[] = [];
  /** Bytes behind the last group, in its buffer: nobody but `next` writes there. */
  #rest: Buffer = Buffer.alloc(0);
  #done = 0;

  constructor(file: FileHandle, settings: GroupSettings) {
    this.#file = file;
    this.#settings = settings;
  }

  /** null: there are no more; 'odd': a line is too long, or the file ends before its rows begin. */
  async next(): Promise<LineGroup | 'odd' | null> {
    const { lines, skip, returns } = this.#settings;
    let buffer = this.#free.pop() ?? Buffer.allocUnsafe(2 ** 23);
    let end = this.#rest.copy(buffer);
    // Lines are counted up to here.
    let [counted, known, lastEnd] = [0, 0, 0];
    // The first group begins where the head of the file ends.
    let start = this.#done === 0 ? -1 : 0;
    for (;;) {
      if (start >= 0) {
        const found = this.#settings.afterLines(buffer, counted, Math.min(end, groupBytes), lines - known);
        if (found >= 0) return this.#cut(buffer, start, found, end, lines);
        known += -1 - found;
        counted = end;
        lastEnd = Math.max(lastEnd, buffer.subarray(0, end).lastIndexOf(newline) + 1);
        if (end - lastEnd > longestLine) return 'odd';
        if (end >= groupBytes) {
          // Decided by the bytes of the group alone, not by how they were read.
          const cut = buffer.lastIndexOf(newline, groupBytes - 1) + 1;
          return this.#cut(buffer, start, cut, end, this.#count(buffer, start, cut));
        }
      }
      if (buffer.length < end + bytesAtOnce + 2) buffer = Buffer.concat([buffer], 2 * buffer.length);
      const { bytesRead } = await this.#file.read(buffer, end, bytesAtOnce, null);
      this.#done += bytesRead;
      end += bytesRead;
      if (start < 0) {
        start = lineStart(buffer.subarray(0, end), skip);
        if (start < 0 && (bytesRead === 0 || end > headBytes)) return 'odd';
        counted = lastEnd = Math.max(0, start);
      }
      if (bytesRead > 0) continue;
      this.#rest = buffer.subarray(0, 0);
      if (end === start) return null;
      if (lastEnd < end) {
        // The last line may lack its end.
        if (returns) buffer[end++] = carriageReturn;
        buffer[end++] = newline;
        known++;
      }
      return { bytes: buffer.subarray(start, end), lines: known, end: this.#done };
    }
  }

  /** A group's bytes are not needed any more. */
  release({ bytes }: LineGroup): void {
    this.#free.push(Buffer.from(bytes.buffer));
  }

  #cut(buffer: Buffer, start: number, cut: number, end: number, lines: number): LineGroup {
    this.#rest = buffer.subarray(cut, end);
    return { bytes: buffer.subarray(start, cut), lines, end: this.#done - (end - cut) };
  }

  #count(buffer: Buffer, start: number, end: number): number {
    return -1 - this.#settings.afterLines(buffer, start, end, 2 ** 32 - 1);
  }
}

/** Where the line after so many begins, or −1. A byte-order mark belongs to no line. */
export function lineStart(bytes: Uint8Array, lines: number): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let line = 0; line < lines; line++) {
    const end = bytes.indexOf(newline, at);
    if (end < 0) return -1;
    at = end + 1;
  }
  return at;
}
