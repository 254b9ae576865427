// Plain tables are copied by our own reader: every cell, count and warning as DuckDB's reading gives them, and whatever is not
// plain is DuckDB's.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { Database, queryRows } from '../../../engine/data/database.ts';
import { randomBits } from '../../../engine/data/preprocess/split.ts';
import { DistinctSample } from '../../../engine/data/schema/distinct-sample.ts';
import { MomentsSum, momentsOf } from '../../../engine/data/schema/moments.ts';
import { quoteText } from '../../../engine/data/sql.ts';
import type { DatasetInfo, ReadOptions } from '../../../engine/protocol/data.ts';
import { importFile, temporaryFolder, writeTable } from './helpers.ts';

interface Imported {
  readonly info: DatasetInfo;
  readonly parquet: string;
}

async function importText(context: TestContext, text: string, options?: ReadOptions): Promise<Imported> {
  const { service, info } = await importFile(context, writeTable(context, 'table.csv', text), options);
  return { info, parquet: join(service.home, 'datasets', info.id, 'data.parquet') };
}

/** Runs a query over copies. */
async function query(context: TestContext, sql: string, files: readonly string[]): Promise<Record<string, unknown>[]> {
  const spill = temporaryFolder(context);
  const database = await Database.open({ memoryBytes: 2 ** 28, threads: 1 }, spill, { files, folders: [] });
  try {
    return await queryRows(database.connection, sql);
  } finally {
    database.close();
  }
}

async function isOurs(context: TestContext, { parquet }: Imported): Promise<boolean> {
  const sql = `SELECT created_by FROM parquet_file_metadata(${quoteText(parquet)})`;
  return (await query(context, sql, [parquet]))[0]?.created_by === 'trainyard';
}

/** Rows of two row groups, with every kind of column: few numbers and many, few texts and many, missing ones of all. */
function drawn(rows: number): string[] {
  const lines = ['whole,decimals,many digits,few,many,mostly missing'];
  for (let row = 0; row < rows; row++) {
    const bits = randomBits(7, row);
    const missing = bits % 50 === 0;
    lines.push(
      [
        missing ? 'NA' : bits % 700,
        missing ? '' : (bits / 2 ** 29 - 4).toFixed(6),
        row % 3 === 0
          ? `${randomBits(8, row) / 2 ** 32}`
          : `-${randomBits(8, row)}.${randomBits(9, row)}e-${bits % 25}`,
        ['alpha', ' beta', '"gamma, "', '', 'null', '"NA"'][bits % 6],
        missing ? '' : `name ${bits % 5000}`,
        bits % 997 === 0 ? 5 : 'nan',
      ].join(),
    );
  }
  return lines;
}

/**
 * Reads a file as it is, and once more with blank lines at its end: the same cells, which are not plain. Whether the first one
 * was, once all is the same.
 */
async function isPlainAndSame(context: TestContext, text: string, options?: ReadOptions): Promise<boolean> {
  const ours = await importText(context, text, options);
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const theirs = await importText(context, `${text}${lineEnd}${lineEnd}`, options);
  const table = ({ parquet }: Imported): string =>
    `SELECT * FROM read_parquet(${quoteText(parquet)}, file_row_number = true)`;
  const writer = ({ parquet }: Imported): string =>
    `(SELECT created_by = 'trainyard' FROM parquet_file_metadata(${quoteText(parquet)}))`;
  const [found] = await query(
    context,
    `SELECT (SELECT count(*) FROM (${table(ours)} EXCEPT ALL ${table(theirs)})) AS other,
      (SELECT count(*) FROM (${table(ours)})) AS rows, ${writer(ours)} AS ours, ${writer(theirs)} AS again`,
    [ours.parquet, theirs.parquet],
  );
  assert.deepEqual({ ...found, ours: null }, { other: 0, rows: theirs.info.rows, ours: null, again: false });
  assert.deepEqual(rounded(ours.info), rounded(theirs.info));
  return found?.ours === true;
}

test('a plain table is copied as DuckDB reads it, cell by cell', async (context) => {
  assert.equal(await isPlainAndSame(context, `${drawn(33_000).join('\n')}\n`), true);
});

