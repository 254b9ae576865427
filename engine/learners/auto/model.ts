// The files of an ensemble, made of those of its members: the JSON of their models is taken over as it is written, their tensors under
// names of their own.

import type { PreparedData } from '../../protocol/data.ts';
import type { WrittenFile } from '../../protocol/runs.ts';
import {
  decodeSafetensors,
  decodeText,
  encodeSafetensors,
  encodeText,
  type SafeTensor,
} from '../../train/safetensors.ts';
import type { AutoConfig } from './declaration.ts';
import type { Member } from './member.ts';
import { matrixRecipe } from './trained.ts';

export type ModelFiles = Readonly<Record<'best.safetensors' | 'model.json' | 'preprocessing.json', Uint8Array>>;

/** `weights`: [members]; those that weigh nothing are left out. */
export function ensembleFiles(
  members: readonly Member[],
  weights: readonly number[],
  { auto, seed }: Pick<AutoConfig, 'auto' | 'seed'>,
  { input, output, task, preprocessing }: PreparedData,
): ModelFiles {
  const weighty = members.flatMap((member, index) => (weights[index] > 0 ? [{ member, weight: weights[index] }] : []));
  const tensors: Record<string, SafeTensor> = {};
  const written = weighty.map(({ member, weight }, at) => {
    member.models.forEach((model, fold) => {
      for (const [name, tensor] of Object.entries(decodeSafetensors(model.weights).tensors))
        tensors[`${at}.${fold}.${name}`] = tensor;
    });
    const said = JSON.stringify({ title: member.title, learner: member.config.learner, weight });
    return `${said.slice(0, -1)},"models":[${member.models.map(({ model }) => decodeText(model)).join(',')}]}`;
  });
  const own = { learner: 'auto', auto, seed, recipe: matrixRecipe(preprocessing), input, output, task };
  return {
    'best.safetensors': encodeSafetensors({ tensors, metadata: { format: 'pt' } }),
    'model.json': encodeText(`${JSON.stringify(own).slice(0, -1)},"members":[${written.join(',')}]}`),
    'preprocessing.json': encodeText(JSON.stringify(preprocessing)),
  };
}

/** All at once: the model of one choice and the weights of another are no ensemble. */
export function handOver(
  { 'model.json': data, ...together }: ModelFiles,
  onFile: (event: WrittenFile) => unknown,
): void {
  void onFile({ file: 'model.json', data, together });
}
