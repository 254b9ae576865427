// Who reads the rows of a plain table: JavaScript, or the native addon on other threads. Both give the same bits, in whatever groups
// and on however many threads, and both leave alone what is not plain.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { readHead } from '../../../engine/data/files.ts';
import { delimitedText } from '../../../engine/data/formats/delimited.ts';
import { LineGroups, afterLines } from '../../../engine/data/formats/line-groups.ts';
import { NativeCells, nativeTables } from '../../../engine/data/formats/native-cells.ts';
import { ParquetWriter } from '../../../engine/data/formats/parquet-writer.ts';
import { PlainCells } from '../../../engine/data/formats/plain-cells.ts';
import type { PlainGroup, PlainReader, PlainStyle } from '../../../engine/data/formats/plain-cells.ts';
import { Job } from '../../../engine/data/jobs.ts';
import { randomBits } from '../../../engine/data/preprocess/split.ts';
import { DistinctSample } from '../../../engine/data/schema/distinct-sample.ts';
import { temporaryFolder, writeTable } from './helpers.ts';

const usual: PlainStyle = {
  delimiter: 0x2c,
  quote: 0x22,
  decimal: 0x2e,
  returns: false,
  missing: ['', 'NA', 'n/a', 'größe'],
};
const columns = [
  { name: 'number', text: false },
  { name: 'first', text: true },
  { name: 'other number', text: false },
  { name: 'exact', text: true, exact: true },
];
const tables = nativeTables(usual);
const skip = tables === null && 'there is no native addon here';

/** The readers there are. */
function readers(style: PlainStyle, limit = 2000): PlainReader[] {
  const native = nativeTables(style);
  return [new PlainCells(columns, style, limit), ...(native === null ? [] : [new NativeCells(native, columns, style)])];
}

/** Everything that is read from some lines, as bytes of a row group and moments; null: they are not plain. */
async function readBy(reader: PlainReader, lines: string, masks = new Uint32Array(4)): Promise<unknown> {
  const group = await reader.read(Buffer.from(lines), lines.split('\n').length - 1, masks);
  if (group === null) return null;
  const parts: Uint8Array[] = [];
  const file = {
    writev(written: readonly Uint8Array[]) {
      parts.push(...written);
      return Promise.resolve({ bytesWritten: written.reduce((sum, { byteLength }) => sum + byteLength, 0) });
    },
  };
  await new ParquetWriter(file as unknown as FileHandle, columns).add(lines.split('\n').length - 1, group);
  const moments = group.map((column) => (column.kind === 'number' ? column.moments : null));
  return { moments, bytes: Buffer.concat(parts).toString('latin1') };
}

const numbers = [
  ...['1', '-0', '0', '2.5', '-.25', '5.', '.5', '00012', '1e5', '-3.5E-7', '+7', ' 7', '7  ', '0.30000000000000004'],
  ...['123456789.123456789', '900719925474099.25', '9007199254740993', '12345678901234567890', '8.5e-280', '0e999'],
  ...['0.0000000000000000000000000001', '-0.00e3', '', 'NA', '"NA"', '"4"', '"-1.5"', '""', '1.7976931348623157e298'],
];
const texts = ['a', ' b ', '', '   ', '\u00a0', '\u3000\u2003', 'NA', '"NA"', '"x, y"', '""', 'größe', '東京', '"é"'];
const oddNumbers = [
  'abc',
  '1e400',
  '1e-320',
  'inf',
  'nan',
  '0x1F',
  '1_0',
  '.',
  '-',
  '1.2.3',
  '5"',
  '"5',
  '"5"x',
  '+',
  '1e',
  '0 ',
];
const oddTexts = ['a"b', '"a"b', '"a', '"a""b"', '"a\nb"', 'a\tb', 'a\rb', 'a,b', '"a" '];

