// The entry of a worker thread that looks at pictures and decodes them. One message in, one message out: see pool.ts.

import { readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { decodePicture, fitBitmap, opaque, uprightSize } from './decode.ts';
import { messageOf, readPictureHeader } from './header.ts';
import { joinPlanes, measurePicture, toPlanes } from './measure.ts';
import type { Planes } from './measure.ts';
import { mostBytes, UnreadablePicture } from './picture.ts';
import type { DecodedBatch, PictureMeasures, PictureShape } from './picture.ts';
import type { DecodeFiles, ExaminedFile, ExamineFiles, FitPixels, PictureTask } from './pool.ts';

function examine({ paths }: ExamineFiles): ExaminedFile[] {
  return paths.map((path) => {
    let hash = '';
    try {
      const bytes = readFile(path);
      hash = createHash('sha256').update(bytes).digest('base64');
      return { hash, facts: uprightSize(readPictureHeader(bytes)) };
    } catch (error) {
      return { hash, facts: { reason: reasonOf(error) } };
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

function readFile(path: string): Uint8Array {
  const { size } = statSync(path);
  if (size > mostBytes) {
    throw new UnreadablePicture(`it is too large: ${Math.round(size / 1e6)} MB, ${mostBytes / 2 ** 20} MiB at most`);
  }
  return readFileSync(path);
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadablePicture) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read';
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
