// A PyTorch project read back: every file there and whole, the rows as long as their headers say, the weights the run's own.

import { isNetworkFile } from '../../learners/network/file.ts';
import { decodeSafetensors, decodeText } from '../../train/safetensors.ts';
import type { SplitName } from '../../protocol/data.ts';
import type { OpenedRun } from '../opened.ts';
import { counted, differs, fileOf } from './differs.ts';
import { readModule, readWeights } from './weights.ts';

const everywhere = [
  ...['README.md', 'requirements.txt', 'model.py', 'data.py', 'train.py', 'config.json'],
  'trained.safetensors',
];
/** Of a model that is trained step by step. */
const neededForSteps = ['initial.safetensors', 'data/order.npy'];

interface Config {
  readonly counts: Readonly<Record<SplitName, number>>;
  readonly rowsOfEpoch: number;
  /** Of a file of rows, where they are in shards. */
  readonly shardRows?: number;
}

export function readProject(files: ReadonlyMap<string, Uint8Array>, run: OpenedRun): readonly string[] {
  const steps = isNetworkFile(run.file);
  const { counts, rowsOfEpoch, shardRows } = JSON.parse(decodeText(fileOf(files, 'config.json'))) as Config;
  const rows = counts.train + counts.validation + counts.test;
  const expected: Readonly<Record<string, number>> = {
    ...(shardRows === undefined ? { 'data/x.npy': rows, 'data/y.npy': rows } : shardsOf(counts, shardRows)),
    ...(steps && { 'data/order.npy': rowsOfEpoch }),
  };
  for (const path of [...everywhere, ...(steps ? neededForSteps : []), ...Object.keys(expected)])
    if (fileOf(files, path).length === 0) differs(`the file ${path} is empty`);
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

/** Rows of each file of `shardFiles`. */
function shardsOf(counts: Config['counts'], size: number): Readonly<Record<string, number>> {
  const files = Object.entries(counts).flatMap(([split, count]) =>
    Array.from({ length: Math.ceil(count / size) }, (_, shard) => {
      const name = `data/${split}-${String(shard).padStart(5, '0')}`;
      const rows = Math.min(size, count - shard * size);
      return [`${name}.x.npy`, `${name}.y.npy`].map((path) => [path, rows] as const);
    }).flat(),
  );
  return Object.fromEntries(files);
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
