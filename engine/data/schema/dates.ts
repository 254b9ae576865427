// Dates and times as people write them. A format is a strptime format of DuckDB's, or one of a few names for what strptime
// does not know; the first formats that fit a sample are candidates, and all rows decide between them.

import { quoteList } from '../sql.ts';
import { isMissingWord } from './spelling.ts';

/** A way of writing dates. */
export interface DateFormat {
  /** strptime format, or `quarter` or `week`; undefined = ISO 8601, which DuckDB reads by itself. */
  readonly format?: string;
  /** For people. */
  readonly title: string;
}

interface DatePattern extends DateFormat {
  readonly pattern: RegExp;
  readonly accepts?: (match: RegExpExecArray) => boolean;
}

/** Whole numbers such as 20230114 as dates. */
export const packedFormat = '%Y%m%d';

const two = '(\\d{1,2})';
const year = '\\d{4}';
const short = '[A-Za-z]{3}';
const long = '[A-Za-z]{3,9}';

const days: readonly (readonly [source: string, format: string, title: string])[] = [
  ['(\\d{4})/(\\d{1,2})/(\\d{1,2})', '%Y/%m/%d', 'year/month/day'],
  ['(\\d{4})\\.(\\d{1,2})\\.(\\d{1,2})', '%Y.%m.%d', 'year.month.day'],
  ['(\\d{4})-(\\d{1,2})-(\\d{1,2})', '%Y-%m-%d', 'year-month-day'],
  [`${two}/${two}/${year}`, '%m/%d/%Y', 'month/day/year'],
  [`${two}/${two}/${year}`, '%d/%m/%Y', 'day/month/year'],
  [`${two}\\.${two}\\.${year}`, '%d.%m.%Y', 'day.month.year'],
  [`${two}-${two}-${year}`, '%d-%m-%Y', 'day-month-year'],
  [`${two}-${two}-${year}`, '%m-%d-%Y', 'month-day-year'],
  [`${two}/${two}/\\d{2}`, '%m/%d/%y', 'month/day/year'],
  [`${two}/${two}/\\d{2}`, '%d/%m/%y', 'day/month/year'],
  [`${two}\\.${two}\\.\\d{2}`, '%d.%m.%y', 'day.month.year'],
  [`\\d{1,2} ${short} ${year}`, '%d %b %Y', 'day month year'],
  [`\\d{1,2}-${short}-${year}`, '%d-%b-%Y', 'day-month-year'],
  [`\\d{1,2}-${short}-\\d{2}`, '%d-%b-%y', 'day-month-year'],
  [`\\d{1,2} ${short} \\d{2}`, '%d %b %y', 'day month year'],
  [`\\d{1,2} ${long} ${year}`, '%d %B %Y', 'day month year'],
  [`${short} \\d{1,2}, ${year}`, '%b %d, %Y', 'month day, year'],
  [`${short} \\d{1,2} ${year}`, '%b %d %Y', 'month day year'],
  [`${long} \\d{1,2}, ${year}`, '%B %d, %Y', 'month day, year'],
  [`${long} \\d{1,2} ${year}`, '%B %d %Y', 'month day year'],
];

const weekdays: readonly (readonly [source: string, format: string])[] = [
  ['', ''],
  [`${short},? `, '%a, '],
  [`${long},? `, '%A, '],
];

const clocks: readonly (readonly [source: string, format: string])[] = [
  ['\\d{1,2}:\\d{2}', '%H:%M'],
  ['\\d{1,2}:\\d{2}:\\d{2}', '%H:%M:%S'],
  ['\\d{1,2}:\\d{2}:\\d{2}\\.\\d{1,6}', '%H:%M:%S.%f'],
  ['\\d{1,2}:\\d{2} [AaPp][Mm]', '%I:%M %p'],
  ['\\d{1,2}:\\d{2}[AaPp][Mm]', '%I:%M%p'],
  ['\\d{1,2}:\\d{2}:\\d{2} [AaPp][Mm]', '%I:%M:%S %p'],
];

const zones: readonly (readonly [source: string, format: string])[] = [
  ['', ''],
  [' GMT', ' GMT'],
  [' UTC', ' UTC'],
  ['Z', 'Z'],
  [' [+-]\\d{2}:?\\d{2}', ' %z'],
  ['[+-]\\d{2}:?\\d{2}', '%z'],
];

const isMonth = (text: string | undefined): boolean => Number(text) >= 1 && Number(text) <= 12;

let made: readonly DatePattern[] | undefined;

/** Some six thousand: they are made when a text first looks like a date, not by each program that starts. */
const datePatterns = (): readonly DatePattern[] => (made ??= makeDatePatterns());

