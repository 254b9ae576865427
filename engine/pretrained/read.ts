// From what was found at a path to a model, and to the files that a run keeps of it: a folder with a config.json is one of timm or of Hugging
// Face, anything else a picture model.

import { trainedOn } from '../model/presets.ts';
import { usualTraining } from '../model/spec.ts';
import type { PretrainedRun } from '../protocol/pretrained.ts';
import { encodeSafetensors, encodeText } from '../train/safetensors.ts';
import type { FoundModel, Pretrained, ReadOptions } from './pretrained.ts';
import { readPicturesNet } from './read-pictures.ts';
import { readTextNet } from './read-texts.ts';
import { timmConfigOf } from './timm-config.ts';

/** Throws InputError `input.architecture` for one that is not known, `input.weights` where tensors are missing or misshapen. */
export async function readPretrained(found: FoundModel, options: ReadOptions): Promise<Pretrained> {
  const config = found.texts['config.json'];
  const timm = timmConfigOf(config);
  if (timm !== null)
    return readPicturesNet(found, { ...options, architecture: options.architecture ?? timm.architecture }, timm);
  const isText = config !== undefined && options.architecture === undefined;
  return isText ? readTextNet(found, options) : readPicturesNet(found, options);
}

/** Rows that a run which begins with it may have: its settings are drafted after these. */
const usualRows = 1_000;

/** What a finished run of it is made of. */
export function runOf(pretrained: Pretrained): Omit<PretrainedRun, 'digest'> {
  const { model, architecture, input, output, task, preprocessing, weights, ...about } = pretrained;
  const training = usualTraining(trainedOn(usualRows, task, { input, model, begun: true }));
  const json = (value: unknown): Uint8Array => encodeText(JSON.stringify(value));
  const trained = Object.entries(weights).filter(([name]) => !/\.running_(mean|var)$/.test(name));
  return {
    ...about,
    // Its page and lists call it so.
    config: { model: architecture === undefined ? model : { ...model, preset: architecture }, training, task },
    parameters: trained.reduce((sum, [, { data }]) => sum + data.length, 0),
    files: {
      'model.json': json({ model, training, input, output, task }),
      'preprocessing.json': json(preprocessing),
      'best.safetensors': encodeSafetensors({ tensors: weights, metadata: { format: 'pt' } }),
    },
  };
}
