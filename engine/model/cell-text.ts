// What stands in a raw column, in words.

import { rawCodes, type RawColumn } from './spec.ts';

const day = 86_400_000;

/** `short`: how a number is written. */
export function cellText(column: RawColumn, value: number, short: (value: number) => string = plain): string {
  if (column.kind === 'category') {
    if (value === rawCodes.missing) return 'missing';
    return column.categories[value - rawCodes.first] ?? 'never seen';
  }
  if (Number.isNaN(value)) return 'missing';
  if (column.kind === 'boolean') return value === 1 ? 'yes' : 'no';
  if (column.kind === 'number') return short(value);
  const text = new Date(value).toISOString();
  return value % day === 0 ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ');
}

const plain = (value: number): string => String(Number(value.toPrecision(6)));
