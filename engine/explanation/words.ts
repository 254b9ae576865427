// What stands in a raw column, in words.

import type { Contributions } from '../protocol/explanation.ts';
import { rawCodes, type RawColumn } from '../model/spec.ts';

const day = 86_400_000;

/** What contributions are counted in, of an answer's name. */
export function explainedWords(answer: string, { exact }: Pick<Contributions, 'exact'>): string {
  switch (exact?.scale) {
    case 'log odds':
      return `log odds of ${answer}`;
    case 'score':
      return `score of ${answer}`;
    case 'logarithm':
      return `logarithm of ${answer}`;
    default:
      return answer;
  }
}

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
