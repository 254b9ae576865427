// The files that make a run a model one can use: weights, what the learner says of itself, and the preprocessing.

import type { PreparedData } from '../protocol/data.ts';
import type { TrainerEvents } from './options.ts';
import { encodeSafetensors, encodeText } from './safetensors.ts';
import type { Weights } from './weights.ts';

/** Hands over what predicting and exporting need. `own`: the learner's part of `model.json`. */
export function handOverModel(
  { onFile }: Pick<TrainerEvents, 'onFile'>,
  { input, output, task, preprocessing }: PreparedData,
  own: object,
  weights: Weights,
): void {
  const json = (value: unknown): Uint8Array => encodeText(JSON.stringify(value));
  void onFile({
    file: 'best.safetensors',
    data: encodeSafetensors({ tensors: weights, metadata: { format: 'pt' } }),
  });
  void onFile({ file: 'model.json', data: json({ ...own, input, output, task }) });
  void onFile({ file: 'preprocessing.json', data: json(preprocessing) });
}
