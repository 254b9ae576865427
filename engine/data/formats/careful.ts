// The careful way to read delimited text: our own reader (records.ts) takes the file apart and writes it again in the one
// form that DuckDB reads without guessing: UTF-8, commas, every field in double quotes, one record a line, no header.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Job } from '../jobs.ts';
import type { Dialect } from './dialect.ts';
import type { TextEncoding } from './encoding.ts';
import { RecordReader } from './records.ts';
import type { TextRecord } from './records.ts';
import type { BrokenLine } from './rejects.ts';

/** A table written again. */
export interface Rewritten {
  readonly path: string;
  readonly records: number;
  /** Bytes of the longest record. */
  readonly longest: number;
  /** Lines that are not like the others, the first few. */
  readonly broken: readonly BrokenLine[];
  readonly brokenLines: number;
}

export interface RewriteRequest {
  readonly source: string;
  readonly encoding: TextEncoding;
  /** Bytes of the source. */
  readonly size: number;
  readonly target: string;
  readonly dialect: Dialect;
  /** Fields a record has. */
  readonly width: number;
  /** Records before the first row: the header, a row of units. */
  readonly skipRecords: number;
  readonly job: Job;
}

/** Broken lines remembered. */
const rememberedLines = 100;
/** Characters written at a time. */
const writeCharacters = 2 ** 20;

/**
 * Writes a table again.
 * @throws TypeError if the file is not in its encoding.
 */
export async function rewriteTable(request: RewriteRequest): Promise<Rewritten> {
  const { source, encoding, size, target, dialect, width, skipRecords, job } = request;
  const report = job.stage('Reading line by line');
  const decoder = new TextDecoder(encoding, { fatal: encoding === 'utf-8' });
  const output = await open(target, 'w');
  const writer = new RecordWriter(output, width, dialect.trailing, skipRecords);
  const start = new LineSkipper(dialect.skip);
  const reader = new RecordReader(dialect, (record) => writer.add(record), dialect.skip + 1);
  try {
    let done = 0;
    for await (const chunk of createReadStream(source, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
      job.throwIfCancelled();
      reader.push(start.take(decoder.decode(chunk, { stream: true })));
      await writer.flush(writeCharacters);
      report((done += chunk.length) / size);
    }
    reader.push(start.take(decoder.decode()));
    reader.end();
    await writer.flush(0);
  } finally {
    await output.close();
  }
  const { records, longest, broken, brokenLines } = writer;
  return { path: target, records, longest, broken, brokenLines };
}

/** Drops the first lines of a text that comes in parts. */
class LineSkipper {
  #left: number;
  #afterReturn = false;

  constructor(lines: number) {
    this.#left = lines;
  }

  take(part: string): string {
    let at = 0;
    while ((this.#left > 0 || this.#afterReturn) && at < part.length) {
      const character = part[at++];
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (character === '\n') continue;
        if (this.#left === 0) return part.slice(at - 1);
      }
      if (character === '\n') this.#left--;
      else if (character === '\r') {
        this.#left--;
        this.#afterReturn = true;
      }
    }
    return part.slice(at);
  }
}

class RecordWriter {
  readonly #output: FileHandle;
  readonly #width: number;
  readonly #trailing: boolean;
  #skip: number;
  #text = '';
  records = 0;
  longest = 0;
  readonly broken: BrokenLine[] = [];
  brokenLines = 0;

  constructor(output: FileHandle, width: number, trailing: boolean, skipRecords: number) {
    this.#output = output;
    this.#width = width;
    this.#trailing = trailing;
    this.#skip = skipRecords;
  }

  add({ fields, line, broken }: TextRecord): void {
    if (broken !== null) return this.#refuse({ line, kind: 'quote', found: 0 });
    const blank = fields.length === 1 && this.#width > 1 && fields[0]?.trim() === '';
    if (blank) return;
    if (this.#skip > 0) {
      this.#skip--;
      return;
    }
    const whole = this.#trailing && fields.length === this.#width + 1 && fields.at(-1) === '' ? -1 : undefined;
    const kept = whole === undefined ? fields : fields.slice(0, whole);
    if (kept.length !== this.#width) return this.#refuse({ line, kind: 'fields', found: fields.length });
    let written = '';
    for (const field of kept) {
      const value = field.includes('"') ? field.replaceAll('"', '""') : field;
      written += written === '' ? `"${value}"` : `,"${value}"`;
    }
    this.records++;
    // A character is three bytes of UTF-8 at most.
    this.longest = Math.max(this.longest, written.length * 3 + 1);
    this.#text += `${written}\n`;
  }

  #refuse(line: BrokenLine): void {
    this.brokenLines++;
    if (this.broken.length < rememberedLines) this.broken.push(line);
  }

  /** Writes what has been gathered, if it is more than `above` characters. */
  async flush(above: number): Promise<void> {
    if (this.#text.length <= above) return;
    await this.#output.write(this.#text);
    this.#text = '';
  }
}
