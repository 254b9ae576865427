// Pictures made ready for a run: split, statistics of the training split, rows in the run's order. Pixels stay bytes; the
// device that trains normalises them.

import { InputError } from '../../protocol/errors.ts';
import type { ImageInfo, PrepareOptions, PreparedData, Shard, SplitName } from '../../protocol/data.ts';
import { countText } from '../../protocol/words.ts';
import { drawnShares, splitNames, usualSplit } from '../../protocol/use.ts';
import type { Job } from '../jobs.ts';
import type { Prepared } from '../prepare.ts';
import type { RowStore } from '../preprocess/row-store.ts';
import { assignFold, sharesOfFold } from '../preprocess/folds.ts';
import { assignSplits, randomBits } from '../preprocess/split.ts';
import { correctLabels } from './describe.ts';
import type { Labels } from './describe.ts';
import type { ImagePreprocessing } from './recipe.ts';
import { PixelReader } from './stored.ts';
import type { StoredPictures } from './stored.ts';
import { sharedWarning } from './warnings.ts';

/** Bytes of a shard: few messages, each copied without a pause. */
const shardBytes = 4 * 2 ** 20;
/** Streams of random numbers that must not meet that of the split. */
const orderStream = 0x51ed270b;

export interface PrepareImagesRequest {
  /** The dataset's folder. */
  readonly folder: string;
  readonly name: string;
  readonly image: ImageInfo;
  readonly pictures: StoredPictures;
  readonly options: PrepareOptions;
  readonly job: Job;
}

/**
 * Splits pictures and describes them for a model.
 * @throws InputError if there is one class only, or too few pictures for the splits.
 */
export async function prepareImages(request: PrepareImagesRequest): Promise<Prepared> {
  const { folder, name, image, pictures, options, job } = request;
  job.stage('Splitting');
  const labels = correctLabels(pictures, options.settings);
  if (labels.classes.length < 2) {
    throw new InputError(
      'input.one_class',
      `All pictures of ${name} are of one class: ${labels.classes[0]}.`,
      'Two or more classes are needed: undo some corrections, or add pictures of another class.',
    );
  }
  const splits = splitPictures(pictures, labels, options);
  const sources = orderRows(splits, options.seed);
  const counts = countSplits(splits);
  const { fold, split = usualSplit } = options.settings;
  checkCounts(counts, name, sharesOfFold(split, fold));
  const classCounts = new Array<number>(labels.classes.length).fill(0);
  for (const row of sources.subarray(0, counts.train)) {
    const label = labels.labels[row] as number;
    classCounts[label] = (classCounts[label] as number) + 1;
  }
  const { width, height, channels, fit } = image;
  const normalization =
    givenNormalization(options, image) ?? channelMoments(pictures, sources.subarray(0, counts.train), image);
  const preprocessing: ImagePreprocessing = {
    version: 1,
    kind: 'image',
    channels,
    height,
    width,
    fit,
    ...normalization,
    classes: [...labels.classes],
  };
  const reader = await PixelReader.open(folder, channels * height * width);
  const targets = Float32Array.from(sources, (row) => labels.labels[row] as number);
  return {
    rows: new StoredRows(reader, sources, targets),
    info: {
      ...describeRows(preprocessing, sources.length),
      counts,
      givenSplits: fold ? [] : splitNames.filter((name) => pictures.splits?.includes(name) === true),
      classCounts,
      sources,
      warnings: sharedWarning(pictures.twins, pictures.files, (row) => splitNames[splits[row] as number] ?? null),
    },
  };
}

/** Some pictures of a dataset as they were prepared for a run. @throws InputError if the run saw another size. */
export async function prepareRows({
  folder,
  image,
  files,
  rows,
  recipe,
}: {
  readonly folder: string;
  readonly image: ImageInfo;
  readonly files: readonly string[];
  readonly rows: readonly number[];
  readonly recipe: ImagePreprocessing;
}): Promise<Prepared> {
  const { channels, height, width } = image;
  if (recipe.channels !== channels || recipe.height !== height || recipe.width !== width) {
    throw new InputError(
      'input.picture_size',
      `The run saw pictures of ${recipe.width} × ${recipe.height}, these are ${width} × ${height}.`,
      'Choose a run that was trained on this dataset.',
    );
  }
  const sources = Uint32Array.from(rows.filter((row) => Number.isInteger(row) && row >= 0 && row < files.length));
  const reader = await PixelReader.open(folder, channels * height * width);
  return {
    rows: new StoredRows(reader, sources, new Float32Array(sources.length).fill(NaN)),
    info: {
      ...describeRows(recipe, sources.length),
      sources,
      files: Array.from(sources, (row) => files[row] as string),
    },
  };
}

/** What pictures prepared this way feed a model, all of them counted as test. */
export function describeRows(preprocessing: ImagePreprocessing, rows: number): PreparedData {
  const { channels, height, width, classes, mean, deviation } = preprocessing;
  const values = channels * height * width;
  const rowsPerShard = Math.max(1, Math.floor(shardBytes / values));
  const shardStarts: number[] = [];
  for (let start = 0; start < rows; start += rowsPerShard) shardStarts.push(start);
  return {
    handle: '',
    input: { kind: 'image', channels, height, width },
    output: { kind: 'classes', classes },
    task: 'classification',
    counts: { train: 0, validation: 0, test: rows },
    width: values,
    targets: 1,
    shardStarts: [...shardStarts, rows],
    normalization: { mean, deviation },
    classCounts: [],
    preprocessing,
    warnings: [],
  };
}

