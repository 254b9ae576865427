// UTF-8, byte by byte: which bytes form characters, and what the others may be.

import { isAscii } from 'node:buffer';

/** Length of the character of several bytes at `at`; 0 = there is none, −1 = the bytes end within it. */
export function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  const length = first >= 0xf5 || first < 0xc2 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (length === 0) return 0;
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return -1;
    if (byte < 0x80 || byte > 0xbf) return 0;
    if (index > 1) continue;
    // Longer than need be, a half of a surrogate pair, or beyond Unicode.
    if ((first === 0xe0 && byte < 0xa0) || (first === 0xf0 && byte < 0x90)) return 0;
    if ((first === 0xed && byte > 0x9f) || (first === 0xf4 && byte > 0x8f)) return 0;
  }
  return length;
}

/** Counts a text's characters of several bytes, and the bytes that belong to none. */
export class Utf8Census {
  characters = 0;
  others = 0;
  #rest: Uint8Array = new Uint8Array(0);

  /** Takes the next bytes; a character that is cut at their end counts with the next ones. */
  take(chunk: Uint8Array): this {
    if (this.#rest.length === 0 && isAscii(chunk)) return this;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at < bytes.length) {
      if ((bytes[at] as number) < 0x80) {
        at++;
        continue;
      }
      const length = sequenceLength(bytes, at);
      if (length < 0) break;
      if (length > 0) this.characters++;
      else this.others++;
      at += Math.max(1, length);
    }
    this.#rest = bytes.slice(at);
    return this;
  }

  /** Characters outweigh other bytes by far: single bytes of another encoding hardly ever form characters. */
  get isUtf8(): boolean {
    return this.characters >= 2 * this.others;
  }
}

/** Bytes of Windows-1252 that are letters, or stand within words. */
const letters = new Set([0x8a, 0x8c, 0x8e, 0x92, 0x9a, 0x9c, 0x9e, 0x9f, 0xa0, 0xad, 0xb4]);

/**
 * Whether text of single bytes is none of Windows-1252's: there, letters beyond ASCII hardly stand side by side, and signs not
 * within words.
 */
export function looksForeign(bytes: Uint8Array): boolean {
  let [high, run, inRuns, odd] = [0, 0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    run = byte < 0x80 ? 0 : run + 1;
    if (run === 0) continue;
    high++;
    // "Größe" has two letters side by side; hardly a word has three.
    if (run >= 3) inRuns += run === 3 ? 3 : 1;
    const [before = 0, after = 0] = [bytes[at - 1], bytes[at + 1]];
    if (byte < 0xc0 && !letters.has(byte) && isLetter(before) && isLetter(after)) odd++;
  }
  return high >= 4 && (inRuns > high * 0.3 || odd > high * 0.1);
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte >= 0xc0;
}

/** UTF-32: of every four bytes the upper one or two are zero. */
export function isUtf32(head: Uint8Array): boolean {
  if (head.length < 8 || !head.includes(0)) return false;
  const zeros = [0, 0, 0, 0];
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at % 4] = (zeros[at % 4] ?? 0) + 1;
  const share = zeros.map((count) => (count * 4) / head.length);
  const [first = 0, second = 0, third = 0, fourth = 0] = share;
  const little = third > 0.95 && fourth > 0.95 && first < 0.5;
  return little || (first > 0.95 && second > 0.95 && fourth < 0.5);
}
