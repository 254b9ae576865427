// A folder of .txt files, one sub-folder a class, as a table: the text and the class of each, and of files to be predicted their names. It is written as JSON lines into a
// work folder and read like any other table.

import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataWarning } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { inspectPath, readHead } from './files.ts';
import type { FileHead } from './formats/format.ts';
import { splitNamed } from './images/folder-layout.ts';
import { unwrapFolder } from './images/folder.ts';
import { listFolder, walkFiles } from './images/walk.ts';
import type { Job } from './jobs.ts';
import { show } from './schema/typing.ts';

/** UTF-16 units of a text that are kept. */
const mostCharacters = 1_000_000;
/** Files named in a message. */
const named = 3;

export interface TextFolder {
  readonly head: FileHead;
  readonly reading: Readonly<Record<string, string>>;
  readonly warnings: readonly DataWarning[];
}

/** What has to be said of files, with those of which it is said: of how they are read, and of those that are left out. */
const remarks = {
  encoding: ['is not UTF-8 and read as Windows-1252', 'are not UTF-8 and read as Windows-1252'],
  zero_bytes: ['has zero bytes, read as spaces', 'have zero bytes, read as spaces'],
  cut_texts: [
    `is longer than ${show(mostCharacters)} characters and cut there`,
    `are longer than ${show(mostCharacters)} characters and cut there`,
  ],
  empty_texts: ['holds no text and counts as missing', 'hold no text and count as missing'],
  no_text: ['is left out, as what it holds is no text', 'are left out, as what they hold is no text'],
  unreadable: ['is left out, as it cannot be read', 'are left out, as they cannot be read'],
} as const;

type Notes = Readonly<Record<keyof typeof remarks, string[]>>;

/**
 * Null: most of what it holds is no text. `classes`: each has to stand in the folder of its class; others are left out.
 * @throws InputError `input.no_classes`.
 */
export async function readTextFolder(
  { path, name }: { readonly path: string; readonly name: string },
  { workFolder, job, classes }: { readonly workFolder: string; readonly job: Job; readonly classes: boolean },
): Promise<TextFolder | null> {
  const root = await unwrapFolder(path);
  const all = await walkFiles(root, job);
  const files = all.filter((file) => /\.te?xt$/i.test(file));
  // Pictures often have a text beside each.
  if (2 * files.length <= all.length) return null;
  const placed = files.map((file) => ({ file, label: labelOf(file) }));
  const kept = classes ? placed.filter(({ label }) => label !== null) : placed;
  if (kept.length === 0) {
    throw new InputError(
      'input.no_classes',
      `${name} has no sub-folders: nothing says which class a text is of.`,
      'Make one sub-folder a class, or write texts and classes as columns of a table.',
    );
  }
  const notes: Notes = { encoding: [], zero_bytes: [], cut_texts: [], empty_texts: [], no_text: [], unreadable: [] };
  const target = join(workFolder, 'texts.jsonl');
  const out = await open(target, 'w');
  const report = job.stage('Reading texts');
  try {
    for (const [at, { file, label }] of kept.entries()) {
      job.throwIfCancelled();
      const text = await textAt(root, file, notes);
      if (text === undefined) continue;
      // The name of a file tells its class; of files to be predicted it tells which is which.
      const row = classes ? { text, label } : { file, text, ...(label !== null && { label }) };
      await out.write(`${JSON.stringify(row)}\n`);
      report((at + 1) / kept.length);
    }
  } finally {
    await out.close();
  }
  if (notes.no_text.length + notes.unreadable.length === kept.length) {
    throw new InputError(
      'input.unreadable',
      `None of the ${show(kept.length)} texts of ${name} can be read.`,
      'They have to be UTF-8, UTF-16 or Windows-1252, and yours to read.',
    );
  }
  const { size } = await inspectPath(target);
  return {
    head: await readHead(target, name, size),
    reading: classes ? { format: 'texts', classes: 'by sub-folder' } : { format: 'texts' },
    warnings: [
      ...skipped(all.length - kept.length),
      ...(classes ? emptyFolders((await listFolder(root)).folders, all) : []),
      ...Object.entries(notes).flatMap(([code, list]) => remark(code as keyof Notes, list)),
      ...(kept.some(({ file }) => splitOf(file) !== undefined) ? [joinedSplits] : []),
    ],
  };
}

