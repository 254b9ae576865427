// Pictures as files of their own, below one folder: looked at, and decoded, a few at a time in worker threads.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Job } from '../jobs.ts';
import type { FolderLayout } from './folder-layout.ts';
import type { DecodedBatch, PictureFacts, PictureShape } from './picture.ts';
import type { PictureSource } from './source.ts';
import type { PicturePool } from './pool.ts';

/** Files of one task: enough to outweigh the message, few enough for a bar that moves. */
const filesPerTask = 64;
/** Bytes of pixels a task may give back. */
const bytesPerTask = 2 ** 22;

/** A folder's pictures as a source. `folder` is what the entries' paths are relative to. */
export function fileSource(folder: string, layout: FolderLayout): PictureSource {
  const paths = layout.entries.map(({ file }) => join(folder, file));
  return {
    ...layout,
    async examine(pool, job) {
      const report = job.stage('Looking at the pictures');
      const facts: PictureFacts[] = [];
      const digest = createHash('sha256');
      let bytes = 0;
      const tasks = inGroups(paths, filesPerTask).map((group) => ({ kind: 'examine' as const, paths: group }));
      for await (const examined of pool.inOrder(tasks)) {
        job.throwIfCancelled();
        for (const { hash, facts: found, bytes: read } of examined) {
          const { file, label, split } = layout.entries[facts.length] ?? { file: '', label: '', split: null };
          digest.update(`${JSON.stringify([file, label, split, hash])}\n`);
          facts.push(found);
          if ('width' in found) bytes += read;
        }
        report(facts.length / paths.length);
      }
      return { facts, digest: digest.digest('hex'), bytes };
    },
    decode: (pool, shape, job) => decodeFiles(pool, paths, shape, job),
  };
}

async function* decodeFiles(
  pool: PicturePool,
  paths: readonly string[],
  shape: PictureShape,
  job: Job,
): AsyncGenerator<DecodedBatch> {
  const most = Math.max(1, Math.min(filesPerTask, Math.floor(bytesPerTask / (3 * shape.width * shape.height))));
  const tasks = inGroups(paths, most).map((group) => ({ kind: 'decode' as const, paths: group, shape }));
  for await (const batch of pool.inOrder(tasks)) {
    job.throwIfCancelled();
    yield batch;
  }
}

function inGroups<T>(items: readonly T[], size: number): (readonly T[])[] {
  const groups: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) groups.push(items.slice(start, start + size));
  return groups;
}
