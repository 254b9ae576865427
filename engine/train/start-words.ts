// What the log says of a run that comes from another one.

import type { JobStart } from '../protocol/hosts.ts';
import { countText } from '../protocol/words.ts';

/** `Goes on where run 12 was after 10 epochs, step 300.` */
export function readable({ parent }: JobStart, { epoch, step }: { epoch: number; step: number }): string {
  return `Goes on where run ${parent} was after ${countText(epoch, 'epoch')}, step ${step.toLocaleString('en')}.`;
}

/** `147 of 95,523 parameters are trained.` */
export const trainedWords = (trained: number, all: number): string =>
  `${trained.toLocaleString('en')} of ${countText(all, 'parameter')} are trained.`;
