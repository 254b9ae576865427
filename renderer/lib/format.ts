// Numbers, times and sizes as people read them: thousands separators, fixed decimals, a space that does not break before units,
// an en dash for what is missing. The one place that decides how the window writes them: as the system's regional format does, or as
// English (`useRegion`). Words are English either way. What leaves the window for a program to read is written `asEnglish`.

import type { RegionalFormat } from '../../engine/protocol/app.ts';
import {
  dateWriting,
  englishDates,
  englishNumbers,
  numberWriting,
  type DateWriting,
  type NumberWriting,
} from './regional.ts';

export const missing = '–';
/** Keeps a number and its unit on one line. */
const space = '\u00a0';
const usualDigits = 4;
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const monthName = new Intl.DateTimeFormat('en-GB', { month: 'short' });

let numbers: NumberWriting = englishNumbers;
let dates: DateWriting = englishDates;

/** From here on figures are written as in this region; null: as in English. What is on the screen stays as it is. */
export function useRegion(region: RegionalFormat | null): void {
  numbers = region === null ? englishNumbers : numberWriting(region.numbers);
  dates = region === null ? englishDates : dateWriting(region.dates);
}

/** What `work` writes is the same in every region: for files, and for texts that are read again. */
export function asEnglish<T>(work: () => T): T {
  const before = [numbers, dates] as const;
  useRegion(null);
  try {
    return work();
  } finally {
    [numbers, dates] = before;
  }
}

/** Between the whole part of a number and the rest. */
export function decimalSign(): '.' | ',' {
  return numbers.decimal;
}

/** `12,345.68` with a fixed number of decimals; en dash for null, undefined and NaN. */
export function fixed(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  return numbers.fixed(value, digits);
}

/** A value of unknown scale in at most four significant digits; very small and very large ones in powers of ten. */
export function short(value: number | null | undefined, digits = usualDigits): string {
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  const size = Math.abs(value);
  // So many digits are asked for where values differ in their last ones alone: there they are written out.
  const whole = digits > 7 && size >= 1e7 && size < 1e15;
  if (!whole && size !== 0 && (size < 1e-4 || size >= 1e7)) return powers(value, Math.max(2, digits - usualDigits + 2));
  return numbers.significant(value, digits);
}

/** `1.23e−5` */
function powers(value: number, decimals: number): string {
  return value.toExponential(decimals).replace('.', numbers.decimal).replace('-', '−').replace('e+', 'e');
}

/** All digits of a number, or those of one that `toPrecision` has written, and no thousands separators, as a field holds it: `12345.5`, `1e-7`. */
export function plain(value: number | string): string {
  return String(value).replace('.', numbers.decimal);
}

/**
 * A few words of the engine's with figures, `0.24 mWh` or `$407,998.80`, as the region has them. For what holds no names and versions, in which
 * a point is part of the name.
 */
export function regional(text: string): string {
  if (numbers === englishNumbers) return text;
  return text.replace(
    /(?<![\p{L}\d.])(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?![\d.]*\.\d)(?![\p{L}\d])/gu,
    (_, whole: string, rest = '') =>
      whole.includes(',')
        ? fixed(Number(`${whole.replaceAll(',', '')}.${rest}`), rest.length)
        : whole + (rest && numbers.decimal + rest),
  );
}

/** Significant digits with which values of a range differ from each other: more where it is narrow beside its values. */
export function digitsFor(low: number, high: number): number {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return usualDigits;
  const size = Math.max(Math.abs(low), Math.abs(high));
  // A double has no more than seventeen.
  return Math.min(17, Math.max(usualDigits, Math.ceil(Math.log10(size / span)) + 3));
}

/** Scores and losses: four decimals, or powers of ten where these would show nothing. */
export function score(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return powers(value, 2);
  return fixed(value, size >= 1000 ? 1 : 4);
}

/** `63 %` */
export function percent(share: number, digits = 0): string {
  return fixed(share * 100, digits) + space + '%';
}

