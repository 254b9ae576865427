// Imported datasets on disk: `<home>/datasets/<id>/` with data.parquet and manifest.json. A dataset appears there whole or
// not at all: it is made in a work folder named after its process, then renamed.

import { createHash, randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { InputError } from '../protocol/errors.ts';
import type { DatasetInfo, DataWarning, ReadOptions } from '../protocol/data.ts';
import { explain, explainHome } from './failures.ts';
import {
  ContentCheck,
  decodeManifest,
  encodeManifest,
  factsOf,
  largestManifest,
  manifestFile,
  wrongSize,
} from './intact.ts';
import { manifestVersion } from './manifest.ts';
import type { FileFacts, Manifest } from './manifest.ts';
import type { Job } from './jobs.ts';
import { isRunning } from '../system/alive.ts';

export const dataFile = 'data.parquet';
/** Within a work folder: what becomes the dataset. Everything beside it is temporary. */
export const datasetFolder = 'dataset';
/** Work folders: prefix, then the process that owns them. */
const workPrefix = '.importing-';
/** Damaged datasets, kept. */
const damagedPrefix = '.damaged-';

export class DatasetStore {
  readonly home: string;
  readonly folder: string;
  readonly #contents = new ContentCheck();
  /** Where damaged datasets have gone whose files were imported again since: by id. */
  readonly #setAside = new Map<string, string>();

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
      await makeFolder(this.folder);
    } catch (error) {
      throw explainHome(error, this.home);
    }
  }

  /** As `makeWorkFolder`; where the home cannot be written, among the system's temporary files. */
  async makeAnyWorkFolder(): Promise<string> {
    return isWritable(this.home) ? this.makeWorkFolder() : mkdtemp(join(tmpdir(), 'trainyard-work-'));
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
    const name = `${workPrefix}${process.pid}-spill-${randomUUID()}`;
    return join(isWritable(this.home) ? this.folder : tmpdir(), name);
  }

  /**
   * Makes the dataset in a work folder appear. If another process was faster, its dataset stands; a damaged one goes aside.
   * `facts`: those of its files, where they are known already.
   */
  async publish(workFolder: string, manifest: Manifest, facts?: FileFacts): Promise<void> {
    const { id } = manifest.info;
    try {
      const folder = join(workFolder, datasetFolder);
      const files = facts ?? (await factsOf(folder));
      await writeFile(join(folder, manifestFile), encodeManifest(manifest, files));
      for (const name of [manifestFile, ...Object.keys(files)]) await flush(join(folder, name));
      if (await moved(folder, join(this.folder, id))) return;
      if (!(await this.usable(id))) await moved(folder, join(this.folder, id));
    } catch (error) {
      throw explain(error);
    }
  }

  /** Whether a dataset is there and as it was written. One that is not is set aside, so that its file can be imported again. */
  async usable(id: string): Promise<boolean> {
    const folder = join(this.folder, id);
    const manifest = await this.find(id);
    const wrong = manifest === null ? 'its manifest' : await this.#wrong(manifest, true);
    if (wrong === null) return true;
    const aside = join(
      this.folder,
      `${damagedPrefix}${id}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`,
    );
    try {
      await rename(folder, aside);
      this.#setAside.set(id, aside);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw explainHome(error, this.home);
    }
    return false;
  }

  /** A warning where a damaged dataset was set aside for this one, once. */
  takeWarning(id: string): DataWarning | null {
    const aside = this.#setAside.get(id);
    this.#setAside.delete(id);
    if (aside === undefined) return null;
    return {
      code: 'set_aside',
      message: `The copy imported before was damaged: it is kept as ${aside}, and the file was imported again.`,
    };
  }

  /** What is wrong with a dataset's files, as part of a sentence; null: nothing. */
  async #wrong(manifest: Manifest, contents: boolean): Promise<string | null> {
    const folder = join(this.folder, manifest.info.id);
    const wrong = await wrongSize(folder, manifest);
    return wrong === null && contents ? this.#contents.wrong(folder, manifest) : wrong;
  }

  /** A dataset's manifest, or null if there is none that can be used. */
  async find(id: string): Promise<Manifest | null> {
    if (!/^[0-9a-f]{16,64}$/.test(id)) return null;
    const path = join(this.folder, id, manifestFile);
    try {
      if ((await stat(path)).size > largestManifest) return null;
      const manifest = decodeManifest(await readFile(path, 'utf8'));
      const usable = manifest?.version === manifestVersion && manifest.info.id === id;
      return usable ? withSourceBytes(manifest) : null;
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') || hasCode(error, 'EISDIR')) return null;
      throw error;
    }
  }

  /** The manifest of a dataset whose rows are to be read. @throws InputError if there is no such dataset, or it is damaged. */
  async readIntact(id: string): Promise<Manifest> {
    const manifest = await this.read(id);
    const wrong = await this.#wrong(manifest, true);
    if (wrong === null) return manifest;
    throw damagedDataset(manifest, wrong);
  }

  /** @throws InputError if there is no such dataset. */
  async read(id: string): Promise<Manifest> {
    const manifest = await this.find(id);
    if (manifest === null) {
      throw new InputError(
        'input.unknown_dataset',
        `The dataset ${id.slice(0, 12)} is not here, or not any more.`,
        'Import its file again: the same content is the same dataset.',
      );
    }
    const wrong = await this.#wrong(manifest, false);
    if (wrong === null) return manifest;
    throw damagedDataset(manifest, wrong);
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
    // One that cannot be read is none.
    const find = (name: string): Promise<Manifest | null> => this.find(name).catch(() => null);
    const found = await Promise.all(names.filter((name) => !name.startsWith('.')).map(find));
    return found.filter((manifest) => manifest !== null);
  }

  async remove(id: string): Promise<void> {
    if ((await this.find(id)) === null) await this.read(id);
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

/** `wrong` is part of a sentence. */
function damagedDataset({ info }: Manifest, wrong: string): InputError {
  return new InputError(
    'input.damaged_dataset',
    `The dataset “${info.name}” is damaged: ${wrong}.`,
    `Import ${info.source} again: the damaged copy is set aside.`,
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Renames a folder; false if there is one of that name already. */
async function moved(folder: string, target: string): Promise<boolean> {
  try {
    await rename(folder, target);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}

/** False only where it is known: what is missing may be made. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return !['EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code));
  }
}

/** Level by level: Node’s own way of making several never ends below /proc. As the home’s own: its account’s alone. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (hasCode(error, 'EEXIST') && (await stat(folder)).isDirectory()) return;
    if (!hasCode(error, 'ENOENT') || existsSync(dirname(folder))) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder);
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
export async function contentId(
  path: string,
  options: ReadOptions,
  job: Pick<Job, 'throwIfCancelled'>,
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256').update(`trainyard ${manifestVersion} ${canonicalOptions(options)}\n`);
  const file = await open(path, 'r');
  try {
    const buffer = new Uint8Array(hashBytes);
    for (;;) {
      job.throwIfCancelled();
      signal?.throwIfAborted();
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
  // A switch that is off is as good as none, but whether there is a header is found where it is not said.
  const isSaid = ([name, value]: [string, unknown]): boolean =>
    value !== undefined && (value !== false || name === 'header');
  const set = Object.entries(options).filter(isSaid);
  return JSON.stringify(set.sort(([first], [second]) => (first < second ? -1 : 1)));
}
