// Lines above a table that are no part of it: the title of a report, the day it was made. They do not divide like the table.

import { isMissingWord, isNumber, pointStyle } from '../schema/spelling.ts';
import type { TextRecord } from './records.ts';

/** Records that may stand above a table. */
const longestTitle = 20;

/** How many of the first records are titles above a table of `width` fields; what follows them has to look like it. */
export function countTitles(records: readonly TextRecord[], width: number): number {
  let count = 0;
  while (count < longestTitle && isTitle(records[count], width)) count++;
  const [head, ...below] = records.slice(count);
  if (count === 0 || head === undefined || width < 2 || head.fields.length < width) return 0;
  const titles = records.slice(0, count);
  if (titles.every(({ fields }) => fields.every(isBlank))) return 0;
  const alone = titles.every(({ fields }) => fields.length === 1);
  if (alone && width > 2) return count;
  if (!isHeader(head.fields, width)) return 0;
  // Names of rows in front of a single column look like this, too, but nothing stands between, and no name above numbers.
  const apart = head.line - (titles.at(-1)?.line ?? 0) > 1;
  return width > 2 || apart || namesNumbers(head.fields, below) ? count : 0;
}

/** One field, or fewer than the table has by two; or nothing but the first one, or nothing at all. */
function isTitle(record: TextRecord | undefined, width: number): boolean {
  if (record === undefined || record.broken !== null) return false;
  const { fields } = record;
  if (fields.length === 1 || fields.length < width - 1) return true;
  return fields.slice(1).every(isBlank);
}

function isHeader(fields: readonly string[], width: number): boolean {
  const names = fields.slice(0, width);
  return new Set(names).size === names.length && names.every((name) => !isBlank(name) && !isNumber(name, pointStyle));
}

function namesNumbers(names: readonly string[], below: readonly TextRecord[]): boolean {
  return names.some((_, column) => {
    const cells = below.map(({ fields }) => fields[column] ?? '').filter((cell) => !isMissingWord(cell));
    return cells.length > 0 && cells.every((cell) => isNumber(cell, pointStyle));
  });
}

function isBlank(field: string): boolean {
  return field.trim() === '';
}
