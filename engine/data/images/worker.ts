// The entry of a worker thread that looks at pictures and decodes them. One message in, one message out: see pool.ts.

import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { decodePicture, fitBitmap, opaque, uprightSize } from './decode.ts';
import { messageOf, readPictureHeader, requireBeginning, requireSize } from './header.ts';
import { joinPlanes, measurePicture, toPlanes } from './measure.ts';
import type { Planes } from './measure.ts';
import { UnreadablePicture } from './picture.ts';
import type { DecodedBatch, PictureMeasures, PictureShape } from './picture.ts';
import type { DecodeFiles, ExaminedFile, ExamineFiles, FitPixels, PictureTask } from './pool.ts';

/** Bytes from which on a file is not read whole before its first bytes were looked at: people keep films beside pictures. */
const largeFile = 2 ** 24;

function examine({ paths }: ExamineFiles): ExaminedFile[] {
  return paths.map((path) => {
    let hash = '';
    let bytes = 0;
    try {
      const content = readFile(path);
      bytes = content.length;
      hash = createHash('sha256').update(content).digest('base64');
      return { hash, bytes, facts: uprightSize(readPictureHeader(content)) };
    } catch (error) {
      return { hash, bytes, facts: { reason: reasonOf(error) } };
    }
  });
}

function decodeFiles({ paths, shape }: DecodeFiles): DecodedBatch {
  return gather(
    paths.map((path) => () => toPlanes(decodePicture(readFile(path), shape))),
    shape,
  );
}

function fitPixels({ pixels, count, width, height, channels, shape }: FitPixels): DecodedBatch {
  const size = width * height * channels;
  return gather(
    Array.from({ length: count }, (_, index) => () => {
      const data = pixels.subarray(index * size, (index + 1) * size);
      const bitmap = channels === 4 ? opaque(data, width, height) : { width, height, channels, data };
      return toPlanes(fitBitmap(bitmap, shape));
    }),
    shape,
  );
}

function gather(pictures: readonly (() => Planes)[], shape: PictureShape): DecodedBatch {
  const read: Planes[] = [];
  const outcomes = pictures.map((decode): PictureMeasures | { reason: string } => {
    try {
      const planes = decode();
      read.push(planes);
      return measurePicture(planes, shape.width);
    } catch (error) {
      return { reason: reasonOf(error) };
    }
  });
  return { outcomes, ...joinPlanes(read, shape.width * shape.height) };
}

/** A whole file; a large one only if it begins like a picture. */
function readFile(path: string): Uint8Array {
  const { size } = statSync(path);
  if (size > largeFile) {
    requireBeginning(readStart(path, 16));
    requireSize(size);
  }
  return readFileSync(path);
}

function readStart(path: string, bytes: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const start = new Uint8Array(bytes);
    return start.subarray(0, readSync(file, start));
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadablePicture) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
  if (code === 'EISDIR') return 'it is a folder that may not be read';
  if (code === 'ENOENT') return 'it is gone, or its name cannot be read';
  return `it cannot be read: ${messageOf(error)}`;
}

function answer(task: PictureTask): ExaminedFile[] | DecodedBatch {
  switch (task.kind) {
    case 'examine':
      return examine(task);
    case 'decode':
      return decodeFiles(task);
    case 'fit':
      return fitPixels(task);
    default:
      return task satisfies never;
  }
}

parentPort?.on('message', (task: PictureTask) => {
  const result = answer(task);
  const moved = 'pixels' in result ? [result.pixels.buffer as ArrayBuffer] : [];
  parentPort?.postMessage(result, moved);
});
