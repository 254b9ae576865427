// What a split can go by: a column of times or of groups. A table that has one is offered it, as rows drawn by chance would
// test a model between the rows it learned from.

import { InputError } from '../../protocol/errors.ts';
import type { ColumnInfo, DatasetSettings } from '../../protocol/data.ts';
import { didYouMean } from '../../protocol/closest.ts';

/** Rows a group has on average, at least, and groups there are. */
const rowsPerGroup = 2;
export const fewestGroups = 5;
/** Of an identifier's values, those that come again, at least: then it names something that has several rows. */
const repeatedShare = 0.05;

/** Names of whom or what rows may belong to. */
const groupName =
  /^(?:(?:patient|subject|person|participant|user|customer|client|member|household|family|student|pupil|speaker|writer|author|donor|animal|session|group|batch|lot|site|clinic|hospital|school|store|shop|device|machine|sensor|station|vehicle|account|company|customer)[\s_-]*(?:id|nr|no|number|code|name|key)?|.+(?:[\s_-](?:id|uuid|guid|key|nr)|Id|ID)|id)$/i;

/** Dates that belong to somebody, not to a row. */
const ownDate = /birth|born|(?:^|[\s_-])dob(?:$|[\s_-])/i;

/** Whether a column is called as something is that may have several rows. */
export const isGroupName = (name: string): boolean => groupName.test(name);

/** @throws InputError if the split is to go by a column that there is not, or by one that has no order. */
export function checkSplitBy(
  columns: readonly ColumnInfo[],
  target: string | null,
  { splitBy }: Pick<DatasetSettings, 'splitBy'>,
): void {
  if (splitBy === undefined) return;
  const { kind, column } = splitBy;
  const found = columns.find(({ name }) => name === column);
  if (found === undefined) {
    const names = columns.map(({ name }) => name);
    throw new InputError('input.unknown_column', `There is no column "${column}".`, didYouMean(column, names));
  }
  if (column === target) {
    throw new InputError(
      'input.split_column',
      `The split cannot go by ${column}: it is what is predicted.`,
      'Choose another column, or another target.',
    );
  }
  if (kind === 'time' && found.type !== 'datetime' && found.type !== 'number') {
    const ordered = columns.filter(({ type }) => type === 'datetime').map(({ name }) => name);
    throw new InputError(
      'input.split_column',
      `The split cannot go by the time of ${column}: it is of type ${found.type}, which has no order.`,
      ordered.length > 0
        ? `There are dates in ${ordered.join(', ')}.`
        : 'Choose a column of dates or numbers, or set its type.',
    );
  }
}

/** Columns that a split may go by, likeliest first. */
export function splitCandidates(
  columns: readonly ColumnInfo[],
  rows: number,
  { target, settings }: { readonly target: string | null; readonly settings: Pick<DatasetSettings, 'ignored'> },
): { readonly time: readonly string[]; readonly group: readonly string[] } {
  const others = columns.filter(({ name }) => name !== target);
  const used = others.filter(({ name }) => settings.ignored?.includes(name) !== true);
  const time = used.filter(
    ({ name, type, distinct }) => type === 'datetime' && distinct >= fewestGroups && !ownDate.test(name),
  );
  const group = others.filter(
    ({ name, type, distinct, missing }) =>
      distinct >= fewestGroups &&
      ((type === 'identifier' && rows - missing - distinct >= rows * repeatedShare) ||
        ((type === 'category' || type === 'identifier' || type === 'number' || type === 'text') &&
          groupName.test(name) &&
          rows >= distinct * rowsPerGroup)),
  );
  const byDistinct = (one: ColumnInfo, other: ColumnInfo): number => other.distinct - one.distinct;
  return {
    time: [...time].sort(byDistinct).map(({ name }) => name),
    group: [...group].sort(byDistinct).map(({ name }) => name),
  };
}
