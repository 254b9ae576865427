// Rows times classes: what learners that answer all rows at once have to hold.

import type { PreparedData } from '../../protocol/data.ts';
import { InputError } from '../../protocol/errors.ts';

/** One score for each row and class: 1 GiB of them, and as much again and more for what goes with them. */
const mostScores = 2 ** 27;

/** Throws InputError where there are so many rows and classes that no memory holds what is kept of them. */
export function refuseManyScores(
  noun: string,
  { counts, output }: Pick<PreparedData, 'counts' | 'output'>,
  most = mostScores,
): void {
  const classes = output.kind === 'classes' && output.classes.length > 2 ? output.classes.length : 1;
  const rows = counts.train + counts.validation;
  if (rows * classes <= most) return;
  throw new InputError(
    'model.too_large',
    `${classes.toLocaleString('en')} classes on ${rows.toLocaleString('en')} rows are too many for ${noun}: it takes a score for each row and class, ${(rows * classes).toLocaleString('en')} in all (${most.toLocaleString('en')} at most).`,
    'Join rare classes or leave them out, or train a network.',
  );
}