/** `less than 0.1 %` for shares that round to nothing but are not. */
export function percentOf(part: number, whole: number): string {
  if (whole === 0) return missing;
  const share = part / whole;
  if (share > 0 && share < 0.001) return `<${space}${fixed(0.1, 1)}${space}%`;
  return percent(
    share,
    share < 0.1 ? 1 : share > 0.995 && share < 1 ? 1 : share * 100 === Math.round(share * 100) ? 0 : 1,
  );
}

/** `4.6 MB`, powers of 1000. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let size = value;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return fixed(size, unit === 0 || size >= 100 ? 0 : 1) + space + units[unit];
}

/** `60 k`, `2.3 M`: counts where space is short. */
export function compact(value: number): string {
  if (value < 1000) return fixed(value);
  if (value < 1e6) return fixed(value / 1e3, value < 1e4 ? 1 : 0) + space + 'k';
  if (value < 1e9) return fixed(value / 1e6, value < 1e7 ? 2 : 1) + space + 'M';
  return fixed(value / 1e9, 2) + space + 'G';
}

/** `4.5 kFLOP`, `8 FLOP`: a compact number with its unit. */
export function counted(value: number, unit: string): string {
  return compact(value) + (value < 1000 ? space : '') + unit;
}

/** `2 min 10 s`, in words for headers. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return missing;
  if (seconds < 0.1) return `${short(Number((1000 * seconds).toPrecision(2)))}${space}ms`;
  if (seconds < 1) return `${fixed(seconds, 1)}${space}s`;
  const total = Math.round(seconds);
  if (total < 60) return `${total}${space}s`;
  if (total < 3600) return `${Math.floor(total / 60)}${space}min ${total % 60}${space}s`;
  return `${Math.floor(total / 3600)}${space}h ${Math.floor((total % 3600) / 60)}${space}min`;
}

/** `2:10`, `1:02:10`, for columns. */
export function stopwatch(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return missing;
  const total = Math.round(seconds);
  const tail = `${String(Math.floor(total / 60) % 60).padStart(total >= 3600 ? 2 : 1, '0')}:${String(total % 60).padStart(2, '0')}`;
  return total >= 3600 ? `${Math.floor(total / 3600)}:${tail}` : tail;
}

/** Today the clock, then the weekday, then the date. `now` and `time` in milliseconds since 1970. */
export function when(time: number | null, now = Date.now()): string {
  if (time === null) return missing;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const dayLength = 86_400_000;
  if (time >= midnight) return dates.clock(time);
  if (time >= midnight - dayLength) return 'Yesterday';
  if (time >= midnight - 6 * dayLength) return weekday.format(time);
  return dates.day(time);
}

export function fullTime(time: number | null): string {
  return time === null ? missing : `${dates.day(time)}, ${dates.clockSeconds(time)}`;
}

export function clockTime(time: number): string {
  return dates.clockSeconds(time);
}

/** The time of day without seconds: `21:05`. */
export function timeOfDay(time: number): string {
  return dates.clock(time);
}

/** A time of today by the clock alone, else with its day, and with its year where that is another: `21:05`, `24 Dec, 07:00`. */
export function dayAndTime(time: number, now = Date.now()): string {
  const [then, today] = [new Date(time), new Date(now)];
  if (then.toDateString() === today.toDateString()) return dates.clock(time);
  const day = then.getFullYear() === today.getFullYear() ? dates.dayOfYear(time) : dates.day(time);
  return `${day}, ${dates.clock(time)}`;
}

/** When what takes so many seconds from now on is done; from a week on the day alone: `22:18`, `12 Jan 2027`, `years`. */
export function doneAt(seconds: number, now = Date.now()): string {
  const days = seconds / 86_400;
  if (days > 300) return 'years';
  return days >= 7 ? dateOf(now + 1000 * seconds) : dayAndTime(now + 1000 * seconds, now);
}

export function dateOf(time: number): string {
  return dates.day(time);
}

/** `3 Jan`, where the year is known. */
export function dayOfYear(time: number): string {
  return dates.dayOfYear(time);
}

/** `Jan` */
export function monthOf(time: number): string {
  return monthName.format(time);
}

/** `1 row`, `2 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${fixed(count)} ${count === 1 ? one : many}`;
}

/** First letter large. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
