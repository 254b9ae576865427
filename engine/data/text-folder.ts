// A folder of .txt files, one sub-folder a class, as a table: the text and the class of each, and of files to be predicted their names. It is written as JSON lines into a
// work folder and read like any other table.

import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataWarning } from '../protocol/data.ts';
import { InputError } from '../protocol/errors.ts';
import { inspectPath, readHead } from './files.ts';
import type { FileHead } from './formats/format.ts';
import { splitNamed, unwrapFolder } from './images/folder.ts';
import { walkFiles } from './images/walk.ts';
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

/** Files of which something has to be said. */
interface Notes {
  readonly encoding: string[];
  readonly cut: string[];
}

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
  const notes: Notes = { encoding: [], cut: [] };
  const target = join(workFolder, 'texts.jsonl');
  const out = await open(target, 'w');
  const report = job.stage('Reading texts');
  try {
    for (const [at, { file, label }] of kept.entries()) {
      job.throwIfCancelled();
      const text = textOf(file, await readFile(join(root, file)), notes);
      // The name of a file tells its class; of files to be predicted it tells which is which.
      const row = classes ? { text, label } : { file, text, ...(label !== null && { label }) };
      await out.write(`${JSON.stringify(row)}\n`);
      report((at + 1) / kept.length);
    }
  } finally {
    await out.close();
  }
  const { size } = await inspectPath(target);
  return {
    head: await readHead(target, name, size),
    reading: classes ? { format: 'texts', classes: 'by sub-folder' } : { format: 'texts' },
    warnings: [
      ...warningsOf(all.length - kept.length, notes),
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

/** UTF-8, or UTF-16 with its mark; else Windows-1252, which takes any bytes. Null where nothing but spaces is there. */
function textOf(file: string, bytes: Uint8Array, { encoding, cut }: Notes): string | null {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  const decode = (name: string): string => new TextDecoder(name, { fatal: true }).decode(bytes);
  let text: string;
  try {
    text = wide ? decode(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : decode('utf-8');
  } catch {
    encoding.push(file);
    text = new TextDecoder('windows-1252').decode(bytes);
  }
  const plain = text.replaceAll('\0', ' ');
  if (plain.length > mostCharacters) cut.push(file);
  return plain.trim() === '' ? null : plain.slice(0, mostCharacters).toWellFormed();
}

function warningsOf(left: number, { encoding, cut }: Notes): readonly DataWarning[] {
  const files = (list: readonly string[]): string =>
    `${list.slice(0, named).join(', ')}${list.length > named ? ` and ${show(list.length - named)} more` : ''}`;
  const one = (list: readonly string[], singular: string, plural: string): string =>
    list.length === 1 ? singular : plural;
  return [
    ...(left > 0
      ? [
          {
            code: 'skipped_files',
            message: `${show(left)} ${left === 1 ? 'file is' : 'files are'} left out: no .txt in the folder of a class.`,
          },
        ]
      : []),
    ...(encoding.length > 0
      ? [
          {
            code: 'encoding',
            message: `${files(encoding)} ${one(encoding, 'is', 'are')} not UTF-8 and read as Windows-1252.`,
          },
        ]
      : []),
    ...(cut.length > 0
      ? [
          {
            code: 'cut_texts',
            message: `${files(cut)} ${one(cut, 'is', 'are')} longer than ${show(mostCharacters)} characters and cut there.`,
          },
        ]
      : []),
  ];
}