const makeDatePatterns = (): readonly DatePattern[] => [
  {
    pattern: /^\d{4}-\d{2}-\d{2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?)?$/,
    title: 'ISO dates',
  },
  ...days.flatMap(([source, format, title]) =>
    weekdays.flatMap(([daySource, dayFormat]) => [
      datePattern(daySource + source, dayFormat + format, title),
      ...[' ', 'T', ', '].flatMap((gap) =>
        clocks.flatMap(([clockSource, clockFormat]) =>
          zones.map(([zoneSource, zoneFormat]) =>
            datePattern(
              daySource + source + gap + clockSource + zoneSource,
              dayFormat + format + gap + clockFormat + zoneFormat,
              title,
            ),
          ),
        ),
      ),
    ]),
  ),
  datePattern(`${short} ${short} +\\d{1,2} \\d{2}:\\d{2}:\\d{2} ${year}`, '%a %b %d %H:%M:%S %Y', 'as C writes times'),
  datePattern('\\d{8}T\\d{6}', '%Y%m%dT%H%M%S', 'ISO dates without marks'),
  datePattern('\\d{8}T\\d{6}Z', '%Y%m%dT%H%M%SZ', 'ISO dates without marks'),
  monthPattern('(\\d{4})-(\\d{2})', '%Y-%m', 'year-month', 2),
  monthPattern('(\\d{4})/(\\d{2})', '%Y/%m', 'year/month', 2),
  monthPattern('(\\d{1,2})/(\\d{4})', '%m/%Y', 'month/year', 1),
  datePattern(`${short} ${year}`, '%b %Y', 'month year'),
  datePattern(`${short}-${year}`, '%b-%Y', 'month-year'),
  datePattern(`${short}-\\d{2}`, '%b-%y', 'month-year'),
  datePattern(`${long} ${year}`, '%B %Y', 'month year'),
  { pattern: /^(?:\d{4}[ -]?[Qq][1-4]|[Qq][1-4][ /-]?\d{4})$/, format: 'quarter', title: 'quarters of a year' },
  { pattern: /^\d{4}-?W\d{2}$/, format: 'week', title: 'weeks of a year' },
  ...clocks.map(([source, format]) => datePattern(source, format, 'times of day')),
];

function datePattern(source: string, format: string, title: string): DatePattern {
  return { pattern: new RegExp(`^${source}$`), format, title, accepts: fitsOrder(format) };
}

function monthPattern(source: string, format: string, title: string, month: number): DatePattern {
  return { pattern: new RegExp(`^${source}$`), format, title, accepts: (match) => isMonth(match[month]) };
}

/** Rejects 13/02/2021 as month/day/year. */
function fitsOrder(format: string): (match: RegExpExecArray) => boolean {
  const order = /%[dm].%[dm]/.exec(format);
  if (order === null) return () => true;
  const yearFirst = format.startsWith('%Y');
  const [month, day] = yearFirst ? [2, 3] : order[0].startsWith('%m') ? [1, 2] : [2, 1];
  return (match) => isMonth(match[month]) && Number(match[day]) >= 1 && Number(match[day]) <= 31;
}

/** Share of the values that have to be dates. */
export const dateShare = 0.99;

/** Formats in which (nearly) all values are dates, the likeliest first, two at most; empty = they are none. */
export function sniffDateFormats(values: readonly string[]): readonly DateFormat[] {
  // A category or a day stands in many rows and is looked at once.
  const present = new Map<string, number>();
  for (const value of values) present.set(value, (present.get(value) ?? 0) + 1);
  for (const value of present.keys()) if (isMissingWord(value)) present.delete(value);
  if (present.size === 0) return [];
  const counted = [...present].map(([value, count]) => [value.trim(), count] as const);
  const misses = Math.floor(counted.reduce((sum, [, count]) => sum + count, 0) * (1 - dateShare));
  // Every date has a digit; thousands of patterns need not even be made ready for words.
  const words = counted.reduce((sum, [value, count]) => sum + (/\d/.test(value) ? 0 : count), 0);
  if (words > misses) return [];
  const found: DateFormat[] = [];
  for (const { pattern, format, title, accepts } of datePatterns()) {
    let left = misses;
    const fits = counted.every(([value, count]) => {
      const match = pattern.exec(value);
      return (match !== null && accepts?.(match) !== false) || (left -= count) >= 0;
    });
    if (!fits) continue;
    // Day and month in the other order is the only doubt there is.
    if (found.length === 0 || isOtherOrder(found[0]?.format, format)) found.push({ format, title });
    if (found.length === 2 || !isOrdered(format)) break;
  }
  return found;
}

/** Whether a format has day and month as numbers before the year: the other way round would do as well. */
export function isOrdered(format?: string): format is string {
  return format !== undefined && /%[dm][/.-]%[dm]/.test(format) && !format.startsWith('%Y');
}

/** The format with day and month the other way round. */
export function otherOrder(format: string): string {
  return format.replace('%d', '%_').replace('%m', '%d').replace('%_', '%m');
}

/** Whether two formats differ in the order of day and month alone. */
export function isOtherOrder(first?: string, second?: string): boolean {
  if (first === undefined || second === undefined || first === second) return false;
  return otherOrder(first) === second;
}

/** Whether a format has the day before the month, both as numbers; null = neither is the case. */
export function dayComesFirst(format?: string): boolean | null {
  if (!isOrdered(format)) return null;
  return format.indexOf('%d') < format.indexOf('%m');
}

/** SQL that reads a text as a time, ISO 8601 unless a format is given; NULL where it is none. */
export function parsedTime(text: string, format?: string): string {
  // Through TIMESTAMPTZ, so that an offset such as +02:00 counts; times without one are taken as UTC.
  if (format === undefined) return `CAST(TRY_CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`;
  if (format === 'quarter') {
    const number = (pattern: string): string => `TRY_CAST(regexp_extract(${text}, '${pattern}', 1) AS INTEGER)`;
    const [year, quarter] = [number('([0-9]{4})'), number('[Qq]([1-4])')];
    return `CASE WHEN regexp_full_match(${text}, '[0-9]{4}[ -]?[Qq][1-4]|[Qq][1-4][ /-]?[0-9]{4}')
      THEN make_timestamp(${year}, 3 * ${quarter} - 2, 1, 0, 0, 0) END`;
  }
  if (format === 'week') return `try_strptime(replace(${text}, '-', '') || '1', ['%GW%V%u'])`;
  // Weekdays say nothing new, and may stand without their comma.
  if (/^%[aA], /.test(format)) {
    return parsedTime(`regexp_replace(${text}, '^[A-Za-z]+,? ', '')`, format.slice(4));
  }
  return `CAST(try_strptime(${text}, ${quoteList([format])}) AS TIMESTAMP)`;
}
