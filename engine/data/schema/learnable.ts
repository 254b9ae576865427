// Whether a target can be learned at all: said on the dataset's page before anybody tries, and refused when a run is prepared.

import type { DataWarning, DatasetInfo, LeftOutColumn } from '../../protocol/data.ts';
import type { ErrorCode } from '../../protocol/errors.ts';
import { leftOutColumns, leftOutText } from '../../protocol/use.ts';
import { short, show } from './typing.ts';

export interface Obstacle {
  readonly code: Extract<ErrorCode, `input.${string}`>;
  readonly message: string;
  readonly hint: string;
}

/** More classes have more pairs that may be taken for each other than anybody could look at, or keep. */
const mostClasses = 2_000;
/** Columns named in a message. */
const namedColumns = 8;

/** What keeps a table's target from being learned; null = nothing, or there is no target yet. */
export function obstacleOf({
  rows,
  columns,
  target,
  task,
  classes,
  settings,
}: Pick<DatasetInfo, 'rows' | 'columns' | 'target' | 'task' | 'classes' | 'settings'>): Obstacle | null {
  const column = columns.find(({ name }) => name === target);
  if (column === undefined || task === null) return null;
  const { name, missing, distinct, minimum, maximum } = column;
  const usable = rows - missing;
  if (usable === 0) {
    return {
      code: 'input.target_missing',
      message: `The target "${name}" has no value in any row.`,
      hint: 'Choose another target column.',
    };
  }
  // Its text is what a language model learns from, whatever other columns there are.
  if (task === 'language') return null;
  if (task === 'classification' && classes.length < 2) {
    return {
      code: 'input.one_class',
      message: `The target "${name}" has one class only: ${short(classes[0]?.name ?? 'none')}.`,
      hint: 'Two or more classes are needed: add rows of another class, or choose another target column.',
    };
  }
  if (task === 'classification' && classes.length > Math.max(10, usable / 2)) {
    return {
      code: 'input.too_many_classes',
      message: `The target "${name}" has ${show(distinct)} different values in ${show(usable)} rows: too many for classes.`,
      hint: 'Choose another target column, or regression if it holds numbers.',
    };
  }
  if (task === 'classification' && classes.length > mostClasses) {
    return {
      code: 'input.too_many_classes',
      message: `The target "${name}" has ${show(distinct)} different values: more than ${show(mostClasses)} classes cannot be told apart.`,
      hint: 'Join rare classes in the file, choose another target column, or regression if it holds numbers.',
    };
  }
  if (task === 'regression' && minimum === maximum) {
    return {
      code: 'input.constant_target',
      message: `The target "${name}" is ${minimum} in every row: there is nothing to learn.`,
      hint: 'Choose another target column.',
    };
  }
  const unused = leftOutColumns({ columns, target, settings });
  return unused.length === columns.length - 1 ? noFeatures(name, unused) : null;
}

/** Every column but the target is left out. */
export function noFeatures(target: string, unused: readonly LeftOutColumn[]): Obstacle {
  const what = 'No column is left to learn from';
  const shown = leftOutText(unused.slice(0, namedColumns));
  const more = unused.length > namedColumns ? ` and ${unused.length - namedColumns} more` : '';
  const reasons = new Set(unused.map(({ reason }) => reason));
  const hints = [
    reasons.has('ignored') ? 'use one that was left out by choice' : '',
    reasons.has('identifier') || reasons.has('text') ? 'give one another type, such as category' : '',
    reasons.has('group') ? 'split otherwise than by its group' : '',
    'add columns that tell something about it',
  ].filter(Boolean);
  const hint = hints.join(', or ');
  return {
    code: 'input.no_features',
    message:
      unused.length === 0
        ? `${what}: the table has no other than the target "${target}".`
        : `${what}: ${shown}${more} ${unused.length === 1 ? 'is' : 'are'} left out.`,
    hint: `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`,
  };
}

/** The same as a warning that stands before all others. */
export function obstacleWarning(obstacle: Obstacle | null, target: string | null): DataWarning[] {
  if (obstacle === null) return [];
  const code = obstacle.code.slice('input.'.length);
  return [
    { code, message: `${obstacle.message} ${obstacle.hint}`, columns: target === null ? [] : [target], blocks: true },
  ];
}
