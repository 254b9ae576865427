// Arrays as a source of pictures: IDX, NPY and NPZ files, alone or in a folder.

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { InputError } from '../../../protocol/errors.ts';
import type { Job } from '../../jobs.ts';
import type { PictureEntry, PictureFacts, PictureShape } from '../picture.ts';
import type { PictureSource } from '../source.ts';
import type { FitPixels, PicturePool } from '../pool.ts';
import { listFolder } from '../walk.ts';
import { readIdx } from './idx.ts';
import { readNpy } from './npy.ts';
import { readNpz } from './npz.ts';
import { pairArrays, splitOfName } from './pairs.ts';
import type { ArrayPair, ImageLayout } from './pairs.ts';
import { readLabels, readRows } from './stored.ts';
import type { StoredArray } from './stored.ts';
import { emptyRange, pixelScale, toPixels, widenRange } from './values.ts';
import type { PixelScale } from './values.ts';

const idxName = /([.-]idx\d|-ubyte|\.ubyte)([.-]|$)/i;
/** Bytes of pictures read at once. */
const pieceBytes = 2 ** 21;

/** Whether a file of this name may hold arrays of pictures. */
export function isArrayFile(name: string): boolean {
  return /\.np[yz]$/i.test(name) || idxName.test(name);
}

/**
 * The pictures of one file of arrays; NPY and IDX files find their classes beside them.
 * @throws InputError if it holds no pictures or there are no classes.
 */
export async function openArrayFile(path: string): Promise<PictureSource> {
  const name = basename(path);
  if (/\.npz$/i.test(name)) return arraySource(pairArrays(await readNpz(path), name));
  const folder = dirname(path);
  const { files } = await listFolder(folder);
  // Only files of the same part: of the four files of MNIST, two belong to each other.
  const beside = files.filter(
    (file) => isArrayFile(file) && sameKind(file, name) && splitOfName(file) === splitOfName(name),
  );
  const arrays = await Promise.all(beside.map((file) => readFile(join(folder, file))));
  const own = arrays[beside.indexOf(name)] as StoredArray;
  const pictures = own.shape.length > 2 ? [own, ...arrays.filter(({ shape }) => shape.length <= 2)] : arrays;
  return arraySource(pairArrays(pictures, name));
}

/** The pictures of all array files of a folder. @throws InputError if they hold no pictures or there are no classes. */
export async function openArrayFolder(folder: string, files: readonly string[], name: string): Promise<PictureSource> {
  // Where a file lies packed and unpacked, once is enough.
  const single = files.filter((file) => !(/\.gz$/i.test(file) && files.includes(file.replace(/\.gz$/i, ''))));
  const arrays = await Promise.all(
    single.map(async (file) => {
      const path = join(folder, file);
      return /\.npz$/i.test(file) ? readNpz(path) : [await readFile(path)];
    }),
  );
  return arraySource(pairArrays(arrays.flat(), name));
}

function sameKind(first: string, second: string): boolean {
  const isNpy = (name: string): boolean => /\.npy$/i.test(name);
  return isNpy(first) === isNpy(second) && !/\.npz$/i.test(first);
}

function readFile(path: string): Promise<StoredArray> {
  return /\.npy$/i.test(path) ? readNpy(path) : readIdx(path);
}

async function arraySource(pairs: readonly ArrayPair[]): Promise<PictureSource> {
  const entries: PictureEntry[] = [];
  for (const { images, layout, labels, split } of pairs) {
    const classes = await readLabels(labels);
    const digits = String(Math.max(0, layout.count - 1)).length;
    classes.forEach((label, index) => {
      entries.push({ file: `${images.name}/${String(index).padStart(digits, '0')}`, label, split });
    });
  }
  const empty = entries.find(({ label }) => label === '');
  if (empty !== undefined) {
    throw new InputError('input.no_labels', `The picture ${empty.file} has no class.`, 'Give every picture a class.');
  }
  const scales: PixelScale[] = [];

  /** One pass over everything: hash, and the ranges of the values. */
  async function examine(_pool: PicturePool, job: Job): ReturnType<PictureSource['examine']> {
    const facts: PictureFacts[] = [];
    const digest = createHash('sha256');
    const report = job.stage('Looking at the pictures');
    for (const { label, split } of entries) digest.update(`${JSON.stringify([label, split])}\n`);
    for (const [index, { images, layout }] of pairs.entries()) {
      const { height, width } = layout;
      let range = emptyRange;
      digest.update(`${images.name} ${images.shape.join(' ')}\n`);
      for await (const piece of readPictures(images, layout)) {
        job.throwIfCancelled();
        digest.update(piece);
        if (images.element.bytes > 1) range = widenRange(range, piece, images.element);
        for (let at = 0; at < piece.length; at += pictureBytes(images, layout)) facts.push({ width, height });
        report(facts.length / entries.length);
      }
      scales[index] = pixelScale(range, images.element);
    }
    const paths = new Set(pairs.flatMap(({ images, labels }) => [images.path, labels.path]));
    const sizes = await Promise.all([...paths].map(async (path) => (await stat(path)).size));
    return { facts, digest: digest.digest('hex'), bytes: sizes.reduce((sum, size) => sum + size, 0) };
  }

  return {
    entries,
    skipped: [],
    warnings: [],
    // Known in full once the arrays were examined.
    get reading() {
      const values = [...new Set(scales.map(({ description }) => description))].join(', ');
      return {
        arrays: pairs.map(({ images, labels }) => `${images.name} with ${labels.name}`).join(', '),
        ...(values === '' || values === '0 … 255' ? {} : { values }),
        ...(pairs.some(({ split }) => split !== null) ? { split: 'by the names of the arrays' } : {}),
      };
    },
    labelledBy: `the array ${pairs.map(({ labels }) => labels.name).join(', ')}`,
    classOrder: 'number',
    examine,
    async *decode(pool, shape, job) {
      if (scales.length === 0) await examine(pool, job);
      yield* pool.inOrder(fitTasks(pairs, scales, shape, job));
    },
  };
}

function pictureBytes({ element }: StoredArray, { height, width, channels }: ImageLayout): number {
  return height * width * channels * element.bytes;
}

function readPictures(images: StoredArray, layout: ImageLayout): AsyncGenerator<Uint8Array> {
  return readRows(images, Math.max(1, Math.floor(pieceBytes / pictureBytes(images, layout))));
}

async function* fitTasks(
  pairs: readonly ArrayPair[],
  scales: readonly PixelScale[],
  shape: PictureShape,
  job: Job,
): AsyncGenerator<FitPixels> {
  for (const [index, { images, layout }] of pairs.entries()) {
    const { height, width, channels } = layout;
    for await (const piece of readPictures(images, layout)) {
      job.throwIfCancelled();
      const pixels = toPixels(piece, images.element, scales[index] as PixelScale, layout);
      yield { kind: 'fit', pixels, count: pixels.length / (height * width * channels), height, width, channels, shape };
    }
  }
}
