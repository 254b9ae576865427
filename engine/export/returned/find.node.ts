// A folder that a project for a cluster has written, or the project with it: whether a path is one, and its files.

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../protocol/errors.ts';
import { isReturned, returnedFiles } from '../../protocol/returned.ts';
import { damaged, type ReturnedFiles } from './read.ts';

/** What tells a project. */
const ofProject = ['train.py', 'config.json', 'initial.safetensors'];

/** Of the files that are read whole: no project that leaves here has as many weights, or epochs, as that. */
const mostBytes = { 'weights.safetensors': 2 ** 31 - 1, 'metrics.jsonl': 200e6, 'result.json': 50e6 };

/** null: the path is something else. Throws InputError `input.returned` for a training that has not begun or is not done, and for files that are too large. */
export async function findReturned(where: string): Promise<ReturnedFiles | null> {
  const name = path.basename(path.resolve(where));
  const names = await namesIn(where);
  if (ofProject.every((file) => names.includes(file))) {
    const inside = await namesIn(path.join(where, 'result'));
    if (returnedFiles.some((file) => inside.includes(file))) return read(path.join(where, 'result'), name, inside);
    throw new InputError(
      'input.returned',
      `${name} has not been trained yet: there is no result in it.`,
      'Start it as its README.md says, then bring it back.',
    );
  }
  return isReturned(names) ? read(where, name, names) : null;
}

async function read(folder: string, source: string, names: readonly string[]): Promise<ReturnedFiles> {
  if (!names.includes('result.json')) {
    throw new InputError(
      'input.returned',
      `The training of ${source} is not done: its scores (result.json) are not there yet.`,
      'Start it with the same command: it goes on from its checkpoint. Or wait until it is done.',
    );
  }
  const lost = returnedFiles.find((name) => !names.includes(name));
  if (lost !== undefined) throw damaged(source, `${lost} is missing`);
  const file = (name: string) => path.join(folder, name);
  for (const name of returnedFiles) {
    const most = mostBytes[name];
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
