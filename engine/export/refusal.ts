// What cannot be exported.

import { TrainyardError } from '../protocol/errors.ts';

/** The format has no words for this model. */
export function cannotExport(message: string, hint: string): TrainyardError {
  return new TrainyardError('run.export', message, hint);
}

/** The model reads texts in a way that these formats have no words for: `noun` says which. */
export const noTexts = (noun: string): TrainyardError =>
  cannotExport(
    `${noun} that reads texts cannot leave in this format: a network that answers rows of texts can, and a linear model as ONNX.`,
    'Export it as JSON, or ask it here: trainyard serve, trainyard predict.',
  );
