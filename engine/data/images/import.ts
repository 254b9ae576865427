// Importing pictures: find them → look at each and hash all → choose the working size → decode → measure → publish as a
// whole. What cannot be read is left out and listed; a cancelled import leaves nothing.

import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type {
  DatasetInfo,
  DatasetSettings,
  ImageInfo,
  ImageReadOptions,
  SkippedFile,
  SplitName,
} from '../../protocol/data.ts';
import type { DatabaseLimits } from '../database.ts';
import type { Job } from '../jobs.ts';
import { datasetFolder } from '../store.ts';
import type { Manifest } from '../manifest.ts';
import type { DatasetStore } from '../store.ts';
import { describeImages, describePictures } from './describe.ts';
import type { FoundPath } from './open.ts';
import { openPictures } from './open.ts';
import { compareText, sortClasses } from './picture.ts';
import type { PictureEntry, PictureFacts, PictureMeasures, PictureShape } from './picture.ts';
import type { PictureSource } from './source.ts';
import { PixelWriter } from './pixel-writer.ts';
import { PicturePool } from './pool.ts';
import { checkImageOptions, chooseShape } from './shape.ts';
import { pictureFile, PixelReader, pixelFile, writePictures } from './stored.ts';
import type { StoredPictures } from './stored.ts';
import { findTwins } from './twins.ts';

/** Version of what an import of pictures writes; a later one makes a new dataset of the same folder. */
const imageVersion = 2;

export interface ImportImagesRequest {
  readonly found: FoundPath;
  readonly options: ImageReadOptions;
  readonly settings: DatasetSettings;
  readonly limits: DatabaseLimits;
  readonly job: Job;
}

/** An entry that turned out to be a picture. */
interface KeptPicture extends PictureMeasures {
  readonly entry: PictureEntry;
  readonly width: number;
  readonly height: number;
}

/**
 * Imports a folder of pictures or a file of arrays and returns the id of its dataset. Nothing is left behind if it fails.
 * @throws InputError if there are no pictures or fewer than two classes, CancelledError if the job was cancelled.
 */
export async function importImages(store: DatasetStore, request: ImportImagesRequest): Promise<string> {
  const { found, options, limits, job } = request;
  checkImageOptions(options);
  const workFolder = await store.makeWorkFolder();
  const pool = new PicturePool(limits.threads);
  // A cancelled job does not wait for the pictures at work.
  const stop = (): void => void pool.close();
  job.signal.addEventListener('abort', stop);
  try {
    const source = await openPictures(found, { limits, workFolder, job });
    const { facts, digest, bytes } = await source.examine(pool, job);
    job.throwIfCancelled();
    const id = datasetId(source, digest, options);
    if (await store.usable(id)) return id;
    const readable = source.entries.filter((_, index) => 'width' in (facts[index] as PictureFacts));
    requireClasses(found.name, readable, [...source.skipped, ...unreadable(source, facts)]);
    requireTrained(found.name, readable);
    const manifest = await writeDataset(join(workFolder, datasetFolder), {
      ...request,
      id,
      source,
      facts,
      sourceBytes: bytes,
      pool,
    });
    job.throwIfCancelled();
    await store.publish(workFolder, manifest);
    return id;
  } catch (error) {
    job.throwIfCancelled();
    throw error;
  } finally {
    job.signal.removeEventListener('abort', stop);
    await pool.close();
    await rm(workFolder, { recursive: true, force: true });
  }
}

function datasetId(source: PictureSource, digest: string, { size, fit = 'crop' }: ImageReadOptions): string {
  const left = source.skipped.map(({ file, reason }) => [file, reason]);
  return createHash('sha256')
    .update(
      `trainyard images ${imageVersion} ${JSON.stringify([size ?? null, fit, source.classOrder, left])}\n${digest}`,
    )
    .digest('hex')
    .slice(0, 32);
}

function unreadable({ entries }: PictureSource, facts: readonly PictureFacts[]): SkippedFile[] {
  return entries.flatMap(({ file }, index) => {
    const fact = facts[index] as PictureFacts;
    return 'reason' in fact ? [{ file, reason: fact.reason }] : [];
  });
}

/** @throws InputError unless there are pictures of two classes or more. */
function requireClasses(name: string, pictures: readonly PictureEntry[], leftOut: readonly SkippedFile[]): void {
  const [first, ...others] = new Set(pictures.map(({ label }) => label));
  if (others.length > 0) return;
  if (first !== undefined) {
    throw new InputError(
      'input.one_class',
      `All ${pictures.length} pictures of ${name} are of one class: ${first}.`,
      'Two or more classes are needed: choose the folder above, with one sub-folder a class.',
    );
  }
  const [example] = leftOut;
  throw new InputError(
    'input.no_images',
    `${name} has no picture that can be read${example === undefined ? '' : `, for example ${example.file}: ${example.reason}`}.`,
    'Choose a folder with pictures (JPEG, PNG, WebP, GIF, BMP, TIFF, AVIF), one sub-folder a class.',
  );
}

/** @throws InputError if a class stands in a split that validates or tests and in none that trains. */
function requireTrained(name: string, pictures: readonly PictureEntry[]): void {
  const trained = new Set(pictures.filter(({ split }) => split === 'train').map(({ label }) => label));
  const untrained = [...new Set(pictures.map(({ label }) => label))].filter((label) => !trained.has(label));
  if (trained.size === 0 || untrained.length === 0) return;
  const listed = untrained.slice(0, 5).join(', ') + (untrained.length > 5 ? ' …' : '');
  throw new InputError(
    'input.untrained_class',
    `${name} has ${untrained.length === 1 ? 'a class' : 'classes'} without pictures to train on: ${listed}.`,
    'Name the classes of train, validation and test alike, and give each of them pictures that train.',
  );
}