const joinedSplits: DataWarning = {
  code: 'joined_splits',
  message: 'The folders for training and testing were joined: the rows are split anew.',
};

/** What a folder above that of the class stands for. */
function splitOf(file: string): string | undefined {
  const parts = file.split('/');
  return parts.length > 2 ? splitNamed(parts[0]) : undefined;
}

/** The class of a file: the first folder it is in, below those of splits; null: it is in none. */
function labelOf(file: string): string | null {
  const folders = file.split('/').slice(splitOf(file) === undefined ? 0 : 1, -1);
  return folders[0]?.normalize('NFC') ?? null;
}

/** Of text that is read some other way than as UTF-8, at most this share may be signs that no text has. */
const oddShare = 0.01;
/** Controls, characters that Unicode knows no use for, and what a decoder puts for bytes it cannot read. */
const oddSigns = /[^\P{C}\t\n\r\f\v\p{Cf}\p{Cs}]|\uFFFD/gu;

/** The text of a file; null where nothing but spaces is there, undefined where the file is left out. */
async function textAt(root: string, file: string, notes: Notes): Promise<string | null | undefined> {
  const bytes = await beginningOf(join(root, file)).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!unreadable.has(code)) throw error;
    return null;
  });
  if (bytes === null) return void notes.unreadable.push(file);
  const text = decoded(bytes);
  if (text === undefined) return void notes.no_text.push(file);
  if (text.odd) notes.encoding.push(file);
  if (text.plain.includes('\0')) notes.zero_bytes.push(file);
  const plain = text.plain.replaceAll('\0', ' ');
  if (plain.trim() === '') return (notes.empty_texts.push(file), null);
  if (plain.length > mostCharacters) notes.cut_texts.push(file);
  return plain.slice(0, mostCharacters).toWellFormed();
}

/** Bytes of as much of a text as is read: a character has four at most. */
const mostBytes = 4 * (mostCharacters + 1);

async function beginningOf(path: string): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size <= mostBytes) return readFile(path);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(mostBytes), 0, mostBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Links that lead nowhere or in circles, and what one may not read. */
const unreadable = new Set(['ENOENT', 'ELOOP', 'EACCES', 'EPERM', 'EIO']);

/** UTF-8, or UTF-16 with its mark, or Windows-1252 (`odd`), which takes any bytes; undefined where that gives no text. */
function decoded(bytes: Uint8Array): { readonly plain: string; readonly odd: boolean } | undefined {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  try {
    const name = !wide ? 'utf-8' : bytes[0] === 0xff ? 'utf-16le' : 'utf-16be';
    // A character at the end may have been cut off.
    const stream = bytes.length === mostBytes;
    const plain = new TextDecoder(name, { fatal: true }).decode(bytes, { stream });
    return wide && isOdd(plain) ? undefined : { plain, odd: false };
  } catch {
    const plain = new TextDecoder('windows-1252').decode(bytes);
    return isOdd(plain) ? undefined : { plain, odd: true };
  }
}

const isOdd = (text: string): boolean => (text.match(oddSigns)?.length ?? 0) > oddShare * text.length;

function skipped(count: number): readonly DataWarning[] {
  if (count === 0) return [];
  const message = `${show(count)} ${count === 1 ? 'file is' : 'files are'} left out: no .txt in the folder of a class.`;
  return [{ code: 'skipped_files', message }];
}

/** Folders in which there is nothing at all, and which are therefore no classes. */
function emptyFolders(folders: readonly string[], files: readonly string[]): readonly DataWarning[] {
  const empty = folders.filter((folder) => !files.some((file) => file.startsWith(`${folder}/`)));
  if (empty.length === 0) return [];
  const are = empty.length === 1 ? 'folder is empty and no class' : 'folders are empty and no classes';
  return [{ code: 'empty_folders', message: `${show(empty.length)} ${are}: ${listed(empty)}.` }];
}

function remark(code: keyof Notes, files: readonly string[]): readonly DataWarning[] {
  if (files.length === 0) return [];
  const [one, several] = remarks[code];
  const counted = `${show(files.length)} ${files.length === 1 ? `file ${one}` : `files ${several}`}`;
  return [{ code, message: `${counted}: ${listed(files)}.` }];
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, named).join(', ')}${names.length > named ? ` and ${show(names.length - named)} more` : ''}`;
