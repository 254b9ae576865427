// From a path to all that a finished run is made of: for whichever process reads models. Weights are large, so that it hashes them too.

import { createHash } from 'node:crypto';
import type { PretrainedRun } from '../protocol/pretrained.ts';
import { openModel } from './find.node.ts';
import type { ReadOptions } from './pretrained.ts';
import { readPretrained, runOf } from './read.ts';

/** Throws what `openModel` and `readPretrained` throw. */
export async function readRun(where: string, options: ReadOptions = {}): Promise<PretrainedRun> {
  const opened = await openModel(where);
  try {
    const run = runOf(await readPretrained(opened, options));
    const digest = createHash('sha256');
    for (const bytes of Object.values(run.files)) digest.update(bytes);
    return { ...run, digest: digest.digest('hex') };
  } finally {
    await opened.close();
  }
}
