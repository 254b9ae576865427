// A file of labels beside the pictures: a CSV with a column of file names and one of classes, or a metadata.jsonl. Pictures
// are named by their path, by their file name alone, or without its ending.

import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { SkippedFile } from '../../protocol/data.ts';
import { Database } from '../database.ts';
import { quoteText } from '../sql.ts';
import { splitNamed } from './folder-layout.ts';
import type { FolderLayout, LayoutRequest } from './folder-layout.ts';
import type { PictureEntry } from './picture.ts';
import { ownValue } from '../../protocol/own.ts';

/** A table of texts. */
interface LabelTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Column names of the pictures' files, and of their classes, the likeliest first. */
const fileColumns = [
  'file_name',
  'filename',
  'file',
  'image',
  'path',
  'file_path',
  'filepath',
  'image_path',
  'image_name',
  'image_id',
  'img',
  'picture',
  'photo',
  'id',
];
const labelColumns = [
  'label',
  'class',
  'category',
  'target',
  'labels',
  'class_name',
  'classname',
  'species',
  'breed',
  'y',
];
const splitColumns = ['split', 'subset', 'partition'];

/**
 * The pictures that a file of labels in this folder names; null if there is no such file.
 * `within` is the folder's place in what is imported, with `/`, for messages.
 * @throws InputError if it is there and cannot be used.
 */
export async function readLabelFile(request: LayoutRequest, within: string): Promise<FolderLayout | null> {
  const { files } = request;
  const candidates = files.filter((file) => !file.includes('/') && /\.(csv|tsv|jsonl)$/i.test(file)).sort(byPromise);
  const pictures = files.filter((file) => !candidates.includes(file));
  let refusal: unknown = null;
  for (const file of candidates) {
    try {
      return await readLabels(request, within, file, pictures);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refusal ??= error;
    }
  }
  // With class folders, any other table is just a file lying about.
  const folders = new Set(files.flatMap((file) => (file.includes('/') ? [file.split('/', 1)[0]] : [])));
  if (refusal !== null && folders.size < 2) throw refusal;
  return null;
}

/** @throws InputError if the file is no table of pictures that are there and their classes. */
async function readLabels(
  request: LayoutRequest,
  within: string,
  file: string,
  pictures: readonly string[],
): Promise<FolderLayout> {
  const name = within + file;
  const table = await readTable(request, name, file);
  const columns = findColumns(table.columns);
  if (columns === null) {
    throw new InputError(
      'input.label_columns',
      `${name} has no columns of file names and classes: it has ${table.columns.slice(0, 12).join(', ')}.`,
      'Call them file_name and label; to train on a table, choose the file itself.',
    );
  }
  return labelPictures({ name, file, table, columns, pictures });
}

/** metadata and labels before other names. */
function byPromise(first: string, second: string): number {
  const rank = (name: string): number => (/^metadata\./i.test(name) ? 0 : /^(labels?|train)\./i.test(name) ? 1 : 2);
  return rank(first) - rank(second);
}

interface Columns {
  readonly file: number;
  readonly label: number;
  /** −1 = none. */
  readonly split: number;
}

function findColumns(columns: readonly string[]): Columns | null {
  const names = columns.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  );
  const find = (known: readonly string[]): number =>
    known.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
  const file = find(fileColumns);
  const found = find(labelColumns);
  const label = found < 0 && names.length === 2 && file >= 0 ? 1 - file : found;
  return file < 0 || label < 0 ? null : { file, label, split: find(splitColumns) };
}

/** `name` is the file's for messages. */
async function readTable(
  { folder, limits, workFolder }: LayoutRequest,
  name: string,
  file: string,
): Promise<LabelTable> {
  const path = join(folder, file);
  if (/\.jsonl$/i.test(file)) return readJsonLines(path, name);
  const database = await Database.open(limits, join(workFolder, 'spill'), { files: [path], folders: [] });
  try {
    const reader = await database.connection.runAndReadAll(
      `SELECT * FROM read_csv(${quoteText(path)}, all_varchar = true, header = true)`,
    );
    return { columns: reader.columnNames(), rows: reader.getRowsJS() as (string | null)[][] };
  } catch (error) {
    throw new InputError(
      'input.label_file',
      `${name} cannot be read as a table: its lines do not fit together.`,
      'Save it as CSV in UTF-8 with the columns file_name and label.',
      { cause: error },
    );
  } finally {
    database.close();
  }
}