/** Ways of writing a cell, by 32 drawn bits. */
const spelled: Readonly<Record<string, (bits: number) => string>> = {
  whole: (bits) => `${bits % 700}`,
  'six decimals': (bits) => (bits / 2 ** 29 - 4).toFixed(6),
  '17 digits': (bits) => `${bits / 3 / 2 ** 32}`,
  exponents: (bits) => `-${bits}e-${bits % 25}`,
  zeros: (bits) => ['0', '-0', '0.0', '1'][bits % 4] as string,
  'beyond 2^53': (bits) => `900719925474099${bits % 10}`,
  größen: (bits) => `${bits % 90},${bits % 10}`,
  words: (bits) =>
    [' alpha', 'beta ', 'Größe', '東京', '\u00a0', 'nb\u00a0', 'it is 😀', '\u3000\u2003'][bits % 8] as string,
  names: (bits) => `name ${bits % 50}`,
  'long texts': (bits) => 'w'.repeat(bits % 3000),
  dates: (bits) => `2021-0${1 + (bits % 9)}-1${bits % 10}`,
  'yes or no': (bits) => (bits % 2 === 0 ? 'yes' : 'no'),
  codes: (bits) => `0${bits % 1000}`,
};
const missingWords = ['', 'NA', 'null', 'NaN', '?', '  ', 'None', ' NA'];
const oddCells = ['1e400', '.5', '+7', '0x1F', 'inf', 'abc', 'a "b"', 'x\ny', '-', '12345678901234567', '1e-320', 'ü'];

test('a table of many columns is ours as well', async (context) => {
  const kinds = Object.values(spelled);
  const [rows, columns] = [200, 260];
  const cell = (row: number, column: number): string => {
    const bits = randomBits(11 + column, row);
    return bits % 37 === 0 ? '' : `"${kinds[column % kinds.length]?.(bits >>> 3).slice(0, 40)}"`;
  };
  const header = Array.from({ length: columns }, (_, column) => `c${column}`).join();
  const lines = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => cell(row, column)).join(),
  );
  assert.equal(await isPlainAndSame(context, `${header}\n${lines.join('\n')}\n`), true);
});

