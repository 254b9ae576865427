// The folder of each run, <home>/runs/<number>/. A file is there as a whole or not at all: it is written under another
// name, flushed, and renamed; its checksum is there before it (checksums.ts). A new checkpoint leaves the one before in place.

import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ownValue } from '../protocol/own.ts';
import { InputError } from '../protocol/errors.ts';
import { damagedRunFile } from '../protocol/model-file.ts';
import type { RunFile } from '../protocol/runs.ts';
import type { KeptFile } from '../protocol/store.ts';
import { checksumName, checksumsFile, decodeChecksums, encodeChecksums, factOf, withVersion } from './checksums.ts';
import type { FileFact, KnownFiles } from './checksums.ts';
import { isFull } from './failures.ts';
import { finishHandOver, handOver, handOverFile, isWaiting, standing } from './hand-over.ts';
import { exportsFolder } from './home.ts';

const fileNames: ReadonlySet<string> = new Set<RunFile>([
  'checkpoint.bin',
  'checkpoint.previous.bin',
  'start.bin',
  'best.safetensors',
  'preprocessing.json',
  'model.json',
  'evaluation.json',
  'predictions.json',
  'baseline.safetensors',
]);

const epochFile = /^epoch-[1-9]\d{0,6}\.(bin|safetensors)$/;
const isRunFile = (name: string): name is RunFile => fileNames.has(name) || epochFile.test(name);

const discardedSuffix = '.purged';
/** What a run has of its parent. */
const startFile: RunFile = 'start.bin';
/** What the history keeps of a run, for `repair`. */
export const recordFile = 'run.json';
/** Largest files read where no checksum tells their size: memory is taken only for what can be a run's. */
const largest = { json: 2 ** 28, other: 2 ** 31 - 1 } as const;

export interface RunFiles {
  has(run: number, file: RunFile): boolean;
  /** Writes of one file happen in the order they were asked for. */
  write(run: number, file: RunFile, data: Uint8Array): Promise<void>;
  /** Writes files that stand for one thing: whatever moment a process is killed at, all of them are there or none. */
  writeTogether(run: number, files: Partial<Record<RunFile, Uint8Array>>): Promise<void>;
  /** Throws `run.damaged_file` for a file that is not what was written. */
  read(run: number, file: RunFile): Promise<Uint8Array | null>;
  /** Removes a file for good. */
  remove(run: number, file: RunFile): Promise<void>;
  /** The files there are, and what they take. */
  list(run: number): Promise<readonly KeptFile[]>;
  /** Drops what a run needs no more at its end: the checkpoint before the last one and, unless `keepStart`, what it began with. */
  dropPrevious(run: number, keepStart: boolean): Promise<void>;
  /** Keeps what the database holds of a run beside its files, as far as the disk lets it. */
  keepRecord(run: number, text: string): void;
  /** Gives a run a file of another as its `start.bin`, as it is now. Throws `run.no_start` if there is none. */
  takeOver(run: number, from: number, file: RunFile): void;
  /** Gives a new run an empty place, if an older history left a folder of that number. */
  setAside(run: number): void;
  /** Removes what a killed process left half-written. */
  tidy(run: number): Promise<void>;
  /** Marks the folders of a run for removal, that of its exports too: a rename, so that it may stand within a transaction. */
  discard(run: number): void;
  /** Removes all marked folders, also those that a killed process left; returns the bytes they held. */
  sweep(): Promise<number>;
}

