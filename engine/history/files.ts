// The folder of each run, <home>/runs/<number>/. A file is there as a whole or not at all: it is written under another
// name, flushed, and renamed.

import { existsSync, renameSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import type { RunFile } from '../protocol/runs.ts';

const fileNames: ReadonlySet<string> = new Set<RunFile>([
  'checkpoint.bin',
  'best.safetensors',
  'preprocessing.json',
  'model.json',
  'evaluation.json',
  'predictions.json',
]);

const discardedSuffix = '.purged';

export interface RunFiles {
  has(run: number, file: RunFile): boolean;
  /** Writes of one file happen in the order they were asked for. */
  write(run: number, file: RunFile, data: Uint8Array): Promise<void>;
  read(run: number, file: RunFile): Promise<Uint8Array | null>;
  /** Gives a new run an empty place, if an older history left a folder of that number. */
  setAside(run: number): void;
  /** Removes what a killed process left half-written. */
  tidy(run: number): Promise<void>;
  /** Marks the folder of a run for removal: a rename, so that it may stand within a transaction. */
  discard(run: number): void;
  /** Removes all marked folders, also those that a killed process left; returns the bytes they held. */
  sweep(): Promise<number>;
}

export function createRunFiles(home: string): RunFiles {
  const root = join(home, 'runs');
  const folder = (run: number): string => join(root, String(run));
  const place = (run: number, file: RunFile): string => {
    if (!Number.isSafeInteger(run) || run < 1 || !fileNames.has(file)) {
      throw new InputError('input.run_file', `A run has no file "${file}".`, `Files are ${[...fileNames].join(', ')}.`);
    }
    return join(folder(run), file);
  };
  const writing = new Map<string, Promise<void>>();

  return {
    has: (run, file) => existsSync(place(run, file)),
    async write(run, file, data) {
      const target = place(run, file);
      const before = writing.get(target) ?? Promise.resolve();
      const write = before.catch(() => undefined).then(() => replaceFile(folder(run), target, data));
      writing.set(target, write);
      try {
        await write;
      } finally {
        if (writing.get(target) === write) writing.delete(target);
      }
    },
    async read(run, file) {
      try {
        const { buffer, byteOffset, length } = await readFile(place(run, file));
        // A plain array: `slice` of Node's Buffer would not copy.
        return new Uint8Array(buffer, byteOffset, length);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    setAside(run) {
      if (existsSync(folder(run))) renameSync(folder(run), `${folder(run)}.old-${Date.now()}`);
    },
    async tidy(run) {
      for (const name of await namesIn(folder(run))) {
        if (name.endsWith('.tmp')) await rm(join(folder(run), name), { force: true });
      }
    },
    discard(run) {
      if (existsSync(folder(run))) renameSync(folder(run), folder(run) + discardedSuffix);
    },
    async sweep() {
      let bytes = 0;
      for (const name of await namesIn(root)) {
        if (name.endsWith(discardedSuffix)) bytes += await removeFolder(join(root, name));
      }
      return bytes;
    },
  };
}

async function replaceFile(folder: string, target: string, data: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushFolder(folder);
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
