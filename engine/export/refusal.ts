// What cannot be exported.

import { TrainyardError } from '../protocol/errors.ts';

/** The format has no words for this model. */
export function cannotExport(message: string, hint: string): TrainyardError {
  return new TrainyardError('run.export', message, hint);
}