async function readJsonLines(path: string, name: string): Promise<LabelTable> {
  const lines = (await readFile(path, 'utf8')).split(/\r?\n/);
  const objects = lines.flatMap((line, index): Record<string, unknown>[] => {
    if (line.trim() === '') return [];
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value !== 'object' || value === null) throw new SyntaxError('no object');
      return [value as Record<string, unknown>];
    } catch (error) {
      throw new InputError(
        'input.label_file',
        `${name}, line ${index + 1} is not a JSON object.`,
        'Write one object a line: {"file_name": "a.jpg", "label": "cat"}.',
        { cause: error },
      );
    }
  });
  const columns = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));
  return { columns, rows: objects.map((object) => columns.map((column) => text(ownValue(object, column)))) };
}

/** Gives the pictures their classes. `name`: the file's, from the imported folder on. */
function labelPictures(found: {
  readonly name: string;
  readonly file: string;
  readonly table: LabelTable;
  readonly columns: Columns;
  readonly pictures: readonly string[];
}): FolderLayout {
  const { name: fileName, file, table, columns, pictures } = found;
  const find = pictureFinder(pictures);
  const labelled = new Map<string, PictureEntry>();
  const skipped: SkippedFile[] = [];
  /** Pictures that lines say different things of: none of them is believed. */
  const torn = new Map<string, string>();
  const splits = table.rows.map((row) => splitNamed(row[columns.split] ?? '') ?? null);
  const divided = splits.includes('train');
  for (const [line, row] of table.rows.entries()) {
    const name = row[columns.file]?.trim() ?? '';
    const picture = find(name);
    const label = row[columns.label]?.trim().normalize('NFC') ?? '';
    const split = divided ? (splits[line] ?? null) : null;
    if (picture === null) skipped.push({ file: name, reason: `${file} names it, but it is not there` });
    else if (label === '') skipped.push({ file: picture, reason: `it has no class in ${file}` });
    else if (divided && split === null) skipped.push({ file: picture, reason: noSplit(file, row[columns.split]) });
    else {
      const before = labelled.get(picture) ?? { label, split };
      if (before.label !== label) torn.set(picture, `${file} gives it two classes, ${before.label} and ${label}`);
      else if (before.split !== split) torn.set(picture, `${file} puts it into two splits`);
      labelled.set(picture, { file: picture, label, split });
    }
  }
  for (const [picture, reason] of torn) {
    labelled.delete(picture);
    skipped.push({ file: picture, reason });
  }
  const [contrary] = torn;
  if (labelled.size === 0 && contrary !== undefined) {
    throw new InputError(
      'input.label_file',
      `${fileName} says different things of each picture, for example ${contrary[0]}: ${contrary[1]}.`,
      'A picture has one class: keep one line for each.',
    );
  }
  if (labelled.size === 0) {
    throw new InputError(
      'input.label_file',
      `${fileName} names no picture that is there, for example "${skipped[0]?.file ?? ''}".`,
      'Write file names relative to the folder that the file is in.',
    );
  }
  const mentioned = new Set([...labelled.keys(), ...skipped.map((entry) => entry.file)]);
  for (const picture of pictures) {
    if (!mentioned.has(picture)) skipped.push({ file: picture, reason: `${file} does not name it` });
  }
  const column = table.columns[columns.label] ?? '';
  const entries = pictures.flatMap((picture) => labelled.get(picture) ?? []);
  return {
    entries,
    skipped,
    warnings: [],
    reading: {
      classes: `by column ${column} of ${file}`,
      ...(divided ? { split: `by ${file}` } : {}),
    },
    labelledBy: `column "${column}" of ${file}`,
    classOrder: 'number',
  };
}

/** Why a picture is in no split where others are: it must not train by chance. */
function noSplit(file: string, written: string | null | undefined): string {
  const word = written?.trim() ?? '';
  return word === ''
    ? `it has no split in ${file}`
    : `${file} puts it into “${word}”: neither train, validation nor test`;
}

/** Finds a picture by its path, its file name, or its name without ending, where only one picture has it. */
function pictureFinder(pictures: readonly string[]): (name: string) => string | null {
  const byName = new Map<string, string | null>();
  const known = new Set(pictures);
  const remember = (name: string, picture: string): void => {
    const key = name.normalize('NFC');
    byName.set(key, byName.has(key) && byName.get(key) !== picture ? null : picture);
  };
  for (const picture of pictures) {
    const { base, name, dir } = posix.parse(picture);
    for (const alias of new Set([picture, base, name, posix.join(dir, name)])) remember(alias, picture);
  }
  return (written) => {
    const path = posix.normalize(written.replaceAll('\\', '/'));
    if (known.has(path)) return path;
    return byName.get(path.normalize('NFC')) ?? byName.get(posix.basename(path).normalize('NFC')) ?? null;
  };
}
