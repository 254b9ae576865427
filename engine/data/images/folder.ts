// Folders of pictures: one sub-folder a class, or a file of labels beside the pictures; either below train, val and test
// folders or without. Finds out which it is and lists the pictures with their classes.

import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { SkippedFile, SplitName } from '../../protocol/data.ts';
import { readLabelFile } from './label-file.ts';
import { splitNamed } from './folder-layout.ts';
import type { FolderLayout, LayoutRequest } from './folder-layout.ts';
import type { PictureEntry } from './picture.ts';
import { compareText } from './picture.ts';
import { listFolder } from './walk.ts';

/**
 * Lists the pictures of a folder.
 * @throws InputError if nothing says which class a picture is of.
 */
export async function readLayout(request: LayoutRequest): Promise<FolderLayout> {
  const { name, folder, files } = request;
  const labels = await readLabelFile(request, '');
  if (labels !== null) return labels;
  const splits = await findSplits(folder);
  if (splits === null) return classFolders(name, files, null);
  return joinSplits(await Promise.all([...splits].map(([part, split]) => readSplit(request, part, split))));
}

/** Goes down through folders that hold nothing but one folder, as archives often do. */
export async function unwrapFolder(folder: string): Promise<string> {
  const { files, folders } = await listFolder(folder);
  const [only] = folders;
  if (files.length > 0 || folders.length !== 1 || only === undefined || splitNamed(only) !== undefined) return folder;
  const inner = await listFolder(join(folder, only));
  return inner.folders.length === 0 ? folder : unwrapFolder(join(folder, only));
}

/** The folders that stand for splits, if there are some and one of them trains. */
async function findSplits(folder: string): Promise<ReadonlyMap<string, SplitName> | null> {
  const { folders } = await listFolder(folder);
  const splits = new Map<string, SplitName>();
  for (const name of folders) {
    const split = splitNamed(name);
    if (split === undefined) continue;
    // A class may be called "train": what stands for a split holds classes, or a file of labels.
    const inner = await listFolder(join(folder, name));
    if (inner.folders.length > 0 || inner.files.some((file) => /\.(csv|tsv|jsonl)$/i.test(file)))
      splits.set(name, split);
  }
  return [...splits.values()].includes('train') ? splits : null;
}

/** The pictures of one split's folder, their paths relative to the whole. */
async function readSplit(request: LayoutRequest, part: string, split: SplitName): Promise<FolderLayout> {
  const within = `${part}/`;
  const files = request.files.filter((file) => file.startsWith(within)).map((file) => file.slice(within.length));
  const name = `${request.name}/${part}`;
  const below = { ...request, folder: join(request.folder, part), name, files };
  const layout = (await readLabelFile(below, within)) ?? classFolders(name, files, split);
  return {
    ...layout,
    entries: layout.entries.map((entry) => ({ ...entry, file: within + entry.file, split })),
    skipped: layout.skipped.map(({ file, reason }) => ({ file: within + file, reason })),
  };
}

function joinSplits(parts: readonly FolderLayout[]): FolderLayout {
  const entries = parts.flatMap((part) => part.entries).sort((first, second) => compareText(first.file, second.file));
  const [first] = parts as [FolderLayout];
  return {
    entries,
    skipped: parts.flatMap((part) => part.skipped),
    warnings: parts.flatMap((part) => part.warnings),
    reading: { ...first.reading, split: 'by its folders' },
    labelledBy: first.labelledBy,
    classOrder: first.classOrder,
  };
}

/** One sub-folder a class; sorted by name, as torchvision's ImageFolder has it. */
function classFolders(name: string, files: readonly string[], split: SplitName | null): FolderLayout {
  const entries: PictureEntry[] = [];
  const skipped: SkippedFile[] = [];
  for (const file of files) {
    const end = file.indexOf('/');
    if (end < 0) skipped.push({ file, reason: 'it stands beside the class folders, not in one' });
    else entries.push({ file, label: file.slice(0, end).normalize('NFC'), split });
  }
  if (entries.length === 0) {
    throw new InputError(
      'input.no_classes',
      `${name} has no sub-folders: nothing says which class a picture is of.`,
      'Make one sub-folder a class, or put a labels.csv (columns file_name and label) beside the pictures.',
    );
  }
  return {
    entries,
    skipped,
    warnings: [],
    reading: { classes: 'by sub-folder' },
    labelledBy: 'the sub-folder a picture is in',
    classOrder: 'name',
  };
}
