// A PyTorch project read back: every file there and whole, the rows as long as their headers say, the weights the run's own.

import { isNetworkFile } from '../../learners/network/file.ts';
import { decodeSafetensors, decodeText } from '../../train/safetensors.ts';
import type { OpenedRun } from '../opened.ts';
import { counted, differs, fileOf } from './differs.ts';
import { readModule, readWeights } from './weights.ts';

const needed = [
  ...['README.md', 'requirements.txt', 'model.py', 'data.py', 'train.py', 'config.json'],
  ...['trained.safetensors', 'data/x.npy', 'data/y.npy'],
];
/** Of a model that is trained step by step. */
const neededForSteps = ['initial.safetensors', 'data/order.npy'];

interface Config {
  readonly counts: { readonly train: number; readonly validation: number; readonly test: number };
  readonly rowsOfEpoch: number;
}

export function readProject(files: ReadonlyMap<string, Uint8Array>, run: OpenedRun): readonly string[] {
  const steps = isNetworkFile(run.file);
  for (const path of [...needed, ...(steps ? neededForSteps : [])])
    if (fileOf(files, path).length === 0) differs(`the file ${path} is empty`);
  const { counts, rowsOfEpoch } = JSON.parse(decodeText(fileOf(files, 'config.json'))) as Config;
  const rows = counts.train + counts.validation + counts.test;
  const expected = { 'data/x.npy': rows, 'data/y.npy': rows, ...(steps && { 'data/order.npy': rowsOfEpoch }) };
  for (const [path, count] of Object.entries(expected)) {
    const found = rowsOf(path, fileOf(files, path));
    if (found !== count) differs(`${path} has ${counted(found, 'row')} instead of ${count}`);
  }
  const trained = fileOf(files, 'trained.safetensors');
  const shapes = (path: string): string =>
    JSON.stringify(
      Object.entries(decodeSafetensors(fileOf(files, path)).tensors)
        .map(([name, { shape }]) => [name, ...shape].join())
        .sort(),
    );
  if (steps && shapes('initial.safetensors') !== shapes('trained.safetensors'))
    differs('the first weights have other shapes');
  return [
    `${counted(files.size, 'file')} there and whole, ${counted(rows, 'row')} as long as their headers say`,
    readWeights(trained, run),
    readModule(fileOf(files, 'model.py'), trained),
  ];
}

const sizes: Readonly<Record<string, number>> = { '<f4': 4, '<u4': 4, '|u1': 1 };

/** Rows of an array of numpy, which has to end where its header says. */
function rowsOf(path: string, file: Uint8Array): number {
  const start = 10 + file[8] + 256 * file[9];
  const about = decodeText(file.subarray(10, start));
  const [, kind, shapeText] = /'descr': '(.{3})', .*'shape': \(([\d, ]+)\)/.exec(about) ?? [];
  const shape = (shapeText ?? '')
    .split(',')
    .filter((side) => side.trim() !== '')
    .map(Number);
  const bytes = shape.reduce((product, side) => product * side, sizes[kind] ?? NaN);
  if (shape.length === 0 || file.length !== start + bytes) differs(`${path} is not as long as its header says`);
  return shape[0];
}
