// A folder that a project for a cluster has written, or the project with it: whether a path is one, and its files.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import type { ReturnedFiles } from './read.ts';

/** What tells a project, and the folder it writes. */
const [ofProject, ofResult] = [
  ['train.py', 'config.json', 'initial.safetensors'],
  ['metrics.jsonl', 'weights.safetensors'],
];

/** Of the files that are read whole: no project that leaves here has as many weights, or epochs, as that. */
const mostBytes = { 'weights.safetensors': 2 ** 31 - 1, 'metrics.jsonl': 200e6, 'result.json': 50e6 };

/** null: the path is something else. Throws InputError `input.returned` for a training that has not begun or is not done, and for files that are too large. */
export async function findReturned(where: string): Promise<ReturnedFiles | null> {
  const name = path.basename(path.resolve(where));
  const names = await namesIn(where);
  if (ofProject.every((file) => names.includes(file))) {
    const inside = await namesIn(path.join(where, 'result'));
    if (inside.includes('metrics.jsonl')) return read(path.join(where, 'result'), name, inside);
    throw new InputError(
      'input.returned',
      `${name} has not been trained yet: there is no result in it.`,
      'Start it as its README.md says, then bring it back.',
    );
  }
  return ofResult.every((file) => names.includes(file)) ? read(where, name, names) : null;
}

async function read(folder: string, source: string, names: readonly string[]): Promise<ReturnedFiles> {
  if (!names.includes('result.json') || !names.includes('weights.safetensors')) {
    throw new InputError(
      'input.returned',
      `The training of ${source} is not done: its scores (result.json) are not there yet.`,
      'Start it with the same command: it goes on from its checkpoint. Or wait until it is done.',
    );
  }
  const file = (name: string) => path.join(folder, name);
  for (const [name, most] of Object.entries(mostBytes)) {
    const { size } = await stat(file(name));
    if (size <= most) continue;
    throw new InputError(
      'input.returned',
      `${name} of ${source} is too large to be read: ${(size / 1e6).toFixed(0)} MB of ${(most / 1e6).toFixed(0)} at most.`,
      'Bring back the folder as the project wrote it.',
    );
  }
  const [weights, metrics, result] = await Promise.all([
    readFile(file('weights.safetensors')),
    readFile(file('metrics.jsonl'), 'utf8'),
    readFile(file('result.json'), 'utf8'),
  ]);
  return { source, weights: new Uint8Array(weights), metrics, result };
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