/** Lines of drawn cells, sometimes with an odd one. */
function drawn(seed: number): string {
  const rows = 1 + (randomBits(seed, 0) % 12);
  const pick = (from: readonly string[], bits: number): string => from[bits % from.length] as string;
  const odd = randomBits(seed, 1) % (rows * 8);
  const lines = Array.from({ length: rows }, (_, row) =>
    columns
      .map(({ text }, column) => {
        const at = row * 4 + column;
        const bits = randomBits(seed, 2 + at);
        if (at === odd) return pick(text ? oddTexts : oddNumbers, bits);
        return pick(text ? texts : numbers, bits);
      })
      .join(),
  );
  return `${lines.join('\n')}\n`;
}

test('drawn lines are the same to both readers, odd ones too', { skip }, async () => {
  const [ours, native] = readers(usual) as [PlainReader, PlainReader];
  let plain = 0;
  for (let seed = 0; seed < 1000; seed++) {
    const lines = drawn(seed);
    const read = await readBy(ours, lines);
    assert.deepEqual(await readBy(native, lines), read, JSON.stringify(lines));
    if (read !== null) plain++;
  }
  assert.ok(plain > 350 && plain < 650, String(plain));
});

test('long numbers have the bits that JavaScript gives them, those half way between two also', { skip }, async () => {
  const [native] = readers(usual, 20_000).slice(1) as [PlainReader];
  const halves = [
    '9007199254740993',
    '4503599627370496.5',
    '4503599627370497.50',
    '2251799813685248.25',
    '0.5000000000000000555',
    '18446744073709551616',
    '3689348814741910323.2',
  ];
  const cells = Array.from({ length: 20_000 }, (_, row) => {
    const [high, low] = [randomBits(1, row), randomBits(2, row)];
    const digits = `${high}${String(low).padStart(10, '0')}`.slice(0, 12 + (row % 8));
    const places = [
      `${(high + low / 2 ** 32) / 2 ** (row % 32)}`,
      `0.${'0'.repeat(row % 9)}${digits}`,
      `-${digits}.${low % 1000}`,
    ];
    return row < halves.length ? (halves[row] as string) : (places[row % 3] as string);
  });
  const group = await native.read(Buffer.from(`${cells.join(',,0,\n')},,0,\n`), cells.length, new Uint32Array(4));
  const values = group?.[0]?.kind === 'number' ? group[0].values : [];
  assert.equal(values.length, cells.length);
  cells.forEach((cell, row) => assert.ok(Object.is(values[row], Number(cell)), `${cell} became ${values[row]}`));
});

test('other marks, carriage returns and many different values are the same to both readers', { skip }, async () => {
  const rows = Array.from({ length: 1500 }, (_, row) => {
    const bits = randomBits(1, row);
    const missing = bits % 40 === 0;
    const text = missing ? '' : `w${bits % (row < 700 ? 600 : 1e6)}`;
    return `${missing ? 'NA' : `${bits % 97},5`};${text};"${bits / 2 ** 33}";x${row % 1023}`.replace('.', ',');
  });
  const style = { ...usual, delimiter: 0x3b, decimal: 0x2c, returns: true };
  const [ours, native] = readers(style) as [PlainReader, PlainReader];
  // Of 1,024 different cells one is missing, of 1,025 there are too many: the dictionaries end here.
  for (const count of [1, 600, 1023, 1024, 1025, 1500]) {
    const lines = `${rows.slice(0, count).join('\r\n')}\r\n`;
    const read = await readBy(ours, lines);
    assert.notEqual(read, null);
    assert.deepEqual(await readBy(native, lines), read);
  }
});