export function createRunFiles(home: string): RunFiles {
  const root = join(home, 'runs');
  const exported = join(home, exportsFolder);
  const folder = (run: number): string => join(root, String(run));
  const place = (run: number, file: RunFile): string => {
    if (!Number.isSafeInteger(run) || run < 1 || !isRunFile(file)) {
      throw new InputError('input.run_file', `A run has no file "${file}".`, `Files are ${[...fileNames].join(', ')}.`);
    }
    return join(folder(run), file);
  };
  const writing = new Map<string, Promise<void>>();
  const inTurn = async (run: number, work: () => Promise<void>): Promise<void> => {
    const before = writing.get(folder(run)) ?? Promise.resolve();
    const write = before.catch(() => undefined).then(work);
    writing.set(folder(run), write);
    try {
      await write;
    } finally {
      if (writing.get(folder(run)) === write) writing.delete(folder(run));
    }
  };

  return {
    has: (run, file) =>
      existsSync(place(run, file)) ||
      existsSync(standing(folder(run), file)) ||
      (file === 'checkpoint.bin' && existsSync(place(run, 'checkpoint.previous.bin'))),
    async write(run, file, data) {
      // A name that is none is refused before anything waits.
      place(run, file);
      await inTurn(run, () => putFile(folder(run), file, data, home));
    },
    async writeTogether(run, files) {
      const all = Object.entries(files) as [RunFile, Uint8Array][];
      for (const [file] of all) place(run, file);
      await inTurn(run, () => putTogether(folder(run), all));
    },
    async read(run, file) {
      // Its checksum and the file itself have to be of one moment.
      await writing.get(folder(run))?.catch(() => undefined);
      place(run, file);
      return readSteadily(run, folder(run), file);
    },
    async remove(run, file) {
      place(run, file);
      await inTurn(run, () => removeFile(folder(run), file));
    },
    async list(run) {
      const names = (await namesIn(folder(run))).filter(isRunFile);
      const sizes = await Promise.all(names.map((name) => stat(join(folder(run), name)).catch(() => null)));
      return names.flatMap((file, index) => {
        const found = sizes[index];
        return found ? [{ file, bytes: found.size }] : [];
      });
    },
    async dropPrevious(run, keepStart) {
      await rm(place(run, 'checkpoint.previous.bin'), { force: true });
      if (!keepStart && existsSync(place(run, startFile))) await inTurn(run, () => removeFile(folder(run), startFile));
    },
    keepRecord(run, text) {
      const target = join(folder(run), recordFile);
      const temporary = `${target}.${process.pid}.tmp`;
      try {
        mkdirSync(folder(run), { recursive: true });
        writeFileSync(temporary, text);
        renameSync(temporary, target);
      } catch {
        // The database has it all; this is for the day when it does not.
      }
    },
    takeOver(run, from, file) {
      const source = place(from, file);
      if (!existsSync(source)) throw nothingToTakeOver(from, file);
      mkdirSync(folder(run), { recursive: true });
      const facts = ownValue(decodeChecksums(readText(join(folder(from), checksumsFile))), checksumName(file));
      if (facts !== undefined) writeFileSync(join(folder(run), checksumsFile), encodeChecksums({ [startFile]: facts }));
      shareFile(source, join(folder(run), startFile));
    },
    setAside(run) {
      if (existsSync(folder(run))) renameSync(folder(run), `${folder(run)}.old-${Date.now()}`);
    },
    async tidy(run) {
      await finishHandOver(folder(run));
      for (const name of await namesIn(folder(run))) {
        if (name.endsWith('.tmp') || name === handOverFile || isWaiting(name))
          await rm(join(folder(run), name), { force: true });
      }
    },
    discard(run) {
      for (const place of [folder(run), join(exported, String(run))]) {
        if (existsSync(place)) renameSync(place, place + discardedSuffix);
      }
    },
    async sweep() {
      let bytes = 0;
      for (const parent of [root, exported]) {
        for (const name of await namesIn(parent)) {
          if (name.endsWith(discardedSuffix)) bytes += await removeFolder(join(parent, name));
        }
      }
      return bytes;
    },
  };
}

const nothingToTakeOver = (run: number, file: RunFile): InputError =>
  new InputError(
    'run.no_start',
    `Run ${run} has no ${file}: there is nothing to begin with.`,
    'Runs of earlier versions, and those that ended before their first checkpoint, cannot be gone on with.',
  );

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Files are replaced, never changed: two names for one take no more room than one. */
function shareFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Puts a file in its place. A full disk may cost the checkpoint before the last one. */
async function putFile(folder: string, file: RunFile, data: Uint8Array, home: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const previous = join(folder, 'checkpoint.previous.bin');
  try {
    await replaceFile(folder, file, data);
  } catch (error) {
    if (file !== 'checkpoint.bin' || !isFull(error, home) || !existsSync(previous)) throw error;
    await rm(previous, { force: true });
    await replaceFile(folder, file, data);
  }
}

