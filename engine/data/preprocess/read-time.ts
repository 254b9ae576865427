// One text as a time, by the formats of dates.ts: what DuckDB's strptime does for the columns of a file.

import { ownValue } from '../../protocol/own.ts';

/** Numbers as times: seconds since 1970, or milliseconds when they are too large for seconds. */
const largestSeconds = 1e11;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Milliseconds since 1970 (UTC); undefined = no time. `format`: see `DateFormat`. */
export function readTime(value: unknown, format?: string): number | undefined {
  if (typeof value === 'number') return Math.abs(value) < largestSeconds ? value * 1000 : value;
  if (typeof value !== 'string') return undefined;
  // A form gives dates as ISO 8601, whatever the file was written in.
  return (format === undefined ? undefined : byFormat(value, format)) ?? isoTime(value);
}

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?$/;

function isoTime(text: string): number | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const parts = { year, month, day, hour, minute, second, fraction: fraction?.slice(1), zone };
  return timeOf(parts);
}

type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'zone' | 'half' | 'short';
type Parts = Partial<Record<Part, string>>;

/** A pattern and the part it fills, for each letter of strptime that our formats use. */
const letters: Readonly<Record<string, readonly [source: string, part: Part | null]>> = {
  Y: ['\\d{4}', 'year'],
  y: ['\\d{2}', 'short'],
  m: ['\\d{1,2}', 'month'],
  d: ['\\d{1,2}', 'day'],
  H: ['\\d{1,2}', 'hour'],
  I: ['\\d{1,2}', 'hour'],
  M: ['\\d{2}', 'minute'],
  S: ['\\d{2}', 'second'],
  f: ['\\d{1,6}', 'fraction'],
  p: ['[AaPp][Mm]', 'half'],
  b: ['[A-Za-z]{3}', 'month'],
  B: ['[A-Za-z]{3,9}', 'month'],
  a: ['[A-Za-z]{3},?', null],
  A: ['[A-Za-z]{3,9},?', null],
  z: ['[+-]\\d{2}:?\\d{2}', 'zone'],
};

function byFormat(text: string, format: string): number | undefined {
  if (format === 'quarter') {
    const year = /\d{4}/.exec(text)?.[0];
    const quarter = /[Qq]([1-4])/.exec(text)?.[1];
    return timeOf({ year, month: quarter === undefined ? undefined : String(3 * Number(quarter) - 2), day: '1' });
  }
  if (format === 'week') return weekTime(text);
  const parts: Part[] = [];
  const source = format.replaceAll(/%([A-Za-z]),? ?|[.*+?^${}()|[\]\\]/g, (found, letter: string | undefined) => {
    if (letter === undefined) return `\\${found}`;
    const [pattern, part] = ownValue(letters, letter) ?? ['.*', null];
    if (part !== null) parts.push(part);
    const behind = found.slice(2).replace(',', ',?');
    return (part === null ? pattern : `(${pattern})`) + behind;
  });
  const match = new RegExp(`^${source}$`).exec(text);
  if (match === null) return undefined;
  return timeOf(Object.fromEntries(parts.map((part, index) => [part, match[index + 1]])));
}

/** Undefined where a part is out of its range. */
function timeOf({
  year,
  short,
  month = '1',
  day = '1',
  hour = '0',
  minute = '0',
  second = '0',
  ...more
}: Parts): number | undefined {
  const named = months.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  const numbers = {
    // As strptime has it: 69 to 99 are of the last century. Times of a day are of 1900, as DuckDB reads them.
    year:
      year !== undefined
        ? Number(year)
        : short === undefined
          ? 1900
          : Number(short) + (Number(short) < 69 ? 2000 : 1900),
    month: named > 0 ? named : Number(month),
    day: Number(day),
    hour: hourOf(Number(hour), more.half),
  };
  const inRange =
    numbers.month >= 1 && numbers.month <= 12 && numbers.hour <= 23 && Number(minute) <= 59 && Number(second) <= 59;
  const date = new Date(Date.UTC(numbers.year, numbers.month - 1, numbers.day));
  // The 31st of a month that has 30 days is no date.
  if (!inRange || date.getUTCDate() !== numbers.day || date.getUTCMonth() !== numbers.month - 1) return undefined;
  const seconds = numbers.hour * 3600 + Number(minute) * 60 + Number(second) + Number(`0.${more.fraction ?? '0'}`);
  return date.getTime() + Math.round(seconds * 1000) - offsetOf(more.zone);
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour;
  return (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

/** Milliseconds. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

const day = 86_400_000;

/** The Monday of an ISO week: week 1 has the fourth of January. */
function weekTime(text: string): number | undefined {
  const match = /^(\d{4})-?W(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const fourth = Date.UTC(Number(match[1]), 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * day;
  return monday + (Number(match[2]) - 1) * 7 * day;
}