/** A table of all these, in which a share of the cells is in quotes, and with an odd cell in the middle of some columns if asked for. */
function spelledTable(seed: number, delimiter: string, lineEnd: string, quoted: number, odd: boolean): string {
  const names = Object.keys(spelled);
  const write = (cell: string, bits: number): string =>
    bits < quoted * 2 ** 32 || cell.includes(delimiter) || /["\n]/.test(cell)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell;
  const lines = [names.map((name) => write(name, seed)).join(delimiter)];
  for (let row = 0; row < 60; row++) {
    const cells = Object.values(spelled).map((spell, column) => {
      const bits = randomBits(100 * seed + column, row);
      const word = missingWords[(seed + column) % missingWords.length] as string;
      if (odd && row === 30 && column === seed % names.length)
        return write(oddCells[seed % oddCells.length] as string, bits);
      return write(column % 3 === seed % 3 && bits % 7 === 0 ? word : spell(bits), randomBits(seed, bits));
    });
    lines.push(cells.join(delimiter));
  }
  return lines.join(lineEnd);
}

/** `TRAINYARD_DRAWN=800`: further tables to draw, each read both ways; they take a quarter of a second each. */
const furtherTables = Number(process.env['TRAINYARD_DRAWN'] ?? 0);

test('cells in quotes, carriage returns and UTF-8 are plain, and read as DuckDB reads them', async (context) => {
  assert.equal(await isPlainAndSame(context, `\ufeff${spelledTable(2, ';', '\r\n', 0.5, false)}`), true);
  for (let seed = 3; seed < 3 + furtherTables; seed++) {
    const delimiter = [',', ';', '\t'][seed % 3] as string;
    const lineEnd = randomBits(1, seed) % 2 === 0 ? '\n' : '\r\n';
    const quoted = [0.3, 1, 0, 0.5][randomBits(2, seed) % 4] as number;
    const odd = randomBits(3, seed) % 2 === 0;
    const ours = await isPlainAndSame(context, spelledTable(seed, delimiter, lineEnd, quoted, odd));
    assert.ok(ours || odd, `table ${seed}`);
  }
});

/** What is shown of a dataset, but for the last digits of what is summed. */
function rounded({ columns, warnings, target, classes, rows }: DatasetInfo): unknown {
  const round = (value: number | undefined): string | undefined => value?.toPrecision(10);
  const shown = columns.map((column) => ({ ...column, mean: round(column.mean), deviation: round(column.deviation) }));
  return { columns: shown, warnings, target, classes, rows };
}

test('numbers have the bits that stand in the file, and zeros their sign', async (context) => {
  const cells = [
    '0.1',
    '-0',
    '-0.00',
    '900719925474099.25',
    '0.30000000000000004',
    '123456789.123456789',
    '1e-5',
    '2.5E+7',
    '00.5',
    '1e-23',
    '8.5e-280',
    ' 7',
    '.5',
    '-.25',
    '5.',
    '+7',
    '+.5e1',
    '-0.e3',
    '1.7976931348623157e298',
  ];
  const ours = await importText(context, `x,y\n${cells.map((cell) => `${cell},a`).join('\n')}`);
  assert.equal(await isOurs(context, ours), true);
  const rows = await query(context, `SELECT x FROM read_parquet(${quoteText(ours.parquet)})`, [ours.parquet]);
  rows.forEach(({ x }, index) => assert.ok(Object.is(x, Number(cells[index])), `${cells[index]} became ${String(x)}`));
});

const plainLines = Array.from({ length: 40 }, (_, row) => `${row},${row / 8},word ${row % 7}`);
const oddLines: Readonly<Record<string, string>> = {
  'a quote within quotes': '1,2,"a ""b"" c"',
  'an infinite number': '1,inf,b',
  'a line of fewer cells': '1,2',
};

test('what is not plain is left to DuckDB, whole', async (context) => {
  const found = await Promise.all(
    Object.entries(oddLines).map(async ([what, line]) => {
      const imported = await importText(context, `a,b,c\n${plainLines.join('\n')}\n${line}\n`, { skipBadLines: true });
      return [what, { ours: await isOurs(context, imported), rows: imported.info.rows }] as const;
    }),
  );
  assert.deepEqual(Object.fromEntries(found), {
    'a quote within quotes': { ours: false, rows: 41 },
    'an infinite number': { ours: false, rows: 41 },
    'a line of fewer cells': { ours: false, rows: 40 },
  });
});

test('moments by groups have the digits of all values at once, far from zero too', () => {
  const values = Float64Array.from({ length: 10_000 }, (_, row) =>
    row % 9 === 0 ? NaN : 1e9 + randomBits(3, row) / 2 ** 32,
  );
  const sum = new MomentsSum();
  for (let start = 0; start < values.length; start += 999) {
    const group = values.subarray(start, start + 999);
    sum.add(momentsOf(group, group.length));
  }
  const some = values.filter((value) => !Number.isNaN(value));
  const mean = 1e9 + some.reduce((total, value) => total + (value - 1e9), 0) / some.length;
  const squares = some.reduce((total, value) => total + (value - mean) ** 2, 0);
  const found = sum.moments();
  assert.equal(found.count, some.length);
  assert.deepEqual([found.minimum, found.maximum, found.whole], [Math.min(...some), Math.max(...some), false]);
  assert.ok(Math.abs(found.mean - mean) < 1e-6);
  assert.ok(Math.abs(found.deviation / Math.sqrt(squares / (some.length - 1)) - 1) < 1e-9);
  const same = new MomentsSum();
  for (let group = 0; group < 3; group++) same.add(momentsOf(new Float64Array(50).fill(0.1), 50));
  assert.deepEqual([same.moments().mean, same.moments().deviation], [0.1, 0]);
});

test('different numbers are counted while they pass: exactly as long as they are few, else within 2 %', () => {
  const counted = (different: number, rows: number, expected = rows): { distinct: number; exact: boolean } | null => {
    const sample = new DistinctSample();
    for (let start = 0; start < rows; start += 30_000) {
      const group = Float64Array.from({ length: Math.min(30_000, rows - start) }, (_, row) =>
        (start + row) % 10 === 9 ? NaN : (randomBits(5, (start + row) % different) - 2 ** 31) / 1000,
      );
      if (start === 0) {
        sample.add(group, 4096);
        sample.expect(expected, 4096 * 0.9);
      }
      sample.add(group, group.length);
    }
    return sample.result();
  };
  assert.deepEqual(counted(700, 100_000), { distinct: 700 - 70, exact: true });
  assert.deepEqual(counted(60_000, 60_000), { distinct: 54_000, exact: true });
  for (const [different, rows] of [
    [400_000, 400_000],
    [150_000, 300_000],
  ] as const) {
    const found = counted(different, rows);
    assert.equal(found?.exact, false);
    assert.ok(
      Math.abs((found?.distinct ?? 0) / (different * 0.9) - 1) < 0.02,
      `${String(found?.distinct)} of ${different * 0.9}`,
    );
  }
  // More was expected than came.
  assert.equal(counted(9000, 9000, 2_000_000), null);
  const zeros = new DistinctSample();
  zeros.add(Float64Array.of(0, -0, NaN, 1, -1, Infinity), 6);
  assert.deepEqual(zeros.result(), { distinct: 4, exact: true });
});