async function replaceFile(folder: string, file: RunFile, data: Uint8Array): Promise<void> {
  const target = join(folder, file);
  await writeThrough(target, data, async () => {
    const known = await knownFiles(folder);
    const checksums = encodeChecksums(withVersion(known, file, factOf(data)));
    await writeThrough(join(folder, checksumsFile), checksums);
    if (file === 'checkpoint.bin' && existsSync(target)) renameSync(target, join(folder, 'checkpoint.previous.bin'));
  });
  await flushFolder(folder);
}

async function putTogether(folder: string, files: readonly (readonly [RunFile, Uint8Array])[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await handOver(folder, files, {
    write: (target, data) => writeThrough(target, data),
    async known() {
      const known = files.reduce(
        (before, [file, data]) => withVersion(before, file, factOf(data)),
        await knownFiles(folder),
      );
      await writeThrough(join(folder, checksumsFile), encodeChecksums(known));
    },
  });
  await flushFolder(folder);
}

/** Removes a file, first from the list of those that have to be there. */
async function removeFile(folder: string, file: RunFile): Promise<void> {
  const { [checksumName(file)]: _, ...known } = await knownFiles(folder);
  await writeThrough(join(folder, checksumsFile), encodeChecksums(known));
  await rm(join(folder, file), { force: true });
}

/** Writes beside the target, flushes and renames; `before` happens right before that. */
async function writeThrough(
  target: string,
  data: Uint8Array,
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await before();
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function knownFiles(folder: string): Promise<KnownFiles> {
  const text = await readFile(join(folder, checksumsFile), 'utf8').catch(() => '');
  return decodeChecksums(text);
}

type FoundFile = Uint8Array<ArrayBuffer> | null;

/** Damage is believed when it stays: another process may have been writing the file. */
async function readSteadily(run: number, folder: string, file: RunFile): Promise<FoundFile> {
  const name = checksumName(file);
  for (let tries = 1; ; tries++) {
    const facts = ownValue(await knownFiles(folder), name) ?? [];
    try {
      return await readChecked(run, standing(folder, file), file, facts);
    } catch (error) {
      const now = ownValue(await knownFiles(folder), name) ?? [];
      if (tries === 5 || JSON.stringify(now) === JSON.stringify(facts)) throw error;
    }
  }
}

async function readChecked(run: number, path: string, file: RunFile, facts: readonly FileFact[]): Promise<FoundFile> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    // Of a first version its checksum may be there before it; later ones replace a file that is there.
    if (isMissing(error) && (facts.length < 2 || file.startsWith('checkpoint.'))) return null;
    if (isMissing(error)) throw damagedRunFile(run, file, 'it is gone');
    throw error;
  }
  try {
    const { size } = await handle.stat();
    refuseSize(run, file, size, facts);
    const data = new Uint8Array(size);
    const { bytesRead } = await handle.read(data, 0, size, 0);
    if (bytesRead !== size) throw damagedRunFile(run, file, 'it is cut short');
    const { sha256 } = factOf(data);
    if (facts.length > 0 && !facts.some((fact) => fact.sha256 === sha256)) {
      throw damagedRunFile(run, file, 'it is not what was written');
    }
    return data;
  } finally {
    await handle.close();
  }
}

/** Before memory is taken for it. */
function refuseSize(run: number, file: RunFile, size: number, facts: readonly FileFact[]): void {
  if (facts.length > 0) {
    if (facts.some(({ bytes }) => bytes === size)) return;
    throw damagedRunFile(run, file, `it has ${size} bytes, ${facts[0].bytes} were written`);
  }
  const limit = file.endsWith('.json') ? largest.json : largest.other;
  if (size > limit) throw damagedRunFile(run, file, `it has ${size} bytes, more than any such file`);
}

/** Makes a rename last through a power cut; Windows neither needs nor offers it. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeFolder(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await namesIn(folder)) {
    const place = join(folder, name);
    bytes += (await stat(place)).size;
    await rm(place, { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true });
  return bytes;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
