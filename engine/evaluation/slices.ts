// Where errors gather: groups of rows by the values of one column or of two, each with its count, its error and an interval, those that are
// surely bad first (by the lower end of the interval). Columns are cut once; a new threshold only counts again.

import type { CutColumn, CutColumns, EvaluatedColumns } from '../protocol/evaluated-rows.ts';
import { isText, rawCodes, type RawColumn } from '../model/spec.ts';
import { meanInterval, wilson, type Interval } from './intervals.ts';

/** Smaller groups say nothing. */
export const leastRows = 40;
/** Ranges a column of numbers is cut into, of about equal rows. */
const ranges = 5;
/** Significant digits of the ends of a range, and the most that any value is written with. */
const usualDigits = 4;
const mostDigits = 15;
/** Numbers that stand for themselves, at most; and those that are sorted to find ranges. */
const mostSingle = 8;
const mostSorted = 16_384;
/** Values of a category that are looked at, the most frequent. */
const mostValues = 24;
/** Columns paired with each other: those whose own groups differ most. */
const pairedColumns = 12;

export interface SlicePart {
  readonly column: string;
  /** `= DSL`, `1–6`, `missing` */
  readonly value: string;
}

export interface Slice extends Interval {
  readonly parts: readonly SlicePart[];
  readonly rows: number;
  /** Of its rows the mean error: share wrong, or mean absolute error. */
  readonly error: number;
  /** Sum over its rows of each further count asked for. */
  readonly sums: readonly number[];
  /** Numbers of its columns and of the values in them: see `rowsOfSlice`. */
  readonly key: readonly (readonly [column: number, code: number])[];
}

/** Texts are left out: every row has its own. */
export function cutColumns({ columns, values }: EvaluatedColumns): CutColumns {
  const cut = columns
    .flatMap((column, i) => (isText(column) ? [] : [cutColumn(column, values[i])]))
    .filter(({ labels }) => labels.length > 1);
  return { rows: values[0]?.length ?? 0, columns: cut };
}

function cutColumn(column: RawColumn, values: Float64Array): CutColumn {
  const { name } = column;
  if (column.kind === 'category') {
    const counts = new Float64Array(column.categories.length + rawCodes.first);
    for (const code of values) counts[code]++;
    const frequent = [...counts.keys()]
      .filter((code) => counts[code] > 0)
      .sort((a, b) => counts[b] - counts[a] || a - b);
    const shown = frequent.slice(0, mostValues);
    const place = new Uint8Array(counts.length).fill(shown.length);
    shown.forEach((code, at) => (place[code] = at));
    const label = (code: number): string =>
      code === rawCodes.missing
        ? 'missing'
        : code === rawCodes.unseen
          ? 'never seen before'
          : `= ${column.categories[code - rawCodes.first]}`;
    const codes = new Uint8Array(values.length);
    for (let row = 0; row < values.length; row++) codes[row] = place[values[row]];
    return { name, codes, labels: shown.map(label) };
  }
  return cutNumbers(column, values);
}

function cutNumbers({ name, kind }: RawColumn, values: Float64Array): CutColumn {
  const known = knownOf(values);
  // Few values stand for themselves, the others for ranges that begin with these.
  const distinct = fewValues(known);
  const single = distinct !== null;
  const starts = Float64Array.from(distinct ?? rangeStarts(known));
  const ends = new Float64Array(starts.length).fill(-Infinity);
  const hasMissing = known.length < values.length;
  const codes = new Uint8Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    let code = starts.length;
    if (value === value) {
      code = 0;
      while (code + 1 < starts.length && value >= starts[code + 1]) code++;
      if (value > ends[code]) ends[code] = value;
    }
    codes[row] = code;
  }
  // A value that stands for itself is written whole, the ends of ranges so that they can be told apart.
  const digits = single ? mostDigits : digitsToTell([...starts, ...ends], kind);
  const text = (value: number): string => written(value, kind, digits);
  const labels = Array.from(starts, (start, i) =>
    single || start === ends[i]
      ? `= ${text(start)}`
      : `${text(start)}${start < 0 || ends[i] < 0 ? ' to ' : '–'}${text(ends[i])}`,
  );
  return { name, codes, labels: hasMissing ? [...labels, 'missing'] : labels };
}

/** Without the missing ones; loops of typed arrays, as the rows may be many. */
function knownOf(values: Float64Array): Float64Array {
  const known = new Float64Array(values.length);
  let count = 0;
  for (let row = 0; row < values.length; row++) if (values[row] === values[row]) known[count++] = values[row];
  return known.subarray(0, count);
}

/** The values there are, if they are few, in order; null = more than that. */
function fewValues(values: Float64Array): readonly number[] | null {
  const found: number[] = [];
  for (const value of values) {
    if (found.includes(value)) continue;
    if (found.length === mostSingle) return null;
    found.push(value);
  }
  return found.sort((a, b) => a - b);
}

/** Where ranges of about equal rows begin; of many rows as an even part of them says. */
function rangeStarts(values: Float64Array): readonly number[] {
  const step = Math.ceil(values.length / mostSorted);
  const sorted = new Float64Array(Math.ceil(values.length / step));
  for (let i = 0; i < sorted.length; i++) sorted[i] = values[i * step];
  sorted.sort();
  let least = Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] < least) least = values[i];
  const starts = Array.from({ length: ranges }, (_, i) => sorted[Math.floor((i * sorted.length) / ranges)]);
  return [...new Set([least, ...starts.slice(1)])];
}