test('the numbers that the addon chooses are those that the sample of different numbers keeps', { skip }, async () => {
  const [native] = readers(usual).slice(1) as [PlainReader];
  const [all, chosen] = [new DistinctSample(), new DistinctSample()];
  const first = Float64Array.from({ length: 4096 }, (_, row) => -row);
  for (const sample of [all, chosen]) {
    sample.add(first, first.length);
    sample.expect(100_000, first.length);
  }
  assert.equal(all.mask, 3);
  for (const part of [0, 1]) {
    const lines = Array.from(
      { length: 30_000 },
      (_, row) => `${row % 7 === 0 ? 'NA' : `0.${randomBits(part, row)}`},,-0,`,
    );
    const group = await native.read(Buffer.from(`${lines.join('\n')}\n`), 30_000, Uint32Array.of(3, 0, 3, 0));
    const [{ values, chosen: numbers }, , zeros] = group as unknown as [
      { values: Float64Array; chosen: Float64Array },
      unknown,
      PlainGroup[number],
    ];
    assert.ok(numbers.length > 6000 && numbers.length < 7000, String(numbers.length));
    assert.equal('chosen' in zeros, false);
    all.add(values, values.length);
    chosen.add(numbers, numbers.length);
    // Half of them are more than there is room for.
    const [half] = (await native.read(Buffer.from(`${lines.join('\n')}\n`), 30_000, Uint32Array.of(1, 0, 0, 0)))!;
    assert.equal('chosen' in half, false);
  }
  assert.notEqual(all.result(), null);
  assert.deepEqual(chosen.result(), all.result());
});

test('a cell or a line end that is not as all are stops both readers', async () => {
  for (const returns of [false, true]) {
    for (const reader of readers({ ...usual, returns })) {
      const isPlain = async (lines: string): Promise<boolean> => (await readBy(reader, lines)) !== null;
      const end = returns ? '\r\n' : '\n';
      const plain = ['1,a,2,b', '"2","a, b","","x"', '"NA","",NA,'];
      assert.equal(await isPlain(`${plain.join(end)}${end}`), true);
      assert.equal(await isPlain(`1,a,2,b${returns ? '\n' : '\r\n'}`), false);
      for (const cell of oddNumbers) assert.equal(await isPlain(`${cell},a,2,b${end}`), false, cell);
      for (const cell of oddTexts) {
        assert.equal(await isPlain(`1,${cell},2,b${end}`), false, cell);
        assert.equal(await isPlain(`1,a,2,${cell}${end}`), false, cell);
      }
      for (const line of ['1,a,2', '1,a,2,b,c', '1,a,b', '']) assert.equal(await isPlain(`${line}${end}`), false, line);
      const mixed = ['1,a,2,b\r1,a,2,b\r\n', '1,a,2,b\n1,a,2,b\r\n', '1,a,2,b\r\r\n', '1,a,2,"b\r\n"\r\n'];
      for (const lines of mixed) assert.equal(await isPlain(lines), false, lines);
    }
  }
});

/** What a file is copied to, in groups of some rows and by some threads (0: in JavaScript); null: it is not plain. */
async function copyOf(context: TestContext, path: string, groupRows: number, threads: number): Promise<unknown> {
  const workFolder = temporaryFolder(context);
  const native = process.env.TRAINYARD_NATIVE;
  if (threads === 0) process.env.TRAINYARD_NATIVE = '0';
  try {
    const source = await delimitedText.open({
      head: await readHead(path, 'table.csv', statSync(path).size),
      options: {},
      connection: new Promise(() => undefined),
      workFolder,
      job: new Job('copy', () => undefined),
      threads: Math.max(1, threads),
    });
    const target = join(workFolder, 'data.parquet');
    const written = await source.write?.(target, groupRows, () => undefined);
    if (!written) return null;
    const hash = createHash('sha256').update(readFileSync(target)).digest('hex');
    const sample = createHash('sha256')
      .update(readFileSync(join(workFolder, 'sample.parquet')))
      .digest('hex');
    return { hash, sample, rows: written.rows, numbers: [...written.numbers] };
  } finally {
    if (native === undefined) delete process.env.TRAINYARD_NATIVE;
    else process.env.TRAINYARD_NATIVE = native;
  }
}

