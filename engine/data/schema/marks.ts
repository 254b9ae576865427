// What the mark in numbers such as 1,234 stands for: groups of three digits, or the decimals. One number cannot tell, a
// column usually can, and if it cannot, the others of the file may.

/** What a mark is in a column; `either`: every value that has it can be read both ways. */
export type MarkUse = 'groups' | 'decimals' | 'either';

/** Values with the mark that are looked at. */
const looked = 400;

const digitsOf = /\d[\d.,\s'\u2019]*/;

/** How the values of a column use a mark; null = none has it. Texts around the numbers do not matter. */
export function useOfMark(values: readonly string[], mark: ',' | '.'): MarkUse | null {
  if (!values.some((value) => value.includes(mark))) return null;
  const point = mark === '.' ? '\\.' : ',';
  const other = mark === '.' ? ',' : '\\.';
  // 0,020 has no thousands; neither has 1,5 or ,5.
  const groups = new RegExp(`^[1-9]\\d{0,2}(?:${point}\\d{3})(?:(?:${point}\\d{3})+(?:${other}\\d*)?|${other}\\d*)$`);
  const both = new RegExp(`^[1-9]\\d{0,2}${point}\\d{3}$`);
  let [grouped, decimal, open, small, large] = [0, 0, 0, 0, 0];
  for (const value of values) {
    if (!value.includes(mark)) {
      // Beside 1,234 a 12 is written without three zeros behind a comma, and a 1234 without the mark between thousands.
      if (/^\s*[+-]?\d{1,3}\s*$/.test(value)) small++;
      else if (/^\s*[+-]?\d{4,}\s*$/.test(value)) large++;
      continue;
    }
    const number = (digitsOf.exec(value)?.[0] ?? '').trim();
    if (both.test(number)) open++;
    else if (groups.test(number)) grouped++;
    else decimal++;
    if (open + grouped + decimal >= looked) break;
  }
  if (grouped + decimal + open === 0) return null;
  if (grouped !== decimal) return grouped > decimal ? 'groups' : 'decimals';
  if (grouped === 0 && small > 0 !== large > 0) return small > 0 ? 'groups' : 'decimals';
  return 'either';
}

/** The decimal mark that a column of numbers shows; null = it has none, or leaves it open. */
export function shownDecimal(values: readonly string[]): '.' | ',' | null {
  for (const mark of [',', '.'] as const) {
    const use = useOfMark(values, mark);
    if (use === 'decimals') return mark;
    if (use === 'groups') return mark === ',' ? '.' : ',';
  }
  return null;
}
