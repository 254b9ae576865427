// Pictures for a finished run: one picture, a folder of them, or arrays, brought to what the run was trained on.

import { open, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { Shard, SkippedFile } from '../../protocol/data.ts';
import type { DatabaseLimits } from '../database.ts';
import type { Job } from '../jobs.ts';
import type { RowStore } from '../preprocess/row-store.ts';
import type { DatasetStore } from '../store.ts';
import { isArrayFile } from './arrays/source.ts';
import { fileSource } from './files.ts';
import type { FolderLayout } from './folder-layout.ts';
import { notAPicture } from './header.ts';
import type { FoundPath } from './open.ts';
import { openPictures } from './open.ts';
import type { DecodedBatch } from './picture.ts';
import type { PictureSource } from './source.ts';
import { PicturePool } from './pool.ts';
import { describeRows } from './prepare.ts';
import type { Prepared } from '../prepare.ts';
import { parseImagePreprocessing } from './recipe.ts';
import type { ImagePreprocessing } from './recipe.ts';
import { PixelReader, pixelFile } from './stored.ts';
import { walkFiles } from './walk.ts';
import { skippedWarning } from './warnings.ts';

export interface TransformImagesRequest {
  readonly store: DatasetStore;
  readonly limits: DatabaseLimits;
  readonly found: FoundPath;
  /** Paths of further pictures. */
  readonly more: readonly string[];
  readonly preprocessing: unknown;
  readonly job: Job;
}

/**
 * Applies a run's preprocessing to pictures. All of them, in the order of their names, count as `test`; a target is NaN
 * where nothing says the class, or it is none of the run's.
 * @throws InputError if no picture can be read.
 */
export async function transformImages(request: TransformImagesRequest): Promise<Prepared> {
  const { store, limits, found, job } = request;
  const preprocessing = parseImagePreprocessing(request.preprocessing);
  const workFolder = await store.makeAnyWorkFolder();
  const pool = new PicturePool(limits.threads);
  try {
    const source =
      request.more.length > 0
        ? severalFiles([found.path, ...request.more])
        : await openAny(found, { limits, workFolder, job });
    const decoded = await decodeAll(source, { preprocessing, pool, workFolder, job });
    const { files, targets, skipped } = decoded;
    if (files.length === 0) {
      const [first] = skipped;
      if (first !== undefined && skipped.every(({ file }) => isTableName(file)))
        throw tableForPictures(basename(first.file));
      throw new InputError(
        'input.no_images',
        `${found.name} has no picture that can be read${first === undefined ? '' : `: ${first.file}, ${first.reason}`}.`,
        'Choose pictures: JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF.',
      );
    }
    const reader = await PixelReader.open(
      workFolder,
      preprocessing.channels * preprocessing.height * preprocessing.width,
    );
    return {
      rows: new WorkRows(reader, Float32Array.from(targets), workFolder),
      info: { ...describeRows(preprocessing, files.length), files, warnings: skippedWarning(skipped) },
    };
  } catch (error) {
    await rm(workFolder, { recursive: true, force: true });
    throw error;
  } finally {
    await pool.close();
  }
}

/** Like an import, but pictures without classes will do. */
async function openAny(
  found: FoundPath,
  work: { readonly limits: DatabaseLimits; readonly workFolder: string; readonly job: Job },
): Promise<PictureSource> {
  if (!found.folder && !isArrayFile(found.name))
    return fileSource(dirname(found.path), unlabelled([basename(found.path)]));
  try {
    return await openPictures(found, work);
  } catch (error) {
    const withoutClasses =
      error instanceof InputError && ['input.no_classes', 'input.label_columns'].includes(error.code);
    if (!found.folder || !withoutClasses) throw error;
    return fileSource(found.path, unlabelled(await walkFiles(found.path, work.job)));
  }
}

/** Files from anywhere, told apart by their paths below what they have in common. */
function severalFiles(paths: readonly string[]): PictureSource {
  const folder = paths.map((path) => dirname(path)).reduce(commonFolder);
  return fileSource(folder, unlabelled(paths.map((path) => relative(folder, path).replaceAll('\\', '/'))));
}

function commonFolder(first: string, second: string): string {
  let folder = first;
  while (folder !== dirname(folder) && relative(folder, second).startsWith('..')) folder = dirname(folder);
  return folder;
}

const isTableName = (name: string): boolean =>
  /\.(csv|tsv|tab|parquet|jsonl|ndjson|json|xlsx?)(\.(gz|zst))?$/i.test(name);

/** What to do with a table that was shown to a run on pictures. */
function tableForPictures(name: string): InputError {
  return new InputError(
    'input.table_for_pictures',
    `${name} is a table, and this run tells pictures apart.`,
    `Import it as a dataset, or predict its rows with a run that was trained on a table: “Predict for a file…” in that run's menu, or trainyard predict RUN ${name}.`,
  );
}

function unlabelled(files: readonly string[]): FolderLayout {
  return {
    entries: files.map((file) => ({ file, label: '', split: null })),
    skipped: [],
    warnings: [],
    reading: {},
    labelledBy: '',
    classOrder: 'name',
  };
}

interface Decoded {
  readonly files: readonly string[];
  /** Class numbers; NaN = unknown. */
  readonly targets: readonly number[];
  readonly skipped: readonly SkippedFile[];
}

async function decodeAll(
  source: PictureSource,
  work: {
    readonly preprocessing: ImagePreprocessing;
    readonly pool: PicturePool;
    readonly workFolder: string;
    readonly job: Job;
  },
): Promise<Decoded> {
  const { preprocessing, pool, workFolder, job } = work;
  const { channels, height, width, classes } = preprocessing;
  const files: string[] = [];
  const targets: number[] = [];
  const skipped: SkippedFile[] = [...source.skipped];
  const report = job.stage('Reading pictures');
  const output = await open(join(workFolder, pixelFile), 'w');
  let done = 0;
  try {
    for await (const batch of source.decode(pool, preprocessing, job)) {
      job.throwIfCancelled();
      await output.write(withChannels(batch, channels, height * width));
      for (const outcome of batch.outcomes) {
        const { file = '', label = '' } = source.entries[done++] ?? {};
        if ('reason' in outcome) {
          const isTable = outcome.reason === notAPicture && isTableName(file);
          skipped.push({ file, reason: isTable ? 'it is a table, not a picture' : outcome.reason });
          continue;
        }
        const known = classes.indexOf(label);
        files.push(file);
        targets.push(known < 0 ? NaN : known);
      }
      report(done / source.entries.length);
    }
  } finally {
    await output.close();
  }
  return { files, targets, skipped };
}

/** Pictures with as many channels as the run has: grey spread over three, or colour weighed into one (ITU-R BT.601). */
function withChannels({ channels, pixels }: DecodedBatch, wanted: 1 | 3, size: number): Uint8Array {
  if (channels === wanted) return pixels;
  const pictures = pixels.length / (channels * size);
  const result = new Uint8Array(pictures * wanted * size);
  for (let picture = 0; picture < pictures; picture++) {
    const from = picture * channels * size;
    const to = picture * wanted * size;
    for (let pixel = 0; pixel < size; pixel++) {
      const value = (channel: number): number => pixels[from + channel * size + pixel] as number;
      if (wanted === 1) result[to + pixel] = Math.round(0.299 * value(0) + 0.587 * value(1) + 0.114 * value(2));
      else for (let channel = 0; channel < 3; channel++) result[to + channel * size + pixel] = value(0);
    }
  }
  return result;
}

/** Rows in a work folder, removed with it. */
class WorkRows implements RowStore {
  readonly #reader: PixelReader;
  readonly #targets: Float32Array;
  readonly #folder: string;

  constructor(reader: PixelReader, targets: Float32Array, folder: string) {
    this.#reader = reader;
    this.#targets = targets;
    this.#folder = folder;
  }

  async read(start: number, end: number): Promise<Shard> {
    const rows = Uint32Array.from({ length: end - start }, (_, index) => start + index);
    return { rows: end - start, x: await this.#reader.read(rows), y: this.#targets.slice(start, end) };
  }

  async release(): Promise<void> {
    await this.#reader.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
