// Packed tables: `.csv.gz`, and a zip archive with one table inside. They are unpacked into the work folder, and what comes
// out is sniffed like any other file.

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openPromise } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
import { InputError } from '../../protocol/errors.ts';
import { explain } from '../failures.ts';
import { readHead } from '../files.ts';
import type { Job } from '../jobs.ts';
import type { FileHead } from './format.ts';
import { isTar, refuseTar } from './known-binaries.ts';

/** What is inside a packed file, and how it is called. */
export interface Unpacked {
  readonly head: FileHead;
  /** For people: what it was packed in; empty if it was not. */
  readonly reading: Readonly<Record<string, string>>;
}

const tableName = /\.(csv|tsv|tab|txt|dat|data|json|jsonl|ndjson|parquet|arrow|feather|ipc)(\.gz)?$/i;
/** Explanations lie beside tables. */
const likelyText = /\.(txt|dat|data)$/i;
/** So many pictures beside a table are what it is about, and it names their classes. */
const manyPictures = 10;
const pictureName = /\.(jpe?g|png|webp|gif|bmp|tiff?|avif|heic|p[pgbn]m)$/i;

/** Unpacks a file if it is packed. @throws InputError if nothing in it can be used. */
export async function unpack(head: FileHead, workFolder: string, job: Job): Promise<Unpacked> {
  const [first, second, third] = head.bytes;
  if (first === 0x1f && second === 0x8b) return unpackGzip(head, workFolder, job);
  if (first === 0x50 && second === 0x4b && (third === 3 || third === 5)) return unpackZip(head, workFolder, job);
  return { head, reading: {} };
}

async function unpackGzip(head: FileHead, workFolder: string, job: Job): Promise<Unpacked> {
  const path = join(workFolder, 'unpacked.gz.data');
  const report = job.stage('Unpacking');
  let read = 0;
  const watch = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      report((read += chunk.length) / head.size);
      done(null, chunk);
    },
  });
  try {
    await pipeline(createReadStream(head.path), watch, createGunzip(), createWriteStream(path), { signal: job.signal });
  } catch (error) {
    throw explainPacked(error, head.name, 'a gzip file', job);
  }
  const inner = await headOf(path, head.name.replace(/\.t?gz$/i, ''), head.name);
  if (isTar(inner.bytes)) throw refuseTar(head.name);
  return { head: inner, reading: { 'packed as': 'gzip' } };
}

async function unpackZip(head: FileHead, workFolder: string, job: Job): Promise<Unpacked> {
  job.stage('Unpacking');
  const path = join(workFolder, 'unpacked.zip.data');
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(head.path, { lazyEntries: true, autoClose: false });
    const entry = chooseTable(await listFiles(zip), head.name);
    const stream: Readable = await zip.openReadStreamPromise(entry);
    await pipeline(stream, createWriteStream(path), { signal: job.signal });
    const name = basename(entry.fileName);
    const inner = await headOf(path, name, `${head.name}: ${name}`);
    // A packed table within the archive.
    const { head: last } = await unpack(inner, workFolder, job);
    return { head: last, reading: { 'packed as': `zip: ${entry.fileName}` } };
  } catch (error) {
    throw explainPacked(error, head.name, 'an Excel workbook or a zip archive', job);
  } finally {
    zip?.close();
  }
}

function listFiles(zip: ZipFile): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      const hidden = /(^|\/)(__MACOSX\/|\.)/.test(entry.fileName);
      if (!entry.fileName.endsWith('/') && !hidden) entries.push(entry);
      zip.readEntry();
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', reject);
    zip.readEntry();
  });
}

/** The one table among the files of an archive. */
function chooseTable(entries: readonly Entry[], name: string): Entry {
  const names = entries.map(({ fileName }) => fileName);
  if (names.includes('[Content_Types].xml')) {
    throw new InputError(
      'input.binary',
      `${name} is not a table: it is an Excel workbook.`,
      'Save the sheet as CSV and choose that file.',
    );
  }
  const tables = entries.filter(({ fileName }) => tableName.test(fileName));
  const certain = tables.filter(({ fileName }) => !likelyText.test(fileName));
  const shots = names.filter((file) => pictureName.test(file)).length;
  const pictures = shots > 0;
  // A text beside pictures tells of them.
  const likely = certain.length > 0 || pictures ? certain : tables;
  const [only, second] = likely;
  if (only === undefined && pictures) {
    throw new InputError(
      'input.archive',
      `${name} holds pictures and no table: ${listed(names)}.`,
      'Unpack it and choose the folder, with one sub-folder a class.',
    );
  }
  if (only !== undefined && shots >= manyPictures) {
    throw new InputError(
      'input.archive',
      `${name} holds ${shots.toLocaleString('en')} pictures beside ${only.fileName}.`,
      'Unpack it: choose the folder to train on the pictures, or the table alone.',
    );
  }
  if (only === undefined) {
    throw new InputError(
      'input.archive',
      `${name} holds no table: ${listed(names) || 'it is empty'}.`,
      'Tables are CSV, TSV, JSON, Parquet or Arrow files.',
    );
  }
  if (second === undefined) {
    if ((only.generalPurposeBitFlag & 1) === 0) return only;
    throw new InputError(
      'input.archive',
      `${name} is locked with a password.`,
      'Unpack it and choose the table inside.',
    );
  }
  const found = likely.map(({ fileName }) => fileName);
  throw new InputError(
    'input.archive',
    `${name} holds ${found.length} tables: ${listed(found)}.`,
    'Unpack it and choose one of them, or put them into one table.',
  );
}

function listed(names: readonly string[]): string {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
}

async function headOf(path: string, name: string, shown: string): Promise<FileHead> {
  const { size } = await stat(path);
  if (size === 0) throw new InputError('input.empty', `${shown} is empty (0 bytes).`, 'Pack a file that has rows.');
  return readHead(path, name, size);
}

function explainPacked(error: unknown, name: string, what: string, job: Job): unknown {
  job.throwIfCancelled();
  const explained = explain(error);
  if (explained instanceof InputError) return explained;
  return new InputError(
    'input.binary',
    `${name} is ${what} that cannot be unpacked: it is damaged, or was not copied to its end.`,
    'Copy or download it again; a sheet can be saved as CSV.',
    { cause: error },
  );
}
