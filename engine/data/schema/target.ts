// What to predict: guessed from names, position and values, with the reason; a person's choice always wins.

import { InputError } from '../../protocol/errors.ts';
import type { ColumnInfo } from '../../protocol/data.ts';
import type { Task } from '../../model/spec.ts';
import { didYouMean } from '../../protocol/closest.ts';
import { show } from './typing.ts';

/** Names that tell a target, the surest first. */
const targetNames = [
  'target',
  'label',
  'class',
  'outcome',
  'y',
  'species',
  'diagnosis',
  'survived',
  'churn',
  'default',
  'result',
  'response',
  'category',
  'quality',
  'price',
  'sale_price',
  'saleprice',
  'medv',
  'income',
] as const;

/** A whole-numbered target with at most this many values is taken for classes. */
const classLimit = 20;

export interface Target {
  readonly target: string | null;
  readonly task: Task | null;
  readonly reason: string;
}

/**
 * The target and the task.
 * @throws InputError if the chosen target is not a column or cannot be predicted.
 */
export function settleTarget(
  columns: readonly ColumnInfo[],
  rows: number,
  chosen: { readonly target?: string; readonly task?: Task },
): Target {
  const found = chosen.target === undefined ? guessTarget(columns) : chooseTarget(columns, chosen.target);
  if (found === null) return { target: null, task: null, reason: 'no column can be predicted: choose one.' };
  const { column, reason } = found;
  const task = chosen.task === undefined ? guessTask(column, rows) : chooseTask(column, chosen.task);
  return { target: column.name, task: task.task, reason: `${reason}; ${task.reason}` };
}

interface Found {
  readonly column: ColumnInfo;
  readonly reason: string;
}

function chooseTarget(columns: readonly ColumnInfo[], name: string): Found {
  const column = columns.find((candidate) => candidate.name === name);
  if (column !== undefined) return { column, reason: 'chosen' };
  throw new InputError(
    'input.unknown_target',
    `There is no column "${name}" to predict.`,
    didYouMean(
      name,
      columns.map((candidate) => candidate.name),
    ),
  );
}

function guessTarget(columns: readonly ColumnInfo[]): Found | null {
  // A book: what there is to learn is to write on.
  if (columns.length === 1 && columns[0].type === 'text')
    return { column: columns[0], reason: 'the only column, of text' };
  const usable = columns.filter(isPredictable);
  for (const name of targetNames) {
    const column = usable.findLast((candidate) => plain(candidate.name) === plain(name));
    if (column !== undefined) return { column, reason: `"${column.name}" is a usual name for what is predicted` };
  }
  const last = usable.findLast((column) => column.distinct > 1) ?? usable.at(-1);
  if (last === undefined) return null;
  return {
    column: last,
    reason: last === columns.at(-1) ? 'the last column' : 'the last column that can be predicted',
  };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function isPredictable(column: ColumnInfo): boolean {
  return column.type === 'number' || column.type === 'category' || column.type === 'boolean';
}

function guessTask(column: ColumnInfo, rows: number): { task: Task; reason: string } {
  const { type, distinct } = column;
  if (type === 'datetime') return chooseTask(column, 'regression');
  if (type === 'text') return { task: 'language', reason: 'each of its tokens is told by those before it' };
  if (type !== 'number') {
    return { task: 'classification', reason: `${show(distinct)} ${distinct === 1 ? 'class' : 'classes'}` };
  }
  const whole = column.reason.includes('whole numbers');
  if (whole && distinct <= classLimit && distinct <= Math.max(2, rows / 10)) {
    return { task: 'classification', reason: `whole numbers with only ${show(distinct)} different values: classes` };
  }
  return { task: 'regression', reason: 'numbers: regression' };
}

function chooseTask(column: ColumnInfo, task: Task): { task: Task; reason: string } {
  if (task === 'classification') return { task, reason: 'classification' };
  if (task === 'language') {
    if (column.type === 'text') return { task, reason: 'each of its tokens is told by those before it' };
    throw new InputError(
      'input.target_type',
      `"${column.name}" is a ${column.type} column: a language model learns from texts.`,
      `Choose a column of text, or read it as one (--types ${column.name}=text).`,
    );
  }
  if (column.type === 'number' || column.type === 'boolean') return { task, reason: 'regression' };
  throw new InputError(
    'input.target_type',
    `"${column.name}" cannot be predicted by regression: it is a ${column.type} column.`,
    column.type === 'category' ? 'Use classification, or choose a column of numbers.' : 'Choose a column of numbers.',
  );
}
