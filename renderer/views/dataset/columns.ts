// Words for columns: their types, ranges and gaps.

import type { ColumnInfo, ColumnType, DatasetInfo } from '../../../engine/protocol/data.ts';
import { textColumns } from '../../../engine/protocol/use.ts';
import { visible } from '../../../engine/protocol/visible.ts';
import { dateOf, digitsFor, fixed, percentOf, plural, short } from '../../lib/format.ts';

const typeWords: Readonly<Record<ColumnType, string>> = {
  number: 'number',
  category: 'category',
  boolean: 'yes / no',
  datetime: 'date, time',
  text: 'text',
  identifier: 'identifier',
};

export const typeOptions = (Object.keys(typeWords) as ColumnType[]).map((value) => ({
  value,
  label: typeWords[value],
}));

export function typeWord(type: ColumnType): string {
  return typeWords[type];
}

/** Digits in which the ends of a column differ. */
function digitsOf({ minimum, maximum }: ColumnInfo): number {
  return digitsFor(minimum ?? 0, maximum ?? 0);
}

/** A frequent value as people read it: yes and no are what the type is called by. */
const topWord = ({ type }: ColumnInfo, value: string): string =>
  type !== 'boolean' ? visible(value) : value === 'true' ? 'yes' : value === 'false' ? 'no' : visible(value);

/** The two small words under a distribution. */
export function extremes(column: ColumnInfo, rows: number): readonly [string, string] {
  if (column.lengths) {
    const { minimum, maximum } = column.lengths.words;
    return [fixed(minimum), plural(maximum, 'word')];
  }
  if (column.histogram && column.minimum !== undefined && column.maximum !== undefined) {
    const digits = digitsOf(column);
    const { minimum, maximum } = column;
    // Years and numbers like them have four digits and no comma.
    const four = [minimum, maximum].every((value) => Number.isInteger(value) && value >= 1000 && value < 10_000);
    const say =
      column.type === 'datetime'
        ? dateOf
        : (value: number): string =>
            four ? String(value) : Number.isInteger(value) ? fixed(value) : short(value, digits);
    return [say(minimum), say(maximum)];
  }
  const first = column.top?.[0];
  return [
    first ? `${topWord(column, first.value)} ${percentOf(first.count, rows)}` : '',
    plural(column.distinct, 'value'),
  ];
}

/** What stands under a distribution on the left: the lowest value, or the most frequent one and its share. */
export function lowEnd(column: ColumnInfo, rows: number): { readonly value: string; readonly share: string } {
  const first = column.top?.[0];
  const ends = column.lengths ?? (column.histogram && column.minimum !== undefined);
  if (ends) return { value: extremes(column, rows)[0], share: '' };
  return first
    ? { value: topWord(column, first.value), share: percentOf(first.count, rows) }
    : { value: '', share: '' };
}

/** Heights of the bars: bins, or the most frequent values. */
export function barsOf(column: ColumnInfo): readonly number[] {
  return column.lengths?.histogram ?? column.histogram ?? column.top?.slice(0, 12).map((entry) => entry.count) ?? [];
}

/** One sentence for screen readers in place of the picture. */
export function describeColumn(column: ColumnInfo, rows: number): string {
  const [low, high] = extremes(column, rows);
  if (column.lengths) return `Lengths of ${column.name}: ${low} to ${high}`;
  const spread = column.histogram ? `from ${low} to ${high}` : `most often ${low}, ${high}`;
  return `Distribution of ${column.name}: ${spread}`;
}

/** Why a column is left out without anybody's doing; null = it is used. */
export function leftOutBecause(
  { name, type, distinct, missing }: ColumnInfo,
  info: Pick<DatasetInfo, 'columns' | 'target' | 'settings'>,
): string | null {
  if (type === 'identifier') return 'it looks like an identifier';
  if (type === 'text' && distinct > 1) return textColumns(info).includes(name) ? null : unreadText;
  if (distinct === 0) return 'it is empty';
  return distinct === 1 && missing === 0 ? 'it has the same value in every row' : null;
}

/** Why a column of text is left out. */
export const unreadText = 'texts are read where you say so';

export function numericColumn(column: ColumnInfo): boolean {
  return column.type === 'number';
}

/** How long texts are. */
function lengthFacts({ lengths }: ColumnInfo): readonly (readonly [string, string])[] {
  if (!lengths) return [];
  const { words, characters } = lengths;
  return [
    ['Words', `${fixed(words.minimum)} to ${fixed(words.maximum)}, median ${fixed(Math.round(words.median))}`],
    ['Characters', `${fixed(characters.maximum)} at most, median ${fixed(Math.round(characters.median))}`],
  ];
}

/** Facts for the inspector, in reading order. */
export function columnFacts(column: ColumnInfo, rows: number): readonly (readonly [string, string])[] {
  const number = (
    label: string,
    value: number | undefined,
    digits = digitsOf(column),
  ): (readonly [string, string])[] =>
    value === undefined ? [] : [[label, column.type === 'datetime' ? dateOf(value) : short(value, digits)]];
  return [
    ['Distinct values', fixed(column.distinct)],
    ['Missing', column.missing === 0 ? 'none' : `${fixed(column.missing)}, ${percentOf(column.missing, rows)}`],
    ...lengthFacts(column),
    ...number('Smallest', column.minimum),
    ...number('Median', column.median),
    ...(column.type === 'datetime' ? [] : number('Mean', column.mean)),
    ...(column.type === 'datetime' ? [] : number('Standard deviation', column.deviation, digitsFor(0, 0))),
    ...number('Largest', column.maximum),
  ];
}
