// What the first lines of a text table are: names, units, or values already.

import { isMissingWord, isNumber, isNumberColumn, pointStyle } from '../schema/spelling.ts';
import type { NumberStyle } from '../schema/spelling.ts';

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

/** Units as they stand under names: `m/s`, `[kg]`, `(°C)`, `%`, `seconds`; a longer word may well be a value. */
const unit =
  /^(?:\[.{0,15}\]|\(.{0,15}\)|%|‰|[A-Za-zµμΩ]{1,4}|(?=.{1,12}$)°?[A-Za-zµμΩ°$€£]+[0-9µμΩ°²³/*^·_-]+[A-Za-z0-9µμΩ°²³/*^·_-]*|°[A-Za-z]|[$€£]|(?:second|minute|hour|day|week|month|year|met(?:er|re)|degree|count|gram|lit(?:er|re)|volt|watt|pixel|byte)s?|percent|celsius|kelvin)$/i;

/** Whether a column has digits in its second row and none in the first: a quick look before a thorough one. */
export function mayHoldUnits(values: readonly (readonly string[])[]): boolean {
  return values.some(([first = '', second = '']) => !/\d/.test(first) && /\d/.test(second));
}

/**
 * Whether the first row of values holds units: it has words where all rows below have numbers. One column of numbers is
 * not enough, unless the unit stands in brackets. `values`: column by column.
 */
export function isUnitsRow(values: readonly (readonly string[])[], style: NumberStyle): boolean {
  const numeric = values.filter((column) => column.length > 3 && isNumberColumn(column.slice(1), style));
  const firsts = numeric.map((column) => (column[0] ?? '').trim());
  if (!firsts.every((first) => first === '' || first === '-' || (unit.test(first) && !isNumber(first, style))))
    return false;
  const named = firsts.filter((first) => first !== '' && !isMissingWord(first));
  return named.length >= 2 || (named.length === 1 && /^[[(]/.test(named[0] ?? ''));
}