/** The fewest digits in which different values are written differently. */
function digitsToTell(values: readonly number[], kind: RawColumn['kind']): number {
  const different = new Set(values);
  let digits = usualDigits;
  while (
    digits < mostDigits &&
    new Set([...different].map((value) => written(value, kind, digits))).size < different.size
  )
    digits++;
  return digits;
}

function written(value: number, kind: RawColumn['kind'], digits: number): string {
  if (kind === 'boolean') return value === 1 ? 'true' : 'false';
  if (kind === 'datetime') return new Date(value).toISOString().slice(0, 10);
  return plain(value, digits).replaceAll('-', '−');
}

/** Beyond what a float64 counts one by one zeros would stand for digits. */
function plain(value: number, digits: number): string {
  if (!(Math.abs(value) >= 1e15 && Math.abs(value) < Infinity)) return String(Number(value.toPrecision(digits)));
  const [front, power] = value.toExponential(digits - 1).split('e+');
  return `${Number(front)}e${power}`;
}

export interface SliceOptions {
  /** [N] error of each row: 1 = wrong, or how far off it is. */
  readonly errors: Float64Array;
  /** Errors are 0 or 1. */
  readonly shares: boolean;
  /** [N] further counts, summed up a slice. */
  readonly counts?: readonly Uint8Array[];
}

/** Slices that are surely worse than all rows, the surest first. */
export function findSlices(cut: CutColumns, options: SliceOptions): readonly Slice[] {
  const steps = sliceSteps(cut, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, a step a column or pair of columns: each goes through the rows once. */
export function* sliceSteps(cut: CutColumns, options: SliceOptions): Generator<void, readonly Slice[]> {
  const { errors } = options;
  let total = 0;
  for (const error of errors) total += error;
  const overall = total / errors.length;
  const single: (readonly Slice[])[] = [];
  for (const column of cut.columns.keys()) {
    single.push(slicesOf(cut, [column], options));
    yield;
  }
  // Columns whose worst group stands out most.
  const worth = single.map((found) => Math.max(-Infinity, ...found.map(({ low }) => low)));
  const paired = [...cut.columns.keys()].sort((a, b) => worth[b] - worth[a]).slice(0, pairedColumns);
  const lows = new Map<string, number>();
  for (const found of single) for (const slice of found) lows.set(slice.key.join(), slice.low);
  const pairs: Slice[] = [];
  for (const [i, a] of paired.entries()) {
    for (const b of paired.slice(i + 1)) {
      const found = slicesOf(cut, [Math.min(a, b), Math.max(a, b)], options);
      // Of two columns only what neither of them says alone.
      pairs.push(...found.filter(({ key, low }) => key.every((part) => low > (lows.get(part.join()) ?? -Infinity))));
      yield;
    }
  }
  return [...single.flat(), ...pairs]
    .filter(({ error }) => error > overall)
    .sort((a, b) => b.low - a.low || b.rows - a.rows);
}

function slicesOf({ rows, columns }: CutColumns, chosen: readonly number[], options: SliceOptions): Slice[] {
  const { errors, shares, counts = [] } = options;
  const [a, b] = chosen.map((column) => columns[column]);
  const width = b ? b.labels.length + 1 : 1;
  const groups = (a.labels.length + 1) * width;
  const n = new Float64Array(groups);
  const sum = new Float64Array(groups);
  const squares = new Float64Array(groups);
  const sums = counts.map(() => new Float64Array(groups));
  const [first, second] = [a.codes, b?.codes];
  for (let row = 0; row < rows; row++) {
    const group = second === undefined ? first[row] : first[row] * width + second[row];
    const error = errors[row];
    n[group]++;
    sum[group] += error;
    squares[group] += error * error;
  }
  counts.forEach((count, i) => {
    const into = sums[i];
    for (let row = 0; row < rows; row++) {
      if (count[row] === 1) into[second === undefined ? first[row] : first[row] * width + second[row]]++;
    }
  });
  const found: Slice[] = [];
  for (let group = 0; group < groups; group++) {
    const codes = b ? [Math.floor(group / width), group % width] : [group];
    if (n[group] < leastRows || codes.some((code, i) => code >= columns[chosen[i]].labels.length)) continue;
    const error = sum[group] / n[group];
    const deviation = Math.sqrt(Math.max(0, (squares[group] - n[group] * error ** 2) / (n[group] - 1)));
    found.push({
      parts: codes.map((code, i) => ({ column: columns[chosen[i]].name, value: columns[chosen[i]].labels[code] })),
      rows: n[group],
      error,
      ...(shares ? wilson(Math.round(sum[group]), n[group]) : meanInterval(error, deviation, n[group])),
      sums: sums.map((into) => into[group]),
      key: codes.map((code, i) => [chosen[i], code] as const),
    });
  }
  return found;
}

/** Places in the prediction table of the rows of a slice. */
export function rowsOfSlice({ rows, columns }: CutColumns, { key }: Slice): Uint32Array {
  const places: number[] = [];
  for (let row = 0; row < rows; row++)
    if (key.every(([column, code]) => columns[column].codes[row] === code)) places.push(row);
  return Uint32Array.from(places);
}

/** `Contract = Month-to-month, tenure 1–6` */
export const sliceText = ({ parts }: Pick<Slice, 'parts'>): string =>
  parts.map(({ column, value }) => `${column} ${value}`).join(', ');
