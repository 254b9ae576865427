// What the first line of a text table is: names, or values already.

import { isMissingWord, isNumber, pointStyle } from '../schema/spelling.ts';

/** The first line is a header unless it looks like the lines below it. */
export function looksLikeHeader(sample: readonly (readonly string[])[]): boolean {
  const first = sample.map((column) => (column[0] ?? '').trim());
  const isNumeric = (value: string): boolean =>
    isNumber(value, pointStyle) || isNumber(value, { decimal: ',', thousands: '' });
  // A word above numbers is a name, whatever stands beside it.
  const namesNumbers = sample.some((column, index) => {
    const name = first[index] ?? '';
    const below = column.slice(1).filter((value) => !isMissingWord(value));
    return name !== '' && !isMissingWord(name) && !isNumeric(name) && below.length > 0 && below.every(isNumeric);
  });
  if (namesNumbers) return true;
  if (first.some(isNumeric)) return namesYears(sample, first.filter(isNumeric));
  if (first.every((value) => value === '')) return false;
  // All words: a name does not appear again below, a value usually does.
  const repeats = sample.filter(
    (column, index) => column.indexOf(column[0] ?? '', 1) > 0 && first[index] !== '',
  ).length;
  return repeats * 2 < first.length;
}

/** Years in a row as column names: 2019, 2020, 2021. */
function namesYears(sample: readonly (readonly string[])[], numbers: readonly string[]): boolean {
  const years = numbers.map(Number);
  const inOrder = years.every((year, index) => index === 0 || year === (years[index - 1] ?? 0) + 1);
  const plausible = years.every((year) => Number.isInteger(year) && year >= 1800 && year <= 2200);
  return plausible && inOrder && years.length >= 2 && years.length < sample.length;
}
