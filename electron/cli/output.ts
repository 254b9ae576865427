// What the command line prints: for people (tables, a progress bar) or, with --json, one object a line and nothing else
// on standard output.

import { InputError } from '../../engine/protocol/errors.ts';
import type { Sink } from './sink.ts';
import { visible } from '../../engine/protocol/visible.ts';

export { momentText as formatTime } from '../../engine/protocol/words.ts';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string;
  readonly right?: boolean;
}

export interface Streams {
  readonly out: Sink;
  readonly error: Sink;
}

export class Output {
  readonly json: boolean;
  #people: Sink;
  readonly #streams: Streams;
  #barShown = false;
  #lastBar = 0;

  constructor(json: boolean, streams: Streams) {
    this.json = json;
    this.#streams = streams;
    this.#people = streams.out;
  }

  /** One JSON line; nothing when people read. */
  event(value: object): void {
    if (this.json) this.#streams.out.write(`${JSON.stringify(value)}\n`);
  }

  /** Many JSON lines, no faster than they are read. */
  async events(values: Iterable<object>): Promise<void> {
    if (!this.json) return;
    for (const value of values) {
      this.event(value);
      await this.#streams.out.ready();
    }
  }

  /** A line for people, with what cannot be seen written out; nothing with --json. */
  line(text = ''): void {
    if (this.json) return;
    this.clearBar();
    this.#people.write(`${visible(text)}\n`);
  }

  /** Text for people as it comes, lines and tabs as they are; nothing with --json. */
  text(text: string): void {
    if (this.json) return;
    this.clearBar();
    this.#people.write(
      text
        .split(/([\n\t]+)/)
        .map((part, i) => (i % 2 === 1 ? part : visible(part)))
        .join(''),
    );
  }

  /** A remark on standard error, in both modes. */
  note(text: string): void {
    this.clearBar();
    this.#streams.error.write(`${visible(text)}\n`);
  }

  /**
   * Standard output is to carry a file (`--out /dev/stdout`): what people read goes to standard error from now on.
   * Throws InputError with --json, which needs standard output for itself.
   */
  giveAway(file: string): Sink {
    if (this.json) {
      throw new InputError('usage.out', `--json and --out ${file} both write to standard output.`, 'Give one of them.');
    }
    this.#people = this.#streams.error;
    return this.#streams.out;
  }

  /** The live line: redrawn in place on a terminal, every few seconds elsewhere. */
  bar(share: number, text: string): void {
    const sink = this.#barSink;
    const { isTTY, columns = 100 } = sink.stream;
    const now = performance.now();
    if (isTTY !== true) {
      if (this.json || now - this.#lastBar < 2000) return;
      this.#lastBar = now;
      sink.write(`${Math.floor(share * 100)} % ${visible(text)}\n`);
      return;
    }
    if (now - this.#lastBar < 80 && share < 1) return;
    this.#lastBar = now;
    const width = 24;
    const filled = Math.round(share * width);
    const line = `${'━'.repeat(filled)}${'─'.repeat(width - filled)} ${visible(text)}`;
    sink.write(`\r\u001b[2K${line.slice(0, columns - 1)}`);
    this.#barShown = true;
  }

  clearBar(): void {
    if (!this.#barShown) return;
    this.#barSink.write('\r\u001b[2K');
    this.#barShown = false;
  }

  get #barSink(): Sink {
    return this.json ? this.#streams.error : this.#people;
  }

  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const titles = columns.map((column) => visible(column.title));
    const cells = rows.map((row) => columns.map((column) => visible(column.value(row))));
    const widths = titles.map((title, i) => cells.reduce((most, row) => Math.max(most, row[i].length), title.length));
    const format = (row: readonly string[]): string =>
      row
        .map((cell, i) => (columns[i].right ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
        .join('  ')
        .trimEnd();
    this.line(format(titles));
    for (const row of cells) this.line(format(row));
  }
}

/** `0.9231`, `12.35`, `12,040`, `1.20e+15` */
export function formatNumber(value: number | undefined | null): string {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(2);
  if (size >= 10_000) return Math.round(value).toLocaleString('en');
  if (size >= 10) return value.toFixed(2);
  if (size !== 0 && size < 0.001) return value.toExponential(2);
  return value.toFixed(4);
}

export const formatCount = (value: number): string => Math.round(value).toLocaleString('en');

/** `1 row`, `2,000 rows` */
export const counted = (count: number, word: string): string =>
  `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;

/** `0.42 s`, `1:05`, `2:03:10` */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

const spans = [
  ['d', 86_400, 172_800],
  ['h', 3600, 3600],
  ['min', 60, 60],
  ['s', 1, 1],
  ['ms', 1e-3, 1e-3],
  ['µs', 1e-6, 0],
] as const;

/** A range as a person says it, both ends in the unit of the upper: `0.9 to 1.6 h`, `4.1 to 20 ms`. */
export function rangeText([low, high]: readonly [low: number, high: number]): string {
  const [unit, size] = spans.find(([, , least]) => high >= least) ?? spans[5];
  const told = (seconds: number): string => {
    const value = seconds / size;
    return value < 10 ? String(Number(value.toPrecision(2))) : formatCount(value);
  };
  return low === high ? `${told(high)} ${unit}` : `${told(low)} to ${told(high)} ${unit}`;
}
