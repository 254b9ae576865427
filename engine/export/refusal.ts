// What cannot be exported.

import { TrainyardError } from '../protocol/errors.ts';

/** The format has no words for this model. */
export function cannotExport(message: string, hint: string): TrainyardError {
  return new TrainyardError('run.export', message, hint);
}

/** The model reads texts, which other tools would have to cut into tokens as it does. */
export const noTexts = (): TrainyardError =>
  cannotExport(
    'A model that reads texts cannot leave in this format: the tokens are made outside the model.',
    'Export it as JSON or safetensors, or ask it here: trainyard serve, trainyard predict.',
  );
