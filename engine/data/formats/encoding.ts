// Which characters a text file's bytes stand for. DuckDB reads UTF-8; anything else is transcoded, as a stream, to a
// temporary UTF-8 file first.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DataWarning, ReadOptions } from '../../protocol/data.ts';
import type { Job } from '../jobs.ts';
import { isUtf32, Utf8Census } from './utf8.ts';

/** Encodings by the names TextDecoder knows. Windows-1252 is what files called Latin-1 hold in practice. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export const encodingTitles: Readonly<Record<TextEncoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 (little endian)',
  'utf-16be': 'UTF-16 (big endian)',
  'windows-1252': 'Latin-1 (Windows-1252)',
};

/** What is said where the bytes do not look like what they are read as. */
export const guessWarning: DataWarning = {
  code: 'encoding_guess',
  message: `The encoding is a guess: the text is not UTF-8, and does not look like ${encodingTitles['windows-1252']}, as which it is read. If words come out wrong, save the file as UTF-8 and import that.`,
};

/** Finds the encoding of a file from its first bytes; null = not text. UTF-8 may have a few other bytes in it. */
export function sniffEncoding(head: Uint8Array, wish?: ReadOptions['encoding']): TextEncoding | null {
  const byMark = sniffByteOrderMark(head);
  if (wish === 'latin-1') return 'windows-1252';
  if (wish === 'utf-16') return byMark ?? sniffUtf16(head) ?? 'utf-16le';
  if (wish === 'utf-8') return 'utf-8';
  if (isUtf32(head)) return null;
  if (byMark !== null) return byMark;
  if (head.includes(0)) return sniffUtf16(head);
  if (shareOfControls(head) > 0.01) return null;
  return new Utf8Census().take(head).isUtf8 ? 'utf-8' : 'windows-1252';
}

function sniffByteOrderMark(head: Uint8Array): TextEncoding | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return null;
}

/** UTF-16 without a mark: the high bytes of mostly Latin text are zero, the low bytes are not. */
function sniffUtf16(head: Uint8Array): TextEncoding | null {
  let even = 0;
  let odd = 0;
  for (let index = 0; index < head.length; index++) {
    if (head[index] !== 0) continue;
    if (index % 2 === 0) even++;
    else odd++;
  }
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.02) return 'utf-16le';
  if (even > half * 0.4 && odd < half * 0.02) return 'utf-16be';
  return null;
}

/** Control characters that texts hardly hold. Tab, line feed, form feed, carriage return and the old end-of-file mark belong to texts. */
const controls = Array.from({ length: 0x20 }, (_, byte) => byte).filter(
  (byte) => !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1a,
);

function shareOfControls(head: Uint8Array): number {
  // Looking for each of them, by a buffer's own way, is quicker than a look at each byte.
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const found = new Set(controls.filter((control) => bytes.includes(control)));
  if (found.size === 0) return 0;
  let count = 0;
  for (const byte of head) if (found.has(byte)) count++;
  return count / head.length;
}

/** Decodes the first bytes of a file; a byte-order mark is dropped. */
export function decodeHead(head: Uint8Array, encoding: TextEncoding): string {
  return new TextDecoder(encoding).decode(head, { stream: true });
}

/** Writes `source` as UTF-8 to `target`. */
export async function transcode(
  source: string,
  encoding: TextEncoding,
  target: string,
  size: number,
  job: Job,
): Promise<void> {
  const report = job.stage(`Converting from ${encodingTitles[encoding]}`);
  const decoder = new TextDecoder(encoding);
  const output = await open(target, 'w');
  try {
    let done = 0;
    for await (const chunk of createReadStream(source, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
      job.throwIfCancelled();
      await output.write(decoder.decode(chunk, { stream: true }));
      done += chunk.length;
      report(done / size);
    }
    await output.write(decoder.decode());
  } finally {
    await output.close();
  }
}