interface WriteRequest extends ImportImagesRequest {
  readonly id: string;
  readonly source: PictureSource;
  readonly facts: readonly PictureFacts[];
  readonly sourceBytes: number;
  readonly pool: PicturePool;
}

/** Decodes all pictures into a new folder and describes them. */
async function writeDataset(folder: string, request: WriteRequest): Promise<Manifest> {
  const { found, source, facts, sourceBytes, options, settings, job, id } = request;
  await mkdir(folder);
  const shape = chooseShape(facts, options);
  const { kept, broken, channels } = await decodeAll(folder, shape, request);
  const skipped = [...source.skipped, ...broken].sort((first, second) => compareText(first.file, second.file));
  requireClasses(
    found.name,
    kept.map(({ entry }) => entry),
    skipped,
  );

  job.stage('Looking for duplicates');
  const reader = await PixelReader.open(folder, channels * shape.width * shape.height);
  const twins = await findTwins(kept, reader, () => job.throwIfCancelled()).finally(() => reader.close());
  const pictures = gather(source, kept, channels, { twins, skipped });
  await writePictures(folder, pictures);
  const description = describePictures(pictures, {});
  // Settings that do not fit fail the import before anything is published.
  describePictures(pictures, settings);
  const bytes = (await stat(join(folder, pixelFile))).size + (await stat(join(folder, pictureFile))).size;
  const image = describeImages(pictures, { ...shape, channels });
  const info: DatasetInfo = {
    id,
    name: found.name.replace(/\.(npy|npz|gz)$/i, ''),
    kind: 'images',
    source: found.name,
    rows: kept.length,
    sourceBytes,
    bytes,
    importedAt: Date.now(),
    reading: {
      ...source.reading,
      size: describeSize(image),
      channels: channels === 1 ? 'grey' : 'RGB',
    },
    image,
    ...description,
  };
  // Warnings follow from the pictures and the settings; the table's own fields have nothing to hold.
  return { version: 1, sourceBytes: -1, info, columns: [], importWarnings: [] };
}

async function decodeAll(
  folder: string,
  shape: PictureShape,
  { source, facts, pool, job }: WriteRequest,
): Promise<{ kept: KeptPicture[]; broken: SkippedFile[]; channels: 1 | 3 }> {
  const kept: KeptPicture[] = [];
  const broken: SkippedFile[] = [];
  const writer = await PixelWriter.create(folder, shape.width * shape.height);
  const report = job.stage('Reading pictures');
  const total = source.entries.length;
  let done = 0;
  try {
    for await (const batch of source.decode(pool, shape, job)) {
      job.throwIfCancelled();
      await writer.add(batch);
      for (const outcome of batch.outcomes) {
        const entry = source.entries[done] as PictureEntry;
        const fact = facts[done] as PictureFacts;
        if ('reason' in outcome) broken.push({ file: entry.file, reason: outcome.reason });
        else kept.push({ ...outcome, entry, ...sizeOf(fact, entry) });
        done++;
      }
      report(done / total, `Reading ${done.toLocaleString('en')} of ${total.toLocaleString('en')} pictures`);
    }
    await writer.finish();
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  }
  return { kept, broken, channels: writer.channels };
}

/** @throws InputError if what could not be read at first can be now. */
function sizeOf(fact: PictureFacts, { file }: PictureEntry): { width: number; height: number } {
  if ('width' in fact) return { width: fact.width, height: fact.height };
  throw new InputError('input.changed', `${file} changed while it was read.`, 'Import the folder again.');
}

/** "64 × 64, from 20 × 31 to 640 × 480 (crop)" */
function describeSize({ width, height, smallest, largest, fit }: ImageInfo): string {
  const working = `${width} × ${height}`;
  const [least, most] = [smallest.join(' × '), largest.join(' × ')];
  if (least === working && most === working) return working;
  return `${working}, from ${least === most ? least : `${least} to ${most}`} (${fit})`;
}

function gather(
  source: PictureSource,
  kept: readonly KeptPicture[],
  channels: number,
  found: Pick<StoredPictures, 'twins' | 'skipped'>,
): StoredPictures {
  const classes = sortClasses(
    kept.map(({ entry }) => entry.label),
    source.classOrder,
  );
  const numbers = new Map(classes.map((name, index) => [name, index]));
  const splits = kept.map(({ entry }) => entry.split);
  // A grey picture among coloured ones has its one channel three times.
  const spread = (values: readonly number[]): readonly number[] =>
    Array.from({ length: channels }, (_, channel) => values[channel] ?? (values[0] as number));
  return {
    files: kept.map(({ entry }) => entry.file),
    classes,
    classOrder: source.classOrder,
    labelledBy: source.labelledBy,
    labels: kept.map(({ entry }) => numbers.get(entry.label) as number),
    splits: splits.includes('train') ? splits.map((split): SplitName => split ?? 'train') : null,
    widths: kept.map(({ width }) => width),
    heights: kept.map(({ height }) => height),
    sums: kept.flatMap(({ sums }) => spread(sums)),
    squares: kept.flatMap(({ squares }) => spread(squares)),
    ...found,
  };
}
