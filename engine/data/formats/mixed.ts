// Text that is UTF-8 but for a few bytes: a line pasted from elsewhere, a file cut within a character. It stays UTF-8; those
// bytes alone are read as Windows-1252, and the lines that hold them are named.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DataWarning } from '../../protocol/data.ts';
import type { Job } from '../jobs.ts';
import { encodingTitles } from './encoding.ts';
import { sequenceLength, Utf8Census } from './utf8.ts';

/** A text written again, with all of its bytes UTF-8. */
export interface Mended {
  readonly path: string;
  /** Lines with other bytes, from 1, the first few. */
  readonly lines: readonly number[];
  readonly lineCount: number;
}

/** Lines remembered. */
const rememberedLines = 20;
/** Lines named in the warning. */
const namedLines = 5;

const newline = 0x0a;
const carriageReturn = 0x0d;

/** What the bytes of a whole file are. */
export async function takeCensus(path: string, job: Job): Promise<Utf8Census> {
  const census = new Utf8Census();
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    job.throwIfCancelled();
    census.take(chunk);
  }
  return census;
}

/** Writes `source` as UTF-8 to `target`. */
export async function mend(source: string, target: string, size: number, job: Job): Promise<Mended> {
  const report = job.stage('Mending the encoding');
  const writer = new Mender();
  const output = await open(target, 'w');
  try {
    let done = 0;
    for await (const chunk of createReadStream(source, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
      job.throwIfCancelled();
      await writeAll(output, writer.take(chunk, false));
      report((done += chunk.length) / size);
    }
    await writeAll(output, writer.take(Buffer.alloc(0), true));
  } finally {
    await output.close();
  }
  return { path: target, lines: writer.lines, lineCount: writer.lineCount };
}

async function writeAll(output: Awaited<ReturnType<typeof open>>, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) await output.write(part);
}

class Mender {
  /** A character that goes on in the next chunk. */
  #rest: Uint8Array = new Uint8Array(0);
  #line = 1;
  #returned = false;
  readonly lines: number[] = [];
  lineCount = 0;
  #last = 0;

  take(chunk: Uint8Array, last: boolean): Uint8Array[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const parts: Uint8Array[] = [];
    let from = 0;
    let at = 0;
    while (at < bytes.length) {
      const byte = bytes[at] as number;
      if (byte < 0x80) {
        if (byte === newline ? !this.#returned : byte === carriageReturn) this.#line++;
        this.#returned = byte === carriageReturn;
        at++;
        continue;
      }
      this.#returned = false;
      const length = sequenceLength(bytes, at);
      if (length > 0) at += length;
      else if (length < 0 && !last) break;
      else {
        parts.push(bytes.subarray(from, at), asWindows1252(byte));
        from = ++at;
        this.#note();
      }
    }
    parts.push(bytes.subarray(from, at));
    this.#rest = bytes.slice(at);
    return parts;
  }

  #note(): void {
    if (this.#last === this.#line) return;
    this.#last = this.#line;
    this.lineCount++;
    if (this.lines.length < rememberedLines) this.lines.push(this.#line);
  }
}

const windows = new TextDecoder('windows-1252');

/** A byte's character in UTF-8; the five bytes that have none become U+FFFD. */
function asWindows1252(byte: number): Uint8Array {
  const none = byte === 0x81 || byte === 0x8d || byte === 0x8f || byte === 0x90 || byte === 0x9d;
  return Buffer.from(none ? '\ufffd' : windows.decode(Uint8Array.of(byte)));
}

/** What to say about lines with bytes that are not UTF-8. */
export function mendedWarning({ lines, lineCount }: Mended): DataWarning {
  const listed = lines.slice(0, namedLines).join(', ');
  const which = lineCount === 1 ? `Line ${listed} holds` : `${lineCount} lines hold`;
  const where = lineCount === 1 ? '' : ` (lines ${listed}${lineCount > namedLines ? ' …' : ''})`;
  return {
    code: 'odd_bytes',
    message: `${which} bytes that are not UTF-8 as the rest is${where}: they are read as ${encodingTitles['windows-1252']}.`,
  };
}
