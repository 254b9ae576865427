// What of a home goes into an archive: files of runs, datasets, the person's own catalogue. What is half written, or can be made
// again, stays out.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import { codeOf } from '../home.ts';
import { entryBytes } from './tar.ts';

export interface Content {
  /** Within the home, with slashes. */
  readonly path: string;
  readonly bytes: number;
}

/** Files of the home's own, beside history, runs and datasets. */
export const ownFiles: readonly string[] = ['hardware/catalogue.json'];

/** What a home keeps its own things in. */
const ownPlace = /^(history\.|(runs|datasets|backups|exports|hardware|window|crashes)$)/i;

/** Throws InputError `input.write` for an archive that would take the place of what it is made of, or lie among it. */
export function refuseOwnPlace(home: string, file: string): void {
  if (!existsSync(dirname(file))) return;
  const place = join(realpathSync(dirname(file)), basename(file));
  if (!ownPlace.test(relative(realpathSync(home), place).split(sep)[0])) return;
  throw new InputError(
    'input.write',
    `${basename(file)} cannot be written: the home keeps its own files there.`,
    'Choose another place, on another disk at best.',
  );
}

/** The files of a folder and of those in it; none where it is gone. */
export function contentsOf(home: string, path: string): readonly Content[] {
  try {
    return readdirSync(join(home, path), { withFileTypes: true }).flatMap((entry) => {
      const inside = `${path}/${entry.name}`;
      if (entry.isDirectory()) return contentsOf(home, inside);
      if (!entry.isFile() || entry.name.endsWith('.tmp')) return [];
      const size = statSync(join(home, inside), { throwIfNoEntry: false })?.size;
      return size === undefined ? [] : [{ path: inside, bytes: size }];
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Numbers of the datasets of a home; those set aside or half imported do not count. */
export function datasetsOf(home: string): readonly string[] {
  try {
    return readdirSync(join(home, 'datasets')).filter((name) => /^[0-9a-f]{16,64}$/.test(name));
  } catch {
    return [];
  }
}

/** The checksums of a run's files last: they tell of the files of this moment and of those before. */
export function runContents(home: string, run: number): readonly Content[] {
  const files = contentsOf(home, `runs/${run}`);
  const isList = ({ path }: Content): boolean => path.endsWith('/checksums.json');
  return [...files.filter((file) => !isList(file)), ...files.filter(isList)];
}

export function ownContents(home: string): readonly Content[] {
  return ownFiles.flatMap((path) => {
    const size = statSync(join(home, path), { throwIfNoEntry: false })?.size;
    return size === undefined ? [] : [{ path, bytes: size }];
  });
}

export const bytesOf = (files: readonly Content[]): number =>
  files.reduce((sum, { bytes }) => sum + entryBytes(bytes), 0);
