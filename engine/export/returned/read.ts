// A training that comes back from elsewhere, read strictly: the weights under our names, in our layout, for the model that left.

import { isNetworkFile, type NetworkModelFile } from '../../learners/network/file.ts';
import { readModelFile } from '../../learners/model-file.ts';
import { InputError } from '../../protocol/errors.ts';
import { originIn, pointsIn, resultIn, type ReturnedRun } from '../../protocol/returned.ts';
import { decodeSafetensors, encodeSafetensors, encodeText, type SafeTensor } from '../../train/safetensors.ts';
import type { Weights } from '../../train/weights.ts';
import { outputFirst, turnedIn } from '../outward.ts';
import { resolvedOf } from '../torch/model.ts';
import { underModules } from '../torch/names.ts';

/** A finished folder as it was found. */
export interface ReturnedFiles {
  readonly source: string;
  readonly weights: Uint8Array;
  /** `metrics.jsonl`, `result.json`. */
  readonly metrics: string;
  readonly result: string;
}

/** Throws InputError `input.returned` for what is damaged, or of no project of ours; `run.damaged_file` for a model that is none. */
export function readReturned({ source, weights, metrics, result: about }: ReturnedFiles): ReturnedRun {
  const { tensors, metadata } = decodeSafetensors(weights);
  const found = originIn(metadata);
  if (found === null) throw damaged(source, 'weights.safetensors does not say of which run it is');
  const result = resultIn(about);
  if (result === null) throw damaged(source, 'result.json is not what train.py writes');
  const points = pointsIn(metrics);
  if (typeof points === 'number') throw damaged(source, `line ${points} of metrics.jsonl is no point of a curve`);
  const { origin, model, preprocessing } = found;
  const file = readModelFile(model, origin.run);
  if (!isNetworkFile(file)) throw damaged(source, 'its model is no network');
  const own = inward(source, file, tensors);
  return {
    ...{ source, origin, result, points },
    parameters: resolvedOf(file).parameters.reduce((sum, { name }) => sum + own[name].data.length, 0),
    files: {
      'model.json': encodeText(model),
      'preprocessing.json': encodeText(preprocessing),
      'best.safetensors': encodeSafetensors({ tensors: own, metadata: { format: 'pt' } }),
    },
  };
}

/** Weights as a module of PyTorch holds them, under our names and as ours lie: dense ones [in,out]. */
function inward(source: string, file: NetworkModelFile, theirs: Weights): Readonly<Record<string, SafeTensor>> {
  const model = resolvedOf(file);
  const turned = turnedIn(file);
  const wanted = [...model.parameters, ...model.states].map(({ name, shape }) => [name, shape] as const);
  const none = new Float32Array(0);
  const empty = Object.fromEntries(wanted.map(([name, shape]) => [name, { shape, data: none }]));
  const names = Object.keys(underModules(model, empty));
  return Object.fromEntries(
    wanted.map(([name, shape], index) => {
      const tensor = theirs[names[index]];
      const outward = turned(name, { shape }) ? shape.toReversed() : shape;
      if (tensor?.shape.join() !== outward.join()) {
        const there = tensor === undefined ? 'missing' : `[${tensor.shape.join()}]`;
        throw damaged(source, `tensor ${names[index]} is ${there} instead of [${outward.join()}]`);
      }
      if (!tensor.data.every(Number.isFinite))
        throw damaged(source, `tensor ${names[index]} has values that are no numbers`);
      return [name, turned(name, { shape }) ? outputFirst(tensor) : { shape, data: tensor.data }];
    }),
  );
}

/** What does not come back, and why. */
export const damaged = (source: string, what: string): InputError =>
  new InputError(
    'input.returned',
    `${source} cannot come back as a run: ${what}.`,
    'Copy the folder again from where it was trained.',
  );
