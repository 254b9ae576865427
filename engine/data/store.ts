// Imported datasets on disk: `<home>/datasets/<id>/` with data.parquet and manifest.json. A dataset appears there whole or
// not at all: it is made in a work folder named after its process, then renamed.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import type { DatasetInfo, DataWarning, ReadOptions } from '../protocol/data.ts';
import { explain, explainHome } from './failures.ts';
import type { Job } from './jobs.ts';
import type { AnalysedColumn } from './schema/analyse.ts';

/** Version of what an import writes; a later one makes a new dataset of the same file. */
const manifestVersion = 1;

/** Everything known about a dataset besides its rows. Never changes after the import. */
export interface Manifest {
  readonly version: typeof manifestVersion;
  /** Bytes of the file it came from; negative for pictures, whose files are hashed each time. */
  readonly sourceBytes: number;
  /** As described under no settings at all. */
  readonly info: DatasetInfo;
  readonly columns: readonly AnalysedColumn[];
  /** Found while importing; independent of target and types. */
  readonly importWarnings: readonly DataWarning[];
  /** Some rows stand in the table more than once. */
  readonly hasDuplicates: boolean;
}

export const dataFile = 'data.parquet';
/** Within a work folder: what becomes the dataset. Everything beside it is temporary. */
export const datasetFolder = 'dataset';
const manifestFile = 'manifest.json';
/** Work folders: prefix, then the process that owns them. */
const workPrefix = '.importing-';

export class DatasetStore {
  readonly home: string;
  readonly folder: string;

  constructor(home: string) {
    this.home = home;
    this.folder = join(home, 'datasets');
  }

  /** Path of a dataset's rows. */
  dataPath(id: string): string {
    return join(this.folder, id, dataFile);
  }

  /** Creates the folder for datasets. @throws InputError if the home cannot be written. */
  async prepareHome(): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true });
    } catch (error) {
      throw explainHome(error, this.home);
    }
  }

  /** A new empty folder that only this process uses; removed by the caller, or after a crash by the next start. */
  async makeWorkFolder(): Promise<string> {
    await this.prepareHome();
    try {
      return await mkdtemp(join(this.folder, `${workPrefix}${process.pid}-`));
    } catch (error) {
      throw explainHome(error, this.home);
    }
  }

  /** Removes work folders of processes that are gone. */
  async removeLeftovers(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const owner = name.startsWith(workPrefix) ? Number(name.slice(workPrefix.length).split('-')[0]) : NaN;
      if (Number.isInteger(owner) && !isRunning(owner)) {
        await rm(join(this.folder, name), { recursive: true, force: true }).catch(() => undefined);
      }
    }
  }

  /** A new path below the datasets for what a database spills; nothing is created. */
  spillFolder(): string {
    return join(this.folder, `${workPrefix}${process.pid}-spill-${randomUUID()}`);
  }

  /** Makes the dataset in a work folder appear. If another process was faster, its dataset stands. */
  async publish(workFolder: string, manifest: Manifest): Promise<void> {
    const folder = join(workFolder, datasetFolder);
    try {
      await writeFile(join(folder, manifestFile), JSON.stringify(manifest));
      for (const name of [manifestFile, dataFile]) await flush(join(folder, name));
      await rename(folder, join(this.folder, manifest.info.id));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw explain(error);
    }
  }

  /** A dataset's manifest, or null if there is none that can be used. */
  async find(id: string): Promise<Manifest | null> {
    if (!/^[0-9a-f]{16,64}$/.test(id)) return null;
    try {
      const manifest = JSON.parse(await readFile(join(this.folder, id, manifestFile), 'utf8')) as Manifest;
      return manifest.version === manifestVersion ? withSourceBytes(manifest) : null;
    } catch (error) {
      if (error instanceof SyntaxError || (error instanceof Error && 'code' in error && error.code === 'ENOENT'))
        return null;
      throw error;
    }
  }

  /** @throws InputError if there is no such dataset. */
  async read(id: string): Promise<Manifest> {
    const manifest = await this.find(id);
    if (manifest !== null) return manifest;
    throw new InputError('input.unknown_dataset', `There is no dataset ${id} here.`, 'Import the file again.');
  }

  /** All datasets, the newest first. */
  async list(): Promise<readonly DatasetInfo[]> {
    const manifests = await this.#manifests();
    return manifests.map(({ info }) => info).sort((first, second) => second.importedAt - first.importedAt);
  }

  /** Whether a file of this name and size was imported before, so that it is worth hashing it first. */
  async mayHave(source: string, sourceBytes: number): Promise<boolean> {
    const manifests = await this.#manifests();
    return manifests.some((manifest) => manifest.sourceBytes === sourceBytes && manifest.info.source === source);
  }

  async #manifests(): Promise<Manifest[]> {
    const names = await readdir(this.folder).catch(() => []);
    const found = await Promise.all(names.filter((name) => !name.startsWith('.')).map((name) => this.find(name)));
    return found.filter((manifest) => manifest !== null);
  }

  async remove(id: string): Promise<void> {
    await this.read(id);
    try {
      // First out of sight as a whole: half a dataset would stand in the way of importing its file again.
      const removed = join(this.folder, `${workPrefix}${process.pid}-removed-${randomUUID()}`);
      await rename(join(this.folder, id), removed);
      await rm(removed, { recursive: true, force: true });
    } catch (error) {
      throw explainHome(error, this.home);
    }
  }
}

/** Earlier imports kept the size of the source beside the description, those of pictures not at all. */
function withSourceBytes(manifest: Manifest): Manifest {
  const { info, sourceBytes } = manifest;
  const known: number | null | undefined = info.sourceBytes;
  return known === undefined
    ? { ...manifest, info: { ...info, sourceBytes: sourceBytes < 0 ? null : sourceBytes } }
    : manifest;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Brings what was written to a file onto the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Bytes hashed at a time. */
const hashBytes = 2 ** 19;

/** The id of the dataset that a file makes when read with given options: a hash of both. */
export async function contentId(path: string, options: ReadOptions, job: Job): Promise<string> {
  const hash = createHash('sha256').update(`trainyard ${manifestVersion} ${canonicalOptions(options)}\n`);
  const file = await open(path, 'r');
  try {
    const buffer = new Uint8Array(hashBytes);
    for (;;) {
      job.throwIfCancelled();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
  return hash.digest('hex').slice(0, 32);
}

function canonicalOptions(options: ReadOptions): string {
  const set = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  return JSON.stringify(set.sort(([first], [second]) => (first < second ? -1 : 1)));
}
