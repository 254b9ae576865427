// Odd tables by number: the same seed, the same table. Names, quotes, encodings, line ends, widths and kinds of values vary;
// the generator knows every cell, so that what an import makes of the file can be compared cell by cell.

import { gzipSync } from 'node:zlib';

export interface OddTable {
  readonly seed: number;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly names: readonly string[];
  /** Cells as written, row by row. */
  readonly cells: readonly (readonly string[])[];
  readonly layout: OddLayout;
}

export interface OddLayout {
  readonly delimiter: ',' | ';' | '\t' | '|' | 'spaces';
  readonly lineEnd: '\n' | '\r\n' | '\r' | 'mixed';
  readonly encoding: 'utf-8' | 'utf-8-sig' | 'utf-16-le' | 'utf-16-be' | 'latin-1';
  readonly quotes: 'needed' | 'always' | 'sometimes';
  readonly decimal: '.' | ',';
  readonly packed: boolean;
}

type Random = () => number;

/** Mulberry32: small, and good enough to vary tables. */
function randomFrom(seed: number): Random {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

const oddNames = [
  ...['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'select', 'from', 'file_row_number'],
  ...['the "best"', "it's", 'a;b', 'a,b', 'a|b', 'Größe', '温度', 'naïve', 'x y', '%', '#', '-', 'a\nb', 'null', 'Id'],
];
const latinNames = oddNames.filter((name) => /^[\u0020-\u00ff\n]*$/.test(name));
const words = [
  'red',
  'blue',
  'green',
  'dark red',
  'Ünder',
  'café',
  'x',
  'No. 7',
  'a/b',
  'constructor',
  '__proto__',
  '00a',
];

/** One column: values as written. */
type Writer = (random: Random, row: number, decimal: string, turnAt: number) => string;

const kinds: Readonly<Record<string, Writer>> = {
  whole: (random) => String(Math.floor(random() * 2000) - 1000),
  real: (random, _, decimal) => (random() * 2e4 - 1e4).toFixed(1 + Math.floor(random() * 6)).replace('.', decimal),
  tiny: (random, _, decimal) => (random() * 1e-9).toExponential(4).replace('.', decimal),
  gaps: (random, _, decimal) => (random() < 0.3 ? '' : (random() * 50).toFixed(2).replace('.', decimal)),
  spelled: (random) =>
    random() < 0.2 ? pick(random, ['NA', 'n/a', 'NaN', 'null', '-']) : String(Math.floor(random() * 90)),
  words: (random) => pick(random, words),
  code: (random) => String(Math.floor(random() * 1e5)).padStart(6, '0'),
  long: (_, row) => String(9007199254740993n + BigInt(row) * 7919n),
  text: (random) =>
    pick(random, ['said "no"', 'one, two; three', 'two\nlines', 'tab\there', "it's", '  spaced ', '"', 'a|b', '"a",b']),
  // Line breaks of every kind inside quotes, whatever ends the lines of the file.
  broken: (random) => pick(random, ['one\r\ntwo', 'one\rtwo', '\r\n', 'a\n\rb', 'plain', 'x\r']),
  yes: (random) => pick(random, ['yes', 'No', 'YES']),
  date: (random) => new Date(1e12 * random()).toISOString().slice(0, 10),
  price: (random) => `$${(random() * 900).toFixed(2)}`,
  turns: (random, row, _, turnAt) => (row < turnAt ? String(Math.floor(random() * 100)) : pick(random, words)),
};

/** The table of a seed. `turnAt`: some rows more than this, with columns that turn from numbers to words there. */
export function oddTable(seed: number, turnAt?: number): OddTable {
  const random = randomFrom(seed);
  const delimiter = pick(random, [',', ',', ';', '\t', '|', 'spaces'] as const);
  const encoding = pick(random, ['utf-8', 'utf-8', 'utf-8-sig', 'utf-16-le', 'utf-16-be', 'latin-1'] as const);
  const layout: OddLayout = {
    delimiter,
    encoding,
    lineEnd: pick(random, ['\n', '\n', '\r\n', '\r', 'mixed'] as const),
    quotes: pick(random, ['needed', 'always', 'sometimes'] as const),
    decimal: delimiter === ',' ? '.' : pick(random, ['.', '.', ','] as const),
    packed: random() < 0.1,
  };
  const usual = 2 + Math.floor(random() < 0.1 ? random() * 200 : random() * 12);
  const width = turnAt === undefined ? usual : 5;
  const some = random() < 0.05 ? 1400 + Math.floor(random() * 400) : 5 + Math.floor(random() * 120);
  const height = turnAt === undefined ? some : turnAt + 500;
  const columns = Array.from({ length: width }, (_, index) =>
    // A column of plain numbers comes first: it tells the header from the rows, and spaces from sentences.
    index === 0 ? 'whole' : turnAt !== undefined && index === 1 ? 'turns' : pick(random, Object.keys(kinds)),
  );
  const names = uniqueNames(random, width, encoding === 'latin-1' ? latinNames : oddNames);
  // Between spaces, a first line that begins with # is a remark.
  if (delimiter === 'spaces' && names[0] === '#') names[0] = 'first';
  const writers = columns.map((kind) => kinds[kind as keyof typeof kinds] as Writer);
  const cells = Array.from({ length: height }, (_, row) =>
    writers.map((write) => write(random, row, layout.decimal, turnAt ?? 1500)),
  );
  const text = [names, ...cells].map((record) => writeRecord(random, record, layout) + endOf(random, layout)).join('');
  const bytes = encode(text, encoding);
  const name = `odd-${seed}.csv${layout.packed ? '.gz' : ''}`;
  return { seed, name, bytes: layout.packed ? gzipSync(bytes) : bytes, names, cells, layout };
}

function uniqueNames(random: Random, width: number, known: readonly string[]): string[] {
  const taken = new Set<string>(['file_row_number']);
  return Array.from({ length: width }, (_, index) => {
    const wish = random() < 0.5 ? `column_${index}` : pick(random, known);
    const name = taken.has(wish.toLowerCase()) ? `c${index}` : wish;
    taken.add(name.toLowerCase());
    return name;
  });
}

function writeRecord(random: Random, record: readonly string[], { delimiter, quotes }: OddLayout): string {
  const spaced = delimiter === 'spaces';
  const fields = record.map((value) => {
    const needed = spaced
      ? value === '' || /[\s"']/.test(value)
      : value.includes(delimiter) || /[\r\n"']/.test(value) || /^\s|\s$/.test(value);
    const quoted = needed || quotes === 'always' || (quotes === 'sometimes' && random() < 0.3);
    return quoted ? `"${value.replaceAll('"', '""')}"` : value;
  });
  return fields.reduce((line, field) => line + (spaced ? ' '.repeat(1 + Math.floor(random() * 4)) : delimiter) + field);
}

function endOf(random: Random, { lineEnd }: OddLayout): string {
  return lineEnd === 'mixed' ? pick(random, ['\n', '\r\n', '\r']) : lineEnd;
}

function encode(text: string, encoding: OddLayout['encoding']): Uint8Array {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-8-sig':
      return Buffer.from(`\ufeff${text}`);
    case 'utf-16-le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf-16-be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    case 'latin-1':
      return Buffer.from(text, 'latin1');
    default:
      return encoding satisfies never;
  }
}

const missing = new Set(['', 'na', 'n/a', 'nan', 'null', '-']);

/** Whether a cell came out as it was written: numbers as their value, words letter by letter, "missing" as nothing. */
export function sameCell(written: string, read: unknown, decimal: '.' | ','): boolean {
  const text = written.replaceAll(/^ +| +$/g, '');
  if (read === null) return missing.has(text.toLowerCase());
  if (typeof read === 'number') return Number(text.replace(decimal, '.')) === read;
  return String(read) === text;
}