test('a copy is the same to the last byte on 1, 2 and 3 threads and in JavaScript', async (context) => {
  const row = (at: number): string =>
    `${randomBits(1, at) / 1000},${at % 3 === 0 ? `"größe, ${at % 50}"` : `name ${at}`},${at % 20},"${'w'.repeat(at % 190)}"`;
  const lines = Array.from({ length: 10_000 }, (_, at) => row(at));
  // Longer than what is read at once, the last line without its end.
  const files = ['\n', '\r\n'].map((end) => ({ text: ['a,b,c,d', ...lines].join(end), plain: true }));
  // Line ends within quotes where a group ends, and one that is never closed.
  const broken = (at: number, line: string): string => ['a,b,c,d', ...lines.slice(0, 200).with(at, line)].join('\n');
  files.push({ text: broken(63, '1,"a\nb",2,c'), plain: false }, { text: broken(199, '1,"a,2,c'), plain: false });
  for (const { text, plain } of files) {
    const path = writeTable(context, 'table.csv', text);
    const groupRows = plain ? 1000 : 64;
    const copies = await Promise.all([0, 1, 2, 3].map((threads) => copyOf(context, path, groupRows, threads)));
    assert.equal(copies[0] !== null, plain);
    for (const copy of copies) assert.deepEqual(copy, copies[0]);
  }
});

test('groups are those of the lines, however many bytes come at a time', async () => {
  const text = Array.from({ length: 1000 }, (_, line) => `${'x'.repeat(randomBits(4, line) % 40)}\n`).join('');
  const bytes = Buffer.from(`head\n${text.slice(0, -1)}`);
  for (const counter of [afterLines, ...(tables === null ? [] : [tables.afterLines])]) {
    for (const atOnce of [1, 7, 4096]) {
      let at = 0;
      const file = {
        read(buffer: Buffer, offset: number) {
          const bytesRead = bytes.copy(buffer, offset, at, at + atOnce);
          at += bytesRead;
          return Promise.resolve({ bytesRead });
        },
      };
      const groups = new LineGroups(file as unknown as FileHandle, {
        lines: 300,
        skip: 1,
        returns: false,
        afterLines: counter,
      });
      const found: string[] = [];
      for (let group = await groups.next(); group !== null; group = await groups.next()) {
        assert.ok(group !== 'odd');
        assert.equal(group.bytes.toString().split('\n').length - 1, group.lines);
        found.push(group.bytes.toString());
        groups.release(group);
      }
      assert.deepEqual(
        found.map((group) => group.split('\n').length - 1),
        [300, 300, 300, 100],
      );
      assert.equal(found.join(''), text);
    }
  }
});

test('where a group becomes too large to be held is no matter of how many bytes are read at a time', async () => {
  const line = Buffer.from(`${'x'.repeat(1090)},1\n`);
  // As many lines as a group has are a little more than what is held.
  const lines = Math.ceil(2 ** 25 / line.length) + 2;
  const text = Buffer.concat([Buffer.from('a,b\n'), ...Array.from({ length: lines }, () => line)]);
  const countedBy = async (most: number): Promise<readonly number[]> => {
    let at = 0;
    const file = {
      read(buffer: Buffer, offset: number, length: number) {
        const bytesRead = text.copy(buffer, offset, at, Math.min(text.length, at + Math.min(length, most)));
        at += bytesRead;
        return Promise.resolve({ bytesRead });
      },
    };
    const settings = { lines, skip: 1, returns: false, afterLines };
    const groups = new LineGroups(file as unknown as FileHandle, settings);
    const found: number[] = [];
    for (let group = await groups.next(); group !== null; group = await groups.next()) {
      assert.ok(group !== 'odd');
      found.push(group.lines);
      groups.release(group);
    }
    return found;
  };
  const wanted = await countedBy(2 ** 20);
  assert.equal(wanted.length, 2);
  assert.deepEqual(await countedBy(1_000_000), wanted);
});
