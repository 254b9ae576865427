// How a region writes numbers, days and times: what format.ts writes with. Words, digits and the calendar are those of English (months by name
// in English regions alone), so that figures go with the sentences, logs and files around them. Formatters are made once, because Intl is
// slow to construct. Everything here takes any tag: one that Chromium does not know is English.

export interface NumberWriting {
  /** Between the whole part and the rest. */
  readonly decimal: '.' | ',';
  fixed(value: number, digits: number): string;
  /** In so many significant digits at most. */
  significant(value: number, digits: number): string;
}

export interface DateWriting {
  day(time: number): string;
  /** The same without its year. */
  dayOfYear(time: number): string;
  clock(time: number): string;
  clockSeconds(time: number): string;
}

export const englishNumbers = numbersOf('en-US');
export const englishDates = englishLike('en-GB', { hours12: false, between: ':' });

/** Numbers of a region. */
export function numberWriting(tag: string): NumberWriting {
  const known = knownTag(tag);
  return known === null ? englishNumbers : numbersOf(known);
}

/** Dates of a region; English that is of none has day, month, year and 24 hours. */
export function dateWriting(tag: string): DateWriting {
  const known = knownTag(tag);
  if (known === null || known === 'en') return englishDates;
  return known.startsWith('en-') ? englishLike(known, clockOf(known)) : numericDates(known, clockOf(known));
}

/** `de_CH.UTF-8@euro` is `de-CH`; null: none (C, POSIX), or none that is known. */
function knownTag(tag: string): string | null {
  if (/posix/i.test(tag)) return null;
  const [plain] = tag.replaceAll('_', '-').split(/[.@]/);
  try {
    // Without extensions: they may ask for other digits or another calendar.
    const { baseName } = new Intl.Locale(plain);
    return Intl.NumberFormat.supportedLocalesOf([baseName])[0] ?? null;
  } catch {
    return null;
  }
}

function numbersOf(tag: string): NumberWriting {
  const made = new Map<string, Intl.NumberFormat>();
  const format = (key: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
    const known = made.get(key) ?? new Intl.NumberFormat(tag, { numberingSystem: 'latn', ...options });
    made.set(key, known);
    return known;
  };
  const decimal = new Intl.NumberFormat(tag, { numberingSystem: 'latn' })
    .formatToParts(0.5)
    .find(({ type }) => type === 'decimal')?.value;
  return {
    decimal: decimal === ',' ? ',' : '.',
    fixed: (value, digits) =>
      plainSigns(
        format(`fixed ${digits}`, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value),
      ),
    significant: (value, digits) =>
      plainSigns(format(`significant ${digits}`, { maximumSignificantDigits: digits }).format(value)),
  };
}

const directions = /[\u061c\u200e\u200f]/g;

/** A minus as English has it, and nothing that turns the direction of writing. */
const plainSigns = (text: string): string => text.replace(directions, '').replace('-', '−');

interface Clock {
  /** 12 hours and am or pm. */
  readonly hours12: boolean;
  readonly between: string;
}

function clockOf(tag: string): Clock {
  const format = new Intl.DateTimeFormat(tag, {
    hour: 'numeric',
    minute: '2-digit',
    numberingSystem: 'latn',
    calendar: 'gregory',
  });
  const parts = format.formatToParts(0);
  const after = parts.findIndex(({ type }) => type === 'hour') + 1;
  const between = parts[after]?.value.replace(directions, '').trim();
  return { hours12: format.resolvedOptions().hour12 ?? false, between: between === '.' ? '.' : ':' };
}

const two = (value: number): string => String(value).padStart(2, '0');

function clockText(time: number, { hours12, between }: Clock, seconds: boolean): string {
  const date = new Date(time);
  const hours = date.getHours();
  const rest = [date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])].map(two);
  if (!hours12) return [two(hours), ...rest].join(between);
  return `${[hours % 12 || 12, ...rest].join(between)}\u00a0${hours < 12 ? 'am' : 'pm'}`;
}

/** `27 Nov 2026`, `Nov 27, 2026`: months by name. */
function englishLike(tag: string, clock: Clock): DateWriting {
  const day = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short', year: 'numeric' });
  const dayOfYear = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'short' });
  return {
    day: (time) => day.format(time),
    dayOfYear: (time) => dayOfYear.format(time),
    clock: (time) => clockText(time, clock, false),
    clockSeconds: (time) => clockText(time, clock, true),
  };
}

/** `27.11.2026`: elsewhere the names of months would be words of another language. */
function numericDates(tag: string, clock: Clock): DateWriting {
  const [day, dayOfYear] = numericPatterns(tag);
  const write = (pattern: Pattern, time: number): string => {
    const date = new Date(time);
    const values = { day: two(date.getDate()), month: two(date.getMonth() + 1), year: String(date.getFullYear()) };
    return pattern.map((part) => ('name' in part ? values[part.name] : part.between)).join('');
  };
  return {
    day: (time) => write(day, time),
    dayOfYear: (time) => write(dayOfYear, time),
    clock: (time) => clockText(time, clock, false),
    clockSeconds: (time) => clockText(time, clock, true),
  };
}

type Pattern = readonly ({ readonly name: 'day' | 'month' | 'year' } | { readonly between: string })[];

/** Of a whole date, and of one without its year. */
function numericPatterns(tag: string): readonly [whole: Pattern, withoutYear: Pattern] {
  const options = {
    day: '2-digit',
    month: '2-digit',
    year: 'numeric',
    numberingSystem: 'latn',
    calendar: 'gregory',
  } as const;
  const parts = new Intl.DateTimeFormat(tag, options).formatToParts(0);
  const whole = parts.flatMap(({ type, value }): Pattern => {
    if (type === 'day' || type === 'month' || type === 'year') return [{ name: type }];
    const between = value.replace(directions, '');
    // Words, as behind the year in Bulgarian, and names of eras.
    return type === 'literal' && !/\p{L}/u.test(between) ? [{ between }] : [];
  });
  const year = whole.findIndex((part) => 'name' in part && part.name === 'year');
  if (year === 0) return [whole, whole.slice(2)];
  const before = whole[year - 1];
  // The dot behind a number belongs to it.
  const dot = 'between' in before && before.between.trim() === '.' ? [{ between: '.' }] : [];
  return [whole, [...whole.slice(0, year - 1), ...dot]];
}
