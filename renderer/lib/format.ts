// Numbers, times and sizes as people read them: thousands separators, fixed decimals, a space that does not break before units,
// an en dash for what is missing. As English writes them, whatever the system's language: sentences come from the engine, too, logs and reports
// are read elsewhere, and fields take 0.01. Formatters are made once, because Intl is slow to construct.

export const missing = '–';
/** Keeps a number and its unit on one line. */
const space = '\u00a0';

const decimals = Array.from(
  { length: 7 },
  (_, digits) => new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);
const usualDigits = 4;
const general = new Intl.NumberFormat('en-US', { maximumSignificantDigits: usualDigits });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const clockSeconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });

/** `12,345.68` with a fixed number of decimals; en dash for null, undefined and NaN. */
export function fixed(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  return decimals[digits].format(value).replace('-', '−');
}

/** A value of unknown scale in at most four significant digits; very small and very large ones in powers of ten. */
export function short(value: number | null | undefined, digits = usualDigits): string {
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  const size = Math.abs(value);
  // So many digits are asked for where values differ in their last ones alone: there they are written out.
  const whole = digits > 7 && size >= 1e7 && size < 1e15;
  if (!whole && size !== 0 && (size < 1e-4 || size >= 1e7))
    return value
      .toExponential(Math.max(2, digits - usualDigits + 2))
      .replace('-', '−')
      .replace('e+', 'e');
  const format =
    digits === usualDigits ? general : new Intl.NumberFormat('en-US', { maximumSignificantDigits: digits });
  return format.format(value).replace('-', '−');
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
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace('-', '−').replace('e+', 'e');
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
  if (share > 0 && share < 0.001) return `<${space}0.1${space}%`;
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
  if (time >= midnight) return clock.format(time);
  if (time >= midnight - dayLength) return 'Yesterday';
  if (time >= midnight - 6 * dayLength) return weekday.format(time);
  return day.format(time);
}

export function fullTime(time: number | null): string {
  return time === null ? missing : `${day.format(time)}, ${clockSeconds.format(time)}`;
}

export function clockTime(time: number): string {
  return clockSeconds.format(time);
}

export function dateOf(time: number): string {
  return day.format(time);
}

/** `1 row`, `2 rows`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${fixed(count)} ${count === 1 ? one : many}`;
}

/** First letter large. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
