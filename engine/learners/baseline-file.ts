// `baseline.safetensors` of a run: the linear model it was measured against, so that every later evaluation can put that beside the
// run's own predictions. Tensors have the names of a linear model's.

import type { ModelFile } from '../protocol/model-file.ts';
import { encodeSafetensors } from '../train/safetensors.ts';
import type { Trained } from './learner.ts';
import { tensorsOf } from './linear/checkpoint.ts';
import { gridOf } from './linear/declaration.ts';
import type { LinearModelFile } from './linear/file.ts';
import { learner } from './linear/learner.ts';
import type { LinearWeights } from './linear/path.ts';
import { termTensors, type Terms } from './linear/terms.ts';
import { decodeWeights } from './predict.ts';

export const encodeBaseline = (weights: LinearWeights, terms: readonly Terms[]): Uint8Array =>
  encodeSafetensors({ tensors: { ...tensorsOf(weights), ...termTensors(terms) }, metadata: { format: 'pt' } });

/** `model`: the run's own. Throws TrainyardError when the file is damaged or does not fit. */
export function readBaseline(bytes: Uint8Array, run: number, { input, output, task }: ModelFile): Trained {
  const file: LinearModelFile = {
    ...{ learner: 'linear', input, output, task },
    ...{ linear: { penalty: 0, classWeights: 'none' }, seed: 0, penalty: 0, grid: gridOf(input) },
  };
  return learner.read(file, decodeWeights(bytes, run));
}
