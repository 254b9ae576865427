// What cannot be exported.

import { cutsTextsApart } from '../learners/auto/file.ts';
import type { ModelFile } from '../protocol/model-file.ts';
import { TrainyardError } from '../protocol/errors.ts';

/** The format has no words for this model. */
export function cannotExport(message: string, hint: string): TrainyardError {
  return new TrainyardError('run.export', message, hint);
}

const askHere = 'ask it here: trainyard serve, trainyard predict.';

/** The model reads texts in a way that these formats have no words for. */
export function noTexts(file: ModelFile): TrainyardError {
  if (cutsTextsApart(file)) {
    return cannotExport(
      'The folds of a cross-validation that reads texts cut them into tokens each in its own way: one file has no place for all of them.',
      `Export one of its folds, a run of its own, or ${askHere}`,
    );
  }
  return cannotExport(
    'A linear model that reads texts cannot leave in this format: a network that answers rows of texts can.',
    `Export it as ONNX or JSON, or ${askHere}`,
  );
}