/** Split of each picture: a position in `splitNames`. What the source does not split is split by seed, each class alike; folds are of all. */
function splitPictures(pictures: StoredPictures, { classes, labels }: Labels, options: PrepareOptions): Uint8Array {
  const shares = options.settings.split ?? usualSplit;
  const sum = shares[0] + shares[1] + shares[2];
  if (shares.length !== 3 || shares.some((share) => !(share >= 0)) || shares[0] === 0 || Math.abs(sum - 1) > 1e-6) {
    throw new InputError(
      'input.split',
      `The split ${shares.join(', ')} cannot be used: three shares that add up to 1 are needed, the first above 0.`,
      'For example 0.8, 0.1, 0.1.',
    );
  }
  const { fold } = options.settings;
  if (fold !== undefined) return assignFold(labels, classes, shares, options.seed, fold);
  if (pictures.splits === null) return assignSplits(labels, classes.length, shares, options.seed);
  const given = Uint8Array.from(pictures.splits, (split) => splitNames.indexOf(split));
  // What the source does not split is drawn from what trains.
  const drawn = drawnShares(
    splitNames.filter((_, split) => given.includes(split)),
    shares,
  );
  if (drawn[0] === 1) return given;
  const strata = labels.map((label, row) => (given[row] === 0 ? label : -1));
  const shared = assignSplits(strata, classes.length, drawn, options.seed);
  return given.map((split, row) => (split === 0 ? (shared[row] as number) : split));
}

/**
 * Positions of the pictures, train first, then validation, then test. What trains is shuffled: a trainer that is shown a
 * large dataset window by window must not see class after class.
 */
function orderRows(splits: Uint8Array, seed: number): Uint32Array {
  const members = splitNames.map((_, split) => [...splits.keys()].filter((row) => splits[row] === split));
  const bits = new Map(members[0]?.map((row) => [row, randomBits(seed ^ orderStream, row)]));
  members[0]?.sort((first, second) => (bits.get(first) ?? 0) - (bits.get(second) ?? 0) || first - second);
  return Uint32Array.from(members.flat());
}

function countSplits(splits: Uint8Array): Record<SplitName, number> {
  const counts = { train: 0, validation: 0, test: 0 };
  for (const split of splits) counts[splitNames[split] as SplitName]++;
  return counts;
}

/** A split without a share may be empty. */
function checkCounts(
  counts: Readonly<Record<SplitName, number>>,
  name: string,
  shares: readonly [number, number, number],
): void {
  if (counts.train >= 2 && (counts.validation >= 1 || shares[1] === 0)) return;
  const total = counts.train + counts.validation + counts.test;
  throw new InputError(
    'input.too_few_rows',
    `The ${total} pictures of ${name} are too few: ${counts.train} would train, ${counts.validation} validate.`,
    'Add pictures, or change the split.',
  );
}

/** Undefined: the training split's own. @throws InputError if it is for pictures of other channels. */
function givenNormalization(
  { settings: { normalization } }: PrepareOptions,
  { channels }: ImageInfo,
): Pick<ImagePreprocessing, 'mean' | 'deviation'> | undefined {
  if (normalization === undefined) return undefined;
  const [mean, deviation] = [[...normalization.mean], [...normalization.deviation]];
  if (mean.length === channels && deviation.length === channels) return { mean, deviation };
  throw new InputError(
    'input.normalization',
    `The normalisation asked for is that of pictures with ${countText(mean.length, 'channel')}; these have ${channels}.`,
    'Begin with a run on such pictures.',
  );
}

/** Mean and standard deviation of each channel over some pictures, pixels in 0 … 1. */
function channelMoments(
  { sums, squares }: StoredPictures,
  rows: Uint32Array,
  { width, height, channels }: ImageInfo,
): { mean: number[]; deviation: number[] } {
  const count = rows.length * width * height;
  const mean: number[] = [];
  const deviation: number[] = [];
  for (let channel = 0; channel < channels; channel++) {
    let sum = 0;
    let square = 0;
    for (const row of rows) {
      sum += sums[row * channels + channel] as number;
      square += squares[row * channels + channel] as number;
    }
    const average = sum / count;
    mean.push(average / 255);
    // One level of 255 at least: an even surface divides by nothing smaller.
    deviation.push(Math.max(1, Math.sqrt(Math.max(0, square / count - average * average))) / 255);
  }
  return { mean, deviation };
}

/** Rows of a dataset in a run's order, read from its pixels when asked for. */
class StoredRows implements RowStore {
  readonly #reader: PixelReader;
  readonly #sources: Uint32Array;
  readonly #targets: Float32Array;

  constructor(reader: PixelReader, sources: Uint32Array, targets: Float32Array) {
    this.#reader = reader;
    this.#sources = sources;
    this.#targets = targets;
  }

  async read(start: number, end: number): Promise<Shard> {
    const x = await this.#reader.read(this.#sources.subarray(start, end));
    return { rows: end - start, x, y: this.#targets.slice(start, end) };
  }

  release(): Promise<void> {
    return this.#reader.close();
  }
}
